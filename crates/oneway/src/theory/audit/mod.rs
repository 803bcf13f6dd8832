//! The audit: every inequality of SMTPP's convergence theory, put to many runs.
//!
//! Inequalities that hold for every run are checked in every run and round. Those that speak of expectations
//! are checked on the mean over runs of right side − left side, run by run, with Student's interval: a
//! violation is a mean that lies below zero beyond what chance allows, over all rounds and inequalities
//! together ([`LEVEL`], Bonferroni). The norms of Definition 1 are those of the certificate, if the step has
//! one, and else those with the largest certified step: the lemmas hold in any.

mod rules;
#[cfg(test)]
mod tests;
mod trace;

use rayon::prelude::*;

use self::rules::Context;
pub use self::rules::{Form, Kind, RULES, Rule};
use self::trace::{State, Tracer};
use super::certificate::{Certificate, Certifier, Setting, Start};
use crate::graph::Topology;
use crate::problem::Problem;
use crate::{Error, Result};

/// The chance that an audit finds a violation where there is none.
pub const LEVEL: f64 = 0.001;

/// Bytes that audits may keep, about: every state of every run, and every inequality in every round.
const MEMORY: u64 = 1 << 30;
/// Bytes for an inequality in one round: a [`Point`], and a line of a file made of it.
const BYTES_PER_POINT: u64 = 256;

/// The most rounds that can be audited with `runs` runs each, if `audits` audits are kept: one and the states
/// of its runs at a time.
pub fn most_rounds(runs: u64, audits: u64) -> u64 {
    let states = runs.saturating_mul(size_of::<State>() as u64);
    let points = audits.saturating_mul(RULES.len() as u64 * BYTES_PER_POINT);
    MEMORY / states.saturating_add(points).max(1)
}

/// What is audited: SMTPP with a constant step.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The problem.
    pub problem: &'a dyn Problem,
    /// The network, the same in all rounds.
    pub topology: &'a Topology,
    /// λ.
    pub momentum: f64,
    /// η, raw.
    pub step: f64,
}

/// What the lemmas assume of the problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assumptions {
    /// L: every ∇f_i is L-Lipschitz.
    pub smoothness: f64,
    /// σ²: at least E‖∇F_i(x; ξ) − ∇f_i(x)‖² wherever the runs go.
    pub variance: f64,
    /// F*, or less.
    pub optimum: f64,
}

/// An inequality at one k, over all runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The round that turns state k into state k + 1; for the theorem, the last k that it averages.
    pub k: u64,
    /// Mean of the left side.
    pub left: f64,
    /// Mean of the right side.
    pub right: f64,
    /// Half of the interval about the mean difference; 0 for what holds run by run.
    pub half: f64,
    /// right/left, how loose it is: 1 is tight, less is a violation. Of the means, or of the tightest run for
    /// what holds run by run. ∞ where the left side is nothing but rounding.
    pub slack: f64,
    /// The least by which right − left, rounding allowed for, exceeds zero: in any run, or at the interval's
    /// upper end.
    margin: f64,
    /// The same at the lower end of the interval.
    sure: f64,
}

impl Point {
    /// Whether it is violated, beyond rounding and chance.
    pub fn is_violated(&self) -> bool {
        self.margin < 0.0
    }
}

/// What the audit says of an inequality.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It holds in all rounds: in every run, or surely in the mean.
    Holds,
    /// No round contradicts it, but in some chance leaves it open.
    Open,
    /// It is violated.
    Violated {
        /// At this k first.
        first: u64,
        /// In how many rounds.
        rounds: usize,
    },
    /// It is not stated for this step, for the reason given.
    NotStated(String),
    /// It is stated, but no round could be checked, for the reason given: numbers overflow, or there are too
    /// few rounds.
    Unchecked(String),
}

/// One inequality over all rounds.
#[derive(Debug, Clone)]
pub struct Check {
    /// Which.
    pub rule: &'static Rule,
    /// By round, without those in which a side overflows; empty if it is not stated.
    pub points: Vec<Point>,
    /// What came of it.
    pub verdict: Verdict,
}

impl Check {
    /// The round with the least slack.
    pub fn tightest(&self) -> Option<&Point> {
        let meant = self.points.iter().filter(|point| point.slack.is_finite());
        meant.min_by(|a, b| a.slack.total_cmp(&b.slack))
    }
}

