//! `oneway reproduce`: the paper's two experiments, a verdict on every claim, figures and a page.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};

use super::report::{self, CLAIMS, SENSITIVITY};
use crate::args::ReproduceArgs;
use crate::claims::{self, Studies};
use crate::experiment::Experiment;
use crate::experiment::plan::{Cell, Plan};
use crate::results::cells::CellStore;
use crate::results::folder::OutputFolder;
use crate::results::{curves_of, save, table};
use crate::runner::Runner;
use crate::sensitivity::Sensitivity;

/// The paper's experiments and the study around them, in the program itself, so that it works anywhere.
const MULTI_SUB_RING: (&str, &str) =
    ("multi-sub-ring", include_str!("../../../../experiments/paper/multi-sub-ring.toml"));
const EXPONENTIAL: (&str, &str) =
    ("exponential", include_str!("../../../../experiments/paper/exponential.toml"));
const STUDY: (&str, &str) =
    (SENSITIVITY, include_str!("../../../../experiments/studies/multi-sub-ring.toml"));

/// What `--quick` changes: a look in a moment, with fewer samples and so with fewer verdicts.
const QUICK: [&str; 2] = ["run.repetitions=2", "run.record_every=50"];

/// Runs the command.
pub(crate) fn reproduce(args: &ReproduceArgs) -> Result<ExitCode> {
    let started = Instant::now();
    let overrides: Vec<String> = if args.quick { QUICK.map(str::to_owned).to_vec() } else { vec![] };
    let mut sources = vec![MULTI_SUB_RING, EXPONENTIAL];
    sources.extend(args.sensitivity.then_some(STUDY));
    let plans = sources.iter().map(|(name, text)| {
        let plan =
            Experiment::parse(text, Path::new(""), &overrides).and_then(|experiment| Plan::new(&experiment));
        Ok((*name, plan.with_context(|| format!("the embedded experiment {name}"))?))
    });
    let plans = plans.collect::<Result<Vec<(&str, Plan)>>>()?;

    let runner = Runner::new(args.threads)?;
    let folder = OutputFolder::prepare(&args.out)?;
    let store = CellStore::of(folder.path());
    let cells: Vec<Vec<Cell<'_>>> = plans.iter().map(|(_, plan)| plan.cells()).collect();
    let ran = runner.run(&cells.concat(), &store, args.fresh)?;
    if runner.is_interrupted() {
        eprintln!("oneway: interrupted; what is finished is kept: the same command goes on from there");
        return Ok(ExitCode::from(130));
    }

    let mut out = std::io::stdout();
    let mut curves = vec![];
    let mut rest = ran;
    for ((name, plan), cells) in plans.iter().zip(&cells) {
        let own: Vec<_> = rest.drain(..cells.len()).collect();
        save(&OutputFolder::prepare(&folder.path().join(name))?, plan, cells.len(), &own)?;
        let summary = table::of(&plan.entries, &own);
        curves.push(curves_of(&own));
        match *name {
            SENSITIVITY => writeln!(out, "{}", Sensitivity::new(&curves_of(&own)).table())?,
            _ => writeln!(out, "{summary}")?,
        }
    }
    let claims = claims::judge(&curves[0], &curves[1], &runner.install(Studies::run)?);
    folder.write(CLAIMS, claims::to_json(&claims))?;
    let page = runner.install(|| report::write(folder.path(), false))?;
    writeln!(out, "{}", claims::table(&claims))?;
    writeln!(
        out,
        "{}  (figures as SVG, PNG and PDF beside it; {:.1} s)",
        page.display(),
        started.elapsed().as_secs_f64()
    )?;
    Ok(ExitCode::SUCCESS)
}
