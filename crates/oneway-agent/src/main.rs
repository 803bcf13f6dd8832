//! `oneway-agent`: agents on real links, from the command line.

fn main() -> std::process::ExitCode {
    oneway_agent::main_with(oneway::registry::Registry::builtin())
}
