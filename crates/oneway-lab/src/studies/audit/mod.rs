//! Audits of an experiment: which of its entries can be audited, what is assumed of their problems, and what
//! came of it.

pub(crate) mod pictures;
pub(crate) mod written;

use std::fmt;

use anyhow::{Context, Result, ensure};
use oneway::numeric::sample::derive_seed;
use oneway::problem::Problem;
use oneway::theory::audit::{self, Assumptions, Audit, Check, Form, Subject, Verdict};
use oneway_experiment::plan::{Entry, Plan};
use oneway_experiment::problem_facts::{self, IN_PASSES, Variance};
use oneway_experiment::spec::RunSpec;

/// The entries of a plan, sorted.
#[derive(Debug)]
pub(crate) struct Candidates<'a> {
    pub(crate) chosen: Vec<Candidate<'a>>,
    pub(crate) skipped: Vec<Skipped>,
}

/// An entry that can be audited.
#[derive(Debug)]
pub(crate) struct Candidate<'a> {
    entry: &'a Entry,
    momentum: f64,
    step: f64,
}

/// An entry that cannot, and why.
#[derive(Debug)]
pub(crate) struct Skipped {
    pub(crate) topology: String,
    pub(crate) method: String,
    pub(crate) because: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "method \"{}\" on topology \"{}\" {}", self.method, self.topology, self.because)
    }
}

impl<'a> Candidates<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        let mut all = Self { chosen: vec![], skipped: vec![] };
        for entry in &plan.entries {
            match Candidate::new(entry) {
                Ok(candidate) => all.chosen.push(candidate),
                Err(because) => all.skipped.push(Skipped {
                    topology: entry.topology_name.clone(),
                    method: entry.method_name.clone(),
                    because,
                }),
            }
        }
        all
    }
}

impl Candidates<'_> {
    /// Refuses what would not fit into memory.
    pub(crate) fn check_size(&self) -> Result<()> {
        for Candidate { entry, .. } in &self.chosen {
            let RunSpec { iterations, repetitions, .. } = entry.run;
            let most = audit::most_rounds(repetitions, self.chosen.len() as u64);
            ensure!(
                iterations <= most,
                "method \"{}\" on topology \"{}\": `run.iterations` = {iterations} with `run.repetitions` = {repetitions} is \
                 too much: an audit keeps every round of every run, and about 1 GB has room for {most} × {repetitions} = {}",
                entry.method_name,
                entry.topology_name,
                u128::from(most) * u128::from(repetitions)
            );
        }
        Ok(())
    }
}

impl<'a> Candidate<'a> {
    fn new(entry: &'a Entry) -> Result<Self, String> {
        if entry.timing.is_asynchronous() {
            return Err("runs asynchronously: the theory is that of rounds".to_owned());
        }
        if !entry.faults.are_none() {
            return Err("runs on links that fail: the theory is that of links that do not".to_owned());
        }
        let momentum = match entry.recipe.kind.name {
            "smtpp" if !entry.recipe.is_plain() => {
                return Err(
                    "is SMTPP with something put around it: the theory is that of SMTPP alone".to_owned()
                );
            }
            "smtpp" => entry.recipe.parameters.real("momentum").map_err(|error| error.to_string())?,
            other => return Err(format!("is {other}: the theory is SMTPP's")),
        };
        let step = entry
            .schedule
            .as_constant()
            .ok_or("has a step that changes: the theory asks for a constant one")?;
        if !entry.problem.problem.noise_is_fresh() {
            return Err(IN_PASSES.to_owned());
        }
        match entry.topology.period().len() {
            1 => Ok(Self { entry, momentum, step }),
            period => {
                Err(format!("has links that change over {period} rounds: the theory asks for fixed ones"))
            }
        }
    }
}

/// An entry, audited.
#[derive(Debug)]
pub(crate) struct Audited {
    pub(crate) topology: String,
    pub(crate) method: String,
    pub(crate) graph: &'static str,
    pub(crate) momentum: f64,
    pub(crate) step: f64,
    pub(crate) assumptions: Assumptions,
    /// Where σ² comes from.
    pub(crate) variance_source: &'static str,
    pub(crate) audit: Audit,
}

impl Audited {
    /// Runs and audits an entry.
    pub(crate) fn new(candidate: &Candidate<'_>) -> Result<Self> {
        let Candidate { entry, momentum, step } = *candidate;
        let problem = &*entry.problem.problem;
        let place = || format!("method \"{}\" on topology \"{}\"", entry.method_name, entry.topology_name);
        let (assumptions, variance_source) = assumptions(problem, entry.run.seed).with_context(place)?;
        let subject = Subject { problem, topology: &entry.topology, momentum, step };
        let seeds: Vec<u64> =
            (0..entry.run.repetitions).map(|repetition| derive_seed(entry.run.seed, repetition)).collect();
        let audit = audit::audit(subject, assumptions, entry.run.iterations, &seeds).with_context(place)?;
        Ok(Self {
            topology: entry.topology_name.clone(),
            method: entry.method_name.clone(),
            graph: entry.graph,
            momentum,
            step,
            assumptions,
            variance_source,
            audit,
        })
    }

