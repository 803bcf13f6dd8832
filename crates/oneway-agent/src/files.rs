//! Private files, readable by their owner only, that are written whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Options for a file that only its owner may read.
pub fn private() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a folder that only its owner may open, and its parents, if they do not exist.
pub fn make_folder(path: &Path) -> io::Result<()> {
    let mut folder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.recursive(true).create(path)
}

/// A path with a suffix after its name.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Replaces a file. `write` writes to a temporary file, which is synced and renamed. If that fails, the old
/// file stays as it was.
pub fn replace<T>(path: &Path, write: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
    oneway_experiment::files::replace(path, &beside(path, ".part"), &mut private(), |file| {
        let written = write(file)?;
        file.sync_all()?;
        Ok(written)
    })
}

/// Syncs a folder, so that the names in it are on disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Writes a file with this content, [whole](replace) or not at all.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    replace(path, |file| file.write_all(content))?;
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), sync_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_whole_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        make_folder(&inner).unwrap();
        let path = inner.join("file");
        write_whole(&path, b"one").unwrap();
        assert!(replace(&path, |_| Err::<(), _>(io::Error::other("no"))).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        assert!(!beside(&path, ".part").exists());
        #[cfg(unix)]
        for (path, mode) in [(&path, 0o600), (&inner, 0o700)] {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, mode);
        }
    }
}
