//! Which process has which agents: blocks of neighbouring numbers, as equal as can be.

use std::ops::Range;

/// The agents of one of `ranks` processes. The first ones have one more where they cannot all have as many.
///
/// ```
/// let blocks: Vec<_> = (0..3).map(|rank| oneway_mpi::blocks::block(8, 3, rank)).collect();
/// assert_eq!(blocks, [0..3, 3..6, 6..8]);
/// ```
pub fn block(agents: usize, ranks: usize, rank: usize) -> Range<usize> {
    let (each, more) = (agents / ranks, agents % ranks);
    let start = |rank: usize| rank * each + rank.min(more);
    start(rank)..start(rank + 1)
}

/// The process that has an agent.
pub fn rank_of(agents: usize, ranks: usize, agent: usize) -> usize {
    let (each, more) = (agents / ranks, agents % ranks);
    let in_longer = more * (each + 1);
    if agent < in_longer { agent / (each + 1) } else { more + (agent - in_longer) / each.max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_is_in_one_block_and_blocks_differ_by_one_at_most() {
        for agents in 1..40 {
            for ranks in 1..=agents {
                let blocks: Vec<_> = (0..ranks).map(|rank| block(agents, ranks, rank)).collect();
                let all: Vec<usize> = blocks.iter().cloned().flatten().collect();
                assert_eq!(all, (0..agents).collect::<Vec<_>>());
                let sizes = || blocks.iter().map(ExactSizeIterator::len);
                assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
                for (rank, block) in blocks.into_iter().enumerate() {
                    block.for_each(|agent| assert_eq!(rank_of(agents, ranks, agent), rank));
                }
            }
        }
    }
}
