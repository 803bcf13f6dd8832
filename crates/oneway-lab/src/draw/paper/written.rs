//! Tables as text, Markdown, LaTeX and CSV.

use std::fmt::Write as _;

use clap::ValueEnum;

use super::finals::{Cell, Table};
use crate::draw::latex;
use crate::terminal::{self, Screen, column};

/// What tables are written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// For a terminal
    Text,
    Markdown,
    /// A table for \input, with booktabs
    Latex,
    /// A line for each number, with its standard error, its repetitions and its p-value
    Csv,
}

impl TableFormat {
    /// All tables.
    pub(crate) fn write(self, tables: &[Table]) -> String {
        match self {
            TableFormat::Text => tables.iter().map(text).collect::<Vec<_>>().join("\n"),
            TableFormat::Markdown => tables.iter().map(markdown).collect::<Vec<_>>().join("\n"),
            TableFormat::Latex => tables.iter().map(latex_table).collect::<Vec<_>>().join("\n"),
            TableFormat::Csv => csv(tables),
        }
    }
}

/// The caption, with what marks the best and what differs from it.
fn caption(table: &Table, best: &str, differs: &str) -> String {
    let side = if table.topology.is_some() { "row" } else { "column" };
    let tested = format!(
        " {differs} differs from it beyond noise: Welch's t-test, two-sided, at 5 %, corrected by Holm for the \
         comparisons of a {side}."
    );
    format!("{} {best} is the best of its {side}.{}", table.caption, if table.tested { &tested } else { "" })
}

/// What columns are, above the names of methods; of topologies that is plain.
fn corner(table: &Table) -> &str {
    if table.topology.is_some() { &table.across } else { "" }
}

fn cells<'a>(
    table: &'a Table,
    shown: impl Fn(&Cell) -> String + 'a,
) -> impl Iterator<Item = Vec<String>> + 'a {
    table.rows.iter().zip(&table.cells).map(move |(name, cells)| {
        let cells = cells.iter().map(|cell| cell.as_ref().map_or(String::new(), &shown));
        std::iter::once(name.clone()).chain(cells).collect()
    })
}

fn text(table: &Table) -> String {
    let names = std::iter::once(corner(table)).chain(table.columns.iter().map(String::as_str));
    let mut drawn = terminal::Table::new(names.map(column));
    let cell = |cell: &Cell| match cell.best {
        true => format!("[{}]", cell.shown()),
        false => format!("{}{}", cell.shown(), if cell.differs() { "*" } else { " " }), // numbers end alike
    };
    cells(table, cell).for_each(|row| drawn.row(row));
    let mut screen = Screen::stdout();
    screen.table(&drawn);
    screen.text(&caption(table, "[ ]", "*"));
    screen.into_text()
}

fn markdown(table: &Table) -> String {
    let escaped =
        |text: &str| text.replace('\\', r"\\").replace('|', r"\|").replace('*', r"\*").replace('_', r"\_");
    let header: Vec<String> = table.columns.iter().map(|name| escaped(name)).collect();
    let mut out =
        format!("| {} | {} |\n|---|{}\n", corner(table), header.join(" | "), "---:|".repeat(header.len()));
    let cell = |cell: &Cell| match cell.best {
        true => format!("**{}**", cell.shown()),
        false => format!("{}{}", cell.shown(), if cell.differs() { r"\*" } else { "" }),
    };
    for mut row in cells(table, cell) {
        row[0] = escaped(&row[0]);
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    format!("{out}\n{}\n", caption(table, "Bold", r"\*"))
}

fn latex_table(table: &Table) -> String {
    let cell = |cell: &Cell| {
        let shown = latex::number(&cell.shown());
        match (cell.mean, cell.best) {
            (None, _) => "--".to_owned(),
            (_, true) => format!(r"{{\boldmath${shown}$}}"),
            (_, false) => format!("${shown}{}$", if cell.differs() { "^{*}" } else { "" }),
        }
    };
    let mut rows = String::new();
    for mut row in cells(table, cell) {
        row[0] = latex::name(&row[0]);
        let _ = writeln!(rows, "    {} \\\\", row.join(" & "));
    }
    let header: Vec<String> = table.columns.iter().map(|name| latex::name(name)).collect();
    let across = latex::text(corner(table));
    format!(
        "% In the preamble: \\usepackage{{booktabs}}\n\
         \\begin{{table}}\n  \\centering\n  \\caption{{{}}}\n  \\begin{{tabular}}{{l{}}}\n    \\toprule\n    \
         {across} & {} \\\\\n    \\midrule\n{rows}    \\bottomrule\n  \\end{{tabular}}\n\\end{{table}}\n",
        latex::text(&caption(table, "Bold", "*")),
        "r".repeat(table.columns.len()),
        header.join(" & "),
    )
}

fn csv(tables: &[Table]) -> String {
    let mut csv =
        "quantity,topology,setting,value,method,mean,standard_error,repetitions,best,p,differs\n".to_owned();
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:?}"));
    for table in tables {
        for (method, cells) in table.rows.iter().zip(&table.cells) {
            for (column, cell) in table.columns.iter().zip(cells) {
                let Some(cell) = cell else { continue };
                let place = match &table.topology {
                    Some(topology) => format!("{topology},{},{column}", table.across),
                    None => format!("{column},,"),
                };
                let (mean, error, p) = (number(cell.mean), number(cell.error), number(cell.p));
                let _ = writeln!(
                    csv,
                    "{},{place},{method},{mean},{error},{},{},{p},{}",
                    table.quantity.column(),
                    cell.runs,
                    u8::from(cell.best),
                    cell.p.map_or("", |_| if cell.differs() { "1" } else { "0" }),
                );
            }
        }
    }
    csv
}
