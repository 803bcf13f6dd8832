//! The whole command line, with a method, a problem, a codec and a topology of your own.
//!
//! `cargo run --release -p oneway-lab --example own_command --
//! methods` lists your method among the others, and `… -- run FILE` knows all four names in the experiment
//! file.

use std::process::ExitCode;

use oneway::codec::{CodecKind, Natural};
use oneway::graph::families::Family;
use oneway::prelude::*;

/// Decentralised gradient descent: x⁺ = Σ_j W_ij x_j − ηg.
#[derive(Debug)]
struct Descent;

impl Rule for Descent {
    type State<S: Real> = [S; 2]; // x, g
    type Pull<S: Real> = S;
    type Push<S: Real> = ();
    const NAMES: &'static [&'static str] = &["x", "g"];

    fn profile(&self) -> Profile {
        Profile::new(Network::Balanced)
    }
    fn start<S: Real>(&self, _: At<S>, x: S, [g, _]: [S; 2]) -> [S; 2] {
        [x, g]
    }
    fn send<S: Real>(&self, _: At<S>, [x, _]: [S; 2]) -> Mail<S, ()> {
        Mail { pull: x, push: () }
    }
    fn points<S: Real>(&self, at: At<S>, [x, g]: [S; 2], heard: Mail<S, ()>) -> [S; 2] {
        [heard.pull - at.η * g, x]
    }
    fn update<S: Real>(&self, at: At<S>, [_, g]: [S; 2], heard: Mail<S, ()>, [new, _]: [S; 2]) -> [S; 2] {
        [heard.pull - at.η * g, new]
    }
}

static DESCENT: Kind = Kind {
    reference: "Nedić & Ozdaglar 2009",
    trust: Trust::A,
    ..Kind::new("descent", "decentralised gradient descent", |_| Ok(Box::new(Descent)))
};

/// Agent i wants to be at `spacing`·i: F is least at the mean of all.
static POSTS: ProblemKind = ProblemKind {
    name: "posts",
    about: "½(x − spacing·i)², one coordinate",
    version: "1", // change it when the problem changes: old results are then not used again
    parameters: &[Parameter::number("spacing", "how far posts are apart", 1.0)],
    build: |given, agents, _seed| {
        let spacing = given.real("spacing")?;
        Ok(Box::new(FromFn::new(agents, 1, move |agent, x, g| {
            g[0] = x[0] - spacing * agent as f64;
            0.5 * g[0] * g[0]
        })))
    },
};

/// A ladder: two rings, and rungs between them.
static LADDER: Family = Family {
    name: "ladder",
    about: "two directed rings with two-way rungs",
    parameters: &[Parameter::flag("rungs", "whether all agents have a rung, or agent 0 only", true)],
    random: false,
    time_varying: false,
    build: |agents, given, _seed| {
        let (half, all) = (agents / 2, given.flag("rungs")?);
        let ring = |first: usize, n: usize| (0..n).map(move |i| (first + i, first + (i + 1) % n));
        let rungs = (0..half.min(if all { half } else { 1 })).flat_map(|i| [(i, half + i), (half + i, i)]);
        Ok(vec![Digraph::from_edges(agents, ring(0, half).chain(ring(half, agents - half)).chain(rungs))?])
    },
};

/// Any type that implements `Codec` can have an entry; here one that is known, under a name of yours.
static POWERS: CodecKind = CodecKind {
    name: "powers-of-two",
    about: "random rounding to a power of two",
    rule: "𝒞(x)_i = ±2^e, E 𝒞(x)_i = x_i",
    parameters: &[],
    build: |_| Ok(Box::new(Natural)),
};

fn main() -> oneway::Result<ExitCode> {
    let registry = Registry::builtin()
        .with_method(&DESCENT)?
        .with_problem(&POSTS)?
        .with_family(&LADDER)?
        .with_codec(&POWERS)?;
    Ok(oneway_lab::main_with(registry))
}
