//! What follows from the numbers, in sentences: a pure function of the facts, which says nothing that they do
//! not show.

use super::{Inspection, RepairFacts, SubgraphFacts};
use crate::number::number;

/// Limits that differ by less are as good as equal.
const NOTABLE: f64 = 1.1;
/// c_π this near to 1 makes raw and effective steps the same for all purposes.
const C_PI_NEAR_ONE: f64 = 0.02;
/// Mixing that takes fewer rounds is nothing to speak of.
const SLOW_ROUNDS: f64 = 10.0;
/// Agents whose weight is this many times that of others are mentioned.
const UNEVEN: f64 = 100.0;
/// At most this many links are named; `--json` has all.
const LINKS_NAMED: usize = 12;

/// What a user should know of a topology.
pub(crate) fn advice(facts: &Inspection) -> Vec<String> {
    if let Some(failure) = &facts.assumption_1.failure {
        let fails = format!("Assumption 1 fails: {failure}.");
        return [Some(fails), facts.assumption_1.repair.as_ref().map(mending)]
            .into_iter()
            .flatten()
            .collect();
    }
    if facts.agents == 1 {
        return vec![
            "One agent alone: every method is gradient descent, with momentum or without.".to_owned(),
        ];
    }
    let mut said = vec![];
    said.extend(average_on_full(facts));
    said.extend(average_on_trees(facts));
    for (graph, place) in
        [("full", "the full digraph"), ("trees", "weight-1 trees"), ("lazy-trees", "lazy trees")]
    {
        said.extend(momentum(facts, graph, place));
    }
    said.extend(place(facts, ["full", "trees"], ["the full digraph", "weight-1 trees"]));
    said.extend(place(facts, ["lazy-trees", "trees"], ["lazy trees", "weight-1 trees"]));
    said.extend(against_central(facts));
    said.extend(slow(facts));
    if let Some(full) = facts.subgraph("full") {
        said.extend(uneven("π_R", &full.pi_r));
        said.extend(uneven("π_C", &full.pi_c));
    }
    said.extend(unfit(facts));
    said
}

/// What a user should know of several topologies together.
pub(crate) fn comparison(all: &[Inspection]) -> Option<String> {
    let limits = all.iter().filter_map(|facts| Some((&*facts.topology, facts.limit("smtpp", "full")?)));
    let limits: Vec<(&str, f64)> = limits.collect();
    let best = limits.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let worst = limits.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    (best.1 >= NOTABLE * worst.1).then(|| {
        format!(
            "Of the full digraphs, {} allows the largest effective step of SMTPP, {} times that of {}, which allows the \
             smallest.",
            best.0,
            number(best.1 / worst.1),
            worst.0
        )
    })
}

/// The fewest links, and the self-weights that they do not replace.
fn mending(repair: &RepairFacts) -> String {
    let weight = match (repair.pull_self_weight, repair.push_self_weight) {
        (true, true) => Some("R and in C"),
        (true, false) => Some("R"),
        (false, true) => Some("C"),
        (false, false) => None,
    };
    let weight = weight.map(|place| format!("give agent {} a self-weight in {place}", repair.root));
    let links = match (repair.shared, &repair.pull[..], &repair.push[..]) {
        (_, [], []) => {
            return format!(
                "No link is missing: {}.",
                weight.unwrap_or_else(|| "nothing is to be done".to_owned())
            );
        }
        (true, links, _) => arrows(links),
        (false, pull, []) => format!("{} in the pull graph", arrows(pull)),
        (false, [], push) => format!("{} in the push graph", arrows(push)),
        (false, pull, push) => {
            format!("{} in the pull graph and {} in the push graph", arrows(pull), arrows(push))
        }
    };
    let fewest = match repair.count {
        1 => "One more link repairs it".to_owned(),
        count => format!("{count} more links repair it, and fewer cannot"),
    };
    let weight =
        weight.map(|weight| format!("; then {weight}, or values go round for ever")).unwrap_or_default();
    format!("{fewest}: {links}{weight}.")
}

