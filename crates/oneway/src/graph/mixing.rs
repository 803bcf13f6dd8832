//! A mixing matrix: what each agent makes of the rows it hears.
//!
//! `W[i][j]` is the weight that agent *i* applies to what it gets from *j*. The matrix is sparse and stored
//! by receiver, senders ascending, self in its place, because that is the order in which the bit contract
//! adds.

mod sums;

use std::collections::HashMap;
use std::ops::Range;

use crate::numeric::Float;
use crate::numeric::matrix::LINE;
use crate::numeric::vectors::{prefetch, widest};
use crate::{Error, Result};

use sums::mix;

/// How far a row or column may be from summing to one. Sums of n weights 1/n stay well within it.
const SUM_TOLERANCE: f64 = 1e-9;

/// How many agents ahead of mixing the rows that are far away are prefetched.
const AHEAD: usize = 2;

/// Which way the weights sum to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stochastic {
    /// R·1 = 1: every receiver takes a convex combination (pull).
    Rows,
    /// 1ᵀC = 1ᵀ: every sender splits what it has (push).
    Columns,
}

/// One weighted link, `from` → `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Sender, j.
    pub from: usize,
    /// Receiver, i.
    pub to: usize,
    /// W\[i\]\[j\] > 0.
    pub weight: f64,
}

/// A sparse stochastic n×n matrix, by receiver.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixing {
    agents: usize,
    /// `offsets[i]..offsets[i + 1]` are the entries of receiver i; of every receiver, if there is one row
    /// only.
    offsets: Vec<u32>,
    senders: Vec<u32>,
    weights: Weights,
}

/// The weights of all entries.
#[derive(Debug, Clone, PartialEq)]
enum Weights {
    /// One by one.
    Each(Vec<f64>),
    /// A byte for each, and what the bytes mean: large matrices mostly have few different weights, such as
    /// 1/(1 + degree), and memory is what large networks are short of.
    Few { codes: Vec<u8>, values: Vec<f64> },
}

impl Weights {
    /// Keeps weights as it suits them best.
    fn new(each: Vec<f64>) -> Self {
        /// With fewer than this, nothing is gained.
        const MANY: usize = 1 << 16;
        if each.len() < MANY {
            return Weights::Each(each);
        }
        let mut known: HashMap<u64, u8> = HashMap::new();
        let (mut codes, mut values) = (Vec::with_capacity(each.len()), vec![]);
        let mut last = (0, 0); // mostly the next weight is the same
        for weight in &each {
            let bits = weight.to_bits();
            if bits != last.0 || codes.is_empty() {
                let code = match (known.get(&bits), u8::try_from(values.len())) {
                    (Some(&code), _) => code,
                    (None, Ok(new)) => {
                        known.insert(bits, new);
                        values.push(*weight);
                        new
                    }
                    (None, Err(_)) => return Weights::Each(each),
                };
                last = (bits, code);
            }
            codes.push(last.1);
        }
        Weights::Few { codes, values }
    }

    #[inline(always)]
    fn at(&self, entry: usize) -> f64 {
        match self {
            Weights::Each(each) => each[entry],
            Weights::Few { codes, values } => values[usize::from(codes[entry])],
        }
    }
}

