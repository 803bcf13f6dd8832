//! Zenoh ids that name an agent. Zenoh accepts any id that a peer gives; the tunnel compares it with the
//! certificate.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::plan::endpoints::{OBSERVER, common_name};

/// The other end of a link, by its certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::link::zenoh) enum Peer {
    /// An agent of the run.
    Agent(usize),
    /// An observer.
    Observer,
}

/// The highest byte of an agent's id.
const AGENT: u8 = 0xa1;
/// The highest byte of an observer's.
const LOOKS_ON: u8 = 0xb1;

impl Peer {
    /// The name in its certificate.
    pub(super) fn name(self) -> String {
        match self {
            Peer::Agent(agent) => common_name(agent),
            Peer::Observer => OBSERVER.to_owned(),
        }
    }

    /// Whether this Zenoh id may be its own.
    pub(super) fn may_have(self, id: [u8; 16]) -> bool {
        match self {
            Peer::Agent(agent) => id == of_agent(agent).to_le_bytes(),
            Peer::Observer => id[15] == LOOKS_ON,
        }
    }
}

/// The id of an agent, a mark and its number, in hexadecimal, as Zenoh's settings have it.
pub(in crate::link::zenoh) fn agent(agent: usize) -> String {
    format!("{:x}", of_agent(agent))
}

/// The id of an observer: a mark, and bits that no other observer has.
pub(in crate::link::zenoh) fn observer() -> String {
    let random = || u128::from(RandomState::new().build_hasher().finish());
    let bits = (random() << 64 | random()) >> 8;
    format!("{:x}", u128::from(LOOKS_ON) << 120 | bits)
}

fn of_agent(agent: usize) -> u128 {
    u128::from(AGENT) << 120 | agent as u128
}

/// The id in the first message of a link, which must be Zenoh's INIT: two bytes of length, the kind of
/// message, the version, the length of the id less one in the upper half of a byte, the id.
pub(super) fn read(message: &[u8]) -> Option<[u8; 16]> {
    const KIND: u8 = 0x1f;
    const INIT: u8 = 0x01;
    let [_, _, kind, _version, length, rest @ ..] = message else { return None };
    if kind & KIND != INIT || length >> 4 != 15 {
        return None; // ids with a mark have 16 bytes
    }
    rest.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_from_a_first_message_and_belong_to_one_agent() {
        let id = of_agent(3).to_le_bytes();
        let message = [&[20, 0, 0x61, 9, 0xf1][..], &id, &[7; 4]].concat();
        assert_eq!(read(&message), Some(id));
        assert_eq!(read(&message[..20]), None, "too short");
        for (at, byte) in [(2, 0x62), (4, 0xe1)] {
            let mut other = message.clone();
            other[at] = byte;
            assert_eq!(read(&other), None, "byte {at}");
        }
        assert!(Peer::Agent(3).may_have(id) && !Peer::Agent(2).may_have(id) && !Peer::Observer.may_have(id));
        let looks_on = u128::from_str_radix(&observer(), 16).unwrap().to_le_bytes();
        assert!(Peer::Observer.may_have(looks_on) && !Peer::Agent(3).may_have(looks_on));
        assert_ne!(observer(), observer());
    }
}
