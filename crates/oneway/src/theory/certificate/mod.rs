//! The certificate: a step size for which SMTPP provably converges on a network, with every number that the
//! proof needs.
//!
//! With 𝒱_k = E F(z̃_k) − F* + pᵀe_k the recursion gives, for k ≥ 1,
//!
//! 𝒱_{k+1} ≤ 𝒱_k − den·E‖∇F(x̄_k)‖² + (pᵀb + Lc_π²η²/n)σ²  if  pᵀ(I − J) ≥ c_dl, p ≥ 0,  den = ηc_π/8 − pᵀh,
//!
//! so that den > 0 and η ≤ 1/(2Lc_π) bound the mean of ‖∇F(x̄_k)‖² over k = 1, …, T. J grows with η, and so
//! do c_dl/η and h: a step below a certified one is certified as well, in the same norms. As η → 0 all
//! conditions hold, so every network has a certified step. It is far below what works in practice: that is
//! the price of a proof by norms.

mod search;
#[cfg(test)]
mod tests;

use faer::Mat;

pub use self::search::{Certifier, Corollary};
use super::contraction::{Contraction, spectral_norm_sq};
pub use super::recursion::{Constants, Lemmas, Recursion, Row, Setting};
use crate::graph::Topology;
use crate::methods::momentum_coefficient;
use crate::{Error, Result};

/// Where a run starts, and its noise: what a bound depends on besides the certificate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    /// F(x₀) − F*.
    pub gap: f64,
    /// ‖∇F(X₀)‖_F² = Σ_i ‖∇f_i(x₀)‖².
    pub gradient_sq: f64,
    /// σ², a bound on E‖∇F_i(x; ξ) − ∇f_i(x)‖².
    pub variance: f64,
}

/// A bound on the mean of E‖∇F(x̄_k)‖² over T rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// 𝒱/(den·T): what the start costs.
    pub transient: f64,
    /// (pᵀb + Lc_π²η²/n)σ²/den: what stays, however long the run.
    pub floor: f64,
}

impl Bound {
    /// Both parts.
    pub fn total(&self) -> f64 {
        self.transient + self.floor
    }
}

/// A step size for which SMTPP provably converges, and the proof's numbers.
#[derive(Debug, Clone)]
pub struct Certificate {
    setting: Setting,
    η: f64,
    constants: Constants,
    pull: Contraction,
    push: Contraction,
    pull_weights: Vec<f64>,
    push_weights: Vec<f64>,
    proof: Proof,
}

/// J, b, h, c_dl with p and den.
#[derive(Debug, Clone, Copy)]
struct Proof {
    recursion: Recursion,
    weights: [f64; 4],
    margin: f64,
}

impl Certificate {
    /// The largest certified raw step on a topology; see [`Certifier::largest`].
    pub fn largest(topology: &Topology, setting: Setting) -> Result<Option<Certificate>> {
        check(setting)?;
        Certifier::new(topology)?.largest(setting)
    }

    /// A certificate for a given raw step on a topology; see [`Certifier::at`].
    pub fn at(topology: &Topology, setting: Setting, η: f64) -> Result<Option<Certificate>> {
        check(setting)?;
        Certifier::new(topology)?.at(setting, η)
    }

    /// η, raw.
    pub fn step(&self) -> f64 {
        self.η
    }

    /// What it is for.
    pub fn setting(&self) -> Setting {
        self.setting
    }

    /// The constants of the topology in its two norms.
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    /// The norms in which R and C contract.
    pub fn norms(&self) -> [&Contraction; 2] {
        [&self.pull, &self.push]
    }

    /// J, b, h and c_dl.
    pub fn recursion(&self) -> &Recursion {
        &self.proof.recursion
    }

    /// J.
    pub fn jacobian(&self) -> [[f64; 4]; 4] {
        self.proof.recursion.jacobian
    }

    /// p = (I − J)⁻ᵀc_dl.
    pub fn weights(&self) -> [f64; 4] {
        self.proof.weights
    }

    /// den = ηc_π/8 − pᵀh > 0.
    pub fn margin(&self) -> f64 {
        self.proof.margin
    }

