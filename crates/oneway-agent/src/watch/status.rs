//! An agent's status. It always answers "whom am I waiting for, since when".

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oneway::graph::Graph;
use serde::{Deserialize, Serialize};

use crate::plan::ties::Ties;
use crate::wire::frame::Moment;

/// The status of an agent while it runs.
#[derive(Debug)]
pub struct Status {
    agent: usize,
    rounds: u64,
    began: Instant,
    now: Mutex<Now>,
}

#[derive(Debug, Default)]
struct Now {
    round: u64,
    /// Rounds done by this process.
    done: u64,
    waiting: Option<(usize, Graph, Moment, Instant)>,
    neighbours: BTreeMap<usize, Neighbour>,
    stepping: Duration,
    checkpoint: Option<u64>,
    failed_checkpoints: u64,
    strangers: u64,
    loss: Option<f64>,
    finished: bool,
}

#[derive(Debug, Default)]
struct Neighbour {
    away_since: Option<Instant>,
    seen: bool,
    bytes_in: u64,
    bytes_out: u64,
    rows_in: u64,
    rows_out: u64,
    asked: u64,
    refused: u64,
    waited: Duration,
}

/// A copy of a status, for `top` and `/metrics`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Who.
    pub agent: usize,
    /// Rounds done.
    pub round: u64,
    /// Of these, by this process.
    pub rounds_here: u64,
    /// Rounds to be done.
    pub rounds: u64,
    /// Seconds since its process began.
    pub seconds: f64,
    /// Of these, in the method and in gradients.
    pub seconds_stepping: f64,
    /// The loss of its own part at its own estimate, when it was last computed.
    pub loss: Option<f64>,
    /// The round of the last checkpoint.
    pub checkpoint: Option<u64>,
    /// Checkpoints that could not be written.
    pub failed_checkpoints: u64,
    /// Connections that were refused.
    pub strangers: u64,
    /// All rounds are done.
    pub finished: bool,
    /// The neighbour that it waits for, on which graph, for which round, and for how many seconds.
    pub waiting: Option<(usize, String, u64, f64)>,
    /// Its neighbours.
    pub neighbours: Vec<NeighbourReport>,
}

/// One neighbour, as an agent sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NeighbourReport {
    /// Who.
    pub agent: usize,
    /// For how many seconds it has been away; `None` if it is there, or was never seen.
    pub away_for: Option<f64>,
    /// Whether it was ever there.
    pub seen: bool,
    /// Bytes of frames received and sent.
    pub bytes: [u64; 2],
    /// Rows received and sent.
    pub rows: [u64; 2],
    /// How many times a missing row was requested.
    pub asked: u64,
    /// Rows that were refused.
    pub refused: u64,
    /// Seconds spent waiting for it.
    pub waited: f64,
}

impl Status {
    /// The status of an agent that begins.
    pub fn new(ties: &Ties, rounds: u64) -> Self {
        let neighbours = ties.neighbours().into_iter().map(|who| (who, Neighbour::default())).collect();
        let now = Mutex::new(Now { neighbours, ..Now::default() });
        Self { agent: ties.agent, rounds, began: Instant::now(), now }
    }

    /// The process begins, or resumes, at this round.
    pub fn begin(&self, round: u64) {
        self.lock().round = round;
    }

    /// `round` rounds are done; `stepping` is the time spent in the method so far.
    pub fn reach(&self, round: u64, stepping: Duration) {
        let mut now = self.lock();
        now.done += round.saturating_sub(now.round);
        now.round = round;
        now.stepping = stepping;
    }

    /// The loss of the agent's own part was computed.
    pub fn loss(&self, loss: f64) {
        self.lock().loss = Some(loss);
    }

    /// A checkpoint was written.
    pub fn checkpoint(&self, round: u64) {
        self.lock().checkpoint = Some(round);
    }

    /// A checkpoint could not be written.
    pub fn checkpoint_failed(&self) {
        self.lock().failed_checkpoints += 1;
    }

    /// A connection was refused that did not prove to be a neighbour; returns how many so far.
    pub fn refuse_stranger(&self) -> u64 {
        let mut now = self.lock();
        now.strangers += 1;
        now.strangers
    }

