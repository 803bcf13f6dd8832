//! Settings from Python, and answers to Python.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList};
use toml::{Table, Value};

/// How deep settings may be nested.
const DEEPEST: usize = 32;

/// A dictionary as the settings of an experiment; what is `None` is left out.
pub(crate) fn table(given: &Bound<'_, PyDict>) -> PyResult<Table> {
    table_at(given, "the settings", DEEPEST)
}

fn table_at(given: &Bound<'_, PyDict>, place: &str, deeper: usize) -> PyResult<Table> {
    let mut table = Table::new();
    for (key, value) in given {
        let key: String =
            key.extract().map_err(|_| PyTypeError::new_err(format!("{place}: a key must be a string")))?;
        if !value.is_none() {
            let value = value_at(&value, &key, deeper)?;
            table.insert(key, value);
        }
    }
    Ok(table)
}

fn value_at(given: &Bound<'_, PyAny>, place: &str, deeper: usize) -> PyResult<Value> {
    let Some(deeper) = deeper.checked_sub(1) else {
        return Err(PyValueError::new_err(format!("{place}: settings are nested too deeply")));
    };
    if let Ok(flag) = given.cast::<PyBool>() {
        return Ok(Value::Boolean(flag.is_true()));
    }
    if let Ok(text) = given.extract::<String>() {
        return Ok(Value::String(text));
    }
    if let Ok(table) = given.cast::<PyDict>() {
        return Ok(Value::Table(table_at(table, place, deeper)?));
    }
    // numbers of NumPy are numbers too: whole ones have an index, others are floats
    if given.hasattr("__index__")? {
        let whole = given.extract::<i64>();
        let whole =
            whole.map_err(|_| PyValueError::new_err(format!("{place}: {given} is too large a number")))?;
        return Ok(Value::Integer(whole));
    }
    if given.hasattr("__float__")? {
        return Ok(Value::Float(given.extract()?));
    }
    if let Ok(path) = given.call_method0("__fspath__") {
        return Ok(Value::String(path.extract()?));
    }
    if let Ok(items) = given.try_iter() {
        let items = items.map(|item| value_at(&item?, place, deeper));
        return Ok(Value::Array(items.collect::<PyResult<_>>()?));
    }
    let kind = given.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "{place}: a {kind} is no setting: give numbers, strings, flags, lists or dictionaries"
    )))
}

/// A JSON value as Python has it.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    use serde_json::Value as Json;
    Ok(match value {
        Json::Null => py.None().into_bound(py),
        Json::Bool(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into_pyobject(py)?.into_any(),
            None => number.as_f64().unwrap_or(f64::NAN).into_pyobject(py)?.into_any(),
        },
        Json::String(text) => text.into_pyobject(py)?.into_any(),
        Json::Array(items) => {
            let items = items.iter().map(|item| to_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Json::Object(fields) => {
            let dict = PyDict::new(py);
            for (key, value) in fields {
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}
