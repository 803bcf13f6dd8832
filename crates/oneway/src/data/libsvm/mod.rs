//! Datasets as text in LIBSVM's format: a row a line, a label and then `index:value` cells.
//!
//! ```text
//! -1 3:1 11:0.25
//! +1 5:1 7:-2e3 11:1      # a comment
//! ```
//!
//! **Indices** count from 1 and ascend within a row; features that are not given are 0. A 0 that is given is not stored,
//! but its index counts like any other.
//!
//! **Labels** that are read as [signs](Labels::Signs) are one pair in the whole file: −1 and +1, 0 and 1 (0 is read as −1),
//! or 1 and 2 (1 is read as −1, 2 as +1). Whatever number syntax gives these values will do: `1`, `+1`, `1.0`. The first label
//! other than 1 tells the pair; where there is none, as in a file of one class, 1 is read as +1, as two of the three pairs
//! have it. Labels that are read as [numbers](Labels::Numbers), the names of classes or real targets, are kept as they are.
//!
//! **Lines** end in LF or CRLF; blank lines and comments from `#` on are skipped.

mod labels;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use super::{Dataset, SparseRows};
use crate::error::shown;
use crate::{Error, Result};

pub use labels::Labels;
use labels::ReadLabels;

/// Longest line that is read: room for millions of cells, but a file that is no text cannot exhaust the memory.
const LONGEST_LINE: u64 = 64 << 20;

/// Reads a file with labels of two signs; see [`parse`].
pub fn read(path: &Path, features: Option<usize>) -> Result<Dataset> {
    read_as(Labels::Signs, path, features)
}

/// Reads a file; see [`parse`].
pub fn read_as(labels: Labels, path: &Path, features: Option<usize>) -> Result<Dataset> {
    if path.is_dir() {
        let message = "is a directory: give a file in LIBSVM's format".to_owned();
        return Err(Error::File { path: path.to_owned(), message });
    }
    let file = File::open(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    parse_as(labels, BufReader::new(file), path, features)
}

/// Reads rows line by line; `path` only serves to name the source in errors.
///
/// `features` is the number of features, d. Give it where you know it: without it d is the largest index found, and a
/// file that happens to lack the last feature (a9a's test rows do) no longer fits a model of the others. Given, it also
/// catches a wrong index.
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
/// A line that cannot be read gives [`Error::Parse`] with its place; no rows at all, or no features, [`Error::File`];
/// `features` of 0, [`Error::Parameter`]; a source that fails, [`Error::Io`].
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
        let located = |fault: Fault| Error::Parse {
            path: path.to_owned(),
            line: number,
            column: String::from_utf8_lossy(&line[..fault.at]).chars().count() + 1,
            message: fault.message,
        };
        let text = text_of(&line).map_err(located)?;
        let mut cells = cells(text);
        let Some((at, label)) = cells.next() else { continue };
        labels.push(label, number).map_err(|message| located(Fault { at, message }))?;
        let last = read_row(cells, features, &mut row).map_err(located)?;
        largest = largest.max(last);
        if !rows.has_room(row.len()) {
            let message = "there are more than 2³² − 1 cells up to here: give a part of the data".to_owned();
            return Err(located(Fault { at: 0, message }));
        }
        rows.push(row.drain(..));
    }
    let unusable = |message: &str| Error::File { path: path.to_owned(), message: message.to_owned() };
    if rows.is_empty() {
        return Err(unusable(
            "has no rows: each line must be a label and `index:value` cells, such as `+1 3:0.5`",
        ));
    }
    match features.unwrap_or(largest as usize) {
        0 => Err(unusable("has no features in any row, so their number is unknown: give `features`")),
        features => Ok(Dataset { features, labels: labels.finish(), rows }),
    }
}

