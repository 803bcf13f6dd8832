//! Sums without rounding.

/// Σ `values` to within one unit in the last place (Shewchuk 1997): zero if and only if the true sum is zero.
///
/// O(k) for k values of similar size. Values must be finite and far from overflow.
pub(super) fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    // An expansion: numbers that do not overlap, by increasing size, whose sum is exactly the sum so far.
    let mut parts: Vec<f64> = Vec::new();
    for value in values {
        let mut carried = value;
        let mut kept = 0;
        for at in 0..parts.len() {
            let (large, small) =
                if carried.abs() < parts[at].abs() { (parts[at], carried) } else { (carried, parts[at]) };
            carried = large + small;
            let lost = small - (carried - large);
            if lost != 0.0 {
                parts[kept] = lost;
                kept += 1;
            }
        }
        parts.truncate(kept);
        parts.push(carried);
    }
    parts.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost() {
        assert_eq!(sum([1e16, 1.0, -1e16]), 1.0);
        assert_eq!(sum([0.1, 0.2, 0.3, -0.3, -0.2, -0.1]), 0.0);
        assert_ne!(sum([0.1, 0.2, -0.3]), 0.0); // 0.1 + 0.2 ≠ 0.3 for doubles, by 2.8e-17
        assert_eq!(sum([]), 0.0);
    }
}
