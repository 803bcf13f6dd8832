//! Whole matrices, weights and gradients by their definitions: what the dense forms of methods are made of.
#![allow(unreachable_pub, clippy::unwrap_used)]

use oneway::data::Dataset;
use oneway::graph::Digraph;
use oneway::graph::Subgraph;
use oneway::numeric::sample::{Draws, Purpose};
use oneway::problems::Batch;

pub const N: usize = 9;
pub const D: usize = 6;
pub const SEED: u64 = 5;

pub type Matrix = Vec<Vec<f64>>;

pub fn zeros(columns: usize) -> Matrix {
    vec![vec![0.0; columns]; N]
}

pub fn times(a: &Matrix, b: &Matrix) -> Matrix {
    let entry = |i: usize, k: usize| (0..N).map(|j| a[i][j] * b[j][k]).sum();
    (0..N).map(|i| (0..b[0].len()).map(|k| entry(i, k)).collect()).collect()
}

pub fn combine(a: &Matrix, c: f64, b: &Matrix) -> Matrix {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + c * b).collect()).collect()
}

pub fn divide(a: &Matrix, w: &Matrix) -> Matrix {
    a.iter().zip(w).map(|(a, w)| a.iter().map(|a| a / w[0]).collect()).collect()
}

/// diag(c)·A.
pub fn scale(c: &[f64], a: &Matrix) -> Matrix {
    a.iter().zip(c).map(|(a, c)| a.iter().map(|a| c * a).collect()).collect()
}

pub fn diagonal(a: &Matrix) -> Vec<f64> {
    (0..N).map(|i| a[i][i]).collect()
}

/// R and C of a digraph by their definitions: edge j → i means that i hears j.
pub fn weights(digraph: &Digraph, graph: Subgraph, root: usize) -> (Matrix, Matrix) {
    let hears = |i: usize, j: usize| i == j || digraph.edges().any(|edge| edge == (j, i));
    let (mut r, mut c) = (zeros(N), zeros(N));
    match graph {
        Subgraph::Full => {
            for i in 0..N {
                for j in 0..N {
                    if hears(i, j) {
                        r[i][j] = 1.0 / (0..N).filter(|&k| hears(i, k)).count() as f64;
                        c[i][j] = 1.0 / (0..N).filter(|&k| hears(k, j)).count() as f64;
                    }
                }
            }
        }
        Subgraph::Trees | Subgraph::LazyTrees => {
            let pull = parents(root, |from, to| from != to && hears(to, from));
            let push = parents(root, |from, to| from != to && hears(from, to));
            for i in 0..N {
                r[i][pull[i]] = 1.0;
                c[push[i]][i] = 1.0;
            }
            if graph == Subgraph::LazyTrees {
                for (i, matrix) in (0..N).flat_map(|i| [(i, true), (i, false)]) {
                    let matrix = if matrix { &mut r } else { &mut c };
                    matrix[i].iter_mut().for_each(|w| *w *= 0.5);
                    matrix[i][i] += 0.5;
                }
            }
        }
    }
    (r, c)
}

/// Metropolis weights on the links of a digraph, both ways: W_ij = 1/(1 + max(deg i, deg j)), and the rest is
/// kept.
pub fn metropolis(digraph: &Digraph) -> Matrix {
    let linked = |i: usize, j: usize| i != j && digraph.edges().any(|edge| edge == (j, i) || edge == (i, j));
    let degree = |i: usize| (0..N).filter(|&j| linked(i, j)).count();
    let mut w = zeros(N);
    for (i, row) in w.iter_mut().enumerate() {
        for j in (0..N).filter(|&j| linked(i, j)) {
            row[j] = 1.0 / (1 + degree(i).max(degree(j))) as f64;
        }
        row[i] = 1.0 - row.iter().sum::<f64>();
    }
    w
}

/// Parents in the breadth-first tree from the root, lowest ids first; the root is its own.
fn parents(root: usize, linked: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut parent = vec![usize::MAX; N];
    parent[root] = root;
    let mut queue = vec![root];
    let mut next = 0;
    while next < queue.len() {
        let from = queue[next];
        for (to, parent) in parent.iter_mut().enumerate() {
            if *parent == usize::MAX && linked(from, to) {
                *parent = from;
                queue.push(to);
            }
        }
        next += 1;
    }
    parent
}

