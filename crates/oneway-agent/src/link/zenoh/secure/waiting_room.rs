//! Connections that have not proved who they are yet. Each has a file descriptor, so their number is bounded;
//! one more closes the oldest. A port scan or a thousand idle connections then cost a bounded number of
//! descriptors, and a neighbour still gets in: it proves who it is within milliseconds, long before it is the
//! oldest.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

/// The most connections that wait.
pub(super) const ROOM: usize = 64;

/// The connections that wait, oldest first.
#[derive(Debug, Default)]
pub(super) struct WaitingRoom {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    came: u64,
    strangers: VecDeque<(u64, AbortHandle)>,
}

/// A connection's place, freed when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    room: Arc<WaitingRoom>,
    number: u64,
}

impl WaitingRoom {
    /// Admits a connection, with a task that will prove who it is; whether the oldest was closed.
    pub(super) fn admit(self: &Arc<Self>, start: impl FnOnce(Place) -> AbortHandle) -> bool {
        let mut waiting = self.lock(); // held until the task is noted: it may leave at once
        waiting.came += 1;
        let number = waiting.came;
        let task = start(Place { room: Arc::clone(self), number });
        waiting.strangers.push_back((number, task));
        let oldest = if waiting.strangers.len() > ROOM { waiting.strangers.pop_front() } else { None };
        drop(waiting);
        oldest.inspect(|(_, task)| task.abort()).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.room.lock().strangers.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[test]
    fn the_oldest_stranger_goes_and_who_has_left_is_never_pushed_out() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let room = Arc::new(WaitingRoom::default());
            let stay = |place: Place| {
                let (proved, has_proved) = oneshot::channel::<()>();
                let (ended, has_ended) = oneshot::channel::<()>();
                let task = tokio::spawn(async move {
                    let _ended = ended; // dropped when the task ends, however it does
                    let _ = has_proved.await;
                    drop(place);
                    std::future::pending::<()>().await;
                });
                (task.abort_handle(), proved, has_ended)
            };
            let mut guests = vec![];
            for _ in 0..ROOM {
                let pushed_out = room.admit(|place| {
                    let (task, proved, has_ended) = stay(place);
                    guests.push((proved, has_ended));
                    task
                });
                assert!(!pushed_out);
            }
            let (proved, mut first_ended) = guests.remove(0);
            proved.send(()).unwrap();
            while room.lock().strangers.len() == ROOM {
                tokio::task::yield_now().await;
            }
            for pushed_out in [false, true] {
                assert_eq!(room.admit(|place| stay(place).0), pushed_out);
            }
            let (_proved, second_ended) = guests.remove(0);
            assert!(second_ended.await.is_err(), "the second was the oldest");
            assert!(
                matches!(first_ended.try_recv(), Err(oneshot::error::TryRecvError::Empty)),
                "the first stays"
            );
        });
    }
}
