//! Numbers as text, for readers: every format that tables, sentences, pages and figures use. On the terminal
//! they are [`short`] (and [`short_with_error`] where there are repetitions), on pages [`number`] (and
//! [`with_error`]), which `page.js` writes the same way.

/// A number with four significant digits: `0.3127`, `1.25 × 10⁻⁵`.
pub(crate) fn number(value: f64) -> String {
    if value.is_nan() {
        return "undefined".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    // Rounded first, so that 9.9999999 counts as 10.
    let scientific = format!("{:.3e}", value.abs());
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if value < 0.0 { "−" } else { "" };
    if (-3..6).contains(&exponent) {
        let places = usize::try_from(3 - exponent).unwrap_or(0);
        format!("{sign}{}", trimmed(&format!("{:.places$}", value.abs())))
    } else {
        format!("{sign}{} × {}", trimmed(digits), power_of_ten(exponent))
    }
}

/// A number with four significant digits that is short everywhere, for tables on the terminal: `0.3127`,
/// `1.25e-5`.
pub(crate) fn short(value: f64) -> String {
    let scientific = format!("{value:.3e}");
    let rounded: f64 = scientific.parse().unwrap_or(value);
    match scientific.split_once('e') {
        Some((digits, exponent)) if !(0.01..10_000.0).contains(&rounded.abs()) && value != 0.0 => {
            format!("{}e{exponent}", trimmed(digits))
        }
        Some(_) => rounded.to_string(),
        None => number(value),
    }
}

/// A mean and its standard error, with two digits of the error: `0.3391 ± 0.0012`, `(1.11 ± 0.17) × 10⁻³`. A
/// number alone where there is but one value, or no difference; none where there are no values.
pub(crate) fn mean_and_error(values: &[f64]) -> Option<String> {
    let count = values.len() as f64;
    let mean = values.iter().map(|value| value / count).sum::<f64>();
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    match values {
        [] => None,
        _ if error > 0.0 && error.is_finite() => Some(with_error(mean, error)),
        _ => Some(number(mean)),
    }
}

/// A number and how uncertain it is, in one unit, unless they are far apart.
pub(crate) fn with_error(value: f64, error: f64) -> String {
    match in_one_unit(value, error, -3..6) {
        None => format!("{} ± {}", number(value), number(error)),
        Some(([value, error], 0)) => minus(&format!("{value} ± {error}")),
        Some(([value, error], unit)) => {
            format!("({} ± {}) × {}", minus(&value), minus(&error), power_of_ten(unit))
        }
    }
}

/// The same that is short everywhere, for tables on the terminal: `0.3391 ± 0.0012`, `(1.11 ± 0.17)e-3`. A
/// number alone where there is no error.
pub(crate) fn short_with_error(value: f64, error: Option<f64>) -> String {
    let Some(error) = error.filter(|error| *error != 0.0) else { return short(value) };
    match in_one_unit(value, error, -2..4) {
        None => format!("{} ± {}", short(value), short(error)),
        Some(([value, error], 0)) => format!("{value} ± {error}"),
        Some(([value, error], unit)) => format!("({value} ± {error})e{unit}"),
    }
}

/// A number and its error, which has two digits, and the power of ten that they are to be multiplied with: 0
/// if the larger of them has its first digit at one of the `plain` powers. Nothing if they are far apart.
fn in_one_unit(value: f64, error: f64, plain: std::ops::Range<i32>) -> Option<([String; 2], i32)> {
    let power = |x: f64| if x == 0.0 { i32::MIN } else { x.abs().log10().floor() as i32 };
    let (largest, smallest) = (power(value).max(power(error)), power(error));
    if !(value.is_finite() && error.is_finite() && error > 0.0 && largest - smallest <= 5) {
        return None;
    }
    let unit = if plain.contains(&largest) { 0 } else { largest };
    let places = usize::try_from(unit - smallest + 1).unwrap_or(0);
    Some(([value, error].map(|x| format!("{:.places$}", x / 10_f64.powi(unit))), unit))
}

/// `1 run`, `2 runs`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The number that a cell begins with, if it does: `1.25`, `(1.25 ± 0.1) × 10⁻³`, `3×`.
pub(crate) fn leading(cell: &str) -> Option<f64> {
    let word = cell.split_whitespace().next()?.trim_start_matches('(');
    let word = word.trim_end_matches(['×', '%']).replace('−', "-");
    let starts = word.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    if starts { word.parse().ok() } else { None }
}

/// Without the zeros that end a fraction.
fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

/// `10⁻³`.
pub(crate) fn power_of_ten(exponent: i32) -> String {
    let superior = |character| match character {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32(0x2070 + u32::from(digit) - u32::from('0')).unwrap_or(digit),
    };
    format!("10{}", exponent.to_string().chars().map(superior).collect::<String>())
}

/// With a proper minus sign.
pub(crate) fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// A number for a sentence, with this number of significant digits: `0.3926`, `−0.5`; `2.0e−16` where that
/// would be long.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    let text = match value.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-3..1e5).contains(&size) => format!("{value:.1e}"),
        size => {
            let decimals = (digits - 1 - size.log10().floor() as i32).max(0) as usize;
            trimmed(&format!("{value:.decimals$}")).to_owned()
        }
    };
    minus(&text)
}