fn arrows(links: &[(usize, usize)]) -> String {
    let named: Vec<String> =
        links.iter().take(LINKS_NAMED).map(|(from, to)| format!("{from} → {to}")).collect();
    match links.len().saturating_sub(LINKS_NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn average_on_full(facts: &Inspection) -> Option<String> {
    let full = facts.subgraph("full")?;
    if full.doubly_stochastic {
        return Some(
            "The weights of the full digraph are doubly stochastic: c_π = 1, so raw and effective steps agree.".to_owned(),
        );
    }
    let c_pi = full.c_pi;
    let moves = format!("a raw step moves the average {} times as far", number(c_pi));
    ((c_pi - 1.0).abs() > C_PI_NEAR_ONE)
        .then(|| format!("On the full digraph c_π = {}: {moves}, so give steps as effective.", number(c_pi)))
}

fn average_on_trees(facts: &Inspection) -> Option<String> {
    let c_pi = facts.subgraph("trees")?.c_pi;
    (c_pi > 1.0 + C_PI_NEAR_ONE).then(|| {
        let c_pi = number(c_pi);
        format!(
            "Trees make c_π = {c_pi}: give steps as effective, for a raw step moves the average {c_pi} times as far."
        )
    })
}

/// SMTPP against Push-Pull on the same links.
fn momentum(facts: &Inspection, graph: &str, place: &str) -> Option<String> {
    let (smtpp, push_pull) = (facts.limit("smtpp", graph)?, facts.limit("push-pull", graph)?);
    let λ = facts.limits.iter().find(|limit| limit.method == "smtpp")?.momentum?;
    let λ = number(λ);
    let ratio = smtpp / push_pull;
    if ratio >= NOTABLE {
        let times = number(ratio);
        Some(format!("SMTPP (λ = {λ}) on {place} allows {times} times the step of Push-Pull."))
    } else if ratio <= 1.0 / NOTABLE {
        let share = number(ratio);
        Some(format!("Momentum costs on {place}: SMTPP (λ = {λ}) allows {share} of the step of Push-Pull."))
    } else {
        None
    }
}

/// SMTPP on one set of links against another.
fn place(facts: &Inspection, graphs: [&str; 2], places: [&str; 2]) -> Option<String> {
    let [first, second] = graphs.map(|graph| facts.limit("smtpp", graph));
    let (first, second) = (first?, second?);
    let (ratio, [better, worse]) =
        if first >= second { (first / second, places) } else { (second / first, [places[1], places[0]]) };
    (ratio >= NOTABLE).then(|| {
        format!(
            "SMTPP allows {} times the effective step on {better} that it allows on {worse}.",
            number(ratio)
        )
    })
}

fn against_central(facts: &Inspection) -> Option<String> {
    let central = facts.limit("csgdm", "complete")?;
    let best = ["full", "trees", "lazy-trees"].into_iter().filter_map(|graph| facts.limit("smtpp", graph));
    let best = best.max_by(f64::total_cmp)?;
    (central >= NOTABLE * best).then(|| {
        format!(
            "If everyone heard everyone, the same momentum would allow {}: the network costs SMTPP a factor of {}.",
            number(central),
            number(central / best)
        )
    })
}

fn slow(facts: &Inspection) -> Option<String> {
    let full = facts.subgraph("full")?;
    // of equals the last is taken: the models
    let sides = [
        ("ρ_C", full.rho_c, full.mixing_rounds_c, "trackers"),
        ("ρ_R", full.rho_r, full.mixing_rounds_r, "models"),
    ];
    let sides = sides.map(|(name, rho, rounds, what)| Some((name, rho?, rounds?, what)));
    let (name, rho, rounds, what) = sides.into_iter().flatten().max_by(|a, b| a.2.total_cmp(&b.2))?;
    if rounds < SLOW_ROUNDS {
        return None;
    }
    let rho = if rho > 0.999 { format!("1 − {}", number(1.0 - rho)) } else { number(rho) };
    let rounds = number(rounds.round());
    let agree = format!(
        "{name} = {rho} on the full digraph: {what} take {rounds} rounds to come nearer by a factor e"
    );
    let trees =
        facts.subgraph("trees").and_then(|trees: &SubgraphFacts| trees.pull_depth.zip(trees.push_depth));
    Some(match trees {
        Some((down, up)) => format!("{agree}; weight-1 trees agree exactly after {}.", down.max(up)),
        None => format!("{agree}."),
    })
}

/// Two agents that count very differently.
fn uneven(name: &str, shares: &[f64]) -> Option<String> {
    let by_share = |(_, a): &(usize, &f64), (_, b): &(usize, &f64)| a.total_cmp(b);
    let (most, largest) = shares.iter().enumerate().max_by(by_share)?;
    let (least, smallest) = shares.iter().enumerate().filter(|(_, share)| **share > 0.0).min_by(by_share)?;
    let ratio = largest / smallest;
    (ratio >= UNEVEN).then(|| {
        let times = number(ratio);
        format!(
            "{name} is uneven on the full digraph: agent {most} has {times} times the share of agent {least}."
        )
    })
}

/// Methods that cannot run, by reason.
fn unfit(facts: &Inspection) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = vec![];
    for limit in &facts.limits {
        let Some(reason) = &limit.reason else { continue };
        let place = format!("{} ({})", limit.method, limit.graph);
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, places)) => places.push(place),
            None => reasons.push((reason, vec![place])),
        }
    }
    let said =
        |(reason, places): (&str, Vec<String>)| format!("No limit for {}: {reason}.", places.join(", "));
    reasons.into_iter().map(said).collect()
}
