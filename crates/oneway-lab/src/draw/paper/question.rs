//! What is asked of a figure, and what it is answered with.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use oneway::Error;
use oneway_experiment::results::curves::Curve;

use crate::draw::figure::axis::Scale;
use crate::draw::figure::band::Band;
use crate::draw::figure::colours::Colours;
use crate::draw::figure::export::Figure;
use crate::draw::figure::quantity::{Against, Quantity};

/// What figures show, and how.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) quantities: Vec<Quantity>,
    pub(crate) against: Against,
    pub(crate) band: Band,
    pub(crate) colours: Colours,
    pub(crate) title: Title,
    /// Labels of the axes in place of the usual ones.
    pub(crate) x_label: Option<String>,
    pub(crate) y_label: Option<String>,
    pub(crate) x_scale: Option<Scale>,
    pub(crate) y_scale: Option<Scale>,
    /// What is shown of the x axis: from, to.
    pub(crate) window: (Option<f64>, Option<f64>),
    /// Recorded states whose mean is where a run ended.
    pub(crate) last: usize,
}

/// The title of a figure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Title {
    None,
    /// What is shown, and on which topology.
    Usual,
    Own(String),
}

impl Title {
    pub(crate) fn or(&self, usual: &str) -> String {
        match self {
            Title::None => String::new(),
            Title::Usual => usual.to_owned(),
            Title::Own(title) => title.clone(),
        }
    }
}

/// A figure for a paper.
#[derive(Debug)]
pub(crate) struct Paper {
    /// Its files' name, without ending.
    pub(crate) file: String,
    pub(crate) figure: Figure,
    /// What its numbers are.
    pub(crate) caption: String,
}

/// The quantity of this name. What is not measured at all is said to be so.
pub(crate) fn quantity(name: &str) -> Result<Quantity> {
    match name {
        "distance" => bail!(
            "the distance to x* is not measured: curves.csv has no such column; there are {}",
            names(&Quantity::ALL)
        ),
        "f" | "F" => Ok(Quantity::Loss),
        _ => Quantity::named(name)
            .ok_or_else(|| Error::unknown("quantity", name, Quantity::ALL.map(Quantity::key)).into()),
    }
}

fn names(quantities: &[Quantity]) -> String {
    quantities.iter().map(|quantity| quantity.key()).collect::<Vec<_>>().join(", ")
}

/// Refuses a quantity that none of the curves has; says which methods lack it.
pub(crate) fn measured(quantity: Quantity, curves: &[Curve], place: &str) -> Result<Option<String>> {
    let has = |quantity: Quantity, curve: &Curve| {
        curve.points.iter().any(|point| quantity.of(point).is_some_and(f64::is_finite))
    };
    if !curves.iter().any(|curve| has(quantity, curve)) {
        let there = Quantity::ALL.into_iter().filter(|other| curves.iter().any(|curve| has(*other, curve)));
        let there: Vec<Quantity> = there.collect();
        let why = match quantity {
            Quantity::Gap => " (F* is not known)",
            Quantity::Accuracy => " (there are no test data)",
            _ => "",
        };
        bail!("{}: {} was not measured{why}; there are {}", place, quantity.key(), names(&there));
    }
    let (with, without): (Vec<&Curve>, Vec<&Curve>) = curves.iter().partition(|curve| has(quantity, curve));
    let with: BTreeSet<&str> = with.iter().map(|curve| &*curve.method).collect();
    let mut lacking: Vec<&str> = vec![];
    for name in without.iter().map(|curve| &*curve.method) {
        if !with.contains(name) && !lacking.contains(&name) {
            lacking.push(name);
        }
    }
    Ok((!lacking.is_empty()).then(|| format!("Not measured for {}.", lacking.join(", "))))
}

/// Sentences as a paragraph.
pub(crate) fn paragraph(sentences: impl IntoIterator<Item = String>) -> String {
    let sentences: Vec<String> = sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect();
    sentences.join(" ").replace('\u{200a}', "") // a hair of space is for drawings
}
