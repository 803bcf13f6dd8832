//! How one method stands to another.

use crate::studies::claims::runs::{GRADIENT, LOSS, Missing, PLATEAU_ENDS, Runs, SMTPP, SMTPP_TREES, paired};
use crate::studies::claims::statistics::{Answer, Interval};

/// ln(a/b) in several places: where a is lower, where it is higher.
pub(super) struct Comparison {
    pub(super) numbers: Vec<(String, f64)>,
    /// What stands before the label of each number.
    prefix: String,
    lower: usize,
    higher: usize,
    places: usize,
}

impl Comparison {
    pub(super) fn new(prefix: &str) -> Self {
        Self { numbers: vec![], prefix: prefix.to_owned(), lower: 0, higher: 0, places: 0 }
    }

    /// Loss and ‖∇F‖² at the end of each plateau.
    pub(super) fn at_plateau_ends(runs: Runs<'_>, methods: [&str; 2], prefix: &str) -> Result<Self, Missing> {
        let mut comparison = Self::new(prefix);
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
        self.numbers.extend(labelled(&format!("{}ln({a}/{b}) of {place}", self.prefix), interval));
    }

    /// Whether a is the lower one. Yes: surely lower in half of the places or more, and surely higher in
    /// none. No is its mirror: surely higher in half or more, and surely lower in none. So one lucky interval
    /// of six or nine decides nothing.
    pub(super) fn is_lower(&self) -> Answer {
        let half = |count: usize| self.places > 0 && 2 * count >= self.places;
        match (self.lower, self.higher) {
            (lower, 0) if half(lower) => Answer::Yes,
            (0, higher) if half(higher) => Answer::No,
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

    /// "lower in 1, higher in 4 of 6 (on trees 0 and 4)".
    pub(super) fn tally(&self) -> String {
        format!("{} (on trees {} and {})", self.full.tally(), self.trees.lower, self.trees.higher)
    }

    /// The numbers of both.
    pub(super) fn numbers(self) -> Vec<(String, f64)> {
        self.full.numbers.into_iter().chain(self.trees.numbers).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A comparison with these counts of lower and higher, out of six places.
    fn of_six(lower: usize, higher: usize) -> Comparison {
        let mut comparison = Comparison::new("");
        for place in 0..6 {
            let mean = match place {
                _ if place < lower => -1.0,
                _ if place < lower + higher => 1.0,
                _ => 0.0,
            };
            comparison.add(["a", "b"], &place.to_string(), Interval { mean, half: 0.5 });
        }
        comparison
    }

    #[test]
    fn worse_is_the_mirror_of_better() {
        for count in 0..=6 {
            let enough = count >= 3;
            assert_eq!(of_six(count, 0).is_lower(), if enough { Answer::Yes } else { Answer::Unclear });
            assert_eq!(of_six(0, count).is_lower(), if enough { Answer::No } else { Answer::Unclear });
        }
        // exactly one that is higher forbids a yes, and makes no no
        assert_eq!([of_six(0, 1), of_six(5, 1), of_six(1, 5)].map(|c| c.is_lower()), [Answer::Unclear; 3]);
        assert_eq!(Comparison::new("").is_lower(), Answer::Unclear);
    }
}
