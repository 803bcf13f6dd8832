//! A problem around a point, taken apart into one-dimensional ones.
//!
//! With one Hessian H = Σ_k h_k q_k q_kᵀ for all agents, a round of a linear method acts on each direction
//! q_k alone, as it does on f(x) = h_k x²/2. So whatever is known of that, its floor above all, adds up over
//! the directions.
//!
//! For [quadratics](crate::problems::Quadratic) that is exact. Elsewhere it is a model: the curvature is that
//! of F at the point and the noise is the mean of the agents'; that curvatures and noises differ between
//! agents and from point to point is left out. That their gradients differ is not.

use faer::{Mat, MatRef, Side};

use crate::problem::{LocalModel, Problem, Symmetric};
use crate::{Error, Result};

/// A direction q in which the problem is on its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Mode {
    /// h = qᵀ∇²F(x)q.
    pub curvature: f64,
    /// qᵀSq, the variance along q of an agent's gradient, S the mean of the agents' covariances; all together
    /// are σ² at x.
    pub noise: f64,
    /// qᵀ∇f_i(x), each agent's gradient along q: how differently they pull there.
    pub gradients: Vec<f64>,
}

/// The modes of F at x, curvatures ascending; none if the problem does not say how it is curved.
///
/// O(d³ + nd²) and d² numbers for dense Hessians, O(nd) for diagonal ones; and nd numbers for the agents'
/// gradients.
///
/// ```
/// use oneway::problems::{Quadratic, QuadraticShape, Sharing};
/// use oneway::theory::modes::modes;
/// let shape = QuadraticShape { dim: 2, curvature: [0.5, 2.0], heterogeneity: 1.0, noise: 1.0 };
/// let found = modes(&Quadratic::new(shape, 4, 1).unwrap(), &[0.0; 2]).unwrap().unwrap();
/// assert_eq!([found[0].curvature, found[1].curvature], [0.5, 2.0]);
/// assert!((found[0].noise + found[1].noise - 1.0).abs() < 1e-15);
/// ```
pub fn modes(problem: &dyn Problem, x: &[f64]) -> Result<Option<Vec<Mode>>> {
    let (n, d) = (problem.agents(), problem.dim());
    if x.len() != d {
        let (left, right) = ("problem", "point");
        return Err(Error::Mismatch { left, left_size: d, right, right_size: x.len(), unit: "coordinates" });
    }
    let mut mean: Option<LocalModel> = None;
    for agent in 0..n {
        let Some(model) = problem.local_model(agent, x) else { return Ok(None) };
        let LocalModel { hessian, covariance } = mean.get_or_insert_with(|| LocalModel {
            hessian: zero_like(&model.hessian),
            covariance: zero_like(&model.covariance),
        });
        add(hessian, &model.hessian, 1.0 / n as f64)?;
        add(covariance, &model.covariance, 1.0 / n as f64)?;
    }
    let Some(LocalModel { hessian, covariance }) = mean else { return Ok(None) };
    let mut gradients = Mat::zeros(d, n);
    for agent in 0..n {
        problem.exact(agent, x, gradients.col_as_slice_mut(agent));
    }
    let mut modes = match (&hessian, &covariance) {
        (Symmetric::Diagonal(h), Symmetric::Diagonal(s)) => {
            let along = |k: usize| gradients.row(k).iter().copied().collect();
            let modes = h.iter().zip(s).enumerate();
            modes.map(|(k, (&curvature, &noise))| Mode { curvature, noise, gradients: along(k) }).collect()
        }
        (hessian, covariance) => dense_modes(&dense(hessian, d)?, &dense(covariance, d)?, &gradients)?,
    };
    modes.sort_by(|a, b| a.curvature.total_cmp(&b.curvature));
    Ok(Some(modes))
}

/// Eigenvalues of the Hessian, each with the noise and the agents' gradients (a column each) along its
/// eigenvector.
fn dense_modes(hessian: &Mat<f64>, covariance: &Mat<f64>, gradients: &Mat<f64>) -> Result<Vec<Mode>> {
    if !(hessian.is_all_finite() && covariance.is_all_finite()) {
        return Err(Error::NoTheory("the problem's curvature is not finite there".to_owned()));
    }
    let parts = hessian
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| Error::NoTheory("the eigenvectors of the Hessian were not found".to_owned()))?;
    let (q, h) = (parts.U(), parts.S());
    let (s_q, g_q) = (covariance * q, gradients.transpose() * q);
    let noise = |k: usize| (0..q.nrows()).map(|i| q[(i, k)] * s_q[(i, k)]).sum();
    let mode =
        |k: usize| Mode { curvature: h[k], noise: noise(k), gradients: g_q.col(k).iter().copied().collect() };
    Ok((0..q.ncols()).map(mode).collect())
}

fn zero_like(matrix: &Symmetric) -> Symmetric {
    match matrix {
        Symmetric::Diagonal(numbers) => Symmetric::Diagonal(vec![0.0; numbers.len()]),
        Symmetric::Dense(numbers) => Symmetric::Dense(vec![0.0; numbers.len()]),
    }
}

fn add(sum: &mut Symmetric, matrix: &Symmetric, weight: f64) -> Result<()> {
    let (sum, matrix) = match (sum, matrix) {
        (Symmetric::Diagonal(sum), Symmetric::Diagonal(matrix)) => (sum, matrix),
        (Symmetric::Dense(sum), Symmetric::Dense(matrix)) => (sum, matrix),
        _ => return Err(Error::NoTheory("the agents' Hessians have different shapes".to_owned())),
    };
    sum.iter_mut().zip(matrix).for_each(|(sum, number)| *sum += weight * number);
    Ok(())
}

