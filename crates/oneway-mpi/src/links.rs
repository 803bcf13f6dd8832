//! Rows from process to process, along the arrows of the digraph and no others.
//!
//! What a process may send is made from the digraph when a run begins: for each other process, the own agents
//! that somebody there hears. Nothing else can be sent: [`Links`] has no function that takes a receiver.
//! Rows that a codec has made travel as its bytes. While rows travel, agents that hear nobody elsewhere take
//! their steps.

use std::ops::Range;
use std::time::{Duration, Instant};

use oneway::Result;
use oneway::codec::{Carried, Wire};
use oneway::engine::Setup;
use oneway::engine::part::{Carrier, Meanwhile, Moment, Slab};
use oneway::method::Profile;
use oneway::numeric::Precision;

use crate::blocks::block;
use crate::parcels::Parcels;
use crate::world::{Row, World};

/// The links between this process and others.
#[derive(Debug)]
pub struct Links<'w, W, T> {
    world: &'w W,
    own: Range<usize>,
    /// The form of rows.
    profile: Profile,
    d: usize,
    /// Which graphs have rows that travel, in each exchange of a round.
    travels: Vec<[bool; 2]>,
    /// For each round of the period, of the pull graph and of the push graph.
    period: Vec<[Parcels<T>; 2]>,
    /// How long messages took, waiting included, and what was done meanwhile not.
    spent: Duration,
}

impl<'w, W: World, T: Row> Links<'w, W, T> {
    /// Those of this process's block of agents. O(links of the network).
    pub fn new(world: &'w W, Setup { method, problem, topology, .. }: Setup<'_>) -> Self {
        let (ranks, rank) = (world.size(), world.rank());
        let parcels = |mixing| Parcels::new(mixing, ranks, rank);
        let period = topology.period().iter().map(|pair| [parcels(&pair.pull), parcels(&pair.push)]);
        let (profile, d) = (form_of_rows::<T>(method.profile_on(problem)), problem.dim());
        let travels =
            (0..profile.phases()).map(|phase| row_bytes::<T>(&profile, d, phase).map(|bytes| bytes > 0));
        Self {
            world,
            own: block(topology.agents(), ranks, rank),
            travels: travels.collect(),
            profile,
            d,
            period: period.collect(),
            spent: Duration::ZERO,
        }
    }

    /// Seconds that this process has spent with messages so far, waiting for others included.
    pub fn seconds(&self) -> f64 {
        self.spent.as_secs_f64()
    }

    /// Messages that this process sends in an exchange, and bytes in them.
    pub fn sent(&self, at: Moment) -> [usize; 2] {
        let sizes = row_bytes::<T>(&self.profile, self.d, at.phase);
        let graphs = self.period[self.place(at)].iter().zip(sizes).filter(|(_, size)| *size > 0);
        graphs.fold([0, 0], |[messages, bytes], (parcels, size)| {
            let [more, rows] = parcels.sent();
            [messages + more, bytes + rows * size]
        })
    }

    fn place(&self, at: Moment) -> usize {
        (at.k % self.period.len() as u64) as usize
    }
}

/// Codecs are of double precision: other rows travel as numbers.
pub(crate) fn form_of_rows<T: Row>(profile: Profile) -> Profile {
    Profile { wire: profile.wire.filter(|_| T::PRECISION == Precision::F64), ..profile }
}

/// Bytes with which a row travels in an exchange, on the pull graph and on the push graph; 0 where none does.
pub(crate) fn row_bytes<T: Row>(profile: &Profile, d: usize, phase: u32) -> [usize; 2] {
    let sent = profile.sent(phase).map(|width| !width.is_empty());
    let [_, pull, push] = profile.widths(d);
    let bytes = |graph: usize, width: usize| match &profile.wire {
        _ if !sent[graph] => 0,
        Some(wire) => wire.bytes(carried(graph, Moment { k: 0, phase })),
        None => oneway::engine::part::stride::<T>(width) * size_of::<T>(),
    };
    [bytes(0, pull), bytes(1, push)]
}

/// A row as codecs name it; graph 0 is for pulling, graph 1 for pushing.
fn carried(graph: usize, Moment { k, phase }: Moment) -> Carried {
    Carried { push: graph == 1, k, phase }
}

