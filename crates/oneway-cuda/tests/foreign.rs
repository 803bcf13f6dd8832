//! Gradients that another program makes where the points are: the simulator's bits, if they have the CPU's.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{around, host, noisy, problems, repeated_rules_agree_on, rules_agree_on, same_bits};
use oneway::engine::{Engine, Schedule, Setup, Status};
use oneway::graph::{Subgraph, Topology, Weights, families};
use oneway::methods::kind;
use oneway::numeric::Precision;
use oneway::numeric::row::{Agents, Rows, RowsMut};
use oneway::numeric::sample::Draws;
use oneway::problem::{GradientBatch, InPlace, Memory, Placed, PlacedBatch, Problem};
use oneway::problems::Batch;
use oneway::{Error, Result};
use oneway_cuda::Wide;

/// A problem of which nothing is known but its gradients. They always go to the same place, and are no numbers
/// any more when nobody keeps them.
#[derive(Debug)]
struct Opaque {
    inner: Box<dyn Problem>,
    place: Arc<Place>,
    /// Calls that succeed.
    left: AtomicU64,
}

#[derive(Debug)]
struct Place(Vec<AtomicU64>);

/// Spoils what is there when it is dropped.
struct Keeper(Arc<Place>);

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.0.iter().for_each(|word| word.store(u64::MAX, Ordering::Relaxed));
    }
}

impl Opaque {
    fn new(inner: Box<dyn Problem>) -> Self {
        let numbers = inner.agents() * inner.dim();
        let place = Arc::new(Place((0..numbers).map(|_| AtomicU64::new(0)).collect()));
        Self { inner, place, left: u64::MAX.into() }
    }
}

impl Problem for Opaque {
    fn agents(&self) -> usize {
        self.inner.agents()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn start(&self, x: &mut [f64]) {
        self.inner.start(x);
    }
    fn gradient(&self, agent: usize, x: &[f64], draws: &mut Draws, g: &mut [f64]) {
        self.inner.gradient(agent, x, draws, g);
    }
    fn exact(&self, agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
        self.inner.exact(agent, x, g)
    }
    fn in_place(&self, memory: Memory) -> Option<&dyn InPlace> {
        (memory == Memory::Host).then_some(self)
    }
}

impl InPlace for Opaque {
    #[allow(unsafe_code)]
    fn gradients_at(&self, batch: PlacedBatch<'_>) -> Result<Placed> {
        let PlacedBatch { points, lent, precision, stream, draws } = batch;
        assert_eq!((lent.memory(), stream), (Memory::Host, None));
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(Error::Gradient { agent: None, reason: "the other program is gone".to_owned() });
        }
        let (n, d) = (self.agents(), self.dim());
        let mut g = vec![0.0f64; n * d];
        // SAFETY: the engine lends n·d numbers of this precision until this call returns
        let x: Vec<f64> = unsafe {
            match precision {
                Precision::F64 => std::slice::from_raw_parts(points as *const f64, n * d).to_vec(),
                Precision::F32 => std::slice::from_raw_parts(points as *const f32, n * d)
                    .iter()
                    .map(|x| f64::from(*x))
                    .collect(),
            }
        };
        self.inner.gradients(GradientBatch {
            agents: Agents::Range { first: 0, len: n },
            points: Rows::new(&x, d, d),
            draws: draws.each(),
            gradients: RowsMut::new(&mut g, d, d),
        })?;
        let words: Vec<u64> = match precision {
            Precision::F64 => g.iter().map(|g| g.to_bits()).collect(),
            Precision::F32 => {
                let bits: Vec<u64> = g.iter().map(|g| u64::from((*g as f32).to_bits())).collect();
                bits.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 32).collect()
            }
        };
        self.place.0.iter().zip(words).for_each(|(place, word)| place.store(word, Ordering::Relaxed));
        // SAFETY: the place lives as long as its keeper, and is written to in the next call only
        Ok(unsafe { Placed::new(self.place.0.as_ptr() as u64, Box::new(Keeper(Arc::clone(&self.place)))) })
    }
}

fn opaque(agents: usize) -> Box<dyn Problem> {
    Box::new(Opaque::new(noisy(agents)))
}

#[test]
fn every_rule_has_the_bits_of_the_simulator() {
    let rules = rules_agree_on(opaque, &host(1), 67, |_| &[Precision::F64, Precision::F32]);
    assert!(rules > 80, "{rules}");
}

#[test]
fn repeated_rules_have_the_bits_of_the_simulator() {
    let cases = repeated_rules_agree_on(opaque, &host(1), 5);
    assert!(cases > 120, "{cases}");
}

/// Rows are drawn: the samples of exchanges, and of rounds with oneself, go on where the last ones ended.
#[test]
fn samples_are_those_of_the_simulator() {
    let n = 8;
    let digraph = families::exponential(n).unwrap();
    let topology = Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let schedule = Schedule::constant(0.05).unwrap();
    for name in ["smtpp", "sgp", "frost", "storm-tracking", "dsmt"] {
        for counts in [(1, 1), (3, 2)] {
            for batch in [Batch::Sampled(3), Batch::Reshuffled(2), Batch::Full] {
                let method = around(kind(name).unwrap().method([]).unwrap(), counts).unwrap();
                let problem = Opaque::new(problems(n, batch).remove(0).1);
                let setup =
                    Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 5 };
                same_bits(&host(4), setup, Precision::F64, 5, &format!("{name} {counts:?} {batch:?}"));
            }
        }
    }
}

#[test]
fn an_error_ends_the_run_as_on_the_processors() {
    let (topology, schedule) = (Topology::complete(4).unwrap(), Schedule::constant(0.1).unwrap());
    let method = kind("push-pull").unwrap().method([]).unwrap(); // which asks at x₀ too
    let failing = |left: u64| {
        let mut problem = Opaque::new(noisy(4));
        problem.left = left.into();
        problem
    };
    let at_once = failing(0);
    let setup = |problem| Setup { method: &*method, problem, topology: &topology, schedule, seed: 5 };
    let refused = Wide::new(&host(1), setup(&at_once), Precision::F64).err();
    assert_eq!(refused, Some(oneway_cuda::Error::Gradient("the other program is gone".to_owned())));
    let later = failing(70);
    let mut engine = Wide::new(&host(1), setup(&later), Precision::F64).unwrap();
    let outcome = engine.run(500, 5, &mut ()).unwrap();
    let Status::Failed { reason, .. } = outcome.status else { panic!("{:?}", outcome.status) };
    assert_eq!(reason, "the gradient could not be made: the other program is gone");
}
