//! `oneway-agent observe`: loss and consensus error while agents run, from the estimates that they publish.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use oneway::problem::Problem;

use crate::plan::config::Config;
use crate::plan::endpoints::{OBSERVER, Tls};
use crate::plan::identity::Identity;
use crate::plan::layout::file_of;

/// An agent's estimate in some round.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Whose.
    pub agent: usize,
    /// Rounds done.
    pub round: u64,
    /// x_i.
    pub x: Vec<f64>,
}

/// The most rounds that wait for estimates; the oldest ones are given up.
const ROUNDS: usize = 64;

/// Estimates, collected until a round is complete.
#[derive(Debug)]
struct Rounds {
    agents: usize,
    waiting: BTreeMap<u64, Vec<Option<Vec<f64>>>>,
    /// The last complete round.
    last: Option<u64>,
}

impl Rounds {
    fn new(agents: usize) -> Self {
        Self { agents, waiting: BTreeMap::new(), last: None }
    }

    /// Takes an estimate; returns all of its round, if that is complete now. Rounds are returned in order:
    /// estimates that an agent repeats after a restart, and rounds before the last complete one, are ignored.
    fn take(&mut self, Estimate { agent, round, x }: Estimate) -> Option<Vec<Vec<f64>>> {
        if self.last.is_some_and(|last| round <= last) {
            return None;
        }
        let estimates = self.waiting.entry(round).or_insert_with(|| vec![None; self.agents]);
        estimates[agent] = Some(x);
        if estimates.iter().all(Option::is_some) {
            let whole = self.waiting.remove(&round)?;
            self.waiting.retain(|other, _| *other > round);
            self.last = Some(round);
            return whole.into_iter().collect();
        }
        if self.waiting.len() > ROUNDS {
            self.waiting.pop_first();
        }
        None
    }
}

/// What is seen of a round once all estimates are there; x̄ is their mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Rounds done.
    pub round: u64,
    /// F(x̄).
    pub loss: f64,
    /// (1/n) Σ ‖x_i − x̄‖².
    pub consensus: f64,
    /// ‖x_i − x̄‖ of each agent.
    pub distances: Vec<f64>,
}

/// Measures a round from all its estimates.
fn measure(problems: &[Box<dyn Problem>], round: u64, estimates: &[Vec<f64>]) -> Seen {
    let (n, d) = (estimates.len() as f64, problems[0].dim());
    let mut mean = vec![0.0; d];
    for x in estimates {
        mean.iter_mut().zip(x).for_each(|(mean, x)| *mean += x / n);
    }
    let mut gradient = vec![0.0; d];
    let losses = problems.iter().enumerate().map(|(agent, f)| f.exact(agent, &mean, &mut gradient));
    let loss = losses.sum::<f64>() / n;
    let distance = |x: &Vec<f64>| x.iter().zip(&mean).map(|(x, mean)| (x - mean).powi(2)).sum::<f64>();
    let squares: Vec<f64> = estimates.iter().map(distance).collect();
    let consensus = squares.iter().sum::<f64>() / n;
    Seen { round, loss, consensus, distances: squares.iter().map(|square| square.sqrt()).collect() }
}

/// Where estimates come from.
pub trait Source {
    /// The estimates, as they arrive.
    fn estimates(&self) -> &Receiver<Estimate>;

    /// Whether some agent was there, and now all are done or away.
    fn is_left_alone(&self) -> bool;
}

/// The agents of a folder of configs, with all their shares of the data.
#[derive(Debug)]
pub struct Observed {
    configs: Vec<Config>,
    problems: Vec<Box<dyn Problem>>,
    /// The observer's own files, where links have keys.
    pub tls: Option<Tls>,
}

