//! `oneway reproduce`: the paper's two experiments, a verdict on every claim, figures and a page.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use oneway_experiment::Experiment;
use oneway_experiment::plan::{Cell, Plan};
use oneway_experiment::problem::Problems;
use oneway_experiment::results::cells::{CellResult, CellStore, Ran};
use oneway_experiment::results::curves::Curve;
use oneway_experiment::results::folder::OutputFolder;
use oneway_experiment::results::manifest::{Manifest, Purpose};
use oneway_experiment::results::{curves_of, save};
use oneway_experiment::runner::Runner;
use oneway_experiment::set;
use toml::Value;

use super::report::{self, CLAIMS};
use crate::cli::args::ReproduceArgs;
use crate::cli::commands::{rounds, table};
use crate::cli::progress::{Bar, Part as Progress};
use crate::studies::claims::{self, Experiments, OneStep, Studies};
use crate::studies::claims_map::Stored;
use crate::studies::sensitivity::Sensitivity;
use crate::terminal::{Screen, warn};

/// The graphs of the paper's two figures.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Graph {
    MultiSubRing,
    Exponential,
}

/// What a part of the reproduction runs.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    /// An experiment of the paper.
    Paper(Graph),
    /// The same with one step for all.
    OneStep(Graph, &'static str),
    /// The study of what the paper leaves open.
    Sensitivity,
}

impl Part {
    /// The experiment that it is made of, in the program itself, so that it works anywhere.
    fn text(self) -> &'static str {
        match self {
            Part::Paper(Graph::MultiSubRing) | Part::OneStep(Graph::MultiSubRing, _) => {
                include_str!("../../../experiments/paper/multi-sub-ring.toml")
            }
            Part::Paper(Graph::Exponential) | Part::OneStep(Graph::Exponential, _) => {
                include_str!("../../../experiments/paper/exponential.toml")
            }
            Part::Sensitivity => include_str!("../../../experiments/studies/sensitivity.toml"),
        }
    }

    /// The folder for its results.
    fn folder(self) -> String {
        match self {
            Part::Paper(Graph::MultiSubRing) => "multi-sub-ring".to_owned(),
            Part::Paper(Graph::Exponential) => "exponential".to_owned(),
            Part::OneStep(Graph::MultiSubRing, step) => format!("one-step-{step}"),
            Part::OneStep(Graph::Exponential, step) => format!("one-step-{step}-exponential"),
            Part::Sensitivity => "sensitivity".to_owned(),
        }
    }

    /// What its results are for.
    fn purpose(self) -> Purpose {
        match self {
            Part::Paper(_) => Purpose::Figures,
            Part::OneStep(..) => Purpose::Verdicts,
            Part::Sensitivity => Purpose::Sensitivity,
        }
    }

    /// What is to run: the experiment with changed settings, and with those of its methods that are needed.
    fn experiment(self, settings: &[String]) -> Result<Experiment> {
        let mut experiment: toml::Table = self.text().parse()?;
        let mut settings = settings.to_vec();
        if let (Part::OneStep(graph, step), Some(Value::Array(methods))) =
            (self, experiment.get_mut("method"))
        {
            if graph == Graph::Exponential {
                methods.retain(|method| GAP.contains(&set::name_of(method)));
            }
            let names = methods.iter().map(set::name_of);
            settings.extend(names.map(|name| format!("method.{name}.step.size={step}")));
        }
        Experiment::with(experiment, Path::new(""), &settings)
    }
}

/// What `--quick` changes: a look in a moment, with fewer samples and so with fewer verdicts.
const QUICK: [&str; 2] = ["run.repetitions=2", "run.record_every=50"];
/// The steps that all methods take in turn, so that no difference is the step's: the two that the paper uses.
const COMMON_STEPS: [&str; 2] = ["0.1", "0.2"];
/// All that the verdict on the exponential graph compares at common steps.
const GAP: [&str; 2] = ["STPP", "CSGDM"];

