//! Tuning: a step size, and one more parameter where a method has one, for each method on each topology, by
//! successive halving; and what was found, compared on fresh samples.
//!
//! Every method gets the same number of candidates on each topology: a grid of steps × values for those with
//! a second parameter, a finer grid of steps for the others. All run a ninth of the iterations, the best
//! third of them a third, the best third of those all, whatever they found, so that each has the same number
//! of rounds; a decay or a warm-up is shortened with the run, so that a short run is a small picture of the
//! whole. The file's own setting stays in to the end: what is found is never worse on these samples. Tuning
//! draws samples of its own, so that what is reported later is not what was tuned on.

pub(crate) mod comparison;
mod settings;
mod trial;

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use oneway_experiment::Experiment;
use oneway_experiment::plan::Plan;
use oneway_experiment::problem::Problems;
use oneway_experiment::progress::Progress;
use oneway_experiment::results::cells::CellStore;
use oneway_experiment::results::folder::OutputFolder;
use oneway_experiment::runner::Runner;
use oneway_experiment::spec::RunSpec;
use toml::Table;

use crate::number::{counted, short};
use crate::terminal::{Cell, NOTHING, Style, Table as Lines, column};
use trial::{CANDIDATES, Trial};

/// What trials are scored by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Criterion {
    /// F(x̄)
    Loss,
    /// ‖∇F(x̄)‖²
    Gradient,
}

impl std::fmt::Display for Criterion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Criterion::Loss => "loss",
            Criterion::Gradient => "gradient",
        })
    }
}

/// A rung keeps one in this many, and runs this many times longer.
const KEEP: usize = 3;
const RUNGS: u32 = 3;

/// A topology (of one variant of a swept problem), and the experiment that it belongs to.
#[derive(Debug)]
struct Place {
    topology: String,
    /// The experiment without its sweep, as given.
    given: Table,
    /// The same with samples of tuning's own.
    apart: Table,
    run: RunSpec,
}

/// A search, and what it has found so far.
#[derive(Debug)]
pub(crate) struct Search<'e> {
    experiment: &'e Experiment,
    by: Criterion,
    iterations: u64,
    repetitions: u64,
    places: Vec<Place>,
    /// Those that are still in.
    trials: Vec<Trial>,
    /// All that were run, rung by rung.
    all: Vec<Trial>,
}

impl<'e> Search<'e> {
    /// All candidates for every method of an experiment on every topology, none run yet.
    pub(crate) fn new(experiment: &'e Experiment, by: Criterion) -> Result<Self> {
        let (mut places, mut trials) = (vec![], vec![]);
        for spec in &experiment.variants {
            let given = &spec.settings;
            let apart = settings::with_seeds_fixed(given.clone(), spec.run.seed)?;
            for topology in &spec.topologies {
                let (given, apart) = (given.clone(), apart.clone());
                places.push(Place { topology: topology.name.clone(), given, apart, run: spec.run });
                let methods = spec.methods_on(topology);
                trials.extend(methods.flat_map(|method| trial::candidates(&topology.name, method)));
            }
        }
        let run = experiment.variants.iter().map(|spec| spec.run);
        let iterations = run.clone().map(|run| run.iterations).max().unwrap_or(1);
        let repetitions = run.map(|run| run.repetitions).max().unwrap_or(1);
        Ok(Self { experiment, by, iterations, repetitions, places, trials, all: vec![] })
    }

    /// Rounds of the runs of a rung.
    fn rounds_of(&self, rung: u32) -> u64 {
        (self.iterations / (KEEP as u64).pow(RUNGS - 1 - rung)).max(1)
    }

    /// All rounds that there are to do: those of every rung, and of the comparison.
    pub(crate) fn rounds(&self) -> u64 {
        let of_place = |place: &Place| {
            let trials = self.trials.iter().filter(|trial| trial.topology == place.topology).count() as u64;
            let methods = trials / (CANDIDATES as u64 + 1);
            let of_rung =
                |rung: u32| (CANDIDATES as u64 / (KEEP as u64).pow(rung) + 1) * self.rounds_of(rung);
            let tuning: u64 = (0..RUNGS).map(of_rung).sum();
            methods * place.run.repetitions * (tuning + place.run.iterations)
        };
        self.places.iter().map(of_place).sum()
    }

