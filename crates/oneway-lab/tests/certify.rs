//! `oneway certify`: what it finds agrees with itself, with the runs, and with what is known by hand.
#![allow(clippy::unwrap_used)]

use serde_json::Value;

use crate::common::{EXPERIMENT, Lab, assert_refused, changed, stderr, stdout};

/// A quadratic of one curvature on everyone-hears-everyone, where much is known by hand.
const QUADRATIC: &str = r#"
[problem]
kind = "quadratic"
dim = 4
curvature = 2.0
heterogeneity = 1.0
noise = 0.1

[run]
agents = 5
iterations = 800
repetitions = 4
record_every = 4

[[topology]]
name = "all"
kind = "complete"

[[method]]
name = "SMTPP"
kind = "smtpp"
momentum = 1
step = 0.1
"#;

fn certify(lab: &Lab, experiment: &str, arguments: &[&str]) -> Value {
    lab.write("experiment.toml", experiment);
    let output =
        lab.oneway(&[&["certify", "experiment.toml", "--out", "results", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    let kept = std::fs::read_to_string(lab.path("results/certify.json")).unwrap();
    assert_eq!(stdout(&output), kept, "what is printed is what is kept");
    serde_json::from_str(&kept).unwrap()
}

fn row<'v>(found: &'v Value, topology: &str, method: &str) -> &'v Value {
    let rows = found["rows"].as_array().unwrap();
    rows.iter().find(|row| row["topology"] == topology && row["method"] == method).unwrap()
}

fn near(value: &Value, expected: f64, tolerance: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() <= tolerance * expected.abs(), "{value} is not {expected}");
}

/// λ = 1 on the complete graph is gradient descent, a round late: stable to 2/h, and its floor is ηh/(2 −
/// ηh)·σ²/n.
#[test]
fn a_complete_graph_by_hand() {
    let lab = Lab::new();
    let found = certify(&lab, QUADRATIC, &[]);
    let problem = &found["problems"][0];
    near(&problem["smoothness"], 2.0, 1e-15);
    near(&problem["noise"]["variance"], 0.01, 1e-12);
    assert!(
        problem["noise"]["standard_error"].is_null() && problem["grad_norm_sq_there"].as_f64() < Some(1e-18)
    );
    let row = row(&found, "all", "SMTPP");
    near(&row["stability"]["limit"]["effective"], 1.0, 1e-4);
    near(&row["stability"]["rate"], 0.8, 1e-6);
    assert_eq!(row["stability"]["stable"], true);
    let floor = 0.2 / 1.8 * 0.01 / 5.0;
    near(&row["floor"]["noise"], floor, 1e-6);
    // a tracker on agents that differ: nothing but noise
    assert_eq!((&row["floor"]["total"], row["floor"]["bias"].as_f64()), (&row["floor"]["noise"], Some(0.0)));
    // it has forgotten its start after some ten rounds, and what was measured is the floor
    let (measured, error) = (&row["measured"]["last_part"], &row["measured"]["standard_error"]);
    let apart = (measured.as_f64().unwrap() - floor).abs();
    assert!(apart < 5.0 * error.as_f64().unwrap(), "{measured} ± {error}");
    // runs on the grid: far below the limit they are stable, far above they are not
    let region = &found["regions"][0];
    assert_eq!((&region["graph"], &region["rounds"]), (&"full".into(), &400.into()));
    let limit = |momentum: &Value| {
        let lines = region["lines"].as_array().unwrap();
        lines.iter().find(|line| line["momentum"] == *momentum).unwrap()["stable"].as_f64().unwrap()
    };
    let (mut below, mut above) = (0, 0);
    for run in region["runs"].as_array().unwrap() {
        let share = run["step"].as_f64().unwrap() / limit(&run["momentum"]);
        match share {
            ..0.6 => (below += 1, assert_ne!(run["outcome"], "diverged", "{run}")),
            2.0.. => (above += 1, assert_eq!(run["outcome"], "diverged", "{run}")),
            _ => ((), ()),
        };
    }
    assert!(below > 10 && above > 5, "{below} {above}");
}

