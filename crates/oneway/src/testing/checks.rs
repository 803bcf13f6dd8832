//! What is asked of a method.

use std::fmt;
use std::ops::ControlFlow;

use super::interpreter::Interpreter;
use super::networks::{AGENTS, random_digraph};
use super::problems::{Tilted, logistic, quadratic};
use super::{Failure, Subject, advance, estimates, setup, simulate};
use crate::engine::asynchronous::{Asynchronous, Clock};
use crate::engine::metrics::{Measurement, measure};
use crate::engine::observe::View;
use crate::engine::unreliable::{self, Churn, Faults, Missing, Unreliable};
use crate::engine::{Engine, Simulator, Status};
use crate::graph::{Digraph, Network, Topology, families};
use crate::problems::{Batch, Quadratic, QuadraticShape};

/// One thing that is asked of every method.
#[derive(Debug)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// What is asked, in a line.
    pub about: &'static str,
    run: fn(&Subject<'_>) -> Result,
}

/// What a check that found nothing wrong has looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// This many networks.
    On(usize),
    /// Nothing: the method is none of those that are asked, and this is why.
    NotAsked(&'static str),
}

impl fmt::Display for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Passed::On(1) => write!(f, "passed on 1 network"),
            Passed::On(count) => write!(f, "passed on {count} networks"),
            Passed::NotAsked(why) => write!(f, "not asked: {why}"),
        }
    }
}

type Result<T = Passed> = std::result::Result<T, Failure>;

impl Check {
    /// Asks it of a method; the error says what was found, and where.
    pub fn run(&self, subject: &Subject<'_>) -> Result {
        (self.run)(subject)
    }
}

/// All that is asked of a method.
pub static CHECKS: &[Check] = &[
    Check {
        name: "minimiser",
        about: "with exact gradients and a constant step it finds the minimiser, or comes near if it tracks nothing",
        run: minimiser,
    },
    Check {
        name: "noise floor",
        about: "noise leaves ‖∇F‖² at a floor, which is lower for a step four times as short",
        run: noise_floor,
    },
    Check {
        name: "divergence",
        about: "a step that is far too long ends in a status, with all states before it finite",
        run: divergence,
    },
    Check {
        name: "laws",
        about: "what its roles say is conserved is conserved to rounding, on random digraphs",
        run: laws,
    },
    Check { name: "threads", about: "1, 2 and 8 threads give the same bits", run: threads },
    Check {
        name: "no faults",
        about: "the unreliable engine gives the simulator's bits where nothing fails",
        run: no_faults,
    },
    Check {
        name: "in step",
        about: "the asynchronous engine gives the simulator's bits where all agents keep step",
        run: in_step,
    },
    Check {
        name: "program",
        about: "a rule's straight-line program, interpreted, has the engine's bits",
        run: program,
    },
    Check { name: "f32", about: "single precision stays near double precision", run: single_precision },
];

/// The error that says where something is wrong.
fn wrong<T>(place: &str, what: impl fmt::Display) -> Result<T> {
    Err(format!("{place}: {what}").into())
}

fn minimiser(subject: &Subject<'_>) -> Result {
    let problem = quadratic(AGENTS, 0.0)?;
    let cases = subject.cases()?;
    for case in &cases {
        let mut simulator = simulate(&*case.method, &problem, &case.topology, case.η)?;
        advance(&mut simulator, 6000)?;
        let end = measure(&simulator.view())?;
        // what tracks nothing corrects no bias: with a constant step it stays an O(η²) away where data differ
        let tracks = case.method.roles().tracker.is_some() || case.method.network() == Network::Central;
        let exact = subject.exact.unwrap_or(tracks);
        let (gradient, consensus) = if exact { (1e-20, 1e-20) } else { (1e-2, 1e-1) };
        // written so that NaN is wrong, too
        if !(end.grad_norm_sq < gradient && end.consensus_error < consensus) {
            let Measurement { grad_norm_sq, consensus_error, .. } = end;
            return wrong(
                &case.name,
                format!("‖∇F‖² = {grad_norm_sq:e}, consensus error {consensus_error:e}"),
            );
        }
        let all = estimates(&simulator.view());
        let mut far = all.iter().zip(problem.minimiser().iter().cycle());
        if exact && far.any(|(x, y)| (x - y).abs() >= 1e-9) {
            return wrong(&case.name, "agents do not hold the minimiser");
        }
    }
    Ok(Passed::On(cases.len()))
}

fn noise_floor(subject: &Subject<'_>) -> Result {
    let problem = quadratic(AGENTS, 0.5)?;
    if subject.method()?.check_problem(&problem.0).is_err() {
        return Ok(Passed::NotAsked("it needs a finite sum, and makes its noise vanish"));
    }
    let cases = subject.cases()?;
    for case in &cases {
        let floor = |η: f64| -> Result<f64> {
            let mut simulator = simulate(&*case.method, &problem, &case.topology, η)?;
            advance(&mut simulator, (30.0 / (η * AGENTS as f64)).max(2000.0) as usize)?;
            let mut sum = 0.0;
            for _ in 0..100 {
                advance(&mut simulator, 25)?;
                sum += measure(&simulator.view())?.grad_norm_sq;
            }
            Ok(sum / 100.0)
        };
        let (coarse, fine) = (floor(case.η)?, floor(case.η / 4.0)?);
        if !(coarse > 0.0 && fine < 0.6 * coarse) {
            return wrong(&case.name, format!("floors {coarse:e} at η, {fine:e} at η/4"));
        }
    }
    Ok(Passed::On(cases.len()))
}

