//! Every rule is a method: its coordinates are done side by side, in vectors as wide as the machine has.

use super::rule::Numbers;
use super::trace;
use super::{
    At, Carries, Gradient, Gradients, Heard, Hearing, Kernel, Mail, Method, Point, Points, Profile, Round,
    Rule, Sending, Sizes, Trace,
};
use crate::Result;
use crate::graph::Topology;
use crate::numeric::row::{Agents, RowsMut, Width};
use crate::numeric::vectors::{wide_256, wide_512};
use crate::numeric::{Float, Lanes, Real};

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

/// Coordinates that are done side by side.
const LANES: usize = 8;

/// Calls a loop over rows of d ≥ LANES coordinates in lanes, compiled for wide vectors; one over fewer, or on a machine without such
/// vectors, coordinate by coordinate.
macro_rules! in_lanes {
    ($wide:ident, $d:expr, $work:ident::<$float:ty, $rule:ident>($($argument:expr),*)) => {
        let is_wide = $d >= LANES
            && $wide(
                #[inline(always)]
                || $work::<$float, $rule, LANES>($($argument),*),
            )
            .is_some();
        if !is_wide {
            $work::<$float, $rule, 1>($($argument),*);
        }
    };
}

/// What is the same for all coordinates of an agent in an exchange.
struct Scene<'r, R, T> {
    rule: &'r R,
    round: &'r Round<'r>,
    constants: [f64; 2],
    w: T,
    kept: T,
}

impl<'r, R: Rule, T: Float> Scene<'r, R, T> {
    #[inline(always)]
    fn new(rule: &'r R, round: &'r Round<'r>) -> Self {
        Self { rule, round, constants: rule.constants(round), w: T::from_f64(1.0), kept: T::default() }
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

    #[inline(always)]
    fn at<const N: usize>(&self) -> At<Lanes<T, N>> {
        At {
            η: Real::constant(self.round.η),
            w: Lanes::splat(self.w),
            kept: Lanes::splat(self.kept),
            constants: self.constants.map(Real::constant),
            phase: self.round.phase,
        }
    }

    /// The weight of an agent after the exchange, from what it has heard.
    #[inline(always)]
    fn weight(&self, agent: usize, pulled: &[T], pushed: &[T]) -> T {
        match R::CARRIES {
            Carries::Nothing => T::from_f64(1.0),
            Carries::Weight => pushed[pushed.len() - 1],
            Carries::Eigenvector => pulled[pulled.len() - self.round.agents + agent],
        }
    }

    /// Sends N coordinates from c on.
    #[inline(always)]
    fn send<const N: usize>(
        &self,
        c: usize,
        state: &Vectors<'_, T>,
        pull: &mut VectorsMut<'_, T>,
        push: &mut VectorsMut<'_, T>,
    ) {
        let sent = self.rule.send(self.at::<N>(), state.load(c));
        pull.store::<N, _>(c, sent.pull);
        push.store::<N, _>(c, sent.push);
    }

    /// Says where the gradient of N coordinates from c on is taken.
    #[inline(always)]
    fn points<const N: usize>(
        &self,
        c: usize,
        state: &Vectors<'_, T>,
        [pulled, pushed]: [&Vectors<'_, T>; 2],
        next: &mut VectorsMut<'_, T>,
        last: &mut Option<VectorsMut<'_, T>>,
    ) {
        let heard = Mail { pull: pulled.load(c), push: pushed.load(c) };
        let [x_next, x] = self.rule.points(self.at::<N>(), state.load(c), heard);
        next.store::<N, _>(c, x_next);
        if let Some(last) = last {
            last.store::<N, _>(c, x);
        }
    }

    /// N coordinates from c on, after the update.
    #[inline(always)]
    fn updated<const N: usize>(
        &self,
        c: usize,
        state: &VectorsMut<'_, T>,
        [pulled, pushed]: [&Vectors<'_, T>; 2],
        given: &[Option<Vectors<'_, T>>; 2],
    ) -> R::State<Lanes<T, N>> {
        let heard = Mail { pull: pulled.load(c), push: pushed.load(c) };
        self.rule.update(self.at::<N>(), state.load(c), heard, gradient(given, c))
    }
}

/// The vectors of a row: at least so many of dimension d, as was checked when this was made.
#[derive(Clone, Copy)]
struct Vectors<'r, T> {
    row: &'r [T],
    d: usize,
    count: usize,
}

/// [`Vectors`], to write into.
struct VectorsMut<'r, T> {
    row: &'r mut [T],
    d: usize,
    count: usize,
}

#[inline(always)]
fn checked(length: usize, d: usize, count: usize) {
    assert!(
        d.checked_mul(count).is_some_and(|needed| needed <= length),
        "{length} numbers are not {count} vectors"
    );
}

impl<'r, T: Float> Vectors<'r, T> {
    #[inline(always)]
    fn new(row: &'r [T], d: usize, count: usize) -> Self {
        checked(row.len(), d, count);
        Self { row, d, count }
    }

    /// N coordinates of each vector, from c ≤ d − N on.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn load<const N: usize, V: Numbers<Lanes<T, N>>>(&self, c: usize) -> V {
        debug_assert!(c + N <= self.d && V::COUNT <= self.count);
        // SAFETY: vector i < count ends at (i + 1)d, which the row has, and c + N ≤ d
        V::load(0, &mut |i| unsafe { Lanes::load(self.row, i * self.d + c) })
    }
}

impl<'r, T: Float> VectorsMut<'r, T> {
    #[inline(always)]
    fn new(row: &'r mut [T], d: usize, count: usize) -> Self {
        checked(row.len(), d, count);
        Self { row, d, count }
    }

