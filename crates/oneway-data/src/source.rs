//! A file's bytes, decompressed: what compresses is found by its first bytes, and what it may become is
//! bounded.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use oneway::{Error, Result, input};
use ruzstd::decoding::FrameDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

/// How many times its size a compressed file may become, unless that is little.
const MOST_TIMES: u64 = 250;
/// What any compressed file may become, and what none may.
const LITTLE: u64 = 64 << 20;
const MOST: u64 = 16 << 30;
/// What begins a file; enough to tell what it is, and to hold the first line of most tables.
const BEGIN: usize = 64 << 10;

/// The most bytes that a compressed file of this size may become: 250 times its size, but at least 64 MiB and
/// at most 16 GiB. More is refused: a few kilobytes can claim to be terabytes.
pub fn most_bytes(compressed: u64) -> u64 {
    compressed.saturating_mul(MOST_TIMES).clamp(LITTLE, MOST)
}

/// A file that is open, and that is read through what decompresses it.
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    bytes: BufReader<Box<dyn Read>>,
    begin: Vec<u8>,
    /// How much of `begin` has been read.
    at: usize,
    packed: Option<&'static str>,
}

impl<'a> Source<'a> {
    pub(crate) fn open(path: &'a Path) -> Result<Self> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let file = input::open(path, "a file with rows of data")?;
        let most = most_bytes(file.metadata().map_err(io)?.len());
        let mut file = BufReader::new(file);
        let first = file.fill_buf().map_err(io)?;
        let packed = [(&b"\x1f\x8b"[..], "gzip"), (b"BZh", "bzip2"), (b"\x28\xb5\x2f\xfd", "zstd")];
        let packed = packed.into_iter().find(|(begin, _)| first.starts_with(begin)).map(|(_, name)| name);
        let unpacked: Box<dyn Read> = match packed {
            Some("gzip") => Box::new(MultiGzDecoder::new(file)),
            Some("bzip2") => Box::new(MultiBzDecoder::new(file)),
            Some(_) => Box::new(Zstd::new(file)),
            None => Box::new(file),
        };
        let bytes: Box<dyn Read> = match packed {
            Some(name) => Box::new(Bounded { inner: unpacked, name, left: most, most }),
            None => unpacked,
        };
        Ok(Self { path, bytes: BufReader::with_capacity(BEGIN, bytes), begin: vec![], at: 0, packed })
    }

    /// The first bytes, which stay to be read.
    pub(crate) fn begin(&mut self) -> Result<&[u8]> {
        if self.begin.is_empty() {
            let read = (&mut self.bytes).take(BEGIN as u64).read_to_end(&mut self.begin);
            read.map_err(|source| Error::Io { path: self.path.to_owned(), source })?;
        }
        Ok(&self.begin)
    }

    /// What compresses it.
    pub(crate) fn packed(&self) -> Option<&'static str> {
        self.packed
    }

    /// The file itself, from its beginning, for formats that are not read from first to last.
    pub(crate) fn file(&self) -> Result<File> {
        input::open(self.path, "a file with rows of data")
    }

    pub(crate) fn wrong(&self, message: impl Into<String>) -> Error {
        crate::wrong(self.path, message)
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.at < self.begin.len() {
            true => Ok(&self.begin[self.at..]),
            false => self.bytes.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        match self.at < self.begin.len() {
            true => self.at += amount,
            false => self.bytes.consume(amount),
        }
    }
}

/// What is decompressed, up to a bound.
pub(crate) struct Bounded<R> {
    pub(crate) inner: R,
    pub(crate) name: &'static str,
    pub(crate) left: u64,
    pub(crate) most: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer).map_err(|error| {
            let message = format!("{} cannot decompress it ({error}): it is cut off or damaged", self.name);
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        match self.left.checked_sub(read as u64) {
            Some(left) => {
                self.left = left;
                Ok(read)
            }
            None => {
                let message = format!(
                    "it becomes more than {} bytes when decompressed, which is refused: a compressed file may \
                     become {MOST_TIMES} times its size (at least {} MiB, at most {} GiB); decompress it by \
                     hand if it is meant to",
                    self.most,
                    LITTLE >> 20,
                    MOST >> 30
                );
                Err(io::Error::new(io::ErrorKind::InvalidData, message))
            }
        }
    }
}

/// The frames of a zstd file, one after another, with their checksums compared.
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    inside: bool,
}

impl<R: BufRead> Zstd<R> {
    fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), inside: false }
    }

    /// Begins the next frame, if there is one.
    fn next(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped = io::copy(&mut (&mut self.source).take(length.into()), &mut io::sink())?;
                    if skipped < u64::from(length) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error.to_string())),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use ruzstd::decoding::BlockDecodingStrategy::UptoBytes;
        while !buffer.is_empty() {
            if !self.inside && !self.next()? {
                break;
            }
            self.inside = true;
            if self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let decoded = self.decoder.decode_blocks(&mut self.source, UptoBytes(buffer.len()));
                decoded.map_err(|error| io::Error::other(error.to_string()))?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            if self.decoder.is_finished() {
                let told = self.decoder.get_checksum_from_data();
                if told.is_some() && told != self.decoder.get_calculated_checksum() {
                    return Err(io::Error::other("its checksum is wrong"));
                }
                self.inside = false;
            }
        }
        Ok(0)
    }
}
