//! One size of one network: what it takes to build, to hold and to run, and the least that a round could
//! take.
//!
//! # The least traffic of a round
//!
//! For SMTPP with vectors of b = 8d bytes, per agent:
//!
//! | bytes | what |
//! |---|---|
//! | 6b | the state (x, v, m), read once and written once |
//! | 4b | the two messages, written once; a line is read before it is owned (write-allocate) |
//! | b | the agent's centre c_i, read once (the quadratic's; the logistic problem's few rows are left out) |
//! | all of R and C | offsets, senders and weights, as they are stored |
//! | b for each entry of R and of C | a message is read once for each link, and once by its own agent |
//!
//! The first four are streams: bytes over the bandwidth of a copy whose arrays are as large as all that the
//! round touches, so that a run that fits into a cache is held against that cache. The last is a gather: the
//! time of a loop that reads these very rows in this very order and does nothing with them. The gather is
//! measured and not modelled, because the caches serve what a receiver has read a moment before, always on a
//! ring and never on a large k-out graph. The bytes that the memory moves for a row of 80 bytes are two
//! lines, 128; the useful 80 are counted.
//!
//! Two passes read x and v twice. The second time is not in the model: it could be saved.
//!
//! # Operations
//!
//! Per agent and coordinate, with L entries in a row of R and of C: 2 for x − ηv, 2(2L − 1) for mixing, 2 for
//! h(x − c), 5 for the step. The roofline is the larger of the two times.
#![allow(unreachable_pub, clippy::unwrap_used)]

use std::time::{Duration, Instant};

use oneway::data::a9a::{Split, a9a};
use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::{Engine, Setup};
use oneway::graph::mixing::Mixing;
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::graph::{families, weights};
use oneway::methods::Smtpp;
use oneway::problem::Problem;
use oneway::problems::{Batch, Logistic, Quadratic, QuadraticShape, Sharing};

use crate::machine::{self, Picks};
use crate::memory;

/// Beyond this, a copy is as slow as it gets.
const LARGEST_COPY: usize = 256 << 20;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    pub problem: String,
    pub family: String,
    pub d: usize,
    pub n: usize,
}

/// What is written of each number of threads, a column each; seconds and bytes throughout.
pub const COLUMNS: &str = "problem,family,d,n,threads,graph_s,topology_s,problem_s,simulator_s,round_s,\
streamed_bytes,gathered_bytes,copy_bytes_per_s,gather_s,flops,flops_per_s,roofline_s,matrices_bytes,topology_bytes,\
problem_bytes,simulator_bytes,building_bytes,process_bytes";

