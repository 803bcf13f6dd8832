//! Facts for a reader on a terminal.

use oneway::error::shown;
use oneway::graph::Subgraph;
use oneway::registry;

use super::{DegreeFacts, GraphFacts, Inspection, LimitFacts, SubgraphFacts};
use crate::number::short as number;
use crate::terminal::{Column, NOTHING as NONE, Screen, Table, column};

/// Up to this number of agents, Perron vectors are written out.
const VECTORS_OF: usize = 12;
/// At most this many agents of a list are named.
const AGENTS_NAMED: usize = 6;
/// At most this many names of agents are listed.
const NAMES_SHOWN: usize = 24;

/// Everything about some topologies, side by side.
pub(crate) fn show(screen: &mut Screen, all: &[Inspection], comparison: Option<&str>) {
    screen.table(&network(all));
    if all.iter().any(|facts| !facts.subgraphs.is_empty()) {
        screen.gap();
        screen.heading("How it averages");
        screen.table(&averaging(all));
        vectors(screen, all);
    }
    if all.iter().any(|facts| !facts.limits.is_empty()) {
        screen.gap();
        screen.heading(
            "Largest stable step: effective η·c_π·h (and raw η·h, where it differs), h the curvature",
        );
        screen.table(&limits(all));
    }
    for facts in all {
        let lines = facts.advice.iter().cloned();
        let lines = lines.chain(facts.skipped.iter().map(|what| format!("Not computed: {what}.")));
        screen.gap();
        if all.len() > 1 {
            screen.heading(&facts.topology);
        }
        lines.for_each(|line| screen.text(&format!("• {line}")));
    }
    if let Some(sentence) = comparison {
        screen.gap();
        screen.text(&format!("• {sentence}"));
    }
}

fn prose(name: &str) -> Column {
    column(name).prose()
}

/// A row for each fact, a column for each topology.
fn network(all: &[Inspection]) -> Table {
    let names = all.iter().map(|facts| &*facts.topology);
    let mut table = Table::new([column("")].into_iter().chain(names.map(prose)));
    let mut row = |name: &str, of: &dyn Fn(&Inspection) -> String| {
        let cells: Vec<String> = all.iter().map(of).collect();
        if cells.iter().any(|cell| cell != NONE) {
            table.row([name.to_owned()].into_iter().chain(cells));
        }
    };
    row("parameters", &|facts| match &facts.parameters {
        none if none.is_empty() => NONE.to_owned(),
        some => {
            let some: Vec<String> = some.iter().map(|(name, value)| format!("{name} {value}")).collect();
            some.join(", ")
        }
    });
    row("agents", &|facts| facts.agents.to_string());
    row("their names", &|facts| facts.names.as_deref().map_or(NONE.to_owned(), numbered_names));
    row("links", &|facts| graphs(facts, |graph| graph.links.to_string()));
    row("changes", &|facts| match facts.period {
        1 => NONE.to_owned(),
        period => format!("every round, with period {period}"),
    });
    row("weights", &|facts| facts.weights.to_owned());
    row("strongly connected", &|facts| graphs(facts, connected));
    row("common roots", &|facts| match &facts.assumption_1 {
        assumption if assumption.holds => agents(&assumption.roots, facts.agents),
        _ => "none: Assumption 1 fails".to_owned(),
    });
    let failing = |facts: &Inspection| facts.graphs.iter().any(|graph| !graph.strongly_connected);
    if all.iter().any(failing) {
        row("reach everyone", &|facts| graphs(facts, |graph| agents(&graph.reach_all, facts.agents)));
        row("reached by everyone", &|facts| {
            graphs(facts, |graph| agents(&graph.reached_by_all, facts.agents))
        });
    }
    row("hears (min, mean, max)", &|facts| graphs(facts, |graph| degrees(graph.in_degree)));
    row("heard by", &|facts| graphs(facts, |graph| degrees(graph.out_degree)));
    row("diameter", &|facts| {
        graphs(facts, |graph| graph.diameter.map_or(NONE.to_owned(), |d| d.to_string()))
    });
    table
}

/// Agents by number and name: the first of them, one a line.
fn numbered_names(names: &[String]) -> String {
    let mut lines: Vec<String> =
        names.iter().enumerate().map(|(i, name)| format!("{i} {}", shown(name))).collect();
    if lines.len() > NAMES_SHOWN {
        lines.truncate(NAMES_SHOWN);
        lines.push(format!("… and {} more (all of them with --json)", names.len() - NAMES_SHOWN));
    }
    lines.join("\n")
}

/// A fact of the one digraph, or of both.
fn graphs(facts: &Inspection, of: impl Fn(&GraphFacts) -> String) -> String {
    match &facts.graphs[..] {
        [one] => of(one),
        both if both.iter().all(|graph| of(graph) == NONE) => NONE.to_owned(),
        both => {
            let parts = both.iter().map(|graph| format!("{}: {}", graph.graph, of(graph)));
            parts.collect::<Vec<_>>().join("\n")
        }
    }
}

fn connected(graph: &GraphFacts) -> String {
    match graph.strongly_connected {
        true => "yes".to_owned(),
        false => format!("no: {} components, the largest of {}", graph.components, graph.largest_component),
    }
}

fn degrees(DegreeFacts { min, mean, max }: DegreeFacts) -> String {
    if min == max { min.to_string() } else { format!("{min}, {}, {max}", number(mean)) }
}

