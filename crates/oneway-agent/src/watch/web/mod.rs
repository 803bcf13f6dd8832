//! `oneway-agent top --web`: all agents of a run on a local page.

mod history;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use oneway_watch::hub::Hub;
use oneway_watch::model::{Agents, Axis, Cell, Colour, Crew, Head, Link, Member, Network, Quantity, Traffic};

use crate::plan::config::Config;
use crate::plan::layout::file_of;
use crate::watch::metrics;
use crate::watch::observe::Seen;
use crate::watch::status::Report;
use crate::watch::top;
use history::{History, Moment};

/// With more agents than this there are no arrows that anybody could follow.
const MOST_AGENTS: usize = 150;

/// The agents of a folder of configs, as the page shows them.
#[derive(Debug)]
pub struct Web {
    title: String,
    addresses: Vec<String>,
    network: Network,
    rounds: u64,
    began: Instant,
    /// What each agent said last.
    before: Vec<Option<Report>>,
    history: History,
}

impl Web {
    /// Reads a folder of configs.
    pub fn read(folder: &Path) -> Result<Self> {
        let addresses = top::addresses(folder)?;
        let configs = (0..addresses.len()).map(|agent| Config::read(&folder.join(file_of(agent))));
        let configs = configs.collect::<Result<Vec<_>>>()?;
        let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        Ok(Self {
            title: whole.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            network: network(&configs),
            rounds: configs.first().map_or(0, |config| config.identity.rounds),
            began: Instant::now(),
            before: vec![None; addresses.len()],
            history: History::default(),
            addresses,
        })
    }

    /// Asks all agents how they are, several at a time: one that does not answer holds up few others.
    pub fn ask(&self) -> Vec<Option<Report>> {
        const AT_ONCE: usize = 32;
        let share = self.addresses.len().div_ceil(AT_ONCE).max(1);
        std::thread::scope(|scope| {
            let ask = |some: &[String]| some.iter().map(|address| metrics::ask(address)).collect::<Vec<_>>();
            let some = self.addresses.chunks(share).map(|some| (some.len(), scope.spawn(move || ask(some))));
            let some: Vec<_> = some.collect();
            some.into_iter().flat_map(|(len, some)| some.join().unwrap_or_else(|_| vec![None; len])).collect()
        })
    }

    /// Publishes what agents say, and what was seen of their estimates.
    pub fn publish(&mut self, reports: Vec<Option<Report>>, seen: Option<&Seen>, hub: &Hub) {
        let crew = self.crew(&reports);
        self.history.push(self.moment(&reports, &crew, seen));
        hub.publish("head", &self.head(&reports, seen.is_some()));
        hub.publish("network/0-0", &self.network);
        hub.publish("cell/0-0", &self.cell(&reports, &crew));
        hub.publish("curve/0-0", &self.history.curve());
        hub.publish("agents/0-0", &agents(&reports, &crew, seen));
        hub.publish("crew", &crew);
        for (before, now) in self.before.iter_mut().zip(reports) {
            if now.is_some() {
                *before = now;
            }
        }
    }

    fn crew(&self, reports: &[Option<Report>]) -> Crew {
        let first = reports.iter().flatten().map(|report| report.round).max().unwrap_or(0);
        let member = |(now, before): (&Option<Report>, &Option<Report>)| {
            let Some(now) = now else { return Member { state: "silent", ..Member::default() } };
            member(now, before.as_ref(), first)
        };
        let links = reports.iter().zip(&self.before).filter_map(|(now, before)| {
            let now = now.as_ref()?;
            Some(now.neighbours.iter().filter(|of| of.rows[0] > 0).map(move |of| Traffic {
                from: of.agent,
                to: now.agent,
                bytes: of.bytes[0],
                rate: per_second(now, before.as_ref(), |report| {
                    report.neighbours.iter().find(|other| other.agent == of.agent).map_or(0, |of| of.bytes[0])
                }),
            }))
        });
        Crew {
            agents: reports.iter().zip(&self.before).map(member).collect(),
            links: links.flatten().collect(),
        }
    }

