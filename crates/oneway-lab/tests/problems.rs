//! The kinds of problem that are means over rows: that each runs and lowers its loss, and what is wrong with
//! what the user gives them: a message, exit code 2, and nothing written.
#![allow(clippy::unwrap_used)]

/// The tests change a line of it.
use crate::common::{Lab, assert_refused, changed};

const DIGITS: &str = r#"
[problem]
kind = "softmax"
dataset = "digits"
regulariser = "ridge"
alpha = 0.001
intercept = true
partition = "even"
batch = 4

[run]
agents = 5
iterations = 200
record_every = 100

[[topology]]
name = "loop"
kind = "ring"

[[method]]
name = "SMTPP"
kind = "smtpp"
step = 0.05

[[method]]
name = "Push-Pull"
kind = "push-pull"
step = 0.02
"#;

/// The same on rows that are drawn.
fn synthetic(kind: &str) -> String {
    let drawn = "dataset = \"synthetic\"\nrows = 200\nfeatures = 6\noutliers = 0.1\nheterogeneity = 0.5";
    let experiment = changed(DIGITS, "dataset = \"digits\"", drawn);
    changed(&changed(&experiment, "\"softmax\"", kind), "intercept = true", "noise = 0.2")
}

/// The first and the last loss of each method, and its last test accuracy.
fn losses(lab: &Lab, experiment: &str) -> Vec<(f64, f64, Option<f64>)> {
    let results = lab.results(experiment, &["--fresh"]);
    assert!(results.statuses().iter().all(|status| *status == "completed"), "{:?}", results.statuses());
    let of_method = |method: &&str| {
        let rows = results.rows_of(method);
        let loss = |row: &Vec<&str>| row[4].parse::<f64>().unwrap();
        (loss(&rows[0]), loss(&rows[rows.len() - 1]), rows[rows.len() - 1][10].parse().ok())
    };
    ["SMTPP", "Push-Pull"].iter().map(of_method).collect()
}

/// Classes that are named are those of the data; one that no row has gets a score of its own, and a smaller
/// loss elsewhere.
#[test]
fn classes_can_be_named() {
    let lab = Lab::new();
    let named = |classes: &str| changed(DIGITS, "batch = 4", &format!("batch = 4\nclasses = {classes}"));
    let found = losses(&lab, DIGITS);
    assert_eq!(losses(&lab, &named("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]")), found);
    let more = losses(&lab, &named("[9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1]"));
    for ((first, ..), (first_of_more, ..)) in found.iter().zip(&more) {
        assert!((first - 10f64.ln()).abs() < 1e-9 && (first_of_more - 11f64.ln()).abs() < 1e-9);
    }
}

#[test]
fn every_kind_lowers_its_loss() {
    let lab = Lab::new();
    for kind in ["\"softmax\"", "\"two-layer\"", "\"two-layer\"\nhidden = 8"] {
        for (before, after, accuracy) in losses(&lab, &changed(DIGITS, "\"softmax\"", kind)) {
            assert!(after < 0.8 * before, "{kind}: {before}, then {after}");
            assert!(accuracy.unwrap() > 0.4, "{kind}: {accuracy:?}"); // guesses have 0.1
        }
    }
    for kind in ["\"least-squares\"", "\"robust\"", "\"robust\"\nloss = \"welsch\"\nscale = 2"] {
        for (before, after, accuracy) in losses(&lab, &synthetic(kind)) {
            assert!(after < 0.97 * before, "{kind}: {before}, then {after}"); // outliers leave much of it
            assert_eq!(accuracy, None, "{kind}");
        }
    }
    for partition in ["\"shuffled\"", "\"by-label\"", "{ dirichlet = 0.1 }"] {
        let experiment = changed(DIGITS, "\"even\"", partition);
        assert!(losses(&lab, &experiment).iter().all(|(before, after, _)| after < before), "{partition}");
    }
}

