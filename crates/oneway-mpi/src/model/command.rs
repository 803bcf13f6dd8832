//! `oneway-agent model FILE`: what is said of an experiment's rounds on a cluster.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use oneway::engine::Setup;
use oneway::graph::{MAX_AGENTS, Topology};
use oneway::numeric::Precision;
use oneway_experiment::networked::{Networked, NetworkedCell};

use super::load::{Load, loads, row_sizes};
use super::units::{rate, seconds};
use super::{Cluster, Costs, predict, work};

/// More processes than this would be too many to count the messages of all pairs.
const MAX_PROCESSES: usize = 1 << 14;

/// What the user asks.
#[derive(Debug, Clone, Args)]
pub struct Model {
    /// The experiment; each method on each topology is said something of
    pub file: PathBuf,
    /// Time of a message from host to host, such as 2us
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub latency: f64,
    /// What a host sends in a second, such as 12.5GB/s or 100Gbit/s; it receives as much
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub bandwidth: f64,
    /// Numbers of processes
    #[arg(long, value_name = "P,…", value_delimiter = ',', default_value = "1,8,64,512")]
    pub processes: Vec<usize>,
    /// Numbers of agents besides the file's, where links come from a family
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "100,10000,1000000")]
    pub agents: Vec<usize>,
    /// Processes on each host
    #[arg(long, value_name = "P", default_value_t = 1)]
    pub per_host: usize,
    /// Cores of each host [default: one for each process]
    #[arg(long, value_name = "CORES")]
    pub cores: Option<usize>,
    /// Time of one agent's round without messages [default: measured here, in a second or so]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub agent_time: Option<f64>,
    /// Costs that `just fit-model` has written [default: those of docs/clusters.md]
    #[arg(long, value_name = "JSON")]
    pub costs: Option<PathBuf>,
    /// A setting in place of the file's, as `path=value`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub overrides: Vec<String>,
}

/// What is to be printed.
pub fn model(asked: &Model) -> Result<String> {
    let cores = asked.cores.unwrap_or(asked.per_host);
    let cluster =
        Cluster { latency: asked.latency, bandwidth: asked.bandwidth, per_host: asked.per_host, cores };
    ensure!(asked.per_host > 0 && cores > 0, "a host has at least one process and one core");
    for &processes in &asked.processes {
        ensure!(
            (1..=MAX_PROCESSES).contains(&processes),
            "{processes} processes: 1 to {MAX_PROCESSES} are possible"
        );
    }
    for &agents in &asked.agents {
        ensure!((1..=MAX_AGENTS).contains(&agents), "{agents} agents: 1 to {MAX_AGENTS} are possible");
    }
    let costs = match &asked.costs {
        None => Costs::FITTED,
        Some(file) => std::fs::read_to_string(file)
            .map_err(Into::into)
            .and_then(|text| Costs::from_json(&text))
            .with_context(|| file.display().to_string())?,
    };
    let experiment = Networked::read(&asked.file, &asked.overrides)?;
    let (mut told, mut seen) = (String::new(), HashSet::new());
    for cell in experiment.cells() {
        let (topology, method, _) = cell.names();
        if seen.insert((topology.to_owned(), method.to_owned())) {
            let said = of_cell(&cell, asked, &cluster, &costs);
            told += &said.with_context(|| format!("method \"{method}\" on topology \"{topology}\""))?;
        }
    }
    if told.is_empty() {
        bail!("{}: there is nothing to run", asked.file.display());
    }
    Ok(told)
}

