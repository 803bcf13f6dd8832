//! The compressed methods of the literature against what they are made of, and against their rules with whole
//! matrices.
#![allow(clippy::unwrap_used)]

use oneway::codec::{Codec, Identity, codec};
use oneway::engine::Engine;
use oneway::graph::families;
use oneway::graph::mixing::Mixing;
use oneway::method::{Method, Network};
use oneway::methods::combine::{CODED, coded};
use oneway::methods::estimator::{Gradient, Momentum};
use oneway::methods::{Ab, PUSH_PULL, Smtpp, kind};
use oneway::numeric::sample::{Draws, Purpose};
use oneway::problem::Problem;
use oneway::problems::Batch;

use crate::combined::{far_from_minimiser, network, with_codec};
use crate::common::{advance, distance, estimates, logistic, quadratic, raw_step as step, simulate};

/// The compressed methods of the literature, with the identity for codec, are the methods that they compress.
#[test]
fn uncompressed_forms() {
    let flower = families::flower(7, 3).unwrap();
    let problem = logistic(7, Batch::Sampled(1));
    for coded in CODED {
        let plain: Box<dyn Method> = match coded.kind.name {
            "c-gt" | "beer" => kind("gt").unwrap().method([]).unwrap(),
            "motef" => Box::new(Ab::new(Momentum::new("gt", 0.1).unwrap(), 0.0).unwrap().balanced()),
            "cpp" | "rcpp" => Box::new(PUSH_PULL),
            "hb-sector" => Box::new(Ab::new(Gradient, 0.5).unwrap().balanced()),
            "compressed-smtpp" => Box::new(Smtpp::new(0.1).unwrap()),
            other => unreachable!("{other} has no uncompressed form here yet: write it"),
        };
        let ones = [("gamma", 1.0), ("alpha", 1.0), ("gamma_tracker", 1.0)];
        let method = with_codec(coded, Box::new(Identity), &ones).unwrap();
        let topology = network(&coded.kind, &flower);
        let η = step(&coded.kind, &topology, 0.05);
        let mut plain = simulate(&*plain, &problem, &topology, η);
        let mut simulator = simulate(&*method, &problem, &topology, η);
        for _ in 0..60 {
            plain.round().unwrap();
            simulator.round().unwrap();
            let far = distance(&estimates(&plain), &estimates(&simulator));
            assert!(far < 1e-12, "{}: off by {far:e}", coded.kind.name);
        }
    }
}

/// COMM as the papers have it, with whole matrices: H, Hw and the code, a row an agent.
struct Comm {
    h: Vec<Vec<f64>>,
    hw: Vec<Vec<f64>>,
}

impl Comm {
    fn new(n: usize, d: usize) -> Self {
        Self { h: vec![vec![0.0; d]; n], hw: vec![vec![0.0; d]; n] }
    }

    /// Z − γ(Ẑ − Ẑw), and the copies move.
    fn exchange(
        &mut self,
        z: &[Vec<f64>],
        w: &Mixing,
        [γ, α]: [f64; 2],
        codec: &dyn Codec,
        draws: &mut [Draws],
    ) -> Vec<Vec<f64>> {
        let (n, d) = (z.len(), z[0].len());
        let mut q: Vec<Vec<f64>> = (0..n).map(|i| (0..d).map(|c| z[i][c] - self.h[i][c]).collect()).collect();
        q.iter_mut().zip(draws).for_each(|(q, draws)| codec.compress(q, draws));
        let wq = |i: usize, c: usize| (0..n).map(|j| w.weight(i, j) * q[j][c]).sum::<f64>();
        let mixed: Vec<Vec<f64>> = (0..n).map(|i| (0..d).map(|c| wq(i, c)).collect()).collect();
        let mut out = z.to_vec();
        for i in 0..n {
            for c in 0..d {
                let (ẑ, ẑw) = (self.h[i][c] + q[i][c], self.hw[i][c] + mixed[i][c]);
                out[i][c] = z[i][c] - γ * (ẑ - ẑw);
                self.h[i][c] = (1.0 - α) * self.h[i][c] + α * ẑ;
                self.hw[i][c] = (1.0 - α) * self.hw[i][c] + α * ẑw;
            }
        }
        out
    }
}

