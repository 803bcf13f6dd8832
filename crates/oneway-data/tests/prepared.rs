//! Rows that are held out, scaled, picked and merged.
#![allow(clippy::unwrap_used)]

mod common;

use common::dense;
use oneway::data::{Dataset, SparseRows, Split, a9a, digits};
use oneway_data::classes::{Group, Groups, Label};
use oneway_data::hold_out;
use oneway_data::scaling::Scaling;
use proptest::prelude::*;

fn column(data: &Dataset, c: usize) -> Vec<f64> {
    dense(data).iter().map(|row| row[c]).collect()
}

#[test]
fn standardised_features_have_mean_0_and_variance_1_on_the_rows_they_were_fitted_on() {
    let (train, test) = hold_out(&digits::digits(Split::Train), 0.25, 3).unwrap();
    let fitted = Scaling::Standardise.fit(&train).unwrap();
    let (scaled, held) = (fitted.apply(&train), fitted.apply(&test));
    assert_eq!((scaled.labels.clone(), held.labels.clone()), (train.labels.clone(), test.labels.clone()));
    for c in 0..train.features {
        let (was, is) = (column(&train, c), column(&scaled, c));
        let n = is.len() as f64;
        let mean = is.iter().sum::<f64>() / n;
        let variance = is.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
        let constant = was.iter().all(|v| *v == was[0]);
        assert!(mean.abs() < 1e-12, "{c}: {mean}");
        assert!(if constant { variance == 0.0 } else { (variance - 1.0).abs() < 1e-12 }, "{c}: {variance}");
        // rows held out move by the same numbers: the map is affine and increasing
        let (low, high) = (was.iter().position(|v| *v == 0.0), was.iter().position(|v| *v == 1.0));
        if let (Some(low), Some(high), false) = (low, high, constant) {
            for (v, scaled) in column(&test, c).iter().zip(column(&held, c)) {
                let expected = is[low] + v * (is[high] - is[low]);
                assert!((expected - scaled).abs() < 1e-9, "{c}: {expected} {scaled}");
            }
        }
    }
}

#[test]
fn sparse_rows_stay_sparse_or_are_refused() {
    let a9a = a9a::a9a(Split::Train);
    let told = Scaling::Standardise.fit(&a9a).unwrap_err().to_string();
    assert!(told.contains("the rows are sparse (11.28 % of their cells are not 0)"), "{told}");
    for scaling in [Scaling::UnitVariance, Scaling::MaxAbs, Scaling::UnitNorm] {
        let scaled = scaling.fit(&a9a).unwrap().apply(&a9a);
        assert_eq!(scaled.rows.entries(), a9a.rows.entries(), "{scaling:?}");
    }
    assert_eq!(Scaling::MaxAbs.fit(&a9a).unwrap().apply(&a9a), a9a);
    let unit = Scaling::UnitNorm.fit(&a9a).unwrap().apply(&a9a);
    for r in 0..100 {
        let norm: f64 = unit.rows.row(r).map(|(_, v)| v * v).sum();
        assert!((norm - 1.0).abs() < 1e-12, "{norm}");
    }
}

#[test]
fn numbers_of_any_size_are_scaled_or_refused() {
    let of = |values: &[f64]| {
        let mut rows = SparseRows::new();
        values.iter().for_each(|v| rows.push([(0, *v), (1, 1.0)]));
        Dataset { features: 2, labels: vec![1.0; values.len()], rows }
    };
    let (tiny, large) = (of(&[5e-324, 1e-300]), of(&[1e308, -1e308]));
    for data in [&tiny, &large] {
        let unit = Scaling::UnitNorm.fit(data).unwrap().apply(data);
        assert!(dense(&unit).concat().iter().all(|v| v.is_finite()));
    }
    assert!(Scaling::Standardise.fit(&large).unwrap_err().to_string().contains("too large"));
    assert_eq!(dense(&Scaling::MaxAbs.fit(&large).unwrap().apply(&large)).concat(), [1.0, 1.0, -1.0, 1.0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every row is on one side, in its order; the seed decides, and nothing else.
    #[test]
    fn rows_are_held_out_once(rows in 2_usize..200, share in 0.001..0.999_f64, seed: u64) {
        let numbers: Vec<usize> = (0..rows).collect();
        let mut data = digits::digits(Split::Test).select(&vec![0; rows]);
        data.labels = numbers.iter().map(|r| *r as f64).collect();
        let (train, test) = hold_out(&data, share, seed).unwrap();
        prop_assert_eq!(&(train.clone(), test.clone()), &hold_out(&data, share, seed).unwrap());
        prop_assert_eq!(test.len(), ((share * rows as f64 + 0.5) as usize).clamp(1, rows - 1));
        prop_assert!(train.labels.is_sorted() && test.labels.is_sorted());
        let mut all = [train.labels, test.labels].concat();
        all.sort_unstable_by(f64::total_cmp);
        prop_assert_eq!(all, data.labels);
    }
}

#[test]
fn shares_that_are_none_are_refused() {
    let data = digits::digits(Split::Test);
    for share in [0.0, 1.0, -0.5, 2.0, f64::NAN] {
        assert!(hold_out(&data, share, 1).is_err(), "{share}");
    }
    assert!(hold_out(&data.select(&[0]), 0.5, 1).is_err());
}

#[test]
fn labels_are_picked_and_merged() {
    let data = digits::digits(Split::Test);
    let of = |numbers: &[f64]| Group::Of(numbers.iter().map(|n| Label::Number(*n)).collect());
    let count = |data: &Dataset, label: f64| data.labels.iter().filter(|l| **l == label).count();
    let picked = Groups::new(vec![of(&[3.0]), of(&[5.0, 8.0])]).unwrap().apply(&data, None).unwrap();
    assert_eq!(count(&picked, 0.0), count(&data, 3.0));
    assert_eq!(count(&picked, 1.0), count(&data, 5.0) + count(&data, 8.0));
    assert_eq!(picked.len(), count(&picked, 0.0) + count(&picked, 1.0));
    let one_against_all = Groups::new(vec![Group::Rest, of(&[8.0])]).unwrap().apply(&data, None).unwrap();
    assert_eq!((one_against_all.len(), count(&one_against_all, 1.0)), (data.len(), count(&data, 8.0)));
    for bad in [
        vec![of(&[3.0])],
        vec![of(&[3.0]), of(&[3.0])],
        vec![Group::Rest, Group::Rest],
        vec![of(&[]), Group::Rest],
    ] {
        assert_eq!(Groups::new(bad), None);
    }
    let told =
        Groups::new(vec![of(&[3.0]), of(&[12.0])]).unwrap().apply(&data, None).unwrap_err().to_string();
    assert_eq!(
        told,
        "problem: `classes` = 12 is not possible: no row has this label; there are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9"
    );
}
