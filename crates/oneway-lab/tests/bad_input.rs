//! What the user gets wrong in an experiment: a message that names the place and says what would be right,
//! exit code 2, and nothing written. Each case changes one line of an experiment that runs.
#![allow(clippy::unwrap_used)]

/// Each case: a line of the experiment, what stands there instead, and words of the message.
use crate::common::{EXPERIMENT, Lab, assert_refused, changed};

#[track_caller]
fn refused(cases: &[(&str, &str, &[&str])]) {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for (line, instead, words) in cases {
        let output = lab.run(&changed(EXPERIMENT, line, instead), &[]);
        assert_refused(&lab, &before, &output, &[&["experiment.toml: "], *words].concat());
    }
}

#[test]
fn unknown_keys_are_named_with_the_nearest_known() {
    refused(&[
        (
            "[problem]",
            "colour = 1\n[problem]",
            &["the experiment: unknown key `colour`", "known: run, problem, topology, method, clock, sweep)"],
        ),
        ("[[method]]", "[sweeps]\nx = [1]\n[[method]]", &["unknown key `sweeps`: did you mean `sweep`?"]),
        ("[[method]]", "[runs]\nagents = 1\n[[method]]", &["unknown key `runs`: did you mean `run`?"]),
        ("[[topology]]", "[[topologies]]", &["unknown key `topologies`: did you mean `topology`?"]),
        ("[run]", "[running]", &["unknown key `running`: did you mean `run`?"]),
        ("alpha", "alhpa", &["problem: unknown key `alhpa`: did you mean `alpha`?"]),
        ("dataset", "datset", &["problem: unknown key `datset`: did you mean `dataset`?"]),
        ("seed", "sed", &["run: unknown key `sed`: did you mean `seed`?"]),
        ("agents", "agent", &["run: unknown key `agent`: did you mean `agents`?"]),
        ("root", "rot", &["topology \"loop\": unknown key `rot`: did you mean `root`?"]),
        ("root", "petals", &["topology \"loop\": unknown key `petals`"]),
        ("graph", "grpah", &["method \"SMTPP\": unknown key `grpah`: did you mean `graph`?"]),
        ("momentum", "momentun", &["method \"SMTPP\": unknown key `momentun`: did you mean `momentum`?"]),
        ("size = 0.1", "size = 1, evry = 3", &["method \"SMTPP\".step: unknown key `evry`", "`every`?"]),
        ("step = {", "stepp = {", &["method \"SMTPP\": unknown key `stepp`: did you mean `step`?"]),
        ("size = 0.1", "siz = 1", &["method \"SMTPP\".step: unknown key `siz`: did you mean `size`?"]),
        ("\"even\"", "{ dirichelt = 1 }", &["problem.partition: unknown key `dirichelt`", "`dirichlet`?"]),
    ]);
}

#[test]
fn unknown_names_are_refused_with_the_nearest_known() {
    refused(&[
        ("\"logistic\"", "\"logistics\"", &["problem: unknown kind `logistics`: did you mean `logistic`?"]),
        ("\"ring\"", "\"rings\"", &["topology \"loop\": unknown topology `rings`: did you mean `ring`?"]),
        ("\"smtpp\"", "\"smttp\"", &["method \"SMTPP\": unknown method `smttp`: did you mean `smtpp`?"]),
        ("\"smtpp\"", "\"SMTPP\"", &["method \"SMTPP\": unknown method `SMTPP`: did you mean `smtpp`?"]),
        ("\"full\"", "\"tree\"", &["method \"SMTPP\": unknown graph `tree`: did you mean `trees`?"]),
        ("\"even\"", "\"evenly\"", &["problem: unknown partition `evenly`: did you mean `even`?"]),
        (
            "root = 0",
            "weights = \"metropoli\"",
            &["topology \"loop\": unknown weights `metropoli`", "`metropolis`?"],
        ),
        (
            "size = 0.1",
            "size = 1, scaling = \"efective\"",
            &["step: unknown scaling", "did you mean `effective`?"],
        ),
        (
            "size = 0.1",
            "size = 1, schedule = \"cosin\"",
            &["step: unknown schedule", "did you mean `cosine`?"],
        ),
    ]);
}

