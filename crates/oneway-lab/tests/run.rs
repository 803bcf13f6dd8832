//! `oneway run`: what it writes, that it writes the same again, and what it does when a run goes wrong or is
//! stopped.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{EXPERIMENT, Lab, Results, assert_refused, changed, stderr, stdout};

/// The experiment of the design document, shortened, with two more methods to fill and leave empty other
/// columns.
const DESIGN: &str = r#"
[problem]
kind = "logistic"            # non-convex logistic regression, also "quadratic"
dataset = "a9a"              # embedded; or a path to a LIBSVM file, with features = 123
alpha = 0.01
partition = "even"           # "even" | "shuffled" | "by-label" | { dirichlet = 0.1 }
batch = 1                    # or "full"
[run]
agents = 20
iterations = 95
repetitions = 2
seed = 1
record_every = 10
[[topology]]
name = "multi-sub-ring"
kind = "flower"
petals = 4
root = 0
[[method]]
name = "SMTPP"
kind = "smtpp"
momentum = 0.1               # λ
graph = "full"               # "full" | "trees" (weight 1) | "lazy-trees"
step = { size = 0.1, scaling = "effective", decay = 0.1, every = 300 }
[[method]]
name = "SGP"
kind = "sgp"
step = 0.1
[[method]]
name = "CSGDM"
kind = "csgdm"
step = 0.1
"#;

/// Quadratics: quick, without data.
const QUADRATIC: &str = r#"
[problem]
kind = "quadratic"
dim = 4
[run]
agents = 16
iterations = 100
[[topology]]
kind = "ring"
[[method]]
name = "SMTPP"
kind = "smtpp"
step = 0.01
"#;

#[test]
fn curves_have_the_promised_columns_rows_and_numbers() {
    let results = Lab::new().results(DESIGN, &[]);
    assert_eq!(
        results.csv.lines().next().unwrap(),
        "topology,method,repetition,iteration,loss,grad_norm_sq,consensus_error,tracking_error,momentum_error,\
         conservation_error,test_accuracy,bytes_sent,time,loss_gap,agents_grad_norm_sq,distance_sq"
    );
    assert!(results.csv.ends_with('\n') && !results.csv.contains('\r'));
    let iterations: Vec<String> = (0..=90).step_by(10).chain([95]).map(|k: u32| k.to_string()).collect();
    let mut rows = results.rows().into_iter();
    for method in ["SMTPP", "SGP", "CSGDM"] {
        // tracking_error, momentum_error, conservation_error, test_accuracy, bytes_sent
        let has = match method {
            "SMTPP" => [true, true, true, true, true],
            "SGP" => [false, false, true, true, true],
            _ => [false, false, false, true, false],
        };
        for repetition in ["0", "1"] {
            for iteration in &iterations {
                let row = rows.next().unwrap();
                assert_eq!(row[..4], ["multi-sub-ring", method, repetition, iteration]);
                for cell in row[4..].iter().filter(|cell| !cell.is_empty()) {
                    let number: f64 = cell.parse().unwrap();
                    assert!(number.is_finite() && number >= 0.0, "{row:?}");
                    let shortest =
                        cell.parse::<u64>().map_or(format!("{number:?}"), |whole| whole.to_string());
                    assert_eq!(shortest, *cell, "the shortest form that reads back");
                }
                assert!(row[4..7].iter().all(|cell| !cell.is_empty()), "{row:?}");
                assert_eq!(
                    row[7..12].iter().map(|cell| !cell.is_empty()).collect::<Vec<_>>(),
                    has,
                    "{row:?}"
                );
                assert_eq!(row[12], "", "there is no clock");
                assert!(
                    !row[13].is_empty() && row[14].is_empty(),
                    "F* is cheap on a9a, ∇F at 20 agents is not"
                );
            }
        }
    }
    assert_eq!(rows.next(), None);
    let smtpp = results.rows_of("SMTPP");
    assert_eq!(smtpp[0][4].parse::<f64>().unwrap().to_string(), smtpp[11][4], "both start at the same loss");
    let losses = [0, 10].map(|row: usize| smtpp[row][4].parse::<f64>().unwrap());
    assert!(losses[1] < losses[0], "{losses:?}");
    // 19 agents in 4 cycles through agent 0: 23 links, x − ηv and v of 123 numbers of 8 bytes each, 95 rounds
    assert_eq!(smtpp[10][11], (23 * 2 * 123 * 8 * 95).to_string());
}

