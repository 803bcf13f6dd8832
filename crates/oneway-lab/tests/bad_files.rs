//! Files that an experiment names and that are wrong: the message gives file, line and column, exit code 2,
//! nothing is written. And networks on which a method cannot run.
#![allow(clippy::unwrap_used)]

use crate::common::{self, EXPERIMENT, Lab, ROWS, assert_refused, changed};

#[test]
fn rows_that_are_not_libsvm_are_named_by_line_and_column() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let labels = "-1 or +1 (or 0 or 1, or 1 or 2, in the whole file)";
    for (line, words) in [
        ("+1 1:1 7", ["rows.txt:13:8: `7` is not `index:value`", "such as `3:0.5`"]),
        ("+1 x:1", ["rows.txt:13:4: `x` is not a feature index", "a whole number from 1"]),
        ("+1 1:x", ["rows.txt:13:6: the value `x` is not a number", "such as `1`"]),
        ("+1 0:1", ["rows.txt:13:4: index 0 is not possible", "features count from 1"]),
        ("+1 2:1 1:1", ["rows.txt:13:8: index 1 comes after 2", "indices must ascend"]),
        ("+1 2:1 2:1", ["rows.txt:13:8: index 2 is repeated", "give each feature once"]),
        ("+1 4:1", ["rows.txt:13:4: index 4 is beyond the 3 features", "correct it, or `features`"]),
        ("+1 1:nan", ["rows.txt:13:6: the value `nan` is not finite", "a number"]),
        ("+1 1:inf", ["rows.txt:13:6: the value `inf` is not finite", "a number"]),
        ("+1 1:1e999", ["rows.txt:13:6: the value `1e999` is not finite", "a number"]),
        ("3 1:1", ["rows.txt:13:1: `3` is not a label", labels]),
        ("0 1:1", ["rows.txt:13:1: label 0 does not go with label -1 on line 2", labels]),
        ("cat 1:1", ["rows.txt:13:1: `cat` is not a label", labels]),
    ] {
        lab.write("rows.txt", format!("{ROWS}{line}\n"));
        let output = lab.run(EXPERIMENT, &[]);
        assert_refused(&lab, &before, &output, &[&["experiment.toml: rows.txt:"], &words[..]].concat());
    }
    for (content, words) in [
        (&b""[..], "rows.txt: has no rows: each line must be a label and `index:value` cells"),
        (b"# nothing\n\n", "rows.txt: has no rows"),
        (b"+1 1:1\n+1 \xff\n", "rows.txt:2:4: not text in UTF-8"),
    ] {
        lab.write("rows.txt", content);
        assert_refused(&lab, &before, &lab.run(EXPERIMENT, &[]), &[words]);
    }
}

#[test]
fn datasets_that_are_not_there_or_do_not_fit_are_refused() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("folder")).unwrap();
    lab.write("wide.txt", "+1 1:1 4:1\n");
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for (line, instead, words) in [
        (
            "rows.txt",
            "none.txt",
            "none.txt: No such file: `dataset` must be the path of a file, or one of a9a, digits, fashion-mnist, synthetic",
        ),
        ("rows.txt", "a9", "did you mean \"a9a\"?"),
        ("rows.txt", "folder", "folder: is a directory: give a file with rows of data"),
        ("features = 3", "test = \"wide.txt\"", "wide.txt:1:8: index 4 is beyond the 3 features"),
        (
            "features = 3",
            "test = \"none.txt\"",
            "none.txt: No such file: `test` must be the path of a file, or one of a9a, ",
        ),
        ("features = 3", "test = \"a9a\"", "the training data has 3 features, the test data 123"),
        ("features = 3", "features = 3\ntest = \"a9a\"", "a9a: `features` = 3 is not possible: it has 123"),
        ("rows.txt", "a9a", "a9a: `features` = 3 is not possible: it has 123"),
        ("batch = 1", "dim = 3", "problem: unknown key `dim`"),
    ] {
        let output = lab.run(&changed(EXPERIMENT, line, instead), &[]);
        assert_refused(&lab, &before, &output, &["experiment.toml: ", words]);
    }
}

