//! What came out, in a file that is small enough to be kept: shares, what decides them, and the reading under which
//! most comes out as printed.

use oneway::numeric::student;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Map;
use super::alone::Alone;
use super::judge::shown;
use super::rules::Graph;
use super::space::{Look, Quantity, View};
use super::verdicts::{Rows, Share, Tree, Verdict, effects, tree};

/// The small file.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Summary {
    pub(crate) rules_sha256: String,
    pub(crate) readings_sha256: String,
    pub(crate) seed: u64,
    pub(crate) confirms: bool,
    /// Readings that ran, those of them in the sample, and what was looked at in each.
    pub(crate) readings: usize,
    pub(crate) sampled: usize,
    pub(crate) views: usize,
    pub(crate) claims: Vec<OfClaim>,
    /// The paper's own words, as its first view shows them.
    pub(crate) words: OfReading,
    /// The reading and view under which most claims hold.
    pub(crate) best: OfReading,
    /// The same among readings that differ from the paper's words in no answer, in one, in two.
    pub(crate) near: Vec<OfReading>,
    /// Those that the file of readings names.
    pub(crate) looks: Vec<(String, OfReading)>,
    /// What each question changes while all others stay.
    pub(crate) alone: Vec<Alone>,
}

/// What the map says of a claim.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OfClaim {
    pub(crate) id: String,
    pub(crate) words: String,
    /// Shares of the sample, corrected intervals.
    pub(crate) holds: Share,
    pub(crate) fails: Share,
    /// Readings and views in which it holds, fails and is open, of all that ran.
    pub(crate) counts: [usize; 3],
    /// The three questions that decide most.
    pub(crate) effects: Value,
    pub(crate) tree: Value,
    /// What algebra says; none where it says nothing of such claims.
    pub(crate) theory: Option<OfTheory>,
}

/// What algebra says of a claim, and whether the runs say the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct OfTheory {
    /// Shares of the sampled readings in which it holds and fails.
    pub(crate) holds: f64,
    pub(crate) fails: f64,
    /// Of all readings, those in which both decide, the runs by ‖∇F‖² at the earliest place; and those of them in
    /// which both say the same.
    pub(crate) both: usize,
    pub(crate) agree: usize,
}

/// What the map says of a reading as a view shows it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OfReading {
    pub(crate) reading: usize,
    /// Where it differs from the paper's words.
    pub(crate) named: String,
    pub(crate) quantity: &'static str,
    pub(crate) place: u64,
    pub(crate) held: usize,
    pub(crate) failed: usize,
    /// A letter for each claim: h holds, f fails, o open.
    pub(crate) verdicts: String,
    /// The same as algebra has it, – where it says nothing.
    pub(crate) theory: String,
    /// By graph and method: mean F at 300, 600 and 900, or wherever one looks.
    pub(crate) loss: Value,
    pub(crate) gradient: Value,
    /// By graph and method: η·h, its limit, the factor a round, and ‖∇F‖² in the long run, where they were asked for.
    pub(crate) exact: Value,
}

/// What a summary that was stored says of one claim.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Stored {
    claims: Vec<StoredClaim>,
}

/// How often it holds and fails.
#[derive(Debug, Clone, Deserialize)]
struct StoredClaim {
    id: String,
    holds: StoredShare,
    fails: StoredShare,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct StoredShare {
    share: f64,
}

/// A claim of `reproduce` that is two in the map: of either method on its own.
const TWO_IN_MAP: (&str, [&str; 2]) = ("push-sum-slow", ["sgp-slow", "push-diging-slow"]);

impl Map {
    /// What came out.
    pub(crate) fn summary(&self) -> Summary {
        let question = &self.question;
        let (mut best, base) = (vec![], self.of_reading(0, 0));
        for apart in 0..=question.space.design.near {
            best.extend(self.best(|differs| differs == apart));
        }
        Summary {
            rules_sha256: question.rules.sha256.clone(),
            readings_sha256: question.readings_sha256.clone(),
            seed: question.seed,
            confirms: question.confirms,
            readings: self.len(),
            sampled: question.sampled.len(),
            views: self.views.len(),
            claims: (0..question.rules.claims.len()).map(|claim| self.of_claim(claim)).collect(),
            best: self.best(|_| true).unwrap_or_else(|| base.clone()),
            words: base,
            near: best,
            looks: question.space.looks.iter().filter_map(|look| self.look(look)).collect(),
            alone: self.alone(),
        }
    }

    fn look(&self, look: &Look) -> Option<(String, OfReading)> {
        let reading = self.question.readings.iter().position(|answers| *answers == look.answers)?;
        let view = self.views.iter().position(|view| *view == look.view)?;
        Some((look.name.clone(), self.of_reading(reading, view)))
    }

