//! Slack over time: a chart for each inequality, a line for each entry, dashed for what the paper prints
//! where it differs.

use oneway::theory::audit::{Check, Form, Point, Verdict};

use super::{Audited, by_rule};
use crate::draw::figure::axis::{Axis, Scale};
use crate::draw::figure::chart::{Chart, Series};
use crate::draw::figure::gallery::{Art, Picture, name_apart};
use crate::draw::figure::palette::{MUTED, Palette, Style};

/// Lines closer than this lie on each other.
const VISIBLE: f64 = 0.02;

/// What a chart cannot show.
const GAPS: &str = " A line has gaps where the left side is not positive or nothing but rounding: the inequality holds \
there, and the ratio says nothing. A printed form has a line only where it can be told from the corrected one.";

/// Charts of all inequalities that have something to show.
pub(crate) fn slack(audited: &[Audited]) -> Vec<Picture> {
    let looks = audited.iter().flat_map(|one| [Form::Corrected, Form::Printed].map(|form| look(one, form)));
    let looks: Vec<String> = looks.collect();
    let palette = Palette::new(looks.iter().map(String::as_str));
    let mut pictures: Vec<Picture> = vec![];
    let mut seen: Vec<&str> = vec![];
    let rules = by_rule(audited);
    for checks in &rules {
        let Some((_, first)) = checks.first() else { continue };
        let lemma = first.rule.lemma;
        if seen.contains(&lemma) {
            continue;
        }
        seen.push(lemma);
        // both forms of an inequality in one chart
        let same = rules.iter().flatten().filter(|(_, check)| check.rule.lemma == lemma);
        let differs = |one: &Audited, check: &Check| {
            let other = same.clone().find(|(o, c)| std::ptr::eq(*o, one) && c.rule.form == Form::Corrected);
            check.rule.form != Form::Printed || other.is_none_or(|(_, other)| apart(check, other))
        };
        let shown = same.clone().filter(|(one, check)| differs(one, check));
        let series = shown.filter_map(|(one, check)| line(one, check, &palette));
        let mut series: Vec<Series> = series.collect();
        let Some(last) = series.iter().flat_map(|series| &series.x).copied().reduce(f64::max) else {
            continue;
        };
        let equal = Style::line(MUTED, Some("2 3"));
        series.push(Series::new("right = left", equal, vec![0.0, last], vec![1.0, 1.0]));
        let name = if lemma == "theorem" { "Theorem".to_owned() } else { format!("Lemma {lemma}") };
        let markers = notes(same.clone().map(|(_, check)| *check));
        pictures.push(Picture {
            file: format!("slack-{}", file_name(lemma)),
            topology: group(lemma).to_owned(),
            caption: format!("{name}: {}.{GAPS}", statements(same.map(|(_, check)| *check))),
            art: Art::Chart(Chart {
                title: format!("{name}: right side over left side"),
                x: Axis { label: "iteration".to_owned(), scale: Scale::Linear, limit: None },
                y: Axis { label: format!("slack of {name}"), scale: Scale::Log, limit: None },
                series,
                markers,
                notes: vec![],
            }),
        });
    }
    name_apart(&mut pictures);
    pictures
}

/// The slack of one inequality on one entry; nothing if it is nowhere finite and positive.
fn line(one: &Audited, check: &Check, palette: &Palette) -> Option<Series> {
    let name = printed(one.name(), check.rule.form);
    // what cannot be shown leaves a gap
    let (x, y): (Vec<f64>, Vec<f64>) = check.points.iter().map(|point| (point.k as f64, point.slack)).unzip();
    let style = palette.style(&look(one, check.rule.form));
    let shown = y.iter().any(|slack| slack.is_finite() && *slack > 0.0);
    shown.then(|| Series::new(name, style, x, y))
}

/// Whether two forms of an inequality could be told apart in a chart.
fn apart(one: &Check, other: &Check) -> bool {
    // where both are checked
    let differ = |point: &Point| {
        let Ok(same) = other.points.binary_search_by_key(&point.k, |point| point.k) else { return false };
        let (a, b) = (point.slack, other.points[same].slack);
        a != b && (a - b).abs() > VISIBLE * a.abs().max(b.abs())
    };
    one.points.iter().any(differ)
}

/// A note where the printed form fails in a few rounds only, which no line would show.
fn notes<'a>(checks: impl Iterator<Item = &'a Check>) -> Vec<(f64, String)> {
    const FEW: usize = 3;
    let mut notes: Vec<(f64, String)> = vec![];
    for check in checks.filter(|check| check.rule.form == Form::Printed) {
        if let Verdict::Violated { first, rounds: ..=FEW } = check.verdict {
            let note = (first as f64, format!("as printed, it fails at k = {first}"));
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

/// The name of a line: dashed ones say that they are printed.
fn printed(name: String, form: Form) -> String {
    match form {
        Form::Printed => format!("{name} (printed)"),
        Form::AsPrinted | Form::Corrected => name,
    }
}

/// What the palette knows a line by: each entry has a hue of its own, and only the printed form is a variant.
fn look(one: &Audited, form: Form) -> String {
    printed(one.name().replace(['(', ')'], ""), form)
}

/// The forms of an inequality, each once.
fn statements<'a>(checks: impl Iterator<Item = &'a Check>) -> String {
    let mut said: Vec<String> = vec![];
    for check in checks {
        let form = match check.rule.form {
            Form::AsPrinted => check.rule.statement.to_owned(),
            form => format!("{}: {}", form.name(), check.rule.statement),
        };
        if !said.contains(&form) {
            said.push(form);
        }
    }
    said.join(" · ")
}

/// Charts that stand side by side in a page.
fn group(lemma: &str) -> &'static str {
    match lemma.as_bytes().first() {
        Some(b'1' | b'2') => "Lemmas 1 and 2: mixing and conservation",
        Some(b'3' | b'4') => "Lemmas 3 and 4: descent and consensus",
        Some(b'5' | b'6') => "Lemmas 5 and 6: tracking and momentum",
        Some(b'7') => "Lemma 7: the linear system",
        _ => "The theorem",
    }
}

/// "7, row 2" → "7-row-2"; "6, ‖V‖²" → "6-V".
fn file_name(lemma: &str) -> String {
    let words = lemma.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_inequality_has_a_file_of_its_own() {
        let lemmas = oneway::theory::audit::RULES.map(|rule| rule.lemma);
        let mut apart: Vec<&str> = lemmas.to_vec();
        apart.dedup();
        let mut files: Vec<String> = apart.iter().map(|lemma| file_name(lemma)).collect();
        files.sort();
        files.dedup();
        assert_eq!(files.len(), apart.len(), "{files:?}");
        assert_eq!(file_name("7, row 2"), "7-row-2");
    }
}
