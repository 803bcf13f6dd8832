//! From the states that agents recorded to the curves and the hash that the simulator would have.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneway::engine::{Engine, is_sound};
use oneway::record::Recorder;
use oneway::simulator::Simulator;
use oneway_lab::networked::{Ended, Networked, NetworkedCell};

use crate::journal;
use crate::layout::{folder_in, identity, state_of};
use crate::run::Finished;

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

/// Reads the agents' states of a cell and measures what is to be measured.
pub fn gather(cell: &NetworkedCell<'_>, folder: &Path) -> Result<Ended> {
    let setup = cell.setup();
    let (n, d) = (setup.topology.agents(), setup.problem.dim());
    let width = setup.method.layout(setup.problem).state.len(d);
    let (mut journals, mut seconds) = (vec![], 0.0f64);
    for agent in 0..n {
        let state = folder.join(state_of(agent));
        let read = journal::read(&state, identity(cell, agent).fingerprint(), width);
        journals.push(read.with_context(|| state.display().to_string())?.into_iter().peekable());
        seconds = seconds.max(
            Finished::read(&state, identity(cell, agent).run_id()).map_or(0.0, |finished| finished.seconds),
        );
    }
    let began = std::time::Instant::now();
    let mut simulator = Simulator::new(setup)?;
    let mut recorder = Recorder::new(cell.extras());
    let (rounds, every) = (cell.rounds(), cell.record_every());
    loop {
        let states: Vec<_> = journals.iter_mut().map(Iterator::next).collect();
        let Some(states) = states.into_iter().collect::<Option<Vec<_>>>() else {
            bail!(
                "{}: the agents' states end before round {rounds}: not all have come to their end, or the folders of some are missing",
                folder.display()
            );
        };
        let k = states[0].0;
        if let Some((other, agent)) = states.iter().map(|(k, _)| *k).zip(0..).find(|(other, _)| *other != k) {
            bail!(
                "{}: agent 0 has a state of round {k} where agent {agent} has one of round {other}",
                folder.display()
            );
        }
        simulator.resume(k, |agent, row| row.copy_from_slice(&states[agent].1));
        let diverged = !states.iter().all(|(_, row)| is_sound(row));
        if !diverged && (k.is_multiple_of(every) || k == rounds) {
            recorder.record(&simulator.view())?;
        }
        if diverged || k == rounds {
            let state_hash = simulator.state_hash();
            let points = recorder.finish(&simulator.view())?;
            let seconds_observing = began.elapsed().as_secs_f64();
            return Ok(Ended { diverged, rounds: k, state_hash, seconds, seconds_observing, points });
        }
    }
}
