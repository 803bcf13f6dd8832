//! Spectral radii: how fast powers of a matrix grow or die out.
//!
//! Small maps are taken as matrices, and all eigenvalues found. Larger ones are asked by what they do to
//! vectors: Arnoldi's method on a *power* A^q. Slow networks have many eigenvalues within 10⁻⁵ of each other;
//! their q-th powers lie apart, and a Krylov space of a hundred vectors tells them from each other where A
//! itself would need thousands.

use faer::{Mat, c64};

use super::eigenvalues::{eigenvalues, eigenvectors};
use crate::numeric::sample::{Draws, Purpose};
use crate::{Error, Result};

/// Up to this size all eigenvalues are computed.
const DENSE: usize = 128;
/// Vectors of a Krylov space.
const KRYLOV: usize = 100;
/// A Ritz value is taken when its residual is below this share of it (and leaves no doubt on which side of 1
/// it is),
const RESIDUAL: f64 = 1e-10;
/// or below this one, if that is also this share only of what its logarithm is: far from 1 less will do.
const COARSE: f64 = 1e-4;
const SHARE: f64 = 1e-4;
/// How many numbers of an application take as long as one of the n³ of all eigenvalues.
const NUMBERS_FOR_ONE: u64 = 8;
/// Maps beyond this size are not taken as matrices, whatever it costs.
const LARGEST_DENSE: usize = 1500;
/// Most numbers to make in all searches together, applications times n: about a minute's worth.
const MOST_WORK: u64 = 12_000_000_000;
/// What dies out this fast in one application is far inside the unit disc: its digits may be rounding, and
/// matter to no one.
const DEAD: f64 = 1e-6;
/// Powers of the map may grow up to this before they are taken for what they are.
const LARGEST_GROWTH: f64 = 1e60;

/// A linear map of ℝⁿ into itself, known by what it does.
pub trait LinearMap {
    /// n.
    fn dim(&self) -> usize;

    /// x ← A^times x.
    fn apply(&mut self, x: &mut [f64], times: u64);
}

/// The spectral radius, the largest |z| over all eigenvalues z.
///
/// O(n³) for small maps; for others some hundred to some hundred thousand applications, as far as it takes to
/// tell the largest eigenvalues apart. [`Error::NoTheory`] if they are too close.
///
/// ```
/// use oneway::theory::spectrum::{LinearMap, radius};
/// /// Turns by a right angle, and halves.
/// struct Turn;
/// impl LinearMap for Turn {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn apply(&mut self, x: &mut [f64], times: u64) {
///         (0..times).for_each(|_| (x[0], x[1]) = (-0.5 * x[1], 0.5 * x[0]));
///     }
/// }
/// assert!((radius(&mut Turn).unwrap() - 0.5).abs() < 1e-15);
/// ```
pub fn radius(map: &mut dyn LinearMap) -> Result<f64> {
    Search::new(map.dim()).radius(map)
}

/// Spectral radii of maps that differ little from each other: each search begins where the last one ended.
#[derive(Debug)]
pub(super) struct Search {
    start: Vec<f64>,
    power: u64,
    /// What is left of [`MOST_WORK`].
    patience: u64,
}

impl Search {
    pub(super) fn new(dim: usize) -> Self {
        let mut draws = Draws::new(1, Purpose::Graph, dim, 0);
        Self { start: (0..dim).map(|_| draws.normal()).collect(), power: 1, patience: MOST_WORK }
    }

