//! The one hash that is written into files and compared between machines.

use sha2::{Digest, Sha256};

/// SHA-256 in hexadecimal.
pub fn sha256(content: impl AsRef<[u8]>) -> String {
    hexadecimal(&Sha256::digest(content))
}

/// Bytes in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
