//! A log of arrivals: who woke when, and which messages it took in. All of a run that depends on time is in
//! it, so that the run can be done again without drawing any time.
//!
//! ```text
//! "oneway arrivals 1\n"
//! 32 bytes     what was run: SHA-256 of method, problem's size, R, C, steps and seed
//! text         a label of the caller's: its length, then UTF-8
//! number       units of time
//! number       wakes
//! each wake    agent (number), time (f64, little endian), and for each link into the agent, pull graph first, senders
//!              ascending, how many messages more it has taken in (number)
//! 32 bytes     SHA-256 of the agents' states at the end
//! 32 bytes     SHA-256 of all before
//! ```
//!
//! A number is in base 128, lowest digits first, with the high bit set in all bytes but the last, and no
//! longer than need be. A wake is about ten bytes and one for each link.

use sha2::{Digest, Sha256};

use super::wires::Wires;
use crate::engine::Setup;
use crate::graph::mixing::Mixing;
use crate::{Error, Result};

const MAGIC: &str = "oneway arrivals ";
const VERSION: &str = "1\n";
/// Bytes of a label, at most.
const LONGEST_LABEL: usize = 1 << 10;

/// A log that was found whole. Whether it fits a run is found when it is replayed.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    pub(super) fingerprint: [u8; 32],
    pub(super) label: String,
    pub(super) units: u64,
    pub(super) wakes: u64,
    pub(super) tape: Vec<u8>,
    pub(super) state: [u8; 32],
}

impl Log {
    /// What the caller called the run.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The same log with a label; one that is too long is cut.
    pub fn with_label(mut self, label: &str) -> Self {
        let end = (0..=label.len().min(LONGEST_LABEL)).rev().find(|end| label.is_char_boundary(*end));
        self.label = label[..end.unwrap_or(0)].to_owned();
        self
    }

    /// Units of virtual time.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// Steps that all agents did together.
    pub fn wakes(&self) -> u64 {
        self.wakes
    }

    /// [`state_hash`](crate::engine::Engine::state_hash) at the end.
    pub fn state_hash(&self) -> String {
        self.state.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The log as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{MAGIC}{VERSION}").into_bytes();
        bytes.extend(self.fingerprint);
        put_number(&mut bytes, self.label.len() as u64);
        bytes.extend(self.label.as_bytes());
        put_number(&mut bytes, self.units);
        put_number(&mut bytes, self.wakes);
        bytes.extend(&self.tape);
        bytes.extend(self.state);
        bytes.extend(<[u8; 32]>::from(Sha256::digest(&bytes)));
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote; the error says what else it is.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let damaged = |what: &str| Error::Log(format!("it is damaged: {what}"));
        let Some(rest) = bytes.strip_prefix(MAGIC.as_bytes()) else {
            return Err(Error::Log(format!("it does not begin with \"{MAGIC}\"")));
        };
        let Some(rest) = rest.strip_prefix(VERSION.as_bytes()) else {
            return Err(Error::Log("it is of another version: this program reads version 1".to_owned()));
        };
        let Some((rest, checksum)) = rest.split_last_chunk::<32>() else {
            return Err(damaged("it ends too soon"));
        };
        if <[u8; 32]>::from(Sha256::digest(&bytes[..bytes.len() - 32])) != *checksum {
            return Err(damaged("its checksum does not fit"));
        }
        let parse = || {
            let (fingerprint, rest) = rest.split_first_chunk::<32>()?;
            let (rest, state) = rest.split_last_chunk::<32>()?;
            let mut tape = Tape::new(rest);
            let length = tape.number().and_then(|length| usize::try_from(length).ok())?;
            let label = tape.take(Some(length).filter(|length| *length <= LONGEST_LABEL)?)?;
            let label = std::str::from_utf8(label).ok()?.to_owned();
            let (units, wakes) = (tape.number()?, tape.number()?);
            Some(Self {
                fingerprint: *fingerprint,
                label,
                units,
                wakes,
                tape: tape.rest().to_vec(),
                state: *state,
            })
        };
        parse().ok_or_else(|| damaged("its head cannot be read"))
    }

    /// Whether it is a log of this run, and all of it is possible: no one takes in what has not been sent.
    pub(super) fn check(&self, setup: &Setup<'_>, mut graphs: [Wires; 2]) -> Result<()> {
        let impossible = |wake: u64, what: String| Err(Error::Log(format!("wake {wake}: {what}")));
        if self.fingerprint != fingerprint(setup) {
            return Err(Error::Log(
                "it is of another run: another method, network, step size, problem or seed".to_owned(),
            ));
        }
        let n = setup.problem.agents();
        let mut tape = Tape::new(&self.tape);
        let mut last = (0.0, u64::MAX); // the start: no wake comes before or at time 0
        let mut sent = vec![(0u64, 0.0f64); n]; // each agent's newest message, and when it was sent
        for wake in 1..=self.wakes {
            let Some((agent, time)) = tape.wake() else {
                return impossible(wake, "the log ends too soon".to_owned());
            };
            let Some(i) = usize::try_from(agent).ok().filter(|&i| i < n) else {
                return impossible(wake, format!("there is no agent {agent}"));
            };
            let in_order = time > last.0 || (time == last.0 && agent > last.1);
            if !in_order || time > self.units as f64 {
                return impossible(wake, format!("agent {agent} cannot wake at time {time}, out of turn"));
            }
            last = (time, agent);
            for wire in graphs.iter_mut().flat_map(|graph| graph.heard_by_mut(i)) {
                let (newest, at) = sent[wire.from as usize];
                let known = if at < time { newest + 1 } else { newest }; // messages that can be known
                match tape.number() {
                    Some(more) if more <= known - wire.taken => wire.take_in_more(more),
                    Some(_) => {
                        let what = format!("agent {agent} takes in what agent {} has not sent", wire.from);
                        return impossible(wake, what);
                    }
                    None => return impossible(wake, "the log ends too soon".to_owned()),
                }
            }
            sent[i] = (sent[i].0 + 1, time);
        }
        match tape.rest() {
            [] => Ok(()),
            _ => Err(Error::Log(format!("it goes on after its {} wakes", self.wakes))),
        }
    }
}

