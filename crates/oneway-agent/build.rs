//! A fingerprint of the code between methods and links, which bits depend on too: agents compare it.

include!("../oneway-lab/fingerprint.rs");

fn main() -> std::io::Result<()> {
    fingerprint("ONEWAY_AGENT_CODE", &["src", "../oneway-lab/src/networked.rs"])
}
