//! A curve of bounded length: every point of a short run, evenly fewer of a long one.

use oneway::engine::metrics::Measurement;

/// The most points that are kept.
const MOST: usize = 512;

/// Every `stride`-th point, and the last.
#[derive(Debug)]
pub(super) struct Thinned {
    kept: Vec<Measurement>,
    stride: u64,
    count: u64,
    last: Option<Measurement>,
}

impl Thinned {
    pub(super) fn new() -> Self {
        Self { kept: vec![], stride: 1, count: 0, last: None }
    }

    /// Takes the next point. O(1) on average.
    pub(super) fn push(&mut self, point: &Measurement) {
        if self.count.is_multiple_of(self.stride) {
            self.kept.push(*point);
        }
        self.count += 1;
        self.last = Some(*point);
        if self.kept.len() > MOST {
            let mut place = 0;
            self.kept.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.stride *= 2;
        }
    }

    /// How many points came.
    pub(super) fn count(&self) -> usize {
        self.count as usize
    }

    /// What is left of them, in order.
    pub(super) fn points(&self) -> Vec<Measurement> {
        // by iteration: a point with a NaN in it is not equal to itself
        let kept = self.kept.last().map(|kept| kept.iteration);
        let last = self.last.filter(|last| kept != Some(last.iteration));
        self.kept.iter().copied().chain(last).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::divergence::tests::curve;

    #[test]
    fn a_long_curve_keeps_its_ends_and_even_steps() {
        let losses: Vec<f64> = (0..10_001).map(f64::from).collect();
        let points = curve(&losses);
        let mut thinned = Thinned::new();
        for (at, point) in points.iter().enumerate() {
            thinned.push(point);
            let kept = thinned.points();
            assert!(kept.len() <= MOST + 1);
            assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], *point));
            assert!(at >= MOST || kept.len() == at + 1, "short ones are whole");
        }
        let kept = thinned.points();
        let steps: Vec<f64> = kept.windows(2).map(|pair| pair[1].loss - pair[0].loss).collect();
        assert!(steps[..steps.len() - 1].iter().all(|step| *step == steps[0]) && kept.len() > MOST / 4);
    }
}
