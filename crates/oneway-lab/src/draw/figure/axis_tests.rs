use super::*;

fn majors(scale: Scale, min: f64, max: f64) -> Vec<String> {
    let range = Range { scale, min, max, start: 0.0, end: 1.0 };
    range.ticks(6).major.into_iter().map(|(_, label)| label).collect()
}

#[test]
fn labels_read_well() {
    let linear = |min, max| majors(Scale::Linear, min, max);
    assert_eq!(linear(0.0, 900.0), ["0", "200", "400", "600", "800"]);
    assert_eq!(linear(0.38, 0.7), ["0.4", "0.5", "0.6", "0.7"]);
    assert_eq!(linear(0.0, 10_000.0), ["0", "2k", "4k", "6k", "8k", "10k"]);
    assert_eq!(linear(0.0, 5.6e6), ["0", "1M", "2M", "3M", "4M", "5M"]);
    assert_eq!(linear(-0.2, 0.1), ["−0.20", "−0.15", "−0.10", "−0.05", "0", "0.05", "0.10"]);
    assert_eq!(
        linear(0.0, 3e-7),
        ["0", "0.5×10⁻⁷", "1.0×10⁻⁷", "1.5×10⁻⁷", "2.0×10⁻⁷", "2.5×10⁻⁷", "3.0×10⁻⁷"]
    );
    let log = |min, max| majors(Scale::Log, min, max);
    assert_eq!(log(9e-5, 0.5), ["10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"]);
    assert_eq!(log(1e-12, 1.0), ["10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³", "10⁰"]);
}

#[test]
fn less_than_two_decades_have_ticks_between_powers_of_ten() {
    assert_eq!(majors(Scale::Log, 0.015, 0.6), ["0.02", "0.05", "0.1", "0.2", "0.5"]);
    assert_eq!(majors(Scale::Log, 2.1, 2.9), ["2.2", "2.4", "2.6", "2.8"]);
    assert_eq!(majors(Scale::Log, 1.5e-6, 6e-5), ["2×10⁻⁶", "5×10⁻⁶", "10⁻⁵", "2×10⁻⁵", "5×10⁻⁵"]);
}

/// Numbers that have broken axes before, or might.
const HOSTILE: [f64; 16] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    1e-300,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    1e300,
    1e16,
    1e16 + 2.0,
    0.1 + 0.2,
];

#[test]
fn any_two_numbers_make_a_range_with_ticks_inside() {
    for scale in [Scale::Linear, Scale::Log] {
        for a in HOSTILE {
            for b in HOSTILE {
                check(Range::fit(scale, [a, b].into_iter(), 0.03), [a, b]);
            }
        }
    }
}

#[test]
fn ticks_are_nice_and_cover_the_range() {
    proptest::proptest!(|(a in -1e9f64..1e9, size in 1e-9f64..1e9, exponent in -250f64..250.0, decades in 0.0f64..40.0)| {
        check(Range::fit(Scale::Linear, [a, a + size].into_iter(), 0.03), [a, a + size]);
        let (low, high) = (10f64.powf(exponent), 10f64.powf(exponent + decades));
        check(Range::fit(Scale::Log, [low, high].into_iter(), 0.03), [low, high]);
    });
}

fn check(range: Range, shown: [f64; 2]) {
    let Range { scale, min, max, .. } = range;
    assert!(min.is_finite() && max.is_finite() && min < max, "{range:?}");
    for value in shown.into_iter().filter(|&value| scale.shows(value)) {
        let pixel = range.pixel(value).unwrap();
        assert!((-1e-6..=1.0 + 1e-6).contains(&pixel), "{value} at {pixel} of {range:?}");
    }
    let Ticks { major, minor } = range.ticks(6);
    assert!((2..=14).contains(&major.len()), "{range:?} {major:?}");
    let pixels: Vec<f64> = major.iter().map(|(value, _)| range.pixel(*value).unwrap()).collect();
    assert!(pixels.iter().all(|pixel| (-1e-6..=1.0 + 1e-6).contains(pixel)), "{range:?} {major:?}");
    let steps: Vec<f64> = pixels.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let largest = steps.iter().copied().fold(0.0, f64::max);
    assert!(steps.iter().all(|&step| step > 0.0), "{range:?} {major:?}");
    // No end of the axis is left without a tick for longer than the space between two. On a log scale that shrinks: ticks at equal
    // steps s ≤ (max − min)/3 with max < 5·min leave at most ln(1 + t)/ln((1 + 2t)/(1 + t)) of it, t = s/min ≤ 4/3, which is 1.87.
    let slack = if scale == Scale::Log { 1.9 } else { 1.01 };
    let uncovered = pixels[0].max(1.0 - pixels[pixels.len() - 1]);
    assert!(uncovered <= slack * largest, "{range:?} {major:?}");
    assert!(minor.iter().all(|&value| value >= min * (1.0 - 1e-6) && value <= max * (1.0 + 1e-6)));
    for (i, (_, label)) in major.iter().enumerate() {
        assert!(major[..i].iter().all(|(_, other)| other != label), "{label} twice: {range:?} {major:?}");
    }
}

/// What failed once, by chance.
#[test]
fn less_than_a_decade_on_a_log_scale_is_covered() {
    let ends = [24.017_8, 24.6].map(|exponent| 10f64.powf(exponent));
    check(Range::fit(Scale::Log, ends.into_iter(), 0.03), ends);
}

#[test]
fn zero_shows_where_it_is_near() {
    let fit = |values: [f64; 2]| Range::fit(Scale::Linear, values.into_iter(), 0.03);
    assert_eq!(fit([0.0, 900.0]).min, 0.0);
    assert!(fit([0.39, 0.69]).min > 0.3);
    assert_eq!(Range::fit(Scale::Linear, [0.0, 900.0].into_iter(), 0.0).max, 900.0);
}
