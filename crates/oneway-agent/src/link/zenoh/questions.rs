//! Requests without an answer yet: at most one for each neighbour and graph, or rows that are merely slow
//! would be sent repeatedly.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oneway::graph::Graph;

/// The open requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Questions(Arc<Mutex<Open>>);

#[derive(Debug, Default)]
struct Open {
    asked: u64,
    open: BTreeMap<(usize, Graph), u64>,
}

/// An open request; it is over when this is dropped.
#[derive(Debug)]
pub(super) struct Question {
    questions: Questions,
    of: (usize, Graph),
    number: u64,
}

impl Questions {
    /// Opens a request to a neighbour, unless one is open.
    pub(super) fn ask(&self, from: usize, graph: Graph) -> Option<Question> {
        let mut open = self.lock();
        if open.open.contains_key(&(from, graph)) {
            return None;
        }
        open.asked += 1;
        let number = open.asked;
        open.open.insert((from, graph), number);
        Some(Question { questions: self.clone(), of: (from, graph), number })
    }

    /// A neighbour will not answer its open requests any more.
    pub(super) fn forget(&self, who: usize) {
        self.lock().open.retain(|(from, _), _| *from != who);
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        let mut open = self.questions.lock();
        if open.open.get(&self.of) == Some(&self.number) {
            open.open.remove(&self.of);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_question_at_a_time() {
        let questions = Questions::default();
        let first = questions.ask(1, Graph::Pull).unwrap();
        assert!(questions.ask(1, Graph::Pull).is_none());
        assert!(questions.ask(1, Graph::Push).is_some() && questions.ask(2, Graph::Pull).is_some());
        questions.forget(1);
        let second = questions.ask(1, Graph::Pull).unwrap();
        drop(first);
        assert!(questions.ask(1, Graph::Pull).is_none(), "the second is open");
        drop(second);
        assert!(questions.ask(1, Graph::Pull).is_some());
    }
}
