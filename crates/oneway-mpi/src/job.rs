//! A whole experiment on all processes: they agree that they have the same, and run it cell by cell.

use std::path::Path;

use anyhow::{Result, bail};
use oneway_experiment::networked::{Kept, Networked};
use oneway_experiment::sha256;

use crate::args::Args;
use crate::blocks::block;
use crate::checkpoint;
use crate::run::{Asked, How, Reached, run};
use crate::world::World;

/// How a job ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All is done and written.
    Done,
    /// A signal stopped it.
    Stopped,
    /// Another process has said what is wrong.
    SaidElsewhere,
}

/// Runs an experiment. An error is returned to one process only, which says it.
pub(crate) fn job<W: World>(world: &W, args: &Args, asked: &Asked) -> Result<Ending> {
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let out = args.out.clone().unwrap_or_else(|| Path::new("out").join(format!("{stem}-mpi")));
    let Some(experiment) = one_says(world, prepare(world, args))? else { return Ok(Ending::SaidElsewhere) };
    if one_says(world, same(world, &experiment, args.checkpoint_every))?.is_none() {
        return Ok(Ending::SaidElsewhere);
    }
    let ready = if world.rank() == 0 { experiment.prepare(&out) } else { Ok(()) };
    if one_says(world, ready)?.is_none() {
        return Ok(Ending::SaidElsewhere);
    }
    let (mut results, cells) = (vec![], experiment.cells());
    for (number, cell) in cells.iter().enumerate() {
        let (topology, method, repetition) = cell.names();
        let name = format!("{topology} · {method} · {} ({} of {})", repetition + 1, number + 1, cells.len());
        let place = checkpoint::path(&out, cell.key());
        let kept = if world.rank() == 0 && args.resume { Kept::new(&out).get(cell) } else { None };
        let [is_kept] = world.max([f64::from(u8::from(kept.is_some()))]);
        if is_kept > 0.0 {
            results.extend(kept.map(|ended| (cell.clone(), ended)));
            continue;
        }
        let how = How { checkpoint: &place, every: args.checkpoint_every, resume: args.resume, asked };
        let reached = match run(world, cell, how) {
            Ok(reached) => reached,
            Err(error) if world.rank() == 0 => return Err(error.context(name)),
            Err(_) => return Ok(Ending::SaidElsewhere),
        };
        match reached {
            Reached::Stopped(k) => {
                if world.rank() == 0 {
                    eprintln!("oneway-mpi: {name}: stopped at round {k}; --resume goes on from there");
                }
                return Ok(Ending::Stopped);
            }
            Reached::End { ended: None, .. } => {}
            Reached::End { ended: Some(ended), messages } => {
                let rate = ended.rounds as f64 / ended.seconds.max(1e-9);
                let how = if ended.has_diverged() { "diverged" } else { "completed" };
                let hash = &ended.state_hash;
                eprintln!(
                    "{name}: {how} after {} rounds, {rate:.0} rounds/s, up to {:.0} % of it with messages; state {hash}",
                    ended.rounds,
                    100.0 * messages
                );
                if let Err(error) = Kept::new(&out).put(cell, &ended) {
                    eprintln!("oneway-mpi: {error:#}"); // it is in the results all the same
                }
                let _ = std::fs::remove_file(&place);
                results.push((cell.clone(), *ended));
            }
        }
    }
    let written = if world.rank() == 0 { experiment.save(&out, results).map(drop) } else { Ok(()) };
    let _ = std::fs::remove_dir(out.join("checkpoints")); // where nothing is left in it
    Ok(if one_says(world, written)?.is_some() { Ending::Done } else { Ending::SaidElsewhere })
}

/// Starts the threads and reads the experiment; refuses more processes than agents.
fn prepare<W: World>(world: &W, args: &Args) -> Result<Networked> {
    rayon::ThreadPoolBuilder::new().num_threads(args.threads.into()).build_global()?;
    let (rank, ranks) = (world.rank(), world.size());
    let experiment = match rank {
        0 => Networked::read(&args.file, &args.overrides)?, // it measures, for which it needs all data
        _ => Networked::read_for(move |agents| own_of(agents, ranks, rank), &args.file, &args.overrides)?,
    };
    let fewest = experiment.cells().iter().map(|cell| cell.setup().problem.agents()).min().unwrap_or(0);
    if world.size() > fewest {
        bail!(
            "{}: {} processes for {fewest} agents: start at most {fewest}",
            args.file.display(),
            world.size()
        );
    }
    Ok(experiment)
}

/// The agents of a process; all, where there are too few of them for all processes, which is refused later.
fn own_of(agents: usize, ranks: usize, rank: usize) -> std::ops::Range<usize> {
    if ranks <= agents { block(agents, ranks, rank) } else { 0..agents }
}

/// Whether all processes have the same experiment and build, and meet for checkpoints in the same rounds.
fn same<W: World>(world: &W, experiment: &Networked, checkpoint_every: u64) -> Result<()> {
    const WORDS: usize = 8;
    let keys: Vec<String> = experiment.cells().iter().map(|cell| cell.key().to_owned()).collect();
    let hash = sha256(format!("{checkpoint_every} {}", keys.join(" "))).into_bytes();
    let word = |hex: &[u8]| u32::from_str_radix(&String::from_utf8_lossy(hex), 16).map_or(0.0, f64::from);
    let all = world.all_gather(&hash.chunks(8).map(word).collect::<Vec<f64>>());
    let ranks: Vec<&[f64]> = all.chunks(WORDS).collect();
    let others: Vec<String> =
        (0..ranks.len()).filter(|rank| ranks[*rank] != ranks[0]).map(|rank| rank.to_string()).collect();
    match others.is_empty() || world.rank() > 0 {
        true if others.is_empty() => Ok(()),
        true => bail!("another experiment than rank 0"),
        false => bail!(
            "another file, other settings, other data or another build than on rank 0 on rank {}: all must have the same",
            others.join(", ")
        ),
    }
}

/// Whether all processes are well. The error of the first that is not is returned to it alone; the others get
/// nothing.
pub(crate) fn one_says<W: World, R, E>(world: &W, own: Result<R, E>) -> Result<Option<R>, E> {
    let (rank, size) = (world.rank(), world.size());
    let [first] = world.max([if own.is_err() { (size - rank) as f64 } else { 0.0 }]);
    match (own, first) {
        (Ok(own), 0.0) => Ok(Some(own)),
        (Err(error), first) if first == (size - rank) as f64 => Err(error),
        _ => Ok(None),
    }
}
