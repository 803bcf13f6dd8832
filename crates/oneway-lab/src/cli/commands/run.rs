//! `oneway run`: an experiment file → a results folder and a table.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use oneway_experiment::Experiment;
use oneway_experiment::arrivals;
use oneway_experiment::live::{self, Live};
use oneway_experiment::plan::Plan;
use oneway_experiment::problem::Problems;
use oneway_experiment::results::cells::CellStore;
use oneway_experiment::results::folder::OutputFolder;
use oneway_experiment::results::manifest::Purpose;
use oneway_experiment::results::save;
use oneway_experiment::shard::Shard;

use super::{default_folder, device, report, rounds};
use crate::cli::args::RunArgs;
use crate::cli::commands::table;
use crate::cli::progress::Bar;
use crate::terminal::{Screen, warn};
use crate::watch::{Folders, Watching, places};

/// Runs the command.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let started = Instant::now();
    let mut problems = Problems::default();
    let experiment = Experiment::read(&args.file, &args.overrides)?;
    let plan = Plan::sharing(&experiment, &mut problems).with_context(|| args.file.display().to_string())?;
    let inner = args.shard.map(Shard::folder).unwrap_or_default();
    let out = args.out.clone().map_or_else(|| default_folder(&args.file, &inner), Ok)?;
    let mut runner = super::runner_on(args.device, args.threads)?;
    runner = runner.keeping_every(Duration::from_secs_f64(args.checkpoint_every));
    let watching = args.watch.then(|| Watching::listen(args.port, usual_port(&out))).transpose()?;
    let folder = OutputFolder::prepare(&out)?;

    let cells = match args.shard {
        Some(shard) => shard.of(plan.cells()),
        None => plan.cells(),
    };
    if args.live || args.watch {
        let places = places(&experiment.variants, &plan.entries);
        runner = runner.showing_live(Live::begin(folder.path(), &cells, &places)?);
    } else {
        live::clear(folder.path())?;
    }
    if let Some(watching) = &watching {
        watching.show(Folders::open(std::slice::from_ref(&out))?)?;
        // the next run into this folder is shown at the same place, where the page is still open
        let _ = std::fs::write(out.join(live::FOLDER).join(live::PORT), watching.server().port().to_string());
        warn(&format!("this run is shown at {}", watching.server().address()));
    }
    let store = CellStore::new(folder.path());
    let bar = Bar::new(&[("running", 9), ("drawing", 1)]);
    let ran = runner.run_within(&bar.part(0, rounds(&cells)), &cells, &store, args.fresh)?;
    bar.part(1, 0);
    let mut written = save(&folder, &plan, Purpose::Figures, &ran)?;
    if args.log_arrivals {
        match arrivals::write(&folder, &ran)? {
            Some(logs) => written.push(logs),
            None => bar.aside(|| warn("no method is asynchronous, so there are no arrivals to log")),
        }
    }
    if !args.no_report && args.shard.is_none() {
        written.push(runner.install(|| report::write(folder.path(), false, &mut problems))?);
    }
    drop(bar);
    device::say_what_stayed(&runner);
    if runner.is_interrupted() {
        let complete = ran.iter().filter(|ran| ran.result.end.status.is_final()).count();
        let of = cells.len();
        warn(&format!("interrupted; {complete} of {of} cells are complete, and kept for the next run"));
    }
    let mut screen = Screen::stdout();
    table::show(&mut screen, &plan.entries, &ran);
    table::starved(&plan.entries, &ran).iter().for_each(|line| screen.text(line));
    table::diverged(&ran).iter().for_each(|line| screen.text(line));
    written.iter().for_each(|path| screen.file(path));
    let ended = table::ended(&ran, cells.len());
    screen.summary(&format!("{ended}; {:.1} s", started.elapsed().as_secs_f64()));
    screen.show()?;
    runner.end_live();
    if let Some(watching) = watching.filter(|_| !runner.is_interrupted()) {
        warn(&format!("done; it is still shown at {} until Ctrl-C", watching.server().address()));
        while !runner.is_interrupted() {
            std::thread::sleep(Duration::from_millis(50));
        }
        return Ok(ExitCode::SUCCESS);
    }
    Ok(if runner.is_interrupted() { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

/// The port at which a run was last shown in this folder.
fn usual_port(out: &Path) -> Option<u16> {
    std::fs::read_to_string(out.join(live::FOLDER).join(live::PORT)).ok()?.trim().parse().ok()
}