#[test]
fn what_must_be_given_is_named_when_it_is_missing() {
    refused(&[
        ("kind = \"logistic\"", "", &["problem: `kind` is missing: one of logistic, quadratic, "]),
        ("dataset = \"rows.txt\"", "", &["problem: `dataset` is missing"]),
        ("agents = 4", "", &["run: `agents` is missing"]),
        ("iterations = 25", "", &["run: `iterations` is missing"]),
        (
            "kind = \"ring\"",
            "",
            &["topology \"loop\": give one of `kind`, `file`, `files`, or `pull` and `push` together"],
        ),
        (
            "kind = \"ring\"",
            "pull = \"r\"",
            &["give one of `kind`, `file`, `files`, or `pull` and `push` together"],
        ),
        (
            "root = 0",
            "file = \"links\"",
            &["give one of `kind`, `file`, `files`, or `pull` and `push` together"],
        ),
        ("kind = \"smtpp\"", "", &["method \"SMTPP\": `kind` is missing: a name as in `oneway methods`"]),
        (
            "name = \"SMTPP\"\nkind = \"smtpp\"",
            "",
            &["method 1: `kind` is missing: a name as in `oneway methods`"],
        ),
        (
            "name = \"loop\"\nkind = \"ring\"",
            "",
            &["topology 1: `kind` is missing: a name as in `oneway topologies`"],
        ),
        (
            "name = \"loop\"\nkind = \"ring\"",
            "file = \"links\"",
            &["topology 1: `name` is missing: what to call it"],
        ),
        ("step = { size = 0.1 }", "", &["method \"SMTPP\": `step` is missing: a number, or { size = … }"]),
        ("size = 0.1", "", &["method \"SMTPP\".step: `size` is missing"]),
        ("size = 0.1", "size = 1, decay = 0.1", &["step: give `decay` and `every` together"]),
        (
            "size = 0.1",
            "size = 1, every = 3, schedule = \"cosine\"",
            &["step: give `schedule`, or `decay`", "not both"],
        ),
        ("\"even\"", "{}", &["problem.partition: `dirichlet` is missing"]),
    ]);
}

#[test]
fn step_sizes_must_be_positive_and_finite() {
    let place = "method \"SMTPP\": step: `size` = ";
    refused(&[
        ("size = 0.1", "size = 0", &[place, "0 is not possible: a step size must be a positive number"]),
        ("size = 0.1", "size = -0.1", &[place, "-0.1 is not possible"]),
        ("size = 0.1", "size = nan", &[place, "NaN is not possible"]),
        ("size = 0.1", "size = inf", &[place, "inf is not possible"]),
        ("{ size = 0.1 }", "0.0", &[place, "a step size must be a positive number"]),
        ("{ size = 0.1 }", "nan", &[place, "NaN is not possible"]),
        ("size = 0.1", "size = 1, decay = 0, every = 3", &["step: `decay` = 0", "must be in (0, 1]"]),
        ("size = 0.1", "size = 1, decay = 1.5, every = 3", &["step: `decay` = 1.5", "must be in (0, 1]"]),
        ("size = 0.1", "size = 1, decay = nan, every = 3", &["step: `decay` = NaN", "must be in (0, 1]"]),
        ("size = 0.1", "size = 1, decay = 0.1, every = 0", &["step: `every` = 0", "at least one round"]),
        (
            "size = 0.1",
            "size = 1, decay = 0.1, every = -3",
            &["step: `every` = -3", "a whole number, 0 or more"],
        ),
        ("size = 0.1", "size = 1, warmup = 0.5", &["step: `warmup` = 0.5", "a whole number, 0 or more"]),
    ]);
}

#[test]
fn momentum_must_be_in_its_range() {
    let range = "method \"SMTPP\": ";
    refused(&[
        ("momentum = 0.1", "momentum = 0", &[range, "the coefficient λ must be in (0, 1]"]),
        ("momentum = 0.1", "momentum = -0.1", &[range, "-0.1 is not possible", "(0, 1]"]),
        ("momentum = 0.1", "momentum = 1.5", &[range, "1.5 is not possible", "(0, 1]"]),
        ("momentum = 0.1", "momentum = nan", &[range, "NaN is not possible", "finite number"]),
        ("momentum = 0.1", "momentum = inf", &[range, "inf is not possible", "finite number"]),
        ("momentum = 0.1", "momentum = \"corolary\"", &[range, "must be a number, or \"corollary\""]),
        (
            "kind = \"smtpp\"\nmomentum = 0.1",
            "kind = \"push-pull\"\nmomentum = \"corollary\"",
            &["method \"SMTPP\": unknown key `momentum`"],
        ),
    ]);
}

