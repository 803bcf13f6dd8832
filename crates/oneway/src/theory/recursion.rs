//! Lemmas 3 to 7 as numbers: how the four errors of SMTPP feed each other in one round.
//!
//! The errors are e = (E_x, E_v, E_m, E_M): consensus E‖X − Π_R X‖_R², tracking E‖V − Π_C V‖_C², momentum
//! E‖M − ∇F(X)‖_F², and E_M,k = E‖m̄_{k−1}‖². One round gives e⁺ ≤ J e + bσ² + h‖∇F(x̄)‖² in every entry.
//!
//! Three places differ from what the paper prints:
//! - ‖V‖_F² ≤ 2E_v + 2n²‖π_C‖²‖m̄‖² in Lemma 6, where n stands in place of n²‖π_C‖² (less, unless π_C is
//!   uniform);
//! - the fourth row's noise is λ²σ²/n throughout: the noise of a round is independent of the past;
//! - the descent lemma keeps the factor (1−λ)² of its last coefficient, and holds from k = 1 on only: at k =
//!   0 nothing moves (V₀ = M₀ = 0), so F(z̃₁) = F(z̃₀), while its right side has gone down by
//!   (ηc_π/8)‖∇F(x₀)‖².

use super::contraction::Contraction;

/// Whether a topology's constants are for one agent, which has no one to disagree with.
fn alone(agents: f64) -> bool {
    agents <= 1.0
}

/// What a certificate is for, besides the topology.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// L > 0: all ∇f_i are L-Lipschitz.
    pub smoothness: f64,
    /// λ ∈ (0, 1].
    pub momentum: f64,
}

/// All that the recursion needs to know of (R, C, ρ_R, ρ_C).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// n.
    pub agents: f64,
    /// c_π = nπ_Rᵀπ_C.
    pub c_pi: f64,
    /// ρ_R.
    pub pull_rho: f64,
    /// δ_R².
    pub pull_delta_sq: f64,
    /// ρ_C.
    pub push_rho: f64,
    /// δ_C².
    pub push_delta_sq: f64,
    /// ‖R‖₂².
    pub pull_norm_sq: f64,
    /// ‖R − I‖₂².
    pub pull_change_sq: f64,
    /// ‖π_R‖².
    pub pull_weight_sq: f64,
    /// ‖π_C‖².
    pub push_weight_sq: f64,
    /// ‖π_C‖_R².
    pub push_weight_in_pull_sq: f64,
}

impl Constants {
    /// a_R = (1 + ρ_R²)/2: what is left of the consensus error after a round.
    pub fn consensus_rate(&self) -> f64 {
        0.5 * (1.0 + self.pull_rho * self.pull_rho)
    }

    /// a_C = (1 + ρ_C²)/2: what is left of the tracking error after a round.
    pub fn tracking_rate(&self) -> f64 {
        0.5 * (1.0 + self.push_rho * self.push_rho)
    }

    /// c̃₁ = ρ_R²(1 + ρ_R²)/(1 − ρ_R²).
    pub fn consensus_gain(&self) -> f64 {
        let ρ_sq = self.pull_rho * self.pull_rho;
        ρ_sq * (1.0 + ρ_sq) / (1.0 - ρ_sq)
    }

    /// ‖I − Π_C‖₂² = n‖π_C‖²: an oblique projection of rank one and its complement have the same norm. 0 for
    /// one agent.
    pub fn projection_sq(&self) -> f64 {
        if alone(self.agents) { 0.0 } else { self.agents * self.push_weight_sq }
    }

    /// C_tr = 2δ_C²‖I − Π_C‖₂²/(1 − ρ_C²).
    pub fn tracking_gain(&self) -> f64 {
        2.0 * self.push_delta_sq * self.projection_sq() / (1.0 - self.push_rho * self.push_rho)
    }