    /// Runs all rungs; stops early, with what is finished kept in the store, when the user interrupts.
    pub(crate) fn run(&mut self, runner: &Runner, store: &CellStore, progress: &dyn Progress) -> Result<()> {
        for rung in 0..RUNGS {
            self.score(self.rounds_of(rung), runner, store, progress)?;
            if runner.is_interrupted() {
                break;
            }
            self.all.extend(self.trials.iter().cloned());
            let trials = std::mem::take(&mut self.trials);
            self.trials =
                if rung + 1 == RUNGS { trial::best(trials) } else { trial::survivors(trials, KEEP) };
        }
        Ok(())
    }

    /// Runs every remaining trial for `rounds` rounds and scores it.
    fn score(
        &mut self,
        rounds: u64,
        runner: &Runner,
        store: &CellStore,
        progress: &dyn Progress,
    ) -> Result<()> {
        let mut settings = vec![];
        for place in &self.places {
            let length = (rounds, self.iterations);
            settings.push(settings::of_trials(&place.apart, &place.topology, &self.trials, length)?);
        }
        let plans = self.plans(settings)?;
        let cells: Vec<_> = plans.iter().flat_map(Plan::cells).collect();
        let ran = runner.run_within(progress, &cells, store, false)?;
        let mut scores_of: HashMap<&str, Vec<Option<f64>>> = HashMap::new();
        for ran in &ran {
            let score = trial::score_of(&ran.result, self.by);
            scores_of.entry(&ran.cell.entry.method_name).or_default().push(score);
        }
        for (number, trial) in self.trials.iter_mut().enumerate() {
            let own = scores_of.remove(&*settings::name_of_trial(number)).unwrap_or_default();
            let scores: Option<Vec<f64>> = own.into_iter().collect();
            trial.iterations = rounds;
            trial.score = scores.map(|scores| scores.iter().sum::<f64>() / scores.len() as f64);
        }
        Ok(())
    }

    /// Writes `trials.json` and, for each topology, the experiment with the values found. Returns these and
    /// their topologies.
    pub(crate) fn write(&self, out: &OutputFolder) -> Result<Vec<(PathBuf, &str)>> {
        out.write("trials.json", serde_json::to_string_pretty(&self.all)? + "\n")?;
        let tuned = self.places.iter().zip(1..).map(|(place, number)| {
            let tuned = settings::tuned(&place.given, &place.topology, &self.trials)?;
            let tuned = toml::to_string(&settings::moved(tuned, &self.experiment.folder)?)?;
            Ok((out.write(&format!("tuned-{number}.toml"), tuned)?, &*place.topology))
        });
        tuned.collect()
    }

    /// The best of each method on each topology, with all that was run: what `trials.json` has.
    pub(crate) fn found(&self) -> serde_json::Value {
        serde_json::json!({ "best": self.trials, "trials": self.all })
    }

    /// The settings of the experiment on each topology with the values found.
    pub(crate) fn tuned(&self) -> Result<Vec<toml::Table>> {
        let tuned = |place: &Place| settings::tuned(&place.given, &place.topology, &self.trials);
        self.places.iter().map(tuned).collect()
    }

    /// What was found, as a table.
    pub(crate) fn table(&self) -> Lines {
        let mut lines = Lines::new([
            column("method"),
            column("step"),
            column("parameter"),
            column("score"),
            column("note").prose(),
        ]);
        for trial in &self.trials {
            let (note, style) = match trial {
                Trial { score: None, .. } => {
                    ("every candidate diverged, or ended worse than it began: left as it was", Style::Bad)
                }
                Trial { own: true, .. } => ("the file's own", Style::Plain),
                Trial { edge: true, .. } => ("at the edge of the grid: look further", Style::Open),
                _ => ("", Style::Plain),
            };
            lines.group(&trial.topology);
            lines.row([
                Cell::from(&*trial.method),
                short(trial.step).into(),
                trial.second_text().into(),
                trial.score.map_or(NOTHING.to_owned(), short).into(),
                Cell::new(note, style),
            ]);
        }
        lines
    }

    /// How it ended, in a line.
    pub(crate) fn summary(&self) -> String {
        let found = self.trials.iter().filter(|trial| trial.score.is_some()).count();
        let own = self.trials.iter().filter(|trial| trial.score.is_some() && trial.own).count();
        let ends = [
            (found - own, "better than in the file"),
            (own, "as good as tuning could find, and kept"),
            (self.trials.len() - found, "without a step that works"),
        ];
        let some = ends.iter().filter(|(count, _)| *count > 0).map(|(count, end)| format!("{count} {end}"));
        let tuned = counted(self.trials.len() as u64, "setting");
        format!("{tuned} tuned: {}", some.collect::<Vec<_>>().join("; "))
    }

