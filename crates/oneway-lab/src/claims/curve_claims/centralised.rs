//! SMTPP against CSGDM, and against itself on the other graph.

use super::compare::labelled;
use crate::claims::runs::{
    CSGDM, GRADIENT, LOSS, Missing, PLATEAU_ENDS, PUSH_DIGING, Quantity, Runs, SGP, SMTPP, SMTPP_TREES, STPP,
    paired,
};
use crate::claims::statistics::{Answer, Interval, mean};
use crate::claims::{Claim, Finding, Statement, Verdict, roughly};

/// Losses this close are alike: 1 %.
const LOSS_MARGIN: f64 = 0.01;
/// Curves of ‖∇F‖² this close overlap on a logarithmic axis: a tenth of a decade, ln(10)/10.
const GRADIENT_MARGIN: f64 = std::f64::consts::LN_10 / 10.0;
/// Mean losses above the best this close make comparable rates: 10 %, ln 1.1.
const RATE_MARGIN: f64 = 0.095_310_179_804_324_87;
/// SMTPP starts a round late (X₁ = X₀), which a steep start makes visible; curves are compared from here on.
const AFTER_START: u64 = 50;

/// "almost perfectly overlaps with CSGDM".
pub(super) fn overlap(dense: Runs<'_>) -> Claim {
    let finding = || {
        let mut numbers = vec![];
        let mut worst = |method: &'static str| -> Result<(Answer, [Interval; 2]), Missing> {
            let (loss, worst_loss) = closeness(dense, method, LOSS, LOSS_MARGIN)?;
            let (gradient, worst_gradient) = closeness(dense, method, GRADIENT, GRADIENT_MARGIN)?;
            numbers.extend(labelled(&format!("ln({method}/CSGDM) of loss, where largest"), worst_loss));
            numbers.extend(labelled(&format!("ln({method}/CSGDM) of ‖∇F‖², where largest"), worst_gradient));
            Ok((Answer::all([loss, gradient]), [worst_loss, worst_gradient]))
        };
        let (full, [full_loss, full_gradient]) = worst(SMTPP)?;
        let (trees, [trees_loss, trees_gradient]) = worst(SMTPP_TREES)?;
        let because = format!(
            "From iteration {AFTER_START} on the loss is never more than {} % from CSGDM's on the full digraph \
             and {} % on trees (margin 1 %), ‖∇F‖² {} % and {} % (margin 26 %).",
            percent(full_loss),
            percent(trees_loss),
            percent(full_gradient),
            percent(trees_gradient)
        );
        Ok(Finding { numbers, verdict: Verdict::of_both_ways(full, trees), because })
    };
    let statement = Statement {
        id: "overlap-exponential",
        source: "§IV-B",
        claim: "on the exponential graph SMTPP's curve almost perfectly overlaps CSGDM's",
        measure: "paired intervals at every recorded iteration from 50 on: loss within 1 %, ‖∇F‖² within a tenth of a \
                  decade",
    };
    statement.judged(finding())
}

