use proptest::prelude::*;

use super::*;

fn at(width: usize) -> Terminal {
    Terminal { width: Some(width), colours: false }
}

const FREE: Terminal = Terminal { width: None, colours: false };

fn sample() -> Table {
    let mut table = Table::new([
        column("method"),
        column("loss").about("F(x̄) at the end"),
        column("because").prose(),
        column("µs").minor().about("of a round"),
    ]);
    table.row(["SMTPP", "0.3391 ± 0.0012", "it is what the others are measured by", "5.1"]);
    table.row(["SGP", "0.3402", NOTHING, "4.0"]);
    table
}

#[test]
fn a_table_that_fits_stands_in_a_box() {
    let text = sample().show(FREE);
    let expected = "\
┌────────────────────────────────────────────────────────────────────────┐
│ method  loss             because                                µs     │
╞════════════════════════════════════════════════════════════════════════╡
│ SMTPP   0.3391 ± 0.0012  it is what the others are measured by  5.1    │
";
    // the widths are those of the widest cells
    assert_eq!(text.lines().count(), 6);
    assert_eq!(text.lines().next().map(width), text.lines().last().map(width));
    let squeezed = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(squeezed(text.lines().nth(3).unwrap()), squeezed(expected.lines().nth(3).unwrap()));
}

#[test]
fn a_narrow_table_loses_minor_columns_then_breaks_prose_then_is_stacked() {
    let table = sample();
    let natural = table.show(FREE).lines().map(width).max().unwrap();
    assert_eq!(table.left_out(at(natural)), None);

    let without = table.show(at(natural - 1));
    assert!(
        !without.contains("µs") && without.contains("it is what the others are measured by"),
        "{without}"
    );
    assert_eq!(table.left_out(at(natural - 1)).unwrap(), "on a wider terminal also: µs");
    assert_eq!(table.legend(at(natural - 1)).unwrap(), "loss: F(x̄) at the end", "of what is shown");

    let broken = table.show(at(50));
    assert!(broken.starts_with('┌') && !broken.contains("it is what the others are measured by"), "{broken}");

    let stacked = table.show(at(32));
    assert_eq!(
        stacked,
        "SMTPP\n  loss     0.3391 ± 0.0012\n  because  it is what the others\n           are measured by\n  µs       5.1\n\
         SGP\n  loss     0.3402\n  µs       4.0\n"
    );
    assert_eq!(table.left_out(at(32)), None, "nothing is left out of a stack");
}

#[test]
fn groups_are_said_once() {
    let mut table = Table::new([column("method"), column("loss")]);
    for (topology, method) in [("ring", "a"), ("ring", "b"), ("star", "a")] {
        table.group(topology);
        table.row([method, "1"]);
    }
    let text = table.show(FREE);
    assert_eq!(text.matches("ring").count(), 1);
    assert!(text.contains("│ ring    "), "{text}");
    assert!(text.contains("│   a "), "{text}");
}

#[test]
fn an_empty_minor_column_is_not_shown() {
    let mut table = Table::new([column("method"), column("accuracy").minor()]);
    table.row(["a", NOTHING]);
    assert!(!table.show(FREE).contains("accuracy"));
    assert_eq!(table.left_out(at(40)), None);
}

#[test]
fn colours_take_no_columns() {
    let mut table = Table::new([column("claim"), column("verdict")]);
    table.row([Cell::from("one"), Cell::new("holds", Style::Good)]);
    let painted = table.show(Terminal { width: Some(40), colours: true });
    let mut plain = painted.clone();
    for code in ["\u{1b}[1m", "\u{1b}[32m", "\u{1b}[0m"] {
        assert!(painted.contains(code));
        plain = plain.replace(code, "");
    }
    assert_eq!(plain, table.show(at(40)));
}

proptest! {
    /// Whatever is in it: no line is too wide, a box is closed, and no word is lost.
    #[test]
    fn every_table_fits(
        rows in prop::collection::vec(prop::collection::vec("[a-z0-9±∇ ]{0,30}", 1..6), 1..5),
        prose in prop::collection::vec(any::<bool>(), 6),
        groups in any::<bool>(),
        ruled in any::<bool>(),
        limit in 20usize..200,
    ) {
        let columns = (0..rows.iter().map(Vec::len).max().unwrap_or(1)).map(|at| {
            let column = column(format!("column {at}"));
            if prose[at] { column.prose() } else { column }
        });
        let mut table = Table::new(columns);
        table.ruled = ruled;
        for (number, row) in rows.iter().enumerate() {
            if groups {
                table.group(&format!("the group of the rows of number {}", number / 2));
            }
            table.row(row.iter().map(String::as_str));
        }
        let text = table.show(at(limit));
        for line in text.lines() {
            prop_assert!(width(line) <= limit, "{}", text);
        }
        if text.starts_with('┌') {
            let whole = text.lines().next().map(width);
            for line in text.lines() {
                prop_assert_eq!(Some(width(line)), whole);
                prop_assert!(line.starts_with(['┌', '│', '╞', '├', '└']) && line.ends_with(['┐', '│', '╡', '┤', '┘']));
            }
        }
        let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace() && !"┌─┐│╞═╡├┤└┘".contains(*c)).count();
        let words: usize = rows.iter().flatten().map(|cell| letters(cell)).sum();
        prop_assert!(letters(&text) >= words);
    }
}
