//! The studies of the command line for other programs: what they print comes back as values.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;
use oneway::methods;
use oneway_experiment::Experiment;
use oneway_experiment::fields::Fields;
use oneway_experiment::plan::Plan;
use oneway_experiment::problem::Problems;
use oneway_experiment::progress::Progress;
use oneway_experiment::results::cells::CellStore;
use oneway_experiment::results::manifest;
use oneway_experiment::runner::Runner;
use oneway_experiment::spec::TopologySpec;
use oneway_experiment::supplies::Supplies;
use serde_json::{Value, json};
use toml::Table;

use crate::cli::args::DeviceKind;
use crate::cli::commands::{device, report, verify};
use crate::draw::figure::palette::Palette;
use crate::request::Request;
use crate::studies::certify::{self, Region, Ways};
use crate::studies::inspect;
use crate::studies::inspect::facts::Network;
use crate::studies::tune::{Criterion, Search};

/// What to ask a topology.
#[derive(Debug)]
pub struct Inspect<'a> {
    /// What it is called.
    pub name: String,
    /// The keys of a `[[topology]]`, without its name.
    pub settings: Table,
    /// How many agents; a file, or links in memory, say so themselves.
    pub agents: Option<usize>,
    /// What its `supplied` names.
    pub supplies: &'a Supplies,
    /// Names of methods whose largest stable step is asked for; `all` is all of them.
    pub methods: &'a [String],
    /// λ of the methods with momentum.
    pub momentum: f64,
}

impl Inspect<'_> {
    /// What `oneway inspect --json` says of a topology.
    pub fn ask(self) -> Result<Value> {
        let Self { name, settings, agents, supplies, methods, momentum } = self;
        methods::kind("smtpp")?.method([("momentum", momentum)])?; // refused before anything is computed
        let methods = inspect::chosen(methods)?;
        let mut fields = Fields::new(format!("topology \"{name}\""), settings);
        let kind = fields.string("kind")?;
        let spec = TopologySpec::named(name, kind, fields, Path::new(""), (agents, 1))?;
        let facts = Network::build(Request { spec, agents }, supplies)?.inspect(&methods, momentum)?;
        Ok(serde_json::to_value(facts)?)
    }
}

/// A runner whose cells run on a device, as `--device` names it: `cpu`, or `cuda` where there is a GPU.
pub fn runner_on(device: &str, threads: Option<u16>) -> Result<Runner> {
    let Ok(kind) = DeviceKind::from_str(device, false) else {
        let known = DeviceKind::value_variants().iter().filter_map(DeviceKind::to_possible_value);
        let known = known.filter(|value| !value.is_hide_set());
        let known: Vec<String> = known.map(|value| format!("\"{}\"", value.get_name())).collect();
        bail!("device \"{device}\" is not known: {}", known.join(" or "));
    };
    device::runner_on(kind, || Runner::new(threads))
}

/// The methods that `oneway inspect` asks about unless others are named.
pub fn methods_asked_by_default() -> Vec<String> {
    inspect::METHODS.map(str::to_owned).to_vec()
}

/// What `oneway certify --json` says of an experiment, with runs of up to `rounds` rounds for the picture of
/// steps that work. Nothing if it was interrupted.
pub fn certify(experiment: &Experiment, runner: &Runner, rounds: u64) -> Result<Option<Value>> {
    let plan = Plan::for_theory(experiment)?;
    let problems = runner.install(|| certify::Problems::new(&plan))?;
    let store = CellStore::none();
    let ran = runner.run(&plan.cells(), &store, false)?;
    let regions = Region::all(&plan, &problems, Ways { runner, store: &store, rounds, progress: None })?;
    if runner.is_interrupted() {
        return Ok(None);
    }
    Ok(Some(serde_json::to_value(runner.install(|| problems.findings(&plan, &ran, regions))?)?))
}

