//! Settings changed by path: `--set run.iterations=100` and the values of a sweep.

use anyhow::{Result, bail};
use oneway::Error;
use toml::{Table, Value};

use super::fields::real;
use super::text;

/// Applies one `--set`: `run.iterations=100`, `method.SMTPP.step.size=0.2`, `topology.ring.root=3`.
pub(crate) fn set(settings: &mut Table, assignment: &str) -> Result<()> {
    let Some((path, text)) = assignment.split_once('=') else {
        bail!("write it as path=value, for example run.iterations=100");
    };
    let value = value(text);
    if text::is_beyond(text.trim()) {
        bail!(text::out_of_range(text.trim()));
    }
    let keys: Vec<&str> = path.trim().split('.').collect();
    if keys.len() < 2 || keys.contains(&"") {
        bail!("a path has a section and a key, as in run.iterations");
    }
    match (settings.get_mut(keys[0]), &keys[1..]) {
        (Some(Value::Array(_)), [key]) => {
            bail!("say which {section} and which of its keys: {section}.NAME.{key}=…", section = keys[0])
        }
        (Some(Value::Array(items)), [name, rest @ ..]) => {
            let names: Vec<&str> = items.iter().map(name_of).collect();
            let Some(at) = names.iter().position(|other| other == name) else {
                return Err(Error::unknown(keys[0], *name, names).into());
            };
            match items[at].as_table_mut() {
                Some(item) => assign(item, rest, value),
                None => bail!("{} \"{name}\" is not a table", keys[0]),
            }
        }
        _ => assign(settings, &keys, value),
    }
}

/// A value as typed: TOML, or what is not, a bare word.
pub fn value(text: &str) -> Value {
    let table = format!("value = {}", text.trim()).parse::<Table>().ok();
    let value = table.and_then(|mut table| table.remove("value"));
    value.unwrap_or(Value::String(text.trim().to_owned()))
}

/// What a topology or method of a file goes by.
pub fn name_of(item: &Value) -> &str {
    item.get("name").or_else(|| item.get("kind")).and_then(Value::as_str).unwrap_or_default()
}

/// Sets the value at a path of keys, making tables on the way.
pub fn assign(table: &mut Table, keys: &[&str], value: Value) -> Result<()> {
    let Some((&key, rest)) = keys.split_first() else { bail!("the path ends too soon: name a key") };
    if rest.is_empty() {
        table.insert(key.to_owned(), value);
        return Ok(());
    }
    let entry = table.entry(key).or_insert_with(|| Value::Table(Table::new()));
    // what is given as a number or a word is short for a table: step = 0.1 for step = { size = 0.1 }
    let short = match key {
        "step" if real(entry).is_some() => Some("size"),
        "estimator" if entry.is_str() => Some("kind"),
        "compress" if entry.is_str() => Some("codec"),
        _ => None,
    };
    if let Some(only) = short {
        let value = std::mem::replace(entry, Value::Table(Table::new()));
        entry.as_table_mut().map(|table| table.insert(only.to_owned(), value));
    }
    match entry.as_table_mut() {
        Some(inner) => assign(inner, rest, value),
        None => bail!("`{key}` is not a table"),
    }
}
