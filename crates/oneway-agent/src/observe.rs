//! `oneway-agent observe`: loss and consensus error of a run under way, from the estimates that its agents publish.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use oneway::problem::Problem;

use crate::config::Config;
use crate::layout::file_of;
use crate::net::config::Tls;
use crate::net::observer::{Estimate, OBSERVER, Observer};

/// Rounds of which not all estimates have come yet, at most; the oldest are given up.
const ROUNDS: usize = 64;

/// Estimates as they come, until a round is whole.
#[derive(Debug)]
struct Rounds {
    agents: usize,
    waiting: BTreeMap<u64, Vec<Option<Vec<f64>>>>,
    /// The last round that was whole.
    last: Option<u64>,
}

impl Rounds {
    fn new(agents: usize) -> Self {
        Self { agents, waiting: BTreeMap::new(), last: None }
    }

    /// Takes an estimate; all of its round, if it was the last that was missing. Rounds come in order: what an agent says again
    /// after a restart, and rounds that others have overtaken, are passed over.
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

/// F(x̄) at the mean x̄ of all estimates, and (1/n) Σ ‖x_i − x̄‖².
fn measure(problems: &[Box<dyn Problem>], estimates: &[Vec<f64>]) -> (f64, f64) {
    let (n, d) = (estimates.len() as f64, problems[0].dim());
    let mut mean = vec![0.0; d];
    for x in estimates {
        mean.iter_mut().zip(x).for_each(|(mean, x)| *mean += x / n);
    }
    let mut gradient = vec![0.0; d];
    let losses = problems.iter().enumerate().map(|(agent, f)| f.exact(agent, &mean, &mut gradient));
    let loss = losses.sum::<f64>() / n;
    let distance = |x: &Vec<f64>| x.iter().zip(&mean).map(|(x, mean)| (x - mean).powi(2)).sum::<f64>();
    (loss, estimates.iter().map(distance).sum::<f64>() / n)
}

/// Follows the agents of a folder of configs, and prints a line for each round of which all estimates have come: until the last one, until
/// everyone is done or gone, or until interrupted. With `keys`, links are TLS.
pub fn observe(
    folder: &Path,
    keys: Option<&Path>,
    out: &mut dyn Write,
    interrupted: &AtomicBool,
) -> Result<()> {
    const LOOK: Duration = Duration::from_millis(200);
    /// When everyone is done or gone, estimates may be late, or lost, and somebody may be started again.
    const LATE: Duration = Duration::from_secs(5);
    let configs = (0..).map(|agent| folder.join(file_of(agent))).take_while(|path| path.exists());
    let configs = configs.map(|path| Config::read(&path)).collect::<Result<Vec<_>>>()?;
    let Some(first) = configs.first() else { bail!("{}: there is no {}", folder.display(), file_of(0)) };
    let identity = &first.identity;
    if configs.len() != identity.agents {
        bail!("{}: there are {} configs of {} agents", folder.display(), configs.len(), identity.agents);
    }
    if !configs.iter().all(|config| config.network.observed) {
        bail!("{}: these agents are not to be observed: plan them with --observe", folder.display());
    }
    if first.network.tls.is_some() != keys.is_some() {
        bail!("{}: give --keys where agents have keys, and only there", folder.display());
    }
    let place = || folder.display().to_string();
    let problems = configs.iter().map(|config| config.problem(folder)).collect::<Result<Vec<_>>>();
    let problems = problems.with_context(place)?;
    let tls = keys.map(|keys| Tls {
        authority: keys.join("authority.pem"),
        certificate: keys.join(format!("{OBSERVER}.pem")),
        key: keys.join(format!("{OBSERVER}.key")),
    });
    let agents: Vec<String> = configs.iter().map(|config| config.network.listen.clone()).collect();
    let observer = Observer::open(&agents, identity, problems[0].dim(), tls.as_ref())?;
    let mut rounds = Rounds::new(agents.len());
    let mut alone: Option<Instant> = None;
    writeln!(out, "{:>10} {:>22} {:>22}", "round", "loss", "consensus error")?;
    while !interrupted.load(Ordering::Relaxed) && alone.is_none_or(|since| since.elapsed() < LATE) {
        alone = observer.is_left_alone().then(|| alone.unwrap_or_else(Instant::now));
        let estimate = match observer.heard.recv_timeout(LOOK) {
            Ok(estimate) => estimate,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let round = estimate.round;
        if let Some(estimates) = rounds.take(estimate) {
            let (loss, consensus) = measure(&problems, &estimates);
            writeln!(out, "{round:>10} {loss:>22.15e} {consensus:>22.15e}")?;
            out.flush()?;
            if round == identity.rounds {
                break;
            }
        }
    }
    observer.close();
    Ok(())
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
