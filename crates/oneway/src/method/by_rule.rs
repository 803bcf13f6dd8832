//! Every rule is a method: its coordinates are done side by side, in vectors as wide as the machine has.
//!
//! All here is compiled for every rule, in two precisions and for each kind of vector: hundreds of copies. So
//! a rule's arithmetic stands once in each, rows are checked once for a block of agents, and what does not
//! depend on the rule is apart. All that an engine calls is `#[inline(never)]`: another crate that uses a
//! rule of this library as a `dyn Method` then links the copies that are here, and compiles none of its own.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::blocks::{Asked, Given, Known, MOST_LANES, Sent};
use super::carried::{keep_carried, send_carried, start_carried};
use super::rule::Numbers;
use super::trace;
use super::{
    At, Carries, Gradient, Gradients, Heard, Hearing, Kernel, Mail, Method, Point, Points, Profile, Round,
    Rule, Sending, Sizes, Trace,
};
use crate::Result;
use crate::graph::Topology;
use crate::numeric::registers::{InVectors, Wide};
use crate::numeric::row::{Agents, Rows, RowsMut, Width};
use crate::numeric::{Float, Lanes, Real, Vector};

impl<R: Rule> Method for R {
    #[inline(never)]
    fn profile(&self, sizes: Sizes) -> Profile {
        let [state, pull, push] = widths(counts::<f64, R>(), R::CARRIES, sizes);
        let profile = Rule::profile(self);
        let points_are_pulled = trace::points_are_pulled(self, &profile);
        Profile { state, pull, push, points_are_pulled, ..profile }
    }

    #[inline(never)]
    fn check_network(&self, topology: &Topology) -> Result<()> {
        Rule::check_network(self, topology)
    }

    #[inline(never)]
    fn step_divisor(&self, topology: &Topology) -> Result<f64> {
        Rule::step_divisor(self, topology)
    }

    #[inline(never)]
    fn trace(&self) -> Option<Trace> {
        Some(Trace::from_rule(self))
    }

    #[inline(never)]
    fn single_precision(&self) -> Option<&dyn Kernel<f32>> {
        Some(self)
    }
}

/// How wide rows are with these numbers of each coordinate.
fn widths(vectors: [usize; 3], carries: Carries, sizes: Sizes) -> [Width; 3] {
    let scalars = match carries {
        Carries::Nothing => [0, 0, 0],
        Carries::Weight => [1, 0, 1],
        Carries::Eigenvector => [sizes.agents, sizes.agents, 0],
    };
    [0, 1, 2].map(|i| Width::vectors(vectors[i]).and_scalars(scalars[i]))
}

/// The most numbers that a rule may keep of a coordinate.
const MOST_KEPT: usize = 32;

/// What is the same for all coordinates of an agent in an exchange.
struct Scene<'r, R, T> {
    round: &'r Round<'r>,
    constants: [f64; 2],
    w: T,
    kept: T,
    rule: PhantomData<R>,
}

impl<'r, R: Rule, T: Float> Scene<'r, R, T> {
    #[inline(always)]
    fn new(rule: &R, round: &'r Round<'r>) -> Self {
        let constants = rule.constants().map(|constant| constant.at(round.k));
        Self { round, constants, w: T::from_f64(1.0), kept: T::default(), rule: PhantomData }
    }

    /// The same for an agent with this weight.
    #[inline(always)]
    fn of(&self, agent: usize, w: T) -> Self {
        let kept = match R::LOOKS_AT_KEPT {
            true => T::from_f64(self.round.kept.share(agent)),
            false => T::default(),
        };
        Self { w, kept, ..*self }
    }

    /// The same for an agent that has heard.
    #[inline(always)]
    fn after(&self, agent: usize, q: usize, [pulled, pushed]: [Rows<'_, T>; 2]) -> Self {
        let w = match R::CARRIES {
            Carries::Nothing => T::from_f64(1.0),
            Carries::Weight => pushed.row(q)[pushed.width() - 1],
            Carries::Eigenvector => pulled.row(q)[pulled.width() - self.round.agents + agent],
        };
        self.of(agent, w)
    }

    #[inline(always)]
    fn at<S: Real>(&self) -> At<S> {
        At {
            η: Real::constant(self.round.η),
            w: Real::constant(self.w.to_f64()),
            kept: Real::constant(self.kept.to_f64()),
            constants: [Real::constant(self.constants[0]), Real::constant(self.constants[1])],
            phase: self.round.phase,
        }
    }
}

/// How many numbers a rule has of a coordinate.
const fn count<T: Float, V: Numbers<Lanes<T, 1>>>() -> usize {
    V::COUNT
}

/// As many numbers of each vector of a row as V has lanes; the vectors are `step` apart.
///
/// # Safety
///
/// The row has them, and the machine has such vectors.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn load<T, V: Vector<T>, S: Numbers<V>>(place: *const T, step: usize) -> S {
    // SAFETY: the caller's promise
    S::load(0, &mut |i| unsafe { V::load(place.add(i * step)) })
}

