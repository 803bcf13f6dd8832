//! One agent's config: all that it needs to know, in a file. Written by `plan` and `launch`, read by `run`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use oneway::codec;
use oneway::engine::schedule::{Schedule, Shape};
use oneway::method::Method;
use oneway::methods::combine::{Compression, Damping, Recipe};
use oneway::methods::{estimator, kind};
use oneway::parameters::Parameters;
use oneway::problem::Problem;
use oneway_experiment::networked::sha256;
use serde::{Deserialize, Serialize};

use crate::identity::Identity;
use crate::link::Patience;
use crate::net::Guard;
use crate::net::config::Endpoints;
use crate::owner::{Owner, as_hex};
use crate::shard::Shard;
use crate::ties::{Links, Ties};

/// The version of the file.
const FORMAT: u32 = 1;

/// What `run` reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The version of this file.
    pub format: u32,
    /// [Of what was planned](Self::digest).
    pub sha256: String,
    /// Where it keeps checkpoints and states; relative to the config.
    pub state: PathBuf,
    /// States are recorded every so many rounds.
    pub record_every: u64,
    /// They are looked at for divergence every so many rounds, a divisor of `record_every`.
    pub look_every: u64,
    /// Checkpoints every so many rounds; none before the end if it is 0, and then an agent that is killed cannot go on.
    pub checkpoint_every: u64,
    /// Rows with NaN, ∞ or numbers beyond this are refused; nothing is if it is not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub guard: Option<f64>,
    /// Address of the page for Prometheus, if there is to be one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metrics: Option<String>,
    /// Seconds after which a neighbour that says nothing is given up.
    #[serde(default = "default_patience")]
    pub patience: f64,
    /// Seconds for which it goes on serving others after its own end.
    #[serde(default = "default_patience")]
    pub linger: f64,
    /// By how many rounds a neighbour may be ahead.
    pub lag: u64,
    /// Who it is, to its neighbours.
    pub identity: Identity,
    /// Where everyone is.
    pub network: Endpoints,
    /// The method.
    pub method: MethodConfig,
    /// The step sizes.
    pub step: StepConfig,
    /// Its part of the problem.
    pub problem: ProblemConfig,
    /// Its links in every round of the period.
    pub links: Vec<LinksConfig>,
}

fn default_patience() -> f64 {
    600.0
}

/// A method and what is around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodConfig {
    kind: String,
    gossip: usize,
    local_steps: usize,
    parameters: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    estimator: Option<Named>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    compress: Option<Compress>,
}

/// Something with a name and parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    kind: String,
    parameters: BTreeMap<String, f64>,
}

/// A codec, and how far it is trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Compress {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    alpha: Option<f64>,
    parameters: BTreeMap<String, f64>,
}

/// A schedule: sizes are those of the rounds, nothing is to be divided any more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, tag = "shape", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are those of a schedule and its shape")]
pub enum StepConfig {
    Constant { size: f64, warmup: u64 },
    Decay { size: f64, warmup: u64, factor: f64, every: u64 },
    InverseSqrt { size: f64, warmup: u64 },
    Cosine { size: f64, warmup: u64, rounds: u64 },
}

/// The problem, as an experiment file would say it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemConfig {
    /// For how many agents: 1 if these are the agent's own rows only, or all.
    pub agents: usize,
    /// SHA-256 of the file with the agent's own rows, if it has any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shard: Option<String>,
    /// `[problem]`; paths are relative to the config.
    pub settings: toml::Table,
}

/// [`Links`], in a file: (agent, weight) where the agent multiplies, agents where it does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of Links")]
pub struct LinksConfig {
    pub pulls: Vec<(usize, f64)>,
    pub pulled_by: Vec<usize>,
    pub pushes: Vec<(usize, f64)>,
    pub pushed_by: Vec<usize>,
}

impl MethodConfig {
    /// A recipe, to be written down.
    pub fn new(recipe: &Recipe) -> Self {
        let pairs = |given: &Parameters| given.iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self {
            kind: recipe.kind.name.to_owned(),
            gossip: recipe.gossip,
            local_steps: recipe.local_steps,
            parameters: pairs(&recipe.parameters),
            estimator: recipe
                .estimator
                .as_ref()
                .map(|(kind, given)| Named { kind: kind.name.to_owned(), parameters: pairs(given) }),
            compress: recipe.compression.as_ref().map(|compression| Compress {
                kind: compression.codec.name.to_owned(),
                gamma: compression.damping.γ,
                alpha: compression.damping.α,
                parameters: pairs(&compression.parameters),
            }),
        }
    }

