//! Laws of graphs, trees and weights, over random digraphs and over every family.

use std::path::Path;

use oneway::Error;
use oneway::graph::families::{self, FAMILIES};
use oneway::graph::mixing::{Mixing, Stochastic};
use oneway::graph::{Digraph, Tree, check_common_root, check_strongly_connected, file, weights};
use proptest::prelude::*;

/// Digraphs of `agents` agents, from no edges to many, self-loops and repetitions among them.
fn digraph_of(agents: usize) -> impl Strategy<Value = Digraph> {
    prop::collection::vec((0..agents, 0..agents), 0..=3 * agents)
        .prop_filter_map("ids are in range", move |edges| Digraph::from_edges(agents, edges).ok())
}

/// Digraphs of 1 to 12 agents.
fn digraph() -> impl Strategy<Value = Digraph> {
    (1..=12_usize).prop_flat_map(digraph_of)
}

/// Two digraphs on the same 1 to 8 agents.
fn two_digraphs() -> impl Strategy<Value = (Digraph, Digraph)> {
    (1..=8_usize).prop_flat_map(|agents| (digraph_of(agents), digraph_of(agents)))
}

/// `closure[i][j]`: whether j can be reached from i, by Warshall's algorithm.
fn closure(graph: &Digraph) -> Vec<Vec<bool>> {
    let n = graph.agents();
    let mut reaches: Vec<Vec<bool>> = (0..n).map(|i| (0..n).map(|j| i == j).collect()).collect();
    for (from, to) in graph.edges() {
        reaches[from][to] = true;
    }
    for via in 0..n {
        for i in 0..n {
            for j in 0..n {
                reaches[i][j] |= reaches[i][via] && reaches[via][j];
            }
        }
    }
    reaches
}

fn roots_by_closure(graph: &Digraph) -> Vec<usize> {
    let reaches = closure(graph);
    (0..graph.agents()).filter(|&i| reaches[i].iter().all(|&reached| reached)).collect()
}

/// W^power as a dense matrix, by rows.
fn power(mixing: &Mixing, power: usize) -> Vec<f64> {
    let n = mixing.agents();
    let mut matrix = vec![0.0; n * n];
    (0..n).for_each(|i| matrix[i * n + i] = 1.0);
    for _ in 0..power {
        let before = matrix.clone();
        for (i, row) in matrix.chunks_mut(n).enumerate() {
            mixing.mix_row(i, &before, row);
        }
    }
    matrix
}