/// Writes a dataset as LIBSVM's own files have it: label, blank, `index:value` and a blank for each stored entry. Where all
/// labels are ±1 they are written as `+1` and `-1`, and otherwise as numbers. Numbers have the fewest digits that read back
/// to the same one, so [`parse`], or [`parse_as`] with [`Labels::Numbers`], gives the dataset again with the same
/// `features` (except for stored zeros, which it drops).
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
        Err(_) => Err(format!("the value `{}` is not a number, such as `1` or `-2.5e3`", shown(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: impl AsRef<[u8]>, features: Option<usize>) -> Result<Dataset> {
        parse(text.as_ref(), Path::new("rows.txt"), features)
    }

    fn labels(text: &str) -> Vec<f64> {
        parsed(text, Some(1)).unwrap().labels
    }

    fn written(dataset: &Dataset) -> String {
        let mut out = Vec::new();
        write(dataset, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_pair_of_labels_is_read_as_signs() {
        assert_eq!(labels("+1\n-1\n1.0\n-1e0\n"), [1.0, -1.0, 1.0, -1.0]);
        assert_eq!(labels("1\n0\n-0\n"), [1.0, -1.0, -1.0]);
        assert_eq!(labels("1\n1\n2\n"), [-1.0, -1.0, 1.0]);
    }

    #[test]
    fn a_file_of_one_class_keeps_its_sign() {
        assert_eq!(labels("1\n+1\n"), [1.0, 1.0]);
        assert_eq!(labels("-1\n"), [-1.0]);
        assert_eq!(labels("0\n"), [-1.0]);
        assert_eq!(labels("2\n"), [1.0]);
    }

    #[test]
    fn blanks_comments_and_line_ends_do_not_matter() {
        let plain = parsed("+1 1:0.5 3:1\n-1 2:7\n", Some(3)).unwrap();
        let adorned = "# h\u{e9}ading\r\n\r\n\t +1  1:.5 3:1.0 #3:2\r\n   \n-1 2:7e0";
        assert_eq!(parsed(adorned, Some(3)).unwrap(), plain);
    }

    #[test]
    fn without_features_the_largest_index_counts_even_of_a_zero() {
        let data = parsed("+1 2:1 9:0\n-1 4:1\n", None).unwrap();
        assert_eq!((data.features, data.rows.entries()), (9, 2));
        assert!(data.rows.is_binary());
    }

    #[test]
    fn values_are_written_with_the_fewest_digits() {
        let values = [1.0, -1.0, 0.1, 1e-5, 9.9e-6, 1e15, 1e16, f64::MAX, f64::from_bits(1)];
        let mut rows = SparseRows::new();
        rows.push((0..).zip(values));
        let dataset = Dataset { features: values.len(), labels: vec![-1.0], rows };
        let text = "-1 1:1 2:-1 3:0.1 4:0.00001 5:9.9e-6 6:1000000000000000 7:1e16 8:1.7976931348623157e308 9:5e-324 \n";
        assert_eq!(written(&dataset), text);
        assert_eq!(parsed(text, Some(values.len())).unwrap(), dataset);
    }

    #[test]
    fn bad_lines_are_named_with_their_place_and_what_would_be_right() {
        let allowed = "a row begins with its label, -1 or +1 (or 0 or 1, or 1 or 2, in the whole file)";
        let long_cell = format!("1 {}", "x".repeat(99));
        let long_cell_shown = format!("1:3: `{}…` is not `index:value`, such as `3:0.5`", "x".repeat(40));
        for (text, expected) in [
            ("1 2:1 7\n", "1:7: `7` is not `index:value`, such as `3:0.5`"),
            (&long_cell, &long_cell_shown),
            ("1 :1\n", "1:3: `` is not a feature index: give a whole number from 1"),
            ("1 -2:1\n", "1:3: `-2` is not a feature index: give a whole number from 1"),
            ("1 qid:1\n", "1:3: `qid` is not a feature index: give a whole number from 1"),
            ("1 é:1 3:1\n", "1:3: `é` is not a feature index: give a whole number from 1"),
            ("1 1:1\n\n1 0:1\n", "3:3: index 0 is not possible: features count from 1"),
            ("1 1:1 3:1 2:1\n", "1:11: index 2 comes after 3: indices must ascend"),
            ("1 3:1\t3:1\n", "1:7: index 3 is repeated: give each feature once in a row"),
            ("1 3:0 3:1\n", "1:7: index 3 is repeated: give each feature once in a row"),
            ("1 9:1 10:1\n", "1:7: index 10 is beyond the 9 features: correct it, or `features`"),
            ("1 4294967296:1\n", "1:3: index 4294967296 is beyond the 9 features: correct it, or `features`"),
            ("1 1:\n", "1:5: the value `` is not a number, such as `1` or `-2.5e3`"),
            ("1 é\n", "1:3: `é` is not `index:value`, such as `3:0.5`"),
            ("1 1:é:2\n", "1:5: the value `é:2` is not a number, such as `1` or `-2.5e3`"),
            ("1 1:nan\n", "1:5: the value `nan` is not finite: give a number of at most 1.7e308"),
            ("1 1:-inf\n", "1:5: the value `-inf` is not finite: give a number of at most 1.7e308"),
            ("1 1:1e999\n", "1:5: the value `1e999` is not finite: give a number of at most 1.7e308"),
            (" 3 1:1\n", &format!("1:2: `3` is not a label: {allowed}")),
            ("1:1 2:1\n", &format!("1:1: `1:1` is not a label: {allowed}")),
            ("nan\n", &format!("1:1: `nan` is not a label: {allowed}")),
            ("\u{1b}[2J\n", &format!("1:1: `\\u{{1b}}[2J` is not a label: {allowed}")),
            ("1\n-1\n1\n0\n", &format!("4:1: label 0 does not go with label -1 on line 2: {allowed}")),
            ("2\n-1\n", &format!("2:1: label -1 does not go with label 2 on line 1: {allowed}")),
        ] {
            let error = parsed(text, Some(9)).unwrap_err();
            assert!(matches!(error, Error::Parse { .. }));
            assert_eq!(error.to_string(), format!("rows.txt:{expected}"), "for {text:?}");
        }
    }

    #[test]
    fn an_index_too_large_for_any_number_of_features_is_refused() {
        let message = "rows.txt:1:3: index 4294967296 is too large: the largest possible is 4294967295";
        assert_eq!(parsed("1 4294967296:1\n", None).unwrap_err().to_string(), message);
        assert_eq!(parsed("1 4294967295:1\n", None).unwrap().features, 4_294_967_295);
    }

    #[test]
    fn bytes_that_are_no_text_are_named_with_their_place() {
        let message = "rows.txt:2:5: not text in UTF-8: give a LIBSVM file that is not compressed";
        assert_eq!(parsed(b"1 1:1\n1 #\xc3\xa9\xff\n", None).unwrap_err().to_string(), message);
    }

    #[test]
    fn a_line_without_end_does_not_fill_the_memory() {
        let endless = BufReader::new(io::repeat(b'1'));
        let error = parse(endless, Path::new("zeros"), None).unwrap_err();
        assert_eq!(error.to_string(), "zeros:1:1: the line is longer than 64 MiB: this is no LIBSVM file");
    }

    #[test]
    fn files_without_rows_or_features_are_refused() {
        for empty in ["", "\n\r\n", "# only a comment"] {
            let error = parsed(empty, Some(9)).unwrap_err();
            assert!(matches!(error, Error::File { .. }));
            assert!(error.to_string().starts_with("rows.txt: has no rows: each line must be"), "{error}");
        }
        let error = parsed("1\n-1\n", None).unwrap_err();
        assert!(
            matches!(error, Error::File { .. }) && error.to_string().ends_with("give `features`"),
            "{error}"
        );
        let error = parsed("1\n", Some(0)).unwrap_err();
        assert_eq!(error.to_string(), "rows.txt: `features` = 0 is not possible: give at least 1");
    }
}
