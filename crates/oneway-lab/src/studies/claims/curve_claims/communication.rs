//! What it costs on the wire.

use super::compare::labelled;
use crate::studies::claims::runs::{
    BYTES, Missing, PLATEAU_ENDS, PUSH_DIGING, Runs, SGP, SMTPP_TREES, paired,
};
use crate::studies::claims::statistics::Answer;
use crate::studies::claims::{Claim, Finding, Statement, show};

/// "faster convergence using significantly fewer communication links compared to standard methods", said of
/// Multi-Sub-Ring, where alone the paper uses trees.
pub(super) fn fewer_links(sparse: Runs<'_>, dense: Runs<'_>) -> Claim {
    let finding = || {
        let mut numbers = vec![];
        let (answer, on_sparse) = cheaper(sparse, "multi-sub-ring", &mut numbers)?;
        let (_, on_dense) = cheaper(dense, "exponential", &mut numbers)?;
        let because = format!(
            "On Multi-Sub-Ring SMTPP on trees sends {} bytes a round, SGP on the whole graph {} and Push-DIGing {}; to the \
             same loss {}, {} and {} (the others take twice its step). On the exponential graph, where the paper does not \
             say it, to the same loss {}, {} and {}.",
            show(on_sparse[0].a_round),
            show(on_sparse[1].a_round),
            show(on_sparse[2].a_round),
            show(on_sparse[0].to_target),
            show(on_sparse[1].to_target),
            show(on_sparse[2].to_target),
            show(on_dense[0].to_target),
            show(on_dense[1].to_target),
            show(on_dense[2].to_target)
        );
        Ok(Finding { numbers, verdict: answer.into(), because })
    };
    let statement = Statement {
        id: "fewer-links",
        source: "§IV-A",
        claim: "on Multi-Sub-Ring SMTPP on trees converges faster with significantly fewer links than SGP and \
                Push-DIGing on the whole graph",
        measure: "bytes sent over all links until the loss is 2 % above the best: SMTPP's on trees surely fewer than \
                  both",
    };
    statement.judged(finding())
}

/// Mean bytes sent by a method.
struct Sent {
    a_round: f64,
    to_target: f64,
}

/// Whether SMTPP on trees surely sends fewer bytes to the target than SGP and Push-DIGing do, and what the
/// three send.
fn cheaper(
    runs: Runs<'_>,
    graph: &str,
    numbers: &mut Vec<(String, f64)>,
) -> Result<(Answer, [Sent; 3]), Missing> {
    let target = runs.target_loss()?;
    numbers.push((format!("target loss, {graph}"), target));
    let [.., last] = PLATEAU_ENDS;
    let mut sent = |method: &str| {
        let a_round = runs.at(method, BYTES, last)?.mean() / last as f64;
        let bytes = runs.on_reaching(method, target, BYTES)?;
        numbers.push((format!("bytes a round, {method}, {graph}"), a_round));
        numbers.push((format!("bytes to target, {method}, {graph}"), bytes.mean()));
        Ok((Sent { a_round, to_target: bytes.mean() }, bytes))
    };
    let [(trees, of_trees), (sgp, of_sgp), (push_diging, of_push_diging)] =
        [sent(SMTPP_TREES)?, sent(SGP)?, sent(PUSH_DIGING)?];
    let mut answers = vec![];
    for (other, name) in [(&of_sgp, SGP), (&of_push_diging, PUSH_DIGING)] {
        let interval = paired(&of_trees, other)?;
        numbers.extend(labelled(&format!("ln({SMTPP_TREES}/{name}) of bytes to target, {graph}"), interval));
        answers.push(interval.is_negative());
    }
    Ok((Answer::all(answers), [trees, sgp, push_diging]))
}
