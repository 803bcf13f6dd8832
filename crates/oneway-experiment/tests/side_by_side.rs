//! Cells that a device runs side by side: the results that they have alone, whatever the device has memory for,
//! and nothing lost when it fails or the user stops.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use oneway::engine::metrics::{Extras, Measurement, measure_many};
use oneway::engine::observe::Snapshot;
use oneway::engine::{Engine, Setup, Simulator};
use oneway::numeric::Precision;
use oneway_experiment::Experiment;
use oneway_experiment::engines::{Engines, Made, SideBySide, Task, Together};
use oneway_experiment::plan::{Cell, Plan};
use oneway_experiment::progress::{CellProgress, Progress};
use oneway_experiment::results::cells::{CellStatus, CellStore, Ran};
use oneway_experiment::runner::Runner;

const EXPERIMENT: &str = r#"
[problem]
kind = "quadratic"
dim = 3
noise = 0.5

[run]
agents = 4
iterations = 45
repetitions = 3
record_every = 20

[[topology]]
name = "ring"
kind = "ring"

[[topology]]
name = "lossy"
kind = "ring"
loss = 0.1

[[method]]
name = "SMTPP"
kind = "smtpp"
step = 0.1
only = ["ring"]

[[method]]
name = "far too long"
kind = "push-pull"
step = 1e200
only = ["ring"]

[[method]]
name = "Push-DIGing"
kind = "push-diging"
step = 0.1
only = ["lossy"]
"#;

/// A device: simulators side by side, as many as it has memory for. It may fail in a round.
#[derive(Debug)]
struct Crowd {
    most: usize,
    fails_at: u64,
    /// The sizes of groups that it was asked for.
    asked: Arc<Mutex<Vec<usize>>>,
}

#[derive(Debug)]
struct Side<'a> {
    runs: Vec<(Simulator<'a>, Extras)>,
    going: Vec<usize>,
    fails_at: u64,
}

impl Engines for Crowd {
    fn engine<'a>(&self, _setup: Setup<'a>, _precision: Precision) -> oneway::Result<Made<'a>> {
        Ok(Made::Stays("it is alone".to_owned()))
    }

    fn groups(&self, tasks: &[Task<'_>]) -> Vec<Vec<usize>> {
        let half = tasks.len() / 2;
        vec![(0..half).collect(), (half..tasks.len()).collect()]
    }

    fn together<'a>(&self, tasks: &[Task<'a>]) -> oneway::Result<Together<'a>> {
        self.asked.lock().unwrap().push(tasks.len());
        if tasks.len() > self.most {
            return Ok(Together::TooMany);
        }
        let run = |task: &Task<'a>| Ok((Simulator::new(task.setup)?, task.extras.clone()));
        let runs = tasks.iter().map(run).collect::<oneway::Result<Vec<_>>>()?;
        Ok(Together::Made(Box::new(Side { going: (0..runs.len()).collect(), runs, fails_at: self.fails_at })))
    }
}

impl<'a> SideBySide<'a> for Side<'a> {
    fn are_sound(&mut self) -> oneway::Result<Vec<bool>> {
        self.going.iter().map(|at| self.runs[*at].0.is_sound()).collect()
    }

    fn measure(&mut self) -> oneway::Result<Vec<Measurement>> {
        let of = |at: &usize| {
            let (engine, extras) = &self.runs[*at];
            Ok(measure_many(&[engine.view()], extras)?.remove(0))
        };
        self.going.iter().map(of).collect()
    }

    fn advance(&mut self, rounds: u64) -> oneway::Result<()> {
        for at in &self.going {
            for _ in 0..rounds {
                if self.runs[*at].0.rounds_done() == self.fails_at {
                    return Err(oneway::Error::Device("the device is lost".to_owned()));
                }
                self.runs[*at].0.round()?;
            }
        }
        Ok(())
    }

    fn keep(&mut self, going: &[bool]) -> oneway::Result<()> {
        let kept = self.going.iter().zip(going).filter(|(_, goes_on)| **goes_on);
        self.going = kept.map(|(at, _)| *at).collect();
        Ok(())
    }

    fn state_hashes(&mut self) -> oneway::Result<Vec<String>> {
        Ok(self.runs.iter().map(|(engine, _)| engine.state_hash()).collect())
    }

    fn state(&mut self, run: usize) -> oneway::Result<Snapshot<'a>> {
        let engine = &self.runs[run].0;
        let mut snapshot = Snapshot::new(engine.setup(), engine.rounds_done())?;
        for agent in 0..engine.view().agents() {
            snapshot.state_mut(agent)?.copy_from_slice(engine.view().state(agent));
        }
        Ok(snapshot)
    }
}

fn plan() -> Plan {
    Plan::new(&Experiment::parse(EXPERIMENT, Path::new(""), &[]).unwrap()).unwrap()
}

fn runner(most: usize, fails_at: u64) -> (Runner, Arc<Mutex<Vec<usize>>>) {
    let asked = Arc::default();
    let crowd = Crowd { most, fails_at, asked: Arc::clone(&asked) };
    (Runner::new(Some(2)).unwrap().keeping_estimates().on(Box::new(crowd)), asked)
}

