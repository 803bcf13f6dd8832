//! What tests with real processes share: experiments, the simulator's answer, and agents as child processes.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod proxy;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use oneway::engine::Simulator;
use oneway::engine::observe::View;
use oneway::engine::record::Recorder;
use oneway::engine::simulator::Number;
use oneway::engine::{Engine, Status};
use oneway::numeric::Precision;
use oneway_agent::plan::hosts::free_addresses;
use oneway_experiment::networked::{Ended, Networked, NetworkedCell};

pub const RING: &str = "[[topology]]\nname = \"ring\"\nkind = \"ring\"\n";
pub const SMTPP: &str =
    "[[method]]\nname = \"SMTPP\"\nkind = \"smtpp\"\nstep = { size = 0.05, scaling = \"effective\" }\n";

/// How long anything may take at the very most: a loaded machine does a hundred rounds a second.
pub fn soon() -> Duration {
    Duration::from_secs(300)
}

/// The program.
pub fn agent() -> Command {
    Command::new(env!("CARGO_BIN_EXE_oneway-agent"))
}

/// Runs it to its end.
pub fn output(arguments: &[&str]) -> Output {
    agent().args(arguments).output().unwrap()
}

/// What it said of an error.
pub fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An experiment on a9a with SMTPP.
pub fn a9a(agents: usize, iterations: u64, topologies: &str) -> String {
    format!(
        "[problem]\nkind = \"logistic\"\ndataset = \"a9a\"\nalpha = 0.01\nbatch = 1\n\
[run]\nagents = {agents}\niterations = {iterations}\nrepetitions = 1\nseed = 3\nrecord_every = 20\n{topologies}\n\
[[method]]\nname = \"SMTPP\"\nkind = \"smtpp\"\nmomentum = 0.1\nstep = {{ size = 0.1, scaling = \"effective\" }}\n"
    )
}

/// The same on a small quadratic, with these methods.
pub fn quadratic(agents: usize, iterations: u64, rest: &str) -> String {
    format!(
        "[problem]\nkind = \"quadratic\"\ndim = 5\ncurvature = [0.5, 1.0]\nnoise = 0.3\n\
[run]\nagents = {agents}\niterations = {iterations}\nrepetitions = 1\nseed = 5\nrecord_every = 10\n{rest}"
    )
}

/// An experiment in a file of its own, in a folder that is gone afterwards.
pub struct Place {
    pub folder: tempfile::TempDir,
    pub file: PathBuf,
}

impl Place {
    pub fn new(experiment: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("experiment.toml");
        std::fs::write(&file, experiment).unwrap();
        Self { folder, file }
    }

    /// How many topologies the experiment has.
    pub fn topologies(&self) -> usize {
        std::fs::read_to_string(&self.file).unwrap().matches("[[topology]]").count()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the simulator writes: `curves.csv` as bytes, and the hashes of all cells.
    pub fn simulated(&self) -> (Vec<u8>, Vec<String>) {
        let experiment = Networked::read(&self.file, &[]).unwrap();
        let cells = experiment.cells();
        let results: Vec<_> = cells.iter().map(|cell| (cell.clone(), simulate(cell))).collect();
        let hashes = results.iter().map(|(_, ended)| ended.state_hash.clone()).collect();
        let out = self.path("simulated");
        experiment.save(&out, results).unwrap();
        (std::fs::read(out.join("curves.csv")).unwrap(), hashes)
    }

    /// Fails unless a folder of results is what the simulator would have written.
    pub fn assert_simulated(&self, out: &Path) {
        let (curves, hashes) = self.simulated();
        let summary: serde_json::Value =
            serde_json::from_slice(&std::fs::read(out.join("summary.json")).unwrap()).unwrap();
        let found: Vec<&str> = summary["cells"]
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| cell["state_hash"].as_str().unwrap())
            .collect();
        assert_eq!(found, hashes);
        assert_eq!(std::fs::read(out.join("curves.csv")).unwrap(), curves);
    }
}

fn simulate(cell: &NetworkedCell<'_>) -> Ended {
    match cell.precision() {
        Precision::F64 => simulate_in::<f64>(cell),
        Precision::F32 => simulate_in::<f32>(cell),
    }
}

