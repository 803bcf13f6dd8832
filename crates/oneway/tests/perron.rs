//! Perron vectors against closed forms, a dense reference and their own equation.
#![allow(clippy::unwrap_used)]

use std::time::Instant;

use oneway::Error;
use oneway::graph::mixing::Stochastic;
use oneway::graph::perron::{c_pi, left, right};
use proptest::prelude::*;

use crate::perron_chains::*;

/// π_R of a chain given as rows, and π_C of its transpose: they must agree with each other to the bit.
fn stationary(chain: &Chain) -> Vec<f64> {
    let rows = chain.rows();
    let start = Instant::now();
    let pi = left(&rows).unwrap();
    println!("{} agents, {} arcs: {:?}", chain.nodes, chain.arcs.len(), start.elapsed()); // shown by --nocapture
    assert!(pi.iter().all(|&p| p >= 0.0));
    assert!((total(&pi) - 1.0).abs() < 1e-14);
    let residual = chain.residual(&pi);
    assert!(residual < 1e-13, "residual {residual:e}");
    if chain.nodes <= 1000 {
        assert_eq!(right(&chain.columns()).unwrap(), pi);
    }
    pi
}

/// Of two vectors, each scaled to sum to one; zeros must stand at the same places.
fn largest_relative_error(pi: &[f64], expected: &[f64]) -> f64 {
    let scale = total(expected) / total(pi);
    let errors = pi.iter().zip(expected).filter(|(p, e)| p != e).map(|(p, e)| (p * scale / e - 1.0).abs());
    errors.fold(0.0, f64::max)
}

fn assert_close(pi: &[f64], expected: &[f64], tolerance: f64) {
    let error = largest_relative_error(pi, expected);
    println!("  relative error {error:e}");
    assert!(error <= tolerance, "relative error {error:e}");
}

#[test]
fn one_agent_alone_has_all_the_weight() {
    let chain = Chain { nodes: 1, arcs: vec![(0, 0, 1.0)] };
    assert_eq!(stationary(&chain), [1.0]);
}

#[test]
fn two_agents_have_weights_in_inverse_proportion_to_their_leaving() {
    let chain = Chain { nodes: 2, arcs: vec![(0, 0, 0.9), (0, 1, 0.1), (1, 0, 0.7), (1, 1, 0.3)] };
    assert_close(&stationary(&chain), &[0.7, 0.1], 1e-15);
}

#[test]
fn trees_put_all_weight_on_the_root() {
    for nodes in [2, 7, 100_000] {
        for laziness in [0.0, 0.5] {
            let root = nodes / 2;
            let mut arcs = vec![(root, root, 1.0)];
            for v in (0..nodes).filter(|&v| v != root) {
                let parent = if v < root { v + 1 } else { root + (v - root - 1) / 2 };
                arcs.push((v, parent, 1.0 - laziness));
                if laziness > 0.0 {
                    arcs.push((v, v, laziness));
                }
            }
            let chain = Chain { nodes, arcs };
            let mut expected = vec![0.0; nodes];
            expected[root] = 1.0;
            let (pull, push) = (left(&chain.rows()).unwrap(), right(&chain.columns()).unwrap());
            assert_eq!(pull, expected);
            assert_eq!(push, expected);
            assert_eq!(c_pi(&pull, &push), nodes as f64);
        }
    }
}

