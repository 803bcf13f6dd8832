//! One record of a journal: the round, the state, a checksum.

use std::io;

use oneway::numeric::Precision;

use crate::disk::stream::{Fault, Sealing, Source};
use crate::plan::config::Config;
use crate::plan::identity::Identity;
use crate::wire::Number;

/// Which rounds a journal is of, and how long its states are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Numbers in a state.
    pub width: usize,
    /// How they are written.
    pub precision: Precision,
    /// Rounds between two states that are recorded, from round 0 on: 1 or more.
    pub every: u64,
    /// The last round, which is recorded too.
    pub rounds: u64,
}

impl Shape {
    /// Of an agent with this config, whose states have `width` numbers.
    pub fn new(config: &Config, width: usize) -> Self {
        let Identity { precision, rounds, .. } = config.identity;
        Self { width, precision, every: config.record_every, rounds }
    }

    /// Bytes of a record.
    pub fn bytes(&self) -> usize {
        8 + self.width * self.precision.bytes() + 4
    }

    /// Whether the state of a round is recorded.
    pub fn is_recorded(&self, k: u64) -> bool {
        k.is_multiple_of(self.every) || k == self.rounds
    }

    /// The round of a record.
    pub(super) fn round(&self, index: u64) -> u64 {
        index.saturating_mul(self.every).min(self.rounds)
    }

    /// How many records there are of rounds before k. The state of round k itself is compared after a
    /// restart.
    pub(super) fn before(&self, k: u64) -> u64 {
        k.min(self.rounds).div_ceil(self.every)
    }

    /// How many there are of rounds up to k.
    pub(super) fn until(&self, k: u64) -> u64 {
        self.before(k) + u64::from(self.is_recorded(k))
    }

    /// The round of the record in this place; what is wrong with it.
    pub(super) fn check(&self, index: u64, bytes: &[u8]) -> Result<u64, String> {
        if index >= self.until(self.rounds) {
            return Err(format!("there is something after the last state, that of round {}", self.rounds));
        }
        let expected = self.round(index);
        if bytes.len() < self.bytes() {
            return Err(format!("record {index}, of round {expected}, is cut short"));
        }
        match round(bytes) {
            Err(_) => {
                Err(format!("record {index}, of round {expected}, is damaged: its checksum does not match"))
            }
            Ok(round) if round != expected => {
                Err(format!("record {index} is of round {round}, and should be of round {expected}"))
            }
            Ok(round) => Ok(round),
        }
    }
}

/// Appends a record.
pub(super) fn encode<T: Number>(k: u64, state: &[T], out: &mut Vec<u8>) -> io::Result<()> {
    let mut out = Sealing::<_, crc32fast::Hasher>::new(out);
    out.number(k)?;
    out.numbers(state)?;
    out.seal().map(drop)
}

/// The round and the state of a record whose checksum matches.
pub(super) fn decode<T: Number>(bytes: &[u8]) -> Result<(u64, Vec<T>), Fault> {
    let mut source = open(bytes)?;
    let width = bytes.len().saturating_sub(8 + 4) / size_of::<T>();
    let (round, state) = (source.number()?, source.numbers(width as u64)?);
    source.check()?;
    Ok((round, state))
}

/// The round of a record whose checksum matches.
fn round(bytes: &[u8]) -> Result<u64, Fault> {
    let mut source = open(bytes)?;
    let round = source.number()?;
    source.check()?;
    Ok(round)
}

fn open(bytes: &[u8]) -> Result<Source<&[u8], crc32fast::Hasher>, Fault> {
    Source::new(bytes, bytes.len() as u64)
}
