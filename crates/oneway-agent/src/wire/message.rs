//! Requests under `again`, and the answers to them that are not rows: one value of a fixed size.
//!
//! | bytes | field | |
//! |---|---|---|
//! | 0–3 | magic | `1MSG` |
//! | 4 | version | [`PROTOCOL`] |
//! | 5 | kind | 0 [`Rows`](Message::Rows), 1 [`Done`](Message::Done), 2 [`Noted`](Message::Noted), 3 [`Gone`](Message::Gone) |
//! | 6–7 | | zero |
//! | 8–15 | round | which round; see the kinds |
//! | 16–19 | phase | the exchange within the round, of [`Rows`](Message::Rows); else zero |
//! | 20–23 | checksum | CRC-32 of all before |
//!
//! All numbers are little-endian.

use super::PROTOCOL;
use super::frame::Moment;

/// Bytes of a message: no other payload has this size, since a frame has at least 44.
pub const SIZE: usize = 24;

const MAGIC: [u8; 4] = *b"1MSG";

/// What an agent says to another under `again`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// A receiver asks for the rows from this moment on.
    Rows(Moment),
    /// A receiver says that it has done its last round, which is this one.
    Done(u64),
    /// A sender has written down that the receiver is done after this round.
    Noted(u64),
    /// A sender no longer has the row that was asked for. This is the first round that it still has.
    Gone(u64),
}

/// Why bytes are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageFault {
    /// The size, the beginning or the checksum is wrong.
    #[error(
        "these bytes are not a message: there must be {SIZE}, beginning with 1MSG, and the checksum must match"
    )]
    Damaged,
    /// It is of another version.
    #[error("the message is of version {0}, and this agent speaks version {PROTOCOL}")]
    Version(u8),
    /// A field has a value that is not defined.
    #[error("the message: its {0} is not defined")]
    Field(&'static str),
}

impl Message {
    /// Its bytes.
    pub fn encode(self) -> [u8; SIZE] {
        let (kind, round, phase) = match self {
            Message::Rows(Moment { round, phase }) => (0, round, phase),
            Message::Done(round) => (1, round, 0),
            Message::Noted(round) => (2, round, 0),
            Message::Gone(round) => (3, round, 0),
        };
        let mut bytes = [0; SIZE];
        bytes[..4].copy_from_slice(&MAGIC);
        (bytes[4], bytes[5]) = (PROTOCOL, kind);
        bytes[8..16].copy_from_slice(&round.to_le_bytes());
        bytes[16..20].copy_from_slice(&phase.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..20]);
        bytes[20..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads one from bytes that may be anything.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageFault> {
        let bytes: &[u8; SIZE] = bytes.try_into().map_err(|_| MessageFault::Damaged)?;
        let (content, checksum) = bytes.split_last_chunk().ok_or(MessageFault::Damaged)?;
        let rest = content.strip_prefix(&MAGIC).ok_or(MessageFault::Damaged)?;
        if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
            return Err(MessageFault::Damaged);
        }
        let (&[version, kind, zero, zero_too], rest) =
            rest.split_first_chunk().ok_or(MessageFault::Damaged)?;
        let (round, rest) = rest.split_first_chunk().ok_or(MessageFault::Damaged)?;
        let (phase, _) = rest.split_first_chunk().ok_or(MessageFault::Damaged)?;
        if version != PROTOCOL {
            return Err(MessageFault::Version(version));
        }
        if [zero, zero_too] != [0; 2] {
            return Err(MessageFault::Field("value in the unused bytes"));
        }
        let (round, phase) = (u64::from_le_bytes(*round), u32::from_le_bytes(*phase));
        if kind != 0 && phase != 0 {
            return Err(MessageFault::Field("phase"));
        }
        match kind {
            0 => Ok(Message::Rows(Moment { round, phase })),
            1 => Ok(Message::Done(round)),
            2 => Ok(Message::Noted(round)),
            3 => Ok(Message::Gone(round)),
            _ => Err(MessageFault::Field("kind")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message() -> impl Strategy<Value = Message> {
        (0..4, any::<u64>(), any::<u32>()).prop_map(|(kind, round, phase)| match kind {
            0 => Message::Rows(Moment { round, phase }),
            1 => Message::Done(round),
            2 => Message::Noted(round),
            _ => Message::Gone(round),
        })
    }

    proptest! {
        #[test]
        fn a_message_comes_back_and_damage_is_noticed(
            message in message(), at in 0..SIZE, with in 1u8.., cut in 0..SIZE, more in prop::collection::vec(any::<u8>(), 1..99),
        ) {
            let bytes = message.encode();
            prop_assert_eq!(Message::decode(&bytes), Ok(message));
            let mut damaged = bytes;
            damaged[at] ^= with;
            prop_assert!(Message::decode(&damaged).is_err());
            prop_assert!(Message::decode(&bytes[..cut]).is_err());
            prop_assert!(Message::decode(&[&bytes[..], &more].concat()).is_err());
        }

        #[test]
        fn no_bytes_are_too_wild(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(Message::decode(&bytes).is_err());
        }
    }

    /// With a checksum that fits, what is not defined is still refused.
    #[test]
    fn faults_say_what_is_wrong() {
        let sealed = |place: usize, value: u8| {
            let mut bytes = Message::Done(7).encode();
            bytes[place] = value;
            let checksum = crc32fast::hash(&bytes[..20]);
            bytes[20..].copy_from_slice(&checksum.to_le_bytes());
            Message::decode(&bytes).unwrap_err().to_string()
        };
        assert_eq!(sealed(4, 1), "the message is of version 1, and this agent speaks version 2");
        assert_eq!(sealed(5, 4), "the message: its kind is not defined");
        assert_eq!(sealed(7, 1), "the message: its value in the unused bytes is not defined");
        assert_eq!(sealed(16, 1), "the message: its phase is not defined");
        assert!(sealed(0, b'2').starts_with("these bytes are not a message"));
    }
}