/// Some of a list, or a word for none and all.
fn agents(list: &[usize], n: usize) -> String {
    let named: Vec<String> = list.iter().take(AGENTS_NAMED).map(ToString::to_string).collect();
    match list.len() {
        0 => "none".to_owned(),
        all if all == n && n > 1 => "every agent".to_owned(),
        1..=AGENTS_NAMED => named.join(", "),
        many => format!("{} and {} more", named.join(", "), many - AGENTS_NAMED),
    }
}

/// A row for each subgraph of each topology.
fn averaging(all: &[Inspection]) -> Table {
    let mut table = Table::new([
        column("links used"),
        column("c_π").about("n π_Rᵀπ_C, what turns a raw step η into the step of the average"),
        column("π_R").about("how much of the average is each agent's, of what is pulled").prose(),
        column("π_C").about("of what is pushed").prose(),
        column("ρ_R").about("what is left of a disagreement after a round, in the long run"),
        column("ρ_C"),
        column("mixing R").about("rounds in which it falls by a factor e").prose().minor(),
        column("mixing C").prose().minor(),
    ]);
    for facts in all {
        for sub in &facts.subgraphs {
            table.group(&facts.topology);
            table.row([
                sub.graph.to_owned(),
                number(sub.c_pi),
                range(&sub.pi_r),
                range(&sub.pi_c),
                radius(sub.rho_r),
                radius(sub.rho_c),
                rounds(sub, sub.rho_r, sub.mixing_rounds_r, sub.pull_depth),
                rounds(sub, sub.rho_c, sub.mixing_rounds_c, sub.push_depth),
            ]);
        }
    }
    table
}

/// The least and the largest entry, or what says more.
fn range(shares: &[f64]) -> String {
    let held = |(_, share): &(usize, &f64)| **share == 1.0;
    if let Some((agent, _)) = shares.iter().enumerate().find(held) {
        return format!("all at {agent}");
    }
    let (low, high) =
        shares.iter().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), &s| (low.min(s), high.max(s)));
    match high - low <= 1e-12 * high {
        true => format!("{} each", number(high)),
        false => format!("{} … {}", number(low), number(high)),
    }
}

/// A radius: near 1 what is missing is what matters.
fn radius(rho: Option<f64>) -> String {
    match rho {
        None => NONE.to_owned(),
        Some(rho) if rho > 0.999 && rho < 1.0 => format!("1 − {}", number(1.0 - rho)),
        Some(rho) => number(rho),
    }
}

fn rounds(sub: &SubgraphFacts, rho: Option<f64>, rounds: Option<f64>, depth: Option<usize>) -> String {
    match (sub.graph, rounds, depth, rho) {
        ("trees", None, Some(depth), _) => format!("{depth}, then exact"),
        (_, Some(rounds), Some(depth), _) => format!("{} (depth {depth})", number(rounds)),
        (_, Some(rounds), None, _) => number(rounds),
        (_, None, _, Some(0.0)) => "exact at once".to_owned(),
        _ => NONE.to_owned(),
    }
}

/// π_R and π_C of small networks, entry by entry, where they are neither even nor all at one agent.
fn vectors(screen: &mut Screen, all: &[Inspection]) {
    for facts in all.iter().filter(|facts| facts.agents <= VECTORS_OF) {
        for sub in &facts.subgraphs {
            for (name, shares) in [("π_R", &sub.pi_r), ("π_C", &sub.pi_c)] {
                if range(shares).contains('…') {
                    let shares: Vec<String> = shares.iter().map(|&share| number(share)).collect();
                    screen.text(&format!(
                        "{} {} {name} = ({})",
                        facts.topology,
                        sub.graph,
                        shares.join(", ")
                    ));
                }
            }
        }
    }
}

/// A row for each method on each set of links, a column for each topology.
fn limits(all: &[Inspection]) -> Table {
    let names = all.iter().map(|facts| &*facts.topology);
    let mut table = Table::new([column("method"), column("links used")].into_iter().chain(names.map(prose)));
    let mut rows: Vec<&LimitFacts> = vec![];
    for limit in all.iter().flat_map(|facts| &facts.limits) {
        if !rows.iter().any(|known| (known.method, known.graph) == (limit.method, limit.graph)) {
            rows.push(limit);
        }
    }
    let place = |limit: &&LimitFacts| {
        let method = registry::installed().methods().iter().position(|kind| kind.name == limit.method);
        (method, Subgraph::NAMED.iter().position(|(name, _)| *name == limit.graph))
    };
    rows.sort_by_key(place); // as the registry lists them, whichever topology has them
    let mut last = "";
    for row in rows {
        let λ = row.momentum.map_or(String::new(), |λ| format!(", λ = {}", number(λ)));
        let method = if row.method == last { String::new() } else { format!("{}{λ}", row.method) };
        last = row.method;
        let cell = |facts: &Inspection| {
            let same = |limit: &&LimitFacts| (limit.method, limit.graph) == (row.method, row.graph);
            match facts.limits.iter().find(same) {
                Some(LimitFacts { effective: Some(effective), raw: Some(raw), .. }) => {
                    let (effective, raw) = (number(*effective), number(*raw));
                    if effective == raw { effective } else { format!("{effective} (raw {raw})") }
                }
                _ => NONE.to_owned(),
            }
        };
        table.row([method, row.graph.to_owned()].into_iter().chain(all.iter().map(cell)));
    }
    table
}
