//! Definition 1, made computable: norms in which R and C contract.
//!
//! R brings X closer to agreement in *some* norm: (R − Π_R)(X − Π_R X) = RX − Π_R X, and the spectral radius
//! r of A = R − Π_R is below one, yet in the Euclidean norm one round may well drive agents apart. For any ρ
//! ∈ (r, 1) the matrix
//!
//! P = I + AᵀPA/ρ² = Σ_j (Aᵀ)ʲAʲ/ρ²ʲ
//!
//! gives a norm ‖x‖² = xᵀPx with ‖Ax‖ ≤ ρ‖x‖, because AᵀPA = ρ²(P − I) ⪯ ρ²P, and with
//! ‖x‖₂ ≤ ‖x‖ ≤ δ‖x‖₂, δ² = λ_max(P), because P ⪰ I. The same for C with A = C − Π_C. A smaller ρ contracts faster in a
//! norm that is farther from the Euclidean one: ρ is free, and a proof may choose it.

use faer::{Mat, Scale, Side};

use crate::graph::Topology;
use crate::graph::mixing::Mixing;
use crate::method::Network;
use crate::{Error, Result};

/// Most agents for dense matrices: one product takes about a second with this many.
pub const MOST_AGENTS: usize = 2000;
/// A matrix power is followed to at most 2⁵²: beyond, doubles cannot tell a radius from one.
const MOST_DOUBLINGS: usize = 52;

/// R − Π_R or C − Π_C: what one round of mixing leaves of a disagreement.
#[derive(Debug, Clone)]
pub struct Deviation {
    matrix: Mat<f64>,
    radius: f64,
}

impl Deviation {
    /// R − Π_R of a fixed topology, Π_R = 1π_Rᵀ. O(n³).
    pub fn pull(topology: &Topology) -> Result<Self> {
        check(topology)?;
        let π_r = &topology.stationary(0)?.pull;
        Self::new(&topology.at(0).pull, |_, j| π_r[j])
    }

    /// C − Π_C of a fixed topology, Π_C = π_C1ᵀ. O(n³).
    pub fn push(topology: &Topology) -> Result<Self> {
        check(topology)?;
        let π_c = &topology.stationary(0)?.push;
        Self::new(&topology.at(0).push, |i, _| π_c[i])
    }

    fn new(mixing: &Mixing, limit: impl Fn(usize, usize) -> f64) -> Result<Self> {
        let mut matrix = dense(mixing);
        for j in 0..matrix.ncols() {
            for i in 0..matrix.nrows() {
                matrix[(i, j)] -= limit(i, j);
            }
        }
        let radius = radius(&matrix);
        Ok(Self { matrix, radius })
    }

    /// r, the spectral radius: below 1, and 0 on weight-1 trees.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The matrix itself.
    pub(super) fn matrix(&self) -> &Mat<f64> {
        &self.matrix
    }

    /// The norm in which this contracts by ρ ∈ (r, 1). O(n³ log(1/(1 − r/ρ))).
    pub fn contraction(&self, ρ: f64) -> Result<Contraction> {
        let refused = || {
            let expected = format!("it must lie between the spectral radius {} and 1", self.radius);
            Error::parameter("contraction", "ρ", ρ, expected)
        };
        if !(ρ > self.radius && ρ < 1.0) {
            return Err(refused());
        }
        let weight = lyapunov(&self.matrix, ρ).ok_or_else(refused)?;
        let δ_sq = largest_eigenvalue(&weight)?;
        Ok(Contraction { deviation: self.matrix.clone(), weight, ρ, δ_sq })
    }
}

