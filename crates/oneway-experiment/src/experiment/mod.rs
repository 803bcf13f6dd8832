//! Experiments: a file says what ([`spec`]; several at once with a [`sweep`]), which resolves to what is run
//! ([`plan`]).

pub mod clock;
pub(crate) mod combination;
mod faults;
pub mod fields;
pub mod links;
pub(crate) mod measure;
pub mod names;
pub mod plan;
pub mod problem;
pub mod set;
pub mod spec;
pub mod supplies;
pub mod sweep;
mod text;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use toml::Table;

use spec::Spec;
use supplies::Supplies;
use sweep::Variant;

/// An experiment as a file describes it.
#[derive(Debug)]
pub struct Experiment {
    /// The settings as given, after `--set`.
    pub settings: Table,
    /// What paths in it are relative to.
    pub folder: PathBuf,
    /// What it asks for: one, or one for each combination of a sweep of the run or the problem.
    pub variants: Vec<Spec>,
    /// What is given in memory.
    pub supplies: Arc<Supplies>,
}

impl Experiment {
    /// Reads a file and applies `--set path=value` in order. Paths inside are relative to the file's folder.
    pub fn read(file: &Path, overrides: &[String]) -> Result<Self> {
        let read = || Self::parse(&text::read(file)?, file.parent().unwrap_or(Path::new("")), overrides);
        read().with_context(|| file.display().to_string())
    }

    /// The same from text: an experiment file's.
    pub fn parse(text: &str, folder: &Path, overrides: &[String]) -> Result<Self> {
        Self::with(text::parse(text)?, folder, overrides)
    }

    /// The same from settings that have been parsed already.
    pub fn with(mut settings: Table, folder: &Path, overrides: &[String]) -> Result<Self> {
        for assignment in overrides {
            set::set(&mut settings, assignment).with_context(|| format!("--set {assignment}"))?;
        }
        Self::new(settings, folder)
    }

    /// The same with other settings.
    pub fn with_settings(&self, settings: Table) -> Result<Self> {
        Ok(Self::new(settings, &self.folder)?.supplied(Arc::clone(&self.supplies)))
    }

    /// The same, with what a program gives in memory.
    pub fn supplied(mut self, supplies: Arc<Supplies>) -> Self {
        self.variants.iter_mut().for_each(|spec| spec.problem.supply(&supplies.datasets));
        Self { supplies, ..self }
    }

    /// The same from settings, as `summary.json` keeps them.
    pub fn new(settings: Table, folder: &Path) -> Result<Self> {
        let variants = sweep::expand(settings.clone())?;
        let variants: Vec<Spec> = variants
            .into_iter()
            .map(|Variant { settings, swept }| Ok(Spec { swept, ..Spec::new(settings, folder)? }))
            .collect::<Result<_>>()?;
        let mut names = HashSet::new();
        let topologies = variants.iter().flat_map(|spec| &spec.topologies);
        if let Some(twice) =
            topologies.map(|topology| &topology.name).find(|name| !names.insert(name.as_str()))
        {
            bail!("sweep: two combinations are called \"{twice}\": a value is given twice");
        }
        Ok(Self { settings, folder: folder.to_owned(), variants, supplies: Arc::default() })
    }
}
