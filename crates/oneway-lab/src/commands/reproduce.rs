//! `oneway reproduce`: the paper's two experiments, a verdict on every claim, figures and a page.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use oneway_experiment::Experiment;
use oneway_experiment::plan::{Cell, Plan};
use oneway_experiment::problem::Problems;
use oneway_experiment::results::cells::CellStore;
use oneway_experiment::results::curves::Curve;
use oneway_experiment::results::folder::OutputFolder;
use oneway_experiment::results::manifest::Manifest;
use oneway_experiment::results::{curves_of, save};
use oneway_experiment::set;

use super::report::{self, CLAIMS, ONE_STEP, SENSITIVITY};
use crate::args::ReproduceArgs;
use crate::claims::{self, Experiments, OneStep, Studies};
use crate::commands::table;
use crate::sensitivity::Sensitivity;

/// The paper's experiments and the study around them, in the program itself, so that it works anywhere.
const MULTI_SUB_RING: (&str, &str) =
    ("multi-sub-ring", include_str!("../../experiments/paper/multi-sub-ring.toml"));
const EXPONENTIAL: (&str, &str) = ("exponential", include_str!("../../experiments/paper/exponential.toml"));
const STUDY: (&str, &str) = (SENSITIVITY, include_str!("../../experiments/studies/sensitivity.toml"));

/// What `--quick` changes: a look in a moment, with fewer samples and so with fewer verdicts.
const QUICK: [&str; 2] = ["run.repetitions=2", "run.record_every=50"];
/// The steps that all methods take in turn, so that no difference is the step's: the two that the paper uses.
const COMMON_STEPS: [&str; 2] = ["0.1", "0.2"];
/// All that the verdict on the exponential graph compares at common steps.
const GAP: [&str; 2] = ["STPP", "CSGDM"];

/// Runs the command.
pub(crate) fn reproduce(args: &ReproduceArgs) -> Result<ExitCode> {
    let started = Instant::now();
    let runner = super::runner(args.threads)?;
    let mut problems = Problems::default();
    let plans = plans(args, &mut problems)?;
    let default = if args.quick { "out/reproduce-quick" } else { "out/reproduce" };
    let folder = OutputFolder::prepare(args.out.as_deref().unwrap_or(Path::new(default)))?;
    let store = CellStore::of(folder.path());
    let cells: Vec<Vec<Cell<'_>>> = plans.iter().map(|(_, plan)| plan.cells()).collect();
    let problem = plans.first().and_then(|(_, plan)| plan.entries.first()).map(|entry| &entry.problem);
    let problem = problem.context("the embedded experiments run nothing")?;
    // side by side, so that no thread waits for the last of the one before the other begins
    let all = cells.concat();
    let run = || runner.run(&all, &store, args.fresh);
    let (ran, studies) = runner.install(|| rayon::join(run, Studies::run));
    let ran = ran?;
    if runner.is_interrupted() {
        return Ok(interrupted());
    }

    let mut out = std::io::stdout();
    let mut curves: Vec<(&str, Vec<Curve>)> = vec![];
    let mut rest = ran;
    for ((name, plan), cells) in plans.iter().zip(&cells) {
        let own: Vec<_> = rest.drain(..cells.len()).collect();
        save(&OutputFolder::prepare(&folder.path().join(name))?, plan, cells.len(), &own)?;
        curves.push((name, curves_of(&own)));
        match &**name {
            SENSITIVITY => writeln!(out, "{}", Sensitivity::new(&curves_of(&own)).table())?,
            name if name.starts_with(ONE_STEP) => {}
            _ => writeln!(out, "{}", table::of(&plan.entries, &own))?,
        }
    }
    if !args.sensitivity {
        remove_stale(&folder.path().join(SENSITIVITY))?;
    }
    let of =
        |name: &str| curves.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, curves)| curves);
    let experiments = Experiments {
        multi_sub_ring: of(MULTI_SUB_RING.0),
        exponential: of(EXPONENTIAL.0),
        one_step: COMMON_STEPS.map(|step| OneStep {
            step,
            multi_sub_ring: of(&one_step(MULTI_SUB_RING.0, step)),
            exponential: of(&one_step(EXPONENTIAL.0, step)),
        }),
        optimum: problem.optimum().loss,
    };
    let claims = claims::judge(&experiments, &studies?);
    if runner.is_interrupted() {
        return Ok(interrupted());
    }
    folder.write(CLAIMS, claims::to_json(&claims))?;
    let page = runner.install(|| report::write(folder.path(), false, &mut problems))?;
    if runner.is_interrupted() {
        return Ok(interrupted());
    }
    writeln!(out, "{}", claims::table(&claims))?;
    writeln!(
        out,
        "{}  (figures as SVG, PNG and PDF beside it; {:.1} s)",
        page.display(),
        started.elapsed().as_secs_f64()
    )?;
    Ok(ExitCode::SUCCESS)
}