    /// The reading and view with most claims that hold, of those that differ so from the paper's words; then that
    /// with fewest that fail, then the nearest, then the first.
    pub(super) fn best(&self, differs: impl Fn(usize) -> bool) -> Option<OfReading> {
        let apart =
            |reading: usize| self.question.readings[reading].iter().filter(|level| **level > 0).count();
        let all = (0..self.len()).flat_map(|reading| (0..self.views.len()).map(move |view| (reading, view)));
        let failed = |(reading, view): (usize, usize)| {
            self.verdicts[reading][view].iter().filter(|verdict| **verdict == Verdict::Fails).count()
        };
        let key = |&(reading, view): &(usize, usize)| {
            let held = self.held(reading, view);
            (std::cmp::Reverse(held), failed((reading, view)), apart(reading), reading, view)
        };
        let (reading, view) = all.filter(|(reading, _)| differs(apart(*reading))).min_by_key(key)?;
        Some(self.of_reading(reading, view))
    }

    /// What is said of a reading.
    pub(crate) fn of_reading(&self, reading: usize, view: usize) -> OfReading {
        let View { quantity, place } = self.views[view];
        let verdicts = &self.verdicts[reading][view];
        let count = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        OfReading {
            reading,
            named: self.question.space.named(&self.question.readings[reading]),
            quantity: quantity.name(),
            place,
            held: count(Verdict::Holds),
            failed: count(Verdict::Fails),
            verdicts: verdicts.iter().map(|verdict| verdict.letter()).collect(),
            theory: self.theory_letters(reading),
            loss: self.means(reading, Quantity::Loss),
            gradient: self.means(reading, Quantity::Gradient),
            exact: self.exact(reading),
        }
    }

    /// A letter a claim: as algebra has it.
    pub(crate) fn theory_letters(&self, reading: usize) -> String {
        self.theory(reading).into_iter().map(|verdict| verdict.map_or('–', Verdict::letter)).collect()
    }

    /// What algebra says of each method in a reading.
    pub(crate) fn exact(&self, reading: usize) -> Value {
        let all = self.algebra.exact.get(reading).map(Vec::as_slice).unwrap_or_default();
        let closer = self.algebra.closer.get(&reading).map(Vec::as_slice).unwrap_or_default();
        let mut graphs = serde_json::Map::new();
        for (graph, method, exact) in all {
            let mut said = json!(exact);
            let known = closer.iter().find(|(on, name, _)| on == graph && name == method);
            if let (Some((_, _, closer)), Some(said)) = (known, said.as_object_mut()) {
                said.insert("limit".to_owned(), json!(closer.limit));
                said.insert("gradient".to_owned(), json!(closer.gradient));
            }
            graphs.entry(graph.name()).or_insert_with(|| json!({}))[method] = said;
        }
        Value::Object(graphs)
    }

    /// What algebra says of a claim, beside the runs.
    fn of_theory(&self, claim: usize) -> Option<OfTheory> {
        let all: Vec<Verdict> =
            (0..self.len()).map(|reading| self.theory(reading)[claim]).collect::<Option<_>>()?;
        let sampled = &self.question.sampled;
        let share = |wanted| {
            let count = sampled.iter().filter(|reading| all[**reading] == wanted).count();
            count as f64 / sampled.len().max(1) as f64
        };
        let place = self.question.space.places.iter().copied().min()?;
        let earliest = View { quantity: Quantity::Gradient, place };
        let view = self.views.iter().position(|view| *view == earliest)?;
        let ran = self.verdicts.iter().map(|views| views[view][claim]);
        let both: Vec<(Verdict, Verdict)> =
            all.iter().copied().zip(ran).filter(|(a, b)| ![*a, *b].contains(&Verdict::Open)).collect();
        let agree = both.iter().filter(|(a, b)| a == b).count();
        Some(OfTheory { holds: share(Verdict::Holds), fails: share(Verdict::Fails), both: both.len(), agree })
    }

    /// Means over repetitions at every place, by graph and method; null where a method has diverged.
    pub(crate) fn means(&self, reading: usize, quantity: Quantity) -> Value {
        let mut places = self.question.space.places.clone();
        places.sort_unstable();
        let ran = &self.ran[reading];
        let of = |graph: Graph| {
            let runs = ran.runs.iter().filter(|runs| runs.graph == graph);
            let of_method = |runs: &super::Runs| {
                let mean = |&place: &u64| {
                    let view = View { quantity, place };
                    let ends =
                        runs.curves.iter().map(|curve| shown(curve, view, ran.optimum)?.last().copied());
                    let ends = ends.collect::<Option<Vec<f64>>>()?;
                    Some(crate::studies::claims::statistics::mean(&ends))
                };
                (runs.method.clone(), json!(places.iter().map(mean).collect::<Vec<_>>()))
            };
            Value::Object(runs.map(of_method).collect())
        };
        Value::Object(Graph::BOTH.into_iter().map(|graph| (graph.name().to_owned(), of(graph))).collect())
    }

