//! Several exchanges a round: what arrived is sent on, so that the method is handed R^K·pull and C^K·push.

use super::{split_rows, with_rows_behind};
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::estimator::{Estimator, Gradient, MeanGradient};
use crate::methods::{Kind, Tracking, Trust};
use crate::parameters::{Parameter, Parameters};
use crate::problem::Problem;
use crate::topology::Subgraph;
use crate::{Error, Result};

/// Any method with K exchanges in place of one; K = 1 is the method itself, bit for bit.
///
/// The state is the inner method's, and for K > 1 the two rows that are on their way.
#[derive(Debug)]
pub struct MultiGossip {
    inner: Box<dyn Method>,
    exchanges: u32,
}

impl MultiGossip {
    /// K ≥ 1 exchanges in place of each of the method's; `owner` is who is named in errors.
    pub fn new(owner: &str, inner: Box<dyn Method>, exchanges: usize) -> Result<Self> {
        let refuse = |expected: &str| Err(Error::parameter(owner, "gossip", exchanges, expected));
        match u32::try_from(exchanges) {
            Ok(exchanges @ 1..=MOST) if inner.network() != Network::Central || exchanges == 1 => {
                Ok(Self { inner, exchanges })
            }
            Ok(1..=MOST) => refuse("a centralised method has heard everyone after one exchange"),
            _ => refuse("there are 1 to 1000 exchanges a round"),
        }
    }

    /// The inner method's phase, and the exchange within it.
    fn phase(&self, at: Round) -> (Round, u32) {
        (Round { phase: at.phase / self.exchanges, ..at }, at.phase % self.exchanges)
    }
}

/// Exchanges a round, at most.
const MOST: u32 = 1000;

impl Method for MultiGossip {
    fn inner(&self) -> Option<&dyn Method> {
        Some(&*self.inner)
    }

    fn layout(&self, problem: &dyn Problem) -> Layout {
        let inner = self.inner.layout(problem);
        match self.exchanges {
            1 => inner,
            _ => Layout { state: with_rows_behind(inner, problem.dim()), ..inner },
        }
    }

    fn network(&self) -> Network {
        self.inner.network()
    }

    fn roles(&self) -> Roles {
        self.inner.roles()
    }

    fn phases(&self) -> u32 {
        self.exchanges * self.inner.phases()
    }

    fn bytes(&self, problem: &dyn Problem, phase: u32) -> [usize; 2] {
        self.inner.bytes(problem, phase / self.exchanges)
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let inner = self.inner.layout(local.problem()).state.len(local.problem().dim());
        let (inner, rows) = state.split_at_mut(inner);
        self.inner.init(inner, local);
        rows.fill(0.0);
    }

    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        let (at, exchange) = self.phase(at);
        if self.exchanges == 1 {
            return self.inner.send(at, state, pull, push);
        }
        let (inner, [pulled, pushed]) = split_rows(state, [pull.len(), push.len()]);
        match exchange {
            0 => self.inner.send(at, inner, pull, push),
            _ => {
                pull.copy_from_slice(pulled); // R^j·pull
                push.copy_from_slice(pushed); // C^j·push
            }
        }
    }

    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let (at, exchange) = self.phase(at);
        if self.exchanges == 1 {
            return self.inner.step(at, state, pulled, pushed, local);
        }
        let (inner, [to_pull, to_push]) = split_rows(state, [pulled.len(), pushed.len()]);
        if exchange + 1 == self.exchanges {
            return self.inner.step(at, inner, pulled, pushed, local);
        }
        to_pull.copy_from_slice(pulled);
        to_push.copy_from_slice(pushed);
    }
}

const GOSSIP: Parameter =
    Parameter { name: "gossip", about: "K, how many exchanges and samples a round has", default: Some(2.0) };

/// Multi-gossip Push-Pull (Liang and others 2025): K exchanges a round, and gradients of K samples.
///
/// The rule is from memory: R^K and C^K in place of R and C, and K samples so that a round's cost in gradients keeps pace with its
/// cost in messages. An estimator that is given takes the place of that mean, with the samples that it draws. Tested: K = 1 is Push-Pull bit for bit, and K exchanges are one with R^K and C^K. Not verified: the authors'
/// choice of K, which they take from the topology.
fn multi_gossip(given: &Parameters, estimator: Option<Box<dyn Estimator>>) -> Result<Box<dyn Method>> {
    let exchanges = given.count("gossip")?;
    let estimator: Box<dyn Estimator> = match (estimator, exchanges) {
        (Some(estimator), _) => estimator,
        (None, 0 | 1) => Box::new(Gradient),
        (None, samples) => Box::new(MeanGradient::new("multi-gossip", samples)?),
    };
    let inner = Box::new(Tracking::of(estimator));
    Ok(Box::new(MultiGossip::new("multi-gossip", inner, exchanges)?))
}

pub(in crate::methods) const MULTI_GOSSIP: Kind = Kind {
    name: "multi-gossip",
    about: "Push-Pull with K exchanges a round and gradients of K samples",
    rule: "X⁺ = R^K(X − ηY); Y⁺ = C^K Y + G⁺ − G, G the mean of K gradients",
    reference: "Liang and others 2025",
    trust: Trust::C,
    network: Network::PushPull,
    graphs: &[Subgraph::Full],
    parameters: &[GOSSIP],
    build: |given| multi_gossip(given, None),
    with_estimator: Some(|given, estimator| multi_gossip(given, Some(estimator))),
};
