//! Networks that no family has are what they say; algebra decides what its numbers say, and its numbers obey laws.

use std::sync::Arc;

use oneway::graph::mixing::Mixing;
use oneway::graph::{Tree, families, weights};
use oneway::numeric::sample::{Draws, Purpose};
use oneway_experiment::results::cells::{CellResult, CellStatus, End, Ran as RanCell};

use super::algebra::{Exact, decided, of_all};
use super::rules::{Graph, METHODS, Rules};
use super::setting::Weights;
use super::verdicts::Verdict;
use super::{Known, Map, Question, READINGS, RULES, networks, start};

fn rows(mixing: &Mixing) -> Vec<Vec<(usize, f64)>> {
    (0..mixing.agents()).map(|i| mixing.row(i).collect()).collect()
}

#[test]
fn chains_are_spanning_trees_and_the_same_as_any_where_there_is_but_one() {
    for (digraph, root, depth) in [
        (families::flower(20, 4).unwrap(), 0, None),
        (families::flower(20, 3).unwrap(), 10, None),
        (families::ring(7).unwrap(), 2, None),
        (families::exponential(20).unwrap(), 0, Some(19)),
    ] {
        for lazy in [false, true] {
            let pair = networks::chains(&digraph, root, lazy).unwrap();
            let shallow = Tree::pull(&digraph, root).unwrap();
            let pull = weights::pull_tree(&shallow, lazy).unwrap();
            let push = weights::push_tree(&Tree::push(&digraph, root).unwrap(), lazy).unwrap();
            let same = rows(&pair.pull) == rows(&pull) && rows(&pair.push) == rows(&push);
            assert_eq!(same, depth.is_none());
        }
        let Some(depth) = depth else { continue };
        // what the root has reaches everyone in as many rounds as the chain is long, and in no fewer
        let pair = networks::chains(&digraph, root, false).unwrap();
        let mut has = vec![false; digraph.agents()];
        has[root] = true;
        let mut rounds = 0;
        while has.iter().any(|has| !has) {
            has = (0..has.len()).map(|i| pair.pull.row(i).all(|(from, _)| has[from])).collect();
            rounds += 1;
        }
        assert_eq!(rounds, depth);
    }
}

#[test]
fn metropolis_like_weights_are_metropolis_own_on_links_that_go_both_ways() {
    let star = families::star(6).unwrap();
    let pair = networks::weighted(&star, Weights::Metropolis).unwrap();
    let own = rows(&weights::metropolis(&star).unwrap());
    for mixing in [&pair.pull, &pair.push] {
        for (i, row) in rows(mixing).iter().enumerate() {
            for ((j, weight), (expected_j, expected)) in row.iter().zip(&own[i]) {
                assert!(j == expected_j && (weight - expected).abs() < 1e-15);
            }
        }
    }
    // a one-way flower: no self-weight is lost, and no link
    let flower = families::flower(20, 4).unwrap();
    let pair = networks::weighted(&flower, Weights::Metropolis).unwrap();
    assert_eq!(pair.pull.entries(), 20 + flower.edge_count());
    assert!(rows(&pair.pull)[0].iter().all(|(_, weight)| (weight - 0.2).abs() < 1e-15));
}

#[test]
fn a_random_start_changes_where_a_run_begins_and_nothing_else() {
    let mut problems = Known::default();
    let question = Question::new(READINGS, RULES, false).unwrap();
    let planned = question.plans(0, &mut problems).unwrap().remove(0);
    let plain = &planned.problem;
    let started = start::random(plain, 7);
    let d = plain.problem.dim();
    let (mut x, mut zero) = (vec![0.0; d], vec![1.0; d]);
    started.problem.start(&mut x);
    plain.problem.start(&mut zero);
    let mean_sq = x.iter().map(|x| x * x).sum::<f64>() / d as f64;
    assert!(zero.iter().all(|x| *x == 0.0) && (mean_sq - 1.0).abs() < 0.5, "{mean_sq}");
    assert_ne!(plain.sha256, started.sha256);
    assert_ne!(started.sha256, start::random(plain, 8).sha256);
    let gradient = |problem: &dyn oneway::problem::Problem| {
        let (mut g, mut exact) = (vec![0.0; d], vec![0.0; d]);
        problem.gradient(3, &x, &mut Draws::new(5, Purpose::Gradient, 3, 11), &mut g);
        let loss = problem.exact(3, &x, &mut exact);
        (g, exact, loss)
    };
    assert_eq!(gradient(&*plain.problem), gradient(&*started.problem));
}

