//! How rows of data are shared out among agents.

use super::Batch;
use crate::data::partition::Partition;

/// How rows are shared out among agents, and how many of them a stochastic gradient looks at.
///
/// ```
/// use oneway::data::partition::Partition;
/// use oneway::problems::{Batch, Sharing};
/// let sharing = Sharing::among(20).partition(Partition::ByLabel).batch(Batch::Sampled(8));
/// assert_eq!((sharing.agents, sharing.seed), (20, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sharing {
    /// How many agents there are.
    pub agents: usize,
    /// Who gets which rows.
    pub partition: Partition,
    /// How many rows a stochastic gradient looks at.
    pub batch: Batch,
    /// What random partitions are drawn from.
    pub seed: u64,
}

impl Sharing {
    /// Rows in the order they come, the same number for each agent; gradients of one row; seed 1.
    pub fn among(agents: usize) -> Self {
        Self { agents, partition: Partition::Even, batch: Batch::Sampled(1), seed: 1 }
    }

    /// The same with another partition.
    pub fn partition(self, partition: Partition) -> Self {
        Self { partition, ..self }
    }

    /// The same with other batches.
    pub fn batch(self, batch: Batch) -> Self {
        Self { batch, ..self }
    }

    /// The same with another seed.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}
