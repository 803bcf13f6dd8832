//! Search: the largest certified step over the norms of R and C.

use rayon::prelude::*;

use super::{Certificate, Constants, Proof, Setting, certified, check, constants, most_step};
use crate::graph::Topology;
use crate::theory::contraction::{Deviation, dense};
use crate::{Error, Result};

/// Halvings from the largest step that Lemma 3 allows, before giving up.
const MOST_HALVINGS: usize = 400;
/// Bisections after that: a relative error below 1e-12.
const BISECTIONS: usize = 40;

/// The corollary's coupling for T rounds, beside what is certified with its λ.
#[derive(Debug, Clone)]
pub struct Corollary {
    /// λ = (n/T)^¼.
    pub momentum: f64,
    /// √(n/T), the corollary's step up to a constant that it leaves open.
    pub step: f64,
    /// The largest step that is certified with this λ.
    pub certified: Option<Certificate>,
}

/// A norm that a search may choose: ρ and what it makes of the constants.
#[derive(Debug, Clone, Copy)]
struct Choice {
    ρ: f64,
    δ_sq: f64,
    /// ‖π_C‖² in this norm.
    push_weight_sq: f64,
}

/// A topology made ready for certificates: its constants in many norms. Serves any L, λ and η.
///
/// ```
/// use oneway::graph::families;
/// use oneway::theory::certificate::{Certifier, Setting};
/// use oneway::graph::topology::{Subgraph, Topology, Weights};
/// # fn main() -> oneway::Result<()> {
/// let topology = Topology::from_digraphs(&[families::exponential(20)?], Subgraph::Full, Weights::Uniform, 0)?;
/// let certifier = Certifier::new(&topology)?;
/// let setting = Setting { smoothness: 1.592, momentum: 0.1 };
/// let best = certifier.largest(setting)?.expect("a network has a certified step");
/// assert!(best.step() > 0.9e-3 && best.step() < 1.2e-3);
/// best.recheck()?;
/// assert!(certifier.at(setting, 0.5 * best.step())?.is_some());
/// assert!(certifier.at(setting, 2.0 * best.step())?.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Certifier {
    pull: Deviation,
    push: Deviation,
    pull_weights: Vec<f64>,
    push_weights: Vec<f64>,
    /// The constants that no norm changes; those of norms are those of the Euclidean one.
    constants: Constants,
    pulls: Vec<Choice>,
    pushes: Vec<Choice>,
}

impl Certifier {
    /// The constants of a fixed topology with at most
    /// [`MOST_AGENTS`](crate::theory::contraction::MOST_AGENTS) agents.
    ///
    /// O(n³) for each of some dozen norms on either side: milliseconds for 20 agents, a minute for 1000.
    pub fn new(topology: &Topology) -> Result<Self> {
        let (pull, push) = (Deviation::pull(topology)?, Deviation::push(topology)?);
        let stationary = topology.stationary(0)?;
        let (pull_weights, push_weights) = (stationary.pull.clone(), stationary.push.clone());
        let constants =
            constants(&dense(&topology.at(0).pull), &pull_weights, &push_weights, stationary.c_pi)?;
        let pulls = choices(&pull, &push_weights)?;
        let pushes = choices(&push, &push_weights)?;
        Ok(Self { pull, push, pull_weights, push_weights, constants, pulls, pushes })
    }

    /// The spectral radii of R − Π_R and C − Π_C.
    pub fn radii(&self) -> [f64; 2] {
        [self.pull.radius(), self.push.radius()]
    }

    /// The largest certified raw step, over all norms; `None` if none was found. Its margin is close to zero:
    /// bounds are best at about half of it.
    pub fn largest(&self, setting: Setting) -> Result<Option<Certificate>> {
        check(setting)?;
        let mut best: Option<(f64, Constants, [Choice; 2])> = None;
        for (constants, choice) in self.candidates() {
            // by monotonicity, a pair that cannot certify the best step so far cannot do better
            let known = best.map(|(step, ..)| step);
            if known.is_none_or(|step| certified(&constants, setting, step).is_some())
                && let Some(step) = largest_step(&constants, setting, known)
            {
                best = Some((step, constants, choice));
            }
        }
        best.map(|(step, _, choice)| self.certificate(setting, step, choice)).transpose().map(Option::flatten)
    }

