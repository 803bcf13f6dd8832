//! Rows from process to process, along the arrows of the digraph and no others.
//!
//! What a process may send is made from the digraph when a run begins: for each other process, the own agents
//! that somebody there hears. Nothing else can be sent: [`Links`] has no function that takes a receiver.

use std::ops::Range;
use std::time::{Duration, Instant};

use oneway::engine::part::{Carrier, Slab};
use oneway::graph::Topology;
use oneway::graph::mixing::Mixing;

use crate::blocks::{block, rank_of};
use crate::world::{Message, Row, World};

/// The rows of some agents, to or from one process.
#[derive(Debug)]
struct Route<T> {
    peer: usize,
    /// Neighbouring rows are one run.
    runs: Vec<Range<usize>>,
    /// Rows that do not lie together travel in here; others from where they lie to where they belong.
    packed: Vec<T>,
}

impl<T: Row> Route<T> {
    fn new(peer: usize, mut agents: Vec<usize>) -> Self {
        agents.sort_unstable();
        agents.dedup();
        let mut runs: Vec<Range<usize>> = vec![];
        for agent in agents {
            match runs.last_mut() {
                Some(last) if last.end == agent => last.end += 1,
                _ => runs.push(agent..agent + 1),
            }
        }
        Self { peer, runs, packed: vec![] }
    }

    /// The run, if there is only one.
    fn whole(&self) -> Option<&Range<usize>> {
        if let [run] = &self.runs[..] { Some(run) } else { None }
    }

    fn rows(&self) -> usize {
        self.runs.iter().map(ExactSizeIterator::len).sum()
    }
}

/// What one process sends and receives on one graph in one round of the period.
#[derive(Debug)]
struct Routes<T> {
    sends: Vec<Route<T>>,
    receives: Vec<Route<T>>,
}

impl<T: Row> Routes<T> {
    fn new(mixing: &Mixing, ranks: usize, rank: usize) -> Self {
        let n = mixing.agents();
        let (mut sends, mut receives) = (vec![vec![]; ranks], vec![vec![]; ranks]);
        if mixing.has_one_row() {
            for peer in (0..ranks).filter(|peer| *peer != rank) {
                sends[peer] = block(n, ranks, rank).collect();
                receives[peer] = block(n, ranks, peer).collect();
            }
        } else {
            for to in 0..n {
                let hears = rank_of(n, ranks, to);
                for from in mixing.senders(to).iter().map(|from| *from as usize) {
                    match rank_of(n, ranks, from) {
                        has if has == hears => {}
                        has if has == rank => sends[hears].push(from),
                        has if hears == rank => receives[has].push(from),
                        _ => {}
                    }
                }
            }
        }
        let routes = |agents: Vec<Vec<usize>>| {
            let some = agents.into_iter().enumerate().filter(|(_, agents)| !agents.is_empty());
            some.map(|(peer, agents)| Route::new(peer, agents)).collect()
        };
        Self { sends: routes(sends), receives: routes(receives) }
    }

    /// Where rows do not lie together, puts those that are to be sent together, and makes room for others.
    fn pack(&mut self, rows: &Slab<'_, T>) {
        for route in self.sends.iter_mut().filter(|route| route.runs.len() > 1) {
            route.packed.clear();
            for run in &route.runs {
                route.packed.extend_from_slice(&rows.numbers[run.start * rows.stride..run.end * rows.stride]);
            }
        }
        for route in self.receives.iter_mut().filter(|route| route.runs.len() > 1) {
            route.packed.resize(route.rows() * rows.stride, T::default());
        }
    }

