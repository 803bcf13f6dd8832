//! How long an agent waits, and what it refuses.

use std::time::Duration;

use oneway::numeric::Float;

/// How long to wait for a row before requesting it, and before giving up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// The pause before the first request. Each pause is twice as long as the one before.
    pub first: Duration,
    /// The longest pause between two requests.
    pub most: Duration,
    /// A neighbour that sends nothing for this long is given up.
    pub limit: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(200),
            most: Duration::from_secs(2),
            limit: Duration::from_secs(600),
        }
    }
}

/// Which rows fail validation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guard {
    /// None: everything is accepted, as in the simulator.
    Off,
    /// NaN, ∞ and numbers beyond this are refused.
    Beyond(f64),
}

impl Guard {
    /// What is wrong with a row; nothing if it passes.
    pub fn refuses<T: Float>(&self, row: &[T]) -> Option<String> {
        let Guard::Beyond(most) = *self else { return None };
        let passes = |x: &T| x.to_f64().abs() <= most; // NaN is not ≤ anything
        if row.iter().all(passes) {
            return None;
        }
        let refused = || row.iter().filter(|x| !passes(x)).map(|x| x.to_f64());
        let worst = refused().find(|x| x.is_nan()).or_else(|| refused().next())?;
        Some(format!("it holds {worst}, beyond the guard's {most:e}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_names_what_it_refuses() {
        let guard = Guard::Beyond(1e6);
        assert_eq!(guard.refuses(&[1e6, -1e6]), None);
        assert_eq!(guard.refuses(&[0.0, 2e6, -3e6]).unwrap(), "it holds 2000000, beyond the guard's 1e6");
        assert_eq!(guard.refuses(&[2e6f32, f32::NAN]).unwrap(), "it holds NaN, beyond the guard's 1e6");
        assert_eq!(Guard::Off.refuses(&[f64::NAN]), None);
    }
}
