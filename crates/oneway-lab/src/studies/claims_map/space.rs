//! The space of readings: what the paper leaves open, an answer to each question a reading.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use toml::{Table, Value};

use super::design;
use super::setting::Setting;

/// What all readings share.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Common {
    pub(crate) agents: usize,
    pub(crate) iterations: u64,
    pub(crate) repetitions: u64,
    pub(crate) record_every: u64,
    /// η of SMTPP and CSGDM.
    pub(crate) step: f64,
    /// What the step is multiplied by when it decays.
    pub(crate) decay: f64,
    pub(crate) alpha: f64,
    pub(crate) batch: u64,
}

/// Which readings are run.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Design {
    /// Readings of the whole space, by a balanced design.
    pub(crate) sampled: usize,
    /// All readings that differ from the base in at most this many answers.
    pub(crate) near: usize,
}

/// A question with its answers; the first is nearest the paper's words.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    pub(crate) name: String,
    pub(crate) question: String,
    pub(crate) levels: Vec<(String, Setting)>,
}

/// What is plotted, in the words of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    Loss,
    Gap,
    Gradient,
    LeastGradient,
}

impl Quantity {
    const NAMED: [(&'static str, Self); 4] = [
        ("F", Self::Loss),
        ("F − F*", Self::Gap),
        ("‖∇F‖²", Self::Gradient),
        ("running least ‖∇F‖²", Self::LeastGradient),
    ];

    /// Its name in the file.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }
}

/// What is plotted, and where one looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) quantity: Quantity,
    pub(crate) place: u64,
}

/// The whole space.
#[derive(Debug, Clone)]
pub(crate) struct Space {
    pub(crate) common: Common,
    pub(crate) design: Design,
    pub(crate) factors: Vec<Factor>,
    pub(crate) quantities: Vec<Quantity>,
    pub(crate) places: Vec<u64>,
    pub(crate) looks: Vec<Look>,
}

/// A reading that is told of by name, and how one looks at it.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    pub(crate) name: String,
    pub(crate) answers: Answers,
    pub(crate) view: View,
}