fn interrupted() -> ExitCode {
    eprintln!("oneway: interrupted; what is finished is kept: the same command goes on from there");
    ExitCode::from(130)
}

/// All that is to run, and the names of the folders for its results.
fn plans(args: &ReproduceArgs, problems: &mut Problems) -> Result<Vec<(String, Plan)>> {
    let quick: Vec<String> = if args.quick { QUICK.map(str::to_owned).to_vec() } else { vec![] };
    let mut wanted = vec![];
    for (name, text) in [MULTI_SUB_RING, EXPONENTIAL] {
        wanted.push((name.to_owned(), text, vec![], None));
    }
    for step in COMMON_STEPS {
        for ((name, text), methods) in [(MULTI_SUB_RING, None), (EXPONENTIAL, Some(&GAP[..]))] {
            let all = names(text)?;
            let kept = all.iter().filter(|name| methods.is_none_or(|kept| kept.contains(&&***name)));
            let steps = kept.map(|name| format!("method.{name}.step.size={step}")).collect();
            wanted.push((one_step(name, step), text, steps, methods));
        }
    }
    if args.sensitivity {
        wanted.push((STUDY.0.to_owned(), STUDY.1, vec![], None));
    }
    let plan = |(name, text, steps, methods): (String, &str, Vec<String>, Option<&[&str]>)| {
        let experiment = experiment(text, &[&*quick, &*steps].concat(), methods);
        let planned = experiment.and_then(|experiment| Plan::sharing(&experiment, problems));
        let planned = planned.with_context(|| format!("the embedded experiment {name}"))?;
        Ok((name, planned))
    };
    wanted.into_iter().map(plan).collect()
}

/// An embedded experiment with changed settings, and with some of its methods only.
fn experiment(text: &str, settings: &[String], methods: Option<&[&str]>) -> Result<Experiment> {
    let mut experiment: toml::Table = text.parse()?;
    if let (Some(kept), Some(all)) =
        (methods, experiment.get_mut("method").and_then(toml::Value::as_array_mut))
    {
        all.retain(|method| kept.contains(&set::name_of(method)));
    }
    Experiment::parse(&toml::to_string(&experiment)?, Path::new(""), settings)
}

/// What the methods of an experiment are called.
fn names(text: &str) -> Result<Vec<String>> {
    let settings: toml::Table = text.parse()?;
    let methods = settings.get("method").and_then(toml::Value::as_array);
    Ok(methods.into_iter().flatten().map(|method| set::name_of(method).to_owned()).collect())
}

/// The folder of an experiment in which all take this step: `one-step-0.1`, `one-step-0.1-exponential`.
fn one_step(name: &str, step: &str) -> String {
    match name {
        _ if name == MULTI_SUB_RING.0 => format!("{ONE_STEP}{step}"),
        _ => format!("{ONE_STEP}{step}-{name}"),
    }
}

/// Removes results that an earlier run wrote into the folder and this one did not, so that the page does not show them.
fn remove_stale(part: &Path) -> Result<()> {
    if part.join(Manifest::FILE).exists() {
        std::fs::remove_dir_all(part).with_context(|| format!("cannot remove {}", part.display()))?;
    }
    Ok(())
}