    /// Mean of E‖∇F(x̄_k)‖² over k = 1, …, T: at most 𝒱₁/(den·T) + (pᵀb + Lc_π²η²/n)σ²/den.
    ///
    /// 𝒱₁ = F(x₀) − F* + pᵀe₁ with what the first round makes of X₀ = 1x₀ᵀ, M₀ = V₀ = 0: X₁ = X₀, M₁ = V₁ =
    /// λG₁, z̃₁ = x₀, so E_x = E_M = 0, E_v ≤ λ²δ_C²‖I − Π_C‖₂²(‖∇F(X₀)‖_F² + nσ²) and E_m ≤
    /// (1−λ)²‖∇F(X₀)‖_F² + λ²nσ².
    pub fn bound(&self, start: Start, rounds: u64) -> Bound {
        let [_, tracking, momentum, _] = self.first_errors(start);
        let [_, p_v, p_m, _] = self.proof.weights;
        self.from(start.gap + p_v * tracking + p_m * momentum, start, rounds)
    }

    /// The same over k = 0, …, T − 1 with 𝒱₀ = F(x₀) − F* + p₃‖∇F(X₀)‖_F², as the paper has it. Not proven:
    /// Lemma 3 fails at k = 0.
    pub fn bound_printed(&self, start: Start, rounds: u64) -> Bound {
        self.from(start.gap + self.proof.weights[2] * start.gradient_sq, start, rounds)
    }

    /// e₁, at most.
    pub fn first_errors(&self, start: Start) -> [f64; 4] {
        let Start { gradient_sq, variance, .. } = start;
        let (λ, n) = (self.setting.momentum, self.constants.agents);
        let sampled = gradient_sq + n * variance; // E‖G₁‖_F²
        let tracking = λ * λ * self.constants.push_delta_sq * self.constants.projection_sq() * sampled;
        [0.0, tracking, (1.0 - λ) * (1.0 - λ) * gradient_sq + λ * λ * n * variance, 0.0]
    }

    fn from(&self, lyapunov: f64, start: Start, rounds: u64) -> Bound {
        let Proof { recursion, weights, margin } = &self.proof;
        Bound {
            transient: lyapunov / (margin * rounds as f64),
            floor: recursion.noise_cost(weights) * start.variance / margin,
        }
    }

    /// Checks the proof from its numbers alone: both norms, the matrices, all constants, J, b, h, c_dl, p ≥
    /// 0, pᵀ(I − J) ≥ c_dl, den > 0 and η ≤ 1/(2Lc_π). The error names what fails. O(n³).
    pub fn recheck(&self) -> Result<()> {
        let failed = |what: String| Err(Error::Uncertified(what));
        check(self.setting)?;
        self.pull.check()?;
        self.push.check()?;
        let pull = with_limit(&self.pull, |_, j| self.pull_weights[j]);
        let push = with_limit(&self.push, |i, _| self.push_weights[i]);
        stochastic(&pull, &self.pull_weights, "R")?;
        stochastic(&push.transpose().to_owned(), &self.push_weights, "C")?;

        let c_pi = crate::graph::perron::c_pi(&self.pull_weights, &self.push_weights);
        let expected = constants(&pull, &self.pull_weights, &self.push_weights, c_pi)?;
        let expected = expected.in_norms(&self.pull, &self.push, &self.push_weights);
        compare("constants", &numbers(&expected), &numbers(&self.constants))?;

        let Proof { recursion, weights, margin } = &self.proof;
        let expected = self.constants.recursion(self.setting, self.η);
        compare("J", expected.jacobian.as_flattened(), recursion.jacobian.as_flattened())?;
        compare("b", &expected.noise, &recursion.noise)?;
        compare("h", &expected.gradient, &recursion.gradient)?;
        compare("c_dl", &expected.descent, &recursion.descent)?;
        compare(
            "Lemma 3",
            &[expected.descent_noise, expected.progress],
            &[recursion.descent_noise, recursion.progress],
        )?;
        for (j, wanted) in recursion.descent.iter().enumerate() {
            if weights[j].is_nan() || weights[j] < 0.0 {
                return failed(format!("p has the negative entry {} at {j}", weights[j]));
            }
            let fed: f64 = (0..4).map(|i| weights[i] * recursion.jacobian[i][j]).sum();
            if weights[j] - fed < wanted - 1e-12 * (weights[j] + fed + wanted) {
                return failed(format!(
                    "pᵀ(I − J) ≥ c_dl fails in column {j}: {} < {wanted}",
                    weights[j] - fed
                ));
            }
        }
        compare("den", &[recursion.margin(weights)], &[*margin])?;
        if *margin <= 0.0 {
            return failed(format!("den = {margin} is not positive"));
        }
        let most = most_step(&self.constants, self.setting);
        if !(self.η > 0.0 && self.η <= most) {
            return failed(format!("the step {} is not in (0, 1/(2Lc_π)] = (0, {most}]", self.η));
        }
        Ok(())
    }
}

