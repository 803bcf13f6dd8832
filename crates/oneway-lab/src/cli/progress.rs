//! One bar for all that a command does, on standard error; nothing where that is no terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use oneway_experiment::plan::Cell;
use oneway_experiment::progress::{CellProgress, Progress};

/// Ticks of the bar for each unit of a share.
const TICKS: u64 = 1000;

/// What a command does, one after another: a word for each part, and its share of the time, about.
type Parts = [(&'static str, u64)];

/// The bar of a command. It is gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    parts: &'static Parts,
}

/// A part of it, and how many of its pieces (rounds, limits, networks) are done.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    bar: ProgressBar,
    /// Ticks before it, and its own.
    from: u64,
    ticks: u64,
    count: u64,
    done: Arc<AtomicU64>,
}

impl Bar {
    pub(crate) fn new(parts: &'static Parts) -> Self {
        let shares: u64 = parts.iter().map(|(_, share)| share).sum();
        let bar = ProgressBar::new(TICKS * shares);
        let template = "{msg} {wide_bar} {percent:>3}%  {eta:>3} left";
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(120)); // also while the first piece takes long
        Self { bar, parts }
    }

    /// Begins a part of `count` pieces. All parts before it are done.
    pub(crate) fn part(&self, at: usize, count: u64) -> Part {
        let share = |(_, share): &(&str, u64)| TICKS * share;
        let from = self.parts.iter().take(at).map(share).sum();
        let ticks = self.parts.get(at).map_or(0, share);
        self.bar.set_message(self.parts.get(at).map_or("", |(name, _)| name));
        self.bar.set_position(from);
        Part { bar: self.bar.clone(), from, ticks, count, done: Arc::default() }
    }

    /// Does something that writes to the terminal, out of its way.
    pub(crate) fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Part {
    /// Some more are done.
    pub(crate) fn advance(&self, pieces: u64) {
        let done = self.done.fetch_add(pieces, Ordering::Relaxed) + pieces;
        self.bar.set_position(self.position(done));
    }

    /// Where the bar is when this many are done.
    fn position(&self, done: u64) -> u64 {
        let part = u128::from(self.ticks) * u128::from(done.min(self.count)) / u128::from(self.count.max(1));
        self.from + u64::try_from(part).unwrap_or(self.ticks)
    }

    /// Pieces done, and pieces in all.
    #[cfg(test)]
    pub(crate) fn done(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.count)
    }
}

/// Its pieces are rounds.
impl Progress for Part {
    fn skip(&self, rounds: u64) {
        self.advance(rounds);
    }

    fn begin(&self, cell: &Cell<'_>) -> Box<dyn CellProgress> {
        Box::new(CellPart { whole: self.clone(), rounds: cell.entry.run.iterations, reached: 0 })
    }
}

/// The rounds of one cell.
#[derive(Debug)]
struct CellPart {
    whole: Part,
    /// Rounds that count when the cell ends, done or not.
    rounds: u64,
    reached: u64,
}

impl CellProgress for CellPart {
    fn reach(&mut self, k: u64) {
        self.whole.advance(k - self.reached);
        self.reached = k;
    }
}

impl Drop for CellPart {
    fn drop(&mut self) {
        self.whole.advance(self.rounds - self.reached); // rounds that a diverged cell does not do
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_goes_through_its_parts_and_never_back() {
        let bar = Bar::new(&[("running", 3), ("drawing", 1)]);
        let running = bar.part(0, 10);
        assert_eq!((running.position(0), running.position(5), running.position(10)), (0, 1500, 3000));
        assert_eq!(running.position(99), 3000, "a part does not go beyond its end");
        let drawing = bar.part(1, 0);
        assert_eq!((drawing.position(0), drawing.position(1)), (3000, 3000));
        assert_eq!(bar.part(1, u64::MAX).position(u64::MAX), 4000);
    }
}