    /// Adds the messages of this graph.
    fn messages<'m>(
        &'m mut self,
        kind: i32,
        own: Range<usize>,
        rows: Slab<'m, T>,
        sends: &mut Vec<Message<&'m [T]>>,
        receives: &mut Vec<Message<&'m mut [T]>>,
    ) {
        let Slab { numbers, stride } = rows;
        let (below, rest) = numbers.split_at_mut(own.start * stride);
        let (here, above) = rest.split_at_mut(own.len() * stride);
        let here: &'m [T] = here;
        for route in &self.sends {
            let numbers = match route.whole() {
                Some(run) => &here[(run.start - own.start) * stride..(run.end - own.start) * stride],
                None => &route.packed[..],
            };
            sends.push(Message { peer: route.peer, kind, numbers });
        }
        // peers ascend, and so do their blocks: each takes its rows off what is left
        let (mut below, mut above) = ((0, below), (own.end, above));
        for route in &mut self.receives {
            let numbers = match route.whole().cloned() {
                Some(run) => {
                    let side = if run.start < own.start { &mut below } else { &mut above };
                    let (at, rest) = std::mem::take(side);
                    let (_, rest) = rest.split_at_mut((run.start - at) * stride);
                    let (rows, rest) = rest.split_at_mut(run.len() * stride);
                    *side = (run.end, rest);
                    rows
                }
                None => &mut route.packed[..],
            };
            receives.push(Message { peer: route.peer, kind, numbers });
        }
    }

    /// Puts rows that came together where they belong.
    fn unpack(&self, rows: &mut Slab<'_, T>) {
        for route in self.receives.iter().filter(|route| route.runs.len() > 1) {
            let mut packed = &route.packed[..];
            for run in &route.runs {
                let (first, rest) = packed.split_at(run.len() * rows.stride);
                rows.numbers[run.start * rows.stride..run.end * rows.stride].copy_from_slice(first);
                packed = rest;
            }
        }
    }
}

/// The links between this process and others.
#[derive(Debug)]
pub struct Links<'w, W, T> {
    world: &'w W,
    own: Range<usize>,
    /// For each round of the period, of the pull graph and of the push graph.
    period: Vec<[Routes<T>; 2]>,
    /// How long messages took, waiting included.
    spent: Duration,
}

impl<'w, W: World, T: Row> Links<'w, W, T> {
    /// Those of this process's block of agents. O(links of the network).
    pub fn new(world: &'w W, topology: &Topology) -> Self {
        let (ranks, rank) = (world.size(), world.rank());
        let routes = |mixing| Routes::new(mixing, ranks, rank);
        let period = topology.period().iter().map(|pair| [routes(&pair.pull), routes(&pair.push)]);
        let own = block(topology.agents(), ranks, rank);
        Self { world, own, period: period.collect(), spent: Duration::ZERO }
    }

    /// Seconds that this process has spent with messages so far, waiting for others included.
    pub fn seconds(&self) -> f64 {
        self.spent.as_secs_f64()
    }

    /// Messages that this process sends in the round of state k, in each of its exchanges, and rows in them.
    pub fn sent(&self, k: u64) -> (usize, usize) {
        let routes = &self.period[(k % self.period.len() as u64) as usize];
        let sends = || routes.iter().flat_map(|routes| &routes.sends);
        (sends().count(), sends().map(Route::rows).sum())
    }
}

impl<W: World, T: Row> Carrier<T> for Links<'_, W, T> {
    fn carry(&mut self, k: u64, mut graphs: [Slab<'_, T>; 2]) {
        let began = Instant::now();
        let place = (k % self.period.len() as u64) as usize;
        let routes = &mut self.period[place];
        let (mut sends, mut receives) = (vec![], vec![]);
        for ((kind, routes), rows) in (0..).zip(&mut *routes).zip(&mut graphs) {
            if rows.stride == 0 {
                continue; // the method sends nothing on this graph
            }
            routes.pack(rows);
            let rows = Slab { numbers: &mut *rows.numbers, stride: rows.stride };
            routes.messages(kind, self.own.clone(), rows, &mut sends, &mut receives);
        }
        self.world.exchange(sends, receives);
        for (routes, rows) in routes.iter().zip(&mut graphs) {
            routes.unpack(rows);
        }
        self.spent += began.elapsed();
    }
}
