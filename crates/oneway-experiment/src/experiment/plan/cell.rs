//! One run of an entry, and the text that its result is identified by.

use std::fmt;

use oneway::engine::Setup;
use oneway::engine::metrics::Extras;
use oneway::graph::mixing::Mixing;
use oneway::numeric::sample::derive_seed;

use super::Entry;
use crate::hash::sha256;
use crate::identity::Identity;

/// One run.
#[derive(Debug, Clone)]
pub struct Cell<'a> {
    /// The method on its topology.
    pub entry: &'a Entry,
    /// Which repetition it is, from 0.
    pub(crate) repetition: u64,
    /// Seed of the sampling: the same for all methods and topologies of a repetition.
    pub(crate) seed: u64,
    /// Hash of all that the result depends on, the code included.
    pub key: String,
}

impl Entry {
    /// Its repetitions.
    pub fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        let identity = self.identity();
        (0..self.run.repetitions).map(move |repetition| {
            let seed = derive_seed(self.run.seed, repetition);
            let mut identity = identity.clone();
            identity.text("code", crate::code());
            identity.count("seed", seed);
            Cell { entry: self, repetition, seed, key: identity.sha256() }
        })
    }

    /// All that its results depend on, except for the code and the seed of a repetition.
    pub(super) fn identity(&self) -> Identity {
        let [pull, push] = self.mixing_sha256();
        let mut identity = Identity::new("cell", 1);
        identity.text("problem", &self.problem.sha256);
        identity.text("pull", &pull);
        identity.text("push", &push);
        identity.part("faults", &self.faults);
        identity.part("method", &self.recipe);
        if let Some(supplied) = &self.supplied {
            identity.text("supplied", supplied);
        }
        identity.part("step", &self.schedule);
        identity.part("timing", &self.timing);
        identity.text("precision", self.run.precision.name());
        identity.count("rounds", self.run.iterations);
        identity.count("record_every", self.run.record_every);
        identity.part("measure", &self.measure);
        identity
    }

    /// Hashes of R and of C over the whole period.
    pub fn mixing_sha256(&self) -> [String; 2] {
        let all = |of: fn(&oneway::graph::topology::Pair) -> &Mixing| {
            sha256(self.topology.period().iter().flat_map(|pair| bytes_of(of(pair))).collect::<Vec<u8>>())
        };
        self.mixing_sha256.get_or_init(|| [all(|pair| &pair.pull), all(|pair| &pair.push)]).clone()
    }
}

/// The links of a matrix and their weights, bit by bit.
fn bytes_of(mixing: &Mixing) -> Vec<u8> {
    if mixing.has_one_row() {
        return format!("11ᵀ/n, n = {}", mixing.agents()).into_bytes();
    }
    let size = [mixing.agents() as u64, mixing.entries() as u64];
    let numbers = mixing.iter().flat_map(|link| [link.from as u64, link.to as u64, link.weight.to_bits()]);
    size.into_iter().chain(numbers).flat_map(u64::to_le_bytes).collect()
}

impl<'a> Cell<'a> {
    /// Which repetition it is, from 0.
    pub fn repetition(&self) -> u64 {
        self.repetition
    }

    /// What the simulator needs.
    pub(crate) fn setup(&self) -> Setup<'a> {
        Setup {
            method: &*self.entry.method,
            problem: &*self.entry.problem.problem,
            topology: &self.entry.topology,
            schedule: self.entry.schedule,
            seed: self.seed,
        }
    }
}

impl Cell<'_> {
    /// What is measured beside the rest; F* and x* may have to be found first.
    pub(crate) fn extras(&self) -> Extras {
        let optimum = self.entry.optimum().map(|optimum| optimum.loss);
        let minimiser = self.entry.measure.distance.then(|| self.entry.problem.optimum_and_place().1);
        Extras { optimum, agents: self.entry.measure.agents, minimiser }
    }
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {} · {}", self.entry.topology_name, self.entry.method_name, self.repetition + 1)
    }
}
