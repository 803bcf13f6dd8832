//! What goes wrong, and when: every event is a pure function of the seed and of where it happens.

use crate::graph::Graph;
use crate::numeric::sample::{Draws, Purpose};
use crate::{Error, Result};

/// The longest bound on delays: each round of delay costs a row a link.
const LONGEST_DELAY: u32 = 1000;

/// How a network fails. The default is one that does not.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Faults {
    /// p in [0, 1): each message on each link is lost with this probability, pulls and pushes independently.
    pub loss: f64,
    /// τ: each message that is not lost takes 0 to τ rounds, each as likely.
    pub delay: u32,
    /// What an agent pulls in place of what did not come.
    pub missing: Missing,
    /// Who is away when.
    pub churn: Churn,
}

/// What an agent pulls from a neighbour whose newest row was lost or is late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// Nothing: a row older than τ rounds does not count, and the weights of the others are divided by their
    /// sum. So R is row-stochastic in every round, and another one in each.
    #[default]
    Renormalise,
    /// The newest row that has arrived, however old. Before the first has, as above.
    Latest,
}

impl Missing {
    /// All of them, with their names in an experiment file.
    pub const NAMED: [(&'static str, Missing); 2] =
        [("renormalise", Missing::Renormalise), ("latest", Missing::Latest)];
}

/// Agents that leave and come back. Who is away neither sends nor steps, and what arrives at it is as good as
/// lost; then it goes on from the state that it had.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Churn {
    /// Everyone stays.
    #[default]
    None,
    /// Everyone is there at first. In each round who is there leaves with probability 1/up, and who is away
    /// comes back with probability 1/down: the mean times in rounds, both at least 1.
    Drawn {
        /// Mean rounds until an agent leaves.
        up: f64,
        /// Mean rounds until it comes back.
        down: f64,
    },
    /// These absences and no others.
    Listed(Vec<Absence>),
}

/// An agent is away in rounds `from` ≤ k < `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Absence {
    /// Who.
    pub agent: usize,
    /// The first round without it.
    pub from: u64,
    /// The first round with it again.
    pub to: u64,
}

impl Faults {
    /// Whether anything can go wrong at all.
    pub fn are_none(&self) -> bool {
        self.loss == 0.0 && self.delay == 0 && self.churn == Churn::None
    }

    /// Whether these are possible among `agents` agents; the error says what would be right.
    ///
    /// ```
    /// use oneway::engine::unreliable::Faults;
    /// assert!(Faults { loss: 0.3, delay: 5, ..Faults::default() }.check(20).is_ok());
    /// let error = Faults { loss: 1.0, ..Faults::default() }.check(20).unwrap_err();
    /// assert!(error.to_string().starts_with("network: `loss` = 1 is not possible"));
    /// ```
    pub fn check(&self, agents: usize) -> Result<()> {
        let wrong = |name: &str, value: &dyn ToString, expected: String| {
            Err(Error::parameter("network", name, value.to_string(), expected))
        };
        if !(0.0..1.0).contains(&self.loss) {
            return wrong("loss", &self.loss, "it must be from 0 to less than 1".to_owned());
        }
        if self.delay > LONGEST_DELAY {
            return wrong("delay", &self.delay, format!("it must be at most {LONGEST_DELAY} rounds"));
        }
        match &self.churn {
            Churn::None => Ok(()),
            Churn::Drawn { up, down } => {
                let mean = |rounds: &f64| (1.0..f64::INFINITY).contains(rounds);
                match [("churn.up", up), ("churn.down", down)].into_iter().find(|(_, rounds)| !mean(rounds)) {
                    Some((name, rounds)) => {
                        wrong(name, rounds, "it must be a mean of at least 1 round".to_owned())
                    }
                    None => Ok(()),
                }
            }
            Churn::Listed(absences) => absences.iter().try_for_each(|&Absence { agent, from, to }| {
                if agent >= agents {
                    return wrong(
                        "churn.agent",
                        &agent,
                        format!("with {agents} agents the ids are 0 to {}", agents - 1),
                    );
                }
                if from >= to {
                    return wrong(
                        "churn.to",
                        &to,
                        format!("agent {agent} leaves in round {from} and must come back in a later one"),
                    );
                }
                Ok(())
            }),
        }
    }

    /// What becomes of the message that agent `from` sends to agent `to` in round k: the rounds that it
    /// takes, or nothing if it is lost.
    ///
    /// ```
    /// use oneway::engine::unreliable::Faults;
    /// use oneway::graph::Graph;
    /// let faults = Faults { loss: 0.3, ..Faults::default() };
    /// let arrived = (0..1000).filter(|&k| faults.fate(1, Graph::Push, 3, 4, k) == Some(0)).count();
    /// assert!((650..750).contains(&arrived));
    /// ```
    pub fn fate(&self, seed: u64, graph: Graph, from: usize, to: usize, k: u64) -> Option<u32> {
        if self.loss == 0.0 && self.delay == 0 {
            return Some(0);
        }
        let purpose = match graph {
            Graph::Pull => Purpose::PullLink,
            Graph::Push => Purpose::PushLink,
        };
        let mut draws = Draws::new(seed, purpose, to, k).in_phase(from as u32);
        let lost = draws.unit() < self.loss;
        (!lost).then(|| draws.below(self.delay as usize + 1) as u32)
    }
}

/// Who is away in the round that comes.
#[derive(Debug)]
pub(super) struct Presence {
    churn: Churn,
    seed: u64,
    away: Vec<bool>,
}

impl Presence {
    pub(super) fn new(churn: Churn, agents: usize, seed: u64) -> Self {
        Self { churn, seed, away: vec![false; agents] }
    }

    /// Round k begins; rounds come one by one, from 0.
    pub(super) fn enter(&mut self, k: u64) {
        match &self.churn {
            Churn::None => {}
            Churn::Drawn { up, down } if k > 0 => {
                for (agent, away) in self.away.iter_mut().enumerate() {
                    let mean = if *away { down } else { up };
                    *away ^= Draws::new(self.seed, Purpose::Churn, agent, k).unit() < 1.0 / mean;
                }
            }
            Churn::Drawn { .. } => {}
            Churn::Listed(absences) => {
                self.away.fill(false);
                for absence in absences.iter().filter(|absence| (absence.from..absence.to).contains(&k)) {
                    self.away[absence.agent] = true;
                }
            }
        }
    }

    pub(super) fn is_away(&self, agent: usize) -> bool {
        self.away[agent]
    }
}
