//! SMTPP, Stochastic Momentum Tracking Push-Pull (Fan, Liao, Xu, Guo & Dian): Algorithm 1.
//!
//! X⁺ = R(X − ηV); M⁺ = (1−λ)M + λG⁺; V⁺ = CV + M⁺ − M, from X₀ = 1x₀ᵀ, M₀ = V₀ = 0. So X₁ = X₀, and the gradient that
//! the paper computes at x₀ before the loop is never used.

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::momentum_coefficient;
use crate::parameters::Parameters;
use crate::row::{self, Width};

/// Tracks momentum rather than gradients; state is (x, v, m).
#[derive(Debug, Clone, PartialEq)]
pub struct Smtpp {
    λ: f64,
}

impl Smtpp {
    /// SMTPP with momentum coefficient λ ∈ (0, 1]; λ = 1 is Push-Pull, one round late.
    pub fn new(λ: f64) -> Result<Self> {
        Ok(Self { λ: momentum_coefficient("SMTPP", λ)? })
    }

    pub(super) fn from_parameters(parameters: &Parameters) -> Result<Box<dyn Method>> {
        Ok(Box::new(Self::new(parameters.real("momentum")?)?))
    }
}

impl Method for Smtpp {
    fn layout(&self) -> Layout {
        Layout { state: Width::vectors(3), pull: Width::vectors(1), push: Width::vectors(1) }
    }

    fn network(&self) -> Network {
        Network::PushPull
    }

    fn roles(&self) -> Roles {
        Roles { tracker: Some(1), tracked: Some(2), momentum: Some(2), ..Roles::default() }
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([x, v, m], []) = row::split_mut(state);
        local.start(x);
        v.fill(0.0);
        m.fill(0.0);
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        let ([x, v, _m], []) = row::split(state);
        row::descend(pull, x, at.η, v); // x − ηv
        push.copy_from_slice(v);
    }

    #[inline(always)]
    fn step(&self, _at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let λ = self.λ;
        let ([x, v, m], []) = row::split_mut(state);
        let g = local.gradient(pulled); //             g⁺ = ∇F_i(x⁺; ξ⁺)
        x.copy_from_slice(pulled); //                  x⁺ = Σ_j R_ij (x_j − η v_j)
        for (((v, m), g), c_v) in v.iter_mut().zip(m).zip(g).zip(pushed) {
            let m_next = (1.0 - λ) * *m + λ * g; //    m⁺ = (1−λ) m + λ g⁺
            *v = c_v + (m_next - *m); //               v⁺ = Σ_j C_ij v_j + m⁺ − m
            *m = m_next;
        }
    }
}
