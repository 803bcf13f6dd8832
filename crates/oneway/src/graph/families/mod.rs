//! The families of digraphs, as functions and as a registry by name.
//!
//! One agent alone is a graph of every family: it has no links, whatever the other parameters. Links of a
//! family that would lead from an agent to itself are left out, and links that coincide (both ways round a
//! ring of two) are one. Random families draw with [`Draws`](crate::numeric::sample::Draws), each agent from
//! its own stream: same seed, same graph. They need not be connected:
//! [`check_common_root`](super::check_common_root) tells.

mod deterministic;
mod geometric;
mod random;
mod time_varying;

pub use deterministic::{
    back_chords, complete, exponential, flower, grid, most_square, one_peer_exponential, ring, ring_of_rings,
    star, torus, tree,
};
pub use geometric::{Radio, geometric, geometric_points};
pub use random::{erdos_renyi, k_out};
pub use time_varying::{random_links, random_matching};

use super::{Digraph, MAX_EDGES};
use crate::parameters::{Parameter, Parameters, entry, find};
use crate::{Error, Result};

/// A family of digraphs, as an experiment file names it.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// Its name, in kebab-case.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Its parameters besides the number of agents.
    pub parameters: &'static [Parameter],
    /// Whether the seed matters.
    pub random: bool,
    /// Whether the graph changes from round to round.
    pub time_varying: bool,
    /// The digraphs for this number of agents, these parameters and this seed: one, or for a time-varying
    /// family one for each round of its period.
    pub build: fn(usize, &Parameters, u64) -> Result<Vec<Digraph>>,
}

entry!(Family, "topology");

impl Family {
    /// Matches what was given against what this family declares, and builds.
    ///
    /// ```
    /// use oneway::graph::families;
    /// let flower = families::family("flower").unwrap();
    /// let graphs = flower.digraphs(20, [("petals".to_owned(), 5.0)], 1).unwrap();
    /// assert_eq!((graphs.len(), graphs[0].edge_count()), (1, 24));
    /// ```
    pub fn digraphs(
        &self,
        agents: usize,
        given: impl IntoIterator<Item = (String, f64)>,
        seed: u64,
    ) -> Result<Vec<Digraph>> {
        (self.build)(agents, &Parameters::new(self.name, self.parameters, given)?, seed)
    }
}

/// The family of that name, or an error that suggests the nearest.
///
/// ```
/// use oneway::graph::families::family;
/// assert!(!family("flower").unwrap().random);
/// assert!(family("flowers").unwrap_err().to_string().contains("did you mean `flower`?"));
/// ```
pub fn family(name: &str) -> Result<&'static Family> {
    find(FAMILIES, name)
}

/// Every family there is.
pub static FAMILIES: &[Family] = &[
    Family {
        name: "ring",
        about: "directed ring",
        parameters: &[],
        random: false,
        time_varying: false,
        build: |agents, _, _| one(ring(agents)),
    },
    Family {
        name: "flower",
        about: "directed cycles through agent 0 (the paper's Multi-Sub-Ring)",
        parameters: &[Parameter::whole("petals", "number of cycles, 1 to n − 1", 4)],
        random: false,
        time_varying: false,
        build: |agents, given, _| one(flower(agents, given.count("petals")?)),
    },
    Family {
        name: "ring-of-rings",
        about: "directed rings whose heads form a directed ring",
        parameters: &[Parameter::whole("rings", "number of rings, 1 to n", 4)],
        random: false,
        time_varying: false,
        build: |agents, given, _| one(ring_of_rings(agents, given.count("rings")?)),
    },
    Family {
        name: "back-chords",
        about: "directed ring with chords that lead back",
        parameters: &[
            Parameter::whole("span", "how far back a chord leads, 1 to n − 1", 2),
            Parameter::whole("every", "every how many agents one has a chord", 1),
        ],
        random: false,
        time_varying: false,
        build: |agents, given, _| one(back_chords(agents, given.count("span")?, given.count("every")?)),
    },
    Family {
        name: "exponential",
        about: "each agent is heard by those 1, 2, 4, … < n places on",
        parameters: &[],
        random: false,
        time_varying: false,
        build: |agents, _, _| one(exponential(agents)),
    },
    Family {
        name: "one-peer-exponential",
        about: "in each round one offset of the exponential graph, in turn",
        parameters: &[],
        random: false,
        time_varying: true,
        build: |agents, _, _| one_peer_exponential(agents),
    },
    Family {
        name: "grid",
        about: "two-way grid",
        parameters: &[COLUMNS],
        random: false,
        time_varying: false,
        build: |agents, given, _| one(grid(agents, columns(given)?)),
    },
    Family {
        name: "torus",
        about: "two-way grid, wrapped round",
        parameters: &[COLUMNS],
        random: false,
        time_varying: false,
        build: |agents, given, _| one(torus(agents, columns(given)?)),
    },
    Family {
        name: "star",
        about: "two-way star, agent 0 in the middle",
        parameters: &[],
        random: false,
        time_varying: false,
        build: |agents, _, _| one(star(agents)),
    },
    Family {
        name: "complete",
        about: "all hear all",
        parameters: &[],
        random: false,
        time_varying: false,
        build: |agents, _, _| one(complete(agents)),
    },
    Family {
        name: "tree",
        about: "two-way tree below agent 0",
        parameters: &[Parameter::whole("branching", "children of each agent, 1 or more", 2)],
        random: false,
        time_varying: false,
        build: |agents, given, _| one(tree(agents, given.count("branching")?)),
    },
    Family {
        name: "erdos-renyi",
        about: "each ordered pair is linked with the same probability",
        parameters: &[Parameter::number("probability", "probability of a link, 0 to 1", 0.3)],
        random: true,
        time_varying: false,
        build: |agents, given, seed| one(erdos_renyi(agents, given.real("probability")?, seed)),
    },
    Family {
        name: "k-out",
        about: "each agent is heard by a given number of others, picked at random",
        parameters: &[Parameter::whole("degree", "how many others hear each agent, 1 to n − 1", 4)],
        random: true,
        time_varying: false,
        build: |agents, given, seed| one(k_out(agents, given.count("degree")?, seed)),
    },
    Family {
        name: "geometric",
        about: "radios of unequal power at random in the unit square",
        parameters: &[
            Parameter::number("range", "mean distance at which an agent is heard", 0.5),
            Parameter::number("spread", "how unequal the ranges are, 0 to 1: range·(1 ± spread)", 0.5),
        ],
        random: true,
        time_varying: false,
        build: |agents, given, seed| {
            one(geometric(agents, given.real("range")?, given.real("spread")?, seed))
        },
    },
    Family {
        name: "random-matching",
        about: "in each round agents are paired at random, and pairs average",
        parameters: &[PERIOD],
        random: true,
        time_varying: true,
        build: |agents, given, seed| random_matching(agents, given.count("period")?, seed),
    },
    Family {
        name: "random-links",
        about: "in each round each link of the exponential graph is there with the same probability",
        parameters: &[
            Parameter::number("probability", "probability of a link in a round, 0 to 1", 0.5),
            Parameter::whole(
                "offsets",
                "how many of the offsets 1, 2, 4, …: 1 is a ring, 0 is all of them",
                0,
            ),
            PERIOD,
        ],
        random: true,
        time_varying: true,
        build: |agents, given, seed| {
            let period = given.count("period")?;
            let base = time_varying::first_offsets(agents, given.count("offsets")?, period)?;
            random_links(&base, given.real("probability")?, period, seed)
        },
    },
];

