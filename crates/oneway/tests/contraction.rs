//! Contraction norms and certificates over random and over difficult networks.
#![allow(clippy::unwrap_used)]

use oneway::graph::mixing::{Link, Mixing, Stochastic};
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::graph::{Digraph, families};
use oneway::numeric::sample::{Draws, Purpose};
use oneway::theory::certificate::{Certifier, Setting};
use oneway::theory::contraction::{Contraction, Deviation};
use proptest::prelude::*;

use crate::common::strongly_connected;

const D: usize = 3;

fn topology(digraph: Digraph, subgraph: Subgraph) -> Topology {
    Topology::from_digraphs(&[digraph], subgraph, Weights::Uniform, 0).unwrap()
}

/// A random n×D matrix, by rows.
fn matrix(n: usize, seed: u64) -> Vec<f64> {
    let mut draws = Draws::new(seed, Purpose::Problem, 0, 0);
    (0..n * D).map(|_| draws.normal()).collect()
}

fn mixed(mixing: &Mixing, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; x.len()];
    out.chunks_exact_mut(D).enumerate().for_each(|(i, row)| mixing.mix_row(i, x, row));
    out
}

/// a − Σ-weighted mean of x put back with weights: x − Π x.
fn apart(a: &[f64], x: &[f64], take: impl Fn(usize) -> f64, give: impl Fn(usize) -> f64) -> Vec<f64> {
    let mean = |k: usize| -> f64 { x.chunks_exact(D).enumerate().map(|(i, row)| take(i) * row[k]).sum() };
    let mean: Vec<f64> = (0..D).map(mean).collect();
    a.chunks_exact(D)
        .enumerate()
        .flat_map(|(i, row)| (0..D).map(|k| row[k] - give(i) * mean[k]).collect::<Vec<_>>())
        .collect()
}

