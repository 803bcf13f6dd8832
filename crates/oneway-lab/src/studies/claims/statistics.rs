//! The little statistics that verdicts need: paired intervals and power laws.

use oneway::numeric::student;

/// What an interval says of a question; noise may leave it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
    Unclear,
}

impl Answer {
    /// Yes if all are, no if any is not, unclear otherwise.
    pub(crate) fn all(answers: impl IntoIterator<Item = Answer>) -> Answer {
        answers.into_iter().fold(Answer::Yes, |all, next| match (all, next) {
            (Answer::No, _) | (_, Answer::No) => Answer::No,
            (Answer::Unclear, _) | (_, Answer::Unclear) => Answer::Unclear,
            (Answer::Yes, Answer::Yes) => Answer::Yes,
        })
    }
}

/// A mean with its 95 % interval, mean ± half.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    pub(crate) mean: f64,
    pub(crate) half: f64,
}

impl Interval {
    /// x̄ ± t₀.₉₇₅(r − 1)·s/√r of r values; with fewer than two there is no interval.
    pub(crate) fn new(values: &[f64]) -> Option<Self> {
        let r = values.len();
        if r < 2 {
            return None;
        }
        let mean = mean(values);
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (r - 1) as f64;
        Some(Self { mean, half: student_975(r - 1) * (variance / r as f64).sqrt() })
    }

    /// Whether the mean is surely below zero, surely above, or neither.
    pub(crate) fn is_negative(self) -> Answer {
        match self {
            _ if self.mean + self.half < 0.0 => Answer::Yes,
            _ if self.mean - self.half > 0.0 => Answer::No,
            _ => Answer::Unclear,
        }
    }

    /// Whether the whole interval lies within ±margin, none of it does, or some.
    pub(crate) fn is_within(self, margin: f64) -> Answer {
        match self {
            _ if self.mean.abs() + self.half <= margin => Answer::Yes,
            _ if self.mean.abs() - self.half > margin => Answer::No,
            _ => Answer::Unclear,
        }
    }
}

/// The arithmetic mean.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// t₀.₉₇₅ for ν ≥ 1 degrees of freedom: a 95 % interval reaches t standard errors either way.
fn student_975(ν: usize) -> f64 {
    student::quantile(0.025, ν as f64)
}

/// y ∝ x^p, fitted by least squares to ln y against ln x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PowerLaw {
    /// p.
    pub(crate) exponent: f64,
    /// The standard error of p, from the residuals: it counts misfit as well as noise.
    pub(crate) error: f64,
    /// Its degrees of freedom: points less the two that a line takes.
    pub(crate) freedom: usize,
}

