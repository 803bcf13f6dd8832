//! The map of the claims: under which reading of what the paper leaves open does each sentence of its
//! numerical section come true?
//!
//! A [`space::Space`] of readings and the [`rules::Rules`] come from files. [`space::Design`] says which readings
//! run, [`experiment`] makes an experiment of each, [`judge`] turns its curves into evidence, and [`verdicts`]
//! corrects for the number of readings. [`summary`] says what came out, [`show`] and [`picture`] show it.

mod algebra;
#[cfg(test)]
mod algebra_tests;
mod alone;
mod design;
#[cfg(test)]
mod design_tests;
mod experiment;
mod judge;
mod networks;
mod pages;
mod picture;
mod rules;
mod setting;
mod show;
mod space;
mod start;
mod summary;
#[cfg(test)]
mod tests;
mod verdicts;
mod walk;
mod written;

use std::collections::HashMap;

use algebra::Algebra;
use anyhow::{Context, Result};
use oneway_experiment::plan::Cell;
use oneway_experiment::results::cells::Ran as RanCell;
use oneway_experiment::results::curves::Curve;
use oneway_experiment::sha256;

pub(crate) use experiment::{Known, Planned};
use judge::{Evidence, Ran, Runs};
pub(crate) use pages::file as pages;
pub(crate) use picture::pictures;
use rules::{Graph, Rules};
pub(crate) use show::{said, table};
use space::{Answers, Space, View};
pub(crate) use summary::{Stored, Summary};
use verdicts::Verdict;
pub(crate) use walk::walk;
pub(crate) use written::{csv, json};

/// The files that come with the program.
pub(crate) const READINGS: &str = include_str!("../../../experiments/claims/readings.toml");
pub(crate) const RULES: &str = include_str!("../../../experiments/claims/rules.toml");
/// The summary of the map that stands in the repository: of the runs that decide.
pub(crate) const STORED: &str = include_str!("../../../experiments/claims/summary.json");

/// What is asked: the space, the rules, and on which samples.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    space: Space,
    rules: Rules,
    readings_sha256: String,
    seed: u64,
    /// Whether these are the runs that decide.
    confirms: bool,
    /// The readings that run, each once: those near the paper's words, then those sampled.
    readings: Vec<Answers>,
    /// Places in `readings` of the sample, in its order.
    sampled: Vec<usize>,
}

impl Question {
    /// Reads both files.
    pub(crate) fn new(readings: &str, rules: &str, confirms: bool) -> Result<Self> {
        let readings_sha256 = sha256(readings);
        let space = Space::parse(readings).context("readings")?;
        let rules = Rules::parse(rules).context("rules")?;
        let seed = if confirms { rules.confirming_seed(&readings_sha256) } else { rules.seed };
        let mut all = space.near();
        for look in &space.looks {
            if !all.contains(&look.answers) {
                all.push(look.answers.clone());
            }
        }
        let mut places: HashMap<Answers, usize> =
            all.iter().enumerate().map(|(at, answers)| (answers.clone(), at)).collect();
        let mut sampled = vec![];
        for answers in space.sampled() {
            let place = *places.entry(answers.clone()).or_insert(all.len());
            if place == all.len() {
                all.push(answers);
            }
            sampled.push(place);
        }
        Ok(Self { space, rules, readings_sha256, seed, confirms, readings: all, sampled })
    }

    /// What is to run, a plan for each reading from this one on.
    pub(crate) fn plans(&self, from: usize, problems: &mut Known) -> Result<Vec<Planned>> {
        let plan = |answers: &Answers| {
            let planned = experiment::plan(&self.space, answers, self.seed, problems);
            planned.with_context(|| format!("reading \"{}\"", self.space.named(answers)))
        };
        self.readings.iter().skip(from).map(plan).collect()
    }
}

/// The keys of cells: graph, method, keys by repetition.
type Keys = Vec<(Graph, String, Vec<String>)>;

/// The cells of a reading.
#[derive(Debug, Clone, Default)]
struct Cells {
    /// Those that are judged.
    judged: Keys,
    /// Those of methods that ran with several steps, "STPP at 0.2", all of them.
    tried: Keys,
}

/// What came out.
#[derive(Debug)]
pub(crate) struct Map {
    question: Question,
    views: Vec<View>,
    ran: Vec<Ran>,
    cells: Vec<Cells>,
    /// By reading, view and claim.
    evidence: Vec<Vec<Vec<Evidence>>>,
    verdicts: Vec<Vec<Vec<Verdict>>>,
    /// What algebra says beside the runs, once it was asked.
    algebra: Algebra,
}

impl Map {
    /// Judges what ran: the cells of all plans, in their order.
    pub(crate) fn new(question: Question, plans: &[Planned], ran: Vec<RanCell<'_>>) -> Result<Self> {
        let mut results = ran.into_iter();
        let last = question.space.places.iter().copied().max().unwrap_or_default();
        let (mut all, mut cells) = (vec![], vec![]);
        for Planned { plan, problem } in plans {
            let own: Vec<RanCell<'_>> = results.by_ref().take(plan.cells().len()).collect();
            let (runs, keys) = gathered(&own, last);
            all.push(Ran { runs, optimum: problem.optimum().loss });
            cells.push(keys);
        }
        Ok(Self::judged(question, all, cells))
    }

