//! A problem on a device: its data, and the text of its gradients.

use oneway::data::SparseRows;
use oneway::problem::{Description, Penalty, Problem, RowLoss, RowSum};

use crate::device::{Program, put};
use crate::error::{Error, Result};

const QUADRATIC: &str = include_str!("../kernels/quadratic.cu");
const ROWS: &str = include_str!("../kernels/rows.cu");
pub(crate) const FOREIGN: &str = include_str!("../kernels/foreign.cu");
const LAYERS: &str = include_str!("../kernels/layers.cu");

/// How the loss of a row looks to kernels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Which one it is.
    number: usize,
    /// Columns of the data.
    pub(crate) features: usize,
    /// Coordinates of each column, which are as many products with a row.
    outputs: usize,
    classes: usize,
    /// Numbers that are made of a row.
    pub(crate) slopes: usize,
    /// c², where it has a scale.
    pub(crate) scale_sq: f64,
}

impl Shape {
    /// In this dimension.
    pub(crate) fn new(loss: RowLoss, dim: usize) -> Self {
        let one = Self { number: 0, features: dim, outputs: 1, classes: 0, slopes: 1, scale_sq: 1.0 };
        match loss {
            RowLoss::Logistic => one,
            RowLoss::Square => Self { number: 1, ..one },
            RowLoss::Cauchy { scale_sq } => Self { number: 2, scale_sq, ..one },
            RowLoss::Softmax { classes } => {
                let features = dim / classes;
                Self { number: 3, features, outputs: classes, classes, slopes: classes, ..one }
            }
            RowLoss::Welsch { scale_sq } => Self { number: 4, scale_sq, ..one },
            RowLoss::TwoLayer { hidden, classes } => {
                let features = (dim - (hidden + 1) * classes) / hidden;
                Self { number: 5, features, outputs: hidden, classes, slopes: 2 * hidden + classes, ..one }
            }
        }
    }

    /// The text that its kernels begin with; whether the penalty is not convex too.
    pub(crate) fn text(self, penalty: Penalty) -> String {
        let penalty = usize::from(matches!(penalty, Penalty::NonConvex(_)));
        let Self { number, features, outputs, classes, slopes, .. } = self;
        let defines = [
            ("LOSS", number),
            ("FEATURES", features),
            ("OUTPUTS", outputs),
            ("CLASSES", classes),
            ("SLOPES", slopes),
            ("PENALTY", penalty),
        ];
        let defines = defines.iter().map(|(name, value)| format!("#define {name} {value}\n"));
        defines.collect::<String>() + LAYERS
    }
}

/// The text of a problem's gradients.
pub(crate) fn text(problem: &dyn Problem) -> Result<String> {
    let Some(description) = problem.describe() else {
        let why = "its gradients are made by a program that runs on the CPU, or by functions of a library";
        return Err(Error::Unsupported(format!("the problem has no kernels: {why}")));
    };
    Ok(match description {
        Description::Quadratic { .. } => QUADRATIC.to_owned(),
        Description::Rows(RowSum { loss, penalty, batch, reshuffled, .. }) => {
            let drawn = [("ALL", batch.is_none()), ("PASSES", reshuffled)];
            let drawn = drawn.map(|(name, value)| format!("#define {name} {}\n", usize::from(value)));
            Shape::new(loss, problem.dim()).text(penalty) + &drawn.concat() + ROWS
        }
    })
}

/// Numbers that an agent draws for a gradient.
pub(crate) fn drawn_a_call(problem: &dyn Problem) -> u64 {
    match problem.describe() {
        Some(Description::Quadratic { noise, .. }) if noise > 0.0 => problem.dim() as u64,
        Some(Description::Rows(RowSum { batch: Some(batch), .. })) => batch as u64,
        _ => 0,
    }
}

/// Room for what a run makes of a problem on its way to gradients: the words of its structure, completed.
pub(crate) fn put_scratch(
    program: &mut dyn Program,
    problem: &dyn Problem,
    mut data: Vec<u64>,
) -> Result<Vec<u64>> {
    if let Some(Description::Rows(RowSum { rows_per_agent, batch, loss, .. })) = problem.describe() {
        let rows = problem.agents() * batch.unwrap_or(rows_per_agent);
        let slopes = rows * Shape::new(loss, problem.dim()).slopes * size_of::<f64>();
        for (word, bytes) in [(DRAWN, rows * size_of::<u32>()), (SLOPES, slopes)] {
            let room = program.allocate(bytes)?;
            data[word] = program.address(room);
        }
    }
    Ok(data)
}

