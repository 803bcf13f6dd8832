//! State reduction: watch a Markov chain only while it is on fewer and fewer nodes.
//!
//! The chain censored to all nodes but v has the chances P_uw + P_uv·P_vw/s_v with s_v = Σ_{w≠v} P_vw, and
//! its stationary vector is that of the whole chain, restricted (Grassmann, Taksar and Heyman 1985). Given π
//! on the rest, π_v = Σ_u π_u P_uv/s_v. Nothing is ever subtracted, so every component comes out with a small
//! *relative* error, however slowly the chain mixes. Diagonals are never needed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Chain;
use super::wide::Wide;

/// Markowitz's bound on the arcs that eliminating a node adds, then its depth, then its id: a total order.
type Price = (u64, u32, u32);

/// Up to this many new arcs depth counts; beyond, it would only keep the queue busy.
const FEW_ARCS: u64 = 36;

/// A weighted arc, seen from one of its ends; 16 bytes.
#[derive(Debug, Clone, Copy)]
struct Arc {
    /// The other end.
    node: u32,
    exponent: i32,
    mantissa: f64,
}

impl Arc {
    #[inline]
    fn new(node: u32, weight: Wide) -> Arc {
        Arc { node, exponent: weight.exponent, mantissa: weight.mantissa }
    }

    #[inline]
    fn weight(self) -> Wide {
        Wide { mantissa: self.mantissa, exponent: self.exponent }
    }
}

/// The arcs into or out of a node. New arcs are appended, beside older ones with the same other end, and arcs
/// to eliminated nodes stay until the list is tidied: a hub is then not searched each time one of its leaves
/// goes.
#[derive(Debug, Clone, Default)]
struct Arcs {
    list: Vec<Arc>,
    /// At least the number of arcs that are dead or appended since the last tidying.
    untidy: usize,
}

/// Where a node stands in some list; cleared in O(1) by a new stamp.
#[derive(Debug)]
struct Places {
    /// (stamp, place) by node, valid if the stamp is the current one.
    stamped: Vec<(u32, u32)>,
    stamp: u32,
}

impl Places {
    fn new(nodes: usize) -> Self {
        Self { stamped: vec![(0, 0); nodes], stamp: 0 }
    }

    fn clear(&mut self) {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.stamped.fill((0, 0)); // stamps of 2³² lists ago must not look current
            self.stamp = 1;
        }
    }

    #[inline]
    fn put(&mut self, node: u32, place: usize) {
        self.stamped[node as usize] = (self.stamp, place as u32);
    }

    #[inline]
    fn get(&self, node: u32) -> Option<usize> {
        let (stamp, place) = self.stamped[node as usize];
        (stamp == self.stamp).then_some(place as usize)
    }
}

/// What was eliminated, in order, with π_v = Σ_u π_u·share_u.
#[derive(Debug, Default)]
struct Eliminated {
    nodes: Vec<u32>,
    /// `ends[k]` is where the shares of `nodes[k]` end.
    ends: Vec<usize>,
    shares: Vec<Arc>,
}

/// A chain on a shrinking set of nodes.
#[derive(Debug)]
pub(super) struct Censored {
    out: Vec<Arcs>,
    into: Vec<Arcs>,
    alive: Vec<bool>,
    /// Length of the longest chain of eliminations behind a node. Among equally cheap nodes the shallowest
    /// goes first: a ring is then halved again and again, so rounding errors pile up log n high instead of n.
    depth: Vec<u32>,
    /// Nodes by price; entries whose price is no longer current are skipped.
    queue: BinaryHeap<Reverse<Price>>,
    /// The price at which each node was last put in the queue.
    queued: Vec<Price>,
    /// Of the arcs that an elimination passes on.
    marks: Places,
    /// Of the arcs of a list being tidied.
    slots: Places,
    eliminated: Eliminated,
    nodes: usize,
    arcs: usize,
    work: u64,
}

/// The chain that is left, between jumps: what [`condensed`](super::condensed) solves.
#[derive(Debug)]
pub(super) struct Core {
    /// The nodes left, ascending.
    pub(super) nodes: Vec<u32>,
    /// `offsets[w]..offsets[w + 1]` are the arcs into the w-th of them.
    pub(super) offsets: Vec<usize>,
    /// Where each arc comes from, as a position in `nodes`.
    pub(super) sources: Vec<u32>,
    /// P_uw/s_u: the chance that a jump from u goes to w.
    pub(super) chances: Vec<f64>,
    /// s_u: the stationary vector of the jumps is π_u·s_u, up to scale.
    pub(super) leaving: Vec<Wide>,
}

