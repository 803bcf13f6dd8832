//! How long steps and journeys take, in virtual time: the mean step of a nominal agent is one unit.
//!
//! Every time is a draw by counter: the k-th step of an agent, or the m-th message on a link, takes the same
//! time in every run with the same seed, whoever asks first.

use crate::numeric::sample::{Draws, Purpose};
use crate::{Error, Result};

/// The shape of a random time with mean one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Times {
    /// Always the mean.
    Constant,
    /// Uniform on 1 ± `spread`.
    Uniform {
        /// In \[0, 1\].
        spread: f64,
    },
    /// Exponential: without memory.
    Exponential,
    /// exp(σz − σ²/2) with z standard normal: a heavy tail.
    LogNormal {
        /// σ in \[0, 3\].
        sigma: f64,
    },
}

impl Times {
    /// A draw; `exp` and `ln` come from `libm`, so that every machine has the same bits.
    fn draw(self, draws: &mut Draws) -> f64 {
        match self {
            Times::Constant => 1.0,
            Times::Uniform { spread } => 1.0 + spread * (2.0 * draws.unit() - 1.0),
            Times::Exponential => -libm::log(draws.unit()),
            Times::LogNormal { sigma: σ } => libm::exp(σ * draws.normal() - 0.5 * σ * σ),
        }
    }

    fn check(self, name: &str) -> Result<()> {
        match self {
            Times::Uniform { spread } if !(0.0..=1.0).contains(&spread) => {
                Err(Error::parameter(name, "spread", spread, "times are uniform on 1 ± spread, from 0 to 1"))
            }
            Times::LogNormal { sigma } if !(0.0..=3.0).contains(&sigma) => {
                Err(Error::parameter(name, "sigma", sigma, "σ of log-normal times is from 0 to 3"))
            }
            _ => Ok(()),
        }
    }
}

/// The speeds of agents and links.
///
/// ```
/// use oneway::engine::asynchronous::{Clock, Times};
/// let clock = Clock { step: Times::Exponential, slow_share: 0.2, slow_factor: 5.0, loss: 0.1, ..Clock::EVEN };
/// assert!(clock.check().is_ok());
/// assert!(Clock { loss: 1.0, ..clock }.check().unwrap_err().to_string().contains("`loss` = 1"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// How an agent's steps vary around its own mean.
    pub step: Times,
    /// Agents' mean steps are drawn uniformly from 1 ± `spread`.
    pub spread: f64,
    /// The share of the agents, drawn at random, that are slow.
    pub slow_share: f64,
    /// How many times as long their mean steps are.
    pub slow_factor: f64,
    /// The mean time of a message on its way.
    pub latency: f64,
    /// How it varies.
    pub journey: Times,
    /// The probability that a message is lost.
    pub loss: f64,
}

/// The largest factor of slow agents, and the largest mean latency: what is on its way must be kept.
const LONGEST: f64 = 1000.0;

impl Clock {
    /// All steps take one unit and messages no time, and none is lost: rounds in step.
    pub const EVEN: Clock = Clock {
        step: Times::Constant,
        spread: 0.0,
        slow_share: 0.0,
        slow_factor: 1.0,
        latency: 0.0,
        journey: Times::Constant,
        loss: 0.0,
    };

    /// Whether all is within its range.
    pub fn check(&self) -> Result<()> {
        self.step.check("clock.step")?;
        self.journey.check("clock.latency")?;
        let within = |name, value: f64, range: std::ops::RangeInclusive<f64>| match range.contains(&value) {
            true => Ok(()),
            false => {
                let expected = format!("it is from {} to {}", range.start(), range.end());
                Err(Error::parameter("clock", name, value, expected))
            }
        };
        within("spread", self.spread, 0.0..=0.99)?;
        within("slow.share", self.slow_share, 0.0..=1.0)?;
        within("slow.factor", self.slow_factor, 1.0..=LONGEST)?;
        within("latency", self.latency, 0.0..=LONGEST)?;
        within("loss", self.loss, 0.0..=0.99)
    }

    /// The mean step of each of n agents.
    pub fn paces(&self, seed: u64, n: usize) -> Vec<f64> {
        let draws = |agent, phase| Draws::new(seed, Purpose::Clock, agent, 0).in_phase(phase);
        let uniform = Times::Uniform { spread: self.spread };
        let mut paces: Vec<f64> = (0..n).map(|agent| uniform.draw(&mut draws(agent, 1))).collect();
        let mut order: Vec<usize> = (0..n).collect();
        draws(0, 2).shuffle(&mut order);
        let slow = (self.slow_share * n as f64).round() as usize;
        order.iter().take(slow).for_each(|&agent| paces[agent] *= self.slow_factor);
        paces
    }

    /// How long the step takes that turns an agent's state k into its state k + 1, for a mean of one.
    pub(super) fn step_time(&self, seed: u64, agent: usize, k: u64) -> f64 {
        self.step.draw(&mut Draws::new(seed, Purpose::Clock, agent, k))
    }