    fn moment(&self, reports: &[Option<Report>], crew: &Crew, seen: Option<&Seen>) -> Moment {
        let there = || reports.iter().flatten();
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64; // NaN where there are none
        Moment {
            seconds: self.began.elapsed().as_secs_f64(),
            round: there().map(|report| report.round as f64).fold(f64::NAN, f64::min),
            loss: seen.map_or(f64::NAN, |seen| seen.loss),
            consensus: seen.map_or(f64::NAN, |seen| seen.consensus),
            own_loss: mean(there().filter_map(|report| report.loss).collect()),
            rate: mean(crew.agents.iter().filter_map(|agent| agent.rate).collect()),
            bytes: crew
                .links
                .iter()
                .filter_map(|link| link.rate)
                .fold(f64::NAN, |sum, rate| if sum.is_nan() { rate } else { sum + rate }),
            behind: crew.agents.iter().map(|agent| agent.behind as f64).fold(f64::NAN, f64::max),
            waiting: crew.agents.iter().filter(|agent| agent.state == "waiting").count() as f64,
        }
    }

    fn head(&self, reports: &[Option<Report>], observed: bool) -> Head {
        let silent = reports.iter().filter(|report| report.is_none()).count();
        let finished = reports.iter().flatten().filter(|report| report.finished).count();
        let known = self.before.iter().flatten().next().is_some();
        let (state, about) = match (silent, reports.len()) {
            (_, all) if finished == all => ("ended", "all agents are done".to_owned()),
            (silent, all) if silent == all && !known => ("waiting", "no agent answers yet".to_owned()),
            (silent, all) if silent == all => ("died", "no agent answers".to_owned()),
            (0, all) => ("running", format!("{all} agents")),
            (silent, all) => ("died", format!("{silent} of {all} agents do not answer")),
        };
        let mut notes = vec![];
        if !observed && known {
            notes.push(
                "F(x\u{304}) and distances from x\u{304} are shown of agents that were planned with --observe."
                    .to_owned(),
            );
        }
        let (quantities, axes, colours) = (QUANTITIES.to_vec(), AXES.to_vec(), COLOURS.to_vec());
        Head { title: self.title.clone(), state, about, notes, quantities, axes, colours }
    }

    fn cell(&self, reports: &[Option<Report>], crew: &Crew) -> Cell {
        let round = reports.iter().flatten().map(|report| report.round).min().unwrap_or(0);
        let done = reports.iter().all(|report| report.as_ref().is_some_and(|report| report.finished));
        let rates: Vec<f64> = crew.agents.iter().filter_map(|agent| agent.rate).collect();
        Cell {
            topology: self.title.clone(),
            method: "agents".to_owned(),
            network: Some("0-0".to_owned()),
            colour: ["#0072b2".to_owned(), "#3fa7e8".to_owned()],
            round,
            of: self.rounds,
            rate: (!rates.is_empty() && !done).then(|| rates.iter().sum::<f64>() / rates.len() as f64),
            status: match (done, reports.iter().any(Option::is_some)) {
                (true, _) => "completed",
                (false, true) => "running",
                (false, false) => "waiting",
            },
            ..Cell::default()
        }
    }
}

/// One agent that has answered.
fn member(now: &Report, before: Option<&Report>, first: u64) -> Member {
    let [received, sent] = [0, 1].map(|way| now.neighbours.iter().map(|of| of.bytes[way]).sum::<u64>());
    let waited: f64 = now.neighbours.iter().map(|of| of.waited).sum();
    let waits = now.waiting.as_ref().map(|(who, _, _, seconds)| (*who, *seconds));
    let mut trouble: Vec<String> = vec![];
    for of in &now.neighbours {
        match (of.seen, of.away_for) {
            (false, _) => trouble.push(format!("agent {} not seen yet", of.agent)),
            (true, Some(seconds)) => trouble.push(format!("agent {} away for {seconds:.0} s", of.agent)),
            (true, None) => {}
        }
    }
    if now.failed_checkpoints > 0 {
        trouble.push(format!("{} checkpoints could not be written", now.failed_checkpoints));
    }
    Member {
        state: match waits {
            _ if now.finished => "finished",
            Some((_, seconds)) if seconds >= 0.5 => "waiting",
            _ => "working",
        },
        round: now.round,
        behind: first - now.round,
        rate: if now.finished { Some(0.0) } else { per_second(now, before, |report| report.rounds_here) },
        loss: now.loss,
        waited: (now.seconds > 0.0).then(|| (waited / now.seconds).min(1.0)),
        waits: waits.filter(|_| !now.finished),
        bytes: [received, sent],
        trouble: if now.finished { String::new() } else { trouble.join(", ") },
    }
}

