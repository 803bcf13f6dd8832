//! The map for a terminal: a row a claim, and the readings worth knowing.

use serde_json::Value;

use super::summary::{OfClaim, OfReading, OfTheory, Summary};
use super::verdicts::Share;
use crate::terminal::{Cell, Style, Table, column};

/// A row a claim: how often it holds and fails, and what decides.
pub(crate) fn table(summary: &Summary) -> Table {
    let columns = [
        column("the paper says").prose(),
        column("holds").about(
            "share of the sampled readings and views, with its interval; all intervals together at 95 %",
        ),
        column("fails"),
        column("algebra").minor().about(
            "share of the sampled readings in which it holds and fails by exact floors and stability; where runs and algebra both decide, how often they agree",
        ),
        column("what decides most").prose(),
    ];
    let mut table = Table::new(columns);
    for claim in &summary.claims {
        let OfClaim { words, holds, fails, .. } = claim;
        let style = match () {
            () if holds.low > 0.5 => Style::Good,
            () if fails.low > 0.5 => Style::Bad,
            () => Style::Open,
        };
        table.row([
            Cell::from(words.as_str()),
            Cell::new(percent(*holds), style),
            percent(*fails).into(),
            theory(claim).into(),
            decides(&claim.effects).into(),
        ]);
    }
    table
}

/// "54 %, 46 %; 210 of 214": what algebra says, and how often the runs agree.
pub(crate) fn theory(claim: &OfClaim) -> String {
    let of = |OfTheory { holds, fails, both, agree }: OfTheory| {
        format!("{:.0} %, {:.0} %; {agree} of {both}", 100.0 * holds, 100.0 * fails)
    };
    claim.theory.map_or_else(|| "–".to_owned(), of)
}

/// "37 % (30–45)".
pub(crate) fn percent(Share { share, low, high }: Share) -> String {
    let whole = |share: f64| format!("{:.0}", 100.0 * share);
    format!("{} % ({}–{})", whole(share), whole(low), whole(high))
}

/// The first question, and the answers with the largest and the least share.
pub(super) fn decides(effects: &Value) -> String {
    let first = &effects[0];
    let shares = first["shares"].as_array().map_or(&[][..], Vec::as_slice);
    let shares = shares.iter().filter_map(|pair| Some((pair[0].as_str()?, pair[1].as_f64()?)));
    let most = shares.clone().max_by(|a, b| a.1.total_cmp(&b.1));
    let least = shares.min_by(|a, b| a.1.total_cmp(&b.1));
    match (most, least) {
        (Some((most, high)), Some((least, low))) if high > low => format!(
            "{}: {most} {:.0} %, {least} {:.0} %",
            first["factor"].as_str().unwrap_or_default(),
            100.0 * high,
            100.0 * low
        ),
        _ => "nothing".to_owned(),
    }
}

/// What is said below the table.
pub(crate) fn said(summary: &Summary) -> Vec<String> {
    let claims = summary.claims.len();
    let of = |what: &str, one: &OfReading| {
        format!(
            "{what} ({}; {} at {}): {} of {claims} hold, {} fail",
            one.named, one.quantity, one.place, one.held, one.failed
        )
    };
    vec![
        of("the paper's words", &summary.words),
        of("most holds under", &summary.best),
        format!(
            "{} readings ({} of them sampled), {} views of each; rules {}, samples of seed {}{}",
            summary.readings,
            summary.sampled,
            summary.views,
            &summary.rules_sha256[..16],
            summary.seed,
            if summary.confirms {
                ", made of the hashes of rules and readings: these runs decide"
            } else {
                ": a look around"
            }
        ),
    ]
}
