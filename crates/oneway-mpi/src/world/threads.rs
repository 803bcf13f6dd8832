//! Threads in place of processes: everything but MPI itself, where there is no MPI.

use std::any::Any;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::{Item, Message, World};

type Parcel = (i32, Box<dyn Any + Send>);

/// One thread among others.
#[derive(Debug)]
pub struct Thread {
    rank: usize,
    to: Vec<Sender<Parcel>>,
    from: Vec<Mutex<Receiver<Parcel>>>,
}

/// Worlds for this many threads, by rank.
pub fn worlds(size: usize) -> Vec<Thread> {
    let mut worlds: Vec<Thread> = (0..size).map(|rank| Thread { rank, to: vec![], from: vec![] }).collect();
    for sender in 0..size {
        for receiver in 0..size {
            let (to, from) = channel();
            worlds[sender].to.push(to);
            worlds[receiver].from.push(Mutex::new(from));
        }
    }
    worlds
}

#[expect(clippy::panic, reason = "a thread that fails ends all, as `abort` of a process does")]
impl World for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn exchange_beside<T: Item>(
        &self,
        sends: Vec<Message<&[T]>>,
        receives: Vec<Message<&mut [T]>>,
        meanwhile: &mut dyn FnMut() -> bool,
    ) {
        for Message { peer, kind, items } in sends {
            if self.to[peer].send((kind, Box::new(items.to_vec()))).is_err() {
                panic!("thread {peer} has ended");
            }
        }
        while meanwhile() {}
        for Message { peer, kind, items } in receives {
            let parcel = self.from[peer].lock().map(|from| from.recv());
            let Ok(Ok((came, parcel))) = parcel else { panic!("thread {peer} has ended") };
            let Ok(row) = parcel.downcast::<Vec<T>>() else { panic!("thread {peer} sent something else") };
            assert_eq!((came, row.len()), (kind, items.len()), "thread {peer} sent something else");
            items.copy_from_slice(&row);
        }
    }

    fn abort(&self, code: i32) -> ! {
        panic!("thread {} ends the run with code {code}", self.rank)
    }
}
