//! No allocation per round: not for any method, nor when rows are shared among threads.
#![allow(clippy::unwrap_used, unsafe_code)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{advance, build, logistic, methods, simulate, topology};
use oneway::graph::families;
use oneway::problem::Problem;
use oneway::problems::{Batch, Quadratic, QuadraticShape};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all work is the system allocator's; only a counter is added
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations during `work`. The one test of this file runs alone, so that nobody else's are counted.
fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    work();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

#[test]
fn no_method_allocates_in_a_round() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1.0; 9]))), 1, "the counter counts");

    let shape = QuadraticShape { dim: 20, curvature: [0.5, 1.0], heterogeneity: 1.0, noise: 0.3 };
    let large = Quadratic::new(shape, 2000, 3).unwrap();
    let (sampled, full) = (logistic(9, Batch::Sampled(3)), logistic(9, Batch::Full));
    let problems: [(&dyn Problem, usize); 3] = [(&sampled, 9), (&full, 9), (&large, 2000)];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for (kind, graph) in methods() {
        for (problem, n) in problems {
            let topology = topology(kind, graph, &[families::exponential(n).unwrap()]);
            let method = build(kind);
            let count = pool.install(|| {
                let mut simulator = simulate(&*method, problem, &topology, 0.001);
                advance(&mut simulator, 3); // the pool's queues reach their size
                // the harness and the pool's threads keep books of their own now and then: a method that allocates does
                // so in every window
                (0..5).map(|_| allocations(|| advance(&mut simulator, 20))).min()
            });
            assert_eq!(count, Some(0), "{} ({graph:?}), {n} agents", kind.name);
        }
    }
}