/// How fast a count grows: since the last look, or since the process began if it is another one.
fn per_second(now: &Report, before: Option<&Report>, of: impl Fn(&Report) -> u64) -> Option<f64> {
    let same = before.filter(|before| before.seconds < now.seconds && of(before) <= of(now));
    let (count, seconds) = same.map_or((0, 0.0), |before| (of(before), before.seconds));
    let seconds = now.seconds - seconds;
    (seconds > 0.0).then(|| (of(now) - count) as f64 / seconds)
}

/// The numbers of all agents.
fn agents(reports: &[Option<Report>], crew: &Crew, seen: Option<&Seen>) -> Agents {
    let of = |value: &dyn Fn(&Report, &Member) -> Option<f64>| -> Vec<Option<f32>> {
        let pairs = reports.iter().zip(&crew.agents);
        let one = |(report, member): (&Option<Report>, &Member)| {
            let value = value(report.as_ref()?, member)? as f32;
            Some(value).filter(|value| value.is_finite())
        };
        pairs.map(one).collect()
    };
    let mut values = BTreeMap::from([
        ("behind", of(&|_, member| Some(member.behind as f64))),
        ("loss", of(&|report, _| report.loss)),
        ("waited", of(&|_, member| Some(100.0 * member.waited?))),
    ]);
    if let Some(seen) = seen {
        values.insert("distance", seen.distances.iter().map(|distance| Some(*distance as f32)).collect());
    }
    let round = reports.iter().flatten().map(|report| report.round).min().unwrap_or(0);
    Agents { round, group: 1, values }
}

/// All links of the period, and agents on a circle; too many of them have neither.
fn network(configs: &[Config]) -> Network {
    let agents = configs.len();
    let mut links: BTreeMap<(usize, usize), (u8, BTreeSet<usize>)> = BTreeMap::new();
    let period = configs.first().map_or(1, |config| config.links.len());
    for (to, config) in configs.iter().enumerate() {
        for (round, own) in config.links.iter().enumerate() {
            let pulled = own.pulls.iter().map(|(from, _)| (*from, to, 1));
            let pushed = own.pushed_by.iter().map(|from| (*from, to, 2));
            for (from, to, graph) in pulled.chain(pushed).filter(|(from, to, _)| from != to && *from < agents)
            {
                let link = links.entry((from, to)).or_default();
                link.0 |= graph;
                link.1.insert(round);
            }
        }
    }
    let drawn = agents <= MOST_AGENTS;
    let link = |((from, to), (graphs, rounds)): ((usize, usize), (u8, BTreeSet<usize>))| {
        Link(from, to, graphs, if period > 1 { rounds.into_iter().collect() } else { vec![] })
    };
    let place = |agent: usize| {
        let angle = std::f64::consts::TAU * agent as f64 / agents as f64;
        (angle.sin(), -angle.cos()) // clockwise from the top
    };
    Network {
        name: String::new(),
        agents,
        period,
        links: if drawn { links.into_iter().map(link).collect() } else { vec![] },
        places: if drawn { (0..agents).map(place).collect() } else { vec![] },
    }
}

const fn quantity(key: &'static str, title: &'static str, label: &'static str, log: bool) -> Quantity {
    Quantity { key, title, label, log }
}

const QUANTITIES: [Quantity; 7] = [
    quantity("loss", "Loss", "F(x\u{304})", true),
    quantity("consensus", "Consensus error", "(1/n) Σᵢ ‖xᵢ − x\u{304}‖²", true),
    quantity("own-loss", "Own losses", "(1/n) Σᵢ fᵢ(xᵢ)", true),
    quantity("rate", "Rounds a second", "rounds a second, mean of all agents", false),
    quantity("bytes", "Bytes a second", "bytes a second over all links", false),
    quantity("behind", "Behind", "rounds that the last agent is behind the first", false),
    quantity("waiting", "Waiting", "agents that wait", false),
];

const AXES: [Axis; 2] =
    [Axis { key: "seconds", title: "seconds since the page began" }, Axis { key: "round", title: "round" }];

const COLOURS: [Colour; 4] = [
    Colour {
        key: "behind",
        title: "lag",
        label: "rounds behind the first",
        log: false,
        missing: "nobody answers",
    },
    Colour { key: "loss", title: "own loss", label: "fᵢ(xᵢ)", log: false, missing: "not computed yet" },
    Colour {
        key: "waited",
        title: "time waited",
        label: "% of its time",
        log: false,
        missing: "nobody answers",
    },
    Colour {
        key: "distance",
        title: "distance from x\u{304}",
        label: "‖xᵢ − x\u{304}‖",
        log: true,
        missing: "agents that were planned with --observe publish their estimates",
    },
];

#[cfg(test)]
mod tests;