fn dense(matrix: &Symmetric, d: usize) -> Result<Mat<f64>> {
    match matrix {
        Symmetric::Diagonal(diagonal) => {
            Ok(Mat::from_fn(d, d, |i, j| if i == j { diagonal[i] } else { 0.0 }))
        }
        Symmetric::Dense(numbers) if numbers.len() == d * d => {
            Ok(MatRef::from_row_major_slice(numbers, d, d).to_owned())
        }
        Symmetric::Dense(numbers) => {
            Err(Error::NoTheory(format!("a Hessian of {} numbers is not {d} × {d}", numbers.len())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::a9a::{Split, a9a};
    use crate::problems::{Batch, Logistic, Quadratic, QuadraticShape, Sharing};
    use crate::theory::noise;

    fn logistic(batch: Batch) -> Logistic {
        Logistic::new(&a9a(Split::Test), Sharing::among(3).batch(batch), 0.01).unwrap()
    }

    fn point() -> Vec<f64> {
        (0..123).map(|k| 0.3 * f64::from(k % 5) - 0.5).collect()
    }

    #[test]
    fn the_hessian_is_the_slope_of_the_gradient() {
        let (problem, x) = (logistic(Batch::Full), point());
        let Symmetric::Dense(hessian) = problem.local_model(1, &x).unwrap().hessian else { unreachable!() };
        for k in [0, 40, 81, 122] {
            let [ahead, behind] = [1e-5, -1e-5].map(|t| {
                let (mut beside, mut g) = (x.clone(), vec![0.0; 123]);
                beside[k] += t;
                problem.exact(1, &beside, &mut g);
                g
            });
            for j in 0..123 {
                let slope = (ahead[j] - behind[j]) / 2e-5;
                assert!((slope - hessian[j * 123 + k]).abs() < 1e-8, "{j} {k}");
            }
        }
    }

    /// Traces: Σh_k = tr ∇²F, and Σ_k noise = the mean over agents of σ² there.
    #[test]
    fn modes_share_out_all_curvature_and_all_noise() {
        let (problem, x) = (logistic(Batch::Sampled(2)), point());
        let found = modes(&problem, &x).unwrap().unwrap();
        let (mut trace, mut variance) = (0.0, 0.0);
        for agent in 0..3 {
            let model = problem.local_model(agent, &x).unwrap();
            let (Symmetric::Dense(h), Symmetric::Dense(s)) = (model.hessian, model.covariance) else {
                unreachable!()
            };
            trace += (0..123).map(|k| h[k * 124]).sum::<f64>() / 3.0;
            variance += (0..123).map(|k| s[k * 124]).sum::<f64>() / 3.0;
        }
        assert!((found.iter().map(|mode| mode.curvature).sum::<f64>() - trace).abs() < 1e-12);
        assert!((found.iter().map(|mode| mode.noise).sum::<f64>() - variance).abs() < 1e-12);
        assert!(found.iter().all(|mode| mode.noise > -1e-15 && mode.curvature <= problem.smoothness()));
        assert!(found.is_sorted_by(|a, b| a.curvature <= b.curvature));
        let mut g = vec![0.0; 123];
        for agent in 0..3 {
            problem.exact(agent, &x, &mut g);
            let along: f64 = found.iter().map(|mode| mode.gradients[agent].powi(2)).sum();
            let whole: f64 = g.iter().map(|g| g * g).sum();
            assert!((along - whole).abs() < 1e-12, "{along} {whole}");
        }
        // the largest of the agents, drawn, is not below their mean, and near it here
        let drawn = noise::estimate(&problem, &[&x], 4000, 1).unwrap();
        assert!(drawn.variance > variance - 4.0 * drawn.standard_error && drawn.variance < 1.2 * variance);
    }

    #[test]
    fn full_batches_have_curvature_and_no_noise() {
        let found = modes(&logistic(Batch::Full), &point()).unwrap().unwrap();
        assert!(found.iter().all(|mode| mode.noise == 0.0) && found[122].curvature > 0.1);
    }

    /// A diagonal Hessian and the same as a dense one.
    #[test]
    fn dense_and_diagonal_agree() {
        let (h, s) = (Symmetric::Diagonal(vec![1.0, 3.0, 2.0]), Symmetric::Diagonal(vec![0.1, 0.2, 0.3]));
        let pulls = Mat::from_fn(3, 2, |k, agent| (k as f64 + 1.0) * if agent == 0 { 1.0 } else { -1.0 });
        let mut found = dense_modes(&dense(&h, 3).unwrap(), &dense(&s, 3).unwrap(), &pulls).unwrap();
        found.sort_by(|a, b| a.curvature.total_cmp(&b.curvature));
        let expected = [(1.0, 0.1, 1.0), (2.0, 0.3, 3.0), (3.0, 0.2, 2.0)];
        for (mode, (curvature, noise, pull)) in found.iter().zip(expected) {
            assert!((mode.curvature - curvature).abs() < 1e-14 && (mode.noise - noise).abs() < 1e-14);
            // an eigenvector may point either way
            assert!(
                (mode.gradients[0].abs() - pull).abs() < 1e-14 && mode.gradients[0] == -mode.gradients[1]
            );
        }
    }

    #[test]
    fn what_cannot_be_taken_apart_is_refused() {
        let shape = QuadraticShape { dim: 5, curvature: [0.1, 2.0], heterogeneity: 3.0, noise: 1.0 };
        assert!(modes(&Quadratic::new(shape, 3, 1).unwrap(), &[0.0; 4]).is_err());
        let mut sum = Symmetric::Diagonal(vec![0.0]);
        assert!(add(&mut sum, &Symmetric::Dense(vec![0.0]), 1.0).is_err());
        assert!(dense(&Symmetric::Dense(vec![0.0; 3]), 2).is_err());
    }
}
