//! What is too much: numbers, names and texts beyond all use, and settings that would be accepted without a
//! word. Refused with exit code 2 within seconds, in few words, and nothing is written.
#![allow(clippy::unwrap_used)]

/// Each case: a line of the experiment, what stands there instead, and words of the message.
use crate::common::{EXPERIMENT, Lab, assert_refused, changed, stderr};

#[track_caller]
fn refused(cases: &[(&str, &str, &[&str])]) {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for (line, instead, words) in cases {
        lab.write("experiment.toml", changed(EXPERIMENT, line, instead));
        let output = lab.soon(&["run", "experiment.toml", "--out", "results"]);
        assert_refused(&lab, &before, &output, &[&["experiment.toml: "], *words].concat());
        assert!(stderr(&output).len() < 3000, "{} bytes", stderr(&output).len());
    }
}

#[test]
fn names_and_texts_are_bounded() {
    let long = |what: &str| format!("\"{}\"", what.repeat(5000));
    let deep = format!("seed = {}{}", "[".repeat(20_000), "]".repeat(20_000));
    let tables = format!("seed = {}", "{a=".repeat(20_000));
    let dots = format!("a{} = 1\nseed = 1", ".a".repeat(20_000));
    let number = format!("seed = {}", "9".repeat(50_000));
    let list = format!("seed = [{}]", "1, ".repeat(50_000));
    let key = format!("seed = 1\n{} = 1", "k".repeat(50_000));
    refused(&[
        ("\"SMTPP\"", &long("S"), &["method 1: the name \"SSSS", "has 5000 characters: give at most 100"]),
        ("\"loop\"", &long("é"), &["topology 1: the name \"éééé", "has 5000 characters: give at most 100"]),
        ("\"loop\"", &long("a [b"), &["topology 1: the name", "characters: give at most 400"]),
        ("\"full\"", &long("f"), &["method \"SMTPP\": unknown graph `ffff"]),
        ("seed = 1", &deep, &["TOML parse error at line 14, column ", "nested too deeply"]),
        ("seed = 1", &tables, &["TOML parse error at line 14, column ", "nested too deeply"]),
        ("seed = 1", &dots, &["TOML parse error: lists and tables are nested too deeply"]),
        ("seed = 1", "seed = 0xffffffffffffffff", &["0xffffffffffffffff is out of range: whole numbers go"]),
        ("0.01", "1e999", &["line 6, column 9: 1e999 is out of range: numbers go to 1.79", "e308"]),
        ("seed = 1", &number, &["TOML parse error at line 14, column 8: 9999", "is out of range"]),
        ("seed = 1", "seed = 1e300", &["run: `seed` = 1e300 is not possible: it must be a whole number"]),
        ("momentum = 0.1", "momentum = 1e300", &["`momentum` = 1e300 is not possible"]),
        (
            "kind = \"logistic\"",
            "kind = \"softmax\"\nclasses = [1, 1]",
            &[
                "problem: `classes` = [1, 1] is an array: it must be a list of labels, each a number, and two or more",
            ],
        ),
        ("kind = \"logistic\"", "kind = \"softmax\"\nclasses = []", &["problem: `classes` = [] is an array"]),
        ("seed = 1", &list, &["run: `seed` = [1, 1, 1", "is an array: it must be a whole number"]),
        ("seed = 1", &key, &["run: unknown key `kkkk"]),
    ]);
}

#[test]
fn networks_and_problems_beyond_all_memory_are_refused_before_they_are_built() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let topologies = [
        ("complete", "it would have more than 100000000 edges, give at most 10000 agents"),
        ("exponential", "it would have 240000000 links, and at most 100000000 are possible"),
        ("one-peer-exponential", "it would have 240000000 links"),
        ("random-links", "it would have 240000000 links"),
        (
            "random-matching",
            "`period` = 100 is not possible: that is more than 100000000 links, give at most 10",
        ),
        ("erdos-renyi", "`probability` = 0.3 is not possible"),
        ("geometric", "`range` = 0.5 is not possible"),
    ];
    let (problem, run) = (EXPERIMENT.find("[problem]").unwrap(), EXPERIMENT.find("[run]").unwrap());
    for (kind, words) in topologies {
        let quadratic = "[problem]\nkind = \"quadratic\"\ndim = 4\n";
        let text = [&EXPERIMENT[..problem], quadratic, &EXPERIMENT[run..]].concat();
        let text =
            changed(&changed(&text, "\"ring\"", &format!("{kind:?}")), "agents = 4", "agents = 10_000_000");
        lab.write("experiment.toml", text);
        let output = lab.soon(&["run", "experiment.toml", "--out", "results"]);
        assert_refused(&lab, &before, &output, &["topology \"loop\": ", kind, words]);
        let output = lab.soon(&["inspect", kind, "--agents", "10000000", "--out", "results"]);
        assert_refused(&lab, &before, &output, &[kind, words]);
    }
}

