//! What was seen so far, in bounded memory: all of the first half hour, and evenly fewer points after that.

use oneway_watch::model::Curve;

/// The most points that are kept.
const MOST: usize = 4096;

/// One moment, seen from outside. Numbers that are not known are NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moment {
    /// Seconds since we look.
    pub(super) seconds: f64,
    /// The round that all agents have done.
    pub(super) round: f64,
    /// F(x̄) and (1/n) Σ ‖x_i − x̄‖², where agents publish estimates.
    pub(super) loss: f64,
    pub(super) consensus: f64,
    /// The mean of the agents' own losses.
    pub(super) own_loss: f64,
    /// Rounds a second, the mean of all agents.
    pub(super) rate: f64,
    /// Bytes a second over all links.
    pub(super) bytes: f64,
    /// The most rounds that an agent is behind the first.
    pub(super) behind: f64,
    /// Agents that wait.
    pub(super) waiting: f64,
}

#[derive(Debug, Default)]
pub(super) struct History(Vec<Moment>);

impl History {
    pub(super) fn push(&mut self, moment: Moment) {
        self.0.push(moment);
        if self.0.len() > MOST {
            let mut place = 0;
            self.0.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
    }

    pub(super) fn curve(&self) -> Curve {
        let column = |of: fn(&Moment) -> f64| self.0.iter().map(of).collect::<Vec<f64>>();
        let axes = vec![("seconds", column(|at| at.seconds)), ("round", column(|at| at.round))];
        let lines = vec![
            ("loss", column(|at| at.loss)),
            ("consensus", column(|at| at.consensus)),
            ("own-loss", column(|at| at.own_loss)),
            ("rate", column(|at| at.rate)),
            ("bytes", column(|at| at.bytes)),
            ("behind", column(|at| at.behind)),
            ("waiting", column(|at| at.waiting)),
        ];
        Curve::new(axes, lines, 1000)
    }
}
