//! How often a cell may look at itself: at most a few times a second, and so seldom that it takes at most a
//! fixed share of the time.

use std::time::{Duration, Instant};

/// The shortest time between two looks.
const EVERY: Duration = Duration::from_millis(400);

/// Work takes at most one part of this many of the time.
pub(super) const SHARE: u32 = 200;

/// When the next look is due.
#[derive(Debug)]
pub(super) struct Pace {
    began: Instant,
    next: Instant,
}

impl Pace {
    pub(super) fn new() -> Self {
        let began = Instant::now();
        Self { began, next: began + EVERY / 4 } // the first comes sooner: somebody is waiting to see anything
    }

    /// Whether it is time to look.
    pub(super) fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// A look that began then is over.
    pub(super) fn looked(&mut self, since: Instant) {
        let now = Instant::now();
        self.next = now + EVERY.max(SHARE * (now - since));
    }

    /// Time since the cell began.
    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Whether something that takes this long is within the share of the time so far.
    pub(super) fn allows(&self, cost: Duration) -> bool {
        SHARE * cost <= self.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_looks_are_seldom() {
        let mut pace = Pace::new();
        assert!(!pace.is_due());
        let since = Instant::now() - Duration::from_secs(1);
        pace.looked(since);
        assert!(pace.next >= Instant::now() + (SHARE - 1) * Duration::from_secs(1));
        pace.looked(Instant::now());
        assert!(pace.next <= Instant::now() + EVERY && !pace.is_due());
        assert!(!pace.allows(Duration::from_secs(1)) && pace.allows(Duration::ZERO));
    }
}
