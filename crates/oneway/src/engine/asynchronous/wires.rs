//! The links of one graph, and what is on its way over them.

use std::collections::VecDeque;
use std::ops::Range;

use super::clock::Clock;
use crate::graph::mixing::Mixing;
use crate::numeric::sample::Purpose;

/// A link, as its receiver sees it.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) weight: f64,
    /// Messages below this number are taken in: the newest of them is the one before.
    pub(super) taken: u64,
    /// What `taken` was before the receiver's last wake.
    pub(super) before: u64,
    /// Numbers and times of arrival, both ascending: a message that a newer one overtakes is not waited for.
    on_its_way: VecDeque<(u64, f64)>,
}

impl Wire {
    /// Whether it leads from an agent to itself: nothing travels on it.
    pub(super) fn is_own(&self) -> bool {
        self.from == self.to
    }

    /// The messages that the receiver's last wake took in.
    pub(super) fn new_messages(&self) -> Range<u64> {
        self.before..self.taken
    }

    /// Takes in all that has arrived before `time`. What arrives at the very moment of a wake waits for the
    /// next: so wakes of one moment do not see each other, in whatever order they are done.
    pub(super) fn take_in(&mut self, time: f64) {
        self.before = self.taken;
        while let Some(&(number, arrival)) = self.on_its_way.front()
            && arrival < time
        {
            self.taken = number + 1;
            self.on_its_way.pop_front();
        }
    }

    /// Takes in `messages` more, as a log says.
    pub(super) fn take_in_more(&mut self, messages: u64) {
        self.before = self.taken;
        self.taken += messages;
    }

    /// Sends message `number` on its way.
    fn send(&mut self, number: u64, arrival: f64) {
        while self.on_its_way.back().is_some_and(|&(_, other)| other >= arrival) {
            self.on_its_way.pop_back();
        }
        self.on_its_way.push_back((number, arrival));
    }
}

/// All links of one graph.
#[derive(Debug)]
pub(super) struct Wires {
    graph: Purpose,
    /// By receiver, senders ascending, self in its place.
    wires: Vec<Wire>,
    /// Where the wires of receiver i are.
    to: Vec<u32>,
    /// Wires to others by sender, as places in `wires`.
    outgoing: Vec<u32>,
    /// Where the wires of sender j are in `outgoing`.
    from: Vec<u32>,
}

impl Wires {
    /// The links of a mixing matrix; none if nothing is sent over them.
    pub(super) fn new(mixing: &Mixing, graph: Purpose, width: usize) -> Self {
        let n = mixing.agents();
        let links = mixing.iter().filter(|_| width > 0);
        let wire = |link: crate::graph::mixing::Link| Wire {
            from: link.from as u32,
            to: link.to as u32,
            weight: link.weight,
            taken: 0,
            before: 0,
            on_its_way: VecDeque::new(),
        };
        let wires: Vec<Wire> = links.map(wire).collect();
        let places = |mut places: Vec<(u32, u32)>| {
            places.sort_unstable();
            let offset = |agent| places.partition_point(|(other, _)| *other < agent) as u32;
            let offsets: Vec<u32> = (0..=n as u32).map(offset).collect();
            (places.into_iter().map(|(_, place)| place).collect::<Vec<_>>(), offsets)
        };
        let numbered = || wires.iter().zip(0u32..);
        let (_, to) = places(numbered().map(|(wire, place)| (wire.to, place)).collect());
        let others = numbered().filter(|(wire, _)| !wire.is_own());
        let (outgoing, from) = places(others.map(|(wire, place)| (wire.from, place)).collect());
        Self { graph, wires, to, outgoing, from }
    }

    /// All wires.
    pub(super) fn all(&self) -> &[Wire] {
        &self.wires
    }

    /// What agent i hears, senders ascending, self in its place.
    pub(super) fn heard_by(&self, i: usize) -> &[Wire] {
        &self.wires[self.to[i] as usize..self.to[i + 1] as usize]
    }

    /// What agent i hears from others, to change.
    pub(super) fn heard_by_mut(&mut self, i: usize) -> impl Iterator<Item = &mut Wire> {
        let wires = &mut self.wires[self.to[i] as usize..self.to[i + 1] as usize];
        wires.iter_mut().filter(|wire| !wire.is_own())
    }

    fn places_from(&self, j: usize) -> &[u32] {
        &self.outgoing[self.from[j] as usize..self.from[j + 1] as usize]
    }

    /// Who else hears agent j.
    pub(super) fn out_of(&self, j: usize) -> impl ExactSizeIterator<Item = &Wire> {
        self.places_from(j).iter().map(|&place| &self.wires[place as usize])
    }

    /// Agent j's message `number` goes out at `time` to all who hear it; each has its own journey.
    pub(super) fn send(&mut self, clock: &Clock, seed: u64, j: usize, number: u64, time: f64) {
        for at in self.from[j]..self.from[j + 1] {
            let wire = &mut self.wires[self.outgoing[at as usize] as usize];
            if let Some(latency) = clock.journey(seed, self.graph, [wire.from, wire.to], number) {
                wire.send(number, time + latency);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_that_has_arrived_counts_and_what_it_overtook_comes_with_it() {
        let mixing = Mixing::complete(2);
        let mut wires = Wires::new(&mixing, Purpose::PushJourney, 1);
        assert_eq!(wires.out_of(0).map(|wire| wire.to).collect::<Vec<_>>(), [1]);
        assert_eq!(wires.heard_by(1).iter().map(|wire| wire.from).collect::<Vec<_>>(), [0, 1]);
        let wire = wires.heard_by_mut(1).next().unwrap();
        for (number, arrival) in [(0, 1.0), (1, 4.0), (3, 3.0), (4, 6.0)] {
            wire.send(number, arrival); // 2 is lost, 3 overtakes 1
        }
        for (time, messages) in [(1.0, 0..0), (1.5, 0..1), (3.0, 1..1), (3.5, 1..4), (5.0, 4..4), (7.0, 4..5)]
        {
            wire.take_in(time);
            assert_eq!(wire.new_messages(), messages, "at {time}");
        }
        assert!(Wires::new(&mixing, Purpose::PushJourney, 0).all().is_empty());
    }
}
