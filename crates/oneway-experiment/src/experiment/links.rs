//! A topology's links, before a method chooses which of them to use.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use oneway::Error;
use oneway::graph::Digraph;
use oneway::graph::families;
use oneway::graph::file::{self, EdgeList, Reading};
use oneway::graph::mixing::Stochastic;
use oneway::graph::topology::{Pair, Subgraph, Topology, Weights};

use super::faults::Redraw;
use super::spec::{LinksSpec, Normalise, TopologySpec};
use super::supplies::Supplies;

/// A topology's links, before a method chooses which of them to use.
#[derive(Debug, Clone)]
pub enum Links {
    /// One digraph for each round of the period, weights to be chosen.
    Digraphs(Vec<Digraph>),
    /// R and C as given.
    Explicit(Arc<Topology>),
}

impl Links {
    /// Makes or reads the links. A family must be told how many agents there are; a file of links says so
    /// itself, if need be.
    pub fn build(spec: &TopologySpec, agents: Option<usize>, supplies: &Supplies) -> Result<Self> {
        if let Some(agents) = agents {
            check_root(spec.root, agents)?;
        }
        let links = match &spec.links {
            LinksSpec::Family { family, parameters } => {
                let agents = agents.context("`agents` is missing: how many there are")?;
                Links::Digraphs((family.build)(agents, parameters, spec.seed)?)
            }
            LinksSpec::Supplied(name) => supplies.links(name, agents)?,
            LinksSpec::Files(paths) => Self::of_files(spec, paths, agents)?,
            LinksSpec::Matrices { pull, push } => {
                let (lists, _) = lists(spec, &[("pull", pull.as_path()), ("push", push.as_path())], agents)?;
                let [r, c] = &lists[..] else { bail!("there must be two lists, R and C") };
                Self::explicit(vec![matrices((pull, r), (push, c), spec.normalise)?])?
            }
        };
        check_root(spec.root, links.agents())?;
        match spec.redraw {
            Some(redraw) => links.redrawn(redraw, spec.seed),
            None => Ok(links),
        }
    }

    /// What its files call agents, where they have names: agent i has the i-th.
    pub fn names(spec: &TopologySpec) -> Result<Option<Vec<String>>> {
        let files: Vec<(&str, &Path)> = match &spec.links {
            LinksSpec::Files(paths) => paths.iter().map(|path| ("file", path.as_path())).collect(),
            LinksSpec::Matrices { pull, push } => vec![("pull", pull.as_path()), ("push", push.as_path())],
            LinksSpec::Family { .. } | LinksSpec::Supplied(_) => vec![],
        };
        match spec.names {
            true => Ok(Some(lists(spec, &files, None)?.1)),
            false => Ok(None),
        }
    }

    /// One edge list for each round of the period, all with weights or all without.
    fn of_files(spec: &TopologySpec, paths: &[PathBuf], agents: Option<usize>) -> Result<Self> {
        let normalise = spec.normalise;
        let key = if paths.len() == 1 { "file" } else { "files" };
        let files: Vec<(&str, &Path)> = paths.iter().map(|path| (key, path.as_path())).collect();
        let (lists, _) = lists(spec, &files, agents)?;
        let lists: Vec<(&Path, EdgeList)> = paths.iter().map(PathBuf::as_path).zip(lists).collect();
        let weighted = lists.iter().filter(|(_, list)| list.weights.is_some()).count();
        if weighted == 0 && normalise.any() {
            bail!("`normalise` is for weights, and its links have none: leave it out");
        }
        if weighted == 0 {
            let digraphs = lists.iter().map(|(_, list)| list.digraph());
            return Ok(Links::Digraphs(digraphs.collect::<Result<_, _>>()?));
        }
        if let Some((path, _)) = lists.iter().find(|(_, list)| list.weights.is_none()) {
            bail!("{}: its links have no weights, those of other files do", path.display());
        }
        let pairs = lists.iter().map(|(path, list)| matrices((path, list), (path, list), normalise));
        Self::explicit(pairs.collect::<Result<_>>()?)
    }

    /// The same links, each there in a round with some probability.
    fn redrawn(self, Redraw { probability, period }: Redraw, seed: u64) -> Result<Self> {
        match &self {
            Links::Digraphs(digraphs) if digraphs.len() == 1 => {
                Ok(Links::Digraphs(families::random_links(&digraphs[0], probability, period, seed)?))
            }
            Links::Digraphs(_) => bail!("`redraw`: it changes with the round already; leave `redraw` out"),
            Links::Explicit(_) => {
                bail!(
                    "`redraw`: its weights are given link by link and would not sum to 1; leave `redraw` out"
                )
            }
        }
    }

