//! The stationary vector of the core that state reduction leaves: dense elimination, or iteration.

use super::censor::Core;
use super::wide::Wide;

/// Dense elimination works on plain doubles. A sum of chances below this may have lost a term to underflow
/// that matters.
const SMALLEST_LEAVING: f64 = 1e-280;
/// The distance in the 1-norm, between two vectors that sum to one, at which iteration stops.
const TOLERANCE: f64 = 1e-13;
/// How many arcs iteration may visit in all: some ten seconds' worth.
const VISITS: usize = 4_000_000_000;
/// How often iteration looks at its progress, in sweeps.
const STRIDE: usize = 16;
/// Sweeps after which the rate seen is taken for the rate to come.
const SETTLED: usize = 256;

/// Iteration that would take too long.
#[derive(Debug)]
pub(super) struct TooSlow {
    pub(super) sweeps: usize,
    pub(super) change: f64,
}

/// π of the core, up to scale, by state reduction on a dense matrix; `None` if it needs more range than a
/// double has.
///
/// O(k³) time, O(k²) memory for k nodes; componentwise accurate.
pub(super) fn eliminate(core: &Core) -> Option<Vec<Wide>> {
    let size = core.nodes.len();
    let mut matrix = vec![0.0; size * size];
    for w in 0..size {
        for arc in core.offsets[w]..core.offsets[w + 1] {
            matrix[core.sources[arc] as usize * size + w] = core.chances[arc];
        }
    }
    for v in (1..size).rev() {
        let (above, from_v) = matrix.split_at_mut(v * size);
        let from_v = &from_v[..v];
        let leaving: f64 = from_v.iter().sum();
        if leaving < SMALLEST_LEAVING {
            return None;
        }
        for from_u in above.chunks_exact_mut(size) {
            // P_uw += P_uv·P_vw/s_v; the diagonal fills with numbers that nothing reads
            let share = from_u[v] / leaving;
            from_u[v] = share;
            if share > 0.0 {
                for (p_uw, p_vw) in from_u.iter_mut().zip(from_v) {
                    *p_uw += share * p_vw;
                }
            }
        }
    }
    let mut jumps = vec![Wide::ONE; size];
    for v in 1..size {
        // π_v = Σ_u π_u·share_u
        jumps[v] = (0..v).fold(Wide::ZERO, |sum, u| sum + jumps[u] * Wide::new(matrix[u * size + v]));
    }
    Some(stays(core, jumps))
}

/// π of the core, up to scale, by sweeps of x ← ½(x + xP) from two starts at once, until they meet.
///
/// A start spread evenly and one all on a single node differ in the slow modes of the chain by the modes' own
/// size, not by the small step a slow mode makes per sweep. So their distance is an honest error where the
/// last step is not (two crowds that rarely mix: each settles quickly, and the balance between them hardly
/// moves). The step, continued as a geometric series, must be as small too. The ½ makes periodic chains
/// converge. O(arcs) per sweep.
pub(super) fn iterate(core: &Core) -> Result<Vec<Wide>, TooSlow> {
    let size = core.nodes.len();
    let most_sweeps = VISITS / core.sources.len().max(1);
    let mut now = vec![[1.0 / size as f64, 0.0]; size];
    now[0][1] = 1.0;
    let mut next = now.clone();
    let (mut last_distance, mut error) = (f64::INFINITY, f64::INFINITY);
    for sweep in 1..=most_sweeps {
        for (w, next) in next.iter_mut().enumerate() {
            let mut sum = [0.0; 2];
            let arcs = core.offsets[w]..core.offsets[w + 1];
            for (&source, &chance) in core.sources[arcs.clone()].iter().zip(&core.chances[arcs]) {
                let from = &now[source as usize];
                sum[0] += from[0] * chance;
                sum[1] += from[1] * chance;
            }
            *next = [0.5 * (now[w][0] + sum[0]), 0.5 * (now[w][1] + sum[1])];
        }
        std::mem::swap(&mut now, &mut next);
        if sweep % STRIDE != 0 {
            continue;
        }
        normalise(&mut now);
        let distance: f64 = now.iter().map(|x| (x[0] - x[1]).abs()).sum();
        let step: f64 = now.iter().zip(&next).map(|(new, old)| (new[0] - old[0]).abs()).sum();
        // rate per sweep r, and what is left of the geometric series: step·r/(1 − r)
        let rate = libm::pow(distance / last_distance, 1.0 / STRIDE as f64);
        error = distance.max(step * rate / (1.0 - rate).max(f64::EPSILON));
        if error <= TOLERANCE {
            let jumps = now.iter().map(|x| Wide::new(x[0])).collect();
            return Ok(stays(core, jumps));
        }
        // the first sweeps only carry the single node's weight outwards, and say nothing of the rate
        if sweep >= SETTLED {
            let sweeps_left =
                if rate < 1.0 { libm::log(error / TOLERANCE) / -libm::log(rate) } else { f64::INFINITY };
            if sweep as f64 + sweeps_left > most_sweeps as f64 {
                return Err(TooSlow { sweeps: sweep, change: error });
            }
        }
        last_distance = distance;
    }
    Err(TooSlow { sweeps: most_sweeps, change: error })
}

