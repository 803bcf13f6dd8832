//! Laws that hold for every model, on random data; each model's own follow.

use proptest::prelude::*;

use super::*;
use crate::data::Synthetic;
use crate::data::digits::{Split, digits};
use crate::numeric::sample::Purpose;
use crate::problems::{LeastSquares, Robust, RobustLoss, Softmax, TwoLayer};

const FEATURES: usize = 6;
const ROWS: usize = 90;

/// Rows with holes and labels of four classes; as targets they are real numbers like any others.
fn data() -> Dataset {
    let mut draws = Draws::new(3, Purpose::Problem, 0, 9);
    let (mut rows, mut labels) = (SparseRows::new(), vec![]);
    for r in 0..ROWS {
        let row: Vec<(u32, f64)> = (0..FEATURES as u32).map(|column| (column, draws.normal())).collect();
        rows.push(row.into_iter().filter(|(column, _)| !(r + *column as usize).is_multiple_of(3)));
        labels.push(draws.below(4) as f64 - 1.0);
    }
    Dataset { features: FEATURES, labels, rows }
}

fn of<M: Model + 'static>(model: M, batch: Batch, regulariser: Regulariser) -> Box<dyn Problem> {
    let problem = FiniteSum::new(model, &data(), regulariser, Sharing::among(3).batch(batch)).unwrap();
    Box::new(problem.with_test(data()).unwrap())
}

/// Every model.
fn problems(batch: Batch, regulariser: Regulariser) -> Vec<(&'static str, Box<dyn Problem>)> {
    let robust = |loss| Robust::new(FEATURES, loss, 0.7).unwrap();
    vec![
        ("softmax", of(Softmax::new(&data()).unwrap(), batch, regulariser)),
        ("least squares", of(LeastSquares::new(FEATURES), batch, regulariser)),
        ("two-layer", of(TwoLayer::new(&data(), 5, 1).unwrap(), batch, regulariser)),
        ("welsch", of(robust(RobustLoss::Welsch), batch, regulariser)),
        ("cauchy", of(robust(RobustLoss::Cauchy), batch, regulariser)),
    ]
}

