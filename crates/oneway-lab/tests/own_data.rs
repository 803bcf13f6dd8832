//! Data and networks that people have: every format gives the same trajectories, and what is wrong is refused.
#![allow(clippy::unwrap_used)]

use std::io::Write as _;

use crate::common::{self, EXPERIMENT, Lab, ROWS, assert_refused, changed, stderr, stdout};

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// [`ROWS`] as a table with the label last.
const TABLE: &str = "a,b,c,label\n1,0,0.5,1\n0,1,0,0\n0.5,0,0,1\n0,1,1,0\n1,0,0,1\n0,2,0,0\n1,0.5,0,1\n\
                     0,0,1,0\n2,0,0,1\n0,0.25,0,0\n0,0,-1,1\n-1,0,0,0\n";

/// Hashes of states, curves and problem are those of the LIBSVM file, whatever the format.
#[test]
fn formats_change_no_bit() {
    let lab = Lab::new();
    let plain = lab.results(EXPERIMENT, &[]);
    lab.write("rows.gz", gzip(ROWS.as_bytes()));
    lab.write("rows.csv", TABLE);
    lab.write("rows.tsv", TABLE.replace(',', "\t"));
    lab.write("words.csv", TABLE.replace(",1\n", ",yes\n").replace(",0\n", ",no\n"));
    lab.write("bare.csv", TABLE.split_once('\n').unwrap().1);
    lab.write("extra.csv", TABLE.lines().map(|line| format!("id,{line}\n")).collect::<String>());
    for (file, keys) in [
        ("rows.gz", ""),
        ("rows.csv", ""),
        ("rows.tsv", "label = \"label\""),
        ("words.csv", ""),
        ("words.csv", "classes = [[\"no\"], [\"yes\"]]"),
        ("rows.csv", "classes = [\"rest\", [1]]"),
        ("bare.csv", "label = 4\nheader = false"),
        ("extra.csv", "drop = [1]\nseparator = \",\""),
    ] {
        let name = if file == "rows.gz" {
            "dataset = \"rows.gz\"".to_owned()
        } else {
            format!("dataset = \"{file}\"\n{keys}")
        };
        let results = lab.results(&changed(EXPERIMENT, "dataset = \"rows.txt\"", &name), &[]);
        assert_eq!(results.csv, plain.csv, "{file} {keys}");
        assert_eq!(results.hashes(), plain.hashes(), "{file} {keys}");
        if !keys.contains("classes") {
            // the same rows are the same problem, so that finished runs are found again
            assert_eq!(
                results.summary["entries"][0]["problem_sha256"],
                plain.summary["entries"][0]["problem_sha256"],
                "{file} {keys}"
            );
        }
    }
}

/// Rows that are held out give a test accuracy; a seed and a share are part of what a problem is.
#[test]
fn rows_are_held_out_and_scaled() {
    let lab = Lab::new();
    let with =
        |keys: &str| lab.results(&changed(EXPERIMENT, "features = 3", &format!("features = 3\n{keys}")), &[]);
    let plain = with("");
    let accuracy = |results: &common::Results| results.rows()[0][10].to_owned();
    assert_eq!(accuracy(&plain), "");
    let split = with("split = 0.25");
    assert_ne!(accuracy(&split), "");
    assert_eq!(split.hashes(), with("split = 0.25").hashes());
    let mut problems = vec![];
    for keys in [
        "",
        "split = 0.25",
        "split = 0.3",
        "scaling = \"max-abs\"",
        "scaling = \"unit-norm\"",
        "scaling = \"standardise\"",
        "classes = [[-1], [1]]",
    ] {
        let results = with(keys);
        problems.push(results.summary["entries"][0]["problem_sha256"].as_str().unwrap().to_owned());
    }
    let count = problems.len();
    problems.sort();
    problems.dedup();
    assert_eq!(problems.len(), count, "two problems have one identity");
}

/// Softmax on merged classes, with held-out rows, is what the same rows written out are.
#[test]
fn merged_classes_are_those_written_out() {
    let lab = Lab::new();
    let rows: String = (0..24).map(|r| format!("{} 1:{} 2:{}\n", r % 4, r % 5, (r * 7) % 3)).collect();
    let merged: String = (0..24)
        .filter(|r| r % 4 < 3)
        .map(|r| format!("{} 1:{} 2:{}\n", usize::from(r % 4 == 2), r % 5, (r * 7) % 3))
        .collect();
    lab.write("four.txt", rows);
    lab.write("two.txt", merged);
    let experiment = |problem: &str| {
        let problem = format!("kind = \"softmax\"\nsplit = 0.2\nscaling = \"unit-variance\"\n{problem}");
        changed(EXPERIMENT, "kind = \"logistic\"\ndataset = \"rows.txt\"\nfeatures = 3", &problem)
    };
    let one = lab.results(&experiment("dataset = \"four.txt\"\nclasses = [[0, 1], [2]]"), &[]);
    let two = lab.results(&experiment("dataset = \"two.txt\""), &[]);
    assert_eq!(one.csv, two.csv);
    assert_eq!(one.hashes(), two.hashes());
}

