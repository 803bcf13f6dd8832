//! What makes experiments worth keeping: finished cells that are not computed again, runs that go on after an
//! interruption, folders that prove themselves, and tuning.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use oneway_experiment::sha256;

use crate::common::{self, EXPERIMENT, Lab, Results, changed, stderr, stdout};

/// Every kept cell with the time it was written.
fn cells(lab: &Lab, folder: &str) -> BTreeMap<String, SystemTime> {
    let entries = fs::read_dir(lab.path(folder).join("cells")).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().modified().unwrap())
        })
        .collect()
}

#[test]
fn what_is_finished_is_not_computed_again_unless_asked() {
    let lab = Lab::new();
    let first = lab.results(EXPERIMENT, &[]);
    let kept = cells(&lab, "results");
    assert_eq!(kept.len(), 2);
    let again = lab.results(EXPERIMENT, &[]);
    assert_eq!(again.csv, first.csv);
    assert_eq!(cells(&lab, "results"), kept, "nothing was written anew");

    // one more method: only its cells are new
    let more = format!("{EXPERIMENT}[[method]]\nkind = \"csgdm\"\nstep = 0.1\n");
    lab.results(&more, &[]);
    let now = cells(&lab, "results");
    assert_eq!(now.len(), 4);
    assert!(kept.iter().all(|(name, time)| now[name] == *time));

    assert_eq!(lab.results(EXPERIMENT, &["--fresh"]).csv, first.csv);
    let fresh = cells(&lab, "results");
    assert!(kept.iter().all(|(name, time)| fresh[name] > *time), "--fresh computes all again");
}

#[test]
fn cells_that_are_the_same_run_once() {
    let lab = Lab::new();
    // a centralised method does not see the topology
    let two =
        changed(EXPERIMENT, "[[topology]]", "[[topology]]\nname = \"star\"\nkind = \"star\"\n[[topology]]");
    let central = changed(&two, "kind = \"smtpp\"\nmomentum = 0.1\ngraph = \"full\"", "kind = \"csgdm\"");
    let results = lab.results(&central, &[]);
    assert_eq!(results.cells().len(), 4);
    assert_eq!(cells(&lab, "results").len(), 2);
}

