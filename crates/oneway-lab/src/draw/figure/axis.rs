//! Axes: ranges that fit the numbers, and ticks at numbers that people like.

use crate::number::{minus, power_of_ten};

/// How numbers are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Equal differences, equal lengths.
    Linear,
    /// Equal ratios, equal lengths; what is not positive cannot be shown.
    Log,
}

impl Scale {
    /// Where a number stands on the scale, before any pixel.
    fn position(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        }
    }

    /// Whether a number can be shown.
    ///
    /// Those beyond 1e290 cannot: their differences overflow, and no one reads them off a figure.
    pub(crate) fn shows(self, value: f64) -> bool {
        value.abs() <= 1e290 && (self == Scale::Linear || value >= 1e-290)
    }
}

/// What an axis says, and how it is spread.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) scale: Scale,
    /// Above this, lines leave the plot: one that diverges must not squeeze all others flat.
    pub(crate) limit: Option<f64>,
}

/// Numbers from `min` to `max`, drawn from pixel `start` to pixel `end`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) scale: Scale,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) start: f64,
    pub(crate) end: f64,
}

impl Range {
    /// The range of all numbers that can be shown, with so much of its length to spare at both ends.
    pub(crate) fn fit(scale: Scale, values: impl Iterator<Item = f64>, spare: f64) -> Self {
        let shown = values.filter(|&value| scale.shows(value));
        let bounds = shown.fold(None, |bounds, value| match bounds {
            None => Some((value, value)),
            Some((min, max)) => Some((value.min(min), value.max(max))),
        });
        let (min, max) = match (scale, bounds) {
            (Scale::Linear, None) => (0.0, 1.0),
            (Scale::Log, None) => (0.1, 10.0),
            (Scale::Linear, Some((min, max))) => linear_bounds(min, max, spare),
            (Scale::Log, Some((min, max))) => {
                let (low, high) = (min.log10(), max.log10());
                let room = if high - low < 1e-9 { 0.5 } else { spare * (high - low) };
                (10f64.powf((low - room).max(-300.0)), 10f64.powf((high + room).min(300.0)))
            }
        };
        Self { scale, min, max, start: 0.0, end: 1.0 }
    }

    /// The same range, drawn from one pixel to another.
    pub(crate) fn between(self, start: f64, end: f64) -> Self {
        Self { start, end, ..self }
    }

    /// The pixel of a number; `None` if it cannot be shown. It may lie outside.
    pub(crate) fn pixel(&self, value: f64) -> Option<f64> {
        if !self.scale.shows(value) {
            return None;
        }
        let (min, max) = (self.scale.position(self.min), self.scale.position(self.max));
        let share = (self.scale.position(value) - min) / (max - min);
        // A line to a point far outside is clipped all the same, but renderers lose themselves in huge
        // numbers.
        Some(self.start + share.clamp(-10.0, 11.0) * (self.end - self.start))
    }

    /// Ticks within the range, about `about` of them.
    pub(crate) fn ticks(&self, about: usize) -> Ticks {
        match self.scale {
            Scale::Linear => linear_ticks(self.min, self.max, about),
            Scale::Log => log_ticks(self.min, self.max, about),
        }
    }
}

fn linear_bounds(min: f64, max: f64, spare: f64) -> (f64, f64) {
    let size = min.abs().max(max.abs());
    if size < 1e-290 {
        return (0.0, 1.0); // zero, or so small that differences vanish
    }
    if max - min <= 1e-9 * size {
        return (min - 0.1 * size, max + 0.1 * size);
    }
    let room = spare * (max - min);
    // Zero is worth showing if it is near, and what is not negative should not seem to go below.
    let near_zero = min >= 0.0 && min <= 0.25 * (max - min);
    (if near_zero { 0.0 } else { min - room }, max + room)
}

/// Where the ticks are and what they say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ticks {
    pub(crate) major: Vec<(f64, String)>,
    pub(crate) minor: Vec<f64>,
}

/// 1, 2 or 5 times a power of ten, near `rough`.
fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let leading = rough / power;
    power * [1.0, 2.0, 5.0].into_iter().find(|&nice| leading <= nice * 1.0001).unwrap_or(10.0)
}