#[test]
fn counts_must_be_possible() {
    refused(&[
        ("agents = 4", "agents = 0", &["run: `agents` = 0 is not possible: it must be from 1 to 10000000"]),
        ("agents = 4", "agents = -4", &["run: `agents` = -4 is not possible: it must be a whole number"]),
        (
            "agents = 4",
            "agents = 4.0",
            &[
                "run: `agents` = 4.0 is not possible: it must be a whole number, 0 or more: write 4, an integer",
            ],
        ),
        (
            "iterations = 25",
            "iterations = 2.5e1",
            &["run: `iterations` = 25.0 is not", "write 25, an integer"],
        ),
        (
            "agents = 4",
            "agents = 4.5",
            &["run: `agents` = 4.5 is not possible: it must be a whole number, 0 or more\n"],
        ),
        ("batch = 1", "batch = 2.0", &["problem: `batch` = 2.0 is not possible", "write 2, an integer"]),
        ("agents = 4", "agents = 99999999", &["run: `agents` = 99999999 is not possible", "10000000"]),
        ("agents = 4", "agents = 13", &["13 agents cannot share 12 rows of data: give at most 12 agents"]),
        ("iterations = 25", "iterations = 0", &["run: `iterations` = 0", "from 1 to"]),
        ("iterations = 25", "iterations = -1", &["run: `iterations` = -1", "a whole number, 0 or more"]),
        ("repetitions = 2", "repetitions = 0", &["run: `repetitions` = 0", "from 1 to"]),
        ("record_every = 10", "record_every = 0", &["run: `record_every` = 0", "from 1 to"]),
        (
            "seed = 1",
            "seed = -1",
            &["run: `seed` = -1 is not possible: it must be a whole number, 0 or more"],
        ),
        ("features = 3", "features = 0", &["problem: `features` = 0", "from 1 to 250000000 for 4 agents"]),
        ("features = 3", "features = 999999999999", &["problem: `features` = 999999999999", "250000000"]),
        ("alpha = 0.01", "alpha = -1", &["problem: `alpha` = -1 is not possible", "0 or more"]),
        ("alpha = 0.01", "alpha = nan", &["problem: `alpha` = NaN is not possible", "0 or more"]),
        ("batch = 1", "batch = 0", &["problem: `batch` = 0", "a whole number, 1 or more, or \"full\""]),
        ("batch = 1", "batch = -1", &["problem: `batch` = -1", "a whole number, 1 or more, or \"full\""]),
        (
            "batch = 1",
            "batch = 4",
            &["problem: `batch` = 4", "1 to 3 rows (an agent's share), or is \"full\""],
        ),
        (
            "batch = 1",
            "batch = \"full\"\nsampling = \"without-replacement\"",
            &["problem: `sampling` = \"without-replacement\": nothing is drawn", "`batch` = \"full\""],
        ),
        (
            "batch = 1",
            "batch = 4\nsampling = \"without-replacement\"",
            &["problem: `batch` = 4", "1 to 3 rows (an agent's share)"],
        ),
        (
            "batch = 1",
            "sampling = \"without\"",
            &["problem: unknown sampling `without`: did you mean `without-replacement`?"],
        ),
        ("batch = 1", "sampling = true", &["problem: `sampling` = true", "\"without-replacement\""]),
        ("batch = 1", "batch = \"all\"", &["problem: `batch` = \"all\"", "1 or more, or \"full\""]),
        ("\"even\"", "{ dirichlet = 0 }", &["partition: `dirichlet` = 0", "must be positive"]),
        ("\"even\"", "{ dirichlet = -1 }", &["partition: `dirichlet` = -1", "must be positive"]),
        ("\"even\"", "{ dirichlet = nan }", &["partition: `dirichlet` = NaN", "must be positive"]),
        ("\"ring\"", "\"flower\"\npetals = 0", &["flower: `petals` = 0", "from 1 to 3"]),
        (
            "\"ring\"",
            "\"flower\"\npetals = 1.5",
            &["topology \"loop\": flower: `petals` = 1.5", "whole number"],
        ),
        (
            "\"ring\"",
            "\"flower\"\npetals = inf",
            &["topology \"loop\": flower: `petals` = inf", "whole number"],
        ),
    ]);
}

