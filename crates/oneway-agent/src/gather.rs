//! From the states that agents recorded to the curves and the hash that the simulator would have.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneway::engine::Simulator;
use oneway::engine::record::Recorder;
use oneway::engine::{Engine, is_sound};
use oneway_experiment::networked::{Ended, Networked, NetworkedCell};

use crate::config::Config;
use crate::finished::Finished;
use crate::journal::{self, Records, Shape};
use crate::layout::{file_of, folder_in, identity, state_of};

/// Gathers what the agents of a plan have recorded, once they have all come to their end; returns what was written.
pub fn gather_all(file: &Path, overrides: &[String], plan: &Path, out: &Path) -> Result<Vec<PathBuf>> {
    let experiment = Networked::read(file, overrides)?;
    let cells = experiment.cells();
    let mut results = vec![];
    for (number, cell) in cells.iter().enumerate() {
        results.push((cell.clone(), gather(cell, &folder_in(plan, cell, number, cells.len()))?));
    }
    experiment.save(out, results)
}

/// One agent's states, checked to be its own.
struct States {
    recorded: Records<BufReader<File>, PathBuf>,
    /// Those of the last rounds, if the run diverged.
    recent: Vec<(u64, Vec<f64>)>,
    seconds: f64,
}

impl States {
    /// From an agent's folder in a plan, beside its config.
    fn open(cell: &NetworkedCell<'_>, plan: &Path, agent: usize, shape: Shape) -> Result<Self> {
        let path = plan.join(file_of(agent));
        let config = Config::read(&path)?;
        if let Some(difference) = identity(cell, agent).difference(&config.identity, agent) {
            bail!("{} is not of this experiment: {difference}", path.display());
        }
        if config.digest()? != config.sha256 {
            bail!("{}: the config was changed after it was planned", path.display());
        }
        let (owner, folder) = (config.owner()?, plan.join(state_of(agent)));
        let finished = Finished::read(&folder, &owner)?;
        Ok(Self {
            recorded: journal::read(&folder, owner, shape)?,
            recent: journal::read_recent(&folder, owner, shape)?,
            seconds: finished.map_or(0.0, |finished| finished.seconds),
        })
    }

    /// The first of its last rounds at which its state was beyond all bounds.
    fn diverged_at(&self) -> Option<u64> {
        self.recent.iter().find(|(_, state)| !is_sound(state)).map(|(k, _)| *k)
    }

    fn recent_at(&self, round: u64) -> Option<Vec<f64>> {
        self.recent.iter().find(|(k, _)| *k == round).map(|(_, state)| state.clone())
    }
}

/// Reads the agents' states of a cell and measures what is to be measured.
pub fn gather(cell: &NetworkedCell<'_>, folder: &Path) -> Result<Ended> {
    let setup = cell.setup();
    let (n, d) = (setup.topology.agents(), setup.problem.dim());
    let (rounds, every) = (cell.rounds(), cell.record_every());
    let shape = Shape { width: setup.method.profile_on(setup.problem).state.len(d), every, rounds };
    let open = |agent| States::open(cell, folder, agent, shape);
    let mut agents = (0..n).map(open).collect::<Result<Vec<_>>>()?;
    let seconds = agents.iter().map(|agent| agent.seconds).fold(0.0, f64::max);
    // between two rounds that are recorded the run may have ended, and all have written down what they were then
    let diverged_at = agents.iter().filter_map(States::diverged_at).min();
    let began = std::time::Instant::now();
    let mut simulator = Simulator::new(setup)?;
    let mut recorder = Recorder::new(cell.extras());
    let mut next = 0;
    loop {
        let k = diverged_at.map_or(next, |end| next.min(end));
        let mut states = Vec::with_capacity(n);
        for (number, agent) in agents.iter_mut().enumerate() {
            let state =
                if k == next { agent.recorded.next()?.map(|(_, state)| state) } else { agent.recent_at(k) };
            states.push(state.with_context(|| {
                format!(
                    "{}: agent {number} has no state of round {k} (of {rounds}): it has not come to its end, or its folder is not whole",
                    folder.display()
                )
            })?);
        }
        simulator.resume(k, |agent, row| row.copy_from_slice(&states[agent]));
        let diverged = !states.iter().all(|row| is_sound(row));
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
