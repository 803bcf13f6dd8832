//! Figures of curves: a quantity of chosen methods, a figure for each topology.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, bail};
use oneway_experiment::Experiment;
use oneway_experiment::results::curves::Curve;

use super::question::{Paper, Question, measured, paragraph};
use super::sources::{Found, Sources};
use crate::draw::figure::chart::Chart;
use crate::draw::figure::export::Figure;
use crate::draw::figure::from_curves::{self, Manner};
use crate::draw::figure::gallery::{file_name, step_notes};
use crate::draw::figure::palette::Palette;
use crate::draw::figure::quantity::{Against, Quantity};

/// A figure for each quantity on each topology.
pub(crate) fn figures(sources: &Sources, found: &[Found<'_>], question: &Question) -> Result<Vec<Paper>> {
    let (mut curves, mut notes, mut pace) = (vec![], vec![], HashMap::new());
    for one in found {
        let (own, note) = one.drawn();
        notes.extend(note.map(|note| (one.record.topology.clone(), note)));
        let topology = &one.record.topology;
        pace.extend(
            one.pace().map(|(repetition, pace)| ((topology.clone(), one.method.clone(), repetition), pace)),
        );
        curves.extend(own);
    }
    // for all methods of the folders, so that leaving one out changes no other's colour
    let all =
        sources.folders.iter().flat_map(|folder| &folder.stored.manifest.entries).map(|entry| &*entry.method);
    let shown = found.iter().map(|found| &*found.method);
    let palette = match sources.folders.len() {
        1 => question.colours.palette(all),
        _ => question.colours.palette(shown),
    };
    let plan = Drawing { sources, question, curves, notes, palette, pace };
    plan.check()?;
    let mut papers = vec![];
    for &quantity in &question.quantities {
        let lacking = measured(quantity, &plan.curves, &sources.shown())?;
        for topology in from_curves::topologies(&plan.curves) {
            papers.extend(plan.paper(found, topology, quantity, lacking.clone())?);
        }
    }
    Ok(papers)
}

/// All that figures are made of.
struct Drawing<'a> {
    sources: &'a Sources,
    question: &'a Question,
    curves: Vec<Curve>,
    /// Which runs are left out, by topology.
    notes: Vec<(String, String)>,
    palette: Palette,
    pace: HashMap<(String, String, u64), f64>,
}

