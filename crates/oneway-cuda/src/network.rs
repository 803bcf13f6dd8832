//! A network's matrices on a device, by receiver, senders ascending: the order in which the bit contract
//! adds.

use std::collections::HashMap;

use oneway::graph::Topology;
use oneway::graph::mixing::Mixing;

use crate::device::{Program, put};
use crate::error::{Error, Result};

/// Copies the matrices of all rounds of a period. Returns the words of the structure `Links` for R and for C.
pub(crate) fn put_links(program: &mut dyn Program, topology: &Topology) -> Result<[[u64; 4]; 2]> {
    let [pull, push] = [0, 1].map(|push| {
        let of = move |pair: &oneway::graph::topology::Pair| {
            if push == 1 { pair.push.clone() } else { pair.pull.clone() }
        };
        Links::new(topology.period().iter().map(of))
    });
    let (pull, push) = (pull?, push?);
    let here = pull.put(program)?;
    // where R and C have the same links these are there once: kernels know it by their address
    let shared = (pull.ranges == push.ranges && pull.senders == push.senders).then_some([here[0], here[1]]);
    let [ranges, senders] = match shared {
        Some(shared) => shared,
        None => push.put_links(program)?,
    };
    let [weights, codes] = push.put_weights(program)?;
    Ok([here, [ranges, senders, weights, codes]])
}

/// The matrices of a period, one behind the other.
#[derive(Debug, Default)]
struct Links {
    /// Where the entries of each receiver begin and end.
    ranges: Vec<[u32; 2]>,
    senders: Vec<u32>,
    weights: Vec<f64>,
}

impl Links {
    fn new(period: impl Iterator<Item = Mixing>) -> Result<Self> {
        let mut links = Self::default();
        for mixing in period {
            // where all receivers have the same row it is kept once
            let rows = if mixing.has_one_row() { 1 } else { mixing.agents() };
            for to in 0..rows {
                let begin = links.senders.len();
                for (from, weight) in mixing.row(to) {
                    links.senders.push(from as u32);
                    links.weights.push(weight);
                }
                let range = [begin, links.senders.len()].map(u32::try_from);
                let [Ok(begin), Ok(end)] = range else {
                    return Err(Error::Unsupported("a network has at most 2³² − 1 links there".to_owned()));
                };
                let times = if mixing.has_one_row() { mixing.agents() } else { 1 };
                links.ranges.extend(std::iter::repeat_n([begin, end], times));
            }
        }
        Ok(links)
    }

    fn put(&self, program: &mut dyn Program) -> Result<[u64; 4]> {
        let [[ranges, senders], [weights, codes]] = [self.put_links(program)?, self.put_weights(program)?];
        Ok([ranges, senders, weights, codes])
    }

    fn put_links(&self, program: &mut dyn Program) -> Result<[u64; 2]> {
        Ok([put(program, &self.ranges)?, put(program, &self.senders)?])
    }

    fn put_weights(&self, program: &mut dyn Program) -> Result<[u64; 2]> {
        match coded(&self.weights) {
            Some((values, codes)) => Ok([put(program, &values)?, put(program, &codes)?]),
            None => Ok([put(program, &self.weights)?, 0]),
        }
    }
}

/// A byte for each weight, and what the bytes mean, where there are few different weights: memory is what
/// large networks wait for.
fn coded(weights: &[f64]) -> Option<(Vec<f64>, Vec<u8>)> {
    /// With fewer than this, nothing is gained.
    const MANY: usize = 1 << 16;
    if weights.len() < MANY {
        return None;
    }
    let mut known: HashMap<u64, u8> = HashMap::new();
    let mut values = vec![];
    let mut codes = Vec::with_capacity(weights.len());
    for weight in weights {
        let code = match known.get(&weight.to_bits()) {
            Some(code) => *code,
            None => {
                let new = u8::try_from(values.len()).ok()?;
                known.insert(weight.to_bits(), new);
                values.push(*weight);
                new
            }
        };
        codes.push(code);
    }
    Some((values, codes))
}

/// C_ii of all agents, over the period: what a rule may ask for.
pub(crate) fn put_kept(program: &mut dyn Program, topology: &Topology) -> Result<u64> {
    let of = |mixing: &Mixing| (0..mixing.agents()).map(|i| mixing.weight(i, i)).collect::<Vec<_>>();
    let kept: Vec<f64> = topology.period().iter().flat_map(|pair| of(&pair.push)).collect();
    put(program, &kept)
}