#[test]
fn the_bound_holds_at_a_certified_step() {
    let lab = Lab::new();
    let found = certify(&lab, QUADRATIC, &["--rounds", "0"]);
    let largest = &row(&found, "all", "SMTPP")["certificate"]["largest"]["raw"];
    let limit = &row(&found, "all", "SMTPP")["stability"]["limit"]["raw"];
    assert!(largest.as_f64().unwrap() < limit.as_f64().unwrap() && largest.as_f64().unwrap() < 0.1);
    assert_eq!(row(&found, "all", "SMTPP")["certificate"]["given"], false);
    let step = format!("step = {}", 0.5 * largest.as_f64().unwrap());
    let found = certify(&lab, &changed(QUADRATIC, "step = 0.1", &step), &["--rounds", "0"]);
    let row = row(&found, "all", "SMTPP");
    assert_eq!(row["certificate"]["given"], true);
    assert_eq!(row["certificate"]["step"], row["step"]["largest"], "the bound is for the given step");
    let (bound, average) = (row["certificate"]["bound"].as_f64(), row["measured"]["average"].as_f64());
    assert!(average.unwrap() <= bound.unwrap(), "{row}");
    assert_eq!(found["regions"][0]["runs"].as_array().unwrap().len(), 0);
}

/// A schedule that goes down is judged by its largest step, and its floor by its last; the theorem has no
/// decay.
#[test]
fn a_decay_is_stable_by_its_first_step_and_ends_by_its_last() {
    let lab = Lab::new();
    let decay = |size: &str| format!("step = {{ size = {size}, decay = 0.1, every = 350 }}");
    let found = certify(&lab, &changed(QUADRATIC, "step = 0.1", &decay("1.01")), &["--rounds", "0"]);
    let row = |found| row(found, "all", "SMTPP").clone();
    let barely = row(&found);
    assert_eq!(barely["stability"]["stable"], false);
    near(&barely["step"]["last"]["raw"], 0.0101, 1e-12);
    near(&barely["floor"]["total"], 0.0202 / 1.9798 * 0.01 / 5.0, 1e-6);
    assert_eq!((&barely["step"]["last_for"], &barely["measured"]["from"]), (&100.into(), &750.into()));
    assert_eq!(barely["certificate"]["given"], false);
    // what went too far before its step was lowered never comes back: its losses are no measurement
    let found = certify(&lab, &changed(QUADRATIC, "step = 0.1", &decay("1.5")), &["--rounds", "0"]);
    assert!(
        row(&found)["measured"].to_string().contains("4 of 4 runs diverged"),
        "{}",
        row(&found)["measured"]
    );
}

/// SGP's agents stand at z = x/w and pull unequally hard: where they differ, the mean comes to rest beside
/// the minimiser. The floor is noise and bias together, and what is measured; for methods that track, or mix
/// by one doubly stochastic matrix, the bias is none.
#[test]
fn agents_that_differ_have_a_bias_in_the_floor() {
    let lab = Lab::new();
    let differ = changed(QUADRATIC, "heterogeneity = 1.0", "heterogeneity = 5.0");
    let sparse = changed(&differ, "kind = \"complete\"", "kind = \"flower\"\npetals = 2");
    let longer = changed(&sparse, "iterations = 800", "iterations = 4000");
    let longer = changed(&longer, "step = 0.1", "step = 0.02");
    let methods = "\n[[method]]\nname = \"SGP\"\nkind = \"sgp\"\nstep = 0.05\n";
    let found = certify(&lab, &(longer + methods), &["--rounds", "0"]);
    for (method, biased) in [("SGP", true), ("SMTPP", false)] {
        let row = row(&found, "all", method);
        let part = |of: &str| row["floor"][of].as_f64().unwrap();
        assert!((part("noise") + part("bias") - part("total")).abs() <= 1e-7 * part("total"), "{row}");
        assert_eq!(part("bias") > 0.5 * part("total"), biased, "{row}");
        assert_eq!(part("bias") == 0.0, !biased, "{row}");
        let (measured, error) = (&row["measured"]["last_part"], &row["measured"]["standard_error"]);
        let apart = (measured.as_f64().unwrap() - part("total")).abs();
        assert!(apart < 4.0 * error.as_f64().unwrap(), "{row}");
    }
    let output = lab.oneway(&["certify", "experiment.toml", "--out", "results", "--rounds", "0"]);
    assert!(stdout(&output).contains("(bias "), "{}", stdout(&output));
}

/// The stationary E(hx)²/s of x⁺ = x − ηm⁺, m⁺ = (1 − λ)m + λ(hx + ξ), Var ξ = s, by letting the covariance
/// go on.
fn csgdm_floor(ηh: f64, λ: f64) -> f64 {
    let (mut xx, mut xm, mut mm) = (0.0, 0.0, 0.0);
    for _ in 0..10_000 {
        // of hx and m, in units of s; ηh is the step in those units
        let m_m = (1.0 - λ) * (1.0 - λ) * mm + 2.0 * (1.0 - λ) * λ * xm + λ * λ * (xx + 1.0);
        let x_m = (1.0 - λ) * xm + λ * xx;
        (xx, xm, mm) = (xx - 2.0 * ηh * x_m + ηh * ηh * m_m, x_m - ηh * m_m, m_m);
    }
    xx
}

