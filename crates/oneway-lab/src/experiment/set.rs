//! `--set path=value`: one setting changed from the command line.

use anyhow::{Result, bail};
use toml::{Table, Value};

use super::fields::real;

/// Applies one `--set`: `run.iterations=100`, `method.SMTPP.step.size=0.2`, `topology.ring.root=3`.
pub(crate) fn set(settings: &mut Table, assignment: &str) -> Result<()> {
    let Some((path, text)) = assignment.split_once('=') else {
        bail!("write it as path=value, for example run.iterations=100");
    };
    // a value is TOML; what is not, is a bare word
    let value = format!("value = {}", text.trim()).parse::<Table>().ok();
    let value =
        value.and_then(|mut table| table.remove("value")).unwrap_or(Value::String(text.trim().to_owned()));

    let mut keys: Vec<&str> = path.trim().split('.').collect();
    let last = keys.pop().filter(|key| !key.is_empty() && !keys.is_empty());
    let Some(last) = last else { bail!("a path has a section and a key, as in run.iterations") };
    let mut table = settings;
    let mut keys = keys.into_iter();
    while let Some(key) = keys.next() {
        let entry = table.entry(key).or_insert_with(|| Value::Table(Table::new()));
        table = match entry {
            Value::Table(inner) => inner,
            Value::Array(items) => {
                let Some(wanted) = keys.next() else {
                    bail!("say which {key} and which of its keys: {key}.NAME.{last}=…");
                };
                let name = |item: &Value| {
                    let name = item.get("name").or_else(|| item.get("kind"));
                    name.and_then(Value::as_str).unwrap_or_default().to_owned()
                };
                let names: Vec<String> = items.iter().map(name).collect();
                let at = names.iter().position(|name| name == wanted);
                match at.and_then(|at| items[at].as_table_mut()) {
                    Some(table) => table,
                    None => bail!("there is no {key} called \"{wanted}\" (there is: {})", names.join(", ")),
                }
            }
            // a step given as a number becomes a table: method.SMTPP.step.size=… makes sense for both
            number if key == "step" && real(number).is_some() => {
                let size = std::mem::replace(number, Value::Table(Table::new()));
                match number.as_table_mut() {
                    Some(step) => {
                        step.insert("size".to_owned(), size);
                        step
                    }
                    None => bail!("`{key}` is not a table"),
                }
            }
            _ => bail!("`{key}` is not a table"),
        };
    }
    table.insert(last.to_owned(), value);
    Ok(())
}
