//! Charts of made-up curves.

use std::sync::Arc;

use oneway::engine::metrics::Measurement;

use super::*;

fn curve(topology: &str, method: &str, losses: &[f64]) -> Curve {
    let point = |(i, &loss): (usize, &f64)| Measurement {
        iteration: 10 * i as u64,
        loss,
        grad_norm_sq: loss * loss,
        consensus_error: 0.0,
        tracking_error: None,
        momentum_error: None,
        conservation_error: None,
        test_accuracy: None,
        bytes_sent: Some(100 * i as u64),
        time: (topology == "timed").then_some(loss),
        loss_gap: Some(loss),
        agents_grad_norm_sq: None,
        distance_sq: None,
    };
    let points = losses.iter().enumerate().map(point).collect();
    Curve { topology: topology.to_owned(), method: method.to_owned(), repetition: 0, points }
}

#[test]
fn the_mean_is_over_the_repetitions_that_are_there() {
    let curves = [curve("ring", "A", &[1.0, 2.0, 3.0]), curve("ring", "A", &[3.0, f64::INFINITY])];
    let loss = chart(&curves, "ring", Quantity::Loss, Against::BytesSent);
    let series = &loss.series[0];
    assert_eq!((&series.x[..], &series.y[..]), (&[0.0, 100.0, 200.0][..], &[2.0, 2.0, 3.0][..]));
    assert_eq!((&series.low[..], &series.high[..]), (&[1.0, 2.0, 3.0][..], &[3.0, 2.0, 3.0][..]));
    assert_eq!(loss.y.scale, Scale::Linear);
    assert!(chart(&curves, "ring", Quantity::Tracking, Against::Iterations).series.is_empty());
    assert!(chart(&curves, "no such", Quantity::Loss, Against::Iterations).series.is_empty());
}

#[test]
fn lines_over_time_end_together_unless_they_diverged() {
    let curves = [
        curve("timed", "slow", &[0.0, 5.0, 10.0, 15.0]),
        curve("timed", "quick", &[0.0, 2.0, 4.0, 6.0]),
        curve("timed", "diverged", &[0.0, 1.0]),
    ];
    let chart = |curves: &[Curve]| chart(curves, "timed", Quantity::Loss, Against::Time);
    let ends: Vec<Vec<f64>> = chart(&curves).series.into_iter().map(|series| series.x).collect();
    assert_eq!(ends, [vec![0.0, 5.0], vec![0.0, 2.0, 4.0, 6.0], vec![0.0, 1.0]]);
    assert_eq!(chart(&curves).notes, ["Shown until the first method is done, at time 6; others go on."]);
    assert!(chart(&curves[1..]).notes.is_empty(), "none is cut");
}

#[test]
fn a_method_has_one_colour_on_all_topologies() {
    let curves = [curve("a", "new", &[1.0]), curve("b", "newer", &[1.0]), curve("b", "new", &[1.0])];
    let style = |topology, series: usize| {
        chart(&curves, topology, Quantity::Loss, Against::Iterations).series[series].style
    };
    assert_eq!(style("a", 0), style("b", 1));
    assert_ne!(style("b", 0), style("b", 1));
    assert_eq!(topologies(&curves), ["a", "b"]);
}

#[test]
fn bytes_that_differ_much_are_drawn_by_their_logarithm() {
    let mut curves = [curve("ring", "whole", &[3.0, 2.0]), curve("ring", "coded", &[3.0, 2.0])];
    let scale = |curves: &[Curve]| chart(curves, "ring", Quantity::Loss, Against::BytesSent).x.scale;
    assert_eq!(scale(&curves), Scale::Linear);
    Arc::make_mut(&mut curves[1].points)[1].bytes_sent = Some(10);
    assert_eq!(scale(&curves), Scale::Log);
    assert_eq!(
        chart(&curves, "ring", Quantity::Loss, Against::Iterations).x.scale,
        Scale::Linear,
        "rounds stay as they are"
    );
}

fn drawn(chart: &Chart) -> String {
    crate::draw::figure::render::svg(chart, crate::draw::figure::render::Theme::Light)
}

#[test]
fn a_run_that_converges_is_drawn_whole_however_far_it_goes() {
    let falling: Vec<f64> = (0..3000).map(|k| 5.0 * 0.977_f64.powi(k)).collect(); // 5 to 1e-30
    let humped = [0.7, 600.0, 1e7, 40.0, 0.5, 0.4]; // up and back is not away
    let curves =
        [curve("ring", "A", &falling), curve("ring", "B", &[5.0, 4.9, 4.8]), curve("ring", "C", &humped)];
    for quantity in Quantity::ALL {
        for against in [Against::Iterations, Against::BytesSent] {
            let chart = chart(&curves, "ring", quantity, against);
            assert_eq!(chart.y.limit, None, "{quantity:?}");
            assert!(chart.notes.is_empty() && !drawn(&chart).contains("class=\"leaves\""), "{quantity:?}");
        }
    }
}

#[test]
fn only_what_diverges_is_cut_and_it_is_marked_and_said() {
    let good = curve("ring", "good", &[0.7, 0.4]);
    let curves =
        [good.clone(), curve("ring", "bad", &[0.7, 1e3, 1e9]), curve("ring", "worse", &[0.7, f64::NAN])];
    for quantity in [Quantity::Loss, Quantity::Gradient] {
        let chart = chart(&curves, "ring", quantity, Against::Iterations);
        let limit = chart.y.limit.unwrap();
        assert!(chart.series[0].y.iter().all(|y| *y < limit), "the good one is drawn whole");
        assert_eq!(
            chart.notes,
            ["Cut off at a triangle, as it ends above ten times the loss of its start: bad."],
            "worse ends with its start"
        );
        let svg = drawn(&chart);
        assert_eq!(svg.matches("class=\"leaves\"").count(), 1);
        assert!(svg.contains("Cut off at a triangle"));
    }
    let loss = |curves: &[Curve]| chart(curves, "ring", Quantity::Loss, Against::Iterations);
    assert_eq!(loss(&curves).y.scale, loss(&[good]).y.scale, "nor is the good one squeezed");
    // where all diverge there is nobody to be seen better without them
    assert_eq!((loss(&curves[1..2]).y.limit, loss(&curves[1..2]).y.scale), (None, Scale::Log));
}

#[test]
fn lines_and_bands_are_explained() {
    let again = |losses: &[f64]| Curve { repetition: 1, ..curve("ring", "A", losses) };
    let curves = [curve("ring", "A", &[1.0, 2.0]), again(&[1.0, 3.0])];
    let notes = |curves: &[Curve]| chart(curves, "ring", Quantity::Loss, Against::Iterations).notes;
    assert_eq!(notes(&curves), ["Lines: means of 2 repetitions. Bands: from their lowest to their highest."]);
    assert!(notes(&curves[..1]).is_empty());
}
