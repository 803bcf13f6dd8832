//! What happens again and again is said now and then, with how often it was.

use std::fmt::Display;
use std::time::{Duration, Instant};

/// How much time is between two words at least.
const EVERY: Duration = Duration::from_secs(5);

/// One thing that may have to be said again and again.
#[derive(Debug, Default)]
pub struct Seldom {
    said: Option<Instant>,
    unsaid: u64,
}

impl Seldom {
    /// What is to be said now, if anything is.
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
        let mut seldom = Seldom::default();
        assert_eq!(seldom.say("no room").unwrap(), "no room");
        assert!((0..10).all(|_| seldom.say("no room").is_none()));
        seldom.said = Instant::now().checked_sub(EVERY);
        assert_eq!(seldom.say("no room").unwrap(), "no room (11 times since this was last said)");
        assert!(seldom.say("no room").is_none());
    }
}
