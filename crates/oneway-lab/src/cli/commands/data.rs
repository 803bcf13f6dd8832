//! `oneway data`: export an embedded dataset, describe any.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use oneway::data::libsvm;
use oneway::data::{Dataset, Split};
use oneway_data::{LabelKind, Layout, Loaded};
use oneway_experiment::problem::dataset::{DatasetSpec, Named};
use oneway_experiment::problem::read_layout;
use oneway_experiment::set;
use toml::{Table, Value};

use crate::cli::args::{DataArgs, DataCommand, Embedded, LayoutArgs, SplitArg};
use crate::terminal::Screen;

/// Runs the command.
pub(crate) fn data(args: &DataArgs) -> Result<ExitCode> {
    match &args.command {
        DataCommand::Export { dataset, split } => {
            let named = match dataset {
                Embedded::A9a => Named::A9a,
                Embedded::Digits => Named::Digits,
            };
            let split = match split {
                SplitArg::Train => Split::Train,
                SplitArg::Test => Split::Test,
            };
            let mut out = BufWriter::new(std::io::stdout().lock());
            libsvm::write(&named.load(split)?, &mut out)?;
            out.flush()?;
        }
        DataCommand::Info { dataset, features, layout } => {
            let mut screen = Screen::stdout();
            match DatasetSpec::new(dataset, Path::new(""), *features, layout_of(layout)?, Split::Train)? {
                DatasetSpec::Named(named, _) => {
                    screen.text(&format!("{}: {}", named.name(), named.about()));
                    screen.text(&described("train", &named.load(Split::Train)?));
                    screen.text(&described("test", &named.load(Split::Test)?));
                }
                file => {
                    let Loaded { data, words, format } = read(&file)?;
                    screen.text(dataset);
                    if !["LIBSVM", "IDX"].contains(&&*format) {
                        screen.text(&format);
                    }
                    screen.text(&described("rows", &data));
                    for (number, word) in words.iter().flatten().enumerate() {
                        screen.text(&format!("       label {number} is \"{word}\""));
                    }
                }
            }
            screen.show()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Rows of a file; labels that are no signs are described as they are.
pub(super) fn read(file: &DatasetSpec) -> oneway::Result<Loaded> {
    match file.load(LabelKind::Signs, None) {
        Ok(loaded) if loaded.words.is_none() => Ok(loaded),
        _ => file.load(LabelKind::Classes, None),
    }
}

/// A column as it is typed: a number from 1, or a name.
pub(super) fn column(text: &str) -> Value {
    match set::value(text) {
        number @ Value::Integer(_) => number,
        _ => Value::String(text.to_owned()),
    }
}

fn layout_of(args: &LayoutArgs) -> Result<Layout> {
    let mut table = Table::new();
    let mut put = |key: &str, value: Option<Value>| {
        value.into_iter().for_each(|value| drop(table.insert(key.to_owned(), value)));
    };
    put("label", args.label.as_deref().map(column));
    put("header", args.header.map(Value::Boolean));
    put("separator", args.separator.clone().map(Value::String));
    put("array", args.array.clone().map(Value::String));
    let dropped: Vec<Value> = args.drop.iter().map(|name| column(name)).collect();
    put("drop", (!dropped.is_empty()).then_some(Value::Array(dropped)));
    read_layout(table)
}

fn described(part: &str, data: &Dataset) -> String {
    let values = if data.rows.is_binary() { "all 1" } else { "real" };
    format!(
        "{part:>5}: {} rows ({}), {} features, {} non-zeros ({values})",
        data.len(),
        labels(data),
        data.features,
        data.rows.entries(),
    )
}

/// What labels there are: how many of each, or from where to where.
fn labels(data: &Dataset) -> String {
    const FEW: usize = 30;
    let classes = data.classes();
    let count = |class: f64| data.labels.iter().filter(|label| **label == class).count();
    match &classes[..] {
        [-1.0] | [1.0] | [-1.0, 1.0] => {
            format!("{} labelled +1, {} labelled -1", count(1.0), count(-1.0))
        }
        [lowest, .., highest] if classes.len() > FEW => {
            format!("{} different labels from {lowest} to {highest}", classes.len())
        }
        few => {
            let counts: Vec<String> = few.iter().map(|&class| format!("{class}: {}", count(class))).collect();
            format!("{} class{}: {}", few.len(), if few.len() == 1 { "" } else { "es" }, counts.join(", "))
        }
    }
}
