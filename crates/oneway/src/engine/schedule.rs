//! Step sizes: η_k, the step of the round that turns state k into state k + 1.

use crate::{Error, Result};

/// How the step size goes down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// η_k = η.
    Constant,
    /// η_k = η·factor^⌊k/every⌋.
    Decay {
        /// What each plateau is multiplied by, in (0, 1].
        factor: f64,
        /// Length of a plateau in rounds.
        every: u64,
    },
    /// η_k = η/√(k+1).
    InverseSqrt,
    /// η_k = η·½(1 + cos(πk/T)).
    Cosine {
        /// T, the length of the run.
        rounds: u64,
    },
}

/// A step-size schedule: a size, a shape, and a linear warm-up over the first rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    size: f64,
    shape: Shape,
    warmup: u64,
}

impl Schedule {
    /// A schedule with `size` > 0; in the first `warmup` rounds it is multiplied by (k+1)/warmup.
    ///
    /// ```
    /// use oneway::engine::schedule::{Schedule, Shape};
    /// let steps = Schedule::new(0.2, Shape::Decay { factor: 0.1, every: 300 }, 0).unwrap();
    /// assert_eq!([steps.at(0), steps.at(299), steps.at(300)], [0.2, 0.2, 0.2 * 0.1]);
    /// ```
    pub fn new(size: f64, shape: Shape, warmup: u64) -> Result<Self> {
        if !(size > 0.0 && size.is_finite()) {
            return Err(Error::parameter("step", "size", size, "a step size must be a positive number"));
        }
        if let Shape::Decay { factor, every } = shape {
            if !(factor > 0.0 && factor <= 1.0) {
                return Err(Error::parameter("step", "decay", factor, "the factor must be in (0, 1]"));
            }
            if every == 0 {
                return Err(Error::parameter("step", "every", every, "a plateau has at least one round"));
            }
        }
        if let Shape::Cosine { rounds: 0 } = shape {
            return Err(Error::parameter("step", "rounds", 0, "a cosine goes down over at least one round"));
        }
        Ok(Self { size, shape, warmup })
    }

    /// The same η in every round.
    pub fn constant(size: f64) -> Result<Self> {
        Self::new(size, Shape::Constant, 0)
    }

    /// η, if it is the same in every round.
    ///
    /// ```
    /// use oneway::engine::schedule::{Schedule, Shape};
    /// assert_eq!(Schedule::constant(0.1)?.as_constant(), Some(0.1));
    /// assert_eq!(Schedule::new(0.1, Shape::InverseSqrt, 0)?.as_constant(), None);
    /// # Ok::<(), oneway::Error>(())
    /// ```
    pub fn as_constant(&self) -> Option<f64> {
        (self.shape == Shape::Constant && self.warmup <= 1).then_some(self.size)
    }

    /// What it was made of: size, shape and warm-up, to be written down and made again.
    pub fn parts(&self) -> (f64, Shape, u64) {
        (self.size, self.shape, self.warmup)
    }

    /// The same schedule with every step divided by `divisor` > 0 (by c_π, for effective steps).
    pub fn divided_by(self, divisor: f64) -> Result<Self> {
        Self::new(self.size / divisor, self.shape, self.warmup)
    }

    /// η_k. `cos` and powers come from `libm`, so that every machine has the same bits.
    pub fn at(&self, k: u64) -> f64 {
        let η = match self.shape {
            Shape::Constant => self.size,
            Shape::Decay { factor, every } => match k / every {
                0 => self.size,
                plateau => self.size * libm::pow(factor, plateau as f64),
            },
            Shape::InverseSqrt => self.size / libm::sqrt(k as f64 + 1.0),
            Shape::Cosine { rounds } => {
                let progress = (k as f64 / rounds as f64).min(1.0); // at its end it stays at 0
                self.size * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * progress))
            }
        };
        if k < self.warmup { η * ((k + 1) as f64 / self.warmup as f64) } else { η }
    }
}

impl Schedule {
    /// The largest of η_0, …, η_{rounds−1}: it must be stable. After the warm-up no shape goes up.
    pub fn largest(&self, rounds: u64) -> f64 {
        (0..=self.warmup.min(rounds.saturating_sub(1))).map(|k| self.at(k)).fold(0.0, f64::max)
    }
}

/// The corollary's coupling for n agents and T rounds: (√(n/T), (n/T)^¼), the factor of η and the value of λ.
///
/// T ≥ n, for else λ would be above 1.
pub fn corollary(agents: usize, rounds: u64) -> Result<(f64, f64)> {
    if agents == 0 || rounds < agents as u64 {
        let expected = format!(
            "the corollary holds for T ≥ n, at least as many iterations as agents: give {agents} or more for {agents} agents"
        );
        return Err(Error::parameter("run", "iterations", rounds, expected));
    }
    let root = libm::sqrt(agents as f64 / rounds as f64);
    Ok((root, libm::sqrt(root)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_follow_their_formulas() {
        let at = |shape, warmup, k| Schedule::new(2.0, shape, warmup).unwrap().at(k);
        assert_eq!(at(Shape::Constant, 0, 1_000_000), 2.0);
        assert_eq!(at(Shape::Constant, 4, 0), 0.5);
        assert_eq!(at(Shape::Constant, 4, 3), 2.0);
        assert_eq!(at(Shape::InverseSqrt, 0, 3), 1.0);
        assert_eq!(at(Shape::Cosine { rounds: 100 }, 0, 0), 2.0);
        assert!((at(Shape::Cosine { rounds: 100 }, 0, 50) - 1.0).abs() < 1e-15);
        assert_eq!(at(Shape::Cosine { rounds: 100 }, 0, 150), 0.0);
        assert_eq!(at(Shape::Decay { factor: 0.5, every: 10 }, 0, 39), 0.25);
        assert_eq!(corollary(20, 320).unwrap(), (0.25, 0.5));
    }

    #[test]
    fn the_largest_step_is_that_of_all_rounds() {
        let shapes = [
            Shape::Constant,
            Shape::Decay { factor: 0.5, every: 7 },
            Shape::InverseSqrt,
            Shape::Cosine { rounds: 40 },
        ];
        for shape in shapes {
            for (warmup, rounds) in [(0, 40), (1, 40), (10, 40), (40, 40), (100, 40), (5, 1)] {
                let steps = Schedule::new(2.0, shape, warmup).unwrap();
                let largest = (0..rounds).map(|k| steps.at(k)).fold(0.0, f64::max);
                assert_eq!(steps.largest(rounds), largest, "{shape:?}, {warmup} of {rounds}");
            }
        }
    }

    #[test]
    fn bad_steps_are_refused_by_name() {
        for size in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let message = Schedule::constant(size).unwrap_err().to_string();
            assert!(message.contains("`size`") && message.contains("positive"), "{message}");
        }
        assert!(Schedule::new(1.0, Shape::Decay { factor: 1.5, every: 3 }, 0).is_err());
        assert!(Schedule::new(1.0, Shape::Decay { factor: 0.5, every: 0 }, 0).is_err());
        assert!(Schedule::new(1.0, Shape::Cosine { rounds: 0 }, 0).is_err() && corollary(0, 0).is_err());
        assert!(corollary(20, 19).unwrap_err().to_string().contains("give 20 or more for 20 agents"));
    }
}