impl Mixing {
    /// Builds and checks a matrix from its links, self-links included, in any order; a link given twice adds
    /// up.
    ///
    /// O(m log m) for m links.
    ///
    /// ```
    /// use oneway::graph::mixing::{Link, Mixing, Stochastic};
    /// let links = [(0, 0, 0.5), (1, 0, 0.5), (1, 1, 1.0)].map(|(from, to, weight)| Link { from, to, weight });
    /// assert!(Mixing::new(2, Stochastic::Rows, links).is_ok());
    /// let error = Mixing::new(2, Stochastic::Columns, links).unwrap_err();
    /// assert!(error.to_string().starts_with("column 0 of the mixing weights sums to 0.5"));
    /// ```
    pub fn new(agents: usize, stochastic: Stochastic, links: impl IntoIterator<Item = Link>) -> Result<Self> {
        if u32::try_from(agents).is_err() {
            return Err(Error::parameter("graph", "agents", agents, "there can be no more than 2³² − 1"));
        }
        let mut links: Vec<Link> = links.into_iter().collect();
        for &Link { from, to, weight } in &links {
            if from >= agents || to >= agents {
                return Err(Error::Edge { from, to, agents });
            }
            if !(weight.is_finite() && weight > 0.0) {
                return Err(Error::Weight { from, to, weight });
            }
        }
        links.sort_by_key(|link| (link.to, link.from));
        links.dedup_by(|next, kept| {
            let same = (next.to, next.from) == (kept.to, kept.from);
            if same {
                kept.weight += next.weight;
            }
            same
        });

        let mut links = links.into_iter().peekable();
        Self::from_rows(agents, links.len(), stochastic, |to| {
            let row = std::iter::from_fn(|| links.next_if(|link| link.to == to));
            row.map(|link| (link.from as u32, link.weight)).collect::<Vec<_>>()
        })
    }

    /// Builds and checks a matrix from its rows, each as (sender, weight) pairs with senders ascending and
    /// less than `agents` < 2³². O(n + m), and nothing is kept twice.
    pub(crate) fn from_rows<R: IntoIterator<Item = (u32, f64)>>(
        agents: usize,
        entries: usize,
        stochastic: Stochastic,
        mut row: impl FnMut(usize) -> R,
    ) -> Result<Self> {
        if u32::try_from(entries).is_err() {
            return Err(Error::parameter("graph", "links", entries, "there can be no more than 2³² − 1"));
        }
        let mut offsets = Vec::with_capacity(agents + 1);
        offsets.push(0);
        let (mut senders, mut weights) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        for to in 0..agents {
            for (from, weight) in row(to) {
                if !(weight.is_finite() && weight > 0.0) {
                    return Err(Error::Weight { from: from as usize, to, weight });
                }
                senders.push(from);
                weights.push(weight);
            }
            debug_assert!(senders[offsets[to] as usize..].is_sorted_by(|a, b| a < b));
            offsets.push(senders.len() as u32);
        }
        let mixing = Self { agents, offsets, senders, weights: Weights::new(weights) };
        mixing.check(stochastic)?;
        Ok(mixing)
    }

    /// The matrix 11ᵀ/n of the complete graph: row- and column-stochastic at once. Its one row is kept once.
    pub fn complete(agents: usize) -> Self {
        Self {
            agents,
            offsets: vec![0, agents as u32],
            senders: (0..agents as u32).collect(),
            weights: Weights::new(vec![1.0 / agents as f64; agents]),
        }
    }

    /// The rows of some receivers, who hear none but agents from `first` on, which are numbered from 0 there.
    pub(crate) fn rows_within(&self, receivers: Range<usize>, first: u32) -> Self {
        let entries = || receivers.clone().flat_map(|i| self.entries_of(i));
        let weights = entries().map(|entry| self.weights.at(entry)).collect();
        let mut offsets = vec![0];
        offsets.extend(receivers.clone().scan(0, |end, i| {
            *end += self.entries_of(i).len() as u32;
            Some(*end)
        }));
        Self {
            agents: receivers.len(),
            offsets,
            senders: entries().map(|entry| self.senders[entry] - first).collect(),
            weights: Weights::new(weights),
        }
    }

    /// Whether all receivers have the same row, so that one mixed row serves them all.
    #[inline(always)]
    pub fn has_one_row(&self) -> bool {
        self.offsets.len() == 2
    }

