//! Files that people have, as labelled rows: what stands between a file on disk and
//! [`oneway::data::Dataset`].
//!
//! [`read`] looks at a file's first bytes, not at its name:
//!
//! | file | rows | label |
//! |---|---|---|
//! | LIBSVM text | sparse | first cell of a line |
//! | table of text: CSV and its kin | one a line | a column, by name or number |
//! | NPY | first axis of an array | a column, by number |
//! | NPZ | first axis of one array | another array |
//! | Parquet, with the feature `parquet` | one a record | a column, by name or number |
//!
//! All but NPZ may be compressed by gzip, bzip2 or zstd. What a small file may become is bounded:
//! [`most_bytes`] says by what.
//!
//! Then rows are prepared: [`classes`] picks and merges labels, [`hold_out`] keeps rows for testing,
//! [`scaling`] brings features to one size.

pub mod classes;
mod csv;
mod hold_out;
mod labels;
mod layout;
mod npy;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
mod rows;
pub mod scaling;
mod source;
mod zip;

use std::path::Path;

use oneway::data::libsvm::{self, Labels};
use oneway::data::{Dataset, Split};
use oneway::{Error, Result};

pub use hold_out::hold_out;
pub use labels::LabelKind;
pub use layout::{Column, Layout};
pub use source::most_bytes;

use source::Source;

/// A fingerprint of this crate's sources: results that other code made are told apart by it.
pub const CODE: &str = env!("ONEWAY_DATA_CODE");

/// What a reader knows of a file beforehand.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// What its labels are.
    pub labels: LabelKind,
    /// How many features it has, if that is known.
    pub features: Option<usize>,
    /// Which rows are asked for, of a file that has both.
    pub split: Split,
    /// The words that stand for labels, if other rows have them already: word i is label i.
    pub words: Option<&'a [String]>,
}

/// Rows from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The rows.
    pub data: Dataset,
    /// The words of its labels, if they are words: word i is label i, and of two signs the second is +1.
    pub words: Option<Vec<String>>,
    /// What the file is: `CSV with commas and a header`.
    pub format: String,
}

/// Reads a file of any format.
///
/// ```
/// use oneway::data::Split;
/// use oneway_data::{Expected, LabelKind, Layout};
/// let path = std::env::temp_dir().join(format!("oneway-data-{}.csv", std::process::id()));
/// std::fs::write(&path, "age,income,label\n31,2.5,yes\n44,0,no\n")?;
/// let expected = Expected { labels: LabelKind::Classes, features: None, split: Split::Train, words: None };
/// let read = oneway_data::read(&path, &Layout::default(), expected)?;
/// assert_eq!((read.data.features, read.data.labels), (2, vec![1.0, 0.0]));
/// assert_eq!(read.words.unwrap(), ["no", "yes"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// With the file, and of text with the line and column: what is wrong, and what would be right.
pub fn read(path: &Path, layout: &Layout, expected: Expected<'_>) -> Result<Loaded> {
    let mut source = Source::open(path)?;
    let begin = source.begin()?.to_vec();
    let packed = source.packed();
    let mut loaded = match () {
        () if begin.starts_with(npy::MAGIC) => {
            layout.refuse(path, "an NPY file", &["header", "separator", "array"])?;
            npy::read(&mut source, layout, expected)
        }
        () if begin.starts_with(zip::MAGIC) && packed.is_none() => {
            layout.refuse(path, "an NPZ file", &["header", "separator", "drop"])?;
            npz::read(source, layout, expected)
        }
        () if begin.starts_with(b"PAR1") && packed.is_none() => {
            layout.refuse(path, "a Parquet file", &["header", "separator", "array"])?;
            read_parquet(source, layout, expected)
        }
        () if csv::is_table(path, &begin, layout) => {
            layout.refuse(path, "a table of text", &["array"])?;
            csv::read(&mut source, layout, expected)
        }
        () => {
            layout.refuse(path, "a LIBSVM file", &["label", "header", "separator", "drop", "array"])?;
            let labels = match expected.labels {
                LabelKind::Signs => Labels::Signs,
                LabelKind::Classes | LabelKind::Targets => Labels::Numbers,
            };
            let data = libsvm::parse_as(labels, &mut source, path, expected.features)?;
            Ok(Loaded { data, words: None, format: "LIBSVM".to_owned() })
        }
    }?;
    if let Some(packed) = packed {
        loaded.format += &format!(", compressed by {packed}");
    }
    Ok(loaded)
}

#[cfg(feature = "parquet")]
fn read_parquet(source: Source<'_>, layout: &Layout, expected: Expected<'_>) -> Result<Loaded> {
    parquet::read(source, layout, expected)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(source: Source<'_>, _: &Layout, _: Expected<'_>) -> Result<Loaded> {
    Err(source.wrong(
        "it is a Parquet file, which this program was built without: build it with `--features parquet` \
         (cargo install --path crates/oneway-lab --features parquet), or save the rows as CSV or NPZ",
    ))
}

/// The error of a file as a whole.
fn wrong(path: &Path, message: impl Into<String>) -> Error {
    Error::File { path: path.to_owned(), message: message.into() }
}