fn point(dim: usize, scale: f64, seed: u64) -> Vec<f64> {
    let mut draws = Draws::new(seed, Purpose::Noise, 0, 0);
    (0..dim).map(|_| scale * draws.normal()).collect()
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

fn gradient(problem: &dyn Problem, agent: usize, x: &[f64]) -> Vec<f64> {
    let mut g = vec![9.0; x.len()];
    problem.exact(agent, x, &mut g);
    g
}

/// The gradients of all agents in one call, against rows added one by one, losses and all.
fn check_one_call<M: Model + Clone>(model: M, size: usize, φ: Regulariser, seed: u64) {
    check_batch(model.clone(), Batch::Sampled(size), φ, seed);
    check_batch(model, Batch::Reshuffled(size), φ, seed);
}

fn check_batch<M: Model>(model: M, batch: Batch, φ: Regulariser, seed: u64) {
    let size = batch.drawn().unwrap();
    let problem = FiniteSum::new(model, &data(), φ, Sharing::among(3).batch(batch)).unwrap();
    let d = problem.dim();
    let drawn = |agent| Draws::new(seed, Purpose::Gradient, agent, 1);
    let (points, mut found) = (point(3 * d, 1.0, seed), vec![9.0; 3 * d]);
    let batch = GradientBatch {
        agents: Agents::Range { first: 0, len: 3 },
        points: crate::numeric::row::Rows::new(&points, d, d),
        draws: &mut [0, 1, 2].map(drawn),
        gradients: crate::numeric::row::RowsMut::new(&mut found, d, d),
    };
    problem.gradients(batch).unwrap();
    for (agent, (x, found)) in points.chunks(d).zip(found.chunks(d)).enumerate() {
        let (mut draws, mut g) = (drawn(agent), vec![0.0; d]);
        let mut drawing = problem.batch.drawing(problem.rows_per_agent, &mut draws);
        let rows = RowNumbers::Drawn(size, problem.first_row(agent), &mut drawing);
        problem.add_rows(rows, x, &mut g);
        problem.regulariser.finish_gradient(x, size, &mut g);
        assert_eq!(bits(found), bits(&g), "{:?}, {:?}, {φ:?}", problem.model, problem.batch);
    }
}

#[test]
fn gradients_in_one_call_have_the_bits_of_rows_added_one_by_one() {
    for (size, seed) in [(1, 1), (1, 2), (2, 3), (7, 4), (30, 5)] {
        for φ in [Regulariser::Ridge(0.0), Regulariser::Ridge(0.3), Regulariser::NonConvex(0.2)] {
            let many: Vec<f64> = (-1..19).map(f64::from).collect();
            check_one_call(Softmax::new(&data()).unwrap(), size, φ, seed);
            check_one_call(Softmax::with_classes(FEATURES, &many).unwrap(), size, φ, seed);
            check_one_call(LeastSquares::new(FEATURES), size, φ, seed);
            check_one_call(TwoLayer::new(&data(), 5, 1).unwrap(), size, φ, seed);
            for loss in [RobustLoss::Welsch, RobustLoss::Cauchy] {
                check_one_call(Robust::new(FEATURES, loss, 0.7).unwrap(), size, φ, seed);
            }
        }
    }
}

fn regulariser() -> impl Strategy<Value = Regulariser> {
    (any::<bool>(), 0.0..2.0).prop_map(|(ridge, α)| match ridge {
        true => Regulariser::Ridge(α),
        false => Regulariser::NonConvex(α),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Central differences: an error of h² times a third derivative, and of rounding over h.
    #[test]
    fn gradients_are_the_slopes_of_losses(φ in regulariser(), agent in 0usize..3, scale in 0.01..2.0, seed: u64) {
        for (name, problem) in problems(Batch::Full, φ) {
            let mut x = point(problem.dim(), scale, seed);
            let g = gradient(&*problem, agent, &x);
            let mut unused = g.clone();
            let h = 1e-5;
            for k in 0..x.len() {
                let at = x[k];
                let [above, below] = [h, -h].map(|h| {
                    x[k] = at + h;
                    problem.exact(agent, &x, &mut unused)
                });
                x[k] = at;
                let slope = (above - below) / (2.0 * h);
                prop_assert!((slope - g[k]).abs() < 1e-7, "{name}, coordinate {k}: {slope} and {}", g[k]);
            }
        }
    }

    #[test]
    fn the_mean_of_the_components_is_the_exact_gradient(φ in regulariser(), agent in 0usize..3, seed: u64) {
        for (name, problem) in problems(Batch::Sampled(1), φ) {
            let x = point(problem.dim(), 1.0, seed);
            let samples = problem.samples().unwrap();
            let (mut mean, mut g) = (vec![0.0; x.len()], vec![9.0; x.len()]);
            for sample in 0..samples {
                problem.component(agent, sample, &x, &mut g);
                mean.iter_mut().zip(&g).for_each(|(mean, g)| *mean += g / samples as f64);
            }
            let exact = gradient(&*problem, agent, &x);
            prop_assert!(distance(&mean, &exact) < 1e-12, "{name}: {}", distance(&mean, &exact));
        }
    }

    /// ‖∇f_i(x) − ∇f_i(y)‖ ≤ L‖x − y‖, near and far.
    #[test]
    fn gradients_are_as_lipschitz_as_they_say(φ in regulariser(), agent in 0usize..3, far in 1e-3..10.0, seed: u64) {
        for (name, problem) in problems(Batch::Full, φ) {
            let x = point(problem.dim(), 1.0, seed);
            let y: Vec<f64> = x.iter().zip(point(x.len(), far, !seed)).map(|(x, step)| x + step).collect();
            let change = distance(&gradient(&*problem, agent, &x), &gradient(&*problem, agent, &y));
            prop_assert!(change <= problem.smoothness() * distance(&x, &y), "{name}");
        }
    }

    #[test]
    fn noise_is_within_its_bound(φ in regulariser(), agent in 0usize..3, scale in 0.01..10.0, seed: u64) {
        for (name, problem) in problems(Batch::Sampled(1), φ) {
            let Some(bound) = problem.noise_bound() else { continue };
            let x = point(problem.dim(), scale, seed);
            let (exact, mut g) = (gradient(&*problem, agent, &x), vec![0.0; x.len()]);
            let squares = (0..30).map(|sample| {
                problem.component(agent, sample, &x, &mut g);
                let far = distance(&g, &exact);
                far * far
            });
            let noise = squares.sum::<f64>() / 30.0;
            prop_assert!(noise <= bound, "{name}: {noise} > {bound}");
        }
    }
}

#[test]
fn batches_draw_rows_as_the_bit_contract_says() {
    let ridge = Regulariser::Ridge(0.1);
    for size in [1, 2, 30] {
        for (name, problem) in problems(Batch::Sampled(size), ridge) {
            let x = point(problem.dim(), 1.0, 4);
            let (mut g, mut component) = (vec![9.0; x.len()], vec![9.0; x.len()]);
            let mut draws = Draws::new(5, Purpose::Gradient, 2, 7);
            let mut same = draws.clone();
            problem.prefetch(2, &mut draws);
            problem.gradient(2, &x, &mut draws, &mut g);
            let mut mean = vec![0.0; x.len()];
            for _ in 0..size {
                problem.component(2, same.below(30), &x, &mut component);
                mean.iter_mut().zip(&component).for_each(|(mean, g)| *mean += g / size as f64);
            }
            assert!(distance(&mean, &g) < 1e-13, "{name}, {size}");
            assert!(size > 1 || bits(&component) == bits(&g), "{name}: one row is its component to the bit");
        }
    }
}

#[test]
fn a_pass_without_replacement_has_every_row_once() {
    for size in [1, 2, 5, 30] {
        for (name, problem) in problems(Batch::Reshuffled(size), Regulariser::NonConvex(0.1)) {
            let x = point(problem.dim(), 1.0, 4);
            let (mut g, exact) = (vec![9.0; x.len()], gradient(&*problem, 2, &x));
            for pass in 0..3 {
                let batches = 30 / size as u64;
                let mut mean = vec![0.0; x.len()];
                for k in pass * batches..(pass + 1) * batches {
                    let mut draws = Draws::new(5, Purpose::Gradient, 2, k);
                    problem.prefetch(2, &mut draws);
                    problem.gradient(2, &x, &mut draws, &mut g);
                    mean.iter_mut().zip(&g).for_each(|(mean, g)| *mean += g / batches as f64);
                }
                assert!(distance(&mean, &exact) < 1e-12, "{name}, {size}, {pass}");
            }
            assert!(!problem.noise_is_fresh());
        }
    }
}

#[test]
fn a_full_batch_is_the_exact_gradient_and_points_side_by_side_are_points_alone_to_the_bit() {
    for (name, problem) in problems(Batch::Full, Regulariser::NonConvex(0.1)) {
        let d = problem.dim();
        let points: Vec<Vec<f64>> = (0..5).map(|p| point(d, 1.0, p)).collect();
        let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        let (mut losses, mut gradients) = (vec![9.0; 5], vec![9.0; 5 * d]);
        problem.exact_many(1, &points, &mut losses, &mut gradients);
        for (p, x) in points.iter().enumerate() {
            let (mut alone, mut full) = (vec![9.0; d], vec![9.0; d]);
            assert_eq!(problem.exact(1, x, &mut alone).to_bits(), losses[p].to_bits(), "{name}");
            problem.gradient(1, x, &mut Draws::new(1, Purpose::Gradient, 1, 0), &mut full);
            assert_eq!(bits(&alone), bits(&gradients[p * d..(p + 1) * d]), "{name}");
            assert_eq!(bits(&alone), bits(&full), "{name}");
        }
        assert_eq!((problem.noise(), problem.noise_bound()), (Some(0.0), Some(0.0)), "{name}");
    }
}

/// Rows one after another, written out densely and without any of the helpers.
#[test]
fn softmax_is_its_formula() {
    let problem = FiniteSum::new(
        Softmax::new(&data()).unwrap(),
        &data(),
        Regulariser::Ridge(0.3),
        Sharing::among(1).batch(Batch::Full),
    )
    .unwrap();
    let x = point(FEATURES * 4, 1.0, 8);
    let data = data();
    let mut loss = 0.0;
    for r in 0..ROWS {
        let score = |c: usize| data.rows.row(r).map(|(k, a)| a * x[k as usize * 4 + c]).sum::<f64>();
        let y = (data.labels[r] + 1.0) as usize;
        loss += (0..4).map(|c| score(c).exp()).sum::<f64>().ln() - score(y);
    }
    loss = loss / ROWS as f64 + 0.15 * x.iter().map(|x| x * x).sum::<f64>();
    let found = problem.exact(0, &x, &mut vec![0.0; x.len()]);
    assert!((found - loss).abs() < 1e-13, "{found} {loss}");
}

/// Normal equations by hand: at the minimiser of ½(2x − 1)² + ½(x − 3)² + ½x² (its mean over two rows, with α = ½), 5x − 5 + x = 0.
#[test]
fn least_squares_is_smallest_where_the_normal_equations_say() {
    let mut rows = SparseRows::new();
    rows.push([(0, 2.0)]);
    rows.push([(0, 1.0)]);
    let data = Dataset { features: 1, labels: vec![1.0, 3.0], rows };
    let model = LeastSquares::new(1);
    let problem =
        FiniteSum::new(model, &data, Regulariser::Ridge(0.5), Sharing::among(1).batch(Batch::Full)).unwrap();
    assert!(gradient(&problem, 0, &[5.0 / 6.0])[0].abs() < 1e-15);
    assert!((problem.smoothness() - 3.0).abs() < 1e-9, "(2² + 1²)/2 + α");
    let sampled = FiniteSum::new(model, &data, Regulariser::Ridge(0.5), Sharing::among(1));
    assert_eq!(sampled.unwrap().noise_bound(), None, "residuals have no bound");
    assert_eq!(problem.with_test(data).unwrap().test_accuracies(&[&[1.0]]), None);
}

/// Near zero both are ½r²; far away one ends at c²/2 and the other goes on as a logarithm.
#[test]
fn robust_losses_have_their_limits() {
    let mut rows = SparseRows::new();
    rows.push([(0, 1.0)]);
    let data = Dataset { features: 1, labels: vec![0.0], rows };
    let value = |loss, c, residual: f64| {
        let model = Robust::new(1, loss, c).unwrap();
        let none = Regulariser::Ridge(0.0);
        let problem = FiniteSum::new(model, &data, none, Sharing::among(1).batch(Batch::Full)).unwrap();
        let mut g = [0.0];
        (problem.exact(0, &[residual], &mut g), g[0])
    };
    for loss in [RobustLoss::Welsch, RobustLoss::Cauchy] {
        let (near, slope) = value(loss, 1e6, 0.3);
        assert!((near - 0.045).abs() < 1e-12 && (slope - 0.3).abs() < 1e-12, "{loss:?} {near} {slope}");
        for c in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200] {
            assert!(Robust::new(1, loss, c).is_err(), "{c}");
        }
    }
    assert_eq!(value(RobustLoss::Welsch, 2.0, 1e9), (2.0, 0.0));
    let (far, slope) = value(RobustLoss::Cauchy, 2.0, 1e9);
    assert!((far / (2.0 * (0.25e18f64).ln()) - 1.0).abs() < 1e-12 && (slope * 1e9 / 4.0 - 1.0).abs() < 1e-12);
}

#[test]
fn the_network_starts_from_its_seed_the_same_for_all_agents() {
    let start = |seed| {
        let model = TwoLayer::new(&data(), 7, seed).unwrap();
        let mut x = vec![9.0; model.dim()];
        model.start(&mut x);
        x
    };
    let x = start(1);
    assert_eq!(x.len(), FEATURES * 7 + 7 * 4 + 4);
    assert_eq!(x[x.len() - 4..], [0.0; 4], "no bias at first");
    assert!(x[..x.len() - 4].iter().all(|w| *w != 0.0 && w.abs() < 5.0));
    assert!(x == start(1) && x != start(2));
    for hidden in [0, 1025] {
        assert!(TwoLayer::new(&data(), hidden, 1).unwrap_err().to_string().contains("1 to 1024 units"));
    }
}

#[test]
fn accuracy_counts_the_largest_score_alone() {
    let data = digits(Split::Test);
    let model = Softmax::new(&data).unwrap();
    let (φ, batch) = (Regulariser::Ridge(0.0), Batch::Sampled(1));
    let problem = FiniteSum::new(model, &data, φ, Sharing::among(4).batch(batch)).unwrap();
    let problem = problem.with_test(data.clone()).unwrap();
    // score 1 for threes wherever any of the middle pixels has ink
    let mut threes = vec![0.0; 640];
    (0..64).for_each(|k| threes[k * 10 + 3] = 1.0);
    let share = data.labels.iter().filter(|label| **label == 3.0).count() as f64 / 360.0;
    let nothing = vec![0.0; 640];
    assert_eq!(problem.test_accuracies(&[&threes, &nothing]).unwrap(), [share, 0.0]);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let (data, ridge, batch) = (data(), Regulariser::Ridge(0.1), Batch::Sampled(1));
    let least_squares = |features, data: &Dataset, φ, batch, agents| {
        FiniteSum::new(LeastSquares::new(features), data, φ, Sharing::among(agents).batch(batch))
    };
    let refused = |problem: Result<FiniteSum<LeastSquares>>, words: &str| {
        let error = problem.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(least_squares(5, &data, ridge, batch, 3), "the model has 5 features, the data 6");
    refused(least_squares(6, &data, Regulariser::Ridge(-1.0), batch, 3), "`alpha` = -1");
    refused(least_squares(6, &data, Regulariser::NonConvex(f64::NAN), batch, 3), "`alpha` = NaN");
    refused(least_squares(6, &data, ridge, Batch::Sampled(31), 3), "1 to 30 rows");
    refused(least_squares(6, &data, ridge, batch, 91), "91 agents cannot share 90 rows");
    let labels = vec![f64::INFINITY; ROWS];
    refused(least_squares(6, &Dataset { labels, ..data.clone() }, ridge, batch, 3), "a finite number");

    let one_class = Dataset { labels: vec![2.0; ROWS], ..data.clone() };
    assert!(Softmax::new(&one_class).unwrap_err().to_string().contains("1 different ones"));
    let real = Synthetic { rows: 300, features: 2, noise: 0.0, outliers: 0.0, heterogeneity: 0.0 };
    let error = Softmax::new(&real.draw(3, 1).unwrap()).unwrap_err().to_string();
    assert!(error.contains("300 different ones") && error.contains("2 to 256 classes"), "{error}");

    let softmax = FiniteSum::new(Softmax::new(&data).unwrap(), &data, ridge, Sharing::among(3).batch(batch));
    let softmax = softmax.unwrap();
    let error = softmax.clone().with_test(one_class.with_intercept().unwrap()).unwrap_err().to_string();
    assert!(error.contains("the training data has 6 features, the test data 7"), "{error}");
    let unknown = Dataset { labels: vec![5.0; ROWS], ..data };
    let error = softmax.with_test(unknown).unwrap_err().to_string();
    assert!(error.contains("`labels` = 5") && error.contains("only -1, 0, 1, 2"), "{error}");
}
