//! Edge lists as text files.
//!
//! A line is `from to` or `from to weight`, separated by spaces or tabs: agent `to` hears agent `from`, and gives it
//! this weight. Ids count from 0. What follows a `#` is a comment; blank lines do not count. Either all lines have
//! a weight or none does; with weights, self-links are links like any other and must be in the file.
//!
//! ```text
//! # two agents, one way
//! 0 0 1.0
//! 0 1 0.5    # agent 1 takes half of what it hears …
//! 1 1 0.5    # … and half of what it has
//! ```

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use super::digraph::check_agents;
use super::{Digraph, MAX_AGENTS, MAX_EDGES};
use crate::error::shown;
use crate::mixing::{Link, Mixing, Stochastic};
use crate::{Error, Result};

/// No line of an edge list is longer. What is longer is some other file, perhaps one without end.
const MAX_LINE: u64 = 1 << 16;

/// What an edge list says.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeList {
    /// Number of agents.
    pub agents: usize,
    /// The edges (from, to) in the order of the file, self-loops and repetitions included.
    pub edges: Vec<(usize, usize)>,
    /// The weight of each edge, if the file gives weights.
    pub weights: Option<Vec<f64>>,
}

impl EdgeList {
    /// The digraph of these edges; self-loops and repetitions drop out, weights do not matter.
    pub fn digraph(&self) -> Result<Digraph> {
        Digraph::from_edges(self.agents, self.edges.iter().copied())
    }

    /// The mixing matrix W\[to\]\[from\] = weight, checked to be stochastic by rows (pull) or columns (push).
    ///
    /// ```
    /// use oneway::{graph::file, mixing::Stochastic};
    /// let list = file::parse("0 0 1\n0 1 .5\n1 1 .5".as_bytes(), "links.txt".as_ref(), None).unwrap();
    /// assert_eq!(list.to_mixing(Stochastic::Rows).unwrap().row(1).collect::<Vec<_>>(), [(0, 0.5), (1, 0.5)]);
    /// ```
    pub fn to_mixing(&self, stochastic: Stochastic) -> Result<Mixing> {
        check_agents("edge list", self.agents)?;
        let Some(weights) = &self.weights else {
            return Err(Error::parameter(
                "edge list",
                "weight",
                "none",
                "each line must be `from to weight`",
            ));
        };
        if weights.len() != self.edges.len() {
            return Err(Error::Mismatch {
                left: "list of edges",
                left_size: self.edges.len(),
                right: "list of weights",
                right_size: weights.len(),
                unit: "entries",
            });
        }
        let links = self.edges.iter().zip(weights).map(|(&(from, to), &weight)| Link { from, to, weight });
        Mixing::new(self.agents, stochastic, links)
    }
}

/// Reads an edge list from a file.
///
/// # Arguments
/// * `path`: the file.
/// * `agents`: how many agents there are; `None` for one more than the largest id.
///
/// # Returns
/// The list, or an error with file, line and column.
pub fn read(path: impl AsRef<Path>, agents: Option<usize>) -> Result<EdgeList> {
    let path = path.as_ref();
    let io = |source| Error::Io { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(io)?;
    if file.metadata().map_err(io)?.is_dir() {
        return Err(Error::File {
            path: path.to_owned(),
            message: "this is a directory, not an edge list".to_owned(),
        });
    }
    parse(BufReader::new(file), path, agents)
}

/// Reads an edge list from anywhere; `path` is what messages call it. See [`read`].
///
/// ```
/// use oneway::graph::file;
/// let list = file::parse("0 1\n1 2 # and no further".as_bytes(), "links.txt".as_ref(), None).unwrap();
/// assert_eq!((list.agents, list.edges), (3, vec![(0, 1), (1, 2)]));
/// let error = file::parse("0 1\n1  x".as_bytes(), "links.txt".as_ref(), None).unwrap_err();
/// assert_eq!(error.to_string(), "links.txt:2:4: `x` is not an agent: ids are whole numbers from 0");
/// ```
pub fn parse(mut text: impl BufRead, path: &Path, agents: Option<usize>) -> Result<EdgeList> {
    if let Some(agents) = agents {
        check_agents("edge list", agents)?;
    }
    let mut list =
        Lines { path, agents, line: 0, edges: Vec::new(), weights: Vec::new(), seen: HashMap::new() };
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let limited = text.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut bytes);
        if limited.map_err(|source| Error::Io { path: path.to_owned(), source })? == 0 {
            break;
        }
        list.line += 1;
        list.add(&bytes)?;
    }

    let largest = list.edges.iter().map(|&(from, to)| from.max(to)).max();
    // A lone agent needs no links. More agents without a single link are an empty or a wrong file.
    let agents = match (agents, largest) {
        (Some(1), None) => 1,
        (_, None) => {
            let message = "there is no edge in it: a line is `from to` or `from to weight`".to_owned();
            return Err(Error::File { path: path.to_owned(), message });
        }
        (given, Some(largest)) => given.unwrap_or(largest + 1),
    };
    let weights = (!list.weights.is_empty()).then_some(list.weights);
    Ok(EdgeList { agents, edges: list.edges, weights })
}

