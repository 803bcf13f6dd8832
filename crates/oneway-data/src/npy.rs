//! NumPy's NPY format: a header in Python's syntax, then the numbers of one array.
//!
//! ```text
//! \x93NUMPY  version (2 bytes)  length of the header (2 bytes, or 4)
//! {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//! ```
//!
//! The header is not believed: memory is taken as bytes arrive, and what is more or less than it says is
//! refused.

use std::io::Read;
use std::path::Path;

use oneway::error::shown;
use oneway::{Error, Result};

use crate::rows::Gatherer;
use crate::source::Source;
use crate::{Expected, Layout, Loaded, wrong};

pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// No header of an array of numbers is longer.
const LONGEST_HEADER: usize = 1 << 16;
/// The most axes: NumPy's own limit.
const MOST_AXES: usize = 64;

/// What one number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
}

/// An array whose numbers are still to be read.
#[derive(Debug)]
pub(crate) struct Array<'a, R> {
    path: &'a Path,
    /// What messages call it.
    name: String,
    kind: Kind,
    /// Bytes of a number.
    size: usize,
    big_endian: bool,
    fortran: bool,
    pub(crate) shape: Vec<u64>,
    bytes: R,
}

impl<'a, R: Read> Array<'a, R> {
    /// Reads the header.
    pub(crate) fn new(path: &'a Path, name: String, mut bytes: R) -> Result<Self> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let fail = |message: &str| wrong(path, format!("{name}{message}"));
        let mut fixed = [0; 8];
        bytes.read_exact(&mut fixed).map_err(|_| fail("ends within its header: it is cut off"))?;
        if !fixed.starts_with(MAGIC) {
            return Err(fail("is no NPY file"));
        }
        let mut length = vec![0; if fixed[6] == 1 { 2 } else { 4 }];
        bytes.read_exact(&mut length).map_err(|_| fail("ends within its header: it is cut off"))?;
        let length = length.iter().rev().fold(0_usize, |all, byte| (all << 8) | usize::from(*byte));
        if !(1..=3).contains(&fixed[6]) || length > LONGEST_HEADER {
            return Err(fail(&format!(
                "has a header of version {} and {length} bytes: versions 1 to 3 with at most {LONGEST_HEADER} bytes \
                 can be read",
                fixed[6]
            )));
        }
        let mut header = vec![];
        (&mut bytes).take(length as u64).read_to_end(&mut header).map_err(io)?;
        let header = String::from_utf8_lossy(&header).into_owned();
        let parsed = Header::parse(&header)
            .ok_or_else(|| fail(&format!("has a header that cannot be read: `{}`", shown(&header))))?;
        let Some((kind, size, big_endian)) = number_type(&parsed.descr) else {
            return Err(fail(&format!(
                "has numbers of type `{}`: save it as float64, float32, integers or booleans, without Python objects",
                shown(&parsed.descr)
            )));
        };
        Ok(Self { path, name, kind, size, big_endian, fortran: parsed.fortran, shape: parsed.shape, bytes })
    }

    /// Rows, and numbers in a row: all axes but the first are one.
    pub(crate) fn sides(&self) -> Result<(usize, usize)> {
        let columns = self.shape.iter().skip(1).try_fold(1_u64, |all, side| all.checked_mul(*side));
        let rows = self.shape.first().copied();
        let sides = rows.zip(columns).and_then(|(rows, columns)| {
            let bytes = rows.checked_mul(columns)?.checked_mul(self.size as u64)?;
            let fits = rows > 0 && columns > 0 && bytes <= 1 << 46;
            fits.then_some((usize::try_from(rows).ok()?, usize::try_from(columns).ok()?))
        });
        sides.ok_or_else(|| {
            let shape: Vec<String> = self.shape.iter().map(u64::to_string).collect();
            self.wrong(format!(
                "has the shape ({}): it must have a row or more, of possible size",
                shape.join(", ")
            ))
        })
    }