/// Floors by method, in the order of [`METHODS`], on both graphs.
fn floors(sparse: [Option<f64>; 5], dense: [Option<f64>; 5]) -> Vec<(Graph, String, Exact)> {
    let on = |graph, floors: [Option<f64>; 5]| {
        METHODS.into_iter().zip(floors).map(move |(method, floor)| {
            (graph, method.to_owned(), Exact { step: 0.1, rate: floor.map_or(1.1, |_| 0.9), floor })
        })
    };
    on(Graph::MultiSubRing, sparse).chain(on(Graph::Exponential, dense)).collect()
}

fn said(exact: &[(Graph, String, Exact)]) -> String {
    let rules = Rules::parse(RULES).unwrap();
    let of = |claim: &super::rules::Claim| decided(&rules, &claim.rule, &exact.to_vec());
    rules.claims.iter().map(|claim| of(claim).map_or('–', Verdict::letter)).collect()
}

#[test]
fn algebra_says_of_claims_what_its_floors_say() {
    // SMTPP, STPP, SGP, Push-DIGing, CSGDM, as the paper prints it; of oscillations and bytes floors say nothing
    let printed = floors(
        [Some(1.0), Some(2.0), Some(4.0), Some(4.0), Some(0.9)],
        [Some(0.8), Some(1.8), Some(4.0), Some(3.0), Some(0.79)],
    );
    assert_eq!(said(&printed), "hh–hhhh–hhhh–");
    let opposite = floors(
        [Some(9.0), Some(0.8), Some(0.5), Some(0.5), Some(1.0)],
        [Some(9.5), Some(0.9), Some(0.5), Some(0.6), Some(1.0)],
    );
    assert_eq!(said(&opposite), "ff–ffff–ffff–");
    // who diverges is above who does not, and close to nobody; of two that do nothing is said
    let lost = floors([None, None, Some(1.0), Some(1.0), Some(1.0)], [Some(1.0); 5]);
    assert_eq!(said(&lost), "ff–hoff–fooh–");
}

#[test]
fn floors_of_the_paper_s_words_obey_their_laws() {
    let readings = READINGS.replace("sampled = 320", "sampled = 1").replace("near = 2", "near = 0");
    let readings = &readings[..readings.find("[[look]]").unwrap()];
    let question = Question::new(readings, RULES, false).unwrap();
    let plans = question.plans(0, &mut Known::default()).unwrap();
    let end = End {
        status: CellStatus::Completed,
        rounds: 0,
        state_hash: String::new(),
        seconds_stepping: 0.0,
        seconds_observing: 0.0,
        reason: None,
    };
    let result = CellResult { end, points: Arc::new([]), estimates: None };
    let ran = |cell| RanCell { cell, result: result.clone() };
    let ran = plans.iter().flat_map(|planned| planned.plan.cells()).map(ran).collect();
    let map = Map::new(question, &plans, ran).unwrap();
    let found = of_all(&map, &plans, &[0]).unwrap();
    let of = |method: &str, graph: Graph| {
        found.exact[0].iter().find(|(on, name, _)| *on == graph && name == method).unwrap().2
    };
    let closer = &found.closer[&0];
    assert_eq!(closer.len(), 10);
    for (graph, method, closer) in closer {
        let Exact { step, rate, floor } = of(method, *graph);
        // stable below the limit only, and then all directions leave no less than the steepest alone
        assert_eq!(step < closer.limit, rate < 1.0, "{method}");
        assert!(closer.gradient.unwrap() >= floor.unwrap(), "{method}");
    }
    let [sparse, dense] = Graph::BOTH.map(|graph| METHODS.map(|method| of(method, graph).floor.unwrap()));
    // at the centre no network shows; SGP's 0.2 leaves twice the noise of CSGDM's 0.1, but for (1 + λ) of second order
    assert_eq!(sparse[4], dense[4]);
    assert!(dense[2] / dense[4] > 1.9 && dense[2] / dense[4] < 2.4, "{}", dense[2] / dense[4]);
    assert!(dense.iter().zip(&sparse).all(|(dense, sparse)| dense <= sparse));
}
