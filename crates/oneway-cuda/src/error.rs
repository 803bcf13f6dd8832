//! What can be wrong with a device, or with what is asked of it.

use std::fmt;

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// There is no device, or no way to reach it.
    NoDevice(String),
    /// What cannot run there, and why.
    Unsupported(String),
    /// The device has not enough memory.
    NoMemory(String),
    /// The device refused, failed or went away.
    Failed(String),
    /// Whoever makes gradients has not made one.
    Gradient(String),
}

/// Shorthand for a result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::NoDevice(what)
            | Error::Unsupported(what)
            | Error::NoMemory(what)
            | Error::Failed(what)
            | Error::Gradient(what) => what,
        })
    }
}

impl std::error::Error for Error {}

impl From<Error> for oneway::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Gradient(reason) => oneway::Error::Gradient { agent: None, reason },
            other => oneway::Error::Device(other.to_string()),
        }
    }
}

impl From<oneway::Error> for Error {
    fn from(error: oneway::Error) -> Self {
        match error {
            oneway::Error::Gradient { agent: None, reason } => Error::Gradient(reason),
            other => Error::Failed(other.to_string()),
        }
    }
}
