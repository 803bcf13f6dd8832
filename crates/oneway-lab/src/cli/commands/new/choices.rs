//! What was chosen, looked at: the data that there are, the links of a file, the names of methods.

use std::path::Path;

use anyhow::{Result, bail};
use oneway::Error;
use oneway::data::{Dataset, Split};
use oneway::graph::file::{self, EdgeList, Reading};
use oneway::methods::Kind;
use oneway::registry;
use oneway_data::Loaded;
use oneway_experiment::problem::dataset::{DatasetSpec, is_name};
use oneway_experiment::problem::{listing, read_layout};
use toml::{Table, Value};

use crate::cli::commands::data::{self, column};

/// More different labels than this are real targets.
const MOST_CLASSES: usize = 20;
/// Rows of which less than this share is stored are sparse.
const SPARSE: f64 = 0.25;

/// What is minimised, on which data.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) kind: String,
    pub(super) dataset: Option<String>,
    pub(super) label: Option<Value>,
    /// Whether it is a file of the user's.
    pub(super) is_file: bool,
    /// How its features are scaled.
    pub(super) scaling: Option<&'static str>,
    /// A step that its curvature bears.
    pub(super) step: f64,
    about: String,
}

impl Task {
    pub(super) fn new(data: &str, label: Option<&str>, problem: Option<&str>, folder: &Path) -> Result<Self> {
        let known: Vec<&str> = listing::listed().iter().map(|kind| kind.name).collect();
        if let Some(problem) = problem.filter(|problem| !known.contains(problem)) {
            return Err(Error::unknown("problem", problem, known).into());
        }
        let own = |kind: &str, dataset: Option<&str>| Self {
            kind: kind.to_owned(),
            dataset: dataset.map(str::to_owned),
            label: None,
            is_file: false,
            scaling: None,
            step: 0.1,
            about: kind.to_owned(),
        };
        match data {
            "quadratic" => return Ok(own("quadratic", None)),
            "synthetic" => return Ok(own(problem.unwrap_or("least-squares"), Some("synthetic"))),
            _ => {}
        }
        let label = label.map(column);
        let mut keys = Table::new();
        label.iter().for_each(|label| drop(keys.insert("label".to_owned(), label.clone())));
        let spec = DatasetSpec::new(data, Path::new(""), None, read_layout(keys)?, Split::Train)?;
        let Loaded { data: rows, words, format } = data::read(&spec)?;
        let is_file = !is_name(data);
        let scaling = (is_file && format != "IDX").then(|| scaling_of(&rows));
        let kind = problem.unwrap_or_else(|| match rows.classes().len() {
            2 if rows.check().is_ok() || words.is_some() => "logistic",
            2..=MOST_CLASSES => "softmax",
            _ if words.is_some() => "softmax",
            _ => "least-squares",
        });
        let about = format!("{kind} on {} rows with {} features of {data}", rows.len(), rows.features);
        let step = step_of(kind, &rows, scaling);
        let dataset = if is_file { beside(data, folder) } else { data.to_owned() };
        Ok(Self { kind: kind.to_owned(), dataset: Some(dataset), label, is_file, scaling, step, about })
    }

    pub(super) fn shown(&self) -> &str {
        &self.about
    }
}

/// Dense rows are moved and divided, sparse ones divided only.
fn scaling_of(rows: &Dataset) -> &'static str {
    let share = rows.rows.entries() as f64 / (rows.len() as f64 * rows.features as f64);
    if share >= SPARSE { "standardise" } else { "max-abs" }
}

/// 1/L for L = c·max‖a‖² at most 0.1, with one digit. Features that are scaled have a size of about 1.
fn step_of(kind: &str, rows: &Dataset, scaling: Option<&str>) -> f64 {
    let c = match kind {
        "logistic" => 0.25,
        "softmax" | "two-layer" => 0.5,
        _ => 1.0,
    };
    let norm = |r: usize| rows.rows.row(r).map(|(_, value)| value * value).sum::<f64>();
    let largest = match scaling {
        // rows far from the mean have several times the d of an average one
        Some("standardise") => 4.0 * rows.features as f64,
        Some(_) => (0..rows.len()).map(|r| rows.rows.row(r).count()).max().unwrap_or(1) as f64,
        None => (0..rows.len()).map(norm).fold(1.0, f64::max),
    };
    let step = f64::min(0.1, 1.0 / (c * (largest + 1.0)));
    let digit = 10_f64.powi(step.log10().floor() as i32);
    format!("{:.0e}", (step / digit).floor() * digit).parse().unwrap_or(0.1)
}

/// A path as the experiment's folder sees it.
fn beside(path: &str, folder: &Path) -> String {
    let same = folder.as_os_str().is_empty() || Path::new(path).is_absolute();
    let absolute = std::path::absolute(path).ok().and_then(|path| path.to_str().map(str::to_owned));
    if same { path.to_owned() } else { absolute.unwrap_or_else(|| path.to_owned()) }
}

/// Who hears whom.
#[derive(Debug)]
pub(super) struct Network {
    /// A family, or the path of an edge list.
    pub(super) name: String,
    pub(super) agents: usize,
    pub(super) file: Option<LinksFile>,
}

/// What an edge list is like.
#[derive(Debug)]
pub(super) struct LinksFile {
    pub(super) base: usize,
    pub(super) names: bool,
    pub(super) weighted: bool,
}

impl Network {
    pub(super) fn new(name: &str, agents: Option<usize>, folder: &Path) -> Result<Self> {
        let family = registry::installed().family(name);
        if family.is_ok() || !Path::new(name).exists() {
            family?;
            return Ok(Self { name: name.to_owned(), agents: agents.unwrap_or(20), file: None });
        }
        let (list, base, names) = links(name)?;
        if let Some(agents) = agents.filter(|agents| *agents != list.agents) {
            bail!("{name}: its links are those of {} agents, and {agents} are asked for", list.agents);
        }
        let file = Some(LinksFile { base, names, weighted: list.weights.is_some() });
        Ok(Self { name: beside(name, folder), agents: list.agents, file })
    }
}

/// The links of a file, by numbers from 0 or from 1, or by names. What is wrong otherwise is said of numbers.
fn links(path: &str) -> Result<(EdgeList, usize, bool)> {
    for base in [0, 1] {
        match file::read_with(path, Reading { agents: None, base }) {
            Ok(list) => return Ok((list, base, false)),
            Err(Error::Io { path, source }) => return Err(Error::Io { path, source }.into()),
            Err(_) => {}
        }
    }
    match file::read_named(path) {
        Ok(named) => Ok((named.list, 0, true)),
        Err(_) => Ok((file::read(path, None)?, 0, false)),
    }
}

/// Which methods.
#[derive(Debug)]
pub(super) struct Methods(pub(super) Vec<&'static Kind>);

impl Methods {
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Result<Self> {
        let kinds = names.map(|name| registry::installed().method(name)).collect::<Result<Vec<_>, _>>()?;
        match kinds.is_empty() {
            true => bail!("give one method at least, such as smtpp"),
            false => Ok(Self(kinds)),
        }
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|kind| kind.name).collect()
    }
}
