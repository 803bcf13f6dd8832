//! `curves.csv`: what was measured, a line for each recorded state of each run.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use oneway::engine::metrics::Measurement;

use crate::experiment::plan::Entry;
use crate::experiment::sweep::Chosen;

/// Its name in a results folder.
pub const FILE: &str = "curves.csv";

/// The columns of `curves.csv` that it always has; those of swept settings follow them.
const COLUMNS: &str = "topology,method,repetition,iteration,loss,grad_norm_sq,consensus_error,\
tracking_error,momentum_error,conservation_error,test_accuracy,bytes_sent,time,loss_gap,agents_grad_norm_sq,distance_sq";

/// One run: what was measured at each recorded iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What the topology is called.
    pub topology: String,
    /// What the method is called.
    pub method: String,
    /// Which repetition it is, from 0.
    pub repetition: u64,
    /// What was measured, state by state.
    pub points: Arc<[Measurement]>,
}

/// The settings that are swept, each a column, and their values for each topology and method.
#[derive(Debug, Default)]
pub struct SweptColumns<'a> {
    names: Vec<&'a str>,
    values: HashMap<(&'a str, &'a str), &'a Chosen>,
}

impl<'a> SweptColumns<'a> {
    /// Those of a plan's entries, in the order in which they come.
    pub fn new(entries: &'a [Entry]) -> Self {
        let mut columns = Self::default();
        for entry in entries {
            for (name, _) in &entry.swept {
                if !columns.names.contains(&&**name) {
                    columns.names.push(name);
                }
            }
            columns.values.insert((&entry.topology_name, &entry.method_name), &entry.swept);
        }
        columns
    }

    /// The header's end.
    fn header(&self) -> String {
        self.names.iter().map(|name| format!(",{name}")).collect()
    }

    /// The end of a curve's lines; what is not swept for it is left empty.
    fn cells(&self, curve: &Curve) -> String {
        let chosen = self.values.get(&(&*curve.topology, &*curve.method));
        let value = |name: &&str| {
            let found = chosen.and_then(|chosen| chosen.iter().find(|(key, _)| key == name));
            format!(",{}", found.map_or("", |(_, value)| value))
        };
        self.names.iter().map(value).collect()
    }
}

/// All curves as CSV.
pub fn to_csv<'a>(curves: impl IntoIterator<Item = &'a Curve>, swept: &SweptColumns<'_>) -> String {
    let mut csv = format!("{COLUMNS}{}\n", swept.header());
    for curve in curves {
        let Curve { topology, method, repetition, points } = curve;
        let end = swept.cells(curve);
        for point in points.iter() {
            let _ = writeln!(csv, "{topology},{method},{repetition},{}{end}", point_to_csv(point));
        }
    }
    csv
}

/// The columns from `iteration` on. Numbers in shortest round-trip form, what a method does not have left
/// empty.
pub(crate) fn point_to_csv(m: &Measurement) -> String {
    let optional = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:?}"));
    format!(
        "{},{:?},{:?},{:?},{},{},{},{},{},{},{},{},{}",
        m.iteration,
        m.loss,
        m.grad_norm_sq,
        m.consensus_error,
        optional(m.tracking_error),
        optional(m.momentum_error),
        optional(m.conservation_error),
        optional(m.test_accuracy),
        m.bytes_sent.map_or(String::new(), |bytes| bytes.to_string()),
        optional(m.time),
        optional(m.loss_gap),
        optional(m.agents_grad_norm_sq),
        optional(m.distance_sq),
    )
}

/// Reads `curves.csv` back, to the last bit.
pub fn read(path: &Path) -> Result<Vec<Curve>> {
    Ok(read_with_swept(path)?.0)
}

/// The same, and what its columns of swept settings say.
pub fn read_with_swept(path: &Path) -> Result<(Vec<Curve>, SweptValues)> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    parse(&text).with_context(|| path.display().to_string())
}

/// Curves from CSV; lines of one run stand together. Columns of swept settings may follow: names say the
/// same.
pub fn from_csv(text: &str) -> Result<Vec<Curve>> {
    Ok(parse(text)?.0)
}

/// The swept settings of a `curves.csv`, and their values for each topology and method.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SweptValues {
    names: Vec<String>,
    /// A value for each name, empty where the setting is not swept for it.
    values: HashMap<(String, String), Vec<String>>,
}

impl SweptValues {
    /// The settings, in the order of their columns: `method.momentum`.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The settings that are swept for a method on a topology, and the value that each has there.
    pub fn of(&self, topology: &str, method: &str) -> Vec<(&str, &str)> {
        let values = self.values.get(&(topology.to_owned(), method.to_owned()));
        let pairs = values.into_iter().flat_map(|values| self.names.iter().zip(values));
        pairs.filter(|(_, value)| !value.is_empty()).map(|(name, value)| (&**name, &**value)).collect()
    }
}

/// A run as it stands in the text: topology, method, repetition, and its points.
type Run<'a> = (&'a str, &'a str, u64, Vec<Measurement>);

