//! Combinators: methods made of methods. Compression, several exchanges a round and local updates fit around
//! any of them.

mod coded;
mod compressed;
mod holding;
mod local_updates;
mod multi_gossip;
mod recipe;

pub use coded::{CODED, Coded, coded};
pub use compressed::{Compressed, Damping};
pub use local_updates::LocalUpdates;
pub use multi_gossip::MultiGossip;
pub use recipe::{Compression, Recipe};

pub(super) use coded::{BEER, C_GT, COMPRESSED_SMTPP, CPP, HB_SECTOR, MOTEF, RCPP};
pub(super) use local_updates::{LOCAL_DSMT, LOCAL_SMTPP, PD_SGDM};
pub(super) use multi_gossip::MULTI_GOSSIP;

use crate::method::{Method, Round, Sizes};
use crate::parameters::Parameter;

/// Something that can be put around a method, as a key of an experiment file.
#[derive(Debug)]
pub struct Combinator {
    /// The key.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// What becomes of the method's rule, in a line.
    pub rule: &'static str,
    /// Keys beside the main one, if it is given as a table.
    pub parameters: &'static [Parameter],
}

/// Everything that can be put around a method, from the inside out.
pub static COMBINATORS: &[Combinator] = &[
    Combinator {
        name: "estimator",
        about: "what is tracked or followed in place of gradients: a name, or { kind = \"…\", … }",
        rule: "M⁺ of the estimator in place of G⁺",
        parameters: &[],
    },
    Combinator {
        name: "gossip",
        about: "exchanges in place of one, K",
        rule: "R^K and C^K in place of R and C",
        parameters: &[],
    },
    Combinator {
        name: "local_steps",
        about: "steps for each exchange, Q",
        rule: "after each exchange Q − 1 rounds with R = C = I, each with fresh samples",
        parameters: &[],
    },
    Combinator {
        name: "compress",
        about: "differences are encoded: a codec's name, or { codec = \"…\", … }",
        rule: "p + γ(p̂w − p̂) in place of Wp; q = 𝒞(p − h), p̂ = h + q, p̂w = hw + Wq; h ← h + αq, hw ← hw + αWq",
        parameters: &[
            Parameter::number("gamma", "γ in (0, 1], the share of mixing; if it is not given the codec's quality decides", 1.0).without_default(),
            Parameter::number("alpha", "α in [0, 1], how fast copies follow, 0 to encode p itself; if it is not given the codec's quality decides", 1.0).without_default(),
        ],
    },
];

/// Numbers of a pull row and of a push row of this method. Allocates: not for every round.
fn row_lengths(method: &dyn Method, at: Round<'_>) -> [usize; 2] {
    let profile = method.profile(Sizes { agents: at.agents, dim: at.d, samples: None });
    [profile.pull, profile.push].map(|width| width.len(at.d))
}
