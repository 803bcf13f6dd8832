//! Which steps work, in the plane of momentum λ and effective step η·c_π: what is certified, what is stable
//! with curvature h = L in every direction, and what runs of the experiment's own problem show.
//!
//! A run diverged if its numbers left all bounds; or if it grows, its mean loss above F* over the last
//! quarter of its recorded states being more than four times the largest of the first half; or if its agents
//! drift apart, the same being true of the consensus error. The loss alone would not do: it is taken at x̄,
//! which may do well while agents leave it on both sides. A run that does not diverge, but whose mean loss
//! over the last quarter is above that at the start, is worse than its start: noise alone does that to a
//! stable run that began close to the minimum, and a step that is too large where gradients are bounded.

use anyhow::Result;
use oneway::engine::Schedule;
use oneway::engine::metrics::Measurement;
use oneway::methods::combine::Recipe;
use oneway::methods::{self, Smtpp};
use oneway::theory::certificate::{Certifier, Setting};
use oneway::theory::stability;
use oneway_experiment::plan::{Cell, Entry, Plan};
use oneway_experiment::progress::Progress;
use oneway_experiment::results::cells::{CellResult, CellStatus, CellStore};
use oneway_experiment::runner::Runner;
use rayon::prelude::*;
use serde::Serialize;

use super::{Facts, Problems, momentum, settled};
use crate::draw::figure::axis::{Axis, Scale};
use crate::draw::figure::chart::{Chart, Series};
use crate::draw::figure::palette::{FAILS, INK, MUTED, Mark, PROVEN, Style, WORKS};

/// λ of the lines, six to a decade; runs take every second.
const MOMENTA: [f64; 13] = [0.01, 0.015, 0.022, 0.032, 0.046, 0.068, 0.1, 0.15, 0.22, 0.32, 0.46, 0.68, 1.0];
const EVERY: usize = 2;
/// With more agents than this each limit takes seconds, and every fourth λ must do.
const FEW_AGENTS: usize = 40;
/// Steps of runs are powers of two, from the first number times the lowest limit to the second times the
/// highest.
const BEYOND: f64 = 4.0;
/// The most steps that are run.
const MOST_STEPS: usize = 16;
/// A last quarter larger than the first half by this factor is growth: of the loss, or of the distance
/// between agents.
const GROWTH: f64 = 4.0;
/// States recorded of a run, about.
const RECORDED: u64 = 16;

/// How the runs of the picture are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ways<'a> {
    pub(crate) runner: &'a Runner,
    pub(crate) store: &'a CellStore,
    /// Rounds of each run; none at all for 0.
    pub(crate) rounds: u64,
    /// Who is told of them; else whom the runner tells.
    pub(crate) progress: Option<&'a dyn Progress>,
}

/// The picture of one set of links of one topology.
#[derive(Debug, Serialize)]
pub(crate) struct Region {
    pub(crate) topology: String,
    pub(crate) graph: &'static str,
    pub(crate) c_pi: f64,
    pub(crate) lines: Vec<Limits>,
    /// Rounds of each run.
    pub(crate) rounds: u64,
    pub(crate) runs: Vec<Trial>,
    pub(crate) given: Vec<Given>,
}

/// Effective steps at one λ.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Limits {
    pub(crate) momentum: f64,
    pub(crate) certified: Option<f64>,
    pub(crate) stable: Option<f64>,
}

/// One run.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Trial {
    pub(crate) momentum: f64,
    /// Effective.
    pub(crate) step: f64,
    pub(crate) outcome: Outcome,
}

/// How a run ended; see the top of this file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum Outcome {
    #[serde(rename = "stable")]
    Stable,
    #[serde(rename = "worse than its start")]
    Worse,
    #[serde(rename = "diverged")]
    Diverged,
}

/// A method of the experiment.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Given {
    pub(crate) method: String,
    pub(crate) momentum: f64,
    /// Effective, the largest of its schedule.
    pub(crate) step: f64,
}

impl Region {
    /// A region for each fixed topology and each set of its links that SMTPP runs on. Fewer after an
    /// interruption.
    pub(crate) fn all(plan: &Plan, problems: &Problems, ways: Ways<'_>) -> Result<Vec<Self>> {
        let mut regions: Vec<Self> = vec![];
        for entry in &plan.entries {
            let Some(λ) = momentum(entry) else { continue };
            if entry.topology.period().len() > 1 || ways.runner.is_interrupted() {
                continue;
            }
            let c_pi = entry.topology.c_pi()?;
            let given = Given {
                method: entry.method_name.clone(),
                momentum: λ,
                step: entry.schedule.largest(entry.run.iterations) * c_pi,
            };
            let known = regions
                .iter_mut()
                .find(|region| (&*region.topology, region.graph) == (&entry.topology_name, entry.graph));
            match known {
                Some(region) => region.given.push(given),
                None => regions.push(Self::new(entry, problems.facts(entry)?, given, ways)?),
            }
        }
        Ok(regions)
    }

