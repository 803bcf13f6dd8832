//! Under a real `mpirun`: bits, kills, signals, bad input.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use oneway::engine::{Engine, Simulator};
use oneway::numeric::Precision;
use oneway::numeric::sample::{Draws, Purpose};
use oneway_experiment::networked::{Networked, NetworkedCell};
use tempfile::TempDir;

const RING: &str = "[problem]\nkind = \"quadratic\"\ndim = 20\nnoise = 0.1\n[run]\nagents = 8\niterations = 400\n\
                    record_every = 50\n[[topology]]\nkind = \"ring\"\n[[method]]\nkind = \"smtpp\"\nstep = 0.01\n";

struct Place(TempDir);

impl Place {
    fn new(text: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.path("experiment.toml"), text).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `mpirun` of this many processes, with these words after the program.
    fn job(&self, ranks: usize, words: &[&str]) -> Command {
        let mut job = Command::new("mpirun");
        job.args(["--allow-run-as-root", "--oversubscribe", "-n", &ranks.to_string()]);
        job.arg(env!("CARGO_BIN_EXE_oneway-mpi")).args(words).current_dir(self.0.path());
        job.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        job
    }

    fn run(&self, ranks: usize, out: &str, words: &[&str]) -> Output {
        let all = [&["experiment.toml", "--out", out], words].concat();
        soon(self.job(ranks, &all))
    }

    fn hashes(&self) -> Vec<String> {
        let experiment = Networked::read(&self.path("experiment.toml"), &[]).unwrap();
        experiment.cells().iter().map(simulated).collect()
    }
}

/// The hash of a cell in the simulator, in the precision of the file.
fn simulated(cell: &NetworkedCell<'_>) -> String {
    let end = |mut engine: Box<dyn Engine<'_> + '_>| {
        (0..cell.rounds()).for_each(|_| engine.round().unwrap());
        engine.state_hash()
    };
    match cell.precision() {
        Precision::F64 => end(Box::new(Simulator::<f64>::with_precision(cell.setup()).unwrap())),
        Precision::F32 => end(Box::new(Simulator::<f32>::with_precision(cell.setup()).unwrap())),
    }
}

