//! What `curves.csv` says of a state. Nothing here feeds back into a run.
//!
//! Sums over agents go by fixed blocks of agents, whatever the threads, so that curves have the same bits
//! too.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::Result;
use crate::engine::observe::View;
use crate::engine::simulator::worth_threads;
use crate::graph::Topology;
use crate::graph::topology::Stationary;
use crate::method::{Network, Profile, Roles};
use crate::numeric::Precision;
use crate::numeric::row::{Agents, Rows, RowsMut};
use crate::problem::ExactBatch;

/// The most blocks in which agents are summed; a constant, so that sums do not depend on threads.
const BLOCKS: usize = 64;

/// The quantities of one state; `None` where a method has no such thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    /// Rounds done, k.
    pub iteration: u64,
    /// F(x̄).
    pub loss: f64,
    /// ‖∇F(x̄)‖².
    pub grad_norm_sq: f64,
    /// (1/n) Σ ‖x_i − x̄‖², x_i the agent's estimate.
    pub consensus_error: f64,
    /// (1/n) Σ ‖v_i − n·π_C,i·v̄‖²: how far trackers are from their share of the mean. Where trackers are
    /// pulled, (1/n) Σ ‖v_i − Σ_j π_R,j v_j‖².
    pub tracking_error: Option<f64>,
    /// (1/n) Σ ‖m_i − ∇f_i(x_i)‖².
    pub momentum_error: Option<f64>,
    /// The larger of ‖v̄ − m̄‖ (Lemma 2) and |w̄ − 1|: zero except for rounding. Where trackers are pulled,
    /// means are π_R's.
    pub conservation_error: Option<f64>,
    /// Share of held-out examples that x̄ classifies rightly.
    pub test_accuracy: Option<f64>,
    /// Bytes sent over all links so far: eight a number, or what the codec makes of it.
    pub bytes_sent: Option<u64>,
    /// Virtual time, in steps of a nominal agent, where there is a clock.
    pub time: Option<f64>,
    /// F(x̄) − F*, where [`Extras`] say what F* is.
    pub loss_gap: Option<f64>,
    /// (1/n) Σ ‖∇F(x_i)‖², where [`Extras`] ask for it: small only if every agent's own estimate is good.
    pub agents_grad_norm_sq: Option<f64>,
    /// ‖x̄ − x*‖², where [`Extras`] say what x* is.
    pub distance_sq: Option<f64>,
}

/// What is measured beside the rest if it is asked for: it takes knowledge, or time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extras {
    /// F*, for F(x̄) − F*.
    pub optimum: Option<f64>,
    /// Whether to take ∇F at every agent's estimate: n passes over all data for each state.
    pub agents: bool,
    /// x*, for ‖x̄ − x*‖².
    pub minimiser: Option<Arc<[f64]>>,
}

/// Measures one state. Costs about one pass over all data, two for methods with momentum.
pub fn measure(view: &View<'_>) -> Result<Measurement> {
    let mut measured = measure_many(std::slice::from_ref(view), &Extras::default())?;
    Ok(measured.remove(0))
}