    /// The method itself.
    pub fn build(&self) -> oneway::Result<Box<dyn Method>> {
        let given = |pairs: &BTreeMap<String, f64>| pairs.clone().into_iter();
        let mut recipe = Recipe::new(kind(&self.kind)?, given(&self.parameters))?;
        (recipe.gossip, recipe.local_steps) = (self.gossip, self.local_steps);
        if let Some(Named { kind, parameters }) = &self.estimator {
            let kind = estimator::estimator(kind)?;
            recipe.estimator = Some((kind, Parameters::new(kind.name, kind.parameters, given(parameters))?));
        }
        if let Some(Compress { kind, gamma, alpha, parameters }) = &self.compress {
            let mut compression = Compression::new(codec::codec(kind)?, given(parameters))?;
            compression.damping = Damping { γ: *gamma, α: *alpha };
            recipe.compression = Some(compression);
        }
        recipe.build()
    }
}

impl StepConfig {
    /// A schedule, to be written down.
    pub fn new(schedule: &Schedule) -> Self {
        let (size, shape, warmup) = schedule.parts();
        match shape {
            Shape::Constant => Self::Constant { size, warmup },
            Shape::Decay { factor, every } => Self::Decay { size, warmup, factor, every },
            Shape::InverseSqrt => Self::InverseSqrt { size, warmup },
            Shape::Cosine { rounds } => Self::Cosine { size, warmup, rounds },
        }
    }

    /// The schedule itself.
    pub fn build(&self) -> oneway::Result<Schedule> {
        let (size, shape, warmup) = match *self {
            Self::Constant { size, warmup } => (size, Shape::Constant, warmup),
            Self::Decay { size, warmup, factor, every } => (size, Shape::Decay { factor, every }, warmup),
            Self::InverseSqrt { size, warmup } => (size, Shape::InverseSqrt, warmup),
            Self::Cosine { size, warmup, rounds } => (size, Shape::Cosine { rounds }, warmup),
        };
        Schedule::new(size, shape, warmup)
    }
}

impl From<&Links> for LinksConfig {
    fn from(Links { pulls, pulled_by, pushes, pushed_by }: &Links) -> Self {
        let (pulls, pulled_by) = (pulls.clone(), pulled_by.clone());
        Self { pulls, pulled_by, pushes: pushes.clone(), pushed_by: pushed_by.clone() }
    }
}

impl Config {
    /// The version that this program writes and reads.
    pub const FORMAT: u32 = FORMAT;

    /// Reads a file, strictly.
    pub fn read(path: &Path) -> Result<Self> {
        let read = || {
            let text = std::fs::read_to_string(path)?;
            let config: Self = toml::from_str(&text)?;
            config.check()?;
            anyhow::Ok(config)
        };
        read().with_context(|| path.display().to_string())
    }

    /// As text, to be written to a file.
    pub fn to_toml(&self) -> Result<String> {
        Ok(toml::to_string(self)?)
    }

