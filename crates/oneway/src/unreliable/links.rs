//! All links of a period, and a short queue for each.

use std::ops::Range;

use crate::mixing::Mixing;

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

    /// The links to an agent, by ascending sender: the link, the sender, and its weight in a round with this matrix, if it is
    /// heard in that round.
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

/// A queue of at most so many items for each link. An item is a place, the same for as long as the item is there, by which
/// arrays beside this one are indexed.
#[derive(Debug)]
pub(super) struct Queues {
    capacity: usize,
    /// For each link the first item's place among its own, and the number of items.
    ranges: Vec<(u32, u32)>,
}

impl Queues {
    pub(super) fn new(links: usize, capacity: usize) -> Self {
        Self { capacity, ranges: vec![(0, 0); links] }
    }

    /// How many places there are.
    pub(super) fn places(&self) -> usize {
        self.ranges.len() * self.capacity
    }

    fn place(&self, link: usize, item: u32) -> usize {
        link * self.capacity + (self.ranges[link].0 + item) as usize % self.capacity
    }

    /// The items of a link, oldest first.
    pub(super) fn of(&self, link: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.ranges[link].1).map(move |item| self.place(link, item))
    }

    /// The oldest item of a link and the one behind it.
    pub(super) fn oldest(&self, link: usize) -> [Option<usize>; 2] {
        let length = self.ranges[link].1;
        [0, 1].map(|item| (item < length).then(|| self.place(link, item)))
    }

    /// The newest item of a link and the one before it.
    pub(super) fn newest(&self, link: usize) -> [Option<usize>; 2] {
        let length = self.ranges[link].1;
        [1, 2].map(|back| length.checked_sub(back).map(|item| self.place(link, item)))
    }

    pub(super) fn push_back(&mut self, link: usize) -> usize {
        let item = self.ranges[link].1;
        debug_assert!((item as usize) < self.capacity, "a queue is longer than can be");
        self.ranges[link].1 += 1;
        self.place(link, item)
    }

    pub(super) fn pop_back(&mut self, link: usize) {
        self.ranges[link].1 -= 1;
    }

    pub(super) fn pop_front(&mut self, link: usize) {
        let (first, length) = &mut self.ranges[link];
        *first = (*first + 1) % self.capacity as u32;
        *length -= 1;
    }

    pub(super) fn clear(&mut self, link: usize) {
        self.ranges[link].1 = 0;
    }
}
