//! What `oneway inspect` refuses, and how it says so; and weights that become right by `normalise`.
#![allow(clippy::unwrap_used)]

use crate::common::{EXPERIMENT, Lab, assert_refused, changed, stderr};

#[test]
fn what_is_wrong_is_named_and_nothing_is_written() {
    let lab = Lab::new();
    lab.write("links.txt", "0 1\n1 x\n");
    lab.write("rows-only.txt", "0 0 1\n0 1 .5\n1 1 .5\n");
    lab.write("short.txt", "0 0 .9\n0 1 .5\n1 1 .5\n");
    lab.write("from-one.txt", "1 2\n2 3\n3 1\n");
    lab.write("commas.txt", "0;1\n1;0\n");
    let before = lab.listing();
    for (arguments, words) in [
        (
            &["flwer", "--agents", "5"][..],
            &["unknown topology `flwer`: did you mean `flower`?", "nor is there a file"][..],
        ),
        (&["flower"], &["topology \"flower\": `agents` is missing"]),
        (&["flower", "--agents", "0"], &["`agents` = 0 is not possible", "from 1 to 10000000"]),
        (&["flower", "--agents", "10000001"], &["`agents` = 10000001 is not possible"]),
        (&["flower:petal=3", "--agents", "5"], &["unknown key `petal`: did you mean `petals`?"]),
        (&["ring", "--agents", "5", "--petals", "4"], &["unknown parameter of ring `--petals`"]),
        (
            &["flower", "--agents", "5", "--petals", "x"],
            &["`petals` = \"x\" is a string: it must be a whole number"],
        ),
        (&["flower", "--agents", "5", "--petals", "nan"], &["`petals` = NaN is not possible"]),
        (&["flower", "--agents", "5", "--petals", "-1"], &["`petals` = -1 is not possible"]),
        (
            &["flower", "--agents", "5", "--petals", "2.5"],
            &["`petals` = 2.5 is not possible: it must be a whole number"],
        ),
        (&["flower", "--agents", "5", "--petals", "9"], &["`petals` = 9 is not possible: with 5 agents"]),
        (&["flower:petals", "--agents", "5"], &["`petals` is not KEY=VALUE"]),
        (&["flower:", "--agents", "5"], &["keys are missing behind the colon"]),
        (&["flower:petals=2,petals=3", "--agents", "5"], &["`petals` is given twice"]),
        (&["flower:agents=x"], &["`agents` = \"x\" is a string: it must be a whole number"]),
        (
            &["ring", "--agents", "5", "--root", "5"],
            &["`root` = 5 is not possible: with 5 agents the ids are 0 to 4"],
        ),
        (
            &["ring", "--agents", "5", "--weights", "metropoli"],
            &["unknown weights `metropoli`", "`metropolis`?"],
        ),
        (
            &["ring", "--agents", "5", "--weights", "metropolis"],
            &["need a symmetric graph, but 0 -> 1 has no edge back"],
        ),
        (&["ring", "--agents", "5", "--momentum", "0"], &["`momentum` = 0 is not possible", "(0, 1]"]),
        (&["ring", "--agents", "5", "--momentum", "-0.1"], &["`momentum` = -0.1 is not possible"]),
        (&["ring", "--agents", "5", "--momentum", "1.5"], &["`momentum` = 1.5 is not possible"]),
        (&["ring", "--agents", "5", "--momentum", "nan"], &["`momentum` = NaN is not possible"]),
        (&["none.txt"], &["none.txt: No such file: `file` must be the path of an edge list"]),
        (&["."], &["is a directory: give an edge list"]),
        (&["from-one.txt"], &["from-one.txt: its agents are numbered from 1 to 3, and none is agent 0"]),
        (&["commas.txt"], &["commas.txt:1:2: there is a `;`: write `from to`"]),
        (&["rows-only.txt:normalise=3"], &["`normalise` = 3 is not possible: it must be true or false"]),
        (&["ring:normalise=true", "--agents", "5"], &["unknown key `normalise`"]),
        (&["links.txt"], &["links.txt:2:3: `x` is not an agent"]),
        (&["rows-only.txt"], &["rows-only.txt as C (push): column 0 of the mixing weights sums to 1.5"]),
        (
            &["--pull", "short.txt", "--push", "short.txt"],
            &["short.txt as R (pull): row 0 of the mixing weights sums to 0.9", "or give `normalise = true`"],
        ),
        (&[], &["say which topology: one of ring, flower"]),
        (&["ring", "--agents", "5", "--out", "links.txt/x"], &["cannot write to the output folder"]),
        (&["ring", "flwer", "--agents", "5", "--out", "drawn"], &["unknown topology `flwer`"]),
    ] {
        let output = lab.oneway(&[&["inspect"], arguments].concat());
        assert_refused(&lab, &before, &output, words);
    }
    // what would make it right does
    for arguments in [
        &["from-one.txt", "--agents", "4"][..],
        &["rows-only.txt", "--normalise"],
        &["rows-only.txt:normalise=true", "ring:agents=3"],
        &["--pull", "short.txt", "--push", "short.txt", "--normalise"],
    ] {
        let output = lab.oneway(&[&["inspect"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    }
    // what the parser of arguments refuses
    for (arguments, words) in [
        (&["flower", "--agents", "5", "--petal", "3"][..], "similar argument exists: '--petals'"),
        (&["flower", "--agents", "many"], "invalid value 'many' for '--agents"),
        (
            &["flower", "--agents", "-5"],
            "invalid value '-5' for '--agents <N>': give a whole number, 0 or more",
        ),
        (&["ring", "--agents", "5", "--seed", "18446744073709551615"], "give at most 9223372036854775807"),
        (&["--pull", "short.txt"], "--push"),
        (&["ring", "--agents", "5", "--momentum", "x"], "invalid value 'x' for '--momentum"),
    ] {
        let output = lab.oneway(&[&["inspect"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert_eq!(lab.listing(), before);
    }
}

/// Weights that do not sum to one are named, and `normalise` divides them: R is what the quotients say.
#[test]
fn weights_are_normalised_where_that_is_asked_for() {
    let lab = Lab::new();
    lab.write("counts.txt", "0 0 2\n1 1 1\n2 2 1\n3 3 1\n0 1 3\n1 2 1\n2 3 1\n3 0 2\n");
    lab.write("rows.R", "0 0 .5\n1 1 .25\n2 2 .5\n3 3 .5\n0 1 .75\n1 2 .5\n2 3 .5\n3 0 .5\n");
    let thirds = (1.0 / 3.0, 2.0 / 3.0);
    lab.write(
        "columns.C",
        format!("0 0 .4\n1 1 .5\n2 2 .5\n3 3 {}\n0 1 .6\n1 2 .5\n2 3 .5\n3 0 {}\n", thirds.0, thirds.1),
    );
    let on = |links: &str| changed(EXPERIMENT, "kind = \"ring\"", links);
    let hashes = |links: &str| lab.results(&on(links), &["--fresh"]).hashes().join(" ");
    let given = hashes("pull = \"rows.R\"\npush = \"columns.C\"");
    assert_eq!(hashes("file = \"counts.txt\"\nnormalise = true"), given);
    assert_eq!(hashes("pull = \"counts.txt\"\npush = \"counts.txt\"\nnormalise = true"), given);

    std::fs::remove_dir_all(lab.path("results")).unwrap();
    lab.write("bare.txt", "0 1\n1 2\n2 3\n3 0\n");
    let before = lab.listing();
    for (links, words) in [
        ("file = \"counts.txt\"", "row 0 of the mixing weights sums to 4, 3 too much"),
        ("file = \"counts.txt\"\nnormalise = false", "rows must sum to 1; or give `normalise = true`"),
        (
            "file = \"counts.txt\"\nnormalise = \"sums\"",
            "`normalise` = \"sums\" is a string: it must be true or false, \"rows\" or \"columns\"",
        ),
        ("file = \"bare.txt\"\nnormalise = true", "`normalise` is for weights, and its links have none"),
        (
            "kind = \"ring\"\nnormalise = true",
            "`normalise` is for the weights of files, and a family has none",
        ),
    ] {
        assert_refused(&lab, &before, &lab.run(&on(links), &[]), &["topology \"loop\"", words]);
    }
}