/// What a job says; it must not hang.
fn soon(mut job: Command) -> Output {
    let (mut child, began) = (job.spawn().unwrap(), Instant::now());
    while child.try_wait().unwrap().is_none() {
        let in_time = began.elapsed() < Duration::from_secs(60);
        if !in_time {
            child.kill().unwrap();
        }
        assert!(in_time, "it hangs: {job:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The hashes in a folder's summary, and its curves.
fn results(folder: &Path) -> (Vec<String>, String) {
    let summary: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.join("summary.json")).unwrap()).unwrap();
    let hash = |cell: &serde_json::Value| cell["state_hash"].as_str().unwrap().to_owned();
    let hashes = summary["cells"].as_array().unwrap().iter().map(hash).collect();
    (hashes, fs::read_to_string(folder.join("curves.csv")).unwrap())
}

/// Runs an experiment on 1, 2, 3 and 8 processes: the simulator's hashes, and one and the same curve.
fn has_the_simulators_bits(text: &str, points: usize) {
    let place = Place::new(text);
    let expected = place.hashes();
    let mut curves: Option<String> = None;
    for ranks in [1, 2, 3, 8] {
        let out = format!("out-{ranks}");
        let output = place.run(ranks, &out, &[]);
        assert!(output.status.success(), "{}", said(&output));
        let (hashes, csv) = results(&place.path(&out));
        assert_eq!(hashes, expected, "{ranks} processes");
        assert_eq!(csv.lines().count(), 1 + points * expected.len(), "state 0 and what is recorded");
        assert_eq!(*curves.get_or_insert(csv.clone()), csv);
    }
}

#[test]
fn the_hash_is_the_simulators_on_1_2_3_and_8_processes() {
    has_the_simulators_bits(
        &format!(
            "{RING}[[method]]\nkind = \"sgp\"\nstep = 0.01\n[[method]]\nkind = \"csgdm\"\nstep = 0.01\n\
             [[method]]\nname = \"gossip\"\nkind = \"smtpp\"\nstep = 0.01\ngossip = 2\n\
             [[topology]]\nkind = \"exponential\"\n"
        ),
        9,
    );
}

/// Codecs, several exchanges a round, a network that changes.
fn harder(precision: &str) -> String {
    let codecs = match precision {
        "f64" => {
            "[[method]]\nname = \"top\"\nkind = \"smtpp\"\nstep = 0.01\n\
             only = [\"exponential\"]\ncompress = { codec = \"top-k\", k = 7 }\n\
             [[method]]\nname = \"natural\"\nkind = \"push-pull\"\nstep = 0.01\n\
             only = [\"exponential\"]\ncompress = { codec = \"natural\" }\n\
             [[method]]\nname = \"gossip\"\nkind = \"smtpp\"\nstep = 0.01\ngossip = 3\n"
        }
        _ => "[[method]]\nkind = \"push-pull\"\nstep = 0.01\n[[method]]\nkind = \"sgp\"\nstep = 0.01\n",
    };
    format!(
        "[problem]\nkind = \"quadratic\"\ndim = 70\nnoise = 0.1\n[run]\nagents = 11\niterations = 60\n\
         record_every = 20\nprecision = \"{precision}\"\n[[topology]]\nkind = \"exponential\"\n\
         [[topology]]\nkind = \"one-peer-exponential\"\n\
         [[method]]\nkind = \"smtpp\"\nstep = 0.01\n{codecs}"
    )
}

#[test]
fn so_it_is_with_codecs_phases_and_networks_that_change() {
    has_the_simulators_bits(&harder("f64"), 4);
}

#[test]
fn so_it_is_in_single_precision() {
    has_the_simulators_bits(&harder("f32"), 4);
}

/// The processes that are children of `mpirun`.
fn processes(mpirun: u32) -> Vec<u32> {
    let of = |entry: fs::DirEntry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent: u32 = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
        (parent == mpirun && stat.contains("(oneway-mpi)")).then_some(id)
    };
    fs::read_dir("/proc").unwrap().filter_map(|entry| of(entry.unwrap())).collect()
}

fn signal(name: &str, process: u32) {
    Command::new("kill").args([format!("-{name}"), process.to_string()]).status().unwrap();
}

/// Whether a process handles SIGTERM by now (bit 14 of what the kernel says it catches).
fn listens(process: &u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << 14) != 0)
}

