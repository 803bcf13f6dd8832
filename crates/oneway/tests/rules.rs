//! Rules as straight-line programs: a small interpreter of them, coordinate by coordinate, has the engine's
//! bits.
#![allow(clippy::unwrap_used)]

use oneway::method::{Carries, Gradient, Heard, Kept, Kernel, Method, Point, Round, Sizes};
use oneway::methods::{KINDS, kind};
use oneway::numeric::Float;
use oneway::numeric::sample::{Draws, Purpose};
use oneway::testing::Passed;

use crate::common::{ask_all, build, rules};

const SEED: u64 = 5;

#[test]
fn programs_have_the_bits_of_the_engine() {
    let found = ask_all("program");
    let rules = found.iter().filter(|(_, passed)| matches!(passed, Passed::On(_))).count();
    assert_eq!(rules, 29, "all methods but SAGA's two, local steps, several exchanges and codecs");
}

/// Rows of numbers drawn by chance.
struct Chance(Draws);

impl Chance {
    fn row<T: Float>(&mut self, length: usize) -> Vec<T> {
        (0..length).map(|_| T::from_f64(self.0.normal().abs() + 0.01)).collect()
    }
}

/// Starts, sends, takes points and updates by the programs and by the kernel, on rows drawn by chance.
fn kernel_agrees<T: Float>(name: &str, method: &dyn Method, kernel: &dyn Kernel<T>) {
    const AGENTS: usize = 4;
    const AGENT: usize = 1;
    let trace = method.trace().unwrap();
    let mut chance = Chance(Draws::new(SEED, Purpose::Problem, 0, 0));
    for d in [1, 3, 8, 11, 24] {
        let [state_width, pull_width, push_width] =
            method.profile(Sizes { agents: AGENTS, dim: d, samples: None }).widths(d);
        let at = |phase: u32| {
            let kept = Kept::Share(0.375);
            Round { k: 2, phase, turn: 0, η: 0.3, agent: AGENT, agents: AGENTS, d, seed: SEED, kept }
        };
        let constants = trace.constants.map(|constant| constant.at(2));
        let common = |w: T| {
            let [η, kept, first, second] = [0.3, 0.375, constants[0], constants[1]].map(T::from_f64);
            vec![η, w, kept, first, second]
        };
        let one = T::from_f64(1.0);
        // coordinate c of the vectors in some rows, behind the inputs that are common to all
        let inputs = |w: T, c: usize, rows: &[(&[T], usize)]| {
            let numbers = rows.iter().flat_map(|(row, vectors)| (0..*vectors).map(move |v| row[v * d + c]));
            common(w).into_iter().chain(numbers).collect::<Vec<T>>()
        };
        let bits = |numbers: &[T]| numbers.iter().map(|x| x.to_f64().to_bits()).collect::<Vec<_>>();
        let same = |what: &str, program: &dyn Fn(usize) -> Vec<T>, rows: &[T]| {
            for c in 0..d {
                let expected = program(c);
                let found: Vec<T> = (0..expected.len()).map(|v| rows[v * d + c]).collect();
                assert_eq!(bits(&found), bits(&expected), "{name}: {what}, coordinate {c} of {d}");
            }
        };
        let vectors = trace.names.len();
        let (x, mut g, mut other) = (chance.row::<T>(d), chance.row::<T>(d), chance.row::<T>(d));
        let mut state = vec![T::default(); state_width];
        let given = [g.clone(), other.clone()];
        kernel.start(at(0), &x, Gradient { next: &mut g, other: &mut other, sample: 0 }, &mut state);
        let start = |c: usize| trace.start.run(&inputs(one, c, &[(&x, 1), (&given[0], 1), (&given[1], 1)]));
        same("start", &start, &state);
        for (phase, exchange) in (0..).zip(&trace.exchanges) {
            let [pulls, pushes] = trace.sends;
            let (mut state, pulled, pushed) =
                (chance.row::<T>(state_width), chance.row::<T>(pull_width), chance.row::<T>(push_width));
            let before = state.clone();
            let (mut pull, mut push) = (vec![T::default(); pull_width], vec![T::default(); push_width]);
            kernel.send(at(phase), &mut state, &mut pull, &mut push);
            let send = |c: usize| exchange.send.run(&inputs(one, c, &[(&before, vectors)]));
            same("pull", &|c| send(c)[..pulls].to_vec(), &pull);
            same("push", &|c| send(c)[pulls..].to_vec(), &push);

            let w = match trace.carries {
                Carries::Nothing => one,
                Carries::Weight => pushed[push_width - 1],
                Carries::Eigenvector => pulled[pull_width - AGENTS + AGENT],
            };
            let (mut next, mut last) = (vec![T::default(); d], vec![T::default(); d]);
            let heard = Heard { state: &mut state, pulled: &pulled, pushed: &pushed };
            kernel.point(at(phase), heard, Point { next: &mut next, last: &mut last });
            let rows = [(&before[..], vectors), (&pulled[..], pulls), (&pushed[..], pushes)];
            same("points", &|c| exchange.points.run(&inputs(w, c, &rows)), &[next, last].concat());

            let heard = Heard { state: &mut state, pulled: &pulled, pushed: &pushed };
            let (mut g, mut other) = (given[0].clone(), given[1].clone());
            kernel.update(at(phase), heard, Gradient { next: &mut g, other: &mut other, sample: 0 });
            let rows = [&rows[..], &[(&given[0][..], 1), (&given[1][..], 1)]].concat();
            let update = |c: usize| exchange.update.run(&inputs(w, c, &rows));
            same("update", &update, &state);
            // without what no result needs, and with equal steps done once, it is the same program
            let reduced = exchange.update.reduced();
            same("reduced update", &|c| reduced.run(&inputs(w, c, &rows)), &state);
        }
    }
}

/// Every rule of the registry, with every estimator: start, send, points and update in double and in single
/// precision.
#[test]
fn programs_have_the_bits_of_the_kernels() {
    let rules = rules();
    for (name, method) in &rules {
        kernel_agrees::<f64>(name, &**method, &**method);
        kernel_agrees::<f32>(name, &**method, method.single_precision().unwrap());
    }
    let alone = KINDS.iter().filter(|kind| build(kind).trace().is_some()).count();
    assert!(rules.len() > 3 * alone, "{} rules of {alone} methods", rules.len());
}

/// A method is a rule, whose equations are printed, or says what it does to those of the rule inside it.
#[test]
fn every_method_has_equations() {
    for kind in KINDS {
        let method = build(kind);
        assert_eq!(kind.alters.is_none(), method.trace().is_some(), "{}", kind.name);
        let equations = method.trace_inside().unwrap().equations();
        assert!(equations.iter().any(|line| line.contains("⁺ = ")), "{}: {equations:?}", kind.name);
        assert!(!equations.join("").contains('#'), "{}: {equations:?}", kind.name);
    }
}

/// The equations are printed from the code; a few of them, so that a reader sees what they look like.
#[test]
fn equations_are_printed_from_the_code() {
    let equations = |name: &str| build(kind(name).unwrap()).trace().unwrap().equations().join("; ");
    assert_eq!(equations("push-pull"), "x⁺ = R(x − ηv); v⁺ = Cv + g⁺ − g; g⁺ = ∇F(x⁺; ξ⁺)");
    assert_eq!(equations("smtpp"), "x⁺ = R(x − ηv); v⁺ = Cv + m⁺ − m; m⁺ = (1 − λ)m + λg⁺; g⁺ = ∇F(x⁺; ξ⁺)");
}
