//! Local updates: several steps between exchanges.
//!
//! After the step that follows an exchange, an agent makes Q − 1 rounds with itself: it sends, and its own rows are handed back,
//! as if R = C = I. Each takes fresh samples. A tracker's law stays: with oneself alone v⁺ = v + m⁺ − m, so Σv = Σm as before; and
//! where all agree on x* with v = 0, a local round changes nothing, so trackers still find x*.
//!
//! Methods that correct by what W did in the round before are refused: the local round has no W. Exact diffusion with Q steps has,
//! for each eigenvalue λ of W̃, a mode of trace (Q+1)λ − (Q−1) and determinant λ, stable only if λ > (Q−2)/(Q+2), whatever η is.

use super::{split_rows, with_rows_behind};
use crate::method::{Layout, Local, Method, Network, Reliance, Roles, Round};
use crate::methods::estimator::HeavyBall;
use crate::methods::{Dsgd, Dsmt, HEAVY_BALL, Kind, MOMENTUM, Smtpp, Trust};
use crate::parameters::{Parameter, Parameters};
use crate::problem::Problem;
use crate::topology::Subgraph;
use crate::{Error, Result};

/// Any method with Q steps for each exchange; Q = 1 is the method itself, bit for bit.
///
/// The state is the inner method's, and for Q > 1 the two rows that an agent sends to itself.
#[derive(Debug)]
pub struct LocalUpdates {
    inner: Box<dyn Method>,
    steps: usize,
}

impl LocalUpdates {
    /// Q ≥ 1 steps for each exchange; `owner` is who is named in errors.
    pub fn new(owner: &str, inner: Box<dyn Method>, steps: usize) -> Result<Self> {
        let refuse = |expected: &str| Err(Error::parameter(owner, "local_steps", steps, expected));
        match steps {
            1 => {}
            2..=MOST if inner.network() == Network::Central => {
                return refuse("a centralised method steps with the mean of all gradients only");
            }
            2..=MOST if inner.keeps_copies() => {
                return refuse("compress what makes local steps, not the other way round");
            }
            2..=MOST if inner.reliance() != Reliance::Nothing => {
                return refuse(
                    "the method corrects by what W did in the round before, and local rounds have no W",
                );
            }
            2..=MOST => {}
            _ => return refuse("there are 1 to 100000 steps for each exchange"),
        }
        Ok(Self { inner, steps })
    }
}

/// Steps for each exchange, at most.
const MOST: usize = 100_000;

impl Method for LocalUpdates {
    fn inner(&self) -> Option<&dyn Method> {
        Some(&*self.inner)
    }

    fn layout(&self, problem: &dyn Problem) -> Layout {
        let inner = self.inner.layout(problem);
        match self.steps {
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

    fn bytes(&self, problem: &dyn Problem, phase: u32) -> [usize; 2] {
        self.inner.bytes(problem, phase)
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let inner = self.inner.layout(local.problem()).state.len(local.problem().dim());
        let (inner, rows) = state.split_at_mut(inner);
        self.inner.init(inner, local);
        rows.fill(0.0);
    }

    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        match self.steps {
            1 => self.inner.send(at, state, pull, push),
            _ => {
                let (inner, _) = split_rows(state, [pull.len(), push.len()]);
                self.inner.send(at, inner, pull, push);
            }
        }
    }

    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        if self.steps == 1 {
            return self.inner.step(at, state, pulled, pushed, local);
        }
        let (inner, [own_pull, own_push]) = split_rows(state, [pulled.len(), pushed.len()]);
        self.inner.step(at, inner, pulled, pushed, local);
        let phases = self.inner.phases();
        if at.phase + 1 < phases {
            return; // the round goes on
        }
        for phase in (1..self.steps).flat_map(|_| 0..phases) {
            let at = Round { phase, ..at };
            self.inner.send(at, inner, own_pull, own_push);
            self.inner.step(at, inner, own_pull, own_push, local); // as if R = C = I
        }
    }
}