/// The result of an audit.
#[derive(Debug, Clone)]
pub struct Audit {
    /// In the order of [`RULES`].
    pub checks: Vec<Check>,
    /// The runs that were averaged.
    pub runs: usize,
    /// The rounds that were audited: fewer than asked for if a run diverged.
    pub rounds: u64,
    /// The runs that diverged before the last round asked for.
    pub diverged: usize,
    /// Tests made on means, among which [`LEVEL`] is divided.
    pub tests: usize,
    /// t·s/√runs: the half-widths' t.
    pub quantile: f64,
    /// The certificate whose norms were used: for the audited step, or for the largest certified one.
    pub certificate: Certificate,
    /// Whether the audited step is certified.
    pub certified: bool,
    /// The largest certified step.
    pub largest: f64,
    /// Lemma 5 as the main text prints it: the least C_v that makes it true here, and the one that the
    /// appendix's coefficients give.
    pub tracking_constants: [f64; 2],
}

/// Audits a subject over `rounds` rounds, one run for each seed (at least two). Runs go side by side on the
/// threads of the current rayon pool; the result does not depend on them.
pub fn audit(subject: Subject<'_>, assumptions: Assumptions, rounds: u64, seeds: &[u64]) -> Result<Audit> {
    let refused =
        |name: &str, value: String, expected: &str| Err(Error::parameter("audit", name, value, expected));
    if seeds.len() < 2 {
        return refused(
            "repetitions",
            seeds.len().to_string(),
            "means with an interval need two runs at least",
        );
    }
    if rounds == 0 {
        return refused("iterations", "0".to_owned(), "there must be a round to audit");
    }
    let most = most_rounds(seeds.len() as u64, 1);
    if rounds > most {
        let expected = format!("with {} runs at most {most} rounds fit into memory", seeds.len());
        return refused("iterations", rounds.to_string(), &expected);
    }
    let Assumptions { smoothness, variance, optimum } = assumptions;
    if !(variance >= 0.0 && variance.is_finite()) {
        return refused("variance", variance.to_string(), "σ² must be a number, 0 or more");
    }
    if !optimum.is_finite() {
        return refused("optimum", optimum.to_string(), "F* must be a number");
    }
    let setting = Setting { smoothness, momentum: subject.momentum };
    let certifier = Certifier::new(subject.topology)?;
    let Some(largest) = certifier.largest(setting)? else {
        return Err(Error::Uncertified("no step was found that can be certified on this network".to_owned()));
    };
    let own = certifier.at(setting, subject.step)?;
    let certified = own.is_some();
    let largest_step = largest.step();
    let certificate = own.unwrap_or(largest);

    let [pull, push] = certificate.norms();
    let tracer = Tracer { subject, pull, push };
    let runs = seeds.par_iter().map(|&seed| tracer.run(rounds, seed)).collect::<Result<Vec<Vec<State>>>>()?;
    let states = runs.iter().map(Vec::len).min().unwrap_or(0);
    let diverged = runs.iter().filter(|run| run.len() as u64 <= rounds).count();
    if states < 2 {
        return refused("step", subject.step.to_string(), "the runs diverge in the first round");
    }
    let context = context(subject, setting, assumptions, &certificate, certified);
    let stated = |rule: &&Rule| rule.kind == Kind::Expected && rule.missing(&context).is_none();
    let tests = RULES.iter().filter(stated).map(|rule| (states - 1).saturating_sub(rule.from as usize)).sum();
    let quantile =
        crate::numeric::student::quantile(LEVEL / (tests as f64).max(1.0), (seeds.len() - 1) as f64);
    let runs: Vec<&[State]> = runs.iter().map(|run| &run[..states]).collect();
    let checks: Vec<Check> = RULES.iter().map(|rule| check(rule, &context, &runs, quantile)).collect();
    let given = context.tracking_constant();
    let printed = checks.iter().find(|check| check.rule.lemma == "5" && check.rule.form == Form::Printed);
    let needed = |point: &Point| if point.left > 0.0 { given * point.left / point.right } else { 0.0 };
    let needed = printed.map_or(0.0, |check| check.points.iter().map(needed).fold(0.0, f64::max));
    Ok(Audit {
        checks,
        runs: seeds.len(),
        rounds: states as u64 - 1,
        diverged,
        tests,
        quantile,
        certificate,
        certified,
        largest: largest_step,
        tracking_constants: [needed, given],
    })
}

