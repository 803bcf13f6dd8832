//! What is on disk: full for a while, damaged, missing, or somebody else's. The answer is the simulator's, or
//! there is none and the reason is named; nothing is lost in silence.
#![allow(clippy::unwrap_used)]

mod crew;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use crew::{Crew, Place, RING, SMTPP, a9a, complaint, output, quadratic, soon};

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

    /// The files on it, with the times at which they were written.
    fn content(&self) -> BTreeMap<PathBuf, SystemTime> {
        let files = std::fs::read_dir(&self.0).unwrap().map(|file| file.unwrap().path());
        let written = |path: &PathBuf| std::fs::metadata(path).and_then(|file| file.modified()).ok();
        files
            .filter(|path| *path != self.ballast())
            .filter_map(|path| Some((path.clone(), written(&path)?)))
            .collect()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

fn wait_until(crew: &Crew, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + soon();
    while !holds() {
        assert!(Instant::now() < until, "{}", crew.log(1));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Fills the disk of agent 1 while a neighbour holds still, so that nothing is being written whose end would
/// leave room again.
fn fill_at_rest(crew: &Crew, disk: &Disk) {
    crew.signal(2, "STOP");
    let mut before = BTreeMap::new();
    wait_until(crew, || {
        std::thread::sleep(Duration::from_millis(300));
        let now = disk.content();
        std::mem::replace(&mut before, now.clone()) == now
    });
    disk.fill();
    crew.signal(2, "CONT");
}

/// Full twice: in the middle, where the run goes on without checkpoints, and at the end, where it waits for
/// room.
#[test]
fn a_disk_that_is_full_for_a_while_changes_nothing() {
    const ROUNDS: u64 = 8000; // the disk must be full before they are done, on a busy machine too
    let place = Place::new(&a9a(3, ROUNDS, "[[topology]]\nname = \"ring\"\nkind = \"ring\"\n"));
    let mut crew = Crew::plan(&place, 3, &["--checkpoint-every", "10"]);
    let disk = match Disk::mount(&crew.folder.join("agent-1"), "2m") {
        Ok(disk) => disk,
        Err(why) => {
            return crew::leave_out("small-disk", &why);
        }
    };
    crew.start_all();
    wait_until(&crew, || ["checkpoint-a", "checkpoint-b"].iter().all(|name| disk.0.join(name).exists()));
    fill_at_rest(&crew, &disk);
    // whichever fails first is said at once, the other up to five seconds later
    wait_until(&crew, || {
        ["no checkpoint at round ", "not recorded yet"].iter().any(|words| crew.log(1).contains(words))
    });
    let last = format!("no checkpoint at round {ROUNDS}:");
    assert!(!crew.log(1).contains(&last), "the disk was full in the middle: {}", crew.log(1));
    let before = disk.content();
    disk.free();
    wait_until(&crew, || disk.content() != before);
    fill_at_rest(&crew, &disk);
    wait_until(&crew, || crew.log(1).contains(&last));
    assert!(crew.children[1].as_mut().unwrap().try_wait().unwrap().is_none(), "it waits for room");
    disk.free();
    crew.assert_simulated(&place, soon());
    assert!(crew.log(1).contains("No space left on device"), "{}", crew.log(1));
    assert!(crew.log(1).matches("no checkpoint at round ").count() < 60, "it is not said again and again");
    assert!(![0, 2].into_iter().any(|other| crew.log(other).contains("no checkpoint")), "others have room");
}

/// Agents that have come to their end.
fn ended(rounds: u64) -> (Place, Crew) {
    let place = Place::new(&quadratic(3, rounds, &format!("{RING}{SMTPP}")));
    let mut crew = Crew::plan(&place, 3, &["--checkpoint-every", "20"]);
    crew.start_all();
    crew.assert_simulated(&place, soon());
    (place, crew)
}

/// Fails unless it is refused with these words, and nothing is written.
fn gather_is_refused(place: &Place, crew: &Crew, words: &str) {
    let out = place.path("refused");
    let paths = [&place.file, &crew.folder, &out].map(|path| path.to_str().unwrap());
    let gathered = output(&["gather", paths[0], "--plan", paths[1], "--out", paths[2]]);
    let said = complaint(&gathered);
    assert_eq!(gathered.status.code(), Some(2), "{said}");
    assert!(said.contains(words), "{words} in {said}");
    assert!(!out.exists());
}

/// The same of an agent that is started.
fn run_is_refused(crew: &Crew, agent: usize, words: &str) {
    let run = output(&["run", crew.config(agent).to_str().unwrap()]);
    let said = complaint(&run);
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(said.contains(words), "{words} in {said}");
}

fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn folders_that_were_mixed_up_are_refused() {
    let (place, crew) = ended(100);
    let [first, second, aside] = ["agent-0", "agent-1", "aside"].map(|name| crew.folder.join(name));
    for (from, to) in [(&first, &aside), (&second, &first), (&aside, &second)] {
        std::fs::rename(from, to).unwrap();
    }
    gather_is_refused(&place, &crew, "is of agent 1, not agent 0");
    run_is_refused(&crew, 0, "is of agent 1, not agent 0");
    for (from, to) in [(&first, &aside), (&second, &first), (&aside, &second)] {
        std::fs::rename(from, to).unwrap();
    }
    for name in ["states", "finished.json", "checkpoint-a", "ends.json"] {
        let [own, other] = [&first, &second].map(|folder| std::fs::read(folder.join(name)).unwrap());
        std::fs::write(first.join(name), &other).unwrap();
        run_is_refused(&crew, 0, &format!("{name} is of agent 1, not agent 0"));
        if ["states", "finished.json"].contains(&name) {
            gather_is_refused(&place, &crew, &format!("{name} is of agent 1, not agent 0"));
        }
        assert_eq!(std::fs::read(first.join(name)).unwrap(), other, "it is left as it is");
        std::fs::write(first.join(name), own).unwrap();
    }
    // the same run, gathered as another one
    let other = Place::new(&quadratic(3, 100, &format!("{RING}{SMTPP}")).replace("seed = 5", "seed = 6"));
    gather_is_refused(&other, &crew, "is not of this experiment: its");
}

/// What was recorded before both checkpoints cannot be recorded again.
#[test]
fn states_that_are_damaged_for_good_are_refused_and_left_alone() {
    let (place, crew) = ended(200);
    let states = crew.folder.join("agent-1/states");
    let whole = std::fs::read(&states).unwrap();
    flip(&states, 200);
    let damaged = std::fs::read(&states).unwrap();
    gather_is_refused(&place, &crew, "states: record 0, of round 0, is damaged: its checksum does not match");
    run_is_refused(
        &crew,
        1,
        "states: record 0, of round 0, is damaged: its checksum does not match, and what is missing cannot be recorded again, since the oldest whole checkpoint is of round 180",
    );
    assert_eq!(std::fs::read(&states).unwrap(), damaged);

    std::fs::remove_file(&states).unwrap();
    gather_is_refused(&place, &crew, "agent-1/states: No such file");
    run_is_refused(&crew, 1, "states: it is missing");
    assert!(!states.exists());

    std::fs::write(&states, &whole).unwrap();
    for name in ["checkpoint-a", "checkpoint-b"] {
        std::fs::remove_file(crew.folder.join("agent-1").join(name)).unwrap();
    }
    run_is_refused(&crew, 1, "there are states of rounds up to 200, and no checkpoint");
    assert_eq!(std::fs::read(&states).unwrap(), whole);
}

/// What was recorded after a checkpoint is recorded again, and what was found is kept.
#[test]
fn states_that_were_damaged_after_a_checkpoint_are_recorded_again() {
    let place = Place::new(&a9a(3, 20_000, RING));
    let mut crew = Crew::plan(&place, 3, &["--checkpoint-every", "500"]);
    crew.start_all();
    crew.wait_for_states(2, 200_000, soon());
    (0..3).for_each(|agent| crew.kill(agent));
    let states = crew.folder.join("agent-1/states");
    let last = std::fs::read(&states).unwrap().len() - 20;
    flip(&states, last);
    crew.start_all();
    crew.assert_simulated(&place, soon());
    assert!(
        crew.log(1).contains("is damaged: its checksum does not match; it is recorded again from there on")
    );
    assert!(crew.folder.join("agent-1/states.damaged-1").exists());
}

/// However often states are looked at for divergence, only those that are asked for are recorded; and a run
/// that diverges between two of them ends where the simulator does.
#[test]
fn no_more_is_recorded_than_is_asked_for() {
    for (step, rounds) in [("0.05", 2500), ("400.0", 5000)] {
        let method = format!("[[method]]\nname = \"SMTPP\"\nkind = \"smtpp\"\nstep = {{ size = {step} }}\n");
        let experiment = quadratic(4, rounds, &format!("{RING}{method}"))
            .replace("record_every = 10", "record_every = 1009");
        let place = Place::new(&experiment);
        let mut crew = Crew::plan(&place, 4, &["--guard", "1e300", "--checkpoint-every", "2"]);
        crew.start_all();
        crew.assert_simulated(&place, soon());
        let bytes = std::fs::metadata(crew.folder.join("agent-0/states")).unwrap().len();
        assert!(bytes < 2000, "{bytes} bytes, of four records");
        crew.start(2);
        crew.assert_simulated(&place, soon());
    }
}
