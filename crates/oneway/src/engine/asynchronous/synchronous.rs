//! Virtual time for synchronous methods: the same clocks, and everyone waits.

use super::clock::Clock;
use crate::Result;
use crate::engine::observe::View;
use crate::engine::{Engine, Setup};
use crate::graph::mixing::Mixing;
use crate::method::Profile;
use crate::numeric::sample::Purpose;

/// An engine with a clock: rounds are those of the engine inside, and each is charged the time that it takes.
///
/// Agent i does its step of round k when it has its own state k and the messages of all whom it hears:
///
/// ```text
/// T_i(k+1) = max(T_i(k), max_j (T_j(k) + latency of message k from j to i)) + time of i's k-th step
/// ```
///
/// where j goes over the senders of R and of C that the method hears. State k is there when the last agent
/// has it: its time is max_i T_i(k). So a round lasts as long as its slowest step and the slowest link waited
/// for, and an agent that is far from a slow one waits as soon as the delay has come through to it.
/// Synchronous methods need every message: one that is lost is sent again, and each attempt takes as long as
/// a journey. In a method with several exchanges a round each is waited for, and the step's time is charged
/// once.
///
/// With everyone hearing everyone, an agent sends one message that all hear at once.
pub struct Synchronous<'a> {
    engine: Box<dyn Engine<'a> + Send + 'a>,
    clock: Clock,
    paces: Vec<f64>,
    profile: Profile,
    /// T_i(k), and room for T_i(k+1).
    done: [Vec<f64>; 2],
}

impl std::fmt::Debug for Synchronous<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Synchronous")
            .field("clock", &self.clock)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

impl<'a> Synchronous<'a> {
    /// Puts a clock beside an engine at state 0.
    pub fn new(engine: Box<dyn Engine<'a> + Send + 'a>, clock: Clock) -> Result<Self> {
        clock.check()?;
        let Setup { method, problem, seed, .. } = engine.setup();
        let n = problem.agents();
        let (paces, profile) = (clock.paces(seed, n), method.profile_on(problem));
        Ok(Self { engine, clock, paces, profile, done: [vec![0.0; n], vec![0.0; n]] })
    }

    /// All agents wait for message `number` of those whom they hear.
    fn wait(&mut self, mixing: &Mixing, graph: Purpose, seed: u64, number: u64) {
        let [sent, heard] = &mut self.done;
        let arrival = |link: [usize; 2]| {
            let journey = link.map(|agent| agent as u32);
            sent[link[0]] + self.clock.certain_journey(seed, graph, journey, number)
        };
        if mixing.has_one_row() {
            let last = (0..sent.len()).map(|j| arrival([j, j])).fold(0.0, f64::max);
            return heard.iter_mut().for_each(|heard| *heard = heard.max(last));
        }
        for link in mixing.iter().filter(|link| link.from != link.to) {
            heard[link.to] = heard[link.to].max(arrival([link.from, link.to]));
        }
    }
}

impl<'a> Engine<'a> for Synchronous<'a> {
    fn setup(&self) -> Setup<'a> {
        self.engine.setup()
    }

    fn round(&mut self) -> Result<()> {
        let k = self.engine.view().k;
        let Setup { topology, seed, .. } = self.engine.setup();
        let (pair, phases) = (topology.at(k), u64::from(self.profile.phases()));
        for phase in 0..phases {
            let [sent, heard] = &mut self.done;
            heard.copy_from_slice(sent);
            let number = k * phases + phase;
            if !self.profile.pull.is_empty() {
                self.wait(&pair.pull, Purpose::PullJourney, seed, number);
            }
            if !self.profile.push.is_empty() {
                self.wait(&pair.push, Purpose::PushJourney, seed, number);
            }
            self.done.swap(0, 1);
        }
        for (i, (done, pace)) in self.done[0].iter_mut().zip(&self.paces).enumerate() {
            *done += pace * self.clock.step_time(seed, i, k);
        }
        self.engine.round()
    }

    fn starved(&self) -> Option<u64> {
        self.engine.starved()
    }

    fn view(&self) -> View<'_> {
        let time = self.done[0].iter().copied().fold(0.0, f64::max);
        View { time: Some(time), ..self.engine.view() }
    }
}
