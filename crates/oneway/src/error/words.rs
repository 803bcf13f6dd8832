//! Parts of messages.

/// A sum in words. Weights are positive, so that only what is empty sums to zero.
pub(super) fn wrong_sum(axis: &str, agent: usize, sum: f64) -> String {
    if sum == 0.0 {
        return match axis {
            "row" => format!("is empty: agent {agent} hears nobody, not even itself"),
            _ => format!("is empty: nobody hears agent {agent}, not even itself"),
        };
    }
    let far = (sum - 1.0).abs();
    // what is left over 1 is shown to three digits, the sum as far as that shows
    let rounded = |value: f64, digits: usize| format!("{value:.digits$e}").parse().unwrap_or(value);
    let short = |value: f64| match (1e-3..1e6).contains(&value) {
        true => value.to_string(),
        false => format!("{value:e}"),
    };
    let direction = if sum < 1.0 { "little" } else { "much" };
    format!("sums to {}, {} too {direction}", short(rounded(sum, 11)), short(rounded(far, 2)))
}

/// A value as it is shown: numbers of hundreds of digits, as 1e300 would be written, with their exponent.
pub(super) fn brief(value: String) -> String {
    const DIGITS: usize = 25;
    match value.parse::<f64>() {
        Ok(number) if value.len() > DIGITS => format!("{number:e}"),
        _ => value,
    }
}

/// What to say after an unknown name.
pub(super) fn did_you_mean(suggestion: Option<&str>, known: &str) -> String {
    match (suggestion, known) {
        (Some(near), _) => format!(": did you mean `{near}`? (known: {known})"),
        (None, "") => " (there is none)".to_owned(),
        (None, _) => format!(" (known: {known})"),
    }
}

/// The first few agents of a list, for messages: `3, 5, 8 and 12 more`.
pub(crate) fn some_agents(agents: &[usize]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = agents.iter().take(SHOWN).map(ToString::to_string).collect();
    match agents.len() {
        0..=SHOWN => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), more - SHOWN),
    }
}

/// The beginning of what a file holds, for messages: at most 40 characters, with what is not printable
/// written out.
pub fn shown(piece: &str) -> String {
    const SHOWN: usize = 40;
    let mut begin: String = piece.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if piece.chars().nth(SHOWN).is_some() {
        begin.push('…');
    }
    begin
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn long_numbers_are_shown_with_their_exponent() {
        for (value, words) in [(1e300, "1e300"), (-1e-300, "-1e-300"), (0.1, "0.1"), (f64::NAN, "NaN")] {
            assert!(Error::parameter("a", "b", value, "c").to_string().contains(&format!("= {words} is")));
        }
        assert!(Error::parameter("a", "b", i64::MAX, "c").to_string().contains("= 9223372036854775807 is"));
    }

    #[test]
    fn wrong_sums_are_short_and_empty_ones_say_who_is_cut_off() {
        for (sum, words) in [
            (0.1 + 0.2 + 0.6, "sums to 0.9, 0.1 too little"),
            (1.5, "sums to 1.5, 0.5 too much"),
            (1.0 + 2e-9, "sums to 1.000000002, 2e-9 too much"),
            (1e300, "sums to 1e300, 1e300 too much"),
            (-0.0, "is empty: agent 3 hears nobody, not even itself"),
        ] {
            assert_eq!(wrong_sum("row", 3, sum), words);
        }
        assert_eq!(
            Error::NotStochastic { axis: "column", index: 3, sum: -0.0 }.to_string(),
            "column 3 of the mixing weights is empty: nobody hears agent 3, not even itself: columns must sum to 1"
        );
    }
}
