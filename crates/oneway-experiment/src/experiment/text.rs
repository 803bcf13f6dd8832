//! An experiment's text: read from a file, and parsed with messages of bounded length.

use std::io::Read;
use std::num::IntErrorKind;
use std::path::Path;

use anyhow::{Context, Result, bail};
use oneway::input;
use toml::Table;

/// Bytes of an experiment, at most: more are some other file.
const LARGEST: u64 = 16 << 20;

/// Reads the text of a file, without a byte order mark; errors do not name the file.
pub(super) fn read(file: &Path) -> Result<String> {
    let opened = input::open(file, "an experiment, a TOML file");
    let opened = opened.map_err(|error| match error {
        oneway::Error::File { message, .. } => anyhow::Error::msg(message),
        oneway::Error::Io { source, .. } => source.into(),
        other => other.into(),
    })?;
    let mut bytes = vec![];
    opened.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if let Some(what) = input::foreign(&bytes) {
        bail!("{what}; an experiment is text, a TOML file");
    }
    if bytes.len() as u64 > LARGEST {
        bail!("has more than {} MiB: it is not an experiment", LARGEST >> 20);
    }
    let text = String::from_utf8(bytes).context("an experiment is text in UTF-8")?;
    Ok(text.strip_prefix(input::MARK).map(str::to_owned).unwrap_or(text))
}

/// Parses TOML.
pub(super) fn parse(text: &str) -> Result<Table> {
    text.parse().map_err(|error: toml::de::Error| anyhow::anyhow!(described(text, &error)))
}

/// What is wrong with TOML, and where, on one line and in few words.
fn described(text: &str, error: &toml::de::Error) -> String {
    let Some(span) = error.span() else { return format!("TOML parse error: {}", cause(error, "")) };
    let (before, after) = text.split_at_checked(span.start).unwrap_or((text, ""));
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
    let excerpt = short(text[line_start..].lines().next().unwrap_or_default().trim());
    format!("TOML parse error at line {line}, column {column}: {}: `{excerpt}`", cause(error, after))
}

/// What is wrong with the text that begins so. The parser would speak of its own types and limits.
fn cause(error: &toml::de::Error, text: &str) -> String {
    let value = text.split([' ', '\t', '\r', '\n', ',', ']', '}', '#']).next().unwrap_or_default();
    match error.message() {
        said if said.contains("recurs") => "lists and tables are nested too deeply".to_owned(),
        said if said.contains("overflowed") => {
            format!("{} is out of range: numbers go to {:e}", short(value), f64::MAX)
        }
        said if said.contains("too large") => out_of_range(value),
        _ if is_beyond(value) => out_of_range(value),
        said => short(said),
    }
}

/// Whether a text is a whole number that no file can hold.
pub(super) fn is_beyond(text: &str) -> bool {
    let overflowed =
        |kind: &IntErrorKind| matches!(kind, IntErrorKind::PosOverflow | IntErrorKind::NegOverflow);
    text.replace('_', "").parse::<i64>().is_err_and(|error| overflowed(error.kind()))
}

/// The complaint about a whole number that no file can hold.
pub(super) fn out_of_range(value: &str) -> String {
    format!("{} is out of range: whole numbers go from {} to {}", short(value), i64::MIN, i64::MAX)
}

/// The beginning of a text, on one line.
pub(super) fn short(text: &str) -> String {
    const SHOWN: usize = 120;
    let begin: String = text.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(SHOWN).is_some() { begin + "…" } else { begin }
}
