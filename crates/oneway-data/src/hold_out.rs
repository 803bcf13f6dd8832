//! Rows that are kept for testing.

use oneway::data::Dataset;
use oneway::numeric::sample::{Draws, Purpose};
use oneway::{Error, Result};

/// Draws a share of the rows, to be held out: the rows to learn from and those to test with, both in the order
/// that they had. Of N rows ⌊share·N + ½⌋ are held out, but one at least stays on either side. Rows with the
/// same labels and the same seed are split alike, whatever file they came from.
///
/// ```
/// let digits = oneway::data::digits::digits(oneway::data::Split::Train);
/// let (train, test) = oneway_data::hold_out(&digits, 0.2, 1)?;
/// assert_eq!((train.len(), test.len()), (1150, 287));
/// # Ok::<(), oneway::Error>(())
/// ```
///
/// # Errors
/// A share that is not between 0 and 1, and a single row.
pub fn hold_out(data: &Dataset, share: f64, seed: u64) -> Result<(Dataset, Dataset)> {
    if !(share > 0.0 && share < 1.0) {
        return Err(Error::parameter(
            "problem",
            "split",
            share,
            "it is a share of the rows, between 0 and 1",
        ));
    }
    let rows = data.len();
    if rows < 2 {
        return Err(Error::parameter(
            "problem",
            "split",
            share,
            format!("there are {rows} rows to be split"),
        ));
    }
    let held = ((share * rows as f64 + 0.5) as usize).clamp(1, rows - 1);
    let mut order: Vec<usize> = (0..rows).collect();
    Draws::new(seed, Purpose::HoldOut, 0, 0).shuffle(&mut order);
    let (test, train) = order.split_at_mut(held);
    test.sort_unstable();
    train.sort_unstable();
    Ok((data.select(train), data.select(test)))
}
