//! SMTPP against STPP, SGP and Push-DIGing.

use super::compare::{BothWays, Comparison, labelled};
use crate::claims::runs::{
    CSGDM, LOSS, Missing, PLATEAU_ENDS, PUSH_DIGING, Runs, SGP, SMTPP, SMTPP_TREES, STPP, paired,
};
use crate::claims::statistics::{Answer, mean};
use crate::claims::{Claim, Finding, Statement, Verdict, show};

/// The last 200 iterations of each plateau, when what the change of step stirred up has settled.
const WINDOWS: [[u64; 2]; 3] = [[100, 300], [400, 600], [700, 900]];

const BETTER_MEASURE: &str = "loss and ‖∇F‖² at 300, 600, 900, paired intervals: surely lower in three or more of six and surely \
     higher in none; again with one step, 0.2, for all";

pub(super) fn better_than_stpp(sparse: Runs<'_>, equal: Runs<'_>) -> Claim {
    let statement = Statement {
        id: "better-than-stpp",
        source: "§I, §IV-B",
        claim: "on Multi-Sub-Ring SMTPP outperforms STPP, which keeps a steady-state error gap",
        measure: BETTER_MEASURE,
    };
    statement.judged(better(sparse, equal, STPP))
}

pub(super) fn better_than_sgp(sparse: Runs<'_>, equal: Runs<'_>) -> Claim {
    let statement = Statement {
        id: "better-than-sgp",
        source: "§I, §IV-B",
        claim: "on Multi-Sub-Ring SMTPP outperforms SGP",
        measure: BETTER_MEASURE,
    };
    statement.judged(better(sparse, equal, SGP))
}

pub(super) fn better_than_push_diging(sparse: Runs<'_>, equal: Runs<'_>) -> Claim {
    let statement = Statement {
        id: "better-than-push-diging",
        source: "§I, §IV-B",
        claim: "on Multi-Sub-Ring SMTPP outperforms Push-DIGing",
        measure: BETTER_MEASURE,
    };
    statement.judged(better(sparse, equal, PUSH_DIGING))
}

fn better(sparse: Runs<'_>, equal: Runs<'_>, other: &'static str) -> Result<Finding, Missing> {
    let given = BothWays::new(|smtpp| Comparison::at_plateau_ends(sparse, [smtpp, other]))?;
    let same = BothWays::new(|smtpp| Comparison::at_plateau_ends(equal, [smtpp, other]))?;
    let verdict = match (given.verdict(), same.verdict()) {
        (Verdict::DoesNotHold | Verdict::Undecided, Verdict::Holds) => {
            Verdict::HoldsOnlyIf("all take the same step".to_owned())
        }
        (Verdict::DoesNotHold | Verdict::Undecided, Verdict::HoldsOnlyIf(way)) => {
            Verdict::HoldsOnlyIf(format!("all take the same step and {way}"))
        }
        (given, _) => given,
    };
    let [.., last] = PLATEAU_ENDS;
    let [full_end, trees_end, other_end] = [SMTPP, SMTPP_TREES, other].map(|m| sparse.at(m, LOSS, last));
    let because = format!(
        "With the paper's steps (0.1, the others 0.2) SMTPP ends at a loss of {} (on trees {}), {other} at {}: {}. With \
         0.2 for all: {}.",
        show(mean(&full_end?)),
        show(mean(&trees_end?)),
        show(mean(&other_end?)),
        given.tally(),
        same.tally()
    );
    Ok(Finding { numbers: with_equal_steps(given, same), verdict, because })
}

/// "SGP, Push-DIGing converge slowly due to inefficient mixing. While STPP improves upon them".
pub(super) fn slow(sparse: Runs<'_>) -> Claim {
    let finding = || {
        let target = sparse.target_loss()?;
        let mut numbers = vec![("target loss".to_owned(), target)];
        let mut to_target = |method: &str| -> Result<Vec<f64>, Missing> {
            let own = iterations(sparse, method, target)?;
            numbers.push((format!("iterations to target, {method}"), mean(&own)));
            Ok(own)
        };
        let [stpp, central] = [to_target(STPP)?, to_target(CSGDM)?];
        let [sgp, push_diging] = [to_target(SGP)?, to_target(PUSH_DIGING)?];
        let mut answers = vec![];
        for (quick, name) in [(&stpp, STPP), (&central, CSGDM)] {
            for (slow, other) in [(&sgp, SGP), (&push_diging, PUSH_DIGING)] {
                let interval = paired(quick, slow)?;
                numbers.extend(labelled(&format!("ln({name}/{other}) of iterations to target"), interval));
                answers.push(interval.is_negative());
            }
        }
        let verdict = match Answer::all(answers) {
            Answer::Yes => Verdict::Holds,
            Answer::No => Verdict::DoesNotHold,
            Answer::Unclear => Verdict::Undecided,
        };
        let because = format!(
            "A loss of {} takes SGP {} iterations, Push-DIGing {}, STPP {}, and CSGDM at half their step {}.",
            show(target),
            show(mean(&sgp)),
            show(mean(&push_diging)),
            show(mean(&stpp)),
            show(mean(&central))
        );
        Ok(Finding { numbers, verdict, because })
    };
    let statement = Statement {
        id: "push-sum-slow",
        source: "§IV-B",
        claim: "on Multi-Sub-Ring SGP and Push-DIGing converge slowly, STPP faster",
        measure: "iterations to a loss 2 % above the best: STPP's and CSGDM's surely fewer than theirs",
    };
    statement.judged(finding())
}

