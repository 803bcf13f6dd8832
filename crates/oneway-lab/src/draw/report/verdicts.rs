//! The verdicts: a count, then a line for each claim that opens on its evidence.

use maud::{Markup, html};

use super::VerdictRow;
use super::maths;
use crate::number::{number, with_error};

/// What a verdict's words amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Holds,
    /// In part; the rest is undecided.
    HoldsFor,
    OnlyIf,
    Fails,
    Undecided,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Holds, Self::HoldsFor, Self::OnlyIf, Self::Fails, Self::Undecided];

    /// Reads `holds`, `holds for …; undecided for …`, `holds only if …`, `does not hold`; all else is
    /// undecided.
    fn from_verdict(verdict: &str) -> Self {
        let verdict = verdict.trim().to_lowercase();
        if verdict.starts_with("holds only") {
            Self::OnlyIf
        } else if verdict.starts_with("holds for") {
            Self::HoldsFor
        } else if verdict.starts_with("holds") {
            Self::Holds
        } else if verdict.starts_with("does not hold") {
            Self::Fails
        } else {
            Self::Undecided
        }
    }

    /// Its class, also the name of its shape.
    fn class(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsFor => "holds-for",
            Self::OnlyIf => "only-if",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
        }
    }

    /// The words after a count.
    fn counted(self, count: usize) -> &'static str {
        match (self, count) {
            (Self::Holds, 1) => "holds",
            (Self::Holds, _) => "hold",
            (Self::HoldsFor, 1) => "holds in part, the rest undecided",
            (Self::HoldsFor, _) => "hold in part, the rest undecided",
            (Self::OnlyIf, 1) => "holds only if …",
            (Self::OnlyIf, _) => "hold only if …",
            (Self::Fails, 1) => "does not hold",
            (Self::Fails, _) => "do not hold",
            (Self::Undecided, _) => "undecided",
        }
    }
}

/// The count and the claims.
pub(super) fn verdicts(rows: &[VerdictRow]) -> Markup {
    html! {
        ul.tally aria-label="Count of verdicts" {
            @for kind in Kind::ALL {
                @let count = rows.iter().filter(|row| Kind::from_verdict(&row.verdict) == kind).count();
                @if count > 0 {
                    li class=(kind.class()) {
                        (shape(kind)) b { (count) } " " span { (kind.counted(count)) }
                    }
                }
            }
        }
        div.claims {
            @for row in rows { (claim(row)) }
        }
        @if rows.iter().any(|row| evidence(&row.numbers).iter().any(|evidence| evidence.error.is_some())) {
            p.hint { "In the evidence ± is half of a 95 % interval; behind a fitted exponent it is one standard error." }
        }
        button #unfold.quiet type="button" aria-pressed="false" { "Show the evidence for all" }
    }
}

/// One claim, folded.
fn claim(row: &VerdictRow) -> Markup {
    let kind = Kind::from_verdict(&row.verdict);
    html! {
        details class={ "claim " (kind.class()) } {
            summary {
                (shape(kind))
                span.text { (maths::set(&row.claim)) }
                span.verdict { (maths::set(&row.verdict)) }
                span.source { (row.source) }
            }
            div.evidence {
                @if !row.because.is_empty() { p { (maths::set(&row.because)) } }
                @if !row.shared.is_empty() { p { b { "In the map of readings: " } (row.shared) } }
                @if !row.numbers.is_empty() {
                    dl.numbers {
                        @for evidence in evidence(&row.numbers) {
                            div { dt { (maths::set(evidence.name)) } dd title=(evidence.exact()) { (evidence.shown()) } }
                        }
                    }
                }
                @if !row.measure.is_empty() { p.measure { b { "Measured: " } (maths::set(&row.measure)) } }
            }
        }
    }
}

/// A number of the evidence, with its uncertainty where it has one.
struct Evidence<'a> {
    name: &'a str,
    value: f64,
    error: Option<f64>,
}

