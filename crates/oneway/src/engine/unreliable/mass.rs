//! What has been pushed and has not arrived: mass is late, never lost.
//!
//! On each link the sender keeps the sum ρ of all that it has ever pushed there, and a message carries ρ. The
//! receiver keeps the ρ̃ of the newest message that it has, and takes ρ − ρ̃ in. So a message makes good
//! whatever was lost before it.
//!
//! Here the same is kept as differences, which do not grow without bound: for each link a queue of rows, one
//! for each message on its way, with what was pushed since the message before. A message that arrives brings
//! its own row and all older ones. The row of a message that was lost waits for the next one.

use super::Exchange;
use super::links::{Links, NEVER, Queues};
use crate::graph::Graph;
use crate::graph::mixing::Mixing;
use crate::numeric::matrix::Matrix;
use crate::numeric::row::Sum;

/// Pushed rows on their way, link by link: max(τ, 1)·width numbers a link.
#[derive(Debug)]
pub(super) struct Mass {
    links: Links,
    queues: Queues,
    /// By place.
    rows: Matrix,
    width: usize,
}

impl Mass {
    pub(super) fn new(links: Links, delay: u32, width: usize) -> Self {
        let queues = Queues::new(links.count(), delay);
        let rows = Matrix::new(queues.places(), width);
        Self { links, queues, rows, width }
    }

    /// One agent's round: everyone it hears pushes to it, and what arrives is added to `sum`. Returns how
    /// many messages were sent to it.
    pub(super) fn exchange(
        &mut self,
        at: &Exchange<'_>,
        push: &Mixing,
        to: usize,
        pushes: &Matrix,
        sum: &mut Sum<'_>,
    ) -> u64 {
        let (mut messages, there) = (0, !at.is_away(to));
        let Self { links, queues, rows, width } = self;
        let mut waiting = Waiting { queues, rows, width: *width };
        for (link, from, weight) in links.heard(push, to) {
            if from == to {
                if let (true, Some(weight)) = (there, weight) {
                    sum.add(weight, pushes.row(to, *width)); // C_ii push_i
                }
                continue;
            }
            waiting.arrive(link, at.k, there, sum);
            let Some(weight) = weight.filter(|_| !at.is_away(from)) else { continue };
            messages += 1;
            let row = pushes.row(from, *width);
            match at.fate(Graph::Push, from, to) {
                Some(0) if there => {
                    sum.add(weight, row); // C_ij push_j, and all that has not arrived yet
                    waiting.bring(link, waiting.queues.length(link), sum);
                }
                None | Some(0) => waiting.put(link, NEVER, weight, row),
                Some(delay) => waiting.put(link, at.k + u64::from(delay), weight, row),
            }
        }
        messages
    }

    /// Adds all that is on its way to `sum`.
    pub(super) fn on_its_way(&self, sum: &mut Sum<'_>) {
        for place in (0..self.links.count()).flat_map(|link| self.queues.of(link)) {
            sum.add(1.0, self.rows.row(place, self.width));
        }
    }
}

/// The queues, and what is in their places.
struct Waiting<'m> {
    queues: &'m mut Queues,
    rows: &'m mut Matrix,
    width: usize,
}

impl Waiting<'_> {
    /// What arrives on a link in round k of what was sent in earlier rounds. Where nobody is, it is lost.
    fn arrive(&mut self, link: usize, k: u64, there: bool, sum: &mut Sum<'_>) {
        match there {
            true => self.bring(link, self.queues.arriving(link, k), sum),
            false => self.queues.lose(link, k),
        }
        // what was lost comes with the next message, if there is one
        while let (true, Some([oldest, next])) =
            (self.queues.oldest_is_lost(link), self.queues.oldest_two(link))
        {
            let (row, onto) = self.rows.row_and_other(oldest, next, self.width);
            Sum::onto(onto).add(1.0, row);
            self.queues.pop(link, 1);
        }
    }

    /// The oldest `rows` rows of a link arrive.
    fn bring(&mut self, link: usize, rows: usize, sum: &mut Sum<'_>) {
        self.queues.of(link).take(rows).for_each(|place| sum.add(1.0, self.rows.row(place, self.width)));
        self.queues.pop(link, rows);
    }

    /// A message that does not arrive in the round in which it is sent, and what the one before it has lost.
    fn put(&mut self, link: usize, arrival: u64, weight: f64, row: &[f64]) {
        match self.queues.take_over(link, arrival) {
            Some(place) => Sum::onto(self.rows.row_mut(place, self.width)).add(weight, row),
            None => {
                let place = self.queues.push(link, arrival);
                Sum::new(self.rows.row_mut(place, self.width)).add(weight, row);
            }
        }
    }
}
