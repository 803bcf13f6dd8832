//! The claims of the analysis, from the studies.

use super::runs::Missing;
use super::statistics::{Answer, PowerLaw, mean};
use super::studies::AGENTS;
use super::studies::corollary::InRounds;
use super::studies::floor::{Floor, OnGraph, STEP};
use super::studies::stability::Limit;
use super::{Claim, Finding, Statement, Studies, Verdict, roughly, show};

/// An exponent this close is the one expected.
const EXPONENT_MARGIN: f64 = 0.25;
/// The same for exponents that the paper states exactly.
const RATE_MARGIN: f64 = 0.1;
/// Floors this close are the same: 10 %.
const SAME_FLOOR: f64 = 1.1;
/// A limit on the step is larger, or smaller, from 5 % on; in between nothing is said.
const CLEARLY: f64 = 1.05;

/// All of them, in the order of the paper.
pub(super) fn judge(studies: &Studies) -> Vec<Claim> {
    vec![
        decoupled(studies),
        any_digraph(studies),
        floor(studies),
        larger_steps(studies),
        corollary(studies),
        speed_up(studies),
    ]
}

/// λ = 0.1 on both graphs.
fn at_tenth(graph: &OnGraph) -> Option<&Floor> {
    graph.floors.iter().find(|floor| floor.momentum == 0.1)
}

/// "decouples the variance reduction capacity from the algebraic connectivity of the graph".
fn decoupled(studies: &Studies) -> Claim {
    let finding = || {
        let missing = || Missing("a floor at λ = 0.1".to_owned());
        let (mut numbers, mut same, mut apart, mut sentences) = (vec![], vec![], vec![], vec![]);
        for floors in &studies.floor {
            let sparse = at_tenth(&floors.sparse).ok_or_else(missing)?;
            let dense = at_tenth(&floors.dense).ok_or_else(missing)?;
            let at_average = sparse.at_average / dense.at_average;
            let at_agents = sparse.at_agents / dense.at_agents;
            for (place, ratio) in [("at x̄", at_average), ("at the agents", at_agents)] {
                let links = if floors.links.is_empty() { " on full digraphs" } else { floors.links };
                let place = format!("{place}{links}");
                let is_same = (1.0 / SAME_FLOOR..=SAME_FLOOR).contains(&ratio);
                numbers.push((format!("floor sparse/dense {place}, λ = 0.1"), ratio));
                sentences.push(format!("{} {place}", show(ratio)));
                if is_same { same.push(place) } else { apart.push(place) }
            }
        }
        let verdict = match (&*same, &*apart) {
            (_, []) => Verdict::Holds,
            ([], _) => Verdict::DoesNotHold,
            _ => Verdict::HoldsOnlyIf(format!(
                "the error is measured {}; not {}",
                same.join(" or "),
                apart.join(" or ")
            )),
        };
        let because = format!(
            "At η·c_π = {STEP}, λ = 0.1 the floor of ‖∇F‖² on Multi-Sub-Ring over that on the exponential graph is {}.",
            sentences.join(", ")
        );
        Ok(Finding { numbers, verdict, because })
    };
    let statement = Statement {
        id: "decoupled-from-connectivity",
        source: "abstract, §I, §V",
        claim: "variance reduction does not depend on the graph's connectivity",
        measure: "stationary ‖∇F‖² on quadratics with noise, on full digraphs and on trees: the same within 10 % on both \
                  graphs",
    };
    statement.judged(finding())
}