#[test]
fn the_summary_has_settings_status_timings_and_hashes() {
    let lab = Lab::new();
    let results = lab.results(DESIGN, &["--set", "method.SGP.step=0.25"]);
    let summary = &results.summary;
    assert_eq!(summary["oneway"], env!("CARGO_PKG_VERSION"));
    assert_eq!(summary["settings"]["problem"]["dataset"], "a9a");
    assert_eq!(summary["settings"]["run"]["iterations"], 95);
    assert_eq!(summary["settings"]["topology"][0]["petals"], 4);
    assert_eq!(summary["settings"]["method"][1]["step"], 0.25, "settings are those after --set");
    assert_eq!((&summary["cells_planned"], &summary["cells_complete"]), (&6.into(), &6.into()));
    assert_eq!(results.cells().len(), 6);
    for cell in results.cells() {
        assert_eq!((&cell["status"], &cell["rounds"]), (&"completed".into(), &95.into()));
        let hash = cell["state_hash"].as_str().unwrap();
        assert!(hash.len() == 64 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{hash}");
        assert!(cell["seed"].is_u64());
        assert!(
            ["seconds_stepping", "seconds_observing"].iter().all(|key| cell[*key].as_f64().unwrap() > 0.0)
        );
    }
    let cells = results.cells();
    assert_eq!(cells[0]["seed"], cells[2]["seed"], "sampling is shared by the methods of a repetition");
    assert_ne!(cells[0]["seed"], cells[1]["seed"]);
    let divided_by = |entry: usize| summary["entries"][entry]["step_divided_by"].as_f64().unwrap();
    assert!((divided_by(0) - 1.0).abs() > 1e-3, "c_π of a flower is not 1");
    assert_eq!(divided_by(1), 1.0, "effective changes nothing for push-sum, nor was it asked for");
}

#[test]
fn what_costs_more_is_measured_where_it_is_cheap_or_asked_for() {
    let lab = Lab::new();
    let dsgd = "[[method]]\nname = \"DSGD\"\nkind = \"dsgd\"\nstep = 0.2\n";
    let experiment = changed(&format!("{QUADRATIC}{dsgd}"), "iterations = 100", "iterations = 400");
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    let results = lab.results(&experiment, &[]);
    let optimum = &results.summary["entries"][0]["optimum"];
    assert!(optimum["is"].as_str().unwrap().starts_with("the minimum"), "{optimum}");
    for row in results.rows() {
        assert_eq!(number(row[13]), number(row[4]) - optimum["loss"].as_f64().unwrap(), "F(x̄) − F*");
        assert!(number(row[13]) > -1e-14, "nothing is below the minimum: {row:?}");
        assert!(number(row[14]) >= number(row[5]) * (1.0 - 1e-9), "of a quadratic, by convexity: {row:?}");
    }
    // its mean is at the minimum, and its agents, at the ends of a ring of different data, are not
    let dsgd = results.rows_of("DSGD").pop().unwrap();
    assert!(number(dsgd[5]) < 1e-12 && number(dsgd[14]) > 1e-3, "{dsgd:?}");
    for (measure, has) in [
        ("[]", [false, false, false]),
        ("[\"loss_gap\"]", [true, false, false]),
        ("[\"agents_grad_norm_sq\"]", [false, true, false]),
        ("[\"distance_sq\"]", [false, false, true]),
        ("[\"agents_grad_norm_sq\", \"loss_gap\", \"distance_sq\"]", [true, true, true]),
    ] {
        let some = lab.results(&experiment, &["--set", &format!("run.measure={measure}")]);
        for (row, whole) in some.rows().iter().zip(results.rows()) {
            assert_eq!(row[..13], whole[..13], "the rest is as it was");
            assert_eq!([13, 14, 15].map(|at| !row[at].is_empty()), has, "{measure}");
            assert!(
                [13, 14].iter().all(|&at| row[at].is_empty() || row[at] == whole[at]),
                "{row:?} {whole:?}"
            );
        }
        assert_eq!(some.summary["entries"][0]["optimum"].is_object(), has[0]);
        let verified = lab.oneway(&["verify", "results"]);
        assert!(verified.status.success(), "{}{}", stdout(&verified), stderr(&verified));
    }
    let before = lab.listing();
    for (measure, words) in [
        ("true", ["run: `measure` = true", "\"loss_gap\""]),
        ("[\"loss-gap\"]", ["run: unknown measure", "loss_gap"]),
        ("[1]", ["run: `measure` = 1", "\"agents_grad_norm_sq\""]),
    ] {
        let output = lab.oneway(&["run", "experiment.toml", "--set", &format!("run.measure={measure}")]);
        assert_refused(&lab, &before, &output, &words);
    }
}

/// Where all curvatures are 1, F(x) − F* = ½‖x − x*‖².
#[test]
fn the_distance_to_the_minimiser_is_what_the_loss_says() {
    let lab = Lab::new();
    let measure = "run.measure=[\"loss_gap\", \"distance_sq\"]";
    let results = lab.results(QUADRATIC, &["--set", measure, "--set", "problem.curvature=[1.0, 1.0]"]);
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    let pairs: Vec<_> = results.rows().iter().map(|row| (number(row[13]), number(row[15]))).collect();
    assert!(pairs.iter().all(|(gap, distance)| (gap - 0.5 * distance).abs() < 1e-12), "{pairs:?}");
    assert!(pairs[0].1 > 0.1, "it begins away from the minimiser: {:?}", pairs[0]);
}

#[test]
fn the_lowest_loss_of_least_squares_is_its_minimum() {
    let lab = Lab::new();
    let problem = "kind = \"least-squares\"\ndataset = \"synthetic\"\nrows = 320\nfeatures = 4\nheterogeneity = 1.0\nbatch = \"full\"\n";
    let experiment = changed(QUADRATIC, "kind = \"quadratic\"\ndim = 4\n", problem);
    let results =
        lab.results(&experiment, &["--set", "run.iterations=6000", "--set", "run.record_every=1000"]);
    assert!(results.summary["entries"][0]["optimum"]["is"].as_str().unwrap().starts_with("the minimum"));
    let end = results.rows().pop().unwrap();
    let (loss, gap) = (end[4].parse::<f64>().unwrap(), end[13].parse::<f64>().unwrap());
    assert!(gap.abs() < 1e-14 * loss.max(1.0), "a method that converges comes to it: {gap} above, of {loss}");
}

#[test]
fn threads_and_repetition_change_no_byte() {
    let lab = Lab::new();
    let first = lab.results(DESIGN, &["--threads", "1"]);
    // d·n = 2¹⁵: large enough that the threads share one run
    let large = changed(&changed(QUADRATIC, "dim = 4", "dim = 2048"), "iterations = 100", "iterations = 20");
    let large_first = lab.results(&large, &["--threads", "1"]);
    for arguments in [&["--threads", "2"][..], &["--threads", "8"], &[]] {
        for (experiment, first) in [(DESIGN, &first), (large.as_str(), &large_first)] {
            let again = lab.results(experiment, arguments);
            assert_eq!(again.csv, first.csv, "{arguments:?}");
            assert_eq!(again.hashes(), first.hashes(), "{arguments:?}");
        }
    }
}

#[test]
fn settings_can_be_changed_from_the_command_line() {
    let lab = Lab::new();
    let plain = lab.results(EXPERIMENT, &[]);
    let shorter = lab.results(EXPERIMENT, &["--set", "run.iterations=10"]);
    assert_eq!(shorter.rows().len(), 4);
    assert_eq!(
        shorter.csv,
        shorter.csv.lines().filter(|line| plain.csv.contains(line)).collect::<Vec<_>>().join("\n") + "\n"
    );
    for (assignment, from, to) in [
        ("method.SMTPP.step.size=0.05", "size = 0.1", "size = 0.05"),
        ("method.SMTPP.step = { size = 0.05 }", "size = 0.1", "size = 0.05"),
        ("method.SMTPP.step=0.05", "size = 0.1", "size = 0.05"),
        ("method.SMTPP.graph=trees", "\"full\"", "\"trees\""),
        ("problem.partition={ dirichlet = 0.5 }", "\"even\"", "{ dirichlet = 0.5 }"),
        ("problem.batch=full", "batch = 1", "batch = \"full\""),
        ("run.seed = 7", "seed = 1", "seed = 7"),
    ] {
        let set = lab.results(EXPERIMENT, &["--set", assignment]);
        assert_eq!(set.csv, lab.results(&changed(EXPERIMENT, from, to), &[]).csv, "{assignment}");
        assert_ne!(set.csv, plain.csv, "{assignment}");
    }
    let trees = ["--set", "method.SMTPP.graph=trees", "--set", "topology.loop.root=3"];
    let text = changed(&changed(EXPERIMENT, "\"full\"", "\"trees\""), "root = 0", "root = 3");
    let moved = lab.results(EXPERIMENT, &trees);
    assert_eq!(moved.csv, lab.results(&text, &[]).csv);
    assert_ne!(moved.csv, lab.results(EXPERIMENT, &trees[..2]).csv, "the root matters");
    // what has no name goes by its kind, and a step given as a number can be given a size
    let by_kind =
        lab.results(QUADRATIC, &["--set", "topology.ring.root=3", "--set", "method.SMTPP.step.size=0.02"]);
    assert_eq!(by_kind.csv, lab.results(&changed(QUADRATIC, "0.01", "0.02"), &[]).csv);
}

#[test]
fn divergence_is_a_status_with_a_finite_curve_so_far() {
    let lab = Lab::new();
    for record_every in [10, 1000] {
        let experiment = changed(
            QUADRATIC,
            "iterations = 100",
            &format!("iterations = 2000\nrecord_every = {record_every}"),
        );
        let results = lab.results(&experiment, &["--set", "method.SMTPP.step=1e6"]);
        assert_eq!(results.statuses(), ["diverged"]);
        let rounds = results.cells()[0]["rounds"].as_u64().unwrap();
        assert!((1..=100).contains(&rounds), "{rounds}");
        let rows = results.rows();
        assert!(!rows.is_empty() && rows.iter().all(|row| row[3].parse::<u64>().unwrap() < rounds));
        let finite = |cell: &&str| cell.is_empty() || cell.parse::<f64>().unwrap().is_finite();
        assert!(rows.iter().all(|row| row[4..].iter().all(finite)), "{}", results.csv);
    }
}

/// All rounds are done, no number overflows, and yet there is nothing to show.
#[test]
fn a_run_that_ends_a_million_times_above_its_start_has_diverged() {
    let lab = Lab::new();
    // 40 rounds that double the error or more: far from overflow
    let results = lab.results(QUADRATIC, &["--set", "method.SMTPP.step=100", "--set", "run.iterations=40"]);
    let losses: Vec<f64> = results.rows().iter().map(|row| row[4].parse().unwrap()).collect();
    assert!(
        losses.last().unwrap() / losses[0] > 1e6 && losses.iter().all(|loss| loss.is_finite()),
        "{losses:?}"
    );
    assert_eq!(results.rows().len(), 5, "the curve is whole");
    assert_eq!((results.statuses(), &results.cells()[0]["rounds"]), (vec!["diverged"], &40.into()));
    let shown =
        stdout(&lab.run(QUADRATIC, &["--set", "method.SMTPP.step=100", "--set", "run.iterations=40"]));
    assert!(shown.contains("1 diverged by 40") && shown.contains(" –"), "{shown}");
}

/// Repetitions that ended elsewhere are left out of means, on the terminal and in the page, and both say so.
#[test]
fn means_are_over_the_repetitions_that_completed() {
    let lab = Lab::new();
    let whole = lab.results(EXPERIMENT, &[]);
    assert_ne!(whole.rows()[1][4], whole.rows()[5][4], "repetitions differ");
    // as if the second repetition had been stopped at its second recorded state
    let text = fs::read_to_string(lab.path("results/summary.json")).unwrap();
    let (head, tail) = text.rsplit_once("\"completed\"").unwrap();
    let tail = tail.replacen("\"rounds\": 25", "\"rounds\": 10", 1);
    lab.write("results/summary.json", format!("{head}\"stopped\"{tail}"));
    let late = |line: &&str| !["1,20,", "1,25,"].iter().any(|end| line.contains(&format!(",{end}")));
    let csv: Vec<&str> = whole.csv.lines().filter(late).collect();
    assert_eq!(csv.len(), 1 + 8 - 2);
    lab.write("results/curves.csv", csv.join("\n") + "\n");
    let output = lab.oneway(&["report", "results"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let page = fs::read_to_string(lab.path("results/report.html")).unwrap();
    assert!(
        page.contains(
            "loop · SMTPP: means are over the repetitions that completed: 1 of 2 (1 stopped at 10)"
        ),
        "the page does not say what is left out"
    );
    let data = page.split("application/json\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let drawn = data[0]["series"][0]["y"].as_array().unwrap();
    let first: Vec<f64> = whole.rows()[..4].iter().map(|row| row[4].parse().unwrap()).collect();
    assert_eq!(drawn.len(), first.len());
    for (drawn, of_first) in drawn.iter().zip(first) {
        let drawn = drawn.as_f64().unwrap();
        assert!((drawn / of_first - 1.0).abs() < 1e-4, "not the first repetition alone: {drawn} {of_first}");
    }
}

#[test]
fn results_go_to_out_by_default_and_replace_older_ones() {
    let lab = Lab::new();
    lab.write("small.toml", EXPERIMENT);
    let output = lab.oneway(&["run", "small.toml", "--no-report"]);
    assert!(output.status.success() && output.stderr.is_empty());
    let shown = stdout(&output);
    assert!(shown.contains("2 completed") && shown.contains("SMTPP") && shown.contains("loop"), "{shown}");
    let (_, end) = shown.split_once("out/small/curves.csv\nout/small/summary.json\n").unwrap();
    assert!(end.starts_with("2 runs: 2 completed; ") && end.ends_with(" s\n"), "{shown}");
    let first = Results::read(&lab.path("out/small"));
    assert!(lab.oneway(&["run", "small.toml", "--no-report", "--set", "run.seed=2"]).status.success());
    let second = Results::read(&lab.path("out/small"));
    assert_ne!(first.csv, second.csv);
    assert_eq!(second.csv, lab.results(&changed(EXPERIMENT, "seed = 1", "seed = 2"), &[]).csv);
}

#[test]
fn paths_are_relative_to_the_experiment() {
    let lab = Lab::new();
    fs::create_dir_all(lab.path("deep/data")).unwrap();
    fs::rename(lab.path("rows.txt"), lab.path("deep/data/rows.txt")).unwrap();
    lab.write("deep/small.toml", changed(EXPERIMENT, "rows.txt", "data/rows.txt"));
    let output = lab.oneway(&["run", "deep/small.toml", "--no-report", "--out", "elsewhere/new"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(Results::read(&lab.path("elsewhere/new")).rows().len(), 8);
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_keeps_what_is_finished_and_exits_130() {
    let lab = Lab::new();
    // the first method diverges and is done at once; the second would take hours
    let quick = "[[method]]\nname = \"quick\"\nkind = \"smtpp\"\nstep = 1e6\n[[method]]";
    // on one thread, and with threads to spare, which measure while the run goes on
    for (threads, record_every) in [("1", 10_000), ("1", 4_000_000_000_u64), ("3", 10_000)] {
        let run = format!("iterations = 4_000_000_000\nrecord_every = {record_every}");
        let text = changed(&changed(QUADRATIC, "iterations = 100", &run), "[[method]]", quick);
        lab.write("long.toml", text);
        let mut command =
            lab.command(&["run", "long.toml", "--no-report", "--out", "results", "--threads", threads]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let started = Instant::now();
        let first_is_kept =
            || fs::read_dir(lab.path("results/cells")).is_ok_and(|mut cells| cells.next().is_some());
        while !first_is_kept() {
            assert!(started.elapsed() < Duration::from_secs(60), "the first method is not done");
            std::thread::sleep(Duration::from_millis(10));
        }
        let sent = Instant::now();
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert!(sent.elapsed() < Duration::from_secs(10), "{:?}", sent.elapsed());
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        assert_eq!(
            stderr(&output),
            "oneway: interrupted; 1 of 2 cells are complete, and kept for the next run\n"
        );
        assert!(stdout(&output).contains("1 stopped at"), "{}", stdout(&output));
        let results = Results::read(&lab.path("results"));
        assert_eq!(results.statuses(), ["diverged", "stopped"]);
        assert_eq!((results.rows_of("quick").len(), results.rows_of("SMTPP").is_empty()), (1, false));
        assert!(results.rows().iter().all(|row| row[3].parse::<u64>().unwrap() % record_every == 0));
        assert_eq!(
            (&results.summary["cells_planned"], &results.summary["cells_complete"]),
            (&2.into(), &1.into())
        );
        fs::remove_dir_all(lab.path("results")).unwrap();
    }
}