/// Measures several states of one run (or of runs of one method on one problem): passes over the data are
/// shared, and the bits are those of [`measure`].
pub fn measure_many(views: &[View<'_>], extras: &Extras) -> Result<Vec<Measurement>> {
    let threads = views.first().is_some_and(|view| worth_threads(view.agents(), view.problem.dim()));
    measure_on(threads, views, extras)
}

/// [`measure_many`], with the passes over the data on all threads or on this one.
pub(crate) fn measure_on(threads: bool, views: &[View<'_>], extras: &Extras) -> Result<Vec<Measurement>> {
    let Some(first) = views.first() else { return Ok(vec![]) };
    let means = views.iter().map(average).collect::<Result<Vec<_>>>()?;
    let points: Vec<&[f64]> = means.iter().map(Vec::as_slice).collect();
    let accuracies = || first.problem.test_accuracies(&points);
    let (accuracies, passed) = match (first.problem.at_once(), threads) {
        (true, _) => (accuracies(), passes_at_once(views, &points)),
        (false, true) => rayon::join(accuracies, || Ok(passes(true, views, &points))),
        (false, false) => (accuracies(), Ok(passes(false, views, &points))),
    };
    let Passed { losses, gradients, momentum_errors } = passed?;
    let mut measured = vec![];
    for (at, (view, mean)) in views.iter().zip(&means).enumerate() {
        let n = view.agents() as f64;
        let (consensus, _) = over_agents(view, |i, _| distance_sq(view.estimate(i), mean));
        let (loss, grad_norm_sq) = (losses[at] / n, gradients[at].iter().map(|g| square(g / n)).sum());
        let at_agents = || match view.profile.network {
            Network::Central => Ok(grad_norm_sq), // all agents hold x̄
            _ => gradients_at_agents(threads, view),
        };
        measured.push(Measurement {
            iteration: view.k,
            loss,
            grad_norm_sq,
            consensus_error: consensus / n,
            tracking_error: tracking_error(view)?,
            momentum_error: momentum_errors.as_ref().map(|errors| errors[at]),
            conservation_error: conservation_error(view)?,
            test_accuracy: accuracies.as_ref().map(|accuracies| accuracies[at]),
            bytes_sent: bytes_sent(view),
            time: view.time,
            loss_gap: extras.optimum.map(|optimum| loss - optimum),
            agents_grad_norm_sq: extras.agents.then(at_agents).transpose()?,
            distance_sq: extras.minimiser.as_ref().map(|minimiser| distance_sq(mean, minimiser)),
        });
    }
    Ok(measured)
}

/// What passes over the data give, for each view.
struct Passed {
    /// Σ_i f_i at its point.
    losses: Vec<f64>,
    /// Σ_i ∇f_i at its point.
    gradients: Vec<Vec<f64>>,
    /// (1/n) Σ ‖m_i − ∇f_i(x_i)‖², for methods with momentum.
    momentum_errors: Option<Vec<f64>>,
}

/// One point for each view. For methods with momentum an agent's data are passed over twice in a row, while
/// they are near.
fn passes(threads: bool, views: &[View<'_>], points: &[&[f64]]) -> Passed {
    let (count, problem, first) = (views.len(), views[0].problem, &views[0]);
    let (d, momentum) = (problem.dim(), first.method.roles().momentum);
    let nothing = || [vec![0.0; count], vec![0.0; count * d], vec![0.0; count]];
    // agents ascending within fixed blocks, then blocks ascending, as everywhere here
    let parts = in_blocks(threads, first.agents(), |agents| {
        let [mut losses, mut gradients, mut far] = nothing();
        let [mut loss, mut gradient, _] = nothing();
        for i in agents {
            problem.exact_many(i, points, &mut loss, &mut gradient);
            add(&mut losses, 1.0, &loss);
            add(&mut gradients, 1.0, &gradient);
            if let Some(momentum) = momentum {
                let own: Vec<&[f64]> = views.iter().map(|view| view.estimate(i)).collect();
                problem.exact_many(i, &own, &mut loss, &mut gradient);
                for ((far, view), g) in far.iter_mut().zip(views).zip(gradient.chunks_exact(d)) {
                    *far += distance_sq(view.vector(i, momentum), g);
                }
            }
        }
        [losses, gradients, far]
    });
    let mut total = nothing();
    for part in &parts {
        total.iter_mut().zip(part).for_each(|(total, part)| add(total, 1.0, part));
    }
    let [losses, gradients, far] = total;
    let momentum_errors = momentum.map(|_| far.iter().map(|far| far / first.agents() as f64).collect());
    Passed { losses, gradients: gradients.chunks_exact(d).map(<[f64]>::to_vec).collect(), momentum_errors }
}

/// The same for problems that are asked for all agents in one call, with the same order of sums.
fn passes_at_once(views: &[View<'_>], points: &[&[f64]]) -> Result<Passed> {
    let mut passed = Passed { losses: vec![], gradients: vec![], momentum_errors: None };
    for (view, point) in views.iter().zip(points) {
        let (n, d) = (view.agents(), view.problem.dim());
        let (loss, gradient) = sums_at(view, point)?;
        passed.losses.push(loss);
        passed.gradients.push(gradient);
        if let Some(momentum) = view.method.roles().momentum {
            let estimates: Vec<f64> = (0..n).flat_map(|i| view.estimate(i)).copied().collect();
            let own = exact_at_once(view, Rows::new(&estimates, d, d), &mut [])?;
            let far = |i: usize| distance_sq(view.vector(i, momentum), &own[i * d..(i + 1) * d]);
            passed
                .momentum_errors
                .get_or_insert_default()
                .push(over_agents(view, |i, _| far(i)).0 / n as f64);
        }
    }
    Ok(passed)
}

/// ∇f_i of all agents, each at its row, and f_i where there is room for them.
fn exact_at_once(view: &View<'_>, points: Rows<'_, f64>, losses: &mut [f64]) -> Result<Vec<f64>> {
    let (n, d) = (view.agents(), view.problem.dim());
    let mut gradients = vec![0.0; n * d];
    let (agents, rows) = (Agents::Range { first: 0, len: n }, RowsMut::new(&mut gradients, d, d));
    view.problem.exact_batch(ExactBatch { agents, points, losses, gradients: rows })?;
    Ok(gradients)
}

/// Σ_i f_i and Σ_i ∇f_i at one point, in one call.
fn sums_at(view: &View<'_>, point: &[f64]) -> Result<(f64, Vec<f64>)> {
    let (mut losses, d) = (vec![0.0; view.agents()], view.problem.dim());
    let gradients = exact_at_once(view, Rows::new(point, d, 0), &mut losses)?;
    Ok(over_agents(view, |i, sum| {
        add(sum, 1.0, &gradients[i * d..(i + 1) * d]);
        losses[i]
    }))
}

/// (1/n) Σ_j ‖∇F(x_j)‖², with ∇F = (1/n) Σ_i ∇f_i: a few agents' estimates at a time share a pass over all
/// data.
fn gradients_at_agents(threads: bool, view: &View<'_>) -> Result<f64> {
    const TOGETHER: usize = 8;
    let (n, d) = (view.agents(), view.problem.dim());
    let norm_sq = |sums: &[f64]| sums.iter().map(|sum| square(sum / n as f64)).sum::<f64>();
    if view.problem.at_once() {
        let norms = (0..n).map(|j| Ok(norm_sq(&sums_at(view, view.estimate(j))?.1)));
        return Ok(norms.sum::<Result<f64>>()? / n as f64);
    }
    let parts = in_blocks(threads, n.div_ceil(TOGETHER), |blocks| {
        let agents = blocks.start * TOGETHER..n.min(blocks.end * TOGETHER);
        let mut total = 0.0;
        for few in agents.collect::<Vec<_>>().chunks(TOGETHER) {
            let points: Vec<&[f64]> = few.iter().map(|&j| view.estimate(j)).collect();
            let [mut sums, mut gradients] = [vec![0.0; few.len() * d], vec![0.0; few.len() * d]];
            let mut losses = vec![0.0; few.len()];
            for i in 0..n {
                view.problem.exact_many(i, &points, &mut losses, &mut gradients);
                add(&mut sums, 1.0, &gradients);
            }
            total += norm_sq(&sums);
        }
        total
    });
    Ok(parts.iter().sum::<f64>() / n as f64)
}

/// (1/n) Σ ‖v_i − n·π_C,i·v̄‖², for methods that track.
fn tracking_error(view: &View<'_>) -> Result<Option<f64>> {
    let Some(tracker) = view.profile.roles.tracker else { return Ok(None) };
    let Stationary { pull: π_r, push: π_c, .. } = view.topology.stationary(view.k)?;
    // pushed mass keeps its sum and goes where π_C says; what is pulled keeps its mean by π_R and goes
    // everywhere
    let pulled = view.profile.network == Network::PullOnly;
    let weight_and_share = |i: usize| if pulled { (π_r[i], 1.0) } else { (1.0, π_c[i]) };
    let total = sum_of(view, |i| (weight_and_share(i).0, view.vector(i, tracker)));
    let (far, _) = over_agents(view, |i, _| {
        let share = weight_and_share(i).1;
        let pairs = view.vector(i, tracker).iter().zip(&total);
        pairs.map(|(v, total)| square(v - share * total)).sum()
    });
    Ok(Some(far / view.agents() as f64))
}

/// x̄, where F is evaluated: π_RᵀX for pull methods, the conserved mean for push-sum ones, x for the
/// centralised.
pub fn average(view: &View<'_>) -> Result<Vec<f64>> {
    let n = view.agents() as f64;
    Ok(match (view.profile.roles.conserved, view.profile.network) {
        (Some(index), _) => {
            let mut mean = sum_of(view, |i| (1.0 / n, view.vector(i, index)));
            add(&mut mean, 1.0 / n, view.on_its_way(view.profile.roles.conserved_sent));
            mean
        }
        (None, Network::Central) => view.estimate(0).to_vec(), // all agents hold the same bits
        (None, _) => {
            let π_r = &view.topology.stationary(view.k)?.pull;
            sum_of(view, |i| (π_r[i], view.estimate(i)))
        }
    })
}

/// How far the method's conserved quantities have drifted: ‖v̄ − m̄‖ or |w̄ − 1|, the larger if it has both.
fn conservation_error(view: &View<'_>) -> Result<Option<f64>> {
    let Roles { tracker, tracked, weight, tracker_sent, .. } = view.profile.roles;
    let n = view.agents() as f64;
    let π_r = match view.profile.network {
        Network::PullOnly => Some(&view.topology.stationary(view.k)?.pull),
        _ => None,
    };
    let trackers = tracker.zip(tracked).map(|(tracker, tracked)| {
        let (_, mut difference) = over_agents(view, |i, sum| {
            let weight = π_r.map_or(1.0, |π_r| n * π_r[i]);
            add(sum, weight, view.vector(i, tracker));
            add(sum, -weight, view.vector(i, tracked));
            0.0
        });
        add(&mut difference, 1.0, view.on_its_way(tracker_sent));
        difference.iter().map(|x| square(x / n)).sum::<f64>().sqrt()
    });
    let weights = weight.map(|weight| {
        let (sum, _) = over_agents(view, |i, _| view.scalar(i, weight));
        ((sum + view.weight_on_its_way()) / n - 1.0).abs()
    });
    Ok(match (trackers, weights) {
        (Some(trackers), Some(weights)) => Some(trackers.max(weights)),
        (one, other) => one.or(other),
    })
}

/// Bytes sent by all agents in the k rounds so far, on both graphs. Nothing for centralised methods.
fn bytes_sent(view: &View<'_>) -> Option<u64> {
    let &View { k, topology, profile, d, precision, .. } = view;
    match (profile.network, view.bytes_sent) {
        (Network::Central, _) => None,
        (_, counted @ Some(_)) => counted,
        (_, None) => bytes_after(k, topology, profile, (d, precision)),
    }
}

/// What a [`Measurement`] says of the bytes that all agents send in the first k rounds, on links that do not
/// fail. Nothing for centralised methods.
pub fn bytes_after(
    k: u64,
    topology: &Topology,
    profile: &Profile,
    (d, precision): (usize, Precision),
) -> Option<u64> {
    if profile.network == Network::Central {
        return None;
    }
    let phases = (0..profile.phases()).map(|phase| profile.bytes(phase, d, precision));
    let [pull, push] = phases.fold([0, 0], |sum, bytes| [sum[0] + bytes[0], sum[1] + bytes[1]]);
    let period = topology.period();
    let rounds = (0..).zip(period).map(|(phase, pair)| {
        let times = (k + period.len() as u64 - 1 - phase) / period.len() as u64;
        times * (pair.pull.links_on_wire() * pull + pair.push.links_on_wire() * push) as u64
    });
    Some(rounds.sum())
}

/// What `work` makes of each of a fixed number of blocks of agents, in their order.
fn in_blocks<T: Send>(threads: bool, n: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let blocks = n.min(BLOCKS);
    let one = |b: usize| work(b * n / blocks..(b + 1) * n / blocks);
    match threads {
        true => (0..blocks).into_par_iter().map(one).collect(),
        false => (0..blocks).map(one).collect(),
    }
}

/// Σ_i of what `work` returns, and of what it adds to the vector it is handed: agents ascending within fixed
/// blocks, then blocks ascending.
fn over_agents(view: &View<'_>, work: impl Fn(usize, &mut [f64]) -> f64 + Sync) -> (f64, Vec<f64>) {
    let (n, d) = (view.agents(), view.problem.dim());
    let parts = in_blocks(worth_threads(n, d), n, |agents| {
        let mut vector = vec![0.0; d];
        let scalar: f64 = agents.map(|i| work(i, &mut vector)).sum();
        (scalar, vector)
    });
    let mut total = (0.0, vec![0.0; d]);
    for (scalar, vector) in parts {
        total.0 += scalar;
        add(&mut total.1, 1.0, &vector);
    }
    total
}

/// Σ_i weight_i·vector_i.
fn sum_of<'v>(view: &View<'_>, term: impl Fn(usize) -> (f64, &'v [f64]) + Sync) -> Vec<f64> {
    let (_, sum) = over_agents(view, |i, sum| {
        let (weight, vector) = term(i);
        add(sum, weight, vector);
        0.0
    });
    sum
}

fn add(sum: &mut [f64], weight: f64, vector: &[f64]) {
    sum.iter_mut().zip(vector).for_each(|(s, v)| *s += weight * v);
}

fn distance_sq(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| square(a - b)).sum()
}

fn square(x: f64) -> f64 {
    x * x
}
