//! What commands say, so that it fits where it is read.
//!
//! A [`Screen`] collects text and tables and shows them. How wide it is: `COLUMNS` if that is set; the
//! terminal's width, if standard output is a terminal; and without a limit in a file or a pipe, where a
//! program reads whole lines. Sentences are broken between words, at 100 columns at the latest. What a table
//! does with few columns is written in [`table`].
//!
//! Colours are for terminals. `NO_COLOR` (anything but empty) forbids them everywhere, `CLICOLOR_FORCE`
//! (anything but empty and 0) wants them everywhere, `CLICOLOR=0` and `TERM=dumb` forbid them on terminals.

mod style;
mod table;
mod wrap;

use std::io::{IsTerminal, Write};
use std::path::Path;

pub(crate) use style::Style;
pub(crate) use table::{Cell, Column, Table, column};

/// Where there is nothing to show.
pub(crate) const NOTHING: &str = "–";

/// Sentences are not made longer than this, however wide the terminal.
const LONGEST_LINE: usize = 100;
/// A terminal that says it is narrower is not believed.
const NARROWEST: usize = 20;

/// How wide a place is where text is shown, and whether it shows colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// Columns; `None` without a limit.
    pub(crate) width: Option<usize>,
    pub(crate) colours: bool,
}

impl Terminal {
    /// Standard output.
    pub(crate) fn stdout() -> Self {
        Self::of(std::io::stdout().is_terminal())
    }

    /// Standard error.
    pub(crate) fn stderr() -> Self {
        Self::of(std::io::stderr().is_terminal())
    }

    fn of(is_terminal: bool) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let measured = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let measured = if is_terminal { measured() } else { None };
        Self {
            width: width(variable("COLUMNS").as_deref(), measured),
            colours: style::colours(variable, is_terminal),
        }
    }

    /// Text, line by line, each broken between words where it is too long. What is broken off stands below
    /// the line's first word, or below what follows its bullet.
    pub(crate) fn text(self, text: &str) -> String {
        let lines = text.lines().map(|line| {
            let indent = line.len() - line.trim_start_matches(' ').len();
            let bullet = if line[indent..].starts_with("• ") { 2 } else { 0 };
            self.hanging(&" ".repeat(indent), &line[indent..], indent + bullet)
        });
        lines.collect()
    }

    /// Text that others have made, in which only lines that are too long are broken, and lose their colours.
    pub(crate) fn fitted(self, plain: &str, painted: &str) -> String {
        const USAGE: &str = "Usage: ";
        let lines = plain.lines().zip(painted.lines()).map(|(plain, painted)| {
            match self.width.is_none_or(|limit| wrap::width(plain) <= limit) {
                true if self.colours => format!("{painted}\n"),
                true => format!("{plain}\n"),
                false => match plain.strip_prefix(USAGE) {
                    Some(rest) => self.hanging(USAGE, rest, USAGE.len()),
                    None => self.text(plain),
                },
            }
        });
        lines.collect()
    }

    /// `before` and `text`, broken between words; further lines are indented by `indent`.
    fn hanging(self, before: &str, text: &str, indent: usize) -> String {
        let Some(width) = self.width.map(|width| width.min(LONGEST_LINE)) else {
            return format!("{before}{text}\n");
        };
        // what is left must have room for words
        let indent = if indent > width / 2 { 4.min(width / 4) } else { indent };
        let first = width.saturating_sub(wrap::width(before)).max(1);
        let lines = wrap::wrap(text, first, width - indent);
        lines
            .iter()
            .enumerate()
            .map(|(at, line)| match at {
                0 => format!("{}\n", format!("{before}{line}").trim_end()),
                _ => format!("{}{line}\n", " ".repeat(indent)),
            })
            .collect()
    }
}

/// `COLUMNS` before what was measured.
fn width(columns: Option<&str>, measured: Option<usize>) -> Option<usize> {
    let given = columns.and_then(|columns| columns.trim().parse::<usize>().ok()).filter(|given| *given > 0);
    given.or(measured.filter(|width| *width > 0)).map(|width| width.max(NARROWEST))
}

/// Collects what a command says, and shows it.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: Terminal,
    text: String,
}

impl Screen {
    /// For standard output.
    pub(crate) fn stdout() -> Self {
        Self::new(Terminal::stdout())
    }

