//! When a run has diverged although all its rounds were done.
//!
//! Engines end a run when its numbers are about to overflow. One that grows more slowly, or whose step is
//! lowered in time, does all its rounds and still has nothing to show: its curve tells.

use oneway::engine::metrics::Measurement;

/// A run that ends at this many times the loss of its start has diverged.
const LOSS_OVER_START: f64 = 1e6;
/// So has one whose agents end further apart than 10¹⁵, squared: what they hold of size 1 is lost in
/// rounding.
const CONSENSUS_ERROR: f64 = 1e30;

/// Whether a curve shows divergence: loss, gradient or consensus error is once not finite, or the last state
/// is beyond a bound.
///
/// Where a run ends is what counts: one that rose on its way and came back has not diverged.
pub(crate) fn shows(points: &[Measurement]) -> bool {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return false };
    let has_loss = !first.loss.is_nan(); // a problem may have none to measure
    let finite = |m: &Measurement| {
        let values = [m.grad_norm_sq, m.consensus_error, if has_loss { m.loss } else { 0.0 }];
        values.iter().all(|value| value.is_finite())
    };
    let far = first.loss > 0.0 && last.loss > LOSS_OVER_START * first.loss;
    far || last.consensus_error > CONSENSUS_ERROR || !points.iter().all(finite)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A curve with these losses, at every tenth iteration.
    pub(crate) fn curve(losses: &[f64]) -> Vec<Measurement> {
        let point = |(i, &loss): (usize, &f64)| Measurement {
            iteration: 10 * i as u64,
            loss,
            grad_norm_sq: loss * loss,
            consensus_error: 0.0,
            tracking_error: None,
            momentum_error: None,
            conservation_error: None,
            test_accuracy: None,
            bytes_sent: None,
            time: None,
            loss_gap: None,
            agents_grad_norm_sq: None,
            distance_sq: None,
        };
        losses.iter().enumerate().map(point).collect()
    }

    #[test]
    fn what_ends_far_above_its_start_has_diverged() {
        assert!(!shows(&curve(&[1.0, 0.5])) && !shows(&curve(&[])));
        assert!(!shows(&curve(&[1.0, 1e5])), "worse than its start, and that is all");
        assert!(shows(&curve(&[1.0, 1e3, 1e7])));
        assert!(shows(&curve(&[1e-3, 1e3, 2e3])), "whatever the unit of the loss");
        assert!(!shows(&curve(&[1.0, 1e9, 0.5])), "it came back");
        assert!(!shows(&curve(&[0.0, 1.0])), "from the minimum there is only up");
        assert!(shows(&curve(&[1.0, f64::NAN, 0.5])) && shows(&curve(&[1.0, 1e200])));
        let mut unknown = curve(&[f64::NAN, f64::NAN]);
        unknown.iter_mut().for_each(|point| point.grad_norm_sq = 1.0);
        assert!(!shows(&unknown), "no loss is measured, and the gradient is fine");
        let mut apart = curve(&[1.0, 0.5]);
        apart[1].consensus_error = 1e31;
        assert!(shows(&apart), "the average is fine, the agents are not");
    }
}
