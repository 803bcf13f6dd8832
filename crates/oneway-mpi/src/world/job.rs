//! The processes of an MPI job.

use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};

use super::{Item, Message, World};

/// One process of a job. MPI ends when it is dropped.
pub struct Job {
    world: SimpleCommunicator,
    _universe: Universe,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {}", self.rank(), self.size())
    }
}

impl Job {
    /// Joins the job that this process was started in; `None` where MPI cannot begin. A process that nobody
    /// started as one of several is alone.
    pub fn join() -> Option<Self> {
        // other threads compute, and never call MPI
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        Some(Self { world: universe.world(), _universe: universe })
    }

    /// All of its processes, as MPI knows them.
    pub fn communicator(&self) -> &SimpleCommunicator {
        &self.world
    }
}

impl World for Job {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn exchange_beside<T: Item>(
        &self,
        sends: Vec<Message<&[T]>>,
        receives: Vec<Message<&mut [T]>>,
        meanwhile: &mut dyn FnMut() -> bool,
    ) {
        mpi::request::scope(|scope| {
            let mut open = Vec::with_capacity(sends.len() + receives.len());
            for Message { peer, kind, items } in receives {
                let peer = self.world.process_at_rank(peer as i32);
                open.push(peer.immediate_receive_into_with_tag(scope, items, kind));
            }
            for Message { peer, kind, items } in sends {
                let peer = self.world.process_at_rank(peer as i32);
                open.push(peer.immediate_send_with_tag(scope, items, kind));
            }
            while meanwhile() {
                // MPI brings messages forward only while it is called
                if let Some(request) = open.pop()
                    && let Err(request) = request.test()
                {
                    open.push(request);
                }
            }
            open.into_iter().for_each(mpi::request::Request::wait_without_status);
        });
    }

    fn all_gather(&self, own: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; own.len() * self.size()];
        self.world.all_gather_into(own, &mut all[..]);
        all
    }

    fn max<const N: usize>(&self, own: [f64; N]) -> [f64; N] {
        let mut all = own;
        self.world.all_reduce_into(&own[..], &mut all[..], SystemOperation::max());
        all
    }

    fn abort(&self, code: i32) -> ! {
        self.world.abort(code)
    }
}
