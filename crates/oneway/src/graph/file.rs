//! Edge lists as text files.
//!
//! A line is `from to` or `from to weight`, separated by spaces, tabs or commas: agent `to` hears agent
//! `from`, and gives it this weight. Ids count from 0, unless [`Reading`] says otherwise. A first line such as
//! `source,target` is skipped. What follows a `#` is a comment; blank lines do not count. Either
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

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use super::Digraph;
use super::digraph::check_agents;
use crate::graph::mixing::{Link, Mixing, Stochastic};
use crate::{Error, Result, input};
use lines::{Ids, Lines, MAX_LINE};

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

/// How an edge list is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// How many agents there are; `None` for one more than the largest id, or as many as there are names.
    pub agents: Option<usize>,
    /// The first id: 0, or 1.
    pub base: usize,
}

/// An edge list whose agents have names.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedEdges {
    /// The edges; ids count names.
    pub list: EdgeList,
    /// The name of each id.
    pub names: Vec<String>,
}

/// Gives agents of some lists one numbering: their names in ascending order, byte by byte. So the order of
/// lines does not matter, and lists that name the same agents agree.
///
/// ```
/// use oneway::graph::file;
/// let list = file::parse_named("paris, oslo\noslo, bern".as_bytes(), "links.csv".as_ref()).unwrap();
/// let (lists, names) = file::numbered(vec![list]);
/// assert_eq!((&names[..], &lists[0].edges[..]), (&["bern", "oslo", "paris"].map(String::from)[..], &[(2, 1), (1, 0)][..]));
/// ```
pub fn numbered(lists: Vec<NamedEdges>) -> (Vec<EdgeList>, Vec<String>) {
    let mut names: Vec<String> = lists.iter().flat_map(|list| &list.names).cloned().collect();
    names.sort_unstable();
    names.dedup();
    let ids = |NamedEdges { list, names: own }: NamedEdges| {
        let id: Vec<usize> = own.iter().map(|name| names.binary_search(name).unwrap_or(0)).collect();
        let edges = list.edges.iter().map(|&(from, to)| (id[from], id[to])).collect();
        EdgeList { agents: names.len(), edges, weights: list.weights }
    };
    (lists.into_iter().map(ids).collect(), names)
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
    read_with(path, Reading { agents, base: 0 })
}

/// The same, with ids that may begin with 1.
pub fn read_with(path: impl AsRef<Path>, reading: Reading) -> Result<EdgeList> {
    let path = path.as_ref();
    parse_with(BufReader::new(input::open(path, "an edge list")?), path, reading)
}

/// Reads an edge list whose agents have names.
pub fn read_named(path: impl AsRef<Path>) -> Result<NamedEdges> {
    let path = path.as_ref();
    parse_named(BufReader::new(input::open(path, "an edge list")?), path)
}

/// Reads an edge list from anywhere; `path` is what messages call it. See [`read`].
///
/// ```
/// use oneway::graph::file;
/// let list = file::parse("0 1\n1 2 # and no further".as_bytes(), "links.txt".as_ref(), None).unwrap();
/// assert_eq!((list.agents, list.edges), (3, vec![(0, 1), (1, 2)]));
/// let error = file::parse("0 1\n1  x".as_bytes(), "links.txt".as_ref(), None).unwrap_err();
/// let message = "links.txt:2:4: `x` is not an agent: ids are whole numbers from 0 (for names give `names = true`)";
/// assert_eq!(error.to_string(), message);
/// ```
pub fn parse(text: impl BufRead, path: &Path, agents: Option<usize>) -> Result<EdgeList> {
    parse_with(text, path, Reading { agents, base: 0 })
}

/// The same, with ids that may begin with 1.
pub fn parse_with(text: impl BufRead, path: &Path, reading: Reading) -> Result<EdgeList> {
    if let Some(agents) = reading.agents {
        check_agents("edge list", agents)?;
    }
    let list = Lines::new(path, reading.agents, Ids::From(reading.base));
    Ok(parse_lines(text, list, path, reading.agents)?.0)
}