/// Files of other kinds are recognised by how they begin. Those that are damaged, or of no use here, are refused.
#[test]
fn files_of_other_kinds_are_recognised() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let libsvm = "each line must be a label and `index:value` cells, such as `+1 3:0.5`";
    let damaged = "it is cut off or damaged";
    for (content, words, also) in [
        (&b"PAR1\x15\x04\x15"[..], "rows.txt: it is a Parquet file", "--features parquet"),
        (b"\x1f\x8b\x08\x00", "rows.txt: gzip cannot decompress it", damaged),
        (b"BZh91AY", "rows.txt: bzip2 cannot decompress it", damaged),
        (b"\x28\xb5\x2f\xfd\x04", "rows.txt: zstd cannot decompress it", damaged),
        (b"PK\x03\x04\x14", "rows.txt: is no ZIP archive that can be read", damaged),
        (b"\x93NUMPY\x01", "rows.txt: ends within its header", "it is cut off"),
        (b"\xff\xfe+\x001\x00", "rows.txt: it is text in UTF-16: save it as UTF-8", libsvm),
        (b"\0\0\x08\x03\0\0", "rows.txt: it is an IDX file: give the folder", libsvm),
        (b"\xfd7zXZ\0", "rows.txt: it is compressed by xz: decompress it", libsvm),
        (b"label,age\n1,39\n", "rows.txt: `features` = 3 is not possible", "it has 1"),
        (b"+1, 39, 0.5\n", "rows.txt: which of its 3 columns is the label?", "a number from 1 to 3"),
    ] {
        lab.write("rows.txt", content);
        assert_refused(&lab, &before, &lab.run(EXPERIMENT, &[]), &[words, also]);
    }
    lab.write("rows.txt", format!("{ROWS}+1 1:0,5\n"));
    let words =
        "rows.txt:13:6: the value `0,5` has a comma: cells have blanks between them, and decimals a point";
    assert_refused(&lab, &before, &lab.run(EXPERIMENT, &[]), &[words]);
}

/// A byte order mark and carriage returns change nothing, in whatever file they are.
#[test]
fn byte_order_marks_and_carriage_returns_are_skipped() {
    let links = "0 1\n1 2\n2 3\n3 0\n";
    let experiment = changed(EXPERIMENT, "kind = \"ring\"", "file = \"links.txt\"");
    let hashes = |dress: fn(&str) -> String| {
        let lab = Lab::new();
        lab.write("rows.txt", dress(ROWS));
        lab.write("links.txt", dress(links));
        let results = lab.results(&dress(&experiment), &[]);
        results.hashes().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let plain = hashes(str::to_owned);
    assert_eq!(hashes(|text| format!("\u{feff}{text}")), plain);
    assert_eq!(hashes(|text| text.replace('\n', "\r\n")), plain);
    assert_eq!(hashes(|text| format!("\u{feff}{}", text.replace('\n', "\r\n"))), plain);
}

/// What is no regular file is refused at once, wherever a file is named: a pipe would be waited for without
/// end.
#[cfg(unix)]
#[test]
fn pipes_devices_and_loops_are_refused_at_once() {
    let lab = Lab::new();
    let made = std::process::Command::new("mkfifo").arg(lab.path("pipe")).status().unwrap();
    assert!(made.success());
    std::os::unix::fs::symlink("loop", lab.path("loop")).unwrap();
    std::os::unix::fs::symlink("nowhere", lab.path("dangling")).unwrap();
    lab.write("good.txt", "0 0 .5\n1 1 .5\n2 2 .5\n3 3 .5\n0 1 .5\n1 2 .5\n2 3 .5\n3 0 .5\n");
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for (special, words) in [
        ("pipe", "is a pipe, not a regular file: give"),
        ("/dev/zero", "is a device, not a regular file: give"),
        ("loop", "symbolic links"),
        ("dangling", "No such file"),
        (".", "is a directory: give"),
    ] {
        for (line, instead) in [
            ("dataset = \"rows.txt\"", "dataset = SPECIAL"),
            ("batch = 1", "batch = 1\ntest = SPECIAL"),
            ("kind = \"ring\"", "file = SPECIAL"),
            ("kind = \"ring\"", "files = [\"good.txt\", SPECIAL]"),
            ("kind = \"ring\"", "pull = SPECIAL\npush = \"good.txt\""),
            ("kind = \"ring\"", "pull = \"good.txt\"\npush = SPECIAL"),
        ] {
            let instead = instead.replace("SPECIAL", &format!("{special:?}"));
            lab.write("experiment.toml", changed(EXPERIMENT, line, &instead));
            let output = lab.soon(&["run", "experiment.toml", "--out", "results"]);
            assert_refused(&lab, &before, &output, &["experiment.toml: ", words]);
        }
        for arguments in [&["run", special, "--out", "results"][..], &["data", "info", special]] {
            assert_refused(&lab, &before, &lab.soon(arguments), &[words]);
        }
        let weights = ["inspect", "--pull", special, "--push", "good.txt", "--out", "results"];
        assert_refused(&lab, &before, &lab.soon(&weights), &[words]);
    }
}

#[test]
fn quadratics_must_be_possible() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let run = EXPERIMENT.find("[run]").unwrap();
    for (problem, words) in [
        ("", "problem: `dim` is missing"),
        ("dim = 0", "problem: `dim` = 0 is not possible: it must be from 1 to 250000000 for 4 agents"),
        ("dim = 10_000_000_000", "problem: `dim` = 10000000000 is not possible: it must be from 1 to"),
        ("dim = 2\nbatch = 1", "problem: unknown key `batch`"),
        ("dim = 2\nnoise = -1", "problem: `noise` = -1 is not possible: it must be 0 or more"),
        ("dim = 2\nheterogeneity = nan", "problem: `heterogeneity` = NaN is not possible"),
        (
            "dim = 2\ncurvature = 0",
            "problem: `curvature` = [0, 0] is not possible: curvatures must be positive",
        ),
        ("dim = 2\ncurvature = [2, 1]", "ascending, [smallest, largest]"),
        (
            "dim = 2\ncurvature = [1, 2, 3]",
            "problem: `curvature` = [1, 2, 3] is an array: it must be a number, or",
        ),
    ] {
        let text = format!("[problem]\nkind = \"quadratic\"\n{problem}\n{}", &EXPERIMENT[run..]);
        assert_refused(&lab, &before, &lab.run(&text, &[]), &["experiment.toml: ", words]);
    }
}

