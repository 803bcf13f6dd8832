//! What has been pulled: of each neighbour the newest row that has arrived.

use super::links::{Links, Queues};
use super::{Exchange, Graph, Missing, Sum};
use crate::matrix::Matrix;
use crate::mixing::Mixing;

/// The round of a row that has not arrived yet.
const NEVER: u64 = u64::MAX;

/// Which rows have arrived, link by link, and those themselves that may be old.
#[derive(Debug)]
pub(super) struct News {
    links: Links,
    /// Messages on their way that are newer than those that will arrive before them.
    queues: Queues,
    /// By place: the rounds of sending and of arrival.
    sent: Vec<u64>,
    arrivals: Vec<u64>,
    /// By link: the round in which the newest row that has arrived was sent.
    newest: Vec<u64>,
    /// By link: that row itself, where rows may be older than τ rounds.
    kept: Option<Matrix>,
    /// The rows that every agent offered in the last τ + 1 rounds.
    offered: Vec<Matrix>,
    width: usize,
}

impl News {
    pub(super) fn new(links: Links, agents: usize, delay: u32, missing: Missing, width: usize) -> Self {
        let queues = Queues::new(links.count(), delay.max(1) as usize);
        let places = queues.places();
        Self {
            sent: vec![NEVER; places],
            arrivals: vec![NEVER; places],
            newest: vec![NEVER; links.count()],
            kept: (missing == Missing::Latest).then(|| Matrix::new(links.count(), width)),
            offered: (0..=delay).map(|_| Matrix::new(agents, width)).collect(),
            links,
            queues,
            width,
        }
    }

    /// Where an agent's row of round k goes.
    pub(super) fn offer(&mut self, k: u64, agent: usize) -> &mut [f64] {
        let round = self.place_of(k);
        self.offered[round].row_mut(agent, self.width)
    }

    fn place_of(&self, k: u64) -> usize {
        (k % self.offered.len() as u64) as usize
    }

    /// One agent's round: everyone it hears sends to it. Returns how many messages were sent.
    pub(super) fn exchange(&mut self, at: &Exchange<'_>, pull: &Mixing, to: usize) -> u64 {
        let mut sent = 0;
        for (link, from, weight) in self.links.heard(pull, to).filter(|(_, from, _)| *from != to) {
            let mut arrived = None;
            let [front, _] = self.queues.oldest(link);
            if let Some(front) = front.filter(|&front| self.arrivals[front] == at.k) {
                arrived = Some(self.sent[front]);
                self.queues.pop_front(link);
            }
            if weight.is_some() && !at.is_away(from) {
                sent += 1;
                match at.fate(Graph::Pull, from, to) {
                    None => {}
                    Some(0) => {
                        arrived = Some(at.k);
                        self.queues.clear(link); // they are older
                    }
                    Some(delay) => {
                        let arrival = at.k + u64::from(delay);
                        let later = |place: usize| self.arrivals[place] >= arrival;
                        while self.queues.newest(link)[0].is_some_and(later) {
                            self.queues.pop_back(link);
                        }
                        let place = self.queues.push_back(link);
                        (self.sent[place], self.arrivals[place]) = (at.k, arrival);
                    }
                }
            }
            let Some(round) = arrived.filter(|_| !at.is_away(to)) else { continue };
            self.newest[link] = round;
            let offered = (round % self.offered.len() as u64) as usize;
            if let Some(kept) = &mut self.kept {
                kept.row_mut(link, self.width).copy_from_slice(self.offered[offered].row(from, self.width));
            }
        }
        sent
    }

    /// Σ_j R_ij pull_j over those whose rows have arrived, divided by Σ_j R_ij where some have not; the agent's own row if
    /// there is no one at all, not even itself.
    pub(super) fn mix(&self, k: u64, pull: &Mixing, to: usize, out: &mut [f64]) {
        let row = |link: usize, from: usize| -> Option<&[f64]> {
            let round = if from == to { k } else { self.newest[link] };
            match &self.kept {
                Some(kept) if from != to => (round != NEVER).then(|| kept.row(link, self.width)),
                _ => {
                    let fresh = round != NEVER && k - round < self.offered.len() as u64;
                    fresh.then(|| self.offered[self.place_of(round)].row(from, self.width))
                }
            }
        };
        let heard =
            || self.links.heard(pull, to).filter_map(|(link, from, weight)| Some((row(link, from), weight?)));
        let (mut total, mut all) = (0.0, true);
        for (row, weight) in heard() {
            match row {
                Some(_) => total += weight,
                None => all = false,
            }
        }
        let mut sum = Sum::new(out);
        for (row, weight) in heard().filter_map(|(row, weight)| Some((row?, weight))) {
            sum.add(if all { weight } else { weight / total }, row);
        }
        if sum.is_empty() {
            sum.add(1.0, self.offered[self.place_of(k)].row(to, self.width));
        }
    }
}