    /// Number of agents.
    pub fn agents(&self) -> usize {
        match self {
            Links::Digraphs(digraphs) => digraphs.first().map_or(0, Digraph::agents),
            Links::Explicit(topology) => topology.agents(),
        }
    }

    /// Whether trees can be cut from them: from one digraph whose weights are to be chosen.
    pub fn have_trees(&self) -> bool {
        matches!(self, Links::Digraphs(digraphs) if digraphs.len() == 1)
    }

    /// R and C of each round of the period.
    pub fn explicit(period: Vec<Pair>) -> Result<Self> {
        Ok(Links::Explicit(Arc::new(Topology::cyclic(period)?)))
    }

    /// The topology that a method gets which uses `graph` of these links.
    pub fn topology(&self, spec: &TopologySpec, graph: Subgraph) -> Result<Arc<Topology>> {
        match self {
            Links::Digraphs(digraphs) => {
                Ok(Arc::new(Topology::from_digraphs(digraphs, graph, spec.weights, spec.root)?))
            }
            Links::Explicit(_) if graph != Subgraph::Full || spec.weights != Weights::Uniform => {
                bail!("its weights are given link by link: `graph` must be \"full\" and `weights` left out")
            }
            Links::Explicit(topology) => Ok(Arc::clone(topology)),
        }
    }
}

/// Reads edge lists, each named by a key; all have the agents of the first, or those that all together name.
fn lists(
    spec: &TopologySpec,
    files: &[(&str, &Path)],
    mut agents: Option<usize>,
) -> Result<(Vec<EdgeList>, Vec<String>)> {
    if !spec.names {
        let mut lists = vec![];
        for (key, path) in files {
            let list = found(key, path, file::read_with(path, Reading { agents, base: spec.base }))?;
            agents = agents.or(Some(list.agents)); // the first file says how many, if nobody does
            lists.push(list);
        }
        return Ok((lists, vec![]));
    }
    let named = files.iter().map(|(key, path)| found(key, path, file::read_named(path)));
    let (lists, names) = file::numbered(named.collect::<Result<_>>()?);
    match agents {
        Some(agents) if agents != names.len() => {
            let some: Vec<&str> = names.iter().take(10).map(String::as_str).collect();
            let more = if names.len() > some.len() { ", …" } else { "" };
            bail!(
                "its links name {} agents ({}{more}), and there are {agents}: correct `agents`, or the names",
                names.len(),
                some.join(", ")
            )
        }
        _ => Ok((lists, names)),
    }
}

/// An edge list that `key` names, or where it was looked for.
fn found<T>(key: &str, path: &Path, list: oneway::Result<T>) -> Result<T> {
    match list {
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            bail!("{}: No such file: `{key}` must be the path of an edge list", path.display())
        }
        list => Ok(list?),
    }
}

/// R and C as two edge lists have them; which file is which helps whoever mixed them up.
fn matrices(pull: (&Path, &EdgeList), push: (&Path, &EdgeList), normalise: Normalise) -> Result<Pair> {
    let matrix = |(path, list): (&Path, &EdgeList), stochastic, name| {
        let divided = match stochastic {
            Stochastic::Rows => normalise.rows,
            Stochastic::Columns => normalise.columns,
        };
        let mixing = match divided {
            true => list.normalised(stochastic).to_mixing(stochastic),
            false => list.to_mixing(stochastic),
        };
        let mixing = mixing.map_err(|error| match error {
            // an agent that hears nobody cannot be helped by dividing
            Error::NotStochastic { sum, .. } if sum > 0.0 => {
                anyhow::anyhow!("{error}; or give `normalise = true`")
            }
            other => other.into(),
        });
        mixing.with_context(|| format!("{} as {name}", path.display()))
    };
    let pull = matrix(pull, Stochastic::Rows, "R (pull)")?;
    let push = matrix(push, Stochastic::Columns, "C (push)")?;
    Ok(Pair { pull, push })
}

fn check_root(root: usize, agents: usize) -> Result<()> {
    if root >= agents && agents > 0 {
        bail!("`root` = {root} is not possible: with {agents} agents the ids are 0 to {}", agents - 1);
    }
    Ok(())
}
