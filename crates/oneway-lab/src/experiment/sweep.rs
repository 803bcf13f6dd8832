//! `[sweep]`: settings that take several values; every combination is run.
//!
//! ```toml
//! [sweep]
//! method.SMTPP.step.size = [0.05, 0.1, 0.2]
//! problem.partition = ["even", "by-label", { dirichlet = 0.1 }]
//! ```
//!
//! A swept method becomes several methods, named by their values: `SMTPP [step.size=0.1]`; so does a topology. Where the
//! run, the problem or the clock is swept, all topologies are, and carry the values in their names.

use std::collections::HashSet;

use anyhow::{Result, bail};
use toml::{Table, Value};

use super::fields::real;
use super::set::{assign, name_of};
use super::text::short;

/// Combinations in one sweep, at most: a slip of the keyboard should not exhaust the memory.
const MOST: usize = 10_000;

/// One setting and the values it takes.
struct Axis {
    /// Keys from the swept table on: `["step", "size"]`.
    keys: Vec<String>,
    values: Vec<Value>,
}

/// The experiments that a file with a `[sweep]` stands for; just itself, if it has none. All have lost their `[sweep]`.
pub(crate) fn expand(mut settings: Table) -> Result<Vec<Table>> {
    let Some(sweep) = settings.remove("sweep") else { return Ok(vec![settings]) };
    let Value::Table(sweep) = sweep else {
        bail!("sweep: it must be a table of settings with lists of values")
    };

    let mut whole = vec![];
    for (section, swept) in sweep {
        match (&*section, swept) {
            ("method" | "topology", Value::Table(named)) => {
                for (name, swept) in named {
                    let axes = axes(&format!("sweep.{section}.{name}"), swept)?;
                    replicate(&mut settings, &section, &name, &axes)?;
                }
            }
            ("run" | "problem" | "clock", swept) => {
                let mut axes = axes(&format!("sweep.{section}"), swept)?;
                axes.iter_mut().for_each(|axis| axis.keys.insert(0, section.clone()));
                whole.extend(axes);
            }
            _ => bail!(
                "sweep.{section}: what can be swept is run, problem, clock, topology.NAME and method.NAME"
            ),
        }
    }
    if whole.is_empty() {
        return Ok(vec![settings]);
    }
    let variants = combinations(&whole)?.into_iter().map(|chosen| {
        let mut variant = settings.clone();
        for (keys, value) in &chosen {
            assign(&mut variant, keys, (*value).clone())?;
        }
        let topologies = variant.get_mut("topology").and_then(Value::as_array_mut);
        for topology in topologies.into_iter().flatten().filter_map(Value::as_table_mut) {
            label(topology, &chosen);
        }
        Ok(variant)
    });
    variants.collect()
}

/// Replaces the method or topology called `name` by one for each combination of values.
fn replicate(settings: &mut Table, section: &str, name: &str, axes: &[Axis]) -> Result<()> {
    let items = settings.get_mut(section).and_then(Value::as_array_mut);
    let found = items.and_then(|items| Some((items.iter().position(|item| name_of(item) == name)?, items)));
    let Some((position, items)) = found else { bail!("sweep: there is no {section} called \"{name}\"") };
    let Value::Table(original) = items.remove(position) else { bail!("{section} \"{name}\" is not a table") };
    for (offset, chosen) in combinations(axes)?.into_iter().enumerate() {
        let mut replica = original.clone();
        for (keys, value) in &chosen {
            assign(&mut replica, keys, (*value).clone())?;
        }
        label(&mut replica, &chosen);
        items.insert(position + offset, Value::Table(replica));
    }
    Ok(())
}

/// All lists of values below a table, depth first.
fn axes(path: &str, swept: Value) -> Result<Vec<Axis>> {
    match swept {
        Value::Array(values) if values.is_empty() => bail!("{path}: give at least one value"),
        Value::Array(values) => {
            if let Some(twice) = twice(&values) {
                bail!("{path}: the value {} occurs twice: give each value once", short(&twice.to_string()));
            }
            Ok(vec![Axis { keys: vec![], values }])
        }
        Value::Table(table) => {
            let mut all = vec![];
            for (key, inner) in table {
                let mut inner = axes(&format!("{path}.{key}"), inner)?;
                inner.iter_mut().for_each(|axis| axis.keys.insert(0, key.clone()));
                all.extend(inner);
            }
            match all.is_empty() {
                true => bail!("{path}: there is nothing to sweep"),
                false => Ok(all),
            }
        }
        other => bail!("{path} = {other}: give a list of values, as in [{other}, …]"),
    }
}

