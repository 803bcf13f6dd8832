//! Counter-based randomness: a draw is a pure function of (seed, purpose, agent, round, position).
//!
//! There is no generator state to carry, ship or checkpoint, and no order in which draws must happen: any
//! agent on any machine can make any draw again. The generator is Philox4x32-10 (Salmon et al. 2011), keyed
//! by the seed, with the rest as its counter.

mod normal;
mod order;
mod philox;
mod streams;

use rand_philox::philox4x32_10;

pub(crate) use order::Passes;
pub use streams::Streams;

use super::vectors::widest;
use crate::numeric::vectors::filled;

/// What a draw is for; different purposes never share a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// Samples and noise of stochastic gradients, by agent and round.
    Gradient = 0,
    /// Random graphs.
    Graph = 1,
    /// The split of a dataset over agents.
    Partition = 2,
    /// The data of a synthetic problem.
    Problem = 3,
    /// Seeds derived from a seed.
    Seed = 4,
    /// Gradients that are drawn to estimate their noise, on no trajectory.
    Noise = 5,
    /// What a lossy code rounds by or picks, by agent, round and message.
    Codec = 6,
    /// Times of an agent's steps, by agent and by its own count of steps.
    Clock = 10,
    /// Journeys on the pull graph, by sender, message and (as phase) receiver.
    PullJourney = 11,
    /// Journeys on the push graph.
    PushJourney = 12,
    /// Whether and when a message on the pull graph arrives, by receiver, round and sender (as the phase).
    PullLink = 16,
    /// The same on the push graph.
    PushLink = 17,
    /// Agents that leave and come back, by agent and round.
    Churn = 18,
    /// Which rows of a dataset are held out.
    HoldOut = 19,
}

/// A stream of draws at one (seed, purpose, agent, round).
///
/// ```
/// use oneway::numeric::sample::{Draws, Purpose};
/// let mut a = Draws::new(7, Purpose::Gradient, 3, 100);
/// let mut b = a.clone();
/// assert_eq!(a.below(1628), b.below(1628)); // a pure function of where we are
/// ```
#[derive(Debug, Clone)]
pub struct Draws {
    key: [u32; 2],
    counter: [u32; 4],
    words: [u32; 4],
    left: usize,
    spare_normal: Option<f64>,
}

impl Draws {
    /// The stream for `agent` at `round`; both are taken modulo 2³².
    #[inline]
    pub fn new(seed: u64, purpose: Purpose, agent: usize, round: u64) -> Self {
        Self {
            key: [seed as u32, (seed >> 32) as u32],
            counter: [0, agent as u32, round as u32, purpose as u32],
            words: [0; 4],
            left: 0,
            spare_normal: None,
        }
    }

    /// The same stream in another phase (an exchange within a round), modulo 2²⁴; phase 0 is the stream
    /// itself.
    #[inline]
    pub fn in_phase(mut self, phase: u32) -> Self {
        self.counter[3] = self.counter[3] & 0xff | phase << 8;
        self
    }

    /// Makes the next words already, if none are left: where there is other work to do meanwhile, they cost
    /// little.
    #[inline(always)]
    pub fn prepare(&mut self) {
        if self.left == 0 {
            self.refill();
        }
    }

    /// [`prepare`](Self::prepare), for many streams side by side.
    pub fn prepare_all(streams: &mut [Draws]) {
        widest(
            #[inline(always)]
            || {
                let (groups, rest) = streams.as_chunks_mut::<8>();
                for group in groups {
                    Self::prepare_group(group);
                }
                for draws in rest {
                    draws.prepare();
                }
            },
        );
    }

    #[inline(always)]
    fn prepare_group(group: &mut [Draws; 8]) {
        let key = group[0].key;
        if group.iter().any(|draws| draws.left > 0 || draws.key != key) {
            return group.iter_mut().for_each(Self::prepare);
        }
        let counters = filled(|i| filled(|p| u64::from(group[p].counter[i])));
        let words = philox::words::<8>(counters, key);
        for (p, draws) in group.iter_mut().enumerate() {
            draws.take(words.map(|lanes| lanes[p] as u32));
        }
    }

    #[inline(always)]
    fn refill(&mut self) {
        self.take(philox4x32_10(self.counter, self.key));
    }

