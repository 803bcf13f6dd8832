//! Where the times of an asynchronous run come from.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Clock;
use super::log::Tape;

/// Where times come from.
#[derive(Debug)]
pub(super) enum Source {
    /// Drawn: the mean step of each agent, and when each wakes next. Times are not negative, so that their
    /// bits are in order.
    Drawn { clock: Clock, paces: Vec<f64>, due: BinaryHeap<Reverse<(u64, u32)>> },
    /// Read.
    Logged(Tape<Vec<u8>>),
}

impl Source {
    /// The next wake that is not after `end`, of whom and when.
    pub(super) fn wake_until(&mut self, end: f64) -> Option<(usize, f64)> {
        match self {
            Source::Drawn { due, .. } => {
                let &Reverse((bits, agent)) = due.peek()?;
                let time = f64::from_bits(bits);
                (time <= end).then(|| {
                    due.pop();
                    (agent as usize, time)
                })
            }
            Source::Logged(tape) => tape.wake_until(end).map(|(agent, time)| (agent as usize, time)),
        }
    }
}
