//! What a program gives in memory runs as what a file names does; what fails keeps what was measured.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use oneway::data::{Split, a9a};
use oneway::engine::metrics::Measurement;
use oneway::graph::families;
use oneway::method::Traced;
use oneway::methods::kind;
use oneway::problems::FromFn;
use oneway_experiment::Experiment;
use oneway_experiment::links::Links;
use oneway_experiment::plan::{Cell, Plan};
use oneway_experiment::problem::BuiltProblem;
use oneway_experiment::progress::Watcher;
use oneway_experiment::results::cells::{CellResult, CellStatus, CellStore};
use oneway_experiment::runner::Runner;
use oneway_experiment::supplies::{SuppliedMethod, Supplies};

const RUN: &str = "[run]\nagents = 4\niterations = 60\nrecord_every = 5\nseed = 2\n";

fn experiment(problem: &str, topology: &str, method: &str, supplies: Supplies) -> Experiment {
    let step = "step = { size = 0.05 }";
    let text = format!(
        "[problem]\n{problem}\n{RUN}[[topology]]\nname = \"t\"\n{topology}\n[[method]]\nname = \"m\"\n{method}\n{step}\n"
    );
    Experiment::parse(&text, Path::new(""), &[]).unwrap().supplied(Arc::new(supplies))
}

fn run(experiment: &Experiment, runner: &Runner) -> anyhow::Result<CellResult> {
    let plan = Plan::new(experiment)?;
    Ok(runner.run(&plan.cells(), &CellStore::none(), false)?.remove(0).result)
}

const LOGISTIC: &str = "kind = \"logistic\"\ndataset = \"a9a\"\ntest = \"a9a\"";

#[test]
fn supplied_parts_have_the_bits_of_named_ones() {
    let runner = Runner::new(Some(1)).unwrap();
    let named =
        run(&experiment(LOGISTIC, "kind = \"ring\"", "kind = \"smtpp\"", Supplies::default()), &runner)
            .unwrap();
    let mut supplies = Supplies::default();
    for (name, split) in [("rows", Split::Train), ("held out", Split::Test)] {
        supplies.datasets.insert(name.to_owned(), Arc::new(a9a::a9a(split)));
    }
    supplies.links.insert("r".to_owned(), Links::Digraphs(vec![families::ring(4).unwrap()]));
    let smtpp = Traced::of("smtpp", &*kind("smtpp").unwrap().method([]).unwrap()).unwrap();
    let make = Arc::new(move || Box::new(smtpp.clone()) as Box<dyn oneway::method::Method>);
    supplies.methods.insert("s".to_owned(), SuppliedMethod { make, identity: "smtpp as data".to_owned() });
    let problem = "kind = \"logistic\"\ndataset = \"supplied:rows\"\ntest = \"supplied:held out\"";
    let supplied =
        run(&experiment(problem, "supplied = \"r\"", "supplied = \"s\"", supplies), &runner).unwrap();
    assert_eq!((supplied.points, supplied.end.state_hash), (named.points, named.end.state_hash));
}

#[test]
fn supplies_that_do_not_fit_are_refused() {
    let runner = Runner::new(Some(1)).unwrap();
    let three = || Links::Digraphs(vec![families::ring(3).unwrap()]);
    let with_links = Supplies { links: [("r".to_owned(), three())].into(), ..Supplies::default() };
    let problem = FromFn::new(5, 1, |_, x, g| {
        g[0] = x[0];
        0.0
    });
    let problem = Arc::new(BuiltProblem::supplied(Box::new(problem), "five"));
    let with_problem = Supplies { problems: [("p".to_owned(), problem)].into(), ..Supplies::default() };
    for (problem, topology, supplies, words) in [
        (LOGISTIC, "supplied = \"r\"", with_links, "it has 3 agents, and `run.agents` = 4"),
        ("supplied = \"p\"", "kind = \"ring\"", with_problem, "it is for 5 agents, and `run.agents` = 4"),
        ("supplied = \"q\"", "kind = \"ring\"", Supplies::default(), "only the program that made it"),
    ] {
        let refused = run(&experiment(problem, topology, "kind = \"smtpp\"", supplies), &runner).unwrap_err();
        assert!(format!("{refused:#}").contains(words), "{words} in {refused:#}");
    }
}

/// ½x², whose gradient fails after a number of calls.
fn failing(after: u64) -> Supplies {
    let calls = AtomicU64::new(0);
    let problem = FromFn::new(4, 1, |_, x, g| {
        g[0] = x[0];
        0.5 * x[0] * x[0]
    });
    let problem = problem.with_start(vec![1.0]).unwrap().batched(move |mut batch| {
        if calls.fetch_add(1, Ordering::Relaxed) >= after {
            return Err("the sensor is gone".into());
        }
        (0..batch.agents.len()).for_each(|q| batch.gradients.row(q).copy_from_slice(batch.points.row(q)));
        Ok(())
    });
    let problem = Arc::new(BuiltProblem::supplied(Box::new(problem), "failing"));
    Supplies { problems: [("p".to_owned(), problem)].into(), ..Supplies::default() }
}

#[test]
fn a_run_that_fails_is_an_error_or_a_result_with_what_was_measured() {
    let failing = || experiment("supplied = \"p\"", "kind = \"ring\"", "kind = \"push-pull\"", failing(23));
    let error = run(&failing(), &Runner::new(Some(1)).unwrap()).unwrap_err().to_string();
    assert!(error.contains("t · m · 1: round 22") && error.contains("the sensor is gone"), "{error}");
    let kept = run(&failing(), &Runner::new(Some(1)).unwrap().keeping_failed()).unwrap();
    assert_eq!((kept.end.status, kept.end.rounds), (CellStatus::Failed, 22));
    assert!(kept.end.reason.unwrap().contains("the sensor is gone"));
    assert_eq!(kept.points.iter().map(|point| point.iteration).collect::<Vec<_>>(), [0, 5, 10, 15, 20]);
}

#[derive(Debug, Default, Clone)]
struct Seen(Arc<Mutex<Vec<Measurement>>>);

impl Watcher for Seen {
    fn measured(&self, _cell: &Cell<'_>, point: &Measurement) -> ControlFlow<()> {
        self.0.lock().unwrap().push(*point);
        if point.iteration >= 30 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn a_watcher_sees_what_is_recorded_and_can_stop() {
    let experiment = experiment(LOGISTIC, "kind = \"ring\"", "kind = \"smtpp\"", Supplies::default());
    let whole = run(&experiment, &Runner::new(Some(1)).unwrap()).unwrap();
    let seen = Seen::default();
    let stopped =
        run(&experiment, &Runner::new(Some(2)).unwrap().watched_by(Box::new(seen.clone()))).unwrap();
    assert_eq!((stopped.end.status, stopped.end.rounds), (CellStatus::Stopped, 30));
    assert_eq!(stopped.points[..], whole.points[..7]);
    assert_eq!(*seen.0.lock().unwrap(), stopped.points[..]);
}