/// A norm ‖x‖² = xᵀPx in which a deviation contracts by ρ, with ‖x‖₂ ≤ ‖x‖ ≤ δ‖x‖₂ (Definition 1 and Lemma
/// 1).
///
/// ```
/// use oneway::graph::families;
/// use oneway::theory::contraction::Deviation;
/// use oneway::graph::topology::{Subgraph, Topology, Weights};
/// # fn main() -> oneway::Result<()> {
/// let ring = Topology::from_digraphs(&[families::ring(5)?], Subgraph::Full, Weights::Uniform, 0)?;
/// let pull = Deviation::pull(&ring)?;
/// assert!((pull.radius() - (std::f64::consts::PI / 5.0).cos()).abs() < 1e-12); // |½ + ½e^{2πi/5}|
/// let norm = pull.contraction(0.9)?;
/// norm.check()?;
/// assert!((norm.norm_sq(&[1.0; 5]) - 5.0).abs() < 1e-12); // agreement is not stretched
/// assert!(norm.norm_sq(&[1.0, -1.0, 1.0, -1.0, 0.0]) > 4.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Contraction {
    /// A.
    pub(super) deviation: Mat<f64>,
    /// P.
    pub(super) weight: Mat<f64>,
    pub(super) ρ: f64,
    pub(super) δ_sq: f64,
}

impl Contraction {
    /// ρ: how much is left of a disagreement after a round, at most.
    pub fn rho(&self) -> f64 {
        self.ρ
    }

    /// δ ≥ 1: how far this norm is from the Euclidean one.
    pub fn delta(&self) -> f64 {
        self.δ_sq.sqrt()
    }

    /// δ² = λ_max(P).
    pub fn delta_sq(&self) -> f64 {
        self.δ_sq
    }

    /// Number of agents.
    pub fn agents(&self) -> usize {
        self.weight.nrows()
    }

    /// ‖X‖² = Σ over the columns x of xᵀPx, for an n×d matrix given by its rows, one after another. O(n²d).
    ///
    /// An incomplete last row is left out.
    pub fn norm_sq(&self, rows: &[f64]) -> f64 {
        let n = self.agents();
        let d = rows.len() / n;
        if d == 0 {
            return 0.0;
        }
        let row = |i: usize| &rows[i * d..(i + 1) * d];
        let pairs = (0..n).flat_map(|j| (0..=j).map(move |i| (i, j)));
        let terms = pairs.map(|(i, j)| {
            let product: f64 = row(i).iter().zip(row(j)).map(|(x, y)| x * y).sum();
            let twice = if i == j { 1.0 } else { 2.0 }; // P is symmetric
            twice * self.weight[(i, j)] * product
        });
        terms.sum()
    }

    /// Checks from P, A, ρ and δ alone that this is what it says: P ⪰ I, ρ²P − AᵀPA ⪰ 0 and P ⪯ δ²I, up to
    /// rounding. O(n³).
    pub fn check(&self) -> Result<()> {
        let n = self.agents();
        let failed = |what: String| Err(Error::Uncertified(what));
        let Contraction { deviation: a, weight: p, ρ, δ_sq } = self;
        if !(*ρ > 0.0 && *ρ < 1.0 && δ_sq.is_finite() && *δ_sq >= 1.0 - 1e-12) {
            return failed(format!("ρ = {ρ} must lie in (0, 1) and δ² = {δ_sq} be at least 1"));
        }
        let asymmetry = (p - p.transpose()).norm_max();
        let rounding = 8.0 * n as f64 * f64::EPSILON * δ_sq;
        if asymmetry.is_nan() || asymmetry > rounding {
            return failed(format!("P is not symmetric: off by {asymmetry:e}"));
        }
        let (smallest, largest) = extreme_eigenvalues(p)?;
        if smallest < 1.0 - rounding {
            return failed(format!("P is not at least I: its smallest eigenvalue is {smallest}"));
        }
        if largest > δ_sq * (1.0 + 1e-10) {
            return failed(format!("δ² = {δ_sq} is below the largest eigenvalue {largest} of P"));
        }
        let left_over = Scale(ρ * ρ) * p - a.transpose() * (p * a); // = ρ²I if P solves its equation
        let (smallest, _) = extreme_eigenvalues(&left_over)?;
        if smallest < -rounding {
            return failed(format!("ρ²P − AᵀPA has the negative eigenvalue {smallest:e}"));
        }
        Ok(())
    }
}