    /// Takes the words at its counter, and goes on to the next.
    #[inline(always)]
    fn take(&mut self, words: [u32; 4]) {
        self.words = words;
        self.counter[0] = self.counter[0].wrapping_add(1);
        self.left = 2;
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.prepare();
        self.left -= 1;
        let [low, high] = if self.left == 1 { [0, 1] } else { [2, 3] };
        u64::from(self.words[low]) | u64::from(self.words[high]) << 32
    }

    /// A whole number, uniform on 0..`bound`, by Lemire's multiplication; its bias, bound/2⁶⁴, is below
    /// notice.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        below(self.bits(), bound)
    }

    /// Uniform on the open interval (0, 1), at the centres of a grid of 2⁻⁵².
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// Standard normal, by Box and Muller; both of a pair are used.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        let [[cos], [sin]] = normal::pairs([self.unit()], [self.unit()]);
        self.spare_normal = Some(sin);
        cos
    }

    /// Standard normals, one for each place: those that as many calls of [`normal`](Self::normal) give, made
    /// side by side.
    #[inline(always)]
    pub fn normals(&mut self, out: &mut [f64]) {
        let aligned = if self.spare_normal.is_some() { out.len().min(1) } else { 0 };
        let (first, rest) = out.split_at_mut(aligned);
        first.fill_with(|| self.normal());
        let (blocks, last) = rest.as_chunks_mut::<8>();
        for block in blocks {
            let units = self.pairs_of_units();
            let [cos, sin] = normal::pairs(units.map(|u| u[0]), units.map(|u| u[1]));
            *block = filled(|i| if i % 2 == 0 { cos[i / 2] } else { sin[i / 2] });
        }
        last.fill_with(|| self.normal());
    }

    /// The next eight units, in pairs.
    #[inline(always)]
    fn pairs_of_units(&mut self) -> [[f64; 2]; 4] {
        self.pairs_of_bits().map(|bits| bits.map(unit))
    }

    /// The next eight times 64 bits, in pairs: those that as many calls of [`bits`](Self::bits) give. Where a
    /// block of words begins, four blocks are made side by side.
    #[inline(always)]
    pub(crate) fn pairs_of_bits(&mut self) -> [[u64; 2]; 4] {
        if self.left > 0 {
            return filled(|_| [self.bits(), self.bits()]);
        }
        let [w0, w1, w2, w3] = philox::blocks::<4>(self.counter, self.key);
        self.counter[0] = self.counter[0].wrapping_add(4);
        filled(|p| [w0[p] | w1[p] << 32, w2[p] | w3[p] << 32])
    }

    /// Gamma with the given shape > 0 and scale 1, by Marsaglia and Tsang (2000), as a logarithm: shapes far
    /// below one put almost all mass where the value itself underflows.
    pub fn ln_gamma_variate(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            // Γ(a) = Γ(a + 1)·U^(1/a)
            return self.ln_gamma_variate(shape + 1.0) + libm::log(self.unit()) / shape;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let x = self.normal();
            let root = 1.0 + c * x;
            let v = root * root * root;
            if v > 0.0 && libm::log(self.unit()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return libm::log(d * v);
            }
        }
    }

    /// Dirichlet with the given positive concentrations: non-negative, summing to one.
    pub fn dirichlet(&mut self, concentrations: &[f64]) -> Vec<f64> {
        let logs: Vec<f64> = concentrations.iter().map(|&a| self.ln_gamma_variate(a)).collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let scaled: Vec<f64> = logs.iter().map(|log| libm::exp(log - largest)).collect();
        let sum: f64 = scaled.iter().sum();
        scaled.iter().map(|s| s / sum).collect()
    }

    /// Puts `items` in random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// 64 bits as a whole number in 0..`bound`.
#[inline(always)]
pub(crate) fn below(bits: u64, bound: usize) -> usize {
    ((u128::from(bits) * bound as u128) >> 64) as usize
}

/// 64 bits as a number in (0, 1).
#[inline(always)]
pub(crate) fn unit(bits: u64) -> f64 {
    // bits to a whole number below 2⁵², exactly: by way of a number in [2⁵², 2⁵³), which every machine can do
    // in lanes
    const TWO_52: f64 = (1u64 << 52) as f64;
    let whole = f64::from_bits(TWO_52.to_bits() | bits >> 12) - TWO_52;
    (whole + 0.5) * (1.0 / TWO_52)
}