fn parse(text: &str) -> Result<(Vec<Curve>, SweptValues)> {
    let mut lines = text.lines();
    let header = lines.next().and_then(|header| header.strip_prefix(COLUMNS));
    let names: Vec<String> = match header.filter(|swept| swept.is_empty() || swept.starts_with(',')) {
        Some(swept) => swept.split(',').skip(1).map(str::to_owned).collect(),
        None => bail!("the first line is not the header of curves.csv: {COLUMNS}"),
    };
    let mut values = HashMap::new();
    let mut curves: Vec<Run<'_>> = vec![];
    for (line, number) in lines.zip(2..) {
        let read = || {
            let (topology, rest) = line.split_once(',')?;
            let (method, rest) = rest.split_once(',')?;
            let (repetition, rest) = rest.split_once(',')?;
            let plain = |name: &str| !name.chars().any(char::is_control);
            let mut swept = vec![];
            let rest = names.iter().try_fold(rest, |rest, _| {
                let (rest, value) = rest.rsplit_once(',')?;
                swept.push(value);
                Some(rest)
            })?;
            let point = point_from_csv(rest)?;
            let names = (plain(topology) && plain(method)).then_some((topology, method))?;
            Some((names, repetition.parse().ok()?, point, swept))
        };
        let Some(((topology, method), repetition, point, swept)) = read() else {
            bail!("line {number} is not a line of curves.csv: {line}");
        };
        match curves.last_mut() {
            Some((a, b, c, points)) if (*a, *b, *c) == (topology, method, repetition) => points.push(point),
            _ => {
                curves.push((topology, method, repetition, vec![point]));
                if !swept.is_empty() {
                    let own = swept.iter().rev().map(|&value| value.to_owned()).collect();
                    values.insert((topology.to_owned(), method.to_owned()), own);
                }
            }
        }
    }
    let curve = |(topology, method, repetition, points): Run<'_>| Curve {
        topology: topology.to_owned(),
        method: method.to_owned(),
        repetition,
        points: points.into(),
    };
    Ok((curves.into_iter().map(curve).collect(), SweptValues { names, values }))
}

/// Reads what [`point_to_csv`] wrote; `None` if it is not that.
pub(crate) fn point_from_csv(line: &str) -> Option<Measurement> {
    let optional = |cell: &str| match cell {
        "" => Some(None),
        number => number.parse().ok().map(Some),
    };
    let cells: [&str; 13] = line.split(',').collect::<Vec<_>>().try_into().ok()?;
    let [
        iteration,
        loss,
        grad,
        consensus,
        tracking,
        momentum,
        conservation,
        accuracy,
        bytes,
        time,
        gap,
        agents,
        distance,
    ] = cells;
    Some(Measurement {
        iteration: iteration.parse().ok()?,
        loss: loss.parse().ok()?,
        grad_norm_sq: grad.parse().ok()?,
        consensus_error: consensus.parse().ok()?,
        tracking_error: optional(tracking)?,
        momentum_error: optional(momentum)?,
        conservation_error: optional(conservation)?,
        test_accuracy: optional(accuracy)?,
        bytes_sent: match bytes {
            "" => None,
            number => Some(number.parse().ok()?),
        },
        time: optional(time)?,
        loss_gap: optional(gap)?,
        agents_grad_norm_sq: optional(agents)?,
        distance_sq: optional(distance)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_come_back_to_the_last_bit() {
        let point = |iteration, loss| Measurement {
            iteration,
            loss,
            grad_norm_sq: 1e-300,
            consensus_error: 0.1 + 0.2,
            tracking_error: Some(1.0 / 3.0),
            momentum_error: None,
            conservation_error: Some(5e-324),
            test_accuracy: None,
            bytes_sent: Some(u64::MAX),
            time: Some(iteration as f64 / 3.0),
            loss_gap: Some(-0.0),
            agents_grad_norm_sq: None,
            distance_sq: Some(0.0),
        };
        let curve = |repetition| Curve {
            topology: "ring".to_owned(),
            method: "SMTPP (trees)".to_owned(),
            repetition,
            points: Arc::new([point(0, std::f64::consts::LN_2), point(10, 1e17)]),
        };
        let curves = vec![curve(0), curve(1)];
        let csv = to_csv(&curves, &SweptColumns::default());
        assert_eq!(from_csv(&csv).unwrap(), curves);
        assert_eq!(to_csv(&from_csv(&csv).unwrap(), &SweptColumns::default()), csv);
        assert!(from_csv("a,b\n").is_err());
        assert!(from_csv(&csv.replacen("time", "times", 1)).is_err());

        let chosen = vec![("method.momentum".to_owned(), "0.1".to_owned())];
        let values = HashMap::from([(("ring", "SMTPP (trees)"), &chosen)]);
        let swept = SweptColumns { names: vec!["problem.alpha", "method.momentum"], values };
        let wide = to_csv(&curves, &swept);
        assert!(wide.lines().next().unwrap().ends_with(",distance_sq,problem.alpha,method.momentum"));
        assert!(wide.lines().skip(1).all(|line| line.ends_with(",,0.1")), "{wide}");
        assert_eq!(from_csv(&wide).unwrap(), curves, "with them or without: the same curves");
        let (_, read) = parse(&wide).unwrap();
        assert_eq!(read.names(), ["problem.alpha", "method.momentum"]);
        assert_eq!(read.of("ring", "SMTPP (trees)"), [("method.momentum", "0.1")]);
        assert_eq!((read.of("ring", "SGP"), parse(&csv).unwrap().1), (vec![], SweptValues::default()));
        assert!(from_csv(&wide.replacen(",,0.1", ",0.1", 1)).unwrap_err().to_string().contains("line 2"));
        assert!(from_csv(&(csv + "ring,SMTPP,x\n")).unwrap_err().to_string().contains("line 6"));
    }
}
