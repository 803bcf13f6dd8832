//! A fingerprint of the code between methods and links, which bits depend on too: agents compare it.

fn main() -> std::io::Result<()> {
    oneway_fingerprint::export("ONEWAY_AGENT_CODE", &["src", "Cargo.toml"])
}
