//! `oneway compare`: two results folders side by side: what was set otherwise, what came out, and whether
//! noise explains it.

mod settings;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use oneway::engine::metrics::Measurement;
use oneway_experiment::results::curves::{self, Curve, SweptColumns};
use oneway_experiment::results::manifest::{EntryRecord, Manifest};
use oneway_experiment::results::repetitions::{Repetitions, mean};

use crate::cli::args::CompareArgs;
use crate::number::{short, short_with_error};
use crate::studies::claims::statistics::Interval;
use crate::terminal::{Cell, NOTHING, Screen, Style, Table, column};

/// What is read off a measurement.
type Quantity = fn(&Measurement) -> Option<f64>;

/// What is compared of each method on each topology.
const QUANTITIES: [(&str, Quantity); 2] = [("loss", |m| Some(m.loss)), ("‖∇F‖²", |m| Some(m.grad_norm_sq))];

/// Runs the command.
pub(crate) fn compare(args: &CompareArgs) -> Result<ExitCode> {
    let whole = |dir: &Path| dir.canonicalize().ok();
    if whole(&args.left).is_some_and(|left| Some(left) == whole(&args.right)) {
        bail!("{} and {} are the same folder: name two", args.left.display(), args.right.display());
    }
    let [left, right] = [Side::read(&args.left, &args.right)?, Side::read(&args.right, &args.left)?];
    let mut screen = Screen::stdout();
    let differing = settings::differences([&left.manifest.settings, &right.manifest.settings]);
    screen.text(&settings::text(&differing, [&left.name, &right.name]));
    if let Some(note) = iterations(&left, &right) {
        screen.text(&note);
    }
    let (table, beyond) = table(&left, &right);
    screen.table(&table);
    screen.quiet(
        "± half of a 95 % interval from the repetitions; differences by repetition where seeds are the same",
    );
    screen.summary(&match beyond {
        0 => "no difference is beyond noise".to_owned(),
        1 => "1 difference is beyond noise".to_owned(),
        some => format!("{some} differences are beyond noise"),
    });
    screen.show()?;
    Ok(ExitCode::SUCCESS)
}

/// A results folder, read.
struct Side {
    /// The folder's own name, or all of its path where the other has the same.
    name: String,
    manifest: Manifest,
    curves: Vec<Curve>,
}

impl Side {
    fn read(dir: &Path, other: &Path) -> Result<Self> {
        if !dir.is_dir() {
            bail!("{} is not a results folder", dir.display());
        }
        let curves = curves::read(&dir.join(curves::FILE)).context("a results folder has a curves.csv")?;
        let name = match dir.file_name() {
            Some(name) if dir.file_name() != other.file_name() => name.to_string_lossy().into_owned(),
            _ => dir.display().to_string(),
        };
        Ok(Self { name, manifest: Manifest::read(dir)?, curves })
    }

    /// A method on a topology, if it is there.
    fn entry(&self, (topology, method): (&str, &str)) -> Option<Found<'_>> {
        let record = self
            .manifest
            .entries
            .iter()
            .find(|entry| (&*entry.topology, &*entry.method) == (topology, method))?;
        let repetitions = Repetitions::of_record(record, &self.manifest, &self.curves);
        let own = self.curves.iter().filter(|curve| (&*curve.topology, &*curve.method) == (topology, method));
        Some(Found { side: self, record, repetitions, csv: curves::to_csv(own, &SweptColumns::default()) })
    }

    /// The iterations that its runs had to do.
    fn iterations(&self) -> Option<u64> {
        self.curves.iter().filter_map(|curve| curve.points.last()).map(|point| point.iteration).max()
    }
}

/// A word where runs were not equally long.
fn iterations(left: &Side, right: &Side) -> Option<String> {
    let [a, b] = [left, right].map(|side| side.iterations().unwrap_or(0));
    (a != b).then(|| {
        format!(
            "{} went to iteration {a}, {} to {b}: each is shown where it ended, so differences are also those of time",
            left.name, right.name
        )
    })
}

/// A method on a topology in one of the folders.
struct Found<'a> {
    side: &'a Side,
    record: &'a EntryRecord,
    repetitions: Repetitions<'a>,
    /// Its curves as they are written.
    csv: String,
}

impl Found<'_> {
    /// A quantity at the end of each repetition that completed, and the repetition's seed.
    fn values(&self, of: Quantity) -> Vec<(u64, f64)> {
        let seed = |repetition: u64| {
            let own = self.side.manifest.cells.iter().find(|cell| {
                (&cell.topology, &cell.method, cell.repetition)
                    == (&self.record.topology, &self.record.method, repetition)
            });
            own.map_or(repetition, |cell| cell.seed)
        };
        self.repetitions.at_end(of).into_iter().map(|(repetition, value)| (seed(repetition), value)).collect()
    }
}