/// An answer to each question, by number: those that need runs of their own.
pub(crate) type Answers = Vec<usize>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    run: Common,
    design: Design,
    factor: Vec<FactorTable>,
    view: Vec<ViewTable>,
    #[serde(default)]
    look: Vec<LookTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LookTable {
    name: String,
    answers: BTreeMap<String, String>,
    quantity: Value,
    place: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FactorTable {
    name: String,
    question: String,
    levels: Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ViewTable {
    name: String,
    #[serde(rename = "question")]
    _question: String,
    levels: Vec<Value>,
}

/// More readings than this are no look at a space, but a mistake in a file.
const MOST_READINGS: usize = 100_000;

impl Space {
    /// Reads a file of readings, strictly.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let File { run, design, factor, view, look } = toml::from_str(text)?;
        let factors = factor.into_iter().map(Factor::read).collect::<Result<Vec<_>>>()?;
        let mut space = Self {
            quantities: view_levels(&view, "quantity", quantity)?,
            places: view_levels(&view, "place", place)?,
            common: run,
            design,
            factors,
            looks: vec![],
        };
        space.check()?;
        space.looks = look.into_iter().map(|look| space.look(look)).collect::<Result<_>>()?;
        Ok(space)
    }

    fn check(&self) -> Result<()> {
        for (at, factor) in self.factors.iter().enumerate() {
            let twice = self.factors[..at].iter().any(|other| other.name == factor.name);
            ensure!(!twice, "factor \"{}\": the name is taken already", factor.name);
        }
        let Common { iterations, record_every, repetitions, .. } = self.common;
        ensure!(
            repetitions >= 2,
            "run: `repetitions` = {repetitions}: without two there is no noise to judge by"
        );
        ensure!(record_every > 0, "run: `record_every` = 0 is not possible");
        for &place in &self.places {
            ensure!(
                place <= iterations && place % record_every == 0 && place > 0,
                "view \"place\": {place} is not among the states that are recorded, every {record_every} rounds up to {iterations}"
            );
        }
        self.settings(&self.base())?;
        let count = self.design.sampled.saturating_add(self.near_count());
        ensure!(count <= MOST_READINGS, "design: {count} readings are too many; at most {MOST_READINGS}");
        Ok(())
    }

    fn look(&self, LookTable { name, answers, quantity: shown, place: at }: LookTable) -> Result<Look> {
        let mut levels = self.base();
        for (question, answer) in &answers {
            let place = || format!("look \"{name}\"");
            let at = self.factors.iter().position(|factor| factor.name == *question);
            let at =
                at.with_context(|| format!("no question is called \"{question}\"")).with_context(place)?;
            let level = self.factors[at].levels.iter().position(|(level, _)| level == answer);
            levels[at] = level
                .with_context(|| format!("\"{question}\" has no answer \"{answer}\""))
                .with_context(place)?;
        }
        let view = quantity(&shown).zip(place(&at)).map(|(quantity, place)| View { quantity, place });
        let view = view.filter(|view| self.views().contains(view));
        let view = view.with_context(|| format!("look \"{name}\": {shown} at {at} is in no view"))?;
        Ok(Look { name, answers: levels, view })
    }

    /// The reading nearest the paper's words.
    pub(crate) fn base(&self) -> Answers {
        vec![0; self.factors.len()]
    }

    /// All that a reading settles.
    pub(crate) fn settings(&self, answers: &Answers) -> Result<Setting> {
        let mut all = Setting::default();
        for (factor, &level) in self.factors.iter().zip(answers) {
            let (name, setting) = &factor.levels[level];
            all.take(setting.clone())
                .with_context(|| format!("factor \"{}\", answer \"{name}\"", factor.name))?;
        }
        Ok(all)
    }

    /// What is looked at in each reading, in the order of the file: quantities, and within each places.
    pub(crate) fn views(&self) -> Vec<View> {
        let of = |&quantity: &Quantity| self.places.iter().map(move |&place| View { quantity, place });
        self.quantities.iter().flat_map(of).collect()
    }

    pub(super) fn near_count(&self) -> usize {
        // elementary symmetric sums of the numbers of other answers
        let mut sums = vec![1usize];
        for factor in &self.factors {
            let others = factor.levels.len() - 1;
            let shifted = std::iter::once(0).chain(sums.iter().map(|sum| sum.saturating_mul(others)));
            let longer: Vec<usize> = shifted.collect();
            let old = sums.iter().copied().chain([0]);
            sums = old.zip(longer).map(|(a, b)| a.saturating_add(b)).collect();
        }
        sums.iter().take(self.design.near + 1).fold(0, |sum, next| sum.saturating_add(*next))
    }

    /// All readings that differ from the base in at most `near` answers: the base, then those with one
    /// difference, and so on.
    pub(crate) fn near(&self) -> Vec<Answers> {
        let mut all = vec![self.base()];
        let mut shell = vec![self.base()];
        for _ in 0..self.design.near {
            let mut next = vec![];
            for answers in &shell {
                // only factors behind the last that differs, so that none comes twice
                let first = answers.iter().rposition(|&level| level > 0).map_or(0, |at| at + 1);
                for at in first..answers.len() {
                    for level in 1..self.factors[at].levels.len() {
                        let mut other = answers.clone();
                        other[at] = level;
                        next.push(other);
                    }
                }
            }
            all.extend_from_slice(&next);
            shell = next;
        }
        all
    }

    /// Readings of the whole space.
    pub(crate) fn sampled(&self) -> Vec<Answers> {
        let levels: Vec<usize> = self.factors.iter().map(|factor| factor.levels.len()).collect();
        design::balanced(&levels, self.design.sampled)
    }

    /// "2 petals; by label": where a reading differs from the paper's words.
    pub(crate) fn named(&self, answers: &Answers) -> String {
        let differs = self.factors.iter().zip(answers).filter(|(_, level)| **level > 0);
        let named: Vec<String> =
            differs.map(|(factor, &level)| format!("{}: {}", factor.name, factor.levels[level].0)).collect();
        if named.is_empty() { "the paper's words".to_owned() } else { named.join("; ") }
    }
}

impl Factor {
    fn read(table: FactorTable) -> Result<Self> {
        let FactorTable { name, question, levels } = table;
        let read = |(level, value): (String, Value)| {
            let setting = value.try_into();
            let setting = setting.with_context(|| format!("factor \"{name}\", answer \"{level}\""))?;
            Ok((level, setting))
        };
        let levels = levels.into_iter().map(read).collect::<Result<Vec<(String, Setting)>>>()?;
        ensure!(!levels.is_empty(), "factor \"{name}\" has no answers");
        Ok(Self { name, question, levels })
    }
}

fn view_levels<T>(views: &[ViewTable], name: &str, read: fn(&Value) -> Option<T>) -> Result<Vec<T>> {
    if let Some(unknown) = views.iter().find(|view| !["quantity", "place"].contains(&&*view.name)) {
        bail!("view \"{}\" is unknown: there are \"quantity\" and \"place\"", unknown.name);
    }
    let named: Vec<&ViewTable> = views.iter().filter(|view| view.name == name).collect();
    let [view] = named[..] else { bail!("there must be one [[view]] called \"{name}\"") };
    ensure!(!view.levels.is_empty(), "view \"{name}\" has no levels");
    let one = |value: &Value| {
        read(value).with_context(|| format!("view \"{name}\": {value} is not one of its levels"))
    };
    view.levels.iter().map(one).collect()
}

fn quantity(value: &Value) -> Option<Quantity> {
    let name = value.as_str()?;
    Quantity::NAMED.iter().find(|(known, _)| *known == name).map(|(_, quantity)| *quantity)
}

fn place(value: &Value) -> Option<u64> {
    value.as_integer().and_then(|place| u64::try_from(place).ok())
}
