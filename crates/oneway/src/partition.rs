//! How a dataset is split over agents. Every agent gets the same number of rows, ⌊N/n⌋, whatever the rule, so that
//! F(x) = (1/n) Σ f_i(x) is also the mean over all rows that are kept; the remainder is dropped.

use crate::sample::{Draws, Purpose};
use crate::{Error, Result};

/// A rule for splitting rows over agents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Partition {
    /// Contiguous, in the order of the file.
    Even,
    /// Contiguous after a shuffle.
    Shuffled,
    /// Contiguous after a stable sort by label, −1 first: most agents see one label only.
    ByLabel,
    /// Agent i draws label proportions q_i ~ Dirichlet(α·p), p the labels' shares in the data, and takes its rows in
    /// these proportions, without replacement; where a label runs out the other fills up (after Hsu, Qi & Brown 2019).
    /// Small α: one label each; large α: everyone alike.
    Dirichlet(f64),
}

impl Partition {
    /// The row numbers of each agent.
    ///
    /// ```
    /// use oneway::partition::Partition;
    /// let shards = Partition::ByLabel.split(&[1.0, -1.0, 1.0, -1.0, 1.0], 2, 0).unwrap();
    /// assert_eq!(shards, [[1, 3], [0, 2]]); // −1 first; row 4 is the remainder
    /// ```
    pub fn split(&self, labels: &[f64], agents: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
        if agents == 0 {
            return Err(Error::parameter("run", "agents", agents, "there must be at least one agent"));
        }
        let each = labels.len() / agents;
        if each == 0 {
            return Err(Error::TooFewRows { agents, rows: labels.len() });
        }
        let mut order: Vec<usize> = (0..labels.len()).collect();
        match *self {
            Partition::Even => {}
            Partition::Shuffled => Draws::new(seed, Purpose::Partition, 0, 0).shuffle(&mut order),
            Partition::ByLabel => order.sort_by(|&a, &b| labels[a].total_cmp(&labels[b])),
            Partition::Dirichlet(α) => order = by_dirichlet(labels, agents, α, seed)?,
        }
        Ok(order.chunks_exact(each).take(agents).map(<[usize]>::to_vec).collect())
    }
}

/// Rows in the order in which agents take them: the first ⌊N/n⌋ are agent 0's, and so on.
fn by_dirichlet(labels: &[f64], agents: usize, α: f64, seed: u64) -> Result<Vec<usize>> {
    if !(α > 0.0 && α.is_finite()) {
        return Err(Error::parameter("partition", "dirichlet", α, "the concentration must be positive"));
    }
    let (mut positive, mut negative): (Vec<usize>, Vec<usize>) =
        (0..labels.len()).partition(|&r| labels[r] > 0.0);
    let mut draws = Draws::new(seed, Purpose::Partition, 0, 0);
    draws.shuffle(&mut positive);
    draws.shuffle(&mut negative);
    let share = positive.len() as f64 / labels.len() as f64;

    let each = labels.len() / agents;
    let mut order = Vec::with_capacity(each * agents);
    for agent in 0..agents {
        let mut draws = Draws::new(seed, Purpose::Partition, agent + 1, 0);
        let q = match share {
            0.0 | 1.0 => share,
            p => draws.dirichlet(&[α * p, α * (1.0 - p)])[0],
        };
        let wanted = (q * each as f64).round() as usize;
        // as many as there are, but no fewer than the other pool forces on this agent
        let taken = wanted.min(positive.len()).max(each.saturating_sub(negative.len()));
        order.extend(positive.drain(positive.len() - taken..));
        order.extend(negative.drain(negative.len() - (each - taken)..));
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn positive_shares(shards: &[Vec<usize>], labels: &[f64]) -> Vec<f64> {
        let share = |shard: &Vec<usize>| {
            shard.iter().filter(|&&r| labels[r] > 0.0).count() as f64 / shard.len() as f64
        };
        shards.iter().map(share).collect()
    }

    proptest! {
        #[test]
        fn every_rule_gives_equal_disjoint_shards(
            positive in prop::collection::vec(any::<bool>(), 1..200), agents in 1usize..20, seed: u64, rule in 0..4
        ) {
            let labels: Vec<f64> = positive.iter().map(|&p| if p { 1.0 } else { -1.0 }).collect();
            let rule = [Partition::Even, Partition::Shuffled, Partition::ByLabel, Partition::Dirichlet(0.1)][rule as usize];
            match rule.split(&labels, agents, seed) {
                Err(error) => prop_assert!(agents > labels.len(), "{error}"),
                Ok(shards) => {
                    prop_assert_eq!(shards.len(), agents);
                    prop_assert!(shards.iter().all(|s| s.len() == labels.len() / agents));
                    let mut rows: Vec<usize> = shards.concat();
                    rows.sort_unstable();
                    rows.dedup();
                    prop_assert_eq!(rows.len(), agents * (labels.len() / agents));
                }
            }
        }
    }

    #[test]
    fn dirichlet_goes_from_one_label_each_to_everyone_alike() {
        let labels: Vec<f64> = (0..20_000).map(|r| if r % 4 == 0 { 1.0 } else { -1.0 }).collect();
        let extreme = Partition::Dirichlet(1e-3).split(&labels, 20, 1).unwrap();
        let pure = positive_shares(&extreme, &labels).iter().filter(|&&s| s == 0.0 || s == 1.0).count();
        assert!(pure >= 17, "{pure} of 20 agents hold one label");
        let alike = Partition::Dirichlet(1e6).split(&labels, 20, 1).unwrap();
        assert!(positive_shares(&alike, &labels).iter().all(|s| (s - 0.25).abs() < 0.01));
        assert!(Partition::Dirichlet(0.0).split(&labels, 20, 1).is_err());
    }

    #[test]
    fn shuffling_depends_on_the_seed() {
        let split = |rule: Partition, seed| rule.split(&[1.0; 40], 4, seed).unwrap();
        assert_ne!(split(Partition::Shuffled, 1), split(Partition::Even, 1));
        assert_ne!(split(Partition::Shuffled, 1), split(Partition::Shuffled, 2));
        assert_eq!(split(Partition::Shuffled, 1), split(Partition::Shuffled, 1));
    }

    #[test]
    fn even_is_contiguous_and_drops_the_remainder() {
        let shards = Partition::Even.split(&[1.0; 7], 3, 0).unwrap();
        assert_eq!(shards, [[0, 1], [2, 3], [4, 5]]);
    }
}
