//! Datasets as text in LIBSVM's format: a row a line, a label and then `index:value` cells.
//!
//! ```text
//! -1 3:1 11:0.25
//! +1 5:1 7:-2e3 11:1      # a comment
//! ```
//!
//! **Indices** count from 1 and ascend within a row; features that are not given are 0. A 0 that is given is
//! not stored, but its index counts like any other.
//!
//! **Labels** that are read as [signs](Labels::Signs) are one pair in the whole file: −1 and +1, 0 and 1 (0
//! is read as −1), or 1 and 2 (1 is read as −1, 2 as +1). Whatever number syntax gives these values will do:
//! `1`, `+1`, `1.0`. The first label other than 1 tells the pair; where there is none, as in a file of one
//! class, 1 is read as +1, as two of the three pairs have it. Labels that are read as
//! [numbers](Labels::Numbers), the names of classes or real targets, are kept as they are.
//!
//! **Lines** end in LF or CRLF; blank lines and comments from `#` on are skipped, and so is a byte order mark
//! before the first.

mod labels;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use super::{Dataset, SparseRows};
use crate::error::shown;
use crate::{Error, Result, input};

pub use labels::Labels;
use labels::ReadLabels;

/// Longest line that is read: room for millions of cells, but a file that is no text cannot exhaust the
/// memory.
const LONGEST_LINE: u64 = 64 << 20;

/// What a line must be, for messages.
const LINE_FORMAT: &str = "each line must be a label and `index:value` cells, such as `+1 3:0.5`";

/// Reads a file with labels of two signs; see [`parse`].
pub fn read(path: &Path, features: Option<usize>) -> Result<Dataset> {
    read_as(Labels::Signs, path, features)
}

/// Reads a file; see [`parse`].
pub fn read_as(labels: Labels, path: &Path, features: Option<usize>) -> Result<Dataset> {
    let file = input::open(path, "a file in LIBSVM's format")?;
    parse_as(labels, BufReader::new(file), path, features)
}

/// Reads rows line by line; `path` only serves to name the source in errors.
///
/// `features` is the number of features, d. Give it where you know it: without it d is the largest index
/// found, and a file that happens to lack the last feature (a9a's test rows do) no longer fits a model of the
/// others. Given, it also catches a wrong index.
///
/// ```
/// use std::path::Path;
/// let data = oneway::data::libsvm::parse(&b"+1 2:0.5 4:1\n-1 1:3\n"[..], Path::new("text"), Some(5))?;
/// assert_eq!((data.features, &data.labels[..]), (5, &[1.0, -1.0][..]));
/// assert_eq!(data.rows.row(0).collect::<Vec<_>>(), [(1, 0.5), (3, 1.0)]); // columns count from 0
/// # Ok::<(), oneway::Error>(())
/// ```
///
/// # Errors
/// A line that cannot be read gives [`Error::Parse`] with its place; no rows at all, or no features,
/// [`Error::File`]; `features` of 0, [`Error::Parameter`]; a source that fails, [`Error::Io`].
pub fn parse(reader: impl BufRead, path: &Path, features: Option<usize>) -> Result<Dataset> {
    parse_as(Labels::Signs, reader, path, features)
}

/// The same with labels of any kind.
///
/// ```
/// use oneway::data::libsvm::{Labels, parse_as};
/// use std::path::Path;
/// let data = parse_as(Labels::Numbers, &b"7 1:1\n-2.5 2:1\n"[..], Path::new("text"), None)?;
/// assert_eq!(data.labels, [7.0, -2.5]);
/// # Ok::<(), oneway::Error>(())
/// ```
///
/// # Errors
/// As [`parse`].
pub fn parse_as(
    labels: Labels,
    mut reader: impl BufRead,
    path: &Path,
    features: Option<usize>,
) -> Result<Dataset> {
    if features == Some(0) {
        return Err(Error::parameter(path.display().to_string(), "features", 0, "give at least 1"));
    }
    let mut labels = ReadLabels::new(labels);
    let mut rows = SparseRows::new();
    let mut largest = 0;
    let mut line = Vec::new();
    let mut row = Vec::new();
    for number in 1.. {
        line.clear();
        let read = reader.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line);
        if read.map_err(|source| Error::Io { path: path.to_owned(), source })? == 0 {
            break;
        }
        if number == 1 && line.starts_with(input::MARK.as_bytes()) {
            line.drain(..input::MARK.len());
        }
        if let Some(what) = input::foreign(&line).filter(|_| number == 1) {
            let message = format!("{what}; LIBSVM's format is expected, {LINE_FORMAT}");
            return Err(Error::File { path: path.to_owned(), message });
        }
        let located = |fault: Fault| Error::Parse {
            path: path.to_owned(),
            line: number,
            column: String::from_utf8_lossy(&line[..fault.at]).chars().count() + 1,
            message: fault.message,
        };
        let text = text_of(&line).map_err(located)?;
        let mut cells = cells(text);
        let Some((at, label)) = cells.next() else { continue };
        let labelled = labels.push(label, number).map_err(|message| Fault { at, message });
        let last = labelled.and_then(|()| read_row(cells, features, &mut row));
        let last = last.map_err(|fault| located(fault.unless_table(text)))?;
        largest = largest.max(last);
        if !rows.has_room(row.len()) {
            let message = "there are more than 2³² − 1 cells up to here: give a part of the data".to_owned();
            return Err(located(Fault { at: 0, message }));
        }
        rows.push(row.drain(..));
    }
    let unusable = |message: &str| Error::File { path: path.to_owned(), message: message.to_owned() };
    if rows.is_empty() {
        return Err(unusable(&format!("has no rows: {LINE_FORMAT}")));
    }
    match features.unwrap_or(largest as usize) {
        0 => Err(unusable("has no features in any row, so their number is unknown: give `features`")),
        features => Ok(Dataset { features, labels: labels.finish(), rows }),
    }
}