#[test]
fn edge_lists_are_refused_by_line_and_column() {
    let lab = Lab::new();
    lab.write("links.txt", "");
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let experiment = changed(EXPERIMENT, "kind = \"ring\"", "file = \"links.txt\"");
    for (links, words) in [
        ("0 1\n1 x\n", "links.txt:2:3: `x` is not an agent: ids are whole numbers from 0"),
        ("0 1\n1 4\n", "links.txt:2:3: agent 4 is beyond the last one: with 4 agents the ids are 0 to 3"),
        ("0 1\n1\n", "links.txt:2:2: the receiver is missing: a line is `from to`"),
        ("0 1 0.5 7\n", "links.txt:1:9: `7` is one too many: a line is `from to weight`"),
        ("0 1 -1\n", "links.txt:1:5: `-1` is not a weight: it must be a positive finite number"),
        ("0 1\n1 2 0.5\n", "links.txt:2:5: the lines before have no weight: give all lines one, or none"),
        ("", "links.txt: there is no edge in it: a line is `from to` or `from to weight`"),
        ("0,,1\n", "links.txt:1:3: there is nothing where a cell should be: write `from to`"),
        ("0 1\n1; 2\n", "links.txt:2:2: there is a `;`: write `from to`"),
        ("0 -> 1\n", "links.txt:1:3: there is a `->`: write `from to`"),
        (
            "1 2\n2 3\n3 4\n4 1\n",
            "links.txt: its agents are numbered from 1 to 4, and none is agent 0: agents are numbered from 0",
        ),
        ("1 2\n2 4\n4 0\n", "links.txt:2:3: agent 4 is beyond the last one"),
        ("1 2\n2 4\n4 7\n", "links.txt:2:3: agent 4 is beyond the last one"),
        (
            "0 1\n1 0\n2 3\n3 2\n",
            "no common root: the pull graph has no spanning tree: from agent 0, agents 2, 3",
        ),
        (
            "0 0 1\n0 1 .5\n1 1 .4\n2 2 1\n3 3 1\n",
            "links.txt as R (pull): row 1 of the mixing weights sums to 0.9, 0.1 too little: rows must sum to 1; or give `normalise",
        ),
        (
            "0 0 1\n0 1 .5\n1 1 .5\n2 2 1\n3 3 1\n",
            "links.txt as C (push): column 0 of the mixing weights sums to 1.5, 0.5 too much: columns must sum to 1",
        ),
        (
            "0 0 1\n1 1 1\n2 2 1\n",
            "links.txt as R (pull): row 3 of the mixing weights is empty: agent 3 hears nobody, not even itself",
        ),
    ] {
        lab.write("links.txt", links);
        let output = lab.run(&experiment, &[]);
        assert_refused(&lab, &before, &output, &["experiment.toml: ", "topology \"loop\"", words]);
    }
    for (path, words) in [
        ("none.txt", "none.txt: No such file: `file` must be the path of an edge list"),
        (".", "is a directory: give an edge list"),
        ("-x", "`file` = \"-x\" begins with `-` and would be taken for an option: write \"./-x\""),
        ("", "`file` = \"\" is blank: give the name of a file"),
    ] {
        let output = lab.run(&changed(EXPERIMENT, "kind = \"ring\"", &format!("file = {path:?}")), &[]);
        assert_refused(&lab, &before, &output, &["experiment.toml: topology \"loop\": ", words]);
    }
}