#[test]
fn what_used_to_be_accepted_in_silence_is_refused() {
    let compressed =
        |codec: &str| format!("compress = {{ codec = \"{codec}\", k = 4 }}\nstep = {{ size = 0.1 }}");
    refused(&[
        (
            "step = { size = 0.1 }",
            &compressed("top-k"),
            &[
                "method \"SMTPP\" on topology \"loop\": top-k: `k` = 4 is not possible",
                "3 numbers: give at most 3",
            ],
        ),
        ("step = { size = 0.1 }", &compressed("random-k"), &["random-k: `k` = 4 is not possible"]),
        (
            "\"rows.txt\"",
            "\"-rows.txt\"",
            &["problem: `dataset` = \"-rows.txt\" begins with `-`", "write \"./-rows.txt\""],
        ),
        ("batch = 1", "test = \"-rows.txt\"", &["problem: `test` = \"-rows.txt\"", "\"./-rows.txt\""]),
        ("\"rows.txt\"", "\" \"", &["problem: `dataset` = \" \" is blank: give the name of a file"]),
    ]);
    let lab = Lab::new();
    lab.write("rows.txt", "+1 1:1\n".repeat(12));
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let words = "problem: every row of rows.txt (12 of them) has the label +1: a logistic regression needs both labels";
    assert_refused(&lab, &before, &lab.run(EXPERIMENT, &[]), &[words]);

    lab.write("experiment.toml", EXPERIMENT);
    for arguments in [
        &["run", "experiment.toml", "--out=-x"][..],
        &["tune", "experiment.toml", "--out=-x"],
        &["certify", "experiment.toml", "--out=-x"],
        &["audit", "experiment.toml", "--out=-x"],
        &["reproduce", "--quick", "--out=-x"],
        &["inspect", "ring", "--agents", "4", "--out=-x"],
        &["sweep-stability", "ring", "--over", "agents=3,4", "--out=-x"],
        &["methods", "--page=-x"],
    ] {
        let output = lab.soon(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains("write ./-x"), "{}", stderr(&output));
        assert_eq!(lab.listing(), before);
    }
}

/// Lost messages and compressed ones: what is missing is γ = 1, and with it the method runs.
#[test]
fn compression_without_copies_says_what_lossy_links_need() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let lossy = changed(EXPERIMENT, "root = 0", "loss = 0.1");
    let with = |compress: &str| {
        changed(&lossy, "step =", &format!("compress = {{ codec = \"quantise\", {compress} }}\nstep ="))
    };
    let words = ["compressed with a share γ < 1 of mixing", "give `gamma = 1` beside `alpha = 0`"];
    for kind in ["smtpp", "push-diging", "sgp"] {
        let of = |text: String| match kind {
            "smtpp" => text,
            _ => changed(&text, "kind = \"smtpp\"\nmomentum = 0.1", &format!("kind = {kind:?}")),
        };
        let output = lab.run(&of(with("alpha = 0")), &[]);
        assert_refused(
            &lab,
            &before,
            &output,
            &[&["cannot run where messages are lost"], &words[..]].concat(),
        );
        let output = lab.run(&of(with("alpha = 0.5, gamma = 1")), &[]);
        assert_refused(&lab, &before, &output, &["it keeps copies of its neighbours' state"]);
        assert_eq!(lab.results(&of(with("alpha = 0, gamma = 1")), &[]).cells().len(), 2);
        std::fs::remove_dir_all(lab.path("results")).unwrap();
    }
}

#[test]
fn a_value_that_is_swept_twice_is_named() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for (sweep, words) in [
        (
            "method.SMTPP.step.size = [0.1, 0.2, 0.1]",
            "sweep.method.SMTPP.step.size: the value 0.1 occurs twice",
        ),
        ("method.SMTPP.momentum = [1, 1.0]", "sweep.method.SMTPP.momentum: the value 1.0 occurs twice"),
        (
            "topology.loop.root = [1, 1]",
            "sweep.topology.loop.root: the value 1 occurs twice: give each value once",
        ),
        ("run.seed = [1, 2, 2]", "sweep.run.seed: the value 2 occurs twice"),
        (
            "problem.partition = [\"even\", \"even\"]",
            "sweep.problem.partition: the value \"even\" occurs twice",
        ),
    ] {
        let text = format!("{EXPERIMENT}\n[sweep]\n{sweep}\n");
        assert_refused(&lab, &before, &lab.run(&text, &[]), &["experiment.toml: ", words]);
    }
}
