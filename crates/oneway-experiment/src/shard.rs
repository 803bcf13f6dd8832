//! A share of an experiment's cells: what one job of an array runs.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use anyhow::{Error, bail};

use crate::experiment::plan::Cell;

/// The `index`-th of `count` shares, from 1: `2/8`.
///
/// Cells are dealt in turn, so that the slow end of a sweep is not one share's alone. Cells that are the same
/// run under several names are in one share, which runs them once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// The cells of this share, in their order.
    pub fn of<'a>(self, cells: Vec<Cell<'a>>) -> Vec<Cell<'a>> {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mine = |cell: &Cell<'a>| {
            let next = places.len();
            let place = *places.entry(cell.key.clone()).or_insert(next);
            place % self.count == self.index - 1
        };
        cells.into_iter().filter(mine).collect()
    }

    /// A name for its folder: `shard-2-of-8`.
    pub fn folder(self) -> String {
        format!("shard-{}-of-{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let numbers = text.split_once('/').map(|(index, count)| (index.parse(), count.parse()));
        match numbers {
            Some((Ok(index), Ok(count))) if (1..=count).contains(&index) => Ok(Self { index, count }),
            _ => bail!("a share is i/k with i from 1 to k, such as 2/8"),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_one_of_those_there_are() {
        assert_eq!("2/8".parse::<Shard>().unwrap().to_string(), "2/8");
        for wrong in ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", " 1/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