    /// Whether rows (or columns) sum to one, within 1e-9; the error names the first that does not.
    pub fn check(&self, stochastic: Stochastic) -> Result<()> {
        let (axis, sums) = match stochastic {
            Stochastic::Rows => ("row", self.row_sums()),
            Stochastic::Columns => ("column", self.column_sums()),
        };
        match sums.iter().position(|sum| (sum - 1.0).abs() > SUM_TOLERANCE) {
            Some(index) => Err(Error::NotStochastic { axis, index, sum: sums[index] }),
            None => Ok(()),
        }
    }

    /// Number of agents, n.
    pub fn agents(&self) -> usize {
        self.agents
    }

    /// Number of entries, self-links included.
    pub fn entries(&self) -> usize {
        self.senders.len() * if self.has_one_row() { self.agents } else { 1 }
    }

    /// Number of links that cross the network: entries off the diagonal.
    pub fn links_on_wire(&self) -> usize {
        self.iter().filter(|link| link.from != link.to).count()
    }

    /// Where agent i's entries are.
    #[inline(always)]
    fn entries_of(&self, i: usize) -> Range<usize> {
        let i = if self.has_one_row() { 0 } else { i };
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }

    /// Whom agent `i` < n hears, ascending.
    #[inline]
    pub fn senders(&self, i: usize) -> &[u32] {
        &self.senders[self.entries_of(i)]
    }