#[test]
fn what_does_not_apply_has_a_reason() {
    let lab = Lab::new();
    let more = "\n[[topology]]\nname = \"turns\"\nkind = \"one-peer-exponential\"\n\
                [[method]]\nname = \"SGP\"\nkind = \"sgp\"\nstep = 0.1\n\
                [[method]]\nname = \"wild\"\nkind = \"push-pull\"\nstep = 1e9\n\
                [[method]]\nname = \"CSGDM\"\nkind = \"csgdm\"\nstep = 0.1\n";
    let experiment = changed(QUADRATIC, "iterations = 800", "iterations = 60") + more;
    let found = certify(&lab, &experiment, &["--rounds", "20"]);
    assert_eq!(found["rows"].as_array().unwrap().len(), 8);
    let reason = |topology, method, what: &str| row(&found, topology, method)[what]["none"].to_string();
    assert!(reason("all", "SGP", "certificate").contains("about SMTPP"));
    assert!(reason("turns", "SMTPP", "certificate").contains("stays the same"));
    assert!(reason("all", "wild", "measured").contains("4 of 4 runs diverged"));
    assert!(reason("all", "wild", "floor").contains("not stable"));
    assert!(row(&found, "turns", "SMTPP")["measured"]["average"].is_number());
    // a mean of five gradients at one point: the floor of one agent with a fifth of the noise
    near(&row(&found, "all", "CSGDM")["stability"]["limit"]["raw"], 19.0, 1e-4);
    near(&row(&found, "all", "CSGDM")["floor"]["total"], csgdm_floor(0.2, 0.1) * 0.01 / 5.0, 1e-6);
    assert_eq!(found["regions"].as_array().unwrap().len(), 1, "none for a network that changes");
    // the same in words; a rate of 1e9 has no more digits than others
    let output = lab.oneway(&["certify", "experiment.toml", "--out", "results", "--rounds", "20"]);
    let text = stdout(&output);
    assert!(text.contains("no certificate: the theorem is about SMTPP (SGP on all"), "{text}");
    assert!(text.lines().all(|line| !line.starts_with('│') || line.chars().count() < 250), "{text}");
    assert!(text.contains("exceeded") && text.contains("results/certify.json"), "{text}");
}

/// Noise keeps a run that begins close to the minimum above its start, however small its step: it has not
/// diverged.
#[test]
fn noise_alone_is_no_divergence() {
    let lab = Lab::new();
    let alone = changed(QUADRATIC, "agents = 5", "agents = 1");
    let alone = changed(
        &changed(&alone, "heterogeneity = 1.0", "heterogeneity = 0.0"),
        "noise = 0.1",
        "noise = 10.0",
    );
    let found = certify(&lab, &changed(&alone, "iterations = 800", "iterations = 400"), &[]);
    let region = &found["regions"][0];
    let outcomes = |below: bool| -> Vec<&str> {
        let line = |momentum: &Value| {
            let lines = region["lines"].as_array().unwrap();
            lines.iter().find(|line| line["momentum"] == *momentum).unwrap()["stable"].as_f64().unwrap()
        };
        let runs = region["runs"].as_array().unwrap().iter();
        let apart = |share: f64| if below { share < 0.8 } else { share > 1.2 };
        let runs = runs.filter(|run| apart(run["step"].as_f64().unwrap() / line(&run["momentum"])));
        runs.map(|run| run["outcome"].as_str().unwrap()).collect()
    };
    let (below, beyond) = (outcomes(true), outcomes(false));
    assert!(below.len() > 10 && !below.contains(&"diverged"), "{below:?}");
    assert!(below.contains(&"worse than its start"), "{below:?}");
    assert!(beyond.len() > 5 && beyond.iter().all(|outcome| *outcome == "diverged"), "{beyond:?}");
    let page = std::fs::read_to_string(lab.path("results/report.html")).unwrap();
    assert!(page.contains("run ended worse than its start"));
}

