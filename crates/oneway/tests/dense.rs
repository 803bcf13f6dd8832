//! Every method against an independent implementation: whole n×n and n×d matrices, the rules as in the paper, weights and
//! gradients worked out anew from their definitions. Nothing here calls the library's methods, mixing or problems.
#![allow(clippy::unwrap_used)]

mod common;

use common::{advance, dataset, digraphs, distance, estimates, logistic, methods, topology};
use oneway::data::Dataset;
use oneway::engine::Setup;
use oneway::graph::Digraph;
use oneway::methods::Kind;
use oneway::problems::Batch;
use oneway::sample::{Draws, Purpose};
use oneway::schedule::{Schedule, Shape};
use oneway::simulator::Simulator;
use oneway::topology::Subgraph;

const N: usize = 9;
const D: usize = 6;
const ROUNDS: usize = 100;
const SEED: u64 = 5;
#[allow(non_upper_case_globals)]
const λ: f64 = 0.1;

type Matrix = Vec<Vec<f64>>;

fn zeros(columns: usize) -> Matrix {
    vec![vec![0.0; columns]; N]
}

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    let entry = |i: usize, k: usize| (0..N).map(|j| a[i][j] * b[j][k]).sum();
    (0..N).map(|i| (0..b[0].len()).map(|k| entry(i, k)).collect()).collect()
}

fn combine(a: &Matrix, c: f64, b: &Matrix) -> Matrix {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + c * b).collect()).collect()
}

fn divide(a: &Matrix, w: &Matrix) -> Matrix {
    a.iter().zip(w).map(|(a, w)| a.iter().map(|a| a / w[0]).collect()).collect()
}

/// R and C of a digraph by their definitions: edge j → i means that i hears j.
fn weights(digraph: &Digraph, graph: Subgraph, root: usize) -> (Matrix, Matrix) {
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

/// Row i: the gradient of agent i at row i of X, at state k, from the definition of the loss.
fn gradients(data: &Dataset, batch: Batch, x: &Matrix, k: u64) -> Matrix {
    let m = data.len() / N;
    let agent = |i: usize| {
        let rows: Vec<usize> = match batch {
            Batch::Full => (0..m).collect(),
            Batch::Sampled(b) => {
                let mut draws = Draws::new(SEED, Purpose::Gradient, i, k);
                (0..b).map(|_| draws.below(m)).collect()
            }
        };
        let mut g = vec![0.0; D];
        for &r in &rows {
            let mut a = [0.0; D];
            data.rows.row(i * m + r).for_each(|(column, value)| a[column as usize] = value);
            let y = data.labels[i * m + r];
            let z: f64 = y * a.iter().zip(&x[i]).map(|(a, x)| a * x).sum::<f64>();
            for c in 0..D {
                g[c] -= y * a[c] / (1.0 + z.exp()) / rows.len() as f64;
            }
        }
        for c in 0..D {
            g[c] += 2.0 * 0.01 * x[i][c] / (1.0 + x[i][c] * x[i][c]).powi(2);
        }
        g
    };
    (0..N).map(agent).collect()
}

/// The estimates of all agents after ROUNDS rounds.
fn dense(
    kind: &Kind,
    pair: impl Fn(u64) -> (Matrix, Matrix),
    η: f64,
    data: &Dataset,
    batch: Batch,
) -> Matrix {
    let gradient = |x: &Matrix, k: u64| gradients(data, batch, x, k);
    let (mut x, mut w) = (zeros(D), vec![vec![1.0]; N]);
    let (mut u, mut v, mut m) = (zeros(D), zeros(D), zeros(D));
    let mut g = gradient(&x, 0);
    let mut y = g.clone();
    for k in 0..ROUNDS as u64 {
        let η = η * 0.5f64.powi(k as i32 / 30); // plateaus of 30 rounds
        let (r, c) = pair(k);
        match kind.name {
            "smtpp" => {
                x = times(&r, &combine(&x, -η, &v));
                let g = gradient(&x, k + 1);
                let m_next = combine(&combine(&m, -λ, &m), λ, &g);
                v = combine(&combine(&times(&c, &v), 1.0, &m_next), -1.0, &m);
                m = m_next;
            }
            "push-pull" | "stpp" => {
                x = times(&r, &combine(&x, -η, &y));
                let g_next = gradient(&x, k + 1);
                y = combine(&combine(&times(&c, &y), 1.0, &g_next), -1.0, &g);
                g = g_next;
            }
            "sgp" => {
                u = times(&c, &combine(&u, -η, &g));
                w = times(&c, &w);
                x = divide(&u, &w);
                g = gradient(&x, k + 1);
            }
            "push-diging" => {
                u = times(&c, &combine(&u, -η, &y));
                w = times(&c, &w);
                x = divide(&u, &w);
                let g_next = gradient(&x, k + 1);
                y = combine(&combine(&times(&c, &y), 1.0, &g_next), -1.0, &g);
                g = g_next;
            }
            "csgdm" => {
                let everyone = vec![vec![1.0 / N as f64; N]; N];
                m = combine(&combine(&m, -λ, &m), λ, &times(&everyone, &g));
                x = combine(&x, -η, &m);
                g = gradient(&x, k + 1);
            }
            other => unreachable!("the method {other} has no dense form here yet: write it"),
        }
    }
    x
}

#[test]
fn every_method_agrees_with_its_dense_form_on_every_topology() {
    let data = dataset(5 * N);
    for (kind, graph) in methods() {
        for (number, (name, digraphs)) in digraphs().into_iter().enumerate() {
            if digraphs.len() > 1 && graph != Subgraph::Full {
                continue; // trees are cut from fixed digraphs
            }
            let root = 4 * (number % 2);
            for batch in [Batch::Full, Batch::Sampled(1), Batch::Sampled(3)] {
                let η = if graph == Subgraph::Full { 0.1 } else { 0.1 / N as f64 };
                let pair = |k: u64| weights(&digraphs[k as usize % digraphs.len()], graph, root);
                let expected = dense(kind, pair, η, &data, batch);

                let method = common::build(kind);
                let problem = logistic(N, batch);
                let topology = topology(kind, graph, &digraphs, root);
                let schedule = Schedule::new(η, Shape::Decay { factor: 0.5, every: 30 }, 0).unwrap();
                let setup =
                    Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: SEED };
                let mut simulator = Simulator::new(setup).unwrap();
                advance(&mut simulator, ROUNDS);
                let far = distance(&estimates(&simulator), &expected.concat());
                assert!(far < 1e-10, "{} ({graph:?}) on {name}, {batch:?}: off by {far:e}", kind.name);
                assert!(expected.concat().iter().any(|x| x.abs() > 1e-3), "nothing moved");
            }
        }
    }
}
