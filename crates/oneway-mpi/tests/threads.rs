//! Any number of processes has the simulator's bits: here with threads for processes, without MPI.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::sync::atomic::Ordering;

use oneway::engine::metrics::Measurement;
use oneway::engine::record::Recorder;
use oneway::engine::{Engine, Simulator};
use oneway::numeric::Precision;
use oneway_experiment::networked::{Ended, Networked, NetworkedCell};
use oneway_mpi::run::{Asked, How, Reached, run};
use oneway_mpi::world::threads::worlds;

/// An experiment for each built-in method: on a ring, where most agents of a process hear only each other, on
/// a digraph where few do, and on the complete graph.
fn every_method() -> Vec<String> {
    let experiment = |(kind, topology): (&str, &str)| {
        format!(
            "[problem]\nkind = \"quadratic\"\ndim = 5\nnoise = 0.1\n[run]\nagents = 9\niterations = 24\n\
             record_every = 8\n[[topology]]\nkind = \"{topology}\"\n[[method]]\nkind = \"{kind}\"\nstep = 0.01\n"
        )
    };
    let registry = oneway::registry::Registry::builtin();
    let kinds = registry.methods().iter().map(|kind| kind.name);
    kinds
        .flat_map(|kind| ["ring", "exponential", "complete"].map(|topology| (kind, topology)))
        .map(experiment)
        .collect()
}

fn try_read(folder: &Path, text: &str) -> anyhow::Result<Networked> {
    let file = folder.join("experiment.toml");
    std::fs::write(&file, text)?;
    Networked::read(&file, &[])
}

fn read(folder: &Path, text: &str) -> Networked {
    try_read(folder, text).unwrap()
}

/// The cell on this many threads, to its end or until asked to stop; what rank 0 has.
fn on_threads(ranks: usize, cell: &NetworkedCell<'_>, how: How<'_>) -> Reached {
    let mut reached: Vec<Reached> = std::thread::scope(|scope| {
        let jobs: Vec<_> = worlds(ranks)
            .into_iter()
            .map(|world| scope.spawn(move || run(&world, cell, how).unwrap()))
            .collect();
        jobs.into_iter().map(|job| job.join().unwrap()).collect()
    });
    reached.swap_remove(0)
}

fn end(reached: Reached) -> Ended {
    match reached {
        Reached::End { ended: Some(ended), messages } => {
            assert!((0.0..=1.0).contains(&messages), "a share of the time: {messages}");
            *ended
        }
        other => panic!("{other:?}"),
    }
}

/// The simulator's hash and curve.
fn simulated(cell: &NetworkedCell<'_>) -> (String, Vec<Measurement>) {
    let rounds = |mut engine: Box<dyn Engine<'_> + '_>| {
        let mut recorder = Recorder::new(cell.extras());
        for k in 0..=cell.rounds() {
            if k.is_multiple_of(cell.record_every()) || k == cell.rounds() {
                recorder.record(&engine.view()).unwrap();
            }
            if k < cell.rounds() {
                engine.round().unwrap();
            }
        }
        (engine.state_hash(), recorder.finish(&engine.view()).unwrap())
    };
    match cell.precision() {
        Precision::F64 => rounds(Box::new(Simulator::<f64>::with_precision(cell.setup()).unwrap())),
        Precision::F32 => rounds(Box::new(Simulator::<f32>::with_precision(cell.setup()).unwrap())),
    }
}