fn simulate_in<T: Number>(cell: &NetworkedCell<'_>) -> Ended {
    let mut simulator = Simulator::<T>::with_precision(cell.setup()).unwrap();
    let (mut recorder, every, rounds) = (Recorder::new(cell.extras()), cell.record_every(), cell.rounds());
    let mut watch = |view: &View<'_>| {
        if view.k.is_multiple_of(every) || view.k == rounds {
            recorder.record(view)?;
        }
        Ok(std::ops::ControlFlow::Continue(()))
    };
    let outcome = simulator.run(rounds, cell.look_every(), &mut watch).unwrap();
    let (diverged, rounds) = match outcome.status {
        Status::Diverged { round } => (true, round),
        _ => (false, rounds),
    };
    Ended {
        diverged,
        rounds,
        state_hash: simulator.state_hash(),
        seconds: 0.0,
        seconds_observing: 0.0,
        points: recorder.finish(&simulator.view()).unwrap(),
    }
}

/// Agents as child processes, from the configs that `plan` wrote. They end with it.
pub struct Crew {
    pub folder: PathBuf,
    pub children: Vec<Option<Child>>,
}

impl Crew {
    /// `plan`s an experiment of one cell on loopback; nobody is started yet.
    pub fn plan(place: &Place, agents: usize, options: &[&str]) -> Self {
        Self::plan_on(place, &hosts_file(agents), agents, options)
    }

    /// The same on given hosts.
    pub fn plan_on(place: &Place, hosts_file: &str, agents: usize, options: &[&str]) -> Self {
        let hosts = place.path("hosts.toml");
        std::fs::write(&hosts, hosts_file).unwrap();
        let folder = place.path("plan");
        let planned = agent()
            .arg("plan")
            .arg(&place.file)
            .arg("--hosts")
            .arg(&hosts)
            .arg("--out")
            .arg(&folder)
            .args(options)
            .output()
            .unwrap();
        assert!(planned.status.success(), "{}", complaint(&planned));
        Self { folder, children: (0..agents).map(|_| None).collect() }
    }

    pub fn config(&self, agent: usize) -> PathBuf {
        self.folder.join(format!("agent-{agent}.toml"))
    }

