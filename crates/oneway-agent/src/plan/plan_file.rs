//! `plan.toml`: one file for all agents of a plan, with which any of them can be started.

use std::path::Path;

use anyhow::{Context, Result, bail};
use oneway_experiment::networked::sha256;
use serde::{Deserialize, Serialize};

use crate::files::write_whole;

/// What a plan is as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// The version of this file.
    format: u32,
    /// How many agents there are.
    pub agents: usize,
    /// Whether agents find each other's addresses when they are started, as the processes of one job.
    pub meets: bool,
    /// The [digest](crate::plan::config::Config::digest) of each agent's config.
    pub configs: Vec<String>,
}

impl PlanFile {
    /// Its name, beside the configs.
    pub const NAME: &'static str = "plan.toml";

    const FORMAT: u32 = 1;

    /// Of these configs.
    pub fn new(meets: bool, configs: Vec<String>) -> Self {
        Self { format: Self::FORMAT, agents: configs.len(), meets, configs }
    }

    /// Writes it into the folder of the configs.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(Self::NAME);
        write_whole(&path, toml::to_string(self)?.as_bytes()).with_context(|| path.display().to_string())
    }

    /// Reads a file; nothing if it is not that of a plan, but an agent's config for example.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let read = || {
            let table: toml::Table = toml::from_str(&std::fs::read_to_string(path)?)?;
            if !table.contains_key("configs") {
                return Ok(None);
            }
            let plan: Self = table.try_into()?;
            plan.check().map(|()| Some(plan))
        };
        read().with_context(|| path.display().to_string())
    }

    fn check(&self) -> Result<()> {
        let Self { format, agents, configs, .. } = self;
        if *format != Self::FORMAT {
            bail!("`format` = {format} is of another version of this program, which reads {}", Self::FORMAT);
        }
        if configs.is_empty() || *agents != configs.len() {
            bail!("`agents` = {agents} is not possible: there are {} configs", configs.len());
        }
        Ok(())
    }

    /// SHA-256 of all of it.
    pub fn digest(&self) -> String {
        let Self { format, agents, meets, configs } = self;
        sha256(format!("{format}\n{agents}\n{meets}\n{}", configs.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_comes_back_and_a_config_is_not_one() {
        let folder = tempfile::tempdir().unwrap();
        let plan = PlanFile::new(true, vec!["a".repeat(64), "b".repeat(64)]);
        plan.write(folder.path()).unwrap();
        let path = folder.path().join(PlanFile::NAME);
        assert_eq!(PlanFile::read(&path).unwrap(), Some(plan.clone()));
        assert_ne!(PlanFile { meets: false, ..plan.clone() }.digest(), plan.digest());
        let text = std::fs::read_to_string(&path).unwrap();
        for (from, to, words) in [
            ("agents = 2", "agents = 3", "`agents` = 3 is not possible: there are 2 configs"),
            ("format = 1", "format = 2", "of another version of this program, which reads 1"),
            ("meets", "meats", "unknown field `meats`"),
        ] {
            std::fs::write(&path, text.replace(from, to)).unwrap();
            let error = format!("{:#}", PlanFile::read(&path).unwrap_err());
            assert!(error.contains(words) && error.contains("plan.toml"), "{error}");
        }
        std::fs::write(&path, "format = 3\nagent = 2").unwrap();
        assert_eq!(PlanFile::read(&path).unwrap(), None);
    }
}