impl Evidence<'_> {
    fn shown(&self) -> String {
        self.error.map_or_else(|| number(self.value), |error| with_error(self.value, error))
    }

    /// All digits.
    fn exact(&self) -> String {
        self.error
            .map_or_else(|| format!("{:?}", self.value), |error| format!("{:?} ± {error:?}", self.value))
    }
}

/// The numbers; one that is named "± x" is the uncertainty of the one before it, x.
fn evidence(numbers: &[(String, f64)]) -> Vec<Evidence<'_>> {
    let mut all: Vec<Evidence<'_>> = vec![];
    for (name, value) in numbers {
        match (name.strip_prefix("± "), all.last_mut()) {
            (Some(of), Some(last)) if last.name == of && last.error.is_none() => last.error = Some(*value),
            _ => all.push(Evidence { name, value: *value, error: None }),
        }
    }
    all
}

/// The shape of a verdict, for those who do not see its colour.
fn shape(kind: Kind) -> Markup {
    html! {
        svg.shape viewBox="0 0 20 20" aria-hidden="true" { use href={ "#shape-" (kind.class()) } {} }
    }
}

/// The shapes, once for the page: a disc, a half-filled disc, a half-filled diamond, a square, a broken ring.
pub(super) fn shapes() -> Markup {
    html! {
        svg.shapes width="0" height="0" aria-hidden="true" {
            symbol #shape-holds viewBox="0 0 20 20" {
                circle cx="10" cy="10" r="9" fill="currentColor" {}
                path.shape-cut d="m5.8 10.3 2.9 2.9 5.6-6" {}
            }
            symbol #shape-holds-for viewBox="0 0 20 20" {
                circle.shape-line cx="10" cy="10" r="8.2" {}
                path d="M10 1.8a8.2 8.2 0 0 0 0 16.4z" fill="currentColor" {}
            }
            symbol #shape-only-if viewBox="0 0 20 20" {
                path.shape-line d="M10 1.6 18.4 10 10 18.4 1.6 10z" {}
                path d="M10 1.6v16.8L1.6 10z" fill="currentColor" {}
            }
            symbol #shape-fails viewBox="0 0 20 20" {
                rect x="1.5" y="1.5" width="17" height="17" rx="3" fill="currentColor" {}
                path.shape-cut d="m6.2 6.2 7.6 7.6m0-7.6-7.6 7.6" {}
            }
            symbol #shape-undecided viewBox="0 0 20 20" {
                circle.shape-line cx="10" cy="10" r="8.2" stroke-dasharray="3.6 2.84" {}
                circle cx="10" cy="10" r="1.9" fill="currentColor" {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uncertainty_stands_with_its_number() {
        let named = |name: &str, value: f64| (name.to_owned(), value);
        let numbers = [
            named("ln(a/b)", -0.5),
            named("± ln(a/b)", 0.02),
            named("F*", 0.3),
            named("± lost", 0.1),
            named("n", 5.0),
        ];
        let shown: Vec<(&str, String)> =
            evidence(&numbers).iter().map(|one| (one.name, one.shown())).collect();
        let expected = [("ln(a/b)", "−0.500 ± 0.020"), ("F*", "0.3"), ("± lost", "0.1"), ("n", "5")];
        assert_eq!(shown, expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn words_are_read_as_kinds() {
        assert_eq!(Kind::from_verdict("holds"), Kind::Holds);
        assert_eq!(Kind::from_verdict("Holds only if the graph is full"), Kind::OnlyIf);
        assert_eq!(Kind::from_verdict("holds for trees; undecided for the rest"), Kind::HoldsFor);
        assert_eq!(Kind::from_verdict("does not hold"), Kind::Fails);
        assert_eq!(Kind::from_verdict("undecided"), Kind::Undecided);
        assert_eq!(Kind::from_verdict("perhaps"), Kind::Undecided);
    }
}
