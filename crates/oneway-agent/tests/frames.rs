//! Ten million mutated frames, of rows as they are and by every codec: no panic, and no memory beyond a row
//! and a copy of the frame.
#![allow(clippy::unwrap_used, unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use oneway::codec::CODECS;
use oneway::engine::Schedule;
use oneway::graph::Graph;
use oneway::graph::families;
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::method::Method;
use oneway::methods::combine::{Compression, Recipe};
use oneway::methods::kind;
use oneway::numeric::sample::{Draws, Purpose};
use oneway::problem::Problem;
use oneway::problems::{Quadratic, QuadraticShape};
use oneway_agent::agent::{Agent, Task};
use oneway_agent::link::memory::{MemoryNetwork, Mischief};
use oneway_agent::plan::ties::Ties;
use oneway_agent::wire::Number;
use oneway_agent::wire::frame::{self, Content, Moment};
use oneway_agent::wire::history::{Found, rounds_needed};
use oneway_agent::wire::rows::Rows;

struct Weighing;

thread_local! {
    /// Bytes that this thread holds, and the most that it has held.
    static HELD: Cell<[isize; 2]> = const { Cell::new([0; 2]) };
}

fn hold(bytes: isize) {
    let _ = HELD.try_with(|held| {
        let [now, most] = held.get();
        held.set([now + bytes, most.max(now + bytes)]);
    });
}

// SAFETY: all work is the system allocator's; only a sum is kept
unsafe impl GlobalAlloc for Weighing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        hold(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-(layout.size() as isize));
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Weighing = Weighing;

/// The most bytes that this thread held during `work`, beyond those that it held before.
fn weight(work: impl FnOnce()) -> usize {
    let [before, _] = HELD.get();
    HELD.set([before; 2]);
    work();
    (HELD.get()[1] - before) as usize
}

/// Reads a row from two pieces: the width that it should have, and the one that it has; nothing for bytes
/// that are refused.
type Read = fn(&Rows, [&[u8]; 2]) -> Option<[usize; 2]>;

/// What agents of a method expect of their neighbours, and frames that they send.
struct Case {
    rows: Rows,
    frames: Vec<Vec<u8>>,
    read: Read,
}

fn read<T: Number>(rows: &Rows, pieces: [&[u8]; 2]) -> Option<[usize; 2]> {
    let (head, row) = rows.read_pieces(pieces.into_iter(), Vec::<T>::new()).ok()?;
    Some([rows.widths[head.graph as usize], row.len()])
}

/// A ring of three does a round, and agent 0's two rows are taken from its history.
fn case<T: Number>(method: &dyn Method, problem: &dyn Problem) -> Case {
    let ring = families::ring(3).unwrap();
    let ties = Ties::all(&Topology::from_digraphs(&[ring], Subgraph::Full, Weights::Uniform, 0).unwrap());
    let schedule = Schedule::constant(0.05).unwrap();
    let rows = Task { method, problem, ties: &ties[0], schedule, seed: 5 }.rows();
    let network = MemoryNetwork::<T>::new(&ties, rows.clone(), Mischief::default());
    let history = |ties: &Ties| {
        let task = Task { method, problem, ties, schedule, seed: 5 };
        let history = Arc::new(task.history(5, rounds_needed(0, ties.lag)));
        let mut link = network.link(ties.agent, Arc::clone(&history));
        Agent::new(task, Arc::clone(&history)).unwrap().round(&mut link).unwrap();
        history
    };
    let first = std::thread::scope(|scope| {
        let threads: Vec<_> = ties.iter().map(|ties| scope.spawn(|| history(ties))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).next().unwrap()
    });
    let of = |graph| {
        let mut bytes = vec![];
        let found = first.frame(1, graph, Moment { round: 0, phase: 0 }, &mut bytes);
        assert_eq!(found, Found::Here);
        bytes
    };
    Case { frames: Graph::BOTH.map(of).to_vec(), rows, read: read::<T> }
}

/// SMTPP as it is, in both precisions, and with every codec.
fn cases() -> Vec<Case> {
    let shape = QuadraticShape { dim: 12, curvature: [0.5, 1.0], heterogeneity: 1.0, noise: 0.3 };
    let problem = Quadratic::new(shape, 3, 1).unwrap();
    let plain = Recipe::new(kind("smtpp").unwrap(), []).unwrap();
    let coded = CODECS.iter().filter_map(|codec| {
        let compression = Some(Compression::new(codec, []).ok()?);
        Recipe { compression, ..plain.clone() }.build().ok()
    });
    let single = case::<f32>(&*plain.build().unwrap(), &problem);
    let double =
        [plain.build().unwrap()].into_iter().chain(coded).map(|method| case::<f64>(&*method, &problem));
    double.chain([single]).collect()
}

/// Bytes changed, cut off and added; half of the time with a checksum that is right again, which gets
/// further.
fn mutate(bytes: &mut Vec<u8>, draws: &mut Draws) {
    for _ in 0..=draws.below(3) {
        match draws.below(4) {
            0 => bytes.truncate(draws.below(bytes.len() + 1)),
            1 => bytes.extend_from_slice(&draws.bits().to_le_bytes()[..draws.below(8)]),
            _ if bytes.is_empty() => {}
            _ => {
                let at = draws.below(bytes.len());
                bytes[at] = draws.bits() as u8;
            }
        }
    }
    if draws.below(2) == 0
        && let Some((content, checksum)) = bytes.split_last_chunk_mut::<4>()
    {
        *checksum = crc32fast::hash(content).to_le_bytes();
    }
}

#[test]
fn ten_million_mutated_frames_do_no_harm() {
    const TIMES: usize = 10_000_000;
    /// Words of a complaint.
    const WORDS: usize = 1000;
    assert_eq!(weight(|| drop(std::hint::black_box(vec![1.0; 9]))), 72, "the scales weigh");

    let cases = cases();
    assert!(cases.len() > CODECS.len() / 2, "{} cases", cases.len());
    for Case { rows, frames, read } in &cases {
        for frame in frames {
            assert!(read(rows, [frame, &[]]).is_some(), "as it was sent");
        }
    }
    let mut draws = Draws::new(1, Purpose::Problem, 0, 0);
    let (mut bytes, mut accepted, mut refused) = (vec![], 0, 0);
    for time in 0..TIMES {
        let Case { rows, frames, read } = &cases[time % cases.len()];
        bytes.clone_from(&frames[draws.below(2)]);
        mutate(&mut bytes, &mut draws);
        if let Ok(frame) = frame::decode(&bytes) {
            let size = match frame.content {
                Content::Numbers(precision, row) => frame::size(row.len() / precision.bytes(), precision),
                Content::Coded { bytes, .. } => frame::size_of_code(bytes.len()),
            };
            assert_eq!(size, bytes.len(), "a frame is what its head says");
        }
        let (front, back) = bytes.split_at(draws.below(bytes.len() + 1));
        let weighed = weight(|| match read(rows, [front, back]) {
            Some([expected, width]) => {
                assert_eq!(width, expected);
                accepted += 1;
            }
            None => refused += 1,
        });
        let most = 8 * rows.widths[0].max(rows.widths[1]) + 2 * bytes.len() + WORDS;
        assert!(weighed <= most, "{weighed} bytes, and not at most {most}");
    }
    assert!(accepted > TIMES / 100 && refused > TIMES / 2, "{accepted} were read and {refused} refused");
}
