//! Every method against an independent implementation: whole n×n and n×d matrices, the rules as in the paper,
//! weights and gradients worked out anew from their definitions. Nothing here calls the library's methods,
//! mixing or problems.
#![allow(clippy::unwrap_used)]

use oneway::engine::Setup;
use oneway::engine::Simulator;
use oneway::engine::schedule::{Schedule, Shape};
use oneway::graph::Subgraph;
use oneway::method::Network;
use oneway::methods::Kind;
use oneway::methods::combine::coded;
use oneway::problems::Batch;

use crate::common::{self, advance, dataset, distance, estimates, logistic, table, topology};
use crate::dense_balanced::{Dense, lazy};
use crate::dense_world::{
    D, Matrix, N, SEED, Tables, World, combine, diagonal, divide, metropolis, scale, times, weights, zeros,
};

const ROUNDS: usize = 100;
#[allow(non_upper_case_globals)]
const λ: f64 = 0.1;

/// C Y + G⁺ − G, and G⁺ is kept in place of G.
fn track(c: &Matrix, y: &Matrix, g: &mut Matrix, g_next: Matrix) -> Matrix {
    let y = combine(&combine(&times(c, y), 1.0, &g_next), -1.0, g);
    *g = g_next;
    y
}

fn identity() -> Matrix {
    (0..N).map(|i| (0..N).map(|j| f64::from(i == j)).collect()).collect()
}