#[test]
fn what_is_wrong_with_data_is_said() {
    let lab = Lab::new();
    lab.write("rows.csv", TABLE);
    lab.write("missing.csv", TABLE.replace("0,2,0,0", "0,,0,0"));
    lab.write("three.csv", TABLE.replace("0,2,0,0", "0,2,0,7"));
    lab.write("cut.gz", &gzip(ROWS.as_bytes())[..30]);
    lab.write("rows.parquet", "PAR1");
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for (keys, words) in [
        ("dataset = \"missing.csv\"", "missing.csv:7:2: column 2 (b) is empty: a value is missing"),
        ("dataset = \"three.csv\"", "pick or merge others with `classes`"),
        ("dataset = \"cut.gz\"", "gzip cannot decompress it"),
        ("dataset = \"rows.csv\"\nlabel = \"z\"", "`label`: unknown column `z`"),
        (
            "dataset = \"rows.csv\"\nlabel = 0",
            "`label` = 0 is not possible: it must be the name of a column, or its number",
        ),
        ("dataset = \"rows.csv\"\nlabel = true", "`label` = true is a boolean"),
        ("dataset = \"rows.csv\"\ndrop = \"a\"", "it must be a list of columns"),
        ("dataset = \"rows.csv\"\ndrop = [\"label\"]", "`drop` leaves out the column that `label` names"),
        ("dataset = \"rows.csv\"\nseparator = \"ab\"", "it must be one character"),
        ("dataset = \"rows.csv\"\nfeatures = 7", "`features` = 7 is not possible: it has 3"),
        ("dataset = \"rows.txt\"\nlabel = 1", "x"),
        (
            "dataset = \"a9a\"\nlabel = 1",
            "a9a: `label`, `header`, `separator`, `drop` and `array` are for files",
        ),
        ("dataset = \"a9a\"\nscaling = \"standardise\"", "the rows are sparse"),
        (
            "dataset = \"a9a\"\nscaling = \"standardize\"",
            "unknown scaling `standardize`: did you mean `standardise`?",
        ),
        ("dataset = \"rows.txt\"\nsplit = 1", "`split` = 1.0 is not possible: it must be the share"),
        ("dataset = \"rows.txt\"\nsplit = \"half\"", "`split` = \"half\" is a string"),
        ("dataset = \"rows.txt\"\nsplit = 0.5\ntest = \"rows.txt\"", "give `test`, a file, or `split`"),
        ("dataset = \"rows.txt\"\nclasses = [[1], [1]]", "it must be two classes, -1 first"),
        (
            "dataset = \"rows.txt\"\nclasses = [[1], [5]]",
            "`classes` = 5 is not possible: no row has this label; there are -1, 1",
        ),
    ] {
        let keys = if keys.contains("features") { keys.to_owned() } else { format!("{keys}\nfeatures = 3") };
        let experiment = changed(EXPERIMENT, "dataset = \"rows.txt\"\nfeatures = 3", &keys);
        let experiment =
            if keys.contains("a9a") { experiment.replace("features = 3\n", "") } else { experiment };
        let output = lab.run(&experiment, &[]);
        if words == "x" {
            // a table by its keys, in which LIBSVM's cells are no numbers
            assert_eq!(output.status.code(), Some(2));
            continue;
        }
        assert_refused(&lab, &before, &output, &[words]);
    }
    if !cfg!(feature = "parquet") {
        let output = lab.run(&changed(EXPERIMENT, "rows.txt", "rows.parquet"), &[]);
        assert_refused(&lab, &before, &output, &["rows.parquet: it is a Parquet file", "--features parquet"]);
    }
}

