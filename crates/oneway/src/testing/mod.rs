//! The tests that every method here passes, for a method from anywhere.
//!
//! [`conformance`] takes a registry entry and runs one table of [checks](CHECKS) on it: every subgraph that
//! the method may use, on every network of [`networks`] that it is made for. The methods of this library are
//! tested by the same functions.
//!
//! ```
//! use oneway::{methods, testing};
//! let report = testing::conformance(methods::kind("push-pull")?);
//! assert!(report.is_ok(), "{report}");
//! assert!(report.to_string().starts_with("push-pull: ok"));
//! # Ok::<(), oneway::Error>(())
//! ```
//!
//! That a round allocates nothing is for an allocator to see, and is not looked at here.

mod checks;
mod interpreter;
mod networks;
mod problems;
mod subject;

pub use checks::{CHECKS, Check, Passed, conserves};
pub use networks::{balanced, lazy, networks, random_digraph, π_moves};
pub use problems::{Tilted, dataset, logistic, quadratic};
pub use subject::{Case, Subject};

use std::fmt;

use crate::engine::observe::View;
use crate::engine::{Engine, Schedule, Setup, Simulator};
use crate::graph::{Subgraph, Topology};
use crate::method::{Method, Traced};
use crate::methods::{Kind, Trust};
use crate::problem::Problem;
use crate::{Error, Result};

/// What a check has found wrong.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Runs every check on a method. Takes some seconds.
pub fn conformance(kind: &Kind) -> Report {
    Subject::new(kind).conformance()
}

/// Runs every check on a method that is data, on whole graphs.
///
/// A [`Subject`] with other fields says what else is known of it, and on which subgraphs it may run:
///
/// ```no_run
/// use oneway::testing::{self, Subject};
/// use oneway::{method::Traced, methods::Smtpp};
/// let traced = Traced::from_method("my-smtpp", &Smtpp::new(0.1)?)?;
/// let report = testing::conformance_of(&traced);
/// assert!(report.is_ok(), "{report}");
/// let kind = testing::entry_of(&traced);
/// let slower = Subject { traced: Some(&traced), step: 0.01, ..Subject::new(&kind) };
/// assert!(slower.conformance().is_ok());
/// # Ok::<(), oneway::Error>(())
/// ```
pub fn conformance_of(traced: &Traced) -> Report {
    Subject { traced: Some(traced), ..Subject::new(&entry_of(traced)) }.conformance()
}

/// An entry for a method that is data, as a [`Subject`] needs one: its name, and that it runs on whole
/// graphs. It makes no method.
pub fn entry_of(traced: &Traced) -> Kind {
    Kind {
        name: traced.stored_name(),
        about: "a method that is data",
        alters: None,
        reference: "",
        trust: Trust::C,
        graphs: &[Subgraph::Full],
        parameters: &[],
        build: |_| Err(Error::Unfit("a method that is data is not made by an entry".to_owned())),
        with_estimator: None,
    }
}

/// What the checks have found of one method.
#[derive(Debug)]
pub struct Report {
    /// The method's name.
    pub method: String,
    /// Each check, and what came of it.
    pub found: Vec<(&'static Check, std::result::Result<Passed, Failure>)>,
}

impl Report {
    /// Whether nothing was found wrong.
    pub fn is_ok(&self) -> bool {
        self.found.iter().all(|(_, found)| found.is_ok())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.found.iter().filter(|(_, found)| found.is_err()).count();
        match failed {
            0 => writeln!(f, "{}: ok", self.method)?,
            _ => writeln!(f, "{}: {failed} of {} checks failed", self.method, self.found.len())?,
        }
        for (check, found) in &self.found {
            match found {
                Ok(passed) => writeln!(f, "  {:<12} {passed}", check.name)?,
                Err(why) => writeln!(f, "  {:<12} FAILED, {why} (asked: {})", check.name, check.about)?,
            }
        }
        Ok(())
    }
}

/// The simulator with a constant step, seed 5.
pub fn simulate<'a>(
    method: &'a dyn Method,
    problem: &'a dyn Problem,
    topology: &'a Topology,
    η: f64,
) -> Result<Simulator<'a>> {
    Simulator::new(setup(method, problem, topology, η)?)
}

fn setup<'a>(
    method: &'a dyn Method,
    problem: &'a dyn Problem,
    topology: &'a Topology,
    η: f64,
) -> Result<Setup<'a>> {
    Ok(Setup { method, problem, topology, schedule: Schedule::constant(η)?, seed: 5 })
}

/// Does some rounds.
pub fn advance<'a>(engine: &mut impl Engine<'a>, rounds: usize) -> Result<()> {
    (0..rounds).try_for_each(|_| engine.round())
}

/// All agents' estimates, one after another.
pub fn estimates(view: &View<'_>) -> Vec<f64> {
    (0..view.agents()).flat_map(|i| view.estimate(i).to_vec()).collect()
}

/// The largest difference, relative to the size of the numbers where that is above one; ∞ where there are not
/// as many.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let far = |(a, b): (&f64, &f64)| (a - b).abs() / a.abs().max(b.abs()).max(1.0);
    a.iter().zip(b).map(far).fold(0.0, f64::max)
}
