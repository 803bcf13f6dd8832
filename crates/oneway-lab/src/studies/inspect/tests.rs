//! Advice follows the numbers, sentence by sentence, and is silent where they show nothing.

use std::collections::BTreeMap;

use super::advice::{advice, comparison};
use super::*;

fn subgraph(graph: &'static str, c_pi: f64) -> SubgraphFacts {
    SubgraphFacts {
        graph,
        doubly_stochastic: false,
        pull_depth: None,
        push_depth: None,
        pi_r: vec![0.5, 0.5],
        pi_c: vec![0.5, 0.5],
        c_pi,
        rho_r: Some(0.5),
        rho_c: Some(0.5),
        mixing_rounds_r: Some(1.443),
        mixing_rounds_c: Some(1.443),
    }
}

fn limit(method: &'static str, graph: &'static str, effective: f64) -> LimitFacts {
    let momentum = matches!(method, "smtpp" | "csgdm").then_some(0.1);
    LimitFacts { method, momentum, graph, effective: Some(effective), raw: Some(effective), reason: None }
}

/// Two agents about whom there is nothing to say.
fn dull() -> Inspection {
    Inspection {
        topology: "pair".to_owned(),
        parameters: BTreeMap::new(),
        agents: 2,
        names: None,
        period: 1,
        weights: "uniform",
        graphs: vec![],
        assumption_1: Assumption { holds: true, roots: vec![0, 1], failure: None, repair: None },
        subgraphs: vec![subgraph("full", 1.0)],
        limits: vec![limit("smtpp", "full", 2.0), limit("push-pull", "full", 2.0)],
        skipped: vec![],
        advice: vec![],
        drawings: vec![],
    }
}

#[track_caller]
fn assert_says(facts: &Inspection, expected: &[&str]) {
    assert_eq!(advice(facts), expected);
}

#[test]
fn nothing_is_said_where_the_numbers_show_nothing() {
    assert_says(&dull(), &[]);
    assert_says(&Inspection { subgraphs: vec![], limits: vec![], ..dull() }, &[]);
    let nearly = vec![limit("smtpp", "full", 2.0), limit("push-pull", "full", 1.9)];
    assert_says(&Inspection { limits: nearly, ..dull() }, &[]);
}

#[test]
fn c_pi_says_how_far_a_raw_step_moves_the_average() {
    let mut facts = dull();
    facts.subgraphs = vec![subgraph("full", 1.0), subgraph("trees", 20.0), subgraph("lazy-trees", 20.0)];
    facts.subgraphs[0].doubly_stochastic = true;
    assert_says(
        &facts,
        &[
            "The weights of the full digraph are doubly stochastic: c_π = 1, so raw and effective steps agree.",
            "Trees make c_π = 20: give steps as effective, for a raw step moves the average 20 times as far.",
        ],
    );
    let uneven = Inspection { subgraphs: vec![subgraph("full", 1.25)], ..dull() };
    assert_says(
        &uneven,
        &[
            "On the full digraph c_π = 1.25: a raw step moves the average 1.25 times as far, so give steps as effective.",
        ],
    );
}

#[test]
fn momentum_gains_or_costs_as_the_limits_have_it() {
    let mut facts = dull();
    facts.limits = vec![
        limit("smtpp", "full", 3.0),
        limit("smtpp", "trees", 0.24),
        limit("push-pull", "full", 0.2),
        limit("push-pull", "trees", 0.32),
        limit("csgdm", "complete", 38.0),
    ];
    assert_says(
        &facts,
        &[
            "SMTPP (λ = 0.1) on the full digraph allows 15 times the step of Push-Pull.",
            "Momentum costs on weight-1 trees: SMTPP (λ = 0.1) allows 0.75 of the step of Push-Pull.",
            "SMTPP allows 12.5 times the effective step on the full digraph that it allows on weight-1 trees.",
            "If everyone heard everyone, the same momentum would allow 38: the network costs SMTPP a factor of 12.67.",
        ],
    );
    facts.limits =
        vec![limit("smtpp", "full", 0.01), limit("smtpp", "trees", 0.04), limit("csgdm", "complete", 0.04)];
    assert_says(
        &facts,
        &["SMTPP allows 4 times the effective step on weight-1 trees that it allows on the full digraph."],
    );
}