/// Whether theory for fixed networks of moderate size applies.
fn check(topology: &Topology) -> Result<()> {
    let (period, n) = (topology.period().len(), topology.agents());
    if period > 1 {
        let expected = "contraction norms are for a fixed network, the same R and C in every round";
        return Err(Error::parameter("topology", "period", period, expected));
    }
    if n > MOST_AGENTS {
        let expected = format!("dense matrices are for at most {MOST_AGENTS} agents");
        return Err(Error::parameter("topology", "agents", n, expected));
    }
    topology.check(Network::PushPull) // a common root, and not periodic: then both radii are below one
}

/// A mixing as a dense matrix.
pub(super) fn dense(mixing: &Mixing) -> Mat<f64> {
    let mut matrix = Mat::zeros(mixing.agents(), mixing.agents());
    for link in mixing.iter() {
        matrix[(link.to, link.from)] = link.weight;
    }
    matrix
}

/// Spectral radius as lim ‖Aᵐ‖^{1/m} over m = 2ʲ; from above, and exactly 0 if a power of A is exactly 0.
/// O(n³·52).
///
/// Eigenvalues of a nilpotent matrix of index ν would come out as ε^{1/ν}, which is far from 0.
fn radius(a: &Mat<f64>) -> f64 {
    let mut power = a.clone();
    let (mut log_norm, mut share) = (0.0, 1.0); // log₂‖Aᵐ‖ = (log₂‖power‖) + log_norm·m, 1/m
    for _ in 0..=MOST_DOUBLINGS {
        let norm = power.norm_l2();
        if norm == 0.0 {
            return 0.0;
        }
        let scale = libm::log2(norm).round(); // powers of two keep the entries of a tree's powers exact
        log_norm += scale * share;
        power = Scale(libm::exp2(-scale)) * &power;
        power = &power * &power;
        share *= 0.5;
    }
    libm::exp2(log_norm + libm::log2(power.norm_l2().max(f64::MIN_POSITIVE)) * share)
}

/// P = I + AᵀPA/ρ² by doubling: after j steps P holds the first 2ʲ terms of its series. `None` if that
/// diverges.
fn lyapunov(a: &Mat<f64>, ρ: f64) -> Option<Mat<f64>> {
    let n = a.nrows();
    let mut weight: Mat<f64> = Mat::identity(n, n);
    let mut power: Mat<f64> = Scale(1.0 / ρ) * a;
    for _ in 0..=MOST_DOUBLINGS {
        let more = power.transpose() * (&weight * &power);
        weight = &weight + &more;
        let (added, all) = (more.norm_l2(), weight.norm_l2());
        if !all.is_finite() {
            return None;
        }
        if added <= 0.125 * f64::EPSILON * all {
            return Some(Scale(0.5) * (&weight + weight.transpose()));
        }
        power = &power * &power;
    }
    None
}

/// Smallest and largest eigenvalue of a symmetric matrix.
fn extreme_eigenvalues(symmetric: &Mat<f64>) -> Result<(f64, f64)> {
    let failed = || Error::Uncertified("the eigenvalues of a symmetric matrix were not found".to_owned());
    let eigenvalues = symmetric.self_adjoint_eigenvalues(Side::Lower).map_err(|_| failed())?;
    match (eigenvalues.first(), eigenvalues.last()) {
        (Some(first), Some(last)) if first.is_finite() && last.is_finite() => Ok((*first, *last)),
        _ => Err(failed()),
    }
}

/// λ_max of a symmetric matrix.
pub(super) fn largest_eigenvalue(symmetric: &Mat<f64>) -> Result<f64> {
    Ok(extreme_eigenvalues(symmetric)?.1)
}

/// ‖A‖₂² = λ_max(AᵀA).
pub(super) fn spectral_norm_sq(a: &Mat<f64>) -> Result<f64> {
    largest_eigenvalue(&(a.transpose() * a))
}
