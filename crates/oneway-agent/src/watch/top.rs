//! `oneway-agent top`: all agents of a run on one screen.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::plan::config::Config;
use crate::plan::layout::file_of;
use crate::watch::metrics;
use crate::watch::status::Report;

/// The metrics addresses of the agents of a folder of configs.
pub fn addresses(folder: &Path) -> Result<Vec<String>> {
    let configs = (0..).map(|agent| folder.join(file_of(agent))).take_while(|path| path.exists());
    let address = |path: std::path::PathBuf| {
        Config::read(&path)?.metrics.with_context(|| format!("{}: it has no `metrics`", path.display()))
    };
    let found = configs.map(address).collect::<Result<Vec<_>>>()?;
    if found.is_empty() {
        bail!("{}: there is no {}", folder.display(), file_of(0));
    }
    Ok(found)
}

/// Asks all agents for their status, and draws a table for a screen of this width, if it has one.
pub fn look(addresses: &[String], width: Option<usize>) -> String {
    let reports: Vec<Option<Report>> = addresses.iter().map(|address| metrics::ask(address)).collect();
    draw(&reports, width)
}

/// The width of the screen: `COLUMNS` if that is set, the terminal's if standard output is one, and none in a
/// file or a pipe.
pub fn width() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let measured = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    given.or_else(|| measured().filter(|_| std::io::stdout().is_terminal())).filter(|width| *width > 0)
}

/// Columns by their head, each this wide, and when it goes where there is no room for all: the largest first.
const COLUMNS: [(&str, usize, usize); 8] = [
    ("agent", 5, 0),
    ("round", 12, 1),
    ("behind", 6, 2),
    ("rounds/s", 9, 4),
    ("waiting", 8, 3),
    ("loss", 11, 5),
    ("received", 10, 7),
    ("sent", 10, 6),
];

/// A line for each agent: its round, how far it is behind the first, its loss, whom it waits for, and which
/// neighbours are away. What is said of links stands at the end of the line, or below it where it is too long.
fn draw(reports: &[Option<Report>], width: Option<usize>) -> String {
    const LEAST_FOR_LINKS: usize = 6; // "good"
    let width = width.unwrap_or(usize::MAX);
    let room = |kept: usize| {
        let shown = COLUMNS.iter().filter(|column| column.2 < kept);
        shown.map(|column| column.1 + 1).sum::<usize>() + LEAST_FOR_LINKS
    };
    let kept = (2..=COLUMNS.len()).rev().find(|kept| room(*kept) <= width).unwrap_or(2);
    let line = |cells: [String; 8], links: &str| {
        let shown = COLUMNS.iter().zip(cells).filter(|((_, _, goes), _)| *goes < kept);
        let cells: Vec<String> = shown.map(|((_, wide, _), cell)| format!("{cell:>wide$}")).collect();
        let mut line = cells.join(" ");
        if line.chars().count() + 2 + links.chars().count() <= width {
            let _ = write!(line, "  {links}");
        } else {
            below(&mut line, links, width);
        }
        line + "\n"
    };
    let first = reports.iter().flatten().map(|report| report.round).max().unwrap_or(0);
    let mut text = line(COLUMNS.map(|column| column.0.to_owned()), "links");
    for (agent, report) in reports.iter().enumerate() {
        let Some(report) = report else {
            let _ = writeln!(text, "{agent:>5} does not answer");
            continue;
        };
        let waited: f64 = report.neighbours.iter().map(|of| of.waited).sum();
        let [received, sent] =
            [0, 1].map(|way| report.neighbours.iter().map(|of| of.bytes[way]).sum::<u64>());
        let cells = [
            agent.to_string(),
            format!("{}/{}", report.round, report.rounds),
            (first - report.round).to_string(),
            format!("{:.1}", report.rounds_here as f64 / report.seconds.max(1e-9)),
            format!("{:.0}%", 100.0 * waited / report.seconds.max(1e-9)),
            report.loss.map_or(String::new(), |loss| format!("{loss:.6}")),
            bytes(received),
            bytes(sent),
        ];
        text += &line(cells, &health(report));
    }
    text
}

/// Adds words below a line, as many in each as there is room for.
fn below(text: &mut String, words: &str, width: usize) {
    const INDENT: &str = "      ";
    let mut used = usize::MAX;
    for word in words.split(' ') {
        let long = word.chars().count();
        if used.saturating_add(1 + long) > width {
            let _ = write!(text, "\n{INDENT}{word}");
            used = INDENT.len() + long;
        } else {
            let _ = write!(text, " {word}");
            used += 1 + long;
        }
    }
}

/// What is wrong, or which neighbour it waits for; "good" otherwise.
fn health(report: &Report) -> String {
    let mut words = vec![];
    if report.finished {
        words.push("finished".to_owned());
    }
    if let Some((who, graph, round, seconds)) = report.waiting.as_ref().filter(|waiting| waiting.3 > 1.0) {
        words.push(format!("waits for agent {who} ({graph}, round {round}) for {seconds:.0} s"));
    }
    for of in &report.neighbours {
        match (of.seen, of.away_for) {
            (false, _) => words.push(format!("agent {} not seen yet", of.agent)),
            (true, Some(seconds)) => words.push(format!("agent {} away for {seconds:.0} s", of.agent)),
            (true, None) => {}
        }
    }
    if words.is_empty() { "good".to_owned() } else { words.join(", ") }
}

fn bytes(count: u64) -> String {
    match count {
        0..10_000 => format!("{count} B"),
        10_000..10_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ties::Ties;
    use crate::watch::status::Status;
    use crate::wire::frame::Moment;
    use oneway::graph::Graph;
    use oneway::graph::Topology;
    use std::time::Duration;

    #[test]
    fn it_says_who_is_behind_and_who_is_away() {
        let topology = Topology::complete(3).unwrap();
        let status: Vec<Status> =
            (0..2).map(|agent| Status::new(&Ties::from_topology(&topology, agent), 500)).collect();
        for (agent, status) in status.iter().enumerate() {
            status.reach(100 - 10 * agent as u64, Duration::ZERO);
            status.is_there(1 - agent, true);
        }
        status[1].wait(2, Graph::Pull, Moment::default());
        status[0].received(1, 123_456);
        let reports = [Some(status[0].report()), Some(status[1].report()), None];
        let text = draw(&reports, None);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].contains("100/500") && lines[1].contains("123.5 kB"), "{text}");
        assert!(lines[1].contains("agent 2 not seen yet") && !lines[1].contains("agent 1"), "{text}");
        assert!(lines[2].contains("90/500     10"), "{text}");
        assert_eq!(lines[3].trim(), "2 does not answer");
        for width in [40, 60, 80, 120, 200] {
            let text = draw(&reports, Some(width));
            assert!(text.lines().all(|line| line.chars().count() <= width), "at {width} columns:\n{text}");
            let words: Vec<&str> = text.split_whitespace().collect();
            assert!(words.join(" ").contains("agent 2 not seen yet"), "at {width} columns:\n{text}");
            assert_eq!(words.contains(&"received"), width >= 120, "at {width} columns:\n{text}");
        }
    }
}
