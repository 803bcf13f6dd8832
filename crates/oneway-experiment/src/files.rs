//! Files that are written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};

/// Replaces a file. `write` writes to the file `aside`, opened with these options, which is then renamed. If
/// that fails, `aside` is removed and the old file stays as it was.
///
/// # Errors
/// Those of `write`, and of the disk.
pub fn replace<T>(
    path: &Path,
    aside: &Path,
    options: &mut OpenOptions,
    write: impl FnOnce(&mut File) -> io::Result<T>,
) -> io::Result<T> {
    let opened = options.write(true).create(true).truncate(true).open(aside);
    let written = opened.and_then(|mut file| write(&mut file));
    let renamed = written.and_then(|written| fs::rename(aside, path).map(|()| written));
    renamed.inspect_err(|_| drop(fs::remove_file(aside)))
}

/// Writes a file with this content. It goes through a file of a name that no other thread or program uses.
pub fn write_whole(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    static WRITES: AtomicUsize = AtomicUsize::new(0);
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}.{}.part", std::process::id(), WRITES.fetch_add(1, Ordering::Relaxed)));
    replace(path, aside.as_ref(), &mut File::options(), |file| file.write_all(content.as_ref()))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_fails_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (path, aside) = (folder.path().join("file"), folder.path().join("aside"));
        write_whole(&path, "one").unwrap();
        let failed = replace(&path, &aside, &mut File::options(), |file| {
            file.write_all(b"two")?;
            Err::<(), _>(io::Error::other("no"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "no");
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_whole(folder.path(), "over a folder").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
