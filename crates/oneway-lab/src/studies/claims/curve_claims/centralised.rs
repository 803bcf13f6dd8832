//! SMTPP against CSGDM, and against itself on the other graph.
//!
//! Losses end within 1 % of each other whatever the method, so that the loss says little: what is compared is
//! the loss above F*, which goes down by decades. The margins are those that a reader of a logarithmic axis
//! has.

use super::compare::labelled;
use crate::studies::claims::runs::{
    CSGDM, GRADIENT, LOSS, Missing, PLATEAU_ENDS, PUSH_DIGING, Quantity, Runs, SGP, SMTPP, SMTPP_TREES, STPP,
    Values, paired,
};
use crate::studies::claims::statistics::{Answer, Interval};
use crate::studies::claims::{Claim, Finding, Statement, Verdict, roughly};

/// Losses above F* and ‖∇F‖² this close overlap on a logarithmic axis: a tenth of a decade, ln(10)/10, 26 %.
const OVERLAP_MARGIN: f64 = std::f64::consts::LN_10 / 10.0;
/// Mean losses above F* this close make comparable rates: 10 %, ln 1.1.
const RATE_MARGIN: f64 = 0.095_310_179_804_324_87;
/// SMTPP starts a round late (X₁ = X₀), which a steep start makes visible; curves are compared from here on.
const AFTER_START: u64 = 50;

/// "almost perfectly overlaps with CSGDM".
pub(super) fn overlap(dense: Runs<'_>, optimum: f64) -> Claim {
    let finding = || {
        let mut numbers = vec![("F*".to_owned(), optimum)];
        let mut sentences = vec![];
        let mut near = |method: &'static str, links: &str| -> Result<Answer, Missing> {
            let (loss, worst_loss) = closeness(dense, method, LOSS, optimum)?;
            let (gradient, worst_gradient) = closeness(dense, method, GRADIENT, 0.0)?;
            for (worst, name) in [(worst_loss, "loss above F*"), (worst_gradient, "‖∇F‖²")] {
                let label = format!("ln({method}/CSGDM) of {name}, where largest");
                numbers.push((format!("iteration of {label}"), worst.iteration as f64));
                numbers.extend(labelled(&label, worst.interval));
            }
            sentences.push(format!(
                "{links} the loss above F* is on average over the runs farthest from CSGDM's at iteration {}: {}; ‖∇F‖² at \
                 {}: {}",
                worst_loss.iteration,
                percent(worst_loss.interval),
                worst_gradient.iteration,
                percent(worst_gradient.interval)
            ));
            Ok(Answer::all([loss, gradient]))
        };
        let verdict =
            Verdict::of_both_ways(near(SMTPP, "On the full digraph")?, near(SMTPP_TREES, "on trees")?);
        let because = format!(
            "{} (margin 26 %, which every iteration's interval must be within).",
            sentences.join("; ")
        );
        Ok(Finding { numbers, verdict, because })
    };
    let statement = Statement {
        id: "overlap-exponential",
        source: "§IV-B",
        claim: "on the exponential graph SMTPP's curve almost perfectly overlaps CSGDM's",
        measure: "paired intervals at every recorded iteration from 50 on: loss above F* and ‖∇F‖² within a tenth of a \
                  decade (26 %)",
    };
    statement.judged(finding())
}

/// "a convergence rate comparable to the centralized baseline".
pub(super) fn comparable(sparse: Runs<'_>, optimum: f64) -> Claim {
    let finding = || {
        let mut numbers = vec![("F*".to_owned(), optimum)];
        let [first_end, ..] = PLATEAU_ENDS;
        let window = [AFTER_START, first_end];
        let central = sparse.excess(CSGDM, optimum, window)?;
        numbers.push(("mean loss above F*, CSGDM".to_owned(), central.mean()));
        let mut sentences = vec![];
        let mut near = |method: &'static str, links: &str| -> Result<Answer, Missing> {
            let own = sparse.excess(method, optimum, window)?;
            let rate = paired(&own, &central)?;
            numbers.push((format!("mean loss above F*, {method}"), own.mean()));
            numbers.extend(labelled(&format!("ln({method}/CSGDM) of mean loss above F*"), rate));
            let (mut answers, mut ends) = (vec![rate.is_within(RATE_MARGIN)], vec![]);
            for end in PLATEAU_ENDS {
                let interval =
                    paired(&above(sparse, method, optimum, end)?, &above(sparse, CSGDM, optimum, end)?)?;
                numbers.extend(labelled(&format!("ln({method}/CSGDM) of loss above F* at {end}"), interval));
                ends.push(percent(interval));
                answers.push(interval.is_within(OVERLAP_MARGIN));
            }
            sentences.push(format!("{} {links} (at the plateaus' ends {})", percent(rate), ends.join(", ")));
            Ok(Answer::all(answers))
        };
        let verdict =
            Verdict::of_both_ways(near(SMTPP, "on the full digraph")?, near(SMTPP_TREES, "on trees")?);
        let because = format!(
            "On average over the runs the mean loss above F* in the first plateau is off CSGDM's by {} (margin 10 %, at \
             the ends 26 %).",
            sentences.join(", ")
        );
        Ok(Finding { numbers, verdict, because })
    };
    let statement = Statement {
        id: "comparable-multi-sub-ring",
        source: "abstract, §IV-B",
        claim: "on Multi-Sub-Ring SMTPP's rate and performance are close to CSGDM's",
        measure: "paired intervals: loss above F* within a tenth of a decade at 300, 600, 900; its mean over iterations \
                  50 to 300 within 10 %",
    };
    statement.judged(finding())
}

