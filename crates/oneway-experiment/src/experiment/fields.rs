//! Strict reading of a TOML table: every key is asked for by name, and what nobody asked for is an error.

use anyhow::{Context, Result, bail};
use oneway::Error;
use oneway::parameters::{Given, Parameter, Parameters, Takes};
use toml::{Table, Value};

use super::text::short;

/// A table being read. Messages name the field by its full path, as in `method "SMTPP": step.size`.
#[derive(Debug)]
pub struct Fields {
    path: String,
    table: Table,
    asked: Vec<String>,
}

impl Fields {
    /// Begins to read `table`; `path` names it in messages.
    pub fn new(path: impl Into<String>, table: Table) -> Self {
        Self { path: path.into(), table, asked: vec![] }
    }

    /// Names the table anew, once more is known of it.
    pub(crate) fn rename(&mut self, path: impl Into<String>) {
        self.path = path.into();
    }

    /// The name of the table in messages.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Takes the value of `key`, if it is there.
    pub(crate) fn value(&mut self, key: &str) -> Option<Value> {
        self.expect(&[key]);
        self.table.remove(key)
    }

    /// Keys that will be asked for later: messages before that list them too.
    pub(crate) fn expect(&mut self, keys: &[&str]) {
        for key in keys {
            if !self.asked.iter().any(|asked| asked == key) {
                self.asked.push((*key).to_owned());
            }
        }
    }

