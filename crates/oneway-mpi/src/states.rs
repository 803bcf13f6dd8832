//! States on their way to rank 0 and from it, a piece at a time: no process has room for all.

use std::io;
use std::ops::Range;

use oneway::engine::part::Slab;

use crate::blocks::block;
use crate::world::{Message, Row, World};

/// The kind of messages with states.
const STATES: i32 = 2;

/// Numbers in a piece; one row at least.
const PIECE: usize = 1 << 15;

/// All numbers of all states, agents ascending, as they come to rank 0. The others [send](send) theirs.
pub(crate) fn all<'s, W: World, T: Row>(
    world: &'s W,
    states: &'s Slab<'_, T>,
    width: usize,
) -> impl Iterator<Item = T> + 's {
    let (stride, agents) = (states.stride, states.numbers.len() / states.stride);
    let row = move |row: &[T]| row[..width].to_vec();
    let own = block(agents, world.size(), 0);
    let own = states.numbers[..own.end * stride].chunks_exact(stride).flat_map(row);
    let others = (1..world.size())
        .flat_map(move |peer| pieces(block(agents, world.size(), peer), stride).map(move |p| (peer, p)));
    own.chain(others.flat_map(move |(peer, agents)| {
        let mut rows = vec![T::default(); agents.len() * stride];
        world.exchange(vec![], vec![Message { peer, kind: STATES, items: &mut rows[..] }]);
        rows.chunks_exact(stride).flat_map(row).collect::<Vec<T>>()
    }))
}

/// Sends the states of this process to rank 0.
pub(crate) fn send<W: World, T: Row>(world: &W, Slab { numbers, stride }: &Slab<'_, T>) {
    for agents in pieces(block(numbers.len() / stride, world.size(), world.rank()), *stride) {
        let items = &numbers[agents.start * stride..agents.end * stride];
        world.exchange(vec![Message { peer: 0, kind: STATES, items }], vec![]);
    }
}

/// Hands out, from rank 0, states that come one number after another. The others [receive](receive) theirs.
pub(crate) fn hand_out<W: World, T: Row>(
    world: &W,
    Slab { numbers, stride }: &mut Slab<'_, T>,
    width: usize,
    mut states: impl Iterator<Item = io::Result<f64>>,
) -> io::Result<()> {
    let (stride, agents) = (*stride, numbers.len() / *stride);
    let mut fill = |rows: &mut [T]| {
        let places = rows.chunks_exact_mut(stride).flat_map(|row| &mut row[..width]);
        places.zip(&mut states).try_for_each(|(place, x)| x.map(|x| *place = T::from_f64(x)))
    };
    fill(&mut numbers[..block(agents, world.size(), 0).end * stride])?;
    for peer in 1..world.size() {
        for agents in pieces(block(agents, world.size(), peer), stride) {
            let mut rows = vec![T::default(); agents.len() * stride];
            fill(&mut rows)?;
            world.exchange(vec![Message { peer, kind: STATES, items: &rows[..] }], vec![]);
        }
    }
    Ok(())
}

/// Receives the states of this process from rank 0.
pub(crate) fn receive<W: World, T: Row>(world: &W, Slab { numbers, stride }: &mut Slab<'_, T>) {
    for agents in pieces(block(numbers.len() / *stride, world.size(), world.rank()), *stride) {
        let items = &mut numbers[agents.start * *stride..agents.end * *stride];
        world.exchange(vec![], vec![Message { peer: 0, kind: STATES, items }]);
    }
}

/// Agents whose rows travel together.
fn pieces(agents: Range<usize>, stride: usize) -> impl Iterator<Item = Range<usize>> {
    let rows = (PIECE / stride).max(1);
    agents.clone().step_by(rows).map(move |first| first..agents.end.min(first + rows))
}