fn check(setting: Setting) -> Result<()> {
    let Setting { smoothness, momentum } = setting;
    if !(smoothness > 0.0 && smoothness.is_finite()) {
        let expected = "the Lipschitz constant of the gradients must be a positive number";
        return Err(Error::parameter("certificate", "smoothness", smoothness, expected));
    }
    momentum_coefficient("certificate", momentum).map(drop)
}

/// The constants in the Euclidean norm, and all that do not depend on norms.
fn constants(pull: &Mat<f64>, π_r: &[f64], π_c: &[f64], c_pi: f64) -> Result<Constants> {
    let n = pull.nrows();
    let length_sq = |weights: &[f64]| weights.iter().map(|weight| weight * weight).sum::<f64>();
    Ok(Constants {
        agents: n as f64,
        c_pi,
        pull_rho: 1.0,
        pull_delta_sq: 1.0,
        push_rho: 1.0,
        push_delta_sq: 1.0,
        pull_norm_sq: spectral_norm_sq(pull)?,
        pull_change_sq: spectral_norm_sq(&(pull - Mat::<f64>::identity(n, n)))?.max(0.0),
        pull_weight_sq: length_sq(π_r),
        push_weight_sq: length_sq(π_c),
        push_weight_in_pull_sq: length_sq(π_c),
    })
}

fn numbers(constants: &Constants) -> [f64; 11] {
    let Constants { agents, c_pi, pull_rho, pull_delta_sq, push_rho, push_delta_sq, .. } = *constants;
    let Constants { pull_norm_sq, pull_change_sq, pull_weight_sq, .. } = *constants;
    let Constants { push_weight_sq, push_weight_in_pull_sq, .. } = *constants;
    let norms = [pull_norm_sq, pull_change_sq, pull_weight_sq, push_weight_sq, push_weight_in_pull_sq];
    let [a, b, c, d, e] = norms;
    [agents, c_pi, pull_rho, pull_delta_sq, push_rho, push_delta_sq, a, b, c, d, e]
}

/// 1/(2Lc_π), the most that Lemma 3 allows.
fn most_step(constants: &Constants, setting: Setting) -> f64 {
    0.5 / (setting.smoothness * constants.c_pi)
}

/// The proof for a step, if there is one with these constants.
fn certified(constants: &Constants, setting: Setting, η: f64) -> Option<Proof> {
    if !(η > 0.0 && η <= most_step(constants, setting)) {
        return None;
    }
    let recursion = constants.recursion(setting, η);
    let weights = recursion.weights()?;
    let margin = recursion.margin(&weights);
    (margin > 0.0 && margin.is_finite()).then_some(Proof { recursion, weights, margin })
}

/// R or C back from its deviation.
fn with_limit(norm: &Contraction, limit: impl Fn(usize, usize) -> f64) -> Mat<f64> {
    let a = &norm.deviation;
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] + limit(i, j))
}

/// Whether a matrix is row-stochastic with the given left Perron vector.
fn stochastic(matrix: &Mat<f64>, weights: &[f64], name: &str) -> Result<()> {
    const ROUNDING: f64 = 1e-9; // as mixings are checked
    let n = matrix.nrows();
    let off = |i: usize| {
        let row: f64 = (0..n).map(|j| matrix[(i, j)]).sum();
        let column: f64 = (0..n).map(|j| weights[j] * matrix[(j, i)]).sum();
        let sound = (row - 1.0).abs() <= ROUNDING && (column - weights[i]).abs() <= ROUNDING;
        !(sound && weights[i] >= 0.0 && (0..n).all(|j| matrix[(i, j)] >= -ROUNDING))
    };
    match (0..n).find(|&i| off(i)) {
        Some(i) => {
            Err(Error::Uncertified(format!("{name} is not stochastic with its Perron vector at agent {i}")))
        }
        None => Ok(()),
    }
}

/// Whether stored numbers are what they should be, to nine digits.
fn compare(what: &str, expected: &[f64], stored: &[f64]) -> Result<()> {
    // negated, so that what is not a number differs
    let differs = |(a, b): (&f64, &f64)| !((a - b).abs() <= 1e-9 * a.abs().max(b.abs()) && b.is_finite());
    match expected.iter().zip(stored).position(differs) {
        Some(at) => Err(Error::Uncertified(format!(
            "entry {at} of {what} is {}, but follows as {}",
            stored[at], expected[at]
        ))),
        None => Ok(()),
    }
}
