//! One record of a journal: the round, the state, a checksum.

/// Which rounds a journal is of, and how long its states are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Numbers in a state.
    pub width: usize,
    /// States are recorded every so many rounds, from 0 on, 1 or more.
    pub every: u64,
    /// The last round, which is recorded too.
    pub rounds: u64,
}

impl Shape {
    /// Bytes of a record.
    pub fn bytes(&self) -> usize {
        8 + self.width * 8 + 4
    }

    /// Whether the state of a round is to be recorded.
    pub fn is_recorded(&self, k: u64) -> bool {
        k.is_multiple_of(self.every) || k == self.rounds
    }

    /// The round of a record.
    pub(super) fn round(&self, index: u64) -> u64 {
        index.saturating_mul(self.every).min(self.rounds)
    }

    /// How many records there are of rounds before k: a state that a checkpoint has is compared with the one that was recorded.
    pub(super) fn before(&self, k: u64) -> u64 {
        k.min(self.rounds).div_ceil(self.every)
    }

    /// How many there are of rounds up to k.
    pub(super) fn until(&self, k: u64) -> u64 {
        self.before(k) + u64::from(self.is_recorded(k))
    }

    /// The state in a record, which is in this place; what is wrong with it.
    pub(super) fn check(&self, index: u64, bytes: &[u8]) -> Result<(u64, Vec<f64>), String> {
        if index >= self.until(self.rounds) {
            return Err(format!("there is something behind the last state, that of round {}", self.rounds));
        }
        let expected = self.round(index);
        if bytes.len() < self.bytes() {
            return Err(format!("record {index}, of round {expected}, is cut short"));
        }
        match numbers(bytes) {
            None => {
                Err(format!("record {index}, of round {expected}, is damaged: its checksum does not fit"))
            }
            Some((round, _)) if round != expected => {
                Err(format!("record {index} is of round {round}, and should be of round {expected}"))
            }
            Some(found) => Ok(found),
        }
    }
}

/// Appends a record.
pub(super) fn encode(k: u64, state: &[f64], out: &mut Vec<u8>) {
    let begin = out.len();
    out.extend_from_slice(&k.to_le_bytes());
    state.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
    let checksum = crc32fast::hash(&out[begin..]);
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// The round and the state of a record; nothing if its checksum does not fit.
pub(super) fn numbers(bytes: &[u8]) -> Option<(u64, Vec<f64>)> {
    let (content, checksum) = bytes.split_last_chunk()?;
    if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (round, state) = content.split_first_chunk()?;
    let state = state.as_chunks().0.iter().map(|bits| f64::from_le_bytes(*bits)).collect();
    Some((u64::from_le_bytes(*round), state))
}
