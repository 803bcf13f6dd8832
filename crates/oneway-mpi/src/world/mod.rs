//! What processes are to each other.

#[cfg(feature = "mpi")]
pub mod job;
pub mod threads;

use oneway::engine::simulator::Number;

#[cfg(feature = "mpi")]
pub use mpi::traits::Equivalence as Wire;

/// Numbers that can travel. Without MPI all can.
#[cfg(not(feature = "mpi"))]
pub trait Wire {}

#[cfg(not(feature = "mpi"))]
impl<T> Wire for T {}

/// What messages are made of: numbers, or bytes of codes.
pub trait Item: Wire + Copy + Send + 'static {}

impl Item for f64 {}
impl Item for f32 {}
impl Item for u8 {}

/// Numbers of rows: `f64` or `f32`.
pub trait Row: Number + Item {}

impl Row for f64 {}
impl Row for f32 {}

/// A message to or from another process. `kind` tells messages between the same two apart.
#[derive(Debug)]
pub struct Message<B> {
    /// The other process.
    pub peer: usize,
    /// What it is.
    pub kind: i32,
    /// What it carries.
    pub items: B,
}

/// All processes of a run, seen by one of them.
pub trait World {
    /// Which one this is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Sends and receives messages, and returns when all have come and all that are sent may be changed. The
    /// others must send and receive the same. While they are under way, `meanwhile` is called until it says
    /// that there is nothing more to do.
    fn exchange_beside<T: Item>(
        &self,
        sends: Vec<Message<&[T]>>,
        receives: Vec<Message<&mut [T]>>,
        meanwhile: &mut dyn FnMut() -> bool,
    );

    /// The same with nothing to do meanwhile.
    fn exchange<T: Item>(&self, sends: Vec<Message<&[T]>>, receives: Vec<Message<&mut [T]>>) {
        self.exchange_beside(sends, receives, &mut || false);
    }

    /// The numbers of all processes, by rank; as many from each.
    fn all_gather(&self, own: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; own.len() * self.size()];
        let others = || (0..self.size()).filter(|rank| *rank != self.rank());
        let sends = others().map(|peer| Message { peer, kind: AGREED, items: own }).collect();
        let parts = all.chunks_mut(own.len().max(1)).enumerate();
        let (mine, theirs): (Vec<_>, Vec<_>) = parts.partition(|(rank, _)| *rank == self.rank());
        mine.into_iter().for_each(|(_, part)| part.copy_from_slice(own));
        let receive = |(peer, items)| Message { peer, kind: AGREED, items };
        self.exchange(sends, theirs.into_iter().map(receive).collect());
        all
    }

    /// The largest of all processes' numbers, one by one.
    fn max<const N: usize>(&self, own: [f64; N]) -> [f64; N] {
        let all = self.all_gather(&own);
        std::array::from_fn(|i| all.iter().skip(i).step_by(N).copied().fold(f64::NEG_INFINITY, f64::max))
    }

    /// Ends all processes at once.
    fn abort(&self, code: i32) -> !;
}

/// The kind of messages by which processes agree; those of rows are below it.
const AGREED: i32 = 100;