#[test]
fn matrices_are_refused_by_the_file_that_is_wrong() {
    let lab = Lab::new();
    lab.write("good.txt", "0 0 .5\n1 1 .5\n2 2 .5\n3 3 .5\n0 1 .5\n1 2 .5\n2 3 .5\n3 0 .5\n");
    lab.write("bare.txt", "0 1\n1 2\n2 3\n3 0\n");
    lab.write("tree.txt", "0 0 1\n0 1 1\n1 2 1\n2 3 1\n");
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let full =
        "method \"SMTPP\" on topology \"loop\": its weights are given link by link: `graph` must be \"full\"";
    for (topology, method, words) in [
        ("pull = \"good.txt\"\npush = \"bare.txt\"", "", "bare.txt as C (push): edge list: `weight` = none"),
        ("pull = \"bare.txt\"\npush = \"good.txt\"", "", "each line must be `from to weight`"),
        (
            "pull = \"good.txt\"\npush = \"tree.txt\"",
            "",
            "tree.txt as C (push): column 0 of the mixing weights",
        ),
        ("file = \"good.txt\"\nweights = \"metropolis\"", "", full),
        ("file = \"good.txt\"", "graph = \"trees\"", full),
        ("pull = \"good.txt\"\npush = \"good.txt\"", "graph = \"lazy-trees\"", full),
    ] {
        let text = changed(EXPERIMENT, "kind = \"ring\"", topology);
        let text = if method.is_empty() { text } else { changed(&text, "graph = \"full\"", method) };
        assert_refused(&lab, &before, &lab.run(&text, &[]), &["experiment.toml: ", words]);
    }
}

