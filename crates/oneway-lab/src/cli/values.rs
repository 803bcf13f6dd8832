//! Values of options that several commands have, or that are checked.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};

/// Folders to write to, unless other commands would take the name for an option.
pub(super) fn output() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|name| match name.as_encoded_bytes() {
        [] => Err("give the name of a folder".to_owned()),
        [b'-', ..] => {
            Err(format!("what begins with `-` would be taken for an option: write ./{}", name.display()))
        }
        _ => Ok(PathBuf::from(name)),
    })
}

/// A time in seconds.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=1e6).contains(seconds));
    seconds.ok_or_else(|| "give seconds, from 0 to 1000000".to_owned())
}
