//! Random orders of 0..m, any place of which can be asked for alone: draws without replacement that keep no list
//! of what was drawn.
//!
//! An order is the swap-or-not shuffle (Hoang, Morris & Rogaway 2012). In each of its steps the numbers meet in
//! pairs that add up to a random number modulo m, and each pair changes places or does not, by a random bit.

use super::{Draws, below};
use crate::numeric::vectors::widest;

/// Steps of a shuffle. With 16 no test has told orders from uniform ones (of 3 to 6 numbers, all of them counted; of
/// 10 to 1628 by places, neighbours and halves); with 8 all did.
const STEPS: usize = 24;

/// Where in a stream the draws of its orders begin. No stream of a round comes so far.
const ORDERS: u32 = 1 << 31;

/// A block of words is two draws of 64 bits, and a step takes one.
const BLOCKS: u32 = STEPS as u32 / 2;

/// A random order of 0..m.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    m: usize,
    keys: [u64; STEPS],
}

impl Order {
    /// The number at a place, both below m. O(1).
    pub(crate) fn at(&self, place: usize) -> usize {
        debug_assert!(place < self.m, "place {place} of {}", self.m);
        let mut number = place;
        for &key in &self.keys {
            let sum = below(key, self.m);
            let other = if number <= sum { sum - number } else { sum + self.m - number };
            let pair = number.max(other) as u64; // the same for both
            if mixed(key.wrapping_add(pair)) >> 63 == 1 {
                number = other;
            }
        }
        number
    }
}