/// The reverse.
///
/// # Safety
///
/// The row has room for them, and the machine has such vectors.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn store<T, V: Vector<T>, S: Numbers<V>>(numbers: S, place: *mut T, step: usize) {
    // SAFETY: the caller's promise
    numbers.store(0, &mut |i, lanes: V| unsafe { lanes.store(place.add(i * step)) });
}

/// The state at x₀, coordinate by coordinate.
fn start<T: Float, R: Rule>(rule: &R, round: Round<'_>, x: &[T], given: [&[T]; 2], state: &mut [T]) {
    let (d, scene) = (round.d, Scene::new(rule, &round).of(round.agent, T::from_f64(1.0)));
    for (c, x) in x[..d].iter().enumerate() {
        let g = given.map(|row| Lanes([row.get(c).copied().unwrap_or_default()]));
        let first = rule.start(scene.at(), Lanes([*x]), g);
        first.store(0, &mut |i, Lanes([number]): Lanes<T, 1>| state[i * d + c] = number);
    }
    start_carried(R::CARRIES, round, state);
}

struct Send<'p, R, T> {
    rule: &'p R,
    scene: Scene<'p, R, T>,
    block: Sent<'p, T>,
}

impl<R: Rule, T: Float> InVectors<T> for Send<'_, R, T> {
    #[inline(always)]
    #[allow(unsafe_code)]
    fn run<V: Vector<T>>(self) {
        let Self { rule, scene, block: Sent { agents, states, pulls, pushes } } = self;
        let d = scene.round.d;
        for q in 0..agents.len() {
            let scene = scene.of(agents.get(q), T::from_f64(1.0));
            let mut begin = 0;
            while begin < d {
                // the last lanes may overlap those before them, and write the same numbers again
                let c = begin.min(d - V::LANES);
                begin += V::LANES;
                // SAFETY: rows 0 to n − 1 were checked to have these vectors of dimension d, and c + LANES ≤
                // d
                unsafe {
                    let sent = rule.send(scene.at::<V>(), load(states.place(q, c), d));
                    store(sent.pull, pulls.place(q, c), d);
                    store(sent.push, pushes.place(q, c), d);
                }
                V::one_after_another();
            }
        }
    }
}

struct Ask<'p, R, T> {
    rule: &'p R,
    scene: Scene<'p, R, T>,
    known: Known<'p, T>,
    points: Asked<'p, T>,
}

impl<R: Rule, T: Float> InVectors<T> for Ask<'_, R, T> {
    #[inline(always)]
    #[allow(unsafe_code)]
    fn run<V: Vector<T>>(self) {
        let Self { rule, scene, known, points: Asked { next, last, mask } } = self;
        let Known { agents, first, heard, states, pulled, pushed } = known;
        let d = scene.round.d;
        for q in 0..agents.len() {
            let agent = agents.get(q);
            let scene = scene.after(agent, q, heard);
            let mut begin = 0;
            while begin < d {
                let c = begin.min(d - V::LANES);
                begin += V::LANES;
                // SAFETY: all rows were checked to have these vectors of dimension d, and c + LANES ≤ d
                unsafe {
                    let heard = Mail { pull: load(pulled.place(q, c), d), push: load(pushed.place(q, c), d) };
                    let state = load(states.place(agent - first, c), d);
                    let [x_next, x] = rule.points(scene.at::<V>(), state, heard);
                    x_next.store(next.place(q, c));
                    x.store(last.place(q & mask, c & mask));
                }
                V::one_after_another();
            }
        }
    }
}

struct Update<'p, R, T> {
    rule: &'p R,
    scene: Scene<'p, R, T>,
    known: Known<'p, T>,
    given: [Given<'p, T>; 2],
}