    /// Rounds that all pictures of a plan may take together.
    pub(crate) fn most_rounds(plan: &Plan, rounds: u64) -> u64 {
        let drawn = |entry: &&Entry| momentum(entry).is_some() && entry.topology.period().len() == 1;
        let mut known: Vec<(&str, &str)> = vec![];
        let mut most = 0;
        for entry in plan.entries.iter().filter(drawn) {
            if !known.contains(&(&entry.topology_name, entry.graph)) {
                known.push((&entry.topology_name, entry.graph));
                let runs = MOMENTA.len().div_ceil(EVERY) * MOST_STEPS;
                most += runs as u64 * rounds.min(entry.run.iterations);
            }
        }
        most
    }

    fn new(entry: &Entry, facts: &Facts, given: Given, ways: Ways<'_>) -> Result<Self> {
        let c_pi = entry.topology.c_pi()?;
        let lines = ways.runner.install(|| lines(entry, facts.smoothness, c_pi))?;
        let rounds = ways.rounds.min(entry.run.iterations);
        let runs = match rounds {
            0 => vec![],
            _ => runs(entry, &lines, (c_pi, facts.lowest_loss), rounds, ways)?,
        };
        let (topology, graph) = (entry.topology_name.clone(), entry.graph);
        Ok(Self { topology, graph, c_pi, lines, rounds, runs, given: vec![given] })
    }

    /// The picture.
    pub(crate) fn chart(&self) -> Chart {
        let line = |name: &str, style, of: fn(&Limits) -> Option<f64>| {
            let points = self.lines.iter().filter_map(|limits| Some((limits.momentum, of(limits)?)));
            series(name, style, points)
        };
        let runs = |name: &str, style, outcome: Outcome| {
            let runs = self.runs.iter().filter(|run| run.outcome == outcome);
            series(name, style, runs.map(|run| (run.momentum, run.step)))
        };
        let given = self.given.iter().map(|given| (given.momentum, given.step));
        let all = [
            line("stability limit", Style::line(INK, None), |limits| limits.stable),
            line("certified", Style::line(PROVEN, Some("7 3.5")), |limits| limits.certified),
            runs("run diverged", Style::marks(FAILS, Mark::Cross), Outcome::Diverged),
            runs("run ended worse than its start", Style::marks(MUTED, Mark::Ring), Outcome::Worse),
            runs("run was stable", Style::marks(WORKS, Mark::Disc), Outcome::Stable),
            series("as in the file", Style::marks(INK, Mark::Diamond), given),
        ];
        Chart {
            title: format!("Steps that work: SMTPP on {} ({})", self.topology, self.graph),
            x: Axis { label: "momentum coefficient λ".to_owned(), scale: Scale::Log, limit: None },
            y: Axis { label: "effective step η·c_π".to_owned(), scale: Scale::Log, limit: None },
            series: all.into_iter().filter(|series| !series.x.is_empty()).collect(),
            markers: vec![],
            notes: vec![],
        }
    }
}

fn series(name: &str, style: Style, points: impl Iterator<Item = (f64, f64)>) -> Series {
    let (x, y) = points.unzip();
    Series::new(name, style, x, y)
}

/// The certified step and the stability limit over λ. What cannot be found is left out.
fn lines(entry: &Entry, smoothness: f64, c_pi: f64) -> Result<Vec<Limits>> {
    let certifier = Certifier::new(&entry.topology).ok();
    let every = if entry.run.agents <= FEW_AGENTS { 1 } else { 4 };
    let momenta: Vec<f64> = MOMENTA.into_iter().step_by(every).collect();
    let at = |&momentum: &f64| {
        let method = Smtpp::new(momentum)?;
        let setting = Setting { smoothness, momentum };
        let certificate = certifier.as_ref().and_then(|certifier| certifier.largest(setting).ok().flatten());
        let limit = stability::limit(&method, &entry.topology).ok();
        Ok(Limits {
            momentum,
            certified: certificate.map(|certificate| settled(certificate.step() * c_pi)),
            stable: limit.map(|limit| settled(limit.effective / smoothness)),
        })
    };
    momenta.par_iter().map(at).collect()
}

