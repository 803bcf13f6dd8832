//! `oneway methods`, `topologies`, `data`, `completions` and `--help`: what there is, in full.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};

use oneway::codec::CODECS;
use oneway::graph::families::FAMILIES;
use oneway::methods::KINDS;
use oneway::methods::combine::COMBINATORS;
use oneway::methods::estimator::ESTIMATORS;
use oneway::parameters::{Given, Parameter, Takes};
use oneway::registry::BUILT_IN_PROBLEMS;
use oneway_experiment::sha256;
use serde_json::Value;

use crate::common::{self, Lab, stderr, stdout};

/// Standard output of a command that must succeed without complaint.
#[track_caller]
fn output_of(arguments: &[&str]) -> Output {
    let output = Lab::new().oneway(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    assert_eq!(stderr(&output), "", "{arguments:?}");
    assert!(!output.stdout.is_empty(), "{arguments:?}");
    output
}

fn text_of(arguments: &[&str]) -> String {
    stdout(&output_of(arguments))
}

#[track_caller]
fn assert_lists(text: &str, name: &str, about: &str, parameters: &[Parameter]) {
    let from = text.find(&format!("{name}\n    {about}")).unwrap();
    let entry: Vec<&str> = text[from..].lines().skip(1).take_while(|line| line.starts_with(' ')).collect();
    let entry = entry.join("\n");
    for parameter in parameters {
        assert!(entry.contains(&format!("    {} ", parameter.name)), "{name}: {}", parameter.name);
        let summary = parameter.default.map(|_| format!(" ({})", parameter.summary()));
        let about = parameter.about.to_owned() + &summary.unwrap_or_default();
        assert!(entry.contains(&about), "{name}: {about}");
    }
}

#[track_caller]
fn assert_same_parameters(listed: &Value, parameters: &[Parameter]) {
    let listed = listed["parameters"].as_array().unwrap();
    assert_eq!(listed.len(), parameters.len());
    for (listed, parameter) in listed.iter().zip(parameters) {
        assert_eq!(listed["name"], parameter.name);
        assert_eq!(listed["about"], parameter.about);
        let default = match parameter.takes {
            Takes::Flag => listed["default"].as_bool().map(f64::from),
            Takes::Word(_) => listed["default"].as_str().and_then(|word| parameter.value(Given::Word(word))),
            Takes::Number | Takes::Whole => listed["default"].as_f64(),
        };
        assert_eq!(default, parameter.default, "{}", parameter.name);
        let takes = match parameter.takes {
            Takes::Number => "number",
            Takes::Whole => "whole number",
            Takes::Flag => "true or false",
            Takes::Word(_) => continue, // its words
        };
        assert_eq!(listed["takes"], takes, "{}", parameter.name);
    }
}

#[test]
fn every_method_is_listed_with_its_rule_and_parameters() {
    let text = text_of(&["methods"]);
    for kind in KINDS {
        assert_lists(&text, kind.name, kind.about, kind.parameters);
        let rule = kind.method([]).unwrap().trace_inside().unwrap().equations();
        assert!(text.contains(&rule.join("; ")), "{}", kind.name);
        assert!(kind.alters.is_none_or(|alters| text.contains(alters)), "{}", kind.name);
    }
    let json: Value = serde_json::from_str(&text_of(&["methods", "--json"])).unwrap();
    let listed = json["methods"].as_array().unwrap();
    assert_eq!(listed.len(), KINDS.len());
    for (listed, kind) in listed.iter().zip(KINDS) {
        assert_eq!(listed["name"], kind.name);
        assert_eq!(listed["about"], kind.about);
        let trace = kind.method([]).unwrap().trace_inside().unwrap();
        assert_eq!(listed["equations"], Value::from(trace.equations()));
        assert_eq!(listed["start"], Value::from(trace.start_equations()));
        assert_eq!(listed["alters"], Value::from(kind.alters));
        let graphs: Vec<&str> = kind.graphs.iter().map(|graph| graph.name()).collect();
        assert_eq!(listed["graphs"], Value::from(graphs));
        assert_eq!(listed["takes_estimators"], kind.with_estimator.is_some());
        assert_same_parameters(listed, kind.parameters);
    }
}

#[test]
fn one_method_is_described_in_full() {
    for name in ["smtpp", "sgp", "dsmt", "beer", "adam"] {
        let kind = KINDS.iter().find(|kind| kind.name == name).unwrap();
        let text = text_of(&["methods", name]);
        let trace = kind.method([]).unwrap().trace_inside().unwrap();
        for line in trace.equations().iter().chain([&trace.start_equations().join("; ")]) {
            assert!(text.contains(line.as_str()), "{name}: {line}\n{text}");
        }
        let others = [kind.about, kind.reference, kind.network().about(), &trace.operations().to_string()];
        assert!(others.iter().all(|part| text.contains(part)), "{text}");
        assert!(kind.alters.is_none_or(|alters| text.contains(alters)), "{text}");
        assert!(kind.parameters.iter().all(|parameter| text.contains(parameter.about)), "{text}");
        let json: Value = serde_json::from_str(&text_of(&["methods", name, "--json"])).unwrap();
        assert_eq!(json["name"], name);
    }
    let output = Lab::new().oneway(&["methods", "smttp"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("did you mean `smtpp`?"), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
}

#[test]
fn estimators_and_combinators_are_listed_with_the_methods() {
    let text = text_of(&["methods"]);
    let json: Value = serde_json::from_str(&text_of(&["methods", "--json"])).unwrap();
    let estimators = ESTIMATORS.iter().map(|kind| (kind.name, kind.about, kind.rule, kind.parameters));
    let combinators = COMBINATORS.iter().map(|kind| (kind.name, kind.about, kind.rule, kind.parameters));
    for (list, kinds) in
        [("estimators", estimators.collect::<Vec<_>>()), ("combinators", combinators.collect())]
    {
        let listed = json[list].as_array().unwrap();
        assert_eq!(listed.len(), kinds.len());
        for (listed, (name, about, rule, parameters)) in listed.iter().zip(kinds) {
            assert_lists(&text, name, about, parameters);
            assert!(text.contains(rule), "{name}");
            assert_eq!(
                (&listed["name"], &listed["about"], &listed["rule"]),
                (&name.into(), &about.into(), &rule.into())
            );
            assert_same_parameters(listed, parameters);
        }
    }
}

#[test]
fn every_codec_is_listed_with_its_rule_its_bytes_and_its_parameters() {
    let text = text_of(&["codecs"]);
    let json: Value = serde_json::from_str(&text_of(&["codecs", "--json"])).unwrap();
    let listed = json.as_array().unwrap();
    assert_eq!(listed.len(), CODECS.len());
    for (listed, codec) in listed.iter().zip(CODECS) {
        assert_lists(&text, codec.name, codec.about, codec.parameters);
        let bytes = codec.codec([]).unwrap().bytes(100);
        assert!(
            text.contains(codec.rule) && text.contains(&format!("{bytes} for 100 numbers")),
            "{}",
            codec.name
        );
        assert_eq!((&listed["name"], &listed["rule"]), (&codec.name.into(), &codec.rule.into()));
        assert_eq!(listed["bytes_for_100"], bytes);
        assert_same_parameters(listed, codec.parameters);
    }
}

#[test]
fn every_problem_is_listed_with_its_keys() {
    let text = text_of(&["problems"]);
    let json: Value = serde_json::from_str(&text_of(&["problems", "--json"])).unwrap();
    let listed = json.as_array().unwrap();
    let names: Vec<&str> = listed.iter().map(|problem| problem["name"].as_str().unwrap()).collect();
    assert_eq!(names, BUILT_IN_PROBLEMS);
    for problem in listed {
        let (name, about) = (problem["name"].as_str().unwrap(), problem["about"].as_str().unwrap());
        assert!(text.contains(&format!("{name}\n    {about}")), "{name}");
        for key in problem["keys"].as_array().unwrap() {
            let [key, about, takes] = ["name", "about", "takes"].map(|part| key[part].as_str().unwrap());
            assert!(text.contains(&format!("    {key:<13} {about} ({takes}, ")), "{name}: {key}");
        }
    }
}

#[test]
fn every_topology_is_listed_with_its_parameters() {
    let text = text_of(&["topologies"]);
    for family in FAMILIES {
        assert_lists(&text, family.name, family.about, family.parameters);
    }
    let json: Value = serde_json::from_str(&text_of(&["topologies", "--json"])).unwrap();
    let listed = json.as_array().unwrap();
    assert_eq!(listed.len(), FAMILIES.len());
    for (listed, family) in listed.iter().zip(FAMILIES) {
        assert_eq!(listed["name"], family.name);
        assert_eq!(listed["about"], family.about);
        assert_eq!(listed["random"], family.random);
        assert_eq!(listed["time_varying"], family.time_varying);
        assert_same_parameters(listed, family.parameters);
    }
}

#[test]
fn exported_data_have_the_bytes_of_the_originals() {
    for (arguments, expected) in [
        (&["data", "export", "a9a"][..], "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"),
        (
            &["data", "export", "a9a", "--split", "test"],
            "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
        ),
        (&["data", "export", "digits"], "b5159cd973b3b441585c38dee8d409432d8344e9ae29eb4f853031d242efcf26"),
        (
            &["data", "export", "digits", "--split", "test"],
            "842e868a4a4df6c8d882bfd84564f2547ea34c230fea30fc6816a6e629e6ef01",
        ),
    ] {
        assert_eq!(sha256(output_of(arguments).stdout), expected, "{arguments:?}");
    }
}

#[test]
fn datasets_are_described() {
    let text = text_of(&["data", "info", "a9a"]);
    assert!(text.contains("train: 32561 rows (7841 labelled +1, 24720 labelled -1), 123 features"), "{text}");
    assert!(text.contains("test: 16281 rows"), "{text}");
    let text = text_of(&["data", "info", "digits"]);
    assert!(text.contains("train: 1437 rows (10 classes: 0: 143, 1: 146, "), "{text}");
    assert!(text.contains("test: 360 rows (10 classes: 0: 35, 1: 36, "), "{text}");
    let text = text_of(&["data", "info", "rows.txt"]);
    assert_eq!(
        text,
        "rows.txt\n rows: 12 rows (6 labelled +1, 6 labelled -1), 3 features, 15 non-zeros (real)\n"
    );
    let text = text_of(&["data", "info", "rows.txt", "--features", "9"]);
    assert!(text.contains("9 features"), "{text}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let lab = Lab::new();
    lab.write("experiment.toml", common::EXPERIMENT);
    for arguments in [
        &["data", "export", "a9a"][..],
        &["methods"],
        &["topologies", "--json"],
        &["completions", "bash"],
        &["run", "experiment.toml"],
    ] {
        let mut command = lab.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let reader = child.stdout.take().unwrap();
        if arguments[0] == "data" {
            let mut first = String::new();
            BufReader::with_capacity(64, reader).read_line(&mut first).unwrap();
            assert!(first.starts_with("-1 3:1 11:1 "), "{first}");
        } else {
            drop(reader);
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(stderr(&output), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn every_shell_has_its_completions() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text_of(&["completions", shell]);
        for word in ["topologies", "threads"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn every_command_has_help() {
    for (arguments, word) in [
        (&["--help"][..], "topologies"),
        (&["run", "--help"], "--threads"),
        (&["methods", "--help"], "--json"),
        (&["codecs", "--help"], "--json"),
        (&["problems", "--help"], "--json"),
        (&["topologies", "--help"], "--json"),
        (&["data", "--help"], "export"),
        (&["data", "export", "--help"], "--split"),
        (&["data", "info", "--help"], "--features"),
        (&["completions", "--help"], "zsh"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
    ] {
        assert!(text_of(arguments).contains(word), "{arguments:?}: {word}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let lab = Lab::new();
    let output = lab.oneway(&["man", "pages"]);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    let page = |name: &str| std::fs::read_to_string(lab.path("pages").join(format!("{name}.1"))).unwrap();
    assert!(
        page("oneway").starts_with(".ie") && page("oneway").contains(".TH oneway 1"),
        "{}",
        page("oneway")
    );
    for name in ["reproduce", "run", "tune", "audit", "inspect", "sweep-stability", "data", "completions"] {
        let page = page(&format!("oneway-{name}"));
        assert!(page.contains(&format!(".TH oneway-{name} 1")), "{page}");
        assert!(page.contains(".SH OPTIONS"), "{page}");
    }
    assert!(page("oneway-run").contains("Run an experiment file"));
    assert!(!lab.path("pages/oneway-man.1").exists(), "it is for those who pack it");
    // a file is no folder
    let output = lab.oneway(&["man", "rows.txt"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("oneway: cannot write to rows.txt"), "{}", stderr(&output));
}
