//! Open registries, and parameters that are not all numbers.
#![allow(clippy::unwrap_used)]

use oneway::codec::{CODECS, CodecKind, codec};
use oneway::graph::families::{FAMILIES, Family};
use oneway::methods::estimator::{ESTIMATORS, EstimatorKind};
use oneway::methods::{KINDS, Kind};
use oneway::parameters::{Entry, Given, Parameter, Parameters, Takes};
use oneway::problems::{FromFn, ProblemKind};
use oneway::registry::{self, BUILT_IN_PROBLEMS, Registry};

static METHOD: Kind = Kind { name: "mine", ..KINDS[0] };
static ESTIMATOR: EstimatorKind = EstimatorKind { name: "mine", ..ESTIMATORS[0] };
static CODEC: CodecKind = CodecKind { name: "mine", ..CODECS[0] };
static FAMILY: Family = Family { name: "mine", ..FAMILIES[0] };
static PROBLEM: ProblemKind = ProblemKind {
    name: "mine",
    about: "0",
    version: "1",
    parameters: &[],
    build: |_, agents, _| Ok(Box::new(FromFn::new(agents, 1, |_, _, _| 0.0))),
};

fn mine() -> oneway::Result<Registry> {
    let registry = Registry::builtin().with_method(&METHOD)?.with_estimator(&ESTIMATOR)?;
    registry.with_codec(&CODEC)?.with_family(&FAMILY)?.with_problem(&PROBLEM)
}

#[test]
fn entries_are_found_beside_those_that_are_built_in() {
    let registry = mine().unwrap();
    assert_eq!(registry.method("mine").unwrap().name, METHOD.name);
    assert_eq!(registry.estimator("mine").unwrap().name, ESTIMATOR.name);
    assert_eq!(registry.codec("mine").unwrap().name, CODEC.name);
    assert_eq!(registry.family("mine").unwrap().name, FAMILY.name);
    assert_eq!(registry.problems().iter().map(|kind| kind.name).collect::<Vec<_>>(), ["mine"]);
    assert_eq!(registry.methods().len(), KINDS.len() + 1);
    for kind in KINDS {
        assert_eq!(registry.method(kind.name).unwrap().name, kind.name);
    }
    let unknown = registry.method("nine").unwrap_err().to_string();
    assert!(unknown.contains("did you mean `mine`?"), "{unknown}");
    let renamed = registry.method("lmt").unwrap_err().to_string();
    assert!(renamed.contains("did you mean `local-dsmt`?"), "{renamed}");
}

#[test]
fn a_name_that_is_taken_is_an_error_that_says_which() {
    let refusals = [
        (mine().unwrap().with_method(&METHOD).unwrap_err(), "method"),
        (mine().unwrap().with_estimator(&ESTIMATOR).unwrap_err(), "estimator"),
        (mine().unwrap().with_codec(&CODEC).unwrap_err(), "codec"),
        (mine().unwrap().with_family(&FAMILY).unwrap_err(), "topology"),
        (mine().unwrap().with_problem(&PROBLEM).unwrap_err(), "problem"),
    ];
    for (error, what) in refusals {
        let expected = format!(
            "registry: `{what}` = mine is not possible: there is a {what} of this name already: give yours another"
        );
        assert_eq!(error.to_string(), expected);
    }
    static QUADRATIC: ProblemKind = ProblemKind { name: BUILT_IN_PROBLEMS[1], ..PROBLEM_COPY };
    assert!(Registry::builtin().with_problem(&QUADRATIC).unwrap_err().to_string().contains("quadratic"));
}

const PROBLEM_COPY: ProblemKind = ProblemKind {
    name: "copy",
    about: "0",
    version: "1",
    parameters: &[],
    build: |_, agents, _| Ok(Box::new(FromFn::new(agents, 1, |_, _, _| 0.0))),
};

