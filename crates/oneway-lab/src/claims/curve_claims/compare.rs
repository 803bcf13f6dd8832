//! How one method stands to another.

use crate::claims::Verdict;
use crate::claims::runs::{GRADIENT, LOSS, Missing, PLATEAU_ENDS, Runs, SMTPP, SMTPP_TREES, paired};
use crate::claims::statistics::{Answer, Interval};

/// ln(a/b) in several places: where a is lower, where it is higher.
pub(super) struct Comparison {
    pub(super) numbers: Vec<(String, f64)>,
    lower: usize,
    higher: usize,
    places: usize,
}

impl Comparison {
    pub(super) fn new() -> Self {
        Self { numbers: vec![], lower: 0, higher: 0, places: 0 }
    }

    /// Loss and ‖∇F‖² at the end of each plateau.
    pub(super) fn at_plateau_ends(runs: Runs<'_>, methods: [&str; 2]) -> Result<Self, Missing> {
        let mut comparison = Self::new();
        for quantity in [LOSS, GRADIENT] {
            for end in PLATEAU_ENDS {
                let place = format!("{} at {end}", quantity.name);
                comparison.add(methods, &place, runs.log_ratio(methods, quantity, end)?);
            }
        }
        Ok(comparison)
    }

    /// The variation of ln‖∇F‖² in each window.
    pub(super) fn of_variation(
        &mut self,
        runs: Runs<'_>,
        methods: [&str; 2],
        windows: &[[u64; 2]],
    ) -> Result<(), Missing> {
        for &window in windows {
            let [a, b] = methods.map(|method| runs.variation(method, window));
            let place = format!("variation {} to {}", window[0], window[1]);
            self.add(methods, &place, paired(&a?, &b?)?);
        }
        Ok(())
    }

    fn add(&mut self, [a, b]: [&str; 2], place: &str, interval: Interval) {
        match interval.is_negative() {
            Answer::Yes => self.lower += 1,
            Answer::No => self.higher += 1,
            Answer::Unclear => {}
        }
        self.places += 1;
        self.numbers.extend(labelled(&format!("ln({a}/{b}) of {place}"), interval));
    }

    /// Whether a is the lower one. Yes: surely so in half of the places or more, and surely not in none. No: surely
    /// not in one or more. So one lucky interval of six or nine decides nothing.
    pub(super) fn is_lower(&self) -> Answer {
        match (self.lower, self.higher) {
            (_, 1..) => Answer::No,
            (lower, 0) if 2 * lower >= self.places => Answer::Yes,
            _ => Answer::Unclear,
        }
    }

    /// "lower in 1, higher in 4 of 6".
    pub(super) fn tally(&self) -> String {
        format!("lower in {}, higher in {} of {}", self.lower, self.higher, self.places)
    }
}

/// An interval as two numbers.
pub(super) fn labelled(label: &str, Interval { mean, half }: Interval) -> [(String, f64); 2] {
    [(label.to_owned(), mean), (format!("± {label}"), half)]
}

/// SMTPP both ways against one method, or several at once.
pub(super) struct BothWays {
    pub(super) full: Comparison,
    pub(super) trees: Comparison,
}

impl BothWays {
    pub(super) fn new(
        compare: impl Fn(&'static str) -> Result<Comparison, Missing>,
    ) -> Result<Self, Missing> {
        Ok(Self { full: compare(SMTPP)?, trees: compare(SMTPP_TREES)? })
    }

    pub(super) fn verdict(&self) -> Verdict {
        Verdict::of_both_ways(self.full.is_lower(), self.trees.is_lower())
    }

    /// "lower in 1, higher in 4 of 6 (on trees 0 and 4)".
    pub(super) fn tally(&self) -> String {
        format!("{} (on trees {} and {})", self.full.tally(), self.trees.lower, self.trees.higher)
    }

    /// The numbers of both.
    pub(super) fn numbers(self) -> Vec<(String, f64)> {
        self.full.numbers.into_iter().chain(self.trees.numbers).collect()
    }
}
