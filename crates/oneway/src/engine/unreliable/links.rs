//! All links of a period, and a short queue for each.

use std::ops::Range;

use crate::graph::mixing::Mixing;

/// Whom each agent hears in any round of a period, ascending, itself always among them.
#[derive(Debug)]
pub(super) struct Links {
    offsets: Vec<usize>,
    senders: Vec<u32>,
}

impl Links {
    /// All links of one graph over a period.
    pub(super) fn new<'m>(period: impl Iterator<Item = &'m Mixing> + Clone, agents: usize) -> Self {
        let (mut offsets, mut senders) = (vec![0], vec![]);
        let mut heard: Vec<u32> = vec![];
        for to in 0..agents {
            heard.clear();
            heard.push(to as u32);
            period.clone().for_each(|mixing| heard.extend(mixing.senders(to)));
            heard.sort_unstable();
            heard.dedup();
            senders.extend(&heard);
            offsets.push(senders.len());
        }
        Self { offsets, senders }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.senders.len()
    }

    fn of(&self, to: usize) -> Range<usize> {
        self.offsets[to]..self.offsets[to + 1]
    }

    /// The links to an agent, by ascending sender: the link, the sender, and its weight in a round with this
    /// matrix, if it is heard in that round.
    pub(super) fn heard<'l>(
        &'l self,
        mixing: &'l Mixing,
        to: usize,
    ) -> impl Iterator<Item = (usize, usize, Option<f64>)> + 'l {
        let mut row = mixing.row(to).peekable();
        self.of(to).map(move |link| {
            let from = self.senders[link] as usize;
            (link, from, row.next_if(|entry| entry.0 == from).map(|(_, weight)| weight))
        })
    }
}

/// The round in which a lost message arrives.
pub(super) const NEVER: u64 = u64::MAX;

/// For each link the messages on their way, in the order of sending, with their rounds of arrival. A message
/// has a place for as long as it is there, by which arrays beside this one are indexed.
///
/// What is lost and the oldest of several must be taken out in every round: then the oldest was sent less
/// than τ rounds ago, and τ places are enough.
#[derive(Debug)]
pub(super) struct Queues {
    capacity: usize,
    /// For each link the first message's place among its own, and the number of messages.
    ranges: Vec<(u32, u32)>,
    /// By place.
    arrivals: Vec<u64>,
}

impl Queues {
    /// For `links` links, on which a message takes at most `delay` rounds.
    pub(super) fn new(links: usize, delay: u32) -> Self {
        let capacity = delay.max(1) as usize;
        Self { capacity, ranges: vec![(0, 0); links], arrivals: vec![NEVER; links * capacity] }
    }

    /// How many places there are.
    pub(super) fn places(&self) -> usize {
        self.arrivals.len()
    }

    fn place(&self, link: usize, item: u32) -> usize {
        link * self.capacity + (self.ranges[link].0 + item) as usize % self.capacity
    }

    /// The places of a link's messages, oldest first.
    pub(super) fn of(&self, link: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.ranges[link].1).map(move |item| self.place(link, item))
    }

    /// How many messages are on their way on a link.
    pub(super) fn length(&self, link: usize) -> usize {
        self.ranges[link].1 as usize
    }

    /// The two oldest, if there are two.
    pub(super) fn oldest_two(&self, link: usize) -> Option<[usize; 2]> {
        (self.length(link) > 1).then(|| [0, 1].map(|item| self.place(link, item)))
    }

    /// Whether the oldest was lost.
    pub(super) fn oldest_is_lost(&self, link: usize) -> bool {
        self.length(link) > 0 && self.arrivals[self.place(link, 0)] == NEVER
    }

    /// How many there are up to the newest that arrives in round k, itself included: all that it brings or
    /// overtook.
    pub(super) fn arriving(&self, link: usize, k: u64) -> usize {
        let arriving = self.of(link).zip(1..).filter(|(place, _)| self.arrivals[*place] == k);
        arriving.last().map_or(0, |(_, count)| count)
    }

    /// Those that arrive in round k are lost.
    pub(super) fn lose(&mut self, link: usize, k: u64) {
        for item in 0..self.ranges[link].1 {
            let place = self.place(link, item);
            if self.arrivals[place] == k {
                self.arrivals[place] = NEVER;
            }
        }
    }

    /// A new message.
    pub(super) fn push(&mut self, link: usize, arrival: u64) -> usize {
        debug_assert!(self.length(link) < self.capacity, "more messages on their way than can be");
        let place = self.place(link, self.ranges[link].1);
        self.ranges[link].1 += 1;
        self.arrivals[place] = arrival;
        place
    }

    /// The place of the newest message, if that was lost: the new one has it now.
    pub(super) fn take_over(&mut self, link: usize, arrival: u64) -> Option<usize> {
        let newest = self.place(link, self.ranges[link].1.checked_sub(1)?);
        let lost = self.arrivals[newest] == NEVER;
        lost.then(|| {
            self.arrivals[newest] = arrival;
            newest
        })
    }

    /// Takes the oldest `messages` out.
    pub(super) fn pop(&mut self, link: usize, messages: usize) {
        let (first, length) = &mut self.ranges[link];
        *first = (*first + messages as u32) % self.capacity as u32;
        *length -= messages as u32;
    }
}
