//! Which settings of two experiments differ.

use std::collections::BTreeMap;

use oneway_experiment::set::name_of;
use toml::{Table, Value};

/// Lines shown, at most: experiments that differ in more have little in common.
const MOST: usize = 20;

/// A setting's path, as `--set` would address it, and its value in each; `None` where it is not given.
pub(super) type Difference = (String, [Option<String>; 2]);

/// All settings that differ, in the order of their paths.
pub(super) fn differences(settings: [&Table; 2]) -> Vec<Difference> {
    let mut all: BTreeMap<String, [Option<String>; 2]> = BTreeMap::new();
    for (side, table) in settings.into_iter().enumerate() {
        for (path, value) in leaves(table) {
            all.entry(path).or_default()[side] = Some(value);
        }
    }
    all.into_iter().filter(|(_, [a, b])| a != b).collect()
}

/// Every setting that is no table, by its path; topologies and methods by their names.
fn leaves(table: &Table) -> Vec<(String, String)> {
    let mut found = vec![];
    let mut rest: Vec<(String, &Value)> = table.iter().map(|(key, value)| (key.clone(), value)).collect();
    while let Some((path, value)) = rest.pop() {
        match value {
            Value::Table(inner) => {
                rest.extend(inner.iter().map(|(key, value)| (format!("{path}.{key}"), value)));
            }
            Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_table) => {
                rest.extend(items.iter().map(|item| (format!("{path}.{}", name_of(item)), item)));
            }
            // short for a table: step = 0.1 is step = { size = 0.1 }
            Value::Integer(_) | Value::Float(_) if path.ends_with(".step") => {
                found.push((format!("{path}.size"), value.to_string()));
            }
            other => found.push((path, other.to_string())),
        }
    }
    found
}

/// The differences in lines.
pub(super) fn text(differences: &[Difference], [left, right]: [&str; 2]) -> String {
    if differences.is_empty() {
        return format!("{left} and {right} have the same settings");
    }
    let value = |value: &Option<String>| value.clone().unwrap_or("not given".to_owned());
    let line = |(path, [a, b]): &Difference| format!("  {path}: {} → {}", value(a), value(b));
    let mut lines: Vec<String> = differences.iter().take(MOST).map(line).collect();
    if differences.len() > MOST {
        lines.push(format!("  and {} more", differences.len() - MOST));
    }
    format!("settings that differ, {left} → {right}:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_compared_by_the_paths_that_set_takes() {
        let table = |text: &str| -> Table { text.parse().unwrap() };
        let one = table(
            "[run]\nseed = 1\n[[method]]\nkind = \"sgp\"\nstep = 0.1\n[[method]]\nkind = \"ab\"\nstep = 1\n",
        );
        let other = table("[run]\nseed = 2\n[[method]]\nkind = \"sgp\"\nstep = { size = 0.1, warmup = 3 }\n");
        let found = differences([&one, &other]);
        let paths: Vec<&str> = found.iter().map(|(path, _)| &**path).collect();
        assert_eq!(paths, ["method.ab.kind", "method.ab.step.size", "method.sgp.step.warmup", "run.seed"]);
        assert_eq!(found[3].1, [Some("1".to_owned()), Some("2".to_owned())]);
        assert!(text(&found, ["a", "b"]).contains("method.sgp.step.warmup: not given → 3"));
        assert_eq!(text(&[], ["a", "b"]), "a and b have the same settings");
    }
}
