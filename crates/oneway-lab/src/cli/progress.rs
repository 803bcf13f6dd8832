//! Progress on a terminal: a bar for each running cell, and one for all. Nothing when piped.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use oneway_experiment::plan::Cell;
use oneway_experiment::progress::{CellProgress, Progress};

/// The bars of a run.
#[derive(Debug)]
pub(crate) struct Bars {
    bars: MultiProgress,
    total: ProgressBar,
}

/// The bar of one cell; gone with it.
#[derive(Debug)]
struct CellBar {
    own: ProgressBar,
    total: ProgressBar,
    /// Rounds that count towards the total when the cell ends, done or not.
    rounds: u64,
    reached: u64,
}

impl Bars {
    /// Bars for a number of rounds in all.
    pub(crate) fn new(rounds: u64) -> Self {
        let bars = MultiProgress::new(); // on standard error, if that is a terminal
        let total = bars.add(ProgressBar::new(rounds));
        total.set_style(style("{wide_bar} {percent:>3}%  {human_pos}/{human_len} rounds  {eta} left"));
        Self { bars, total }
    }

    /// Rounds done, and rounds in all.
    #[cfg(test)]
    pub(crate) fn done(&self) -> (u64, Option<u64>) {
        (self.total.position(), self.total.length())
    }
}

impl Progress for Bars {
    fn skip(&self, rounds: u64) {
        self.total.inc(rounds);
    }

    fn begin(&self, cell: &Cell<'_>) -> Box<dyn CellProgress> {
        let rounds = cell.entry.run.iterations;
        let own = self.bars.insert_before(&self.total, ProgressBar::new(rounds));
        own.set_style(style("{msg:40!} {bar:20} {percent:>3}%  {eta} left"));
        own.set_message(cell.to_string());
        Box::new(CellBar { own, total: self.total.clone(), rounds, reached: 0 })
    }
}

impl CellProgress for CellBar {
    fn reach(&mut self, k: u64) {
        self.own.set_position(k);
        self.total.inc(k - self.reached);
        self.reached = k;
    }
}

impl Drop for CellBar {
    fn drop(&mut self) {
        self.total.inc(self.rounds - self.reached); // rounds that a diverged cell does not do
        self.own.finish_and_clear();
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.total.finish_and_clear();
    }
}

/// A bar for work that is counted in pieces; nothing when piped.
#[derive(Debug)]
pub(crate) struct Pieces(ProgressBar);

impl Pieces {
    /// A bar for `count` pieces of what the message says.
    pub(crate) fn new(count: u64, message: impl Into<String>) -> Self {
        let bar = ProgressBar::new(count).with_message(message.into());
        bar.set_style(style("{msg}  {wide_bar} {pos}/{len}  {eta} left"));
        bar.enable_steady_tick(Duration::from_millis(120)); // also while the first piece takes long
        Self(bar)
    }

    /// One more is done.
    pub(crate) fn one_done(&self) {
        self.0.inc(1);
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A sign of life while something takes long; nothing when piped.
#[derive(Debug)]
pub(crate) struct Spinner(ProgressBar);

impl Spinner {
    /// Turns until it is dropped.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let spinner = ProgressBar::new_spinner().with_message(message.into());
        spinner.enable_steady_tick(Duration::from_millis(120));
        Self(spinner)
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
