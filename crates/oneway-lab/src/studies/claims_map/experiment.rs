//! A reading as an experiment: what it settles, in the words of an experiment file.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use oneway::graph::Digraph;
use oneway_experiment::Experiment;
use oneway_experiment::links::Links as BuiltLinks;
use oneway_experiment::plan::Plan;
use oneway_experiment::problem::{BuiltProblem, Problems};
use oneway_experiment::supplies::Supplies;
use toml::{Table, Value};

use super::rules::Graph;
use super::setting::{Links, Sampling, Scaling, Setting, Start, Trees, Weights};
use super::space::{Answers, Common, Space};
use super::{networks, start};

/// What runs under a reading, on both graphs.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// What is minimised, wherever it is begun.
    pub(crate) problem: Arc<BuiltProblem>,
}

/// Makes the plan of a reading.
pub(crate) fn plan(space: &Space, answers: &Answers, seed: u64, problems: &mut Known) -> Result<Planned> {
    let setting = space.settings(answers)?;
    let mut made = Made { common: &space.common, setting: &setting, links: HashMap::new(), tables: vec![] };
    let mut settings = made.settings(seed)?;
    let mut supplies = Supplies { links: made.links, ..Supplies::default() };
    let planned = |settings: Table, supplies: Supplies, problems: &mut Problems| {
        let experiment = Experiment::new(settings, Path::new(""))?.supplied(Arc::new(supplies));
        let plan = Plan::sharing(&experiment, problems)?;
        let problem = Arc::clone(&plan.entries.first().context("a reading runs nothing")?.problem);
        anyhow::Ok(Planned { plan, problem })
    };
    if setting.start != Some(Start::Random) {
        return planned(settings, supplies, &mut problems.built);
    }
    // the problem as a file would have it, of an experiment of one method; and the same from another start
    let mut plain = settings.clone();
    let centre = table([("kind", "csgdm".into()), ("step", table([("size", 0.1.into())]).into())]);
    plain.insert("method".to_owned(), vec![Value::from(centre)].into());
    plain.insert("topology".to_owned(), vec![Value::from(table([("kind", "ring".into())]))].into());
    let Planned { problem, .. } = planned(plain, Supplies::default(), &mut problems.built)?;
    let started = problems.started.entry(problem.sha256.clone());
    let started = started.or_insert_with(|| start::random(&problem, seed));
    supplies.problems.insert(RANDOM_START.to_owned(), Arc::clone(started));
    settings.insert("problem".to_owned(), table([("supplied", RANDOM_START.into())]).into());
    Ok(Planned { problem, ..planned(settings, supplies, &mut problems.built)? })
}

const RANDOM_START: &str = "random start";

/// Problems that other readings have built already.
#[derive(Debug, Default)]
pub(crate) struct Known {
    built: Problems,
    /// By the hash of the problem as it is: the same from a random start.
    started: HashMap<String, Arc<BuiltProblem>>,
}

/// What has been made of a reading so far.
struct Made<'a> {
    common: &'a Common,
    setting: &'a Setting,
    /// Networks that are given in memory.
    links: HashMap<String, BuiltLinks>,
    tables: Vec<Value>,
}

/// The links that a method uses.
#[derive(Debug, Clone, Copy, PartialEq)]
enum On {
    Trees,
    AllLinks,
    Centre,
}

/// What distinguishes networks whose matrices are given from those of a family, in a topology's name.
const ALL_LINKS: &str = " (all links)";
const CHAINS: &str = " (chains)";

/// The graph that a topology's name stands for.
pub(crate) fn graph_of(topology: &str) -> Option<Graph> {
    let name = [ALL_LINKS, CHAINS].iter().find_map(|suffix| topology.strip_suffix(suffix));
    Graph::BOTH.into_iter().find(|graph| graph.name() == name.unwrap_or(topology))
}

/// What stands between a rival's name and the step that is tried.
const AT: &str = " at ";

