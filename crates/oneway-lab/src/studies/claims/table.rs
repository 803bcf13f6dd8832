//! Claims as a table for a terminal.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::Claim;

/// Columns of the terminal that the table is made for.
const WIDTH: u16 = 100;
/// Of its columns, with a space on either side; four lines stand between and around them.
const WIDTHS: [u16; 3] = [32, 24, 40];

/// One row a claim: who says what, the verdict, and why. How it was measured stands in `claims.json` and the
/// report.
pub(crate) fn table(claims: &[Claim]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(WIDTH);
    table.set_header(["the paper says", "verdict", "because"]);
    table.set_constraints(WIDTHS.map(|width| ColumnConstraint::Absolute(Width::Fixed(width))));
    for Claim { source, claim, verdict, because, .. } in claims {
        table.add_row([format!("{source}: {claim}"), verdict.to_string(), because.clone()]);
    }
    table
}
