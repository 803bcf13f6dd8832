//! One cell, as the page shows it: from its file among the results once it is finished, from what it shows of
//! itself before.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use oneway::engine::metrics::Measurement;
use oneway_experiment::live::{self, Checked, Snapshot};
use oneway_experiment::results::cells::{CellStatus, CellStore};
use oneway_watch::model::{Agents, Curve, Law};

use super::AXES;
use crate::draw::figure::quantity::Quantity;

/// When a file was changed, and its length: a file that has the same is the same.
pub(super) type Stamp = Option<(SystemTime, u64)>;

/// The stamp of a file; nothing if it is not there.
pub(super) fn stamp(path: &Path) -> Stamp {
    let about = fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len()))
}

/// How far a cell is.
#[derive(Debug, Default)]
pub(super) struct Shown {
    stamps: [Stamp; 2],
    pub(super) round: u64,
    pub(super) rate: Option<f64>,
    /// How it ended; nothing while it runs.
    pub(super) status: Option<&'static str>,
    pub(super) checked: Checked,
    pub(super) points: Vec<Measurement>,
    pub(super) agents: Option<live::Agents>,
    /// Whether anything is known of it.
    pub(super) begun: bool,
    /// Whether its whole curve was read, so that nothing more will come.
    whole: bool,
    /// Whether it has changed since it was published.
    pub(super) new: bool,
}

impl Shown {
    /// A cell that is finished, with its curve.
    pub(super) fn finished(status: &'static str, points: &[Measurement]) -> Self {
        let mut shown = Self { begun: true, new: true, ..Self::default() };
        shown.finish(status, points);
        shown
    }

    fn finish(&mut self, status: &'static str, points: &[Measurement]) {
        self.round = points.last().map_or(self.round, |point| point.iteration);
        self.checked = Checked::of(points);
        self.points = points.to_vec();
        (self.status, self.rate, self.whole, self.begun) = (Some(status), None, true, true);
    }

    /// Its run was started again: all of it is looked at anew, and until then the curve stays as it was.
    pub(super) fn begin_again(&mut self) {
        let points = std::mem::take(&mut self.points);
        *self = Self { points, new: true, ..Self::default() };
    }

    /// Looks at the files of a cell, if they have changed.
    pub(super) fn reload(&mut self, results: &Path, key: &str) {
        if self.whole {
            return;
        }
        let path = Snapshot::path(results, key);
        let stamps = [stamp(&path), stamp(&results.join("cells").join(format!("{key}.cell")))];
        if stamps == self.stamps {
            return;
        }
        let snapshot = Snapshot::read(&path);
        let ended = snapshot.as_ref().and_then(|snapshot| snapshot.status);
        // a cell that is computed again shows itself, although there is a result of it
        let runs = snapshot.is_some() && ended.is_none();
        let kept = stamps[1].filter(|_| !runs).and_then(|_| CellStore::new(results).get(key));
        if let Some(snapshot) = snapshot {
            self.round = snapshot.round;
            self.rate = ended.is_none().then_some(snapshot.rate);
            self.status = ended.map(CellStatus::name);
            self.checked = snapshot.checked;
            let points = snapshot.points();
            if !points.is_empty() || ended.is_none() {
                self.points = points;
            }
            (self.agents, self.begun) = (snapshot.agents, true);
        }
        if let Some(kept) = kept {
            self.finish(kept.end.status.name(), &kept.points);
        }
        (self.stamps, self.new) = (stamps, true);
    }

    /// Its curve, with at most `most` points a line.
    pub(super) fn curve(&self, most: usize) -> Curve {
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let axes = AXES.map(|against| {
            (against.key(), self.points.iter().map(|point| number(against.of(point))).collect::<Vec<f64>>())
        });
        let lines = Quantity::ALL.map(|quantity| {
            (quantity.key(), self.points.iter().map(|point| number(quantity.of(point))).collect::<Vec<f64>>())
        });
        Curve::new(axes.to_vec(), lines.to_vec(), most)
    }

    /// The numbers of its agents.
    pub(super) fn agents(&self) -> Option<Agents> {
        let live::Agents { round, group, distance, loss, lag } = self.agents.clone()?;
        let values = [("distance", Some(distance)), ("loss", loss), ("lag", lag)];
        let values = values.into_iter().filter_map(|(key, values)| Some((key, values?)));
        Some(Agents { round, group, values: values.collect::<BTreeMap<_, _>>() })
    }

    /// The laws that were checked, and whether they held.
    pub(super) fn laws(&self) -> Vec<Law> {
        /// What rounding may do to sums that are conserved, and to F*, which is found to about this.
        const ROUNDING: f64 = 1e-9;
        let Checked { states, conservation, gap, not_finite } = self.checked;
        if states == 0 {
            return vec![];
        }
        let law = |name, worst: Option<f64>, holds| Law { name, worst, checks: states, holds };
        let conserved = conservation
            .map(|worst| law("v\u{304} = m\u{304}, w\u{304} = 1", Some(worst), worst <= ROUNDING));
        let above = gap.map(|least| law("F(x\u{304}) ≥ F*", Some(least), least >= -ROUNDING));
        let finite = law("finite", None, not_finite == 0);
        [conserved, above, Some(finite)].into_iter().flatten().collect()
    }
}
