//! Tables of where methods ended: means, standard errors, the best, and what differs from it.

use anyhow::{Result, bail};
use oneway_experiment::results::repetitions::{mean, standard_error};

use super::ends::{End, Parameter, at_the_end, ends, unique};
use super::question::{measured, paragraph};
use super::significance::{LEVEL, holm, welch};
use super::sources::{Found, Sources};
use crate::draw::figure::quantity::Quantity;
use crate::number::{counted, number, with_error};

/// What is asked of a table.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) quantity: Quantity,
    /// Recorded states whose mean is where a run ended.
    pub(crate) last: usize,
    /// The setting whose values are the columns; none for topologies.
    pub(crate) against: Option<&'a str>,
}

/// Methods by columns.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) quantity: Quantity,
    /// The topology, where columns are values of a setting: the best is then that of a row, else of a column.
    pub(crate) topology: Option<String>,
    /// What the columns are: `topology`, or a setting.
    pub(crate) across: String,
    pub(crate) columns: Vec<String>,
    /// The methods.
    pub(crate) rows: Vec<String>,
    /// A row for each method; none where it was not run.
    pub(crate) cells: Vec<Vec<Option<Cell>>>,
    /// What the numbers are. How the best and what differs are marked is for the format to say.
    pub(crate) caption: String,
    /// Whether anything could be tested.
    pub(crate) tested: bool,
}

/// Where a method ended.
#[derive(Debug)]
pub(crate) struct Cell {
    /// The mean; none if no repetition came to its end.
    pub(crate) mean: Option<f64>,
    pub(crate) error: Option<f64>,
    /// Repetitions that came to their end.
    pub(crate) runs: usize,
    pub(crate) best: bool,
    /// The corrected p-value of its difference from the best.
    pub(crate) p: Option<f64>,
}

impl Cell {
    /// Whether it differs from the best beyond noise.
    pub(crate) fn differs(&self) -> bool {
        self.p.is_some_and(|p| p < LEVEL)
    }

    /// The mean and its error, as everywhere.
    pub(crate) fn shown(&self) -> String {
        match (self.mean, self.error) {
            (None, _) => "–".to_owned(),
            (Some(mean), Some(error)) if error > 0.0 => with_error(mean, error),
            (Some(mean), _) => number(mean),
        }
    }
}