#[test]
fn values_of_the_wrong_type_are_named_with_the_right_one() {
    refused(&[
        ("[problem]", "run = 3\n[problem]", &["TOML parse error", "duplicate key"]),
        ("kind = \"logistic\"", "kind = 3", &["problem: `kind` = 3", "\"logistic\" or \"quadratic\""]),
        ("\"rows.txt\"", "5", &["problem: `dataset` = 5", "a string"]),
        (
            "features = 3",
            "features = \"3\"",
            &["problem: `features` = \"3\" is a string: it must be a whole number"],
        ),
        ("features = 3", "test = 3", &["problem: `test` = 3", "a string"]),
        ("0.01", "\"0.01\"", &["problem: `alpha` = \"0.01\" is a string: it must be a number"]),
        (
            "\"even\"",
            "7",
            &["problem: `partition` = 7", "\"even\", \"shuffled\", \"by-label\" or { dirichlet = … }"],
        ),
        (
            "\"even\"",
            "{ dirichlet = \"x\" }",
            &["problem.partition: `dirichlet` = \"x\" is a string", "a number"],
        ),
        ("batch = 1", "batch = 1.5", &["problem: `batch` = 1.5", "a whole number, 1 or more, or \"full\""]),
        ("batch = 1", "batch = [1]", &["problem: `batch` = [1] is an array", "or \"full\""]),
        ("agents = 4", "agents = \"4\"", &["run: `agents` = \"4\" is a string: it must be a whole number"]),
        ("agents = 4", "agents = true", &["run: `agents` = true is a boolean: it must be a whole number"]),
        ("seed = 1", "seed = 1979-05-27", &["run: `seed` = 1979-05-27 is a date: it must be a whole number"]),
        ("name = \"loop\"", "name = 1", &["topology 1: `name` = 1", "a string"]),
        (
            "kind = \"ring\"",
            "kind = [\"ring\"]",
            &["topology 1: `kind` = [\"ring\"] is an array", "a string"],
        ),
        ("root = 0", "root = \"0\"", &["topology \"loop\": `root` = \"0\" is a string", "a whole number"]),
        ("root = 0", "root = -1", &["topology \"loop\": `root` = -1", "a whole number, 0 or more"]),
        ("root = 0", "weights = 1", &["topology \"loop\": `weights` = 1", "\"uniform\" or \"metropolis\""]),
        (
            "\"ring\"",
            "\"flower\"\npetals = \"4\"",
            &["topology \"loop\": `petals` = \"4\" is a string", "a whole number"],
        ),
        ("name = \"SMTPP\"", "name = true", &["method 1: `name` = true is a boolean", "a string"]),
        (
            "momentum = 0.1",
            "momentum = [0.1]",
            &["method \"SMTPP\": `momentum` = [0.1] is an array", "a number"],
        ),
        ("\"full\"", "1", &["method \"SMTPP\": `graph` = 1", "\"full\" or \"trees\" or \"lazy-trees\""]),
        ("{ size = 0.1 }", "\"0.1\"", &["method \"SMTPP\": `step` = \"0.1\" is a string", "{ size = … }"]),
        (
            "size = 0.1",
            "size = \"0.1\"",
            &["method \"SMTPP\".step: `size` = \"0.1\" is a string", "a number"],
        ),
        ("[[topology]]", "[topology]", &["the experiment: `topology`", "is a table", "[[topology]] tables"]),
    ]);
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for (text, words) in [
        ("run = 3\n", ["the experiment: `run` = 3", "a [run] table"]),
        (
            "[run]\nagents = 1\niterations = 1\n[[problem]]\n",
            ["`problem` = [{}] is an array", "a [problem] table"],
        ),
    ] {
        assert_refused(&lab, &before, &lab.run(text, &[]), &words);
    }
}

#[test]
fn names_must_be_unique_and_fit_into_a_table() {
    let method = "[[method]]\nname = \"SMTPP\"\nkind = \"sgp\"\nstep = 1\n[[method]]";
    let topology = "[[topology]]\nname = \"loop\"\nkind = \"star\"\n[[topology]]";
    refused(&[
        ("[[method]]", method, &["method 2: the name \"SMTPP\" is taken already; give each its own `name`"]),
        ("[[topology]]", topology, &["topology 2: the name \"loop\" is taken already"]),
        ("\"SMTPP\"", "\"S,M\"", &["method 1: the name \"S,M\" must not", "commas"]),
        ("\"loop\"", "\"a\\nb\"", &["topology 1: the name \"a\\nb\" must not", "control characters"]),
        ("\"loop\"", "\"\"", &["topology 1: the name \"\" must not be empty"]),
        ("\"loop\"", "\"  \"", &["topology 1: the name \"  \" must not be empty or blank"]),
        ("\"SMTPP\"", "\"SMTPP \"", &["method 1: the name \"SMTPP \" must not begin or end with a blank"]),
        ("\"SMTPP\"", "\"SM\u{a0}TPP\"", &["method 1: the name \"SM\\u{a0}TPP\" holds U+00A0"]),
        ("\"SMTPP\"", "\"SM\u{200b}TPP\"", &["holds U+200B, which nobody sees"]),
        ("\"SMTPP\"", "\"SM\u{feff}TPP\"", &["holds U+FEFF"]),
        (
            "\"loop\"",
            "\"\u{202e}pool\"",
            &["topology 1: the name \"\\u{202e}pool\" holds U+202E", "turns round"],
        ),
        ("\"loop\"", "\"\u{2066}x\"", &["holds U+2066"]),
        ("\"loop\"", "\"a\u{2028}b\"", &["holds U+2028"]),
    ]);
}

