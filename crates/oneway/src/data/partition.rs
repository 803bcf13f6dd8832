//! How a dataset is split over agents. Every agent gets the same number of rows, ⌊N/n⌋, whatever the rule, so
//! that F(x) = (1/n) Σ f_i(x) is also the mean over all rows that are kept; the remainder is dropped.

use crate::data::classes;
use crate::numeric::sample::{Draws, Purpose};
use crate::{Error, Result};

/// A rule for splitting rows over agents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Partition {
    /// Contiguous, in the order of the file.
    Even,
    /// Contiguous after a shuffle.
    Shuffled,
    /// Contiguous after a stable sort by label, ascending: most agents see few labels. Real targets are
    /// sorted too.
    ByLabel,
    /// Agent i draws label proportions q_i ~ Dirichlet(α·p), p the labels' shares in the data, and takes its
    /// rows in these proportions, without replacement; where a label runs out the others fill up, in their
    /// proportions (after Hsu, Qi & Brown 2019). Small α: one label each; large α: everyone alike.
    Dirichlet(f64),
}

impl Partition {
    /// The row numbers of each agent.
    ///
    /// ```
    /// use oneway::data::partition::Partition;
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

/// More different labels than this are no classes.
const MOST_CLASSES: usize = 256;

/// Rows in the order in which agents take them: the first ⌊N/n⌋ are agent 0's, and so on.
fn by_dirichlet(labels: &[f64], agents: usize, α: f64, seed: u64) -> Result<Vec<usize>> {
    if !(α > 0.0 && α.is_finite()) {
        return Err(Error::parameter("partition", "dirichlet", α, "the concentration must be positive"));
    }
    let classes = classes(labels);
    if classes.len() > MOST_CLASSES {
        let expected = format!(
            "rows are taken by their label, and there are {} different ones: give \"even\", \"shuffled\" or \"by-label\"",
            classes.len()
        );
        return Err(Error::parameter("partition", "dirichlet", α, expected));
    }
    // a pool for each class, the largest label's first
    let mut pools = vec![vec![]; classes.len()];
    for (r, label) in labels.iter().enumerate() {
        let below = classes.partition_point(|class| class < label);
        pools[classes.len() - 1 - below].push(r);
    }
    let mut draws = Draws::new(seed, Purpose::Partition, 0, 0);
    pools.iter_mut().for_each(|pool| draws.shuffle(pool));
    let concentrations = concentrations(&pools, labels.len(), α);

    let each = labels.len() / agents;
    let mut order = Vec::with_capacity(each * agents);
    for agent in 0..agents {
        let mut draws = Draws::new(seed, Purpose::Partition, agent + 1, 0);
        let q = match pools.len() {
            1 => vec![1.0],
            _ => draws.dirichlet(&concentrations),
        };
        let left: Vec<usize> = pools.iter().map(Vec::len).collect();
        for (pool, taken) in pools.iter_mut().zip(shares(&q, each, &left)) {
            order.extend(pool.drain(pool.len() - taken..));
        }
    }
    Ok(order)
}

/// α·p, with p the pools' shares of all rows; the last has what is left of 1.
fn concentrations(pools: &[Vec<usize>], rows: usize, α: f64) -> Vec<f64> {
    let mut rest = 1.0;
    let of_pool = |(c, pool): (usize, &Vec<usize>)| {
        let share = if c + 1 < pools.len() { pool.len() as f64 / rows as f64 } else { rest };
        rest -= share;
        α * share
    };
    pools.iter().enumerate().map(of_pool).collect()
}

/// How many of `each` rows come from each pool: in the proportions q, as far as the pools reach; what they
/// lack, the others fill up in their proportions. There must be enough in all pools together.
fn shares(q: &[f64], each: usize, left: &[usize]) -> Vec<usize> {
    let mut taken = vec![0; q.len()];
    let mut missing = each;
    // a pass finds all that is missing, or takes all of a pool
    while missing > 0 {
        let is_open = |c: usize| taken[c] < left[c];
        let mut weights: Vec<f64> = (0..q.len()).map(|c| if is_open(c) { q[c] } else { 0.0 }).collect();
        let mut total = if (0..q.len()).all(is_open) { 1.0 } else { weights.iter().sum() };
        if total.is_nan() || total <= 0.0 {
            // no proportion is left of 1, as when α is small: one label for all that is missing, that with
            // most rows
            let fullest = (0..q.len()).rev().max_by_key(|&c| left[c] - taken[c]);
            weights = (0..q.len()).map(|c| f64::from(u8::from(Some(c) == fullest))).collect();
            total = 1.0;
        }
        for (c, wanted) in split_by(&weights, total, missing).into_iter().enumerate() {
            let found = wanted.min(left[c] - taken[c]);
            taken[c] += found;
            missing -= found;
        }
    }
    taken
}

/// `count` in whole parts in the proportions of `weights`, which sum to `total`: sums of the first parts are
/// rounded.
fn split_by(weights: &[f64], total: f64, count: usize) -> Vec<usize> {
    let last = weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0);
    let (mut sum, mut before) = (0.0, 0);
    let part = |(c, weight): (usize, &f64)| {
        sum += weight;
        let rounded = (sum / total * count as f64).round() as usize;
        let until = if c < last { rounded.clamp(before, count) } else { count };
        let part = until - before;
        before = until;
        part
    };
    weights.iter().enumerate().map(part).collect()
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

