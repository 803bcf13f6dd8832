//! Labels as a file has them, numbers or words, and what they become.

use std::collections::HashMap;

use oneway::error::shown;

/// What labels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LabelKind {
    /// One of two, as −1 and +1.
    Signs,
    /// Classes: any numbers, or words.
    Classes,
    /// Real targets.
    Targets,
}

/// No dataset has more classes than this that are words.
const MOST_WORDS: usize = 1 << 16;

/// Labels while a file is being read: all are numbers, or all are words.
pub(crate) struct Gathered<'a> {
    kind: LabelKind,
    known: Option<&'a [String]>,
    numbers: Vec<f64>,
    words: HashMap<String, usize>,
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(kind: LabelKind, known: Option<&'a [String]>) -> Self {
        Self { kind, known, numbers: vec![], words: HashMap::new() }
    }

    /// Adds a number.
    pub(crate) fn number(&mut self, value: f64) -> Result<(), String> {
        match value.is_finite() {
            true if self.words.is_empty() => {
                self.numbers.push(value + 0.0); // −0 is 0
                Ok(())
            }
            true => Err(format!(
                "the label {value} is a number, and those before are words: is the first line a \
                                 header? Then give `header = true`"
            )),
            false => Err(format!("the label {value} is not a finite number")),
        }
    }

    /// Adds what a cell of text holds.
    pub(crate) fn text(&mut self, cell: &str) -> Result<(), String> {
        match cell.parse::<f64>() {
            Ok(number) if self.words.is_empty() && self.known.is_none() => return self.number(number),
            Ok(_) if self.known.is_none() => {
                return Err(format!(
                    "the label `{}` is a number, and those before are words: is the first line \
                                    a header? Then give `header = true`",
                    shown(cell)
                ));
            }
            _ => {}
        }
        if self.kind == LabelKind::Targets {
            return Err(format!("the target `{}` is not a number, such as `1` or `-2.5e3`", shown(cell)));
        }
        if self.words.is_empty() && !self.numbers.is_empty() {
            return Err(format!("the label `{}` is a word, and those before are numbers", shown(cell)));
        }
        let next = self.words.len();
        let id = match self.words.get(cell) {
            Some(id) => *id,
            None if next == MOST_WORDS => {
                return Err(format!("there are more than {MOST_WORDS} different labels"));
            }
            None => {
                self.words.insert(cell.to_owned(), next);
                next
            }
        };
        self.numbers.push(id as f64);
        Ok(())
    }

    /// All labels, and the words they stand for.
    pub(crate) fn finish(self) -> Result<(Vec<f64>, Option<Vec<String>>), String> {
        let Self { kind, known, numbers, words } = self;
        if words.is_empty() {
            return Ok((if kind == LabelKind::Signs { signs(numbers)? } else { numbers }, None));
        }
        let mut sorted: Vec<String> = match known {
            Some(known) => known.to_vec(),
            None => words.keys().cloned().collect(),
        };
        if known.is_none() {
            sorted.sort_unstable();
        }
        let mut rank = vec![0.0; words.len()];
        for (word, id) in words {
            let Some(place) = sorted.iter().position(|known| *known == word) else {
                let listed: Vec<String> = sorted.iter().take(20).map(|word| shown(word)).collect();
                return Err(format!(
                    "the label `{}` is none of the training rows': {}",
                    shown(&word),
                    listed.join(", ")
                ));
            };
            rank[id] = place as f64;
        }
        let labels: Vec<f64> = numbers.into_iter().map(|id| rank[id as usize]).collect();
        match (kind, sorted.len()) {
            (LabelKind::Signs, 2) => Ok((
                labels.into_iter().map(|rank| if rank == 1.0 { 1.0 } else { -1.0 }).collect(),
                Some(sorted),
            )),
            (LabelKind::Signs, count) => {
                let listed: Vec<String> = sorted.iter().take(20).map(|word| shown(word)).collect();
                Err(format!(
                    "its labels are {count} words ({}), and two are told apart: pick or merge some with `classes`",
                    listed.join(", ")
                ))
            }
            _ => Ok((labels, Some(sorted))),
        }
    }
}

/// Numbers as signs: −1 and +1, 0 and 1, or 1 and 2, as LIBSVM's files have them; all 1 is +1.
fn signs(labels: Vec<f64>) -> Result<Vec<f64>, String> {
    let pairs = [[-1.0, 1.0], [0.0, 1.0], [1.0, 2.0]];
    match pairs.iter().find(|pair| labels.iter().all(|label| pair.contains(label))) {
        Some([_, positive]) => {
            Ok(labels.into_iter().map(|label| if label == *positive { 1.0 } else { -1.0 }).collect())
        }
        None => {
            let mut different = labels;
            different.sort_unstable_by(f64::total_cmp);
            different.dedup();
            let listed: Vec<String> = different.iter().take(5).map(f64::to_string).collect();
            let more = if different.len() > 5 { ", …" } else { "" };
            Err(format!(
                "its labels are {}{more}, and two are told apart: -1 and +1, 0 and 1, or 1 and 2; pick or merge \
                 others with `classes`, such as classes = [[{}], [{}]]",
                listed.join(", "),
                different[0],
                different[different.len() - 1]
            ))
        }
    }
}
