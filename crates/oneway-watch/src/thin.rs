//! A line of many points drawn with few: the smallest and the largest of each stretch, so that no peak is
//! lost.

/// The places of at most `most` points (never fewer than 2) that draw the same line: first and last, and the
/// smallest and the largest of each stretch between. O(n).
///
/// ```
/// let mut line = vec![0.0; 100_000];
/// line[54_321] = 1.0;
/// let kept = oneway_watch::thin::places(&line, 100);
/// assert!(kept.len() <= 100 && kept.contains(&54_321) && kept.contains(&0) && kept.contains(&99_999));
/// ```
pub fn places(values: &[f64], most: usize) -> Vec<usize> {
    let most = most.max(2);
    if values.len() <= most {
        return (0..values.len()).collect();
    }
    let (last, stretches) = (values.len() - 1, (most - 2) / 2);
    let mut kept = vec![0];
    for stretch in 0..stretches {
        let bound = |at: usize| 1 + at * (last - 1) / stretches;
        let here = (bound(stretch)..bound(stretch + 1)).filter(|&at| values[at].is_finite());
        let by = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
        let (low, high) = (here.clone().min_by(by), here.max_by(by));
        let (first, second) = (low.min(high), low.max(high));
        kept.extend(first);
        kept.extend(second.filter(|second| Some(*second) != first));
    }
    kept.push(last);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_peak_is_lost_and_none_is_made_up() {
        let line: Vec<f64> = (0..10_000).map(|k| ((k * k) % 7919) as f64 + f64::from(k) / 3.0).collect();
        for most in [2, 3, 4, 10, 101, 1000, 9_999, 10_000, 20_000] {
            let kept = places(&line, most);
            assert!(kept.len() <= most.max(2) && kept.is_sorted_by(|a, b| a < b), "{most}");
            assert_eq!((kept[0], kept[kept.len() - 1]), (0, line.len() - 1));
            if most >= 10 {
                let top = |places: &[usize]| places.iter().map(|&at| line[at]).fold(0.0, f64::max);
                assert_eq!(top(&kept), top(&(0..line.len()).collect::<Vec<_>>()), "{most}");
            }
        }
        assert_eq!(places(&line, 10_000).len(), 10_000);
    }

    #[test]
    fn gaps_and_short_lines_are_no_trouble() {
        assert!(places(&[], 10).is_empty());
        assert_eq!(places(&[1.0], 0), [0]);
        let gaps = places(&[f64::NAN; 50], 10);
        assert_eq!(gaps, [0, 49]);
        let infinite = places(&[[f64::INFINITY, 1.0, 2.0, f64::NAN]; 25].concat(), 12);
        assert!(infinite.iter().all(|&at| at == 0 || at == 99 || [1, 2].contains(&(at % 4))));
    }
}
