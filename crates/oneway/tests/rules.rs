//! Rules as straight-line programs: a small interpreter of them, coordinate by coordinate, has the engine's bits.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Tilted, advance, build, quadratic, simulate, topology};
use oneway::engine::Engine;
use oneway::graph::Topology;
use oneway::graph::families;
use oneway::graph::mixing::Mixing;
use oneway::method::{
    Ask, Carries, Gradient, Heard, Kept, Kernel, Method, Point, Round, Sizes, Trace, TracedExchange,
};
use oneway::methods::estimator::ESTIMATORS;
use oneway::methods::{KINDS, kind};
use oneway::numeric::Float;
use oneway::numeric::sample::{Draws, Purpose};
use oneway::parameters::Parameters;
use oneway::problem::Problem;

/// What is the same in all of these runs.
const SEED: u64 = 5;
const STEP: f64 = 0.01;
const ROUNDS: u64 = 10;

/// All agents, one number at a time.
struct Interpreter<'a> {
    trace: Trace,
    problem: &'a Tilted,
    topology: &'a Topology,
    /// `states[agent][c][vector]`.
    states: Vec<Vec<Vec<f64>>>,
    /// The scalars behind each state.
    scalars: Vec<Vec<f64>>,
    /// 1 − β^t of Adam, which are the only constants that a rule makes.
    constants: fn(u64) -> [f64; 2],
}

impl Interpreter<'_> {
    fn common(&self, agent: usize, w: f64, k: u64) -> Vec<f64> {
        let kept = self.topology.at(k).push.weight(agent, agent);
        let [first, second] = (self.constants)(k);
        vec![STEP, w, kept, first, second]
    }

    /// The gradient at the first point, and the other one that is asked for.
    fn gradients(&self, ask: Ask, agent: usize, points: [&[f64]; 2], k: u64, phase: u32) -> [Vec<f64>; 2] {
        let mut draws = Draws::new(SEED, Purpose::Gradient, agent, k).in_phase(phase);
        let [mut next, mut other] = [(); 2].map(|()| vec![0.0; points[0].len()]);
        match ask {
            Ask::Nothing => {}
            Ask::Samples(count) => {
                for _ in 1..count {
                    self.problem.gradient(agent, points[0], &mut draws, &mut next);
                    other.iter_mut().zip(&next).for_each(|(sum, g)| *sum += g);
                }
                self.problem.gradient(agent, points[0], &mut draws, &mut next);
            }
            Ask::BothPoints => {
                self.problem.gradient(agent, points[1], &mut draws.clone(), &mut other);
                self.problem.gradient(agent, points[0], &mut draws, &mut next);
            }
            _ => unreachable!("rules ask for no components"),
        }
        [next, other]
    }

    fn start(&mut self, ask: Ask) {
        let (n, d) = (self.problem.agents(), self.problem.dim());
        let mut x = vec![0.0; d];
        self.problem.start(&mut x);
        for agent in 0..n {
            let [g, other] = self.gradients(ask, agent, [&x, &x], 0, 0);
            let first = |c: usize| {
                let inputs = [self.common(agent, 1.0, 0), vec![x[c], g[c], other[c]]].concat();
                self.trace.start.run(&inputs)
            };
            self.states.push((0..d).map(first).collect());
            self.scalars.push(match self.trace.carries {
                Carries::Nothing => vec![],
                Carries::Weight => vec![1.0],
                Carries::Eigenvector => (0..n).map(|j| f64::from(j == agent)).collect(),
            });
        }
    }

    fn exchange(&mut self, k: u64, phase: u32, exchange: &TracedExchange) {
        let (n, d) = (self.problem.agents(), self.problem.dim());
        let sent: Vec<Vec<Vec<f64>>> = (0..n)
            .map(|agent| {
                let common = self.common(agent, 1.0, k);
                let send = |c: usize| exchange.send.run(&[&common[..], &self.states[agent][c]].concat());
                (0..d).map(send).collect()
            })
            .collect();
        let pair = self.topology.at(k);
        let [pulls, pushes] = self.trace.sends;
        let scalars = self.scalars.clone();
        for agent in 0..n {
            self.scalars[agent] = match self.trace.carries {
                Carries::Nothing => vec![],
                Carries::Weight => vec![mixed(&pair.push, agent, |j| scalars[j][0])],
                Carries::Eigenvector => (0..n).map(|i| mixed(&pair.pull, agent, |j| scalars[j][i])).collect(),
            };
            let w = match self.trace.carries {
                Carries::Nothing => 1.0,
                Carries::Weight => self.scalars[agent][0],
                Carries::Eigenvector => self.scalars[agent][agent],
            };
            let inputs: Vec<Vec<f64>> = (0..d)
                .map(|c| {
                    let pulled = (0..pulls).map(|i| mixed(&pair.pull, agent, |j| sent[j][c][i]));
                    let pushed = (pulls..pulls + pushes).map(|i| mixed(&pair.push, agent, |j| sent[j][c][i]));
                    let own = self.common(agent, w, k).into_iter().chain(self.states[agent][c].clone());
                    own.chain(pulled).chain(pushed).collect()
                })
                .collect();
            let points: Vec<Vec<f64>> = inputs.iter().map(|inputs| exchange.points.run(inputs)).collect();
            let [next, last] = [0, 1].map(|i| points.iter().map(|point| point[i]).collect::<Vec<_>>());
            let [g, other] = self.gradients(exchange.ask, agent, [&next, &last], k + 1, phase);
            for (c, inputs) in inputs.iter().enumerate() {
                self.states[agent][c] = exchange.update.run(&[&inputs[..], &[g[c], other[c]]].concat());
            }
        }
    }

    /// Agent i's row, as an engine keeps it.
    fn row(&self, i: usize) -> Vec<f64> {
        let vectors =
            (0..self.trace.names.len()).flat_map(|v| self.states[i].iter().map(move |state| state[v]));
        vectors.chain(self.scalars[i].iter().copied()).collect()
    }
}