    /// A certificate for a given raw step, in the norms that make its floor lowest; `None` if no norms
    /// certify it.
    pub fn at(&self, setting: Setting, η: f64) -> Result<Option<Certificate>> {
        check(setting)?;
        if !(η > 0.0 && η.is_finite()) {
            return Err(Error::parameter("certificate", "step", η, "a step size must be a positive number"));
        }
        let floors = self.candidates().filter_map(|(constants, choice)| {
            let Proof { recursion, weights, margin } = certified(&constants, setting, η)?;
            Some((recursion.noise_cost(&weights) / margin, choice))
        });
        let best = floors.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, choice)| self.certificate(setting, η, choice)).transpose().map(Option::flatten)
    }

    /// The corollary's λ and step for T ≥ n rounds, and the largest certified step with that λ.
    pub fn corollary(&self, smoothness: f64, rounds: u64) -> Result<Corollary> {
        let (step, momentum) = crate::engine::schedule::corollary(self.pull.matrix().nrows(), rounds)?;
        let certified = self.largest(Setting { smoothness, momentum })?;
        Ok(Corollary { momentum, step, certified })
    }

    fn candidates(&self) -> impl Iterator<Item = (Constants, [Choice; 2])> + '_ {
        self.pulls.iter().flat_map(move |pull| {
            self.pushes.iter().map(move |push| {
                let constants = Constants {
                    pull_rho: pull.ρ,
                    pull_delta_sq: pull.δ_sq,
                    push_weight_in_pull_sq: pull.push_weight_sq,
                    push_rho: push.ρ,
                    push_delta_sq: push.δ_sq,
                    ..self.constants
                };
                (constants, [*pull, *push])
            })
        })
    }

    fn certificate(&self, setting: Setting, η: f64, choice: [Choice; 2]) -> Result<Option<Certificate>> {
        let (pull, push) = (self.pull.contraction(choice[0].ρ)?, self.push.contraction(choice[1].ρ)?);
        let constants = self.constants.in_norms(&pull, &push, &self.push_weights);
        let (pull_weights, push_weights) = (self.pull_weights.clone(), self.push_weights.clone());
        Ok(certified(&constants, setting, η).map(|proof| Certificate {
            setting,
            η,
            constants,
            pull,
            push,
            pull_weights,
            push_weights,
            proof,
        }))
    }
}

/// Norms to choose from: ρ² = r² + (1 − r²)s with s spread evenly in log(s/(1−s)). Fewer for large networks.
fn choices(deviation: &Deviation, push_weights: &[f64]) -> Result<Vec<Choice>> {
    const ENDS: [f64; 2] = [-9.0, 6.0];
    let count = match deviation.matrix().nrows() {
        0..=100 => 61,
        101..=400 => 16,
        _ => 8,
    };
    let r_sq = deviation.radius() * deviation.radius();
    let choice = |at: usize| {
        let logit = ENDS[0] + (ENDS[1] - ENDS[0]) * at as f64 / (count - 1) as f64;
        let s = 1.0 / (1.0 + libm::exp(-logit));
        let norm = deviation.contraction((r_sq + (1.0 - r_sq) * s).sqrt()).ok()?;
        Some(Choice { ρ: norm.rho(), δ_sq: norm.delta_sq(), push_weight_sq: norm.norm_sq(push_weights) })
    };
    let choices: Vec<Choice> = (0..count).into_par_iter().filter_map(choice).collect();
    match choices.is_empty() {
        false => Ok(choices),
        true => Err(Error::Uncertified(format!(
            "no norm was found in which the mixing contracts: its spectral radius is {}",
            deviation.radius()
        ))),
    }
}

/// The largest certified step with these constants by bisection, from one that is known to be certified if
/// there is one.
fn largest_step(constants: &Constants, setting: Setting, known: Option<f64>) -> Option<f64> {
    let holds = |η: f64| certified(constants, setting, η).is_some();
    let mut high = most_step(constants, setting);
    if holds(high) {
        return Some(high);
    }
    let mut low = match known {
        Some(step) => step,
        None => {
            let mut halves = std::iter::successors(Some(0.5 * high), |step| Some(0.5 * step));
            halves.by_ref().take(MOST_HALVINGS).find(|step| holds(*step))?
        }
    };
    for _ in 0..BISECTIONS {
        let middle = (low * high).sqrt();
        *(if holds(middle) { &mut low } else { &mut high }) = middle;
    }
    Some(low)
}