/// Runs over a grid of λ and steps, about the stability limits.
fn runs(
    entry: &Entry,
    lines: &[Limits],
    (c_pi, lowest_loss): (f64, f64),
    rounds: u64,
    ways: Ways<'_>,
) -> Result<Vec<Trial>> {
    let limits = || lines.iter().filter_map(|limits| limits.stable);
    let (lowest, highest) = (limits().fold(f64::INFINITY, f64::min), limits().fold(0.0, f64::max));
    if !(lowest > 0.0 && highest >= lowest && highest.is_finite()) {
        return Ok(vec![]);
    }
    let first = (lowest / BEYOND).log2().floor() as i32;
    let last = ((highest * BEYOND).log2().ceil() as i32).min(first + MOST_STEPS as i32 - 1);
    let few = entry.run.agents <= FEW_AGENTS;
    let mut entries = vec![];
    for limits in lines.iter().step_by(if few { EVERY } else { 1 }) {
        for power in first..=last {
            let step = 2f64.powi(power);
            let mut run = entry.run;
            (run.iterations, run.repetitions) = (rounds, 1);
            run.record_every = rounds.div_ceil(RECORDED);
            let name = format!("λ = {:.3}, η·c_π = {step}", limits.momentum);
            let smtpp = Recipe::new(methods::kind("smtpp")?, [("momentum".to_owned(), limits.momentum)])?;
            let trial = entry.with_method(name, smtpp, Schedule::constant(step / c_pi)?, run)?;
            entries.push((limits.momentum, step, trial));
        }
    }
    let cells: Vec<Cell<'_>> = entries.iter().flat_map(|(_, _, entry)| entry.cells()).collect();
    let ran = match ways.progress {
        Some(progress) => ways.runner.run_within(progress, &cells, ways.store, false)?,
        None => ways.runner.run(&cells, ways.store, false)?,
    };
    let trial = |(momentum, step, entry): &(f64, f64, Entry)| {
        let ran = ran.iter().find(|ran| std::ptr::eq(ran.cell.entry, entry))?;
        Some(Trial { momentum: *momentum, step: *step, outcome: Outcome::new(&ran.result, lowest_loss) })
    };
    Ok(entries.iter().filter_map(trial).collect())
}

impl Outcome {
    /// How a run ended on a problem whose loss is nowhere below `lowest_loss`.
    fn new(result: &CellResult, lowest_loss: f64) -> Self {
        let points = &result.points;
        let (first, last) = (&points[..points.len() / 2], &points[points.len() - points.len().div_ceil(4)..]);
        let mean = |of: &dyn Fn(&Measurement) -> f64| last.iter().map(of).sum::<f64>() / last.len() as f64;
        let grows = |of: &dyn Fn(&Measurement) -> f64| {
            let largest = first.iter().map(of).fold(0.0, f64::max);
            largest > 0.0 && mean(of) > GROWTH * largest
        };
        let loss = mean(&|point| point.loss);
        let start = points.first().map_or(f64::NAN, |point| point.loss);
        let left = result.end.status == CellStatus::Diverged || !loss.is_finite();
        match left || grows(&|point| point.loss - lowest_loss) || grows(&|point| point.consensus_error) {
            true => Outcome::Diverged,
            false if loss > start => Outcome::Worse,
            false => Outcome::Stable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneway_experiment::results::cells::End;

    fn run(status: CellStatus, points: &[(f64, f64)]) -> Outcome {
        let point = |(i, &(loss, consensus_error)): (usize, &(f64, f64))| Measurement {
            iteration: i as u64,
            loss,
            grad_norm_sq: 0.0,
            consensus_error,
            tracking_error: None,
            momentum_error: None,
            conservation_error: None,
            test_accuracy: None,
            bytes_sent: None,
            time: None,
            loss_gap: None,
            agents_grad_norm_sq: None,
            distance_sq: None,
        };
        let end = End {
            status,
            rounds: 7,
            state_hash: String::new(),
            seconds_stepping: 0.0,
            seconds_observing: 0.0,
            reason: None,
        };
        Outcome::new(
            &CellResult { end, points: points.iter().enumerate().map(point).collect(), estimates: None },
            0.1,
        )
    }

    #[test]
    fn a_run_diverges_in_one_of_three_ways() {
        use CellStatus::{Completed, Diverged};
        let fine = [(1.0, 0.0), (0.8, 2.0), (0.5, 1.0), (0.4, 1.0)];
        assert_eq!(run(Completed, &fine), Outcome::Stable);
        assert_eq!(run(Diverged, &fine), Outcome::Diverged);
        // above F* = 0.1: 0.9 in the first half, then 3.5 or 3.7
        let end = |loss| [(1.0, 0.0), (0.5, 1.0), (0.4, 1.0), (loss, 1.0)];
        assert_eq!(run(Completed, &end(3.6)), Outcome::Worse);
        assert_eq!(run(Completed, &end(3.8)), Outcome::Diverged, "it grows");
        let apart = [(1.0, 0.0), (0.5, 1.0), (0.4, 9.0), (0.4, 81.0)];
        assert_eq!(run(Completed, &apart), Outcome::Diverged, "apart");
        assert_eq!(run(Completed, &[(1.0, 0.0), (f64::NAN, 0.0)]), Outcome::Diverged);
        assert_eq!(run(Completed, &[]), Outcome::Diverged, "a run without a state shows nothing good");
    }

    #[test]
    fn noise_may_leave_a_stable_run_above_its_start() {
        let noisy = [0.2, 0.9, 0.7, 1.1, 0.8, 1.0, 0.6, 0.9].map(|loss| (loss, 0.0));
        assert_eq!(run(CellStatus::Completed, &noisy), Outcome::Worse);
    }
}