    fn check(&self) -> Result<()> {
        let Identity { agent, agents, protocol, rounds, .. } = self.identity;
        if self.format != FORMAT {
            bail!("`format` = {} is of another version of this program, which reads {FORMAT}", self.format);
        }
        if protocol != Identity::PROTOCOL {
            bail!(
                "`protocol` = {protocol} is of another version of this program, which speaks {}",
                Identity::PROTOCOL
            );
        }
        if self.identity.code != Identity::code() {
            bail!(
                "the config was written by other code than this program's ({}, here {}): all agents must be of one build to have the same bits",
                self.identity.code,
                Identity::code()
            );
        }
        if agent >= agents || agents > oneway::graph::MAX_AGENTS {
            bail!("`agent` = {agent} of {agents} is not possible");
        }
        for (name, value) in
            [("rounds", rounds), ("record_every", self.record_every), ("look_every", self.look_every)]
        {
            if value == 0 {
                bail!("`{name}` = 0 is not possible: it must be 1 or more");
            }
        }
        if !self.record_every.is_multiple_of(self.look_every) {
            bail!(
                "`look_every` = {} is not possible: it must divide `record_every` = {}",
                self.look_every,
                self.record_every
            );
        }
        for (name, value) in [("patience", self.patience), ("linger", self.linger)] {
            if !(0.0..1e9).contains(&value) {
                bail!("`{name}` = {value} is not possible: it is a number of seconds");
            }
        }
        if let Some(guard) = self.guard.filter(|guard| guard.is_nan() || *guard <= 0.0) {
            bail!("`guard` = {guard} is not possible: it must be a positive number");
        }
        if let Some(metrics) = &self.metrics
            && metrics.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err())
        {
            bail!("`metrics` = \"{metrics}\" is not possible: it is an address such as 10.0.0.1:9450");
        }
        if self.links.is_empty() {
            bail!("there are no [[links]]: there must be those of one round at least");
        }
        for LinksConfig { pulls, pulled_by, pushes, pushed_by } in &self.links {
            let weighted = [pulls, pushes].map(|links| links.iter().map(|(who, _)| *who).collect::<Vec<_>>());
            for list in weighted.iter().chain([pulled_by, pushed_by]) {
                if !list.is_sorted_by(|a, b| a < b) || list.last().is_some_and(|last| *last >= agents) {
                    bail!("the agents of a link must be from 0 to {}, ascending", agents - 1);
                }
            }
        }
        self.ties().check()?;
        Ok(())
    }

    /// SHA-256 of all that the answer depends on.
    fn answer_digest(&self) -> Result<String> {
        let Self { identity, method, step, problem, links, lag, record_every, look_every, .. } = self;
        let answer = (identity, method, step, problem, links, lag, record_every, look_every);
        Ok(sha256(serde_json::to_vec(&answer)?))
    }

    /// SHA-256 of all that the answer depends on, and of what neighbours rely on: they keep what they sent for as long as checkpoints of
    /// `checkpoint_every` need it. Addresses, limits and places are the operator's to change.
    pub fn digest(&self) -> Result<String> {
        Ok(sha256(serde_json::to_vec(&(self.answer_digest()?, self.checkpoint_every))?))
    }

    /// Whom all that the agent writes belongs to. Checkpoints may be rarer in a new plan of the same run, and its files are still its own.
    pub fn owner(&self) -> Result<Owner> {
        let plan = as_hex::bytes(&self.answer_digest()?).context("a digest has 64 digits")?;
        Ok(Owner { agent: self.identity.agent as u64, run: self.identity.fingerprint(), plan })
    }

    /// Its links.
    pub fn ties(&self) -> Ties {
        let links = |LinksConfig { pulls, pulled_by, pushes, pushed_by }: &LinksConfig| Links {
            pulls: pulls.clone(),
            pulled_by: pulled_by.clone(),
            pushes: pushes.clone(),
            pushed_by: pushed_by.clone(),
        };
        Ties {
            agent: self.identity.agent,
            agents: self.identity.agents,
            period: self.links.iter().map(links).collect(),
            lag: self.lag,
        }
    }

    /// Its part of the problem; paths are relative to `folder`.
    pub fn problem(&self, folder: &Path) -> Result<Box<dyn Problem>> {
        let ProblemConfig { agents, shard, settings } = &self.problem;
        if let (Some(shard), Some(file)) = (shard, settings.get("dataset").and_then(toml::Value::as_str)) {
            let file = folder.join(file);
            let rows = std::fs::read(&file).with_context(|| file.display().to_string())?;
            if sha256(rows) != *shard {
                bail!(
                    "{}: these are not the rows that were planned for agent {}",
                    file.display(),
                    self.identity.agent
                );
            }
        }
        let problem = oneway_experiment::networked::problem(settings.clone(), *agents, folder)?;
        match *agents {
            1 => Ok(Box::new(Shard::new(problem, self.identity.agents))),
            all if all == self.identity.agents => Ok(problem),
            other => bail!(
                "the problem is for {other} agents: it must be for 1 or for all {}",
                self.identity.agents
            ),
        }
    }

    /// How long it waits for others.
    pub fn patience(&self) -> Patience {
        Patience { limit: Duration::from_secs_f64(self.patience), ..Patience::default() }
    }

    /// What it refuses.
    pub fn guard(&self) -> Guard {
        self.guard.map_or(Guard::Off, Guard::Beyond)
    }
}
