//! All eigenvalues of a matrix, by faer.
//!
//! By plain QR steps, two shifts at a time, of which it takes a bounded number. From 75 rows on faer's own choice is
//! to look at a whole window of rows for what has converged, and to sort what it finds there by size. In faer 0.24.4 that
//! sorting need not end where eigenvalues are equally large up to rounding, and on rings they are.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, EvdError, EvdParams, evd_real, evd_scratch};
use faer::{Auto, Mat, MatMut, Par, Spec, c64};

/// The eigenvalues of a square matrix of finite numbers, in no order.
pub(super) fn eigenvalues(matrix: &Mat<f64>) -> Result<Vec<c64>, EvdError> {
    found(matrix, None)
}

/// The same, and an eigenvector to each, not of length one.
pub(super) fn eigenvectors(matrix: &Mat<f64>) -> Result<(Vec<c64>, Vec<Vec<c64>>), EvdError> {
    let n = matrix.nrows();
    let mut parts = Mat::zeros(n, n);
    let values = found(matrix, Some(parts.as_mut()))?;
    let mut vectors: Vec<Vec<c64>> = vec![];
    while vectors.len() < n {
        let k = vectors.len();
        if values[k].im == 0.0 {
            vectors.push(parts.col(k).iter().map(|&x| c64::new(x, 0.0)).collect());
        } else {
            // a pair of conjugates: real parts in one column, imaginary parts in the next
            let numbers = parts.col(k).iter().zip(parts.col(k + 1).iter());
            let vector: Vec<c64> = numbers.map(|(&re, &im)| c64::new(re, im)).collect();
            let conjugate = vector.iter().map(c64::conj).collect();
            vectors.extend([vector, conjugate]);
        }
    }
    Ok((values, vectors))
}

fn found(matrix: &Mat<f64>, vectors: Option<MatMut<'_, f64>>) -> Result<Vec<c64>, EvdError> {
    let n = matrix.nrows();
    let mut params = <EvdParams as Auto<f64>>::auto();
    params.schur.blocking_threshold = usize::MAX;
    let params = Spec::new(params);
    let [none, wanted] = [false, vectors.is_some()].map(|wanted| match wanted {
        true => ComputeEigenvectors::Yes,
        false => ComputeEigenvectors::No,
    });
    let mut room = MemBuffer::new(evd_scratch::<f64>(n, none, wanted, Par::Seq, params));
    let [mut re, mut im] = [Diag::<f64>::zeros(n), Diag::zeros(n)];
    let stack = MemStack::new(&mut room);
    evd_real(matrix.as_ref(), re.as_mut(), im.as_mut(), None, vectors, Par::Seq, stack, params)?;
    Ok((0..n).map(|k| c64::new(re[k], im[k])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::families;
    use crate::graph::topology::{Subgraph, Topology, Weights};
    use crate::methods::PUSH_PULL;
    use crate::theory::linear::RoundMap;
    use proptest::prelude::*;

    /// Σz and Σz² are the traces of A and A², whatever A is.
    fn check(matrix: &Mat<f64>) {
        let n = matrix.nrows();
        let found = eigenvalues(matrix).unwrap();
        let square = matrix * matrix;
        let sizes: f64 = found.iter().map(|z| z.norm()).sum();
        for (power, of) in [(1, matrix), (2, &square)] {
            let sum: c64 = found.iter().map(|z| z.powi(power)).sum();
            let trace: f64 = (0..n).map(|i| of[(i, i)]).sum();
            assert!((sum - trace).norm() < 1e-9 * (1.0 + sizes), "{n} rows, power {power}: {sum} {trace}");
        }
    }

    #[test]
    fn eigenvectors_belong_to_eigenvalues() {
        for n in [7, 20, 100] {
            let matrix = Mat::from_fn(n, n, |i, j| ((3 * i + 7 * j) % 11) as f64 / 11.0 - 0.3);
            let (values, vectors) = eigenvectors(&matrix).unwrap();
            for (z, x) in values.iter().zip(&vectors) {
                let off =
                    (0..n).map(|i| ((0..n).map(|j| x[j] * matrix[(i, j)]).sum::<c64>() - z * x[i]).norm());
                let length = x.iter().map(|x| x.norm()).fold(0.0, f64::max);
                assert!(off.fold(0.0, f64::max) < 1e-11 * length, "{n} rows: {z}");
            }
        }
    }

    #[test]
    fn a_lazy_cycle_has_the_eigenvalues_of_theory() {
        // (I + P)/2 has (1 + w)/2 for each n-th root w of one
        for n in [5, 29, 74, 76, 149, 150, 200, 256, 331, 600] {
            let lazy =
                Mat::from_fn(n, n, |i, j| 0.5 * f64::from(u8::from(i == j) + u8::from(i == (j + 1) % n)));
            let mut left = eigenvalues(&lazy).unwrap();
            for k in 0..n {
                let turn = c64::from_polar(1.0, std::f64::consts::TAU * k as f64 / n as f64);
                let expected = (turn + 1.0) * 0.5;
                let far = |z: &c64| (z - expected).norm();
                let nearest =
                    (0..left.len()).min_by(|&a, &b| far(&left[a]).total_cmp(&far(&left[b]))).unwrap();
                assert!(far(&left.swap_remove(nearest)) < 1e-12, "{n} rows: not {expected}");
            }
        }
    }

    #[test]
    fn rounds_of_large_networks_have_eigenvalues() {
        let digraphs = [
            families::ring(80).unwrap(),
            families::ring(150).unwrap(),
            families::flower(60, 4).unwrap(),
            families::exponential(100).unwrap(),
        ];
        for digraph in digraphs {
            for subgraph in [Subgraph::Full, Subgraph::Trees] {
                let topology =
                    Topology::from_digraphs(std::slice::from_ref(&digraph), subgraph, Weights::Uniform, 0)
                        .unwrap();
                let map = RoundMap::new(&PUSH_PULL, &topology).unwrap();
                assert!(map.dim() >= 150);
                [1e-4, 0.03].iter().for_each(|&step| check(&map.dense(step).unwrap()));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn random_digraphs_have_eigenvalues(
            n in 150..320usize,
            arcs in prop::collection::vec((0..320usize, 0..320usize), 0..900),
        ) {
            let mut links = Mat::from_fn(n, n, |i, j| f64::from(i == j || i == (j + 1) % n));
            arcs.iter().for_each(|&(i, j)| links[(i % n, j % n)] = 1.0);
            let rows: Vec<f64> = (0..n).map(|i| links.row(i).iter().sum()).collect();
            check(&Mat::from_fn(n, n, |i, j| links[(i, j)] / rows[i]));
        }
    }
}