/// Reads an edge list whose agents have names: any words without blanks, or with commas between them any
/// text without commas.
pub fn parse_named(text: impl BufRead, path: &Path) -> Result<NamedEdges> {
    let list = Lines::new(path, None, Ids::Names(HashMap::new()));
    let (list, names) = parse_lines(text, list, path, None)?;
    Ok(NamedEdges { list, names })
}

fn parse_lines(
    mut text: impl BufRead,
    mut list: Lines<'_>,
    path: &Path,
    agents: Option<usize>,
) -> Result<(EdgeList, Vec<String>)> {
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
    let names = list.names();
    let weights = (!list.weights.is_empty()).then_some(list.weights);
    Ok((EdgeList { agents, edges: list.edges, weights }, names))
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
            (
                "0 -1",
                "f:1:3: `-1` is not an agent: ids are whole numbers from 0 (for names give `names = true`)",
            ),
            (
                "0 1.5",
                "f:1:3: `1.5` is not an agent: ids are whole numbers from 0 (for names give `names = true`)",
            ),
            (
                "é é",
                "f:1:1: `é` is not an agent: ids are whole numbers from 0 (for names give `names = true`)",
            ),
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
            complaint("é 0;1", None),
            "f:1:4: there is a `;`: write `from to` or `from to weight`, with blanks, tabs or commas between"
        );
        assert_eq!(
            complaint("0, 1\n1,,0.5", None),
            "f:2:3: there is nothing where a cell should be: write `from to` or `from to weight`, with blanks, \
             tabs or commas between"
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
                "f: its agents are numbered from 1 to {last}, and none is agent 0: agents are numbered from 0, so give `base = 1`, or take 1 off each"
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

    /// One network, written in many ways, is one network.
    #[test]
    fn separators_headers_and_bases_change_nothing() {
        let plain = parsed("0 1 .5\n1 2 .25\n2 0 1").unwrap();
        for text in ["0,1,.5\n1,2,.25\n2,0,1", "source,target,weight\n0, 1, .5\n1\t2\t.25\n2 0 1 # end"] {
            assert_eq!(parsed(text).unwrap(), plain, "{text}");
        }
        let from_one =
            |text: &str, agents| parse_with(text.as_bytes(), Path::new("f"), Reading { agents, base: 1 });
        for agents in [None, Some(3)] {
            assert_eq!(from_one("1 2 .5\n2 3 .25\n3 1 1", agents).unwrap(), plain);
        }
        let told = |text: &str| from_one(text, Some(3)).unwrap_err().to_string();
        assert_eq!(told("1 2\n0 1"), "f:2:1: agent 0 is not possible: `base = 1` says where ids begin");
        assert_eq!(told("1 4"), "f:1:3: agent 4 is beyond the last one: with 3 agents the ids are 1 to 3");
    }

    #[test]
    fn names_are_numbered_in_their_order_whatever_that_of_lines() {
        let named = |text: &str| parse_named(text.as_bytes(), Path::new("f")).unwrap();
        let (one, names) = numbered(vec![named("c a\na b\nb c")]);
        let (other, same) = numbered(vec![named("from,to\na,b\nb,c\nc,a")]);
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(names, same);
        assert_eq!(one[0].digraph().unwrap(), other[0].digraph().unwrap());
        // two lists that do not name the same agents share one numbering
        let (both, all) = numbered(vec![named("a c"), named("b d")]);
        assert_eq!(all.len(), 4);
        assert_eq!((both[0].edges[0], both[1].edges[0]), ((0, 2), (1, 3)));
        let long = "x".repeat(300);
        let refused = parse_named(format!("{long} b").as_bytes(), Path::new("f")).unwrap_err().to_string();
        assert!(refused.starts_with("f:1:1: `xxx"), "{refused}");
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
