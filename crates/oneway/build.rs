//! A fingerprint of the library, which the bits of all runs depend on: `oneway::CODE`.

fn main() -> std::io::Result<()> {
    oneway_fingerprint::export("ONEWAY_CODE", &["src", "data", "Cargo.toml"])
}
