//! Without a build script, cargo does not look at build dependencies.

fn main() {}
