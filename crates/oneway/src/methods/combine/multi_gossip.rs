//! Several exchanges a round: what arrived is sent on, so that the method is handed R^K·pull and C^K·push.

use super::holding::Holding;
use crate::method::{
    Ask, Exchange, Gradient as Given, Heard, InPrecision, Kernel, Method, Network, Point, Profile, Repeats,
    Round, Sizes,
};
use crate::methods::estimator::{AnyEstimator, Gradient, MeanGradient};
use crate::methods::tracking::push_pull;
use crate::methods::{Kind, Trust};
use crate::parameters::{Parameter, Parameters};
use crate::{Error, Result};

/// Any method with K exchanges in place of one; K = 1 is the method itself, bit for bit.
///
/// The state is the inner method's, and for K > 1 the two rows that are on their way.
#[derive(Debug)]
pub struct MultiGossip {
    inner: Holding,
    exchanges: u32,
}

impl MultiGossip {
    /// K ≥ 1 exchanges in place of each of the method's; `owner` is who is named in errors.
    pub fn new(owner: &str, inner: Box<dyn Method>, exchanges: usize) -> Result<Self> {
        let refuse = |expected: &str| Err(Error::parameter(owner, "gossip", exchanges, expected));
        match u32::try_from(exchanges) {
            Ok(exchanges @ 1..=MOST) if inner.network() != Network::Central || exchanges == 1 => {
                Ok(Self { inner: Holding { inner, holds: exchanges > 1 }, exchanges })
            }
            Ok(1..=MOST) => refuse("a centralised method has heard everyone after one exchange"),
            _ => refuse("there are 1 to 1000 exchanges a round"),
        }
    }

    /// The inner method's phase, and the exchange within it.
    fn phase<'a>(&self, at: Round<'a>) -> (Round<'a>, u32) {
        (Round { phase: at.phase / self.exchanges, ..at }, at.phase % self.exchanges)
    }
}

/// Exchanges a round, at most.
const MOST: u32 = 1000;

impl Method for MultiGossip {
    fn profile(&self, sizes: Sizes) -> Profile {
        let mut profile = self.inner.profile(sizes);
        let several = |last: Exchange| {
            let passed_on = Exchange { sends: last.sends, turns: vec![Ask::Nothing] };
            std::iter::repeat_n(passed_on, self.exchanges as usize - 1).chain([last])
        };
        profile.exchanges = profile.exchanges.into_iter().flat_map(several).collect();
        profile
    }

    fn inner(&self) -> Option<&dyn Method> {
        Some(&*self.inner.inner)
    }

    fn repeats(&self) -> Option<Repeats> {
        Some(Repeats::Exchanges(self.exchanges))
    }

    fn single_precision(&self) -> Option<&dyn Kernel<f32>> {
        self.inner.inner.single_precision().map(|_| self as &dyn Kernel<f32>)
    }
}

impl<T: InPrecision> Kernel<T> for MultiGossip {
    fn start(&self, at: Round<'_>, x: &[T], gradient: Given<'_, T>, state: &mut [T]) {
        self.inner.start(at, x, gradient, state);
    }

    fn send(&self, at: Round<'_>, state: &mut [T], pull: &mut [T], push: &mut [T]) {
        let (at, exchange) = self.phase(at);
        let (state, [pulled, pushed]) = self.inner.split(state, [pull.len(), push.len()]);
        match exchange {
            0 => self.inner.kernel().send(at, state, pull, push),
            _ => {
                pull.copy_from_slice(pulled); // R^j·pull
                push.copy_from_slice(pushed); // C^j·push
            }
        }
    }

    fn point(&self, at: Round<'_>, heard: Heard<'_, T>, point: Point<'_, T>) {
        let (at, exchange) = self.phase(at);
        if exchange + 1 == self.exchanges {
            let (state, _) = self.inner.split(heard.state, [heard.pulled.len(), heard.pushed.len()]);
            self.inner.kernel().point(at, Heard { state, ..heard }, point);
        }
    }

    fn update(&self, at: Round<'_>, heard: Heard<'_, T>, gradient: Given<'_, T>) {
        let (at, exchange) = self.phase(at);
        let rows = [heard.pulled.len(), heard.pushed.len()];
        let (state, [to_pull, to_push]) = self.inner.split(heard.state, rows);
        if exchange + 1 == self.exchanges {
            return self.inner.kernel().update(at, Heard { state, ..heard }, gradient);
        }
        to_pull.copy_from_slice(heard.pulled);
        to_push.copy_from_slice(heard.pushed);
    }
}

const GOSSIP: Parameter = Parameter::whole("gossip", "K, how many exchanges and samples a round has", 2);

/// Multi-gossip Push-Pull (Liang and others 2025): K exchanges a round, and gradients of K samples.
///
/// The rule is from memory: R^K and C^K in place of R and C, and K samples so that a round's cost in
/// gradients keeps pace with its cost in messages. An estimator that is given takes the place of that mean,
/// with the samples that it draws. Tested: K = 1 is Push-Pull bit for bit, and K exchanges are one with R^K
/// and C^K. Not verified: the authors' choice of K, which they take from the topology.
fn multi_gossip(given: &Parameters, estimator: Option<AnyEstimator>) -> Result<Box<dyn Method>> {
    let exchanges = given.count("gossip")?;
    let estimator = match (estimator, exchanges) {
        (Some(estimator), _) => estimator,
        (None, 0 | 1) => Gradient.into(),
        (None, samples) => MeanGradient::new("multi-gossip", samples)?.into(),
    };
    let inner = push_pull(estimator)?;
    Ok(Box::new(MultiGossip::new("multi-gossip", inner, exchanges)?))
}

pub(in crate::methods) const MULTI_GOSSIP: Kind = Kind {
    alters: Some("with R^K and C^K in place of R and C: K exchanges a round"),
    reference: "Liang and others 2025",
    trust: Trust::C,
    parameters: &[GOSSIP],
    with_estimator: Some(|given, estimator| multi_gossip(given, Some(estimator))),
    ..Kind::new("multi-gossip", "Push-Pull with K exchanges a round and gradients of K samples", |given| {
        multi_gossip(given, None)
    })
};