    /// Replaces text in an agent's config.
    pub fn edit(&self, agent: usize, from: &str, to: &str) {
        let path = self.config(agent);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from} in {text}");
        std::fs::write(path, text.replace(from, to)).unwrap();
    }

    /// The address of an agent, as its neighbours have it.
    pub fn address(&self, agent: usize) -> String {
        self.text_of(agent, "listen = ").split_once('/').unwrap().1.to_owned()
    }

    /// Where it has its pages of numbers.
    pub fn metrics(&self, agent: usize) -> String {
        self.text_of(agent, "metrics = ")
    }

    fn text_of(&self, agent: usize, key: &str) -> String {
        let config = std::fs::read_to_string(self.config(agent)).unwrap();
        config.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim_matches('"').to_owned()
    }

    pub fn start(&mut self, who: usize) {
        self.start_by(who, agent(), &[]);
    }

    /// The same by a command that runs the program, somewhere else, or with options.
    pub fn start_by(&mut self, who: usize, mut command: Command, options: &[&str]) {
        let log = std::fs::File::options().create(true).append(true).open(self.log_path(who)).unwrap();
        let child = command
            .arg("run")
            .arg(self.config(who))
            .args(options)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.children[who] = Some(child);
    }

    pub fn start_all(&mut self) {
        (0..self.children.len()).for_each(|agent| self.start(agent));
    }

    /// Sends a signal, by its name, to an agent that runs.
    pub fn signal(&self, agent: usize, name: &str) {
        let id = self.children[agent].as_ref().unwrap().id();
        let sent = Command::new("sh").arg("-c").arg(format!("kill -{name} {id}")).status().unwrap();
        assert!(sent.success(), "SIG{name} to agent {agent}: {sent}");
    }

    /// SIGKILL.
    pub fn kill(&mut self, agent: usize) {
        if let Some(mut child) = self.children[agent].take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    fn log_path(&self, agent: usize) -> PathBuf {
        self.folder.join(format!("agent-{agent}.log"))
    }

    pub fn log(&self, agent: usize) -> String {
        std::fs::read_to_string(self.log_path(agent)).unwrap_or_default()
    }

    /// What all agents have said.
    fn logs(&self) -> String {
        let of = |agent| format!("agent {agent} said:\n{}", self.log(agent));
        (0..self.children.len()).map(of).collect()
    }

    /// Waits for an agent to end.
    pub fn wait(&mut self, agent: usize, at_most: Duration) -> ExitStatus {
        let until = Instant::now() + at_most;
        loop {
            if let Some(status) = self.children[agent].as_mut().unwrap().try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "agent {agent} still runs; {}", self.logs());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until an agent has recorded this many bytes of states.
    pub fn wait_for_states(&self, agent: usize, bytes: u64, at_most: Duration) {
        let until = Instant::now() + at_most;
        while self.states(agent) < bytes {
            assert!(Instant::now() < until, "agent {agent} makes no progress; {}", self.logs());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// How many bytes of states an agent has recorded.
    pub fn states(&self, agent: usize) -> u64 {
        std::fs::metadata(self.folder.join(format!("agent-{agent}/states"))).map_or(0, |file| file.len())
    }

    /// Waits until a log says something.
    pub fn wait_for_words(&self, agent: usize, words: &str, at_most: Duration) {
        let until = Instant::now() + at_most;
        while !self.log(agent).contains(words) {
            assert!(Instant::now() < until, "agent {agent} never said \"{words}\":\n{}", self.log(agent));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until any log says something.
    pub fn wait_for_any_words(&self, words: &str, at_most: Duration) {
        let until = Instant::now() + at_most;
        while !(0..self.children.len()).any(|agent| self.log(agent).contains(words)) {
            assert!(Instant::now() < until, "nobody ever said \"{words}\"; {}", self.logs());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for all agents to end well, and compares what they did with the simulator.
    pub fn assert_simulated(&mut self, place: &Place, at_most: Duration) {
        let until = Instant::now() + at_most;
        for agent in 0..self.children.len() {
            let status = self.wait(agent, until.saturating_duration_since(Instant::now()));
            assert!(status.success(), "agent {agent}: {status}\n{}", self.log(agent));
        }
        let out = place.path("gathered");
        let gather = [&place.file, &self.folder, &out].map(|path| path.to_str().unwrap().to_owned());
        let gathered = output(&["gather", &gather[0], "--plan", &gather[1], "--out", &gather[2]]);
        assert!(gathered.status.success(), "{}", complaint(&gathered));
        place.assert_simulated(&out);
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        (0..self.children.len()).for_each(|agent| self.kill(agent));
    }
}

/// Something that this machine does not have, so that a test cannot be done here: said, and noted in the file
/// that `ONEWAY_LEFT_OUT` names. Where it must be had, because `ONEWAY_REQUIRES` lists it (as CI does), the
/// test fails.
pub fn leave_out(what: &str, why: &str) {
    let required = std::env::var("ONEWAY_REQUIRES").unwrap_or_default();
    assert!(!required.split_whitespace().any(|name| name == what), "{what} must be had here: {why}");
    let line = format!("left out for want of {what}: {why}");
    eprintln!("{line}");
    if let Some(path) = std::env::var_os("ONEWAY_LEFT_OUT") {
        let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }
}

/// Makes keys for agents on loopback, in a folder of this name.
pub fn keys(place: &Place, agents: usize, name: &str) -> PathBuf {
    let hosts = place.path("hosts-for-keys.toml");
    std::fs::write(&hosts, hosts_file(agents)).unwrap();
    let folder = place.path(name);
    let made = agent().arg("keys").arg("--hosts").arg(hosts).arg("--out").arg(&folder).output().unwrap();
    assert!(made.status.success(), "{}", complaint(&made));
    folder
}

pub fn hosts_file(agents: usize) -> String {
    let mut addresses = free_addresses(2 * agents).unwrap();
    let metrics = addresses.split_off(agents);
    let entry = |(address, metrics)| format!("[[agent]]\naddress = \"{address}\"\nmetrics = \"{metrics}\"\n");
    addresses.iter().zip(&metrics).map(entry).collect()
}
