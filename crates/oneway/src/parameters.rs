//! Named numeric parameters of methods, graph families and problems: what there is, and what was given. And how a registry is
//! looked into.

use std::collections::BTreeMap;

use crate::{Error, Result};

/// One parameter, as the registries list it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its key in an experiment file.
    pub name: &'static str,
    /// What it means, in a line.
    pub about: &'static str,
    /// Its value when the file does not give one; `None` makes it mandatory.
    pub default: Option<f64>,
}

/// The entry of a registry that has this name; the error suggests the nearest one. `what` is what the entries are.
///
/// ```
/// use oneway::parameters::find;
/// let lengths = [("short", 1), ("long", 10)];
/// assert_eq!(find("length", &lengths, |entry| entry.0, "long").unwrap().1, 10);
/// let error = find("length", &lengths, |entry| entry.0, "lnog").unwrap_err().to_string();
/// assert!(error.contains("unknown length `lnog`: did you mean `long`?"), "{error}");
/// ```
pub fn find<'e, T>(
    what: &str,
    entries: &'e [T],
    name_of: fn(&T) -> &'static str,
    name: &str,
) -> Result<&'e T> {
    let found = entries.iter().find(|entry| name_of(entry) == name);
    found.ok_or_else(|| Error::unknown(what, name, entries.iter().map(name_of)))
}

/// The parameters of one thing, complete and known: every declared name has a value and there are no others.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    owner: String,
    values: BTreeMap<&'static str, f64>,
}

impl Parameters {
    /// Matches what was given against what is declared; defaults fill the gaps.
    ///
    /// ```
    /// use oneway::parameters::{Parameter, Parameters};
    /// const DECLARED: &[Parameter] = &[Parameter { name: "petals", about: "cycles", default: Some(4.0) }];
    /// let petals = Parameters::new("flower", DECLARED, []).unwrap();
    /// assert_eq!(petals.count("petals").unwrap(), 4);
    /// let error = Parameters::new("flower", DECLARED, [("petal".to_owned(), 2.0)]).unwrap_err();
    /// assert!(error.to_string().contains("did you mean `petals`?"));
    /// ```
    pub fn new(
        owner: impl Into<String>,
        declared: &[Parameter],
        given: impl IntoIterator<Item = (String, f64)>,
    ) -> Result<Self> {
        let owner = owner.into();
        let mut values = BTreeMap::new();
        for (name, value) in given {
            let Some(parameter) = declared.iter().find(|p| p.name == name) else {
                return Err(Error::unknown(
                    format!("parameter of {owner}"),
                    name,
                    declared.iter().map(|p| p.name),
                ));
            };
            if !value.is_finite() {
                return Err(Error::parameter(owner, name, value, "it must be a finite number"));
            }
            values.insert(parameter.name, value);
        }
        for parameter in declared {
            match (values.contains_key(parameter.name), parameter.default) {
                (true, _) => {}
                (false, Some(default)) => {
                    values.insert(parameter.name, default);
                }
                (false, None) => {
                    return Err(Error::MissingParameter {
                        owner,
                        name: parameter.name.to_owned(),
                        about: parameter.about.to_owned(),
                    });
                }
            }
        }
        Ok(Self { owner, values })
    }

    /// The value of `name`, a real number.
    pub fn real(&self, name: &str) -> Result<f64> {
        self.values.get(name).copied().ok_or_else(|| {
            Error::unknown(format!("parameter of {}", self.owner), name, self.values.keys().copied())
        })
    }

    /// The value of `name`, if it is `possible`; the error says what was `expected`.
    pub fn real_where(&self, name: &str, possible: fn(f64) -> bool, expected: &str) -> Result<f64> {
        let value = self.real(name)?;
        if possible(value) { Ok(value) } else { Err(self.invalid(name, expected)) }
    }

    /// The value of `name`, which must be a whole number from 0 to 2³² − 1.
    pub fn count(&self, name: &str) -> Result<usize> {
        let value = self.real(name)?;
        if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value) {
            Ok(value as usize)
        } else {
            Err(self.invalid(name, "it must be a whole number, 0 or more"))
        }
    }

    /// The error that says why the value of `name` will not do.
    pub fn invalid(&self, name: &str, expected: impl Into<String>) -> Error {
        let value = self.values.get(name).map_or_else(|| "nothing".to_owned(), ToString::to_string);
        Error::parameter(self.owner.clone(), name, value, expected)
    }

    /// All values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.values.iter().map(|(&name, &value)| (name, value))
    }
}
