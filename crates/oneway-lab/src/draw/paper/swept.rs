//! Figures of where methods ended, against one or two settings that were swept.

use anyhow::{Result, bail};
use oneway_experiment::results::repetitions::mean;

use super::ends::{End, Parameter, at_the_end, ends, unique};
use super::question::{Paper, Question, measured, paragraph};
use super::sources::{Found, Sources};
use crate::draw::figure::axis::{Axis, Scale};
use crate::draw::figure::chart::{Chart, Series};
use crate::draw::figure::export::Figure;
use crate::draw::figure::gallery::file_name;
use crate::draw::figure::quantity::Quantity;
use crate::draw::figure::values::{Value, ValueMap};
use crate::number::counted;

/// A figure for each topology (one setting), or for each method on each topology (two).
pub(crate) fn figures(
    sources: &Sources,
    found: &[Found<'_>],
    question: &Question,
    of: &[String],
) -> Result<Vec<Paper>> {
    let parameters: Vec<Parameter> =
        of.iter().map(|name| Parameter::named(name, found)).collect::<Result<_>>()?;
    if let [first, second] = &parameters[..]
        && first.column == second.column
    {
        bail!("--against {}: give two different settings for a map", of[1]);
    }
    let curves: Vec<_> = found.iter().flat_map(|one| one.drawn().0).collect();
    let mut papers = vec![];
    for &quantity in &question.quantities {
        let lacking = measured(quantity, &curves, &sources.shown())?;
        let ends = ends(found, quantity, question.last, &parameters)?;
        let study = Study { question, quantity, parameters: &parameters, ends: &ends, lacking };
        for topology in unique(ends.iter().map(|end| &*end.topology)) {
            match &parameters[..] {
                [parameter] => papers.extend(study.lines(topology, parameter)?),
                _ => papers.extend(study.maps(topology)?),
            }
        }
    }
    if papers.is_empty() {
        bail!("none of what is chosen has a value of {}", of.join(" and of "));
    }
    Ok(papers)
}

struct Study<'a> {
    question: &'a Question,
    quantity: Quantity,
    parameters: &'a [Parameter],
    ends: &'a [End],
    lacking: Option<String>,
}