/// Scales both vectors to sum to one: rounding must not make them drift.
fn normalise(vectors: &mut [[f64; 2]]) {
    let sum = vectors.iter().fold([0.0; 2], |sum, x| [sum[0] + x[0], sum[1] + x[1]]);
    for x in vectors {
        *x = [x[0] / sum[0], x[1] / sum[1]];
    }
}

/// From how often the chain jumps from u to how often it is there: π_u = jumps_u/s_u.
fn stays(core: &Core, jumps: Vec<Wide>) -> Vec<Wide> {
    jumps.into_iter().zip(&core.leaving).map(|(jumps, &leaving)| jumps / leaving).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Chain;
    use super::super::censor::Censored;
    use super::*;
    use crate::numeric::sample::{Draws, Purpose};

    /// The jumps of a random chain on `nodes` that goes from even to odd nodes and back: period 2.
    fn periodic(nodes: usize) -> Core {
        let mut draws = Draws::new(4, Purpose::Graph, 0, 0);
        let mut arcs: Vec<(usize, usize, f64)> = vec![];
        for v in 0..nodes {
            arcs.push((v, (v + 1) % nodes, draws.unit()));
            for _ in 0..4 {
                arcs.push((v, (v + 1 + 2 * draws.below(nodes / 2)) % nodes, draws.unit()));
            }
        }
        arcs.sort_by_key(|&(u, w, _)| (u, w));
        arcs.dedup_by_key(|&mut (u, w, _)| (u, w));
        Censored::new(&Chain::new(nodes, arcs.into_iter())).core()
    }

    fn normalised(weights: &[Wide]) -> Vec<f64> {
        let sum = weights.iter().fold(Wide::ZERO, |sum, &weight| sum + weight);
        weights.iter().map(|&weight| (weight / sum).to_f64()).collect()
    }

    #[test]
    fn iteration_meets_elimination_on_a_periodic_chain() {
        let core = periodic(600);
        let (iterated, eliminated) = (iterate(&core).unwrap(), eliminate(&core).unwrap());
        let pairs = normalised(&iterated).into_iter().zip(normalised(&eliminated));
        let distance: f64 = pairs.map(|(a, b)| (a - b).abs()).sum();
        assert!(distance < 1e-13, "{distance:e}");
    }

    #[test]
    fn iteration_gives_up_on_what_mixes_too_slowly() {
        let nodes = 100_000;
        let arcs = (1..nodes).flat_map(|v| [(v - 1, v, 0.3), (v, v - 1, 0.4)]);
        let core = Censored::new(&Chain::new(nodes, arcs)).core();
        let slow = iterate(&core).unwrap_err();
        assert!(slow.sweeps == SETTLED && slow.change > 0.1, "{slow:?}");
    }
}
