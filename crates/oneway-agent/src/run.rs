//! `oneway-agent run`: the agents of a process, from their configs to their last round, through restarts.

mod prepare;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use oneway::engine::Schedule;
use oneway::method::Method;
use oneway::numeric::Precision;
use oneway::problem::Problem;

use crate::agent::Task;
use crate::disk::finished::Finished;
use crate::link::zenoh::observer::Estimates;
use crate::link::zenoh::{Block, ZenohLink, ZenohOptions};
use crate::plan::config::{Config, describe};
use crate::plan::endpoints::Endpoints;
use crate::plan::ties::Ties;
use crate::rounds::{Halt, Rounds};
use crate::watch::metrics;
use crate::watch::rate_limit::RateLimit;
use crate::wire::Number;
use prepare::{Ready, prepare};

/// How an agent ended, and which it is.
pub type Ended = Result<Finished, (usize, Halt)>;

/// An agent as its config describes it.
struct Loaded {
    config: Config,
    ties: Ties,
    schedule: Schedule,
    method: Box<dyn Method>,
    problem: Box<dyn Problem>,
    state: PathBuf,
}

impl Loaded {
    /// Reads a config; its state is in the given folder, or in the one that it names.
    fn read(path: &Path, state: Option<&Path>) -> Result<Self> {
        let config = Config::read(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let place = || path.display().to_string();
        let (ties, schedule) = (config.ties(), config.step.build().with_context(place)?);
        let recipe = config.recipe().with_context(place)?;
        let method = recipe.build().with_context(place)?;
        let said = describe(&recipe, &config.step)?;
        if said != config.identity.method {
            bail!(
                "{}: the config was changed after it was planned: its method is {said}, and it was planned for {}",
                place(),
                config.identity.method
            );
        }
        if config.digest()? != config.sha256 {
            bail!(
                "{}: the config was changed after it was planned: only addresses, limits and places may be",
                place()
            );
        }
        let problem = config.problem(folder).with_context(place)?;
        method.check_problem(&*problem).with_context(place)?;
        config.network.check().with_context(place)?;
        let state = state.map_or_else(|| folder.join(&config.state), Path::to_owned);
        Ok(Self { config, ties, schedule, method, problem, state })
    }

    fn task(&self) -> Task<'_> {
        let Self { config, ties, schedule, method, problem, .. } = self;
        Task { method: &**method, problem: &**problem, ties, schedule: *schedule, seed: config.identity.seed }
    }
}

/// Runs the agent of a config file. Its state is in the given folder, or in the one that the config names.
/// The outer error is bad input; the inner one is a run that could not continue.
pub fn run(path: &Path, state: Option<&Path>) -> Result<Ended> {
    run_all(&[(path.to_owned(), state.map(Path::to_owned))])
}

/// Runs all agents of a process, each by its config file and the folder of its state. If one of them cannot
/// continue, all stop, and it is the one that is named.
pub fn run_all(configs: &[(PathBuf, Option<PathBuf>)]) -> Result<Ended> {
    let read = |(path, state): &(PathBuf, Option<PathBuf>)| Loaded::read(path, state.as_deref());
    let loaded = configs.iter().map(read).collect::<Result<Vec<_>>>()?;
    let Some(first) = loaded.first() else { bail!("there is no agent to run") };
    let network = &first.config.network;
    let agents = first.config.identity.agent..first.config.identity.agent + loaded.len();
    let planned = network.block.map_or(agents.start..agents.start + 1, |(first, last)| first..last + 1);
    if agents != planned || loaded.iter().any(|other| other.config.network.listen != network.listen) {
        bail!(
            "{}: agents {} to {} run in one process: start it by plan.toml, as in the job before",
            configs[0].0.display(),
            planned.start,
            planned.end - 1
        );
    }
    match first.config.identity.precision {
        Precision::F64 => run_in::<f64>(&loaded),
        Precision::F32 => run_in::<f32>(&loaded),
    }
}

/// Runs agents in the precision of T.
fn run_in<T: Number>(loaded: &[Loaded]) -> Result<Ended> {
    let mut ready = vec![];
    for one in loaded {
        match prepare::<T>(&one.config, one.task(), &one.state)? {
            Ok(one) => ready.push(one),
            Err(halt) => return Ok(Err((one.config.identity.agent, halt))),
        }
    }
    let number = loaded[0].config.identity.agent;
    let endpoints = endpoints(loaded);
    let listen = endpoints.listens_at();
    let not_now = |error: &dyn std::fmt::Display| {
        Ok(Err((number, Halt::NotNow(format!("listening at {listen}: {error}")))))
    };
    if let Err(error) = can_listen(&listen) {
        return not_now(&error);
    }
    for one in &ready {
        if let Some(address) = &one.config.metrics {
            metrics::serve(address.clone(), Arc::clone(&one.status)).context("metrics")?;
        }
    }
    let links = match open(&ready, &endpoints) {
        Ok(links) => links,
        // the address may be in use, by its own last process for example, or not configured yet
        Err(error) => return not_now(&error),
    };
    let (block, links) = links;
    let stop: Arc<Vec<_>> = Arc::new(links.iter().map(ZenohLink::stopper).collect());
    let all = Arc::clone(&stop);
    ctrlc::set_handler(move || all.iter().for_each(|stop| stop())).context("cannot listen for signals")?;

    let first = Mutex::new(None);
    let failed = |agent: usize, ended: Result<Halt>| {
        first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((agent, ended));
        stop.iter().for_each(|stop| stop()); // the others of the process would wait for it
    };
    let run = |one: Ready<'_, T>, link: ZenohLink<T>| {
        let agent = one.config.identity.agent;
        match one.run(link) {
            Ok(Ok(finished)) => Some(finished),
            Ok(Err(halt)) => {
                failed(agent, Ok(halt));
                None
            }
            Err(error) => {
                failed(agent, Err(error));
                None
            }
        }
    };
    let mut each = ready.into_iter().zip(links);
    let done = match each.len() {
        1 => each.next().and_then(|(one, link)| run(one, link)),
        _ => std::thread::scope(|scope| {
            let run = &run;
            let running: Vec<_> = each
                .map(|(one, link)| {
                    let agent = one.config.identity.agent;
                    scope.spawn(move || tracing::info_span!("of", agent).in_scope(|| run(one, link)))
                })
                .collect();
            let ended = running.into_iter().map(std::thread::ScopedJoinHandle::join);
            let ended: Vec<_> =
                ended.map(|one| one.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect();
            ended.into_iter().collect::<Option<Vec<Finished>>>().and_then(|all| all.into_iter().next())
        }),
    };
    if let Some(block) = block {
        block.close();
    }
    match first.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((agent, Ok(halt))) => Ok(Err((agent, halt))),
        Some((agent, Err(error))) => Err(error.context(format!("agent {agent}"))),
        None => Ok(Ok(done.context("no agent has run")?)),
    }
}

