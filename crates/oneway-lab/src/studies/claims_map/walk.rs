//! The map as a page: shares, a walk through the readings, and the figures of the best.

use serde_json::{Value, json};

use super::show::percent;
use super::space::Quantity;
use super::{Map, Summary};
use crate::draw::figure::gallery::{Art, Picture};
use crate::draw::report::readings::Walk;
use crate::draw::report::{Report, TableBlock};

/// The page's content. `pictures` are those of [`super::pictures`].
pub(crate) fn walk(map: &Map, summary: &Summary, pictures: Vec<Picture>) -> Report {
    let question = &map.question;
    let rows = summary.claims.iter().map(|claim| {
        vec![
            claim.words.clone(),
            percent(claim.holds),
            percent(claim.fails),
            super::show::theory(claim),
            super::show::decides(&claim.effects),
        ]
    });
    let shares = TableBlock {
        caption: format!(
            "Shares of the {} sampled readings, {} views of each, in which a claim holds and fails; all intervals together at 95 %, verdicts corrected for their number.",
            summary.sampled, summary.views
        ),
        header: [
            "the paper says",
            "holds",
            "fails",
            "algebra: holds, fails; as the runs",
            "what decides most",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: rows.collect(),
        heat: false,
    };
    let mut report = Report {
        title: "The map of the claims".to_owned(),
        summary: "Under which reading of what the paper leaves open does each sentence of its numerical section come true?"
            .to_owned(),
        results: vec![shares],
        notes: super::said(summary),
        facts: [
            ("rules", format!("sha256 {}", question.rules.sha256)),
            ("readings", format!("sha256 {}", question.readings_sha256)),
            ("seed", question.seed.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec(),
        ..Report::default()
    };
    let mut drawn = String::new();
    for picture in pictures {
        match picture.art {
            Art::Drawing { css, .. } => drawn = css,
            Art::Chart(_) => report.add(picture),
        }
    }
    report.readings = Some(Walk {
        said: "A choice for each question leads to the reading that was run with these answers, or to the nearest.".to_owned(),
        map: drawn,
        questions: map.questions(),
        readings: map.len(),
        data: data(map),
    });
    report
}

fn data(map: &Map) -> Value {
    let questions = map.questions();
    let questions = questions.iter().map(|(name, levels)| json!({"name": name, "levels": levels}));
    let reading = |at: usize| {
        let letters =
            map.verdicts[at].iter().map(|claims| claims.iter().map(|v| v.letter()).collect::<String>());
        json!({
            "answers": map.question.readings[at],
            "verdicts": letters.collect::<Vec<_>>(),
            "theory": map.theory_letters(at),
            "loss": short(map.means(at, Quantity::Loss)),
            "gradient": short(map.means(at, Quantity::Gradient)),
        })
    };
    json!({
        "questions": questions.collect::<Vec<_>>(),
        "places": map.question.space.places,
        "claims": map.question.rules.claims.iter().map(|claim| &claim.words).collect::<Vec<_>>(),
        "readings": (0..map.len()).map(reading).collect::<Vec<_>>(),
    })
}

/// Numbers to five digits: a page shows four.
fn short(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(short).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, short(value))).collect(),
        Value::Number(number) => match number.as_f64().map(|x| format!("{x:.4e}").parse::<f64>()) {
            Some(Ok(rounded)) => json!(rounded),
            _ => Value::Null,
        },
        other => other,
    }
}
