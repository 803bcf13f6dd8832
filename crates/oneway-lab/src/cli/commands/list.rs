//! `oneway methods`, `oneway codecs`, `oneway problems` and `oneway topologies`: what there is.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use oneway::codec::{CodecKind, Quality};
use oneway::method::Network;
use oneway::methods::combine::COMBINATORS;
use oneway::methods::{Kind, Trust};
use oneway::parameters::{Parameter, Takes};
use oneway::registry;
use oneway_experiment::problem::listing::{self, Key, Listed};
use oneway_experiment::results::folder::OutputFolder;
use serde_json::{Value, json};

use crate::cli::args::{ListArgs, MethodsArgs};
use crate::number::counted;
use crate::studies::methods_page::{self, Facts};
use crate::terminal::Screen;

/// `oneway methods`.
pub(crate) fn methods(args: &MethodsArgs) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    if let Some(folder) = &args.page {
        let folder = OutputFolder::prepare(folder)?;
        methods_page::write(&folder)?;
        writeln!(out, "{}", folder.path().join(methods_page::FILE).display())?;
        return Ok(ExitCode::SUCCESS);
    }
    let registry = registry::installed();
    if let Some(name) = &args.name {
        let kind = registry.method(name)?;
        match args.list.json {
            true => writeln!(out, "{:#}", of_method(kind)?)?,
            false => {
                let mut screen = Screen::stdout();
                show_method(&mut screen, kind)?;
                screen.show()?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    if args.list.json {
        let methods = registry.methods().iter().map(|kind| of_method(kind)).collect::<Result<Vec<_>>>()?;
        let estimators =
            registry.estimators().iter().map(|kind| entry(kind.name, kind.about, kind.rule, kind.parameters));
        let combinators =
            COMBINATORS.iter().map(|kind| entry(kind.name, kind.about, kind.rule, kind.parameters));
        let lists = json!({
            "methods": methods,
            "estimators": estimators.collect::<Value>(),
            "combinators": combinators.collect::<Value>(),
        });
        writeln!(out, "{lists:#}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut screen = Screen::stdout();
    for kind in registry.methods() {
        name(&mut screen, kind.name, kind.about);
        screen.entry("rule", NAMES, &Facts::new(kind)?.equations.join("; "));
        if let Some(alters) = kind.alters {
            screen.entry("", NAMES, alters);
        }
        screen.entry("network", NAMES, &network(kind));
        show_parameters(&mut screen, kind.parameters);
    }
    screen.text("\nEstimators, for methods that take one (all but those that say what they track):\n\n");
    for kind in registry.estimators() {
        name(&mut screen, kind.name, kind.about);
        screen.entry("rule", NAMES, kind.rule);
        show_parameters(&mut screen, kind.parameters);
    }
    screen.text("\nCombinators, keys of any method:\n\n");
    for kind in COMBINATORS {
        name(&mut screen, kind.name, kind.about);
        screen.entry("rule", NAMES, kind.rule);
        kind.parameters.iter().for_each(|parameter| screen.entry(parameter.name, NAMES, parameter.about));
    }
    screen.text(
        "\nEvery method also takes `step`: a number, or { size, scaling, decay, every, schedule, warmup }.",
    );
    screen.summary(&format!(
        "{}, {}, {}; all about one: `oneway methods NAME`",
        counted(registry.methods().len() as u64, "method"),
        counted(registry.estimators().len() as u64, "estimator"),
        counted(COMBINATORS.len() as u64, "combinator"),
    ));
    screen.show()?;
    Ok(ExitCode::SUCCESS)
}

/// Columns for the names of what is said of an entry.
const NAMES: usize = 8;

/// What an entry is called, and what it is.
fn name(screen: &mut Screen, name: &str, about: &str) {
    screen.heading(name);
    screen.text(&format!("    {about}"));
}

/// Everything about one method.
fn show_method(screen: &mut Screen, kind: &Kind) -> Result<()> {
    /// Wider than in a list, for `operations`.
    const NAMES: usize = 10;
    let facts = Facts::new(kind)?;
    name(screen, kind.name, kind.about);
    screen.gap();
    facts.lines().iter().for_each(|line| screen.text(&format!("    {line}")));
    let trust = match kind.trust {
        Trust::A => "read in the authors' code or text, its start too",
        Trust::B => "in a standard form that several sources share",
        Trust::C => {
            "from memory: its identities are tested, and its documentation says what was not verified"
        }
    };
    screen.gap();
    screen.entry("reference", NAMES, kind.reference);
    screen.entry("trust", NAMES, &format!("{}, {trust}", facts.trust));
    screen.entry("network", NAMES, &network(kind));
    if let Some(sends) = &facts.sends {
        screen.entry("sends", NAMES, sends);
    }
    screen.entry("operations", NAMES, &format!("{} for a coordinate in a round", facts.operations));
    let estimator = match kind.with_estimator {
        Some(_) => "takes one in place of its gradients",
        None => "has no place for one",
    };
    screen.entry("estimator", NAMES, estimator);
    for parameter in kind.parameters {
        screen.entry(parameter.name, NAMES, &format!("{} ({})", parameter.about, parameter.summary()));
    }
    Ok(())
}

/// The network of a method, and the subgraphs of a topology that it may use.
fn network(kind: &Kind) -> String {
    let graphs: Vec<&str> = kind.graphs.iter().map(|graph| graph.name()).collect();
    match kind.network() {
        Network::Central => kind.network().about().to_owned(),
        network => format!("{}; graph = {}", network.about(), graphs.join(" | ")),
    }
}

fn of_method(kind: &Kind) -> Result<Value> {
    let facts = Facts::new(kind)?;
    Ok(json!({
        "name": kind.name,
        "about": kind.about,
        "equations": facts.equations,
        "start": facts.start,
        "alters": facts.alters,
        "reference": kind.reference,
        "trust": facts.trust.to_string(),
        "network": kind.network().about(),
        "graphs": kind.graphs.iter().map(|graph| graph.name()).collect::<Vec<_>>(),
        "sends": facts.sends,
        "operations": facts.operations.to_string(),
        "takes_estimators": kind.with_estimator.is_some(),
        "parameters": parameters(kind.parameters),
    }))
}

/// Numbers in the vector by which codecs are compared.
const NUMBERS: usize = 100;

/// `oneway codecs`.
pub(crate) fn codecs(args: &ListArgs) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    if args.json {
        let mut list = vec![];
        for kind in registry::installed().codecs() {
            let mut listed = entry(kind.name, kind.about, kind.rule, kind.parameters);
            let (bytes, quality) = facts(kind)?;
            listed["bytes_for_100"] = json!(bytes);
            listed["quality_for_100"] = json!(quality);
            list.push(listed);
        }
        writeln!(out, "{:#}", Value::Array(list))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut screen = Screen::stdout();
    for kind in registry::installed().codecs() {
        let (bytes, quality) = facts(kind)?;
        name(&mut screen, kind.name, kind.about);
        screen.entry("rule", NAMES, kind.rule);
        screen.entry("bytes", NAMES, &format!("{bytes} for {NUMBERS} numbers (of {})", 8 * NUMBERS));
        screen.entry("quality", NAMES, &quality);
        show_parameters(&mut screen, kind.parameters);
    }
    screen.text(
        "\nAny method takes `compress`: a codec's name, or { codec = \"…\", gamma, alpha } and its parameters.",
    );
    screen.summary(&counted(registry::installed().codecs().len() as u64, "codec"));
    screen.show()?;
    Ok(ExitCode::SUCCESS)
}

/// Bytes and quality of a codec as it is by default, for a vector of 100 numbers.
fn facts(kind: &CodecKind) -> Result<(usize, String)> {
    let codec = kind.codec([])?;
    let quality = match codec.quality(NUMBERS) {
        Quality::Contractive { δ } => format!("contractive, δ = {δ:.3}"),
        Quality::Unbiased { ω } => format!("unbiased, ω = {ω:.3}"),
        Quality::Absolute { error, range } => format!("absolute, off by {error} at most up to {range}"),
    };
    Ok((codec.bytes(NUMBERS), quality))
}

/// `oneway problems`.
pub(crate) fn problems(args: &ListArgs) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let all = listing::listed();
    if args.json {
        let of_key = |key: &Key| json!({ "name": key.name, "about": key.about, "takes": key.takes, "default": key.default });
        let of_problem = |problem: &Listed| {
            let keys: Value = problem.keys.iter().map(of_key).collect();
            json!({ "name": problem.name, "about": problem.about, "keys": keys })
        };
        writeln!(out, "{:#}", all.iter().map(of_problem).collect::<Value>())?;
        return Ok(ExitCode::SUCCESS);
    }
    /// Wider than in other lists, for the keys.
    const NAMES: usize = 13;
    let mut screen = Screen::stdout();
    let count = all.len() as u64;
    for Listed { name: called, about, keys } in all {
        name(&mut screen, called, about);
        for Key { name, about, takes, default } in keys {
            let default = default.map_or("must be given".to_owned(), |default| format!("default {default}"));
            screen.entry(name, NAMES, &format!("{about} ({takes}, {default})"));
        }
    }
    screen.text("\nEvery problem also takes `seed`, by default that of `[run]`.");
    screen.summary(&counted(count, "problem"));
    screen.show()?;
    Ok(ExitCode::SUCCESS)
}

/// `oneway topologies`.
pub(crate) fn topologies(args: &ListArgs) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    if args.json {
        let list = registry::installed().families().iter().map(|family| {
            json!({
                "name": family.name,
                "about": family.about,
                "random": family.random,
                "time_varying": family.time_varying,
                "parameters": parameters(family.parameters),
            })
        });
        writeln!(out, "{:#}", list.collect::<Value>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut screen = Screen::stdout();
    for family in registry::installed().families() {
        let random = if family.random { " (random, by `seed`)" } else { "" };
        let varying = if family.time_varying { " (time-varying)" } else { "" };
        name(&mut screen, family.name, &format!("{}{random}{varying}", family.about));
        show_parameters(&mut screen, family.parameters);
    }
    screen.text(
        "\nEvery topology also takes `root`, `weights` (uniform | metropolis) and `seed`.\n\
         In place of `kind`: `file` (an edge list), `files` (several, in turn), or `pull` and `push` (weighted edge lists, R \
         and C).",
    );
    screen.summary(&format!("{} kinds of topology", registry::installed().families().len()));
    screen.show()?;
    Ok(ExitCode::SUCCESS)
}

fn entry(name: &str, about: &str, rule: &str, declared: &[Parameter]) -> Value {
    json!({ "name": name, "about": about, "rule": rule, "parameters": parameters(declared) })
}

fn parameters(declared: &[Parameter]) -> Value {
    let listed = |p: &Parameter| {
        let takes = match p.takes {
            Takes::Number => json!("number"),
            Takes::Whole => json!("whole number"),
            Takes::Flag => json!("true or false"),
            Takes::Word(words) => json!(words),
        };
        let default = p.default.map(|default| match p.takes {
            Takes::Number | Takes::Whole => json!(default),
            Takes::Flag => json!(default == 1.0),
            Takes::Word(_) => json!(p.text(default)),
        });
        json!({ "name": p.name, "about": p.about, "takes": takes, "default": default })
    };
    declared.iter().map(listed).collect()
}

fn show_parameters(screen: &mut Screen, declared: &[Parameter]) {
    for parameter @ Parameter { name, about, .. } in declared {
        screen.entry(name, NAMES, &format!("{about} ({})", parameter.summary()));
    }
}
