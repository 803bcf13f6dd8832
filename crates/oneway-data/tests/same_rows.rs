//! A dataset is the same rows to the last bit, however it is written.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{EXPECTED, every_form, read};
use oneway::data::{Dataset, SparseRows, Split, digits};
use oneway_data::{Column, Expected, LabelKind, Layout};
use proptest::collection::vec;
use proptest::prelude::*;

/// Rows of any finite numbers, with zeros among them.
fn datasets() -> impl Strategy<Value = Dataset> {
    let value = prop_oneof![3 => Just(0.0), 1 => Just(1.0), 2 => any::<f64>().prop_filter("finite", |v| v.is_finite())];
    (1_usize..6, 1_usize..12).prop_flat_map(move |(features, count)| {
        let rows = vec(vec(value.clone(), features), count);
        (Just(features), rows, vec(-3_i8..4, count)).prop_map(|(features, rows, labels)| {
            let mut sparse = SparseRows::new();
            for row in rows {
                let stored = (0..).zip(row).filter(|(_, value)| *value != 0.0);
                sparse.push(stored.collect::<Vec<_>>());
            }
            Dataset { features, labels: labels.into_iter().map(f64::from).collect(), rows: sparse }
        })
    })
}

#[track_caller]
fn assert_same(data: &Dataset) {
    for (name, bytes, layout) in every_form(data) {
        let features = Some(data.features); // LIBSVM's text does not show a last feature that is always 0
        let read = read(name, &bytes, &layout, Expected { features, ..EXPECTED });
        assert_eq!(&read.unwrap_or_else(|error| panic!("{name}: {error}")).data, data, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_format_gives_the_same_rows(data in datasets()) {
        assert_same(&data);
    }
}

#[test]
fn every_format_gives_the_same_digits() {
    assert_same(&digits::digits(Split::Test));
}

#[test]
fn numbers_of_every_type_are_read_exactly() {
    let wide: [(&str, Vec<u8>); 9] = [
        ("<f4", [1.5_f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect()),
        (">f8", [1.5_f64, -2.0].iter().flat_map(|v| v.to_be_bytes()).collect()),
        ("|i1", vec![1, 0xfe]),
        ("<i2", [1_i16, -2].iter().flat_map(|v| v.to_le_bytes()).collect()),
        (">i4", [1_i32, -2].iter().flat_map(|v| v.to_be_bytes()).collect()),
        ("<i8", [1_i64, -2].iter().flat_map(|v| v.to_le_bytes()).collect()),
        ("|u1", vec![1, 254]),
        ("<u8", [1_u64, 1 << 60].iter().flat_map(|v| v.to_le_bytes()).collect()),
        ("|b1", vec![1, 1]),
    ];
    let expected = [
        1.5,
        -2.0,
        1.5,
        -2.0,
        1.0,
        -2.0,
        1.0,
        -2.0,
        1.0,
        -2.0,
        1.0,
        -2.0,
        1.0,
        254.0,
        1.0,
        (1_u64 << 60) as f64,
        1.0,
        1.0,
    ];
    for ((descr, bytes), values) in wide.into_iter().zip(expected.chunks(2)) {
        let labels = common::npy("|i1", &[2], false, &[0, 1]);
        let file = common::zip(
            &[("data.npy", &common::npy(descr, &[2, 1], false, &bytes)), ("target.npy", &labels)],
            true,
        );
        let data = read("types.npz", &file, &Layout::default(), EXPECTED).unwrap().data;
        assert_eq!(common::dense(&data).concat(), values, "{descr}");
    }
    let beyond: Vec<u8> = [1_i64, (1 << 60) + 1].iter().flat_map(|v| v.to_le_bytes()).collect();
    let labels = common::npy("|i1", &[2], false, &[0, 1]);
    let file =
        common::zip(&[("X.npy", &common::npy("<i8", &[2, 1], false, &beyond)), ("y.npy", &labels)], false);
    let told = common::complaint("big.npz", &file, &Layout::default(), EXPECTED);
    assert!(told.contains("`X.npy` has a whole number beyond 2⁵³"), "{told}");
}

/// Files with both parts, as the usual copy of MNIST has them; images are rows.
#[test]
fn arrays_are_found_by_their_usual_names_or_by_yours() {
    let images = common::npy("|u1", &[2, 2, 2], false, &[1, 2, 3, 4, 5, 6, 7, 8]);
    let held = common::npy("|u1", &[1, 2, 2], false, &[9, 9, 9, 9]);
    let [labels, one] = [&[7_u8, 3][..], &[3]].map(|bytes| common::npy("|u1", &[bytes.len()], false, bytes));
    let file = common::zip(
        &[("x_test.npy", &held), ("x_train.npy", &images), ("y_train.npy", &labels), ("y_test.npy", &one)],
        true,
    );
    let train = read("mnist.npz", &file, &Layout::default(), EXPECTED).unwrap().data;
    assert_eq!((train.features, &train.labels[..]), (4, &[7.0, 3.0][..]));
    let test =
        read("mnist.npz", &file, &Layout::default(), Expected { split: Split::Test, ..EXPECTED }).unwrap();
    assert_eq!(test.data.labels, [3.0]);
    let layout = Layout {
        label: Some(Column::Name("y_test".to_owned())),
        array: Some("x_test".to_owned()),
        ..Layout::default()
    };
    assert_eq!(read("mnist.npz", &file, &layout, EXPECTED).unwrap().data, test.data);
}

#[test]
fn words_are_classes_in_their_order_and_test_rows_use_the_same() {
    let csv = b"5.1,3.5,setosa\n4.9,3.0,virginica\n6,1,\"versi, color\"\n1,2,setosa\n";
    let layout = Layout { label: Some(Column::Number(3)), ..Layout::default() };
    let read_as =
        |text: &[u8], labels, words| read("iris.csv", text, &layout, Expected { labels, words, ..EXPECTED });
    let train = read_as(csv, LabelKind::Classes, None).unwrap();
    let words = ["setosa", "versi, color", "virginica"].map(str::to_owned);
    assert_eq!(
        (&train.data.labels[..], train.words.as_deref()),
        (&[0.0, 2.0, 1.0, 0.0][..], Some(&words[..]))
    );
    let test = read_as(b"1,1,virginica\n", LabelKind::Classes, Some(&words)).unwrap();
    assert_eq!(test.data.labels, [2.0]);
    let told = |text: &[u8], labels, words| read_as(text, labels, words).unwrap_err().to_string();
    assert!(
        told(b"1,1,rose\n", LabelKind::Classes, Some(&words))
            .contains("the label `rose` is none of the training rows'")
    );
    assert!(told(csv, LabelKind::Signs, None).contains("its labels are 3 words"));
    assert!(
        told(csv, LabelKind::Targets, None).contains("iris.csv:1:3: the target `setosa` is not a number")
    );
    let two = read_as(b"1,1,yes\n2,2,no\n", LabelKind::Signs, None).unwrap();
    assert_eq!(two.data.labels, [1.0, -1.0]);
}
