//! Claims as a table for a terminal.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::Claim;

/// Columns of the terminal that the table is made for.
const WIDTH: u16 = 100;
/// Of its columns, with a space on either side; five lines stand between and around them.
const WIDTHS: [u16; 4] = [23, 25, 18, 29];

/// One row a claim: who says what, how it was measured, the verdict, and why.
pub(crate) fn table(claims: &[Claim]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(WIDTH);
    table.set_header(["the paper says", "measured by", "verdict", "because"]);
    table.set_constraints(WIDTHS.map(|width| ColumnConstraint::Absolute(Width::Fixed(width))));
    for Claim { source, claim, measure, verdict, because, .. } in claims {
        let verdict = verdict.to_string();
        table.add_row([format!("{source}: {claim}"), (*measure).to_owned(), verdict, because.clone()]);
    }
    table
}