    /// What each method was given, in a line.
    pub(crate) fn budget(&self) -> String {
        let rounds = match trial::rounds(self.all.clone()) {
            Some((fewest, most)) if fewest < most => format!("{fewest} to {most} rounds"),
            range => format!("{} rounds", range.map_or(0, |(rounds, _)| rounds)),
        };
        format!(
            "for each method on each topology: {CANDIDATES} candidates and the file's own setting, {rounds} in all, with {}; \
             score: mean {} over the last quarter of the run",
            counted(self.repetitions, "repetition"),
            self.by,
        )
    }

    /// The experiment on each topology with the values found, and the file's own samples.
    fn tuned_plans(&self) -> Result<Vec<Plan>> {
        self.plans(self.tuned()?)
    }

    /// A plan of each of these settings. Problems that several have are built once.
    fn plans(&self, settings: Vec<Table>) -> Result<Vec<Plan>> {
        let mut problems = Problems::default();
        let plan = |settings| Plan::sharing(&self.experiment.with_settings(settings)?, &mut problems);
        settings.into_iter().map(plan).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::progress::Bar;

    /// Two topologies, one of them with a centralised method's cell that is the other's too.
    #[test]
    fn one_bar_counts_every_round_of_all_rungs_and_of_the_comparison() {
        let text = "[problem]\nkind = \"quadratic\"\ndim = 2\n[run]\nagents = 3\niterations = 30\nrepetitions = 2\n\
                    [[topology]]\nkind = \"ring\"\n[[topology]]\nkind = \"star\"\n\
                    [[method]]\nkind = \"smtpp\"\nstep = 0.1\n[[method]]\nkind = \"csgdm\"\nstep = 0.1\n";
        let experiment = Experiment::parse(text, std::path::Path::new(""), &[]).unwrap();
        let mut search = Search::new(&experiment, Criterion::Loss).unwrap();
        let (runner, scratch) = (Runner::new(Some(1)).unwrap(), CellStore::scratch().unwrap());
        let bar = Bar::new(&[("tuning", 1)]);
        let progress = bar.part(0, search.rounds());
        let (none, all) = progress.done();
        assert_eq!(none, 0);
        search.run(&runner, &scratch.store(), &progress).unwrap();
        let (tuned, _) = progress.done();
        assert!(tuned > 0 && tuned < all);
        search.compare(&runner, &scratch.store(), &progress).unwrap();
        assert_eq!(progress.done(), (all, all), "the bar is full when all is done, and not before");
    }

    /// Candidates go side by side on a device, here a host with a compiler: the same trials and the same table.
    #[cfg(feature = "cuda")]
    #[test]
    fn a_device_finds_what_the_processors_find() {
        use oneway_cuda::{OnDevice, host::Host};
        let text = "[problem]\nkind = \"quadratic\"\ndim = 2\nnoise = 0.5\n[run]\nagents = 3\niterations = 60\n\
                    repetitions = 2\n[[topology]]\nkind = \"ring\"\n[[topology]]\nkind = \"star\"\n\
                    [[method]]\nkind = \"smtpp\"\nstep = 0.1\n[[method]]\nkind = \"frost\"\nstep = 0.1\n\
                    [[method]]\nkind = \"csgdm\"\nstep = { size = 0.1, decay = 0.5, every = 20 }\n";
        let experiment = Experiment::parse(text, std::path::Path::new(""), &[]).unwrap();
        let found = |runner: &Runner| {
            let mut search = Search::new(&experiment, Criterion::Loss).unwrap();
            let progress = oneway_experiment::progress::Silent;
            search.run(runner, &CellStore::none(), &progress).unwrap();
            let comparison = search.compare(runner, &CellStore::none(), &progress).unwrap();
            (search.found(), comparison.csv())
        };
        let here = found(&Runner::new(Some(2)).unwrap());
        let device = Runner::new(Some(2)).unwrap().on(Box::new(OnDevice(Host::new(1).unwrap())));
        assert_eq!(found(&device), here);
        assert!(device.stayed().is_empty(), "{:?}", device.stayed());
    }
}