/// A seed of its own for `index` (a repetition, say), derived from `seed`.
pub fn derive_seed(seed: u64, index: u64) -> u64 {
    Draws::new(seed, Purpose::Seed, (index >> 32) as usize, index).bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_and_variance(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, variance)
    }

    #[test]
    fn first_word_is_philox_known_answer() {
        // Random123's kat_vectors: philox4x32 10, counter 0, key 0 → 6627e8d5 e169c58d bc57ac4c 9b00dbd8
        let mut draws = Draws::new(0, Purpose::Gradient, 0, 0);
        assert_eq!(draws.bits(), 0xe169_c58d_6627_e8d5);
        assert_eq!(draws.bits(), 0x9b00_dbd8_bc57_ac4c);
    }

    #[test]
    fn streams_differ_by_seed_purpose_agent_round_and_phase() {
        let mut firsts: Vec<u64> = vec![];
        for (seed, purpose, agent, round) in [
            (1, Purpose::Gradient, 0, 0),
            (2, Purpose::Gradient, 0, 0),
            (1 << 32 | 1, Purpose::Gradient, 0, 0),
            (1, Purpose::Graph, 0, 0),
            (1, Purpose::Noise, 0, 0),
            (1, Purpose::Gradient, 1, 0),
            (1, Purpose::Gradient, 0, 1),
        ] {
            firsts.push(Draws::new(seed, purpose, agent, round).bits());
        }
        firsts.extend([1, 256].map(|phase| Draws::new(1, Purpose::Gradient, 0, 0).in_phase(phase).bits()));
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts.len(), 9);
    }

    #[test]
    fn below_is_uniform() {
        let mut counts = [0u32; 7];
        let mut draws = Draws::new(3, Purpose::Gradient, 0, 0);
        for _ in 0..70_000 {
            counts[draws.below(7)] += 1;
        }
        // χ² with 6 degrees of freedom: 22.5 is the 0.999 quantile
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi2 < 22.5, "χ² = {chi2}");
    }

    #[test]
    fn bits_side_by_side_are_bits_one_by_one() {
        for before in 0..3 {
            let [mut one, mut many] = [(); 2].map(|()| Draws::new(7, Purpose::Codec, 1, before));
            (0..before).for_each(|_| assert_eq!(one.bits(), many.bits()));
            for _ in 0..3 {
                assert_eq!(many.pairs_of_bits().as_flattened(), [(); 8].map(|()| one.bits()));
            }
        }
    }

    #[test]
    fn streams_prepared_side_by_side_go_on_as_alone() {
        for count in 0..20 {
            let stream =
                |agent| Draws::new(7 << 40 | 9, Purpose::Gradient, agent, 3).in_phase(agent as u32 % 2);
            let mut alone: Vec<Draws> = (0..count).map(stream).collect();
            alone.iter_mut().skip(11).take(1).for_each(|draws| _ = draws.bits()); // one that has begun
            let mut together = alone.clone();
            Draws::prepare_all(&mut together);
            for (alone, together) in alone.iter_mut().zip(&mut together) {
                assert_eq!([(); 5].map(|()| alone.bits()), [(); 5].map(|()| together.bits()));
            }
        }
    }

    #[test]
    fn normals_side_by_side_are_normals_one_by_one() {
        for count in 0..40 {
            let [mut one, mut many] = [(); 2].map(|()| Draws::new(7, Purpose::Gradient, 1, count));
            let expected: Vec<f64> = (0..2 * count).map(|_| one.normal()).collect();
            let mut found = vec![0.0; 2 * count as usize];
            let (left, right) = found.split_at_mut(count as usize);
            many.normals(left);
            many.normals(right);
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn normal_and_gamma_have_their_moments() {
        let mut draws = Draws::new(11, Purpose::Problem, 0, 0);
        let normals: Vec<f64> = (0..200_000).map(|_| draws.normal()).collect();
        let (mean, variance) = mean_and_variance(&normals);
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        for shape in [0.3, 1.0, 4.5] {
            let gammas: Vec<f64> = (0..200_000).map(|_| draws.ln_gamma_variate(shape).exp()).collect();
            let (mean, variance) = mean_and_variance(&gammas);
            assert!((mean / shape - 1.0).abs() < 0.03, "mean of Γ({shape}) is {mean}");
            assert!((variance / shape - 1.0).abs() < 0.06, "variance of Γ({shape}) is {variance}");
        }
    }

    #[test]
    fn dirichlet_sums_to_one_even_when_tiny() {
        let mut draws = Draws::new(5, Purpose::Partition, 0, 0);
        for _ in 0..1000 {
            let p = draws.dirichlet(&[1e-3, 1e-3, 1e-3]);
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12 && p.iter().all(|&p| p >= 0.0));
        }
    }
}