/// A table for each topology where columns are values of a setting, else one for all.
pub(crate) fn tables(sources: &Sources, found: &[Found<'_>], question: &Question<'_>) -> Result<Vec<Table>> {
    let curves: Vec<_> = found.iter().flat_map(|one| one.drawn().0).collect();
    let lacking = measured(question.quantity, &curves, &sources.shown())?;
    let parameter = question.against.map(|name| Parameter::named(name, found)).transpose()?;
    let all = ends(found, question.quantity, question.last, parameter.as_slice())?;
    let Some(parameter) = parameter else {
        let place = |end: &End| Some(end.topology.clone());
        return Ok(vec![table(
            &all.iter().collect::<Vec<_>>(),
            question,
            ("topology", None),
            place,
            lacking,
        )]);
    };
    let mut tables = vec![];
    for topology in unique(all.iter().map(|end| &*end.topology)) {
        let here: Vec<&End> =
            all.iter().filter(|end| end.topology == topology && end.at[0].is_some()).collect();
        if !here.is_empty() {
            let place = |end: &End| end.at[0].clone();
            tables.push(table(&here, question, (&parameter.label(), Some(topology)), place, lacking.clone()));
        }
    }
    if tables.is_empty() {
        bail!("none of what is chosen has a value of {}", question.against.unwrap_or_default());
    }
    Ok(tables)
}

fn table(
    ends: &[&End],
    question: &Question<'_>,
    (across, topology): (&str, Option<&str>),
    place: impl Fn(&End) -> Option<String>,
    lacking: Option<String>,
) -> Table {
    let rows = unique(ends.iter().map(|end| &*end.method));
    let mut columns: Vec<String> = vec![];
    for column in ends.iter().filter_map(|end| place(end)) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    let find = |row: &str, column: &String| {
        ends.iter()
            .find(|end| end.method == row && place(end).as_ref() == Some(column))
            .map(|end| &*end.values)
    };
    let best_high = question.quantity.is_better_high();
    // of topologies the best method is asked for, of the values of a setting the best value
    let cells: Vec<Vec<Option<Cell>>> = match topology {
        Some(_) => {
            let row = |row: &&str| {
                compared(&columns.iter().map(|column| find(row, column)).collect::<Vec<_>>(), best_high)
            };
            rows.iter().map(row).collect()
        }
        None => {
            let mut cells: Vec<Vec<Option<Cell>>> = rows.iter().map(|_| vec![]).collect();
            for column in &columns {
                let own: Vec<Option<&[f64]>> = rows.iter().map(|row| find(row, column)).collect();
                for (row, cell) in cells.iter_mut().zip(compared(&own, best_high)) {
                    row.push(cell);
                }
            }
            cells
        }
    };
    let most = ends.iter().map(|end| end.values.len()).max().unwrap_or(0);
    let few = ends.iter().filter(|end| end.values.len() < most);
    let few: Vec<String> =
        few.map(|end| format!("{} on {}: {}", end.method, end.topology, end.status)).collect();
    let tested = cells.iter().flatten().flatten().any(|cell| cell.p.is_some());
    let means = match most {
        0 | 1 => "One repetition, so there are no standard errors and nothing is tested.".to_owned(),
        many => format!("Means ± standard errors over {}.", counted(many as u64, "repetition")),
    };
    let on = topology.map_or(String::new(), |topology| format!(" on {topology}"));
    let quantity = question.quantity;
    let what = format!("{}, {}{on}, {}.", quantity.title(), quantity.label(), at_the_end(question.last));
    let others =
        (!few.is_empty()).then(|| format!("Fewer repetitions came to their end: {}.", few.join("; ")));
    Table {
        quantity,
        topology: topology.map(str::to_owned),
        across: across.to_owned(),
        rows: rows.into_iter().map(str::to_owned).collect(),
        columns,
        cells,
        caption: paragraph([what, means].into_iter().chain(others).chain(lacking)),
        tested,
    }
}

/// The cells of a column, or of a row: which is the best, and which differ from it.
fn compared(column: &[Option<&[f64]>], best_high: bool) -> Vec<Option<Cell>> {
    let means: Vec<Option<f64>> = column.iter().map(|values| mean((*values)?)).collect();
    let better = |a: f64, b: f64| if best_high { a > b } else { a < b };
    let best =
        means.iter().flatten().copied().reduce(|best, mean| if better(mean, best) { mean } else { best });
    let best_at = means.iter().position(|mean| mean.is_some() && *mean == best);
    let others = (0..column.len()).filter(|&row| Some(row) != best_at);
    let tested: Vec<(usize, f64)> =
        others.filter_map(|row| Some((row, welch(column[best_at?]?, column[row]?)?))).collect();
    let corrected = holm(&tested.iter().map(|(_, p)| *p).collect::<Vec<f64>>());
    let cell = |row: usize| {
        let values = column[row]?;
        let place = tested.iter().position(|(of, _)| *of == row);
        Some(Cell {
            mean: means[row],
            error: standard_error(values),
            runs: values.len(),
            best: means[row].is_some() && means[row] == best,
            p: place.map(|place| corrected[place]),
        })
    };
    (0..column.len()).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_a_column_is_the_lowest_or_the_highest() {
        let (low, same, high) = ([1.0, 1.1, 0.9], [1.05, 1.15, 0.95], [5.0, 5.1, 4.9]);
        let column = [Some(&high[..]), Some(&low), None, Some(&same), Some(&[])];
        let marks = |best_high: bool| -> Vec<Option<(bool, bool)>> {
            let cells = compared(&column, best_high);
            cells.iter().map(|cell| cell.as_ref().map(|cell| (cell.best, cell.differs()))).collect()
        };
        let (best, differs, neither) = (Some((true, false)), Some((false, true)), Some((false, false)));
        assert_eq!(marks(false), [differs, best, None, neither, neither]);
        assert_eq!(marks(true), [best, differs, None, differs, neither]);
        let cells = compared(&column, false);
        assert_eq!(cells[4].as_ref().unwrap().shown(), "–", "nothing came to its end");
        assert_eq!(cells[0].as_ref().unwrap().shown(), "5.000 ± 0.058");
        let one = compared(&[Some(&[1.0]), Some(&[2.0])], false);
        assert!(one.iter().flatten().all(|cell| cell.p.is_none() && cell.error.is_none()), "{one:?}");
    }
}
