//! Local updates: several steps between exchanges.
//!
//! After the step that follows an exchange, an agent makes Q − 1 rounds with itself: it sends, and its own
//! rows are handed back, as if R = C = I. Each takes fresh samples. A tracker's law stays: with oneself alone
//! v⁺ = v + m⁺ − m, so Σv = Σm as before; and where all agree on x* with v = 0, a local round changes
//! nothing, so trackers still find x*.
//!
//! Methods that correct by what W did in the round before are refused: the local round has no W. Exact
//! diffusion with Q steps has, for each eigenvalue λ of W̃, a mode of trace (Q+1)λ − (Q−1) and determinant λ,
//! stable only if λ > (Q−2)/(Q+2), whatever η is.

use super::holding::Holding;
use crate::graph::Subgraph;
use crate::method::{
    Ask, Gradient, Heard, InPrecision, Kernel, Method, Network, Point, Profile, Reliance, Repeats, Round,
    SMALLEST, Sizes,
};
use crate::methods::estimator::HeavyBall;
use crate::methods::{Dsgd, Dsmt, HEAVY_BALL, Kind, MOMENTUM, Smtpp, Trust};
use crate::parameters::{Parameter, Parameters};
use crate::{Error, Result};

/// Any method with Q steps for each exchange; Q = 1 is the method itself, bit for bit.
///
/// The state is the inner method's, and for Q > 1 the two rows that an agent sends to itself.
#[derive(Debug)]
pub struct LocalUpdates {
    inner: Holding,
    steps: usize,
    phases: u32,
    /// Turns after the last exchange of an inner round.
    last_turns: usize,
    /// All turns of an inner round: phase, and turn within it.
    round: Vec<(u32, u32)>,
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
        let exchanges = inner.profile(SMALLEST).exchanges;
        let turns = exchanges.iter().map(|exchange| exchange.turns.len() as u32);
        let round =
            (0..).zip(turns).flat_map(|(phase, turns)| (0..turns).map(move |turn| (phase, turn))).collect();
        let last_turns = exchanges.last().map_or(0, |exchange| exchange.turns.len());
        let inner = Holding { inner, holds: steps > 1 };
        Ok(Self { inner, steps, phases: exchanges.len() as u32, last_turns, round })
    }
}

/// Steps for each exchange, at most.
const MOST: usize = 100_000;

impl LocalUpdates {
    /// Where a turn belongs: in the exchange, or in a phase and turn of a round with oneself.
    fn place(&self, at: Round<'_>) -> Place {
        let own = match at.phase + 1 == self.phases {
            true => (at.turn as usize).checked_sub(self.last_turns),
            false => None, // the round goes on
        };
        own.map_or(Place::Exchange, |turn| {
            let (phase, turn) = self.round[turn % self.round.len()];
            Place::Own { phase, turn }
        })
    }
}

/// Where a turn belongs.
enum Place {
    /// After the exchange.
    Exchange,
    /// In a round with oneself, as if R = C = I.
    Own { phase: u32, turn: u32 },
}

impl Method for LocalUpdates {
    fn profile(&self, sizes: Sizes) -> Profile {
        let mut profile = self.inner.profile(sizes);
        let round: Vec<Ask> = profile.exchanges.iter().flat_map(|exchange| exchange.turns.clone()).collect();
        if let Some(last) = profile.exchanges.last_mut() {
            last.turns.extend(std::iter::repeat_n(round, self.steps - 1).flatten());
        }
        profile
    }

    fn inner(&self) -> Option<&dyn Method> {
        Some(&*self.inner.inner)
    }

    fn repeats(&self) -> Option<Repeats> {
        Some(Repeats::Steps(self.steps))
    }

    fn single_precision(&self) -> Option<&dyn Kernel<f32>> {
        self.inner.inner.single_precision().map(|_| self as &dyn Kernel<f32>)
    }
}

impl<T: InPrecision> Kernel<T> for LocalUpdates {
    fn start(&self, at: Round<'_>, x: &[T], gradient: Gradient<'_, T>, state: &mut [T]) {
        self.inner.start(at, x, gradient, state);
    }

    fn send(&self, at: Round<'_>, state: &mut [T], pull: &mut [T], push: &mut [T]) {
        let (state, _) = self.inner.split(state, [pull.len(), push.len()]);
        self.inner.kernel().send(at, state, pull, push);
    }

