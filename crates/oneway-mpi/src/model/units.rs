//! Times and rates as people write them: `2us`, `100Gbit/s`.

/// Seconds, from a number with a unit.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let units = [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    match number(text, &units) {
        Some(time) if time.is_finite() && time >= 0.0 => Ok(time),
        _ => Err("a time with its unit is needed, such as 2us, 0.5ms or 1s".to_owned()),
    }
}

/// Bytes a second, from a number with a unit.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let units = [
        ("GB/s", 1e9),
        ("MB/s", 1e6),
        ("kB/s", 1e3),
        ("Gbit/s", 0.125e9),
        ("Mbit/s", 0.125e6),
        ("kbit/s", 0.125e3),
        ("B/s", 1.0),
    ];
    match number(text, &units) {
        Some(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err("a rate above 0 with its unit is needed, such as 12.5GB/s or 100Gbit/s".to_owned()),
    }
}

/// A number times the unit that follows it.
fn number(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (unit, scale) = units.iter().find(|(unit, _)| text.ends_with(unit))?;
    Some(text.strip_suffix(unit)?.trim_end().parse::<f64>().ok()? * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_needed_and_nothing_else_is_taken() {
        let near =
            |found: Result<f64, String>, expected: f64| (found.unwrap() / expected - 1.0).abs() < 1e-12;
        assert!(near(seconds("2us"), 2e-6) && near(seconds("1.5 ms"), 1.5e-3) && near(seconds("3s"), 3.0));
        assert!(near(seconds("250ns"), 2.5e-7) && seconds("0s") == Ok(0.0));
        assert!(
            near(rate("100Gbit/s"), 12.5e9) && near(rate("12.5GB/s"), 12.5e9) && near(rate("7 B/s"), 7.0)
        );
        for wrong in ["", "2", "us", "-1us", "NaNs", "infs", "2 parsecs", "1e400s", "GB/s", "2us2us"] {
            assert!(seconds(wrong).is_err() && rate(wrong).is_err(), "{wrong}");
        }
        assert!(rate("0GB/s").is_err() && rate("infGB/s").is_err() && rate("2us").is_err());
    }
}