#[test]
fn data_info_says_what_a_file_is() {
    let lab = Lab::new();
    lab.write("flowers.csv", "length;kind\n1.5;rose\n2;tulip\n3;rose\n");
    let output = lab.oneway(&["data", "info", "flowers.csv", "--label", "kind"]);
    assert_eq!(
        stdout(&output),
        "flowers.csv\nCSV with semicolons and a header; the label is column 2 (kind)\n rows: 3 rows (2 classes: 0: 2, 1: 1), \
         1 features, 3 non-zeros (real)\n       label 0 is \"rose\"\n       label 1 is \"tulip\"\n",
        "{}",
        stderr(&output)
    );
    let refused = lab.oneway(&["data", "info", "flowers.csv", "--label", "3"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("its columns are numbered from 1 to 2"), "{}", stderr(&refused));
}

/// One network, however its edge list is written, and names are shown.
#[test]
fn edge_lists_are_one_network_however_they_are_written() {
    let lab = Lab::new();
    lab.write("plain.txt", "0 1\n1 2\n2 3\n3 0\n0 2\n");
    lab.write("commas.csv", "source,target\n0,1\n1,2\n2,3\n3,0\n0,2\n");
    lab.write("one.txt", "1\t2\n2\t3\n3\t4\n4\t1\n1\t3\n");
    lab.write("names.csv", "paris, bern\nbern, oslo\noslo, rome\nrome, paris\nbern, rome\n");
    let hashes = |keys: &str| {
        let results = lab.results(&changed(EXPERIMENT, "kind = \"ring\"", keys), &[]);
        let entry = &results.summary["entries"][0];
        [entry["pull_sha256"].to_string(), entry["push_sha256"].to_string()]
    };
    let plain = hashes("file = \"plain.txt\"");
    assert_eq!(hashes("file = \"commas.csv\""), plain);
    assert_eq!(hashes("file = \"one.txt\"\nbase = 1"), plain);
    let named = hashes("file = \"names.csv\"\nnames = true");
    // bern, oslo, paris, rome are 0, 1, 2, 3
    lab.write("named.txt", "2 0\n0 1\n1 3\n3 2\n0 3\n");
    assert_eq!(hashes("file = \"named.txt\""), named);
    let shown = lab.oneway(&["inspect", "names.csv", "--names"]);
    assert!(
        stdout(&shown).contains("0 bern") && stdout(&shown).contains("3 rome"),
        "{}{}",
        stdout(&shown),
        stderr(&shown)
    );
    let json = stdout(&lab.oneway(&["inspect", "names.csv:names=true", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["topologies"][0]["names"].to_string(), "[\"bern\",\"oslo\",\"paris\",\"rome\"]");

    // weights of which rows, columns or both are divided
    lab.write("counts.txt", "0 0 2\n0 1 2\n1 1 2\n1 2 1\n2 2 1\n2 3 1\n3 3 1\n3 0 2\n");
    lab.write("columns.txt", "0 0 .5\n0 1 .5\n1 1 .5\n1 2 .5\n2 2 .5\n2 3 .5\n3 3 .5\n3 0 .5\n");
    let both = hashes("file = \"counts.txt\"\nnormalise = true");
    let rows = hashes("pull = \"counts.txt\"\npush = \"columns.txt\"\nnormalise = \"rows\"");
    assert_eq!((&rows[0], &rows[1]), (&both[0], &hashes("file = \"columns.txt\"")[1]));
    let columns = hashes("pull = \"columns.txt\"\npush = \"counts.txt\"\nnormalise = \"columns\"");
    assert_eq!(columns[1], both[1]);
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for (keys, words) in [
        ("file = \"counts.txt\"\nnormalise = \"rows\"", "counts.txt as C (push)"),
        ("file = \"counts.txt\"\nnormalise = \"both\"", "it must be true or false, \"rows\" or \"columns\""),
        (
            "file = \"one.txt\"",
            "numbered from 1 to 4, and none is agent 0: agents are numbered from 0, so give `base = 1`",
        ),
        ("file = \"plain.txt\"\nbase = 1", "agent 0 is not possible: `base = 1` says where ids begin"),
        ("file = \"plain.txt\"\nbase = 2", "`base` = 2 is not possible: it must be 0 or 1"),
        ("kind = \"ring\"\nbase = 1", "`base` and `names` are for edge lists"),
        (
            "file = \"names.csv\"",
            "`paris` is not an agent: ids are whole numbers from 0 (for names give `names = true`)",
        ),
    ] {
        let output = lab.run(&changed(EXPERIMENT, "kind = \"ring\"", keys), &["--out", "other"]);
        assert_refused(&lab, &before, &output, &[words]);
    }
    let output = lab.run(
        &changed(
            &changed(EXPERIMENT, "kind = \"ring\"", "file = \"names.csv\"\nnames = true"),
            "agents = 4",
            "agents = 3",
        ),
        &["--out", "other"],
    );
    assert_refused(
        &lab,
        &before,
        &output,
        &["its links name 4 agents (bern, oslo, paris, rome), and there are 3"],
    );
}