/// The table, and how many differences are beyond noise.
fn table(left: &Side, right: &Side) -> (Table, usize) {
    let mut names: Vec<(&str, &str)> = vec![];
    for entry in left.manifest.entries.iter().chain(&right.manifest.entries) {
        let name = (&*entry.topology, &*entry.method);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut table = Table::new([
        column("topology · method").prose(),
        column(""),
        column(&*left.name),
        column(&*right.name),
        column("difference").prose(),
    ]);
    let mut beyond = 0;
    for name in names {
        let (topology, method) = name;
        let found = [left.entry(name), right.entry(name)];
        for (at, (quantity, of)) in QUANTITIES.into_iter().enumerate() {
            let values = found.each_ref().map(|found| found.as_ref().map(|found| found.values(of)));
            let [a, b] = values.each_ref().map(|values| values.as_deref().map_or(NOTHING.to_owned(), shown));
            let difference = match &found {
                [None, _] => format!("in {} only", right.name),
                [_, None] => format!("in {} only", left.name),
                [Some(a), Some(b)] if a.csv == b.csv => "same bits".to_owned(),
                _ => difference(
                    values[0].as_deref().unwrap_or_default(),
                    values[1].as_deref().unwrap_or_default(),
                ),
            };
            let place = if at == 0 { format!("{topology} · {method}") } else { String::new() };
            let noisy = !difference.ends_with(BEYOND);
            beyond += usize::from(!noisy);
            let style = if noisy { Style::Plain } else { Style::Strong };
            table.row([place.into(), quantity.into(), a.into(), b.into(), Cell::new(difference, style)]);
        }
        let notes = found
            .iter()
            .flatten()
            .filter_map(|found| found.repetitions.note().map(|note| format!("{}: {note}", found.side.name)));
        let notes: Vec<String> = notes.collect();
        if !notes.is_empty() {
            table.row([
                "".to_owned(),
                "counted".to_owned(),
                NOTHING.to_owned(),
                NOTHING.to_owned(),
                notes.join("; "),
            ]);
        }
    }
    (table, beyond)
}

/// How a difference that repetitions do not explain ends.
const BEYOND: &str = "beyond noise";

/// A mean and its interval.
fn shown(values: &[(u64, f64)]) -> String {
    let values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    match (Interval::new(&values), mean(&values)) {
        (Some(interval), _) => short_with_error(interval.mean, Some(interval.half)),
        (None, Some(one)) => short(one),
        (None, None) => NOTHING.to_owned(),
    }
}

/// How much more the second has than the first, and whether that is more than noise makes of equals.
fn difference(a: &[(u64, f64)], b: &[(u64, f64)]) -> String {
    let plain = |values: &[(u64, f64)]| values.iter().map(|(_, value)| *value).collect::<Vec<f64>>();
    let (Some(mean_a), Some(mean_b)) = (mean(&plain(a)), mean(&plain(b))) else { return NOTHING.to_owned() };
    let change = match mean_b / mean_a - 1.0 {
        change if change.is_finite() => format!("{:+.1} %", 100.0 * change),
        _ => short(mean_b - mean_a),
    };
    let same_seeds = a.len() == b.len() && a.iter().zip(b).all(|((one, _), (other, _))| one == other);
    let half = match same_seeds {
        true => Interval::new(&a.iter().zip(b).map(|((_, a), (_, b))| b - a).collect::<Vec<f64>>()),
        false => Interval::new(&plain(a))
            .zip(Interval::new(&plain(b)))
            .map(|(a, b)| Interval { mean: b.mean - a.mean, half: a.half.hypot(b.half) }),
    };
    match half {
        None => format!("{change}, noise unknown"),
        Some(Interval { mean, half }) if mean.abs() <= half => format!("{change}, within noise"),
        Some(_) => format!("{change}, {BEYOND}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_what_repetitions_of_the_same_differ_by() {
        let of = |values: &[f64], seeds: u64| -> Vec<(u64, f64)> {
            (seeds..).zip(values.iter().copied()).collect()
        };
        let (a, shifted) = ([1.0, 2.0, 3.0], [1.1, 2.1, 3.1]);
        assert_eq!(
            difference(&of(&a, 0), &of(&shifted, 0)),
            "+5.0 %, beyond noise",
            "the same seeds: by repetition"
        );
        assert_eq!(
            difference(&of(&a, 0), &of(&shifted, 9)),
            "+5.0 %, within noise",
            "other samples: as two groups"
        );
        assert_eq!(difference(&of(&[1.0], 0), &of(&[0.5], 0)), "-50.0 %, noise unknown");
        assert_eq!(difference(&of(&a, 0), &[]), "–");
        assert_eq!(difference(&of(&a, 0), &of(&a, 0)), "+0.0 %, within noise");
    }
}