/// What `SplitMix64` makes of a state (Steele, Lea & Flood 2014): each bit depends on all.
fn mixed(state: u64) -> u64 {
    let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Numbers below m, drawn in a round without replacement: all of them go by in a random order before one comes
/// again, and then in another order.
#[derive(Debug, Clone)]
pub(crate) struct Passes {
    /// Its stream: seed, purpose, agent and phase.
    stream: Draws,
    /// Which of the sequences of the stream.
    sequence: u32,
    pass: u64,
    /// The next place in the order of this pass.
    place: usize,
    order: Order,
}

impl Passes {
    /// Goes on.
    pub(crate) fn next(&mut self) -> usize {
        if self.place == self.order.m {
            self.pass += 1;
            self.place = 0;
            self.order = self.stream.order(self.order.m, self.sequence, self.pass);
        }
        self.place += 1;
        self.order.at(self.place - 1)
    }
}

impl Draws {
    /// Numbers below m ≥ 1 without replacement, where each round takes `each` of them: round k begins after
    /// k·`each`. What is drawn so a second time from the stream of a round goes its own way through the numbers.
    pub(crate) fn passes(&mut self, m: usize, each: usize) -> Passes {
        let sequence = self.skip_block();
        let before = u64::from(self.counter[2]) * each as u64;
        let (pass, place) = (before / m as u64, (before % m as u64) as usize);
        let order = self.order(m, sequence, pass);
        Passes { stream: self.clone(), sequence, pass, place, order }
    }

    /// The order of a pass, of its number modulo 2³².
    fn order(&self, m: usize, sequence: u32, pass: u64) -> Order {
        let mut keys = [0; STEPS];
        let [_, agent, _, purpose] = self.counter;
        let block = ORDERS.wrapping_add(sequence.wrapping_mul(BLOCKS));
        let mut draws = Draws { counter: [block, agent, pass as u32, purpose], left: 0, ..self.clone() };
        widest(
            #[inline(always)]
            || {
                for keys in keys.as_chunks_mut::<8>().0 {
                    keys.copy_from_slice(draws.pairs_of_bits().as_flattened());
                }
            },
        );
        Order { m, keys }
    }

    /// Leaves out a block of words of which none was used; says which it is.
    fn skip_block(&mut self) -> u32 {
        let block = if self.left == 2 { self.counter[0].wrapping_sub(1) } else { self.counter[0] };
        self.counter[0] = block.wrapping_add(1);
        self.left = 0;
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::sample::Purpose;

    fn stream(agent: usize, round: u64) -> Draws {
        Draws::new(7, Purpose::Gradient, agent, round)
    }

    fn whole(m: usize, pass: u64, agent: usize) -> Vec<usize> {
        let order = stream(agent, 0).order(m, 0, pass);
        (0..m).map(|place| order.at(place)).collect()
    }

    #[test]
    fn an_order_has_every_number_once() {
        for m in (1..70).chain([255, 256, 1000, 1628]) {
            for pass in 0..3 {
                let mut numbers = whole(m, pass, 1);
                numbers.sort_unstable();
                assert!(numbers.iter().copied().eq(0..m), "{m}, pass {pass}");
            }
        }
    }

    /// All orders of three to five numbers, counted.
    #[test]
    fn orders_are_uniform() {
        for (m, orders) in [(3usize, 6.0), (4, 24.0), (5, 120.0)] {
            let mut counts = std::collections::HashMap::new();
            const PASSES: u64 = 24_000;
            for pass in 0..PASSES {
                *counts.entry(whole(m, pass, 3)).or_insert(0.0) += 1.0;
            }
            let expected = PASSES as f64 / orders;
            let χ2: f64 = counts.values().map(|count: &f64| (count - expected).powi(2) / expected).sum();
            let freedom = orders - 1.0;
            assert!(
                counts.len() as f64 == orders && χ2 < freedom + 4.0 * (2.0 * freedom).sqrt(),
                "{m}: {χ2}"
            );
        }
    }

    /// Of many numbers: each is at each place alike, and the next is as far from it as any.
    #[test]
    fn places_and_neighbours_are_uniform() {
        const M: usize = 40;
        const PASSES: usize = 20_000;
        let (mut at, mut steps) = (vec![[0.0f64; M]; M], [0.0f64; M]);
        for pass in 0..PASSES {
            let numbers = whole(M, pass as u64, 5);
            numbers.iter().enumerate().for_each(|(place, number)| at[place][*number] += 1.0);
            numbers.windows(2).for_each(|pair| steps[(pair[1] + M - pair[0]) % M] += 1.0);
        }
        let expected = PASSES as f64 / M as f64;
        let χ2: f64 = at.as_flattened().iter().map(|count| (count - expected).powi(2) / expected).sum();
        let freedom = ((M - 1) * (M - 1)) as f64;
        assert!((χ2 - freedom).abs() < 4.0 * (2.0 * freedom).sqrt(), "places: {χ2} of {freedom}");
        let expected = (PASSES * (M - 1)) as f64 / (M - 1) as f64;
        let χ2: f64 = steps[1..].iter().map(|count| (count - expected).powi(2) / expected).sum();
        assert!(steps[0] == 0.0 && χ2 < 38.0 + 4.0 * 76.0f64.sqrt(), "neighbours: {χ2}");
    }

    #[test]
    fn rounds_go_on_where_the_last_ended() {
        for each in [1, 2, 3, 5, 7] {
            let mut numbers = vec![];
            for round in 0..14 {
                let mut passes = stream(2, round).passes(7, each);
                numbers.extend((0..each).map(|_| passes.next()));
            }
            for (pass, numbers) in numbers.chunks_exact(7).enumerate() {
                assert_eq!(numbers, whole(7, pass as u64, 2), "{each} a round");
            }
        }
    }

    #[test]
    fn orders_differ_by_pass_agent_phase_and_sequence() {
        let mut orders: Vec<Vec<usize>> = vec![whole(20, 0, 0), whole(20, 1, 0), whole(20, 0, 1)];
        let all = |mut passes: Passes| (0..20).map(|_| passes.next()).collect();
        orders.push(all(stream(0, 0).in_phase(1).passes(20, 1)));
        let mut twice = stream(0, 0);
        assert_eq!(all(twice.passes(20, 1)), orders[0]);
        orders.push(all(twice.passes(20, 1)));
        orders.sort_unstable();
        orders.dedup();
        assert_eq!(orders.len(), 5);
    }

    /// Words that were prepared and not used change nothing.
    #[test]
    fn a_prepared_stream_has_the_same_order() {
        let mut prepared = stream(4, 9);
        prepared.prepare();
        let numbers = |mut passes: Passes| [(); 30].map(|()| passes.next());
        assert_eq!(numbers(prepared.passes(11, 3)), numbers(stream(4, 9).passes(11, 3)));
    }
}