/// Writes a digraph as an edge list, ascending, with a comment on top.
///
/// ```
/// use oneway::graph::{families, file};
/// let mut text = Vec::new();
/// file::write(&families::ring(3).unwrap(), &mut text).unwrap();
/// assert_eq!(text, b"# 3 agents, 3 edges: from to\n0 1\n1 2\n2 0\n");
/// ```
pub fn write(graph: &Digraph, mut out: impl Write) -> std::io::Result<()> {
    writeln!(out, "# {} agents, {} edges: from to", graph.agents(), graph.edge_count())?;
    for (from, to) in graph.edges() {
        writeln!(out, "{from} {to}")?;
    }
    out.flush()
}

/// What has been read so far.
struct Lines<'a> {
    path: &'a Path,
    agents: Option<usize>,
    line: usize,
    edges: Vec<(usize, usize)>,
    weights: Vec<f64>,
    /// The line of each weighted edge; a second weight would contradict the first.
    seen: HashMap<(usize, usize), usize>,
}

impl Lines<'_> {
    fn add(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() as u64 > MAX_LINE {
            return Err(
                self.error(1, format!("the line is longer than {MAX_LINE} bytes: this is no edge list"))
            );
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            self.error(valid.chars().count() + 1, "the file is not UTF-8 text".to_owned())
        })?;
        let text = if self.line == 1 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        if self.edges.len() >= MAX_EDGES {
            return Err(self.error(1, format!("there are more than {MAX_EDGES} edges")));
        }
        let content = text.split('#').next().unwrap_or_default();
        let cells: Vec<&str> = content.split_whitespace().collect();
        let column = |cell: &str| {
            // `cell` is a part of `content`: the characters before it are those in between their addresses.
            let bytes_before = cell.as_ptr() as usize - content.as_ptr() as usize;
            content[..bytes_before].chars().count() + 1
        };
        let end = content.trim_end().chars().count() + 1;
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

    fn id(&self, cell: &str, column: usize) -> Result<usize> {
        let digits = !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
        if !digits {
            let message = format!("`{}` is not an agent: ids are whole numbers from 0", shown(cell));
            return Err(self.error(column, message));
        }
        // What does not fit into a number is beyond the last agent too.
        let id = cell.parse::<usize>().unwrap_or(usize::MAX);
        match self.agents {
            Some(agents) if id >= agents => {
                let last = agents - 1;
                let message = format!(
                    "agent {} is beyond the last one: with {agents} agents the ids are 0 to {last}",
                    shown(cell)
                );
                Err(self.error(column, message))
            }
            None if id >= MAX_AGENTS => {
                let last = MAX_AGENTS - 1;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<EdgeList> {
        parse(text.as_bytes(), Path::new("f"), None)
    }

    fn complaint(text: impl AsRef<[u8]>, agents: Option<usize>) -> String {
        parse(text.as_ref(), Path::new("f"), agents).unwrap_err().to_string()
    }

    #[test]
    fn comments_blank_lines_tabs_carriage_returns_and_byte_order_marks_are_fine() {
        let list = parsed("\u{feff}# head\r\n\r\n0\t1\r\n  2   0  # tail\n\t\n1 2#x").unwrap();
        assert_eq!(list.edges, [(0, 1), (2, 0), (1, 2)]);
        assert_eq!((list.agents, list.weights), (3, None));
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, message) in [
            ("0 1\n0", "f:2:2: the receiver is missing: a line is `from to`"),
            ("0 -1", "f:1:3: `-1` is not an agent: ids are whole numbers from 0"),
            ("0 1.5", "f:1:3: `1.5` is not an agent: ids are whole numbers from 0"),
            ("é é", "f:1:1: `é` is not an agent: ids are whole numbers from 0"),
            ("0 1 0.5 7", "f:1:9: `7` is one too many: a line is `from to weight`"),
            ("0 1 nan", "f:1:5: `nan` is not a weight: it must be a positive finite number"),
            ("0 1 0", "f:1:5: `0` is not a weight: it must be a positive finite number"),
            ("0 1 -1", "f:1:5: `-1` is not a weight: it must be a positive finite number"),
            ("0 1 1e999", "f:1:5: `1e999` is not a weight: it must be a positive finite number"),
            ("0 1 .5\n1 0", "f:2:4: the weight is missing, which the lines before have"),
            ("0 1\n1 0 .5", "f:2:5: the lines before have no weight: give all lines one, or none"),
            ("0 1 .5\n\n 0 1 .5", "f:3:2: edge 0 -> 1 has a weight already, in line 1"),
            ("0 10000000", "f:1:3: agent 10000000 is beyond 9999999, the last possible"),
            (
                "0 99999999999999999999999",
                "f:1:3: agent 99999999999999999999999 is beyond 9999999, the last possible",
            ),
            ("", "f: there is no edge in it: a line is `from to` or `from to weight`"),
            ("# nothing\n", "f: there is no edge in it: a line is `from to` or `from to weight`"),
        ] {
            assert_eq!(complaint(text, None), message);
        }
        assert_eq!(
            complaint("0 1\n1 5", Some(5)),
            "f:2:3: agent 5 is beyond the last one: with 5 agents the ids are 0 to 4"
        );
        assert_eq!(complaint(b"0 1\n0 \xff", None), "f:2:3: the file is not UTF-8 text");
        assert_eq!(
            complaint(vec![b' '; 70_000], None),
            "f:1:1: the line is longer than 65536 bytes: this is no edge list"
        );
        assert!(complaint("0 1", Some(0)).contains("`agents` = 0"));
    }

    #[test]
    fn a_lone_agent_needs_no_edges() {
        let list = parse("# 1 agent".as_bytes(), Path::new("f"), Some(1)).unwrap();
        assert_eq!(list.digraph().unwrap().agents(), 1);
    }

    #[test]
    fn weights_must_be_given_and_stochastic() {
        let weighted = parsed("0 0 1\n0 1 0.25\n1 1 0.75").unwrap();
        assert!(weighted.to_mixing(Stochastic::Rows).is_ok());
        assert!(matches!(
            weighted.to_mixing(Stochastic::Columns),
            Err(Error::NotStochastic { index: 0, .. })
        ));
        assert!(
            parsed("0 1").unwrap().to_mixing(Stochastic::Rows).unwrap_err().to_string().contains("weight")
        );
        let short = EdgeList { weights: Some(vec![1.0]), ..weighted };
        assert!(matches!(short.to_mixing(Stochastic::Rows), Err(Error::Mismatch { .. })));
    }

    #[test]
    fn files_that_are_not_there_and_directories_are_errors() {
        let directory = std::env::temp_dir();
        assert!(matches!(read(&directory, None), Err(Error::File { .. })));
        assert!(matches!(read(directory.join("no-such-edge-list"), None), Err(Error::Io { .. })));
    }
}
