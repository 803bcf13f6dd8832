//! Momentum from what the network did: QG-DSGDm (Lin, Karimireddy, Stich & Jaggi 2021) and DecentLaM (Yuan et al. 2021).
//!
//! DSGD with a heavy ball of each agent's own gradients pushes agents apart where data differ. Both methods take the momentum
//! from the way that the model went through the network, (x − x after mixing)/η, in place of the agent's own gradient.
//!
//! - **QG-DSGDm**: X½ = X − η(βM + G); X⁺ = WX½; M⁺ = βM + (1−β)(X − X⁺)/η.
//! - **DecentLaM**: G̃ = (X − W(X − ηG))/η; M⁺ = βM + G̃; X⁺ = X − ηM⁺. At a constant η that is DSGD with a heavy ball around
//!   the mixing, X⁺ = W(X − ηG) + β(X − X⁻).
//!
//! M₀ = 0, and η is that of the round. A doubly stochastic W is all that the rules ask for: it keeps the mean. β = 0 is DSGD
//! in both. Neither corrects DSGD's own bias.

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::{HEAVY_BALL, Kind, Trust, heavy_ball_coefficient, slope};
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;

/// DSGD with a momentum that the agents share in part; state is (x, m, g).
#[derive(Debug, Clone, PartialEq)]
pub struct GlobalMomentum {
    β: f64,
    rule: Rule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    QuasiGlobal,
    DecentLam,
}

impl GlobalMomentum {
    /// QG-DSGDm with β ∈ [0, 1).
    pub fn quasi_global(β: f64) -> Result<Self> {
        Ok(Self { β: heavy_ball_coefficient("QG-DSGDm", β)?, rule: Rule::QuasiGlobal })
    }

    /// DecentLaM with β ∈ [0, 1).
    pub fn decent_lam(β: f64) -> Result<Self> {
        Ok(Self { β: heavy_ball_coefficient("DecentLaM", β)?, rule: Rule::DecentLam })
    }
}

impl Method for GlobalMomentum {
    fn layout(&self, _problem: &dyn Problem) -> Layout {
        Layout { state: Width::vectors(3), pull: Width::vectors(1), push: Width::NONE }
    }

    fn network(&self) -> Network {
        Network::Balanced
    }

    fn roles(&self) -> Roles {
        Roles::default()
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([x, m, g], []) = row::split_mut(state);
        local.start(x);
        m.fill(0.0);
        g.copy_from_slice(local.gradient(x));
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], _push: &mut [f64]) {
        let ([x, m, g], []) = row::split(state);
        match self.rule {
            Rule::DecentLam => row::descend(pull, x, at.η, g), // x − ηg
            Rule::QuasiGlobal => {
                for (((pull, x), m), g) in pull.iter_mut().zip(x).zip(m).zip(g) {
                    *pull = x - at.η * (self.β * m + g); // x½ = x − η(βm + g)
                }
            }
        }
    }

    #[inline(always)]
    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], _pushed: &[f64], local: &mut Local<'_>) {
        let (η, β) = (at.η, self.β);
        let ([x, m, g], []) = row::split_mut(state);
        for ((x, m), mixed) in x.iter_mut().zip(m).zip(pulled) {
            let went = slope(*x, *mixed, η, 0.0); // (x − Σ_j W_ij pull_j)/η
            match self.rule {
                Rule::QuasiGlobal => {
                    *m = β * *m + (1.0 - β) * went; // m⁺ = βm + (1−β)(x − x⁺)/η
                    *x = *mixed; //                    x⁺ = Σ_j W_ij x½_j
                }
                Rule::DecentLam => {
                    *x = mixed - η * (β * *m); //      x⁺ = x − η(βm + g̃), and x − ηg̃ is what arrived
                    *m = β * *m + went; //             m⁺ = βm + g̃
                }
            }
        }
        g.copy_from_slice(local.gradient(x)); // g⁺ = ∇F_i(x⁺; ξ⁺)
    }
}

pub(super) const QG_DSGDM: Kind = Kind {
    name: "qg-dsgdm",
    about: "DSGD with quasi-global momentum: momentum from the way through the network",
    rule: "X½ = X − η(βM + G); X⁺ = WX½; M⁺ = βM + (1−β)(X − X⁺)/η",
    reference: "Lin, Karimireddy, Stich & Jaggi 2021",
    trust: Trust::A,
    network: Network::Balanced,
    graphs: &[Subgraph::Full],
    parameters: &[HEAVY_BALL],
    build: |parameters| Ok(Box::new(GlobalMomentum::quasi_global(parameters.real("heavy_ball")?)?)),
    with_estimator: None,
};

pub(super) const DECENTLAM: Kind = Kind {
    name: "decentlam",
    about: "DecentLaM: DSGD with a heavy ball around the mixing, which adds no bias of its own",
    rule: "G̃ = (X − W(X − ηG))/η; M⁺ = βM + G̃; X⁺ = X − ηM⁺",
    reference: "Yuan, Chen, Huang, Zhang, Pan, Xu & Yin 2021",
    build: |parameters| Ok(Box::new(GlobalMomentum::decent_lam(parameters.real("heavy_ball")?)?)),
    ..QG_DSGDM
};
