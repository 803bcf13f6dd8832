//! Many columns of shares by row: in each cell what holds grows from below, what fails hangs from above, and what is
//! open stays white.

use super::chart;
use super::font::{self, Weight};
use super::layout::{SMALL, TEXT, TITLE};
use super::palette::{FAILS, MUTED, WORKS};
use super::pen::Pen;
use super::render::Theme;
use super::svg::{Svg, number};

/// Shares by row and column.
#[derive(Debug)]
pub(crate) struct Matrix {
    pub(crate) title: String,
    /// What the columns are, below them.
    pub(crate) x_label: String,
    /// From the top: a name, and for each column the shares that hold and that fail.
    pub(crate) rows: Vec<(String, Vec<[f64; 2]>)>,
}

const MARGIN: f64 = 14.0;
const ROW: f64 = 26.0;
/// All columns together, and one of them at most.
const WIDTH: f64 = 760.0;
const WIDEST: f64 = 12.0;

/// Draws it.
pub(crate) fn svg(matrix: &Matrix, theme: Theme) -> String {
    let columns = matrix.rows.iter().map(|(_, row)| row.len()).max().unwrap_or(0).max(1) as f64;
    let wide = (WIDTH / columns).min(WIDEST);
    let longest = matrix.rows.iter().map(|(name, _)| font::width(name, TEXT, Weight::Regular));
    let left = MARGIN + longest.fold(0.0, f64::max) + 10.0;
    let top = 42.0 + MARGIN;
    let bottom = top + matrix.rows.len() as f64 * ROW;
    let title = font::width(&matrix.title, TITLE, Weight::SemiBold);
    let width = (left + wide * columns + MARGIN).max(title + 2.0 * MARGIN);
    let height = bottom + 36.0;
    let mut pen = Pen { svg: Svg::default(), theme };
    pen.root("matrix", &chart::id(&format!("{matrix:?}")), width, height);
    pen.svg.element("title").text(&matrix.title);
    pen.paper(width, height);
    pen.heading((MARGIN, 14.0 + MARGIN), &matrix.title);
    let high = ROW - 4.0;
    for (at, (name, shares)) in matrix.rows.iter().enumerate() {
        let y = top + at as f64 * ROW;
        pen.text((left - 8.0, y + 0.5 * high + 0.36 * TEXT), "end", MUTED, TEXT, name);
        for (which, color) in [(0, WORKS), (1, FAILS)] {
            let bars = shares.iter().enumerate().filter(|(_, share)| share[which] > 0.0);
            let bar = |(column, share): (usize, &[f64; 2])| {
                let (x, long) = (left + column as f64 * wide, share[which] * high);
                let from = if which == 0 { y + high - long } else { y };
                format!(
                    "M{} {}h{}v{}h-{}z",
                    number(x),
                    number(from),
                    number(wide),
                    number(long),
                    number(wide)
                )
            };
            let drawn: String = bars.map(bar).collect();
            if !drawn.is_empty() {
                let paint = pen.theme.paint(color);
                pen.svg.element("path").set("d", drawn).set("fill", paint).empty();
            }
        }
    }
    pen.text((left, bottom + 18.0), "start", MUTED, SMALL, &matrix.x_label);
    pen.svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_and_what_fails_have_their_colours_and_nothing_has_none() {
        let matrix = |shares: Vec<[f64; 2]>| Matrix {
            title: "All".to_owned(),
            x_label: "readings".to_owned(),
            rows: vec![("claim".to_owned(), shares)],
        };
        let count = |shares, color: &str| svg(&matrix(shares), Theme::Light).matches(color).count();
        assert_eq!(count(vec![[1.0, 0.0], [0.5, 0.5]], WORKS.light), 1);
        assert_eq!(count(vec![[1.0, 0.0], [0.5, 0.5]], FAILS.light), 1);
        assert_eq!(count(vec![[1.0, 0.0]], FAILS.light), 0);
        assert_eq!(count(vec![[0.0, 0.0]], WORKS.light), 0);
        let drawn = svg(&matrix(vec![[0.25, 0.75]]), Theme::Light);
        // 22 high: a quarter of it from below, the rest from above
        assert!(drawn.contains("v5.5") && drawn.contains("v16.5"), "{drawn}");
    }
}
