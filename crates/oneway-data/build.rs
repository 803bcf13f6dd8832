//! A fingerprint of the code that makes rows of files: results depend on it.

fn main() -> std::io::Result<()> {
    oneway_fingerprint::export("ONEWAY_DATA_CODE", &["src", "Cargo.toml"])
}
