//! What tuning found, compared on samples that it has not seen.

use anyhow::Result;
use oneway_experiment::plan::Entry;
use oneway_experiment::problem_facts;
use oneway_experiment::progress::Progress;
use oneway_experiment::results::cells::CellStore;
use oneway_experiment::results::cells::Ran;
use oneway_experiment::results::repetitions;
use oneway_experiment::runner::Runner;

use super::trial::{self, Trial};
use super::{Criterion, Search};
use crate::draw::figure::gallery::{Art, Picture};
use crate::draw::figure::heat::{self, HeatMap};
use crate::draw::figure::render::Theme;
use crate::number::short_with_error;
use crate::terminal::{NOTHING, Screen, Table as Lines, column};

/// Tuned methods on all topologies, run with the file's own seeds.
#[derive(Debug)]
pub(crate) struct Comparison {
    topologies: Vec<String>,
    methods: Vec<String>,
    /// A row for each method, a result for each topology; none where the method leaves it out.
    results: Vec<Vec<Option<Score>>>,
    /// F* of each topology's problem, where scores are losses; none where they are gradients, which are
    /// smallest at 0.
    lowest: Option<Vec<f64>>,
}

/// One tuned method on one topology.
#[derive(Debug, Clone, Default)]
struct Score {
    step: f64,
    second: String,
    /// Whether the setting lies at the edge of the grid.
    edge: bool,
    /// A score for each repetition; empty if one diverged.
    scores: Vec<f64>,
}

impl Score {
    fn mean(&self) -> Option<f64> {
        repetitions::mean(&self.scores)
    }

    /// Standard error of the mean.
    fn error(&self) -> Option<f64> {
        repetitions::standard_error(&self.scores)
    }
}

impl Search<'_> {
    /// Runs what was found with the file's own samples.
    pub(crate) fn compare(
        &self,
        runner: &Runner,
        store: &CellStore,
        progress: &dyn Progress,
    ) -> Result<Comparison> {
        let plans = self.tuned_plans()?;
        let cells: Vec<_> = plans.iter().flat_map(super::Plan::cells).collect();
        let ran = runner.run_within(progress, &cells, store, false)?;
        let topologies: Vec<String> = self.places.iter().map(|place| place.topology.clone()).collect();
        let mut methods: Vec<String> = vec![];
        for trial in &self.trials {
            if !methods.contains(&trial.method) {
                methods.push(trial.method.clone());
            }
        }
        let result = |method: &str, topology: &str| {
            let trial = self.trials.iter().find(|t| t.method == method && t.topology == topology)?;
            let own = ran.iter().filter(|ran| {
                ran.cell.entry.method_name == method && ran.cell.entry.topology_name == topology
            });
            let scores: Option<Vec<f64>> = own.map(|ran| trial::score_of(&ran.result, self.by)).collect();
            let Trial { step, edge, .. } = *trial;
            Some(Score { step, second: trial.second_text(), edge, scores: scores.unwrap_or_default() })
        };
        let results = methods
            .iter()
            .map(|method| topologies.iter().map(|topology| result(method, topology)).collect())
            .collect();
        let lowest = (self.by == Criterion::Loss).then(|| {
            let places = plans.iter().map(|plan| plan.entries.first());
            places.map(|entry| entry.map_or(f64::NAN, |entry| lowest_loss(entry, &ran))).collect()
        });
        Ok(Comparison { topologies, methods, results, lowest })
    }
}