impl Censored {
    /// The whole of an irreducible chain. O(n log n + m).
    pub(super) fn new(chain: &Chain) -> Self {
        let nodes = chain.nodes();
        let arcs_of = |(others, weights): (&[u32], &[f64])| Arcs {
            list: others
                .iter()
                .zip(weights)
                .map(|(&other, &weight)| Arc::new(other, Wide::new(weight)))
                .collect(),
            untidy: 0,
        };
        let mut censored = Self {
            out: (0..nodes).map(|u| arcs_of(chain.out.of(u))).collect(),
            into: (0..nodes).map(|u| arcs_of(chain.into.of(u))).collect(),
            alive: vec![true; nodes],
            depth: vec![0; nodes],
            queue: BinaryHeap::new(),
            queued: vec![],
            marks: Places::new(nodes),
            slots: Places::new(nodes),
            eliminated: Eliminated::default(),
            nodes,
            arcs: (0..nodes).map(|u| chain.out.of(u).0.len()).sum(),
            work: 0,
        };
        censored.queued = (0..nodes as u32).map(|v| censored.price(v)).collect();
        censored.queue = censored.queued.iter().copied().map(Reverse).collect();
        censored
    }

    /// Number of nodes left.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Number of arcs left, or somewhat more.
    pub(super) fn arcs(&self) -> usize {
        self.arcs
    }

    /// Number of products formed so far.
    pub(super) fn work(&self) -> u64 {
        self.work
    }

    /// Eliminates nodes, cheapest first, until one is left or `enough` says so.
    ///
    /// A node with a arcs in and b out costs O(a·b), at most that many new arcs.
    pub(super) fn eliminate_until(&mut self, enough: impl Fn(&Self) -> bool) {
        while self.nodes > 1 && !enough(self) {
            let Some(Reverse(price)) = self.queue.pop() else { return };
            let v = price.2;
            if self.alive[v as usize] && price == self.queued[v as usize] {
                self.eliminate(v);
            }
        }
    }

    fn price(&self, v: u32) -> Price {
        let at = v as usize;
        let new_arcs = self.out[at].list.len() as u64 * self.into[at].list.len() as u64;
        let depth = if new_arcs <= FEW_ARCS { self.depth[at] } else { 0 };
        (new_arcs, depth, v)
    }

    /// Brings the queue up to date with a node's price.
    fn enqueue(&mut self, v: u32) {
        let price = self.price(v);
        if std::mem::replace(&mut self.queued[v as usize], price) != price {
            self.queue.push(Reverse(price));
        }
    }

    fn eliminate(&mut self, v: u32) {
        let at = v as usize;
        let mut out = std::mem::take(&mut self.out[at]);
        let mut into = std::mem::take(&mut self.into[at]);
        self.arcs -= out.list.len();
        self.tidy(&mut out);
        self.tidy(&mut into);
        self.work += out.list.len() as u64 * into.list.len() as u64;
        self.alive[at] = false;
        self.nodes -= 1;

        // share_u = P_uv/s_v
        let leaving = out.list.iter().fold(Wide::ZERO, |sum, arc| sum + arc.weight());
        for arc in &mut into.list {
            *arc = Arc::new(arc.node, arc.weight() / leaving);
        }
        // P_uw += share_u·P_vw, in both lists that hold it
        self.pass_on(v, &into.list, &out.list, Side::Out);
        self.pass_on(v, &out.list, &into.list, Side::Into);
        let depth = self.depth[at] + 1;
        for neighbour in into.list.iter().chain(&out.list).map(|arc| arc.node) {
            let known = &mut self.depth[neighbour as usize];
            *known = depth.max(*known);
            self.enqueue(neighbour);
        }

        self.eliminated.nodes.push(v);
        self.eliminated.shares.append(&mut into.list);
        self.eliminated.ends.push(self.eliminated.shares.len());
    }

