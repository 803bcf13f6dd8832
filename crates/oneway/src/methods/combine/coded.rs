//! The compressed methods of the literature: each is a method, a codec and what is done with the code.
//!
//! With p + γ(p̂w − p̂) in the place of Wp (see [`Compressed`]) a round of AB on one W is
//!
//! X⁺ = X − γ(X̂ − X̂w) − ηV; V⁺ = V − γ(V̂ − V̂w) + M⁺ − M,
//!
//! and X̂ is what C-GT's COMM makes of X: Q = 𝒞(X − H), X̂ = H + Q, X̂w = Hw + WQ, and both copies move by α
//! toward them.
//!
//! - **C-GT** (Liao, Li, Huang & Pu 2022): this, with M = G.
//! - **BEER** (Zhao, Li, Li, Richtárik & Chi 2022): the same with α = 1. Then H after the round is X̂ itself, so that
//!   X⁺ = X + γ(W − I)H − ηV with H = H⁻ + 𝒞(X − H⁻): the same numbers, written after the exchange there and before it here. The rule is
//!   that of the authors' code (liboyue/beer); the start is not. Theirs has H₀ = Q₀ = 0 and V₀ = ∇F(X₀) over all data, so that their first
//!   round mixes nothing; here it mixes H₀ = 𝒞(X₀) and Q₀ = 𝒞(V₀), and V₀ = G₀ is a sample as in every round.
//! - **MoTEF** (Islamov, Gao & Stich 2025): BEER with momentum, M⁺ = (1−λ)M + λG⁺, from M₀ = V₀ = 0. The rule
//!   is that of the authors' code (mlolab/MoTEF), which starts in two ways: M₀ = V₀ = ∇F(X₀) over all data
//!   for synthetic problems, and V₀ = ∇F(X₀) with M₀ = 0 for others, where (1/n)ΣV and (1/n)ΣM stay apart for
//!   ever. Here both are 0, as in SMTPP. H₀ and Q₀ differ as BEER's.
//! - **CPP** (Song, Shi, Pu & Yan 2022): Push-Pull with COMM for the models and the tracker encoded directly,
//!   V⁺ = V + γ_v(C − I)𝒞(V) + G⁺ − G: α = 0 on the push graph. V goes to zero, so the code of V does; but
//!   the step between may have any mean unless E𝒞(V) = V, hence unbiased codecs only.
//! - **RCPP** (Liao, Li & Pu 2023): Push-Pull with COMM on both graphs, and the code at the scale s_k =
//!   s₀ζ^k, s_k𝒞(·/s_k). Here s_k is rounded up to a power of two, so that scaling is exact and costs no bit
//!   of a number (the scale stays within a factor of two of the rule's). So a codec with an absolute error,
//!   such as `uniform`, gets an error that goes to zero. With gradients that stay noisy the differences do
//!   not go to zero, and a scale that does will clip them: ζ = 1 then.
//! - **Heavy ball under sector-bound links** (Doostmohammadian and others): gradient tracking with X⁺ = … +
//!   β(X − X⁻) on links that pass every number through a sector-bound map h: X⁺ = X + (W − I)h(X) − ηV + β(X
//!   − X⁻). That is γ = 1 and α = 0. Where agents agree h(x) is the same for all, so that (W − I)h(X) = 0 and
//!   the solution is not moved. But if h is not injective, agents that do not agree may have the same h(x)
//!   and stay apart: a logarithmic quantiser leaves them within one of its cells, a saturation wherever they
//!   are beyond it. With α > 0 it is changes that pass through the links; they go to zero, where a
//!   logarithmic quantiser is as fine as need be, and the solution is exact.
//! - **Compressed SMTPP**: SMTPP with COMM on both graphs, the first of the directions that its authors name
//!   for the future. Σv = Σm whatever the codec does.
//!
//! Rules of trust C are from memory, except for compressed SMTPP, which is new: no bound on γ and α is proven
//! for R ≠ C. Tested of all: with the identity for codec and γ = α = 1 they are the method inside, bits
//! apart; they find x* exactly with the codecs they allow; Σv = Σm in every round. Not verified against the
//! authors' texts: for CPP and RCPP, that models are sent after the step (X − ηV, as Push-Pull does) and not
//! before; for RCPP that one scale serves both graphs; for the sector-bound heavy ball, that the map acts on
//! what is sent and not on differences along links.