    /// The questions, those of the view last, and their answers.
    pub(crate) fn questions(&self) -> Vec<(String, Vec<String>)> {
        let space = &self.question.space;
        let names = |factor: &super::space::Factor| {
            (factor.name.clone(), factor.levels.iter().map(|(name, _)| name.clone()).collect())
        };
        let quantities = space.quantities.iter().map(|quantity| quantity.name().to_owned()).collect();
        let places = space.places.iter().map(u64::to_string).collect();
        let views = [("quantity".to_owned(), quantities), ("place".to_owned(), places)];
        space.factors.iter().map(names).chain(views).collect()
    }

    fn of_claim(&self, claim: usize) -> OfClaim {
        let question = &self.question;
        let questions = self.questions();
        let (mut answers, mut holds) = (vec![], vec![]);
        let (mut held, mut failed) = (vec![], vec![]);
        let places = question.space.places.len();
        for &reading in &question.sampled {
            let verdicts: Vec<Verdict> = self.verdicts[reading].iter().map(|claims| claims[claim]).collect();
            let share = |wanted| {
                verdicts.iter().filter(|verdict| **verdict == wanted).count() as f64 / verdicts.len() as f64
            };
            held.push(share(Verdict::Holds));
            failed.push(share(Verdict::Fails));
            for (view, verdict) in verdicts.iter().enumerate() {
                let view = [view / places, view % places];
                answers.push(question.readings[reading].iter().copied().chain(view).collect());
                holds.push(*verdict == Verdict::Holds);
            }
        }
        let rows = Rows { questions: &questions, answers: &answers };
        // an interval for each claim, all of them right at once at the level
        let tail = question.rules.level / 2.0 / question.rules.claims.len() as f64;
        let z = student::quantile(tail, question.sampled.len().max(2) as f64 - 1.0);
        let all = self.verdicts.iter().flatten().map(|claims| claims[claim]);
        let count = |wanted| all.clone().filter(|verdict| *verdict == wanted).count();
        let mut first = effects(&rows, &holds);
        first.truncate(3);
        OfClaim {
            id: question.rules.claims[claim].id.clone(),
            words: question.rules.claims[claim].words.clone(),
            holds: Share::of(&held, z),
            fails: Share::of(&failed, z),
            counts: [Verdict::Holds, Verdict::Fails, Verdict::Open].map(count),
            effects: json!(first),
            tree: json!(grown(tree(&rows, &holds))),
            theory: self.of_theory(claim),
        }
    }
}

/// The tree, with shares that are short.
fn grown(tree: Tree) -> Tree {
    let short = |share: f64| (share * 1000.0).round() / 1000.0;
    match tree {
        Tree::Leaf { share, readings } => Tree::Leaf { share: short(share), readings },
        Tree::Split { factor, answers, with, without } => {
            let [with, without] = [with, without].map(|side| Box::new(grown(*side)));
            Tree::Split { factor, answers, with, without }
        }
    }
}

impl Stored {
    /// The summary that comes with the program, or nothing if it says nothing.
    pub(crate) fn read() -> Option<Self> {
        serde_json::from_str(super::STORED).ok()
    }

    /// "holds 24 %, fails 38 %" of the sampled readings and views, where the map has the claim.
    pub(crate) fn said_of(&self, id: &str) -> Option<String> {
        let ids = if id == TWO_IN_MAP.0 { TWO_IN_MAP.1.to_vec() } else { vec![id] };
        let found = |id: &&str| self.claims.iter().find(|claim| claim.id == *id);
        let claims: Vec<&StoredClaim> = ids.iter().map(found).collect::<Option<_>>()?;
        let shares = |of: fn(&StoredClaim) -> StoredShare| {
            let all = claims.iter().map(|claim| format!("{:.0} %", 100.0 * of(claim).share));
            all.collect::<Vec<_>>().join(" and ")
        };
        Some(format!("holds {}, fails {}", shares(|claim| claim.holds), shares(|claim| claim.fails)))
    }
}

impl Summary {
    /// As a file.
    pub(crate) fn to_json(&self) -> String {
        // numbers, strings and vectors: there is nothing that could fail
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
