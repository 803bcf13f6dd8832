//! Keys of `[problem]` that several kinds share, or that take more than one type.

use anyhow::{Result, ensure};
use oneway::data::partition::Partition;
use oneway::problems::Batch;
use toml::Value;

use crate::experiment::fields::{Fields, as_integer, real};

/// More numbers than this, 8 GB of them, are a slip of the keyboard, which should not exhaust the memory.
pub(super) const MOST_NUMBERS: u64 = 1_000_000_000;

/// A number of coordinates, within what could ever fit into memory.
pub(super) fn dimension(fields: &mut Fields, key: &str, agents: usize) -> Result<Option<usize>> {
    let most = (MOST_NUMBERS / agents.max(1) as u64).max(1);
    match fields.count(key)? {
        Some(value) if !(1..=most).contains(&value) => {
            fields.wrong(key, &Value::Integer(value as i64), &format!("from 1 to {most} for {agents} agents"))
        }
        value => Ok(value.map(|value| value as usize)),
    }
}

/// `partition`.
pub(super) fn partition(fields: &mut Fields) -> Result<Partition> {
    let rules =
        [("even", Partition::Even), ("shuffled", Partition::Shuffled), ("by-label", Partition::ByLabel)];
    match fields.value("partition") {
        None => Ok(Partition::Even),
        Some(Value::Table(table)) => {
            let mut table = fields.inner("partition", table);
            let concentration = table.real("dirichlet")?;
            let concentration = table.required("dirichlet", concentration)?;
            table.finish()?;
            Ok(Partition::Dirichlet(concentration))
        }
        Some(Value::String(word)) => fields.word("partition", &word.into(), &rules),
        Some(other) => {
            fields.wrong("partition", &other, "\"even\", \"shuffled\", \"by-label\" or { dirichlet = … }")
        }
    }
}

/// What `sampling` says where rows come again only after all others.
pub(super) const WITHOUT_REPLACEMENT: &str = "without-replacement";

/// `batch` and `sampling`.
pub(super) fn batch(fields: &mut Fields) -> Result<Batch> {
    let ways = [("with-replacement", false), (WITHOUT_REPLACEMENT, true)];
    let in_passes = fields.choice("sampling", &ways)?.unwrap_or(false);
    let sampled = if in_passes { Batch::Reshuffled } else { Batch::Sampled };
    match fields.value("batch") {
        None => Ok(sampled(1)),
        Some(Value::Integer(size)) if size > 0 => Ok(sampled(size as usize)),
        Some(Value::String(word)) if word == "full" => {
            ensure!(
                !in_passes,
                "{}: `sampling` = \"{WITHOUT_REPLACEMENT}\": nothing is drawn, since `batch` = \"full\" takes all rows",
                fields.path()
            );
            Ok(Batch::Full)
        }
        Some(other) => {
            let expected = format!("a whole number, 1 or more, or \"full\"{}", as_integer(&other));
            fields.wrong("batch", &other, &expected)
        }
    }
}

/// One number for all coordinates, or `[smallest, largest]`.
pub(super) fn curvature(fields: &mut Fields) -> Result<[f64; 2]> {
    match fields.value("curvature") {
        None => Ok([1.0, 1.0]),
        Some(Value::Array(range)) => match range.iter().filter_map(real).collect::<Vec<_>>()[..] {
            [low, high] if range.len() == 2 => Ok([low, high]),
            _ => fields.wrong("curvature", &range.into(), "a number, or [smallest, largest]"),
        },
        Some(value) => match real(&value) {
            Some(both) => Ok([both, both]),
            None => fields.wrong("curvature", &value, "a number, or [smallest, largest]"),
        },
    }
}
