//! The states of the last rounds that were checked for divergence, and are not recorded.
//!
//! A run that diverges ends, for all agents, at the first round in which some agent's state has diverged.
//! Other agents may be ahead by then, at most by the [lag](crate::plan::ties::Ties::lag) L. So the states of
//! an agent's last L rounds include the one of that round.

use std::collections::VecDeque;

/// States of the last rounds, ascending.
#[derive(Debug)]
pub struct Recent<T = f64> {
    lag: u64,
    states: VecDeque<(u64, Vec<T>)>,
}

impl<T: Copy> Recent<T> {
    /// None yet, of an agent that may be ahead by `lag` rounds.
    pub fn new(lag: u64) -> Self {
        Self { lag, states: VecDeque::new() }
    }

    /// Keeps the state of a round, and drops those of rounds that all agents have passed.
    pub fn keep(&mut self, k: u64, state: &[T]) {
        if self.states.back().is_some_and(|(last, _)| *last >= k) {
            return; // repeated after a restart
        }
        let mut room = vec![];
        let oldest = k.saturating_sub(self.lag);
        while self.states.front().is_some_and(|(round, _)| *round < oldest) {
            room = self.states.pop_front().unwrap_or_default().1;
        }
        room.clear();
        room.extend_from_slice(state);
        self.states.push_back((k, room));
    }

    /// Restores the states of a checkpoint.
    pub fn restore(&mut self, states: Vec<(u64, Vec<T>)>) {
        self.states = states.into();
    }

    /// All of them, ascending.
    pub fn states(&self) -> impl ExactSizeIterator<Item = (u64, &[T])> {
        self.states.iter().map(|(k, state)| (*k, &state[..]))
    }

    /// The last one.
    pub fn last(&self) -> Option<(u64, &[T])> {
        self.states().last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_rounds_are_kept_as_somebody_can_be_behind() {
        let mut recent = Recent::new(3);
        (0..10).chain(8..12).for_each(|k| recent.keep(k, &[k as f64]));
        let rounds: Vec<u64> = recent.states().map(|(k, _)| k).collect();
        assert_eq!(rounds, [8, 9, 10, 11]);
        assert_eq!(recent.last(), Some((11, &[11.0][..])));
    }
}