    /// Whether one of these keys is there, and not taken yet.
    pub(crate) fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.table.contains_key(*key))
    }

    /// Takes a string.
    pub fn string(&mut self, key: &str) -> Result<Option<String>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => self.wrong(key, &other, "a string"),
        }
    }

    /// Takes `supplied`, the name of what a program gives in memory. Messages do not offer it: no file has a use for it.
    pub(crate) fn supplied(&mut self) -> Result<Option<String>> {
        match self.table.contains_key("supplied") {
            true => self.string("supplied"),
            false => Ok(None),
        }
    }

    /// Takes the path of a file.
    pub(crate) fn file(&mut self, key: &str) -> Result<Option<String>> {
        self.string(key)?.map(|path| self.checked_file(key, path)).transpose()
    }

    /// Takes a list of one or more paths of files.
    pub(crate) fn files(&mut self, key: &str) -> Result<Option<Vec<String>>> {
        let paths =
            self.strings(key)?.map(|paths| paths.into_iter().map(|path| self.checked_file(key, path)));
        paths.map(Iterator::collect).transpose()
    }

    /// A path, unless commands would take it for one of their options.
    fn checked_file(&self, key: &str, path: String) -> Result<String> {
        let refuse = |why: String| bail!("{}: `{key}` = {} {why}", self.path, short(&format!("{path:?}")));
        match () {
            () if path.starts_with('-') => {
                refuse(format!("begins with `-` and would be taken for an option: write \"./{path}\""))
            }
            () if path.trim().is_empty() => refuse("is blank: give the name of a file".to_owned()),
            () => Ok(path),
        }
    }

    /// Takes a list of one or more strings.
    pub(crate) fn strings(&mut self, key: &str) -> Result<Option<Vec<String>>> {
        const EXPECTED: &str = "a list of one or more strings";
        match self.value(key) {
            None => Ok(None),
            Some(Value::Array(items)) if !items.is_empty() => {
                let strings = items.into_iter().map(|item| match item {
                    Value::String(text) => Ok(text),
                    other => self.wrong(key, &other, EXPECTED),
                });
                strings.collect::<Result<_>>().map(Some)
            }
            Some(other) => self.wrong(key, &other, EXPECTED),
        }
    }

    /// Takes a number, whole or not.
    pub(crate) fn real(&mut self, key: &str) -> Result<Option<f64>> {
        match self.value(key) {
            None => Ok(None),
            Some(value) => match real(&value) {
                Some(number) => Ok(Some(number)),
                None => self.wrong(key, &value, "a number"),
            },
        }
    }

    /// Takes a whole number, 0 or more.
    pub fn count(&mut self, key: &str) -> Result<Option<u64>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Integer(number)) if number >= 0 => Ok(Some(number.unsigned_abs())),
            Some(other) => {
                self.wrong(key, &other, &format!("a whole number, 0 or more{}", as_integer(&other)))
            }
        }
    }

    /// Takes true or false.
    pub(crate) fn flag(&mut self, key: &str) -> Result<Option<bool>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Boolean(flag)) => Ok(Some(flag)),
            Some(other) => self.wrong(key, &other, "true or false"),
        }
    }

    /// Takes a section of the file, which must be there, to be read strictly too.
    pub(crate) fn section(&mut self, key: &str) -> Result<Fields> {
        match self.value(key) {
            Some(Value::Table(table)) => Ok(Fields::new(key, table)),
            Some(other) => self.wrong(key, &other, &format!("a [{key}] table")),
            None => {
                self.check_spelling_of(key)?;
                bail!("there is no [{key}]: an experiment has [problem], [run], [[topology]] and [[method]]")
            }
        }
    }

    /// Begins to read a table found under `key`.
    pub(crate) fn inner(&self, key: &str, table: Table) -> Fields {
        Fields::new(format!("{}.{key}", self.path), table)
    }

    /// Takes an array of tables.
    pub(crate) fn tables(&mut self, key: &str) -> Result<Vec<Fields>> {
        let Some(value) = self.value(key) else { return Ok(vec![]) };
        let Value::Array(items) = value else {
            return self.wrong(key, &value, &format!("one or more [[{key}]] tables"));
        };
        let tables = items.into_iter().zip(1..).map(|(item, number)| match item {
            Value::Table(table) => Ok(Fields::new(format!("{key} {number}"), table)),
            other => self.wrong(key, &other, &format!("one or more [[{key}]] tables")),
        });
        tables.collect()
    }

    /// Takes one of a few words.
    pub(crate) fn choice<T: Copy>(&mut self, key: &str, words: &[(&'static str, T)]) -> Result<Option<T>> {
        self.value(key).map(|value| self.word(key, &value, words)).transpose()
    }

    /// Reads a value that must be one of a few words.
    pub(crate) fn word<T: Copy>(&self, key: &str, value: &Value, words: &[(&'static str, T)]) -> Result<T> {
        let Value::String(word) = value else {
            let known: Vec<String> = words.iter().map(|(known, _)| format!("\"{known}\"")).collect();
            return self.wrong(key, value, &known.join(" or "));
        };
        match words.iter().find(|(known, _)| known == word) {
            Some((_, chosen)) => Ok(*chosen),
            None => {
                let known = words.iter().map(|(known, _)| *known);
                Err(Error::unknown(key, word, known)).with_context(|| self.path.clone())
            }
        }
    }

    /// Takes a number's key if a word stands there in its place, and says whether it does.
    pub(crate) fn word_for_number(&mut self, key: &str, word: &str) -> Result<bool> {
        match self.table.get(key) {
            Some(Value::String(text)) if text == word => Ok(self.value(key).is_some()),
            Some(other @ Value::String(_)) => self.wrong(key, other, &format!("a number, or \"{word}\"")),
            _ => Ok(false),
        }
    }

    /// Takes the declared parameters of a method or a family that are there.
    pub(crate) fn parameters(&mut self, declared: &[Parameter]) -> Result<Vec<(String, f64)>> {
        let mut given = vec![];
        for parameter in declared {
            if let Some(value) = self.parameter(parameter)? {
                given.push((parameter.name.to_owned(), value));
            }
        }
        Ok(given)
    }

    /// Takes the number that a parameter's value is kept as. Numbers that it does not take are refused with
    /// its owner's name, when all its parameters are known.
    fn parameter(&mut self, parameter: &Parameter) -> Result<Option<f64>> {
        let Some(value) = self.value(parameter.name) else { return Ok(None) };
        let given = match (&value, real(&value)) {
            (_, Some(number)) if !matches!(parameter.takes, Takes::Word(_)) => return Ok(Some(number)),
            (Value::Boolean(flag), _) => parameter.value(Given::Flag(*flag)),
            (Value::String(word), _) => match (parameter.takes, parameter.value(Given::Word(word))) {
                (Takes::Word(words), None) => {
                    let unknown = Error::unknown(parameter.name, word, words.iter().copied());
                    return Err(unknown).with_context(|| self.path.clone());
                }
                (_, known) => known,
            },
            _ => None,
        };
        let expected = match parameter.takes {
            Takes::Number => "a number".to_owned(),
            _ => parameter.expected(),
        };
        given.map_or_else(|| self.wrong(parameter.name, &value, &expected), |value| Ok(Some(value)))
    }

    /// The value, or an error that says that `key` must be given. Ask for all keys first: see
    /// `check_spelling_of`.
    pub(crate) fn required<T>(&self, key: &str, value: Option<T>) -> Result<T> {
        value.map_or_else(|| self.missing(key, ""), Ok)
    }

    /// The error that says that `key` must be given, and what it is, which may be left open.
    pub(crate) fn missing<T>(&self, key: &str, what: &str) -> Result<T> {
        self.check_spelling_of(key)?;
        let colon = if what.is_empty() { "" } else { ": " };
        bail!("{}: `{key}` is missing{colon}{what}", self.path)
    }

    /// A key that is read elsewhere: no error, and listed among those that are known.
    pub(crate) fn leave(&mut self, key: &str) {
        self.value(key);
    }

    /// Ends reading: a key that nobody asked for is an error, with the nearest known key.
    pub(crate) fn finish(self) -> Result<()> {
        match self.table.keys().next() {
            None => Ok(()),
            Some(key) => Err(self.unknown(key)).with_context(|| self.path.clone()),
        }
    }

    /// A key that is missing may be there, misspelt: then that is the error, among the keys that nobody asked
    /// for.
    fn check_spelling_of(&self, key: &str) -> Result<()> {
        for other in self.table.keys() {
            let error = self.unknown(other);
            if matches!(&error, Error::UnknownName { suggestion: Some(near), .. } if near == key) {
                return Err(error).with_context(|| self.path.clone());
            }
        }
        Ok(())
    }

    fn unknown(&self, key: &str) -> Error {
        Error::unknown("key", key, self.asked.iter().map(String::as_str))
    }

    /// The error that says what `key` must be.
    pub(crate) fn wrong<T>(&self, key: &str, value: &Value, expected: &str) -> Result<T> {
        let what = match value {
            Value::Integer(_) | Value::Float(_) => "not possible",
            Value::String(_) => "a string",
            Value::Boolean(_) => "a boolean",
            Value::Datetime(_) => "a date",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
        };
        let value = match value {
            Value::Float(number) if number.abs() >= 1e16 && number.is_finite() => format!("{number:e}"),
            other => short(&other.to_string()),
        };
        bail!("{}: `{key}` = {value} is {what}: it must be {expected}", self.path)
    }
}

/// How to write a number without a point, if it is whole.
pub(crate) fn as_integer(value: &Value) -> String {
    match value {
        Value::Float(number) if number.fract() == 0.0 && number.is_sign_positive() && *number < 1e15 => {
            format!(": write {number}, an integer")
        }
        _ => String::new(),
    }
}

/// A number, whole or not.
pub(crate) fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}
/// The values of declared parameters as a file gives them: what [`Fields::parameters`] reads as the same
/// values.
pub(crate) fn written<'a>(
    declared: &'static [Parameter],
    values: &'a Parameters,
) -> impl Iterator<Item = (&'static str, Value)> + 'a {
    values.iter().filter_map(|(name, value)| {
        let parameter = declared.iter().find(|parameter| parameter.name == name)?;
        let value = match parameter.takes {
            Takes::Number => value.into(),
            Takes::Whole => Value::Integer(value as i64), // below 2³²
            Takes::Flag => (value == 1.0).into(),
            Takes::Word(_) => parameter.text(value).into(),
        };
        Some((name, value))
    })
}