    pub(super) fn radius(&mut self, map: &mut dyn LinearMap) -> Result<f64> {
        if is_small(map.dim()) {
            return dense_radius(&dense(map));
        }
        let mut power = (self.power / 4).max(1);
        let (dim, mut spent) = (map.dim() as u64, 0);
        loop {
            let work = power.saturating_mul((KRYLOV + 1) as u64).saturating_mul(dim);
            spent += work;
            if map.dim() <= LARGEST_DENSE && spent > dim.pow(3) / NUMBERS_FOR_ONE {
                return dense_radius(&dense(map)); // by now no dearer
            }
            self.patience = self.patience.checked_sub(work).ok_or_else(|| {
                Error::NoTheory("telling the largest eigenvalues apart takes too long".to_owned())
            })?;
            let ritz = dominant(map, &mut self.start, power);
            // a random part, so that nothing is ever out of sight
            let mut draws = Draws::new(2, Purpose::Graph, map.dim(), power);
            normalise(&mut self.start);
            self.start.iter_mut().for_each(|s| *s += 1e-3 * draws.normal());
            let Some(ritz) = ritz else {
                // the power overflowed: a smaller one did not, or nothing will
                match power {
                    1 => return Err(Error::NoTheory("a map is not finite".to_owned())),
                    _ => power /= 4,
                }
                continue;
            };
            self.power = power;
            let log = ritz.modulus.ln() / power as f64;
            let error = ritz.residual / ritz.modulus;
            if log < DEAD.ln() {
                return Ok(log.exp());
            }
            let share = error / power as f64 / log.abs(); // of the logarithm, whose sign must be sure
            if error <= RESIDUAL && share <= 0.1 || error <= COARSE && share <= SHARE {
                return Ok(log.exp());
            }
            // four times the power, but not so far that a vector overflows
            let next = (4 * power).min((LARGEST_GROWTH.ln() / log.abs().max(1e-300)) as u64);
            if next <= power {
                let message = "the largest eigenvalues lie too close together to be told apart";
                return Err(Error::NoTheory(message.to_owned()));
            }
            power = next;
        }
    }
}

/// Whether a map of this size is taken as a matrix.
pub(super) fn is_small(dim: usize) -> bool {
    dim <= DENSE
}

/// The spectral radius of a matrix.
pub(super) fn dense_radius(matrix: &Mat<f64>) -> Result<f64> {
    if !matrix.is_all_finite() {
        return Err(Error::NoTheory("a matrix holds numbers that are not finite".to_owned()));
    }
    let largest = |values: Vec<c64>| values.iter().map(|z| z.norm()).fold(0.0, f64::max);
    eigenvalues(matrix).map(largest).map_err(|_| {
        Error::NoTheory("the eigenvalues of a matrix were not found (the iteration did not end)".to_owned())
    })
}

/// The matrix of a map, column by column.
fn dense(map: &mut dyn LinearMap) -> Mat<f64> {
    let mut matrix = Mat::zeros(map.dim(), map.dim());
    let mut column = vec![0.0; map.dim()];
    for j in 0..map.dim() {
        column.fill(0.0);
        column[j] = 1.0;
        map.apply(&mut column, 1);
        (0..map.dim()).for_each(|i| matrix[(i, j)] = column[i]);
    }
    matrix
}

/// The largest Ritz value of A^power.
struct Ritz {
    modulus: f64,
    residual: f64,
}

/// Arnoldi's method on A^power from `start`, which becomes the real span of the dominant Ritz vector.
/// None if it overflows.
fn dominant(map: &mut dyn LinearMap, start: &mut [f64], power: u64) -> Option<Ritz> {
    let size = KRYLOV.min(map.dim());
    let mut basis: Vec<Vec<f64>> = vec![];
    let mut hessenberg = Mat::<f64>::zeros(size + 1, size);
    let mut next = start.to_vec();
    map.apply(&mut next, power); // what dies out at once need not be in the space
    if next.iter().all(|x| *x == 0.0) {
        return Some(Ritz { modulus: 0.0, residual: 0.0 });
    }
    while normalise(&mut next) && basis.len() < size {
        let mut image = next.clone();
        basis.push(next);
        map.apply(&mut image, power);
        let column = basis.len() - 1;
        // twice is enough: orthogonal to rounding
        for _ in 0..2 {
            for (row, vector) in basis.iter().enumerate() {
                let along = dot(vector, &image);
                hessenberg[(row, column)] += along;
                image.iter_mut().zip(vector).for_each(|(x, v)| *x -= along * v);
            }
        }
        hessenberg[(column + 1, column)] = dot(&image, &image).sqrt();
        next = image;
    }
    let m = basis.len();
    let square = hessenberg.submatrix(0, 0, m, m).to_owned();
    let (values, vectors) = (m > 0 && square.is_all_finite()).then(|| eigenvectors(&square).ok())??;
    let largest = (0..m).max_by(|&a, &b| values[a].norm().total_cmp(&values[b].norm())).unwrap_or(0);
    let weights = &vectors[largest];
    let length = weights.iter().map(c64::norm_sqr).sum::<f64>().sqrt();
    start.fill(0.0);
    for (vector, weight) in basis.iter().zip(weights) {
        start.iter_mut().zip(vector).for_each(|(s, v)| *s += (weight.re + weight.im) * v);
    }
    Some(Ritz {
        modulus: values[largest].norm(),
        residual: hessenberg[(m, m - 1)] * weights[m - 1].norm() / length,
    })
}