/// F* of an entry's problem: the lowest loss that exact gradients find, or a run met, should one have come
/// lower.
fn lowest_loss(entry: &Entry, ran: &[Ran<'_>]) -> f64 {
    let same = ran.iter().filter(|ran| ran.cell.entry.problem.sha256 == entry.problem.sha256);
    let met = same.flat_map(|ran| ran.result.points.iter()).map(|point| point.loss);
    met.fold(problem_facts::lowest(&*entry.problem.problem).loss, f64::min)
}

impl Comparison {
    /// How far a mean is above the least that it could be: F − F*, or ‖∇F‖² itself. Losses are told apart
    /// down to rounding.
    fn excess(&self, column: usize, score: &Score) -> Option<f64> {
        /// Relative to F*: below this, differences of losses are rounding.
        const RESOLUTION: f64 = 1e-14;
        let mean = score.mean()?;
        let above = |lowest: f64| (mean - lowest).max(RESOLUTION * lowest.abs()).max(f64::MIN_POSITIVE);
        Some(self.lowest.as_ref().map_or(mean, |lowest| above(lowest[column])))
    }

    /// Ratios to the best of each topology, of what is above the least possible.
    fn ratios(&self) -> Vec<Vec<Option<f64>>> {
        let excess = |row: &[Option<Score>]| -> Vec<Option<f64>> {
            row.iter().enumerate().map(|(column, score)| self.excess(column, score.as_ref()?)).collect()
        };
        let rows: Vec<Vec<Option<f64>>> = self.results.iter().map(|row| excess(row)).collect();
        let best = |column: usize| rows.iter().filter_map(|row| row[column]).reduce(f64::min);
        let best: Vec<Option<f64>> = (0..self.topologies.len()).map(best).collect();
        let ratio = |(excess, best): (&Option<f64>, &Option<f64>)| Some((*excess)? / (*best)?);
        rows.iter().map(|row| row.iter().zip(&best).map(ratio).collect()).collect()
    }

    /// `topology,method,step,parameter,edge,mean,standard_error,repetitions,excess`, cells without a number
    /// empty.
    pub(crate) fn csv(&self) -> String {
        let mut text =
            "topology,method,step,parameter,edge,mean,standard_error,repetitions,excess\n".to_owned();
        for (column, topology) in self.topologies.iter().enumerate() {
            for (method, row) in self.methods.iter().zip(&self.results) {
                let Some(score) = &row[column] else { continue };
                let [mean, error, excess] = [score.mean(), score.error(), self.excess(column, score)]
                    .map(|value| value.map_or(String::new(), |value| format!("{value:?}")));
                let Score { step, second, edge, scores } = score;
                let repetitions = scores.len();
                text += &format!(
                    "{topology},{method},{step:?},{second},{edge},{mean},{error},{repetitions},{excess}\n"
                );
            }
        }
        text
    }

    /// Means with their standard errors, a few topologies at a time; the best of each topology marked, and
    /// with it all within two standard errors.
    pub(crate) fn show(&self, screen: &mut Screen) {
        /// More are hard to read side by side.
        const SIDE_BY_SIDE: usize = 4;
        let columns: Vec<usize> = (0..self.topologies.len()).collect();
        columns.chunks(SIDE_BY_SIDE).for_each(|columns| screen.table(&self.part(columns)));
        let settings = || self.results.iter().flatten().flatten();
        let (of, edge) = (settings().count(), settings().filter(|score| score.edge).count());
        screen.text(
            "* the lowest mean ± standard error of its column, and all within two standard errors of it; – no step was found \
             with which every repetition ends better than it began",
        );
        if edge > 0 {
            screen.text(&format!(
                "{edge} of {of} settings lie at the edge of the grid: better ones may lie beyond it"
            ));
        }
    }

    fn part(&self, columns: &[usize]) -> Lines {
        let names = columns.iter().map(|&at| column(self.short_name(at)));
        let mut lines = Lines::new(std::iter::once(column("tuned")).chain(names));
        let best = |column: usize| {
            let known = self.results.iter().filter_map(|row| row[column].as_ref());
            let known = known.filter_map(|score| Some((score.mean()?, score.error().unwrap_or(0.0))));
            known.min_by(|a, b| a.0.total_cmp(&b.0))
        };
        for (method, row) in self.methods.iter().zip(&self.results) {
            let mean = |column: usize| row[column].as_ref().and_then(Score::mean);
            let cells = columns.iter().map(|&column| match (mean(column), best(column)) {
                (Some(mean), Some((least, error))) => {
                    let own = row[column].as_ref().and_then(Score::error);
                    let best = mean - least <= 2.0 * own.unwrap_or(0.0).hypot(error);
                    format!("{}{}", short_with_error(mean, own), if best { " *" } else { "" })
                }
                _ => NOTHING.to_owned(),
            });
            lines.row(std::iter::once(method.clone()).chain(cells));
        }
        lines
    }

    /// A topology's name with the values that were swept and without their keys: `ring, even`.
    fn short_name(&self, column: usize) -> String {
        let name = &self.topologies[column];
        let Some((plain, swept)) = name.strip_suffix(']').and_then(|name| name.split_once(" [")) else {
            return name.clone();
        };
        let values = swept
            .split("] [")
            .flat_map(|part| part.split("; "))
            .map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
        std::iter::once(plain).chain(values).collect::<Vec<_>>().join(", ")
    }

    /// How many times the best method's score each method has; of losses, how many times its distance from
    /// F*.
    pub(crate) fn picture(&self) -> Picture {
        let values = self.ratios();
        let scale = heat::Scale::new(values.iter().flatten().flatten().copied());
        let map = HeatMap {
            title: match self.lowest {
                Some(_) => "Tuned methods: F − F* over the best of the column".to_owned(),
                None => "Tuned methods: ‖∇F‖² over the best of the column".to_owned(),
            },
            x_label: "topology".to_owned(),
            columns: (0..self.topologies.len()).map(|column| self.short_name(column)).collect(),
            y_label: "method".to_owned(),
            rows: self.methods.clone(),
            values,
            scale,
        };
        let [light, css] = [Theme::Light, Theme::Css].map(|theme| heat::svg(&map, theme));
        Picture {
            file: "comparison".to_owned(),
            topology: String::new(),
            caption: map.title,
            art: Art::Drawing { light, css },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(means: &[f64], lowest: Option<f64>) -> Comparison {
        let score = |&mean: &f64| vec![Some(Score { scores: vec![mean], ..Score::default() })];
        Comparison {
            topologies: vec!["ring".to_owned()],
            methods: means.iter().map(f64::to_string).collect(),
            results: means.iter().map(score).collect(),
            lowest: lowest.map(|lowest| vec![lowest]),
        }
    }

    #[test]
    fn losses_are_compared_by_what_is_above_the_lowest() {
        let ratios = |means: &[f64], lowest| -> Vec<f64> {
            comparison(means, lowest).ratios().into_iter().map(|row| row[0].unwrap()).collect()
        };
        assert_eq!(ratios(&[0.5, 0.75, 1.5], Some(0.25)), [1.0, 2.0, 5.0]);
        assert_eq!(ratios(&[0.5, 0.75, 1.5], None), [1.0, 1.5, 3.0], "gradients are smallest at 0");
        // both at F* except for rounding, and even on the wrong side of it
        assert_eq!(ratios(&[0.25, 0.25 - 1e-17], Some(0.25)), [1.0, 1.0]);
        assert_eq!(ratios(&[0.0, 0.0], Some(0.0)), [1.0, 1.0]);
    }
}
