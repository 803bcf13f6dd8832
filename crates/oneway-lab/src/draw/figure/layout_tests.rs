use super::*;

#[test]
fn labels_stay_where_there_is_room() {
    assert_eq!(spread(&[10.0, 50.0], 18.0, 0.0, 100.0), [10.0, 50.0]);
    assert!(spread(&[], 18.0, 0.0, 100.0).is_empty());
}

#[test]
fn labels_that_would_overlap_part_about_their_middle() {
    assert_eq!(spread(&[50.0, 50.0], 18.0, 0.0, 100.0), [41.0, 59.0]);
    assert_eq!(spread(&[50.0, 50.0, 50.0], 18.0, 0.0, 100.0), [32.0, 50.0, 68.0]);
    // At an edge they go the other way.
    assert_eq!(spread(&[99.0, 100.0, 100.0], 18.0, 0.0, 100.0), [64.0, 82.0, 100.0]);
}

#[test]
fn labels_are_a_line_apart_inside_and_in_order() {
    proptest::proptest!(|(mut wanted in proptest::collection::vec(-50.0f64..400.0, 0..15))| {
        wanted.sort_by(f64::total_cmp);
        let placed = spread(&wanted, 18.0, 9.0, 291.0);
        assert_eq!(placed.len(), wanted.len());
        assert!(placed.iter().all(|y| (9.0 - 1e-9..=291.0 + 1e-9).contains(y)), "{placed:?}");
        assert!(placed.windows(2).all(|pair| pair[1] - pair[0] >= 18.0 - 1e-9), "{placed:?}");
    });
}

#[test]
fn more_labels_than_room_are_evenly_closer() {
    let placed = spread(&[0.0; 11], 18.0, 0.0, 100.0);
    assert!(placed.iter().enumerate().all(|(i, y)| (y - 10.0 * i as f64).abs() < 1e-9), "{placed:?}");
    assert!(spread(&[f64::NAN, f64::INFINITY], 18.0, 0.0, 100.0).iter().all(|y| y.is_finite()));
}
