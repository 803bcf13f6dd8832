//! A fingerprint of the code that results depend on, for the keys of finished cells: results that other code left behind
//! are then not taken for this program's own.

include!("fingerprint.rs");

/// Our code, and the versions of all other code.
const SOURCES: [&str; 6] =
    ["../oneway/src", "../oneway/data", "src/experiment", "src/results", "src/runner.rs", "../../Cargo.lock"];

fn main() -> std::io::Result<()> {
    fingerprint("ONEWAY_CODE", &SOURCES)
}