    pub(crate) fn new(terminal: Terminal) -> Self {
        Self { terminal, text: String::new() }
    }

    /// A table, and below it what its columns mean and which have no room.
    pub(crate) fn table(&mut self, table: &Table) {
        self.text += &table.show(self.terminal);
        if let Some(missing) = table.left_out(self.terminal) {
            self.quiet(&missing);
        }
        if let Some(legend) = table.legend(self.terminal) {
            self.quiet(&legend);
        }
    }

    /// Sentences, or lines.
    pub(crate) fn text(&mut self, text: &str) {
        self.text += &self.terminal.text(text);
    }

    /// The same where a reader may look past it.
    pub(crate) fn quiet(&mut self, text: &str) {
        self.styled(text, Style::Quiet);
    }

    /// The line that says how all of it ended.
    pub(crate) fn summary(&mut self, text: &str) {
        self.styled(text, Style::Strong);
    }

    fn styled(&mut self, text: &str, style: Style) {
        for line in self.terminal.text(text).lines() {
            self.text += &style.paint(line, self.terminal.colours);
            self.text.push('\n');
        }
    }

    /// A name, as a heading.
    pub(crate) fn heading(&mut self, text: &str) {
        self.styled(text, Style::Strong);
    }

    /// A word and what there is to say of it, in columns of their own: `    rule     x⁺ = …`.
    pub(crate) fn entry(&mut self, name: &str, columns: usize, text: &str) {
        const INDENT: usize = 4;
        let space = columns.saturating_sub(wrap::width(name));
        let before = format!("{}{name}{} ", " ".repeat(INDENT), " ".repeat(space));
        self.text += &self.terminal.hanging(&before, text, INDENT + columns + 1);
    }

    /// A file that was written.
    pub(crate) fn file(&mut self, path: &Path) {
        self.text(&path.display().to_string());
    }

    /// An empty line.
    pub(crate) fn gap(&mut self) {
        self.text.push('\n');
    }

    /// Writes what was collected to standard output, and begins anew.
    pub(crate) fn show(&mut self) -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        out.write_all(std::mem::take(&mut self.text).as_bytes())?;
        out.flush()
    }

    /// What was collected.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// Says something on standard error, beginning with the program's name.
pub(crate) fn warn(text: &str) {
    eprint!("{}", Terminal::stderr().text(&format!("oneway: {text}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_before_what_is_measured_and_nonsense_before_neither() {
        let cases = [
            ((None, Some(80)), Some(80)),
            ((Some("120"), Some(80)), Some(120)),
            ((Some("120"), None), Some(120)),
            ((Some(""), Some(80)), Some(80)),
            ((Some("wide"), Some(80)), Some(80)),
            ((Some("0"), Some(80)), Some(80)),
            ((Some("-3"), None), None),
            ((Some("1"), None), Some(NARROWEST)),
            ((None, Some(0)), None),
            ((None, None), None),
        ];
        for ((columns, measured), expected) in cases {
            assert_eq!(width(columns, measured), expected, "{columns:?}, {measured:?}");
        }
    }

    #[test]
    fn text_hangs_below_its_first_word_or_its_bullet() {
        let narrow = Terminal { width: Some(20), colours: false };
        assert_eq!(narrow.text("one two three four five six"), "one two three four\nfive six\n");
        assert_eq!(narrow.text("  one two three four five"), "  one two three four\n  five\n");
        assert_eq!(narrow.text("• one two three four five"), "• one two three four\n  five\n");
        assert_eq!(narrow.text("a\n\nb"), "a\n\nb\n");
        let free = Terminal { width: None, colours: false };
        let long = "word ".repeat(100);
        assert_eq!(free.text(&long), format!("{long}\n"), "a pipe gets what was written");
        let wide = Terminal { width: Some(200), colours: false };
        assert!(wide.text(&long).lines().all(|line| line.len() <= LONGEST_LINE));
    }

    #[test]
    fn entries_have_their_text_in_a_column() {
        let mut screen = Screen::new(Terminal { width: Some(32), colours: false });
        screen.entry("rule", 8, "x is what was heard of it");
        assert_eq!(screen.into_text(), "    rule     x is what was heard\n             of it\n");
    }
}
