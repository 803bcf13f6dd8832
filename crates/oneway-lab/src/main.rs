//! `oneway`: decentralised optimisation over directed networks, from the command line.

fn main() -> std::process::ExitCode {
    oneway_lab::main()
}