/// Writes a dataset as LIBSVM's own files have it: label, blank, `index:value` and a blank for each stored
/// entry. Where all labels are ±1 they are written as `+1` and `-1`, and otherwise as numbers. Numbers have
/// the fewest digits that read back to the same one, so [`parse`], or [`parse_as`] with [`Labels::Numbers`],
/// gives the dataset again with the same `features` (except for stored zeros, which it drops).
///
/// Lines are written one by one: give a [`BufWriter`](io::BufWriter) for a file.
pub fn write(dataset: &Dataset, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    // where all values are 1 a cell is one of a few texts
    const FEW: usize = 1 << 16;
    let binary = dataset.rows.is_binary() && dataset.features <= FEW;
    let texts: Vec<String> =
        (1..=if binary { dataset.features } else { 0 }).map(|index| format!("{index}:1 ")).collect();
    let signs = dataset.labels.iter().all(|label| label.abs() == 1.0);
    for (r, &label) in dataset.labels.iter().enumerate() {
        match signs {
            true => out.write_all(if label > 0.0 { b"+1 " } else { b"-1 " })?,
            false => write_number(label, out)?,
        }
        for (column, value) in dataset.rows.row(r) {
            if let Some(text) = texts.get(column as usize) {
                out.write_all(text.as_bytes())?;
                continue;
            }
            write!(out, "{}:", u64::from(column) + 1)?;
            write_number(value, out)?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// A number and a blank. `{}` never uses an exponent: 1e300 would take 301 digits.
fn write_number(value: f64, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    match value.abs() {
        0.0 | 1e-5..1e16 => write!(out, "{value} "),
        _ => write!(out, "{value:e} "),
    }
}

/// What is wrong at a byte of a line.
struct Fault {
    at: usize,
    message: String,
}

impl Fault {
    /// The fault of a line that cannot be read; a line with commas and without `index:value` cells is a
    /// table's.
    fn unless_table(self, text: &str) -> Self {
        match (text.find(','), text.contains(':')) {
            (Some(at), false) => {
                let message = format!("there are commas: CSV cannot be read, {LINE_FORMAT}");
                Fault { at, message }
            }
            _ => self,
        }
    }
}

/// The line as text, without its comment.
fn text_of(line: &[u8]) -> std::result::Result<&str, Fault> {
    if line.len() as u64 > LONGEST_LINE {
        let message = format!("the line is longer than {} MiB: this is no LIBSVM file", LONGEST_LINE >> 20);
        return Err(Fault { at: 0, message });
    }
    let text = str::from_utf8(line).map_err(|error| {
        let message = "not text in UTF-8: give a LIBSVM file that is not compressed".to_owned();
        Fault { at: error.valid_up_to(), message }
    })?;
    Ok(text.split_once('#').map_or(text, |(before, _)| before))
}

/// The cells of a line with the bytes where they begin.
fn cells(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    let pieces = text.split(|c: char| c.is_ascii_whitespace()).map(move |piece| {
        let at = next;
        next += piece.len() + 1; // every separator is one byte
        (at, piece)
    });
    pieces.filter(|(_, piece)| !piece.is_empty())
}

/// Reads the cells after the label into `row`, and returns the last index (0 if there are none).
fn read_row<'a>(
    cells: impl Iterator<Item = (usize, &'a str)>,
    features: Option<usize>,
    row: &mut Vec<(u32, f64)>,
) -> std::result::Result<u32, Fault> {
    let mut last = 0;
    for (at, cell) in cells {
        let Some((index, value)) = cell.split_once(':') else {
            let message = format!("`{}` is not `index:value`, such as `3:0.5`", shown(cell));
            return Err(Fault { at, message });
        };
        let value_at = at + index.len() + 1;
        let index = read_index(index, last, features).map_err(|message| Fault { at, message })?;
        let value = read_value(value).map_err(|message| Fault { at: value_at, message })?;
        if value != 0.0 {
            row.push((index - 1, value));
        }
        last = index;
    }
    Ok(last)
}

fn read_index(index: &str, last: u32, features: Option<usize>) -> std::result::Result<u32, String> {
    if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("`{}` is not a feature index: give a whole number from 1", shown(index)));
    }
    let beyond = |features| {
        format!("index {} is beyond the {features} features: correct it, or `features`", shown(index))
    };
    match (index.parse::<u32>(), features) {
        (Ok(0), _) => Err("index 0 is not possible: features count from 1".to_owned()),
        (Ok(i), _) if i == last => Err(format!("index {i} is repeated: give each feature once in a row")),
        (Ok(i), _) if i < last => Err(format!("index {i} comes after {last}: indices must ascend")),
        (Ok(i), Some(features)) if i as usize > features => Err(beyond(features)),
        (Ok(i), _) => Ok(i),
        // Digits only, so too large for 32 bits, which hold any number of features worth having.
        (Err(_), Some(features)) => Err(beyond(features)),
        (Err(_), None) => {
            Err(format!("index {} is too large: the largest possible is {}", shown(index), u32::MAX))
        }
    }
}

fn read_value(value: &str) -> std::result::Result<f64, String> {
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err(format!("the value `{}` is not finite: give a number of at most 1.7e308", shown(value))),
        Err(_) if value.contains(',') => Err(format!(
            "the value `{}` has a comma: cells have blanks between them, and decimals a point",
            shown(value)
        )),
        Err(_) => Err(format!("the value `{}` is not a number, such as `1` or `-2.5e3`", shown(value))),
    }
}

#[cfg(test)]
mod tests;