impl Drawing<'_> {
    /// Refuses an axis that was not measured.
    fn check(&self) -> Result<()> {
        let has = |against: Against| match against {
            Against::Seconds => !self.pace.is_empty(),
            _ => self
                .curves
                .iter()
                .flat_map(|curve| curve.points.iter())
                .any(|point| against.of(point).is_some()),
        };
        let all = [Against::Iterations, Against::BytesSent, Against::Time, Against::Seconds];
        if !has(self.question.against) {
            let there: Vec<&str> =
                all.into_iter().filter(|against| has(*against)).map(Against::key).collect();
            let why = if self.question.against == Against::Time { " (there is no [clock])" } else { "" };
            bail!(
                "{}: {} was not measured{why}; there are {}",
                self.sources.shown(),
                self.question.against.key(),
                there.join(", ")
            );
        }
        Ok(())
    }

    fn paper(
        &self,
        found: &[Found<'_>],
        topology: &str,
        quantity: Quantity,
        lacking: Option<String>,
    ) -> Result<Option<Paper>> {
        let question = self.question;
        let manner = Manner {
            palette: &self.palette,
            band: question.band,
            x_scale: question.x_scale,
            y_scale: question.y_scale,
            window: question.window,
            pace: &self.pace,
        };
        let mut chart =
            from_curves::chart_with(&self.curves, topology, (quantity, question.against), &manner);
        if chart.series.is_empty() && question.window == (None, None) {
            return Ok(None); // not measured on this topology, but on another
        }
        self.check_shown(&chart, topology)?;
        if question.against == Against::Iterations {
            chart.markers = self.step_notes();
        }
        let caption = self.caption(found, &chart, (topology, quantity), lacking);
        chart.notes.clear(); // the caption has them
        chart.title = question.title.or(&chart.title);
        chart.x.label = question.x_label.clone().unwrap_or(chart.x.label);
        chart.y.label = question.y_label.clone().unwrap_or(chart.y.label);
        let by = match question.against {
            Against::Iterations => String::new(),
            other => format!("-by-{}", other.key()),
        };
        let file = format!("{}-{}{by}", file_name(topology), quantity.key());
        Ok(Some(Paper { file, figure: Figure::Lines(chart), caption }))
    }

    /// Refuses a figure without a point.
    fn check_shown(&self, chart: &Chart, topology: &str) -> Result<()> {
        let Question { window: (from, to), against, .. } = self.question;
        if chart.series.is_empty() {
            let end = |end: &Option<f64>| end.map_or("the end".to_owned(), |end| end.to_string());
            bail!(
                "{topology}: no recorded state has its {} between {} and {}",
                against.key(),
                from.map_or("the start".to_owned(), |from| from.to_string()),
                end(to)
            );
        }
        if !(0..chart.series.len()).any(|series| chart.has_something(series)) {
            bail!(
                "{topology}: there is nothing to show on these scales: what is not positive has no logarithm"
            );
        }
        Ok(())
    }

    /// Where the steps of all methods become smaller, if the folder's settings can still be read.
    fn step_notes(&self) -> Vec<(f64, String)> {
        let [folder] = &self.sources.folders[..] else { return vec![] };
        let manifest = &folder.stored.manifest;
        let experiment = Experiment::new(manifest.settings.clone(), Path::new(&manifest.folder));
        let notes = experiment.map(|experiment| step_notes(&experiment.variants)).unwrap_or_default();
        let (from, to) =
            (self.question.window.0.unwrap_or(0.0), self.question.window.1.unwrap_or(f64::INFINITY));
        notes.into_iter().filter(|(at, _)| (from..=to).contains(at)).collect()
    }

    /// A sentence on methods that have no such axis, such as bytes of what sends none.
    fn without_axis(&self, chart: &Chart, topology: &str) -> Option<String> {
        let against = self.question.against;
        let has_axis = |curve: &Curve| match against {
            Against::Seconds => {
                let place = (curve.topology.clone(), curve.method.clone(), curve.repetition);
                self.pace.contains_key(&place)
            }
            _ => curve.points.iter().any(|point| against.of(point).is_some()),
        };
        let drawn = |name: &str| chart.series.iter().any(|series| series.name == name);
        let mut names: Vec<&str> = vec![];
        for curve in self.curves.iter().filter(|curve| curve.topology == topology && !has_axis(curve)) {
            if !drawn(&curve.method) && !names.contains(&&*curve.method) {
                names.push(&curve.method);
            }
        }
        (!names.is_empty())
            .then(|| format!("Not drawn, for want of {}: {}.", against.key(), names.join(", ")))
    }

    /// What the figure shows, what lines and bands are, and what is left out or cut off.
    fn caption(
        &self,
        found: &[Found<'_>],
        chart: &Chart,
        (topology, quantity): (&str, Quantity),
        lacking: Option<String>,
    ) -> String {
        let what = format!("{}, {}, on {topology}.", quantity.title(), quantity.label());
        let repetitions =
            self.curves.iter().filter(|curve| curve.topology == topology).map(|c| c.repetition + 1);
        let one = (repetitions.max() == Some(1)).then(|| self.question.band.says(1));
        let seconds = (self.question.against == Against::Seconds).then(|| {
            "Seconds are those that a run spent in its rounds, spread evenly over them; measuring is not counted."
                .to_owned()
        });
        let left_out = self.without_axis(chart, topology);
        let marked = (!chart.markers.is_empty())
            .then(|| "Dotted lines: where the steps η of all methods become smaller.".to_owned());
        let own = self.notes.iter().filter(|(of, _)| of == topology).map(|(_, note)| note.clone());
        let problems = self.sources.problems_note(found);
        let said =
            [what].into_iter().chain(one).chain(chart.notes.iter().cloned()).chain(seconds).chain(marked);
        paragraph(
            said.chain(chart.nothing_to_show()).chain(lacking).chain(left_out).chain(own).chain(problems),
        )
    }
}
