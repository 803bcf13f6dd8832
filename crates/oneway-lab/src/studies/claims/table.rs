//! Claims as a table for a terminal.

use super::{Claim, Verdict};
use crate::terminal::{Cell, Style, Table, column};

/// One row a claim: who says what, the verdict, and why. How it was measured stands in `claims.json` and the
/// report.
pub(crate) fn table(claims: &[Claim]) -> Table {
    let columns = ["the paper says", "verdict", "because"];
    let mut table = Table::new(columns.map(|name| column(name).prose())).ruled();
    for Claim { source, claim, verdict, because, .. } in claims {
        let style = match verdict {
            Verdict::Holds => Style::Good,
            Verdict::DoesNotHold => Style::Bad,
            Verdict::HoldsFor { .. } | Verdict::HoldsOnlyIf(_) | Verdict::Undecided => Style::Open,
        };
        table.row([
            Cell::from(format!("{source}: {claim}")),
            Cell::new(verdict.to_string(), style),
            because.as_str().into(),
        ]);
    }
    table
}

/// For each claim the label of the one number that decides most.
const DECIDES: [(&str, &str); 17] = [
    ("robust-sparse-dense", "ln(sparse/dense) of loss above F* at 900, SMTPP"),
    ("lemma-2", "largest ‖v̄ − m̄‖, SMTPP, multi-sub-ring"),
    ("fewer-links", "bytes a round, SMTPP (trees), multi-sub-ring"),
    ("push-sum-slow", "ln(STPP/SGP) of iterations to target"),
    ("better-than-stpp", "ln(SMTPP/STPP) of loss at 900"),
    ("better-than-sgp", "ln(SMTPP/SGP) of loss at 900"),
    ("better-than-push-diging", "ln(SMTPP/Push-DIGing) of loss at 900"),
    ("damped-oscillations", "ln(SMTPP/STPP) of variation 700 to 900"),
    ("comparable-multi-sub-ring", "ln(SMTPP/CSGDM) of loss above F* at 900"),
    ("stpp-gap-exponential", "ln(CSGDM/STPP) of loss at 900"),
    ("overlap-exponential", "ln(SMTPP/CSGDM) of loss above F*, where largest"),
    ("decoupled-from-connectivity", "floor sparse/dense at x̄ on full digraphs, λ = 0.1"),
    ("any-strongly-connected", "digraphs on which it converged"),
    ("floor-lambda-squared", "exponent of λ, floor at x̄, multi-sub-ring"),
    ("larger-steps", "largest η·c_π·h, SMTPP, multi-sub-ring, full"),
    ("corollary-rate", "exponent of T, multi-sub-ring"),
    ("linear-speed-up", "exponent of n"),
];

/// A line a claim: the verdict, the number that decides most, and in how many readings of the map it is shared.
pub(crate) fn lines(claims: &[Claim], shared: impl Fn(&str) -> Option<String>) -> Table {
    let columns = [
        column("the paper says").prose(),
        column("verdict"),
        column("in the map").about("share of the sampled readings and views of `oneway claims map`").minor(),
        column("decided by").prose().minor(),
    ];
    let mut table = Table::new(columns);
    for claim in claims {
        let (word, style) = match claim.verdict {
            Verdict::Holds => ("holds", Style::Good),
            Verdict::HoldsFor { .. } => ("holds in part", Style::Open),
            Verdict::HoldsOnlyIf(_) => ("only if …", Style::Open),
            Verdict::DoesNotHold => ("does not hold", Style::Bad),
            Verdict::Undecided => ("undecided", Style::Open),
        };
        table.row([
            Cell::from(claim.claim),
            Cell::new(word, style),
            shared(claim.id).unwrap_or_default().into(),
            decided_by(claim).unwrap_or_default().into(),
        ]);
    }
    table
}

/// The number that decides most, with its label; the first there is, where that one is missing.
fn decided_by(claim: &Claim) -> Option<String> {
    let label = DECIDES.iter().find(|(id, _)| *id == claim.id).map(|(_, label)| *label);
    let named = claim.numbers.iter().find(|(known, _)| Some(known.as_str()) == label);
    let (label, number) = named.or(claim.numbers.first())?;
    Some(format!("{label}: {}", super::show(*number)))
}

/// How often each verdict was reached, in a line.
pub(crate) fn summary(claims: &[Claim]) -> String {
    let count = |is: fn(&Verdict) -> bool| claims.iter().filter(|claim| is(&claim.verdict)).count();
    let kinds = [
        (count(|verdict| *verdict == Verdict::Holds), "hold"),
        (
            count(|verdict| matches!(verdict, Verdict::HoldsFor { .. })),
            "hold in part and are undecided in the rest",
        ),
        (count(|verdict| matches!(verdict, Verdict::HoldsOnlyIf(_))), "hold only under a condition"),
        (count(|verdict| *verdict == Verdict::DoesNotHold), "do not hold"),
        (count(|verdict| *verdict == Verdict::Undecided), "are undecided"),
    ];
    let some = kinds.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    format!("{} claims of the paper: {}", claims.len(), some.collect::<Vec<_>>().join(", "))
}