#[test]
fn entries_that_no_file_could_use_are_refused() {
    static LOUD: Kind = Kind { name: "My Method", ..KINDS[0] };
    static NOWHERE: Kind = Kind { name: "nowhere", graphs: &[], ..KINDS[0] };
    const NEEDED: &[Parameter] = &[Parameter::number("needed", "a number", 1.0).without_default()];
    static NEEDY: Kind = Kind { name: "needy", parameters: NEEDED, ..KINDS[0] };
    for (kind, words) in [
        (&LOUD, "small letters, digits and `-`"),
        (&NOWHERE, "a method runs on some subgraph"),
        (&NEEDY, "`needed`"),
    ] {
        let error = Registry::builtin().with_method(kind).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_process_has_one_registry() {
    mine().unwrap().install().unwrap();
    assert!(registry::installed().method("mine").is_ok());
    let error = Registry::builtin().install().unwrap_err().to_string();
    assert!(error.contains("there is one in this process already"), "{error}");
}

const WORD: Parameter = Parameter::choice("word", "which", &["first", "second"]);

/// What each kind of parameter takes, what it refuses, and what it says then.
#[test]
fn parameters_take_numbers_flags_and_words() {
    let number = Parameter::number("p", "", 0.5);
    let whole = Parameter::whole("p", "", 3);
    let flag = Parameter::flag("p", "", true);
    for (parameter, given, kept) in [
        (number, Given::Number(-0.25), Some(-0.25)),
        (number, Given::Number(f64::NAN), None),
        (number, Given::Flag(true), None),
        (number, Given::Word("1"), None),
        (whole, Given::Number(7.0), Some(7.0)),
        (whole, Given::Number(7.5), None),
        (whole, Given::Number(-1.0), None),
        (whole, Given::Number(1e10), None),
        (flag, Given::Flag(true), Some(1.0)),
        (flag, Given::Flag(false), Some(0.0)),
        (flag, Given::Number(1.0), Some(1.0)),
        (flag, Given::Number(2.0), None),
        (flag, Given::Word("true"), None),
        (WORD, Given::Word("second"), Some(1.0)),
        (WORD, Given::Word("third"), None),
        (WORD, Given::Number(1.0), Some(1.0)),
        (WORD, Given::Number(2.0), None),
    ] {
        assert_eq!(parameter.value(given), kept, "{parameter:?} {given:?}");
        if let Given::Number(value) = given {
            let known = Parameters::new("owner", &[parameter], [(parameter.name.to_owned(), value)]);
            assert_eq!(known.is_ok(), kept.is_some(), "{parameter:?} {given:?}");
        }
    }
    let given = Parameters::new("owner", &[WORD, flag], [("word".to_owned(), 1.0)]).unwrap();
    assert_eq!((given.word(&WORD).unwrap(), given.flag("p").unwrap()), ("second", true));
    let error = Parameters::new("owner", &[flag], [("p".to_owned(), 2.0)]).unwrap_err().to_string();
    assert_eq!(error, "owner: `p` = 2 is not possible: it must be true or false");
    assert_eq!(WORD.summary(), "\"first\" or \"second\", default first");
    assert_eq!(
        (flag.summary(), whole.summary()),
        ("true or false, default true".into(), "a whole number, default 3".into())
    );
    assert_eq!(number.without_default().summary(), "must be given");
}

/// What is a count or a choice in the registries is declared as one.
#[test]
fn what_is_built_in_says_what_it_takes() {
    let takes = |parameters: &[Parameter], name: &str| {
        parameters.iter().find(|parameter| parameter.name == name).map(|parameter| parameter.takes)
    };
    assert_eq!(takes(codec("random-k").unwrap().parameters(), "unbiased"), Some(Takes::Flag));
    assert_eq!(takes(codec("quantise").unwrap().parameters(), "bits"), Some(Takes::Whole));
    assert_eq!(takes(codec("top-k").unwrap().parameters(), "fraction"), Some(Takes::Number));
    let dsgd = oneway::methods::kind("dsgd").unwrap();
    assert_eq!(takes(dsgd.parameters, "combine_first"), Some(Takes::Flag));
    let both = [0.0, 1.0].map(|flag| format!("{:?}", dsgd.method([("combine_first", flag)]).unwrap()));
    assert_ne!(both[0], both[1]);
}