#[test]
fn every_method_has_the_simulators_bits_on_any_number_of_processes() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("state");
    let asked = Asked::default();
    let how = How { checkpoint: &place, every: 0, resume: false, asked: &asked };
    let varying = "[problem]\nkind = \"quadratic\"\ndim = 40\nnoise = 0.1\n[run]\nagents = 8\niterations = 30\n\
                   record_every = 10\n[[topology]]\nkind = \"one-peer-exponential\"\n[[method]]\nkind = \"smtpp\"\nstep = 0.01\n\
                   [[method]]\nkind = \"push-pull\"\nstep = 0.01\n";
    let coded = "[problem]\nkind = \"quadratic\"\ndim = 70\nnoise = 0.1\n[run]\nagents = 11\niterations = 30\n\
                 record_every = 10\n[[topology]]\nkind = \"exponential\"\n[[method]]\nkind = \"smtpp\"\nstep = 0.01\n\
                 compress = { codec = \"top-k\", k = 7 }\n\
                 [[method]]\nname = \"sign\"\nkind = \"push-pull\"\nstep = 0.01\ncompress = { codec = \"sign\" }\n\
                 [[method]]\nname = \"gossip\"\nkind = \"smtpp\"\nstep = 0.01\ngossip = 3\n";
    // rows so long that the steps of agents who need not wait are taken one by one
    let long = "[problem]\nkind = \"quadratic\"\ndim = 70000\n[run]\nagents = 9\niterations = 2\n[[topology]]\nkind = \"ring\"\n\
                [[method]]\nkind = \"smtpp\"\nstep = 0.01\n";
    // more agents than there are blocks in which agents are summed
    let many = "[problem]\nkind = \"quadratic\"\ndim = 3\nnoise = 0.1\n[run]\nagents = 150\niterations = 6\n\
                record_every = 2\nmeasure = [\"loss_gap\", \"agents_grad_norm_sq\", \"distance_sq\"]\n\
                [[topology]]\nkind = \"ring\"\n[[method]]\nkind = \"smtpp\"\nstep = 0.01\n\
                [[method]]\nkind = \"sgp\"\nstep = 0.01\n[[method]]\nkind = \"csgdm\"\nstep = 0.01\n";
    let single = varying.replace("record_every = 10", "record_every = 10\nprecision = \"f32\"");
    let methods = every_method();
    let possible: Vec<Networked> =
        methods.iter().filter_map(|text| try_read(folder.path(), text).ok()).collect();
    assert!(possible.len() > methods.len() / 2, "{} of {}", possible.len(), methods.len());
    let others = [varying, coded, long, many, &single].map(|text| read(folder.path(), text));
    for experiment in possible.iter().chain(&others) {
        for cell in experiment.cells() {
            let expected = simulated(&cell);
            for ranks in [1, 2, 3, 8] {
                let ended = end(on_threads(ranks, &cell, how));
                assert!(!ended.diverged, "{:?}", cell.names());
                let found = (ended.state_hash, ended.points);
                assert_eq!(found, expected, "{:?} on {ranks}", cell.names());
            }
        }
    }
}

#[test]
fn a_run_that_is_stopped_goes_on_with_another_number_of_processes() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("state");
    let text = "[problem]\nkind = \"quadratic\"\ndim = 6\nnoise = 0.1\n[run]\nagents = 7\niterations = 200\n\
                record_every = 10\n[[topology]]\nkind = \"ring\"\n[[method]]\nkind = \"smtpp\"\nstep = 0.01\n";
    let experiment = read(folder.path(), text);
    let cell = &experiment.cells()[0];
    let asked = Asked::default();
    let how = |resume| How { checkpoint: &place, every: 30, resume, asked: &asked };
    let whole = end(on_threads(3, cell, How { every: 0, ..how(false) }));
    assert_eq!(whole.points.len(), 21);
    asked.stop.store(true, Ordering::Relaxed);
    assert!(matches!(on_threads(2, cell, how(false)), Reached::Stopped(0)), "before its first round");
    let ended = end(on_threads(3, cell, how(true)));
    assert_eq!((&ended.state_hash, &ended.points), (&whole.state_hash, &whole.points));
    // it has left one of round 180, as a job that was killed would
    let again = end(on_threads(5, cell, how(true)));
    assert_eq!((&again.state_hash, &again.points), (&whole.state_hash, &whole.points));
}