    /// All rounds are done.
    pub fn finish(&self) {
        self.lock().finished = true;
    }

    /// The agent begins to wait for a row.
    pub fn wait(&self, from: usize, graph: Graph, at: Moment) {
        self.lock().waiting = Some((from, graph, at, Instant::now()));
    }

    /// The wait has ended.
    pub fn waited(&self) {
        let mut now = self.lock();
        if let Some((from, _, _, since)) = now.waiting.take() {
            now.neighbour(from).waited += since.elapsed();
        }
    }

    /// A row was sent; that time is work, and not waiting.
    pub fn sent_off(&self) {
        self.lock().waiting = None;
    }

    /// A row arrived; its frame has `bytes` bytes.
    pub fn received(&self, from: usize, bytes: usize) {
        let mut now = self.lock();
        let neighbour = now.neighbour(from);
        neighbour.bytes_in += bytes as u64;
        neighbour.rows_in += 1;
    }

    /// A row was sent.
    pub fn sent(&self, to: usize, bytes: usize) {
        let mut now = self.lock();
        let neighbour = now.neighbour(to);
        neighbour.bytes_out += bytes as u64;
        neighbour.rows_out += 1;
    }

    /// A missing row was requested.
    pub fn asked(&self, from: usize) {
        self.lock().neighbour(from).asked += 1;
    }

    /// A row was refused; returns how many so far.
    pub fn refused(&self, from: usize) -> u64 {
        let mut now = self.lock();
        let neighbour = now.neighbour(from);
        neighbour.refused += 1;
        neighbour.refused
    }

    /// A neighbour is there, or away.
    pub fn is_there(&self, who: usize, there: bool) {
        let mut now = self.lock();
        let neighbour = now.neighbour(who);
        neighbour.seen |= there;
        neighbour.away_since = (!there).then(Instant::now);
    }

    /// For how long a neighbour has been away, and whether it was ever there.
    pub fn away(&self, who: usize) -> (Option<Duration>, bool) {
        let mut now = self.lock();
        let neighbour = now.neighbour(who);
        (neighbour.away_since.map(|since| since.elapsed()), neighbour.seen)
    }