/// Files with labels of any kind, and what a test split may lack.
#[test]
fn classes_and_targets_are_read_from_files() {
    let lab = Lab::new();
    lab.write("classes.txt", "3 1:1\n7 2:1\n-2 3:1\n".repeat(10));
    lab.write("held-out.txt", "7 2:1\n3 1:2\n");
    lab.write("targets.txt", "1.5 1:1\n-0.5 2:1\n2.25 1:1 2:3\n".repeat(10));
    let classes = changed(DIGITS, "\"digits\"", "\"classes.txt\"\ntest = \"held-out.txt\"");
    for (before, after, accuracy) in losses(&lab, &classes) {
        assert!((before - 3f64.ln()).abs() < 1e-12 && after < 0.5 * before, "{before}, then {after}");
        assert_eq!(accuracy, Some(1.0));
    }
    let targets =
        changed(&changed(DIGITS, "\"digits\"", "\"targets.txt\""), "\"softmax\"", "\"least-squares\"");
    for (before, after, accuracy) in losses(&lab, &targets) {
        assert!(after < before && accuracy.is_none());
    }
}

/// What a problem is made of is in its fingerprint, and nothing else.
#[test]
fn fingerprints_follow_settings_and_data() {
    let lab = Lab::new();
    let short = changed(DIGITS, "iterations = 200", "iterations = 1");
    let fingerprint = |experiment: &str| {
        let results = lab.results(experiment, &["--fresh"]);
        results.summary["entries"][0]["problem_sha256"].as_str().unwrap().to_owned()
    };
    let mut all = vec![fingerprint(&short)];
    assert_eq!(all[0], fingerprint(&changed(&short, "step = 0.02", "step = 0.03")));
    for (line, instead) in [
        ("alpha = 0.001", "alpha = 0.002"),
        ("\"ridge\"", "\"non-convex\""),
        ("intercept = true", "intercept = false"),
        ("\"softmax\"", "\"two-layer\""),
        ("\"softmax\"", "\"two-layer\"\nhidden = 3"),
        ("batch = 4", "batch = 5"),
        ("agents = 5", "agents = 6"),
        ("\"even\"", "\"shuffled\""),
        ("\"digits\"", "\"digits\"\nseed = 9"),
        ("\"digits\"", "\"a9a\""),
    ] {
        all.push(fingerprint(&changed(&short, line, instead)));
    }
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}

/// Each case: a line of the experiment, what stands there instead, and words of the message.
#[track_caller]
fn refused(lab: &Lab, experiment: &str, cases: &[(&str, &str, &[&str])]) {
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for (line, instead, words) in cases {
        let output = lab.run(&changed(experiment, line, instead), &[]);
        assert_refused(lab, &before, &output, &[&["experiment.toml: "], *words].concat());
    }
}