/// The rules of the compressed methods, written with whole matrices, against the wrapper.
#[test]
fn compressed_methods_agree_with_their_dense_forms() {
    const N: usize = 7;
    const ROUNDS: u64 = 80;
    let problem = quadratic(N, 0.0);
    let d = problem.dim();
    let digraph = families::flower(N, 3).unwrap();
    let gradient = |x: &[Vec<f64>]| -> Vec<Vec<f64>> {
        (0..N)
            .map(|i| {
                let mut g = vec![0.0; d];
                problem.exact(i, &x[i], &mut g);
                g
            })
            .collect()
    };
    let combine = |a: &[Vec<f64>], s: f64, b: &[Vec<f64>]| -> Vec<Vec<f64>> {
        a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + s * b).collect()).collect()
    };
    for coded in CODED {
        let name = coded.kind.name;
        let topology = network(&coded.kind, &digraph);
        let η = step(&coded.kind, &topology, 0.03);
        let method = coded.kind.method([]).unwrap();
        let mut simulator = simulate(&*method, &problem, &topology, η);
        advance(&mut simulator, ROUNDS as usize);

        let codec = codec(coded.codec.0).unwrap().codec(coded.codec.1.iter().copied()).unwrap();
        // γ and α on the pull graph and on the push graph, λ, β: the defaults, once more
        let (pull, push, λ, β) = match name {
            "c-gt" => ([0.5, 0.5], [0.5, 0.5], 1.0, 0.0),
            "beer" => ([0.4, 1.0], [0.4, 1.0], 1.0, 0.0),
            "motef" => ([0.4, 1.0], [0.4, 1.0], 0.1, 0.0),
            "cpp" => ([0.8, 0.8], [0.8, 0.0], 1.0, 0.0),
            "rcpp" => ([0.8, 0.8], [0.8, 0.8], 1.0, 0.0),
            "hb-sector" => ([1.0, 0.0], [1.0, 0.0], 1.0, 0.5),
            "compressed-smtpp" => ([0.8, 0.8], [0.8, 0.8], 0.1, 0.0),
            other => unreachable!("{other} has no dense form here yet: write it"),
        };
        let adapt_first = coded.kind.network() == Network::PushPull;
        let mut x = vec![vec![0.0; d]; N];
        let mut x_before = x.clone();
        let mut m = if λ == 1.0 { gradient(&x) } else { vec![vec![0.0; d]; N] };
        let mut v = m.clone();
        let [mut models, mut trackers] = [Comm::new(N, d), Comm::new(N, d)];
        for k in 0..ROUNDS {
            let mut draws: Vec<Draws> = (0..N).map(|i| Draws::new(5, Purpose::Codec, i, k)).collect();
            let pair = topology.at(k);
            let x_next = if adapt_first {
                models.exchange(&combine(&x, -η, &v), &pair.pull, pull, &*codec, &mut draws)
            } else {
                let mixed = models.exchange(&x, &pair.pull, pull, &*codec, &mut draws);
                combine(&combine(&mixed, -η, &v), β, &combine(&x, -1.0, &x_before))
            };
            let mixed = trackers.exchange(&v, &pair.push, push, &*codec, &mut draws);
            x_before = std::mem::replace(&mut x, x_next);
            let m_next = combine(&combine(&m, -λ, &m), λ, &gradient(&x));
            v = combine(&combine(&mixed, 1.0, &m_next), -1.0, &m);
            m = m_next;
        }
        let far = distance(&estimates(&simulator), &x.concat());
        assert!(far < 1e-9, "{name}: off by {far:e}");
        assert!(x.concat().iter().any(|x| x.abs() > 1e-2), "nothing moved");
    }
}

/// Passed whole through a logarithmic quantiser, agents stay apart within one of its cells, the finer the
/// nearer; what has changed can pass through it without harm. So sector bounds alone are not enough for exact
/// agreement away from zero.
#[test]
fn sector_bound_links_leave_agents_apart_unless_changes_pass_through_them() {
    let hb_sector = coded("hb-sector").unwrap();
    let topology = network(&hb_sector.kind, &families::exponential(8).unwrap());
    let far = |steps: f64, α: f64| {
        let codec = codec("log-quantise").unwrap().codec([("steps", steps)]).unwrap();
        let method = with_codec(hb_sector, codec, &[("alpha", α)]).unwrap();
        far_from_minimiser(&*method, &topology, 0.04, 4000)
    };
    assert!(far(8.0, 0.0) > 1e-3 && far(1024.0, 0.0) > 1e-6, "{:e} {:e}", far(8.0, 0.0), far(1024.0, 0.0));
    assert!(far(1024.0, 0.0) < 0.1 * far(8.0, 0.0), "finer cells are smaller");
    assert!(far(8.0, 1.0) < 1e-9, "{:e}", far(8.0, 1.0));
}

/// An error that does not shrink with what is sent keeps a method away from x*; a scale that shrinks takes it
/// there.
#[test]
fn a_scale_that_shrinks_makes_absolute_errors_vanish() {
    let digraph = families::exponential(8).unwrap();
    let rcpp = coded("rcpp").unwrap();
    let topology = network(&rcpp.kind, &digraph);
    let far = |decay: f64| {
        let coarse = codec("uniform").unwrap().codec([("step", 0.05), ("bits", 16.0)]).unwrap();
        let method = with_codec(rcpp, coarse, &[("gamma", 0.5), ("decay", decay)]).unwrap();
        far_from_minimiser(&*method, &topology, step(&rcpp.kind, &topology, 0.1), 1500)
    };
    let (constant, shrinking) = (far(1.0), far(0.98));
    assert!(constant > 1e-4, "{constant:e}");
    assert!(shrinking < 1e-10, "{shrinking:e}");
}
