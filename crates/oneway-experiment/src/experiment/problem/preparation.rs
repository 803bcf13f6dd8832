//! `label`, `header`, `separator`, `drop`, `array`: how a file is laid out. `classes`, `split`, `scaling`: what
//! becomes of rows before agents share them.

use anyhow::Result;
use oneway::data::Dataset;
use oneway_data::classes::{Group, Groups, Label};
use oneway_data::scaling::Scaling;
use oneway_data::{Column, LabelKind, Layout, hold_out};
use toml::Value;

use super::dataset::DatasetSpec;
use crate::experiment::fields::{Fields, real};
use crate::identity::{Identify, Identity};

/// What becomes of rows: classes are made of labels, rows are held out, features are scaled.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Preparation {
    pub(super) groups: Option<Groups>,
    split: Option<f64>,
    scaling: Option<Scaling>,
}

/// Rows, prepared.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) data: Dataset,
    pub(super) test: Option<Dataset>,
}

impl Preparation {
    /// Reads `scaling`, and for problems that classify `split`.
    pub(super) fn read(fields: &mut Fields, groups: Option<Groups>, classifies: bool) -> Result<Self> {
        let split = if classifies { fields.real("split")? } else { None };
        if let Some(share) = split.filter(|share| !(*share > 0.0 && *share < 1.0)) {
            let expected =
                "the share of the rows to be held out, between 0 and 1 (a file with them is `test`)";
            return fields.wrong("split", &share.into(), expected);
        }
        Ok(Self { groups, split, scaling: fields.choice("scaling", &Scaling::NAMED)? })
    }

    /// Whether rows are held out of the training rows.
    pub(super) fn splits(&self) -> bool {
        self.split.is_some()
    }

    /// Reads rows and those held out, and prepares both. What is fitted is fitted on the rows to learn from.
    pub(super) fn rows(
        &self,
        dataset: &DatasetSpec,
        test: Option<DatasetSpec>,
        labels: LabelKind,
        seed: u64,
    ) -> Result<Prepared> {
        let Self { groups, split, scaling } = self;
        let kind = if groups.is_some() { LabelKind::Classes } else { labels };
        let train = dataset.load(kind, None)?;
        let words = train.words.as_deref();
        let grouped = |data: Dataset| -> oneway::Result<Dataset> {
            let Some(groups) = groups else { return Ok(data) };
            let mut data = groups.apply(&data, words)?;
            if labels == LabelKind::Signs {
                data.labels.iter_mut().for_each(|label| *label = if *label == 0.0 { -1.0 } else { 1.0 });
            }
            Ok(data)
        };
        let features = train.data.features;
        let test = test.filter(|_| split.is_none());
        let test = test.map(|test| test.with_features(features).load(kind, words)).transpose()?;
        let test = test.map(|test| grouped(test.data)).transpose()?;
        let data = grouped(train.data)?;
        let (data, test) = match split {
            Some(share) => {
                let (train, held) = hold_out(&data, *share, seed)?;
                (train, Some(held))
            }
            None => (data, test),
        };
        let Some(scaling) = scaling else { return Ok(Prepared { data, test }) };
        let fitted = scaling.fit(&data)?;
        Ok(Prepared { data: fitted.apply(&data), test: test.map(|test| fitted.apply(&test)) })
    }
}

/// Nothing where nothing is asked for, so that files without these keys are what they were.
impl Identify for Preparation {
    fn identify(&self, to: &mut Identity) {
        let Self { groups, split, scaling } = self;
        for (at, group) in groups.iter().flat_map(Groups::iter).enumerate() {
            match group {
                Group::Rest => to.text(&format!("group-{at}"), "rest"),
                Group::Of(labels) => labels.iter().for_each(|label| match label {
                    Label::Number(number) => to.real(&format!("group-{at}"), *number),
                    Label::Word(word) => to.text(&format!("group-{at}.word"), word),
                }),
            }
        }
        if let Some(share) = split {
            to.real("split", *share);
        }
        if let Some(scaling) = scaling {
            to.text("scaling", scaling.name());
        }
    }
}

/// The keys of `[problem]` that say where things are in a file, alone: for commands that only look at one.
pub fn read_layout(table: toml::Table) -> Result<Layout> {
    let mut fields = Fields::new("dataset", table);
    let layout = layout(&mut fields)?;
    fields.finish()?;
    Ok(layout)
}

/// The keys that say where things are in a file.
pub(super) fn layout(fields: &mut Fields) -> Result<Layout> {
    let label = match fields.value("label") {
        None => None,
        Some(value) => match column(&value) {
            Some(column) => Some(column),
            None => return fields.wrong("label", &value, "the name of a column, or its number from 1"),
        },
    };
    let drop = match fields.value("drop") {
        None => vec![],
        Some(value) => {
            let columns =
                value.as_array().and_then(|list| list.iter().map(column).collect::<Option<Vec<_>>>());
            match columns {
                Some(columns) => columns,
                None => {
                    return fields.wrong("drop", &value, "a list of columns, each a name or a number from 1");
                }
            }
        }
    };
    let separator = match fields.string("separator")? {
        None => None,
        Some(text) => match text.as_bytes() {
            [one]
                if (one.is_ascii_punctuation() || matches!(one, b' ' | b'\t'))
                    && !b"\"#.+-".contains(one) =>
            {
                Some(*one)
            }
            _ => {
                let expected = "one character, such as \",\", \";\", \"|\", \" \" or \"\\t\"";
                return fields.wrong("separator", &text.into(), expected);
            }
        },
    };
    let (header, array) = (fields.flag("header")?, fields.string("array")?);
    Ok(Layout { label, header, separator, drop, array })
}

fn column(value: &Value) -> Option<Column> {
    match value {
        Value::String(name) => Some(Column::Name(name.clone())),
        Value::Integer(number) => usize::try_from(*number).ok().filter(|n| *n > 0).map(Column::Number),
        _ => None,
    }
}

/// `classes`, where it is a list of groups: `[[3], [5, 8]]`, or `["rest", [8]]`.
pub(super) fn groups(value: &Value) -> Option<Groups> {
    let label = |value: &Value| match value {
        Value::String(word) => Some(Label::Word(word.clone())),
        other => real(other).map(Label::Number),
    };
    let group = |value: &Value| match value {
        Value::String(rest) if rest == "rest" => Some(Group::Rest),
        Value::Array(labels) => labels.iter().map(label).collect::<Option<_>>().map(Group::Of),
        _ => None,
    };
    Groups::new(value.as_array()?.iter().map(group).collect::<Option<_>>()?)
}

/// What `classes` takes, for messages.
pub(super) const GROUPS: &str = "a list of two or more classes, each a list of labels or \"rest\", no label twice: \
                                 [[3], [5, 8]]";

impl Identify for Layout {
    fn identify(&self, to: &mut Identity) {
        let Self { label, header, separator, drop, array } = self;
        let mut columns = |name: &str, column: &Column| match column {
            Column::Name(word) => to.text(name, word),
            Column::Number(number) => to.count(name, *number as u64),
        };
        label.iter().for_each(|label| columns("label", label));
        drop.iter().for_each(|dropped| columns("drop", dropped));
        if let Some(header) = header {
            to.flag("header", *header);
        }
        if let Some(separator) = separator {
            to.count("separator", u64::from(*separator));
        }
        if let Some(array) = array {
            to.text("array", array);
        }
    }
}