/// Runs the command. What it does is said at once, and each of the paper's experiments is shown with a figure as
/// soon as it is done.
pub(crate) fn reproduce(args: &ReproduceArgs) -> Result<ExitCode> {
    let started = Instant::now();
    let default = if args.quick { "out/reproduce-quick" } else { "out/reproduce" };
    let folder = OutputFolder::prepare(args.out.as_deref().unwrap_or(Path::new(default)))?;
    let mut screen = Screen::stdout();
    screen.text(&format!(
        "The two experiments of the SMTPP paper on the real a9a, then a verdict on each of its claims; all of it goes to {}",
        folder.path().display()
    ));
    screen.show()?;
    let bar = Bar::new(&[("running", 7), ("drawing", 3)]);
    let runner = super::runner_on(args.device, args.threads)?;
    let mut problems = Problems::default();
    let plans = plans(args, &mut problems)?;
    let cells: Vec<Vec<Cell<'_>>> = plans.iter().map(|(_, plan)| plan.cells()).collect();
    let problem = plans.first().and_then(|(_, plan)| plan.entries.first()).map(|entry| &entry.problem);
    let problem = problem.context("the embedded experiments run nothing")?;
    let figures = OutputFolder::prepare(&folder.path().join("figures"))?;
    let store = CellStore::new(folder.path());
    let progress = bar.part(0, cells.iter().map(|cells| rounds(cells)).sum());
    let mut runs = Runs { runner: &runner, store, fresh: args.fresh, progress, done: HashMap::new() };
    let mut curves: Vec<(Part, Vec<Curve>)> = vec![];
    let mut finish = |(part, plan): &(Part, Plan), own: &[Ran<'_>]| -> Result<()> {
        let results = OutputFolder::prepare(&folder.path().join(part.folder()))?;
        save(&results, plan, part.purpose(), own)?;
        let drawn = curves_of(own);
        match part.purpose() {
            Purpose::Sensitivity => screen.table(&Sensitivity::new(&drawn).table()),
            Purpose::Verdicts => {}
            Purpose::Figures => {
                table::show(&mut screen, &plan.entries, own);
                let figure = runner.install(|| report::first_figure(results.path(), &figures))?;
                if let Some(figure) = figure {
                    screen.text(&format!(
                        "its figure: {}  (after {:.1} s)",
                        figure.display(),
                        started.elapsed().as_secs_f64()
                    ));
                }
            }
        }
        bar.aside(|| screen.show())?;
        curves.push((*part, drawn));
        Ok(())
    };

    // the paper's experiments in turn, so that the first is there soon
    let is_of_paper = |plan: &&(Part, Plan)| matches!(plan.0, Part::Paper(_));
    let first = plans.iter().take_while(is_of_paper).count();
    for (plan, cells) in plans.iter().zip(&cells).take(first) {
        let ran = runs.run(cells)?;
        if runner.is_interrupted() {
            return Ok(interrupted(bar));
        }
        finish(plan, &ran)?;
    }
    // the rest side by side, so that no thread waits for the last of the one before the other begins
    let rest = cells[first..].concat();
    let (ran, studies) = runner.install(|| rayon::join(|| runs.run(&rest), Studies::run));
    let mut ran = ran?;
    if runner.is_interrupted() {
        return Ok(interrupted(bar));
    }
    for (plan, cells) in plans.iter().zip(&cells).skip(first) {
        let own: Vec<Ran<'_>> = ran.drain(..cells.len()).collect();
        finish(plan, &own)?;
    }
    super::device::say_what_stayed(&runner);
    bar.part(1, 0);
    if !args.sensitivity {
        remove_stale(&folder.path().join(Part::Sensitivity.folder()))?;
    }
    let of =
        |part: Part| curves.iter().find(|(known, _)| *known == part).map_or(&[][..], |(_, curves)| curves);
    let experiments = Experiments {
        multi_sub_ring: of(Part::Paper(Graph::MultiSubRing)),
        exponential: of(Part::Paper(Graph::Exponential)),
        one_step: COMMON_STEPS.map(|step| OneStep {
            step,
            multi_sub_ring: of(Part::OneStep(Graph::MultiSubRing, step)),
            exponential: of(Part::OneStep(Graph::Exponential, step)),
        }),
        optimum: problem.optimum().loss,
    };
    let claims = claims::judge(&experiments, &studies?);
    if runner.is_interrupted() {
        return Ok(interrupted(bar));
    }
    folder.write(CLAIMS, claims::to_json(&claims))?;
    let page = runner.install(|| report::write(folder.path(), false, &mut problems))?;
    if runner.is_interrupted() {
        return Ok(interrupted(bar));
    }
    drop(bar);
    let mut screen = Screen::stdout();
    let map = Stored::read();
    screen.table(&claims::lines(&claims, |id| map.as_ref()?.said_of(id)));
    match args.evidence {
        true => screen.table(&claims::table(&claims)),
        false => {
            screen.quiet("the conditions and the numbers: with --evidence, in claims.json and in the report");
        }
    }
    screen.summary(&claims::summary(&claims));
    screen.text(&format!(
        "{}  (figures as SVG, PNG and PDF beside it; {:.1} s)",
        page.display(),
        started.elapsed().as_secs_f64()
    ));
    screen.show()?;
    Ok(ExitCode::SUCCESS)
}