/// All that does not depend on the hour.
fn told(all: &[Ran<'_>]) -> Vec<String> {
    let one = |Ran { cell, result }: &Ran<'_>| {
        let end = &result.end;
        let ended = format!("{cell} {:?} {} {} {:?}", end.status, end.rounds, end.state_hash, end.reason);
        format!("{ended} {:?} {:?}", result.points, result.estimates)
    };
    all.iter().map(one).collect()
}

#[test]
fn results_are_those_of_cells_alone_whatever_there_is_memory_for() {
    let plan = plan();
    let alone = Runner::new(Some(2)).unwrap().keeping_estimates();
    let alone = told(&alone.run(&plan.cells(), &CellStore::none(), false).unwrap());
    assert_eq!(alone.len(), 9);
    for most in [9, 2, 1, 0] {
        let (runner, asked) = runner(most, u64::MAX);
        let ran = runner.run(&plan.cells(), &CellStore::none(), false).unwrap();
        assert_eq!(told(&ran), alone, "memory for {most}");
        let asked = asked.lock().unwrap();
        // six cells in two groups, each tried as it is, and then in halves
        assert_eq!(
            asked.iter().filter(|size| **size == 3).count(),
            if most < 3 { 4 } else { 2 },
            "{asked:?}"
        );
        assert_eq!(asked.contains(&1), most < 3, "{asked:?}");
        let mut stayed: Vec<String> = runner.stayed().into_iter().map(|(what, _)| what).collect();
        stayed.sort();
        let lossy = "lossy · Push-DIGing".to_owned();
        assert!(stayed.contains(&lossy) && (stayed.len() == 1) == (most > 0), "{stayed:?}");
    }
}

#[test]
fn what_is_kept_is_not_run_again() {
    let (plan, folder) = (plan(), CellStore::scratch().unwrap());
    let store = folder.store();
    let first = told(&runner(9, u64::MAX).0.run(&plan.cells(), &store, false).unwrap());
    let (runner, asked) = runner(9, u64::MAX);
    let again = runner.run(&plan.cells(), &store, false).unwrap();
    assert!(asked.lock().unwrap().is_empty());
    let [first, again] = [first, told(&again)].map(|all| all.len());
    assert_eq!(first, again);
}

#[test]
fn a_device_that_is_lost_is_an_error_and_what_was_finished_stays() {
    let (plan, folder) = (plan(), CellStore::scratch().unwrap());
    let store = folder.store();
    let cells = plan.cells();
    let some: Vec<Cell<'_>> = cells.iter().take(3).cloned().collect();
    runner(9, u64::MAX).0.run(&some, &store, false).unwrap();
    let lost = runner(9, 30).0.run(&cells, &store, true).unwrap_err().to_string();
    assert!(lost.contains("the device is lost") && lost.contains("SMTPP"), "{lost}");
    assert!(some.iter().all(|cell| store.get(&cell.key).is_some()));
    // whoever keeps what fails has what was measured before
    let kept = runner(9, 30).0.keeping_failed().run(&cells, &CellStore::none(), false).unwrap();
    assert_eq!(kept[0].result.end.status, CellStatus::Failed);
    assert_eq!(kept[0].result.end.reason.as_deref(), Some("the device is lost"));
    assert_eq!(kept[0].result.points.iter().map(|point| point.iteration).collect::<Vec<_>>(), [0, 20]);
}

/// Counts rounds, and asks to stop in one of them.
#[derive(Debug)]
struct Stops {
    interrupted: Arc<AtomicBool>,
    begun: AtomicUsize,
}

#[derive(Debug)]
struct StopsAt(Arc<AtomicBool>);

impl Progress for Stops {
    fn skip(&self, _rounds: u64) {}

    fn begin(&self, _cell: &Cell<'_>) -> Box<dyn CellProgress> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        Box::new(StopsAt(Arc::clone(&self.interrupted)))
    }
}

impl CellProgress for StopsAt {
    fn reach(&mut self, k: u64) {
        if k >= 20 {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn an_interruption_leaves_what_was_measured_and_keeps_nothing_unfinished() {
    let (plan, folder) = (plan(), CellStore::scratch().unwrap());
    let store = folder.store();
    let cells: Vec<Cell<'_>> = plan.cells().into_iter().take(3).collect(); // SMTPP's
    let (runner, _) = runner(9, u64::MAX);
    let stops = Stops { interrupted: runner.interrupted(), begun: AtomicUsize::new(0) };
    let ran = runner.run_within(&stops, &cells, &store, false).unwrap();
    assert!(stops.begun.into_inner() >= ran.len() && !ran.is_empty());
    for Ran { cell, result } in &ran {
        // the other group may have asked to stop before this one went on
        let end = &result.end;
        assert!(end.status == CellStatus::Stopped && end.rounds <= 20, "{cell}: {end:?}");
        assert_eq!(result.points.len() as u64, end.rounds / 20 + 1, "{cell}");
        assert!(store.get(&cell.key).is_none());
    }
    assert!(ran.iter().any(|ran| ran.result.end.rounds == 20));
}
