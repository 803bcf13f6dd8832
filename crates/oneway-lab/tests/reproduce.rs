//! The front door: the paper reproduced with one command, its figures and its page.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{EXPERIMENT, Lab, stderr, stdout};

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
    for file in ["claims.json", "multi-sub-ring/curves.csv", "exponential/curves.csv"] {
        assert_eq!(read(&lab, &format!("one/{file}")), read(&lab, &format!("two/{file}")), "{file}");
    }
    for figure in ["multi-sub-ring-loss", "exponential-gradient-by-floats", "multi-sub-ring-network-trees"] {
        for ending in ["svg", "png", "pdf"] {
            let name = format!("figures/{figure}.{ending}");
            let (one, two) = (fs::read(lab.path("one").join(&name)), fs::read(lab.path("two").join(&name)));
            assert_eq!(one.unwrap(), two.unwrap(), "{name}");
        }
    }
    let claims: serde_json::Value = serde_json::from_str(&read(&lab, "one/claims.json")).unwrap();
    let page = read(&lab, "one/report.html");
    let claims = claims.as_array().unwrap();
    assert!(claims.len() >= 15);
    for claim in claims {
        let verdict = claim["verdict"].as_str().unwrap();
        let words = ["holds", "holds only if ", "does not hold", "undecided"];
        assert!(words.iter().any(|word| verdict.starts_with(word)), "{verdict}");
        assert!(!claim["because"].as_str().unwrap().is_empty());
    }
    assert!(page.contains("data-series=\"SMTPP (trees)\"") && !page.contains("http://www.w3.org/1999/xlink"));

    // CSGDM does not see the topology: it ran once for both
    let cells = fs::read_dir(lab.path("one/cells")).unwrap().count();
    assert_eq!(cells, 2 * (2 * 6 - 1));

    // the page and the figures come back from the folder alone
    fs::remove_file(lab.path("one/report.html")).unwrap();
    fs::remove_dir_all(lab.path("one/figures")).unwrap();
    let output = lab.oneway(&["report", "one"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read(&lab, "one/report.html"), page);
    assert!(lab.path("one/figures/exponential-loss.pdf").exists());

    // and each part proves itself
    let verified = lab.oneway(&["verify", "one/exponential"]);
    assert!(stdout(&verified).contains("all bits agree"), "{}{}", stdout(&verified), stderr(&verified));
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
