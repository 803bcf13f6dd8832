//! Edge lists as text files.
//!
//! A line is `from to` or `from to weight`, separated by spaces or tabs: agent `to` hears agent `from`, and
//! gives it this weight. Ids count from 0. What follows a `#` is a comment; blank lines do not count. Either
//! all lines have a weight or none does; with weights, self-links are links like any other and must be in the
//! file. A byte order mark before the first line is skipped.
//!
//! ```text
//! # two agents, one way
//! 0 0 1.0
//! 0 1 0.5    # agent 1 takes half of what it hears …
//! 1 1 0.5    # … and half of what it has
//! ```

mod lines;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use super::Digraph;
use super::digraph::check_agents;
use crate::graph::mixing::{Link, Mixing, Stochastic};
use crate::{Error, Result, input};
use lines::{Lines, MAX_LINE};

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
    /// use oneway::{graph::file, graph::mixing::Stochastic};
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

    /// The same with every weight divided by the sum of its row (receiver) or column (sender), so that they
    /// sum to one.
    ///
    /// ```
    /// use oneway::{graph::file, graph::mixing::Stochastic};
    /// let list = file::parse("0 0 1\n0 1 3\n1 1 1".as_bytes(), "links.txt".as_ref(), None).unwrap();
    /// assert_eq!(list.normalised(Stochastic::Rows).weights.unwrap(), [1.0, 0.75, 0.25]);
    /// assert_eq!(list.normalised(Stochastic::Columns).weights.unwrap(), [0.25, 0.75, 1.0]);
    /// ```
    pub fn normalised(&self, stochastic: Stochastic) -> EdgeList {
        let owner = |&(from, to): &(usize, usize)| match stochastic {
            Stochastic::Rows => to,
            Stochastic::Columns => from,
        };
        let weighted = || self.edges.iter().map(owner).zip(self.weights.iter().flatten());
        let mut sums = vec![0.0; self.agents];
        for (owner, weight) in weighted() {
            sums.get_mut(owner).into_iter().for_each(|sum| *sum += weight); // `to_mixing` names an agent that is not there
        }
        let share = |(owner, weight): (usize, &f64)| weight / sums.get(owner).copied().unwrap_or(1.0);
        EdgeList { weights: self.weights.as_ref().map(|_| weighted().map(share).collect()), ..self.clone() }
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
    parse(BufReader::new(input::open(path, "an edge list")?), path, agents)
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
    let mut list = Lines::new(path, agents);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let limited = text.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut bytes);
        if limited.map_err(|source| Error::Io { path: path.to_owned(), source })? == 0 {
            break;
        }
        list.add(&bytes)?;
    }
    list.check_first_id()?;

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
        assert_eq!(
            complaint("é 0,1", None),
            "f:1:4: there is a `,`: write `from to` or `from to weight`, with blanks between"
        );
        assert!(
            complaint(b"\x1f\x8b\x08", None)
                .starts_with("f: it is compressed by gzip: decompress it; an edge")
        );
    }

    /// Agent n of n, or no agent 0 at all: the file counts from 1. Where an agent 0 is named, agent n is the
    /// fault.
    #[test]
    fn ids_from_one_are_recognised() {
        let from_one = |last: usize| {
            format!(
                "f: its agents are numbered from 1 to {last}, and none is agent 0: agents are numbered from 0, so take 1 off each"
            )
        };
        for (text, agents, message) in [
            ("1 2\n2 3\n3 1", Some(3), from_one(3)),
            ("1 2\n2 3\n3 1", None, from_one(3)),
            ("3 1 .5\n1 1 .5", Some(3), from_one(3)),
            (
                "3 1\n1 0",
                Some(3),
                "f:1:1: agent 3 is beyond the last one: with 3 agents the ids are 0 to 2".to_owned(),
            ),
            (
                "3 1\n1 9",
                Some(3),
                "f:1:1: agent 3 is beyond the last one: with 3 agents the ids are 0 to 2".to_owned(),
            ),
        ] {
            assert_eq!(complaint(text, agents), message, "{text}");
        }
        for (text, agents) in [("1 2\n2 1", Some(3)), ("1 3", None), ("1 2\n2 0", None), ("0 0", None)] {
            assert!(parse(text.as_bytes(), Path::new("f"), agents).is_ok(), "{text}");
        }
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
