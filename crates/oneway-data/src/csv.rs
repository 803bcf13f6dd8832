//! Tables of text: CSV and its kin.
//!
//! Cells are separated by `,`, `;`, a tab or `|`, or by blanks, of which several count as one. Cells may be in
//! double quotes, a double quote inside them written twice. Blank lines and lines that begin with `#` are
//! skipped. A first line in which no cell is a number is a header.

use std::io::BufRead;
use std::path::Path;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use oneway::error::shown;
use oneway::{Error, Result, input};

use crate::layout::{Columns, Layout, Role};
use crate::rows::Gatherer;
use crate::source::Source;
use crate::{Expected, Loaded};

/// The most columns, and the most bytes of a record.
const MOST_COLUMNS: usize = 1 << 20;
const LONGEST: usize = 64 << 20;

/// What separates cells, unless it is given: the first of these that the first line has most of.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The first line that says something, without comments.
fn first_line(begin: &[u8]) -> &[u8] {
    let begin = begin.strip_prefix(input::MARK.as_bytes()).unwrap_or(begin);
    let mut lines = begin.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    lines.find(|line| !line.trim_ascii().is_empty() && line[0] != b'#').unwrap_or_default()
}

/// Whether a file is a table: its keys say so, or its first line has separators and no `index:value`.
pub(crate) fn is_table(path: &Path, begin: &[u8], layout: &Layout) -> bool {
    if layout.label.is_some()
        || layout.header.is_some()
        || layout.separator.is_some()
        || !layout.drop.is_empty()
    {
        return input::foreign(begin).is_none();
    }
    let line = first_line(begin);
    let has_colon = line.contains(&b':');
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let called = [".csv", ".tsv"].iter().any(|end| name.ends_with(end) || name.contains(&format!("{end}.")));
    let cells = || line.split(u8::is_ascii_whitespace).filter(|cell| !cell.is_empty());
    let is_number = |cell: &[u8]| str::from_utf8(cell).is_ok_and(|cell| cell.parse::<f64>().is_ok());
    let is_libsvm = cells().next().is_some_and(is_number)
        && cells()
            .nth(1)
            .is_none_or(|cell| cell.first().is_some_and(u8::is_ascii_digit) && cell.contains(&b':'));
    let separated = line.iter().any(|byte| SEPARATORS.contains(byte));
    separated && input::foreign(begin).is_none() && (!has_colon || (called && !is_libsvm))
}

/// What separates the cells of a line.
fn separator_of(line: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [0_usize; SEPARATORS.len()];
    for byte in line {
        quoted ^= *byte == b'"';
        if let Some(i) = SEPARATORS.iter().position(|separator| !quoted && separator == byte) {
            counts[i] += 1;
        }
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    match counts.iter().position(|count| most > 0 && *count == most) {
        Some(i) => SEPARATORS[i],
        None => b' ',
    }
}

/// The records of a table, one at a time, in memory that is used again.
struct Records<'a, 'b> {
    source: &'a mut Source<'b>,
    core: Reader,
    separator: u8,
    text: Vec<u8>,
    ends: Vec<usize>,
    /// Lines that have been read to their ends, and the line in which the record begins.
    lines: usize,
    line: usize,
}

impl Records<'_, '_> {
    /// Passes over blank lines and comments.
    fn skip(&mut self) -> std::io::Result<()> {
        let mut comment = false;
        loop {
            match self.source.fill_buf()?.first() {
                Some(b'\n') => (self.lines, comment) = (self.lines + 1, false),
                Some(b'\r') => {}
                Some(b'#') => comment = true,
                Some(_) if comment => {}
                _ => return Ok(()),
            }
            self.source.consume(1);
        }
    }

    /// Where the cells of the next record are; false after the last.
    fn next(&mut self, cells: &mut Vec<(usize, usize)>) -> Result<bool> {
        let path = self.source.path;
        let io = |source| Error::Io { path: path.to_owned(), source };
        cells.clear();
        self.skip().map_err(io)?;
        self.line = self.lines + 1;
        let (mut used, mut count) = (0, 0);
        loop {
            let bytes = self.source.fill_buf().map_err(io)?;
            let (result, read, wrote, ended) =
                self.core.read_record(bytes, &mut self.text[used..], &mut self.ends[count..]);
            self.lines += bytes[..read].iter().filter(|byte| **byte == b'\n').count();
            self.source.consume(read);
            (used, count) = (used + wrote, count + ended);
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.text.len() >= LONGEST => {
                    return Err(self.wrong(1, format!("the record is longer than {} MiB", LONGEST >> 20)));
                }
                ReadRecordResult::OutputFull => self.text.resize((2 * self.text.len()).min(LONGEST), 0),
                ReadRecordResult::OutputEndsFull if self.ends.len() >= MOST_COLUMNS => {
                    return Err(self.wrong(1, format!("there are more than {MOST_COLUMNS} columns")));
                }
                ReadRecordResult::OutputEndsFull => {
                    self.ends.resize((2 * self.ends.len()).min(MOST_COLUMNS), 0);
                }
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return Ok(false),
            }
        }
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        cells.extend(begins.zip(self.ends.iter().copied()).take(count));
        if self.separator == b' ' {
            cells.retain(|(begin, end)| begin < end);
        }
        Ok(true)
    }

    /// The text of a cell.
    fn cell(&self, (begin, end): (usize, usize), column: usize) -> Result<&str> {
        match str::from_utf8(&self.text[begin..end]) {
            Ok(text) => Ok(text.trim()),
            Err(_) => Err(self.wrong(column, "it is not text in UTF-8: save the table as UTF-8".to_owned())),
        }
    }

    fn wrong(&self, column: usize, message: String) -> Error {
        Error::Parse { path: self.source.path.to_owned(), line: self.line, column, message }
    }
}