/// Starts a job, waits until all its processes listen for signals and for a while, and calls `strike` with them.
fn struck(place: &Place, words: &[&str], wait: Duration, strike: impl FnOnce(u32, &[u32])) -> Output {
    let ranks = 3;
    let all = [&["experiment.toml", "--out", "out", "--resume", "--checkpoint-every", "20"], words].concat();
    let mut child = place.job(ranks, &all).spawn().unwrap();
    let began = Instant::now();
    while processes(child.id()).iter().filter(|process| listens(process)).count() < ranks
        && began.elapsed() < Duration::from_secs(30)
    {
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(wait);
    strike(child.id(), &processes(child.id()));
    let limit = Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < limit, "it hangs");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// Kills a process at random moments until that many jobs have died of it, then lets the run end: the bits of
/// one that nobody disturbed. How fast the machine is does not matter: a job that ended before it was struck is
/// begun again, and a run is longer than what the kills leave of it.
fn survives(kills: usize, seed: u64) {
    let place = Place::new(&RING.replace("iterations = 400", "iterations = 60000"));
    let expected = place.hashes();
    let whole = place.run(2, "whole", &[]);
    assert!(whole.status.success(), "{}", said(&whole));
    let mut draws = Draws::new(seed, Purpose::Clock, 0, 0);
    let (mut killed, mut went_on) = (0, 0);
    for _ in 0..10 * kills {
        let wait = Duration::from_millis(50 + draws.below(400) as u64);
        let victim = draws.below(3);
        let had = place.path("out/checkpoints").exists();
        let output = struck(&place, &[], wait, |_, all| {
            if let Some(process) = all.get(victim) {
                signal("KILL", *process);
            }
        });
        match output.status.success() {
            true => fs::remove_dir_all(place.path("out")).unwrap(),
            false => {
                assert!(said(&output).contains("rank"), "who it was is said: {}", said(&output));
                killed += 1;
                went_on += usize::from(had);
            }
        }
        if killed == kills {
            break;
        }
    }
    assert_eq!(killed, kills, "jobs that died");
    assert!(kills < 10 || went_on > 0, "no job went on from a checkpoint");
    let output = place.run(3, "out", &["--resume"]);
    assert!(output.status.success(), "{}", said(&output));
    let (hashes, csv) = results(&place.path("out"));
    assert_eq!(hashes, expected);
    assert!(csv == results(&place.path("whole")).1, "the curve is that of a run that nobody disturbed");
    assert!(!place.path("out/checkpoints").exists(), "nothing is left of what was on the way");
}

#[test]
fn a_process_that_is_killed_is_named_and_the_run_goes_on_from_the_last_checkpoint() {
    survives(3, 1);
}

/// `just kill-mpi`.
#[test]
#[ignore = "takes a while"]
fn twenty_kills_change_nothing() {
    survives(20, 2);
}

#[test]
fn signals_write_a_checkpoint() {
    let place = Place::new(&RING.replace("iterations = 400", "iterations = 3000000"));
    let state = || fs::read_dir(place.path("out/checkpoints")).map_or(0, Iterator::count);
    let words = &[];
    let output = struck(&place, words, Duration::from_millis(400), |_, all| signal("TERM", all[1]));
    assert_eq!(output.status.code(), Some(75), "{}", said(&output));
    assert!(said(&output).contains("--resume goes on"), "{}", said(&output));
    assert_eq!(state(), 1);
    let output = struck(&place, words, Duration::from_millis(400), |_, all| {
        signal("USR1", all[2]);
        std::thread::sleep(Duration::from_millis(300));
        signal("TERM", all[0]);
    });
    assert_eq!(output.status.code(), Some(75), "{}", said(&output));
}

#[test]
fn what_is_wrong_is_said_once_with_code_2_and_nothing_hangs() {
    let place = Place::new(RING);
    let once = |output: &Output, words: &str| {
        assert_eq!(output.status.code(), Some(2), "{}", said(output));
        assert_eq!(said(output).matches("oneway-mpi: ").count(), 1, "by one process: {}", said(output));
        assert!(said(output).contains(words), "{}", said(output));
        assert!(!place.path("out").exists(), "nothing was written");
    };
    once(&place.run(9, "out", &[]), "9 processes for 8 agents");
    once(&soon(place.job(2, &["nowhere.toml", "--out", "out"])), "nowhere.toml");
    once(&place.run(2, "out", &["--set", "run.iterations=-1"]), "iterations");
    fs::write(place.path("file"), "").unwrap();
    once(&place.run(2, "file/out", &[]), "cannot write to the output folder");
    // what only the second process is told
    let told = |words: &[&str]| {
        let mut job = place.job(1, &["experiment.toml", "--out", "out"]);
        job.args([":", "-n", "1", env!("CARGO_BIN_EXE_oneway-mpi"), "experiment.toml", "--out", "out"]);
        job.args(words);
        soon(job)
    };
    once(&told(&["--set", "run.seed=2"]), "than on rank 0 on rank 1");
    once(&told(&["--checkpoint-every", "7"]), "than on rank 0 on rank 1");
    let output = told(&["--wrong"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert_eq!(said(&output).matches("error: unexpected argument").count(), 1, "{}", said(&output));
    let output = place.run(2, "out", &["--checkpoint-every", "x"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(said(&output).matches("error: invalid value").count(), 1, "{}", said(&output));
    // a checkpoint that is damaged
    let place = Place::new(&RING.replace("iterations = 400", "iterations = 3000000"));
    struck(&place, &[], Duration::from_millis(400), |_, all| signal("TERM", all[0]));
    let file = fs::read_dir(place.path("out/checkpoints")).unwrap().next().unwrap().unwrap().path();
    fs::write(&file, "x").unwrap();
    let output = place.run(2, "out", &["--resume"]);
    assert_eq!((output.status.code(), said(&output).contains("is damaged")), (Some(2), true));
}
