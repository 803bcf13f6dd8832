//! Rows drawn at random, with real targets that are nearly linear in them.

use super::{Dataset, SparseRows};
use crate::numeric::sample::{Draws, Purpose};
use crate::{Error, Result};

/// Among the streams of [`Purpose::Problem`]: those of w*, of the agents' own w_i, and of the rows.
const TRUTH_ROUND: u64 = 2;
const AGENT_ROUND: u64 = 3;
const ROW_ROUND: u64 = 4;

/// How far off an outlier is, beside targets of size 1.
const OUTLIER: f64 = 10.0;

/// A regression that is known: b = aᵀw_i + σε for a row of agent i, with a ~ N(0, I) and ε ~ N(0, 1).
///
/// w_i = w* + ζu_i with Σ u_i = 0; w* and the u_i are N(0, I/d) before they are centred, so that aᵀw* has
/// variance 1 and σ and ζ are measured against it. With probability p a row is an outlier: its target is off
/// by another N(0, 10²).
///
/// Rows come in the order of the agents, ⌊N/n⌋ for each: split evenly, every agent gets those of its own w_i;
/// shuffled, all get a mixture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Synthetic {
    /// Rows of all agents, N.
    pub rows: usize,
    /// Features, d.
    pub features: usize,
    /// σ ≥ 0: the noise of targets.
    pub noise: f64,
    /// p, from 0 to 1: the share of outliers.
    pub outliers: f64,
    /// ζ ≥ 0: how far the agents' own weights lie from the common ones.
    pub heterogeneity: f64,
}

impl Synthetic {
    /// Draws the rows of `agents` agents from `seed`. O(rows·features).
    ///
    /// ```
    /// use oneway::data::Synthetic;
    /// let shape = Synthetic { rows: 100, features: 5, noise: 0.1, outliers: 0.05, heterogeneity: 1.0 };
    /// let data = shape.draw(4, 1)?;
    /// assert_eq!((data.len(), data.features), (100, 5));
    /// # Ok::<(), oneway::Error>(())
    /// ```
    pub fn draw(&self, agents: usize, seed: u64) -> Result<Dataset> {
        self.check(agents)?;
        let &Self { rows: count, features, noise, outliers, .. } = self;
        let weights = self.weights(agents, seed);
        let each = count / agents;
        let (mut rows, mut labels, mut a) = (SparseRows::new(), vec![], vec![0.0; features]);
        for r in 0..count {
            let mut draws = Draws::new(seed, Purpose::Problem, r, ROW_ROUND);
            draws.normals(&mut a);
            let agent = (r / each).min(agents - 1);
            let mut target = 0.0;
            a.iter().zip(&weights[agent * features..]).for_each(|(a, w)| target += a * w);
            target += noise * draws.normal();
            if draws.unit() < outliers {
                target += OUTLIER * draws.normal();
            }
            labels.push(target);
            rows.push((0..).zip(a.iter().copied()));
        }
        Ok(Dataset { features, labels, rows })
    }

    /// w_i of all agents, one after another.
    fn weights(&self, agents: usize, seed: u64) -> Vec<f64> {
        let (d, scale) = (self.features, 1.0 / libm::sqrt(self.features as f64));
        let drawn = |agent, round| {
            let mut w = vec![0.0; d];
            Draws::new(seed, Purpose::Problem, agent, round).normals(&mut w);
            w
        };
        let truth = drawn(0, TRUTH_ROUND);
        let own: Vec<Vec<f64>> = (0..agents).map(|agent| drawn(agent, AGENT_ROUND)).collect();
        let mean = |k: usize| own.iter().map(|u| u[k]).sum::<f64>() / agents as f64;
        let means: Vec<f64> = (0..d).map(mean).collect();
        let weight = |(k, u): (usize, &f64)| scale * (truth[k] + self.heterogeneity * (u - means[k]));
        own.iter().flat_map(|u| u.iter().enumerate().map(weight)).collect()
    }