/// A value that is there twice: the same number, or the same words in names.
fn twice(values: &[Value]) -> Option<&Value> {
    let mut seen = HashSet::new();
    let words = |value: &Value| real(value).map_or_else(|| plain(value), |number| format!("{number:?}"));
    values.iter().find(|value| !seen.insert(words(value)))
}

/// One value for each axis.
type Choice<'a> = Vec<(Vec<&'a str>, &'a Value)>;

/// Every combination of one value for each axis; the last axis runs fastest.
fn combinations(axes: &[Axis]) -> Result<Vec<Choice<'_>>> {
    let count = axes.iter().fold(1usize, |count, axis| count.saturating_mul(axis.values.len()));
    if count > MOST {
        bail!("sweep: {count} combinations are more than {MOST}");
    }
    let mut combined: Vec<Choice<'_>> = vec![vec![]];
    for axis in axes {
        let mut extended = vec![];
        for chosen in &combined {
            for value in &axis.values {
                let mut chosen = chosen.clone();
                chosen.push((axis.keys.iter().map(String::as_str).collect(), value));
                extended.push(chosen);
            }
        }
        combined = extended;
    }
    Ok(combined)
}

/// Puts the chosen values into the name: `SMTPP [step.size=0.1; momentum=0.2]`.
fn label(item: &mut Table, chosen: &Choice<'_>) {
    let name = item.get("name").or_else(|| item.get("kind")).and_then(Value::as_str).unwrap_or_default();
    let values: Vec<String> =
        chosen.iter().map(|(keys, value)| format!("{}={}", keys.join("."), plain(value))).collect();
    let name = format!("{name} [{}]", values.join("; "));
    item.insert("name".to_owned(), Value::String(name));
}

/// A value without quotes, commas or braces: names of columns must do without them.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Table(table) => {
            let cells: Vec<String> =
                table.iter().map(|(key, value)| format!("{key} {}", plain(value))).collect();
            cells.join(" ")
        }
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        [run]
        agents = 5
        [[topology]]
        kind = "ring"
        [[method]]
        name = "A"
        kind = "smtpp"
        step = 0.1
        [[method]]
        name = "B"
        kind = "sgp"
        step = 0.1
    "#;

    fn expanded(sweep: &str) -> Result<Vec<Table>> {
        expand(format!("{FILE}\n[sweep]\n{sweep}").parse()?)
    }

    fn names(table: &Table, section: &str) -> Vec<String> {
        let items = table[section].as_array().unwrap().iter();
        items
            .map(|item| item.get("name").or(item.get("kind")).unwrap().as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn a_swept_method_becomes_several_and_others_stay() {
        let variants = expanded("method.A.step.size = [0.1, 0.2]\nmethod.A.momentum = [0.5, 1]").unwrap();
        assert_eq!(variants.len(), 1);
        let expected = [
            "A [step.size=0.1; momentum=0.5]",
            "A [step.size=0.1; momentum=1]",
            "A [step.size=0.2; momentum=0.5]",
            "A [step.size=0.2; momentum=1]",
            "B",
        ];
        assert_eq!(names(&variants[0], "method"), expected);
        assert_eq!(variants[0]["method"][2]["step"]["size"].as_float(), Some(0.2));
        assert!(!variants[0].contains_key("sweep"));
    }

    #[test]
    fn a_swept_problem_makes_variants_that_the_topologies_carry() {
        let variants =
            expanded("problem.partition = [\"even\", { dirichlet = 0.1 }]\nrun.agents = [4, 8]").unwrap();
        assert_eq!(variants.len(), 4);
        let expected = "ring [problem.partition=dirichlet 0.1; run.agents=8]";
        assert_eq!(names(&variants[3], "topology"), [expected]);
        assert_eq!(variants[3]["run"]["agents"].as_integer(), Some(8));
    }

    #[test]
    fn malformed_sweeps_are_refused_by_name() {
        for (sweep, fragment) in [
            ("method.A.step.size = 0.1", "sweep.method.A.step.size = 0.1: give a list"),
            ("method.A.step.size = []", "at least one value"),
            ("method.A.step.size = [1, 2, 1]", "sweep.method.A.step.size: the value 1 occurs twice"),
            ("method.A.step.size = [1, 1.0]", "the value 1.0 occurs twice: give each value once"),
            (
                "problem.partition = [\"even\", \"even\"]",
                "sweep.problem.partition: the value \"even\" occurs",
            ),
            ("method.C.step.size = [1]", "no method called \"C\""),
            ("[sweep.method.A]", "nothing to sweep"),
            ("report = [1]", "what can be swept"),
        ] {
            let message = expanded(sweep).unwrap_err().to_string();
            assert!(message.contains(fragment), "{sweep}: {message}");
        }
    }
}