use super::{Compressed, Damping};
use crate::codec::{self, Codec};
use crate::graph::Subgraph;
use crate::method::Method;
use crate::methods::ab::gradient_tracking;
use crate::methods::estimator::{AnyEstimator, Gradient, Momentum};
use crate::methods::tracking::push_pull;
use crate::methods::{HEAVY_BALL, Kind, MOMENTUM, Tracking, Trust};
use crate::numeric::sample::{Draws, Purpose};
use crate::parameters::{Parameter, Parameters};
use crate::{Error, Result};

/// A method that is compressed by definition, and the way to make it with another codec.
#[derive(Debug)]
pub struct Coded {
    /// The method in the registry, with its own codec.
    pub kind: Kind,
    /// The name of its own codec, and that one's parameters.
    pub codec: (&'static str, &'static [(&'static str, f64)]),
    build: WithCodec,
}

/// A constructor around a codec, and around another estimator if there is one.
type WithCodec = fn(&Parameters, Option<AnyEstimator>, Box<dyn Codec>) -> Result<Box<dyn Method>>;

impl Coded {
    /// The method with this codec in place of its own, and with this estimator if one is given.
    pub fn method(
        &self,
        given: &Parameters,
        estimator: Option<AnyEstimator>,
        codec: Option<Box<dyn Codec>>,
    ) -> Result<Box<dyn Method>> {
        let (name, parameters) = self.codec;
        let codec = match codec {
            Some(codec) => codec,
            None => codec::codec(name)?.codec(parameters.iter().copied())?,
        };
        (self.build)(given, estimator, codec)
    }
}

/// Every method that is compressed by definition.
pub const CODED: &[&Coded] = &[&C_GT, &BEER, &MOTEF, &CPP, &RCPP, &HB_SECTOR, &COMPRESSED_SMTPP];

/// The method called `name`, if it is compressed by definition.
pub fn coded(name: &str) -> Option<&'static Coded> {
    CODED.iter().find(|coded| coded.kind.name == name).copied()
}

const fn gamma(default: f64) -> Parameter {
    Parameter::number("gamma", "γ in (0, 1], the share of mixing", default)
}

const fn alpha(default: f64) -> Parameter {
    Parameter::number("alpha", "α in (0, 1], how fast copies follow", default)
}

const WHAT_PASSES: Parameter = Parameter::number(
    "alpha",
    "α in [0, 1]: 0 passes whole values through the links, above 0 what has changed since the last",
    0.0,
);

const GAMMA_TRACKER: Parameter =
    Parameter::number("gamma_tracker", "γ_v in (0, 1], the share of mixing of the trackers", 0.8);

const SCALE: Parameter = Parameter::number("scale", "s₀ > 0, the scale of the code in round 0", 1.0);

const DECAY: Parameter =
    Parameter::number("decay", "ζ in (0, 1], the ratio of one round's scale to the last", 0.99);

/// γ and α of the file, for both graphs.
fn damping(owner: &str, given: &Parameters) -> Result<Damping> {
    let α = given.real("alpha")?;
    match α > 0.0 {
        true => Ok(Damping::new(given.real("gamma")?, α)),
        false => Err(Error::parameter(owner, "alpha", α, "the pace of the copies α must be in (0, 1]")),
    }
}

fn or_gradient(estimator: Option<AnyEstimator>) -> AnyEstimator {
    estimator.unwrap_or_else(|| Gradient.into())
}

fn no_room(owner: &str, estimator: Option<AnyEstimator>, instead: &str) -> Result<()> {
    match estimator {
        None => Ok(()),
        Some(estimator) => {
            let expected = format!("momentum is its estimator; {instead} takes others");
            Err(Error::parameter(owner, "estimator", format!("{estimator:?}"), expected))
        }
    }
}

/// Whether the same vector always has the same code: such a codec makes no draws.
fn is_deterministic(codec: &dyn Codec) -> bool {
    let fresh = || Draws::new(0, Purpose::Codec, 0, 0);
    let mut draws = fresh();
    codec.compress(&mut [0.3, -0.7], &mut draws);
    draws.bits() == fresh().bits()
}

pub(in crate::methods) const C_GT: Coded = Coded {
    kind: Kind {
        alters: Some(
            "with p − γ(p̂ − Wp̂) in place of Wp, for p = x and p = v; p̂ = h + 𝒞(p − h), h⁺ = h + α(p̂ − h)",
        ),
        reference: "Liao, Li, Huang & Pu 2022",
        trust: Trust::B,
        parameters: &[gamma(0.5), alpha(0.5)],
        with_estimator: Some(|given, estimator| C_GT.method(given, Some(estimator), None)),
        ..Kind::new(
            "c-gt",
            "compressed gradient tracking: only what has changed is sent, encoded (by default in 4 bits a number)",
            |given| C_GT.method(given, None, None),
        )
    },
    codec: ("quantise", &[("bits", 4.0)]),
    build: |given, estimator, codec| {
        let inner = gradient_tracking(or_gradient(estimator), 0.0)?;
        let damping = damping("c-gt", given)?;
        Ok(Box::new(Compressed::new("c-gt", inner, codec, [damping; 2])?))
    },
};

pub(in crate::methods) const BEER: Coded = Coded {
    kind: Kind {
        name: "beer",
        about: "BEER: compressed gradient tracking with error feedback (by default the largest quarter is sent)",
        alters: Some("with p − γ(p̂ − Wp̂) in place of Wp, for p = x and p = v; p̂ = h + 𝒞(p − h), h⁺ = p̂"),
        reference: "Zhao, Li, Li, Richtárik & Chi 2022",
        trust: Trust::B,
        parameters: &[gamma(0.4)],
        build: |given| BEER.method(given, None, None),
        with_estimator: Some(|given, estimator| BEER.method(given, Some(estimator), None)),
        ..C_GT.kind
    },
    codec: ("top-k", &[("fraction", 0.25)]),
    build: |given, estimator, codec| {
        let inner = gradient_tracking(or_gradient(estimator), 0.0)?;
        let damping = Damping::new(given.real("gamma")?, 1.0);
        Ok(Box::new(Compressed::new("beer", inner, codec, [damping; 2])?))
    },
};

pub(in crate::methods) const MOTEF: Coded = Coded {
    kind: Kind {
        name: "motef",
        about: "MoTEF: momentum tracking with error feedback (by default the largest quarter is sent)",
        reference: "Islamov, Gao & Stich 2025",
        parameters: &[MOMENTUM, gamma(0.4)],
        build: |given| MOTEF.method(given, None, None),
        with_estimator: None,
        ..BEER.kind
    },
    codec: ("top-k", &[("fraction", 0.25)]),
    build: |given, estimator, codec| {
        no_room("motef", estimator, "beer")?;
        let momentum = Momentum::new("motef", given.real("momentum")?)?;
        let damping = Damping::new(given.real("gamma")?, 1.0);
        let inner = gradient_tracking(momentum.into(), 0.0)?;
        Ok(Box::new(Compressed::new("motef", inner, codec, [damping; 2])?))
    },
};

pub(in crate::methods) const CPP: Coded = Coded {
    kind: Kind {
        name: "cpp",
        about: "compressed Push-Pull: differences of models and whole trackers are encoded (by default in 8 bits a number)",
        alters: Some(
            "with p − γ(p̂ − Rp̂) in place of Rp, p = x − ηv, p̂ = h + 𝒞(p − h), h⁺ = h + α(p̂ − h); with v − γ_v(𝒞(v) − C𝒞(v)) in place of Cv",
        ),
        reference: "Song, Shi, Pu & Yan 2022",
        trust: Trust::C,
        parameters: &[gamma(0.8), alpha(0.8), GAMMA_TRACKER],
        build: |given| CPP.method(given, None, None),
        with_estimator: Some(|given, estimator| CPP.method(given, Some(estimator), None)),
        ..C_GT.kind
    },
    codec: ("quantise", &[]),
    build: |given, estimator, codec| {
        if !codec.unbiased() {
            let expected = "trackers are encoded directly, so the codec must be right in the mean: random-k, quantise, natural";
            return Err(Error::parameter("cpp", "compress", format!("{codec:?}"), expected));
        }
        let inner = push_pull(or_gradient(estimator))?;
        let dampings = [damping("cpp", given)?, Damping::direct(given.real("gamma_tracker")?)];
        Ok(Box::new(Compressed::new("cpp", inner, codec, dampings)?))
    },
};

pub(in crate::methods) const RCPP: Coded = Coded {
    kind: Kind {
        name: "rcpp",
        about: "robust compressed Push-Pull: differences on both graphs, at a scale that shrinks (by default in 8 bits a number)",
        alters: Some(
            "with p − γ(p̂ − Mp̂) in place of Mp, for M = R and M = C; p̂ = h + s_k𝒞((p − h)/s_k), h⁺ = h + α(p̂ − h), s_k = s₀ζ^k rounded up to a power of two",
        ),
        reference: "Liao, Li & Pu 2023",
        parameters: &[gamma(0.8), alpha(0.8), SCALE, DECAY],
        build: |given| RCPP.method(given, None, None),
        with_estimator: Some(|given, estimator| RCPP.method(given, Some(estimator), None)),
        ..CPP.kind
    },
    codec: ("quantise", &[]),
    build: |given, estimator, codec| {
        let inner = push_pull(or_gradient(estimator))?;
        let compressed = Compressed::new("rcpp", inner, codec, [damping("rcpp", given)?; 2])?;
        Ok(Box::new(compressed.scaled("rcpp", given.real("scale")?, given.real("decay")?)?))
    },
};

pub(in crate::methods) const HB_SECTOR: Coded = Coded {
    kind: Kind {
        name: "hb-sector",
        about: "gradient tracking with a heavy ball over links that distort (by default they clip at ±10)",
        alters: Some(
            "with p − p̂ + Wp̂ in place of Wp, for p = x and p = v; p̂ = h + 𝒞(p − h), h⁺ = h + α(p̂ − h); h stays 0 where α = 0",
        ),
        reference: "Doostmohammadian and others",
        trust: Trust::C,
        parameters: &[HEAVY_BALL, WHAT_PASSES],
        build: |given| HB_SECTOR.method(given, None, None),
        with_estimator: Some(|given, estimator| HB_SECTOR.method(given, Some(estimator), None)),
        ..C_GT.kind
    },
    codec: ("saturate", &[("limit", 10.0)]),
    build: |given, estimator, codec| {
        if codec.sector().is_none() || !is_deterministic(&*codec) {
            let expected = "links that distort do so number by number, the same in every round: log-quantise, saturate, uniform, identity";
            return Err(Error::parameter("hb-sector", "compress", format!("{codec:?}"), expected));
        }
        let inner = gradient_tracking(or_gradient(estimator), given.real("heavy_ball")?)?;
        Ok(Box::new(Compressed::new(
            "hb-sector",
            inner,
            codec,
            [Damping::new(1.0, given.real("alpha")?); 2],
        )?))
    },
};

pub(in crate::methods) const COMPRESSED_SMTPP: Coded = Coded {
    kind: Kind {
        name: "compressed-smtpp",
        about: "SMTPP with differences encoded on both graphs (by default in 4 bits a number)",
        alters: Some(
            "with p − γ(p̂ − Mp̂) in place of Mp, for M = R and M = C; p̂ = h + 𝒞(p − h), h⁺ = h + α(p̂ − h)",
        ),
        reference: "a future direction of Fan, Liao, Xu, Guo & Dian",
        graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
        parameters: &[MOMENTUM, gamma(0.8), alpha(0.8)],
        build: |given| COMPRESSED_SMTPP.method(given, None, None),
        with_estimator: None,
        ..CPP.kind
    },
    codec: ("quantise", &[("bits", 4.0)]),
    build: |given, estimator, codec| {
        no_room("compressed-smtpp", estimator, "rcpp")?;
        let inner = Tracking::from_estimator(Momentum::new("compressed-smtpp", given.real("momentum")?)?);
        let damping = damping("compressed-smtpp", given)?;
        Ok(Box::new(Compressed::new("compressed-smtpp", Box::new(inner), codec, [damping; 2])?))
    },
};