    /// Adds to the arcs of each of `receivers` its weight times each of `others`, in place of its arc to
    /// `gone`.
    fn pass_on(&mut self, gone: u32, receivers: &[Arc], others: &[Arc], side: Side) {
        self.marks.clear();
        for (place, other) in others.iter().enumerate() {
            self.marks.put(other.node, place);
        }
        let mut met = vec![u32::MAX; others.len()];
        for (turn, receiver) in receivers.iter().enumerate() {
            let node = receiver.node as usize;
            let weight = receiver.weight();
            let mut arcs = std::mem::take(self.side(side, node));
            let before = arcs.list.len();
            let few = 4 * (arcs.untidy + 1 + others.len()) < before;
            if !few && arcs.untidy == 0 {
                // one walk: drop `gone`, add to the arcs that are there, then append the others
                let mut kept = 0;
                for read in 0..before {
                    let mut arc = arcs.list[read];
                    if let Some(at) = self.marks.get(arc.node) {
                        arc = Arc::new(arc.node, arc.weight() + weight * others[at].weight());
                        met[at] = turn as u32;
                    } else if arc.node == gone {
                        continue;
                    }
                    arcs.list[kept] = arc;
                    kept += 1;
                }
                arcs.list.truncate(kept);
                let missing = others
                    .iter()
                    .zip(&met)
                    .filter(|(other, met)| **met != turn as u32 && other.node != receiver.node);
                arcs.list.extend(missing.map(|(other, _)| Arc::new(other.node, weight * other.weight())));
            } else {
                let others = others.iter().filter(|other| other.node != receiver.node);
                arcs.list.extend(others.map(|other| Arc::new(other.node, weight * other.weight())));
                arcs.untidy += 1 + met.len();
                if !few {
                    self.tidy(&mut arcs);
                }
            }
            if let Side::Out = side {
                self.arcs = self.arcs + arcs.list.len() - before;
            }
            *self.side(side, node) = arcs;
        }
    }

    fn side(&mut self, side: Side, node: usize) -> &mut Arcs {
        match side {
            Side::Out => &mut self.out[node],
            Side::Into => &mut self.into[node],
        }
    }

    /// Drops arcs to eliminated nodes and adds up arcs with the same other end. Linear in the length of the
    /// list.
    fn tidy(&mut self, arcs: &mut Arcs) {
        if arcs.untidy == 0 {
            return;
        }
        self.slots.clear();
        let mut kept = 0;
        for read in 0..arcs.list.len() {
            let arc = arcs.list[read];
            if !self.alive[arc.node as usize] {
                continue;
            }
            if let Some(at) = self.slots.get(arc.node) {
                arcs.list[at] = Arc::new(arc.node, arcs.list[at].weight() + arc.weight());
            } else {
                self.slots.put(arc.node, kept);
                arcs.list[kept] = arc;
                kept += 1;
            }
        }
        arcs.list.truncate(kept);
        arcs.untidy = 0;
    }

    /// The chain that is left.
    pub(super) fn core(&mut self) -> Core {
        let nodes: Vec<u32> = (0..self.alive.len() as u32).filter(|&v| self.alive[v as usize]).collect();
        let mut position = vec![0u32; self.alive.len()];
        for (at, &v) in nodes.iter().enumerate() {
            position[v as usize] = at as u32;
            let mut into = std::mem::take(&mut self.into[v as usize]);
            self.tidy(&mut into);
            self.into[v as usize] = into;
            self.enqueue(v);
        }
        let mut leaving = vec![Wide::ZERO; nodes.len()];
        for arc in nodes.iter().flat_map(|&v| &self.into[v as usize].list) {
            let sum = &mut leaving[position[arc.node as usize] as usize];
            *sum = *sum + arc.weight();
        }
        let (mut offsets, mut sources, mut chances) = (vec![0], vec![], vec![]);
        for &v in &nodes {
            for arc in &self.into[v as usize].list {
                let source = position[arc.node as usize];
                sources.push(source);
                chances.push((arc.weight() / leaving[source as usize]).to_f64());
            }
            offsets.push(sources.len());
        }
        Core { nodes, offsets, sources, chances, leaving }
    }

    /// π of the whole chain from π on the core, up to scale: π_v = Σ_u π_u·share_u, last eliminated first.
    pub(super) fn extend(&self, core: &[u32], solution: &[Wide]) -> Vec<Wide> {
        let mut stationary = vec![Wide::ZERO; self.alive.len()];
        for (&v, &weight) in core.iter().zip(solution) {
            stationary[v as usize] = weight;
        }
        let Eliminated { nodes, ends, shares } = &self.eliminated;
        for (k, &v) in nodes.iter().enumerate().rev() {
            let start = if k == 0 { 0 } else { ends[k - 1] };
            stationary[v as usize] = shares[start..ends[k]]
                .iter()
                .fold(Wide::ZERO, |sum, share| sum + stationary[share.node as usize] * share.weight());
        }
        stationary
    }
}

/// Which of the two copies of an arc.
#[derive(Debug, Clone, Copy)]
enum Side {
    Out,
    Into,
}