fn linear_ticks(min: f64, max: f64, about: usize) -> Ticks {
    let step = nice_step((max - min) / about.max(1) as f64);
    let (first, last) = ((min / step - 1e-9).ceil(), (max / step + 1e-9).floor());
    let count = ((last - first).clamp(0.0, 4.0 * about as f64 + 4.0)) as usize;
    let values: Vec<f64> = (0..=count).map(|i| (first + i as f64) * step).collect();
    let labels = labels(&values, step);
    Ticks { major: values.into_iter().zip(labels).collect(), minor: vec![] }
}

fn log_ticks(min: f64, max: f64, about: usize) -> Ticks {
    let (low, high) = ((min.log10() - 1e-9).ceil() as i32, (max.log10() + 1e-9).floor() as i32);
    let inside = |value: &f64| (min * (1.0 - 1e-9)..=max * (1.0 + 1e-9)).contains(value);
    let multiples = |factors: &'static [u8]| {
        (low - 1..=high)
            .flat_map(move |exponent| factors.iter().map(move |&f| f64::from(f) * ten_to(exponent)))
    };
    if high - low < 1 {
        // Less than two decades: powers of ten alone would say too little.
        let values: Vec<f64> = multiples(&[1, 2, 5]).filter(inside).collect();
        if values.len() < 3 {
            return linear_ticks(min, max, about);
        }
        let minor = multiples(&[3, 4, 6, 7, 8, 9]).filter(inside).collect();
        return Ticks { major: values.into_iter().map(|value| (value, plain(value))).collect(), minor };
    }
    let decades = (high - low) as usize + 1;
    let every = decades.div_ceil(about.max(2)) as i32;
    let major = (low..=high).filter(|exponent| exponent % every == 0);
    let major = major.map(|exponent| (ten_to(exponent), power_of_ten(exponent))).collect();
    let minor = if every == 1 && decades <= 8 {
        multiples(&[2, 3, 4, 5, 6, 7, 8, 9]).filter(inside).collect()
    } else {
        (low..=high).filter(|exponent| exponent % every != 0).map(ten_to).collect()
    };
    Ticks { major, minor }
}

/// The nearest number to 10^exponent; `powi` is off by a bit for negative ones.
fn ten_to(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::NAN)
}

/// A number such as 0.02, 50 or 2×10⁻⁵, with one leading digit.
fn plain(value: f64) -> String {
    let exponent = (value.log10() + 1e-9).floor() as i32;
    match exponent {
        -3..=3 => minus(&format!("{value:.*}", (-exponent).max(0) as usize)),
        _ if (value / ten_to(exponent) - 1.0).abs() < 1e-6 => power_of_ten(exponent),
        _ => format!("{:.0}×{}", value / ten_to(exponent), power_of_ten(exponent)),
    }
}

/// Labels of the multiples of a step: all with the same decimals and the same unit.
fn labels(values: &[f64], step: f64) -> Vec<String> {
    let largest = values.iter().fold(0f64, |largest, value| largest.max(value.abs()));
    let exponent = if largest > 0.0 { (largest.log10() + 1e-9).floor() as i32 } else { 0 };
    let (unit, suffix) = match exponent {
        4..=5 => (3, "k".to_owned()),
        6..=8 => (6, "M".to_owned()),
        9..=11 => (9, "G".to_owned()),
        12.. | ..=-4 => (exponent, format!("×{}", power_of_ten(exponent))),
        _ => (0, String::new()),
    };
    let decimals = |unit: i32| (f64::from(unit) - step.log10() - 1e-6).ceil().max(0.0) as usize;
    // 10.005k says less than 10005.
    let (unit, suffix) =
        if (4..=8).contains(&exponent) && decimals(unit) > 2 { (0, String::new()) } else { (unit, suffix) };
    let decimals = decimals(unit).min(15);
    let label = |value: &f64| match *value {
        value if value.abs() < step * 1e-6 => "0".to_owned(),
        value => minus(&format!("{:.decimals$}{suffix}", value / ten_to(unit))),
    };
    values.iter().map(label).collect()
}

#[cfg(test)]
#[path = "axis_tests.rs"]
mod tests;
