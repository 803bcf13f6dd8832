//! What it costs on the wire.

use super::compare::labelled;
use crate::claims::runs::{FLOATS, Missing, PLATEAU_ENDS, PUSH_DIGING, Runs, SGP, SMTPP_TREES, paired};
use crate::claims::statistics::{Answer, mean};
use crate::claims::{Claim, Finding, Statement, Verdict, show};

/// "faster convergence using significantly fewer communication links compared to standard methods".
pub(super) fn fewer_links(sparse: Runs<'_>, dense: Runs<'_>) -> Claim {
    let finding = || {
        let mut numbers = vec![];
        let mut cheaper = |runs: Runs<'_>, graph: &str| -> Result<(Answer, [f64; 3]), Missing> {
            let target = runs.target_loss()?;
            numbers.push((format!("target loss, {graph}"), target));
            let [.., last] = PLATEAU_ENDS;
            let mut sent = |method: &str| -> Result<Vec<f64>, Missing> {
                let all = runs.at(method, FLOATS, last)?;
                numbers.push((format!("floats a round, {method}, {graph}"), mean(&all) / last as f64));
                let points = runs.reaching(method, target)?;
                let floats = points.iter().map(|point| point.floats_sent.map(|floats| floats as f64));
                let floats: Option<Vec<f64>> = floats.collect();
                let floats = floats.ok_or_else(|| Missing(format!("count of floats sent by {method}")))?;
                numbers.push((format!("floats to target, {method}, {graph}"), mean(&floats)));
                Ok(floats)
            };
            let (trees, sgp, push_diging) = (sent(SMTPP_TREES)?, sent(SGP)?, sent(PUSH_DIGING)?);
            let mut answers = vec![];
            for (other, name) in [(&sgp, SGP), (&push_diging, PUSH_DIGING)] {
                let interval = paired(&trees, other)?;
                let label = format!("ln({SMTPP_TREES}/{name}) of floats to target, {graph}");
                numbers.extend(labelled(&label, interval));
                answers.push(interval.is_negative());
            }
            Ok((Answer::all(answers), [mean(&trees), mean(&sgp), mean(&push_diging)]))
        };
        let (on_sparse, [trees, sgp, push_diging]) = cheaper(sparse, "multi-sub-ring")?;
        let (on_dense, [trees_dense, sgp_dense, push_diging_dense]) = cheaper(dense, "exponential")?;
        let only = |which: &str| Verdict::HoldsOnlyIf(which.to_owned());
        let verdict = match (on_sparse, on_dense) {
            (Answer::Yes, Answer::Yes) => Verdict::Holds,
            (Answer::Yes, _) => only("the graph is sparse (Multi-Sub-Ring)"),
            (Answer::No, Answer::Yes) => {
                only("the graph is dense (exponential); on Multi-Sub-Ring it does not")
            }
            (Answer::Unclear, Answer::Yes) => {
                only("the graph is dense (exponential); on Multi-Sub-Ring it is undecided")
            }
            (Answer::No, Answer::No) => Verdict::DoesNotHold,
            _ => Verdict::Undecided,
        };
        let because = format!(
            "To the same loss SMTPP on trees sends {} floats on Multi-Sub-Ring, SGP {} and Push-DIGing {}; on the \
             exponential graph {}, {} and {} (the others take twice its step).",
            show(trees),
            show(sgp),
            show(push_diging),
            show(trees_dense),
            show(sgp_dense),
            show(push_diging_dense)
        );
        Ok(Finding { numbers, verdict, because })
    };
    let statement = Statement {
        id: "fewer-links",
        source: "§IV-A",
        claim: "on trees SMTPP converges faster with significantly fewer links than SGP and Push-DIGing on the whole \
                graph",
        measure: "floats sent over all links until the loss is 2 % above the best: SMTPP's on trees surely fewer than \
                  both",
    };
    statement.judged(finding())
}