    /// c_z = (1/c_π + Lη)c_E of Lemma 3, with c_E = ‖π_R‖²: ‖π_Rᵀ(V − Π_C V)‖² ≤ ‖π_R‖²E_v.
    pub fn mismatch(&self, smoothness: f64, η: f64) -> f64 {
        (1.0 / self.c_pi + smoothness * η) * self.pull_weight_sq
    }

    /// Lemmas 4, 5 and 6 for a raw step η.
    pub fn lemmas(&self, setting: Setting, η: f64) -> Lemmas {
        let Setting { smoothness: l, momentum: λ } = setting;
        let (η_sq, λ_sq, l_sq) = (η * η, λ * λ, l * l);
        let n = self.agents;
        let spread = n * n * self.push_weight_sq; // ‖Π_C V‖_F² = n²‖π_C‖²‖m̄‖²
        let (moved, mixed) = (self.pull_change_sq, self.pull_norm_sq);
        let c_1 = self.consensus_gain();
        let c_tr = self.tracking_gain();
        let drift = 2.0 * (1.0 - λ) * (1.0 - λ) * l_sq / λ;
        Lemmas {
            consensus: Row {
                errors: [self.consensus_rate(), 2.0 * c_1 * self.pull_delta_sq * η_sq, 0.0],
                momentum: 2.0 * c_1 * n * n * self.push_weight_in_pull_sq * η_sq,
                noise: 0.0,
            },
            tracking: Row {
                errors: [
                    6.0 * c_tr * l_sq * moved * λ_sq,
                    self.tracking_rate() + 12.0 * c_tr * l_sq * mixed * η_sq * λ_sq,
                    3.0 * c_tr * λ_sq,
                ],
                momentum: 12.0 * c_tr * l_sq * mixed * spread * η_sq * λ_sq,
                noise: 3.0 * c_tr * n * λ_sq,
            },
            momentum: Row {
                errors: [drift * moved, 2.0 * drift * mixed * η_sq, 1.0 - λ],
                momentum: 2.0 * drift * mixed * spread * η_sq,
                noise: λ_sq * n,
            },
        }
    }

    /// J, b, h and c_dl for a raw step η.
    pub fn recursion(&self, setting: Setting, η: f64) -> Recursion {
        let Setting { smoothness: l, momentum: λ } = setting;
        let (n, c_pi, l_sq) = (self.agents, self.c_pi, l * l);
        let Lemmas { consensus, tracking, momentum } = self.lemmas(setting, η);
        let rows = [consensus, tracking, momentum];
        let [x, v, m] = rows.map(|row| row.closed(n, l_sq));
        let lag = c_pi * η * (1.0 - λ) / λ; // z̃ = x̄ − lag·m̄
        Recursion {
            jacobian: [x, v, m, [2.0 * l_sq * λ / n, 0.0, 0.0, 1.0 - λ]],
            noise: [consensus.noise, tracking.noise, momentum.noise, λ * λ / n],
            gradient: [4.0 * consensus.momentum, 4.0 * tracking.momentum, 4.0 * momentum.momentum, 2.0 * λ],
            descent: [l_sq * η * c_pi / n, self.mismatch(l, η) * η, 0.0, 1.25 * l_sq * c_pi * η * lag * lag],
            descent_noise: l * c_pi * c_pi * η * η / n,
            progress: η * c_pi / 8.0,
        }
    }

    /// The constants of a topology's matrices, in the norms given.
    pub(super) fn in_norms(self, pull: &Contraction, push: &Contraction, push_weights: &[f64]) -> Self {
        Self {
            pull_rho: pull.rho(),
            pull_delta_sq: pull.delta_sq(),
            push_rho: push.rho(),
            push_delta_sq: push.delta_sq(),
            push_weight_in_pull_sq: pull.norm_sq(push_weights),
            ..self
        }
    }
}