#[test]
fn slow_mixing_and_uneven_shares_are_told() {
    let mut facts = dull();
    let full = &mut facts.subgraphs[0];
    (full.rho_r, full.mixing_rounds_r) = (Some(0.998), Some(499.5));
    (full.rho_c, full.mixing_rounds_c) = (Some(0.9), Some(9.49));
    full.pi_c = vec![0.999, 0.001];
    facts.subgraphs.push(SubgraphFacts {
        pull_depth: Some(4),
        push_depth: Some(6),
        ..subgraph("trees", 1.0)
    });
    assert_says(
        &facts,
        &[
            "ρ_R = 0.998 on the full digraph: models take 500 rounds to come nearer by a factor e; weight-1 trees agree \
             exactly after 6.",
            "π_C is uneven on the full digraph: agent 0 has 999 times the share of agent 1.",
        ],
    );
}

#[test]
fn methods_without_a_limit_are_named_by_reason() {
    let mut facts = dull();
    for method in ["sgp", "push-diging"] {
        let reason = Some("no way back".to_owned());
        facts.limits.push(LimitFacts { effective: None, raw: None, reason, ..limit(method, "full", 0.0) });
    }
    assert_says(&facts, &["No limit for sgp (full), push-diging (full): no way back."]);
}

#[test]
fn what_fails_comes_with_what_mends_it() {
    let repair = |shared, pull: &[(usize, usize)], push: &[(usize, usize)], own: bool| RepairFacts {
        shared,
        count: if shared { pull.len() } else { pull.len() + push.len() },
        pull: pull.to_vec(),
        push: push.to_vec(),
        root: 0,
        pull_self_weight: own,
        push_self_weight: false,
    };
    for (repair, sentence) in [
        (repair(true, &[(2, 0)], &[(2, 0)], false), "One more link repairs it: 2 → 0."),
        (
            repair(true, &[(2, 0), (1, 3)], &[(2, 0), (1, 3)], false),
            "2 more links repair it, and fewer cannot: 2 → 0, 1 → 3.",
        ),
        (
            repair(false, &[(0, 1)], &[(2, 0)], true),
            "2 more links repair it, and fewer cannot: 0 → 1 in the pull graph and 2 → 0 in the push graph; then give agent 0 \
             a self-weight in R, or values go round for ever.",
        ),
        (repair(false, &[], &[(2, 0)], false), "One more link repairs it: 2 → 0 in the push graph."),
        (repair(false, &[], &[], true), "No link is missing: give agent 0 a self-weight in R."),
    ] {
        let mut facts = dull();
        facts.assumption_1 = Assumption {
            holds: false,
            roots: vec![],
            failure: Some("no common root".to_owned()),
            repair: Some(repair),
        };
        assert_says(&facts, &["Assumption 1 fails: no common root.", sentence]);
    }
    let many: Vec<(usize, usize)> = (0..15).map(|i| (i, i + 1)).collect();
    let mut facts = dull();
    facts.assumption_1.failure = Some("apart".to_owned());
    facts.assumption_1.repair = Some(repair(true, &many, &many, false));
    assert!(advice(&facts)[1].ends_with("11 → 12 and 3 more."), "{:?}", advice(&facts));
}

#[test]
fn one_agent_is_told_that_it_is_alone() {
    let alone = Inspection { agents: 1, ..dull() };
    assert_says(&alone, &["One agent alone: every method is gradient descent, with momentum or without."]);
}

#[test]
fn several_topologies_are_ranked_by_what_they_bear() {
    let named = |name: &str, bears: f64| Inspection {
        topology: name.to_owned(),
        limits: vec![limit("smtpp", "full", bears)],
        ..dull()
    };
    assert_eq!(comparison(&[named("ring", 1.0)]), None);
    assert_eq!(comparison(&[named("ring", 1.0), named("star", 1.01)]), None);
    let said = comparison(&[named("ring", 1.0), named("star", 3.0), named("grid", 2.0)]).unwrap();
    assert!(said.contains("star allows the largest") && said.contains("3 times that of ring"), "{said}");
}
