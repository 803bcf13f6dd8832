//! Compiled kernels on disk, by what they were made of.

use std::io::Write;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

/// Kernels that are kept, at most; the oldest go first.
const MOST: usize = 512;

/// The longest kernel that is read back.
const LONGEST: u64 = 16 << 20;

/// A folder of compiled kernels. A file is a hash of the rest in hexadecimal, a line break, and PTX; what
/// does not fit its hash is not there.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The user's, where there is a place for such things.
    pub(super) fn in_home() -> Option<Self> {
        let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = given("XDG_CACHE_HOME").or_else(|| Some(given("HOME")?.join(".cache")))?;
        Some(Self { folder: folder.join("oneway").join("kernels") })
    }

    #[cfg(test)]
    fn at(folder: &std::path::Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// What tells kernels apart: the text, the options, and the compiler's version.
    pub(super) fn key(source: &str, options: &[String], compiler: (i32, i32)) -> String {
        let mut all = format!("{}.{}\n{}", compiler.0, compiler.1, options.join("\n")).into_bytes();
        all.push(0);
        all.extend(source.as_bytes());
        hash(&all)
    }

    fn file(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.ptx"))
    }

    /// The kernels of this key, if they are there whole.
    pub(super) fn get(&self, key: &str) -> Option<String> {
        let file = self.file(key);
        if std::fs::metadata(&file).ok()?.len() > LONGEST {
            return None;
        }
        let text = std::fs::read_to_string(file).ok()?;
        let (found, ptx) = text.split_once('\n')?;
        (found == hash(ptx.as_bytes())).then(|| ptx.to_owned())
    }

    /// Keeps kernels, if that is possible; a cache that cannot be written is no reason to fail.
    pub(super) fn put(&self, key: &str, ptx: &str) {
        let _ = self.try_put(key, ptx);
    }

    fn try_put(&self, key: &str, ptx: &str) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        write!(file, "{}\n{ptx}", hash(ptx.as_bytes()))?;
        file.persist(self.file(key))?; // at once or not at all
        self.forget_the_oldest()
    }

    fn forget_the_oldest(&self) -> std::io::Result<()> {
        let mut files = vec![];
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            files.push((entry.metadata()?.modified()?, entry.path()));
        }
        files.sort();
        let too_many = files.len().saturating_sub(MOST);
        files.iter().take(too_many).for_each(|(_, file)| drop(std::fs::remove_file(file)));
        Ok(())
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect()
}

fn digit(half: u8) -> char {
    char::from_digit(u32::from(half), 16).unwrap_or('0')
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_was_kept_comes_back_and_what_is_spoilt_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(&folder.path().join("new"));
        let key_of = |text, option: &str, compiler| Cache::key(text, &[option.to_owned()], compiler);
        let key = key_of("text", "--fmad=false", (13, 0));
        assert_eq!(cache.get(&key), None);
        cache.put(&key, ".version 9.0\n…");
        assert_eq!(cache.get(&key).as_deref(), Some(".version 9.0\n…"));
        for spoilt in [&b""[..], b"no line break", b"0000\n.version 9.0", &[0xff, 0xfe, b'\n']] {
            std::fs::write(cache.file(&key), spoilt).unwrap();
            assert_eq!(cache.get(&key), None, "{spoilt:?}");
        }
        cache.put(&key, "again");
        assert_eq!(cache.get(&key).as_deref(), Some("again"));
        let others = [
            ("text ", "--fmad=false", (13, 0)),
            ("text", "--fmad=true", (13, 0)),
            ("text", "--fmad=false", (13, 1)),
        ];
        assert!(others.iter().all(|&(text, option, compiler)| key_of(text, option, compiler) != key));
    }

    #[test]
    fn no_more_are_kept_than_may_be() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        for i in 0..MOST + 3 {
            std::fs::write(folder.path().join(format!("{i}")), "old").unwrap();
        }
        cache.put("new", "kernels");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), MOST);
        assert_eq!(cache.get("new").as_deref(), Some("kernels"));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_reason_to_fail() {
        let cache = Cache::at(Path::new("/dev/null/kernels"));
        cache.put("key", "kernels");
        assert_eq!(cache.get("key"), None);
    }
}