#[test]
fn a_damaged_cell_is_noticed_and_computed_again() {
    let lab = Lab::new();
    let first = lab.results(EXPERIMENT, &[]);
    let name = cells(&lab, "results").into_keys().next().unwrap();
    let path = lab.path("results").join("cells").join(name);
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replacen("0.6", "0.7", 1)).unwrap();
    let output = lab.run(EXPERIMENT, &[]);
    assert!(output.status.success());
    assert!(stderr(&output).contains(".cell is damaged: computing it again"), "{}", stderr(&output));
    assert_eq!(Results::read(&lab.path("results")).csv, first.csv);
    // the file is whole again except for the timings in its first line
    let curve = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(curve(&fs::read_to_string(&path).unwrap()), curve(&whole));
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_goes_on_to_the_same_bytes() {
    let lab = Lab::new();
    let text =
        changed(EXPERIMENT, "iterations = 25\nrepetitions = 2", "iterations = 20000\nrepetitions = 40");
    let text = changed(&text, "record_every = 10", "record_every = 20");
    let undisturbed = lab.results(&text, &["--out", "results"]);
    fs::rename(lab.path("results"), lab.path("undisturbed")).unwrap();

    lab.write("experiment.toml", &text);
    let mut interruptions = 0;
    loop {
        let mut command = lab.command(&["run", "experiment.toml", "--no-report", "--out", "results"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let wait = Duration::from_millis(60 + 40 * interruptions);
        let started = Instant::now();
        while started.elapsed() < wait && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        // every other time without any warning
        let signal = if interruptions % 2 == 0 { "-INT" } else { "-KILL" };
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
        let before =
            if lab.path("results/cells").exists() { cells(&lab, "results") } else { Default::default() };
        if child.wait().unwrap().success() {
            break;
        }
        interruptions += 1;
        let after =
            if lab.path("results/cells").exists() { cells(&lab, "results") } else { Default::default() };
        let lost =
            before.keys().filter(|name| name.ends_with(".cell")).find(|name| !after.contains_key(*name));
        assert_eq!(lost, None, "a finished cell was lost");
        assert!(interruptions < 200, "no progress");
    }
    assert!(interruptions > 0, "nothing was interrupted: the test shows nothing");
    let resumed = fs::read_to_string(lab.path("results/curves.csv")).unwrap();
    assert!(resumed == undisturbed.csv, "after {interruptions} interruptions the curves differ");
}

#[test]
fn a_results_folder_proves_itself() {
    let lab = Lab::new();
    lab.results(EXPERIMENT, &[]);
    let verified = lab.oneway(&["verify", "results"]);
    assert!(verified.status.success(), "{}{}", stdout(&verified), stderr(&verified));
    assert_eq!(stdout(&verified), "results: 2 cells run again, all bits agree\n");

    // a digit of the curves, by hand
    let csv = fs::read_to_string(lab.path("results/curves.csv")).unwrap();
    lab.write("results/curves.csv", csv.replacen("0.6", "0.5", 1));
    let tampered = lab.oneway(&["verify", "results"]);
    assert_eq!(tampered.status.code(), Some(1));
    assert!(stdout(&tampered).contains("curves.csv: changed since it was written"), "{}", stdout(&tampered));
    lab.write("results/curves.csv", &csv);

    // the claimed result, by hand
    let summary = fs::read_to_string(lab.path("results/summary.json")).unwrap();
    let hash = serde_json::from_str::<serde_json::Value>(&summary).unwrap()["cells"][1]["state_hash"].clone();
    lab.write("results/summary.json", summary.replace(hash.as_str().unwrap(), &"0".repeat(64)));
    let forged = lab.oneway(&["verify", "results"]);
    assert_eq!(forged.status.code(), Some(1));
    assert!(stdout(&forged).contains("loop · SMTPP · 2: another final state"), "{}", stdout(&forged));
    lab.write("results/summary.json", &summary);

    // curves and manifest together: what stands in the file is not what the run gives
    let forged_csv = csv.replacen("0.6", "0.5", 1);
    lab.write("results/curves.csv", &forged_csv);
    lab.write("results/summary.json", summary.replace(&sha256(&csv), &sha256(&forged_csv)));
    let both = lab.oneway(&["verify", "results"]);
    assert_eq!(both.status.code(), Some(1));
    assert!(stdout(&both).contains("not the curve that stands in curves.csv"), "{}", stdout(&both));
    lab.write("results/curves.csv", &csv);

    // cells left out, and a seed that is not the settings'
    let mut fewer: serde_json::Value = serde_json::from_str(&summary).unwrap();
    fewer["cells"].as_array_mut().unwrap().remove(0);
    lab.write("results/summary.json", fewer.to_string());
    let fewer = lab.oneway(&["verify", "results"]);
    assert_eq!(fewer.status.code(), Some(1));
    assert!(stdout(&fewer).contains("loop · SMTPP · 1: not finished"), "{}", stdout(&fewer));
    let mut other: serde_json::Value = serde_json::from_str(&summary).unwrap();
    other["cells"][0]["seed"] = 7.into();
    lab.write("results/summary.json", other.to_string());
    assert!(stdout(&lab.oneway(&["verify", "results"])).contains("loop · SMTPP · 1: another seed"));
    lab.write("results/summary.json", &summary);

    // the data
    lab.write("rows.txt", common::ROWS.replacen("3:0.5", "3:0.6", 1));
    let other_data = lab.oneway(&["verify", "results"]);
    assert_eq!(other_data.status.code(), Some(1));
    assert!(
        stdout(&other_data).contains("the problem or its data is not what it was"),
        "{}",
        stdout(&other_data)
    );
}

#[test]
fn tuning_finds_the_best_step_of_a_quadratic_and_writes_an_experiment_that_runs() {
    let lab = Lab::new();
    let text = r#"
        [problem]
        kind = "quadratic"
        dim = 3
        [run]
        agents = 5
        iterations = 90
        repetitions = 1
        record_every = 90
        [[topology]]
        kind = "complete"
        [[method]]
        name = "GD"
        kind = "csgdm"
        step = 0.1
        [[method]]
        kind = "push-pull"
        step = 0.1
    "#;
    lab.write("experiment.toml", text);
    let output = lab.oneway(&["tune", "experiment.toml", "--by", "gradient", "--out", "tuned"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let trials: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(lab.path("tuned/trials.json")).unwrap()).unwrap();
    let of = |method: &str, iterations: u64| {
        let trials = trials.as_array().unwrap().iter();
        trials.filter(|t| t["method"] == method && t["iterations"] == iterations).count()
    };
    for method in ["GD", "push-pull"] {
        assert_eq!(
            [10, 30, 90].map(|iterations| of(method, iterations)),
            [66, 22, 8],
            "{method}: 65 candidates and the file's own"
        );
    }
    // curvature 1 on the complete graph: Push-Pull converges in one step of size 1, and diverges from 2 on
    let tuned: toml::Table = fs::read_to_string(lab.path("tuned/tuned-1.toml")).unwrap().parse().unwrap();
    let step = tuned["method"][1]["step"]["size"].as_float().unwrap();
    assert!((0.5..1.6).contains(&step), "{step}");
    let run = lab.oneway(&["run", "tuned/tuned-1.toml", "--out", "again"]);
    assert!(run.status.success(), "{}", stderr(&run));
}

#[test]
fn what_tuning_finds_is_no_worse_than_the_file_and_runs_from_its_own_folder() {
    let lab = Lab::new();
    let decaying =
        changed(EXPERIMENT, "step = { size = 0.1 }", "step = { size = 0.3, decay = 0.1, every = 30 }");
    let text = changed(&decaying, "iterations = 25", "iterations = 90");
    lab.write("experiment.toml", &text);
    let output = lab.oneway(&["tune", "experiment.toml", "--out", "deep/tuned"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let trials = fs::read_to_string(lab.path("deep/tuned/trials.json")).unwrap();
    let trials: Vec<serde_json::Value> = serde_json::from_str(&trials).unwrap();
    let last: Vec<_> = trials.iter().filter(|trial| trial["iterations"] == 90).collect();
    let score = |trial: &serde_json::Value| trial["score"].as_f64().unwrap();
    let own =
        last.iter().find(|trial| trial["own"] == true).expect("the file's own setting stays in to the end");
    assert!(last.iter().any(|trial| score(trial) <= score(own)));
    let run = lab.oneway(&["run", "deep/tuned/tuned-1.toml", "--no-report", "--out", "again"]);
    assert!(run.status.success(), "{}", stderr(&run));

    // nothing converges: the file's own step is left as it was, and said so
    let hopeless = changed(&text, "size = 0.3", "size = 1e300");
    lab.write("experiment.toml", hopeless);
    let output = lab.oneway(&["tune", "experiment.toml", "--out", "hopeless"]);
    assert!(stdout(&output).contains("every candidate diverged"), "{}", stdout(&output));
    let left: toml::Table = fs::read_to_string(lab.path("hopeless/tuned-1.toml")).unwrap().parse().unwrap();
    assert_eq!(left["method"][0]["step"]["size"].as_float(), Some(1e300));
}