impl<R: Rule, T: Float> InVectors<T> for Update<'_, R, T> {
    #[inline(always)]
    #[allow(unsafe_code)]
    fn run<V: Vector<T>>(self) {
        let Self { rule, scene, known, given } = self;
        let Known { agents, first, heard, states, pulled, pushed } = known;
        let (d, n) = (scene.round.d, agents.len());
        let kept = const {
            let kept = count::<T, R::State<Lanes<T, 1>>>();
            assert!(kept <= MOST_KEPT, "a rule keeps at most 32 numbers of a coordinate");
            kept
        };
        let mut tail = MaybeUninit::<[T; MOST_KEPT * MOST_LANES]>::uninit();
        let tail = tail.as_mut_ptr().cast::<T>();
        for q in 0..if d > 0 { n } else { 0 } {
            let agent = agents.get(q);
            let scene = scene.after(agent, q, heard);
            // SAFETY: all rows were checked to have these vectors of dimension d, and c + LANES ≤ d; the tail
            // has room for all that a rule keeps
            unsafe {
                // The last lanes first, while the coordinates that they share with those before are still the
                // old ones: they wait in `tail`. One loop for all, so that the rule is compiled once.
                let (mut c, mut next, mut to, mut step) = (d - V::LANES, 0, tail, V::LANES);
                loop {
                    let heard = Mail { pull: load(pulled.place(q, c), d), push: load(pushed.place(q, c), d) };
                    let state = load(states.place(agent - first, c), d);
                    let g = [given[0].load::<V>(q, c), given[1].load::<V>(q, c)];
                    store(rule.update(scene.at::<V>(), state, heard, g), to, step);
                    if next + V::LANES >= d {
                        break;
                    }
                    (c, to, step) = (next, states.place(agent - first, next), d);
                    next += V::LANES;
                    V::one_after_another();
                }
                let end = states.place(agent - first, d - V::LANES);
                for i in 0..kept {
                    V::load(tail.add(i * V::LANES)).store(end.add(i * d));
                }
            }
        }
    }
}

/// How many numbers of a coordinate a rule keeps, pulls and pushes.
const fn counts<T: Float, R: Rule>() -> [usize; 3] {
    [
        count::<T, R::State<Lanes<T, 1>>>(),
        count::<T, R::Pull<Lanes<T, 1>>>(),
        count::<T, R::Push<Lanes<T, 1>>>(),
    ]
}

impl<R: Rule, T: Wide> Kernel<T> for R {
    #[inline(never)]
    fn start(&self, at: Round<'_>, x: &[T], gradient: Gradient<'_, T>, state: &mut [T]) {
        start(self, at, x, [gradient.next, gradient.other], state);
    }

    #[inline(never)]
    fn send(&self, at: Round<'_>, state: &mut [T], pull: &mut [T], push: &mut [T]) {
        let (states, pulls, pushes) = (RowsMut::one(state), RowsMut::one(pull), RowsMut::one(push));
        self.send_block(at, &mut Sending { agents: Agents::one(at.agent), states, pulls, pushes });
    }

    #[inline(never)]
    fn point(&self, at: Round<'_>, heard: Heard<'_, T>, Point { next, last }: Point<'_, T>) {
        let (next, last) = (RowsMut::one(next), RowsMut::one(last));
        self.point_block(at, &mut Hearing::one(at.agent, heard), &mut Points { next, last });
    }

    #[inline(never)]
    fn update(&self, at: Round<'_>, heard: Heard<'_, T>, gradient: Gradient<'_, T>) {
        let (next, other) = (RowsMut::one(gradient.next), RowsMut::one(gradient.other));
        let gradients = &mut Gradients { next, other, samples: &[] };
        self.update_block(at, &mut Hearing::one(at.agent, heard), gradients);
    }

    #[inline(never)]
    fn send_block(&self, at: Round<'_>, block: &mut Sending<'_, T>) {
        let (scene, sent) = (Scene::new(self, &at), Sent::new(block, counts::<T, R>(), at.d));
        T::in_vectors(at.d, Send { rule: self, scene, block: sent });
        send_carried(R::CARRIES, at.agents, block);
    }

    #[inline(never)]
    fn point_block(&self, at: Round<'_>, block: &mut Hearing<'_, T>, points: &mut Points<'_, T>) {
        if points.next.width() > 0 {
            let (scene, known) = (Scene::new(self, &at), Known::new(block, counts::<T, R>(), at.d));
            let (agents, mut unused) = (known.agents.len(), [T::default(); MOST_LANES]);
            let mut unused = RowsMut::one(&mut unused);
            let points = Asked::new(points, &mut unused, agents, at.d);
            T::in_vectors(at.d, Ask { rule: self, scene, known, points });
        }
    }

    #[inline(never)]
    fn update_block(&self, at: Round<'_>, block: &mut Hearing<'_, T>, gradients: &mut Gradients<'_, T>) {
        let (scene, known) = (Scene::new(self, &at), Known::new(block, counts::<T, R>(), at.d));
        let (agents, zeros) = (known.agents.len(), [T::default(); MOST_LANES]);
        let given = [
            Given::new(gradients.next.as_rows(), agents, at.d, &zeros),
            Given::new(gradients.other.as_rows(), agents, at.d, &zeros),
        ];
        T::in_vectors(at.d, Update { rule: self, scene, known, given });
        keep_carried(R::CARRIES, at.agents, block);
    }
}