fn context(
    subject: Subject<'_>,
    setting: Setting,
    assumptions: Assumptions,
    certificate: &Certificate,
    certified: bool,
) -> Context {
    let problem = subject.problem;
    let (n, d) = (problem.agents(), problem.dim());
    let (mut x, mut g, mut mean) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
    problem.start(&mut x);
    let (mut loss, mut gradient_sq) = (0.0, 0.0);
    for agent in 0..n {
        loss += problem.exact(agent, &x, &mut g) / n as f64;
        gradient_sq += g.iter().map(|g| g * g).sum::<f64>();
        mean.iter_mut().zip(&g).for_each(|(mean, g)| *mean += g / n as f64);
    }
    let constants = *certificate.constants();
    Context {
        setting,
        η: subject.step,
        constants,
        lemmas: constants.lemmas(setting, subject.step),
        recursion: constants.recursion(setting, subject.step),
        assumptions,
        certificate: certified.then(|| certificate.clone()),
        start: Start { gap: loss - assumptions.optimum, gradient_sq, variance: assumptions.variance },
        first_gradient: mean.iter().map(|g| g * g).sum(),
    }
}

fn check(rule: &'static Rule, context: &Context, runs: &[&[State]], quantile: f64) -> Check {
    if let Some(reason) = rule.missing(context) {
        return Check { rule, points: vec![], verdict: Verdict::NotStated(reason) };
    }
    let rounds = runs.first().map_or(0, |run| run.len() - 1);
    let from = rule.from as usize;
    let points: Vec<Point> = (from..rounds).filter_map(|k| point(rule, context, runs, k, quantile)).collect();
    if points.is_empty() {
        let reason = match from < rounds {
            true => "its sides overflow in every round".to_owned(),
            false => {
                format!("it begins at k = {from}, and the last round is k = {}", rounds.saturating_sub(1))
            }
        };
        return Check { rule, points, verdict: Verdict::Unchecked(reason) };
    }
    let violated: Vec<u64> = points.iter().filter(|point| point.is_violated()).map(|point| point.k).collect();
    let verdict = match violated.first() {
        Some(&first) => Verdict::Violated { first, rounds: violated.len() },
        None if points.iter().all(|point| point.sure >= 0.0) => Verdict::Holds,
        None => Verdict::Open,
    };
    Check { rule, points, verdict }
}

/// Both sides at k, averaged over the runs in their order. None where numbers overflow: ∞ − ∞ says nothing.
fn point(rule: &Rule, context: &Context, runs: &[&[State]], k: usize, quantile: f64) -> Option<Point> {
    let (mut left, mut right, mut rounding) = (0.0, 0.0, 0.0);
    let (mut mean, mut deviations) = (0.0, 0.0);
    let (mut worst, mut tightest) = (f64::INFINITY, f64::INFINITY);
    for (at, run) in runs.iter().enumerate() {
        let sides = rule.sides(context, &run[k], &run[k + 1]);
        let count = (at + 1) as f64;
        let difference = sides.right - sides.left;
        left += (sides.left - left) / count;
        right += (sides.right - right) / count;
        rounding += (sides.rounding - rounding) / count;
        let change = difference - mean;
        mean += change / count;
        deviations += change * (difference - mean);
        let least = difference + sides.rounding;
        if !least.is_finite() {
            return None;
        }
        worst = worst.min(least);
        tightest = ratio(sides.left, sides.right, sides.rounding).min(tightest);
    }
    let count = runs.len() as f64;
    let half = quantile * (deviations / (count - 1.0) / count).sqrt();
    let k = runs.first().map_or(k as u64, |run| run[k].k);
    let point = match rule.kind {
        Kind::Pathwise => Point { k, left, right, half: 0.0, slack: tightest, margin: worst, sure: worst },
        Kind::Expected => {
            let (margin, sure) = (mean + half + rounding, mean - half + rounding);
            Point { k, left, right, half, slack: ratio(left, right, rounding), margin, sure }
        }
    };
    (point.margin.is_finite() && point.sure.is_finite()).then_some(point)
}

/// right/left, unless the left side is nothing but rounding.
fn ratio(left: f64, right: f64, rounding: f64) -> f64 {
    if left > rounding { right / left } else { f64::INFINITY }
}