#[test]
fn methods_are_refused_on_networks_they_cannot_run_on() {
    let lab = Lab::new();
    lab.write("path.txt", "0 1\n1 2\n2 3\n");
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let place = "method \"SMTPP\" on topology \"loop\": ";
    for (topology, method, words) in [
        (
            r#"file = "path.txt""#,
            r#"kind = "sgp""#,
            "not strongly connected, as the method needs: from agent 1",
        ),
        (r#"file = "path.txt""#, r#"kind = "push-diging""#, "not strongly connected"),
        (
            r#"file = "path.txt""#,
            r#"kind = "smtpp""#,
            "no common root: the roots of the pull graph are 0, those of",
        ),
        (r#"file = "path.txt""#, r#"kind = "stpp""#, "no spanning tree from root 0"),
        (
            r#"kind = "ring""#,
            "kind = \"stpp\"\ngraph = \"full\"",
            "stpp does not run on `graph` = \"full\" (possible: trees",
        ),
        (
            r#"kind = "ring""#,
            "kind = \"sgp\"\ngraph = \"trees\"",
            "sgp does not run on `graph` = \"trees\" (possible: full)",
        ),
        (
            r#"kind = "one-peer-exponential""#,
            r#"kind = "stpp""#,
            "`graph` = trees is not possible: spanning trees are cut from a fixed digraph",
        ),
        (
            "kind = \"ring\"\nweights = \"metropolis\"",
            r#"kind = "smtpp""#,
            "Metropolis weights need a symmetric graph, but 0 -> 1 has no edge back",
        ),
    ] {
        let text = changed(EXPERIMENT, "kind = \"ring\"", topology);
        let text = changed(&text, "kind = \"smtpp\"\nmomentum = 0.1\ngraph = \"full\"", method);
        assert_refused(&lab, &before, &lab.run(&text, &[]), &["experiment.toml: ", place, words]);
    }
    let root = changed(EXPERIMENT, "root = 0", "root = 4");
    let words = "topology \"loop\": `root` = 4 is not possible: with 4 agents the ids are 0 to 3";
    assert_refused(&lab, &before, &lab.run(&root, &[]), &[words]);

    for corollary in ["momentum = \"corollary\"\nstep = 1", "step = { size = 1, schedule = \"corollary\" }"] {
        let text = changed(EXPERIMENT, "momentum = 0.1\ngraph = \"full\"\nstep = { size = 0.1 }", corollary);
        let output = lab.run(&changed(&text, "iterations = 25", "iterations = 3"), &[]);
        let words = "run: `iterations` = 3 is not possible: the corollary holds for T ≥ n";
        assert_refused(&lab, &before, &output, &["method \"SMTPP\": ", words, "give 4 or more for 4 agents"]);
    }
}

#[test]
fn output_folders_that_cannot_be_written_are_refused() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("locked")).unwrap();
    let mut permissions = std::fs::metadata(lab.path("locked")).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(lab.path("locked"), permissions).unwrap();
    let is_root = std::fs::write(lab.path("locked/probe"), "").is_ok(); // root may write anywhere
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for folder in ["rows.txt", "rows.txt/results", "locked", "locked/results"] {
        if is_root && folder.starts_with("locked") {
            continue;
        }
        let output = lab.run(EXPERIMENT, &["--out", folder]);
        let words = format!("cannot write to the output folder {folder}: ");
        assert_refused(&lab, &before, &output, &[&words]);
    }
}

#[test]
fn bad_arguments_are_refused_before_anything_is_read() {
    let lab = Lab::new();
    let before = lab.listing();
    for (arguments, words) in [
        (&["run", "x.toml", "--threads", "0"][..], "--threads <N>"),
        (&["run", "x.toml", "--threads", "many"], "--threads <N>"),
        (&["run"], "<FILE>"),
        (&["rum"], "'run'"),
        (&["data", "export", "a8a"], "a9a"),
        (&["data", "info", "none.txt"], "none.txt: No such file"),
        (
            &["data", "info", ""],
            "the dataset has no name: give the path of a file, or a name such as \"a9a\"",
        ),
        (&["data", "info", "a9a", "--features", "3"], "a9a: `features` = 3 is not possible: it has 123"),
        (&["completions", "basic"], "bash"),
    ] {
        let output = lab.oneway(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(common::stderr(&output).contains(words), "{}", common::stderr(&output));
        assert_eq!(lab.listing(), before);
    }
}

#[test]
fn what_only_a_program_can_supply_is_refused_in_a_file() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for (line, instead, words) in [
        (
            "dataset = \"rows.txt\"",
            "dataset = \"supplied:rows\"",
            "only the program that has these rows can run it again",
        ),
        (
            "kind = \"ring\"",
            "supplied = \"mine\"",
            "topology: `supplied` = \"mine\": only the program that made it can run it again",
        ),
        (
            "kind = \"smtpp\"\nmomentum = 0.1",
            "supplied = \"mine\"",
            "method: `supplied` = \"mine\": only the program that made it",
        ),
        ("kind = \"ring\"", "kind = \"ring\"\nsupplied = \"mine\"", "give `kind` or `supplied`, not both"),
        ("kind = \"smtpp\"", "kind = \"smtpp\"\nsupplied = \"mine\"", "give `kind` or `supplied`, not both"),
    ] {
        let output = lab.run(&changed(EXPERIMENT, line, instead), &[]);
        assert_refused(&lab, &before, &output, &[words]);
    }
}
