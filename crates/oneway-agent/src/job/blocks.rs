//! Which process of a job has which agents: blocks of neighbouring numbers, as equal as can be.

use std::ops::Range;

/// The agents of a process, of which there are at most as many as agents.
pub(super) fn block(agents: usize, processes: usize, process: usize) -> Range<usize> {
    process * agents / processes..(process + 1) * agents / processes
}

/// The process that has an agent.
pub(super) fn process_of(agents: usize, processes: usize, agent: usize) -> usize {
    ((agent + 1) * processes - 1) / agents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_is_in_one_process_and_none_has_much_more_than_another() {
        for agents in 1..40 {
            for processes in 1..=agents {
                let mut next = 0;
                for process in 0..processes {
                    let block = block(agents, processes, process);
                    assert_eq!(block.start, next);
                    assert!([agents / processes, agents.div_ceil(processes)].contains(&block.len()));
                    next = block.end;
                    block.for_each(|agent| assert_eq!(process_of(agents, processes, agent), process));
                }
                assert_eq!(next, agents);
            }
        }
    }
}
