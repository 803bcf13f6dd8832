//! Named parameters of methods, codecs, graph families and problems: what there is, and what was given.
//!
//! A parameter takes a number, a whole number, true or false, or one of a few words. Whatever it takes, its
//! value is kept as a number: 1 for true, the place of a word among its words.

use std::collections::BTreeMap;

use crate::{Error, Result};

/// One parameter, as the registries list it.
///
/// ```
/// use oneway::parameters::{Given, Parameter};
/// const NORM: Parameter = Parameter::choice("norm", "what scales the code", &["largest", "euclidean"]);
/// assert_eq!(NORM.value(Given::Word("euclidean")), Some(1.0));
/// assert_eq!((NORM.value(Given::Number(1.5)), NORM.expected()), (None, "\"largest\" or \"euclidean\"".to_owned()));
/// assert_eq!(NORM.text(1.0), "euclidean");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its key in an experiment file.
    pub name: &'static str,
    /// What it means, in a line.
    pub about: &'static str,
    /// Its value when the file does not give one; `None` makes it mandatory.
    pub default: Option<f64>,
    /// What it takes.
    pub takes: Takes,
}

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Any finite number.
    Number,
    /// A whole number from 0 to 2³² − 1.
    Whole,
    /// True or false; also 1 or 0.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// A value as somebody has written it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Given<'a> {
    /// A number, whole or not.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A word.
    Word(&'a str),
}

impl Parameter {
    /// One that takes a number.
    pub const fn number(name: &'static str, about: &'static str, default: f64) -> Self {
        Self { name, about, default: Some(default), takes: Takes::Number }
    }

    /// One that takes a whole number.
    pub const fn whole(name: &'static str, about: &'static str, default: u32) -> Self {
        Self { name, about, default: Some(default as f64), takes: Takes::Whole }
    }

    /// One that takes true or false.
    pub const fn flag(name: &'static str, about: &'static str, default: bool) -> Self {
        let default = if default { 1.0 } else { 0.0 };
        Self { name, about, default: Some(default), takes: Takes::Flag }
    }

    /// One that takes one of these words; the first is the default.
    pub const fn choice(name: &'static str, about: &'static str, words: &'static [&'static str]) -> Self {
        Self { name, about, default: Some(0.0), takes: Takes::Word(words) }
    }

    /// The same without a default.
    pub const fn without_default(self) -> Self {
        Self { default: None, ..self }
    }

    /// The number that a given value is kept as; none where it takes no such value.
    pub fn value(&self, given: Given<'_>) -> Option<f64> {
        match (self.takes, given) {
            (Takes::Flag, Given::Flag(flag)) => Some(f64::from(flag)),
            (Takes::Word(words), Given::Word(word)) => {
                words.iter().position(|known| *known == word).map(|place| place as f64)
            }
            (takes, Given::Number(number)) => takes.has(number).then_some(number),
            _ => None,
        }
    }

    /// What it takes, in words: "it must be …".
    pub fn expected(&self) -> String {
        match self.takes {
            Takes::Number => "a finite number".to_owned(),
            Takes::Whole => "a whole number, 0 or more".to_owned(),
            Takes::Flag => "true or false".to_owned(),
            Takes::Word(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                quoted.join(" or ")
            }
        }
    }

    /// What it takes, if that is no plain number, and its default: "true or false, default true".
    pub fn summary(&self) -> String {
        let takes = match self.takes {
            Takes::Number => String::new(),
            Takes::Whole => "a whole number, ".to_owned(),
            Takes::Flag | Takes::Word(_) => format!("{}, ", self.expected()),
        };
        let default = self.default.map(|default| format!("default {}", self.text(default)));
        takes + &default.unwrap_or_else(|| "must be given".to_owned())
    }

    /// A value as it would be written.
    pub fn text(&self, value: f64) -> String {
        match self.takes {
            Takes::Flag => (value == 1.0).to_string(),
            Takes::Word(words) => match words.get(value as usize) {
                Some(word) => (*word).to_owned(),
                None => value.to_string(),
            },
            Takes::Number | Takes::Whole => value.to_string(),
        }
    }
}

impl Takes {
    /// Whether a value may be kept as this number.
    fn has(self, number: f64) -> bool {
        let whole = number.fract() == 0.0 && number >= 0.0;
        match self {
            Takes::Number => number.is_finite(),
            Takes::Whole => whole && number <= f64::from(u32::MAX),
            Takes::Flag => number == 0.0 || number == 1.0,
            Takes::Word(words) => whole && number < words.len() as f64,
        }
    }
}

/// What the registries have in common: an entry has a name, a line about it, and parameters.
pub trait Entry {
    /// What it is an entry of, as messages call it: "method".
    const WHAT: &'static str;

    /// Its name in an experiment file.
    fn name(&self) -> &'static str;

    /// Its parameters.
    fn parameters(&self) -> &'static [Parameter];

    /// Its parameters, where nothing is given.
    fn defaults(&self) -> Result<Parameters> {
        Parameters::new(self.name(), self.parameters(), [])
    }
}

/// Makes an entry of a type that has a `name` and `parameters`.
macro_rules! entry {
    ($kind:ty, $what:literal) => {
        impl crate::parameters::Entry for $kind {
            const WHAT: &'static str = $what;

            fn name(&self) -> &'static str {
                self.name
            }

            fn parameters(&self) -> &'static [Parameter] {
                self.parameters
            }
        }
    };
}
pub(crate) use entry;

/// The entry called `name`; the error suggests the nearest name.
pub fn find<'a, T: Entry + 'a>(
    entries: impl IntoIterator<Item = &'a T, IntoIter: Clone>,
    name: &str,
) -> Result<&'a T> {
    let mut entries = entries.into_iter();
    let known = entries.clone().map(Entry::name);
    entries.find(|entry| entry.name() == name).ok_or_else(|| Error::unknown(T::WHAT, name, known))
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
    /// const DECLARED: &[Parameter] = &[Parameter::whole("petals", "cycles", 4)];
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
            if !parameter.takes.has(value) {
                return Err(Error::parameter(
                    owner,
                    name,
                    value,
                    format!("it must be {}", parameter.expected()),
                ));
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
        match Takes::Whole.has(value) {
            true => Ok(value as usize),
            false => Err(self.invalid(name, "it must be a whole number, 0 or more")),
        }
    }

    /// The value of `name`, which must be true or false: 1 or 0.
    pub fn flag(&self, name: &str) -> Result<bool> {
        let value = self.real(name)?;
        match Takes::Flag.has(value) {
            true => Ok(value == 1.0),
            false => Err(self.invalid(name, "it must be true or false")),
        }
    }

    /// The word that was given for a parameter that takes one.
    ///
    /// ```
    /// use oneway::parameters::{Parameter, Parameters};
    /// const NORM: Parameter = Parameter::choice("norm", "what scales the code", &["largest", "euclidean"]);
    /// let given = Parameters::new("mine", &[NORM], [("norm".to_owned(), 1.0)]).unwrap();
    /// assert_eq!(given.word(&NORM).unwrap(), "euclidean");
    /// ```
    pub fn word(&self, parameter: &Parameter) -> Result<&'static str> {
        let value = self.real(parameter.name)?;
        match parameter.takes {
            Takes::Word(words) if parameter.takes.has(value) => Ok(words[value as usize]),
            _ => Err(self.invalid(parameter.name, format!("it must be {}", parameter.expected()))),
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
