//! What an agent has sent and someone may still want.

/// The two message rows of an agent's latest sends, by number: a ring that grows only when more is on its
/// way.
#[derive(Debug)]
pub(super) struct Outbox {
    /// `capacity` slots of a pull row and a push row each; message m is in slot m mod capacity.
    rows: Vec<f64>,
    widths: [usize; 2],
    capacity: u64,
    /// The oldest message that is kept.
    oldest: u64,
    /// The number that the next message will have.
    next: u64,
}

impl Outbox {
    pub(super) fn new(widths: [usize; 2]) -> Self {
        const FIRST: u64 = 4;
        let rows = vec![0.0; FIRST as usize * (widths[0] + widths[1])];
        Self { rows, widths, capacity: FIRST, oldest: 0, next: 0 }
    }

    /// The number of the newest message; there is one from time 0 on.
    pub(super) fn newest(&self) -> u64 {
        self.next.saturating_sub(1)
    }

    fn start(&self, number: u64) -> usize {
        (number % self.capacity) as usize * (self.widths[0] + self.widths[1])
    }

    /// The row of message `number` for the pull graph.
    pub(super) fn pull(&self, number: u64) -> &[f64] {
        debug_assert!((self.oldest..self.next).contains(&number));
        &self.rows[self.start(number)..][..self.widths[0]]
    }

    /// The row of message `number` for the push graph.
    pub(super) fn push(&self, number: u64) -> &[f64] {
        debug_assert!((self.oldest..self.next).contains(&number));
        &self.rows[self.start(number) + self.widths[0]..][..self.widths[1]]
    }

    /// Room for the next message: its pull row and its push row. `wanted` says which is the oldest that is
    /// still wanted; it is asked when there is no room.
    pub(super) fn next(&mut self, wanted: impl FnOnce() -> u64) -> (&mut [f64], &mut [f64]) {
        if self.next - self.oldest == self.capacity {
            self.oldest = wanted().clamp(self.oldest, self.next);
            if self.next - self.oldest == self.capacity {
                self.grow();
            }
        }
        let start = self.start(self.next);
        self.next += 1;
        self.rows[start..][..self.widths[0] + self.widths[1]].split_at_mut(self.widths[0])
    }

    fn grow(&mut self) {
        let width = self.widths[0] + self.widths[1];
        let mut grown = Self { rows: vec![0.0; 2 * self.rows.len()], capacity: 2 * self.capacity, ..*self };
        for number in self.oldest..self.next {
            let (from, to) = (self.start(number), grown.start(number));
            grown.rows[to..to + width].copy_from_slice(&self.rows[from..from + width]);
        }
        std::mem::swap(self, &mut grown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_is_kept_however_much_it_is() {
        let mut outbox = Outbox::new([1, 2]);
        for number in 0..100u64 {
            let oldest = if number < 40 { 3 } else { number - 2 };
            let (pull, push) = outbox.next(|| oldest);
            pull.fill(number as f64);
            push.fill(-(number as f64));
            for kept in oldest..=number {
                assert_eq!(
                    (outbox.pull(kept), outbox.push(kept)),
                    (&[kept as f64][..], &[-(kept as f64); 2][..])
                );
            }
        }
        assert_eq!((outbox.newest(), outbox.capacity), (99, 64));
    }
}