/// A method by its own name, and whether it was run with several steps.
pub(crate) fn method_of(name: &str) -> (&str, bool) {
    name.split_once(AT).map_or((name, false), |(method, _)| (method, true))
}

impl Made<'_> {
    fn settings(&mut self, seed: u64) -> Result<Table> {
        let Common { agents, iterations, repetitions, record_every, alpha, batch, .. } = *self.common;
        for graph in Graph::BOTH {
            self.topology(graph)?;
        }
        let partition = self.setting.partition.clone().unwrap_or_else(|| "even".into());
        let sampling = self.setting.sampling.unwrap_or(Sampling::WithReplacement);
        let problem = table([
            ("kind", "logistic".into()),
            ("dataset", "a9a".into()),
            ("alpha", alpha.into()),
            ("batch", whole(batch)),
            ("sampling", sampling.name().into()),
            ("partition", partition),
        ]);
        let run = table([
            ("agents", whole(agents as u64)),
            ("iterations", whole(iterations)),
            ("repetitions", whole(repetitions)),
            ("record_every", whole(record_every)),
            ("seed", whole(seed)),
            ("measure", Value::Array(vec![])),
        ]);
        Ok(table([
            ("problem", problem.into()),
            ("run", run.into()),
            ("topology", Value::Array(std::mem::take(&mut self.tables))),
            ("method", Value::Array(self.methods()?)),
        ]))
    }

    fn weights(&self) -> Weights {
        self.setting.weights.unwrap_or(Weights::Uniform)
    }

    /// Whether the matrices of methods on these links are given, for no family or subgraph has them.
    fn are_given(&self, on: On) -> bool {
        match on {
            On::Trees => self.setting.trees == Some(Trees::Chain),
            On::AllLinks => self.weights() != Weights::Uniform,
            On::Centre => false,
        }
    }

    /// The topology of methods on these links.
    fn name(&self, graph: Graph, on: On) -> String {
        let suffix = match on {
            On::Trees if self.are_given(on) => CHAINS,
            On::AllLinks if self.are_given(on) => ALL_LINKS,
            _ => "",
        };
        format!("{}{suffix}", graph.name())
    }

    /// The networks of a graph: that which trees are cut from, and beside it those whose matrices are given.
    fn topology(&mut self, graph: Graph) -> Result<()> {
        let Setting { kind, petals, rings, cycles, root, .. } = self.setting;
        let (name, root) = (graph.name(), root.unwrap_or(0));
        let mut links = match graph {
            Graph::Exponential => table([("kind", "exponential".into())]),
            Graph::MultiSubRing => match cycles {
                Some(cycles) => {
                    let digraph = networks::flower_of(self.common.agents, cycles)?;
                    self.links.insert(name.to_owned(), BuiltLinks::Digraphs(vec![digraph]));
                    table([("supplied", name.into())])
                }
                None => {
                    let kind = kind.as_deref().context("no question settles what Multi-Sub-Ring is")?;
                    let given = [("petals", petals), ("rings", rings)].into_iter();
                    let mut links = table([("kind", kind.into())]);
                    links.extend(given.filter_map(|(key, n)| Some((key.to_owned(), whole((*n)?)))));
                    links
                }
            },
        };
        let digraph = self.digraph(name, &links)?;
        for on in [On::Trees, On::AllLinks] {
            if !self.are_given(on) {
                continue;
            }
            let pair = match on {
                On::Trees => networks::chains(&digraph, root as usize, self.weights() == Weights::Lazy)?,
                _ => networks::weighted(&digraph, self.weights())?,
            };
            let own = self.name(graph, on);
            self.links.insert(own.clone(), BuiltLinks::explicit(vec![pair])?);
            self.tables.push(table([("name", (&*own).into()), ("supplied", own.into())]).into());
        }
        links.insert("name".to_owned(), name.into());
        links.insert("root".to_owned(), whole(root));
        self.tables.push(links.into());
        Ok(())
    }

    /// The digraph of a family, or the one that is given in memory.
    fn digraph(&self, name: &str, links: &Table) -> Result<Digraph> {
        if let Some(BuiltLinks::Digraphs(digraphs)) = self.links.get(name) {
            return digraphs.first().cloned().context("there is no digraph");
        }
        let kind = links.get("kind").and_then(Value::as_str).unwrap_or_default();
        let numbers = links.iter().filter_map(|(key, value)| Some((key.clone(), value.as_integer()? as f64)));
        let family = oneway::graph::families::family(kind)?;
        family.digraphs(self.common.agents, numbers, 1)?.pop().context("there is no digraph")
    }

    fn methods(&self) -> Result<Vec<Value>> {
        let Setting { links, momentum, rivals_step, rivals_steps, rivals_momentum, .. } = self.setting;
        let λ = momentum.context("no question settles `momentum`")?;
        let own = self.common.step;
        let with_momentum = |name: &str, kind: &str, on: On| {
            let mut method = self.method(name, kind, own, on);
            method.insert("momentum".to_owned(), λ.into());
            method
        };
        let smtpp_on = if *links == Some(Links::Full) { On::AllLinks } else { On::Trees };
        let mut methods = vec![with_momentum("SMTPP", "smtpp", smtpp_on)];
        for (name, kind) in [("STPP", "stpp"), ("SGP", "sgp"), ("Push-DIGing", "push-diging")] {
            let on = if kind == "stpp" { On::Trees } else { On::AllLinks };
            let steps: Vec<(String, f64)> = match (rivals_step, rivals_steps) {
                (Some(step), None) => vec![(name.to_owned(), *step)],
                (None, Some(steps)) if !steps.is_empty() => {
                    steps.iter().map(|step| (format!("{name}{AT}{step}"), *step)).collect()
                }
                _ => bail!("one question must settle one of `rivals_step` and `rivals_steps`"),
            };
            for (name, step) in steps {
                let mut method = self.method(&name, kind, step, on);
                if on == On::AllLinks && rivals_momentum.unwrap_or(false) {
                    let momentum = table([("kind", "momentum".into()), ("momentum", λ.into())]);
                    method.insert("estimator".to_owned(), momentum.into());
                }
                methods.push(method);
            }
        }
        methods.push(with_momentum("CSGDM", "csgdm", On::Centre));
        Ok(methods.into_iter().map(Value::from).collect())
    }

    /// A method on trees, on all links, or at the centre.
    fn method(&self, name: &str, kind: &str, size: f64, on: On) -> Table {
        let scaling = self.setting.scaling.unwrap_or(Scaling::Effective);
        let pulls = ["smtpp", "stpp"].contains(&kind);
        let size = match (scaling, on) {
            (Scaling::OverN, On::Trees) => size / self.common.agents as f64,
            _ => size,
        };
        let mut step = table([("size", size.into())]);
        if pulls && scaling == Scaling::Effective {
            step.insert("scaling".to_owned(), "effective".into());
        }
        if let Some(every) = self.setting.every {
            step.insert("decay".to_owned(), self.common.decay.into());
            step.insert("every".to_owned(), whole(every));
        }
        // on trees that are given the rule of STPP goes by the name that it has on any links
        let kind = if kind == "stpp" && self.are_given(on) { "push-pull" } else { kind };
        let mut method = table([("name", name.into()), ("kind", kind.into()), ("step", step.into())]);
        if pulls {
            let graph = match (on, self.weights()) {
                (On::Trees, _) if self.are_given(on) => "full",
                (On::Trees, Weights::Lazy) => "lazy-trees",
                (On::Trees, _) => "trees",
                _ => "full",
            };
            method.insert("graph".to_owned(), graph.into());
        }
        if [On::Trees, On::AllLinks].into_iter().any(|on| self.are_given(on)) {
            let names = Graph::BOTH.map(|graph| self.name(graph, on).into());
            method.insert("only".to_owned(), Value::Array(names.to_vec()));
        }
        method
    }
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn whole(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}
