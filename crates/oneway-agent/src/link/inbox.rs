//! Rows that have arrived and are not needed yet: a bounded number for each neighbour and graph.
//!
//! Rows may arrive twice, late, early or in any order. A row that is too early for the room left is dropped,
//! and requested again when it is needed.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oneway::graph::Graph;

use crate::link::LinkError;
use crate::plan::limits::Patience;
use crate::plan::ties::Ties;
use crate::wire::Number;
use crate::wire::frame::Moment;
use crate::wire::rows::Rows;

/// The first pause for a row that later ones have overtaken: it was probably lost, but it may still arrive.
const OVERTAKEN: Duration = Duration::from_millis(5);

/// Rows of a neighbour that always have room, however long they are.
const LEAST_ROOM: usize = 8;

/// More rows than that may take this many bytes for each neighbour and graph.
const ROOM_BYTES: usize = 16 << 20;

/// Rows that may wait for each neighbour and graph: all by which it can be ahead, unless they are too long. A
/// row without room is dropped and must be requested, which takes as long as many rounds of short rows.
fn room(lag: u64, phases: u32, row_bytes: usize) -> usize {
    let ahead = lag.saturating_add(1).saturating_mul(u64::from(phases));
    let most = ROOM_BYTES / row_bytes.max(1);
    usize::try_from(ahead).unwrap_or(usize::MAX).min(most).max(LEAST_ROOM)
}

/// The rows that have arrived at one agent.
#[derive(Debug)]
pub struct Inbox<T = f64> {
    mail: Mutex<Mail<T>>,
    news: Condvar,
}

#[derive(Debug)]
struct Mail<T> {
    piles: BTreeMap<(Graph, usize), Pile<T>>,
    /// Why nothing more will come.
    closed: Option<LinkError>,
    /// This agent was asked to stop.
    stopped: bool,
}

/// What has come from one neighbour on one graph.
#[derive(Debug, Default)]
struct Pile<T> {
    /// How many rows may wait.
    room: usize,
    /// Rows before this are not needed any more.
    next: Moment,
    rows: BTreeMap<Moment, Vec<T>>,
    /// The sender has rows that were dropped here because they were too early, or were not requested yet.
    more: bool,
    /// The neighbour may have something new: a thread that waits for it should ask.
    nudged: bool,
    /// Buffers to be used again.
    spare: Vec<Vec<T>>,
}

/// What became of a row that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// It is kept until it is needed.
    Kept,
    /// It has arrived before.
    Known,
    /// There was no room for it yet.
    TooEarly,
    /// There is no such link.
    NoLink,
}

impl<T: Number> Inbox<T> {
    /// An empty inbox, for all links on which an agent hears.
    pub fn new(ties: &Ties, rows: &Rows) -> Self {
        let keys = Graph::BOTH
            .into_iter()
            .flat_map(|graph| ties.heard(graph).into_iter().map(move |from| (graph, from)));
        let pile = |(graph, from): (Graph, usize)| {
            let room = room(ties.lag, rows.phases, size_of::<T>() * rows.widths[graph as usize]);
            ((graph, from), Pile { room, ..Pile::default() })
        };
        let piles = keys.map(pile).collect();
        Self { mail: Mutex::new(Mail { piles, closed: None, stopped: false }), news: Condvar::new() }
    }

    /// A buffer for the next row of a neighbour, so that long rows are not allocated each time.
    pub fn spare(&self, from: usize, graph: Graph) -> Vec<T> {
        self.lock().piles.get_mut(&(graph, from)).and_then(|pile| pile.spare.pop()).unwrap_or_default()
    }

    /// Takes in a row.
    pub fn deliver(&self, from: usize, graph: Graph, at: Moment, row: Vec<T>) -> Delivery {
        let mut mail = self.lock();
        let Some(pile) = mail.piles.get_mut(&(graph, from)) else { return Delivery::NoLink };
        if at < pile.next || pile.rows.contains_key(&at) {
            return Delivery::Known;
        }
        if pile.rows.len() >= pile.room {
            pile.more = true;
            match pile.rows.last_entry() {
                Some(last) if *last.key() > at => {
                    let last = last.remove();
                    pile.let_go(last);
                }
                _ => return Delivery::TooEarly,
            }
        }
        pile.rows.insert(at, row);
        drop(mail);
        self.news.notify_all();
        Delivery::Kept
    }