    /// Why there are fewer rounds than asked for; nothing if there are not.
    pub(crate) fn divergence(&self) -> Option<String> {
        let Audit { runs, rounds, diverged, .. } = self.audit;
        (diverged > 0).then(|| {
            format!("the runs diverge with this step: {diverged} of {runs}, the first after round {rounds}")
        })
    }

    /// Its name in tables and figures.
    pub(crate) fn name(&self) -> String {
        format!("{}, {}", self.topology, self.method)
    }
}

/// L, σ² and F* of a problem, and where σ² comes from.
fn assumptions(problem: &dyn Problem, seed: u64) -> Result<(Assumptions, &'static str)> {
    let smoothness = problem_facts::smoothness(problem)?;
    let lowest = problem_facts::lowest(problem);
    let Variance { variance, is } =
        Variance::everywhere(problem, || problem_facts::estimate(problem, &lowest, seed))?;
    // what was found cannot be below the minimum; a hair less may be
    let optimum = lowest.loss - 1e-9 * (1.0 + lowest.loss.abs());
    Ok((Assumptions { smoothness, variance, optimum }, is))
}

/// The checks of one inequality on all entries.
pub(crate) fn by_rule(audited: &[Audited]) -> Vec<Vec<(&Audited, &Check)>> {
    let rules = 0..audited.first().map_or(0, |one| one.audit.checks.len());
    rules.map(|at| audited.iter().map(|one| (one, &one.audit.checks[at])).collect()).collect()
}

/// What an inequality comes to over all entries.
pub(crate) fn verdict(checks: &[(&Audited, &Check)]) -> String {
    let of = |is: fn(&Verdict) -> bool| -> Vec<String> {
        checks.iter().filter(|(_, check)| is(&check.verdict)).map(|(one, _)| one.name()).collect()
    };
    let violated = of(|verdict| matches!(verdict, Verdict::Violated { .. }));
    let open = of(|verdict| matches!(verdict, Verdict::Open));
    let unchecked = of(|verdict| matches!(verdict, Verdict::Unchecked(_)));
    let not_stated = of(|verdict| matches!(verdict, Verdict::NotStated(_))).len();
    match (violated.len(), open.len()) {
        _ if not_stated == checks.len() => "not stated for these steps".to_owned(),
        _ if not_stated + unchecked.len() == checks.len() => format!("not checked{}", why_unchecked(checks)),
        (0, 0) if unchecked.is_empty() => "holds".to_owned(),
        (0, 0) => format!("holds for what could be checked; not checked for {}", unchecked.join("; ")),
        (0, _) => format!("holds for what chance can tell; open for {}", open.join("; ")),
        _ => format!("does not hold for {}", violated.join("; ")),
    }
}

/// The first reason for checking nothing.
fn why_unchecked(checks: &[(&Audited, &Check)]) -> String {
    let mut reasons = checks.iter().filter_map(|(_, check)| match &check.verdict {
        Verdict::Unchecked(reason) => Some(format!(": {reason}")),
        _ => None,
    });
    reasons.next().unwrap_or_default()
}

/// Why: where it was violated, or how tight it was.
pub(crate) fn because(checks: &[(&Audited, &Check)]) -> String {
    let violated = checks.iter().filter_map(|(one, check)| match check.verdict {
        Verdict::Violated { first, rounds } => Some(format!(
            "{}: violated in {rounds} of {} rounds, first at k = {first}",
            one.name(),
            check.points.len()
        )),
        _ => None,
    });
    let violated: Vec<String> = violated.collect();
    match (violated.is_empty(), tightest(checks)) {
        (false, _) => format!("{}.", violated.join("; ")),
        (true, Some((one, k, slack))) => {
            format!("Tightest on {} at k = {k}: the right side is {slack:.4} times the left.", one.name())
        }
        (true, None) => match checks.first().map(|(_, check)| &check.verdict) {
            Some(Verdict::NotStated(reason)) => format!("Not stated: {reason}."),
            Some(Verdict::Unchecked(reason)) => format!("Not checked: {reason}."),
            _ => "The left side is never positive.".to_owned(),
        },
    }
}

/// The entry and k with the least slack.
pub(crate) fn tightest<'a>(checks: &[(&'a Audited, &Check)]) -> Option<(&'a Audited, u64, f64)> {
    let each = checks.iter().filter_map(|(one, check)| {
        let point = check.tightest()?;
        Some((*one, point.k, point.slack))
    });
    each.min_by(|a, b| a.2.total_cmp(&b.2))
}

/// "Lemma 3, corrected".
pub(crate) fn title(lemma: &str, form: Form) -> String {
    match lemma {
        "theorem" => format!("Theorem, {}", form.name()),
        lemma => format!("Lemma {lemma}, {}", form.name()),
    }
}
