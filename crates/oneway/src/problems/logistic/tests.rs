//! Tests of the whole problem; those of one margin are with it.

use super::*;
use crate::data::a9a::{Split, a9a};
use crate::numeric::sample::Purpose;

fn problem(batch: Batch) -> Logistic {
    Logistic::new(&a9a(Split::Test), Sharing::among(20).batch(batch), 0.01).unwrap()
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

fn point() -> Vec<f64> {
    (0..123).map(|k| 0.9 * f64::from(k % 7) - 2.0).collect()
}

#[test]
fn gradient_is_the_slope_of_the_loss() {
    let problem = problem(Batch::Full);
    let (mut x, mut g, mut unused) = (point(), vec![0.0; 123], vec![0.0; 123]);
    problem.exact(7, &x, &mut g);
    for k in [0, 40, 81, 122] {
        let h = 1e-5;
        let at = x[k];
        x[k] = at + h;
        let above = problem.exact(7, &x, &mut unused);
        x[k] = at - h;
        let below = problem.exact(7, &x, &mut unused);
        x[k] = at;
        assert!(((above - below) / (2.0 * h) - g[k]).abs() < 1e-9, "coordinate {k}");
    }
}

#[test]
fn a_full_batch_is_the_exact_gradient_to_the_bit() {
    let problem = problem(Batch::Full);
    let (x, mut exact, mut full) = (point(), vec![0.0; 123], vec![0.0; 123]);
    problem.exact(3, &x, &mut exact);
    problem.gradient(3, &x, &mut Draws::new(1, Purpose::Gradient, 3, 0), &mut full);
    assert_eq!(exact, full);
}

#[test]
fn sampled_gradients_have_the_exact_one_as_their_mean() {
    let problem = problem(Batch::Sampled(4));
    let (x, mut exact, mut g) = (point(), vec![0.0; 123], vec![0.0; 123]);
    problem.exact(3, &x, &mut exact);
    let mut mean = vec![0.0; 123];
    const ROUNDS: u64 = 20_000;
    for k in 0..ROUNDS {
        problem.gradient(3, &x, &mut Draws::new(1, Purpose::Gradient, 3, k), &mut g);
        mean.iter_mut().zip(&g).for_each(|(mean, g)| *mean += g / ROUNDS as f64);
    }
    // one coordinate of one sample is within ±1, so its mean has a deviation of at most ½/√80,000
    let far = mean.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(far < 5.0 * 0.5 / 80_000f64.sqrt(), "{far}");
}

/// 814 rows: batches of one, of a few, of blocks, and of all.
#[test]
fn a_pass_without_replacement_has_the_exact_gradient_as_its_mean() {
    let (x, mut exact, mut g) = (point(), vec![0.0; 123], vec![0.0; 123]);
    for size in [1, 2, 11, 814] {
        let problem = problem(Batch::Reshuffled(size));
        problem.exact(3, &x, &mut exact);
        let batches = 814 / size as u64;
        for pass in 0..3 {
            let mut mean = vec![0.0; 123];
            for k in pass * batches..(pass + 1) * batches {
                problem.gradient(3, &x, &mut Draws::new(1, Purpose::Gradient, 3, k), &mut g);
                mean.iter_mut().zip(&g).for_each(|(mean, g)| *mean += g / batches as f64);
            }
            assert!(distance(&mean, &exact) < 1e-13, "{size}, {pass}: {}", distance(&mean, &exact));
        }
    }
}

/// Over many orders the batches of a round have the variance that the local model says, less than with replacement.
#[test]
fn rows_that_differ_have_less_noise() {
    let data = a9a(Split::Test).select(&(0..60).collect::<Vec<_>>());
    let x = point();
    let variance = |batch| {
        let problem = Logistic::new(&data, Sharing::among(2).batch(batch), 0.01).unwrap();
        let Symmetric::Dense(covariance) = problem.local_model(1, &x).unwrap().covariance else {
            unreachable!()
        };
        let (mut exact, mut g, mut drawn) = (vec![0.0; 123], vec![0.0; 123], 0.0);
        problem.exact(1, &x, &mut exact);
        const ORDERS: u64 = 4000;
        for seed in 0..ORDERS {
            problem.gradient(1, &x, &mut Draws::new(seed, Purpose::Gradient, 1, seed % 2), &mut g);
            drawn += distance(&g, &exact).powi(2) / ORDERS as f64;
        }
        let said: f64 = (0..123).map(|k| covariance[k * 124]).sum();
        assert!((drawn / said - 1.0).abs() < 0.05, "{batch:?}: {drawn}, {said}");
        assert!(drawn < problem.noise_bound().unwrap() && problem.noise().is_none());
        assert_eq!(problem.noise_is_fresh(), matches!(batch, Batch::Sampled(_)));
        said
    };
    let [with, without] = [Batch::Sampled(10), Batch::Reshuffled(10)].map(variance);
    assert!((without / with - 20.0 / 29.0).abs() < 1e-9, "(m − b)/(m − 1): {without}, {with}");
    let all = Logistic::new(&data, Sharing::among(2).batch(Batch::Reshuffled(30)), 0.01).unwrap();
    let Symmetric::Dense(none) = all.local_model(0, &x).unwrap().covariance else { unreachable!() };
    assert!(none.iter().all(|s| *s == 0.0), "all rows are no draw");
}

#[test]
fn the_mean_of_the_components_is_the_exact_gradient() {
    let problem = problem(Batch::Full);
    let (x, mut exact, mut g, mut mean) = (point(), vec![0.0; 123], vec![9.0; 123], vec![0.0; 123]);
    problem.exact(7, &x, &mut exact);
    let samples = problem.samples().unwrap();
    assert_eq!(samples, 814);
    for sample in 0..samples {
        problem.component(7, sample, &x, &mut g);
        mean.iter_mut().zip(&g).for_each(|(mean, g)| *mean += g / samples as f64);
    }
    assert!(distance(&mean, &exact) < 1e-14, "{}", distance(&mean, &exact));
}

#[test]
fn a_batch_of_one_is_the_component_it_draws_to_the_bit() {
    let problem = problem(Batch::Sampled(1));
    let (x, mut drawn, mut component) = (point(), vec![0.0; 123], vec![9.0; 123]);
    for round in 0..50 {
        let mut draws = Draws::new(1, Purpose::Gradient, 3, round);
        let sample = draws.clone().below(814);
        problem.gradient(3, &x, &mut draws, &mut drawn);
        problem.component(3, sample, &x, &mut component);
        assert_eq!(bits(&drawn), bits(&component), "round {round}");
    }
}

#[test]
fn a_batch_of_one_has_the_bits_of_a_batch_however_summed() {
    let problem = problem(Batch::Sampled(1));
    for r in 0..500 {
        let x: Vec<f64> =
            point().iter().map(|x| if r % 5 == 0 { -0.0 } else { x * 0.01 * r as f64 }).collect();
        let (mut one, mut summed) = (vec![9.0; 123], vec![0.0; 123]);
        problem.component(r / 814, r % 814, &x, &mut one);
        let rows = std::iter::once(r);
        problem.rows.with(AddSampled { labels: &problem.labels, rows, x: &x, g: &mut summed });
        problem.finish_gradient(&x, 1, &mut summed);
        assert_eq!(bits(&one), bits(&summed), "row {r}");
    }
}

#[test]
fn rows_one_by_one_and_in_blocks_give_the_same_bits() {
    let (data, x) = (a9a(Split::Test), point());
    for rows in [1, 31, 32, 33, 100] {
        let (mut one_by_one, mut in_blocks) = (vec![0.0; 123], vec![0.0; 123]);
        let labels: Vec<i8> = data.labels.iter().map(|&label| label as i8).collect();
        let labels = &labels[..];
        data.rows.with(AddSampled { labels, rows: 0..rows, x: &x[..], g: &mut one_by_one[..] });
        let (x, g) = (x.as_chunks::<1>().0, in_blocks.as_chunks_mut::<1>().0);
        let [loss] = data.rows.with(AddGradients { labels, rows: 0..rows, x, g });
        assert!(loss > 0.0);
        assert_eq!(bits(&one_by_one), bits(&in_blocks), "{rows} rows");
    }
}

#[test]
fn points_side_by_side_have_the_bits_of_points_alone() {
    let problem = problem(Batch::Full);
    let points: Vec<Vec<f64>> =
        (0..19).map(|p| point().iter().map(|x| x * (0.1 * f64::from(p) - 0.5)).collect()).collect();
    let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
    for count in [1, 2, 8, 9, 19] {
        let (mut losses, mut gradients) = (vec![0.0; count], vec![0.0; count * 123]);
        problem.exact_many(7, &points[..count], &mut losses, &mut gradients);
        for p in 0..count {
            let mut g = vec![0.0; 123];
            assert_eq!(problem.exact(7, points[p], &mut g), losses[p], "{p} of {count}");
            assert_eq!(bits(&g), bits(&gradients[p * 123..(p + 1) * 123]), "{p} of {count}");
        }
    }
}

/// More features than a byte can name, with values: no tables, and the same laws.
#[test]
fn wide_and_valued_data_follow_the_same_laws() {
    let mut rows = crate::data::SparseRows::new();
    for r in 0..60u32 {
        rows.push([(r % 7, 0.5), (40 + r, -1.5), (290 + r % 10, f64::from(r) * 0.1)]);
    }
    let labels = (0..60).map(|r| if r % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let data = Dataset { features: 300, labels, rows };
    let of = |batch| Logistic::new(&data, Sharing::among(3).batch(batch), 0.01).unwrap();
    let problem = of(Batch::Full).with_test(data.clone()).unwrap();
    let point = |p: usize| (0..300).map(|k| 0.01 * ((k * 7 + p * 13) % 50) as f64 - 0.2).collect();
    let points: Vec<Vec<f64>> = (0..9).map(point).collect();
    let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
    let (mut losses, mut gradients) = (vec![0.0; 9], vec![0.0; 9 * 300]);
    problem.exact_many(1, &points, &mut losses, &mut gradients);
    for (p, x) in points.iter().enumerate() {
        let (mut g, mut full, mut unused) = (vec![0.0; 300], vec![0.0; 300], vec![0.0; 300]);
        assert_eq!(problem.exact(1, x, &mut g), losses[p]);
        problem.gradient(1, x, &mut Draws::new(1, Purpose::Gradient, 1, 0), &mut full);
        assert!(g == gradients[p * 300..(p + 1) * 300] && g == full);
        let slope_at = |k: usize, unused: &mut [f64]| {
            let [above, below] = [1e-5, -1e-5].map(|h| {
                let mut x = x.to_vec();
                x[k] += h;
                problem.exact(1, &x, unused)
            });
            (above - below) / 2e-5
        };
        assert!([3, 65, 295].iter().all(|&k| (slope_at(k, &mut unused) - g[k]).abs() < 1e-8));
    }
    let by_hand = |x: &[f64]| {
        let right = |&r: &usize| {
            let product: f64 = data.rows.row(r).map(|(k, value)| value * x[k as usize]).sum();
            data.labels[r] * product > 0.0
        };
        (0..60).filter(right).count() as f64 / 60.0
    };
    let expected: Vec<f64> = points.iter().map(|x| by_hand(x)).collect();
    assert_eq!(problem.test_accuracies(&points).unwrap(), expected);
    // batches in blocks and row by row draw the same rows
    for size in [7, 8, 20] {
        let sampled = of(Batch::Sampled(size));
        let (mut g, mut by_rows) = (vec![0.0; 300], vec![0.0; 300]);
        sampled.gradient(1, points[3], &mut Draws::new(5, Purpose::Gradient, 1, 2), &mut g);
        let mut draws = Draws::new(5, Purpose::Gradient, 1, 2);
        let rows = (0..size).map(|_| 20 + draws.below(20));
        sampled.rows.with(AddSampled { labels: &sampled.labels, rows, x: points[3], g: &mut by_rows });
        sampled.finish_gradient(points[3], size, &mut by_rows);
        assert_eq!(g, by_rows, "batches of {size}");
    }
}

#[test]
fn data_that_do_not_fit_together_are_refused() {
    let whole = a9a(Split::Test);
    let refused = |data: Dataset| {
        Logistic::new(&data, Sharing::among(20).batch(Batch::Full), 0.01).unwrap_err().to_string()
    };
    assert!(refused(Dataset { features: 0, ..whole.clone() }).contains("at least one feature"));
    assert!(refused(Dataset { features: 100, ..whole.clone() }).contains("column 1"));
    assert!(refused(Dataset { labels: vec![1.0; 20_000], ..whole.clone() }).contains("20000 for 16281 rows"));
    assert!(refused(Dataset { labels: vec![2.0; 16_281], ..whole.clone() }).contains("+1 or -1"));
    let mut twice = crate::data::SparseRows::new();
    twice.push([(3, 1.0), (3, 1.0)]);
    assert!(refused(Dataset { features: 123, labels: vec![1.0], rows: twice }).contains("each at most once"));
    let none = Dataset { features: 123, labels: vec![], rows: Default::default() };
    assert!(problem(Batch::Full).with_test(none).is_err());
}

#[test]
fn accuracy_counts_signs() {
    let problem = problem(Batch::Full).with_test(a9a(Split::Test)).unwrap();
    // w = −1 on feature 1 alone: wrong or undecided unless feature 1 is set and the label −1
    let mut x = vec![0.0; 123];
    x[0] = -1.0;
    let test = a9a(Split::Test);
    let right =
        (0..test.len()).filter(|&r| test.labels[r] < 0.0 && test.rows.row(r).any(|e| e.0 == 0)).count();
    let nothing = vec![0.0; 123];
    let accuracies = problem.test_accuracies(&[&x, &nothing]).unwrap();
    assert_eq!(accuracies, [right as f64 / 16_281.0, 0.0]);
}

#[test]
fn impossible_batches_and_weights_are_refused() {
    let data = a9a(Split::Test);
    for batch in [0, 815] {
        let error = Logistic::new(&data, Sharing::among(20).batch(Batch::Sampled(batch)), 0.01).unwrap_err();
        assert!(error.to_string().contains("1 to 814 rows"), "{error}");
    }
    assert!(Logistic::new(&data, Sharing::among(20).batch(Batch::Full), -1.0).is_err());
    assert!(Logistic::new(&data, Sharing::among(16_282).batch(Batch::Full), 0.01).is_err());
}

/// Against a dense eigen-decomposition made elsewhere: the steepest of twenty shares, and all rows at once.
#[test]
fn smoothness_of_the_papers_problem() {
    let smoothness = |agents| {
        let data = a9a(Split::Train);
        Logistic::new(&data, Sharing::among(agents), 0.01).unwrap().smoothness()
    };
    let (of_agents, of_all) = (smoothness(20), smoothness(1));
    assert!((of_agents - 1.607_241_244_805).abs() < 1e-10, "{of_agents}");
    assert!((of_all - 1.5919).abs() < 1e-4, "{of_all}");
}

/// ‖∇f_i(x) − ∇f_i(y)‖ ≤ L‖x − y‖ on random pairs, near and far.
#[test]
fn gradients_are_lipschitz() {
    let problem = problem(Batch::Full);
    let l = problem.smoothness();
    for pair in 0..200 {
        let mut draws = Draws::new(1, Purpose::Problem, 0, pair);
        let scale = libm::pow(10.0, f64::from(pair as u32 % 5) - 3.0);
        let x: Vec<f64> = (0..123).map(|_| draws.normal()).collect();
        let y: Vec<f64> = x.iter().map(|x| x + scale * draws.normal()).collect();
        let (mut at_x, mut at_y) = (vec![0.0; 123], vec![0.0; 123]);
        problem.exact(pair as usize % 20, &x, &mut at_x);
        problem.exact(pair as usize % 20, &y, &mut at_y);
        assert!(distance(&at_x, &at_y) <= l * distance(&x, &y), "pair {pair}");
    }
}

/// At x = 0 every row has curvature ¼: along the top eigenvector the gradient changes by L‖x‖, without a
/// regulariser.
#[test]
fn smoothness_is_attained_at_the_origin() {
    let problem = Logistic::new(&a9a(Split::Test), Sharing::among(20).batch(Batch::Full), 0.0).unwrap();
    let (origin, t) = (vec![0.0; 123], 1e-5);
    let steepest = (0..20).map(|agent| {
        let (mut v, mut at) = (vec![1.0; 123], vec![0.0; 123]);
        let (mut slope, mut g) = (0.0, vec![0.0; 123]);
        problem.exact(agent, &origin, &mut at);
        // power iteration on central differences of the gradient
        for _ in 0..60 {
            let length = distance(&v, &origin);
            let [ahead, behind] = [t, -t].map(|t| v.iter().map(|v| t * v / length).collect::<Vec<_>>());
            problem.exact(agent, &ahead, &mut g);
            problem.exact(agent, &behind, &mut at);
            v = g.iter().zip(&at).map(|(g, at)| (g - at) / (2.0 * t)).collect();
            slope = distance(&v, &origin);
        }
        slope
    });
    let steepest = steepest.fold(0.0, f64::max);
    assert!((problem.smoothness() / steepest - 1.0).abs() < 1e-6, "{} {steepest}", problem.smoothness());
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}