impl PowerLaw {
    /// The fit to (x, y) pairs, all positive. With fewer than three there is no error to speak of, and it is
    /// ∞.
    pub(crate) fn fit(points: &[(f64, f64)]) -> Self {
        let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
        let count = logs.len() as f64;
        let (x_mean, y_mean) = logs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / count, b + y / count));
        let s_xx: f64 = logs.iter().map(|(x, _)| (x - x_mean) * (x - x_mean)).sum();
        let s_xy: f64 = logs.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
        let exponent = s_xy / s_xx;
        let residual = |(x, y): &(f64, f64)| y - y_mean - exponent * (x - x_mean);
        let squares: f64 = logs.iter().map(|point| residual(point) * residual(point)).sum();
        let error = if logs.len() < 3 { f64::INFINITY } else { (squares / (count - 2.0) / s_xx).sqrt() };
        Self { exponent, error, freedom: logs.len().saturating_sub(2) }
    }

    /// Half of the 95 % interval of p: t₀.₉₇₅(points − 2) standard errors.
    pub(crate) fn doubt(self) -> f64 {
        student_975(self.freedom.max(1)) * self.error
    }

    /// Whether p is within `margin` of `expected`: yes or no if its 95 % interval leaves no doubt, unclear
    /// otherwise.
    pub(crate) fn is_about(self, expected: f64, margin: f64) -> Answer {
        let (off, doubt) = ((self.exponent - expected).abs(), self.doubt());
        match () {
            () if off + doubt <= margin => Answer::Yes,
            () if off - doubt > margin => Answer::No,
            () => Answer::Unclear,
        }
    }

    /// Whether p is `bound` or more, in the same way.
    pub(crate) fn is_at_least(self, bound: f64) -> Answer {
        let doubt = self.doubt();
        match () {
            () if self.exponent - doubt >= bound => Answer::Yes,
            () if self.exponent + doubt < bound => Answer::No,
            () => Answer::Unclear,
        }
    }

    /// Whether p is `bound` or less, in the same way.
    pub(crate) fn is_at_most(self, bound: f64) -> Answer {
        Self { exponent: -self.exponent, ..self }.is_at_least(-bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_laws_are_recovered_with_their_errors() {
        let points = |p: f64, wobble: f64| {
            let y = |i: i32| 3.0 * 2f64.powi(i).powf(p) * (1.0 + wobble * f64::from(i % 2 * 2 - 1));
            (0..6).map(|i| (2f64.powi(i), y(i))).collect::<Vec<_>>()
        };
        for p in [-1.0, -0.5, 0.0, 2.0] {
            let exact = PowerLaw::fit(&points(p, 0.0));
            assert!((exact.exponent - p).abs() < 1e-14 && exact.error < 1e-14, "{exact:?}");
            let noisy = PowerLaw::fit(&points(p, 0.05));
            let answers = [noisy.is_about(p, 0.2), noisy.is_about(p, 0.0), noisy.is_about(p + 0.5, 0.1)];
            assert_eq!(answers, [Answer::Yes, Answer::Unclear, Answer::No], "{noisy:?}");
            assert!(noisy.error > 1e-3);
        }
        assert!(PowerLaw::fit(&points(1.0, 0.0)[..2]).error.is_infinite());
    }

    #[test]
    fn exponents_have_three_answers() {
        use Answer::{No, Unclear, Yes};
        let fit = |exponent, error| PowerLaw { exponent, error, freedom: 1000 }; // t = 1.962
        assert_eq!([0.04, 0.05, 0.06].map(|s| fit(-1.0, s).is_about(-1.0, 0.1)), [Yes, Yes, Unclear]);
        assert_eq!([0.01, 0.2].map(|s| fit(-0.7, s).is_about(-1.0, 0.1)), [No, Unclear]);
        assert_eq!([1.9, 1.8, 1.6].map(|p| fit(p, 0.05).is_at_least(1.75)), [Yes, Unclear, No]);
        assert_eq!([-0.6, -0.45, -0.2].map(|p| fit(p, 0.05).is_at_most(-0.4)), [Yes, Unclear, No]);
        // four points have two degrees of freedom, and an interval of ± 4.3 standard errors
        let few = |exponent, error| PowerLaw { freedom: 2, ..fit(exponent, error) };
        assert_eq!([0.02, 0.04].map(|s| few(-1.0, s).is_about(-1.0, 0.1)), [Yes, Unclear]);
        assert_eq!([0.05, 0.07].map(|s| few(1.5, s).is_at_least(1.75)), [No, Unclear]);
        for lost in [fit(f64::NAN, 0.1), fit(1.0, f64::NAN), fit(1.0, f64::INFINITY)] {
            let answers = [lost.is_about(1.0, 0.1), lost.is_at_least(0.0), lost.is_at_most(3.0)];
            assert_eq!(answers, [Unclear; 3]);
        }
    }

    #[test]
    fn intervals_of_slopes_cover_as_they_say_however_few_the_points() {
        use oneway::numeric::sample::{Draws, Purpose};
        let covered = |points: u32, doubt: fn(PowerLaw) -> f64| {
            const TRIALS: u64 = 20_000;
            let covers = |trial: &u64| {
                let mut draws = Draws::new(7, Purpose::Noise, points as usize, *trial);
                let noisy = |i: u32| (2f64.powi(i as i32), (0.1 * draws.normal()).exp());
                let fit = PowerLaw::fit(&(0..points).map(noisy).collect::<Vec<_>>());
                fit.exponent.abs() <= doubt(fit)
            };
            (0..TRIALS).filter(covers).count() as f64 / TRIALS as f64
        };
        for points in [4, 5, 6] {
            let students = covered(points, PowerLaw::doubt);
            assert!((students - 0.95).abs() < 0.006, "{points} points: {students}");
            let two = covered(points, |fit| 2.0 * fit.error);
            assert!(two < 0.9, "± 2 standard errors of {points} points: {two}");
        }
    }

    #[test]
    fn intervals_are_students() {
        // mean 3, s² = 2.5, t = 2.776: half = 2.776·√(2.5/5)
        let interval = Interval::new(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(interval.mean, 3.0);
        assert!((interval.half - 1.9632432).abs() < 1e-6);
        assert_eq!(interval.is_negative(), Answer::No);
        assert_eq!(interval.is_within(4.0), Answer::Unclear);
        assert_eq!((interval.is_within(5.0), interval.is_within(1.0)), (Answer::Yes, Answer::No));
        assert!(Interval::new(&[1.0]).is_none());
        assert!((student_975(11) - 2.200985).abs() < 2e-4 && (student_975(60) - 2.000298).abs() < 1e-4);
    }

    #[test]
    fn one_no_settles_it() {
        use Answer::{No, Unclear, Yes};
        assert_eq!(Answer::all([Yes, Yes]), Yes);
        assert_eq!(Answer::all([Yes, Unclear]), Unclear);
        assert_eq!(Answer::all([Unclear, No, Yes]), No);
    }
}
