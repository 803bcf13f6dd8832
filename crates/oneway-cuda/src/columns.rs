//! Small networks as text: what a thread hears that has a coordinate of all agents (`kernels/columns.cu`).

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

use oneway::engine::Setup;
use oneway::graph::Topology;
use oneway::graph::mixing::Mixing;
use oneway::method::Carries;
use oneway::numeric::Precision;
use oneway::problem::{Description, RowLoss};

use crate::problem::longest;
use crate::source::Source;

const AGENTS: &str = include_str!("../kernels/agents.cu");

/// Numbers of one coordinate of all agents that a thread's registers hold, at most: states and messages.
const MOST_NUMBERS: usize = 128;

/// Terms of all sums of one coordinate, at most: they are written out one by one.
const MOST_TERMS: usize = 1024;

/// Coordinates, at most: a block has a thread for each, and few have registers for this much.
const MOST_COORDINATES: usize = 256;

/// Rounds whose samples are drawn at once, threads of a team, and lanes for a row, as the kernel has them.
const AHEAD: usize = 16;
const LANES: usize = 32;
const GROUP: usize = 16;

/// How runs are made whose network is part of the text.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    /// The network and what else is to be known, as CUDA C.
    pub(crate) text: String,
    /// Threads of a block.
    pub(crate) threads: u32,
    /// Bytes that they share.
    pub(crate) shared: u32,
}

impl Columns {
    /// For runs of one rule on one fixed network, if they are small enough and their gradients are made
    /// coordinate by coordinate or from one row each.
    pub(crate) fn new(
        setups: &[(Setup<'_>, Arc<Source>)],
        source: &Source,
        precision: Precision,
    ) -> Option<Self> {
        let (first, _) = setups.first()?;
        let (n, d) = (first.problem.agents(), first.problem.dim());
        let shared_by_all = setups.iter().all(|(setup, _)| is_the_same(setup.topology, first.topology));
        if !source.fuses || d > MOST_COORDINATES || !shared_by_all {
            return None;
        }
        let network = network(first.topology, source)?;
        let rows = Rows::of(setups, source)?;
        let threads = d.next_multiple_of(LANES);
        let of_rows = if rows.single {
            8 * n + AHEAD * n * 16 + 8 * n * (GROUP + 1) + n * threads * (precision.bytes() + 4)
        } else {
            0
        };
        let shared = of_rows + AHEAD * 32 + 2 * n * precision.bytes() + 64; // and what lies between them
        let defines = [
            ("SINGLE", usize::from(rows.single)),
            ("BINARY", usize::from(rows.binary)),
            ("PULLED_POINTS", usize::from(first.method.profile_on(first.problem).points_are_pulled)),
            ("COLUMN_SHARED", shared),
            ("COLUMN_BLOCKS", (384 / threads).max(1)),
        ];
        let mut text = String::new();
        for (name, value) in defines {
            let _ = writeln!(text, "#define {name} {value}"); // a string takes all
        }
        text.push_str(&network);
        Some(Self { text, threads: u32::try_from(threads).ok()?, shared: u32::try_from(shared).ok()? })
    }
}

/// The text of a network whose rounds are made by a thread for each coordinate, if there are few agents and
/// gradients are made coordinate by coordinate.
pub(crate) fn few(setup: Setup<'_>, source: &Source) -> Option<String> {
    let plain = source.fuses && source.by_coordinate && source.trace.carries == Carries::Nothing;
    if plain { network(setup.topology, source) } else { None }
}

/// What the rows of all runs have in common.
struct Rows {
    /// Whether a gradient is that of one row, whose entries are in different columns.
    single: bool,
    /// Whether all entries are 1.
    binary: bool,
}

impl Rows {
    /// None where gradients are made of several rows: then making them is most of a round.
    fn of(setups: &[(Setup<'_>, Arc<Source>)], source: &Source) -> Option<Self> {
        let mut found = Self { single: false, binary: true };
        let mut seen = HashSet::new();
        for problem in setups.iter().map(|(setup, _)| setup.problem) {
            if !seen.insert(std::ptr::from_ref(problem).addr()) {
                continue;
            }
            if let Description::Rows(sum) = problem.describe()? {
                let single = sum.batch == Some(1) && source.asks_once && longest(sum.rows) > 0;
                if !single || matches!(sum.loss, RowLoss::Softmax { .. } | RowLoss::TwoLayer { .. }) {
                    return None;
                }
                found = Self { single, binary: found.binary && sum.rows.is_binary() };
            }
        }
        Some(found)
    }
}

fn is_the_same(one: &Topology, other: &Topology) -> bool {
    std::ptr::eq(one, other) || one.period() == other.period()
}

/// AGENTS, `hear_pulled` and `hear_pushed`: the bit contract's sums, written out. Products that receivers
/// share are made once by the compiler.
fn network(topology: &Topology, source: &Source) -> Option<String> {
    let [pair] = topology.period() else { return None };
    let (n, [pulls, pushes]) = (topology.agents(), source.trace.sends);
    if n * (source.trace.names.len() + pulls + pushes) > MOST_NUMBERS {
        return None;
    }
    let terms: usize = [(&pair.pull, pulls), (&pair.push, pushes)]
        .map(|(mixing, vectors)| vectors * (0..mixing.agents()).map(|i| mixing.row(i).count()).sum::<usize>())
        .iter()
        .sum();
    if terms > MOST_TERMS {
        return None;
    }
    let mut text = format!("#define AGENTS {n}\n{AGENTS}");
    sums(&mut text, "hear_pulled", &pair.pull, 0..pulls);
    sums(&mut text, "hear_pushed", &pair.push, pulls..pulls + pushes);
    Some(text)
}

fn sums(text: &mut String, name: &str, mixing: &Mixing, vectors: std::ops::Range<usize>) {
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    line(format!(
        "__device__ inline void {name}(const real (&sent)[HEARD + 1][AGENTS], real (&heard)[HEARD + 1][AGENTS]) {{"
    ));
    line("    real sum;".to_owned());
    for v in vectors {
        for to in 0..mixing.agents() {
            let mut sum = "(real)0"; // of no one
            for (from, weight) in mixing.row(to) {
                let before = if sum == "sum" { "sum + " } else { "" };
                let weight = weight.to_bits();
                line(format!("    sum = {before}(real)number({weight:#018x}ull) * sent[{v}][{from}];"));
                sum = "sum";
            }
            line(format!("    heard[{v}][{to}] = {sum};"));
        }
    }
    line("}".to_owned());
}
