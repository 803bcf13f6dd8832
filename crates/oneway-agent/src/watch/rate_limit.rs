//! Messages that repeat are logged at a limited rate, with their number.

use std::fmt::Display;
use std::time::{Duration, Instant};

/// The least time between two messages.
const EVERY: Duration = Duration::from_secs(5);

/// One message that may repeat.
#[derive(Debug, Default)]
pub struct RateLimit {
    said: Option<Instant>,
    unsaid: u64,
}

impl RateLimit {
    /// The message to log now; nothing if one was logged a moment ago.
    pub fn say(&mut self, words: impl Display) -> Option<String> {
        self.unsaid += 1;
        if self.said.is_some_and(|said| said.elapsed() < EVERY) {
            return None;
        }
        self.said = Some(Instant::now());
        match std::mem::take(&mut self.unsaid) {
            1 => Some(words.to_string()),
            times => Some(format!("{words} ({times} times since this was last said)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_said_and_later_how_often_it_was() {
        let mut limit = RateLimit::default();
        assert_eq!(limit.say("no room").unwrap(), "no room");
        assert!((0..10).all(|_| limit.say("no room").is_none()));
        limit.said = Instant::now().checked_sub(EVERY);
        assert_eq!(limit.say("no room").unwrap(), "no room (11 times since this was last said)");
        assert!(limit.say("no room").is_none());
    }
}
