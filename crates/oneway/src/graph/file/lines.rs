//! The lines of an edge list, one by one.

use std::collections::HashMap;
use std::path::Path;

use crate::error::shown;
use crate::graph::{MAX_AGENTS, MAX_EDGES};
use crate::{Error, Result, input};

/// No line of an edge list is longer. What is longer is some other file, perhaps one without end.
pub(super) const MAX_LINE: u64 = 1 << 16;

/// How a file calls agents.
#[derive(Debug)]
pub(super) enum Ids {
    /// By numbers that begin with this one.
    From(usize),
    /// By names, numbered as they come.
    Names(HashMap<String, usize>),
}

/// What a line is, for messages.
const LINE: &str = "`from to` or `from to weight`, with blanks, tabs or commas between";

/// The longest name of an agent.
const LONGEST_NAME: usize = 200;

/// What has been read so far.
pub(super) struct Lines<'a> {
    path: &'a Path,
    agents: Option<usize>,
    ids: Ids,
    line: usize,
    pub(super) edges: Vec<(usize, usize)>,
    pub(super) weights: Vec<f64>,
    /// The line of each weighted edge; a second weight would contradict the first.
    seen: HashMap<(usize, usize), usize>,
    /// The error of an agent n among n. It is one only if there is an agent 0, else all are numbered from 1.
    beyond: Option<Error>,
}

impl<'a> Lines<'a> {
    /// None yet.
    pub(super) fn new(path: &'a Path, agents: Option<usize>, ids: Ids) -> Self {
        let (edges, weights, seen) = (Vec::new(), Vec::new(), HashMap::new());
        Self { path, agents, ids, line: 0, edges, weights, seen, beyond: None }
    }

