//! The binary `oneway-mpi`: see the library.

fn main() -> std::process::ExitCode {
    oneway_mpi::cli::main(oneway::registry::Registry::builtin())
}
