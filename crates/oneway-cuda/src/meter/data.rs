//! A problem's data as they are measured: all rows, and held-out rows.

use oneway::problem::{Description, Penalty, Problem, RowLoss, RowSum};

use crate::device::{Program, put};
use crate::error::{Error, Result};
use crate::problem::{Entries, Shape};

const LOGARITHMS: &str = include_str!("../../kernels/meter/logarithms.cu");
const QUADRATIC: &str = include_str!("../../kernels/meter/quadratic.cu");
const ROWS: &str = include_str!("../../kernels/meter/rows.cu");

/// `CHUNK` and `POINTS` of the kernels.
const CHUNK: usize = 64;
pub(super) const POINTS: usize = 32;

/// What of a problem measuring is compiled for.
pub(super) struct Measured {
    pub(super) text: String,
    /// Threads of a block that evaluates.
    pub(super) threads: u32,
    /// Bytes that these threads share.
    pub(super) room: usize,
    /// Held-out rows of which the share is counted that is classified rightly.
    pub(super) tests: Option<usize>,
}

/// The text that evaluates a problem.
pub(super) fn measured(problem: &dyn Problem) -> Result<Measured> {
    match problem.describe() {
        None => Err(Error::Unsupported("the problem has no kernels".to_owned())),
        Some(Description::Quadratic { .. }) => {
            Ok(Measured { text: QUADRATIC.to_owned(), threads: 32, room: 0, tests: None })
        }
        Some(Description::Rows(RowSum { loss, penalty, test, .. })) => {
            let classifies = match loss {
                RowLoss::Logistic | RowLoss::Softmax { .. } | RowLoss::TwoLayer { .. } => true,
                RowLoss::Square | RowLoss::Cauchy { .. } | RowLoss::Welsch { .. } => false,
            };
            let shape = Shape::new(loss, problem.dim());
            // as ROOM in `kernels/meter/rows.cu`
            let room = (2 * problem.dim() + CHUNK * (shape.slopes + 2) + 2) * POINTS * size_of::<f64>();
            let tests = test.filter(|_| classifies).map(|test| test.rows.len());
            Ok(Measured {
                text: [&shape.text(penalty), LOGARITHMS, ROWS].join("\n"),
                threads: 256,
                room,
                tests,
            })
        }
    }
}

/// Copies a problem's data; returns the words of the structure `Data`.
pub(super) fn put_data(program: &mut dyn Program, problem: &dyn Problem) -> Result<Vec<u64>> {
    let (rows, targets, m, loss, penalty, test) = match problem.describe() {
        None => return Ok(vec![]),
        Some(Description::Quadratic { curvature, centres, .. }) => {
            return Ok(vec![put(program, curvature)?, put(program, centres)?]);
        }
        Some(Description::Rows(RowSum { rows, targets, rows_per_agent, loss, penalty, test, .. })) => {
            (rows, targets, rows_per_agent, loss, penalty, test)
        }
    };
    let shape = Shape::new(loss, problem.dim());
    let (Penalty::Ridge(α) | Penalty::NonConvex(α)) = penalty;
    let all = Entries::of(rows);
    let targets: Vec<f64> = (0..rows.len()).map(|r| targets.at(r)).collect();
    let chunks = Chunks::new(&all, (problem.agents(), m, shape.features));
    let tests = test.map(|test| (Entries::of(test.rows), test.targets)).unwrap_or_default();
    Ok([
        &[m as u64][..],
        &all.put(program)?,
        &[put(program, &targets)?, α.to_bits(), shape.scale_sq.to_bits()],
        &[put(program, &chunks.offsets)?, put(program, &chunks.rows)?, put(program, &chunks.values)?],
        &[put(program, &chunks.order)?, tests.1.len() as u64],
        &tests.0.put(program)?,
        &[put(program, tests.1)?],
    ]
    .concat())
}

/// The entries of a few rows of an agent at a time, by column, rows ascending.
#[derive(Debug, Default)]
struct Chunks {
    /// Where each column's entries begin, and where the last's end: for each chunk of each agent.
    offsets: Vec<u32>,
    /// The row within its chunk.
    rows: Vec<u8>,
    values: Vec<f64>,
    /// Of each agent, columns by falling number of entries.
    order: Vec<u32>,
}

impl Chunks {
    fn new(all: &Entries, (agents, m, width): (usize, usize, usize)) -> Self {
        let mut chunks = Self::default();
        let mut places = vec![0usize; width];
        for agent in 0..agents {
            let mut counts = vec![0usize; width];
            for begin in (0..m).step_by(CHUNK) {
                let row_entries = |row: usize| {
                    let r = agent * m + row;
                    all.offsets[r] as usize..all.offsets[r + 1] as usize
                };
                let rows = begin..m.min(begin + CHUNK);
                places.fill(0);
                for entry in rows.clone().flat_map(row_entries) {
                    places[all.columns[entry] as usize] += 1;
                }
                let mut next = chunks.rows.len();
                for (place, count) in places.iter_mut().zip(&mut counts) {
                    chunks.offsets.push(next as u32);
                    *count += *place;
                    next += std::mem::replace(place, next); // from how many to where they begin
                }
                chunks.offsets.push(next as u32);
                chunks.rows.resize(next, 0);
                chunks.values.resize(if all.values.is_empty() { 0 } else { next }, 0.0);
                for row in rows {
                    for entry in row_entries(row) {
                        let place = &mut places[all.columns[entry] as usize];
                        chunks.rows[*place] = (row - begin) as u8;
                        if let (Some(to), Some(value)) =
                            (chunks.values.get_mut(*place), all.values.get(entry))
                        {
                            *to = *value;
                        }
                        *place += 1;
                    }
                }
            }
            let mut order: Vec<u32> = (0..width as u32).collect();
            order.sort_by_key(|column| std::cmp::Reverse(counts[*column as usize]));
            chunks.order.extend(order);
        }
        chunks
    }
}