/// Divides by the length; `false`, and untouched, if there is none.
fn normalise(x: &mut [f64]) -> bool {
    let length = dot(x, x).sqrt();
    if !(length > 0.0 && length.is_finite()) {
        return false;
    }
    x.iter_mut().for_each(|x| *x /= length);
    true
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::families;
    use crate::graph::topology::{Subgraph, Topology, Weights};
    use crate::methods::{PUSH_PULL, Smtpp};
    use crate::theory::linear::RoundMap;

    /// A matrix as a map.
    struct Matrix(Mat<f64>);

    impl LinearMap for Matrix {
        fn dim(&self) -> usize {
            self.0.nrows()
        }

        fn apply(&mut self, x: &mut [f64], times: u64) {
            for _ in 0..times {
                let image = &self.0 * faer::Col::from_fn(x.len(), |i| x[i]);
                x.iter_mut().enumerate().for_each(|(i, x)| *x = image[i]);
            }
        }
    }

    #[test]
    fn krylov_spaces_find_what_all_eigenvalues_show() {
        let smtpp = Smtpp::new(0.1).unwrap();
        for (digraph, step) in
            [(families::flower(60, 4).unwrap(), 0.003), (families::ring(50).unwrap(), 1e-4)]
        {
            for subgraph in [Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees] {
                let topology =
                    Topology::from_digraphs(std::slice::from_ref(&digraph), subgraph, Weights::Uniform, 0)
                        .unwrap();
                for method in [&smtpp as &dyn crate::method::Method, &PUSH_PULL] {
                    let map = RoundMap::new(method, &topology).unwrap();
                    assert!(!is_small(map.dim()));
                    let all = dense_radius(&map.dense_within_law(step).unwrap()).unwrap();
                    let found = radius(&mut map.sparse(step).unwrap()).unwrap();
                    assert!(
                        (found.ln() / all.ln() - 1.0).abs() < 1e-3,
                        "{method:?} {subgraph:?}: {found} {all}"
                    );
                }
            }
        }
    }

    #[test]
    fn defective_and_periodic_maps_are_no_trouble() {
        let block = Mat::from_fn(2, 2, |i, j| [[0.5, 1.0], [0.0, 0.5]][i][j]);
        assert!((radius(&mut Matrix(block)).unwrap() - 0.5).abs() < 1e-7);
        // a cycle: all eigenvalues have one modulus
        for dim in [100, 200] {
            let cycle = Mat::from_fn(dim, dim, |i, j| if i == (j + 1) % dim { 0.9 } else { 0.0 });
            let found = radius(&mut Matrix(cycle));
            assert!(found.as_ref().is_ok_and(|found| (found - 0.9).abs() < 1e-9), "{dim}: {found:?}");
        }
    }

    #[test]
    fn maps_that_are_zero_or_nearly_have_no_radius_to_speak_of() {
        for dim in [3, 200] {
            assert_eq!(radius(&mut Matrix(Mat::zeros(dim, dim))).unwrap(), 0.0);
            let noise = Mat::from_fn(dim, dim, |i, j| 1e-17 * ((i * 31 + j * 17) % 7) as f64);
            assert!(radius(&mut Matrix(noise)).unwrap() < 1e-12);
        }
        // SGP with the step 1/h forgets all it had: (1 − ηh)C; the limit is 2/h all the same
        let ring = families::ring(200).unwrap();
        let ring = Topology::from_digraphs(&[ring], Subgraph::Full, Weights::Uniform, 0).unwrap();
        let limit = crate::theory::stability::limit(&crate::methods::SGP, &ring).unwrap();
        assert!((limit.effective - 2.0).abs() < 1e-3, "{limit:?}");
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        for dim in [3, 200] {
            let broken = Mat::from_fn(dim, dim, |i, j| if (i, j) == (1, 2) { f64::NAN } else { 0.1 });
            assert!(radius(&mut Matrix(broken)).unwrap_err().to_string().contains("finite"));
        }
    }
}
