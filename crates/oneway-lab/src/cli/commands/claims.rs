//! `oneway claims map`: every sentence of the paper's numerical section under every reading of what it leaves open.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use oneway_experiment::plan::Cell;
use oneway_experiment::results::cells::{CellResult, CellStore, Ran};
use oneway_experiment::results::folder::OutputFolder;

use crate::cli::claims_args::MapArgs;
use crate::cli::progress::Bar;
use crate::draw::figure::gallery;
use crate::draw::report;
use crate::studies::claims_map::{self, Known, Map, Question};
use crate::terminal::{Screen, warn};

/// Runs the command.
pub(crate) fn map(args: &MapArgs) -> Result<ExitCode> {
    let started = Instant::now();
    let readings = text(args.readings.as_deref(), claims_map::READINGS)?;
    let rules = text(args.rules.as_deref(), claims_map::RULES)?;
    let mut question = Question::new(&readings, &rules, args.confirm)?;
    let mut problems = Known::default();
    let mut plans = question.plans(0, &mut problems)?; // before anything is written: what cannot run is refused now
    let default = if args.confirm { "out/claims-confirm" } else { "out/claims" };
    let folder = OutputFolder::prepare(args.out.as_deref().unwrap_or(Path::new(default)))?;
    let runner = super::runner_on(args.device, args.threads)?;
    let store = CellStore::new(folder.path());
    let bar = Bar::new(&[("running", 30), ("climbing", 6), ("algebra", 2)]);
    let mut finished = Finished::default();
    let map = loop {
        let cells: Vec<Cell<'_>> = plans.iter().flat_map(|planned| planned.plan.cells()).collect();
        let progress = bar.part(usize::from(!finished.0.is_empty()), super::rounds(&cells));
        if !finished.run(&cells, |new| runner.run_within(&progress, new, &store, args.fresh))? {
            drop(bar);
            warn("interrupted; what is finished is kept: the same command goes on from there");
            return Ok(ExitCode::from(130));
        }
        let map = Map::new(question, &plans, finished.of(cells))?;
        let Some(climbed) = map.climbed() else { break map };
        question = climbed;
        let more = question.plans(plans.len(), &mut problems)?;
        plans.extend(more);
    };
    super::device::say_what_stayed(&runner);
    bar.part(2, 0);
    let map = runner.install(|| map.with_algebra(&plans))?;
    let summary = map.summary();
    let mut written = vec![];
    for (name, content) in [
        ("map.json", claims_map::json(&map)),
        ("map.csv", claims_map::csv(&map)),
        ("summary.json", summary.to_json()),
        ("pages.md", claims_map::pages(&serde_json::to_value(&summary)?)),
        ("rules.toml", rules),
        ("readings.toml", readings),
    ] {
        written.push(folder.write(name, content)?);
    }
    let pictures = claims_map::pictures(&map, &summary);
    let figures = folder.inside("figures")?;
    runner.install(|| gallery::write(&pictures, &figures))?;
    written.push(figures.path().join("map.svg"));
    let page = report::page(&claims_map::walk(&map, &summary, pictures));
    written.push(folder.write("map.html", page)?);
    folder.settle("claims-map")?;
    drop(bar);
    let mut screen = Screen::stdout();
    screen.table(&claims_map::table(&summary));
    claims_map::said(&summary).iter().for_each(|line| screen.text(line));
    written.iter().for_each(|path| screen.file(path));
    screen.text(&format!("{} readings in {:.1} s", map.len(), started.elapsed().as_secs_f64()));
    screen.show()?;
    Ok(ExitCode::SUCCESS)
}

/// What has run, by its key.
#[derive(Debug, Default)]
struct Finished(HashMap<String, CellResult>);

impl Finished {
    /// Runs those cells that have not; whether all have now.
    fn run<'a>(
        &mut self,
        cells: &[Cell<'a>],
        run: impl FnOnce(&[Cell<'a>]) -> Result<Vec<Ran<'a>>>,
    ) -> Result<bool> {
        let new = cells.iter().filter(|cell| !self.0.contains_key(&cell.key)).cloned();
        let ran = run(&new.collect::<Vec<_>>())?;
        let whole = ran.iter().all(|ran| ran.result.end.status.is_final());
        self.0.extend(ran.into_iter().map(|ran| (ran.cell.key, ran.result)));
        Ok(whole && cells.iter().all(|cell| self.0.contains_key(&cell.key)))
    }

    /// Cells with their results.
    fn of<'a>(&self, cells: Vec<Cell<'a>>) -> Vec<Ran<'a>> {
        let with = |cell: Cell<'a>| {
            let result = self.0.get(&cell.key)?.clone();
            Some(Ran { cell, result })
        };
        cells.into_iter().filter_map(with).collect()
    }
}

/// The text of a file, or that which comes with the program.
fn text(file: Option<&Path>, otherwise: &str) -> Result<String> {
    match file {
        None => Ok(otherwise.to_owned()),
        Some(file) => {
            fs::read_to_string(file).with_context(|| format!("cannot read {}", PathBuf::from(file).display()))
        }
    }
}
