//! A fingerprint of a crate's sources, for its build script.
//!
//! Results depend on the code that computes them. Each crate that they depend on makes a fingerprint of its
//! own files; whoever keeps or compares results puts these together.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Makes a fingerprint of files and folders, given relative to the crate, and of the compiler. The crate's
/// code has it as `env!(name)`.
///
/// # Errors
/// If a file cannot be read, or the compiler does not say its version.
pub fn export(name: &str, sources: &[&str]) -> std::io::Result<()> {
    let mut files = vec![];
    for source in sources {
        println!("cargo::rerun-if-changed={source}");
        collect(Path::new(source), &mut files)?;
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.hash(&mut hasher);
        std::fs::read(&file)?.hash(&mut hasher);
    }
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    std::process::Command::new(compiler).arg("-V").output()?.stdout.hash(&mut hasher);
    println!("cargo::rustc-env={name}={:016x}", hasher.finish());
    Ok(())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}
