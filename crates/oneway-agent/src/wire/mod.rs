//! What travels between agents, and what it means. This page is the whole protocol, [version 2](PROTOCOL).
//!
//! Agents speak under keys of Zenoh. A key names the link, so that access control by keys decides who may
//! send to whom. `<run>` is the beginning of the run's
//! [fingerprint](crate::plan::identity::Identity::fingerprint), 16 hexadecimal digits; `<graph>` is `pull` or
//! `push`; agents and rounds are decimal numbers.
//!
//! | key | who uses it | what travels |
//! |---|---|---|
//! | `oneway/<run>/<graph>/<from>/<to>` | `from` publishes, `to` subscribes | rows, each a [frame] |
//! | `oneway/<run>/<graph>/<from>/<to>/again` | `to` queries, `from` answers | see below |
//! | `oneway/<run>/alive/<agent>` | a liveliness token of `agent` | it is running |
//! | `oneway/<run>/done/<agent>/<round>` | a liveliness token of `agent` | it has done its last round, which is `round` |
//! | `oneway/<run>/estimate/<agent>` | `agent` publishes, observers subscribe | its estimate, a [frame] from `agent` to itself on the pull graph |
//! | `oneway/hello/<agent>` | anyone queries, `agent` answers | both say their [identity](crate::plan::identity::Identity), as JSON of at most 64 KiB |
//!
//! Under `again` the payload of a query is one [message]:
//!
//! | query | answers |
//! |---|---|
//! | [`Rows`](message::Message::Rows) | up to eight [frame]s, from the row of that moment on; none if it was not sent yet. Or one [`Gone`](message::Message::Gone): that row is no longer kept |
//! | [`Done`](message::Message::Done) | [`Noted`](message::Message::Noted) with the same round, once it is on disk; nothing if it could not be written, and the query is repeated |
//!
//! An error reply of Zenoh means that something went wrong, and nothing else. Whatever arrives is parsed and
//! checked before it is used; what fails is counted, logged and dropped.

pub mod frame;
pub mod history;
pub mod message;
mod number;
pub mod rows;

use crate::plan::identity::Identity;

pub use number::Number;
pub(crate) use number::{copy_from_bytes, same_bits, to_little_endian, wide};

/// The version of the protocol.
pub const PROTOCOL: u8 = Identity::PROTOCOL;
