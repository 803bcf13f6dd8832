//! NumPy's NPZ format: a ZIP archive of NPY files, one of which has the rows and another the labels.

use oneway::data::Split;
use oneway::error::shown;
use oneway::{Error, Result};

use crate::npy::Array;
use crate::rows::Gatherer;
use crate::source::Source;
use crate::zip::{self, Member};
use crate::{Column, Expected, Layout, Loaded, wrong};

/// Names that arrays usually have, as far as the case of letters does not matter.
const ROWS: [&str; 4] = ["x", "data", "features", "images"];
const LABELS: [&str; 6] = ["y", "label", "labels", "target", "targets", "class"];

/// Reads an archive.
pub(crate) fn read<'a>(source: Source<'a>, layout: &Layout, expected: Expected<'a>) -> Result<Loaded> {
    let path = source.path;
    let mut file = source.file()?;
    let members = zip::members(path, &mut file)?;
    let choice = Choice { source: &source, members: &members, split: expected.split };
    let rows = choice.member("array", layout.array.as_deref(), &ROWS)?;
    let label = match &layout.label {
        Some(Column::Name(name)) => Some(name.as_str()),
        None => None,
        Some(Column::Number(number)) => {
            return Err(Error::parameter(
                path.display().to_string(),
                "label",
                number,
                format!("it is the name of an array: {}", choice.names()),
            ));
        }
    };
    let labels = choice.member("label", label, &LABELS)?;
    let open = |member: &Member| {
        Array::new(path, format!("`{}` ", shown(&member.name)), member.open(path, source.file()?)?)
    };

    let (array, labels_array) = (open(rows)?, open(labels)?);
    let ((count, features), (labelled, each)) = (array.sides()?, labels_array.sides()?);
    if each != 1 || labelled != count {
        return Err(wrong(
            path,
            format!(
                "`{}` has {labelled} rows of {each}, and `{}` has {count} rows: there must be one label for each row",
                shown(&labels.name),
                shown(&rows.name)
            ),
        ));
    }
    let mut gatherer = Gatherer::new(path, features, expected)?;
    labels_array.rows(|_, label| label.iter().try_for_each(|label| gatherer.labels().number(*label)))?;
    array.rows(|_, row| {
        row.iter().enumerate().try_for_each(|(column, value)| {
            gatherer.value(column, *value).map_err(|message| format!("column {}: {message}", column + 1))
        })?;
        gatherer.end_row().map_err(|error| error.to_string())
    })?;
    gatherer.finish(format!("NPZ; rows from `{}`, labels from `{}`", array_name(rows), array_name(labels)))
}

fn array_name(member: &Member) -> &str {
    member.name.strip_suffix(".npy").unwrap_or(&member.name)
}

/// How a member is found.
struct Choice<'a> {
    source: &'a Source<'a>,
    members: &'a [Member],
    split: Split,
}

impl<'a> Choice<'a> {
    /// The array that is asked for, or else the one with a usual name: `X`, or of a file with both parts
    /// `X_train` or `X_test`.
    fn member(&self, key: &str, given: Option<&str>, usual: &[&str]) -> Result<&'a Member> {
        if let Some(given) = given {
            let found = self.members.iter().find(|member| array_name(member) == given);
            return found.ok_or_else(|| {
                self.source.wrong(format!(
                    "`{key}` = \"{}\": it has no such array, only {}",
                    shown(given),
                    self.names()
                ))
            });
        }
        let part = match self.split {
            Split::Train => "_train",
            Split::Test => "_test",
        };
        for end in [part, ""] {
            let is_usual = |member: &&Member| {
                let name = array_name(member).to_ascii_lowercase();
                usual.iter().any(|usual| name == format!("{usual}{end}"))
            };
            let mut found = self.members.iter().filter(is_usual);
            if let (Some(one), None) = (found.next(), found.next()) {
                return Ok(one);
            }
        }
        let what = if key == "array" { "rows" } else { "labels" };
        Err(self
            .source
            .wrong(format!("which of its arrays has the {what}? Give `{key}`, one of {}", self.names())))
    }

    fn names(&self) -> String {
        let names: Vec<String> =
            self.members.iter().take(20).map(|member| shown(array_name(member))).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}