#[test]
fn experiments_with_parts_missing_are_refused() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let section = |name: &str| EXPERIMENT.find(name).unwrap();
    let (run, topology, method) = (section("[run]"), section("[[topology]]"), section("[[method]]"));
    for (text, words) in [
        (EXPERIMENT[..method].to_owned(), "there is no [[method]]: give at least one"),
        (
            EXPERIMENT[..topology].to_owned() + &EXPERIMENT[method..],
            "there is no [[topology]]: give at least one",
        ),
        (
            EXPERIMENT[run..].to_owned(),
            "there is no [problem]: an experiment has [problem], [run], [[topology]]",
        ),
        (EXPERIMENT[..run].to_owned() + &EXPERIMENT[topology..], "there is no [run]: an experiment has"),
        (String::new(), "there is no [run]: an experiment has [problem], [run], [[topology]] and [[method]]"),
        (changed(EXPERIMENT, "seed = 1", "seed = = 1"), "TOML parse error at line 14, column 8"),
        (changed(EXPERIMENT, "[run]", "[run"), "TOML parse error at line 10, column 5"),
        (
            changed(EXPERIMENT, "seed = 1", "seed = 99_999_999_999_999_999_999"),
            "TOML parse error at line 14, column 8: 99_999_999_999_999_999_999 is out of range: \
             whole numbers go from -9223372036854775808 to 9223372036854775807",
        ),
    ] {
        assert_refused(&lab, &before, &lab.run(&text, &[]), &["experiment.toml: ", words]);
    }
}

#[test]
fn experiment_files_that_cannot_be_read_are_refused() {
    let lab = Lab::new();
    lab.write("latin.toml", b"[problem]\nkind = \"\xe9\"\n");
    std::fs::create_dir(lab.path("folder")).unwrap();
    let before = lab.listing();
    for (file, words) in [
        ("none.toml", ["none.toml: ", "No such file"]),
        ("folder", ["folder: ", "directory"]),
        ("latin.toml", ["latin.toml: an experiment is text in UTF-8", "index 18"]),
    ] {
        assert_refused(&lab, &before, &lab.oneway(&["run", file, "--out", "results"]), &words);
    }
}

#[test]
fn bad_overrides_are_refused() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for (assignment, words) in [
        ("run.iterations", "--set run.iterations: write it as path=value, for example run.iterations=100"),
        ("iterations=3", "--set iterations=3: a path has a section and a key, as in run.iterations"),
        ("=3", "--set =3: a path has a section and a key"),
        ("run.=3", "--set run.=3: a path has a section and a key"),
        ("run.iteration=3", "run: unknown key `iteration`: did you mean `iterations`?"),
        ("run.iterations=many", "run: `iterations` = \"many\" is a string: it must be a whole number"),
        (
            "run.seed=99999999999999999999",
            "run.seed=99999999999999999999: 99999999999999999999 is out of range",
        ),
        ("run.iterations.x=3", "`iterations` is not a table"),
        ("runs.iterations=3", "unknown key `runs`: did you mean `run`?"),
        (
            "topology.root=3",
            "--set topology.root=3: say which topology and which of its keys: topology.NAME.root=…",
        ),
        ("topology.star.root=3", "unknown topology `star` (known: loop)"),
        ("method.SGP.step=3", "unknown method `SGP` (known: SMTPP)"),
        ("method.smtpp.step=3", "unknown method `smtpp`: did you mean `SMTPP`? (known: SMTPP)"),
        ("method.SMTPP.step.size=-3", "step: `size` = -3 is not possible"),
        (
            "topology.loop.root=4",
            "topology \"loop\": `root` = 4 is not possible: with 4 agents the ids are 0 to 3",
        ),
    ] {
        let output = lab.run(EXPERIMENT, &["--set", assignment]);
        assert_refused(&lab, &before, &output, &["experiment.toml: ", words]);
    }
}
