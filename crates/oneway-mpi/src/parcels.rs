//! The rows of one graph on their way: as numbers, from where they lie where they can, or as a codec's bytes.

use std::ops::Range;

use oneway::Result;
use oneway::codec::{Carried, Wire};
use oneway::engine::part::Slab;
use oneway::graph::mixing::Mixing;

use crate::routes::{Route, receives, sends};
use crate::world::{Message, Row};

/// Rows to or from one process, and room for them where they do not travel from where they lie.
#[derive(Debug)]
pub(crate) struct Parcel<T> {
    route: Route,
    /// Rows that do not lie together; others travel from where they lie to where they belong.
    packed: Vec<T>,
    /// Codes of the rows.
    codes: Vec<u8>,
}

/// What one process sends and receives on one graph in one round of the period.
#[derive(Debug)]
pub(crate) struct Parcels<T> {
    sends: Vec<Parcel<T>>,
    receives: Vec<Parcel<T>>,
    /// Own agents whose rows go to somebody, ascending, and codes of these rows.
    senders: Vec<usize>,
    codes: Vec<u8>,
}

impl<T: Row> Parcels<T> {
    pub(crate) fn new(mixing: &Mixing, ranks: usize, rank: usize) -> Self {
        let parcel = |route| Parcel { route, packed: vec![], codes: vec![] };
        let sends: Vec<_> = sends(mixing, ranks, rank).into_iter().map(parcel).collect();
        let receives = receives(mixing, ranks, rank).into_iter().map(parcel).collect();
        let mut senders: Vec<usize> = sends.iter().flat_map(|parcel| parcel.route.agents()).collect();
        senders.sort_unstable();
        senders.dedup();
        Self { sends, receives, senders, codes: vec![] }
    }

    /// Where rows do not lie together, puts those that are to be sent together, and makes room for others.
    pub(crate) fn pack(&mut self, rows: &Slab<'_, T>) {
        for Parcel { route, packed, .. } in self.sends.iter_mut().filter(|parcel| parcel.route.runs.len() > 1)
        {
            packed.clear();
            for run in &route.runs {
                packed.extend_from_slice(&rows.numbers[run.start * rows.stride..run.end * rows.stride]);
            }
        }
        let receives = self.receives.iter_mut().filter(|parcel| parcel.route.runs.len() > 1);
        for Parcel { route, packed, .. } in receives {
            packed.resize(route.rows() * rows.stride, T::default());
        }
    }

    /// Adds the messages of this graph; returns the rows of own agents.
    pub(crate) fn messages<'m>(
        &'m mut self,
        kind: i32,
        own: Range<usize>,
        rows: Slab<'m, T>,
        sends: &mut Vec<Message<&'m [T]>>,
        receives: &mut Vec<Message<&'m mut [T]>>,
    ) -> &'m [T] {
        let Slab { numbers, stride } = rows;
        let (below, rest) = numbers.split_at_mut(own.start * stride);
        let (here, above) = rest.split_at_mut(own.len() * stride);
        let here: &'m [T] = here;
        for Parcel { route, packed, .. } in &self.sends {
            let items = match route.whole() {
                Some(run) => &here[(run.start - own.start) * stride..(run.end - own.start) * stride],
                None => &packed[..],
            };
            sends.push(Message { peer: route.peer, kind, items });
        }
        // peers ascend, and so do their blocks: each takes its rows off what is left
        let (mut below, mut above) = ((0, below), (own.end, above));
        for Parcel { route, packed, .. } in &mut self.receives {
            let items = match route.whole().cloned() {
                Some(run) => {
                    let side = if run.start < own.start { &mut below } else { &mut above };
                    let (at, rest) = std::mem::take(side);
                    let (_, rest) = rest.split_at_mut((run.start - at) * stride);
                    let (rows, rest) = rest.split_at_mut(run.len() * stride);
                    *side = (run.end, rest);
                    rows
                }
                None => &mut packed[..],
            };
            receives.push(Message { peer: route.peer, kind, items });
        }
        here
    }

    /// Puts rows that came together where they belong.
    pub(crate) fn unpack(&self, rows: &mut Slab<'_, T>) {
        for Parcel { route, packed, .. } in self.receives.iter().filter(|parcel| parcel.route.runs.len() > 1)
        {
            let mut packed = &packed[..];
            for run in &route.runs {
                let (first, rest) = packed.split_at(run.len() * rows.stride);
                rows.numbers[run.start * rows.stride..run.end * rows.stride].copy_from_slice(first);
                packed = rest;
            }
        }
    }

    /// Encodes what is to be sent, each row once, and makes room for the codes of others.
    pub(crate) fn encode(&mut self, wire: &Wire, at: Carried, width: usize, rows: &Slab<'_, T>) {
        let (Self { sends, receives, senders, codes }, size) = (self, wire.bytes(at));
        codes.clear();
        for agent in &*senders {
            if let Some(row) = T::as_f64(&rows.numbers[agent * rows.stride..][..width]) {
                wire.encode(at, row, codes);
            }
        }
        for Parcel { route, codes: own, .. } in sends {
            own.clear();
            for place in route.agents().filter_map(|agent| senders.binary_search(&agent).ok()) {
                own.extend_from_slice(&codes[place * size..(place + 1) * size]);
            }
        }
        for Parcel { route, codes, .. } in receives {
            codes.resize(route.rows() * size, 0);
        }
    }

    /// Reads the codes that came into the rows that they are of.
    pub(crate) fn decode(
        &self,
        wire: &Wire,
        at: Carried,
        width: usize,
        rows: &mut Slab<'_, T>,
    ) -> Result<()> {
        for Parcel { route, codes, .. } in &self.receives {
            for (agent, code) in route.agents().zip(codes.chunks_exact(wire.bytes(at).max(1))) {
                if let Some(row) = T::as_f64_mut(&mut rows.numbers[agent * rows.stride..][..width]) {
                    wire.decode(at, code, row)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the messages with codes.
    pub(crate) fn coded_messages<'m>(
        &'m mut self,
        kind: i32,
        sends: &mut Vec<Message<&'m [u8]>>,
        receives: &mut Vec<Message<&'m mut [u8]>>,
    ) {
        let peer = |parcel: &Parcel<T>| parcel.route.peer;
        sends.extend(self.sends.iter().map(|own| Message { peer: peer(own), kind, items: &own.codes[..] }));
        let receive =
            |theirs: &'m mut Parcel<T>| Message { peer: peer(theirs), kind, items: &mut theirs.codes[..] };
        receives.extend(self.receives.iter_mut().map(receive));
    }

    /// Messages that are sent, and rows in them.
    pub(crate) fn sent(&self) -> [usize; 2] {
        [self.sends.len(), self.sends.iter().map(|parcel| parcel.route.rows()).sum()]
    }

    /// Rows of others that are not sent are zero.
    pub(crate) fn clear(&self, rows: &mut Slab<'_, T>) {
        for run in self.receives.iter().flat_map(|parcel| &parcel.route.runs) {
            rows.numbers[run.start * rows.stride..run.end * rows.stride].fill(T::default());
        }
    }
}
