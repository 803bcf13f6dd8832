//! `oneway claims`, from the outside.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn oneway(arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oneway")).args(arguments).output().expect("the binary runs")
}

/// The results of one of the paper's experiments, with fewer repetitions and points.
fn results(name: &str, folder: &Path) -> PathBuf {
    let experiment = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/paper").join(name);
    let out = folder.join(name).with_extension("");
    let [run, set, to] = ["run", "--set", "--out"].map(Path::new);
    let (fewer, sparser) = (Path::new("run.repetitions=2"), Path::new("run.record_every=50"));
    let ran = oneway(&[run, &experiment, set, fewer, set, sparser, to, &out]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    out
}

#[test]
fn every_claim_gets_a_verdict_and_the_same_bytes_again() {
    let folder = tempfile::tempdir().unwrap();
    let sparse = results("multi-sub-ring.toml", folder.path());
    let dense = results("exponential.toml", folder.path());
    let judged = oneway(&[Path::new("claims"), &sparse, &dense]);
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stderr));

    let first = std::fs::read_to_string(folder.path().join("claims.json")).unwrap();
    let claims: serde_json::Value = serde_json::from_str(&first).unwrap();
    let table = String::from_utf8(judged.stdout).unwrap();
    assert_eq!(claims.as_array().unwrap().len(), 17);
    for claim in claims.as_array().unwrap() {
        let verdict = claim["verdict"].as_str().unwrap();
        let known = ["holds", "does not hold", "undecided"].contains(&verdict);
        assert!(known || verdict.starts_with("holds only if "), "{claim}");
        assert!(!claim["because"].as_str().unwrap().starts_with("there is no"), "{claim}");
    }
    // What does not depend on the number of repetitions.
    for (id, verdict) in [
        ("lemma-2", "holds"),
        ("any-strongly-connected", "holds"),
        ("linear-speed-up", "holds"),
        ("corollary-rate", "holds"),
        ("larger-steps", "holds only if SMTPP uses the full digraph; on trees it does not"),
    ] {
        let claim = claims.as_array().unwrap().iter().find(|claim| claim["id"] == id).unwrap();
        assert_eq!(claim["verdict"], verdict);
    }
    assert!(table.contains("the paper says") && table.contains("claims.json"), "{table}");

    let elsewhere = folder.path().join("verdicts.json");
    let again = oneway(&[Path::new("claims"), &sparse, &dense, Path::new("--out"), &elsewhere]);
    assert!(again.status.success());
    assert_eq!(std::fs::read_to_string(elsewhere).unwrap(), first);
}

#[test]
fn results_that_are_not_there_are_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("none");
    let refused = oneway(&[Path::new("claims"), &none, &none]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("curves.csv"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