#[test]
fn wrong_settings_are_named() {
    let lab = Lab::new();
    refused(
        &lab,
        DIGITS,
        &[
            ("\"softmax\"", "\"sofmax\"", &["unknown kind `sofmax`: did you mean `softmax`?"]),
            ("\"softmax\"", "\"twolayer\"", &["unknown kind `twolayer`: did you mean `two-layer`?"]),
            ("dataset = \"digits\"", "", &["problem: `dataset` is missing"]),
            ("dataset", "datset", &["problem: unknown key `datset`: did you mean `dataset`?"]),
            ("\"softmax\"", "\"softmax\"\nhidden = 3", &["problem: unknown key `hidden`"]),
            ("\"softmax\"", "\"softmax\"\nloss = \"cauchy\"", &["problem: unknown key `loss`"]),
            ("\"softmax\"", "\"least-squares\"\ntest = \"digits\"", &["problem: unknown key `test`"]),
            ("\"softmax\"", "\"two-layer\"\nhiden = 3", &["unknown key `hiden`: did you mean `hidden`?"]),
            (
                "batch = 4",
                "classes = [1]",
                &["problem: `classes` = [1] is an array", "two or more different"],
            ),
            ("batch = 4", "classes = [0, 1]", &["no such label, only 0, 1"]),
            ("batch = 4", "classes = 10", &["`classes` = 10", "a list of labels"]),
            ("batch = 4", "classes = [0, inf]", &["`classes` = [0, inf]", "a list of labels"]),
            ("\"softmax\"", "\"two-layer\"\nhidden = 0", &["`hidden` = 0", "1 to 1024 units"]),
            ("\"softmax\"", "\"two-layer\"\nhidden = 1025", &["`hidden` = 1025", "1 to 1024 units"]),
            ("\"softmax\"", "\"two-layer\"\nhidden = 1.5", &["`hidden` = 1.5", "a whole number"]),
            (
                "\"softmax\"",
                "\"robust\"\nloss = \"huber\"",
                &["unknown loss `huber` (known: welsch, cauchy)"],
            ),
            ("\"softmax\"", "\"robust\"\nloss = 3", &["`loss` = 3", "\"welsch\" or \"cauchy\""]),
            ("\"softmax\"", "\"robust\"\nscale = 0", &["`scale` = 0", "must be positive"]),
            ("\"softmax\"", "\"robust\"\nscale = nan", &["`scale` = NaN", "must be positive"]),
            ("\"softmax\"", "\"robust\"\nscale = \"1\"", &["`scale` = \"1\" is a string", "a number"]),
            ("\"ridge\"", "\"lasso\"", &["unknown regulariser `lasso` (known: ridge, non-convex)"]),
            ("\"ridge\"", "1", &["`regulariser` = 1", "\"ridge\" or \"non-convex\""]),
            ("alpha = 0.001", "alpha = -1", &["`alpha` = -1 is not possible", "0 or more"]),
            ("alpha = 0.001", "alpha = inf", &["`alpha` = inf is not possible", "0 or more"]),
            ("intercept = true", "intercept = 1", &["`intercept` = 1", "true or false"]),
            ("batch = 4", "batch = 288", &["`batch` = 288", "1 to 287 rows"]),
            ("agents = 5", "agents = 1438", &["1438 agents cannot share 1437 rows"]),
            ("\"even\"", "{ dirichlet = 0 }", &["`dirichlet` = 0", "must be positive"]),
            (
                "\"digits\"",
                "\"digits\"\nfeatures = 65",
                &["digits: `features` = 65 is not possible: it has 64"],
            ),
            (
                "\"digits\"",
                "\"digits\"\ntest = \"a9a\"",
                &["the training data has 65 features, the test data 124"],
            ),
            (
                "\"digits\"",
                "\"synthetic\"",
                &["synthetic rows have real targets", "\"least-squares\" and \"robust\""],
            ),
            ("\"softmax\"", "\"logistic\"", &["unknown key `regulariser`"]),
        ],
    );
    let logistic = changed(&changed(DIGITS, "\"softmax\"", "\"logistic\""), "regulariser = \"ridge\"", "");
    let logistic = changed(&logistic, "intercept = true", "");
    refused(&lab, &logistic, &[("alpha", "alpha", &["`labels`", "a label is +1 or -1"])]);
}

#[test]
fn wrong_shapes_of_synthetic_rows_are_named() {
    let lab = Lab::new();
    refused(
        &lab,
        &synthetic("\"least-squares\""),
        &[
            ("rows = 200", "", &["problem: `rows` is missing"]),
            ("features = 6", "", &["problem: `features` is missing"]),
            ("rows = 200", "rows = 4", &["5 agents cannot share 4 rows"]),
            ("rows = 200", "rows = 0", &["`rows` = 0", "from 1 to"]),
            (
                "rows = 200",
                "rows = 999999999999",
                &["`rows` = 999999999999", "from 1 to 166666666 for 6 features"],
            ),
            ("features = 6", "features = 0", &["`features` = 0", "from 1 to"]),
            ("noise = 0.2", "noise = -1", &["`noise` = -1", "0 or more"]),
            ("outliers = 0.1", "outliers = 1.5", &["`outliers` = 1.5", "from 0 to 1"]),
            ("heterogeneity = 0.5", "heterogeneity = nan", &["`heterogeneity` = NaN", "0 or more"]),
            ("outliers", "outlier", &["unknown key `outlier`: did you mean `outliers`?"]),
            ("\"synthetic\"", "\"rows.txt\"", &["problem: unknown key"]),
        ],
    );
    let many = changed(&synthetic("\"robust\""), "rows = 200", "rows = 400");
    refused(&lab, &many, &[("\"even\"", "{ dirichlet = 1 }", &["`dirichlet` = 1", "400 different ones"])]);
}

