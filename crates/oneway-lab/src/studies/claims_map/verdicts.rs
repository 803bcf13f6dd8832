//! From p values to verdicts over all readings, corrected for their number; shares, effects, and a small tree
//! that says what decides.

use serde::Serialize;

use super::judge::Evidence;

/// What is said of a claim in a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    Fails,
    Open,
}

impl Verdict {
    /// In a letter.
    pub(crate) fn letter(self) -> char {
        match self {
            Self::Holds => 'h',
            Self::Fails => 'f',
            Self::Open => 'o',
        }
    }
}

/// Benjamini and Hochberg: the largest p that still counts, so that of all that count at most `level` are
/// expected to be chance; none if that is so for no p.
fn threshold(mut p: Vec<f64>, level: f64) -> Option<f64> {
    p.sort_by(f64::total_cmp);
    let m = p.len() as f64;
    let counts = |(at, p): &(usize, &f64)| **p <= level * (*at as f64 + 1.0) / m;
    p.iter().enumerate().rfind(counts).map(|(_, p)| *p)
}

/// Verdicts on one claim in many readings.
pub(crate) fn corrected(evidence: &[Evidence], level: f64) -> Vec<Verdict> {
    let holds = threshold(evidence.iter().map(|one| one.holds).collect(), level);
    let fails = threshold(evidence.iter().map(|one| one.fails).collect(), level);
    let counts = |p: f64, threshold: Option<f64>| threshold.is_some_and(|threshold| p <= threshold);
    let verdict = |one: &Evidence| match (counts(one.holds, holds), counts(one.fails, fails)) {
        (true, false) => Verdict::Holds,
        (false, true) => Verdict::Fails,
        // both is possible only for p near ½, where neither says anything
        _ => Verdict::Open,
    };
    evidence.iter().map(verdict).collect()
}

/// A share with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Share {
    pub(crate) share: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Share {
    /// Wilson's interval for a mean of n shares, each between 0 and 1, at z standard errors. A share of views varies
    /// less than a yes or no does: the interval is at least as wide as it need be.
    pub(crate) fn of(shares: &[f64], z: f64) -> Self {
        let n = shares.len() as f64;
        if shares.is_empty() {
            return Self { share: f64::NAN, low: 0.0, high: 1.0 };
        }
        let share = shares.iter().sum::<f64>() / n;
        let z_sq = z * z;
        let middle = (share + z_sq / (2.0 * n)) / (1.0 + z_sq / n);
        let half = z / (1.0 + z_sq / n) * (share * (1.0 - share) / n + z_sq / (4.0 * n * n)).sqrt();
        Self { share, low: (middle - half).max(0.0).min(share), high: (middle + half).min(1.0).max(share) }
    }
}

/// How much a question decides: the share of each of its answers.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Effect {
    pub(crate) factor: String,
    /// The largest share less the least.
    pub(crate) range: f64,
    pub(crate) shares: Vec<(String, f64)>,
}

/// Readings as rows of answers, to be told apart by whether a claim holds.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    /// The name of each question, and of its answers.
    pub(crate) questions: &'a [(String, Vec<String>)],
    pub(crate) answers: &'a [Vec<usize>],
}

/// The effect of each question, the largest first.
pub(crate) fn effects(rows: &Rows<'_>, holds: &[bool]) -> Vec<Effect> {
    let of = |(at, (factor, levels)): (usize, &(String, Vec<String>))| {
        let share = |level: usize| {
            let own = rows.answers.iter().zip(holds).filter(|(answers, _)| answers[at] == level);
            let (count, held) = own.fold((0, 0), |(n, h), (_, holds)| (n + 1, h + usize::from(*holds)));
            (count > 0).then(|| f64::from(held as u32) / f64::from(count))
        };
        let shares = levels.iter().enumerate();
        let shares: Vec<(String, f64)> =
            shares.filter_map(|(level, name)| Some((name.clone(), share(level)?))).collect();
        let most = shares.iter().map(|(_, share)| *share).fold(f64::NEG_INFINITY, f64::max);
        let least = shares.iter().map(|(_, share)| *share).fold(f64::INFINITY, f64::min);
        Effect { factor: factor.clone(), range: if shares.is_empty() { 0.0 } else { most - least }, shares }
    };
    let mut effects: Vec<Effect> = rows.questions.iter().enumerate().map(of).collect();
    effects.sort_by(|a, b| b.range.total_cmp(&a.range));
    effects
}

/// A tree of questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Tree {
    Leaf {
        share: f64,
        readings: usize,
    },
    Split {
        factor: String,
        /// Readings with one of these answers go to `with`, all others to `without`.
        answers: Vec<String>,
        with: Box<Tree>,
        without: Box<Tree>,
    },
}

/// Questions on the way to a leaf, at most, and readings in one, at least.
const DEPTH: usize = 3;
const LEAST: usize = 24;
/// A split must take this share of what is unexplained before it, at least.
const WORTH: f64 = 0.02;

/// The tree that greedily takes most of Gini's impurity: answers of a question are ordered by their share, and cut once.
pub(crate) fn tree(rows: &Rows<'_>, holds: &[bool]) -> Tree {
    grow(rows, holds, &(0..holds.len()).collect::<Vec<_>>(), DEPTH)
}

fn impurity(holds: &[bool], of: &[usize]) -> f64 {
    let n = of.len() as f64;
    let held = of.iter().filter(|at| holds[**at]).count() as f64;
    if of.is_empty() { 0.0 } else { held * (n - held) / n }
}

fn grow(rows: &Rows<'_>, holds: &[bool], of: &[usize], depth: usize) -> Tree {
    let held = of.iter().filter(|at| holds[**at]).count();
    let leaf = Tree::Leaf { share: held as f64 / of.len().max(1) as f64, readings: of.len() };
    let before = impurity(holds, of);
    if depth == 0 || before == 0.0 {
        return leaf;
    }
    let mut best: Option<(f64, usize, Vec<usize>)> = None;
    for (at, (_, levels)) in rows.questions.iter().enumerate() {
        let share = |level: usize| {
            let own: Vec<usize> = of.iter().copied().filter(|r| rows.answers[*r][at] == level).collect();
            let held = own.iter().filter(|r| holds[**r]).count();
            (!own.is_empty()).then(|| held as f64 / own.len() as f64)
        };
        let mut ordered: Vec<(usize, f64)> =
            (0..levels.len()).filter_map(|level| Some((level, share(level)?))).collect();
        ordered.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        for cut in 1..ordered.len() {
            let mut with: Vec<usize> = ordered[..cut].iter().map(|(level, _)| *level).collect();
            with.sort_unstable();
            let (yes, no): (Vec<usize>, Vec<usize>) =
                of.iter().partition(|r| with.contains(&rows.answers[**r][at]));
            if yes.len() < LEAST || no.len() < LEAST {
                continue;
            }
            let gain = before - impurity(holds, &yes) - impurity(holds, &no);
            if gain > WORTH * before && best.as_ref().is_none_or(|(most, ..)| gain > *most) {
                best = Some((gain, at, with));
            }
        }
    }
    let Some((_, at, with)) = best else { return leaf };
    let (yes, no): (Vec<usize>, Vec<usize>) = of.iter().partition(|r| with.contains(&rows.answers[**r][at]));
    let (factor, levels) = &rows.questions[at];
    Tree::Split {
        factor: factor.clone(),
        answers: with.iter().map(|level| levels[*level].clone()).collect(),
        with: Box::new(grow(rows, holds, &yes, depth - 1)),
        without: Box::new(grow(rows, holds, &no, depth - 1)),
    }
}