impl Study<'_> {
    fn on<'b>(&'b self, topology: &'b str) -> impl Iterator<Item = &'b End> {
        self.ends.iter().filter(move |end| end.topology == topology)
    }

    /// Lines over the values of a setting. What does not have it is a level line.
    fn lines(&self, topology: &str, parameter: &Parameter) -> Result<Option<Paper>> {
        let Question { window, band, .. } = self.question;
        let number = |end: &End| -> Result<Option<f64>> {
            let Some(text) = &end.at[0] else { return Ok(None) };
            match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Some(value)),
                _ => bail!(
                    "{} takes values that are no numbers, such as {text:?}, so it is no axis: `oneway table --against {}` has \
                     a column for each",
                    parameter.column,
                    parameter.column
                ),
            }
        };
        let (from, to) = (window.0.unwrap_or(f64::NEG_INFINITY), window.1.unwrap_or(f64::INFINITY));
        let mut points: Vec<(&End, Option<f64>)> = vec![];
        for end in self.on(topology) {
            let at = number(end)?;
            if at.is_none_or(|at| (from..=to).contains(&at)) {
                points.push((end, at));
            }
        }
        let mut xs: Vec<f64> = points.iter().filter_map(|(_, at)| *at).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let (Some(&first), Some(&last)) = (xs.first(), xs.last()) else { return Ok(None) };
        let names = unique(points.iter().map(|(end, _)| &*end.method));
        let palette = self.question.colours.palette(names.iter().copied());
        let (mut all, mut missing, mut level) = (vec![], vec![], vec![]);
        let mut most = 0;
        for name in names {
            let mut own: Vec<(f64, &End)> = vec![];
            for (end, at) in points.iter().filter(|(end, _)| end.method == name) {
                match at {
                    Some(at) => own.push((*at, end)),
                    None => {
                        level.push(name.to_owned());
                        own.extend([(first, *end), (last, *end)]);
                    }
                }
            }
            own.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut series = Series::new(name, palette.style(name), vec![], vec![]);
            let banded = own.iter().any(|(_, end)| band.of(&end.values).is_some());
            for (x, end) in own {
                let Some(y) = mean(&end.values) else {
                    let at = end.at[0].as_ref().map_or(String::new(), |at| format!(" at {at}"));
                    missing.push(format!("{name}{at} ({})", end.status));
                    // a gap, so that the line does not pass over it
                    series.x.push(x);
                    series.y.push(f64::NAN);
                    series.low.extend(banded.then_some(f64::NAN));
                    series.high.extend(banded.then_some(f64::NAN));
                    continue;
                };
                most = most.max(end.values.len());
                let (low, high) = band.of(&end.values).unwrap_or((y, y));
                series.x.push(x);
                series.y.push(y);
                series.low.extend(banded.then_some(low));
                series.high.extend(banded.then_some(high));
            }
            all.push(series);
        }
        let wide = first > 0.0 && last >= 20.0 * first;
        let usual = if wide { Scale::Log } else { Scale::Linear };
        let title = format!("{} on {topology}", self.quantity.title());
        let label = |own: &Option<String>, usual: String| own.clone().unwrap_or(usual);
        let chart = Chart {
            title: self.question.title.or(&title),
            x: Axis {
                label: label(&self.question.x_label, parameter.label()),
                scale: self.question.x_scale.unwrap_or(usual),
                limit: None,
            },
            y: Axis {
                label: label(&self.question.y_label, self.quantity.label().to_owned()),
                scale: self.question.y_scale.unwrap_or_else(|| self.scale(&all)),
                limit: None,
            },
            series: all,
            markers: vec![],
            notes: vec![],
        };
        if !(0..chart.series.len()).any(|series| chart.has_something(series)) {
            bail!("{topology}: there is nothing to show on these scales");
        }
        let level =
            (!level.is_empty()).then(|| format!("Without this setting, and so level: {}.", level.join(", ")));
        let said = [self.what(topology, parameter.label()), band.says(most)].into_iter().chain(level);
        let caption = paragraph(
            said.chain(chart.nothing_to_show()).chain(none_at(&missing)).chain(self.lacking.clone()),
        );
        let file =
            format!("{}-{}-against-{}", file_name(topology), self.quantity.key(), file_name(parameter.key()));
        Ok(Some(Paper { file, figure: Figure::Lines(chart), caption }))
    }

    fn scale(&self, series: &[Series]) -> Scale {
        let values = || series.iter().flat_map(|series| &series.y).copied().filter(|value| value.is_finite());
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        match self.quantity {
            Quantity::Accuracy => Scale::Linear,
            _ if low > 0.0 && high > 5.0 * low => Scale::Log,
            _ => Scale::Linear,
        }
    }

    fn what(&self, topology: &str, against: String) -> String {
        format!(
            "{}, {}, {}, against the {against} on {topology}.",
            self.quantity.title(),
            self.quantity.label(),
            at_the_end(self.question.last)
        )
    }

    /// A map of the values of two settings for each method.
    fn maps(&self, topology: &str) -> Result<Vec<Paper>> {
        let [x, y] = self.parameters else { bail!("a map has two settings") };
        let mut papers = vec![];
        for method in unique(self.on(topology).map(|end| &*end.method)) {
            let both = |end: &&End| end.method == method && end.at.iter().all(Option::is_some);
            let own: Vec<&End> = self.on(topology).filter(both).collect();
            if own.is_empty() {
                continue;
            }
            let values = |place: usize| -> Vec<String> {
                let mut values = unique(own.iter().filter_map(|end| end.at[place].as_deref()));
                let number = |text: &&str| text.parse::<f64>();
                if values.iter().all(|value| number(value).is_ok()) {
                    values.sort_by(|a, b| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
                }
                values.into_iter().map(str::to_owned).collect()
            };
            let (columns, mut rows) = (values(0), values(1));
            rows.reverse(); // upwards, as on an axis
            let mut missing = vec![];
            let mut value = |row: &String, column: &String| {
                let end = own
                    .iter()
                    .find(|end| (&end.at[0], &end.at[1]) == (&Some(column.clone()), &Some(row.clone())))?;
                let mean = mean(&end.values);
                if mean.is_none() {
                    missing.push(format!("{} = {column}, {} = {row} ({})", x.key(), y.key(), end.status));
                }
                Some(Value { mean: mean?, band: self.question.band.of(&end.values) })
            };
            let values =
                rows.iter().map(|row| columns.iter().map(|column| value(row, column)).collect()).collect();
            let label = |own: &Option<String>, of: &Parameter| own.clone().unwrap_or_else(|| of.label());
            let map = ValueMap {
                title: self
                    .question
                    .title
                    .or(&format!("{} of {method} on {topology}", self.quantity.title())),
                x_label: label(&self.question.x_label, x),
                columns,
                y_label: label(&self.question.y_label, y),
                rows,
                values,
                best_high: self.quantity.is_better_high(),
            };
            let most = own.iter().map(|end| end.values.len()).max().unwrap_or(0);
            let means = if most > 1 {
                format!("Means of {}.", counted(most as u64, "repetition"))
            } else {
                String::new()
            };
            let what = self.what(topology, format!("{} and the {}", x.label(), y.label()));
            let what = what.replacen(',', &format!(" of {method},"), 1);
            let said = [what, means, "The best has a frame.".to_owned()].into_iter().chain(none_at(&missing));
            let file = format!("{}-{}-{}", file_name(topology), file_name(method), self.quantity.key());
            let file = format!("{file}-against-{}-{}", file_name(x.key()), file_name(y.key()));
            papers.push(Paper { file, figure: Figure::Map(map), caption: paragraph(said) });
        }
        Ok(papers)
    }
}

/// A few of the places without a value, as a sentence.
fn none_at(missing: &[String]) -> Option<String> {
    const FEW: usize = 6;
    let more = missing.len().saturating_sub(FEW);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let few = missing[..missing.len().min(FEW)].join(", ");
    (!missing.is_empty()).then(|| format!("No repetition came to its end: {few}{more}."))
}