    fn check(&self, agents: usize) -> Result<()> {
        let invalid =
            |name, value: f64, expected: &str| Err(Error::parameter("problem", name, value, expected));
        if agents == 0 {
            return Err(Error::parameter("run", "agents", agents, "there must be at least one agent"));
        }
        if self.rows < agents {
            return Err(Error::TooFewRows { agents, rows: self.rows });
        }
        if self.features == 0 {
            return invalid("features", 0.0, "there must be at least one feature");
        }
        let most = u32::MAX as usize;
        let fits = |count: usize| count.checked_mul(self.features).is_some_and(|numbers| numbers <= most);
        if !fits(self.rows) || !fits(agents) {
            return invalid("rows", self.rows as f64, "rows times features must be below 2³²");
        }
        for (name, value) in [("noise", self.noise), ("heterogeneity", self.heterogeneity)] {
            if !(value >= 0.0 && value.is_finite()) {
                return invalid(name, value, "it must be 0 or more");
            }
        }
        match (0.0..=1.0).contains(&self.outliers) {
            true => Ok(()),
            false => invalid("outliers", self.outliers, "a share is from 0 to 1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Synthetic =
        Synthetic { rows: 4000, features: 5, noise: 0.0, outliers: 0.0, heterogeneity: 0.0 };

    fn variance(values: impl Iterator<Item = f64> + Clone) -> f64 {
        let count = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / count;
        values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / count
    }

    /// Rows and targets are those without noise, plus what is asked for and nothing else.
    #[test]
    fn noise_and_outliers_have_their_sizes() {
        let plain = SHAPE.draw(4, 1).unwrap();
        let noisy = Synthetic { noise: 0.5, ..SHAPE }.draw(4, 1).unwrap();
        assert_eq!(plain.rows, noisy.rows);
        let off = noisy.labels.iter().zip(&plain.labels).map(|(a, b)| a - b);
        assert!((variance(off) / 0.25 - 1.0).abs() < 0.1);
        let spoilt = Synthetic { outliers: 0.1, ..SHAPE }.draw(4, 1).unwrap();
        let off: Vec<f64> = spoilt.labels.iter().zip(&plain.labels).map(|(a, b)| a - b).collect();
        let outliers = off.iter().filter(|off| **off != 0.0).count();
        assert!((300..500).contains(&outliers), "{outliers} of 4000");
        assert!((variance(off.into_iter().filter(|off| *off != 0.0)) / 100.0 - 1.0).abs() < 0.3);
    }

    #[test]
    fn agents_differ_only_if_they_are_asked_to() {
        let alike = SHAPE.weights(4, 1);
        assert!(alike.chunks_exact(5).all(|w| w == &alike[..5]));
        let shape = Synthetic { heterogeneity: 2.0, ..SHAPE };
        let apart = shape.weights(4, 1);
        assert!(apart.chunks_exact(5).skip(1).all(|w| w != &apart[..5]));
        for k in 0..5 {
            let mean = (0..4).map(|i| apart[i * 5 + k]).sum::<f64>() / 4.0;
            assert!((mean - alike[k]).abs() < 1e-14, "the common weights are the mean");
        }
        // each row is of its agent, the remainder of the last
        let data = Synthetic { rows: 11, ..shape }.draw(4, 1).unwrap();
        for r in 0..11 {
            let w = &apart[(r / 2).min(3) * 5..][..5];
            let expected: f64 = data.rows.row(r).map(|(column, a)| a * w[column as usize]).sum();
            assert!((data.labels[r] - expected).abs() < 1e-13, "row {r}");
        }
    }

    #[test]
    fn impossible_shapes_are_refused() {
        for (shape, words) in [
            (Synthetic { rows: 3, ..SHAPE }, "4 agents cannot share 3 rows"),
            (Synthetic { features: 0, ..SHAPE }, "`features` = 0"),
            (Synthetic { rows: usize::MAX, ..SHAPE }, "below 2³²"),
            (Synthetic { noise: f64::NAN, ..SHAPE }, "`noise` = NaN"),
            (Synthetic { heterogeneity: -1.0, ..SHAPE }, "`heterogeneity` = -1"),
            (Synthetic { outliers: 1.5, ..SHAPE }, "`outliers` = 1.5"),
        ] {
            let error = shape.draw(4, 1).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert!(SHAPE.draw(0, 1).is_err());
    }
}
