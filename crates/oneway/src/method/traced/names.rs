//! Names that are given at run time, kept for as long as the process lives.
//!
//! Programs hold names by reference, since those of rules are known when they are compiled. So each name from
//! elsewhere is stored once and for all. Their number is bounded, and so is their length.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Different names in a process, at most.
const MOST: usize = 1 << 16;

/// Bytes of a name, at most.
pub(super) const LONGEST: usize = 64;

static KNOWN: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

/// The name, stored; the error says what is wrong with it.
pub(super) fn stored(name: &str) -> Result<&'static str, String> {
    if name.len() > LONGEST || name.chars().any(char::is_control) {
        let shown: String = name.chars().filter(|c| !c.is_control()).take(12).collect();
        return Err(format!(
            "the name `{shown}…` has {} bytes or control characters: {LONGEST} will do",
            name.len()
        ));
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_with(HashSet::new);
    if let Some(name) = known.get(name) {
        return Ok(name);
    }
    if known.len() >= MOST {
        return Err(format!("there are {MOST} different names in this process already"));
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    known.insert(name);
    Ok(name)
}
