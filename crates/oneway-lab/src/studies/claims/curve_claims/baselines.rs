//! SMTPP against STPP, SGP and Push-DIGing.

use super::compare::{BothWays, Comparison, labelled};
use super::steps::{Case, Links, Steps, verdict, where_it_holds};
use crate::studies::claims::runs::{
    CSGDM, ITERATION, LOSS, Missing, PLATEAU_ENDS, PUSH_DIGING, Runs, SGP, SMTPP, SMTPP_TREES, STPP, paired,
};
use crate::studies::claims::statistics::Answer;
use crate::studies::claims::{Claim, Finding, Statement, show};

/// The last 200 iterations of each plateau, when what the change of step stirred up has settled.
const WINDOWS: [[u64; 2]; 3] = [[100, 300], [400, 600], [700, 900]];

const BETTER_MEASURE: &str = "loss and ‖∇F‖² at 300, 600, 900, paired intervals: surely lower in three or more of six and surely \
     higher in none; with the paper's steps, with 0.1 for all and with 0.2 for all";

pub(super) fn better_than_stpp(steps: &[Steps<'_>]) -> Claim {
    let statement = Statement {
        id: "better-than-stpp",
        source: "§I, §IV-B",
        claim: "on Multi-Sub-Ring SMTPP outperforms STPP, which keeps a steady-state error gap",
        measure: BETTER_MEASURE,
    };
    statement.judged(better(steps, STPP))
}

pub(super) fn better_than_sgp(steps: &[Steps<'_>]) -> Claim {
    let statement = Statement {
        id: "better-than-sgp",
        source: "§I, §IV-B",
        claim: "on Multi-Sub-Ring SMTPP outperforms SGP",
        measure: BETTER_MEASURE,
    };
    statement.judged(better(steps, SGP))
}

pub(super) fn better_than_push_diging(steps: &[Steps<'_>]) -> Claim {
    let statement = Statement {
        id: "better-than-push-diging",
        source: "§I, §IV-B",
        claim: "on Multi-Sub-Ring SMTPP outperforms Push-DIGing",
        measure: BETTER_MEASURE,
    };
    statement.judged(better(steps, PUSH_DIGING))
}

fn better(steps: &[Steps<'_>], other: &'static str) -> Result<Finding, Missing> {
    let compare = |runs, smtpp, prefix: &str| Comparison::at_plateau_ends(runs, [smtpp, other], prefix);
    let Compared { numbers, cases, tallies } = both_ways(steps, compare)?;
    let [.., last] = PLATEAU_ENDS;
    let paper = steps.first().ok_or_else(|| Missing("runs with the paper's steps".to_owned()))?.runs;
    let [full_end, trees_end, other_end] = [SMTPP, SMTPP_TREES, other].map(|m| paper.at(m, LOSS, last));
    let because = format!(
        "With the paper's steps (0.1, the others 0.2) SMTPP ends at a loss of {} (on trees {}), {other} at {}. It is \
         {tallies}. {}",
        show(full_end?.mean()),
        show(trees_end?.mean()),
        show(other_end?.mean()),
        where_it_holds(&cases)
    );
    Ok(Finding { numbers, verdict: verdict(&cases), because })
}

/// SMTPP against others, on the full digraph and on trees, for each choice of steps.
struct Compared {
    numbers: Vec<(String, f64)>,
    cases: Vec<Case>,
    tallies: String,
}

fn both_ways<'a>(
    steps: &[Steps<'a>],
    compare: impl Fn(Runs<'a>, &'static str, &str) -> Result<Comparison, Missing>,
) -> Result<Compared, Missing> {
    let (mut numbers, mut cases, mut tallies) = (vec![], vec![], vec![]);
    for of in steps {
        let both = BothWays::new(|smtpp| compare(of.runs, smtpp, &of.prefix()))?;
        tallies.push(format!("{} with {}", both.tally(), of.name));
        cases.push(Case::new(of, Some(Links::Full), both.full.is_lower()));
        cases.push(Case::new(of, Some(Links::Trees), both.trees.is_lower()));
        numbers.extend(both.numbers());
    }
    Ok(Compared { numbers, cases, tallies: tallies.join("; ") })
}

/// "SGP, Push-DIGing converge slowly due to inefficient mixing. While STPP improves upon them".
pub(super) fn slow(steps: &[Steps<'_>]) -> Claim {
    let finding = || {
        let (mut numbers, mut cases, mut sentences) = (vec![], vec![], vec![]);
        for of in steps {
            let prefix = of.prefix();
            let target = of.runs.target_loss()?;
            numbers.push((format!("{prefix}target loss"), target));
            let mut to_target = |method: &str| {
                let own = of.runs.on_reaching(method, target, ITERATION)?;
                numbers.push((format!("{prefix}iterations to target, {method}"), own.mean()));
                Ok(own)
            };
            let [stpp, central] = [to_target(STPP)?, to_target(CSGDM)?];
            let [sgp, push_diging] = [to_target(SGP)?, to_target(PUSH_DIGING)?];
            let mut answers = vec![];
            for (quick, name) in [(&stpp, STPP), (&central, CSGDM)] {
                for (slow, other) in [(&sgp, SGP), (&push_diging, PUSH_DIGING)] {
                    let interval = paired(quick, slow)?;
                    let label = format!("{prefix}ln({name}/{other}) of iterations to target");
                    numbers.extend(labelled(&label, interval));
                    answers.push(interval.is_negative());
                }
            }
            cases.push(Case::new(of, None, Answer::all(answers)));
            sentences.push(format!(
                "With {} a loss of {} takes SGP {} iterations, Push-DIGing {}, STPP {} and CSGDM {}.",
                of.name,
                show(target),
                show(sgp.mean()),
                show(push_diging.mean()),
                show(stpp.mean()),
                show(central.mean())
            ));
        }
        let because = format!("{} {}", sentences.join(" "), where_it_holds(&cases));
        Ok(Finding { numbers, verdict: verdict(&cases), because })
    };
    let statement = Statement {
        id: "push-sum-slow",
        source: "§IV-B",
        claim: "on Multi-Sub-Ring SGP and Push-DIGing converge slowly, STPP faster",
        measure: "iterations to a loss 2 % above the best: STPP's and CSGDM's surely fewer than theirs; with the paper's \
                  steps, with 0.1 for all and with 0.2 for all",
    };
    statement.judged(finding())
}

/// "drastically suppressing oscillations in sparse directed networks".
pub(super) fn damped(steps: &[Steps<'_>]) -> Claim {
    let compare = |runs, smtpp, prefix: &str| {
        let mut comparison = Comparison::new(prefix);
        for other in [STPP, SGP, PUSH_DIGING] {
            comparison.of_variation(runs, [smtpp, other], &WINDOWS)?;
        }
        Ok(comparison)
    };
    let finding = || {
        let Compared { numbers, cases, tallies } = both_ways(steps, compare)?;
        let because = format!("The variation is {tallies}. {}", where_it_holds(&cases));
        Ok(Finding { numbers, verdict: verdict(&cases), because })
    };
    let statement = Statement {
        id: "damped-oscillations",
        source: "abstract, §I, §IV-B",
        claim: "on Multi-Sub-Ring SMTPP dampens oscillations",
        measure: "total variation of ln‖∇F‖² an iteration, over the last 200 of each plateau, against STPP, SGP and \
                  Push-DIGing: surely lower in half of nine or more, higher in none; with the paper's steps, with 0.1 \
                  for all and with 0.2 for all",
    };
    statement.judged(finding())
}

/// "a performance gap persists for STPP".
pub(super) fn stpp_gap(steps: &[Steps<'_>]) -> Claim {
    let finding = || {
        let (mut numbers, mut cases, mut sentences) = (vec![], vec![], vec![]);
        for of in steps {
            let comparison = Comparison::at_plateau_ends(of.runs, [CSGDM, STPP], &of.prefix())?;
            let [.., last] = PLATEAU_ENDS;
            let [central, stpp] = [CSGDM, STPP].map(|method| of.runs.at(method, LOSS, last));
            sentences.push(format!(
                "With {} STPP ends at a loss of {}, CSGDM at {}, {}.",
                of.name,
                show(stpp?.mean()),
                show(central?.mean()),
                comparison.tally()
            ));
            cases.push(Case::new(of, None, comparison.is_lower()));
            numbers.extend(comparison.numbers);
        }
        let because = format!("{} {}", sentences.join(" "), where_it_holds(&cases));
        Ok(Finding { numbers, verdict: verdict(&cases), because })
    };
    let statement = Statement {
        id: "stpp-gap-exponential",
        source: "§IV-B",
        claim: "on the exponential graph a performance gap to CSGDM persists for STPP",
        measure: "loss and ‖∇F‖² at 300, 600, 900, paired intervals: CSGDM's surely lower in three or more of six and \
                  surely higher in none; with the paper's steps, with 0.1 for both and with 0.2 for both",
    };
    statement.judged(finding())
}
