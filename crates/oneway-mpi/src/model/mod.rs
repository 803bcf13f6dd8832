//! What a round costs on a cluster: a prediction from the network's latency and bandwidth, before anyone buys
//! machine time.
//!
//! For one exchange, the core of process r has w_r seconds of work, of which the share i_r need not wait for
//! others; the process has m_r messages and b_r bytes to send and receive. With s processes a core,
//!
//! T = max_r \[ s·c_r + σ + max(i_r·w_r, L + B/G) + (1 − i_r)·w_r \],  c_r = μ·m_r + λ·l_r + β·b_r + γ·f_r
//!
//! where L is the latency between hosts and G the bandwidth of one, B the most bytes that one of them sends or
//! receives (L + B/G is there only for processes with messages to other hosts), and σ = s·τ if s > 1, for
//! processes that take turns. c_r is what messages cost the process itself: l_r of them are long, and wait for their
//! receiver to say that there is room; f_r bytes are in messages so long that they come from far memory. μ, λ, β,
//! γ and τ are [fitted](fit); w_r, the work of all s processes of a core, is [measured](work).

pub mod command;
pub mod fit;
pub mod load;
mod units;
pub mod work;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use load::Load;

/// What of a cluster a round's time depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cluster {
    /// Seconds from a host to another.
    pub latency: f64,
    /// Bytes a second that a host sends, and receives as many.
    pub bandwidth: f64,
    /// Processes on each host.
    pub per_host: usize,
    /// Its cores.
    pub cores: usize,
}

impl Cluster {
    /// s: processes that share a core; 1 where each has one of its own.
    pub fn sharing(&self, processes: usize) -> f64 {
        (processes.min(self.per_host) as f64 / self.cores.max(1) as f64).max(1.0)
    }
}

/// Seconds of a process's own that messages take.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// μ, for each message that is sent or received.
    pub message: f64,
    /// λ, for each of them that is long, besides.
    pub long: f64,
    /// β, for each byte that is sent or received.
    pub byte: f64,
    /// γ, for each of them in messages that are very long, besides.
    pub far_byte: f64,
    /// τ, for each process on a core where several take turns.
    pub turn: f64,
}

impl Costs {
    /// Fitted by `just fit-model` on two shared cores with Debian's OpenMPI 4.1.4: see docs/clusters.md.
    pub const FITTED: Self =
        Self { message: 1.58e-7, long: 8.4e-7, byte: 3.4e-11, far_byte: 4.1e-11, turn: 1.13e-6 };

    /// Reads what `just fit-model` has written.
    pub fn from_json(text: &str) -> Result<Self> {
        let costs: Self = serde_json::from_str(text).context("not the costs that `just fit-model` writes")?;
        ensure!(
            costs.all().iter().all(|x| x.is_finite() && *x >= 0.0),
            "costs must be 0 or more, in seconds"
        );
        Ok(costs)
    }

    /// In the order of [`Load::of_costs`].
    fn all(&self) -> [f64; 5] {
        [self.message, self.long, self.byte, self.far_byte, self.turn]
    }

    /// Seconds of its own that a process with this load spends.
    fn of(&self, load: &Load) -> f64 {
        load.of_costs().iter().zip(self.all()).map(|(times, cost)| times * cost).sum()
    }
}

/// What is said of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Seconds of a round.
    pub seconds: f64,
    /// The share of it that the slowest process spends with messages, waiting included.
    pub messages: f64,
}

/// The time of a round: `exchanges` has the loads of all processes for each exchange of each round of the
/// period, and `work` says how many seconds of work a round is for a number of agents on one core.
pub fn predict(
    cluster: &Cluster,
    costs: &Costs,
    exchanges: &[Vec<Vec<Load>>],
    work: &dyn Fn(f64) -> f64,
) -> Prediction {
    let (mut seconds, mut messages) = (0.0, 0.0);
    for round in exchanges {
        for loads in round {
            let slowest = exchange(cluster, costs, loads, &|agents| work(agents) / round.len() as f64);
            seconds += slowest.seconds / exchanges.len() as f64;
            messages += slowest.seconds * slowest.messages / exchanges.len() as f64;
        }
    }
    Prediction { seconds, messages: if seconds > 0.0 { messages / seconds } else { 0.0 } }
}

/// The slowest process of one exchange.
fn exchange(cluster: &Cluster, costs: &Costs, loads: &[Load], work: &dyn Fn(f64) -> f64) -> Prediction {
    let sharing = cluster.sharing(loads.len());
    let hosts = loads.chunks(cluster.per_host.max(1));
    let busiest = hosts.map(|host| {
        let [out, into] =
            host.iter().fold([0, 0], |[out, into], load| [out + load.far_out, into + load.far_in]);
        out.max(into)
    });
    let travels = cluster.latency + busiest.max().unwrap_or(0) as f64 / cluster.bandwidth;
    let turns = if sharing > 1.0 && loads.len() > 1 { sharing * costs.turn } else { 0.0 };
    let process = |load: &Load| {
        let own = sharing * costs.of(load) + turns;
        let work = work(load.agents as f64 * sharing);
        let inner = work * load.inner as f64 / load.agents.max(1) as f64;
        let waiting = if load.is_far { (travels - inner).max(0.0) } else { 0.0 };
        let seconds = own + waiting + work;
        Prediction { seconds, messages: (own + waiting) / seconds.max(f64::MIN_POSITIVE) }
    };
    let slower = |a: Prediction, b: Prediction| if b.seconds > a.seconds { b } else { a };
    loads.iter().map(process).fold(Prediction { seconds: 0.0, messages: 0.0 }, slower)
}
