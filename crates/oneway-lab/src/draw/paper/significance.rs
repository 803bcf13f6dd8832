//! Which of several means differ from the best beyond noise.

use oneway::numeric::student::upper_tail;
use oneway_experiment::results::repetitions::mean;

/// Differences with a smaller chance are called significant.
pub(super) const LEVEL: f64 = 0.05;

/// The two-sided p-value of Welch's t-test that two samples have the same mean; none unless both have two
/// values.
pub(super) fn welch(a: &[f64], b: &[f64]) -> Option<f64> {
    let (mean_a, mean_b) = (mean(a)?, mean(b)?);
    let square = |values: &[f64], mean: f64| {
        let n = values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0) / n // s²/n
    };
    if a.len() < 2 || b.len() < 2 {
        return None;
    }
    let (square_a, square_b) = (square(a, mean_a), square(b, mean_b));
    let difference = (mean_a - mean_b).abs();
    if square_a + square_b == 0.0 {
        return Some(if difference == 0.0 { 1.0 } else { 0.0 });
    }
    let t = difference / (square_a + square_b).sqrt();
    let freedom = (square_a + square_b).powi(2)
        / (square_a.powi(2) / (a.len() - 1) as f64 + square_b.powi(2) / (b.len() - 1) as f64);
    Some((2.0 * upper_tail(t, freedom)).min(1.0))
}

/// p-values corrected for their number by Holm: p₍ᵢ₎ becomes max_{j ≤ i} (m − j + 1) p₍ⱼ₎.
pub(super) fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let (mut corrected, mut largest) = (vec![1.0; p.len()], 0.0_f64);
    for (rank, &place) in order.iter().enumerate() {
        largest = largest.max((p.len() - rank) as f64 * p[place]).min(1.0);
        corrected[place] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welch_is_the_textbooks() {
        // by hand: means 3 and 6; s²/n = 0.5 and 2; t = 3/√2.5; ν = 6.25/(0.0625 + 1) = 5.882; p = 0.107
        let p = welch(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 4.0, 6.0, 8.0, 10.0]).unwrap();
        assert!((p - 0.10753).abs() < 1e-4, "{p}");
        assert_eq!(welch(&[1.0], &[2.0, 3.0]), None);
        assert_eq!(welch(&[2.0, 2.0], &[2.0, 2.0]), Some(1.0));
        assert_eq!(welch(&[2.0, 2.0], &[3.0, 3.0]), Some(0.0));
        assert!(welch(&[1.0, 1.1, 0.9], &[5.0, 5.1, 4.9]).unwrap() < 1e-4);
    }

    #[test]
    fn holm_steps_down() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (got, expected) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - expected).abs() < 1e-12, "{corrected:?}");
        }
        assert_eq!((holm(&[]), holm(&[0.2])), (vec![], vec![0.2]));
        assert!(holm(&[0.5, 0.6, 0.9]).iter().all(|p| *p == 1.0));
    }

    /// Samples of one distribution: at most a share of 5 % of families has a difference.
    #[test]
    fn noise_is_seldom_called_a_difference() {
        use oneway::numeric::sample::{Draws, Purpose};
        let families = 2000;
        let mut wrong = 0;
        for family in 0..families {
            let mut draws = Draws::new(7, Purpose::Problem, family, 0);
            let mut sample = || (0..5).map(|_| draws.normal()).collect::<Vec<f64>>();
            let best = sample();
            let p: Vec<f64> = (0..4).map(|_| welch(&best, &sample()).unwrap()).collect();
            wrong += usize::from(holm(&p).iter().any(|p| *p < LEVEL));
        }
        let share = wrong as f64 / families as f64;
        assert!(share < 0.06, "{share}");
    }
}
