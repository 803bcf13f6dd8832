//! A network that fails, by the book: the sender of each link keeps the sum of all that it ever pushed, and
//! every message carries it. All messages on their way are kept in one list, and all rows ever offered.

use std::collections::HashMap;

use oneway::engine::unreliable::{Churn, Faults, Missing};
use oneway::engine::{Setup, Turns};
use oneway::graph::Graph;
use oneway::method::{Agents, Heard, Hearing, Profile, Round, RowsMut};
use oneway::numeric::Precision;

/// A message, from whom, to whom, when sent and when there; on the push graph with what it carries.
struct Message {
    link: (usize, usize),
    sent: u64,
    arrival: u64,
    carries: Vec<f64>,
}

pub(crate) struct ByTheBook<'a> {
    setup: Setup<'a>,
    profile: Profile,
    turns: Turns,
    faults: &'a Faults,
    k: u64,
    pub states: Vec<Vec<f64>>,
    pub bytes_sent: u64,
    /// Messages carry what is pushed in their own round alone, and what is lost is lost.
    pub forgets: bool,
    /// Every row ever offered, by round and agent.
    offered: Vec<Vec<Vec<f64>>>,
    pulls: Vec<Message>,
    pushes: Vec<Message>,
    /// ρ of each link, and of the newest message that arrived its round and its ρ_received.
    pushed: HashMap<(usize, usize), Vec<f64>>,
    received: HashMap<(usize, usize), (u64, Vec<f64>)>,
    /// The round of the newest row that has arrived on each link.
    newest: HashMap<(usize, usize), u64>,
}

impl<'a> ByTheBook<'a> {
    pub(crate) fn new(setup: Setup<'a>, faults: &'a Faults) -> oneway::Result<Self> {
        let Setup { method, problem, .. } = setup;
        let (d, profile) = (problem.dim(), method.profile_on(problem));
        let mut turns = Turns::new(&profile, 1, d);
        let mut states = vec![];
        for agent in 0..problem.agents() {
            let mut state = vec![0.0; profile.state.len(d)];
            let at = Round { agent, ..setup.round(0, 0) };
            let row = RowsMut::one(&mut state);
            turns.start(method, problem, profile.start, at, Agents::one(agent), row)?;
            states.push(state);
        }
        Ok(Self {
            states,
            setup,
            profile,
            turns,
            faults,
            k: 0,
            bytes_sent: 0,
            forgets: false,
            offered: vec![],
            pulls: vec![],
            pushes: vec![],
            pushed: HashMap::new(),
            received: HashMap::new(),
            newest: HashMap::new(),
        })
    }

    fn away(&self, agent: usize, k: u64) -> bool {
        match &self.faults.churn {
            Churn::Listed(absences) => {
                absences.iter().any(|a| a.agent == agent && (a.from..a.to).contains(&k))
            }
            _ => false,
        }
    }

    pub(crate) fn round(&mut self) -> oneway::Result<()> {
        let Setup { method, problem, topology, seed, .. } = self.setup;
        let (k, n, d) = (self.k, problem.agents(), problem.dim());
        let (pair, round) = (topology.at(k), self.setup.round(k, 0));
        let at = |agent: usize| Round { agent, ..round };
        let (mut pulls, mut pushes) = (vec![], vec![]);
        for agent in 0..n {
            let [mut pull, mut push] =
                [self.profile.pull, self.profile.push].map(|width| vec![0.0; width.len(d)]);
            if !self.away(agent, k) {
                method.send(at(agent), &mut self.states[agent], &mut pull, &mut push);
            }
            pulls.push(pull);
            pushes.push(push);
        }
        self.offered.push(pulls);

        let [pull_bytes, push_bytes] = self.profile.bytes(0, d, Precision::F64);
        let away: Vec<bool> = (0..n).map(|agent| self.away(agent, k)).collect();
        for link in pair.pull.iter().filter(|link| link.from != link.to && !away[link.from]) {
            self.bytes_sent += pull_bytes as u64;
            if let Some(delay) = self.faults.fate(seed, Graph::Pull, link.from, link.to, k) {
                let arrival = k + u64::from(delay);
                self.pulls.push(Message { link: (link.from, link.to), sent: k, arrival, carries: vec![] });
            }
        }
        for link in pair.push.iter().filter(|link| link.from != link.to && !away[link.from]) {
            self.bytes_sent += push_bytes as u64;
            let ends = (link.from, link.to);
            let ρ = self.pushed.entry(ends).or_insert_with(|| vec![0.0; self.profile.push.len(d)]);
            if self.forgets {
                ρ.fill(0.0);
            }
            ρ.iter_mut().zip(&pushes[link.from]).for_each(|(ρ, x)| *ρ += link.weight * x);
            if let Some(delay) = self.faults.fate(seed, Graph::Push, link.from, link.to, k) {
                let arrival = k + u64::from(delay);
                self.pushes.push(Message { link: ends, sent: k, arrival, carries: ρ.clone() });
            }
        }

        for message in self.pulls.extract_if(.., |message| message.arrival == k).filter(|m| !away[m.link.1]) {
            let newest = self.newest.entry(message.link).or_insert(0);
            *newest = message.sent.max(*newest);
        }
        for agent in (0..n).filter(|&agent| !away[agent]) {
            let pulled = self.pulled(agent);
            let mut pushed: Vec<f64> =
                pushes[agent].iter().map(|x| pair.push.weight(agent, agent) * x).collect();
            for message in self.pushes.iter().filter(|m| m.link.1 == agent && m.arrival == k) {
                let nothing = (0, vec![0.0; pushed.len()]);
                let (newest, ρ_received) = self.received.entry(message.link).or_insert(nothing);
                if message.sent >= *newest {
                    let grown = message.carries.iter().zip(&*ρ_received).map(|(ρ, received)| ρ - received);
                    pushed.iter_mut().zip(grown).for_each(|(sum, grown)| *sum += grown);
                    (*newest, *ρ_received) = (message.sent, message.carries.clone());
                    if self.forgets {
                        ρ_received.fill(0.0);
                    }
                }
            }
            let heard = Heard { state: &mut self.states[agent], pulled: &pulled, pushed: &pushed };
            let mut heard = Hearing::one(agent, heard);
            self.turns.prepare(problem, at(agent), k + 1, Agents::one(agent));
            self.turns.finish(method, problem, &self.profile.exchanges[0], at(agent), &mut heard)?;
        }
        self.pushes.retain(|message| message.arrival > k);
        self.k += 1;
        Ok(())
    }

    /// What an agent pulls: of each neighbour the newest row that reached it while it was there.
    fn pulled(&self, to: usize) -> Vec<f64> {
        let (k, pair) = (self.k, self.setup.topology.at(self.k));
        let fresh =
            |sent: &u64| self.faults.missing == Missing::Latest || k - sent <= u64::from(self.faults.delay);
        let rows = pair.pull.row(to).filter_map(|(from, weight)| {
            let sent = if from == to { Some(k) } else { self.newest.get(&(from, to)).copied().filter(fresh) };
            Some((weight, &self.offered[sent? as usize][from]))
        });
        let rows: Vec<(f64, &Vec<f64>)> = rows.collect();
        let total: f64 = rows.iter().map(|(weight, _)| weight).sum();
        if rows.is_empty() {
            return self.offered[k as usize][to].clone();
        }
        let width = rows[0].1.len();
        (0..width).map(|at| rows.iter().map(|(weight, row)| weight / total * row[at]).sum()).collect()
    }
}