#[test]
fn wrong_files_are_named() {
    let lab = Lab::new();
    lab.write("words.txt", "1 1:1\ncat 1:1\n");
    lab.write("one-class.txt", "1 1:1\n".repeat(10));
    lab.write("real.txt", (0..300).map(|r| format!("0.{r:03} 1:1\n")).collect::<String>());
    lab.write("classes.txt", "1 1:1\n2 2:1\n".repeat(10));
    lab.write("unknown.txt", "3 1:1\n");
    for (folder, name, bytes) in [
        ("cut", "train-images-idx3-ubyte", &b"\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x01\xff"[..]),
        ("cut", "train-labels-idx1-ubyte", b"\0\0\x08\x01\0\0\0\x02\0\x01"),
        ("other", "train-images-idx3-ubyte", b"%PDF-1.7 and more of it"),
        ("other", "train-labels-idx1-ubyte.gz", b""),
        ("half", "train-images-idx3-ubyte.gz", b"no gzip"),
    ] {
        std::fs::create_dir_all(lab.path(folder)).unwrap();
        lab.write(&format!("{folder}/{name}"), bytes);
    }
    std::fs::create_dir(lab.path("empty")).unwrap();
    let words = "words.txt:2:1: `cat` is not a label: a row begins with its label, a finite number";
    refused(
        &lab,
        DIGITS,
        &[
            ("\"digits\"", "\"none.txt\"", &["none.txt: No such file"]),
            ("\"digits\"", "\"words.txt\"", &[words]),
            ("\"digits\"", "\"one-class.txt\"", &["`labels` = 1 different ones", "2 to 256 classes"]),
            ("\"digits\"", "\"real.txt\"", &["`labels` = 300 different ones", "2 to 256 classes"]),
            (
                "\"digits\"",
                "\"classes.txt\"\ntest = \"unknown.txt\"",
                &["`labels` = 3", "the training data have no such label, only 1, 2"],
            ),
            ("\"digits\"", "\"empty\"", &["empty: is a directory"]),
            ("\"digits\"", "\"cut\"", &["train-images-idx3-ubyte: ends after 1 of 2 images"]),
            ("\"digits\"", "\"other\"", &["train-images-idx3-ubyte: begins with 0x25504446, not 0x00000803"]),
            ("\"digits\"", "\"half\"", &["half/train-labels-idx1-ubyte.gz: No such file"]),
        ],
    );
    if !std::path::Path::new(oneway::data::idx::FASHION_MNIST).exists() {
        let words = "install Debian's package `dataset-fashion-mnist`";
        refused(&lab, DIGITS, &[("\"digits\"", "\"fashion-mnist\"", &[words])]);
    }
}

/// A folder in MNIST's form, with its test split.
#[test]
fn a_folder_of_idx_files_is_a_dataset() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("tiny")).unwrap();
    for part in ["train", "t10k"] {
        let images: Vec<u8> = (0..20).flat_map(|r| if r % 2 == 0 { [255, 0] } else { [0, 255] }).collect();
        let labels: Vec<u8> = (0..20).map(|r| r % 2).collect();
        let header = b"\0\0\x08\x03\0\0\0\x14\0\0\0\x01\0\0\0\x02";
        lab.write(&format!("tiny/{part}-images-idx3-ubyte"), [&header[..], &images].concat());
        lab.write(
            &format!("tiny/{part}-labels-idx1-ubyte"),
            [&b"\0\0\x08\x01\0\0\0\x14"[..], &labels].concat(),
        );
    }
    for (before, after, accuracy) in losses(&lab, &changed(DIGITS, "\"digits\"", "\"tiny\"")) {
        assert!((before - 2f64.ln()).abs() < 1e-12 && after < before, "{before}, then {after}");
        assert_eq!(accuracy, Some(1.0));
    }
}
