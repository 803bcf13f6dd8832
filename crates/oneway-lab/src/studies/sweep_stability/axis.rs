//! `--over petals=1..10`: what changes, and its values.

use std::str::FromStr;

use anyhow::{Result, bail};

/// In help and in messages.
pub(crate) const EXAMPLES: &str = "petals=1..10, agents=4..100:8 or probability=0.1,0.2,0.4";

/// More values would take hours.
const MOST: usize = 200;

/// A key of a topology and the values it takes, ascending.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub(crate) key: String,
    pub(crate) values: Vec<f64>,
}

impl FromStr for Axis {
    type Err = anyhow::Error;

    /// `KEY=FROM..TO` with both ends, `KEY=FROM..TO:BY` in steps, or `KEY=A,B,C`.
    fn from_str(text: &str) -> Result<Self> {
        let Some((key, values)) = text.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            bail!("it must be KEY=VALUES, as in {EXAMPLES}")
        };
        let number = |text: &str| match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => bail!("`{text}` is not a number"),
        };
        let mut values = match values.split_once("..") {
            Some((from, rest)) => {
                let (to, by) = rest.split_once(':').unwrap_or((rest, "1"));
                let [from, to, by] = [number(from)?, number(to)?, number(by)?];
                if !(from <= to && by > 0.0) {
                    bail!("a range goes up: FROM..TO:BY with FROM at most TO and BY above 0");
                }
                let steps = ((to - from) / by + 1e-9).floor();
                if steps >= MOST as f64 {
                    bail!("{} values are more than {MOST}", steps + 1.0);
                }
                (0..=steps as usize).map(|step| from + step as f64 * by).collect::<Vec<_>>()
            }
            None => values.split(',').map(number).collect::<Result<Vec<_>>>()?,
        };
        values.sort_by(f64::total_cmp);
        values.dedup();
        if values.len() > MOST {
            bail!("{} values are more than {MOST}", values.len());
        }
        Ok(Self { key: key.to_owned(), values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_both_ends_and_lists_are_sorted() {
        let values = |text: &str| text.parse::<Axis>().unwrap().values;
        assert_eq!(values("petals=1..4"), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(values("agents=4..20:8"), [4.0, 12.0, 20.0]);
        assert_eq!(values("probability=0.1..0.3:0.1").len(), 3);
        assert_eq!(values("probability=0.4,0.1,0.4"), [0.1, 0.4]);
    }

    #[test]
    fn what_is_no_axis_is_refused_with_a_reason() {
        for (text, fragment) in [
            ("petals", "KEY=VALUES"),
            ("=1..3", "KEY=VALUES"),
            ("petals=", "is not a number"),
            ("petals=3..1", "goes up"),
            ("petals=1..3:0", "goes up"),
            ("petals=1..nan", "is not a number"),
            ("petals=1..1000000000", "more than 200"),
        ] {
            let message = text.parse::<Axis>().unwrap_err().to_string();
            assert!(message.contains(fragment), "{text}: {message}");
        }
    }
}