/// ‖WX − ΠX‖ ≤ ρ‖X − ΠX‖ and ‖X‖_F ≤ ‖X‖ ≤ δ‖X‖_F on random matrices.
fn contracts(topology: &Topology, share: f64, seed: u64) {
    let n = topology.agents();
    let stationary = topology.stationary(0).unwrap();
    let pair = topology.at(0);
    let norm = |deviation: Deviation| -> Contraction {
        let ρ = deviation.radius() + share * (1.0 - deviation.radius());
        let norm = deviation.contraction(ρ).unwrap();
        norm.check().unwrap();
        norm
    };
    let (pull, push) = (norm(Deviation::pull(topology).unwrap()), norm(Deviation::push(topology).unwrap()));
    let x = matrix(n, seed);
    let pulled = |a: &[f64]| apart(a, &x, |i| stationary.pull[i], |_| 1.0);
    let pushed = |a: &[f64]| apart(a, &x, |_| 1.0, |i| stationary.push[i]);
    let sides = [
        (&pull, pulled(&mixed(&pair.pull, &x)), pulled(&x)),
        (&push, pushed(&mixed(&pair.push, &x)), pushed(&x)),
    ];
    for (norm, after, before) in sides {
        let (after, before) = (norm.norm_sq(&after), norm.norm_sq(&before));
        let rounding = 1e-12 * norm.delta_sq();
        assert!(after <= norm.rho() * norm.rho() * before + rounding, "{after} {before} {}", norm.rho());
        let (frobenius, own) = (x.iter().map(|x| x * x).sum::<f64>(), norm.norm_sq(&x));
        assert!(frobenius <= own * (1.0 + 1e-12) + rounding);
        assert!(own <= norm.delta_sq() * frobenius * (1.0 + 1e-12));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn mixing_contracts_in_its_norm(digraph in strongly_connected(12), share in 0.05..0.95, seed in 0..1000u64) {
        for subgraph in [Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees] {
            contracts(&topology(digraph.clone(), subgraph), share, seed);
        }
    }

    #[test]
    fn half_of_a_certified_step_is_certified(
        digraph in strongly_connected(8), momentum in 0.01..=1.0, smoothness in 0.01..100.0,
    ) {
        for subgraph in [Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees] {
            let certifier = Certifier::new(&topology(digraph.clone(), subgraph)).unwrap();
            let setting = Setting { smoothness, momentum };
            let best = certifier.largest(setting).unwrap().unwrap();
            best.recheck().unwrap();
            let half = certifier.at(setting, 0.5 * best.step()).unwrap().unwrap();
            half.recheck().unwrap();
            // in the same norms, too
            let recursion = best.constants().recursion(setting, 0.5 * best.step());
            prop_assert!(recursion.margin(&recursion.weights().unwrap()) > 0.0);
        }
    }
}

#[test]
fn radii_are_exact_where_they_are_known() {
    let radii = |topology: &Topology| {
        [Deviation::pull(topology).unwrap().radius(), Deviation::push(topology).unwrap().radius()]
    };
    for n in [1, 2, 20] {
        assert!(radii(&Topology::complete(n).unwrap()).iter().all(|r| *r < 1e-15));
    }
    for n in [2, 5, 20] {
        // nilpotent of index n − 1: eigenvalues would come out as ε^{1/(n−1)}
        assert_eq!(radii(&topology(families::ring(n).unwrap(), Subgraph::Trees)), [0.0; 2]);
        let ring = radii(&topology(families::ring(n).unwrap(), Subgraph::Full));
        let expected = (std::f64::consts::PI / n as f64).cos(); // |½ + ½e^{2πi/n}|
        assert!(ring.iter().all(|r| (r - expected).abs() < 1e-12), "{ring:?} {expected}");
    }
    // ½I + ½·nilpotent: one eigenvalue ½ in one Jordan block
    let lazy = radii(&topology(families::ring(4).unwrap(), Subgraph::LazyTrees));
    assert!(lazy.iter().all(|r| (r - 0.5).abs() < 1e-9), "{lazy:?}");
}

#[test]
fn difficult_networks_contract() {
    contracts(&Topology::complete(1).unwrap(), 0.5, 1);
    contracts(&Topology::complete(7).unwrap(), 0.5, 1);
    contracts(&topology(families::ring(60).unwrap(), Subgraph::Full), 0.5, 1);
    contracts(&topology(families::ring(60).unwrap(), Subgraph::LazyTrees), 0.7, 1);
    contracts(&topology(families::star(30).unwrap(), Subgraph::Full), 0.5, 1);
}

#[test]
fn what_does_not_contract_is_refused() {
    let ring = topology(families::ring(5).unwrap(), Subgraph::Full);
    let pull = Deviation::pull(&ring).unwrap();
    for ρ in [0.0, 0.5, pull.radius(), 1.0, 2.0, f64::NAN] {
        let message = pull.contraction(ρ).unwrap_err().to_string();
        assert!(message.contains("`ρ`") && message.contains("spectral radius"), "{message}");
    }
    let turn = |stochastic| {
        let links = (0..4).map(|i| Link { from: i, to: (i + 1) % 4, weight: 1.0 });
        Mixing::new(4, stochastic, links).unwrap()
    };
    let periodic = Topology::fixed(turn(Stochastic::Rows), turn(Stochastic::Columns)).unwrap();
    assert!(Deviation::pull(&periodic).unwrap_err().to_string().contains("periodic"));
    let varying = families::one_peer_exponential(8).unwrap();
    let varying = Topology::from_digraphs(&varying, Subgraph::Full, Weights::Uniform, 0).unwrap();
    assert!(Deviation::push(&varying).unwrap_err().to_string().contains("fixed network"));
    let many = Deviation::pull(&topology(families::ring(2001).unwrap(), Subgraph::Full));
    assert!(many.unwrap_err().to_string().contains("at most 2000 agents"));
}

/// Each certificate re-checks itself. Run by `just bench-certificate`, which shows the times.
#[test]
#[ignore = "takes about a minute: just bench-certificate"]
fn a_thousand_agents() {
    for (name, digraph) in
        [("exponential", families::exponential(1000)), ("flower", families::flower(1000, 20))]
    {
        let topology = topology(digraph.unwrap(), Subgraph::Full);
        let begin = std::time::Instant::now();
        let pull = Deviation::pull(&topology).unwrap();
        eprintln!("{name}: radius {} after {:?}", pull.radius(), begin.elapsed());
        let norm = pull.contraction(0.5 * (1.0 + pull.radius())).unwrap();
        eprintln!("δ {} after {:?}", norm.delta(), begin.elapsed());
        let certifier = Certifier::new(&topology).unwrap();
        eprintln!("certifier after {:?}", begin.elapsed());
        let best = certifier.largest(Setting { smoothness: 1.0, momentum: 0.1 }).unwrap().unwrap();
        eprintln!("{:e} after {:?}", best.step(), begin.elapsed());
        best.recheck().unwrap();
        eprintln!("rechecked after {:?}", begin.elapsed());
    }
}
