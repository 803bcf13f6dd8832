//! What has been pushed and has not arrived: mass is late, never lost.
//!
//! On each link the sender keeps the sum ρ of all that it has ever pushed there, and a message carries ρ. The receiver keeps the
//! ρ̃ of the newest message that it has, and takes ρ − ρ̃ in. So a message makes good whatever was lost before it.
//!
//! Here the same is kept as differences, which do not grow without bound: for each link a queue of rows, one for each
//! message that will still bring something. A message that arrives no later than an earlier one takes over what that one would
//! bring, so the rounds of arrival in a queue ascend. What was lost waits at the end, until a message comes that carries it.

use super::links::{Links, Queues};
use super::{Exchange, Graph, Sum};
use crate::matrix::Matrix;
use crate::mixing::Mixing;

/// When a lost message arrives.
const NEVER: u64 = u64::MAX;

/// Pushed rows on their way, link by link: (τ + 1)·width numbers a link.
#[derive(Debug)]
pub(super) struct Mass {
    links: Links,
    queues: Queues,
    /// By place: the round of arrival, and the row.
    arrivals: Vec<u64>,
    rows: Matrix,
    width: usize,
}

impl Mass {
    pub(super) fn new(links: Links, delay: u32, width: usize) -> Self {
        let queues = Queues::new(links.count(), delay as usize + 1);
        let places = queues.places();
        Self { links, queues, arrivals: vec![NEVER; places], rows: Matrix::new(places, width), width }
    }

    /// One agent's round: everyone it hears pushes to it, and what arrives is added to `sum`. Returns how many messages were
    /// sent to it.
    pub(super) fn exchange(
        &mut self,
        at: &Exchange<'_>,
        push: &Mixing,
        to: usize,
        pushes: &Matrix,
        sum: &mut Sum<'_>,
    ) -> u64 {
        let mut sent = 0;
        let there = !at.is_away(to);
        let Self { links, queues, arrivals, rows, width } = self;
        let mut queue = Waiting { queues, arrivals, rows, width: *width };
        for (link, from, weight) in links.heard(push, to) {
            if from == to {
                if let (true, Some(weight)) = (there, weight) {
                    sum.add(weight, pushes.row(to, *width)); // C_ii push_i
                }
                continue;
            }
            queue.arrive(link, at.k, there, sum);
            let Some(weight) = weight.filter(|_| !at.is_away(from)) else { continue };
            sent += 1;
            let row = pushes.row(from, *width);
            match at.fate(Graph::Push, from, to) {
                Some(0) if there => {
                    sum.add(weight, row); // C_ij push_j, and all that has not arrived yet
                    queue.drain(link, sum);
                }
                None | Some(0) => queue.put(link, NEVER, weight, row),
                Some(delay) => queue.put(link, at.k + u64::from(delay), weight, row),
            }
        }
        sent
    }

    /// Σ over all links of what is on its way, written into `sum`.
    pub(super) fn on_its_way(&self, sum: &mut Sum<'_>) {
        for link in 0..self.links.count() {
            for place in self.queues.of(link) {
                sum.add(1.0, self.rows.row(place, self.width));
            }
        }
    }
}

/// The queues, and what is in their places.
struct Waiting<'m> {
    queues: &'m mut Queues,
    arrivals: &'m mut [u64],
    rows: &'m mut Matrix,
    width: usize,
}

impl Waiting<'_> {
    /// What arrives on a link in round k of what was sent in earlier rounds. Where nobody is, it stays for the next message.
    fn arrive(&mut self, link: usize, k: u64, there: bool, sum: &mut Sum<'_>) {
        let [front, next] = self.queues.oldest(link);
        let Some(front) = front.filter(|&front| self.arrivals[front] == k) else { return };
        if there {
            sum.add(1.0, self.rows.row(front, self.width));
        } else if let Some(next) = next {
            self.merge(front, next);
        } else {
            self.arrivals[front] = NEVER;
            return;
        }
        self.queues.pop_front(link);
    }

    /// All that waits on a link comes with the message that has arrived.
    fn drain(&mut self, link: usize, sum: &mut Sum<'_>) {
        self.queues.of(link).for_each(|place| sum.add(1.0, self.rows.row(place, self.width)));
        self.queues.clear(link);
    }

    /// A message that will arrive later, with all that would come after it.
    fn put(&mut self, link: usize, arrival: u64, weight: f64, row: &[f64]) {
        loop {
            let later = |place: &usize| self.arrivals[*place] >= arrival;
            match self.queues.newest(link).map(|place| place.filter(later)) {
                [Some(last), Some(before)] => {
                    self.merge(last, before);
                    self.queues.pop_back(link);
                }
                [Some(last), None] => {
                    Sum::onto(self.rows.row_mut(last, self.width)).add(weight, row);
                    self.arrivals[last] = arrival;
                    return;
                }
                [None, _] => {
                    let place = self.queues.push_back(link);
                    Sum::new(self.rows.row_mut(place, self.width)).add(weight, row);
                    self.arrivals[place] = arrival;
                    return;
                }
            }
        }
    }

    /// Adds one place's row to another's.
    fn merge(&mut self, from: usize, into: usize) {
        let (from, into) = self.rows.row_and_other(from, into, self.width);
        Sum::onto(into).add(1.0, from);
    }
}
