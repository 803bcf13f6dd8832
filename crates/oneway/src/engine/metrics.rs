//! What `curves.csv` says of a state. Nothing here feeds back into a run.
//!
//! Sums over agents go by fixed blocks of agents, whatever the threads and processes, so that curves have the
//! same bits too.

use std::ops::Range;
use std::sync::Arc;

use crate::Result;
use crate::engine::observe::View;
use crate::engine::simulator::worth_threads;
use crate::engine::sums::{Alone, Sums, Team, add, in_parts};
use crate::graph::Topology;
use crate::method::{Network, Profile, Roles};
use crate::numeric::Precision;
use crate::numeric::row::{Agents, Rows, RowsMut};
use crate::problem::ExactBatch;

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
    measure_in(&mut Alone, views, extras)
}

/// The same where each process of a team has the states of its own agents. Only what the process with agent 0
/// returns is whole: it alone tests x̄ on held-out examples.
pub(crate) fn measure_in(
    team: &mut dyn Team,
    views: &[View<'_>],
    extras: &Extras,
) -> Result<Vec<Measurement>> {
    let threads = views.first().is_some_and(|view| worth_threads(view.agents(), view.problem.dim()));
    measure_on(threads, team, views, extras)
}

/// The same, with the passes over the data on all threads or on this one.
pub(crate) fn measure_on(
    threads: bool,
    team: &mut dyn Team,
    views: &[View<'_>],
    extras: &Extras,
) -> Result<Vec<Measurement>> {
    let Some(first) = views.first() else { return Ok(vec![]) };
    let sums = &mut Sums::new(first.agents(), team);
    let means = views.iter().map(|view| average_by(sums, view)).collect::<Result<Vec<_>>>()?;
    let points: Vec<&[f64]> = means.iter().map(Vec::as_slice).collect();
    let tests = sums.own.start == 0;
    let accuracies = || if tests { first.problem.test_accuracies(&points) } else { None };
    let (accuracies, passed) = match (first.problem.at_once(), threads) {
        (true, _) => (accuracies(), passes_at_once(sums, views, &points)),
        (false, true) => beside(accuracies, || Ok(passes(true, sums, views, &points))),
        (false, false) => (accuracies(), Ok(passes(false, sums, views, &points))),
    };
    let Passed { losses, gradients, momentum_errors } = passed?;
    let mut measured = vec![];
    for (at, (view, mean)) in views.iter().zip(&means).enumerate() {
        let n = view.agents() as f64;
        let consensus = sums.one(view, |i| distance_sq(view.estimate(i), mean));
        let (loss, grad_norm_sq) = (losses[at] / n, gradients[at].iter().map(|g| square(g / n)).sum());
        let mut at_agents = || match view.profile.network {
            Network::Central => Ok(grad_norm_sq), // all agents hold x̄
            _ => gradients_at_agents(threads, sums, view),
        };
        let agents_grad_norm_sq = extras.agents.then(&mut at_agents).transpose()?;
        measured.push(Measurement {
            iteration: view.k,
            loss,
            grad_norm_sq,
            consensus_error: consensus / n,
            tracking_error: tracking_error(sums, view)?,
            momentum_error: momentum_errors.as_ref().map(|errors| errors[at]),
            conservation_error: conservation_error(sums, view)?,
            test_accuracy: accuracies.as_ref().map(|accuracies| accuracies[at]),
            bytes_sent: bytes_sent(view),
            time: view.time,
            loss_gap: extras.optimum.map(|optimum| loss - optimum),
            agents_grad_norm_sq,
            distance_sq: extras.minimiser.as_ref().map(|minimiser| distance_sq(mean, minimiser)),
        });
    }
    Ok(measured)
}

/// What both return; `here` runs on this thread, which may talk to other processes, `there` on any.
fn beside<A: Send, B>(there: impl FnOnce() -> A + Send, here: impl FnOnce() -> B) -> (A, B) {
    let mut found = None;
    let returned = rayon::in_place_scope(|scope| {
        scope.spawn(|_| found = Some(there()));
        here()
    });
    (found.expect("a scope ends when all of its work is done"), returned)
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
fn passes(threads: bool, sums: &mut Sums<'_>, views: &[View<'_>], points: &[&[f64]]) -> Passed {
    let (count, problem, first) = (views.len(), views[0].problem, &views[0]);
    let (d, momentum) = (problem.dim(), first.method.roles().momentum);
    let total = sums.of(threads, count * (d + 2), |agents, sums| {
        let (losses, rest) = sums.split_at_mut(count);
        let (gradients, far) = rest.split_at_mut(count * d);
        let (mut loss, mut gradient) = (vec![0.0; count], vec![0.0; count * d]);
        for i in agents {
            problem.exact_many(i, points, &mut loss, &mut gradient);
            add(losses, 1.0, &loss);
            add(gradients, 1.0, &gradient);
            if let Some(momentum) = momentum {
                let own: Vec<&[f64]> = views.iter().map(|view| view.estimate(i)).collect();
                problem.exact_many(i, &own, &mut loss, &mut gradient);
                for ((far, view), g) in far.iter_mut().zip(views).zip(gradient.chunks_exact(d)) {
                    *far += distance_sq(view.vector(i, momentum), g);
                }
            }
        }
    });
    let (losses, rest) = total.split_at(count);
    let (gradients, far) = rest.split_at(count * d);
    let momentum_errors = momentum.map(|_| far.iter().map(|far| far / first.agents() as f64).collect());
    let gradients = gradients.chunks_exact(d).map(<[f64]>::to_vec).collect();
    Passed { losses: losses.to_vec(), gradients, momentum_errors }
}

/// The same for problems that are asked for all agents in one call, with the same order of sums.
fn passes_at_once(sums: &mut Sums<'_>, views: &[View<'_>], points: &[&[f64]]) -> Result<Passed> {
    let mut passed = Passed { losses: vec![], gradients: vec![], momentum_errors: None };
    for (view, point) in views.iter().zip(points) {
        let (n, d) = (view.agents(), view.problem.dim());
        let (loss, gradient) = sums_at(sums, view, point)?;
        passed.losses.push(loss);
        passed.gradients.push(gradient);
        if let Some(momentum) = view.method.roles().momentum {
            let first = sums.own.start;
            let estimates: Vec<f64> = sums.own.clone().flat_map(|i| view.estimate(i)).copied().collect();
            let own = exact_at_once(sums, view, Rows::new(&estimates, d, d), &mut [])?;
            let far = |i: usize| distance_sq(view.vector(i, momentum), &own[(i - first) * d..][..d]);
            let far = sums.one(view, far);
            passed.momentum_errors.get_or_insert_default().push(far / n as f64);
        }
    }
    Ok(passed)
}

/// ∇f_i of the agents here, each at its row, and f_i where there is room for them.
fn exact_at_once(
    sums: &Sums<'_>,
    view: &View<'_>,
    points: Rows<'_, f64>,
    losses: &mut [f64],
) -> Result<Vec<f64>> {
    let (here, d) = (sums.own.len(), view.problem.dim());
    let mut gradients = vec![0.0; here * d];
    let (agents, rows) =
        (Agents::Range { first: sums.own.start, len: here }, RowsMut::new(&mut gradients, d, d));
    view.problem.exact_batch(ExactBatch { agents, points, losses, gradients: rows })?;
    Ok(gradients)
}

/// Σ_i f_i and Σ_i ∇f_i at one point, in one call.
fn sums_at(sums: &mut Sums<'_>, view: &View<'_>, point: &[f64]) -> Result<(f64, Vec<f64>)> {
    let (mut losses, d, first) = (vec![0.0; sums.own.len()], view.problem.dim(), sums.own.start);
    let gradients = exact_at_once(sums, view, Rows::new(point, d, 0), &mut losses)?;
    let mut total = sums.of(worth_threads(view.agents(), d), 1 + d, |agents, sums| {
        for at in agents.start - first..agents.end - first {
            sums[0] += losses[at];
            add(&mut sums[1..], 1.0, &gradients[at * d..(at + 1) * d]);
        }
    });
    Ok((total.remove(0), total))
}

/// (1/n) Σ_j ‖∇F(x_j)‖², with ∇F = (1/n) Σ_i ∇f_i: a few agents' estimates at a time share a pass over all
/// data.
fn gradients_at_agents(threads: bool, sums: &mut Sums<'_>, view: &View<'_>) -> Result<f64> {
    const TOGETHER: usize = 8;
    let (n, d) = (view.agents(), view.problem.dim());
    let norm_sq = |sums: &[f64]| sums.iter().map(|sum| square(sum / n as f64)).sum::<f64>();
    if view.problem.at_once() {
        let mut total = 0.0;
        for j in 0..n {
            let point = estimates(sums, view, j..j + 1);
            total += norm_sq(&sums_at(sums, view, &point)?.1);
        }
        return Ok(total / n as f64);
    }
    // Σ_i ∇f_i at a few points, of the agents i here
    let add_gradients = |agents: Range<usize>, points: &[f64], total: &mut [f64]| {
        let points: Vec<&[f64]> = points.chunks_exact(d).collect();
        let (mut losses, mut gradients) = (vec![0.0; points.len()], vec![0.0; points.len() * d]);
        for i in agents {
            view.problem.exact_many(i, &points, &mut losses, &mut gradients);
            add(total, 1.0, &gradients);
        }
    };
    let few = |group: usize| group * TOGETHER..n.min((group + 1) * TOGETHER);
    let groups = n.div_ceil(TOGETHER);
    let parts = match sums.is_whole() {
        true => in_parts(threads, groups, |groups| {
            let norms = groups.map(|group| {
                let points: Vec<f64> = few(group).flat_map(|j| view.estimate(j)).copied().collect();
                let mut total = vec![0.0; points.len()];
                add_gradients(0..n, &points, &mut total);
                norm_sq(&total)
            });
            norms.sum::<f64>()
        }),
        false => {
            let norms = (0..groups).map(|group| {
                let points = estimates(sums, view, few(group));
                let mut total = vec![0.0; points.len()];
                sums.in_turn(&mut total, |agents, total| add_gradients(agents, &points, total));
                norm_sq(&total)
            });
            let norms: Vec<f64> = norms.collect();
            in_parts(false, groups, |groups| norms[groups].iter().sum::<f64>())
        }
    };
    Ok(parts.iter().sum::<f64>() / n as f64)
}

/// The estimates of some agents, wherever they are.
fn estimates(sums: &mut Sums<'_>, view: &View<'_>, agents: Range<usize>) -> Vec<f64> {
    let d = view.problem.dim();
    let mut found = vec![0.0; agents.len() * d];
    sums.in_turn(&mut found, |own, found| {
        let rows = agents.zip(found.chunks_exact_mut(d)).filter(|(j, _)| own.contains(j));
        rows.for_each(|(j, row)| row.copy_from_slice(view.estimate(j)));
    });
    found
}

/// (1/n) Σ ‖v_i − n·π_C,i·v̄‖², for methods that track.
fn tracking_error(sums: &mut Sums<'_>, view: &View<'_>) -> Result<Option<f64>> {
    let Some(tracker) = view.profile.roles.tracker else { return Ok(None) };
    let [π_r, π_c] = sums.stationary(view)?;
    // pushed mass keeps its sum and goes where π_C says; what is pulled keeps its mean by π_R and goes
    // everywhere
    let pulled = view.profile.network == Network::PullOnly;
    let weight_and_share = |i: usize| if pulled { (π_r[i], 1.0) } else { (1.0, π_c[i]) };
    let total = sums.vector(view, |i| (weight_and_share(i).0, view.vector(i, tracker)));
    let far = sums.one(view, |i| {
        let share = weight_and_share(i).1;
        let pairs = view.vector(i, tracker).iter().zip(&total);
        pairs.map(|(v, total)| square(v - share * total)).sum()
    });
    Ok(Some(far / view.agents() as f64))
}

/// x̄, where F is evaluated: π_RᵀX for pull methods, the conserved mean for push-sum ones, x for the
/// centralised.
pub fn average(view: &View<'_>) -> Result<Vec<f64>> {
    average_by(&mut Sums::new(view.agents(), &mut Alone), view)
}

fn average_by(sums: &mut Sums<'_>, view: &View<'_>) -> Result<Vec<f64>> {
    let n = view.agents() as f64;
    Ok(match (view.profile.roles.conserved, view.profile.network) {
        (Some(index), _) => {
            let mut mean = sums.vector(view, |i| (1.0 / n, view.vector(i, index)));
            add(&mut mean, 1.0 / n, view.on_its_way(view.profile.roles.conserved_sent));
            mean
        }
        (None, Network::Central) => view.estimate(sums.own.start).to_vec(), // all agents hold the same bits
        (None, _) => {
            let [π_r, _] = sums.stationary(view)?;
            sums.vector(view, |i| (π_r[i], view.estimate(i)))
        }
    })
}

/// How far the method's conserved quantities have drifted: ‖v̄ − m̄‖ or |w̄ − 1|, the larger if it has both.
fn conservation_error(sums: &mut Sums<'_>, view: &View<'_>) -> Result<Option<f64>> {
    let Roles { tracker, tracked, weight, tracker_sent, .. } = view.profile.roles;
    let n = view.agents() as f64;
    let π = match view.profile.network {
        Network::PullOnly => Some(sums.stationary(view)?),
        _ => None,
    };
    let trackers = tracker.zip(tracked).map(|(tracker, tracked)| {
        let mut difference = sums.over_agents(view, view.d, |i, sum| {
            let weight = π.as_ref().map_or(1.0, |[π_r, _]| n * π_r[i]);
            add(sum, weight, view.vector(i, tracker));
            add(sum, -weight, view.vector(i, tracked));
        });
        add(&mut difference, 1.0, view.on_its_way(tracker_sent));
        difference.iter().map(|x| square(x / n)).sum::<f64>().sqrt()
    });
    let weights = weight.map(|weight| {
        let sum = sums.one(view, |i| view.scalar(i, weight));
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

fn distance_sq(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| square(a - b)).sum()
}

fn square(x: f64) -> f64 {
    x * x
}
