//! The claims about the two figures, from their curves.
//!
//! The paper gives SMTPP and CSGDM η = 0.1 and the others 0.2, so that a difference at the same iteration may be the
//! step's. Where that matters the same comparison is made on curves in which all take 0.2 (`equal_steps`), and the
//! verdict says if it turns on that.

mod baselines;
mod centralised;
mod communication;
mod compare;

use super::runs::{CONSERVATION, Missing, Runs, SMTPP, SMTPP_TREES, largest};
use super::{Claim, Finding, Statement, Verdict, show};
use crate::results::curves::Curve;

/// Lemma 2 is an identity: what is left is rounding.
const ROUNDING: f64 = 1e-12;

/// All of them, in the order of the paper.
pub(super) fn judge(multi_sub_ring: &[Curve], exponential: &[Curve], equal_steps: &[Curve]) -> Vec<Claim> {
    let (sparse, dense, equal) = (Runs(multi_sub_ring), Runs(exponential), Runs(equal_steps));
    vec![
        centralised::robust(sparse, dense),
        conservation(sparse, dense),
        communication::fewer_links(sparse, dense),
        baselines::slow(sparse),
        baselines::better_than_stpp(sparse, equal),
        baselines::better_than_sgp(sparse, equal),
        baselines::better_than_push_diging(sparse, equal),
        baselines::damped(sparse, equal),
        centralised::comparable(sparse),
        baselines::stpp_gap(dense),
        centralised::overlap(dense),
    ]
}

fn conservation(sparse: Runs<'_>, dense: Runs<'_>) -> Claim {
    let finding = || -> Result<Finding, Missing> {
        let mut numbers = vec![];
        for (runs, graph) in [(sparse, "multi-sub-ring"), (dense, "exponential")] {
            for method in [SMTPP, SMTPP_TREES] {
                let label = format!("largest ‖v̄ − m̄‖, {method}, {graph}");
                numbers.push((label, largest(runs, method, CONSERVATION)?));
            }
        }
        let worst = numbers.iter().map(|(_, error)| *error).fold(0.0, f64::max);
        let verdict = if worst <= ROUNDING { Verdict::Holds } else { Verdict::DoesNotHold };
        let because = format!("The largest ‖v̄ − m̄‖ of all runs is {}.", show(worst));
        Ok(Finding { numbers, verdict, because })
    };
    let statement = Statement {
        id: "lemma-2",
        source: "Lemma 2",
        claim: "the mean tracker is the mean momentum at every step",
        measure: "largest ‖v̄ − m̄‖ over all recorded states of SMTPP, at most 1e-12",
    };
    statement.judged(finding())
}
