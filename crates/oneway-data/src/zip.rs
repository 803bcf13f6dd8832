//! As much of the ZIP format as NPZ files need: a list of members, stored or deflated, read from their file
//! one at a time. Nothing is ever written, so that a member's name is a name and not a path.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::Crc;
use flate2::read::DeflateDecoder;
use oneway::{Error, Result};

use crate::source::{Bounded, most_bytes};
use crate::wrong;

pub(crate) const MAGIC: &[u8] = b"PK\x03\x04";

/// The most members, and bytes of their list.
const MOST_MEMBERS: usize = 10_000;
const LONGEST_LIST: u64 = 16 << 20;

/// A member of an archive.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) name: String,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    at: u64,
}

/// Whole numbers in a piece of the file, least byte first.
struct Piece<'a>(&'a [u8]);

impl Piece<'_> {
    fn number(&self, at: usize, size: usize) -> Option<u64> {
        let bytes = self.0.get(at..at.checked_add(size)?)?;
        Some(bytes.iter().rev().fold(0, |all, byte| (all << 8) | u64::from(*byte)))
    }
}

/// The members, as the list at the end of the file has them.
pub(crate) fn members(path: &Path, file: &mut File) -> Result<Vec<Member>> {
    list(file).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            wrong(path, format!("is no ZIP archive that can be read ({error}): it is cut off or damaged"))
        }
        _ => Error::Io { path: path.to_owned(), source: error },
    })
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

fn list(file: &mut File) -> io::Result<Vec<Member>> {
    let length = file.metadata()?.len();
    // the record at the end has 22 bytes and a comment of at most 65,535
    let tail_at = length.saturating_sub(22 + 0xffff + 20);
    file.seek(SeekFrom::Start(tail_at))?;
    let mut tail = vec![];
    file.by_ref().take(length - tail_at).read_to_end(&mut tail)?;
    let end = tail
        .windows(4)
        .rposition(|window| window == b"PK\x05\x06")
        .ok_or_else(|| damaged("it has no end"))?;
    let record = Piece(&tail[end..]);
    let field = |at, size| record.number(at, size).ok_or_else(|| damaged("its end is short"));
    let (mut count, mut size, mut at) = (field(10, 2)?, field(12, 4)?, field(16, 4)?);
    if count == 0xffff || size == 0xffff_ffff || at == 0xffff_ffff {
        let locator = end.checked_sub(20).map(|begin| Piece(&tail[begin..end]));
        let locator = locator.filter(|piece| piece.0.starts_with(b"PK\x06\x07"));
        let place =
            locator.and_then(|piece| piece.number(8, 8)).ok_or_else(|| damaged("its end is short"))?;
        let mut wide = [0; 56];
        file.seek(SeekFrom::Start(place))?;
        file.read_exact(&mut wide)?;
        let wide = Piece(&wide);
        let wide = |at| wide.number(at, 8).ok_or_else(|| damaged("its end is short"));
        (count, size, at) = (wide(32)?, wide(40)?, wide(48)?);
    }
    if count > MOST_MEMBERS as u64
        || size > LONGEST_LIST
        || at.checked_add(size).is_none_or(|end| end > length)
    {
        return Err(damaged(&format!("it claims to have {count} members, listed in {size} bytes")));
    }
    file.seek(SeekFrom::Start(at))?;
    let mut listed = vec![];
    file.by_ref().take(size).read_to_end(&mut listed)?;
    let mut members = vec![];
    let mut rest = &listed[..];
    for _ in 0..count {
        let (member, next) = member(rest).ok_or_else(|| damaged("its list of members is damaged"))?;
        members.push(member);
        rest = next;
    }
    Ok(members)
}

fn member(list: &[u8]) -> Option<(Member, &[u8])> {
    let piece = Piece(list);
    if !list.starts_with(b"PK\x01\x02") {
        return None;
    }
    let length = |at| piece.number(at, 2).and_then(|length| usize::try_from(length).ok());
    let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
    let encrypted = piece.number(8, 2)? & 1 == 1;
    let method = if encrypted { u16::MAX } else { piece.number(10, 2)? as u16 };
    let (mut packed, mut size, mut at) = (piece.number(20, 4)?, piece.number(24, 4)?, piece.number(42, 4)?);
    let extra_at = 46 + name;
    let mut fields = list.get(extra_at..extra_at + extra)?;
    while fields.len() >= 4 {
        let (id, length) = (Piece(fields).number(0, 2)?, Piece(fields).number(2, 2)? as usize);
        let body = Piece(fields.get(4..4 + length)?);
        if id == 1 {
            // 64 bits each for those that did not fit into 32, in this order
            let mut from = 0;
            for value in [&mut size, &mut packed, &mut at] {
                if *value == 0xffff_ffff {
                    *value = body.number(from, 8)?;
                    from += 8;
                }
            }
        }
        fields = fields.get(4 + length..)?;
    }
    let name_text = String::from_utf8_lossy(list.get(46..46 + name)?).into_owned();
    let crc = piece.number(16, 4)? as u32;
    Some((Member { name: name_text, method, crc, packed, size, at }, list.get(extra_at + extra + comment..)?))
}

impl Member {
    /// Its bytes, checked at their end.
    pub(crate) fn open(&self, path: &Path, mut file: File) -> Result<impl Read + use<>> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let mut head = [0; 30];
        file.seek(SeekFrom::Start(self.at)).map_err(io)?;
        let read = file.read_exact(&mut head);
        let piece = Piece(&head);
        let lengths = piece.number(26, 2).zip(piece.number(28, 2)).filter(|_| head.starts_with(MAGIC));
        let (Ok(()), Some((name, extra))) = (read, lengths) else {
            return Err(wrong(path, format!("`{}` is not where the archive says: it is damaged", self.name)));
        };
        let begin = self.at.checked_add(30 + name + extra);
        file.seek(SeekFrom::Start(begin.unwrap_or(u64::MAX >> 1))).map_err(io)?;
        let packed = BufReader::new(file).take(self.packed);
        let bytes: Box<dyn Read> = match self.method {
            0 => Box::new(packed),
            8 => {
                let most = most_bytes(self.packed);
                Box::new(Bounded { inner: DeflateDecoder::new(packed), name: "ZIP", left: most, most })
            }
            _ => {
                return Err(wrong(
                    path,
                    format!(
                        "`{}` is encrypted or compressed in an unusual way: save it with numpy.savez or \
                     numpy.savez_compressed",
                        self.name
                    ),
                ));
            }
        };
        Ok(Checked { bytes, crc: Crc::new(), expected: self.crc, size: self.size, read: 0 })
    }
}

/// Bytes whose checksum is compared where they end.
struct Checked {
    bytes: Box<dyn Read>,
    crc: Crc,
    expected: u32,
    size: u64,
    read: u64,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.crc.update(&buffer[..read]);
        self.read += read as u64;
        match read == 0 && !buffer.is_empty() && (self.crc.sum() != self.expected || self.read != self.size) {
            true => Err(damaged("a member's checksum or size is wrong: the archive is damaged")),
            false => Ok(read),
        }
    }
}
