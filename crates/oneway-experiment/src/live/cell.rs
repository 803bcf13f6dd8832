//! One cell that shows itself: looks at its state when that is due, and writes what it sees.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use oneway::engine::metrics::{self, Measurement};
use oneway::engine::observe::View;

use super::files::{Agents, Checked, Snapshot};
use super::pace::Pace;
use super::thinned::Thinned;
use super::{FOLDER, Live};
use crate::experiment::plan::Cell;
use crate::results::cells::CellStatus;

/// With more agents than this, numbers are means over groups of them.
const MOST_GROUPS: usize = 1024;

/// A cell that shows itself.
#[derive(Debug)]
pub(crate) struct CellLive<'a> {
    live: &'a Live,
    path: PathBuf,
    pace: Pace,
    curve: Thinned,
    checked: Checked,
    /// Batches that were taken from a recorder that measures on other threads.
    pub(crate) batches: usize,
    /// The last look: when, and at which round.
    last: (Instant, u64),
    losses: Losses,
}

/// The losses of all agents, taken where that costs little.
#[derive(Debug, Default)]
struct Losses {
    last: Option<Vec<Option<f32>>>,
    /// What taking them costs, as far as is known.
    cost: Option<Duration>,
}

impl<'a> CellLive<'a> {
    pub(super) fn new(live: &'a Live, cell: &Cell<'_>) -> Self {
        let results = live.folder.parent().unwrap_or(&live.folder);
        debug_assert!(live.folder.ends_with(FOLDER));
        Self {
            live,
            path: Snapshot::path(results, &cell.key),
            pace: Pace::new(),
            curve: Thinned::new(),
            checked: Checked::default(),
            batches: 0,
            last: (Instant::now(), 0),
            losses: Losses::default(),
        }
    }

    /// Whether it is time to look.
    pub(crate) fn is_due(&self) -> bool {
        self.pace.is_due() && self.live.is_written()
    }

    /// How many measured states it has been given.
    pub(crate) fn count(&self) -> usize {
        self.curve.count()
    }

    /// Takes what was measured next.
    pub(crate) fn add(&mut self, points: &[Measurement]) {
        for point in points {
            self.curve.push(point);
            self.checked.add(point);
        }
    }

    /// Looks at a state, and shows it.
    pub(crate) fn look(&mut self, view: &View<'_>) {
        let since = Instant::now();
        let mut snapshot = Snapshot::new(view.k, self.rate(view.k), &self.curve.points(), self.checked);
        snapshot.agents = self.agents(view);
        self.live.note(snapshot.write(&self.path));
        self.last = (since, view.k);
        self.pace.looked(since);
    }

    /// Shows how it ended. The curve is left out where it is kept among the results.
    pub(crate) fn end(mut self, view: &View<'_>, status: CellStatus, points: &[Measurement]) {
        if !self.live.is_written() {
            return;
        }
        self.add(points.get(self.count()..).unwrap_or_default());
        let rate = view.k as f64 / self.pace.elapsed().as_secs_f64().max(1e-9);
        let kept = if status.is_final() { vec![] } else { self.curve.points() };
        let mut snapshot = Snapshot::new(view.k, rate, &kept, self.checked);
        snapshot.agents = self.agents(view);
        snapshot.status = Some(status);
        self.live.note(snapshot.write(&self.path));
    }

    /// Rounds a second since the last look.
    fn rate(&self, k: u64) -> f64 {
        let (since, before) = self.last;
        k.saturating_sub(before) as f64 / since.elapsed().as_secs_f64().max(1e-9)
    }

    fn agents(&mut self, view: &View<'_>) -> Option<Agents> {
        let mean = metrics::average(view).ok()?;
        let distance = |i: usize| {
            let squares = view.estimate(i).iter().zip(&mean).map(|(x, mean)| (x - mean) * (x - mean));
            squares.sum::<f64>().sqrt()
        };
        let lags = view.lags();
        Some(Agents {
            round: view.k,
            group: group(view.agents()),
            distance: grouped(view.agents(), distance),
            loss: self.losses.take(view, &self.pace),
            lag: lags.map(|lags| grouped(lags.len(), |i| lags[i] as f64)),
        })
    }
}

impl Losses {
    /// f_i(x_i) of all agents, or those that were taken last where taking them would cost too much. How much
    /// that is, is found by taking that of one agent.
    fn take(&mut self, view: &View<'_>, pace: &Pace) -> Option<Vec<Option<f32>>> {
        let (problem, n) = (view.problem, view.agents());
        if problem.at_once() {
            return None; // an agent alone cannot be asked
        }
        let mut gradient = vec![0.0; problem.dim()];
        let mut loss = |i: usize| problem.exact(i, view.estimate(i), &mut gradient);
        let cost = *self.cost.get_or_insert_with(|| {
            let since = Instant::now();
            loss(0);
            since.elapsed() * u32::try_from(n).unwrap_or(u32::MAX)
        });
        if pace.allows(cost) {
            let since = Instant::now();
            self.last = Some(grouped(n, &mut loss));
            self.cost = Some(since.elapsed());
        }
        self.last.clone()
    }
}

/// Agents in a group.
fn group(agents: usize) -> usize {
    agents.div_ceil(MOST_GROUPS).max(1)
}

/// The mean of a number over each group of agents; nothing where it is not finite.
fn grouped(agents: usize, mut of: impl FnMut(usize) -> f64) -> Vec<Option<f32>> {
    let size = group(agents);
    let mean = |first: usize| {
        let of_group = first..agents.min(first + size);
        let count = of_group.len() as f64;
        let mean = of_group.map(&mut of).sum::<f64>() / count;
        Some(mean as f32).filter(|mean| mean.is_finite())
    };
    (0..agents).step_by(size).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_agents_are_shown_in_groups() {
        assert_eq!(grouped(3, |i| i as f64), [Some(0.0), Some(1.0), Some(2.0)]);
        assert_eq!(grouped(2, |_| f64::NAN), [None, None]);
        let means = grouped(1_000_001, |i| i as f64);
        assert!(means.len() <= MOST_GROUPS && group(1_000_001) == 977);
        assert_eq!(
            (means[0], means[means.len() - 1]),
            (Some(488.0), Some(1_000_000.0 - 0.5 * (1_000_000 % 977) as f32))
        );
    }
}
