//! A disk that is full while an agent runs, and has room again later: the answer is the simulator's, and the log says what was missing.
#![allow(clippy::unwrap_used)]

mod crew;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crew::{Crew, Place, a9a, soon};

/// A small disk of its own, in memory; gone afterwards.
struct Disk(PathBuf);

impl Disk {
    /// Mounts it; the reason where that may not be.
    fn mount(at: &Path, size: &str) -> Result<Self, String> {
        std::fs::create_dir_all(at).unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(at)
            .output();
        match mount {
            Ok(mount) if mount.status.success() => Ok(Self(at.to_owned())),
            Ok(mount) => Err(String::from_utf8_lossy(&mount.stderr).into_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Fills it to the last byte.
    fn fill(&self) {
        let mut ballast = std::fs::File::options().create(true).append(true).open(self.ballast()).unwrap();
        while ballast.write_all(&[1; 256]).is_ok() {}
    }

    fn free(&self) {
        std::fs::remove_file(self.ballast()).unwrap();
    }

    fn ballast(&self) -> PathBuf {
        self.0.join("ballast")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// Full twice: in the middle, where the run goes on without checkpoints, and at the end, where it waits for room.
#[test]
fn a_disk_that_is_full_for_a_while_changes_nothing() {
    const ROUNDS: u64 = 4000;
    let place = Place::new(&a9a(3, ROUNDS, "[[topology]]\nname = \"ring\"\nkind = \"ring\"\n"));
    let mut crew = Crew::plan(&place, 3, &["--checkpoint-every", "10"]);
    let disk = match Disk::mount(&crew.folder.join("agent-1"), "2m") {
        Ok(disk) => disk,
        Err(why) => {
            return crew::leave_out("small-disk", &why);
        }
    };
    crew.start_all();
    let until = Instant::now() + soon();
    let seen = |name: &str| crew.folder.join("agent-1").join(name).exists();
    while !(seen("checkpoint-a") && seen("checkpoint-b")) {
        assert!(Instant::now() < until, "{}", crew.log(1));
        std::thread::sleep(Duration::from_millis(5));
    }
    disk.fill();
    while !crew.log(1).contains("no checkpoint at round ") {
        disk.fill(); // what the agent was just writing aside is room again when that fails
        assert!(Instant::now() < until, "{}", crew.log(1));
        std::thread::sleep(Duration::from_millis(5));
    }
    let first = crew.log(1);
    assert!(!first.contains(&format!("no checkpoint at round {ROUNDS}:")), "it ran while the disk was full");
    disk.free();
    std::thread::sleep(Duration::from_millis(100));
    while !crew.log(1).contains(&format!("no checkpoint at round {ROUNDS}:")) {
        disk.fill();
        assert!(Instant::now() < until, "{}", crew.log(1));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(crew.children[1].as_mut().unwrap().try_wait().unwrap().is_none(), "it waits for room");
    disk.free();
    crew.assert_simulated(&place, soon());
    assert!(crew.log(1).contains("No space left on device"), "{}", crew.log(1));
    assert!(![0, 2].into_iter().any(|other| crew.log(other).contains("no checkpoint")), "others have room");
}
