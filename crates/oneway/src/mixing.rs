//! A mixing matrix: what each agent makes of the rows it hears.
//!
//! `W[i][j]` is the weight that agent *i* applies to what it gets from *j*. The matrix is sparse and stored by
//! receiver, senders ascending, self in its place, because that is the order in which the bit contract adds.

use std::array;

use crate::matrix::LINE;
use crate::{Error, Result};

/// How far a row or column may be from summing to one. Sums of n weights 1/n stay well within it.
const SUM_TOLERANCE: f64 = 1e-9;

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
    /// `offsets[i]..offsets[i + 1]` are the entries of receiver i; of every receiver, if there is one row only.
    offsets: Vec<usize>,
    senders: Vec<u32>,
    weights: Vec<f64>,
}

impl Mixing {
    /// Builds and checks a matrix from its links, self-links included, in any order; a link given twice adds up.
    ///
    /// O(m log m) for m links.
    ///
    /// ```
    /// use oneway::mixing::{Link, Mixing, Stochastic};
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

        let mut offsets = vec![0; agents + 1];
        for link in &links {
            offsets[link.to + 1] += 1;
        }
        for i in 0..agents {
            offsets[i + 1] += offsets[i];
        }
        let mixing = Self {
            agents,
            offsets,
            senders: links.iter().map(|link| link.from as u32).collect(),
            weights: links.iter().map(|link| link.weight).collect(),
        };
        mixing.check(stochastic)?;
        Ok(mixing)
    }

    /// Builds and checks a matrix from its rows, each as (sender, weight) pairs with senders ascending and less than
    /// `agents` < 2³². O(n + m), and nothing is kept twice.
    pub(crate) fn from_rows<R: Iterator<Item = (u32, f64)>>(
        agents: usize,
        entries: usize,
        stochastic: Stochastic,
        row: impl Fn(usize) -> R,
    ) -> Result<Self> {
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
            debug_assert!(senders[offsets[to]..].is_sorted_by(|a, b| a < b));
            offsets.push(senders.len());
        }
        let mixing = Self { agents, offsets, senders, weights };
        mixing.check(stochastic)?;
        Ok(mixing)
    }

    /// The matrix 11ᵀ/n of the complete graph: row- and column-stochastic at once. Its one row is kept once.
    pub fn complete(agents: usize) -> Self {
        Self {
            agents,
            offsets: vec![0, agents],
            senders: (0..agents as u32).collect(),
            weights: vec![1.0 / agents as f64; agents],
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

    /// Whom agent `i` < n hears, ascending, and the weight of each: row i of the matrix.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let i = if self.has_one_row() { 0 } else { i };
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.senders[range.clone()], &self.weights[range])
    }

    /// All links, by receiver and then sender, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Link> + '_ {
        (0..self.agents()).flat_map(move |to| {
            let (senders, weights) = self.row(to);
            senders.iter().zip(weights).map(move |(&from, &weight)| Link { from: from as usize, to, weight })
        })
    }

    /// Sums of the rows.
    pub fn row_sums(&self) -> Vec<f64> {
        let rows = self.offsets.windows(2).map(|range| self.weights[range[0]..range[1]].iter().sum());
        let mut sums: Vec<f64> = rows.collect();
        sums.resize(self.agents, sums.first().copied().unwrap_or_default());
        sums
    }

    /// Sums of the columns.
    pub fn column_sums(&self) -> Vec<f64> {
        if self.has_one_row() {
            return self.weights.iter().map(|weight| weight * self.agents as f64).collect();
        }
        let mut sums = vec![0.0; self.agents()];
        for (&from, weight) in self.senders.iter().zip(&self.weights) {
            sums[from as usize] += weight;
        }
        sums
    }

    /// One agent's mixed row: `out = Σ_j W[i][j]·rows[j]`, where row j starts at `j * out.len()`.
    ///
    /// This is the bit contract's sum: senders ascending, the first term assigned, multiply then add, never fused.
    /// Each coordinate is its own sum, so working in blocks of coordinates changes no bit.
    #[inline(always)]
    pub fn mix_row(&self, i: usize, rows: &[f64], out: &mut [f64]) {
        match out.len() {
            0 => {}
            64.. => self.mix_in_blocks::<LINE, 8>(i, rows, out),
            32.. => self.mix_in_blocks::<LINE, 4>(i, rows, out),
            16.. => self.mix_in_blocks::<LINE, 2>(i, rows, out),
            8.. => self.mix_in_blocks::<LINE, 1>(i, rows, out),
            _ => self.mix_in_blocks::<1, 1>(i, rows, out),
        }
    }

    /// Sums V vectors of L coordinates at a time, in registers. The last block is moved back to end with the row: the
    /// coordinates it shares with the one before are computed twice, to the same bits.
    #[inline(always)]
    fn mix_in_blocks<const L: usize, const V: usize>(&self, i: usize, rows: &[f64], out: &mut [f64]) {
        let (width, (senders, weights)) = (out.len(), self.row(i));
        let Some(((&first, others), (&first_weight, weights))) =
            senders.split_first().zip(weights.split_first())
        else {
            return out.fill(0.0); // a push row may hear no one, not even itself
        };
        let mut start = 0;
        while start < width {
            start = start.min(width - L * V);
            let part = |sender: u32| -> &[[f64; L]; V] {
                let from = sender as usize * width + start;
                rows[from..from + L * V].as_chunks().0.first_chunk().unwrap_or(&[[0.0; L]; V])
            };
            // arrays made whole, not filled in place: so they stay in registers
            let row = part(first);
            let mut sum: [[f64; L]; V] = array::from_fn(|v| array::from_fn(|l| first_weight * row[v][l]));
            for (&sender, &weight) in others.iter().zip(weights) {
                let row = part(sender);
                sum = array::from_fn(|v| array::from_fn(|l| sum[v][l] + weight * row[v][l]));
            }
            out[start..start + L * V].copy_from_slice(sum.as_flattened());
            start += L * V;
        }
    }
}
