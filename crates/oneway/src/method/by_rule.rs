//! Every rule is a method: its coordinates are done side by side, in vectors as wide as the machine has.
//!
//! All here is compiled for every rule, in two precisions and for each kind of vector: hundreds of copies. So a rule's arithmetic
//! stands once in each, rows are checked once for a block of agents, and what does not depend on the rule is apart.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

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
use crate::numeric::row::{Agents, Rows, RowsMut, Vectors, VectorsMut, Width};
use crate::numeric::{Float, Lanes, Real, Vector};

impl<R: Rule> Method for R {
    fn profile(&self, sizes: Sizes) -> Profile {
        type Probe = Lanes<f64, 1>;
        let vectors = [
            <R::State<Probe> as Numbers<Probe>>::COUNT,
            <R::Pull<Probe> as Numbers<Probe>>::COUNT,
            <R::Push<Probe> as Numbers<Probe>>::COUNT,
        ];
        let scalars = match R::CARRIES {
            Carries::Nothing => [0, 0, 0],
            Carries::Weight => [1, 0, 1],
            Carries::Eigenvector => [sizes.agents, sizes.agents, 0],
        };
        let [state, pull, push] = [0, 1, 2].map(|i| Width::vectors(vectors[i]).and_scalars(scalars[i]));
        let points_are_pulled = trace::points_are_pulled(self);
        Profile { state, pull, push, points_are_pulled, ..Rule::profile(self) }
    }

    fn check_network(&self, topology: &Topology) -> Result<()> {
        Rule::check_network(self, topology)
    }

    fn step_divisor(&self, topology: &Topology) -> Result<f64> {
        Rule::step_divisor(self, topology)
    }

    fn trace(&self) -> Option<Trace> {
        Some(Trace::of(self))
    }

    fn single_precision(&self) -> Option<&dyn Kernel<f32>> {
        Some(self)
    }
}

/// The most numbers that a rule may keep of a coordinate.
const MOST_KEPT: usize = 32;

/// The most lanes of a vector.
const MOST_LANES: usize = 8;

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
            constants: self.constants.map(Real::constant),
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

/// One vector of each row, or as many zeros as are looked at.
struct Given<'a, T> {
    rows: Vectors<'a, T>,
    is_there: bool,
}

impl<'a, T: Float> Given<'a, T> {
    fn new(rows: Rows<'a, T>, agents: usize, d: usize, zeros: &'a [T; MOST_LANES]) -> Self {
        let is_there = rows.width() > 0;
        let rows =
            if is_there { rows.vectors(agents, 1, d) } else { Rows::one(zeros).vectors(1, 1, MOST_LANES) };
        Self { rows, is_there }
    }

    /// # Safety
    ///
    /// q and c are within what it was made for, and the machine has such vectors.
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn load<V: Vector<T>>(&self, q: usize, c: usize) -> V {
        // no branch: a loop with two choices would be compiled four times
        let mask = if self.is_there { usize::MAX } else { 0 };
        // SAFETY: the caller's promise, or the first of the zeros
        unsafe { V::load(self.rows.place(q & mask, c & mask)) }
    }
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

struct Send<'p, 'b, R, T> {
    rule: &'p R,
    round: Round<'p>,
    block: &'p mut Sending<'b, T>,
}

impl<R: Rule, T: Float> InVectors<T> for Send<'_, '_, R, T> {
    #[inline(always)]
    #[allow(unsafe_code)]
    fn run<V: Vector<T>>(self) {
        let Self { rule, round, block } = self;
        let (d, scene, n) = (round.d, Scene::new(rule, &round), block.agents.len());
        let states = block.states.as_rows().vectors(n, count::<T, R::State<Lanes<T, 1>>>(), d);
        let pulls = block.pulls.vectors(n, count::<T, R::Pull<Lanes<T, 1>>>(), d);
        let pushes = block.pushes.vectors(n, count::<T, R::Push<Lanes<T, 1>>>(), d);
        for q in 0..n {
            let scene = scene.of(block.agents.get(q), T::from_f64(1.0));
            for begin in (0..d).step_by(V::LANES) {
                // the last lanes may overlap those before them, and write the same numbers again
                let c = begin.min(d - V::LANES);
                // SAFETY: rows 0 to n − 1 were checked to have these vectors of dimension d, and c + LANES ≤ d
                unsafe {
                    let sent = rule.send(scene.at::<V>(), load(states.place(q, c), d));
                    store(sent.pull, pulls.place(q, c), d);
                    store(sent.push, pushes.place(q, c), d);
                }
            }
        }
    }
}

struct Ask<'p, 'b, 'c, R, T> {
    rule: &'p R,
    round: Round<'p>,
    block: &'p mut Hearing<'b, T>,
    points: &'p mut Points<'c, T>,
}

impl<R: Rule, T: Float> InVectors<T> for Ask<'_, '_, '_, R, T> {
    #[inline(always)]
    #[allow(unsafe_code)]
    fn run<V: Vector<T>>(self) {
        let Self { rule, round, block: Hearing { agents, first, states, pulled, pushed }, points } = self;
        let (agents, first, heard) = (*agents, *first, [*pulled, *pushed]);
        let (d, scene, n) = (round.d, Scene::new(rule, &round), agents.len());
        let Known { states, pulled, pushed } = Known::new::<R>(states, heard, (agents, first), d);
        let next = points.next.vectors(n, 1, d);
        let (two, mut unused) = (points.last.width() > 0, [T::default(); MOST_LANES]);
        let mut unused = RowsMut::one(&mut unused);
        let last = if two { points.last.vectors(n, 1, d) } else { unused.vectors(1, 1, MOST_LANES) };
        let mask = if two { usize::MAX } else { 0 }; // no branch, see `Given`
        for q in 0..n {
            let agent = agents.get(q);
            let scene = scene.after(agent, q, heard);
            for begin in (0..d).step_by(V::LANES) {
                let c = begin.min(d - V::LANES);
                // SAFETY: all rows were checked to have these vectors of dimension d, and c + LANES ≤ d
                unsafe {
                    let heard = Mail { pull: load(pulled.place(q, c), d), push: load(pushed.place(q, c), d) };
                    let state = load(states.place(agent - first, c), d);
                    let [x_next, x] = rule.points(scene.at::<V>(), state, heard);
                    x_next.store(next.place(q, c));
                    x.store(last.place(q & mask, c & mask));
                }
            }
        }
    }
}