fn divergence(subject: &Subject<'_>) -> Result {
    if !subject.diverges {
        return Ok(Passed::NotAsked("no step is too long for it"));
    }
    let problem = quadratic(AGENTS, 0.1)?;
    let cases = subject.cases()?;
    for case in &cases {
        let mut losses = vec![];
        let mut watch = |view: &View<'_>| {
            losses.push(measure(view)?.loss);
            Ok(ControlFlow::Continue(()))
        };
        let mut simulator = simulate(&*case.method, &problem, &case.topology, 400.0)?;
        let status = simulator.run(10_000, 10, &mut watch)?.status;
        let Status::Diverged { round } = status else {
            return wrong(&case.name, format!("{status:?} at η = 400"));
        };
        if losses.len() as u64 != round / 10 || losses.iter().any(|loss| !loss.is_finite()) {
            return wrong(&case.name, format!("diverged in round {round}, after the losses {losses:?}"));
        }
    }
    Ok(Passed::On(cases.len()))
}

fn laws(subject: &Subject<'_>) -> Result {
    let roles = subject.method()?.roles();
    if roles.tracker.is_none() && roles.weight.is_none() {
        return Ok(Passed::NotAsked("its roles name nothing that is conserved"));
    }
    let digraphs = (1..=8).map(|n| random_digraph(n, n as u64)).collect::<crate::Result<Vec<_>>>()?;
    digraphs.iter().try_for_each(|digraph| conserves(subject, digraph))?;
    Ok(Passed::On(digraphs.len()))
}

/// Lemma 2, (1/n)Σv = (1/n)Σm, and its kin: what a method says it conserves stays to rounding, round after
/// round, with any gradients. On one digraph, on every subgraph that the method may use.
pub fn conserves(subject: &Subject<'_>, digraph: &Digraph) -> Result<()> {
    let problem = logistic(digraph.agents(), Batch::Sampled(1))?;
    let method = subject.method()?;
    let roles = method.roles();
    for &graph in subject.kind.graphs {
        let topology = subject.topology(graph, std::slice::from_ref(digraph), 0)?;
        let η = subject.raw_step(&topology, subject.step)?;
        let mut simulator = simulate(&*method, &problem, &topology, η)?;
        // what is divided by its own share of π_R is at first divided by what is small, and rounding grows by
        // as much
        let rounding = if method.network() == Network::PullOnly { 1e-10 } else { 1e-13 };
        for round in 1..=60 {
            simulator.round()?;
            let error = measure(&simulator.view())?.conservation_error;
            let measured = error.is_some() == (roles.tracker.is_some() || roles.weight.is_some());
            if !(measured && error.unwrap_or(0.0) < rounding) {
                let (n, links) = (digraph.agents(), digraph.edges().collect::<Vec<_>>());
                let place = format!("{} ({graph:?}) on {n} agents with {links:?}", subject.kind.name);
                return wrong(&place, format!("conservation error {error:?} after {round} rounds"));
            }
        }
    }
    Ok(())
}

fn threads(subject: &Subject<'_>) -> Result {
    let mut networks = 0;
    // rows are shared among threads from n·d = 2¹⁵ on; rows of 67 numbers are filled up to 72, rows of 20 are
    // not
    for (n, dim) in [(2000, 20), (600, 67)] {
        let shape = QuadraticShape { dim, curvature: [0.5, 1.0], heterogeneity: 1.0, noise: 0.3 };
        let problem = Tilted(Quadratic::new(shape, n, 3)?);
        for &graph in subject.kind.graphs {
            let topology = subject.topology(graph, &[families::exponential(n)?], 0)?;
            let (method, η) = (subject.method()?, subject.raw_step(&topology, subject.step)?);
            let run = |threads: usize| -> Result<(String, Measurement)> {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
                pool.install(|| {
                    let mut simulator = simulate(&*method, &problem, &topology, η)?;
                    advance(&mut simulator, 3)?;
                    Ok((simulator.state_hash(), measure(&simulator.view())?))
                })
            };
            let alone = run(1)?;
            for threads in [2, 8] {
                if run(threads)? != alone {
                    return wrong(
                        &format!("{} ({graph:?})", subject.kind.name),
                        format!("{threads} threads give other bits than one, for n = {n} and d = {dim}"),
                    );
                }
            }
            networks += 1;
        }
    }
    Ok(Passed::On(networks))
}

