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
