//! Documents that pages show, each with the version at which it changed last.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

/// A name and a JSON text.
pub(crate) type Document = (String, Arc<str>);

/// What is shown now.
#[derive(Debug, Default)]
pub struct Hub {
    state: Mutex<State>,
    changed: Condvar,
    pages: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    version: u64,
    documents: BTreeMap<String, (u64, Arc<str>)>,
}

/// What a document that was withdrawn says.
const NOTHING: &str = "null";

impl Hub {
    /// Shows a document, in place of the one of that name. If it says the same, nobody is told.
    pub fn publish(&self, name: &str, value: &impl Serialize) {
        let text = serde_json::to_string(value).unwrap_or_else(|_| NOTHING.to_owned());
        self.put(name, &text);
    }

    /// Withdraws all documents but those that are to be kept.
    pub fn retain(&self, keep: impl Fn(&str) -> bool) {
        let names: Vec<String> = self.lock().documents.keys().filter(|name| !keep(name)).cloned().collect();
        names.iter().for_each(|name| self.put(name, NOTHING));
    }

    /// Whether anybody looks: if not, there is no need to keep documents up to date.
    pub fn is_watched(&self) -> bool {
        self.pages.load(Ordering::Relaxed) > 0
    }

    fn put(&self, name: &str, text: &str) {
        let mut state = self.lock();
        let same = state.documents.get(name).map_or(text == NOTHING, |(_, before)| **before == *text);
        if !same {
            state.version += 1;
            let version = state.version;
            state.documents.insert(name.to_owned(), (version, text.into()));
            self.changed.notify_all();
        }
    }

    /// All documents that have changed since a version, and the version now; waits for the first one, but not
    /// for longer than `wait`. Version 0 is before everything.
    pub(crate) fn newer_than(&self, version: u64, wait: Duration) -> (u64, Vec<Document>) {
        let state = self.lock();
        let (state, _) = self
            .changed
            .wait_timeout_while(state, wait, |state| state.version <= version)
            .unwrap_or_else(PoisonError::into_inner);
        let new = state.documents.iter().filter(|(_, (changed, _))| *changed > version);
        (state.version, new.map(|(name, (_, text))| (name.clone(), Arc::clone(text))).collect())
    }

    /// Wakes everybody who waits.
    pub(crate) fn wake(&self) {
        self.changed.notify_all();
    }

    /// One more page looks, for as long as what is returned lives.
    pub(crate) fn watched(&self) -> Watched<'_> {
        self.pages.fetch_add(1, Ordering::Relaxed);
        Watched(self)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A page that looks.
pub(crate) struct Watched<'a>(&'a Hub);

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.0.pages.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(documents: &[Document]) -> Vec<String> {
        documents.iter().map(|(name, text)| format!("{name}={text}")).collect()
    }

    #[test]
    fn a_page_is_told_what_changed_since_it_last_looked() {
        let (hub, now) = (Hub::default(), Duration::ZERO);
        assert!(hub.newer_than(0, now).1.is_empty());
        hub.publish("a", &1);
        hub.publish("b", &2);
        let (seen, all) = hub.newer_than(0, now);
        assert_eq!(names(&all), ["a=1", "b=2"]);
        hub.publish("a", &1);
        assert!(hub.newer_than(seen, now).1.is_empty(), "it says the same");
        hub.publish("b", &3);
        hub.publish("b", &4);
        let (seen, new) = hub.newer_than(seen, now);
        assert_eq!(names(&new), ["b=4"], "what is between is nobody's");
        hub.retain(|name| name != "a");
        hub.retain(|name| name != "a");
        assert_eq!(names(&hub.newer_than(seen, now).1), ["a=null"]);
    }

    #[test]
    fn who_waits_is_woken() {
        let hub = Arc::new(Hub::default());
        let waits = Arc::clone(&hub);
        let waiter = std::thread::spawn(move || waits.newer_than(0, Duration::from_secs(60)).1.len());
        std::thread::sleep(Duration::from_millis(20));
        hub.publish("a", &1);
        assert_eq!(waiter.join().ok(), Some(1));
        let watched = hub.watched();
        assert!(hub.is_watched());
        drop(watched);
        assert!(!hub.is_watched());
    }
}
