//! What each process has to send and to receive: the same routes as those of [`Links`](crate::links::Links).

use oneway::engine::Setup;
use oneway::engine::part::inner_agents;
use oneway::graph::Topology;
use oneway::graph::mixing::Mixing;
use oneway::graph::topology::Pair;
use oneway::method::Profile;

use crate::blocks::{block, rank_of};
use crate::links::{form_of_rows, row_bytes};
use crate::routes::heard;
use crate::world::Row;

/// Messages of this many bytes do not travel at once: OpenMPI's limit in shared memory, with its own head.
pub const LONG_FROM: usize = 4096;

/// Messages of this many bytes are in no near cache.
pub const FAR_FROM: usize = 1 << 20;

/// What a process has to do in one exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// Its agents.
    pub agents: usize,
    /// Those whose steps need not wait for others.
    pub inner: usize,
    /// Messages that it sends and receives.
    pub messages: usize,
    /// Bytes in them.
    pub bytes: usize,
    /// Those of its messages that are long, [`LONG_FROM`] bytes or more.
    pub long: usize,
    /// Bytes in messages of [`FAR_FROM`] or more.
    pub far_bytes: usize,
    /// Messages that it sends.
    pub sent: usize,
    /// Bytes in those.
    pub bytes_sent: usize,
    /// Bytes that it sends to other hosts.
    pub far_out: usize,
    /// Bytes that it receives from other hosts.
    pub far_in: usize,
    /// Whether it has messages to or from other hosts.
    pub is_far: bool,
}

impl Load {
    /// How often it meets each of the costs of a message: for itself, for a long one, for its bytes, for far
    /// ones.
    pub fn of_costs(&self) -> [f64; 4] {
        [self.messages, self.long, self.bytes, self.far_bytes].map(|times| times as f64)
    }
}

/// The bytes of rows in each exchange of a round: of one on the pull graph, and of one on the push graph.
pub fn row_sizes<T: Row>(setup: Setup<'_>) -> Vec<[usize; 2]> {
    let profile: Profile = form_of_rows::<T>(setup.method.profile_on(setup.problem));
    (0..profile.phases()).map(|phase| row_bytes::<T>(&profile, setup.problem.dim(), phase)).collect()
}

/// The loads of all processes (how many, and on each host) with rows of these bytes, for each round of the period and each exchange of it. O(ranks² + links).
pub fn loads(
    topology: &Topology,
    rows: &[[usize; 2]],
    d: usize,
    [ranks, per_host]: [usize; 2],
) -> Vec<Vec<Vec<Load>>> {
    let round = |pair: &Pair| {
        let routes = [&pair.pull, &pair.push].map(|mixing| received(mixing, ranks));
        let inner: Vec<usize> = (0..ranks)
            .map(|rank| inner_agents(pair, &block(topology.agents(), ranks, rank), d).len())
            .collect();
        let exchange = |sizes: &[usize; 2]| {
            let mut loads = vec![Load::default(); ranks];
            for (rank, load) in loads.iter_mut().enumerate() {
                load.agents = block(topology.agents(), ranks, rank).len();
                load.inner = inner[rank];
            }
            for (routes, size) in routes.iter().zip(sizes).filter(|(_, size)| **size > 0) {
                for &(from, to, rows) in routes {
                    add(&mut loads, [from, to], rows * size, from / per_host.max(1) != to / per_host.max(1));
                }
            }
            loads
        };
        rows.iter().map(exchange).collect()
    };
    topology.period().iter().map(round).collect()
}

/// One message.
fn add(loads: &mut [Load], [from, to]: [usize; 2], bytes: usize, is_far: bool) {
    for rank in [from, to] {
        let load = &mut loads[rank];
        load.messages += 1;
        load.bytes += bytes;
        load.long += usize::from(bytes >= LONG_FROM);
        load.far_bytes += if bytes >= FAR_FROM { bytes } else { 0 };
        load.is_far |= is_far;
    }
    loads[from].sent += 1;
    loads[from].bytes_sent += bytes;
    if is_far {
        loads[from].far_out += bytes;
        loads[to].far_in += bytes;
    }
}

/// Who sends how many rows to whom on a graph.
fn received(mixing: &Mixing, ranks: usize) -> Vec<(usize, usize, usize)> {
    let n = mixing.agents();
    let mut routes = vec![];
    for to in 0..ranks {
        if mixing.has_one_row() {
            let others = (0..ranks).filter(|from| *from != to);
            routes.extend(others.map(|from| (from, to, block(n, ranks, from).len())));
            continue;
        }
        let own = block(n, ranks, to);
        let agents = heard(mixing, own.clone(), |agent| !own.contains(&agent));
        let same = agents.chunk_by(|a, b| rank_of(n, ranks, *a) == rank_of(n, ranks, *b));
        routes.extend(same.map(|some| (rank_of(n, ranks, some[0]), to, some.len())));
    }
    routes
}