/// "a convergence rate comparable to the centralized baseline".
pub(super) fn comparable(sparse: Runs<'_>) -> Claim {
    let finding = || {
        let best = sparse.best_loss()?;
        let mut numbers = vec![("best final loss".to_owned(), best)];
        let [first_end, ..] = PLATEAU_ENDS;
        let window = [AFTER_START, first_end];
        let central = sparse.excess(CSGDM, best, window)?;
        numbers.push(("mean excess loss, CSGDM".to_owned(), mean(&central)));
        let mut near = |method: &'static str| -> Result<(Answer, Interval, f64), Missing> {
            let (mut answers, mut farthest) = (vec![], 0.0_f64);
            for end in PLATEAU_ENDS {
                let interval = sparse.log_ratio([method, CSGDM], LOSS, end)?;
                numbers.extend(labelled(&format!("ln({method}/CSGDM) of loss at {end}"), interval));
                farthest = farthest.max(interval.mean.abs());
                answers.push(interval.is_within(LOSS_MARGIN));
            }
            let own = sparse.excess(method, best, window)?;
            let interval = paired(&own, &central)?;
            numbers.push((format!("mean excess loss, {method}"), mean(&own)));
            numbers.extend(labelled(&format!("ln({method}/CSGDM) of mean excess loss"), interval));
            answers.push(interval.is_within(RATE_MARGIN));
            Ok((Answer::all(answers), interval, 100.0 * farthest))
        };
        let (full, rate, far) = near(SMTPP)?;
        let (trees, rate_trees, far_trees) = near(SMTPP_TREES)?;
        let because = format!(
            "In the first plateau the mean loss above the best is {} ± {} % more than CSGDM's on the full digraph, {} ± {} % \
             on trees (margin 10 %); at the plateaus' ends the loss is at most {} % off (on trees {} %).",
            roughly(100.0 * rate.mean.exp_m1()),
            roughly(100.0 * rate.half),
            roughly(100.0 * rate_trees.mean.exp_m1()),
            roughly(100.0 * rate_trees.half),
            roughly(far),
            roughly(far_trees)
        );
        Ok(Finding { numbers, verdict: Verdict::of_both_ways(full, trees), because })
    };
    let statement = Statement {
        id: "comparable-multi-sub-ring",
        source: "abstract, §IV-B",
        claim: "on Multi-Sub-Ring SMTPP's rate and performance are close to CSGDM's",
        measure: "paired intervals: loss within 1 % at 300, 600, 900; mean loss above the best final one, iterations 50 \
                  to 300, within 10 %",
    };
    statement.judged(finding())
}

/// "highly robust to network connectivity … regardless of whether the network is sparse or dense".
pub(super) fn robust(sparse: Runs<'_>, dense: Runs<'_>) -> Claim {
    let finding = || {
        let mut numbers = vec![];
        let mut moved = |method: &'static str| -> Result<(Answer, f64), Missing> {
            let (mut answers, mut largest) = (vec![], 0.0_f64);
            for end in PLATEAU_ENDS {
                let interval = paired(&sparse.at(method, LOSS, end)?, &dense.at(method, LOSS, end)?)?;
                numbers.extend(labelled(&format!("ln(sparse/dense) of loss at {end}, {method}"), interval));
                largest = largest.max(interval.mean.abs());
                answers.push(interval.is_within(LOSS_MARGIN));
            }
            Ok((Answer::all(answers), 100.0 * largest))
        };
        let (full, by_full) = moved(SMTPP)?;
        let (trees, by_trees) = moved(SMTPP_TREES)?;
        let (_, by_stpp) = moved(STPP)?;
        let (_, by_sgp) = moved(SGP)?;
        let (_, by_push_diging) = moved(PUSH_DIGING)?;
        let because = format!(
            "Between the graphs the loss at the plateaus' ends moves by at most {} % for SMTPP ({} % on trees); for \
             STPP by {} %, for SGP by {} %, for Push-DIGing by {} %.",
            roughly(by_full),
            roughly(by_trees),
            roughly(by_stpp),
            roughly(by_sgp),
            roughly(by_push_diging)
        );
        Ok(Finding { numbers, verdict: Verdict::of_both_ways(full, trees), because })
    };
    let statement = Statement {
        id: "robust-sparse-dense",
        source: "abstract",
        claim: "SMTPP performs alike on sparse and dense networks",
        measure: "paired intervals of the loss on the two graphs at 300, 600, 900, within 1 %",
    };
    statement.judged(finding())
}

/// Whether a method's quantity stays within a margin of CSGDM's, and the interval where it is farthest.
fn closeness(
    runs: Runs<'_>,
    method: &str,
    quantity: Quantity,
    margin: f64,
) -> Result<(Answer, Interval), Missing> {
    let mut answers = vec![];
    let mut farthest = Interval { mean: 0.0, half: 0.0 };
    for k in runs.iterations_from(AFTER_START) {
        let interval = runs.log_ratio([method, CSGDM], quantity, k)?;
        answers.push(interval.is_within(margin));
        if interval.mean.abs() > farthest.mean.abs() {
            farthest = interval;
        }
    }
    if answers.is_empty() {
        return Err(Missing(format!("iteration from {AFTER_START} on that all runs recorded")));
    }
    Ok((Answer::all(answers), farthest))
}

/// |e^mean − 1| in per cent.
fn percent(interval: Interval) -> String {
    roughly(100.0 * interval.mean.exp_m1().abs())
}
