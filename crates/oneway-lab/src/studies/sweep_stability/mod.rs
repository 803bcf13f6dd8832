//! Stability limits over a parameter of a topology and over λ: momentum against none, trees against full.

mod axis;
mod question;
pub(crate) mod show;

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use oneway::Error;
use oneway::graph::topology::{Subgraph, Topology};
use oneway::method::Method;
use oneway::methods::{PUSH_PULL, Smtpp};
use oneway::theory::stability::{self, Limit};
use oneway_experiment::links::Links;
use oneway_experiment::supplies::Supplies;
use rayon::prelude::*;

pub(crate) use axis::{Axis, EXAMPLES};
pub(crate) use question::Question;

use crate::request::{Request, TopologyFlags, called, check_flags};

/// Beyond this, limits take minutes each.
const MOST_AGENTS: usize = 2000;

/// What to compute, checked: every topology that is asked for exists, or there is a reason why not.
#[derive(Debug)]
pub(crate) struct Sweep {
    /// As the user called it, up to the colon.
    pub(crate) family: String,
    pub(crate) axis: Axis,
    /// λ of SMTPP, ascending.
    pub(crate) momenta: Vec<f64>,
    pub(crate) graphs: Vec<Subgraph>,
    /// For each value of the axis, a topology for each of `graphs`.
    topologies: Vec<Possible<Vec<Arc<Topology>>>>,
}

/// What a value of the axis gives, or why there is nothing: no method works on such a network.
type Possible<T> = std::result::Result<T, String>;

/// What was found for one value and one way to use the links.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) value: f64,
    pub(crate) graph: Subgraph,
    pub(crate) found: Possible<Limits>,
}

/// The steps that a network bears.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Limits {
    pub(crate) c_π: f64,
    pub(crate) push_pull: Limit,
    /// For each λ.
    pub(crate) smtpp: Vec<Limit>,
}

impl Sweep {
    /// Reads what the user typed and makes all topologies.
    pub(crate) fn new(args: &Question) -> Result<Self> {
        let axis: Axis = args.over.parse().with_context(|| format!("--over {}", args.over))?;
        if args.flags.has(&axis.key) {
            bail!("`{0}` is given twice: --over changes it, so leave out --{0}", axis.key);
        }
        let mut momenta = args.momentum.clone();
        momenta.sort_by(f64::total_cmp);
        momenta.dedup();
        momenta.iter().try_for_each(|&λ| Smtpp::new(λ).map(drop))?;
        let topologies = axis.values.iter().map(|value| {
            let text = match args.topology.contains(':') {
                true => format!("{},{}={value}", args.topology, axis.key),
                false => format!("{}:{}={value}", args.topology, axis.key),
            };
            topologies(&text, &args.flags, &args.graph)
        });
        let topologies: Vec<Possible<_>> = topologies.collect::<Result<_>>()?;
        if let Some(Err(reason)) = topologies.first()
            && topologies.iter().all(std::result::Result::is_err)
        {
            bail!("no value of `{}` gives a network that methods work on: {reason}", axis.key);
        }
        let family = args.topology.split(':').next().unwrap_or_default().to_owned();
        Ok(Self { family, axis, momenta, graphs: args.graph.clone(), topologies })
    }

    /// How many limits there are to find.
    pub(crate) fn limits_to_find(&self) -> usize {
        let networks = self.topologies.iter().flatten().map(Vec::len).sum::<usize>();
        networks * (self.momenta.len() + 1)
    }

    /// All limits: values in their order, and for each the graphs in theirs. `found` is called for each
    /// limit.
    pub(crate) fn run(&self, found: &(dyn Fn() + Sync)) -> Result<Vec<Row>> {
        let cells = self.axis.values.iter().zip(&self.topologies).flat_map(|(&value, topologies)| {
            self.graphs.iter().enumerate().map(move |(at, &graph)| (value, graph, at, topologies))
        });
        let row = |(value, graph, at, topologies): (f64, Subgraph, usize, &Possible<Vec<Arc<Topology>>>)| {
            let found = topologies.as_ref().map_err(String::clone).and_then(|topologies| {
                self.limits(&topologies[at], found).map_err(|error| format!("{}: {error}", graph.name()))
            });
            Row { value, graph, found }
        };
        let rows: Vec<Row> = cells.collect::<Vec<_>>().into_par_iter().map(row).collect();
        let failed = |row: &Row| row.found.as_ref().err().cloned();
        match rows.iter().map(failed).collect::<Option<Vec<String>>>() {
            Some(reasons) => bail!("no value of `{}` has limits: {}", self.axis.key, reasons.join("; ")),
            None => Ok(rows),
        }
    }

