//! Tables, plain or coloured by how far each number is from 1.

use maud::{Markup, html};

use super::TableBlock;
use super::maths;
use crate::number::leading;

/// The tables, each in a box of its own that scrolls if it must.
pub(super) fn tables(tables: &[TableBlock]) -> Markup {
    html! { @for block in tables { (table(block)) } }
}

fn table(block: &TableBlock) -> Markup {
    let columns = block.header.len();
    let numeric: Vec<bool> = (0..columns).map(|column| column > 0 && is_numeric(block, column)).collect();
    let reach = if block.heat { reach(&block.rows) } else { 0.0 };
    let class = |column: usize| numeric.get(column).copied().unwrap_or(false).then_some("number");
    html! {
        figure.table {
            figcaption { (maths::set(&block.caption)) }
            div.scroll tabindex="0" role="group" aria-label=(block.caption) {
                table class=[block.heat.then_some("heat")] {
                    thead {
                        tr { @for (column, name) in block.header.iter().enumerate() {
                            th scope="col" class=[class(column)] { (maths::set(name)) }
                        } }
                    }
                    tbody { @for row in &block.rows {
                        tr { @for (column, cell) in row.iter().enumerate() {
                            @if column == 0 { th scope="row" { (cell) } }
                            @else { (data_cell(cell, class(column), reach)) }
                        } }
                    } }
                }
            }
            @if block.heat { (key(reach)) }
        }
    }
}

/// One cell; coloured if it begins with a number and `reach` is positive.
fn data_cell(cell: &str, class: Option<&str>, reach: f64) -> Markup {
    let Some(heat) = leading(cell).filter(|_| reach > 0.0).and_then(|value| heat(value, reach)) else {
        return html! { td class=[class] { (cell) } };
    };
    let side = if heat < 0.0 { "below" } else { "above" };
    html! {
        td class={ (class.unwrap_or("number")) " " (side) } style={ "--heat:" (format!("{:.2}", heat.abs())) } { (cell) }
    }
}

/// How to read the colours.
fn key(reach: f64) -> Markup {
    let end = reach.exp();
    let end = if end < 10.0 { format!("{end:.1}") } else { format!("{end:.0}") };
    html! {
        p.key {
            span { "≤ 1/" (end) } span.ramp aria-hidden="true" {} span { "≥ " (end) }
            span.note { "colour by ratio: blue below 1, none at 1, orange above" }
        }
    }
}

/// Whether all cells of a column that say something begin with a number.
fn is_numeric(block: &TableBlock, column: usize) -> bool {
    let mut cells =
        block.rows.iter().filter_map(|row| row.get(column)).filter(|cell| !is_blank(cell)).peekable();
    cells.peek().is_some() && cells.all(|cell| leading(cell).is_some())
}

/// Whether a cell says that there is nothing to say.
fn is_blank(cell: &str) -> bool {
    matches!(cell.trim(), "" | "-" | "–" | "—")
}

/// The |ln value| with the fullest colour: the table's largest, but between a factor of 1.5 and one of 100.
fn reach(rows: &[Vec<String>]) -> f64 {
    let cells = rows.iter().flat_map(|row| row.iter().skip(1));
    let logarithms =
        cells.filter_map(|cell| leading(cell)).filter(|value| *value > 0.0).map(|value| value.ln().abs());
    logarithms.filter(|distance| distance.is_finite()).fold(0.0, f64::max).clamp(1.5_f64.ln(), 100_f64.ln())
}

/// From −1 (far below 1) to 1 (far above 1) on a logarithmic scale; `None` for what is no ratio.
fn heat(value: f64, reach: f64) -> Option<f64> {
    (value > 0.0).then(|| (value.ln() / reach).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_is_even_around_one() {
        let reach = 4_f64.ln();
        assert_eq!(heat(1.0, reach), Some(0.0));
        assert_eq!(heat(4.0, reach), Some(1.0));
        assert_eq!(heat(400.0, reach), Some(1.0));
        assert!((heat(2.0, reach).unwrap() - 0.5).abs() < 1e-12);
        assert!((heat(0.5, reach).unwrap() + 0.5).abs() < 1e-12);
        assert_eq!(heat(-1.0, reach), None);
    }

    #[test]
    fn only_numbers_are_coloured() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let block = TableBlock {
            caption: "ratios".to_owned(),
            header: row(["graph", "partition", "error"]),
            rows: vec![row(["4", "even", "2.0"]), row(["5", "by label", "—"])],
            heat: true,
        };
        let html = table(&block).into_string();
        assert_eq!(html.matches("--heat").count(), 1, "{html}");
        assert!(html.contains(r#"<td class="number above" style="--heat:1.00">2.0</td>"#), "{html}");
        assert!(html.contains("<td>even</td>"), "{html}");
        let plain = table(&TableBlock { heat: false, ..block }).into_string();
        assert!(!plain.contains("--heat"), "{plain}");
    }
}
