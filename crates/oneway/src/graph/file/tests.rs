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
        ("0 -1", "f:1:3: `-1` is not an agent: ids are whole numbers from 0 (for names give `names = true`)"),
        (
            "0 1.5",
            "f:1:3: `1.5` is not an agent: ids are whole numbers from 0 (for names give `names = true`)",
        ),
        ("é é", "f:1:1: `é` is not an agent: ids are whole numbers from 0 (for names give `names = true`)"),
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
        complaint(b"\x1f\x8b\x08", None).starts_with("f: it is compressed by gzip: decompress it; an edge")
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
    assert!(matches!(weighted.to_mixing(Stochastic::Columns), Err(Error::NotStochastic { index: 0, .. })));
    assert!(parsed("0 1").unwrap().to_mixing(Stochastic::Rows).unwrap_err().to_string().contains("weight"));
    let short = EdgeList { weights: Some(vec![1.0]), ..weighted };
    assert!(matches!(short.to_mixing(Stochastic::Rows), Err(Error::Mismatch { .. })));
}

#[test]
fn files_that_are_not_there_and_directories_are_errors() {
    let directory = std::env::temp_dir();
    assert!(matches!(read(&directory, None), Err(Error::File { .. })));
    assert!(matches!(read(directory.join("no-such-edge-list"), None), Err(Error::Io { .. })));
}
