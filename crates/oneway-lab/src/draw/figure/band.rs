//! Bands: how far repetitions lie apart.

use clap::ValueEnum;
use oneway_experiment::results::repetitions::{mean, standard_error};

use crate::number::counted;

/// What the band around a line shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Band {
    /// From the lowest to the highest repetition
    Minmax,
    /// The mean ± its standard error
    Se,
    /// From the lower to the upper quartile, interpolated between repetitions
    Quantiles,
    /// No band
    None,
}

impl Band {
    /// The ends of the band of values; none of fewer than two, and where there is no band.
    pub(crate) fn of(self, values: &[f64]) -> Option<(f64, f64)> {
        if values.len() < 2 {
            return None;
        }
        match self {
            Band::Minmax => {
                let extreme =
                    |start: f64, pick: fn(f64, f64) -> f64| values.iter().copied().fold(start, pick);
                Some((extreme(f64::INFINITY, f64::min), extreme(f64::NEG_INFINITY, f64::max)))
            }
            Band::Se => {
                let (mean, error) = (mean(values)?, standard_error(values)?);
                Some((mean - error, mean + error))
            }
            Band::Quantiles => Some((quantile(values, 0.25), quantile(values, 0.75))),
            Band::None => None,
        }
    }

    /// What lines and bands are, for a caption.
    pub(crate) fn says(self, repetitions: usize) -> String {
        if repetitions < 2 {
            return "One repetition, so there is no band.".to_owned();
        }
        let means = format!("Lines: means of {}.", counted(repetitions as u64, "repetition"));
        match self {
            Band::Minmax => format!("{means} Bands: from their lowest to their highest."),
            Band::Se => format!("{means} Bands: ± one standard error of the mean."),
            Band::Quantiles => format!("{means} Bands: from their lower to their upper quartile."),
            Band::None => means,
        }
    }
}

/// The value below which a share of values lies, interpolated between neighbours: x at (n − 1)·share in order,
/// counted from 0.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (sorted.len() - 1) as f64 * share;
    let (below, part) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(sorted.len() - 1);
    (1.0 - part) * sorted[below] + part * sorted[above]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_what_their_names_say() {
        let values = [4.0, 1.0, 2.0, 3.0, 10.0];
        assert_eq!(Band::Minmax.of(&values), Some((1.0, 10.0)));
        assert_eq!(Band::Quantiles.of(&values), Some((2.0, 4.0)));
        assert_eq!(Band::Quantiles.of(&[1.0, 2.0]), Some((1.25, 1.75)));
        let error = (50.0_f64 / 4.0 / 5.0).sqrt(); // squares of −3, −2, −1, 0, 6: 50
        assert_eq!(Band::Se.of(&values), Some((4.0 - error, 4.0 + error)));
        assert_eq!(Band::None.of(&values), None);
        for band in [Band::Minmax, Band::Se, Band::Quantiles, Band::None] {
            assert_eq!((band.of(&[1.0]), band.of(&[])), (None, None));
            assert!(band.says(1).contains("no band"));
        }
    }
}