#[test]
fn cycles_without_self_loops_and_other_doubly_stochastic_chains_are_uniform() {
    for nodes in [2, 3, 12, 1000, 100_000] {
        let cycle = Chain { nodes, arcs: (0..nodes).map(|v| (v, (v + 1) % nodes, 1.0)).collect() };
        assert!(stationary(&cycle).iter().all(|&p| p == 1.0 / nodes as f64));
        let weights = [(0, 0.2), (1, 0.5), (3, 0.2), (7, 0.1)];
        let circulant =
            weights.iter().flat_map(|&(hop, w)| (0..nodes).map(move |v| (v, (v + hop) % nodes, w)));
        let pi = stationary(&Chain { nodes, arcs: circulant.collect() });
        assert!(pi.iter().all(|&p| p == 1.0 / nodes as f64));
        assert!((c_pi(&pi, &pi) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn an_almost_doubly_stochastic_path_is_not_called_uniform() {
    // up a little likelier than down, by far less than the sums of columns show: π_{v+1}/π_v = 1 + 2⁻⁵⁰
    let (up, down) = (0.25 * (1.0 + f64::EPSILON * 4.0), 0.25);
    let nodes = 100_000;
    let arcs = (1..nodes).flat_map(|v| [(v - 1, v, up), (v, v - 1, down)]);
    let pi = stationary(&Chain::lazy(nodes, arcs));
    let expected = (nodes - 1) as f64 * 4.0 * f64::EPSILON;
    assert!((pi[nodes - 1] / pi[0] - 1.0 - expected).abs() < 1e-3 * expected);
}

#[test]
fn birth_and_death_chains_keep_relative_accuracy_over_two_hundred_decades() {
    // detailed balance: π_{v+1} = π_v·p_v/q_{v+1}; exact powers of two make the expected products exact
    let nodes = 101;
    let arcs = (1..nodes).flat_map(|v| [(v - 1, v, 0.0078125), (v, v - 1, 0.75)]);
    let expected: Vec<f64> = (0..nodes).map(|v| (0.0078125_f64 / 0.75).powi(v)).collect();
    assert!(expected[100] < 1e-195);
    let pi = stationary(&Chain::lazy(nodes as usize, arcs.map(|(u, w, p)| (u as usize, w as usize, p))));
    assert_close(&pi, &expected, 1e-12);
}

#[test]
fn two_wells_behind_a_barrier_no_double_can_hold_are_weighed_right() {
    // π falls by 4 per step to 4⁻⁶⁰⁰ ≈ 1e-361 in the middle and rises again: both ends must get their half
    let middle = 600;
    let arcs = (0..2 * middle).flat_map(|v| {
        let (up, down) = if v < middle { (0.125, 0.5) } else { (0.5, 0.125) };
        [(v, v + 1, up), (v + 1, v, down)]
    });
    // chance 1/8 up and 1/2 down on the near side; mirrored on the far side
    let pi = stationary(&Chain::lazy(2 * middle + 1, arcs));
    assert_close(&[pi[0], pi[1], pi[2 * middle]], &[1.0, 0.25, 1.0], 1e-12);
    assert_eq!(pi[middle], 0.0);
}

#[test]
fn a_ring_with_chords_back_halves_at_each_step() {
    let nodes = 100_000;
    let mut arcs: Vec<_> = (0..nodes).map(|v| (v, (v + 1) % nodes, if v == 0 { 1.0 } else { 0.5 })).collect();
    arcs.extend((1..nodes - 1).map(|v| (v, 0, 0.5)));
    arcs.push((nodes - 1, nodes - 1, 0.5));
    let pi = stationary(&Chain { nodes, arcs });
    let expected: Vec<f64> = (0..900).map(|v| 0.5_f64.powi((v - 1).max(0))).collect();
    assert_close(&pi[..900], &expected, 1e-12);
    assert!(pi[2000..].iter().all(|&p| p == 0.0));
}

#[test]
fn a_symmetric_grid_with_uniform_weights_follows_its_degrees() {
    let chain = grid_edges(250, 400).fold(Edges::new(100_000), Edges::both_ways).uniform();
    let degrees = chain.out_degrees();
    let expected: Vec<f64> = degrees.iter().map(|&degree| (1 + degree) as f64).collect();
    assert_close(&stationary(&chain), &expected, 1e-14);
}

#[test]
fn a_grid_of_random_conductances_follows_their_sums() {
    // P_uw = c_uw/c_u is reversible with π_u ∝ c_u = Σ_w c_uw; nothing here is balanced, so it is eliminated
    for (rows, columns) in [(4, 5), (60, 90), (200, 250)] {
        let edges: Vec<_> = grid_edges(rows, columns).collect();
        let (chain, expected) = conductances(rows * columns, &edges, 1);
        assert_close(&stationary(&chain), &expected, 1e-12);
    }
}

#[test]
fn paths_stars_and_trees_of_random_conductances_follow_their_sums() {
    let nodes = 100_000;
    let path: Vec<_> = (1..nodes).map(|v| (v - 1, v)).collect();
    let star: Vec<_> = (1..nodes).map(|v| (0, v)).collect();
    let mut draws = draws(2);
    let tree: Vec<_> = (1..nodes).map(|v| (draws.below(v), v)).collect();
    for edges in [path, star, tree] {
        let (chain, expected) = conductances(nodes, &edges, 3);
        assert_close(&stationary(&chain), &expected, 1e-12);
    }
}

#[test]
fn a_flower_agrees_with_the_dense_reference() {
    for petals in [1, 2, 4, 5] {
        for edges in [flower(20, petals), flower(20, petals).reversed()] {
            let chain = edges.uniform();
            assert_close(&stationary(&chain), &chain.dense_reference(), 1e-14);
        }
    }
}

#[test]
fn equal_petals_of_a_large_flower_have_equal_weights() {
    let nodes = 100_001;
    let chain = flower(nodes, 4).reversed().uniform(); // R[i][j] = 1/(1 + indegree i)
    let pi = stationary(&chain);
    // the chain goes 0 → one of four petals → … → 0: π_0·4/5 = 4·π_v/2
    assert_close(&pi, &[vec![5.0], vec![2.0; nodes - 1]].concat(), 1e-13);
}

#[test]
fn a_large_random_digraph_converges() {
    let nodes = 100_000;
    let mut draws = draws(5);
    let mut edges = Edges::new(nodes);
    for v in 0..nodes {
        for _ in 0..4 {
            edges = edges.with((v, draws.below(nodes)));
        }
    }
    let chain = edges.uniform();
    let pi = stationary(&chain);
    assert!(pi.iter().filter(|&&p| p > 0.0).count() > nodes * 9 / 10);
}

#[test]
fn crowds_that_rarely_mix_are_balanced_right() {
    // two dense random crowds, each mixing in a few steps, joined by one arc of 1e-9 and one of 2e-9: mirror
    // images
    let crowd = 950;
    let mut draws = draws(8);
    let mut arcs = vec![];
    for v in 0..crowd {
        for _ in 0..40 {
            let (w, chance) = (draws.below(crowd), 0.02 * draws.unit());
            if w != v {
                arcs.extend([(v, w, chance), (v + crowd, w + crowd, chance)]);
            }
        }
    }
    arcs.extend([(0, crowd, 1e-9), (crowd, 0, 2e-9)]);
    let pi = stationary(&Chain::lazy(2 * crowd, arcs));
    assert_close(&[total(&pi[..crowd]), total(&pi[crowd..])], &[2.0, 1.0], 1e-12);
}

#[test]
fn two_closed_classes_are_an_error_that_names_them() {
    let arcs = vec![(0, 1, 0.5), (0, 3, 0.5), (1, 2, 1.0), (2, 1, 1.0), (3, 3, 1.0)];
    let chain = Chain { nodes: 4, arcs };
    let error = left(&chain.rows()).unwrap_err();
    assert!(matches!(error, Error::PerronNotUnique { first: 1 | 2, second: 3, .. }), "{error}");
    assert!(error.to_string().ends_with("and 3 belong to two groups that hear no one outside"), "{error}");
    let error = right(&chain.columns()).unwrap_err();
    assert!(error.to_string().ends_with("two groups that send to no one outside"), "{error}");
}

#[test]
fn agents_outside_the_closed_class_weigh_exactly_nothing() {
    let arcs = vec![(0, 1, 0.5), (0, 0, 0.5), (1, 2, 1.0), (2, 1, 0.5), (2, 2, 0.5), (3, 0, 1.0)];
    assert_eq!(stationary(&Chain { nodes: 4, arcs }), [0.0, 1.0 / 3.0, 2.0 / 3.0, 0.0]);
}

#[test]
fn both_mixings_of_a_digraph_give_its_c_pi() {
    let edges = flower(20, 4);
    let (r, c) = (edges.reversed().uniform(), edges.uniform());
    let pull = left(&r.mixing(Stochastic::Rows)).unwrap();
    let push = right(&c.mixing(Stochastic::Columns)).unwrap();
    let (dense_pull, dense_push) = (r.dense_reference(), c.dense_reference());
    let expected: f64 = 20.0 * dense_pull.iter().zip(&dense_push).map(|(l, r)| l * r).sum::<f64>();
    assert!((c_pi(&pull, &push) / expected - 1.0).abs() < 1e-13);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_chains_agree_with_the_dense_reference(
        nodes in 2usize..40, extra in 0usize..150, decades in 0.0f64..12.0, lazy: bool, seed: u64,
    ) {
        let chain = random_chain(nodes, extra, decades, lazy, seed);
        let expected = chain.dense_reference();
        prop_assert!(largest_relative_error(&stationary(&chain), &expected) < 1e-12);
    }

    #[test]
    fn small_chains_agree_with_the_markov_chain_tree_theorem(
        nodes in 2usize..=5, extra in 0usize..12, decades in 0.0f64..60.0, seed: u64,
    ) {
        let chain = random_chain(nodes, extra, decades, true, seed);
        prop_assert!(largest_relative_error(&stationary(&chain), &chain.tree_theorem()) < 1e-13);
    }

    #[test]
    fn renaming_the_agents_renames_the_weights(nodes in 2usize..30, extra in 0usize..90, seed: u64) {
        let chain = random_chain(nodes, extra, 3.0, true, seed);
        let mut names: Vec<usize> = (0..nodes).collect();
        draws(seed ^ 1).shuffle(&mut names);
        let arcs = chain.arcs.iter().map(|&(u, w, p)| (names[u], names[w], p)).collect();
        let renamed = stationary(&Chain { nodes, arcs });
        let back: Vec<f64> = names.iter().map(|&name| renamed[name]).collect();
        prop_assert!(largest_relative_error(&back, &stationary(&chain)) < 1e-13);
    }
}