/// "compresses this topology-induced error floor to O(λ²σ²)".
///
/// Theorem 1 bounds the floor by O(ησ²/n + λ²σ²n). An upper bound is not refuted by a floor that stays with
/// its first term; what is judged is that lowering λ lowers the floor, as λ².
fn floor(studies: &Studies) -> Claim {
    let graphs: Vec<&OnGraph> =
        studies.floor.iter().flat_map(|floors| [&floors.sparse, &floors.dense]).collect();
    let mut numbers = vec![];
    for graph in &graphs {
        for floor in &graph.floors {
            let place = format!("{}, λ = {}", graph.graph, floor.momentum);
            numbers.push((format!("floor at x̄/σ², {place}"), floor.at_average));
            numbers.push((format!("floor at the agents/σ², {place}"), floor.at_agents));
            numbers.push((format!("tracking error/σ², {place}"), floor.tracking));
        }
    }
    let mut squares = |name: &str, of: fn(&Floor) -> f64| {
        let fits: Vec<PowerLaw> = graphs.iter().map(|graph| graph.exponent(of)).collect();
        for (fit, graph) in fits.iter().zip(&graphs) {
            numbers.extend(fitted(&format!("exponent of λ, {name}, {}", graph.graph), *fit));
        }
        let powers: Vec<String> = fits.iter().map(|fit| power(*fit)).collect();
        (Answer::all(fits.iter().map(|fit| fit.is_at_least(2.0 - EXPONENT_MARGIN))), powers.join(", "))
    };
    let (at_average, average_powers) = squares("floor at x̄", |f| f.at_average);
    let (at_agents, agents_powers) = squares("floor at the agents", |f| f.at_agents);
    let (tracking, tracking_powers) = squares("tracking error", |f| f.tracking);
    let verdict = match (Answer::all([at_average, at_agents]), tracking) {
        (Answer::Yes, _) => Verdict::Holds,
        (Answer::No, Answer::Yes) => Verdict::HoldsOnlyIf(
            "the floor is that of the tracking error; that of ‖∇F‖² does not go as λ²".to_owned(),
        ),
        (Answer::Unclear, Answer::Yes) => Verdict::holds_for("the tracking error", "‖∇F‖²"),
        (Answer::No, Answer::No) => Verdict::DoesNotHold,
        _ => Verdict::Undecided,
    };
    let typical = |graphs: &[&OnGraph]| {
        let all: Vec<f64> = graphs.iter().flat_map(|g| &g.floors).map(|floor| floor.at_average).collect();
        roughly(mean(&all))
    };
    let (full, trees) = graphs.split_at(2);
    let because = format!(
        "On {} the floor at x̄ goes as λ to the {average_powers}; that at the agents to the {agents_powers}; the tracking \
         error to the {tracking_powers}. At x̄ it is {}σ² on average on the full digraphs and {}σ² on trees; ησ²/2n alone \
         is {}σ².",
        graphs.iter().map(|graph| &*graph.graph).collect::<Vec<_>>().join(", "),
        typical(full),
        typical(trees),
        roughly(STEP / (2 * AGENTS) as f64)
    );
    let statement = Statement {
        id: "floor-lambda-squared",
        source: "§I, Theorem 1, §V",
        claim: "the steady-state error floor is compressed to O(λ²σ²)",
        measure: "stationary means on quadratics with noise, η·c_π = 0.1, λ from 0.05 to 0.8, on full digraphs and on \
                  trees: fitted exponent at least 1.75 with its whole 95 % interval",
    };
    statement.judged(Ok(Finding { numbers, verdict, because }))
}

/// "allows the algorithm to tolerate larger step sizes on sparse graphs".
fn larger_steps(studies: &Studies) -> Claim {
    let finding = || {
        let of = |trees: bool| {
            let limit = studies.stability.iter().find(|l| l.graph == "multi-sub-ring" && l.trees == trees);
            limit.ok_or_else(|| Missing("a stability limit on Multi-Sub-Ring".to_owned()))
        };
        let (full, trees) = (of(false)?, of(true)?);
        let mut numbers = vec![];
        for limit in &studies.stability {
            let place = format!("{}, {}", limit.graph, if limit.trees { "trees" } else { "full" });
            numbers.push((format!("largest η·c_π·h, SMTPP, {place}"), limit.smtpp));
            numbers.push((format!("largest η·c_π·h, Push-Pull, {place}"), limit.push_pull));
        }
        let answer = |limit: &Limit| match limit.smtpp / limit.push_pull {
            ratio if ratio >= CLEARLY => Answer::Yes,
            ratio if ratio <= 1.0 / CLEARLY => Answer::No,
            _ => Answer::Unclear,
        };
        let because = format!(
            "On Multi-Sub-Ring's full digraph the largest stable η·c_π·h is {} against {} of gradient tracking; on its \
             trees, which the paper uses there, {} against {}.",
            show(full.smtpp),
            show(full.push_pull),
            show(trees.smtpp),
            show(trees.push_pull)
        );
        let verdict = Verdict::of_both_ways(answer(full), answer(trees));
        Ok(Finding { numbers, verdict, because })
    };
    let statement = Statement {
        id: "larger-steps",
        source: "§III-B, Remark 4",
        claim: "tracking momentum tolerates larger steps on sparse graphs",
        measure: "largest stable η·c_π·h on noise-free quadratics, λ = 0.1, by bisection: 5 % or more above \
                  Push-Pull's (below: 5 % or more below)",
    };
    statement.judged(finding())
}

