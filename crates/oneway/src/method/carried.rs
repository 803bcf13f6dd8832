//! What an agent has besides its coordinates: started, sent as it is, and kept as it was mixed.

use super::{Carries, Heard, Hearing, Round, Sending};
use crate::numeric::Float;

/// What is carried besides coordinates, at first.
pub(super) fn start_carried<T: Float>(carries: Carries, round: Round<'_>, state: &mut [T]) {
    match carries {
        Carries::Nothing => {}
        Carries::Weight => state[state.len() - 1] = T::from_f64(1.0),
        Carries::Eigenvector => {
            let first = state.len() - round.agents;
            state[first..].fill(T::default());
            state[first + round.agent] = T::from_f64(1.0); // e_i
        }
    }
}

/// What is carried besides coordinates goes into the messages as it is.
#[inline(never)]
pub(super) fn send_carried<T: Float>(carries: Carries, agents: usize, block: &mut Sending<'_, T>) {
    for q in 0..block.agents.len() {
        let (state, pull, push) = (block.states.row(q), block.pulls.row(q), block.pushes.row(q));
        match carries {
            Carries::Nothing => return,
            Carries::Weight => push[push.len() - 1] = state[state.len() - 1],
            Carries::Eigenvector => {
                let [from, to] = [state.len(), pull.len()].map(|end| end - agents);
                pull[to..].copy_from_slice(&state[from..]);
            }
        }
    }
}

/// The reverse: what was mixed of it is kept.
#[inline(never)]
pub(super) fn keep_carried<T: Float>(carries: Carries, agents: usize, block: &mut Hearing<'_, T>) {
    for q in 0..block.agents.len() {
        let Heard { state, pulled, pushed } = block.row(q);
        match carries {
            Carries::Nothing => return,
            Carries::Weight => state[state.len() - 1] = pushed[pushed.len() - 1],
            Carries::Eigenvector => {
                let [to, from] = [state.len(), pulled.len()].map(|end| end - agents);
                state[to..].copy_from_slice(&pulled[from..]);
            }
        }
    }
}