/// What the agents ask: logistic losses of their rows, from the definition.
pub struct World<'a> {
    pub data: &'a Dataset,
    pub batch: Batch,
}

impl World<'_> {
    /// Rows of an agent.
    fn rows(&self) -> usize {
        self.data.len() / N
    }

    /// Row i: the gradient of agent i at row i of X, with the samples of state k.
    pub fn gradients(&self, x: &Matrix, k: u64) -> Matrix {
        self.later_gradients(x, k, 0, 0)
    }

    /// The same in a later exchange of the round, after `after` gradients in it.
    pub fn later_gradients(&self, x: &Matrix, k: u64, phase: u32, after: usize) -> Matrix {
        let rows = |i: usize| match self.batch {
            Batch::Full => (0..self.rows()).collect::<Vec<_>>(),
            Batch::Sampled(b) => {
                let mut draws = Draws::new(SEED, Purpose::Gradient, i, k).in_phase(phase);
                let all: Vec<usize> = (0..(after + 1) * b).map(|_| draws.below(self.rows())).collect();
                all[after * b..].to_vec()
            }
            Batch::Reshuffled(b) => {
                let place = |at: usize| {
                    in_passes([i as u32, phase, after as u32], k * b as u64 + at as u64, self.rows() as u64)
                };
                (0..b).map(place).collect()
            }
        };
        (0..N).map(|i| self.mean_over(i, &rows(i), &x[i])).collect()
    }

    /// The mean gradient of some rows of agent i.
    fn mean_over(&self, i: usize, rows: &[usize], x: &[f64]) -> Vec<f64> {
        let mut g = vec![0.0; D];
        for &r in rows {
            let mut a = [0.0; D];
            self.data.rows.row(i * self.rows() + r).for_each(|(column, value)| a[column as usize] = value);
            let y = self.data.labels[i * self.rows() + r];
            let z: f64 = y * a.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
            for c in 0..D {
                g[c] -= y * a[c] / (1.0 + z.exp()) / rows.len() as f64;
            }
        }
        for c in 0..D {
            g[c] += 2.0 * 0.01 * x[c] / (1.0 + x[c] * x[c]).powi(2);
        }
        g
    }
}

/// The row at a place of an agent's orders, of a gradient in an exchange of its rounds, as docs/bit-contract.md has it.
fn in_passes([agent, phase, gradient]: [u32; 3], place: u64, m: u64) -> usize {
    let below = |bits: u64| ((u128::from(bits) * u128::from(m)) >> 64) as u64;
    let mix = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut x = place % m;
    for block in 0..12 {
        let counter = [(1 << 31) + 12 * gradient + block, agent, (place / m) as u32, phase << 8];
        let w = rand_philox::philox4x32_10(counter, [SEED as u32, (SEED >> 32) as u32]).map(u64::from);
        for κ in [w[0] | w[1] << 32, w[2] | w[3] << 32] {
            let y = (below(κ) + m - x) % m;
            if mix(κ.wrapping_add(x.max(y))) >> 63 == 1 {
                x = y;
            }
        }
    }
    x as usize
}

/// SAGA's tables of all agents.
pub struct Tables(Vec<Matrix>);

impl Tables {
    pub fn new(world: &World<'_>, x: &Matrix) -> Self {
        let row = |i: usize, r: usize| world.mean_over(i, &[r], &x[i]);
        Self((0..N).map(|i| (0..world.rows()).map(|r| row(i, r)).collect()).collect())
    }

    /// The means of the tables.
    pub fn means(&self) -> Matrix {
        let mean = |table: &Matrix| -> Vec<f64> {
            (0..D).map(|c| table.iter().map(|g| g[c]).sum::<f64>() / table.len() as f64).collect()
        };
        self.0.iter().map(mean).collect()
    }

    /// ∇f_s(x) − table_s + mean(table), and then table_s is ∇f_s(x), with the samples of state k.
    pub fn next(&mut self, world: &World<'_>, x: &Matrix, k: u64) -> Matrix {
        let mut m = self.means();
        for i in 0..N {
            let s = Draws::new(SEED, Purpose::Gradient, i, k).below(world.rows());
            let g = world.mean_over(i, &[s], &x[i]);
            for c in 0..D {
                m[i][c] += g[c] - self.0[i][s][c];
            }
            self.0[i][s] = g;
        }
        m
    }
}