struct Update<'p, 'b, 'c, R, T> {
    rule: &'p R,
    round: Round<'p>,
    block: &'p mut Hearing<'b, T>,
    gradients: &'p mut Gradients<'c, T>,
}

impl<R: Rule, T: Float> InVectors<T> for Update<'_, '_, '_, R, T> {
    #[inline(always)]
    #[allow(unsafe_code)]
    fn run<V: Vector<T>>(self) {
        let Self { rule, round, block: Hearing { agents, first, states, pulled, pushed }, gradients } = self;
        let (agents, first, heard) = (*agents, *first, [*pulled, *pushed]);
        let (d, scene, n) = (round.d, Scene::new(rule, &round), agents.len());
        let kept = const {
            let kept = count::<T, R::State<Lanes<T, 1>>>();
            assert!(kept <= MOST_KEPT, "a rule keeps at most 32 numbers of a coordinate");
            kept
        };
        let Known { states, pulled, pushed } = Known::new::<R>(states, heard, (agents, first), d);
        let zeros = [T::default(); MOST_LANES];
        let given = [&gradients.next, &gradients.other].map(|rows| Given::new(rows.as_rows(), n, d, &zeros));
        let mut tail = MaybeUninit::<[T; MOST_KEPT * MOST_LANES]>::uninit();
        let tail = tail.as_mut_ptr().cast::<T>();
        for q in 0..if d > 0 { n } else { 0 } {
            let agent = agents.get(q);
            let scene = scene.after(agent, q, heard);
            // SAFETY: all rows were checked to have these vectors of dimension d, and c + LANES ≤ d; the tail has room for all that a
            // rule keeps
            unsafe {
                // The last lanes first, while the coordinates that they share with those before are still the old ones: they wait in
                // `tail`. One loop for all, so that the rule is compiled once.
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
                }
                let end = states.place(agent - first, d - V::LANES);
                for i in 0..kept {
                    V::load(tail.add(i * V::LANES)).store(end.add(i * d));
                }
            }
        }
    }
}

/// The vectors of what a block of agents keeps and has heard, checked for all of them. State rows are counted from the block's first.
struct Known<'a, T> {
    states: VectorsMut<'a, T>,
    pulled: Vectors<'a, T>,
    pushed: Vectors<'a, T>,
}

impl<'a, T: Float> Known<'a, T> {
    #[inline(always)]
    fn new<R: Rule>(
        states: &'a mut RowsMut<'_, T>,
        heard: [Rows<'a, T>; 2],
        agents: (Agents<'_>, usize),
        d: usize,
    ) -> Self {
        let ((agents, first), [pulled, pushed]) = (agents, heard);
        Self {
            states: states.vectors(agents.rows_from(first), count::<T, R::State<Lanes<T, 1>>>(), d),
            pulled: pulled.vectors(agents.len(), count::<T, R::Pull<Lanes<T, 1>>>(), d),
            pushed: pushed.vectors(agents.len(), count::<T, R::Push<Lanes<T, 1>>>(), d),
        }
    }
}

impl<R: Rule, T: Wide> Kernel<T> for R {
    fn start(&self, at: Round<'_>, x: &[T], gradient: Gradient<'_, T>, state: &mut [T]) {
        start(self, at, x, [gradient.next, gradient.other], state);
    }

    fn send(&self, at: Round<'_>, state: &mut [T], pull: &mut [T], push: &mut [T]) {
        let [states, pulls, pushes] = [state, pull, push].map(RowsMut::one);
        self.send_block(at, &mut Sending { agents: Agents::one(at.agent), states, pulls, pushes });
    }

    fn point(&self, at: Round<'_>, heard: Heard<'_, T>, Point { next, last }: Point<'_, T>) {
        let [next, last] = [next, last].map(RowsMut::one);
        self.point_block(at, &mut Hearing::one(at.agent, heard), &mut Points { next, last });
    }

    fn update(&self, at: Round<'_>, heard: Heard<'_, T>, gradient: Gradient<'_, T>) {
        let [next, other] = [gradient.next, gradient.other].map(RowsMut::one);
        let gradients = &mut Gradients { next, other, samples: &[] };
        self.update_block(at, &mut Hearing::one(at.agent, heard), gradients);
    }

    fn send_block(&self, at: Round<'_>, block: &mut Sending<'_, T>) {
        T::in_vectors(at.d, Send { rule: self, round: at, block });
        send_carried(R::CARRIES, at.agents, block);
    }

    fn point_block(&self, at: Round<'_>, block: &mut Hearing<'_, T>, points: &mut Points<'_, T>) {
        if points.next.width() > 0 {
            T::in_vectors(at.d, Ask { rule: self, round: at, block, points });
        }
    }

    fn update_block(&self, at: Round<'_>, block: &mut Hearing<'_, T>, gradients: &mut Gradients<'_, T>) {
        T::in_vectors(at.d, Update { rule: self, round: at, block, gradients });
        keep_carried(R::CARRIES, at.agents, block);
    }
}
