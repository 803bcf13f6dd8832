//! `[sweep]`: settings that take several values; every combination is run.
//!
//! ```toml
//! [sweep]
//! method.SMTPP.step.size = [0.05, 0.1, 0.2]
//! problem.partition = ["even", "by-label", { dirichlet = 0.1 }]
//! ```
//!
//! A swept method becomes several methods, named by their values: `SMTPP [step.size=0.1]`; so does a
//! topology. Where the run, the problem or the clock is swept, all topologies are, and carry the values in
//! their names.

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

/// Swept settings and the values chosen for them, without quotes or commas: `("method.step.size", "0.1")`.
pub(crate) type Chosen = Vec<(String, String)>;

/// One of the experiments that a file with a `[sweep]` stands for.
#[derive(Debug)]
pub(crate) struct Variant {
    /// Without the `[sweep]`.
    pub(crate) settings: Table,
    pub(crate) swept: Swept,
}

/// The values that were chosen in a variant.
#[derive(Debug, Clone, Default)]
pub(crate) struct Swept {
    /// Of the run, the problem and the clock.
    whole: Chosen,
    /// Of topologies and methods.
    replicas: Vec<Replica>,
}

/// One of the several that a swept topology or method has become.
#[derive(Debug, Clone)]
struct Replica {
    /// [`TOPOLOGY`] or [`METHOD`].
    section: &'static str,
    name: String,
    chosen: Chosen,
}

impl Swept {
    /// What was chosen for a method on a topology: each setting by its section and keys, and its value.
    pub(crate) fn of(&self, topology: &str, method: &str) -> Chosen {
        let own = self.replicas.iter().filter(|replica| match replica.section {
            TOPOLOGY => replica.name == topology,
            _ => replica.name == method,
        });
        self.whole.iter().chain(own.flat_map(|replica| &replica.chosen)).cloned().collect()
    }
}

const TOPOLOGY: &str = "topology";
const METHOD: &str = "method";

/// The experiments that a file with a `[sweep]` stands for; just itself, if it has none.
pub(crate) fn expand(mut settings: Table) -> Result<Vec<Variant>> {
    let mut swept = Swept::default();
    let Some(sweep) = settings.remove("sweep") else { return Ok(vec![Variant { settings, swept }]) };
    let Value::Table(sweep) = sweep else {
        bail!("sweep: it must be a table of settings with lists of values")
    };

    let mut whole = vec![];
    for (section, values) in sweep {
        match (&*section, values) {
            (METHOD | TOPOLOGY, Value::Table(named)) => {
                let section = if section == METHOD { METHOD } else { TOPOLOGY };
                for (name, values) in named {
                    let axes = axes(&format!("sweep.{section}.{name}"), values)?;
                    swept.replicas.extend(replicate(&mut settings, section, &name, &axes)?);
                }
            }
            ("run" | "problem" | "clock", values) => {
                let mut axes = axes(&format!("sweep.{section}"), values)?;
                axes.iter_mut().for_each(|axis| axis.keys.insert(0, section.clone()));
                whole.extend(axes);
            }
            _ => bail!(
                "sweep.{section}: what can be swept is run, problem, clock, topology.NAME and method.NAME"
            ),
        }
    }
    if whole.is_empty() {
        return Ok(vec![Variant { settings, swept }]);
    }
    let variants = combinations(&whole)?.into_iter().map(|chosen| {
        let mut settings = settings.clone();
        for (keys, value) in &chosen {
            assign(&mut settings, keys, (*value).clone())?;
        }
        let mut swept = Swept { whole: texts("", &chosen), ..swept.clone() };
        let topologies = settings.get_mut(TOPOLOGY).and_then(Value::as_array_mut);
        for topology in topologies.into_iter().flatten().filter_map(Value::as_table_mut) {
            let (before, after) = label(topology, &chosen);
            let own = |replica: &&mut Replica| replica.section == TOPOLOGY && replica.name == before;
            swept.replicas.iter_mut().filter(own).for_each(|replica| replica.name.clone_from(&after));
        }
        Ok(Variant { settings, swept })
    });
    variants.collect()
}

/// Replaces the method or topology called `name` by one for each combination of values.
fn replicate(settings: &mut Table, section: &'static str, name: &str, axes: &[Axis]) -> Result<Vec<Replica>> {
    let items = settings.get_mut(section).and_then(Value::as_array_mut);
    let found = items.and_then(|items| Some((items.iter().position(|item| name_of(item) == name)?, items)));
    let Some((position, items)) = found else { bail!("sweep: there is no {section} called \"{name}\"") };
    let Value::Table(original) = items.remove(position) else { bail!("{section} \"{name}\" is not a table") };
    let mut replicas = vec![];
    for (offset, chosen) in combinations(axes)?.into_iter().enumerate() {
        let mut replica = original.clone();
        for (keys, value) in &chosen {
            assign(&mut replica, keys, (*value).clone())?;
        }
        let (_, name) = label(&mut replica, &chosen);
        replicas.push(Replica { section, name, chosen: texts(&format!("{section}."), &chosen) });
        items.insert(position + offset, Value::Table(replica));
    }
    Ok(replicas)
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

/// Chosen values by their keys, with `prefix` before each.
fn texts(prefix: &str, chosen: &Choice<'_>) -> Chosen {
    chosen.iter().map(|(keys, value)| (format!("{prefix}{}", keys.join(".")), plain(value))).collect()
}

/// Puts the chosen values into the name: `SMTPP [step.size=0.1; momentum=0.2]`. Returns what it was called
/// before and is called now.
fn label(item: &mut Table, chosen: &Choice<'_>) -> (String, String) {
    let name = item.get("name").or_else(|| item.get("kind")).and_then(Value::as_str).unwrap_or_default();
    let before = name.to_owned();
    let values: Vec<String> =
        texts("", chosen).iter().map(|(keys, value)| format!("{keys}={value}")).collect();
    let after = format!("{name} [{}]", values.join("; "));
    item.insert("name".to_owned(), Value::String(after.clone()));
    (before, after)
}

/// Whether a topology goes by this name, or is a swept form of what does: `ring [petals=3]` is a `ring`.
pub fn is_called(topology: &str, name: &str) -> bool {
    let rest = topology.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with(" [") && rest.ends_with(']')))
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
        Ok(variants(sweep)?.into_iter().map(|variant| variant.settings).collect())
    }

    fn variants(sweep: &str) -> Result<Vec<Variant>> {
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
    fn what_was_chosen_is_known_by_section_and_keys() {
        let sweep = "method.A.step.size = [0.1, 0.2]\ntopology.ring.loss = [0.5]\n\
                     problem.partition = [\"even\", { dirichlet = 0.1 }]";
        let variants = variants(sweep).unwrap();
        let topology = "ring [loss=0.5] [problem.partition=dirichlet 0.1]";
        let known = |method| -> Vec<String> {
            let chosen = variants[1].swept.of(topology, method).into_iter();
            chosen.map(|(key, value)| format!("{key}={value}")).collect()
        };
        let whole = ["problem.partition=dirichlet 0.1", "topology.loss=0.5"];
        assert_eq!(known("B"), whole);
        let mut own = known("A [step.size=0.2]");
        own.sort();
        assert_eq!(own, ["method.step.size=0.2", whole[0], whole[1]]);
        assert!(is_called(topology, "ring") && is_called("ring", "ring"));
        assert!(!is_called("ring of rings", "ring") && !is_called("rin", "ring"));
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