/// A hash of what is run; of the problem its size only, for data are large.
pub(super) fn fingerprint(setup: &Setup<'_>) -> [u8; 32] {
    let Setup { method, problem, topology, schedule, seed } = setup;
    let (n, d) = (problem.agents(), problem.dim());
    let mut hasher = Sha256::new();
    hasher.update(format!("{method:?}\n{n} × {d}\n{schedule:?}\n{seed}\n"));
    let mut add = |mixing: &Mixing| {
        for link in mixing.iter() {
            let numbers = [link.from as u64, link.to as u64, link.weight.to_bits()];
            hasher.update(numbers.map(u64::to_le_bytes).as_flattened());
        }
        hasher.update([0xff; 24]);
    };
    for pair in topology.period() {
        add(&pair.pull);
        add(&pair.push);
    }
    hasher.finalize().into()
}

/// Writes a number.
pub(super) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Bytes being read; `None` where they are not what is asked for.
#[derive(Debug)]
pub(super) struct Tape<B> {
    bytes: B,
    at: usize,
}

impl<B: AsRef<[u8]>> Tape<B> {
    pub(super) fn new(bytes: B) -> Self {
        Self { bytes, at: 0 }
    }

    fn rest(&self) -> &[u8] {
        self.bytes.as_ref().get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let from = self.at;
        let taken = self.bytes.as_ref().get(from..from.checked_add(count)?)?;
        self.at = from + count;
        Some(taken)
    }

    /// A number, in its shortest form and below 2⁶³.
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let &byte = self.take(1)?.first()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return (byte != 0 || shift == 0).then_some(number);
            }
        }
        None
    }

    /// The head of a wake: agent and time.
    pub(super) fn wake(&mut self) -> Option<(u64, f64)> {
        let agent = self.number()?;
        let time = f64::from_le_bytes(self.take(8)?.try_into().ok()?);
        time.is_finite().then_some((agent, time))
    }

    /// The same if it is not after `end`; nothing is read if it is.
    pub(super) fn wake_until(&mut self, end: f64) -> Option<(u64, f64)> {
        let before = self.at;
        let found = self.wake().filter(|(_, time)| *time <= end);
        if found.is_none() {
            self.at = before;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn log() -> Log {
        Log {
            fingerprint: [7; 32],
            label: "flower · SMTPP".to_owned(),
            units: 300,
            wakes: 0,
            tape: vec![1, 2, 3],
            state: [0xab; 32],
        }
    }

    #[test]
    fn a_log_comes_back_and_no_byte_of_it_can_be_changed() {
        let bytes = log().to_bytes();
        assert_eq!(Log::from_bytes(&bytes).unwrap(), log());
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert!(Log::from_bytes(&other).is_err(), "byte {at}");
            assert!(Log::from_bytes(&bytes[..at]).is_err(), "cut to {at} bytes");
        }
        let message = |bytes: &[u8]| Log::from_bytes(bytes).unwrap_err().to_string();
        assert!(message(b"oneway arrivals 2\n").contains("another version"));
        assert!(message(b"GIF89a").contains("does not begin with"));
        assert!(message(&bytes[..bytes.len() - 1]).contains("checksum"));
    }

    #[test]
    fn long_labels_are_cut_where_a_character_ends() {
        let labelled = log().with_label(&"ξ".repeat(1000));
        assert_eq!(labelled.label().len(), LONGEST_LABEL);
        assert_eq!(Log::from_bytes(&labelled.to_bytes()).unwrap(), labelled);
    }

    proptest! {
        #[test]
        fn numbers_come_back_in_their_shortest_form(number in 0..1u64 << 63) {
            let mut bytes = vec![];
            put_number(&mut bytes, number);
            prop_assert_eq!(Tape::new(&bytes).number(), Some(number));
            *bytes.last_mut().unwrap() |= 0x80;
            bytes.push(0);
            prop_assert_eq!(Tape::new(&bytes).number(), None); // the same number, a byte longer
        }

        #[test]
        fn no_bytes_make_reading_panic(bytes: Vec<u8>) {
            let mut whole = [MAGIC.as_bytes(), VERSION.as_bytes(), &bytes].concat();
            prop_assert!(Log::from_bytes(&whole).is_err());
            whole.extend(<[u8; 32]>::from(Sha256::digest(&whole)));
            let _ = Log::from_bytes(&whole);
        }
    }
}