/// What tuning has found.
#[derive(Debug)]
pub struct Tuned {
    /// `{ "best": […], "trials": […] }`, as `trials.json` has them.
    pub found: Value,
    /// The settings of the experiment on each topology with the values found.
    pub settings: Vec<Table>,
    /// The tuned methods side by side, on samples that tuning has not seen, as `comparison.csv` has them.
    pub comparison: String,
}

/// The criteria of [`tune`].
pub const CRITERIA: [&str; 2] = ["loss", "gradient"];

/// Finds a good step size and momentum (or heavy ball) for each method on each topology, as `oneway tune`
/// does. `store` keeps finished runs. Nothing if it was interrupted.
pub fn tune(
    experiment: &Experiment,
    by: &str,
    runner: &Runner,
    store: &CellStore,
    progress: impl FnOnce(u64) -> Box<dyn Progress>,
) -> Result<Option<Tuned>> {
    let by = match by {
        "loss" => Criterion::Loss,
        "gradient" => Criterion::Gradient,
        other => return Err(oneway::Error::unknown("criterion", other, CRITERIA).into()),
    };
    let mut search = Search::new(experiment, by)?;
    let progress = progress(search.rounds());
    search.run(runner, store, &*progress)?;
    if runner.is_interrupted() {
        return Ok(None);
    }
    let comparison = search.compare(runner, store, &*progress)?;
    if runner.is_interrupted() {
        return Ok(None);
    }
    Ok(Some(Tuned { found: search.found(), settings: search.tuned()?, comparison: comparison.csv() }))
}

/// Runs a results folder (or all in it) again; returns the cells that were run and every difference that was
/// found, as `oneway verify` does. An error if it was interrupted.
pub fn verify(dir: &Path, partial: bool, runner: &Runner) -> Result<(usize, Vec<String>)> {
    let (mut cells, mut differences) = (0, vec![]);
    for folder in manifest::folders(dir)? {
        let (ran, found) =
            verify::verify_folder(&folder, verify::Given { partial, folder: None, progress: None }, runner)?;
        if runner.is_interrupted() {
            bail!("interrupted before all cells were run again");
        }
        cells += ran;
        differences.extend(found.into_iter().map(|what| format!("{}: {what}", folder.display())));
    }
    Ok((cells, differences))
}

/// Draws the figures of a results folder and writes its page; returns where. Every quantity if `all`.
pub fn report(dir: &Path, all: bool) -> Result<PathBuf> {
    report::write(dir, all, &mut Problems::default())
}

/// Everything that can be named: methods, estimators, codecs, topologies, with their parameters.
pub fn names() -> Value {
    let registry = oneway::registry::installed();
    let parameters = |list: &[oneway::parameters::Parameter]| -> Vec<Value> {
        let one = |p: &oneway::parameters::Parameter| json!({ "name": p.name, "about": p.about, "default": p.default });
        list.iter().map(one).collect()
    };
    json!({
        "methods": registry.methods().iter().map(|kind| json!({
            "name": kind.name, "about": kind.about, "reference": kind.reference, "parameters": parameters(kind.parameters),
            "graphs": kind.graphs.iter().map(|graph| graph.name()).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "topologies": registry.families().iter().map(|family| json!({
            "name": family.name, "about": family.about, "parameters": parameters(family.parameters),
        })).collect::<Vec<_>>(),
        "codecs": registry.codecs().iter().map(|codec| json!({
            "name": codec.name, "about": codec.about, "parameters": parameters(codec.parameters),
        })).collect::<Vec<_>>(),
    })
}

/// How figures draw methods: for each its colour on white, and its dashes, if it has any.
pub fn styles(methods: &[String]) -> Vec<(String, Option<String>)> {
    let palette = Palette::new(methods.iter().map(String::as_str));
    let style = |name: &String| {
        let style = palette.style(name);
        (style.color.light.to_owned(), style.dash.map(str::to_owned))
    };
    methods.iter().map(style).collect()
}
