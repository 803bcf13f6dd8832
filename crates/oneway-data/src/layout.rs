//! Where in a file the label is, and what else has to be said of it.

use std::path::Path;

use oneway::error::shown;
use oneway::{Error, Result};

use crate::wrong;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// By its name in the header; of an NPZ file an array.
    Name(String),
    /// By its number, from 1.
    Number(usize),
}

/// What a file does not say of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// The column with the labels, or the array of an NPZ file.
    pub label: Option<Column>,
    /// Whether the first line of a table has names; found out, if it is not given.
    pub header: Option<bool>,
    /// What stands between the cells of a table; found out, if it is not given.
    pub separator: Option<u8>,
    /// Columns that are left out.
    pub drop: Vec<Column>,
    /// The array of an NPZ file that has the rows.
    pub array: Option<String>,
}

impl Layout {
    /// Refuses what does not go with a kind of file.
    pub(crate) fn refuse(&self, path: &Path, kind: &str, keys: &[&str]) -> Result<()> {
        let given = [
            ("label", self.label.is_some()),
            ("header", self.header.is_some()),
            ("separator", self.separator.is_some()),
            ("drop", !self.drop.is_empty()),
            ("array", self.array.is_some()),
        ];
        match given.into_iter().find(|(key, given)| *given && keys.contains(key)) {
            Some((key, _)) => {
                Err(wrong(path, format!("is {kind}, where `{key}` says nothing: leave it out")))
            }
            None => Ok(()),
        }
    }

    /// What each of a table's columns is, found once.
    pub(crate) fn columns(&self, path: &Path, names: Option<&[String]>, count: usize) -> Result<Columns> {
        let label = match &self.label {
            Some(label) => place("label", label, path, names, count)?,
            None => self.usual_label(path, names, count)?,
        };
        let mut roles = vec![Role::Feature; count];
        for column in &self.drop {
            roles[place("drop", column, path, names, count)?] = Role::Dropped;
        }
        if roles[label] == Role::Dropped {
            return Err(wrong(path, "`drop` leaves out the column that `label` names"));
        }
        roles[label] = Role::Label;
        Ok(Columns { names: names.map(<[String]>::to_vec), roles, label })
    }

    /// The column that has one of the usual names.
    fn usual_label(&self, path: &Path, names: Option<&[String]>, count: usize) -> Result<usize> {
        const USUAL: [&str; 5] = ["label", "labels", "class", "target", "y"];
        let is_usual = |name: &str| USUAL.iter().any(|usual| name.eq_ignore_ascii_case(usual));
        let found: Vec<usize> =
            (0..).zip(names.unwrap_or_default()).filter(|(_, n)| is_usual(n)).map(|(i, _)| i).collect();
        match (&found[..], names) {
            ([one], _) => Ok(*one),
            (_, Some(names)) => {
                let first = names.first().map_or("", String::as_str);
                Err(wrong(
                    path,
                    format!(
                        "which of its {count} columns is the label? Give `label`, a name such as \"{}\" or a number \
                     from 1 to {count}; without it the one that is called {} is taken",
                        shown(first),
                        USUAL.join(", ")
                    ),
                ))
            }
            (_, None) => Err(wrong(
                path,
                format!(
                    "which of its {count} columns is the label? Give `label`, a number from 1 to {count}"
                ),
            )),
        }
    }
}

/// Where a column is, from 0.
fn place(key: &str, column: &Column, path: &Path, names: Option<&[String]>, count: usize) -> Result<usize> {
    match column {
        Column::Number(number) if (1..=count).contains(number) => Ok(number - 1),
        Column::Number(number) => {
            let owner = path.display().to_string();
            Err(Error::parameter(owner, key, number, format!("its columns are numbered from 1 to {count}")))
        }
        Column::Name(name) => match names {
            None => Err(wrong(
                path,
                format!(
                    "`{key}` = \"{}\": its columns have no names; give a number from 1 to {count}",
                    shown(name)
                ),
            )),
            Some(names) => {
                let mut found = (0..count).filter(|i| names[*i] == *name);
                match (found.next(), found.next()) {
                    (Some(one), None) => Ok(one),
                    (Some(_), Some(_)) => Err(wrong(
                        path,
                        format!(
                            "`{key}` = \"{}\": two columns have this name; give a number from 1 to {count}",
                            shown(name)
                        ),
                    )),
                    _ => {
                        let some: Vec<String> = names.iter().take(30).map(|name| shown(name)).collect();
                        let unknown = Error::unknown("column", name, some.iter().map(String::as_str));
                        Err(wrong(path, format!("`{key}`: {unknown}")))
                    }
                }
            }
        },
    }
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Feature,
    Label,
    Dropped,
}

/// The columns of a table.
#[derive(Debug)]
pub(crate) struct Columns {
    names: Option<Vec<String>>,
    pub(crate) roles: Vec<Role>,
    pub(crate) label: usize,
}

impl Columns {
    /// How many features a row has.
    pub(crate) fn features(&self) -> usize {
        self.roles.iter().filter(|role| **role == Role::Feature).count()
    }

    /// A column in messages: `column 3 (age)`.
    pub(crate) fn called(&self, column: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(column)).filter(|name| !name.is_empty()) {
            Some(name) => format!("column {} ({})", column + 1, shown(name)),
            None => format!("column {}", column + 1),
        }
    }
}