fn no_faults(subject: &Subject<'_>) -> Result {
    let lossy = Faults { loss: 0.1, ..Faults::default() };
    if unreliable::check(&*subject.method()?, &Topology::complete(3)?, &lossy).is_err() {
        return Ok(Passed::NotAsked("it needs every message"));
    }
    let nothing = [
        Faults::default(),
        Faults { missing: Missing::Latest, ..Faults::default() },
        Faults { churn: Churn::Listed(vec![]), ..Faults::default() },
    ];
    let problem = logistic(AGENTS, Batch::Sampled(1))?;
    let cases = subject.cases()?;
    for case in &cases {
        let setup = setup(&*case.method, &problem, &case.topology, case.η)?;
        let mut simulator = Simulator::new(setup)?;
        advance(&mut simulator, 13)?;
        let expected = (simulator.state_hash(), measure(&simulator.view())?);
        for faults in &nothing {
            let mut engine = Unreliable::new(setup, faults.clone())?;
            advance(&mut engine, 13)?;
            if (engine.state_hash(), measure(&engine.view())?) != expected {
                return wrong(&case.name, format!("other bits than the simulator's, with {faults:?}"));
            }
        }
    }
    Ok(Passed::On(cases.len()))
}

fn in_step(subject: &Subject<'_>) -> Result {
    let problem = logistic(AGENTS, Batch::Sampled(2))?;
    let mut networks = 0;
    for case in subject.cases()? {
        let setup = setup(&*case.method, &problem, &case.topology, case.η)?;
        if Asynchronous::check(&setup).is_err() {
            continue;
        }
        let mut in_rounds = Simulator::new(setup)?;
        let mut in_time = Asynchronous::new(setup, Clock::EVEN)?;
        for k in 1..=12 {
            in_rounds.round()?;
            in_time.round()?;
            let [expected, found] = [measure(&in_rounds.view())?, measure(&in_time.view())?];
            let same = in_rounds.state_hash() == in_time.state_hash();
            if !same || found != (Measurement { time: Some(k as f64), ..expected }) {
                return wrong(&case.name, format!("other bits than the simulator's after {k} rounds"));
            }
        }
        networks += 1;
    }
    Ok(match networks {
        0 => Passed::NotAsked("it needs rounds"),
        networks => Passed::On(networks),
    })
}

fn program(subject: &Subject<'_>) -> Result {
    let method = subject.method()?;
    let Some(trace) = method.trace() else {
        return Ok(Passed::NotAsked("it is not coordinate by coordinate"));
    };
    let problem = quadratic(AGENTS, 0.3)?;
    let digraph = [families::flower(AGENTS, 3)?];
    for &graph in subject.kind.graphs {
        let topology = subject.topology(graph, &digraph, 0)?;
        let setup = setup(&*method, &problem, &topology, 0.01)?;
        let mut simulator = Simulator::new(setup)?;
        let mut interpreter = Interpreter::new(setup, &trace)?;
        for k in 0..10 {
            simulator.round()?;
            interpreter.round(k)?;
        }
        let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let same = |i: &usize| bits(&interpreter.row(*i)) == bits(simulator.view().state(*i));
        if let Some(agent) = (0..AGENTS).find(|i| !same(i)) {
            let place = format!("{} ({graph:?})", subject.kind.name);
            return wrong(&place, format!("the program gives agent {agent} other bits than the engine"));
        }
    }
    Ok(Passed::On(subject.kind.graphs.len()))
}

fn single_precision(subject: &Subject<'_>) -> Result {
    const STEP: f64 = 0.02;
    let method = subject.method()?;
    if method.single_precision().is_none() {
        return match method.trace() {
            None => Ok(Passed::NotAsked("it has no single precision")),
            Some(_) => wrong(subject.kind.name, "a rule has single precision"),
        };
    }
    let problem = quadratic(AGENTS, 0.0)?;
    // what divides a move of x by η makes its rounding 1/η times as large
    let divides_by_η = method.trace().is_some_and(|trace| trace.equations().join(";").contains("/η"));
    let allowed = if divides_by_η { 1e-4 / STEP } else { 1e-4 };
    for &graph in subject.kind.graphs {
        let place = format!("{} ({graph:?})", subject.kind.name);
        let topology = subject.topology(graph, &[families::exponential(AGENTS)?], 0)?;
        let setup = setup(&*method, &problem, &topology, STEP)?;
        let mut double = Simulator::new(setup)?;
        let mut single = Simulator::<f32>::with_precision(setup)?;
        advance(&mut double, 200)?;
        advance(&mut single, 200)?;
        let [near, exact] = [estimates(&single.view()), estimates(&double.view())];
        let size = exact.iter().fold(1.0f64, |size, x| size.max(x.abs()));
        let far = exact.iter().zip(&near).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if !(far > 0.0 && far <= allowed * size) {
            return wrong(&place, format!("{far:e} apart after 200 rounds, where numbers are {size:e}"));
        }
        let [few, many] = [measure(&single.view())?, measure(&double.view())?].map(|m| m.bytes_sent);
        if !single.state_hash().starts_with("f32:") || few.map(|bytes| 2 * bytes) != many {
            return wrong(&place, format!("{few:?} bytes are not half of {many:?}"));
        }
    }
    Ok(Passed::On(subject.kind.graphs.len()))
}