proptest! {
    // Beside an integration test there is no lib.rs for proptest to keep failing cases next to.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_directions_tell_the_same_edges(graph in digraph()) {
        let out: Vec<_> = graph.edges().collect();
        prop_assert!(out.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(out.iter().all(|(from, to)| from != to));
        let mut into: Vec<_> = (0..graph.agents())
            .flat_map(|to| graph.in_neighbours(to).iter().map(move |&from| (from as usize, to)))
            .collect();
        into.sort_unstable();
        prop_assert_eq!(&out, &into);
        prop_assert_eq!(out.len(), graph.edge_count());
        prop_assert_eq!(graph.reversed().reversed(), graph);
    }

    #[test]
    fn reachability_and_roots_are_those_of_the_closure(graph in digraph()) {
        let reaches = closure(&graph);
        for (i, row) in reaches.iter().enumerate() {
            prop_assert_eq!(&graph.reachable_from(i), row);
        }
        prop_assert_eq!(graph.roots(), roots_by_closure(&graph));
        prop_assert_eq!(graph.is_strongly_connected(), reaches.iter().flatten().all(|&reached| reached));
    }

    #[test]
    fn a_graph_is_symmetric_exactly_if_it_has_no_one_way_edge(graph in digraph()) {
        let first = graph.edges().find(|&(from, to)| !graph.edges().any(|edge| edge == (to, from)));
        prop_assert_eq!(graph.one_way_edge(), first);
        prop_assert_eq!(graph.is_symmetric(), first.is_none());
    }

    #[test]
    fn uniform_weights_are_stochastic_and_have_the_graphs_links(graph in digraph()) {
        let rows = weights::uniform_rows(&graph).unwrap();
        let columns = weights::uniform_columns(&graph).unwrap();
        prop_assert!(rows.check(Stochastic::Rows).is_ok() && columns.check(Stochastic::Columns).is_ok());
        for mixing in [rows, columns] {
            prop_assert_eq!(mixing.entries(), graph.agents() + graph.edge_count());
            prop_assert_eq!(&Digraph::from_mixing(&mixing).unwrap(), &graph);
        }
    }

    #[test]
    fn metropolis_weights_are_symmetric_and_doubly_stochastic(graph in digraph()) {
        let both = graph.edges().chain(graph.reversed().edges().collect::<Vec<_>>());
        let symmetric = Digraph::from_edges(graph.agents(), both).unwrap();
        let mixing = weights::metropolis(&symmetric).unwrap();
        prop_assert!(mixing.check(Stochastic::Rows).is_ok() && mixing.check(Stochastic::Columns).is_ok());
        let dense = power(&mixing, 1);
        let n = mixing.agents();
        prop_assert!((0..n).all(|i| (0..n).all(|j| dense[i * n + j] == dense[j * n + i])));
        prop_assert_eq!(weights::metropolis(&graph).is_ok(), graph.is_symmetric());
    }

    #[test]
    fn tree_matrices_reach_their_limit_exactly_at_the_depth(graph in digraph(), root in 0..12_usize) {
        let n = graph.agents();
        let root = root % n;
        let (pull, push) = (Tree::pull(&graph, root), Tree::push(&graph, root));
        prop_assert_eq!(pull.is_ok(), graph.roots().contains(&root));
        prop_assert_eq!(push.is_ok(), graph.reversed().roots().contains(&root));

        if let Ok(tree) = &pull {
            let matrix = weights::pull_tree(tree, false).unwrap();
            let limit: Vec<f64> = (0..n * n).map(|at| f64::from(u8::from(at % n == root))).collect(); // 1e_rᵀ
            prop_assert_eq!(&power(&matrix, tree.depth()), &limit);
            prop_assert!(tree.depth() == 0 || power(&matrix, tree.depth() - 1) != limit);
            let links = Digraph::from_mixing(&matrix).unwrap();
            prop_assert!(links.edges().all(|(from, to)| graph.out_neighbours(from).contains(&(to as u32))));
        }
        if let Ok(tree) = &push {
            let matrix = weights::push_tree(tree, false).unwrap();
            let limit: Vec<f64> = (0..n * n).map(|at| f64::from(u8::from(at / n == root))).collect(); // e_r1ᵀ
            prop_assert_eq!(&power(&matrix, tree.depth()), &limit);
            let links = Digraph::from_mixing(&matrix).unwrap();
            prop_assert!(links.edges().all(|(from, to)| graph.out_neighbours(from).contains(&(to as u32))));
        }
        if let (Ok(pull), Ok(push)) = (pull, push) {
            for lazy in [false, true] {
                let pull = weights::pull_tree(&pull, lazy).unwrap();
                let push = weights::push_tree(&push, lazy).unwrap();
                prop_assert_eq!(check_common_root(&pull, &push).unwrap(), [root]);
            }
        }
    }

    #[test]
    fn common_roots_are_those_in_both_closures((pull, push) in two_digraphs()) {
        let result = check_common_root(
            &weights::uniform_rows(&pull).unwrap(),
            &weights::uniform_columns(&push).unwrap(),
        );
        let push_roots = roots_by_closure(&push.reversed());
        let common: Vec<usize> =
            roots_by_closure(&pull).into_iter().filter(|root| push_roots.contains(root)).collect();
        match result {
            Ok(roots) => prop_assert_eq!(roots, common),
            Err(Error::NoCommonRoot(why)) => {
                prop_assert!(common.is_empty());
                let treeless = roots_by_closure(&pull).is_empty() || push_roots.is_empty();
                prop_assert_eq!(treeless, why.contains("no spanning tree"), "{}", why);
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn strong_connectivity_is_that_of_the_digraph(graph in digraph()) {
        let result = check_strongly_connected(&weights::uniform_rows(&graph).unwrap());
        prop_assert_eq!(result.is_ok(), graph.is_strongly_connected());
    }

    #[test]
    fn edge_lists_read_back_what_was_written(graph in digraph()) {
        prop_assume!(graph.edge_count() > 0 || graph.agents() == 1);
        let mut text = Vec::new();
        file::write(&graph, &mut text).unwrap();
        let list = file::parse(text.as_slice(), Path::new("links.txt"), Some(graph.agents())).unwrap();
        prop_assert_eq!(list.digraph().unwrap(), graph);
    }

    #[test]
    fn weighted_edge_lists_read_back_to_the_same_bits(graph in digraph()) {
        let mixing = weights::uniform_rows(&graph).unwrap();
        let text: String =
            mixing.iter().map(|link| format!("{} {} {}\n", link.from, link.to, link.weight)).collect();
        let list = file::parse(text.as_bytes(), Path::new("links.txt"), None).unwrap();
        prop_assert_eq!(list.to_mixing(Stochastic::Rows).unwrap(), mixing);
    }

    #[test]
    fn the_reader_never_panics_on_text(text in "\\PC*", agents in prop::option::of(0..5_usize)) {
        let _ = file::parse(text.as_bytes(), Path::new("links.txt"), agents);
    }

    #[test]
    fn the_reader_never_panics_on_what_is_nearly_an_edge_list(
        text in "([0-9 \t\r\n#.eé-]|0 1|1 0|inf|nan){0,40}",
        agents in prop::option::of(0..5_usize),
    ) {
        if let Ok(list) = file::parse(text.as_bytes(), Path::new("links.txt"), agents) {
            prop_assert!(list.digraph().is_ok());
            let _ = list.to_mixing(Stochastic::Columns);
        }
    }

    #[test]
    fn the_reader_never_panics_on_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = file::parse(bytes.as_slice(), Path::new("links.txt"), None);
    }
}

#[test]
fn every_family_is_valid_wherever_its_parameters_allow() {
    for family in FAMILIES {
        let mut built = 0;
        for agents in 1..=40 {
            for seed in 0..3 {
                match family.digraphs(agents, [], seed) {
                    Ok(graphs) => {
                        built += 1;
                        assert!(graphs.iter().all(|graph| graph.agents() == agents), "{}", family.name);
                        let all = graphs.iter().flat_map(Digraph::edges);
                        let union = Digraph::from_edges(agents, all).unwrap();
                        assert!(family.random || union.is_strongly_connected(), "{} {agents}", family.name);
                    }
                    Err(Error::Parameter { .. }) => assert!(agents <= 4, "{} {agents}", family.name),
                    Err(other) => panic!("{}: {other}", family.name),
                }
            }
        }
        assert!(built >= 3 * 36, "{} was built {built} times", family.name);
    }
}

#[test]
fn exponential_graphs_are_circulant_with_log_n_offsets() {
    for agents in 1..=70_usize {
        let graph = families::exponential(agents).unwrap();
        let offsets = agents.next_power_of_two().ilog2() as usize; // ⌈log₂ n⌉
        let shifted = |i: usize| {
            let mut ids: Vec<u32> =
                graph.out_neighbours(0).iter().map(|&offset| (offset + i as u32) % agents as u32).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(graph.out_neighbours(0).len(), offsets);
        assert!((0..agents).all(|i| graph.out_neighbours(i) == shifted(i)));

        let rounds = families::one_peer_exponential(agents).unwrap();
        assert_eq!(rounds.len(), offsets.max(1));
        let union = Digraph::from_edges(agents, rounds.iter().flat_map(Digraph::edges)).unwrap();
        assert_eq!(union, graph);
    }
}

#[test]
fn two_way_families_are_symmetric() {
    for name in ["grid", "torus", "star", "complete", "tree"] {
        for agents in 1..=30 {
            let graphs = families::family(name).unwrap().digraphs(agents, [], 0).unwrap();
            assert!(graphs[0].is_symmetric(), "{name} {agents}");
            assert!(weights::metropolis(&graphs[0]).is_ok(), "{name} {agents}");
        }
    }
}

#[test]
fn default_random_families_of_twenty_are_mostly_strongly_connected() {
    for family in FAMILIES.iter().filter(|family| family.random) {
        // over their period, for those that change with the round
        let is_connected = |graphs: &[Digraph]| {
            let links: Vec<_> = graphs.iter().flat_map(Digraph::edges).collect();
            Digraph::from_edges(20, links).unwrap().is_strongly_connected()
        };
        let connected =
            (0..200).filter(|&seed| is_connected(&family.digraphs(20, [], seed).unwrap())).count();
        println!("{}: {connected} of 200", family.name);
        assert!(connected > 100, "{}: {connected} of 200", family.name);
    }
}

#[test]
fn a_hundred_thousand_agents_are_built_with_time_to_spare() {
    let agents = 100_000;
    for family in FAMILIES {
        let given = match family.name {
            "complete" => continue, // 10¹⁰ edges: refused
            "erdos-renyi" => vec![("probability".to_owned(), 1e-4)],
            "geometric" => vec![("range".to_owned(), 0.006)],
            "random-links" | "random-matching" => vec![("period".to_owned(), 4.0)],
            _ => vec![],
        };
        let start = std::time::Instant::now();
        let graphs = family.digraphs(agents, given, 1).unwrap();
        let taken = start.elapsed();
        let edges: usize = graphs.iter().map(Digraph::edge_count).sum();
        println!("{:>20}: {edges:>8} edges in {taken:?}", family.name);
        assert!(edges >= agents - 1, "{} has {edges} edges", family.name);
        // Generous: quadratic work would take minutes, and a busy machine must not fail the test.
        assert!(taken.as_secs() < 10, "{} took {taken:?}", family.name);
    }
}

#[test]
fn requests_for_too_many_edges_are_refused_not_attempted() {
    for (name, given) in [
        ("complete", vec![]),
        ("erdos-renyi", vec![("probability".to_owned(), 0.5)]),
        ("k-out", vec![("degree".to_owned(), 50_000.0)]),
        ("geometric", vec![("range".to_owned(), 0.5)]),
    ] {
        let error = families::family(name).unwrap().digraphs(100_000, given, 1).unwrap_err();
        assert!(matches!(error, Error::Parameter { .. }), "{error}");
    }
}

#[test]
fn a_million_agents_go_through_every_step() {
    let graph = families::flower(1_000_000, 1000).unwrap();
    assert_eq!(graph.edge_count(), 1_000_999);
    let pull = weights::pull_tree(&Tree::pull(&graph, 0).unwrap(), false).unwrap();
    let push = weights::push_tree(&Tree::push(&graph, 0).unwrap(), false).unwrap();
    assert_eq!(check_common_root(&pull, &push).unwrap(), [0]);
    assert!(check_strongly_connected(&weights::uniform_columns(&graph).unwrap()).is_ok());
    let error = check_strongly_connected(&push).unwrap_err().to_string();
    assert!(error.contains("and 999994 more"), "{error}");
}