    /// Waits for a row, at most for `patience`; whether it arrived. Ends early if the neighbour may have
    /// something new.
    pub fn take(
        &self,
        from: usize,
        graph: Graph,
        at: Moment,
        patience: Duration,
        out: &mut Vec<T>,
    ) -> Result<bool, LinkError> {
        let until = Instant::now() + patience;
        let mut mail = self.lock();
        loop {
            let Some(pile) = mail.piles.get_mut(&(graph, from)) else {
                return Err(LinkError::Network(format!("there is no {graph} link from agent {from}")));
            };
            pile.forget_before(at);
            if let Some(mut row) = pile.rows.remove(&at) {
                pile.next = Moment { phase: at.phase.saturating_add(1), ..at };
                pile.nudged = false;
                let fits = row.len() == out.len();
                if fits {
                    std::mem::swap(out, &mut row); // long rows are not copied: buffers change hands
                }
                pile.let_go(row);
                return match fits {
                    true => Ok(true),
                    false => Err(LinkError::Refused {
                        from,
                        graph,
                        at,
                        why: format!("it has not {} numbers", out.len()),
                    }),
                };
            }
            let (now, nudged) = (Instant::now(), std::mem::take(&mut pile.nudged));
            if let Some(closed) = &mail.closed {
                return Err(closed.clone());
            }
            if nudged || now >= until {
                return Ok(false);
            }
            mail = self.news.wait_timeout(mail, until - now).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until a row has arrived and takes it out, asking for it repeatedly. `ask` gets the time waited
    /// so far.
    pub fn wait(
        &self,
        patience: &Patience,
        (from, graph, at): (usize, Graph, Moment),
        row: &mut Vec<T>,
        mut ask: impl FnMut(Duration),
    ) -> Result<(), LinkError> {
        if self.take(from, graph, at, Duration::ZERO, row)? {
            return Ok(());
        }
        let began = Instant::now();
        let overtaken = self.is_overtaken(from, graph, at);
        let mut pause = if overtaken { OVERTAKEN.min(patience.first) } else { patience.first };
        loop {
            let waited = began.elapsed();
            if waited >= patience.limit {
                return Err(LinkError::Away { from, graph, at, waited, there: false });
            }
            if self.take(from, graph, at, pause.min(patience.limit - waited), row)? {
                return Ok(());
            }
            ask(began.elapsed());
            pause = (pause * 2).clamp(patience.first.min(patience.most), patience.most);
        }
    }

    /// Whether a neighbour's row is missing though later ones have arrived.
    pub fn is_overtaken(&self, from: usize, graph: Graph, at: Moment) -> bool {
        let mut mail = self.lock();
        mail.piles.get_mut(&(graph, from)).is_some_and(|pile| {
            pile.forget_before(at);
            let later = pile.more || !pile.rows.is_empty();
            !pile.rows.contains_key(&at) && std::mem::take(&mut pile.more) | later
        })
    }

    /// Whether a row is still to come: neither it nor a later one was taken, and it does not wait here.
    pub fn is_wanted(&self, from: usize, graph: Graph, at: Moment) -> bool {
        let mail = self.lock();
        let pile = mail.piles.get(&(graph, from));
        pile.is_some_and(|pile| at >= pile.next && !pile.rows.contains_key(&at))
    }

    /// A neighbour may have something new: a thread that waits for it wakes up to ask.
    pub fn nudge(&self, from: usize) {
        let mut mail = self.lock();
        for ((_, neighbour), pile) in &mut mail.piles {
            pile.nudged |= *neighbour == from;
        }
        drop(mail);
        self.news.notify_all();
    }

    /// A neighbour has sent all that one answer may hold, and may have more: the next row is requested as
    /// soon as it is missed.
    pub fn expect_more(&self, from: usize, graph: Graph) {
        if let Some(pile) = self.lock().piles.get_mut(&(graph, from)) {
            (pile.more, pile.nudged) = (true, true);
        }
        self.news.notify_all();
    }

    /// Nothing more will arrive: threads that wait get this error. The first reason stays.
    pub fn close(&self, why: LinkError) {
        self.lock().closed.get_or_insert(why);
        self.news.notify_all();
    }

    /// Asks this agent to stop: threads that wait wake up.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.close(LinkError::Stopped);
    }

    /// Whether it was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// Rows that wait now, from all neighbours.
    pub fn waiting(&self) -> usize {
        self.lock().piles.values().map(|pile| pile.rows.len()).sum()
    }

    fn lock(&self) -> MutexGuard<'_, Mail<T>> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Pile<T> {
    fn forget_before(&mut self, at: Moment) {
        self.next = self.next.max(at);
        while let Some(first) = self.rows.first_entry().filter(|first| *first.key() < at) {
            let first = first.remove();
            self.let_go(first);
        }
    }

    fn let_go(&mut self, row: Vec<T>) {
        if self.spare.len() < LEAST_ROOM {
            self.spare.push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneway::graph::families;
    use oneway::graph::topology::{Subgraph, Topology, Weights};
    use proptest::prelude::*;

    const NOW: Duration = Duration::ZERO;

    fn inbox_of(agents: usize) -> Inbox {
        let ring = families::ring(agents).unwrap();
        let topology = Topology::from_digraphs(&[ring], Subgraph::Full, Weights::Uniform, 0).unwrap();
        Inbox::new(&Ties::from_topology(&topology, 1), &Rows { widths: [1, 1], wire: None, phases: 1 })
    }

    fn inbox() -> Inbox {
        inbox_of(3)
    }

    #[test]
    fn there_is_room_for_all_rows_by_which_a_neighbour_can_be_ahead() {
        assert_eq!([room(2, 1, 80), room(8, 1, 80), room(63, 1, 80), room(63, 3, 80)], [8, 9, 64, 192]);
        assert_eq!(
            [room(63, 1, 8 << 16), room(63, 1, 8 << 20), room(u64::MAX, 9, 8)],
            [32, 8, ROOM_BYTES / 8]
        );
        let inbox = inbox_of(20);
        assert!((0..20).all(|round| deliver(&inbox, round) == Delivery::Kept));
        assert_eq!(deliver(&inbox, 20), Delivery::TooEarly);
    }

    fn at(round: u64) -> Moment {
        Moment { round, phase: 0 }
    }

    fn deliver(inbox: &Inbox, round: u64) -> Delivery {
        inbox.deliver(0, Graph::Pull, at(round), vec![round as f64])
    }

    #[test]
    fn rows_from_strangers_have_no_place() {
        let inbox = inbox();
        assert_eq!(inbox.deliver(2, Graph::Pull, at(0), vec![0.0]), Delivery::NoLink, "against the arrow");
        assert!(inbox.take(2, Graph::Pull, at(0), NOW, &mut vec![0.0]).is_err());
    }

    #[test]
    fn memory_is_bounded_and_the_next_row_always_has_room() {
        let inbox = inbox();
        for round in 1..1000 {
            deliver(&inbox, round);
        }
        assert_eq!(inbox.waiting(), LEAST_ROOM);
        assert!(inbox.is_overtaken(0, Graph::Pull, at(0)));
        assert_eq!(deliver(&inbox, 0), Delivery::Kept);
        assert_eq!(inbox.waiting(), LEAST_ROOM);
        let mut row = vec![0.0];
        assert_eq!(inbox.take(0, Graph::Pull, at(0), NOW, &mut row), Ok(true));
        assert_eq!(deliver(&inbox, 0), Delivery::Known, "done with");
        assert_eq!(inbox.take(0, Graph::Pull, at(5), NOW, &mut row), Ok(true));
        assert_eq!((row, inbox.waiting()), (vec![5.0], LEAST_ROOM - 6));
    }

    #[test]
    fn a_row_of_another_length_is_refused() {
        let inbox = inbox();
        deliver(&inbox, 0);
        let error = inbox.take(0, Graph::Pull, at(0), NOW, &mut vec![0.0; 2]).unwrap_err();
        assert_eq!(error.to_string(), "refused the pull row of round 0 from agent 0: it has not 2 numbers");
    }

    #[test]
    fn who_is_far_behind_asks_at_once() {
        let inbox = inbox();
        let is_overtaken = || inbox.is_overtaken(0, Graph::Pull, at(8));
        assert!(!is_overtaken(), "nothing has come");
        inbox.expect_more(0, Graph::Pull);
        assert_eq!((is_overtaken(), is_overtaken()), (true, false), "once");
    }

    #[test]
    fn whoever_waits_is_woken_by_a_nudge_and_by_the_end() {
        let inbox = inbox();
        let long = Duration::from_secs(60);
        std::thread::scope(|scope| {
            scope.spawn(|| inbox.nudge(0));
            assert_eq!(inbox.take(0, Graph::Pull, at(0), long, &mut vec![0.0]), Ok(false));
            scope.spawn(|| inbox.stop());
            assert_eq!(inbox.take(0, Graph::Pull, at(0), long, &mut vec![0.0]), Err(LinkError::Stopped));
        });
    }

    proptest! {
        /// In any order, any number of times: every row that is asked for until it comes is had once, in
        /// turn.
        #[test]
        fn order_and_repetition_do_not_matter(arrivals in prop::collection::vec(0u64..30, 0..200)) {
            let inbox = inbox();
            let mut arrivals = arrivals.into_iter();
            for round in 0..30 {
                let mut row = vec![f64::NAN];
                for round in arrivals.by_ref().take(7) {
                    deliver(&inbox, round);
                }
                while !inbox.take(0, Graph::Pull, at(round), NOW, &mut row).unwrap() {
                    deliver(&inbox, round); // asked for
                }
                prop_assert_eq!(row, vec![round as f64]);
                prop_assert!(inbox.waiting() <= LEAST_ROOM);
            }
        }
    }
}