    #[inline(always)]
    fn load<const N: usize, V: Numbers<Lanes<T, N>>>(&self, c: usize) -> V {
        Vectors { row: self.row, d: self.d, count: self.count }.load(c)
    }

    /// Puts N coordinates of each vector from c ≤ d − N on.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn store<const N: usize, V: Numbers<Lanes<T, N>>>(&mut self, c: usize, numbers: V) {
        debug_assert!(c + N <= self.d && V::COUNT <= self.count);
        // SAFETY: vector i < count ends at (i + 1)d, which the row has, and c + N ≤ d
        numbers.store(0, &mut |i, lanes| unsafe { lanes.store(self.row, i * self.d + c) });
    }
}

/// How many numbers a rule has of a coordinate.
const fn count<T: Float, V: Numbers<Lanes<T, 1>>>() -> usize {
    V::COUNT
}

/// The vectors of a gradient row, or zeros where there is none.
#[inline(always)]
fn gradient<T: Float, const N: usize>(rows: &[Option<Vectors<'_, T>>; 2], c: usize) -> [Lanes<T, N>; 2] {
    [0, 1].map(|i| rows[i].as_ref().map_or_else(Real::zero, |row| row.load(c)))
}

#[inline(always)]
fn start<T: Float, R: Rule>(rule: &R, round: Round<'_>, x: &[T], given: [&[T]; 2], state: &mut [T]) {
    let (d, scene) = (round.d, Scene::new(rule, &round).of(round.agent, T::from_f64(1.0)));
    let x = Vectors::new(x, d, 1);
    let given = given.map(|row| (!row.is_empty()).then(|| Vectors::new(row, d, 1)));
    let mut vectors = VectorsMut::new(state, d, count::<T, R::State<Lanes<T, 1>>>());
    for c in 0..d {
        let first = rule.start(scene.at(), x.load::<1, Lanes<T, 1>>(c), gradient(&given, c));
        vectors.store::<1, _>(c, first);
    }
    match R::CARRIES {
        Carries::Nothing => {}
        Carries::Weight => state[state.len() - 1] = T::from_f64(1.0),
        Carries::Eigenvector => {
            let first = state.len() - round.agents;
            state[first..].fill(T::default());
            state[first + round.agent] = T::from_f64(1.0); // e_i
        }
    }
}

#[inline(always)]
fn send<T: Float, R: Rule, const N: usize>(rule: &R, round: Round<'_>, block: &mut Sending<'_, T>) {
    let (d, scene) = (round.d, Scene::new(rule, &round));
    for q in 0..block.agents.len() {
        let scene = scene.of(block.agents.get(q), T::from_f64(1.0));
        let (state, pull, push) = (block.states.row(q), block.pulls.row(q), block.pushes.row(q));
        let vectors = Vectors::new(state, d, count::<T, R::State<Lanes<T, 1>>>());
        let mut pulls = VectorsMut::new(pull, d, count::<T, R::Pull<Lanes<T, 1>>>());
        let mut pushes = VectorsMut::new(push, d, count::<T, R::Push<Lanes<T, 1>>>());
        let mut c = 0;
        while c < d {
            // the last lanes may overlap those before them, and write the same numbers again
            scene.send::<N>(c.min(d - N), &vectors, &mut pulls, &mut pushes);
            c += N;
        }
        match R::CARRIES {
            Carries::Nothing => {}
            Carries::Weight => push[push.len() - 1] = state[state.len() - 1],
            Carries::Eigenvector => {
                let [from, to] = [state.len(), pull.len()].map(|end| end - round.agents);
                pull[to..].copy_from_slice(&state[from..]);
            }
        }
    }
}

#[inline(always)]
fn point<T: Float, R: Rule, const N: usize>(
    rule: &R,
    round: Round<'_>,
    block: &mut Hearing<'_, T>,
    points: &mut Points<'_, T>,
) {
    if points.next.width() == 0 {
        return; // nothing is asked after this exchange
    }
    let (d, scene) = (round.d, Scene::new(rule, &round));
    for q in 0..block.agents.len() {
        let agent = block.agents.get(q);
        let (Heard { state, pulled, pushed }, Point { next, last }) = (block.row(q), points.row(q));
        let scene = scene.of(agent, scene.weight(agent, pulled, pushed));
        let vectors = Vectors::new(state, d, count::<T, R::State<Lanes<T, 1>>>());
        let pulled = Vectors::new(pulled, d, count::<T, R::Pull<Lanes<T, 1>>>());
        let pushed = Vectors::new(pushed, d, count::<T, R::Push<Lanes<T, 1>>>());
        let mut next = VectorsMut::new(next, d, 1);
        let mut last = (!last.is_empty()).then(|| VectorsMut::new(last, d, 1));
        let mut c = 0;
        while c < d {
            scene.points::<N>(c.min(d - N), &vectors, [&pulled, &pushed], &mut next, &mut last);
            c += N;
        }
    }
}

#[inline(always)]
fn update<T: Float, R: Rule, const N: usize>(
    rule: &R,
    round: Round<'_>,
    block: &mut Hearing<'_, T>,
    gradients: &mut Gradients<'_, T>,
) {
    let (d, scene) = (round.d, Scene::new(rule, &round));
    for q in 0..block.agents.len() {
        let agent = block.agents.get(q);
        let (Heard { state, pulled, pushed }, given) = (block.row(q), gradients.row(q));
        let w = scene.weight(agent, pulled, pushed);
        let scene = scene.of(agent, w);
        let given =
            [&*given.next, &*given.other].map(|row| (!row.is_empty()).then(|| Vectors::new(row, d, 1)));
        let mut vectors = VectorsMut::new(state, d, count::<T, R::State<Lanes<T, 1>>>());
        let pulls = Vectors::new(pulled, d, count::<T, R::Pull<Lanes<T, 1>>>());
        let pushes = Vectors::new(pushed, d, count::<T, R::Push<Lanes<T, 1>>>());
        let heard = [&pulls, &pushes];
        // the last lanes first, while the coordinates that they share with those before are still the old ones
        let last = (d > 0).then(|| scene.updated::<N>(d - N, &vectors, heard, &given));
        let mut c = 0;
        while c + N < d {
            let after = scene.updated::<N>(c, &vectors, heard, &given);
            vectors.store::<N, _>(c, after);
            c += N;
        }
        if let Some(last) = last {
            vectors.store::<N, _>(d - N, last);
        }
        match R::CARRIES {
            Carries::Nothing => {}
            Carries::Weight => state[state.len() - 1] = w,
            Carries::Eigenvector => {
                let [to, from] = [state.len(), pulled.len()].map(|end| end - round.agents);
                state[to..].copy_from_slice(&pulled[from..]);
            }
        }
    }
}

macro_rules! kernel {
    ($float:ty, $wide:ident) => {
        impl<R: Rule> Kernel<$float> for R {
            fn start(
                &self,
                at: Round<'_>,
                x: &[$float],
                gradient: Gradient<'_, $float>,
                state: &mut [$float],
            ) {
                start::<$float, R>(self, at, x, [gradient.next, gradient.other], state);
            }

            fn send(&self, at: Round<'_>, state: &mut [$float], pull: &mut [$float], push: &mut [$float]) {
                let [states, pulls, pushes] = [state, pull, push].map(RowsMut::one);
                self.send_block(at, &mut Sending { agents: Agents::one(at.agent), states, pulls, pushes });
            }

            fn point(
                &self,
                at: Round<'_>,
                heard: Heard<'_, $float>,
                Point { next, last }: Point<'_, $float>,
            ) {
                let [next, last] = [next, last].map(RowsMut::one);
                self.point_block(at, &mut Hearing::one(at.agent, heard), &mut Points { next, last });
            }

            fn update(&self, at: Round<'_>, heard: Heard<'_, $float>, gradient: Gradient<'_, $float>) {
                let [next, other] = [gradient.next, gradient.other].map(RowsMut::one);
                let gradients = &mut Gradients { next, other, samples: &[] };
                self.update_block(at, &mut Hearing::one(at.agent, heard), gradients);
            }

            fn send_block(&self, at: Round<'_>, block: &mut Sending<'_, $float>) {
                in_lanes!($wide, at.d, send::<$float, R>(self, at, block));
            }

            fn point_block(
                &self,
                at: Round<'_>,
                block: &mut Hearing<'_, $float>,
                points: &mut Points<'_, $float>,
            ) {
                in_lanes!($wide, at.d, point::<$float, R>(self, at, block, points));
            }

            fn update_block(
                &self,
                at: Round<'_>,
                block: &mut Hearing<'_, $float>,
                gradients: &mut Gradients<'_, $float>,
            ) {
                in_lanes!($wide, at.d, update::<$float, R>(self, at, block, gradients));
            }
        }
    };
}

kernel!(f64, wide_512);
kernel!(f32, wide_256); // eight lanes are 256 bits