    /// Whom agent `i` < n hears, ascending, and the weight of each: row i of the matrix.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.entries_of(i).map(|entry| (self.senders[entry] as usize, self.weights.at(entry)))
    }

    /// W_ij, zero where i does not hear j. O(in-degree of i).
    pub fn weight(&self, i: usize, j: usize) -> f64 {
        self.row(i).find(|(from, _)| *from == j).map_or(0.0, |(_, weight)| weight)
    }

    /// All links, by receiver and then sender, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Link> + '_ {
        (0..self.agents()).flat_map(|to| self.row(to).map(move |(from, weight)| Link { from, to, weight }))
    }

    /// Sums of the rows.
    pub fn row_sums(&self) -> Vec<f64> {
        let rows = if self.has_one_row() { 1 } else { self.agents };
        let mut sums: Vec<f64> = (0..rows).map(|i| self.row(i).map(|(_, weight)| weight).sum()).collect();
        sums.resize(self.agents, sums.first().copied().unwrap_or_default());
        sums
    }

    /// Sums of the columns.
    pub fn column_sums(&self) -> Vec<f64> {
        if self.has_one_row() {
            return self.row(0).map(|(_, weight)| weight * self.agents as f64).collect();
        }
        let mut sums = vec![0.0; self.agents()];
        for (entry, &from) in self.senders.iter().enumerate() {
            sums[from as usize] += self.weights.at(entry);
        }
        sums
    }

    /// One agent's mixed row: `out = Σ_j W[i][j]·rows[j]`, where row j starts at `j * out.len()`.
    ///
    /// This is the bit contract's sum: senders ascending, the first term assigned, multiply then add, never
    /// fused. Each coordinate is its own sum, so working in blocks of coordinates changes no bit.
    #[inline(always)]
    pub fn mix_row<T: Float>(&self, i: usize, rows: &[T], out: &mut [T]) {
        let entries = self.entries_of(i);
        let senders = &self.senders[entries.clone()];
        match &self.weights {
            Weights::Each(each) => mix(senders, each[entries].iter().copied(), rows, out),
            Weights::Few { codes, values } => {
                mix(senders, codes[entries].iter().map(|&code| values[usize::from(code)]), rows, out);
            }
        }
    }

    /// [`mix_row`](Self::mix_row) for some agents, one row of `out` after another, each `stride` > 0 numbers
    /// long. Rows that are `far` away in memory are asked for ahead. Compiled for the widest vectors.
    #[inline(never)]
    pub(crate) fn mix_rows<T: Float>(
        &self,
        agents: Range<usize>,
        far: bool,
        rows: &[T],
        stride: usize,
        out: &mut [T],
    ) {
        widest(
            #[inline(always)]
            || {
                for (agent, out) in agents.zip(out.chunks_exact_mut(stride)) {
                    if far {
                        self.prefetch(agent + AHEAD, rows, stride);
                    }
                    self.mix_row(agent, rows, out);
                }
            },
        );
    }

    /// Asks for the rows that agent i, if there is such an agent, will mix soon, where they are far away in
    /// memory.
    #[inline(always)]
    pub(crate) fn prefetch<T>(&self, i: usize, rows: &[T], width: usize) {
        if i >= self.agents || self.has_one_row() || width == 0 {
            return;
        }
        // of each row two lines, which may begin anywhere and so be three; a machine that sees a longer row
        // being read goes on by itself
        let places = [0, LINE, 2 * LINE - 1].map(|place| place.min(width - 1));
        for &sender in self.senders(i) {
            for place in places {
                if let Some(number) = rows.get(sender as usize * width + place) {
                    prefetch(number);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{families, weights};
    use crate::numeric::sample::{Draws, Purpose};

    /// Row i as the bit contract says it, number by number.
    fn by_hand(mixing: &Mixing, i: usize, rows: &[f64], width: usize) -> Vec<u64> {
        let coordinate = |k: usize| {
            let terms = mixing.row(i).map(|(from, weight)| weight * rows[from * width + k]);
            terms.reduce(|sum, term| sum + term).unwrap_or(0.0)
        };
        (0..width).map(|k| coordinate(k).to_bits()).collect()
    }

    fn assert_mixes_as_by_hand(mixing: &Mixing, receivers: &[usize], width: usize) {
        let mut draws = Draws::new(1, Purpose::Problem, 0, width as u64);
        let rows: Vec<f64> = (0..mixing.agents() * width).map(|_| draws.normal()).collect();
        for &i in receivers {
            let mut out = vec![f64::NAN; width];
            mixing.prefetch(i, &rows, width);
            mixing.mix_row(i, &rows, &mut out);
            let found: Vec<u64> = out.iter().map(|x| x.to_bits()).collect();
            assert_eq!(found, by_hand(mixing, i, &rows, width), "receiver {i}, width {width}");
        }
    }

    #[test]
    fn rows_of_every_width_have_the_bits_of_the_sum_by_hand() {
        let mixing = weights::uniform_columns(&families::exponential(6).unwrap()).unwrap();
        (0..200).for_each(|width| assert_mixes_as_by_hand(&mixing, &[0, 3, 5], width));
        let alone = Mixing::new(2, Stochastic::Columns, [(0, 1), (1, 1)].map(to_one)).unwrap(); // agent 0 hears no one
        (0..70).for_each(|width| assert_mixes_as_by_hand(&alone, &[0, 1], width));
    }

    fn to_one((from, to): (usize, usize)) -> Link {
        Link { from, to, weight: 1.0 }
    }

    #[test]
    fn large_matrices_keep_few_weights_in_bytes_and_many_one_by_one() {
        let few = weights::uniform_columns(&families::k_out(30_000, 4, 1).unwrap()).unwrap();
        assert!(matches!(&few.weights, Weights::Few { values, .. } if values.len() == 1));
        let mut draws = Draws::new(1, Purpose::Graph, 0, 0);
        let of_its_own = (0..35_000).flat_map(|i| {
            let share = draws.unit();
            [(i, share), ((i + 1) % 35_000, 1.0 - share)].map(|(from, weight)| Link { from, to: i, weight })
        });
        let many = Mixing::new(35_000, Stochastic::Rows, of_its_own).unwrap();
        assert!(matches!(many.weights, Weights::Each(_)));
        let one_row = Mixing::complete(70_000);
        assert!(matches!(one_row.weights, Weights::Few { .. }) && one_row.has_one_row());
        for mixing in [few, many, one_row] {
            for width in [1, 10, 64] {
                assert_mixes_as_by_hand(&mixing, &[0, 17, mixing.agents() - 1], width);
            }
        }
    }
}