/// Σ_j W_ij x_j as the bit contract says it.
fn mixed(mixing: &Mixing, i: usize, x: impl Fn(usize) -> f64) -> f64 {
    mixing.row(i).map(|(j, weight)| weight * x(j)).reduce(|sum, term| sum + term).unwrap_or(0.0)
}

#[test]
fn programs_have_the_bits_of_the_engine() {
    let problem = quadratic(9, 0.3);
    let mut rules = 0;
    for kind in KINDS {
        let topology = topology(kind, kind.graphs[0], &[families::flower(9, 3).unwrap()], 0);
        let method = build(kind);
        let Some(trace) = method.trace() else { continue };
        let profile = method.profile_on(&problem);
        let exchanges = trace.exchanges.clone();
        let constants = match kind.name {
            "adam" => |k| [0.9, 0.999].map(|β| 1.0 - libm::pow(β, (k + 1) as f64)),
            _ => |_: u64| [0.0; 2],
        };
        let (states, scalars) = (vec![], vec![]);
        let mut interpreter =
            Interpreter { trace, problem: &problem, topology: &topology, states, scalars, constants };
        interpreter.start(profile.start);
        for k in 0..ROUNDS {
            for (phase, exchange) in (0..).zip(&exchanges) {
                interpreter.exchange(k, phase, exchange);
            }
        }
        let mut simulator = simulate(&*method, &problem, &topology, STEP);
        advance(&mut simulator, ROUNDS as usize);
        for i in 0..9 {
            let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(
                bits(&interpreter.row(i)),
                bits(simulator.view().state(i)),
                "{}, agent {i}",
                kind.name
            );
        }
        rules += 1;
    }
    assert_eq!(rules, 29, "all methods but SAGA's two, local steps, several exchanges and codecs");
}

/// All rules of the registry: as they are, and with every estimator that they take.
fn rules() -> Vec<(String, Box<dyn Method>)> {
    let mut rules = vec![];
    for kind in KINDS {
        let own = Parameters::new(kind.name, kind.parameters, []).unwrap();
        rules.push((kind.name.to_owned(), build(kind)));
        for (with, estimator) in
            kind.with_estimator.iter().flat_map(|with| ESTIMATORS.iter().map(move |e| (with, e)))
        {
            // three samples for the mean of several gradients
            let given =
                estimator.parameters.iter().filter(|p| p.name == "samples").map(|p| (p.name.to_owned(), 3.0));
            let given = Parameters::new(estimator.name, estimator.parameters, given).unwrap();
            let method = with(&own, (estimator.build)(&given).unwrap()).unwrap();
            rules.push((format!("{} with {}", kind.name, estimator.name), method));
        }
    }
    rules.retain(|(_, method)| method.trace().is_some());
    rules
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
        let constants = match name {
            "adam" => [0.9, 0.999].map(|β| 1.0 - libm::pow(β, 3.0)),
            _ => [0.0; 2],
        };
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

/// Every rule of the registry, with every estimator: start, send, points and update in double and in single precision.
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