impl<W: World, T: Row> Carrier<T> for Links<'_, W, T> {
    fn carry(&mut self, at: Moment, mut graphs: [Slab<'_, T>; 2], meanwhile: Meanwhile<'_, T>) -> Result<()> {
        let (began, mut beside) = (Instant::now(), Duration::ZERO);
        let mut timed = |rows: [&[T]; 2]| {
            let began = Instant::now();
            let more = meanwhile(rows);
            beside += began.elapsed();
            more
        };
        let travels = self.travels[at.phase as usize];
        let place = self.place(at);
        let parcels = &mut self.period[place];
        for ((parcels, rows), travels) in parcels.iter().zip(&mut graphs).zip(travels) {
            if !travels {
                parcels.clear(rows);
            }
        }
        let exchange = Exchange { world: self.world, own: self.own.clone(), travels };
        let done = match &self.profile.wire {
            None => {
                exchange.numbers(parcels, &mut graphs, &mut timed);
                Ok(())
            }
            Some(wire) => {
                let [_, pull, push] = self.profile.widths(self.d);
                exchange.codes((wire, at), [pull, push], parcels, &mut graphs, &mut timed)
            }
        };
        self.spent += began.elapsed().saturating_sub(beside);
        done
    }
}

/// One exchange.
struct Exchange<'e, W> {
    world: &'e W,
    own: Range<usize>,
    /// Which graphs have rows that travel.
    travels: [bool; 2],
}

impl<W: World> Exchange<'_, W> {
    /// Rows as they are.
    fn numbers<T: Row>(
        &self,
        parcels: &mut [Parcels<T>; 2],
        graphs: &mut [Slab<'_, T>; 2],
        meanwhile: Meanwhile<'_, T>,
    ) {
        let (mut sends, mut receives, mut here): (_, _, [&[T]; 2]) = (vec![], vec![], [&[]; 2]);
        for (graph, (parcels, rows)) in parcels.iter_mut().zip(&mut *graphs).enumerate() {
            let rows = Slab { numbers: &mut *rows.numbers, stride: rows.stride };
            here[graph] = match self.travels[graph] {
                true => {
                    parcels.pack(&rows);
                    parcels.messages(graph as i32, self.own.clone(), rows, &mut sends, &mut receives)
                }
                false => self.here(rows),
            };
        }
        self.world.exchange_beside(sends, receives, &mut || meanwhile(here));
        let graphs = parcels.iter().zip(graphs).zip(self.travels);
        graphs.filter(|(_, travels)| *travels).for_each(|((parcels, rows), _)| parcels.unpack(rows));
    }

    /// Rows of these widths as their codes.
    fn codes<T: Row>(
        &self,
        (wire, at): (&Wire, Moment),
        widths: [usize; 2],
        parcels: &mut [Parcels<T>; 2],
        graphs: &mut [Slab<'_, T>; 2],
        meanwhile: Meanwhile<'_, T>,
    ) -> Result<()> {
        let travelling = || (0..2).filter(|graph| self.travels[*graph]);
        for graph in travelling() {
            parcels[graph].encode(wire, carried(graph, at), widths[graph], &graphs[graph]);
        }
        let (mut sends, mut receives) = (vec![], vec![]);
        for (graph, parcels) in parcels.iter_mut().enumerate().filter(|(graph, _)| self.travels[*graph]) {
            parcels.coded_messages(graph as i32, &mut sends, &mut receives);
        }
        let here = graphs
            .each_mut()
            .map(|rows| self.here(Slab { numbers: &mut *rows.numbers, stride: rows.stride }));
        self.world.exchange_beside(sends, receives, &mut || meanwhile(here));
        for graph in travelling() {
            parcels[graph].decode(wire, carried(graph, at), widths[graph], &mut graphs[graph])?;
        }
        Ok(())
    }

    /// The rows of own agents.
    fn here<'m, T>(&self, Slab { numbers, stride }: Slab<'m, T>) -> &'m [T] {
        &numbers[self.own.start * stride..self.own.end * stride]
    }
}