/// Three digits at most, for a cell of a figure: `0.25`, `12.5`, `3e-5`.
pub(crate) fn three_digits(value: f64) -> String {
    match value {
        v if !(1e-3..1e4).contains(&v) => format!("{v:.0e}"),
        v if v >= 99.5 => format!("{v:.0}"),
        v if v >= 9.95 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// Two digits at least, for a cell of a figure whose values may be small: `0.25`, `12.5`, `2.4e−3`.
pub(crate) fn two_digits(value: f64) -> String {
    let text = match value.abs() {
        0.0 => "0".to_owned(),
        v if !(0.01..1e4).contains(&v) => format!("{value:.1e}"),
        v if v >= 99.5 => format!("{value:.0}"),
        v if v >= 9.95 => format!("{value:.1}"),
        v if v >= 0.0995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    };
    minus(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.312_749, "0.3127"),
            (-20.0, "−20"),
            (123_456.0, "123456"),
            (9.999_999_9, "10"),
            (0.001_25, "0.00125"),
            (1.25e-5, "1.25 × 10⁻⁵"),
            (-6.02e23, "−6.02 × 10²³"),
            (f64::INFINITY, "∞"),
            (f64::NAN, "undefined"),
        ];
        for (value, written) in cases {
            assert_eq!(number(value), written);
        }
    }

    #[test]
    fn short_numbers_have_exponents_where_digits_would_be_far_from_the_point() {
        let cases = [
            (0.0, "0"),
            (-0.5, "-0.5"),
            (20.0, "20"),
            (1.234_56, "1.235"),
            (0.999_96, "1"),
            (1234.56, "1235"),
            (9999.9, "1e4"),
            (0.001_25, "1.25e-3"),
            (1e300, "1e300"),
            (f64::INFINITY, "∞"),
            (f64::NAN, "undefined"),
        ];
        for (value, written) in cases {
            assert_eq!(short(value), written);
        }
    }

    #[test]
    fn errors_have_two_digits_and_the_unit_of_their_number() {
        let cases = [
            (vec![0.339, 0.341, 0.340], "0.34000 ± 0.00058"),
            (vec![1e-3, 1.2e-3, 1.1e-3], "0.001100 ± 0.000058"),
            (vec![1e-8, 1.2e-8, 1.1e-8], "(1.100 ± 0.058) × 10⁻⁸"),
            (vec![-2e9, -4e9], "(−3.0 ± 1.0) × 10⁹"),
            (vec![5.0], "5"),
            (vec![2.0, 2.0, 2.0], "2"),
        ];
        for (values, written) in cases {
            assert_eq!(mean_and_error(&values).unwrap(), written);
            assert!(leading(written).is_some());
        }
        assert_eq!(mean_and_error(&[]), None);
        assert_eq!(with_error(0.0, 0.012), "0.000 ± 0.012");
        assert_eq!(with_error(1234.6, 20.0), "1235 ± 20");
        assert_eq!(with_error(0.5, 1e-12), "0.5 ± 1 × 10⁻¹²");
        assert_eq!(with_error(1.5, f64::INFINITY), "1.5 ± ∞");
    }

    #[test]
    fn short_errors_are_in_the_unit_of_their_number() {
        let cases = [
            ((0.33912, 0.00123), "0.3391 ± 0.0012"),
            ((1.113e-3, 1.7e-4), "(1.11 ± 0.17)e-3"),
            ((-3e9, 1e9), "(-3.0 ± 1.0)e9"),
            ((1234.6, 20.0), "1235 ± 20"),
            ((0.5, 1e-12), "0.5 ± 1e-12"),
            ((0.0, 0.012), "0.000 ± 0.012"),
            ((2.0, 0.0), "2"),
            ((1.5, f64::INFINITY), "1.5 ± ∞"),
        ];
        for ((value, error), written) in cases {
            assert_eq!(short_with_error(value, Some(error)), written);
            assert!(leading(written).is_some());
        }
        assert_eq!(short_with_error(0.25, None), "0.25");
    }

    #[test]
    fn small_values_keep_two_digits() {
        let shown = [0.0, 0.002_41, 0.0312, 0.25, -3.0, 12.34, 812.3, 2e7].map(two_digits);
        assert_eq!(shown, ["0", "2.4e−3", "0.031", "0.25", "−3.00", "12.3", "812", "2.0e7"]);
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "run")), ["0 runs", "1 run", "2 runs"]);
    }

    #[test]
    fn a_cell_may_begin_with_a_number() {
        assert_eq!(leading("1.25 ± 0.1"), Some(1.25));
        assert_eq!(leading("3×"), Some(3.0));
        assert_eq!(leading("−0.5"), Some(-0.5));
        assert_eq!(leading("1e-5"), Some(1e-5));
        for word in ["", "trees", "nan", "inf", "2-ring"] {
            assert_eq!(leading(word), None);
        }
    }
}
