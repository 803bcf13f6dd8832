//! What the tests of combinators share.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use oneway::codec::Codec;
use oneway::graph::Digraph;
use oneway::graph::Topology;
use oneway::method::{Method, Network, Reliance};
use oneway::methods::combine::{Coded, Compressed, Damping, coded};
use oneway::methods::{KINDS, Kind};
use oneway::parameters::Parameters;

use crate::common::{advance, distance, estimates, quadratic, simulate, topology};

/// Methods whose messages can be compressed from outside: neither compressed already, nor centralised.
pub fn bare() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(|kind| kind.network() != Network::Central && coded(kind.name).is_none())
}

/// A method of the registry with a codec around it.
pub fn compressed(kind: &'static Kind, codec: Box<dyn Codec>, damping: Damping) -> Compressed {
    Compressed::new(kind.name, kind.method([]).unwrap(), codec, [damping; 2]).unwrap()
}

/// Methods whose messages may be encoded: exact diffusion and D² use Wp − p as a correction term.
pub fn codable() -> impl Iterator<Item = &'static Kind> {
    bare().filter(|kind| kind.method([]).unwrap().reliance() != Reliance::WholeMessages)
}

/// A compressed method with another codec and other parameters.
pub fn with_codec(
    coded: &Coded,
    codec: Box<dyn Codec>,
    given: &[(&str, f64)],
) -> oneway::Result<Box<dyn Method>> {
    let has = |name: &str| coded.kind.parameters.iter().any(|parameter| parameter.name == name);
    let given = given.iter().filter(|(name, _)| has(name)).map(|(name, value)| ((*name).to_owned(), *value));
    let parameters = Parameters::new(coded.kind.name, coded.kind.parameters, given)?;
    coded.method(&parameters, None, Some(codec))
}

/// The method's network on a digraph.
pub fn network(kind: &Kind, digraph: &Digraph) -> Topology {
    topology(kind, kind.graphs[0], std::slice::from_ref(digraph), 0)
}

/// How far the farthest agent is from x* after `rounds` rounds on a quadratic without noise.
pub fn far_from_minimiser(method: &dyn Method, topology: &Topology, η: f64, rounds: usize) -> f64 {
    let problem = quadratic(topology.agents(), 0.0);
    let mut simulator = simulate(method, &problem, topology, η);
    advance(&mut simulator, rounds);
    let expected: Vec<f64> = (0..topology.agents()).flat_map(|_| problem.minimiser().to_vec()).collect();
    distance(&estimates(&simulator), &expected)
}