    fn limits(&self, topology: &Topology, found: &(dyn Fn() + Sync)) -> oneway::Result<Limits> {
        let limit = |method: &dyn Method| stability::limit(method, topology).inspect(|_| found());
        let smtpp = self.momenta.par_iter().map(|&λ| limit(&Smtpp::new(λ)?));
        Ok(Limits {
            c_π: topology.c_pi()?,
            push_pull: limit(&PUSH_PULL)?,
            smtpp: smtpp.collect::<oneway::Result<_>>()?,
        })
    }
}

/// The topologies of one value, one for each of `graphs`; what a user got wrong is an error, what chance did
/// not connect is not.
fn topologies(
    text: &str,
    flags: &TopologyFlags,
    graphs: &[Subgraph],
) -> Result<Possible<Vec<Arc<Topology>>>> {
    let request = Request::parse(text, flags)?;
    check_flags(std::slice::from_ref(&request), flags)?;
    let Some(agents) = request.agents else {
        bail!("{}: the number of agents is missing: give --agents", called(text))
    };
    if agents > MOST_AGENTS {
        bail!("{}: {agents} agents are more than {MOST_AGENTS}", called(text));
    }
    let links =
        Links::build(&request.spec, Some(agents), &Supplies::default()).with_context(|| called(text))?;
    if !links.have_trees() && graphs.iter().any(|graph| *graph != Subgraph::Full) {
        let why = match links {
            Links::Digraphs(_) => "its links change with the round",
            Links::Explicit(_) => "its weights are given link by link",
        };
        bail!("{}: it has no spanning trees, because {why}: give --graph full", called(text));
    }
    let of = |&graph: &Subgraph| {
        let topology = links.topology(&request.spec, graph)?;
        topology.check_common_root()?;
        Ok(topology)
    };
    match graphs.iter().map(of).collect::<Result<Vec<_>>>() {
        Ok(topologies) => Ok(Ok(topologies)),
        Err(error) => match error.downcast_ref() {
            Some(Error::NoCommonRoot(_) | Error::NoSpanningTree { .. } | Error::Periodic { .. }) => {
                Ok(Err(error.to_string()))
            }
            _ => Err(error.context(called(text))),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use clap::{CommandFactory, Parser};
    use oneway::graph::families::FAMILIES;

    use super::*;
    use crate::cli::args::{Args, Command};

    fn sweep(arguments: &[&str]) -> Result<Sweep> {
        let arguments = [&["oneway", "sweep-stability"], arguments].concat();
        match Args::try_parse_from(arguments)?.command {
            Command::SweepStability(args) => Sweep::new(&args.question),
            other => bail!("{other:?}"),
        }
    }

    #[test]
    fn the_bar_counts_every_limit_once() {
        let sweep =
            sweep(&["flower", "--over", "petals=1..3", "--agents", "7", "--momentum", "0.1,0.5"]).unwrap();
        assert_eq!(sweep.limits_to_find(), 18, "three networks, each whole and as trees, with three methods");
        let found = AtomicUsize::new(0);
        sweep.run(&|| _ = found.fetch_add(1, Ordering::Relaxed)).unwrap();
        assert_eq!(found.into_inner(), 18);
    }

    #[test]
    fn every_example_of_the_help_can_be_swept() {
        let help = Args::command().find_subcommand_mut("sweep-stability").unwrap().render_help().to_string();
        let is_example = |word: &&str| word.contains('=') && word.contains(|c: char| c.is_ascii_digit());
        let examples: Vec<&str> =
            help.split_whitespace().map(|word| word.trim_end_matches(',')).filter(is_example).collect();
        assert!(examples.len() >= 4, "{examples:?}");
        for example in examples {
            let swept = match example.strip_prefix("NAME:") {
                Some(keys) => sweep(&[&format!("flower:{keys}"), "--over", "root=0,1"]),
                None => {
                    let (key, _) = example.split_once('=').unwrap();
                    let mut families = FAMILIES.iter();
                    let family = families.find(|family| family.parameters.iter().any(|p| p.name == key));
                    let agents: &[&str] = if key == "agents" { &[] } else { &["--agents", "30"] };
                    let family = family.map_or("ring", |family| family.name);
                    sweep(&[&[family, "--over", example], agents].concat())
                }
            };
            assert!(swept.is_ok(), "{example}: {:#}", swept.unwrap_err());
        }
    }
}