    /// Reads the next line.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<()> {
        self.line += 1;
        if let Some(what) = input::foreign(bytes).filter(|_| self.line == 1) {
            let message =
                format!("{what}; an edge list is text, and a line of it `from to` or `from to weight`");
            return Err(Error::File { path: self.path.to_owned(), message });
        }
        if bytes.len() as u64 > MAX_LINE {
            return Err(
                self.error(1, format!("the line is longer than {MAX_LINE} bytes: this is no edge list"))
            );
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            self.error(valid.chars().count() + 1, "the file is not UTF-8 text".to_owned())
        })?;
        let text = if self.line == 1 { text.strip_prefix(input::MARK).unwrap_or(text) } else { text };
        if self.edges.len() >= MAX_EDGES {
            return Err(self.error(1, format!("there are more than {MAX_EDGES} edges")));
        }
        let content = text.split('#').next().unwrap_or_default();
        let cells: Vec<&str> = match content.contains(',') {
            true => content.split(',').map(str::trim).collect(),
            false => content.split_whitespace().collect(),
        };
        let column = |cell: &str| {
            // `cell` is a part of `content`: the characters before it are those in between their addresses.
            let bytes_before = cell.as_ptr() as usize - content.as_ptr() as usize;
            content[..bytes_before].chars().count() + 1
        };
        let end = content.trim_end().chars().count() + 1;
        if let Some((at, separator)) = [";", "|", "->"].iter().find_map(|s| Some((content.find(s)?, s))) {
            let message = format!("there is a `{separator}`: write {LINE}");
            return Err(self.error(content[..at].chars().count() + 1, message));
        }
        if let Some(empty) = cells.iter().find(|cell| cell.is_empty()) {
            let message = format!("there is nothing where a cell should be: write {LINE}");
            return Err(self.error(column(empty), message));
        }
        if self.edges.is_empty() && is_header(&cells) {
            return Ok(());
        }
        let (from, to, weight) = match cells[..] {
            [] => return Ok(()),
            [_] => return Err(self.error(end, "the receiver is missing: a line is `from to`".to_owned())),
            [from, to] => (from, to, None),
            [from, to, weight] => (from, to, Some(weight)),
            [_, _, _, extra, ..] => {
                let message = format!("`{}` is one too many: a line is `from to weight`", shown(extra));
                return Err(self.error(column(extra), message));
            }
        };
        let edge = (self.id(from, column(from))?, self.id(to, column(to))?);
        match weight {
            Some(weight) if self.weights.len() == self.edges.len() => {
                let number = self.weight(weight, column(weight))?;
                if let Some(before) = self.seen.insert(edge, self.line) {
                    let message =
                        format!("edge {} -> {} has a weight already, in line {before}", edge.0, edge.1);
                    return Err(self.error(column(from), message));
                }
                self.weights.push(number);
            }
            Some(weight) => {
                let message = "the lines before have no weight: give all lines one, or none".to_owned();
                return Err(self.error(column(weight), message));
            }
            None if !self.weights.is_empty() => {
                let message = "the weight is missing, which the lines before have".to_owned();
                return Err(self.error(end, message));
            }
            None => {}
        }
        self.edges.push(edge);
        Ok(())
    }

    /// The names of agents, as they came.
    pub(super) fn names(&mut self) -> Vec<String> {
        let Ids::Names(known) = &mut self.ids else { return vec![] };
        let mut names: Vec<(String, usize)> = known.drain().collect();
        names.sort_unstable_by_key(|(_, id)| *id);
        names.into_iter().map(|(name, _)| name).collect()
    }

    /// Whether agents are numbered from 0, as they should be, once all lines are read.
    pub(super) fn check_first_id(&mut self) -> Result<()> {
        if !matches!(self.ids, Ids::From(0)) {
            return Ok(());
        }
        let ids = || self.edges.iter().flat_map(|&(from, to)| [from, to]);
        let last = match (&self.beyond, self.agents, ids().max()) {
            (None, Some(_), _) | (None, None, None | Some(0)) => return Ok(()),
            (_, Some(agents), _) => agents,
            (_, None, largest) => largest.unwrap_or(0),
        };
        if ids().any(|id| id == 0) {
            return self.beyond.take().map_or(Ok(()), Err);
        }
        if self.beyond.is_none() {
            let mut missing = vec![true; last + 1];
            ids().for_each(|id| missing[id] = false);
            if missing[1..].contains(&true) {
                return Ok(()); // ids with gaps: agent 0 may well be one of those without links
            }
        }
        let message = format!(
            "its agents are numbered from 1 to {last}, and none is agent 0: agents are numbered from 0, so give `base = 1`, or take 1 off each"
        );
        Err(Error::File { path: self.path.to_owned(), message })
    }

    fn id(&mut self, cell: &str, column: usize) -> Result<usize> {
        let base = match &mut self.ids {
            Ids::From(base) => *base,
            Ids::Names(known) => {
                let next = known.len();
                if let Some(id) = known.get(cell) {
                    return Ok(*id);
                }
                if next >= MAX_AGENTS || cell.len() > LONGEST_NAME {
                    let message = format!(
                        "`{}` is one name too many, or too long a one: there may be {MAX_AGENTS}, of {LONGEST_NAME} bytes",
                        shown(cell)
                    );
                    return Err(self.error(column, message));
                }
                known.insert(cell.to_owned(), next);
                return Ok(next);
            }
        };
        let digits = !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
        if !digits {
            let message = format!(
                "`{}` is not an agent: ids are whole numbers from {base} (for names give `names = true`)",
                shown(cell)
            );
            return Err(self.error(column, message));
        }
        // What does not fit into a number is beyond the last agent too.
        let Some(id) = cell.parse::<usize>().unwrap_or(usize::MAX).checked_sub(base) else {
            let message =
                format!("agent {} is not possible: `base = {base}` says where ids begin", shown(cell));
            return Err(self.error(column, message));
        };
        match self.agents {
            Some(agents) if id >= agents => {
                let last = agents - 1 + base;
                let message = format!(
                    "agent {} is beyond the last one: with {agents} agents the ids are {base} to {last}",
                    shown(cell)
                );
                let error = self.error(column, message);
                match id == agents && base == 0 {
                    true => drop(self.beyond.get_or_insert(error)),
                    false => return Err(self.beyond.take().unwrap_or(error)),
                }
                Ok(id)
            }
            None if id >= MAX_AGENTS => {
                let last = MAX_AGENTS - 1 + base;
                Err(self.error(column, format!("agent {} is beyond {last}, the last possible", shown(cell))))
            }
            _ => Ok(id),
        }
    }

    fn weight(&self, cell: &str, column: usize) -> Result<f64> {
        match cell.parse::<f64>() {
            Ok(weight) if weight.is_finite() && weight > 0.0 => Ok(weight),
            _ => {
                let message =
                    format!("`{}` is not a weight: it must be a positive finite number", shown(cell));
                Err(self.error(column, message))
            }
        }
    }

    fn error(&self, column: usize, message: String) -> Error {
        Error::Parse { path: self.path.to_owned(), line: self.line, column, message }
    }
}

/// Whether a line names its columns, as tables do: `source,target,weight`.
fn is_header(cells: &[&str]) -> bool {
    const FROM: [&str; 4] = ["from", "source", "src", "sender"];
    const TO: [&str; 5] = ["to", "target", "dst", "destination", "receiver"];
    let is_one = |cell: &str, of: &[&str]| of.iter().any(|word| cell.eq_ignore_ascii_case(word));
    matches!(cells, [from, to, ..] if is_one(from, &FROM) && is_one(to, &TO))
}