/// A run that has not come down to its floor does not speak against it.
#[test]
fn short_runs_are_in_the_notes_and_not_in_the_figure() {
    let lab = Lab::new();
    let figure = || lab.path("results/figures/all-floor.svg").exists();
    certify(&lab, &changed(QUADRATIC, "iterations = 800", "iterations = 4"), &["--rounds", "0"]);
    let page = std::fs::read_to_string(lab.path("results/report.html")).unwrap();
    assert!(
        !figure() && page.contains("<li>too short to come down to the floor: SMTPP on all (4 of 5)"),
        "{page}"
    );
    certify(&lab, QUADRATIC, &["--rounds", "0"]);
    assert!(figure());
}

#[test]
fn same_inputs_same_bytes_on_any_threads() {
    let lab = Lab::new();
    let mut all = vec![];
    for threads in ["1", "2"] {
        std::fs::remove_dir_all(lab.path("results")).ok();
        certify(&lab, EXPERIMENT, &["--threads", threads]);
        let mut files: Vec<_> = vec![lab.path("results/certify.json"), lab.path("results/report.html")];
        let figures = std::fs::read_dir(lab.path("results/figures")).unwrap();
        files.extend(figures.map(|file| file.unwrap().path()));
        files.sort();
        assert!(files.len() >= 2 + 3, "{files:?}");
        all.push(files.iter().map(|file| std::fs::read(file).unwrap()).collect::<Vec<_>>());
    }
    assert!(all[0] == all[1]);
    let page = String::from_utf8(std::fs::read(lab.path("results/report.html")).unwrap()).unwrap();
    assert!(page.contains("stability limit") && page.contains("certified and measured"));
}

/// Rows of both signs, small batches: σ² is estimated, and below its bound.
#[test]
fn noise_of_sampled_rows_is_estimated_and_that_of_full_batches_known() {
    let lab = Lab::new();
    let found = certify(&lab, EXPERIMENT, &["--rounds", "0"]);
    let noise = &found["problems"][0]["noise"];
    assert!(noise["how"].as_str().unwrap().starts_with("estimated"));
    assert!(noise["variance"].as_f64().unwrap() <= noise["bound"].as_f64().unwrap());
    assert!(noise["standard_error"].as_f64().unwrap() > 0.0);
    // the theorem asks for a σ² that holds wherever runs go
    assert_eq!(
        (&noise["in_theorem"]["variance"], &noise["in_theorem"]["is"]),
        (&noise["bound"], &"a bound for all x".into())
    );
    let found = certify(&lab, &changed(EXPERIMENT, "batch = 1", "batch = \"full\""), &["--rounds", "0"]);
    assert_eq!(found["problems"][0]["noise"]["variance"].as_f64(), Some(0.0));
    assert_eq!(row(&found, "loop", "SMTPP")["floor"]["total"].as_f64(), Some(0.0));
}

/// Rows without replacement: what is stable stays so, what noise leaves is not said.
#[test]
fn what_asks_for_independent_rounds_is_left_out_without_replacement() {
    let lab = Lab::new();
    let text = changed(EXPERIMENT, "batch = 1", "batch = 1\nsampling = \"without-replacement\"");
    let found = certify(&lab, &text, &["--rounds", "0"]);
    let row = row(&found, "loop", "SMTPP");
    for key in ["floor", "certificate"] {
        let why = row[key]["none"].as_str().unwrap();
        assert!(why.contains("draws rows without replacement"), "{key}: {why}");
    }
    let plain = certify(&lab, EXPERIMENT, &["--rounds", "0"]);
    assert_eq!(row["stability"], self::row(&plain, "loop", "SMTPP")["stability"]);
}

#[test]
fn bad_input_is_refused_and_nothing_written() {
    let lab = Lab::new();
    let experiment = |text: &str| lab.write("experiment.toml", text);
    experiment(EXPERIMENT);
    let before = lab.listing();
    let refused = |arguments: &[&str], words: &[&str]| {
        let output = lab.oneway(&[&["certify", "experiment.toml"], arguments].concat());
        assert_refused(&lab, &before, &output, words);
    };
    refused(&["--set", "run.iteration=3"], &["unknown key `iteration`", "`iterations`?"]);
    refused(&["--set", "method.SMTPP.momentum=2"], &["SMTPP", "(0, 1]"]);
    refused(&["--out", "rows.txt/results"], &["cannot write to the output folder"]);
    experiment(&changed(EXPERIMENT, "rows.txt", "nothing.txt"));
    refused(&[], &["nothing.txt"]);
    // no entries and no regulariser: nothing is curved, and there is no step to certify
    lab.write("rows.txt", "+1\n-1\n+1\n-1\n");
    experiment(&changed(EXPERIMENT, "alpha = 0.01", "alpha = 0"));
    refused(&[], &["experiment.toml", "no curvature"]);
}