    fn point(&self, at: Round<'_>, heard: Heard<'_, T>, point: Point<'_, T>) {
        let Heard { state, pulled, pushed } = heard;
        let (state, [own_pull, own_push]) = self.inner.split(state, [pulled.len(), pushed.len()]);
        let inner = self.inner.kernel();
        match self.place(at) {
            Place::Exchange => inner.point(at, Heard { state, pulled, pushed }, point),
            Place::Own { phase, turn } => {
                let at = Round { phase, turn, ..at };
                if turn == 0 {
                    inner.send(at, state, own_pull, own_push);
                }
                inner.point(at, Heard { state, pulled: own_pull, pushed: own_push }, point);
            }
        }
    }

    fn update(&self, at: Round<'_>, heard: Heard<'_, T>, gradient: Gradient<'_, T>) {
        let Heard { state, pulled, pushed } = heard;
        let (state, [own_pull, own_push]) = self.inner.split(state, [pulled.len(), pushed.len()]);
        let inner = self.inner.kernel();
        match self.place(at) {
            Place::Exchange => inner.update(at, Heard { state, pulled, pushed }, gradient),
            Place::Own { phase, turn } => {
                let heard = Heard { state, pulled: own_pull, pushed: own_push };
                inner.update(Round { phase, turn, ..at }, heard, gradient);
            }
        }
    }
}

const LOCAL_STEPS: Parameter =
    Parameter::whole("local_steps", "Q, how many steps there are for each exchange", 2);

/// Not in the literature. Tested: Q = 1 is SMTPP bit for bit, Σv = Σm, and it finds x*. Not verified, for
/// there is no text to verify it against: no rate is known, and how η should shrink with Q is open.
pub(in crate::methods) const LOCAL_SMTPP: Kind = Kind {
    alters: Some("then Q − 1 times the same with R = C = I, without an exchange and with fresh samples"),
    reference: "local updates of Fan, Liao, Xu, Guo & Dian's method",
    trust: Trust::C,
    graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
    parameters: &[MOMENTUM, LOCAL_STEPS],
    ..Kind::new("local-smtpp", "SMTPP with Q steps for each exchange", |given| {
        local("local-smtpp", given, Box::new(Smtpp::new(given.real("momentum")?)?))
    })
};

fn local(owner: &str, given: &Parameters, inner: Box<dyn Method>) -> Result<Box<dyn Method>> {
    Ok(Box::new(LocalUpdates::new(owner, inner, given.count("local_steps")?)?))
}

/// DSMT with Q steps for each exchange.
///
/// A round of DSMT has two exchanges, of models and of trackers. A local step leaves out both: with oneself
/// alone W̄ = I, so that x⁺ = x − ηy; z⁺ = (1−λ)z + λg⁺; y⁺ = y + z⁺ − z. So models and trackers are both
/// mixed in one of Q steps.
///
/// It is *not* LMT, local momentum tracking (Huang & Pu 2025), which it was called here once. LMT has
/// loopless Chebyshev acceleration in its mixing, and how it goes together with local steps could not be
/// established: of its text no more than the abstract could be had, and there is no public code.
/// [`Dsmt::accelerated`] has no local steps, since a heavy ball in the mixing goes on with the move that W
/// made in the round before. Tested: Q = 1 is DSMT bit for bit, Σy = Σz, and it finds x*. No rate is known.
pub(in crate::methods) const LOCAL_DSMT: Kind = Kind {
    name: "local-dsmt",
    about: "DSMT with Q steps for each exchange (LMT without its accelerated mixing)",
    alters: Some("then Q − 1 times the same with W = I, without an exchange and with fresh samples"),
    reference: "local updates of Huang, Pu & Nedić's method",
    graphs: &[Subgraph::Full],
    build: |given| local("local-dsmt", given, Box::new(Dsmt::new(given.real("momentum")?)?)),
    ..LOCAL_SMTPP
};

/// PD-SGDM, periodic decentralised SGD with momentum (Gao & Huang 2020): m⁺ = μm + g; x½ = x − ηm⁺; mixed
/// every p-th step.
///
/// That is DSGD with a heavy ball for estimator and p steps for each exchange: m is at x already when x − ηm
/// is sent.
///
/// The rule is from memory. Tested: p = 1 and μ = 0 is DSGD bit for bit. Not verified: that the momentum
/// itself is not mixed.
pub(in crate::methods) const PD_SGDM: Kind = Kind {
    name: "pd-sgdm",
    about: "periodic decentralised SGD with momentum: a heavy ball each, averaged every p-th step",
    reference: "Gao & Huang 2020",
    parameters: &[HEAVY_BALL, LOCAL_STEPS],
    build: |given| {
        let ball = HeavyBall::new("pd-sgdm", given.real("heavy_ball")?)?;
        local("pd-sgdm", given, Box::new(Dsgd::new(ball)))
    },
    ..LOCAL_DSMT
};