    /// A copy of all of it.
    pub fn report(&self) -> Report {
        let now = self.lock();
        let seconds = |since: Instant| since.elapsed().as_secs_f64();
        let neighbours = now.neighbours.iter().map(|(&agent, neighbour)| NeighbourReport {
            agent,
            away_for: neighbour.away_since.map(seconds),
            seen: neighbour.seen,
            bytes: [neighbour.bytes_in, neighbour.bytes_out],
            rows: [neighbour.rows_in, neighbour.rows_out],
            asked: neighbour.asked,
            refused: neighbour.refused,
            waited: neighbour.waited.as_secs_f64(),
        });
        Report {
            agent: self.agent,
            round: now.round,
            rounds_here: now.done,
            rounds: self.rounds,
            seconds: seconds(self.began),
            seconds_stepping: now.stepping.as_secs_f64(),
            loss: now.loss,
            checkpoint: now.checkpoint,
            failed_checkpoints: now.failed_checkpoints,
            strangers: now.strangers,
            finished: now.finished,
            waiting: now
                .waiting
                .map(|(from, graph, at, since)| (from, graph.name().to_owned(), at.round, seconds(since))),
            neighbours: neighbours.collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Now {
    fn neighbour(&mut self, who: usize) -> &mut Neighbour {
        self.neighbours.entry(who).or_default()
    }
}

impl Report {
    /// The same for Prometheus, in its text format.
    pub fn to_prometheus(&self) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, values: &[(String, f64)]| {
            let _ = writeln!(text, "# HELP oneway_{name} {help}\n# TYPE oneway_{name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(text, "oneway_{name}{{agent=\"{}\"{labels}}} {value}", self.agent);
            }
        };
        let one = |value: f64| vec![(String::new(), value)];
        let each = |value: &dyn Fn(&NeighbourReport) -> f64| -> Vec<(String, f64)> {
            let labelled = |of: &NeighbourReport| (format!(",neighbour=\"{}\"", of.agent), value(of));
            self.neighbours.iter().map(labelled).collect()
        };
        family("round", "gauge", "Rounds done; fewer after a crash.", &one(self.round as f64));
        family("rounds_total", "counter", "Rounds done by this process.", &one(self.rounds_here as f64));
        family("rounds_planned", "gauge", "Rounds to be done.", &one(self.rounds as f64));
        family("seconds_total", "counter", "Seconds since the process began.", &one(self.seconds));
        family(
            "stepping_seconds_total",
            "counter",
            "Seconds in gradients and the method.",
            &one(self.seconds_stepping),
        );
        if let Some(loss) = self.loss {
            family("loss", "gauge", "The agent's own loss at its own estimate.", &one(loss));
        }
        if let Some(checkpoint) = self.checkpoint {
            family("checkpoint_round", "gauge", "Round of the last checkpoint.", &one(checkpoint as f64));
        }
        family(
            "checkpoint_failures_total",
            "counter",
            "Checkpoints that could not be written.",
            &one(self.failed_checkpoints as f64),
        );
        family(
            "refused_connections_total",
            "counter",
            "Connections that were refused.",
            &one(self.strangers as f64),
        );
        family("finished", "gauge", "1 when all rounds are done.", &one(f64::from(u8::from(self.finished))));
        let waiting: Vec<_> =
            self.waiting.iter().map(|(who, _, _, for_)| (format!(",neighbour=\"{who}\""), *for_)).collect();
        family("waiting_seconds", "gauge", "Seconds of the current wait for a neighbour.", &waiting);
        family(
            "waited_seconds_total",
            "counter",
            "Seconds spent waiting for a neighbour.",
            &each(&|of| of.waited),
        );
        family("received_bytes_total", "counter", "Bytes of rows received.", &each(&|of| of.bytes[0] as f64));
        family("sent_bytes_total", "counter", "Bytes of rows sent.", &each(&|of| of.bytes[1] as f64));
        family("received_rows_total", "counter", "Rows received.", &each(&|of| of.rows[0] as f64));
        family("sent_rows_total", "counter", "Rows sent.", &each(&|of| of.rows[1] as f64));
        family("asked_total", "counter", "Missing rows requested.", &each(&|of| of.asked as f64));
        family("refused_total", "counter", "Rows refused.", &each(&|of| of.refused as f64));
        let there = |of: &NeighbourReport| f64::from(u8::from(of.seen && of.away_for.is_none()));
        family("neighbour_up", "gauge", "1 when a neighbour is there.", &each(&there));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneway::graph::Topology;

    #[test]
    fn it_says_whom_it_waits_for_and_who_is_away() {
        let status = Status::new(&Ties::from_topology(&Topology::complete(3).unwrap(), 1), 500);
        status.begin(5);
        status.checkpoint_failed();
        status.refuse_stranger();
        status.is_there(0, true);
        status.is_there(2, true);
        status.is_there(2, false);
        status.received(2, 1000);
        status.wait(2, Graph::Push, Moment { round: 7, phase: 0 });
        status.reach(7, Duration::from_millis(3));
        let report = status.report();
        assert!(matches!(report.waiting, Some((2, ref graph, 7, _)) if graph == "push"));
        assert_eq!(report.neighbours.iter().map(|of| of.agent).collect::<Vec<_>>(), [0, 2]);
        assert!(report.neighbours[0].away_for.is_none() && report.neighbours[1].away_for.is_some());
        status.waited();
        assert_eq!(status.report().waiting, None);

        let text = report.to_prometheus();
        for line in [
            "oneway_round{agent=\"1\"} 7",
            "oneway_rounds_total{agent=\"1\"} 2",
            "oneway_checkpoint_failures_total{agent=\"1\"} 1",
            "oneway_refused_connections_total{agent=\"1\"} 1",
            "oneway_received_bytes_total{agent=\"1\",neighbour=\"2\"} 1000",
            "oneway_neighbour_up{agent=\"1\",neighbour=\"0\"} 1",
            "oneway_neighbour_up{agent=\"1\",neighbour=\"2\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
        assert!(text.contains("oneway_waiting_seconds{agent=\"1\",neighbour=\"2\"} "));
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    }
}