/// "highly robust to network connectivity … regardless of whether the network is sparse or dense".
pub(super) fn robust(sparse: Runs<'_>, dense: Runs<'_>, optimum: f64) -> Claim {
    let finding = || {
        let mut numbers = vec![("F*".to_owned(), optimum)];
        let mut moved = |method: &'static str| -> Result<(Answer, String), Missing> {
            let (mut answers, mut largest) = (vec![], Interval { mean: 0.0, half: 0.0 });
            for end in PLATEAU_ENDS {
                let interval =
                    paired(&above(sparse, method, optimum, end)?, &above(dense, method, optimum, end)?)?;
                let label = format!("ln(sparse/dense) of loss above F* at {end}, {method}");
                numbers.extend(labelled(&label, interval));
                answers.push(interval.is_within(OVERLAP_MARGIN));
                if interval.mean.abs() + interval.half > largest.mean.abs() + largest.half {
                    largest = interval;
                }
            }
            Ok((Answer::all(answers), percent(largest)))
        };
        let ((full, by_full), (trees, by_trees)) = (moved(SMTPP)?, moved(SMTPP_TREES)?);
        let mut rivals = vec![];
        for rival in [STPP, SGP, PUSH_DIGING] {
            let (answer, by) = moved(rival)?;
            let passes = match answer {
                Answer::Yes => "passes too",
                Answer::No => "fails",
                Answer::Unclear => "is undecided",
            };
            rivals.push(format!("{rival} {passes} ({by})"));
        }
        let because = format!(
            "From the dense graph to the sparse one the loss above F* at the plateaus' ends moves by {by_full} \
             for SMTPP, {by_trees} on trees, at the end where that reaches farthest (margin 26 %). By the same test {}.",
            rivals.join(", ")
        );
        Ok(Finding { numbers, verdict: Verdict::of_both_ways(full, trees), because })
    };
    let statement = Statement {
        id: "robust-sparse-dense",
        source: "abstract",
        claim: "SMTPP performs alike on sparse and dense networks",
        measure: "paired intervals of the loss above F* on the two graphs at 300, 600, 900, within a tenth of a decade",
    };
    statement.judged(finding())
}

/// F − F* of every repetition of a method at one iteration.
fn above(runs: Runs<'_>, method: &str, optimum: f64, iteration: u64) -> Result<Values, Missing> {
    Ok(runs.at(method, LOSS, iteration)?.above(optimum))
}

/// An interval at an iteration.
#[derive(Clone, Copy)]
struct Place {
    iteration: u64,
    interval: Interval,
}

/// Whether a method's quantity above `bottom` stays within a margin of CSGDM's, and where it is farthest.
fn closeness(
    runs: Runs<'_>,
    method: &str,
    quantity: Quantity,
    bottom: f64,
) -> Result<(Answer, Place), Missing> {
    let mut answers = vec![];
    let mut farthest: Option<Place> = None;
    for iteration in runs.iterations_from(AFTER_START) {
        let [own, central] = [method, CSGDM].map(|method| runs.at(method, quantity, iteration));
        let interval = paired(&own?.above(bottom), &central?.above(bottom))?;
        answers.push(interval.is_within(OVERLAP_MARGIN));
        if farthest.is_none_or(|farthest| interval.mean.abs() > farthest.interval.mean.abs()) {
            farthest = Some(Place { iteration, interval });
        }
    }
    let nothing = || Missing(format!("an iteration from {AFTER_START} on that all runs recorded"));
    Ok((Answer::all(answers), farthest.ok_or_else(nothing)?))
}

/// A ratio a/b as "+3.1 ± 0.4 %": how much more than b, and the interval's half width.
fn percent(Interval { mean, half }: Interval) -> String {
    let sign = if mean > 0.0 { "+" } else { "" };
    format!("{sign}{} ± {} %", roughly(100.0 * mean.exp_m1()), roughly(100.0 * mean.exp() * half))
}
