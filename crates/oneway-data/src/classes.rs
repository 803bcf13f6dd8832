//! Labels that are picked and merged: `classes = [[3], [5, 8]]`.

use oneway::data::Dataset;
use oneway::{Error, Result};

/// A label as a user names it.
#[derive(Debug, Clone, PartialEq)]
pub enum Label {
    /// A number.
    Number(f64),
    /// A word of the file.
    Word(String),
}

/// A class that is made of labels.
#[derive(Debug, Clone, PartialEq)]
pub enum Group {
    /// These labels.
    Of(Vec<Label>),
    /// All labels that no other group has.
    Rest,
}

/// Classes made of labels. Rows whose label is in none of them are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups(Vec<Group>);

impl Groups {
    /// Two or more groups, of which one at most is the rest; `None` where that does not hold, or where a label
    /// is in two of them.
    pub fn new(groups: Vec<Group>) -> Option<Self> {
        let labels: Vec<&Label> = groups.iter().flat_map(members).collect();
        let once = labels.iter().enumerate().all(|(i, label)| !labels[..i].contains(label));
        let rests = groups.iter().filter(|group| **group == Group::Rest).count();
        let filled = groups.iter().all(|group| *group == Group::Rest || !members(group).is_empty());
        (once && filled && rests <= 1 && groups.len() >= 2).then_some(Self(groups))
    }

    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Never: there are two or more.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The groups.
    pub fn iter(&self) -> impl Iterator<Item = &Group> {
        self.0.iter()
    }

    /// The rows of these classes, labelled 0, 1, … by their group; `words` are those of the labels, if they are
    /// words.
    ///
    /// # Errors
    /// A label that no row has; nothing left.
    pub fn apply(&self, data: &Dataset, words: Option<&[String]>) -> Result<Dataset> {
        let mut of = Vec::new();
        for (class, group) in self.0.iter().enumerate() {
            for label in members(group) {
                of.push((number(label, data, words)?, class));
            }
        }
        let rest = self.0.iter().position(|group| *group == Group::Rest);
        let class =
            |label: f64| of.iter().find(|(known, _)| *known == label).map(|(_, class)| *class).or(rest);
        let kept: Vec<usize> = (0..data.len()).filter(|r| class(data.labels[*r]).is_some()).collect();
        let mut picked = data.select(&kept);
        picked.labels.iter_mut().for_each(|label| *label = class(*label).unwrap_or(0) as f64);
        match picked.is_empty() {
            false => Ok(picked),
            true => Err(Error::parameter("problem", "classes", "these", "no row has such a label")),
        }
    }
}

fn members(group: &Group) -> &[Label] {
    match group {
        Group::Of(labels) => labels,
        Group::Rest => &[],
    }
}

/// The number that stands for a label in the rows.
fn number(label: &Label, data: &Dataset, words: Option<&[String]>) -> Result<f64> {
    let unknown = |shown: String, known: Vec<String>| {
        let known: Vec<String> = known.into_iter().take(20).collect();
        Err(Error::parameter(
            "problem",
            "classes",
            shown,
            format!("no row has this label; there are {}", known.join(", ")),
        ))
    };
    match (label, words) {
        (Label::Word(word), Some(words)) => match words.iter().position(|known| known == word) {
            Some(place) => Ok(place as f64),
            None => unknown(format!("{word:?}"), words.to_vec()),
        },
        (Label::Number(number), None) => match data.labels.contains(number) {
            true => Ok(*number),
            false => unknown(number.to_string(), data.classes().iter().map(f64::to_string).collect()),
        },
        (Label::Word(word), None) => {
            unknown(format!("{word:?}"), data.classes().iter().map(f64::to_string).collect())
        }
        (Label::Number(number), Some(words)) => unknown(number.to_string(), words.to_vec()),
    }
}
