//! What has been pulled: of each neighbour the newest row that has arrived.

use super::links::{Links, NEVER, Queues};
use super::{Exchange, Missing};
use crate::graph::Graph;
use crate::graph::mixing::Mixing;
use crate::numeric::matrix::Matrix;
use crate::numeric::row::Sum;

/// Which rows have arrived, link by link, and those themselves that may be old.
#[derive(Debug)]
pub(super) struct News {
    links: Links,
    /// Messages on their way, in the order of sending, and the round of that by place.
    queues: Queues,
    sent: Vec<u64>,
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
        let queues = Queues::new(links.count(), delay);
        Self {
            sent: vec![NEVER; queues.places()],
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
        let round = (k % self.offered.len() as u64) as usize;
        self.offered[round].row_mut(agent, self.width)
    }

    /// The row that an agent offered in round k, which is at most τ rounds ago.
    fn offered(&self, k: u64, agent: usize) -> &[f64] {
        self.offered[(k % self.offered.len() as u64) as usize].row(agent, self.width)
    }

    /// One agent's round: everyone it hears sends to it. Returns how many messages were sent.
    pub(super) fn exchange(&mut self, at: &Exchange<'_>, pull: &Mixing, to: usize) -> u64 {
        let (mut messages, there) = (0, !at.is_away(to));
        let Self { links, queues, sent, newest, kept, offered, width } = self;
        for (link, from, weight) in links.heard(pull, to).filter(|(_, from, _)| *from != to) {
            let mut arrived = match queues.arriving(link, at.k) {
                0 => None,
                arriving if there => {
                    let round = queues.of(link).nth(arriving - 1).map(|place| sent[place]);
                    queues.pop(link, arriving); // the newest of them, and what it overtook
                    round
                }
                _ => {
                    queues.lose(link, at.k);
                    None
                }
            };
            while queues.oldest_is_lost(link) {
                queues.pop(link, 1);
            }
            if weight.is_some() && !at.is_away(from) {
                messages += 1;
                match at.fate(Graph::Pull, from, to) {
                    Some(0) if there => {
                        arrived = Some(at.k);
                        queues.pop(link, queues.length(link)); // they are older
                    }
                    None | Some(0) => {}
                    Some(delay) => sent[queues.push(link, at.k + u64::from(delay))] = at.k,
                }
            }
            let Some(round) = arrived else { continue };
            newest[link] = round;
            if let Some(kept) = kept {
                let offered = &offered[(round % offered.len() as u64) as usize];
                kept.row_mut(link, *width).copy_from_slice(offered.row(from, *width));
            }
        }
        messages
    }

    /// Σ_j R_ij pull_j over those whose rows have arrived, divided by Σ_j R_ij where some have not; the
    /// agent's own row if there is no one at all, not even itself.
    pub(super) fn mix(&self, k: u64, pull: &Mixing, to: usize, out: &mut [f64]) {
        let row = |link: usize, from: usize| match (&self.kept, self.newest[link]) {
            _ if from == to => Some(self.offered(k, to)),
            (_, NEVER) => None,
            (Some(kept), _) => Some(kept.row(link, self.width)),
            (None, round) => (k - round < self.offered.len() as u64).then(|| self.offered(round, from)),
        };
        let heard =
            || self.links.heard(pull, to).filter_map(|(link, from, weight)| Some((row(link, from), weight?)));
        let all = heard().all(|(row, _)| row.is_some());
        let total: f64 = heard().filter(|(row, _)| row.is_some()).map(|(_, weight)| weight).sum();
        let mut sum = Sum::new(out);
        for (row, weight) in heard().filter_map(|(row, weight)| Some((row?, weight))) {
            sum.add(if all { weight } else { weight / total }, row);
        }
        if sum.is_empty() {
            sum.add(1.0, self.offered(k, to));
        }
    }
}