/// Reads a table.
pub(crate) fn read<'a>(source: &mut Source<'a>, layout: &Layout, expected: Expected<'a>) -> Result<Loaded> {
    let path = source.path;
    let separator =
        layout.separator.unwrap_or_else(|| separator_of(first_line(source.begin().unwrap_or_default())));
    if source.begin()?.starts_with(input::MARK.as_bytes()) {
        source.consume(input::MARK.len());
    }
    let core = ReaderBuilder::new().delimiter(separator).build();
    let mut records = Records {
        source,
        core,
        separator,
        text: vec![0; 1 << 16],
        ends: vec![0; 1 << 10],
        lines: 0,
        line: 1,
    };
    let mut cells = vec![];
    if !records.next(&mut cells)? {
        return Err(crate::wrong(path, "has no rows"));
    }
    let count = cells.len();
    let mut first = vec![];
    for (column, cell) in cells.iter().enumerate() {
        first.push(records.cell(*cell, column + 1)?.to_owned());
    }
    let begins_in = records.line;
    let has_header = layout.header.unwrap_or_else(|| {
        let mut words = first.iter().filter(|cell| !cell.is_empty()).peekable();
        words.peek().is_some() && words.all(|cell| cell.parse::<f64>().is_err())
    });
    let columns = layout.columns(path, has_header.then_some(&first[..]), count)?;
    let mut gatherer = Gatherer::new(path, columns.features(), expected)?;
    let mut more = if has_header { records.next(&mut cells)? } else { true };
    while more {
        if cells.len() != count {
            let message = format!("there are {} columns, and line {begins_in} has {count}", cells.len());
            return Err(records.wrong(cells.len().min(count) + 1, message));
        }
        let mut feature = 0;
        for (at, (place, role)) in cells.iter().zip(&columns.roles).enumerate() {
            if *role == Role::Dropped {
                continue;
            }
            let cell = records.cell(*place, at + 1)?;
            let added = match *role {
                _ if is_missing(cell) => Err(missing(cell, &columns, at)),
                Role::Label => gatherer.labels().text(cell),
                _ => {
                    feature += 1;
                    number(cell, &columns, at).and_then(|value| gatherer.value(feature - 1, value))
                }
            };
            added.map_err(|message| records.wrong(at + 1, message))?;
        }
        gatherer.end_row()?;
        more = records.next(&mut cells)?;
    }
    let separated = match separator {
        b',' => "commas".to_owned(),
        b';' => "semicolons".to_owned(),
        b'\t' => "tabs".to_owned(),
        b' ' => "blanks".to_owned(),
        other => format!("`{}`", char::from(other)),
    };
    let header = if has_header { "a header" } else { "no header" };
    gatherer
        .finish(format!("CSV with {separated} and {header}; the label is {}", columns.called(columns.label)))
}

/// What people write where a value is missing.
fn is_missing(cell: &str) -> bool {
    cell.is_empty()
        || ["na", "n/a", "nan", "null", "none", "?"].iter().any(|mark| cell.eq_ignore_ascii_case(mark))
}

fn missing(cell: &str, columns: &Columns, at: usize) -> String {
    let what = if cell.is_empty() { "is empty".to_owned() } else { format!("has `{}`", shown(cell)) };
    format!(
        "{} {what}: a value is missing; fill it in, or leave out the row or (with `drop`) the column",
        columns.called(at)
    )
}

fn number(cell: &str, columns: &Columns, at: usize) -> std::result::Result<f64, String> {
    match cell.parse::<f64>() {
        Ok(value) => Ok(value),
        Err(_) if cell.contains(',') => Err(format!(
            "{} has `{}`: numbers have a decimal point, and no commas",
            columns.called(at),
            shown(cell)
        )),
        Err(_) => Err(format!(
            "{} has `{}`, which is not a number: make numbers of words first, leave the column out with `drop`, \
             or say with `label` if it is the label",
            columns.called(at),
            shown(cell)
        )),
    }
}
