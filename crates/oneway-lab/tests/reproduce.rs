//! The front door: the paper reproduced with one command, its figures and its page.
#![allow(clippy::unwrap_used)]

use std::fs;

use crate::common::{EXPERIMENT, Lab, stderr, stdout};

fn read(lab: &Lab, name: &str) -> String {
    fs::read_to_string(lab.path(name)).unwrap()
}

#[test]
fn one_command_gives_curves_claims_figures_and_a_page_with_the_same_bytes_on_any_threads() {
    let lab = Lab::new();
    for (threads, out) in [("1", "one"), ("2", "two")] {
        let output = lab.oneway(&["reproduce", "--quick", "--threads", threads, "--out", out]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stderr(&output), "");
        let said = stdout(&output);
        assert!(
            said.contains("Multi-Sub-Ring") && said.contains("does not hold") && said.contains("report.html")
        );
    }
    for file in
        ["claims.json", "multi-sub-ring/curves.csv", "exponential/curves.csv", "one-step-0.1/curves.csv"]
    {
        assert_eq!(read(&lab, &format!("one/{file}")), read(&lab, &format!("two/{file}")), "{file}");
    }
    for figure in ["multi-sub-ring-loss", "exponential-gradient-by-bytes", "multi-sub-ring-network-trees"] {
        for ending in ["svg", "png", "pdf"] {
            let name = format!("figures/{figure}.{ending}");
            let (one, two) = (fs::read(lab.path("one").join(&name)), fs::read(lab.path("two").join(&name)));
            assert_eq!(one.unwrap(), two.unwrap(), "{name}");
        }
    }
    let claims: serde_json::Value = serde_json::from_str(&read(&lab, "one/claims.json")).unwrap();
    let page = read(&lab, "one/report.html");
    let claims = claims.as_array().unwrap();
    assert_eq!(claims.len(), 17);
    for claim in claims {
        let verdict = claim["verdict"].as_str().unwrap();
        let plain = ["holds", "does not hold", "undecided"].contains(&verdict);
        let worded = verdict.starts_with("holds only if ") || verdict.starts_with("holds for ");
        assert!(plain || worded, "{verdict}");
        assert!(!claim["because"].as_str().unwrap().starts_with("Not judged"), "{claim}");
    }
    // what does not depend on the number of repetitions
    for (id, verdict) in [
        ("lemma-2", "holds"),
        ("any-strongly-connected", "holds"),
        ("corollary-rate", "holds"),
        ("linear-speed-up", "holds only if SMTPP uses the full digraph; on trees it does not"),
        ("larger-steps", "holds only if SMTPP uses the full digraph; on trees it does not"),
    ] {
        let claim = claims.iter().find(|claim| claim["id"] == id).unwrap();
        assert_eq!(claim["verdict"], verdict);
    }
    assert!(page.contains("Two repetitions: a look, not a verdict."));
    assert!(!lab.path("one/figures").join("one-step-0.1-loss.svg").exists());
    assert_eq!(page.matches("class=\"chart\"").count(), 16, "the one-step folders are not drawn");
    assert!(page.contains("the last state: means ± standard errors over 2 repetitions"));
    assert!(page.contains("data-series=\"SMTPP (trees)\"") && !page.contains("http://www.w3.org/1999/xlink"));

    // CSGDM does not see the topology: it ran once for both. With one step for all, three methods on
    // Multi-Sub-Ring are new at 0.1, three at 0.2, and STPP at 0.1 on the exponential graph.
    let cells = fs::read_dir(lab.path("one/cells")).unwrap().count();
    assert_eq!(cells, 2 * ((2 * 6 - 1) + 3 + 3 + 1));
    let one_step = read(&lab, "one/one-step-0.2/curves.csv");
    let given = read(&lab, "one/multi-sub-ring/curves.csv");
    let of = |csv: &str, method: &str| -> Vec<String> {
        csv.lines().filter(|line| line.contains(&format!(",{method},"))).map(str::to_owned).collect()
    };
    assert_eq!(of(&one_step, "SGP"), of(&given, "SGP"));
    assert_ne!(of(&one_step, "SMTPP"), of(&given, "SMTPP"));

    // the page and the figures come back from the folder alone
    fs::remove_file(lab.path("one/report.html")).unwrap();
    fs::remove_dir_all(lab.path("one/figures")).unwrap();
    let output = lab.oneway(&["report", "one"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read(&lab, "one/report.html"), page);
    assert!(lab.path("one/figures/exponential-loss.pdf").exists());

    // and each part proves itself
    let verified = lab.oneway(&["verify", "one/one-step-0.1-exponential"]);
    assert!(stdout(&verified).contains("all bits agree"), "{}{}", stdout(&verified), stderr(&verified));
}

#[test]
fn the_sensitivity_table_comes_and_goes_and_a_quick_look_has_a_folder_of_its_own() {
    let lab = Lab::new();
    let output = lab.oneway(&["reproduce", "--quick", "--sensitivity"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("‖∇F‖² over CSGDM's"), "{}", stdout(&output));
    let page = read(&lab, "out/reproduce-quick/report.html");
    assert!(page.contains("reconstruction, partition") && page.contains("What the paper leaves open"));
    assert!(lab.path("out/reproduce-quick/sensitivity/curves.csv").exists());
    assert!(!lab.path("out/reproduce").exists());

    // without it, what an earlier run left is no longer there
    let output = lab.oneway(&["reproduce", "--quick"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!lab.path("out/reproduce-quick/sensitivity").exists());
    assert!(!read(&lab, "out/reproduce-quick/report.html").contains("What the paper leaves open"));
}

#[test]
fn any_results_folder_has_a_page() {
    let lab = Lab::new();
    lab.write("experiment.toml", EXPERIMENT);
    assert!(lab.oneway(&["run", "experiment.toml", "--out", "results"]).status.success());
    assert!(lab.path("results/report.html").exists() && lab.path("results/figures/loop-loss.png").exists());
    fs::remove_dir_all(lab.path("results/figures")).unwrap();
    let output = lab.oneway(&["report", "results", "--all"]);
    assert!(output.status.success() && stderr(&output).is_empty(), "{}", stderr(&output));
    for figure in ["loop-loss", "loop-gradient", "loop-consensus", "loop-network-full"] {
        assert!(lab.path(&format!("results/figures/{figure}.svg")).exists(), "{figure}");
    }
    let page = read(&lab, "results/report.html");
    let results = page.split("<section id=\"results\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(results.contains("2 completed") && results.contains(" ± ") && results.contains(">SMTPP</th>"));
    assert!(results.contains("F* is the lowest loss that gradients without noise find"), "{results}");
    assert!(page.contains("Lines: means of 2 repetitions. Bands: from their lowest to their highest."));
    // the links moved: figures of the curves remain
    lab.write("links.txt", "0 1\n1 2\n2 3\n3 0\n");
    let by_file = EXPERIMENT.replace("kind = \"ring\"", "file = \"links.txt\"");
    assert!(lab.run(&by_file, &["--out", "by-file"]).status.success());
    fs::remove_file(lab.path("links.txt")).unwrap();
    let output = lab.oneway(&["report", "by-file"]);
    assert!(output.status.success());
    assert!(stderr(&output).contains("no networks and no notes"), "{}", stderr(&output));
    assert!(lab.path("by-file/figures/loop-loss.svg").exists());
}

#[test]
fn a_network_is_drawn_once_for_all_values_of_a_sweep() {
    let lab = Lab::new();
    let drawn = |sweep: &str| {
        lab.write("experiment.toml", format!("{EXPERIMENT}\n[sweep]\n{sweep}\n"));
        let output = lab.oneway(&["run", "experiment.toml", "--out", "results"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let files = fs::read_dir(lab.path("results/figures")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut networks: Vec<String> =
            names.filter(|n| n.contains("-network-") && n.ends_with(".svg")).collect();
        networks.sort();
        fs::remove_dir_all(lab.path("results")).unwrap();
        networks
    };
    assert_eq!(drawn("problem.alpha = [0.01, 0.1]\nrun.seed = [1, 2]"), ["loop-network-full.svg"]);
    assert_eq!(drawn("run.agents = [3, 4]").len(), 2, "other links are another network");
}

#[test]
fn what_a_font_lacks_is_replaced_and_said_once() {
    let lab = Lab::new();
    lab.write("experiment.toml", EXPERIMENT.replace("name = \"SMTPP\"", "name = \"動量 🙂\""));
    let output = lab.oneway(&["run", "experiment.toml", "--out", "results"]);
    assert!(output.status.success());
    let said = stderr(&output);
    assert_eq!(said.matches("the fonts of PNG and PDF figures lack").count(), 1, "{said}");
    assert!(["動", "量", "🙂"].iter().all(|c| said.contains(c)), "{said}");
    for file in ["figures/loop-loss.svg", "report.html"] {
        assert!(read(&lab, &format!("results/{file}")).contains("動量 🙂"), "{file} keeps the name");
    }
}

#[test]
fn what_is_no_result_has_no_page() {
    let lab = Lab::new();
    fs::create_dir(lab.path("empty")).unwrap();
    for (dir, words) in [("nowhere", "nowhere"), ("empty", "is not a results folder, nor does it hold any")] {
        let output = lab.oneway(&["report", dir]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    assert!(fs::read_dir(lab.path("empty")).unwrap().next().is_none(), "nothing was written");
    lab.results(EXPERIMENT, &[]);
    lab.write("results/claims.json", "[{}]");
    let output = lab.oneway(&["report", "results"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("claims.json is not what oneway wrote"), "{}", stderr(&output));
}