const PERIOD: Parameter =
    Parameter::whole("period", "rounds that are drawn; after them the same draws come again", 100);

const COLUMNS: Parameter =
    Parameter::whole("columns", "agents in a row, a divisor of n; 0 for the most square grid", 0);

fn one(graph: Result<Digraph>) -> Result<Vec<Digraph>> {
    graph.map(|graph| vec![graph])
}

fn columns(given: &Parameters) -> Result<Option<usize>> {
    given.count("columns").map(|columns| (columns > 0).then_some(columns))
}

/// Whether a count lies from 1 to `largest`; for a lone agent, who has no links to count, any count will do.
fn check_count(
    family: &str,
    name: &str,
    value: usize,
    agents: usize,
    largest: usize,
    why: &str,
) -> Result<()> {
    let largest = if agents == 1 { usize::MAX } else { largest };
    if (1..=largest).contains(&value) {
        return Ok(());
    }
    let expected = if largest == usize::MAX {
        "it must be at least 1".to_owned()
    } else {
        format!("with {agents} agents it must be from 1 to {largest}: {why}")
    };
    Err(Error::parameter(family, name, value, expected))
}

/// Whether this number of links is possible, before one of them is made.
fn check_edges(family: &str, agents: usize, edges: usize) -> Result<()> {
    if edges <= MAX_EDGES {
        return Ok(());
    }
    let expected = format!("it would have {edges} links, and at most {MAX_EDGES} are possible: give fewer");
    Err(Error::parameter(family, "agents", agents, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_a_lone_agent_and_none_has_no_agents() {
        for family in FAMILIES {
            let graphs = family.digraphs(1, [], 1).unwrap();
            assert_eq!((graphs.len(), graphs[0].edge_count()), (1, 0), "{}", family.name);
            let error = family.digraphs(0, [], 1).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{}: `agents` = 0", family.name)), "{error}");
        }
    }

    /// As many agents as there can be: what has too many links says so before it has made them.
    #[test]
    fn too_many_links_are_refused_before_any_is_made() {
        let (agents, mut refused) = (crate::graph::MAX_AGENTS, vec![]);
        for family in FAMILIES {
            let links = match family.name {
                "exponential" | "one-peer-exponential" | "complete" | "random-links" => "`agents` = 10000000",
                "erdos-renyi" | "geometric" => "with 10000000 agents",
                "random-matching" => "`period` = 100",
                _ => continue, // a few links an agent
            };
            let began = std::time::Instant::now();
            let error = family.digraphs(agents, [], 1).unwrap_err().to_string();
            assert!(error.contains(links) && error.contains("100000000"), "{error}");
            // made, these links would take minutes and more memory than there is
            assert!(began.elapsed().as_secs() < 10, "{}: {:?}", family.name, began.elapsed());
            refused.push(family.name);
        }
        assert_eq!(refused.len(), 7);
    }

    #[test]
    fn names_are_unique_and_kebab_case() {
        for (i, family) in FAMILIES.iter().enumerate() {
            assert!(family.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", family.name);
            assert!(FAMILIES[..i].iter().all(|other| other.name != family.name), "{}", family.name);
        }
    }

    #[test]
    fn only_random_families_heed_the_seed_and_only_time_varying_ones_have_a_period() {
        for family in FAMILIES {
            let graphs = |seed| family.digraphs(24, [], seed).unwrap();
            assert_eq!(graphs(1), graphs(1), "{}", family.name);
            assert_eq!(graphs(1) != graphs(2), family.random, "{}", family.name);
            assert_eq!(graphs(1).len() > 1, family.time_varying, "{}", family.name);
        }
    }
}
