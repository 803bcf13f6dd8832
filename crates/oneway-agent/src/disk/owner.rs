//! The owner of a file. Folders are copied by hand between machines, so files that were mixed up must be
//! refused.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::plan::config::Config;

/// The owner of all files that an agent writes: which agent, in which run, by which plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Owner {
    /// Its number.
    pub agent: u64,
    /// The run's [fingerprint](crate::plan::identity::Identity::fingerprint).
    #[serde(with = "as_hex")]
    pub run: [u8; 32],
    /// The digest of the fields of its config that the answer depends on.
    #[serde(with = "as_hex")]
    pub plan: [u8; 32],
}

/// A file of another agent, run or plan.
#[derive(Debug, thiserror::Error)]
#[error("{} is of {whose}: folders or files were mixed up; give this agent its own, or another folder", path.display())]
pub struct Foreign {
    /// The file.
    pub path: PathBuf,
    /// Its owner, and who should be.
    pub whose: String,
}

impl Owner {
    /// The owner of an agent's files, from its config. A new plan of the same run may change
    /// `checkpoint_every`, and the owner stays.
    pub fn from_config(config: &Config) -> anyhow::Result<Self> {
        let plan = as_hex::bytes(&config.answer_digest()?).context("a digest has 64 digits")?;
        Ok(Self { agent: config.identity.agent as u64, run: config.identity.fingerprint(), plan })
    }

    /// Bytes of it in a file.
    pub const BYTES: usize = 8 + 32 + 32;

    /// As it is in files.
    pub fn to_bytes(self) -> Vec<u8> {
        [&self.agent.to_le_bytes()[..], &self.run, &self.plan].concat()
    }

    /// Reads it from the beginning of some bytes; returns the rest too.
    pub fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (agent, rest) = bytes.split_first_chunk()?;
        let (run, rest) = rest.split_first_chunk()?;
        let (plan, rest) = rest.split_first_chunk()?;
        Some((Self { agent: u64::from_le_bytes(*agent), run: *run, plan: *plan }, rest))
    }

    /// Refuses a file of another owner.
    pub fn check(&self, found: &Self, path: &Path) -> Result<(), Foreign> {
        let whose = if self.run != found.run {
            format!("another run ({}, not {})", short(&found.run), short(&self.run))
        } else if self.agent != found.agent {
            format!("agent {}, not agent {}", found.agent, self.agent)
        } else if self.plan != found.plan {
            format!("another plan of the same run ({}, not {})", short(&found.plan), short(&self.plan))
        } else {
            return Ok(());
        };
        Err(Foreign { path: path.to_owned(), whose })
    }
}

/// The field `owner` of a JSON file.
#[derive(Deserialize)]
struct Owned {
    owner: Owner,
}

/// Reads a JSON file that names its owner; nothing if it does not exist, or if it is damaged, which is
/// logged.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path, owner: &Owner) -> anyhow::Result<Option<T>> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes.with_context(|| path.display().to_string())?,
    };
    if let Ok(Owned { owner: found }) = serde_json::from_slice(&bytes) {
        owner.check(&found, path)?;
        if let Ok(content) = serde_json::from_slice(&bytes) {
            return Ok(Some(content));
        }
    }
    tracing::warn!("{} is damaged, and ignored", path.display());
    Ok(None)
}

/// Refuses a JSON file of another owner.
pub(crate) fn check_json(path: &Path, owner: &Owner) -> anyhow::Result<()> {
    read_json::<IgnoredAny>(path, owner).map(drop)
}

/// The beginning of a hash, enough to tell it from others.
fn short(hash: &[u8; 32]) -> String {
    let mut text = as_hex::text(hash);
    text.truncate(12);
    text + "…"
}

/// Bytes as hexadecimal digits.
pub(crate) mod as_hex {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn text(bytes: &[u8; 32]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// From 64 digits.
    pub(crate) fn bytes(text: &str) -> Option<[u8; 32]> {
        let digits = text.as_bytes().as_chunks::<2>();
        let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Vec<u8> = digits.0.iter().map(byte).collect::<Option<_>>()?;
        digits.1.is_empty().then_some(bytes)?.try_into().ok()
    }

    pub(super) fn serialize<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&text(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
        let text = String::deserialize(deserializer)?;
        bytes(&text).ok_or_else(|| D::Error::custom(format!("\"{text}\" is not a hash")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Owner = Owner { agent: 3, run: [7; 32], plan: [9; 32] };

    #[test]
    fn it_comes_back_from_bytes_and_from_json() {
        let bytes = [OWNER.to_bytes(), vec![1, 2]].concat();
        assert_eq!(Owner::split(&bytes).unwrap(), (OWNER, &[1, 2][..]));
        assert_eq!(OWNER.to_bytes().len(), Owner::BYTES);
        assert!(Owner::split(&bytes[..Owner::BYTES - 1]).is_none());
        let json = serde_json::to_string(&OWNER).unwrap();
        assert_eq!(serde_json::from_str::<Owner>(&json).unwrap(), OWNER);
        assert!(serde_json::from_str::<Owner>(&json.replace("07", "0x")).is_err());
    }

    #[test]
    fn others_are_refused_by_what_differs() {
        let path = Path::new("states");
        OWNER.check(&OWNER, path).unwrap();
        for (other, words) in [
            (Owner { agent: 4, ..OWNER }, "states is of agent 4, not agent 3"),
            (Owner { run: [8; 32], ..OWNER }, "states is of another run (080808080808…, not 070707070707…)"),
            (Owner { plan: [8; 32], ..OWNER }, "states is of another plan of the same run (080808080808…"),
        ] {
            let error = OWNER.check(&other, path).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