    /// The split as it is for two labels, written out: agent i takes round(q·each) of the positive ones, as
    /// far as either pool allows.
    fn two_labels(labels: &[f64], agents: usize, α: f64, seed: u64) -> Vec<Vec<usize>> {
        let (mut positive, mut negative): (Vec<usize>, Vec<usize>) =
            (0..labels.len()).partition(|&r| labels[r] > 0.0);
        let mut draws = Draws::new(seed, Purpose::Partition, 0, 0);
        draws.shuffle(&mut positive);
        draws.shuffle(&mut negative);
        let share = positive.len() as f64 / labels.len() as f64;
        let each = labels.len() / agents;
        let of_agent = |agent| {
            let mut draws = Draws::new(seed, Purpose::Partition, agent + 1, 0);
            let q = match share {
                0.0 | 1.0 => share,
                p => draws.dirichlet(&[α * p, α * (1.0 - p)])[0],
            };
            let wanted = (q * each as f64).round() as usize;
            let taken = wanted.min(positive.len()).max(each.saturating_sub(negative.len()));
            let mut shard = positive.split_off(positive.len() - taken);
            shard.extend(negative.drain(negative.len() - (each - taken)..));
            shard
        };
        (0..agents).map(of_agent).collect()
    }

    proptest! {
        #[test]
        fn many_labels_give_equal_disjoint_shards(
            labels in prop::collection::vec((-3..9i32).prop_map(f64::from), 1..200), agents in 1usize..20, seed: u64,
            α in prop::sample::select(&[1e-300, 1e-3, 0.1, 1.0, 100.0, 1e300][..]), by_label: bool
        ) {
            let rule = if by_label { Partition::ByLabel } else { Partition::Dirichlet(α) };
            prop_assume!(agents <= labels.len());
            let shards = rule.split(&labels, agents, seed).unwrap();
            prop_assert!(shards.iter().all(|shard| shard.len() == labels.len() / agents));
            let rows = shards.concat();
            if by_label {
                prop_assert!(rows.is_sorted_by_key(|&r| (labels[r] as i32, r)), "ascending, and stable");
            }
            let mut rows = rows;
            rows.sort_unstable();
            rows.dedup();
            prop_assert_eq!(rows.len(), agents * (labels.len() / agents));
        }

        #[test]
        fn two_labels_are_split_as_written_out(
            positive in prop::collection::vec(any::<bool>(), 1..300), agents in 1usize..20, seed: u64,
            α in prop::sample::select(&[1e-3, 0.1, 1.0, 7.0, 1e6][..])
        ) {
            prop_assume!(agents <= positive.len());
            let labels: Vec<f64> = positive.iter().map(|&p| if p { 1.0 } else { -1.0 }).collect();
            let shards = Partition::Dirichlet(α).split(&labels, agents, seed).unwrap();
            prop_assert_eq!(shards, two_labels(&labels, agents, α, seed));
        }
    }

    #[test]
    fn dirichlet_over_ten_classes_follows_its_concentration() {
        let labels: Vec<f64> = (0..20_000).map(|r| f64::from(r % 10)).collect();
        let largest_shares = |α| {
            let shards = Partition::Dirichlet(α).split(&labels, 20, 1).unwrap();
            let largest = |shard: &Vec<usize>| {
                let count = |c: i32| shard.iter().filter(|&&r| labels[r] == f64::from(c)).count();
                (0..10).map(count).max().unwrap() as f64 / shard.len() as f64
            };
            shards.iter().map(largest).collect::<Vec<_>>()
        };
        let pure = largest_shares(1e-3).iter().filter(|&&share| share > 0.99).count();
        assert!(pure >= 15, "{pure} of 20 agents hold one class");
        assert!(largest_shares(1e6).iter().all(|share| (share - 0.1).abs() < 0.01));
    }

    #[test]
    fn real_targets_are_no_classes() {
        let labels: Vec<f64> = (0..2000).map(|r| f64::from(r) * 0.01).collect();
        let error = Partition::Dirichlet(1.0).split(&labels, 4, 1).unwrap_err().to_string();
        assert!(error.contains("2000 different ones: give \"even\""), "{error}");
        assert!(Partition::ByLabel.split(&labels, 4, 1).is_ok());
    }

    #[test]
    fn shares_are_rounded_in_sum_and_filled_up() {
        assert_eq!(split_by(&[0.25, 0.25, 0.5], 1.0, 6), [2, 1, 3]);
        assert_eq!(shares(&[0.5, 0.3, 0.2], 10, &[2, 100, 100]), [2, 5, 3]);
        assert_eq!(shares(&[1.0, 0.0, 0.0], 10, &[4, 3, 9]), [4, 0, 6]);
        assert_eq!(shares(&[1.0, 0.0, 0.0], 10, &[4, 5, 5]), [4, 5, 1]);
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