    /// The draws of message `number` from one agent to another; an agent's id has at most 24 bits, as a phase
    /// has.
    fn draws(seed: u64, graph: Purpose, [from, to]: [u32; 2], number: u64) -> Draws {
        Draws::new(seed, graph, from as usize, number).in_phase(to)
    }

    /// One attempt to get a message across: how long it takes, and whether it is lost on the way.
    fn attempt(&self, draws: &mut Draws) -> (f64, bool) {
        let lost = self.loss > 0.0 && draws.unit() < self.loss;
        let latency = if self.latency > 0.0 { self.latency * self.journey.draw(draws) } else { 0.0 };
        (latency, lost)
    }

    /// How long a message is on its way; `None` if it is lost.
    pub(super) fn journey(&self, seed: u64, graph: Purpose, link: [u32; 2], number: u64) -> Option<f64> {
        let (latency, lost) = self.attempt(&mut Self::draws(seed, graph, link, number));
        (!lost).then_some(latency)
    }

    /// How long it takes until a message has arrived that is sent again whenever it is lost: a loss is
    /// noticed after the time that the journey would have taken, and the next attempt begins at once.
    pub(super) fn certain_journey(&self, seed: u64, graph: Purpose, link: [u32; 2], number: u64) -> f64 {
        let mut draws = Self::draws(seed, graph, link, number);
        let mut total = 0.0;
        loop {
            let (latency, lost) = self.attempt(&mut draws);
            total += latency;
            if !lost {
                return total;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_mean_one_and_are_positive() {
        let shapes = [
            Times::Constant,
            Times::Uniform { spread: 1.0 },
            Times::Uniform { spread: 0.3 },
            Times::Exponential,
            Times::LogNormal { sigma: 1.0 },
        ];
        for shape in shapes {
            let clock = Clock { step: shape, ..Clock::EVEN };
            let times: Vec<f64> = (0..200_000).map(|k| clock.step_time(7, 3, k)).collect();
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            assert!((mean - 1.0).abs() < 0.02, "{shape:?}: mean {mean}");
            assert!(times.iter().all(|time| *time > 0.0), "{shape:?}");
        }
    }

    #[test]
    fn so_many_agents_are_slow_and_others_lie_around_one() {
        let clock = Clock { spread: 0.2, slow_share: 0.25, slow_factor: 5.0, ..Clock::EVEN };
        let paces = clock.paces(3, 40);
        assert_eq!(paces.iter().filter(|pace| **pace > 2.0).count(), 10);
        assert!(paces.iter().all(|pace| (0.8..=1.2).contains(pace) || (4.0..=6.0).contains(pace)));
        assert_ne!(paces, clock.paces(4, 40));
        assert_eq!(Clock::EVEN.paces(1, 3), [1.0; 3]);
    }

    #[test]
    fn messages_are_lost_as_often_as_it_says_and_arrive_when_sent_again() {
        let clock = Clock { loss: 0.3, latency: 0.5, journey: Times::Exponential, ..Clock::EVEN };
        let journeys: Vec<Option<f64>> =
            (0..50_000).map(|m| clock.journey(1, Purpose::PushJourney, [2, 3], m)).collect();
        let lost = journeys.iter().filter(|journey| journey.is_none()).count() as f64 / 5e4;
        assert!((lost - 0.3).abs() < 0.01, "{lost}");
        let mean =
            (0..50_000).map(|m| clock.certain_journey(1, Purpose::PushJourney, [2, 3], m)).sum::<f64>() / 5e4;
        // 1/(1 − 0.3) attempts of half a unit each
        assert!((mean - 0.5 / 0.7).abs() < 0.02, "{mean}");
        for (m, journey) in (0..50_000).zip(journeys) {
            let certain = clock.certain_journey(1, Purpose::PushJourney, [2, 3], m);
            assert!(journey.is_none_or(|journey| journey == certain)); // the first attempt is the same one
        }
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        let even = Clock::EVEN;
        for (clock, name) in [
            (Clock { loss: 1.0, ..even }, "`loss` = 1"),
            (Clock { loss: f64::NAN, ..even }, "`loss` = NaN"),
            (Clock { spread: 1.0, ..even }, "`spread` = 1"),
            (Clock { slow_share: -0.1, ..even }, "`slow.share` = -0.1"),
            (Clock { slow_factor: 0.5, ..even }, "`slow.factor` = 0.5"),
            (Clock { latency: f64::INFINITY, ..even }, "`latency` = inf"),
            (Clock { step: Times::Uniform { spread: 2.0 }, ..even }, "clock.step: `spread` = 2"),
            (Clock { journey: Times::LogNormal { sigma: 4.0 }, ..even }, "clock.latency: `sigma` = 4"),
        ] {
            let message = clock.check().unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
    }
}