/// All lines about one method on one topology.
fn of_cell(cell: &NetworkedCell<'_>, asked: &Model, cluster: &Cluster, costs: &Costs) -> Result<String> {
    let setup = cell.setup();
    let rows = match cell.precision() {
        Precision::F64 => row_sizes::<f64>(setup),
        Precision::F32 => row_sizes::<f32>(setup),
    };
    let mut work =
        Work { setup, precision: cell.precision(), given: asked.agent_time, known: BTreeMap::new() };
    let own = setup.problem.agents();
    let (topology, method, _) = cell.names();
    let mut told = format!(
        "{method} on {topology}, d = {}, {}: rows of {} bytes (pull, push{})\n",
        setup.problem.dim(),
        cell.precision(),
        rows.iter().map(|[pull, push]| format!("{pull} and {push}")).collect::<Vec<_>>().join("; "),
        if rows.len() > 1 { ", exchange by exchange" } else { "" },
    );
    writeln!(
        told,
        "{:>9} {:>9} {:>6} {:>10} {:>14} {:>8} {:>11}",
        "agents", "processes", "hosts", "messages", "bytes", "in msgs", "rounds/s"
    )?;
    let mut sizes: Vec<usize> = asked.agents.iter().copied().chain([own]).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for agents in sizes {
        let other; // a family's with that many agents
        let network = match agents == own {
            true => setup.topology,
            false => match cell.network_of(agents) {
                Ok(network) => {
                    other = network;
                    &*other
                }
                Err(error) => {
                    writeln!(told, "{agents:>9}   not possible: {error:#}")?;
                    continue;
                }
            },
        };
        for &processes in asked.processes.iter().filter(|processes| **processes <= agents) {
            told += &line(network, &rows, processes, cluster, costs, &mut work)?;
        }
    }
    Ok(told)
}

fn line(
    network: &Topology,
    rows: &[[usize; 2]],
    processes: usize,
    cluster: &Cluster,
    costs: &Costs,
    work: &mut Work<'_>,
) -> Result<String> {
    let exchanges = loads(network, rows, work.setup.problem.dim(), [processes, cluster.per_host]);
    let sum = |of: fn(&Load) -> usize| {
        let all: usize = exchanges.iter().flatten().flatten().map(of).sum();
        all as f64 / exchanges.len().max(1) as f64 // the mean over the period
    };
    let sharing = cluster.sharing(processes);
    let on_core = |agents: usize| agents as f64 * sharing;
    let most = on_core(network.agents().div_ceil(processes));
    let at_once = cluster.cores.min(cluster.per_host).min(processes);
    let least = work.seconds(on_core(network.agents() / processes), at_once)?;
    let slowest = work.seconds(most, at_once)?.max(least);
    let seconds = |agents: f64| if agents < most { least } else { slowest };
    let said = predict(cluster, costs, &exchanges, &seconds);
    let rate = 1.0 / said.seconds.max(f64::MIN_POSITIVE);
    Ok(format!(
        "{:>9} {processes:>9} {:>6} {:>10.0} {:>14.0} {:>7.0}% {:>11}\n",
        network.agents(),
        processes.div_ceil(cluster.per_host),
        sum(|load| load.sent),
        sum(|load| load.bytes_sent),
        100.0 * said.messages,
        if rate < 100.0 { format!("{rate:.2}") } else { format!("{rate:.0}") },
    ))
}

/// How long a round takes, by the number of agents; each is measured once.
struct Work<'a> {
    setup: Setup<'a>,
    precision: Precision,
    /// Seconds of one agent's round, if they are given.
    given: Option<f64>,
    known: BTreeMap<(usize, usize), f64>,
}

impl Work<'_> {
    /// Seconds of a round of a core's agents while as many cores work `at_once`. More agents than the file has
    /// take as many times longer.
    fn seconds(&mut self, agents: f64, at_once: usize) -> Result<f64> {
        if let Some(one) = self.given {
            return Ok(one * agents);
        }
        let at_once = at_once.min(std::thread::available_parallelism().map_or(1, usize::from));
        let measured = (agents.round() as usize).clamp(1, self.setup.problem.agents());
        let seconds = match self.known.get(&(measured, at_once)) {
            Some(seconds) => *seconds,
            None => work::measure(self.setup, self.precision, measured, at_once)?,
        };
        self.known.insert((measured, at_once), seconds);
        Ok(seconds * agents / measured as f64)
    }
}
