//! Logs that are whole and cannot be, and R-FAST by its own rule on arrivals made up for it.

use super::*;
use crate::engine::Schedule;
use crate::graph::families;
use crate::graph::topology::{Pair, Subgraph, Topology, Weights};
use crate::methods::{self, PUSH_PULL, Smtpp};
use crate::numeric::sample::Draws;
use crate::problem::Problem;
use crate::problems::{Quadratic, QuadraticShape};

const SHAPE: QuadraticShape =
    QuadraticShape { dim: 2, curvature: [1.0, 1.0], heterogeneity: 1.0, noise: 0.1 };

/// A wake as it stands in a log: agent, time, and messages taken in.
fn wake(agent: u64, time: f64, messages: &[u64]) -> Vec<u8> {
    let mut bytes = vec![];
    put_number(&mut bytes, agent);
    bytes.extend(time.to_le_bytes());
    messages.iter().for_each(|&more| put_number(&mut bytes, more));
    bytes
}

#[test]
fn what_cannot_have_happened_is_refused_and_what_can_is_not() {
    let problem = Quadratic::new(SHAPE, 3, 1).unwrap();
    // 0 → 1 → 2 → 0: one link into each agent on each graph
    let topology =
        Topology::from_digraphs(&[families::ring(3).unwrap()], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let schedule = Schedule::constant(0.1).unwrap();
    let setup = Setup { method: &PUSH_PULL, problem: &problem, topology: &topology, schedule, seed: 1 };
    let even = Asynchronous::logging(setup, Clock::EVEN).unwrap().log().unwrap();
    let replay = |units, wakes: &[Vec<u8>]| {
        let log = Log { units, wakes: wakes.len() as u64, tape: wakes.concat(), ..even.clone() };
        Asynchronous::replay(setup, &log).map(drop).map_err(|error| error.to_string())
    };
    let refused = |wakes: &[Vec<u8>], reason: &str| {
        let message = replay(2, wakes).unwrap_err();
        assert!(message.contains(reason), "{message}");
    };
    // the first message of all was sent at time 0
    replay(2, &[wake(0, 0.5, &[1, 1]), wake(1, 0.7, &[2, 0]), wake(0, 1.5, &[0, 0])]).unwrap();
    replay(2, &[wake(0, 1.0, &[1, 1]), wake(1, 1.0, &[1, 1]), wake(2, 2.0, &[2, 2])]).unwrap();
    replay(2, &[]).unwrap();

    refused(&[wake(3, 0.5, &[0, 0])], "wake 1: there is no agent 3");
    refused(&[wake(u64::MAX >> 1, 0.5, &[0, 0])], "there is no agent");
    refused(&[wake(0, 0.0, &[0, 0])], "cannot wake at time 0");
    refused(&[wake(0, -1.0, &[0, 0])], "cannot wake at time -1");
    refused(&[wake(0, f64::NAN, &[0, 0])], "ends too soon");
    refused(&[wake(0, 2.5, &[0, 0])], "cannot wake at time 2.5");
    refused(
        &[wake(0, 1.5, &[0, 0]), wake(1, 1.0, &[0, 0])],
        "wake 2: agent 1 cannot wake at time 1, out of turn",
    );
    refused(&[wake(1, 1.0, &[0, 0]), wake(0, 1.0, &[0, 0])], "out of turn");
    refused(&[wake(0, 1.0, &[0, 0]), wake(0, 1.0, &[0, 0])], "out of turn");
    refused(&[wake(0, 0.5, &[2, 0])], "agent 0 takes in what agent 2 has not sent");
    refused(&[wake(0, 0.5, &[0, 1 << 40])], "has not sent");
    // what is sent at a moment is not known at that moment
    refused(&[wake(0, 1.0, &[0, 0]), wake(1, 1.0, &[2, 0])], "agent 1 takes in what agent 0 has not sent");
    refused(&[wake(0, 0.5, &[1])], "ends too soon");
    refused(&[wake(0, 0.5, &[1, 1, 0])], "goes on after its 1 wakes");
    let endless = Log { wakes: u64::MAX >> 1, ..even.clone() };
    assert!(Asynchronous::replay(setup, &endless).unwrap_err().to_string().contains("ends too soon"));
}

#[test]
fn a_log_of_another_run_is_refused() {
    let problem = Quadratic::new(SHAPE, 3, 1).unwrap();
    let ring =
        Topology::from_digraphs(&[families::ring(3).unwrap()], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let complete = Topology::complete(3).unwrap();
    let [step, other_step] = [0.1, 0.2].map(|η| Schedule::constant(η).unwrap());
    let smtpp = Smtpp::new(0.5).unwrap();
    let setup = Setup { method: &PUSH_PULL, problem: &problem, topology: &ring, schedule: step, seed: 1 };
    let mut engine = Asynchronous::logging(setup, Clock::EVEN).unwrap();
    (0..3).try_for_each(|_| engine.round()).unwrap();
    let log = engine.log().unwrap().with_label("mine");
    assert_eq!((log.label(), log.units(), log.wakes()), ("mine", 3, 9));
    assert!(Asynchronous::replay(setup, &log).is_ok());
    for other in [
        Setup { method: &smtpp, ..setup },
        Setup { topology: &complete, ..setup },
        Setup { schedule: other_step, ..setup },
        Setup { seed: 2, ..setup },
    ] {
        let message = Asynchronous::replay(other, &log).unwrap_err().to_string();
        assert!(message.contains("it is of another run"), "{message}");
    }
    assert!(Asynchronous::new(setup, Clock::EVEN).unwrap().log().is_none());
}

/// An agent of R-FAST as its rule stands (methods of this crate play no part): running sums that only grow,
/// one for each link, with all values that they ever had.
struct Agent {
    x: Vec<f64>,
    z: Vec<f64>,
    g: Vec<f64>,
    /// v = x − γz as it was sent, by number of the message.
    v: Vec<Vec<f64>>,
    /// For each receiver, ρ as it was sent.
    ρ: Vec<Vec<Vec<f64>>>,
    /// For each sender, ρ̃.
    taken: Vec<Vec<f64>>,
}

impl Agent {
    /// z½ is shared out: z = a_ii z½, ρ_ji grows by a_ji z½; and v = x − γz.
    fn send(&mut self, i: usize, z_half: &[f64], topology: &Topology, γ: f64) {
        let a = &topology.at(0).push;
        self.z = z_half.iter().map(|z| a.weight(i, i) * z).collect();
        for (j, ρ) in self.ρ.iter_mut().enumerate() {
            let last = ρ.last().cloned().unwrap_or(vec![0.0; z_half.len()]);
            ρ.push(last.iter().zip(z_half).map(|(ρ, z)| ρ + a.weight(j, i) * z).collect());
        }
        self.v.push(self.x.iter().zip(&self.z).map(|(x, z)| x - γ * z).collect());
    }
}

#[test]
fn on_this_engine_r_fast_is_r_fast() {
    let (n, d, γ) = (5, 2, 0.07);
    let problem = Quadratic::new(QuadraticShape { noise: 0.0, ..SHAPE }, n, 1).unwrap();
    let digraph = families::exponential(n).unwrap();
    let topology = Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let Pair { pull: w, push: a } = topology.at(0);
    let gradient = |i: usize, x: &[f64]| {
        let mut g = vec![0.0; d];
        problem.exact(i, x, &mut g);
        g
    };
    let mut agents: Vec<Agent> = (0..n)
        .map(|i| {
            let x = vec![0.0; d];
            let g = gradient(i, &x);
            let (ρ, taken) = (vec![vec![]; n], vec![vec![0.0; d]; n]);
            let mut agent = Agent { x, z: vec![], g: g.clone(), v: vec![], ρ, taken };
            agent.send(i, &g, &topology, γ);
            agent
        })
        .collect();

    // anyone wakes, and of what was sent to it anything may have arrived: none, some, all, with gaps
    let mut newest = [vec![vec![0u64; n]; n], vec![vec![0u64; n]; n]];
    let mut wakes = vec![];
    for k in 1..=400u64 {
        let mut draws = Draws::new(1, Purpose::Problem, 0, k);
        let i = draws.below(n);
        let mut messages = vec![];
        for (graph, mixing) in [w, a].into_iter().enumerate() {
            for (j, _) in mixing.row(i).filter(|(j, _)| *j != i) {
                let waiting = agents[j].v.len() as u64 - newest[graph][i][j];
                let more = if draws.unit() < 0.4 { 0 } else { draws.below(waiting as usize + 1) as u64 };
                newest[graph][i][j] += more;
                messages.push(more);
            }
        }
        wakes.push(wake(i as u64, k as f64 / 10.0, &messages));

        let mut x = vec![0.0; d];
        for (j, weight) in w.row(i) {
            let v = match newest[0][i][j].checked_sub(1).filter(|_| j != i) {
                Some(number) => &agents[j].v[number as usize],
                None => agents[i].v.last().unwrap(),
            };
            x.iter_mut().zip(v).for_each(|(x, v)| *x += weight * v); // x⁺ = Σ_j w_ij v_j
        }
        let g = gradient(i, &x);
        let mut z_half = agents[i].z.clone();
        for (j, _) in a.row(i).filter(|(j, _)| *j != i) {
            let Some(number) = newest[1][i][j].checked_sub(1) else { continue };
            let ρ = agents[j].ρ[i][number as usize].clone();
            let before = std::mem::replace(&mut agents[i].taken[j], ρ.clone()); // ρ̃ ← ρ
            for ((z, ρ), before) in z_half.iter_mut().zip(ρ).zip(before) {
                *z += ρ - before; // z½ = z + Σ_j (ρ_ij − ρ̃_ij) + g⁺ − g
            }
        }
        for ((z, g), before) in z_half.iter_mut().zip(&g).zip(&agents[i].g) {
            *z += g - before;
        }
        (agents[i].x, agents[i].g) = (x, g);
        agents[i].send(i, &z_half, &topology, γ);
    }

    let method = methods::kind("r-fast").unwrap().method([]).unwrap();
    let schedule = Schedule::constant(γ).unwrap();
    let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 1 };
    let even = Asynchronous::logging(setup, Clock::EVEN).unwrap().log().unwrap();
    let log = Log { units: 40, wakes: 400, tape: wakes.concat(), ..even };
    let mut engine = Asynchronous::replay(setup, &log).unwrap();
    (0..40).try_for_each(|_| engine.round()).unwrap();
    let view = engine.view();
    for (i, agent) in agents.iter().enumerate() {
        assert_eq!(engine.steps(i) + 1, agent.v.len() as u64);
        // the state is (x, s, g, z)
        for (index, theirs) in [(0, &agent.x), (2, &agent.g), (3, &agent.z)] {
            for (ours, theirs) in view.vector(i, index).iter().zip(theirs) {
                assert!((ours - theirs).abs() < 1e-13, "agent {i}, vector {index}: {ours} and {theirs}");
            }
        }
    }
    let moved = agents.iter().flat_map(|agent| &agent.x).fold(0.0, |most: f64, x| most.max(x.abs()));
    assert!(moved > 0.01, "something has happened: {moved}");
}
