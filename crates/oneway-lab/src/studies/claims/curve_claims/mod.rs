//! The claims about the two figures, from their curves.
//!
//! The paper gives SMTPP and CSGDM η = 0.1 and the others 0.2, so that a difference at the same iteration may
//! be the step's. Where methods are compared, they are compared three times: with the paper's steps, with 0.1
//! for all, and with 0.2 for all; the verdict says for which it holds.

mod baselines;
mod centralised;
mod communication;
mod compare;
mod steps;

use super::runs::{CONSERVATION, Missing, Runs, SMTPP, SMTPP_TREES, largest};
use super::{Claim, Experiments, Finding, Statement, Verdict, show};
use steps::Steps;

/// Lemma 2 is an identity: what is left is rounding.
const ROUNDING: f64 = 1e-12;

/// All of them, in the order of the paper.
pub(super) fn judge(experiments: &Experiments<'_>) -> Vec<Claim> {
    let (sparse, dense) = (Runs(experiments.multi_sub_ring), Runs(experiments.exponential));
    let (on_sparse, on_dense) = (Steps::on_multi_sub_ring(experiments), Steps::on_exponential(experiments));
    let optimum = experiments.optimum;
    vec![
        centralised::robust(sparse, dense, optimum),
        conservation(sparse, dense),
        communication::fewer_links(sparse, dense),
        baselines::slow(&on_sparse),
        baselines::better_than_stpp(&on_sparse),
        baselines::better_than_sgp(&on_sparse),
        baselines::better_than_push_diging(&on_sparse),
        baselines::damped(&on_sparse),
        centralised::comparable(sparse, optimum),
        baselines::stpp_gap(&on_dense),
        centralised::overlap(dense, optimum),
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