impl Observed {
    /// Reads a folder of configs. With `keys`, links are TLS.
    pub fn read(folder: &Path, keys: Option<&Path>) -> Result<Self> {
        let configs = (0..).map(|agent| folder.join(file_of(agent))).take_while(|path| path.exists());
        let configs = configs.map(|path| Config::read(&path)).collect::<Result<Vec<_>>>()?;
        let Some(first) = configs.first() else { bail!("{}: there is no {}", folder.display(), file_of(0)) };
        let agents = first.identity.agents;
        if configs.len() != agents {
            bail!("{}: there are {} configs of {agents} agents", folder.display(), configs.len());
        }
        if !configs.iter().all(|config| config.network.observed) {
            bail!("{}: these agents publish no estimates: plan them with --observe", folder.display());
        }
        if first.network.tls.is_some() != keys.is_some() {
            bail!("{}: give --keys where agents have keys, and only there", folder.display());
        }
        let problems = configs.iter().map(|config| config.problem(folder)).collect::<Result<Vec<_>>>();
        let problems = problems.with_context(|| folder.display().to_string())?;
        let tls = keys.map(|keys| Tls {
            authority: keys.join("authority.pem"),
            certificate: keys.join(format!("{OBSERVER}.pem")),
            key: keys.join(format!("{OBSERVER}.key")),
        });
        Ok(Self { configs, problems, tls })
    }

    /// Whether the agents of a folder of configs publish estimates.
    pub fn is_possible(folder: &Path) -> Result<bool> {
        Ok(Config::read(&folder.join(file_of(0)))?.network.observed)
    }

    /// Where the agents are found, as endpoints.
    pub fn endpoints(&self) -> Vec<String> {
        self.configs.iter().map(|config| config.network.listen.clone()).collect()
    }

    /// The run that they belong to.
    pub fn identity(&self) -> &Identity {
        &self.configs[0].identity
    }

    /// The dimension of an estimate.
    pub fn dim(&self) -> usize {
        self.problems[0].dim()
    }

    /// Prints a line for each complete round: until the last round, until all agents are done or away, or
    /// until interrupted.
    pub fn follow(&self, source: &dyn Source, out: &mut dyn Write, interrupted: &AtomicBool) -> Result<()> {
        writeln!(out, "{:>10} {:>22} {:>22}", "round", "loss", "consensus error")?;
        self.each_round(source, interrupted, |Seen { round, loss, consensus, .. }| {
            writeln!(out, "{round:>10} {loss:>22.15e} {consensus:>22.15e}")?;
            Ok(out.flush()?)
        })
    }

    /// Looks at each complete round, in order, for as long as [`follow`](Self::follow) prints them.
    pub fn each_round(
        &self,
        source: &dyn Source,
        interrupted: &AtomicBool,
        mut look: impl FnMut(Seen) -> Result<()>,
    ) -> Result<()> {
        const LOOK: Duration = Duration::from_millis(200);
        /// When all are done or away, estimates may be late, and an agent may be restarted.
        const LATE: Duration = Duration::from_secs(5);
        let mut rounds = Rounds::new(self.configs.len());
        let mut alone: Option<Instant> = None;
        while !interrupted.load(Ordering::Relaxed) && alone.is_none_or(|since| since.elapsed() < LATE) {
            alone = source.is_left_alone().then(|| alone.unwrap_or_else(Instant::now));
            let estimate = match source.estimates().recv_timeout(LOOK) {
                Ok(estimate) => estimate,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let round = estimate.round;
            if let Some(estimates) = rounds.take(estimate) {
                look(measure(&self.problems, round, &estimates))?;
                if round == self.identity().rounds {
                    break;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_whole_when_all_have_spoken_and_comes_once() {
        let mut rounds = Rounds::new(2);
        let mut take = |agent, round| rounds.take(Estimate { agent, round, x: vec![agent as f64] });
        assert_eq!(take(0, 10), None);
        assert_eq!(take(0, 20), None);
        assert_eq!(take(0, 10), None, "twice the same");
        assert_eq!(take(1, 20), Some(vec![vec![0.0], vec![1.0]]), "10 was lost on its way from agent 1");
        assert_eq!(take(1, 10), None, "too late");
        assert_eq!(take(1, 20), None, "again, after a restart");
        (0..1000).for_each(|round| assert_eq!(take(0, 100 + round), None));
        assert!(rounds.waiting.len() <= ROUNDS);
    }
}