const LOCAL_STEPS: Parameter = Parameter {
    name: "local_steps",
    about: "Q, how many steps there are for each exchange",
    default: Some(2.0),
};

/// Not in the literature. Tested: Q = 1 is SMTPP bit for bit, Σv = Σm, and it finds x*. Not verified, for there is no text to
/// verify it against: no rate is known, and how η should shrink with Q is open.
pub(in crate::methods) const LOCAL_SMTPP: Kind = Kind {
    name: "local-smtpp",
    about: "SMTPP with Q steps for each exchange",
    rule: "SMTPP, then Q − 1 times x⁺ = x − ηv; m⁺ = (1−λ)m + λg⁺; v⁺ = v + m⁺ − m",
    reference: "local updates of Fan, Liao, Xu, Guo & Dian's method",
    trust: Trust::C,
    network: Network::PushPull,
    graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
    parameters: &[MOMENTUM, LOCAL_STEPS],
    build: |given| local("local-smtpp", given, Box::new(Smtpp::new(given.real("momentum")?)?)),
    with_estimator: None,
};

fn local(owner: &str, given: &Parameters, inner: Box<dyn Method>) -> Result<Box<dyn Method>> {
    Ok(Box::new(LocalUpdates::new(owner, inner, given.count("local_steps")?)?))
}

/// DSMT with Q steps for each exchange.
///
/// A round of DSMT has two exchanges, of models and of trackers. A local step leaves out both: with oneself alone W̄ = I, so that
/// x⁺ = x − ηy; z⁺ = (1−λ)z + λg⁺; y⁺ = y + z⁺ − z. So models and trackers are both mixed in one of Q steps.
///
/// It is *not* LMT, local momentum tracking (Huang & Pu 2025), which it was called here once. LMT has loopless Chebyshev acceleration in its
/// mixing, and how it goes together with local steps could not be established: of its text no more than the abstract could be had,
/// and there is no public code. [`Dsmt::accelerated`] has no local steps, since a heavy ball in the mixing goes on with the move that W made in the round
/// before. Tested: Q = 1 is DSMT bit for bit, Σy = Σz, and it finds x*. No rate is known.
pub(in crate::methods) const LOCAL_DSMT: Kind = Kind {
    name: "local-dsmt",
    about: "DSMT with Q steps for each exchange (LMT without its accelerated mixing)",
    rule: "DSMT, then Q − 1 times x⁺ = x − ηy; z⁺ = (1−λ)z + λg⁺; y⁺ = y + z⁺ − z",
    reference: "local updates of Huang, Pu & Nedić's method",
    network: Network::Balanced,
    graphs: &[Subgraph::Full],
    build: |given| local("local-dsmt", given, Box::new(Dsmt::new(given.real("momentum")?)?)),
    ..LOCAL_SMTPP
};

/// PD-SGDM, periodic decentralised SGD with momentum (Gao & Huang 2020): m⁺ = μm + g; x½ = x − ηm⁺; mixed every p-th step.
///
/// That is DSGD with a heavy ball for estimator and p steps for each exchange: m is at x already when x − ηm is sent.
///
/// The rule is from memory. Tested: p = 1 and μ = 0 is DSGD bit for bit. Not verified: that the momentum itself is not mixed.
pub(in crate::methods) const PD_SGDM: Kind = Kind {
    name: "pd-sgdm",
    about: "periodic decentralised SGD with momentum: a heavy ball each, averaged every p-th step",
    rule: "m⁺ = βm + g; x½ = x − ηm⁺; X⁺ = WX½ every p-th step, else X½",
    reference: "Gao & Huang 2020",
    parameters: &[HEAVY_BALL, LOCAL_STEPS],
    build: |given| {
        let ball = HeavyBall::new("pd-sgdm", given.real("heavy_ball")?)?;
        local("pd-sgdm", given, Box::new(Dsgd::new(ball)))
    },
    ..LOCAL_DSMT
};
