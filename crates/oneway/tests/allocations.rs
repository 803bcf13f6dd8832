//! No allocation per round: not for any method, nor when rows are shared among threads.
#![allow(clippy::unwrap_used, unsafe_code)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Tilted, advance, build, finite_sums, logistic, methods, simulate, topology};
use oneway::engine::Schedule;
use oneway::engine::unreliable::{Churn, Faults, Missing, Unreliable};
use oneway::engine::{Engine, Setup};
use oneway::graph::families;
use oneway::method::Traced;
use oneway::numeric::sample::{Draws, Purpose};
use oneway::problem::Problem;
use oneway::problems::{Batch, Quadratic, QuadraticShape};

struct Counting;

/// By the threads of the pool, and not by those of other tests or of the harness.
static POOLED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// By this thread alone.
    static OWN: Cell<usize> = const { Cell::new(0) };
    /// Whether this thread is of the pool.
    static IS_POOLED: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: all work is the system allocator's; only a counter is added
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = OWN.try_with(|own| own.set(own.get() + 1));
        if IS_POOLED.try_with(Cell::get).unwrap_or(false) {
            POOLED.fetch_add(1, Ordering::Relaxed);
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations during `work`: by this thread, and by all of the pool.
fn allocations(work: impl FnOnce()) -> [usize; 2] {
    let count = || [OWN.get(), POOLED.load(Ordering::Relaxed)];
    let before = count();
    work();
    let after = count();
    [after[0] - before[0], after[1] - before[1]]
}

#[test]
fn no_method_allocates_in_a_round() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1.0; 9])))[0], 1, "the counter counts");

    let shape = QuadraticShape { dim: 67, curvature: [0.5, 1.0], heterogeneity: 1.0, noise: 0.3 };
    let large = Tilted(Quadratic::new(shape, 600, 3).unwrap()); // rows are shared among threads
    let (sampled, full) = (logistic(9, Batch::Sampled(3)), logistic(9, Batch::Full));
    let problems: [(&dyn Problem, usize); 3] = [(&sampled, 9), (&full, 9), (&large, 600)];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).start_handler(|_| IS_POOLED.set(true));
    let pool = pool.build().unwrap();
    let counted = pool.broadcast(|_| allocations(|| drop(std::hint::black_box(vec![1.0; 9])))[1]);
    assert!(counted.iter().all(|&counted| counted >= 1), "the counter counts in the pool");
    for (kind, graph) in methods() {
        for (problem, n) in problems {
            let topology = topology(kind, graph, &[families::exponential(n).unwrap()], 0);
            let method = build(kind);
            let windows = || {
                let mut simulator = simulate(&*method, problem, &topology, 0.001);
                advance(&mut simulator, 3); // the pool's queues reach their size
                [(); 5].map(|()| allocations(|| advance(&mut simulator, 20)))
            };
            if n < 100 {
                assert_eq!(windows().map(|[own, _]| own), [0; 5], "{} ({graph:?})", kind.name);
            } else {
                // a pool's threads keep books of their own now and then: a method that allocates does so in
                // every window
                let least = pool.install(windows).map(|[_, pooled]| pooled).into_iter().min();
                assert_eq!(least, Some(0), "{} ({graph:?}), {n} agents", kind.name);
            }
        }
    }
}

/// Nor does one that is data.
#[test]
fn no_method_that_is_data_allocates_in_a_round() {
    let problem = logistic(9, Batch::Sampled(3));
    for (kind, graph) in methods().filter(|(kind, _)| build(kind).trace().is_some()) {
        let topology = topology(kind, graph, &[families::exponential(9).unwrap()], 0);
        let method = Traced::from_method(kind.name, &*build(kind)).unwrap();
        let mut simulator = simulate(&method, &problem, &topology, 0.001);
        let [own, _] = allocations(|| advance(&mut simulator, 20));
        assert_eq!(own, 0, "{} ({graph:?})", kind.name);
    }
}

/// Nor does a network that fails, once it is set up.
#[test]
fn lost_and_late_messages_allocate_nothing() {
    let (problem, churn) = (logistic(9, Batch::Sampled(3)), Churn::Drawn { up: 20.0, down: 5.0 });
    let faults = Faults { loss: 0.3, delay: 3, churn, ..Faults::default() };
    for (kind, graph) in methods() {
        let topology = topology(kind, graph, &[families::exponential(9).unwrap()], 0);
        let (method, schedule) = (build(kind), Schedule::constant(0.001).unwrap());
        let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 1 };
        for missing in [Missing::Renormalise, Missing::Latest] {
            let Ok(mut engine) = Unreliable::new(setup, Faults { missing, ..faults.clone() }) else {
                continue;
            };
            let [own, _] = allocations(|| (0..200).try_for_each(|_| engine.round()).unwrap());
            assert_eq!(own, 0, "{} ({graph:?})", kind.name);
        }
    }
}

/// Nor does any problem, whatever the batch; nor where one component is asked for.
#[test]
fn no_problem_allocates_in_a_gradient() {
    for batch in
        [Batch::Sampled(1), Batch::Sampled(3), Batch::Reshuffled(1), Batch::Reshuffled(3), Batch::Full]
    {
        let mut problems = finite_sums(9, batch);
        problems.push(("logistic", Box::new(logistic(9, batch))));
        for (name, problem) in problems {
            let (mut x, mut g) = (vec![0.0; problem.dim()], vec![0.0; problem.dim()]);
            problem.start(&mut x);
            let [own, _] = allocations(|| {
                let mut draws = Draws::new(1, Purpose::Gradient, 3, 7);
                problem.prefetch(3, &mut draws);
                problem.gradient(3, &x, &mut draws, &mut g);
                problem.component(3, 2, &x, &mut g);
                problem.exact(3, &x, &mut g);
            });
            assert_eq!(own, 0, "{name}, {batch:?}");
        }
    }
}