    /// Calls `each` with every row. Arrays in Fortran's order are read whole first.
    pub(crate) fn rows(
        mut self,
        mut each: impl FnMut(usize, &[f64]) -> std::result::Result<(), String>,
    ) -> Result<()> {
        let (rows, columns) = self.sides()?;
        let by_column = self.fortran && self.shape.len() > 1;
        if by_column && self.shape.len() > 2 {
            return Err(
                self.wrong("has more than two axes in Fortran's order: save it in C order".to_owned())
            );
        }
        let (lines, length) = if by_column { (1, rows * columns) } else { (rows, columns) };
        let (mut raw, mut numbers, mut row) = (vec![], vec![], vec![]);
        for line in 0..lines {
            raw.clear();
            let wanted = length * self.size;
            let read = (&mut self.bytes).take(wanted as u64).read_to_end(&mut raw);
            read.map_err(|source| Error::Io { path: self.path.to_owned(), source })?;
            if raw.len() < wanted {
                return Err(self.wrong(format!("ends after {line} of {rows} rows: it is cut off")));
            }
            numbers.clear();
            for bytes in raw.chunks_exact(self.size) {
                numbers.push(self.number(bytes)?);
            }
            if !by_column {
                each(line, &numbers).map_err(|message| self.wrong(format!("row {}: {message}", line + 1)))?;
            }
        }
        for r in 0..if by_column { rows } else { 0 } {
            row.clear();
            row.extend(numbers.iter().skip(r).step_by(rows));
            each(r, &row).map_err(|message| self.wrong(format!("row {}: {message}", r + 1)))?;
        }
        let mut beyond = [0];
        match self.bytes.read(&mut beyond) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.wrong("goes on after the last number that its header announces".to_owned())),
            Err(source) => Err(Error::Io { path: self.path.to_owned(), source }),
        }
    }

    fn number(&self, bytes: &[u8]) -> Result<f64> {
        let mut little = [0; 8];
        for (place, byte) in little.iter_mut().zip(bytes) {
            *place = *byte;
        }
        if self.big_endian {
            little[..self.size].reverse();
        }
        let word = u64::from_le_bytes(little);
        let above = 64 - 8 * self.size as u32;
        let exact = |value: f64, same: bool| match same {
            true => Ok(value),
            false => {
                Err(self.wrong(format!("has a whole number beyond 2⁵³, near {value:e}, which no float64 is")))
            }
        };
        match self.kind {
            Kind::Bool => Ok(f64::from(u8::from(word != 0))),
            Kind::Float if self.size == 4 => Ok(f64::from(f32::from_bits(word as u32))),
            Kind::Float => Ok(f64::from_bits(word)),
            Kind::Unsigned => exact(word as f64, (word as f64) as u128 == u128::from(word)),
            Kind::Signed => {
                let value = ((word << above) as i64) >> above;
                exact(value as f64, (value as f64) as i128 == i128::from(value))
            }
        }
    }

    fn wrong(&self, message: String) -> Error {
        wrong(self.path, format!("{}{message}", self.name))
    }
}

/// What the header says.
struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<u64>,
}

impl Header {
    fn parse(text: &str) -> Option<Self> {
        let after = |key: &str| {
            let rest = text.split_once(&format!("'{key}'"))?.1.trim_start();
            Some(rest.strip_prefix(':')?.trim_start())
        };
        let descr = after("descr")?.strip_prefix('\'')?.split_once('\'')?.0.to_owned();
        let fortran = match after("fortran_order")? {
            value if value.starts_with("False") => false,
            value if value.starts_with("True") => true,
            _ => return None,
        };
        let sides = after("shape")?.strip_prefix('(')?.split_once(')')?.0;
        let sides = sides.split(',').map(str::trim).filter(|side| !side.is_empty());
        let shape: Vec<u64> = sides.map(|side| side.parse().ok()).collect::<Option<_>>()?;
        (shape.len() <= MOST_AXES).then_some(Self { descr, fortran, shape })
    }
}

/// Kind, size and order of bytes by NumPy's name of a type: `<f8`.
fn number_type(descr: &str) -> Option<(Kind, usize, bool)> {
    let (order, rest) = (descr.chars().next()?, descr.get(1..)?);
    let (kind, sizes) = match rest.chars().next()? {
        'b' => (Kind::Bool, &[1][..]),
        'i' => (Kind::Signed, &[1, 2, 4, 8][..]),
        'u' => (Kind::Unsigned, &[1, 2, 4, 8][..]),
        'f' => (Kind::Float, &[4, 8][..]),
        _ => return None,
    };
    let size = rest.get(1..)?.parse().ok().filter(|size| sizes.contains(size))?;
    match order {
        '<' | '|' => Some((kind, size, false)),
        '>' => Some((kind, size, true)),
        _ => None,
    }
}

/// Reads one array with a column of labels.
pub(crate) fn read<'a>(source: &mut Source<'a>, layout: &Layout, expected: Expected<'a>) -> Result<Loaded> {
    let path = source.path;
    let array = Array::new(path, String::new(), source)?;
    if array.shape.len() != 2 {
        return Err(wrong(
            path,
            format!(
                "is an array with {} axes: rows and columns are expected, one of which is the label; give arrays of \
             features and of labels as one NPZ file",
                array.shape.len()
            ),
        ));
    }
    let (_, count) = array.sides()?;
    if count > 1 << 28 {
        return Err(wrong(path, format!("claims to have {count} columns: at most 2²⁸ can be read")));
    }
    let columns = layout.columns(path, None, count)?;
    let mut gatherer = Gatherer::new(path, columns.features(), expected)?;
    array.rows(|_, row| {
        gatherer.numbers(&columns, row)?;
        gatherer.end_row().map_err(|error| error.to_string())
    })?;
    gatherer.finish(format!("NPY; the label is {}", columns.called(columns.label)))
}