/// The right side of one of Lemmas 4 to 6: coefficients of E_x, E_v, E_m, of E‖m̄_k‖² and of σ².
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Of E_x, E_v and E_m.
    pub errors: [f64; 3],
    /// Of E‖m̄_k‖².
    pub momentum: f64,
    /// Of σ².
    pub noise: f64,
}

impl Row {
    /// The right side for errors (E_x, E_v, E_m), E‖m̄_k‖² and σ².
    pub fn bound(&self, errors: [f64; 3], momentum: f64, variance: f64) -> f64 {
        let fed: f64 = self.errors.iter().zip(errors).map(|(coefficient, error)| coefficient * error).sum();
        fed + self.momentum * momentum + self.noise * variance
    }

    /// A row of J: E‖m̄_k‖² ≤ (2/n)E_m + (4L²/n)E_x + 4‖∇F‖² put in.
    fn closed(&self, n: f64, l_sq: f64) -> [f64; 4] {
        let [x, v, m] = self.errors;
        [x + self.momentum * 4.0 * l_sq / n, v, m + self.momentum * 2.0 / n, 0.0]
    }
}

/// Lemmas 4, 5 and 6 with their numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lemmas {
    /// Lemma 4, of E_x.
    pub consensus: Row,
    /// Lemma 5, of E_v.
    pub tracking: Row,
    /// Lemma 6, of E_m.
    pub momentum: Row,
}

/// Lemma 7 and the coefficients of Lemma 3: e⁺ ≤ J e + bσ² + h‖∇F‖² and
/// F(z̃⁺) ≤ F(z̃) − (ηc_π/8)‖∇F‖² + c_dlᵀe + (Lc_π²η²/n)σ².
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recursion {
    /// J.
    pub jacobian: [[f64; 4]; 4],
    /// b.
    pub noise: [f64; 4],
    /// h.
    pub gradient: [f64; 4],
    /// c_dl.
    pub descent: [f64; 4],
    /// Lc_π²η²/n.
    pub descent_noise: f64,
    /// ηc_π/8.
    pub progress: f64,
}

impl Recursion {
    /// p = (I − J)⁻ᵀc_dl, the smallest p ≥ 0 with pᵀ(I − J) ≥ c_dl; `None` unless ρ(J) < 1.
    ///
    /// J is non-negative, so ρ(J) < 1 if and only if elimination without exchanges meets positive pivots
    /// alone.
    pub fn weights(&self) -> Option<[f64; 4]> {
        let mut rows = [[0.0; 5]; 4]; // (I − J)ᵀ | c_dl
        for (i, row) in rows.iter_mut().enumerate() {
            for (j, entry) in row[..4].iter_mut().enumerate() {
                *entry = f64::from(i == j) - self.jacobian[j][i];
            }
            row[4] = self.descent[i];
        }
        for pivot in 0..4 {
            let upper = rows[pivot];
            if !(upper[pivot] > 0.0 && upper.iter().all(|entry| entry.is_finite())) {
                return None;
            }
            for row in &mut rows[pivot + 1..] {
                let factor = row[pivot] / upper[pivot];
                row.iter_mut().zip(upper).for_each(|(entry, above)| *entry -= factor * above);
            }
        }
        let mut p = [0.0; 4];
        for i in (0..4).rev() {
            let known: f64 = (i + 1..4).map(|j| rows[i][j] * p[j]).sum();
            p[i] = (rows[i][4] - known) / rows[i][i];
        }
        p.iter().all(|weight| *weight >= 0.0 && weight.is_finite()).then_some(p)
    }

    /// den = ηc_π/8 − pᵀh: what is left of a round's progress.
    pub fn margin(&self, weights: &[f64; 4]) -> f64 {
        self.progress - dot(weights, &self.gradient)
    }

    /// pᵀb + Lc_π²η²/n: what a round's noise costs.
    pub fn noise_cost(&self, weights: &[f64; 4]) -> f64 {
        dot(weights, &self.noise) + self.descent_noise
    }
}

pub(super) fn dot(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