/// "SMTPP guarantees convergence on any strongly connected directed graph".
fn any_digraph(studies: &Studies) -> Claim {
    let trials = &studies.digraphs;
    let reached: Vec<(f64, u64)> = trials.iter().filter_map(|trial| trial.reached).collect();
    let smallest_step = reached.iter().map(|(step, _)| *step).fold(f64::INFINITY, f64::min);
    let most_rounds = reached.iter().map(|(_, rounds)| *rounds).max().unwrap_or(0);
    let smallest_c = trials.iter().map(|trial| trial.c_π).fold(f64::INFINITY, f64::min);
    let failed = trials.iter().filter(|trial| trial.reached.is_none());
    let failed: Vec<String> = failed.map(|trial| format!("{} {}", trial.family, trial.seed)).collect();
    // Failing within these rounds and steps is no proof that it fails.
    let verdict = match &*failed {
        [] if !trials.is_empty() => Verdict::Holds,
        _ => Verdict::Undecided,
    };
    let held = match &*failed {
        [] => format!("It held on all {} tried", trials.len()),
        some => {
            format!("It held on {} of {} tried (not on {})", reached.len(), trials.len(), some.join(", "))
        }
    };
    let because = format!(
        "{held} (c_π down to {}), with effective steps from 0.4 down to {} and within {most_rounds} rounds: no proof for \
         any.",
        show(smallest_c),
        show(smallest_step),
    );
    let numbers = vec![
        ("digraphs".to_owned(), trials.len() as f64),
        ("digraphs on which it converged".to_owned(), reached.len() as f64),
        ("smallest c_π".to_owned(), smallest_c),
        ("smallest effective step needed".to_owned(), smallest_step),
        ("most rounds needed".to_owned(), most_rounds as f64),
    ];
    let statement = Statement {
        id: "any-strongly-connected",
        source: "abstract",
        claim: "SMTPP converges on any strongly connected digraph",
        measure: "20 random ones (Erdős–Rényi, k-out, geometric), the directed ring, flower, star and ring with back \
                  chords, no noise: every agent at the minimiser to rounding with some step of 0.4·2^−j, j ≤ 8",
    };
    statement.judged(Ok(Finding { numbers, verdict, because }))
}

/// η = c√(n/T), λ = (n/T)^¼: average ‖∇F‖² at most O(1/√T).
fn corollary(studies: &Studies) -> Claim {
    let mut numbers = vec![];
    let mut sentences = vec![];
    for InRounds { graph, averages, fit } in &studies.corollary.in_rounds {
        for (rounds, average) in averages {
            numbers.push((format!("average ‖∇F‖², T = {rounds}, {graph}"), *average));
        }
        numbers.extend(fitted(&format!("exponent of T, {graph}"), *fit));
        sentences.push(format!("{} ({graph})", power(*fit)));
    }
    for (n, average) in &studies.corollary.in_agents {
        numbers.push((format!("average ‖∇F‖², T = 1024, n = {n}, exponential"), *average));
    }
    let in_agents = studies.corollary.in_agents_fit;
    numbers.extend(fitted("exponent of n, exponential", in_agents));
    let fast_enough = studies.corollary.in_rounds.iter().map(|found| found.fit.is_at_most(RATE_MARGIN - 0.5));
    let verdict = match studies.corollary.in_rounds.is_empty() {
        true => Verdict::Undecided,
        false => Answer::all(fast_enough).into(),
    };
    let because = format!(
        "The average goes as T to the {}; in n, where the bound's noise term grows as √n, it goes as n to the {}.",
        sentences.join(", "),
        power(in_agents)
    );
    let statement = Statement {
        id: "corollary-rate",
        source: "Corollary 1",
        claim: "with η ∝ √(n/T), λ = (n/T)^¼ the average ‖∇F‖² is O(1/√T): no floor is left",
        measure: "average ‖∇F(x̄)‖² over T = 2^7 … 2^12 rounds on quadratics with noise: on full digraphs \
                  and on trees: exponent of T −0.4 or less with its whole 95 % interval",
    };
    statement.judged(Ok(Finding { numbers, verdict, because }))
}

/// "on well-connected graphs, our algorithm achieves optimal linear speedup".
fn speed_up(studies: &Studies) -> Claim {
    let mut numbers: Vec<(String, f64)> = vec![];
    for (found, links) in studies.speed_up.iter().zip(["", " on trees"]) {
        for (n, floor) in &found.floors {
            numbers.push((format!("floor at x̄/σ²{links}, n = {n}"), *floor));
        }
        numbers.extend(fitted(&format!("exponent of n{links}"), found.fit));
    }
    let [full, trees] = [0, 1].map(|links| studies.speed_up[links].fit);
    let verdict = Verdict::of_both_ways(full.is_about(-1.0, RATE_MARGIN), trees.is_about(-1.0, RATE_MARGIN));
    let because = format!(
        "At one step η = {STEP} the floor of ‖∇F(x̄)‖² goes as n to the {} on the full digraph, {} on trees.",
        power(full),
        power(trees)
    );
    let statement = Statement {
        id: "linear-speed-up",
        source: "§IV-B",
        claim: "on well-connected graphs SMTPP achieves linear speed-up",
        measure: "stationary ‖∇F(x̄)‖² on the exponential graph, full and on trees, n = 5, 10, 20, 40, one step: exponent \
                  of n within 0.1 of −1 with its whole 95 % interval",
    };
    statement.judged(Ok(Finding { numbers, verdict, because }))
}

/// "−0.55 ± 0.02": an exponent and half of its 95 % interval.
fn power(fit: PowerLaw) -> String {
    format!("{:.2} ± {:.2}", fit.exponent, fit.doubt()).replace('-', "−")
}

/// A fit as two numbers: the exponent and half of its 95 % interval.
fn fitted(label: &str, fit: PowerLaw) -> [(String, f64); 2] {
    [(label.to_owned(), fit.exponent), (format!("± {label}"), fit.doubt())]
}