/// Where a process listens and whom it dials for all of its agents.
fn endpoints(loaded: &[Loaded]) -> Endpoints {
    let mut joint = loaded[0].config.network.clone();
    for Loaded { config, .. } in &loaded[1..] {
        joint.connect.extend(config.network.connect.iter().cloned());
    }
    let mut seen = std::collections::BTreeSet::from([joint.listen.clone()]);
    joint.connect.retain(|dial| seen.insert(dial.address.clone()));
    joint
}

/// The links of all agents of a process, and what they share if they are several.
type Links<T> = (Option<Arc<Block<T>>>, Vec<ZenohLink<T>>);

/// Opens the links of all agents, before any of them sends a row.
fn open<T: Number>(
    ready: &[Ready<'_, T>],
    endpoints: &Endpoints,
) -> Result<Links<T>, crate::link::LinkError> {
    if let [one] = ready {
        return Ok((None, vec![ZenohLink::open(one.options(endpoints))?]));
    }
    let longest = ready.iter().map(|one| one.task.rows().longest_frame::<T>()).max().unwrap_or(0);
    let block = Block::open(endpoints, longest)?;
    let numbers = || ready.iter().map(|one| one.config.identity.agent);
    let own = numbers().min().unwrap_or(0)..numbers().max().unwrap_or(0) + 1;
    let join = |one: &Ready<'_, T>| ZenohLink::join(&block, own.clone(), one.options(endpoints));
    let links = ready.iter().map(join).collect::<Result<Vec<_>, _>>()?;
    Ok((Some(block), links))
}

impl<T: Number> Ready<'_, T> {
    fn options<'o>(&'o self, endpoints: &'o Endpoints) -> ZenohOptions<'o, T> {
        ZenohOptions {
            endpoints,
            identity: self.config.identity.clone(),
            ties: self.task.ties,
            rows: self.task.rows(),
            history: Arc::clone(&self.history),
            status: Arc::clone(&self.status),
            patience: self.config.patience(),
            guard: self.config.guard(),
            ends_file: Some((self.ends.clone(), self.disk.owner)),
        }
    }

    /// Does all rounds that are left, and serves others until they need it no more.
    fn run(self, mut link: ZenohLink<T>) -> Result<Result<Finished, Halt>> {
        let Ready { config, task, agent, disk, status, finished, .. } = self;
        let (ties, problem, at) = (task.ties, task.problem, agent.k());
        let estimates = match config.network.observed {
            true => Some(Estimates::new(&link, &config.identity).context("publishing estimates")?),
            false => None,
        };
        let say = |k: u64, state: &[T]| {
            estimates.iter().for_each(|to| to.say(k, &state[..problem.dim()]));
        };
        let mut rounds = Rounds {
            config,
            say: &say,
            agent,
            link: &mut link,
            disk,
            status: &status,
            saved: None,
            looked: Instant::now(),
            complaints: RateLimit::default(),
        };
        status.begin(at);
        // an agent that went back may have a checkpoint of a later round
        let done = match finished.filter(|finished| finished.round <= at) {
            Some(finished) => Ok(finished), // no rounds are left, but neighbours may need what it sent
            None => rounds.finish(),
        };
        drop(rounds);
        let done = match done {
            Ok(finished) => {
                status.finish();
                tracing::info!(round = finished.round, diverged = finished.diverged, "done");
                let began = Instant::now();
                match link.linger(ties, finished.round, Duration::from_secs_f64(config.linger)) {
                    Ok(true) => Ok(finished),
                    Ok(false) => Err(Halt::Needed(format!("{:.0} s", began.elapsed().as_secs_f64()))),
                    Err(error) => Err(Halt::Resumable(error)),
                }
            }
            halted => halted,
        };
        link.close();
        Ok(done)
    }
}

/// Says early what is wrong with the address of an endpoint such as tcp/10.0.0.1:7450: no such host, or not
/// an address of this machine. An address that is in use passes: it may be free in a moment.
fn can_listen(endpoint: &str) -> std::io::Result<()> {
    let address = endpoint.split_once('/').map_or(endpoint, |(_, address)| address);
    let address = address.split(['?', '#']).next().unwrap_or(address);
    match std::net::TcpListener::bind(address) {
        Err(error) if error.kind() != std::io::ErrorKind::AddrInUse => Err(error),
        _ => Ok(()),
    }
}
