//! One agent's config: all that it needs, in one file. Written by `plan` and `launch`, read by `run`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use oneway::engine::schedule::{Schedule, Shape};
use oneway::methods::combine::Recipe;
use oneway::problem::Problem;
use oneway_experiment::networked::{self, sha256};
use serde::{Deserialize, Serialize};

use crate::plan::endpoints::Endpoints;
use crate::plan::identity::Identity;
use crate::plan::limits::{Guard, Patience};
use crate::plan::shard::Shard;
use crate::plan::ties::{Links, Ties};

/// The version of the file.
const FORMAT: u32 = 3;

/// One agent's config.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The version of this file.
    pub format: u32,
    /// [Digest](Self::digest) of the fields fixed at plan time.
    pub sha256: String,
    /// The folder of its checkpoints and states, relative to the config.
    pub state: PathBuf,
    /// Rounds between two states that are recorded.
    pub record_every: u64,
    /// Rounds between two checks for divergence; it divides `record_every`.
    pub look_every: u64,
    /// Rounds between two checkpoints. With 0 there is none before the end, and an agent that is killed
    /// cannot resume.
    pub checkpoint_every: u64,
    /// Rows with NaN, ∞ or numbers beyond this are refused. `None` accepts all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub guard: Option<f64>,
    /// Address of the page for Prometheus, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metrics: Option<String>,
    /// Seconds after which a silent neighbour is given up.
    #[serde(default = "default_patience")]
    pub patience: f64,
    /// Seconds for which it continues to serve others after its last round.
    #[serde(default = "default_patience")]
    pub linger: f64,
    /// By how many rounds a neighbour may be ahead, at most.
    pub lag: u64,
    /// What its neighbours compare.
    pub identity: Identity,
    /// Addresses and keys.
    pub network: Endpoints,
    /// The method, in the words of an experiment file's `[[method]]`.
    pub method: toml::Table,
    /// The step sizes.
    pub step: StepConfig,
    /// Its part of the problem.
    pub problem: ProblemConfig,
    /// Its links in every round of the period.
    pub links: Vec<Links>,
}

fn default_patience() -> f64 {
    600.0
}

/// A schedule: sizes are those of the rounds, and are not divided any more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepConfig {
    size: f64,
    warmup: u64,
    #[serde(with = "ShapeText")]
    shape: Shape,
}

/// How a [`Shape`] is written; the compiler compares the two.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Shape", deny_unknown_fields, tag = "kind", rename_all = "kebab-case")]
enum ShapeText {
    Constant,
    Decay { factor: f64, every: u64 },
    InverseSqrt,
    Cosine { rounds: u64 },
}

/// The problem, in the words of an experiment file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemConfig {
    /// The number of agents that the settings are for: 1 for the agent's own rows only, or all.
    pub agents: usize,
    /// SHA-256 of the file with the agent's own rows, if it has any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shard: Option<String>,
    /// `[problem]`; paths are relative to the config.
    pub settings: toml::Table,
}

impl StepConfig {
    /// From a schedule.
    pub fn new(schedule: &Schedule) -> Self {
        let (size, shape, warmup) = schedule.parts();
        Self { size, warmup, shape }
    }

    /// Builds the schedule.
    pub fn build(&self) -> oneway::Result<Schedule> {
        Schedule::new(self.size, self.shape, self.warmup)
    }
}

/// A method with its parameters and its steps, by names and values: what neighbours compare.
pub fn describe(method: &Recipe, step: &StepConfig) -> Result<String> {
    let method = serde_json::to_string(&networked::write_recipe(method)?)?;
    Ok(format!("{method} with step {}", serde_json::to_string(step)?))
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

    /// As the text of a file.
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
                "the config was written by another build ({}, here {}): all agents must be of one build to have the same bits",
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
            bail!("there are no [[links]]: give those of at least one round");
        }
        for Links { pulls, pulled_by, pushes, pushed_by } in &self.links {
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
    pub(crate) fn answer_digest(&self) -> Result<String> {
        let Self { identity, method, step, problem, links, lag, record_every, look_every, .. } = self;
        let answer = (identity, method, step, problem, links, lag, record_every, look_every);
        Ok(sha256(serde_json::to_vec(&answer)?))
    }

    /// SHA-256 of all that the answer depends on, and of `checkpoint_every`, by which neighbours decide how
    /// long to keep what they sent. The operator may change addresses, limits and folders.
    pub fn digest(&self) -> Result<String> {
        Ok(sha256(serde_json::to_vec(&(self.answer_digest()?, self.checkpoint_every))?))
    }

    /// Its links.
    pub fn ties(&self) -> Ties {
        Ties {
            agent: self.identity.agent,
            agents: self.identity.agents,
            period: self.links.clone(),
            lag: self.lag,
        }
    }

    /// The method, to be built.
    pub fn recipe(&self) -> Result<Recipe> {
        networked::read_recipe(self.method.clone())
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
        let problem = networked::problem(settings.clone(), *agents, folder)?;
        match *agents {
            1 => Ok(Box::new(Shard::new(problem, self.identity.agents))),
            all if all == self.identity.agents => Ok(problem),
            other => bail!(
                "the problem is for {other} agents: it must be for 1 or for all {}",
                self.identity.agents
            ),
        }
    }

    /// How long it waits.
    pub fn patience(&self) -> Patience {
        Patience { limit: Duration::from_secs_f64(self.patience), ..Patience::default() }
    }

    /// What it refuses.
    pub fn guard(&self) -> Guard {
        self.guard.map_or(Guard::Off, Guard::Beyond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names are those of the file, whatever fields are called in the code.
    #[test]
    fn a_method_is_compared_by_names_and_values() {
        let recipe =
            Recipe::new(oneway::methods::kind("smtpp").unwrap(), [("momentum".to_owned(), 0.25)]).unwrap();
        let shape = Shape::Decay { factor: 0.5, every: 100 };
        let step = StepConfig::new(&Schedule::new(0.1, shape, 10).unwrap());
        assert_eq!(step.build().unwrap().parts(), (0.1, shape, 10));
        assert_eq!(
            describe(&recipe, &step).unwrap(),
            "{\"kind\":\"smtpp\",\"momentum\":0.25} with step \
             {\"size\":0.1,\"warmup\":10,\"shape\":{\"kind\":\"decay\",\"factor\":0.5,\"every\":100}}"
        );
        let text = "size = 0.1\nwarmup = 0\nshape = { kind = \"cosine\", rounds = 5, every = 3 }";
        assert!(toml::from_str::<StepConfig>(text).is_err(), "a field of another shape");
    }
}
