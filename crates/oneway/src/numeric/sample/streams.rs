//! The streams of many agents, made when somebody draws.

use super::{Draws, Purpose};

/// The streams of agents at one round and phase. They are made when they are first asked for: who draws nothing
/// need not wait for a million of them.
///
/// ```
/// use oneway::numeric::sample::{Draws, Purpose, Streams};
/// let mut streams = Streams::new(7, Purpose::Gradient, 3, 100, 0);
/// let mut second = Draws::new(7, Purpose::Gradient, 1, 100);
/// assert_eq!(streams.each()[1].bits(), second.bits());
/// ```
#[derive(Debug, Clone)]
pub struct Streams {
    /// Seed, purpose, round and phase.
    at: (u64, Purpose, u64, u32),
    agents: usize,
    made: Vec<Draws>,
}

impl Streams {
    /// The streams of agents 0 to `agents` − 1 at a round and a [phase](Draws::in_phase).
    pub fn new(seed: u64, purpose: Purpose, agents: usize, round: u64, phase: u32) -> Self {
        Self { at: (seed, purpose, round, phase), agents, made: vec![] }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.agents
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.agents == 0
    }

    /// One for each agent.
    pub fn each(&mut self) -> &mut [Draws] {
        if self.made.len() < self.agents {
            let (seed, purpose, round, phase) = self.at;
            let stream = |agent| Draws::new(seed, purpose, agent, round).in_phase(phase);
            self.made = (0..self.agents).map(stream).collect();
        }
        &mut self.made
    }
}

/// Streams that are there already.
impl From<Vec<Draws>> for Streams {
    fn from(made: Vec<Draws>) -> Self {
        Self { at: (0, Purpose::Gradient, 0, 0), agents: made.len(), made }
    }
}