/// "drastically suppressing oscillations in sparse directed networks".
pub(super) fn damped(sparse: Runs<'_>, equal: Runs<'_>) -> Claim {
    let compare = |runs: Runs<'_>, smtpp, windows: &[[u64; 2]]| {
        let mut comparison = Comparison::new();
        for other in [STPP, SGP, PUSH_DIGING] {
            comparison.of_variation(runs, [smtpp, other], windows)?;
        }
        Ok(comparison)
    };
    let finding = || {
        let given = BothWays::new(|smtpp| compare(sparse, smtpp, &WINDOWS))?;
        let same = BothWays::new(|smtpp| compare(equal, smtpp, &WINDOWS[..1]))?;
        let smaller_step = "SMTPP takes a smaller step than the others";
        let verdict = match (given.verdict(), same.verdict()) {
            (Verdict::Holds, Verdict::HoldsOnlyIf(way)) => {
                Verdict::HoldsOnlyIf(format!("{smaller_step}; with the same step only if {way}"))
            }
            (Verdict::Holds, Verdict::DoesNotHold) => {
                Verdict::HoldsOnlyIf(format!("{smaller_step}; with the same step it does not"))
            }
            (Verdict::Holds, Verdict::Undecided) => {
                Verdict::HoldsOnlyIf(format!("{smaller_step}; with the same step it is undecided"))
            }
            (given, _) => given,
        };
        let because = format!(
            "With the paper's steps (0.1, the others 0.2) the variation is {}. With 0.2 for all, in the first plateau: \
             {}.",
            given.tally(),
            same.tally()
        );
        Ok(Finding { numbers: with_equal_steps(given, same), verdict, because })
    };
    let statement = Statement {
        id: "damped-oscillations",
        source: "abstract, §I, §IV-B",
        claim: "on Multi-Sub-Ring SMTPP dampens oscillations",
        measure: "total variation of ln‖∇F‖² an iteration, over the last 200 of each plateau, against STPP, SGP and \
                  Push-DIGing: surely lower in half of nine or more, higher in none",
    };
    statement.judged(finding())
}

/// "a performance gap persists for STPP".
pub(super) fn stpp_gap(dense: Runs<'_>) -> Claim {
    let finding = || {
        let comparison = Comparison::at_plateau_ends(dense, [CSGDM, STPP])?;
        let verdict = match comparison.is_lower() {
            Answer::Yes => Verdict::Holds,
            Answer::No => Verdict::DoesNotHold,
            Answer::Unclear => Verdict::Undecided,
        };
        let [.., last] = PLATEAU_ENDS;
        let [central, stpp] = [CSGDM, STPP].map(|method| dense.at(method, LOSS, last));
        let because = format!(
            "STPP ends at a loss of {}, CSGDM at {}, whose loss and ‖∇F‖² are {}; STPP's step is twice CSGDM's, and \
             that alone may explain it.",
            show(mean(&stpp?)),
            show(mean(&central?)),
            comparison.tally()
        );
        Ok(Finding { numbers: comparison.numbers, verdict, because })
    };
    let statement = Statement {
        id: "stpp-gap-exponential",
        source: "§IV-B",
        claim: "on the exponential graph a performance gap to CSGDM persists for STPP",
        measure: "loss and ‖∇F‖² at 300, 600, 900, paired intervals: CSGDM's surely lower in three or more of six and \
                  surely higher in none",
    };
    statement.judged(finding())
}

/// The numbers of both comparisons, those with one step for all marked.
fn with_equal_steps(given: BothWays, same: BothWays) -> Vec<(String, f64)> {
    let marked = same.numbers().into_iter().map(|(label, value)| (format!("one step: {label}"), value));
    given.numbers().into_iter().chain(marked).collect()
}

/// The iterations after which each repetition first has the target loss.
fn iterations(runs: Runs<'_>, method: &str, target: f64) -> Result<Vec<f64>, Missing> {
    Ok(runs.reaching(method, target)?.iter().map(|point| point.iteration as f64).collect())
}
