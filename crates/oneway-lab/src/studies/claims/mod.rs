//! What the paper claims, and whether it holds here: measured, and judged by rules that are written here,
//! never by hand.
//!
//! [`judge`] is pure: curves and studies in, verdicts out. A claim about curves compares methods repetition
//! by repetition (they share their samples) with a 95 % paired t interval; a claim of the analysis is put to
//! a study of its own, on problems whose answer is known.

mod curve_claims;
mod runs;
pub(crate) mod statistics;
mod studies;
mod study_claims;
mod table;

use oneway_experiment::results::curves::Curve;
use serde::{Serialize, Serializer};

use crate::number;
use runs::Missing;
use statistics::Answer;
pub(crate) use studies::Studies;
pub(crate) use table::{lines, summary, table};

/// One claim of the paper, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Claim {
    pub(crate) id: &'static str,
    /// Where the paper makes it.
    pub(crate) source: &'static str,
    /// The claim, in a few words.
    pub(crate) claim: &'static str,
    /// How it is measured.
    pub(crate) measure: &'static str,
    /// What was measured, in a fixed order.
    pub(crate) numbers: Vec<(String, f64)>,
    pub(crate) verdict: Verdict,
    /// One sentence with the numbers that decide.
    pub(crate) because: String,
}

/// Whether a claim holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    /// It holds in some of the cases looked at; noise leaves the others open, and it fails in none.
    HoldsFor {
        holds: String,
        undecided: String,
    },
    /// It holds under this condition, and fails in some case without it.
    HoldsOnlyIf(String),
    DoesNotHold,
    /// Noise, or missing runs, forbid a verdict.
    Undecided,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Verdict::Holds => f.write_str("holds"),
            Verdict::HoldsFor { holds, undecided } => {
                write!(f, "holds for {holds}; undecided for {undecided}")
            }
            Verdict::HoldsOnlyIf(condition) => write!(f, "holds only if {condition}"),
            Verdict::DoesNotHold => f.write_str("does not hold"),
            Verdict::Undecided => f.write_str("undecided"),
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Verdict {
    /// The verdict on a claim that does not say which links SMTPP uses: all of the digraph, or two trees.
    fn of_both_ways(full: Answer, trees: Answer) -> Self {
        let only = |which: &str| Verdict::HoldsOnlyIf(which.to_owned());
        match (full, trees) {
            (Answer::Yes, Answer::Yes) => Verdict::Holds,
            (Answer::Yes, Answer::No) => only("SMTPP uses the full digraph; on trees it does not"),
            (Answer::Yes, Answer::Unclear) => Verdict::holds_for("the full digraph", "trees"),
            (Answer::No, Answer::Yes) => only("SMTPP uses trees; on the full digraph it does not"),
            (Answer::Unclear, Answer::Yes) => Verdict::holds_for("trees", "the full digraph"),
            (Answer::No, Answer::No) => Verdict::DoesNotHold,
            _ => Verdict::Undecided,
        }
    }

    fn holds_for(holds: &str, undecided: &str) -> Self {
        Verdict::HoldsFor { holds: holds.to_owned(), undecided: undecided.to_owned() }
    }
}

impl From<Answer> for Verdict {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Yes => Verdict::Holds,
            Answer::No => Verdict::DoesNotHold,
            Answer::Unclear => Verdict::Undecided,
        }
    }
}

/// A claim before it is judged.
struct Statement {
    id: &'static str,
    source: &'static str,
    claim: &'static str,
    measure: &'static str,
}

/// What was found out about a claim.
struct Finding {
    numbers: Vec<(String, f64)>,
    verdict: Verdict,
    because: String,
}

impl Statement {
    /// The claim with its verdict; undecided if what it takes is missing.
    fn judged(self, finding: Result<Finding, Missing>) -> Claim {
        let Self { id, source, claim, measure } = self;
        let Finding { numbers, verdict, because } = finding.unwrap_or_else(|Missing(what)| Finding {
            numbers: vec![],
            verdict: Verdict::Undecided,
            because: format!("Not judged, for want of {what}."),
        });
        Claim { id, source, claim, measure, numbers, verdict, because }
    }
}

/// What ran: the curves of the paper's two experiments, and of the same with one step for all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Experiments<'a> {
    pub(crate) multi_sub_ring: &'a [Curve],
    pub(crate) exponential: &'a [Curve],
    pub(crate) one_step: [OneStep<'a>; 2],
    /// F*.
    pub(crate) optimum: f64,
}

/// The experiments with one initial step for all; on the exponential graph STPP and CSGDM only.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OneStep<'a> {
    pub(crate) step: &'static str,
    pub(crate) multi_sub_ring: &'a [Curve],
    pub(crate) exponential: &'a [Curve],
}

/// The verdict on every claim.
pub(crate) fn judge(experiments: &Experiments<'_>, studies: &Studies) -> Vec<Claim> {
    let mut claims = curve_claims::judge(experiments);
    claims.extend(study_claims::judge(studies));
    claims
}

/// `claims.json`: the same claims give the same bytes; numbers in shortest round-trip form.
pub(crate) fn to_json(claims: &[Claim]) -> String {
    // Strings, finite or null numbers and vectors: there is nothing that could fail.
    serde_json::to_string_pretty(claims).unwrap_or_default() + "\n"
}

/// A number for a sentence: four significant digits, or a power of ten where that would be long.
fn show(x: f64) -> String {
    number::significant(x, 4)
}

/// A number whose first two digits matter.
fn roughly(x: f64) -> String {
    number::significant(x, 2)
}

#[cfg(test)]
mod tests;