/// Runs cells in several goes, each once.
struct Runs<'r> {
    runner: &'r Runner,
    store: CellStore,
    fresh: bool,
    progress: Progress,
    /// What ran, by its key.
    done: HashMap<String, CellResult>,
}

impl Runs<'_> {
    fn run<'a>(&mut self, cells: &[Cell<'a>]) -> Result<Vec<Ran<'a>>> {
        let new: Vec<Cell<'a>> =
            cells.iter().filter(|cell| !self.done.contains_key(&cell.key)).cloned().collect();
        self.progress.advance(rounds(cells) - rounds(&new));
        let ran = self.runner.run_within(&self.progress, &new, &self.store, self.fresh)?;
        self.done.extend(ran.into_iter().map(|ran| (ran.cell.key, ran.result)));
        let known =
            |cell: &Cell<'a>| Some(Ran { cell: cell.clone(), result: self.done.get(&cell.key)?.clone() });
        Ok(cells.iter().filter_map(known).collect())
    }
}

fn interrupted(bar: Bar) -> ExitCode {
    drop(bar);
    warn("interrupted; what is finished is kept: the same command goes on from there");
    ExitCode::from(130)
}

/// All that is to run.
fn plans(args: &ReproduceArgs, problems: &mut Problems) -> Result<Vec<(Part, Plan)>> {
    const GRAPHS: [Graph; 2] = [Graph::MultiSubRing, Graph::Exponential];
    let quick: Vec<String> = if args.quick { QUICK.map(str::to_owned).to_vec() } else { vec![] };
    let mut parts = GRAPHS.map(Part::Paper).to_vec();
    parts.extend(COMMON_STEPS.iter().flat_map(|step| GRAPHS.map(|graph| Part::OneStep(graph, step))));
    parts.extend(args.sensitivity.then_some(Part::Sensitivity));
    let plan = |part: Part| {
        let planned = part.experiment(&quick).and_then(|experiment| Plan::sharing(&experiment, problems));
        Ok((part, planned.with_context(|| format!("the embedded experiment {}", part.folder()))?))
    };
    parts.into_iter().map(plan).collect()
}

/// Removes results that an earlier run wrote into the folder and this one did not, so that the page does not
/// show them.
fn remove_stale(part: &Path) -> Result<()> {
    if part.join(Manifest::FILE).exists() {
        std::fs::remove_dir_all(part).with_context(|| format!("cannot remove {}", part.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::claims_map::{Known, Question, READINGS, RULES};

    /// Nothing to decide here: the reading of `reproduce` is the map's first, cell by cell.
    #[test]
    fn the_paper_is_reproduced_in_the_reading_that_the_map_calls_its_words() {
        // on the same samples, recorded as often and nothing more
        let recorded = ["run.measure=[]".to_owned()];
        let readings = READINGS.replace("record_every = 20", "record_every = 10");
        let rules = RULES.replace("seed = 2020", "seed = 1");
        let question = Question::new(&readings, &rules, false).unwrap();
        let words = question.plans(0, &mut Known::default()).unwrap().remove(0);
        for graph in [Graph::MultiSubRing, Graph::Exponential] {
            let own = Part::Paper(graph);
            let plan = Plan::new(&own.experiment(&recorded).unwrap()).unwrap();
            let keys = |plan: &Plan, method: &str| {
                let cells = plan.cells();
                let named = |cell: &&Cell<'_>| {
                    cell.entry.method_name == method && cell.entry.topology_name == own.folder()
                };
                cells.iter().filter(named).map(|cell| cell.key.clone()).collect::<Vec<_>>()
            };
            for (here, there) in [
                ("SMTPP (trees)", "SMTPP"),
                ("STPP", "STPP"),
                ("SGP", "SGP"),
                ("Push-DIGing", "Push-DIGing"),
                ("CSGDM", "CSGDM"),
            ] {
                let (here, there) = (keys(&plan, here), keys(&words.plan, there));
                assert_eq!(here.len(), 5);
                assert_eq!(here, there, "{}", own.folder());
            }
        }
    }
}