/// The estimates of all agents after ROUNDS rounds.
fn dense(kind: &Kind, pairs: &[(Matrix, Matrix)], η: f64, world: &World<'_>) -> Matrix {
    let step = |k: u64| η * 0.5f64.powi(k as i32 / 30); // plateaus of 30 rounds
    if let Some(mut form) = Dense::new(kind.name, world) {
        (0..ROUNDS).for_each(|k| form.round(k as u64, step(k as u64), &pairs[k % pairs.len()].0));
        return form.x;
    }
    let gradient = |x: &Matrix, k: u64| world.gradients(x, k);
    let (mut x, mut w) = (zeros(D), vec![vec![1.0]; N]);
    let (mut u, mut v, mut m) = (zeros(D), zeros(D), zeros(D));
    let mut g = gradient(&x, 0);
    let two_gradients = |x: &Matrix, k: u64, phase: u32| {
        let [one, other] = [0, 1].map(|after| world.later_gradients(x, k, phase, after));
        combine(&combine(&one, -0.5, &one), 0.5, &other)
    };
    if kind.name == "multi-gossip" {
        g = two_gradients(&x, 0, 0);
    }
    if kind.name == "local-dsmt" {
        m = combine(&zeros(D), λ, &g); // Y₀ = Z₀ = λG₀
        v = m.clone();
    }
    let mut y = g.clone();
    let (mut s, mut x_before) = (x.clone(), x.clone());
    let mut tables = Tables::new(world, &x);
    let mut learnt = identity();
    if kind.name.ends_with("saga") {
        g = tables.means();
        y = g.clone();
    }
    let mut z = if kind.name == "r-fast" { scale(&diagonal(&pairs[0].1), &g) } else { g.clone() };
    for k in 0..ROUNDS as u64 {
        let η = step(k);
        let (r, c) = &pairs[k as usize % pairs.len()];
        match kind.name {
            "smtpp" => {
                x = times(r, &combine(&x, -η, &v));
                let g = gradient(&x, k + 1);
                let m_next = combine(&combine(&m, -λ, &m), λ, &g);
                v = track(c, &v, &mut m, m_next);
            }
            "push-pull" | "stpp" | "dsgt" => {
                x = times(r, &combine(&x, -η, &y));
                y = track(c, &y, &mut g, gradient(&x, k + 1));
            }
            "storm-tracking" => {
                let x_next = times(r, &combine(&x, -η, &y));
                let old = combine(&g, -1.0, &gradient(&x, k + 1)); // with the sample of the new
                y = track(c, &y, &mut g, combine(&gradient(&x_next, k + 1), 1.0 - λ, &old));
                x = x_next;
            }
            "push-pull-hb" => {
                u = combine(&combine(&u, -λ, &u), λ, &y);
                x = times(r, &combine(&x, -η, &u));
                y = track(c, &y, &mut g, gradient(&x, k + 1));
            }
            "r-fast" => {
                x = times(r, &combine(&x, -η, &z));
                y = track(c, &y, &mut g, gradient(&x, k + 1));
                z = scale(&diagonal(c), &y);
            }
            "ab" | "abm" | "gt" | "accelerated-ab" | "ab-saga" => {
                let (β, γ) = match kind.name {
                    "abm" => (0.2, 0.0),
                    "accelerated-ab" => (0.1, 0.1),
                    _ => (0.0, 0.0),
                };
                let moved = combine(&x, -1.0, &x_before);
                x_before = x;
                x = combine(&combine(&times(r, &s), -η, &y), β, &moved);
                s = combine(&combine(&x, γ, &x), -γ, &x_before);
                let g_next = match kind.name {
                    "ab-saga" => tables.next(world, &s, k + 1),
                    _ => gradient(&s, k + 1),
                };
                y = track(c, &y, &mut g, g_next);
            }
            "sgp" | "sgp-momentum" => {
                u = times(c, &combine(&u, -η, &g));
                w = times(c, &w);
                x = divide(&u, &w);
                let β = if kind.name == "sgp" { 0.0 } else { 0.5 };
                g = combine(&gradient(&x, k + 1), β, &g);
            }
            "push-diging" | "add-opt" | "push-saga" => {
                u = match kind.name {
                    "push-diging" => times(c, &combine(&u, -η, &y)),
                    _ => combine(&times(c, &u), -η, &y),
                };
                w = times(c, &w);
                x = divide(&u, &w);
                let g_next = match kind.name {
                    "push-saga" => tables.next(world, &x, k + 1),
                    _ => gradient(&x, k + 1),
                };
                y = track(c, &y, &mut g, g_next);
            }
            "frost" => {
                x = combine(&times(r, &x), -η, &z);
                let inverse = |learnt: &Matrix| diagonal(learnt).iter().map(|y| 1.0 / y).collect::<Vec<_>>();
                let old = scale(&inverse(&learnt), &g);
                learnt = times(r, &learnt);
                g = gradient(&x, k + 1);
                z = combine(&combine(&times(r, &z), 1.0, &scale(&inverse(&learnt), &g)), -1.0, &old);
            }
            "local-smtpp" => {
                x = times(r, &combine(&x, -η, &v));
                let m_next = combine(&combine(&m, -λ, &m), λ, &gradient(&x, k + 1));
                v = track(c, &v, &mut m, m_next);
                x = combine(&x, -η, &v);
                let g = world.later_gradients(&x, k + 1, 0, 1);
                let m_next = combine(&combine(&m, -λ, &m), λ, &g);
                v = track(&identity(), &v, &mut m, m_next);
            }
            "local-dsmt" => {
                let half = combine(&combine(r, -0.5, r), 0.5, &identity()); // (I + W)/2
                x = times(&half, &combine(&x, -η, &v));
                let m_next = combine(&combine(&m, -λ, &m), λ, &gradient(&x, k + 1));
                v = times(&half, &track(&identity(), &v, &mut m, m_next));
                x = combine(&x, -η, &v);
                let g = world.later_gradients(&x, k + 1, 1, 0); // after the second exchange
                let m_next = combine(&combine(&m, -λ, &m), λ, &g);
                v = track(&identity(), &v, &mut m, m_next);
            }
            "pd-sgdm" => {
                x = times(r, &combine(&x, -η, &g));
                g = combine(&gradient(&x, k + 1), 0.5, &g);
                x = combine(&x, -η, &g);
                g = combine(&world.later_gradients(&x, k + 1, 0, 1), 0.5, &g);
            }
            "multi-gossip" => {
                x = times(r, &times(r, &combine(&x, -η, &y)));
                y = track(&times(c, c), &y, &mut g, two_gradients(&x, k + 1, 1));
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
    // methods that are compressed by definition have their dense forms in compressed_forms.rs
    let table = table().filter(|(kind, ..)| coded(kind.name).is_none());
    for (number, (kind, graph, name, digraphs)) in table.enumerate() {
        let root = 4 * (number % 2);
        let pairs = digraphs.iter().map(|digraph| match kind.network() {
            Network::Undirected if kind.name == "d2" => {
                (lazy(&metropolis(digraph)), lazy(&metropolis(digraph)))
            }
            Network::Balanced | Network::Undirected => (metropolis(digraph), metropolis(digraph)),
            _ => weights(digraph, graph, root),
        });
        let pairs: Vec<(Matrix, Matrix)> = pairs.collect();
        for batch in [Batch::Full, Batch::Sampled(1), Batch::Sampled(3), Batch::Reshuffled(3)] {
            let many = graph != Subgraph::Full || kind.network() == Network::PullOnly;
            let η = if many { 0.1 / N as f64 } else { 0.1 };
            let expected = dense(kind, &pairs, η, &World { data: &data, batch });

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