/// Where in the structure the rows of a batch and their slopes are.
const DRAWN: usize = 8;
const SLOPES: usize = 9;

/// Copies a problem's data, which all runs share; returns the words of its structure.
pub(crate) fn put_problem(program: &mut dyn Program, problem: &dyn Problem) -> Result<Vec<u64>> {
    match problem.describe() {
        Some(Description::Quadratic { curvature, centres, noise }) => {
            Ok(vec![put(program, curvature)?, put(program, centres)?, noise.to_bits()])
        }
        Some(Description::Rows(sum)) => put_rows(program, problem, sum),
        None => Ok(vec![0]), // where they are made is not known before
    }
}

fn put_rows(program: &mut dyn Program, problem: &dyn Problem, sum: RowSum<'_>) -> Result<Vec<u64>> {
    let RowSum { rows, targets, rows_per_agent, batch, loss, penalty, .. } = sum;
    let (n, shape) = (problem.agents(), Shape::new(loss, problem.dim()));
    let entries = Entries::of(rows);
    let all_targets: Vec<f64> = (0..rows.len()).map(|r| targets.at(r)).collect();
    let size = batch.unwrap_or(rows_per_agent);
    let penalty = match penalty {
        Penalty::Ridge(α) => α,
        Penalty::NonConvex(α) => 2.0 * α,
    };
    let by_column = match batch {
        Some(_) => ByColumn::default(),
        None => ByColumn::new(&entries, (n, shape.features, rows_per_agent)),
    };
    let [offsets, columns, values] = entries.put(program)?;
    Ok(vec![
        rows_per_agent as u64,
        size as u64,
        offsets,
        columns,
        values,
        put(program, &all_targets)?,
        penalty.to_bits(),
        shape.scale_sq.to_bits(),
        0, // the two of each run
        0,
        put(program, &by_column.offsets)?,
        put(program, &by_column.rows)?,
        put(program, &by_column.values)?,
        longest(rows) as u64,
    ])
}

/// Rows, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    pub(crate) offsets: Vec<u32>,
    pub(crate) columns: Vec<u32>,
    /// None where all are one.
    pub(crate) values: Vec<f64>,
}

impl Entries {
    pub(crate) fn of(rows: &SparseRows) -> Self {
        let mut entries =
            Self { offsets: vec![0], columns: Vec::with_capacity(rows.entries()), ..Self::default() };
        for r in 0..rows.len() {
            for (column, value) in rows.row(r) {
                entries.columns.push(column);
                if !rows.is_binary() {
                    entries.values.push(value);
                }
            }
            entries.offsets.push(entries.columns.len() as u32); // sparse rows have fewer than 2³² entries
        }
        entries
    }

    pub(crate) fn put(&self, program: &mut dyn Program) -> Result<[u64; 3]> {
        Ok([put(program, &self.offsets)?, put(program, &self.columns)?, put(program, &self.values)?])
    }
}

/// How many entries the longest row has; 0 where a row has more than a byte can count, or a column twice.
pub(crate) fn longest(rows: &SparseRows) -> usize {
    let mut longest = 0;
    for r in 0..rows.len() {
        let (mut count, mut last) = (0, None);
        for (column, _) in rows.row(r) {
            if count == 255 || last == Some(column) {
                return 0; // columns ascend
            }
            (count, last) = (count + 1, Some(column));
        }
        longest = longest.max(count);
    }
    longest
}

/// The entries of each agent's rows by column, rows ascending: where all rows are summed, each coordinate
/// finds its own.
#[derive(Debug, Default)]
struct ByColumn {
    offsets: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl ByColumn {
    fn new(entries: &Entries, (n, width, m): (usize, usize, usize)) -> Self {
        let Entries { offsets, columns, values } = entries;
        let mut found = Self { offsets: vec![0], ..Self::default() };
        let mut of_agent: Vec<Vec<(u32, Option<f64>)>> = vec![vec![]; width];
        for agent in 0..n {
            for at in 0..m {
                let r = agent * m + at;
                for entry in offsets[r] as usize..offsets[r + 1] as usize {
                    of_agent[columns[entry] as usize].push((at as u32, values.get(entry).copied()));
                }
            }
            for column in &mut of_agent {
                for (row, value) in column.drain(..) {
                    found.rows.push(row);
                    found.values.extend(value);
                }
                found.offsets.push(found.rows.len() as u32);
            }
        }
        found
    }
}
