//! Files that a user names: opened only if they are files, and recognised if they are files of another kind.

use std::fs::{File, FileType};
use std::path::Path;

use crate::{Error, Result};

/// Opens a file to be read. What is no regular file is refused with what was `expected`: a pipe without a
/// writer would be waited for without end, and a device may have none.
///
/// ```
/// let error = oneway::input::open(&std::env::temp_dir(), "an edge list").unwrap_err().to_string();
/// assert!(error.ends_with("is a directory: give an edge list"), "{error}");
/// ```
///
/// # Errors
/// [`Error::File`] for what is no regular file; [`Error::Io`] for what is not there or may not be read.
pub fn open(path: &Path, expected: &str) -> Result<File> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    let kind = std::fs::metadata(path).map_err(io)?.file_type();
    if kind.is_file() {
        return File::open(path).map_err(io);
    }
    let message = match kind.is_dir() {
        true => format!("is a directory: give {expected}"),
        false => format!("is {}, not a regular file: give {expected}", special(kind)),
    };
    Err(Error::File { path: path.to_owned(), message })
}

/// What something is that is neither a file nor a directory.
#[cfg(unix)]
fn special(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match () {
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_block_device() || kind.is_char_device() => "a device",
        () => "something else",
    }
}

#[cfg(not(unix))]
fn special(_: FileType) -> &'static str {
    "something else"
}

/// How files begin that are given by mistake for text in UTF-8, and what to do with them.
const FOREIGN: [(&[u8], &str); 13] = [
    (b"PAR1", "it is a Parquet file"),
    (b"\x1f\x8b", "it is compressed by gzip: decompress it"),
    (b"BZh", "it is compressed by bzip2: decompress it"),
    (b"\x28\xb5\x2f\xfd", "it is compressed by zstd: decompress it"),
    (b"\xfd7zXZ\0", "it is compressed by xz: decompress it"),
    (b"PK\x03\x04", "it is a ZIP archive: unpack it"),
    (b"\x93NUMPY", "it is a NumPy file"),
    (b"\x89HDF\r\n", "it is an HDF5 file"),
    (b"ARROW1", "it is an Arrow file"),
    (b"SQLite format 3", "it is an SQLite database"),
    (b"\0\0\x08", "it is an IDX file: give the folder that it is in, with all four"),
    (b"\xff\xfe", "it is text in UTF-16: save it as UTF-8"),
    (b"\xfe\xff", "it is text in UTF-16: save it as UTF-8"),
];

/// What a file is instead of text, as far as its first bytes tell.
///
/// ```
/// assert_eq!(oneway::input::foreign(b"PAR1\x15\x04"), Some("it is a Parquet file"));
/// assert_eq!(oneway::input::foreign(b"+1 3:0.5"), None);
/// ```
pub fn foreign(first: &[u8]) -> Option<&'static str> {
    FOREIGN.iter().find(|(begin, _)| first.starts_with(begin)).map(|(_, what)| *what)
}

/// The byte order mark that some editors put before text in UTF-8; it is skipped.
pub const MARK: &str = "\u{feff}";
