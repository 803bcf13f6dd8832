//! Momentum from what the network did: QG-DSGDm (Lin, Karimireddy, Stich & Jaggi 2021) and DecentLaM (Yuan et
//! al. 2021).
//!
//! DSGD with a heavy ball of each agent's own gradients pushes agents apart where data differ. Both methods
//! take the momentum from the way that the model went through the network, (x − x after mixing)/η, in place
//! of the agent's own gradient.
//!
//! - **QG-DSGDm**: X½ = X − η(βM + G); X⁺ = WX½; M⁺ = βM + (1−β)(X − X⁺)/η.
//! - **DecentLaM**: G̃ = (X − W(X − ηG))/η; M⁺ = βM + G̃; X⁺ = X − ηM⁺. At a constant η that is DSGD with a
//!   heavy ball around the mixing, X⁺ = W(X − ηG) + β(X − X⁻).
//!
//! M₀ = 0, and η is that of the round. A doubly stochastic W is all that the rules ask for: it keeps the
//! mean. β = 0 is DSGD in both. Neither corrects DSGD's own bias.

use crate::Result;
use crate::method::{At, Mail, Network, Profile, Rule};
use crate::methods::{HEAVY_BALL, Kind, Trust, heavy_ball_coefficient, slope};
use crate::numeric::Real;

/// DSGD with a momentum that the agents share in part; state is (x, m, g).
#[derive(Debug, Clone, PartialEq)]
pub struct GlobalMomentum {
    β: f64,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    QuasiGlobal,
    DecentLam,
}

impl GlobalMomentum {
    /// QG-DSGDm with β ∈ [0, 1).
    pub fn quasi_global(β: f64) -> Result<Self> {
        Ok(Self { β: heavy_ball_coefficient("QG-DSGDm", β)?, form: Form::QuasiGlobal })
    }

    /// DecentLaM with β ∈ [0, 1).
    pub fn decent_lam(β: f64) -> Result<Self> {
        Ok(Self { β: heavy_ball_coefficient("DecentLaM", β)?, form: Form::DecentLam })
    }
}

impl Rule for GlobalMomentum {
    type State<S: Real> = [S; 3];
    type Pull<S: Real> = S;
    type Push<S: Real> = ();
    const NAMES: &'static [&'static str] = &["x", "m", "g"];

    fn profile(&self) -> Profile {
        Profile::new(Network::Balanced)
    }

    #[inline(always)]
    fn start<S: Real>(&self, _: At<S>, x: S, [g, _]: [S; 2]) -> [S; 3] {
        [x, S::zero(), g]
    }

    #[inline(always)]
    fn send<S: Real>(&self, at: At<S>, [x, m, g]: [S; 3]) -> Mail<S, ()> {
        let pull = match self.form {
            Form::QuasiGlobal => x - at.η * (S::parameter("β", self.β) * m + g), // x½ = x − η(βm + g)
            Form::DecentLam => x - at.η * g,
        };
        Mail { pull, push: () }
    }

    #[inline(always)]
    fn points<S: Real>(&self, at: At<S>, [x, m, _g]: [S; 3], heard: Mail<S, ()>) -> [S; 2] {
        let x_next = match self.form {
            Form::QuasiGlobal => heard.pull, // x⁺ = Σ_j W_ij x½_j
            // x⁺ = x − η(βm + g̃), and x − ηg̃ is what arrived
            Form::DecentLam => heard.pull - at.η * (S::parameter("β", self.β) * m),
        };
        [x_next, x]
    }

    #[inline(always)]
    fn update<S: Real>(&self, at: At<S>, state: [S; 3], heard: Mail<S, ()>, [g_next, _]: [S; 2]) -> [S; 3] {
        let ([x, m, _g], [x_next, _]) = (state, self.points(at, state, heard));
        let β = S::parameter("β", self.β);
        let went = slope(x, heard.pull, at.η, S::zero()); // (x − Σ_j W_ij pull_j)/η
        let m_next = match self.form {
            Form::QuasiGlobal => β * m + (S::one() - β) * went, // m⁺ = βm + (1−β)(x − x⁺)/η
            Form::DecentLam => β * m + went,                    //                    m⁺ = βm + g̃
        };
        [x_next, m_next, g_next]
    }
}

pub(super) const QG_DSGDM: Kind = Kind {
    reference: "Lin, Karimireddy, Stich & Jaggi 2021",
    trust: Trust::A,
    parameters: &[HEAVY_BALL],
    ..Kind::new(
        "qg-dsgdm",
        "DSGD with quasi-global momentum: momentum from the way through the network",
        |parameters| Ok(Box::new(GlobalMomentum::quasi_global(parameters.real("heavy_ball")?)?)),
    )
};

pub(super) const DECENTLAM: Kind = Kind {
    name: "decentlam",
    about: "DecentLaM: DSGD with a heavy ball around the mixing, which adds no bias of its own",
    reference: "Yuan, Chen, Huang, Zhang, Pan, Xu & Yin 2021",
    build: |parameters| Ok(Box::new(GlobalMomentum::decent_lam(parameters.real("heavy_ball")?)?)),
    ..QG_DSGDM
};
