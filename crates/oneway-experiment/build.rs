//! A fingerprint of the code between a file and its results, for the keys of finished cells: results that
//! other code left behind are then not taken for this program's own.

fn main() -> std::io::Result<()> {
    oneway_fingerprint::export("ONEWAY_EXPERIMENT_CODE", &["src", "Cargo.toml"])
}
