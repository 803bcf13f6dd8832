//! From the states that agents recorded to the curves and the hash that the simulator would make.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneway::engine::Simulator;
use oneway::engine::record::Recorder;
use oneway::engine::{Engine, is_sound};
use oneway::numeric::Precision;
use oneway_experiment::networked::{Ended, Networked, NetworkedCell};

use crate::disk::finished::Finished;
use crate::disk::journal::{self, Records, Shape};
use crate::disk::owner::Owner;
use crate::plan::config::Config;
use crate::plan::layout::{file_of, folder_in, identity, state_of};
use crate::wire::{Number, wide};

/// Gathers what the agents of a plan have recorded, once all are done. Returns the files that were written.
pub fn gather_all(file: &Path, overrides: &[String], plan: &Path, out: &Path) -> Result<Vec<PathBuf>> {
    let experiment = Networked::read(file, overrides)?;
    let cells = experiment.cells();
    let mut results = vec![];
    for (number, cell) in cells.iter().enumerate() {
        results.push((cell.clone(), gather(cell, &folder_in(plan, cell, number, cells.len()))?));
    }
    experiment.save(out, results)
}

/// One agent's states, checked to belong to it.
struct States<T> {
    recorded: Records<BufReader<File>, PathBuf>,
    /// Those of the last rounds, if the run diverged.
    recent: Vec<(u64, Vec<T>)>,
    seconds: f64,
}

impl<T: Number> States<T> {
    /// From an agent's folder in a plan, beside its config.
    fn open(config: &Config, plan: &Path, agent: usize, width: usize) -> Result<Self> {
        let shape = Shape::new(config, width);
        let (owner, folder) = (Owner::from_config(config)?, plan.join(state_of(agent)));
        let finished = Finished::read(&folder, &owner)?;
        Ok(Self {
            recorded: journal::read(&folder, owner, shape)?,
            recent: journal::read_recent(&folder, owner, shape)?,
            seconds: finished.map_or(0.0, |finished| finished.seconds),
        })
    }

    /// The first of its last rounds in which its state had diverged.
    fn diverged_at(&self) -> Option<u64> {
        self.recent.iter().find(|(_, state)| !is_sound(&wide(state))).map(|(k, _)| *k)
    }

    fn recent_at(&self, round: u64) -> Option<Vec<T>> {
        self.recent.iter().find(|(k, _)| *k == round).map(|(_, state)| state.clone())
    }
}

/// The configs of the agents of a cell, checked to be of this experiment.
fn configs(cell: &NetworkedCell<'_>, plan: &Path) -> Result<Vec<Config>> {
    let read = |agent| {
        let path = plan.join(file_of(agent));
        let config = Config::read(&path)?;
        let expected = identity(cell, agent)?;
        if let Some(difference) = expected.difference(&config.identity, agent) {
            bail!("{} is not of this experiment: {difference}", path.display());
        }
        if config.digest()? != config.sha256 {
            bail!("{}: the config was changed after it was planned", path.display());
        }
        Ok(config)
    };
    let configs = (0..cell.setup().topology.agents()).map(read).collect::<Result<Vec<_>>>()?;
    for config in &configs {
        if let Some(difference) = configs[0].identity.difference(&config.identity, config.identity.agent) {
            bail!("{}: agents 0 and {} differ: {difference}", plan.display(), config.identity.agent);
        }
    }
    Ok(configs)
}

/// Reads the agents' states of a cell and measures them.
pub fn gather(cell: &NetworkedCell<'_>, folder: &Path) -> Result<Ended> {
    let configs = configs(cell, folder)?;
    match cell.precision() {
        Precision::F64 => gather_states::<f64>(cell, folder, &configs),
        Precision::F32 => gather_states::<f32>(cell, folder, &configs),
    }
}

fn gather_states<T: Number>(cell: &NetworkedCell<'_>, folder: &Path, configs: &[Config]) -> Result<Ended> {
    let setup = cell.setup();
    let (rounds, every) = (cell.rounds(), cell.record_every());
    let width = setup.method.profile_on(setup.problem).state.len(setup.problem.dim());
    let open = |(agent, config)| States::<T>::open(config, folder, agent, width);
    let mut agents = configs.iter().enumerate().map(open).collect::<Result<Vec<_>>>()?;
    let seconds = agents.iter().map(|agent| agent.seconds).fold(0.0, f64::max);
    // the run may have ended between two recorded rounds; all agents have written their states of then
    let diverged_at = agents.iter().filter_map(States::diverged_at).min();
    let began = std::time::Instant::now();
    let mut simulator = Simulator::<T>::with_precision(setup)?;
    let mut recorder = Recorder::new(cell.extras());
    let mut next = 0;
    loop {
        let k = diverged_at.map_or(next, |end| next.min(end));
        let mut states = Vec::with_capacity(agents.len());
        for (number, agent) in agents.iter_mut().enumerate() {
            let state =
                if k == next { agent.recorded.next()?.map(|(_, state)| state) } else { agent.recent_at(k) };
            states.push(state.with_context(|| {
                format!(
                    "{}: agent {number} has no state of round {k} (of {rounds}): it is not done, or its folder is not complete",
                    folder.display()
                )
            })?);
        }
        simulator.resume(k, |agent, row| row.copy_from_slice(&states[agent]));
        let diverged = !states.iter().all(|row| is_sound(&wide(row)));
        if !diverged {
            recorder.record(&simulator.view())?;
        }
        if diverged || k == rounds {
            let state_hash = simulator.state_hash();
            let points = recorder.finish(&simulator.view())?;
            let seconds_observing = began.elapsed().as_secs_f64();
            return Ok(Ended { diverged, rounds: k, state_hash, seconds, seconds_observing, points });
        }
        next = next.saturating_add(every).min(rounds);
    }
}