impl Case {
    /// Builds, runs on one thread and on two, and gives a line of numbers for each.
    pub fn measure(&self) -> Vec<String> {
        let (n, d) = (self.n, self.d);
        let ((topology, graph_s), topology_s, topology_bytes) = built(|| self.topology());
        let (problem, problem_s, problem_bytes) = built(|| self.problem());
        let (method, schedule) = (Smtpp::new(0.1).unwrap(), Schedule::constant(1e-3).unwrap());
        let setup = Setup { method: &method, problem: &*problem, topology: &topology, schedule, seed: 1 };
        let building_bytes = memory::peak();

        let runs = [1, 2].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (mut simulator, seconds, bytes) = built(|| Simulator::new(setup).unwrap());
                (seconds, bytes, round(&mut simulator))
            })
        });
        let process_bytes = memory::process_peak();

        let pair = topology.at(0);
        let entries = pair.pull.entries() + pair.push.entries();
        let matrices = 5 * n * d * 8;
        let centres = if self.problem == "quadratic" { n * d * 8 } else { 0 };
        let streamed = 10 * n * d * 8 + centres + topology_bytes;
        let gathered = entries * d * 8;
        let flops = (9 * n + 2 * entries - 2 * n) * d;
        let [pulls, pushes] = [&pair.pull, &pair.push].map(senders);
        drop(problem);
        let tables = [vec![1.0; n * d], vec![1.0; n * d]];
        let lists = [(&pulls, &tables[0]), (&pushes, &tables[1])];
        let lists = lists.map(|(picks, rows)| Picks { picks, rows, width: d });

        let lines = runs.iter().zip(1..).map(|(&(simulator_s, simulator_bytes, round_s), threads)| {
            let copy = machine::copy((matrices + centres + topology_bytes).min(LARGEST_COPY), threads);
            let gather_s = machine::gather(&lists, threads);
            let peak = machine::unfused_peak(threads);
            let roofline_s = (streamed as f64 / copy + gather_s).max(flops as f64 / peak);
            let Case { problem, family, .. } = self;
            let build_s = topology_s - graph_s;
            format!(
                "{problem},{family},{d},{n},{threads},{graph_s:.3e},{build_s:.3e},{problem_s:.3e},{simulator_s:.3e},\
                 {round_s:.4e},{streamed},{gathered},{copy:.4e},{gather_s:.4e},{flops},{peak:.4e},{roofline_s:.4e},\
                 {matrices},{topology_bytes},{problem_bytes},{simulator_bytes},{building_bytes},{process_bytes}"
            )
        });
        lines.collect()
    }

    /// The network, and how long its digraph alone took.
    ///
    /// On a k-out graph an agent pulls from the four that it picked and pushes to them. One digraph for both
    /// would not do: of a million agents, 18,000 are picked by no one, and could not hear or not be heard.
    fn topology(&self) -> (Topology, f64) {
        let started = Instant::now();
        let graph = match self.family.as_str() {
            "ring" => families::ring(self.n),
            "exponential" => families::exponential(self.n),
            _ => families::k_out(self.n, 4, 1),
        };
        let (graph, seconds) = (graph.unwrap(), started.elapsed().as_secs_f64());
        let topology = match self.family.as_str() {
            "k-out" => {
                let pull = weights::uniform_rows(&graph.reversed()).unwrap();
                Topology::fixed(pull, weights::uniform_columns(&graph).unwrap())
            }
            _ => Topology::from_digraphs(&[graph], Subgraph::Full, Weights::Uniform, 0),
        };
        (topology.unwrap(), seconds)
    }

    /// A quadratic without noise, whose gradient costs next to nothing, or the paper's problem with a batch
    /// of one.
    fn problem(&self) -> Box<dyn Problem> {
        let (dim, curvature) = (self.d, [0.5, 2.0]);
        match self.problem.as_str() {
            "logistic" => {
                let (data, batch) = (a9a(Split::Train), Batch::Sampled(1));
                Box::new(Logistic::new(&data, Sharing::among(self.n).batch(batch), 0.01).unwrap())
            }
            _ => {
                let shape = QuadraticShape { dim, curvature, heterogeneity: 1.0, noise: 0.0 };
                Box::new(Quadratic::new(shape, self.n, 1).unwrap())
            }
        }
    }
}

/// What `build` gives, its seconds, and the bytes that stay.
fn built<T>(build: impl FnOnce() -> T) -> (T, f64, usize) {
    let (before, started) = (memory::live(), Instant::now());
    let made = build();
    (made, started.elapsed().as_secs_f64(), memory::live() - before)
}

/// Seconds of a round: the best of several batches of rounds.
fn round(simulator: &mut Simulator<'_>) -> f64 {
    let mut rounds = |times: u32| {
        let started = Instant::now();
        (0..times).try_for_each(|_| simulator.round()).unwrap();
        started.elapsed()
    };
    rounds(2); // touches the pages, and leaves the start, where everything is zero
    let mut times = 1;
    while rounds(times) < Duration::from_millis(10) {
        times *= 2;
    }
    let mut best = f64::INFINITY;
    let started = Instant::now();
    let mut batches = 0;
    while batches < 3 || started.elapsed() < Duration::from_millis(250) {
        best = best.min(rounds(times).as_secs_f64() / f64::from(times));
        batches += 1;
    }
    best
}

/// Whom every agent hears, one after another.
fn senders(mixing: &Mixing) -> Vec<u32> {
    (0..mixing.agents()).flat_map(|i| mixing.senders(i)).copied().collect()
}
