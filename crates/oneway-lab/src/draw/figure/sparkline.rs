//! A curve in a line of a terminal.

use super::axis::{Range, Scale};

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Values as bars, at most `width` of them, each the mean of those it stands for; a blank where there are
/// none to show.
///
/// ▇▅▃▂▁▁ for something that goes down. On a logarithmic scale what is not positive is left blank.
pub(crate) fn sparkline(values: &[f64], width: usize, scale: Scale) -> String {
    let bars = values.len().min(width);
    let mean = |bar: usize| {
        let part = &values[bar * values.len() / bars..(bar + 1) * values.len() / bars];
        let shown: Vec<f64> = part.iter().copied().filter(|&value| scale.shows(value)).collect();
        (!shown.is_empty()).then(|| shown.iter().map(|value| value / shown.len() as f64).sum::<f64>())
    };
    let means: Vec<Option<f64>> = (0..bars).map(mean).collect();
    let (low, high) = means
        .iter()
        .flatten()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &mean| (low.min(mean), high.max(mean)));
    let range = Range { scale, min: low, max: high, start: 0.0, end: BARS.len() as f64 };
    let bar = |mean: &Option<f64>| match *mean {
        None => ' ',
        Some(_) if low == high => BARS[0],
        // The top of the range belongs to the highest bar.
        Some(mean) => {
            range.pixel(mean).map_or(' ', |height| BARS[(height.max(0.0) as usize).min(BARS.len() - 1)])
        }
    };
    means.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_follow_the_values() {
        let line = |values: &[f64], width| sparkline(values, width, Scale::Linear);
        assert_eq!(line(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 8), "▁▂▃▄▅▆▇█");
        assert_eq!(line(&[8.0, 8.0, 0.0, 0.0], 2), "█▁");
        assert_eq!(line(&[1.0, f64::NAN, 2.0], 9), "▁ █");
        assert_eq!(line(&[3.0, 3.0], 9), "▁▁");
        assert_eq!((line(&[], 9), line(&[1.0], 0)), (String::new(), String::new()));
        assert_eq!(line(&[f64::MAX, f64::INFINITY, -f64::MAX], 3), "   ");
    }

    #[test]
    fn on_a_log_scale_decades_are_even() {
        assert_eq!(sparkline(&[1e-7, 1e-6, 0.0, 1e-4, 1e-3, 1e-2, 0.1, 1.0], 8, Scale::Log), "▁▂ ▄▅▆▇█");
    }
}