    fn judged(question: Question, ran: Vec<Ran>, cells: Vec<Cells>) -> Self {
        let (views, rules) = (question.space.views(), &question.rules);
        let of = |ran: &Ran| views.iter().map(|&view| judge::evidence(rules, ran, view)).collect();
        let evidence: Vec<Vec<Vec<Evidence>>> = ran.iter().map(of).collect();
        let mut verdicts = vec![vec![vec![]; views.len()]; ran.len()];
        for claim in 0..rules.claims.len() {
            let all: Vec<Evidence> = evidence.iter().flatten().map(|claims| claims[claim]).collect();
            let decided = verdicts::corrected(&all, rules.level);
            for (at, verdict) in decided.into_iter().enumerate() {
                verdicts[at / views.len()][at % views.len()].push(verdict);
            }
        }
        Self { question, views, ran, cells, evidence, verdicts, algebra: Algebra::default() }
    }

    /// Asks algebra too: what it says of every reading, and more closely of those that the summary tells of.
    pub(crate) fn with_algebra(mut self, plans: &[Planned]) -> Result<Self> {
        let summary = self.summary();
        let looks = summary.looks.iter().map(|(_, look)| look);
        let mut told: Vec<usize> =
            [&summary.words, &summary.best].into_iter().chain(looks).map(|one| one.reading).collect();
        told.sort_unstable();
        told.dedup();
        self.algebra = algebra::of_all(&self, plans, &told)?;
        Ok(self)
    }

    /// What algebra says of each claim in a reading. Bytes are counted, not measured: there the runs are exact too.
    fn theory(&self, reading: usize) -> Vec<Option<Verdict>> {
        let rules = &self.question.rules;
        let of = |(at, claim): (usize, &rules::Claim)| match claim.rule {
            rules::Rule::SendsLess { .. } => Some(self.verdicts[reading][0][at]),
            _ => algebra::decided(rules, &claim.rule, self.algebra.exact.get(reading)?),
        };
        rules.claims.iter().enumerate().map(of).collect()
    }

    /// The curves of a reading, for figures.
    pub(crate) fn curves(&self, reading: usize) -> Vec<Curve> {
        let of = |runs: &Runs| {
            let curve = |(repetition, points): (usize, &std::sync::Arc<_>)| Curve {
                topology: runs.graph.name().to_owned(),
                method: runs.method.clone(),
                repetition: repetition as u64,
                points: std::sync::Arc::clone(points),
            };
            runs.curves.iter().enumerate().map(curve).collect::<Vec<_>>()
        };
        self.ran[reading].runs.iter().flat_map(of).collect()
    }

    /// The question with those readings added that differ from the best in one answer and have not run: none if it
    /// is the best of all of them. So whoever asks again and again climbs to a reading that no other answer
    /// betters.
    pub(crate) fn climbed(&self) -> Option<Question> {
        let mut question = self.question.clone();
        let best = question.readings.get(self.best(|_| true)?.reading)?.clone();
        let before = question.readings.len();
        for (at, factor) in question.space.factors.iter().enumerate() {
            for level in 0..factor.levels.len() {
                let mut other = best.clone();
                other[at] = level;
                if !question.readings.contains(&other) {
                    question.readings.push(other);
                }
            }
        }
        (question.readings.len() > before).then_some(question)
    }

    /// The number of readings that ran.
    pub(crate) fn len(&self) -> usize {
        self.ran.len()
    }

    /// How many claims hold in a reading as a view shows it.
    fn held(&self, reading: usize, view: usize) -> usize {
        self.verdicts[reading][view].iter().filter(|verdict| **verdict == Verdict::Holds).count()
    }
}

/// The cells of a reading by graph and method, in the order of the plan. Of a method that ran with several steps those
/// of the step with the lowest mean F at the last place, which is in its favour.
fn gathered(own: &[RanCell<'_>], last: u64) -> (Vec<Runs>, Cells) {
    let (mut tried, mut names): (Vec<Runs>, Keys) = (vec![], vec![]);
    for RanCell { cell, result } in own {
        let Cell { entry, key, .. } = cell;
        let Some(graph) = experiment::graph_of(&entry.topology_name) else { continue };
        let name = &entry.method_name;
        let at = match names.iter().position(|(of, known, _)| *of == graph && known == name) {
            Some(at) => at,
            None => {
                let method = experiment::method_of(name).0.to_owned();
                tried.push(Runs { graph, method, curves: vec![] });
                names.push((graph, name.clone(), vec![]));
                tried.len() - 1
            }
        };
        tried[at].curves.push(std::sync::Arc::clone(&result.points));
        names[at].2.push(key.clone());
    }
    let (mut runs, mut cells): (Vec<Runs>, Cells) = (vec![], Cells::default());
    for (one, (graph, name, keys)) in tried.into_iter().zip(names) {
        if experiment::method_of(&name).1 {
            cells.tried.push((graph, name, keys.clone()));
        }
        match runs.iter().position(|runs| runs.graph == graph && runs.method == one.method) {
            None => {
                cells.judged.push((graph, one.method.clone(), keys));
                runs.push(one);
            }
            Some(at) if judge::mean_loss(&one, last) < judge::mean_loss(&runs[at], last) => {
                cells.judged[at].2 = keys;
                runs[at] = one;
            }
            Some(_) => {}
        }
    }
    (runs, cells)
}
