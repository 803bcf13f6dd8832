//! The costs of messages, from measured exchanges: least squares of relative errors.

use super::load::Load;
use super::{Cluster, Costs};

/// How many costs there are.
const COSTS: usize = 5;

/// A measured exchange without work, on one host.
#[derive(Debug, Clone)]
pub struct Sample {
    /// What each process had to do.
    pub loads: Vec<Load>,
    /// Cores of the host.
    pub cores: usize,
    /// Seconds that it took.
    pub seconds: f64,
}

impl Sample {
    /// What each of the costs is multiplied by, in parts of the measured time.
    fn shares(&self) -> [f64; COSTS] {
        let host =
            Cluster { latency: 0.0, bandwidth: f64::INFINITY, per_host: self.loads.len(), cores: self.cores };
        let sharing = host.sharing(self.loads.len());
        let most = |i: usize| self.loads.iter().map(|load| load.of_costs()[i]).fold(0.0, f64::max);
        let turns = if sharing > 1.0 { sharing } else { 0.0 };
        let times = [sharing * most(0), sharing * most(1), sharing * most(2), sharing * most(3), turns];
        times.map(|x| x / self.seconds.max(f64::MIN_POSITIVE))
    }
}

/// The costs, none of them negative, for which the sum of squares of (predicted − measured) / measured is
/// smallest; `None` where samples do not tell them.
pub fn fit(samples: &[Sample]) -> Option<Costs> {
    let rows: Vec<[f64; COSTS]> = samples.iter().map(Sample::shares).collect();
    let error = |costs: &[f64; COSTS]| {
        let predicted =
            |row: &[f64; COSTS]| row.iter().zip(costs).map(|(share, cost)| share * cost).sum::<f64>();
        rows.iter().map(|row| (predicted(row) - 1.0).powi(2)).sum::<f64>()
    };
    // with so few costs, each may be left at 0: the best of those that are possible
    let subsets = (1..1u8 << COSTS).rev().map(|chosen| std::array::from_fn(|i| chosen & (1 << i) != 0));
    let possible = subsets.filter_map(|chosen| least_squares(&rows, chosen));
    let possible = possible.filter(|costs| costs.iter().all(|cost| *cost >= 0.0 && cost.is_finite()));
    let [message, long, byte, far_byte, turn] = possible.min_by(|a, b| error(a).total_cmp(&error(b)))?;
    Some(Costs { message, long, byte, far_byte, turn })
}

/// x with the smallest ‖Ax − 1‖, numbers that are not chosen being 0: AᵀA x = Aᵀ1 by elimination.
fn least_squares(rows: &[[f64; COSTS]], chosen: [bool; COSTS]) -> Option<[f64; COSTS]> {
    // columns of size 1: seconds of a message, a byte and a turn are of very different sizes
    let size = |i: usize| rows.iter().map(|row| row[i] * row[i]).sum::<f64>().sqrt();
    let sizes: [f64; COSTS] = std::array::from_fn(size);
    let mut system = [[0.0; COSTS + 1]; COSTS];
    for (i, line) in system.iter_mut().enumerate() {
        if !chosen[i] {
            line[i] = 1.0;
            continue;
        }
        if sizes[i] <= 0.0 {
            return None;
        }
        for row in rows {
            for j in (0..COSTS).filter(|j| chosen[*j]) {
                line[j] += row[i] * row[j] / (sizes[i] * sizes[j].max(f64::MIN_POSITIVE));
            }
            line[COSTS] += row[i] / sizes[i];
        }
    }
    for column in 0..COSTS {
        let pivot =
            (column..COSTS).max_by(|a, b| system[*a][column].abs().total_cmp(&system[*b][column].abs()))?;
        system.swap(column, pivot);
        let head = system[column];
        if head[column].abs() < 1e-9 {
            return None; // samples do not tell these costs apart
        }
        for (_, line) in system.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            let factor = line[column] / head[column];
            line.iter_mut().zip(head).for_each(|(x, y)| *x -= factor * y);
        }
    }
    let solved = |i: usize| system[i][COSTS] / system[i][i] / sizes[i];
    Some(std::array::from_fn(|i| if chosen[i] { solved(i) } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::super::load::{FAR_FROM, LONG_FROM};
    use super::*;

    fn sample(processes: usize, messages: usize, each: usize, costs: &Costs) -> Sample {
        let bytes = messages * each;
        let long = if each >= LONG_FROM { messages } else { 0 };
        let far_bytes = if each >= FAR_FROM { bytes } else { 0 };
        let loads = vec![Load { messages, long, bytes, far_bytes, ..Load::default() }; processes];
        let host = Cluster { latency: 0.0, bandwidth: f64::INFINITY, per_host: processes, cores: 2 };
        let seconds = super::super::predict(&host, costs, &[vec![loads.clone()]], &|_| 0.0).seconds;
        Sample { loads, cores: 2, seconds }
    }

    const ALL: [(usize, usize, usize); 8] = [
        (2, 4, 256),
        (2, 4, 1 << 20),
        (8, 4, 256),
        (8, 28, 1 << 12),
        (8, 12, 1 << 16),
        (4, 6, 99),
        (4, 4, 1 << 23),
        (2, 4, 1 << 14),
    ];

    #[test]
    fn costs_come_back_from_times_that_were_made_of_them() {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.max(1e-12);
        for costs in [
            Costs { message: 2e-7, long: 1e-6, byte: 1e-10, far_byte: 2e-10, turn: 3e-6 },
            Costs { message: 1e-6, long: 0.0, byte: 3e-9, far_byte: 1e-10, turn: 0.0 },
            Costs { message: 0.0, long: 2e-6, byte: 1e-10, far_byte: 0.0, turn: 1e-6 },
        ] {
            let samples: Vec<Sample> = ALL.iter().map(|(p, m, b)| sample(*p, *m, *b, &costs)).collect();
            let found = fit(&samples).unwrap();
            let pairs = found.all().into_iter().zip(costs.all());
            assert!(pairs.into_iter().all(|(found, made)| near(found, made)), "{found:?}");
        }
        assert_eq!(fit(&[]), None);
    }

    #[test]
    fn no_cost_is_negative_whatever_was_measured() {
        let costs = Costs { message: 1e-7, long: 1e-6, byte: 1e-10, far_byte: 1e-10, turn: 1e-6 };
        let mut samples: Vec<Sample> = ALL.map(|(p, m, b)| sample(p, m, b, &costs)).into();
        samples[6].seconds /= 1e4; // long messages that take no time at all
        assert!(fit(&samples).unwrap().all().iter().all(|cost| *cost >= 0.0));
    }
}
