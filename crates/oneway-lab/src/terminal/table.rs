//! Tables that fit.
//!
//! The rule, from wide to narrow:
//! 1. a table stands as it is, with columns of prose broken at 60 columns;
//! 2. if it is too wide, its minor columns are left out, the last first, and a line below names them (a minor
//!    column that is empty is never shown);
//! 3. if it still is, headings and columns of prose are broken into more lines, the widest first: prose down to
//!    14 columns, a heading down to its cells;
//! 4. if it still is, rows are stacked: a heading for each row, below it a line for each cell, and no box.
//!    Then nothing is left out.

use super::wrap::{width, wrap};
use super::{NOTHING, Style, Terminal};

/// Prose is not made wider than this.
const WIDEST: usize = 60;
/// Prose is not made narrower than this.
const NARROWEST: usize = 14;
/// Spaces between columns.
const GAP: usize = 2;
/// What the box adds to a row: a line and a space on either side.
const BOX: usize = 4;
/// Columns by which rows of a group, and cells that are stacked, are moved to the right.
const INDENT: usize = 2;

/// A column.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    name: String,
    about: String,
    prose: bool,
    minor: bool,
}

/// A column of this name.
pub(crate) fn column(name: impl Into<String>) -> Column {
    Column { name: name.into(), about: String::new(), prose: false, minor: false }
}

impl Column {
    /// Its cells may be broken between words.
    pub(crate) fn prose(self) -> Self {
        Self { prose: true, ..self }
    }

    /// It is left out where there is no room.
    pub(crate) fn minor(self) -> Self {
        Self { minor: true, ..self }
    }

    /// What it shows, for the line below the table.
    pub(crate) fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
    }
}

/// A cell: text that may have several lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    fn is_nothing(&self) -> bool {
        self.text.is_empty() || self.text == NOTHING
    }

    /// Its text in lines of at most `room` columns; only prose is broken.
    fn lines(&self, prose: bool, room: usize) -> Vec<String> {
        let lines = self.text.split('\n');
        match prose {
            true => lines.flat_map(|line| wrap(line, room, room)).collect(),
            false => lines.map(str::to_owned).collect(),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(text, Style::Plain)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::new(text, Style::Plain)
    }
}

#[derive(Debug)]
enum Row {
    /// What the rows below have in common.
    Group(String),
    Cells(Vec<Cell>),
}

/// Rows and columns. The first column says what a row is about.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
    ruled: bool,
}

/// How a table is shown.
#[derive(Debug, PartialEq)]
enum Layout {
    /// These columns, of these widths.
    Boxed(Vec<(usize, usize)>),
    Stacked,
}

impl Table {
    pub(crate) fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: vec![], ruled: false }
    }

    /// The same with a line between rows, for cells of many lines.
    pub(crate) fn ruled(self) -> Self {
        Self { ruled: true, ..self }
    }

    /// What the next rows have in common, which is said once.
    pub(crate) fn group(&mut self, name: &str) {
        let last = self.rows.iter().rev().find_map(|row| match row {
            Row::Group(known) => Some(&**known),
            Row::Cells(_) => None,
        });
        if last != Some(name) {
            self.rows.push(Row::Group(name.to_owned()));
        }
    }

    /// A row; cells that are missing are empty.
    pub(crate) fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let mut cells: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        cells.resize_with(self.columns.len(), Cell::default);
        self.rows.push(Row::Cells(cells));
    }

    fn cells(&self) -> impl Iterator<Item = &[Cell]> {
        self.rows.iter().filter_map(|row| match row {
            Row::Group(_) => None,
            Row::Cells(cells) => Some(&cells[..]),
        })
    }

    fn is_grouped(&self) -> bool {
        self.rows.iter().any(|row| matches!(row, Row::Group(_)))
    }

    /// How much the cells of a column are moved to the right.
    fn indent(&self, column: usize) -> usize {
        if column == 0 && self.is_grouped() { INDENT } else { 0 }
    }

    /// Columns that its widest line needs; prose no more than it is given.
    fn natural(&self, at: usize) -> usize {
        let column = &self.columns[at];
        let of_cell = |cell: &Cell| cell.text.split('\n').map(width).max().unwrap_or(0);
        let cells = self.cells().map(|row| of_cell(&row[at])).max().unwrap_or(0);
        let cells = if column.prose { cells.min(WIDEST) } else { cells };
        (cells + self.indent(at)).max(width(&column.name))
    }

    /// Columns that have something to show.
    fn filled(&self) -> Vec<usize> {
        let filled = |at: &usize| !self.columns[*at].minor || self.cells().any(|row| !row[*at].is_nothing());
        (0..self.columns.len()).filter(filled).collect()
    }

    fn layout(&self, limit: Option<usize>) -> Layout {
        let mut shown: Vec<(usize, usize)> =
            self.filled().into_iter().map(|at| (at, self.natural(at))).collect();
        let total = |shown: &[(usize, usize)]| {
            BOX + shown.iter().map(|(_, width)| width).sum::<usize>() + GAP * shown.len().saturating_sub(1)
        };
        let too_wide = |shown: &[(usize, usize)]| limit.is_some_and(|limit| total(shown) > limit);
        while too_wide(&shown) {
            match shown.iter().rposition(|(at, _)| self.columns[*at].minor) {
                Some(last) => drop(shown.remove(last)),
                None => break,
            }
        }
        while too_wide(&shown) {
            let shrinks = |(at, width): &&mut (usize, usize)| *width > self.least(*at);
            match shown.iter_mut().filter(shrinks).max_by_key(|(_, width)| *width) {
                Some((_, width)) => *width -= 1,
                None => return Layout::Stacked,
            }
        }
        // a group's name stands in one line if there is room
        let groups = self.rows.iter().filter_map(|row| match row {
            Row::Group(name) => Some(width(name) + BOX),
            Row::Cells(_) => None,
        });
        let wanted = groups.max().unwrap_or(0).min(limit.unwrap_or(usize::MAX));
        let more = wanted.saturating_sub(total(&shown));
        if let Some((_, last)) = shown.last_mut() {
            *last += more;
        }
        Layout::Boxed(shown)
    }

    /// Columns that it cannot do without: its cells, or some of each line if they are prose.
    fn least(&self, at: usize) -> usize {
        let column = &self.columns[at];
        let heading = column.name.split(' ').map(width).max().unwrap_or(0);
        let cells = self.cells().map(|row| row[at].text.split('\n').map(width).max().unwrap_or(0));
        let cells = cells.max().unwrap_or(0);
        let cells = if column.prose { cells.min(NARROWEST) } else { cells };
        (cells + self.indent(at)).max(heading)
    }

    /// The table on a terminal.
    pub(super) fn show(&self, terminal: Terminal) -> String {
        match self.layout(terminal.width) {
            Layout::Boxed(shown) => self.boxed(&shown, terminal.colours),
            Layout::Stacked => self.stacked(terminal),
        }
    }

    fn boxed(&self, shown: &[(usize, usize)], colours: bool) -> String {
        let inner = shown.iter().map(|(_, width)| width).sum::<usize>() + GAP * shown.len().saturating_sub(1);
        let rule = |[left, line, right]: [char; 3]| {
            format!("{left}{}{right}\n", line.to_string().repeat(inner + BOX - 2))
        };
        let row = |cells: &[Cell], heading: bool| {
            let columns = shown.iter().map(|&(at, width)| {
                let indent = if heading { 0 } else { self.indent(at) };
                let cell = cells.get(at).cloned().unwrap_or_default();
                let lines = cell.lines(heading || self.columns[at].prose, width - indent);
                (width, indent, cell.style, lines)
            });
            lines_of(&columns.collect::<Vec<_>>(), colours)
        };
        let header: Vec<Cell> =
            self.columns.iter().map(|column| Cell::new(&*column.name, Style::Strong)).collect();
        let mut text = rule(['┌', '─', '┐']) + &row(&header, true) + &rule(['╞', '═', '╡']);
        for (number, next) in self.rows.iter().enumerate() {
            if self.ruled && number > 0 {
                text += &rule(['├', '─', '┤']);
            }
            text += &match next {
                Row::Group(name) => lines_of(&[(inner, 0, Style::Strong, wrap(name, inner, inner))], colours),
                Row::Cells(cells) => row(cells, false),
            };
        }
        text + &rule(['└', '─', '┘'])
    }

    fn stacked(&self, terminal: Terminal) -> String {
        let limit = terminal.width.unwrap_or(WIDEST);
        let names = || self.columns[1..].iter().map(|column| width(&column.name));
        let longest = names().filter(|name| *name <= limit / 3).max().unwrap_or(0);
        let mut text = String::new();
        let mut say = |indent: usize, before: &str, cell: &Cell| {
            let room = limit.saturating_sub(indent + width(before)).max(1);
            let lines = cell.lines(true, room);
            for (at, line) in lines.iter().enumerate() {
                let before = if at == 0 { before.to_owned() } else { " ".repeat(width(before)) };
                let painted = cell.style.paint(line, terminal.colours);
                text += format!("{}{before}{painted}", " ".repeat(indent)).trim_end();
                text.push('\n');
            }
        };
        let indent = self.indent(0);
        for row in &self.rows {
            match row {
                Row::Group(name) => say(0, "", &Cell::new(&**name, Style::Strong)),
                Row::Cells(cells) => {
                    let Some((title, fields)) = cells.split_first() else { continue };
                    if !title.text.is_empty() {
                        let style = if title.style == Style::Plain { Style::Strong } else { title.style };
                        say(indent, "", &Cell::new(&*title.text, style));
                    }
                    for (column, cell) in self.columns[1..].iter().zip(fields) {
                        if cell.is_nothing() {
                            continue;
                        }
                        match (&*column.name, width(&column.name) <= longest) {
                            ("", _) => say(indent + INDENT, "", cell),
                            (name, true) => {
                                let space = " ".repeat(longest - width(name) + GAP);
                                say(indent + INDENT, &format!("{name}{space}"), cell);
                            }
                            // a name that leaves no room stands alone
                            (name, false) => {
                                say(indent + INDENT, "", &Cell::from(name));
                                say(indent + 2 * INDENT, "", cell);
                            }
                        }
                    }
                }
            }
        }
        text
    }

    /// Which columns had no room.
    pub(super) fn left_out(&self, terminal: Terminal) -> Option<String> {
        let Layout::Boxed(shown) = self.layout(terminal.width) else { return None };
        let missing = self.filled().into_iter().filter(|at| !shown.iter().any(|(shown, _)| shown == at));
        let missing: Vec<&str> = missing.map(|at| &*self.columns[at].name).collect();
        (!missing.is_empty()).then(|| format!("on a wider terminal also: {}", missing.join(", ")))
    }

    /// What the columns that are shown mean.
    pub(super) fn legend(&self, terminal: Terminal) -> Option<String> {
        let shown: Vec<usize> = match self.layout(terminal.width) {
            Layout::Boxed(shown) => shown.into_iter().map(|(at, _)| at).collect(),
            Layout::Stacked => self.filled(),
        };
        let explained = shown.into_iter().map(|at| &self.columns[at]).filter(|c| !c.about.is_empty());
        let words: Vec<String> = explained.map(|c| format!("{}: {}", c.name, c.about)).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }
}

/// The lines of a row in a box, from the width, indent, style and lines of each of its cells.
fn lines_of(cells: &[(usize, usize, Style, Vec<String>)], colours: bool) -> String {
    let height = cells.iter().map(|(.., lines)| lines.len()).max().unwrap_or(0);
    let line = |number: usize| {
        let parts = cells.iter().map(|(room, indent, style, lines)| {
            let text = lines.get(number).map_or("", |line| &**line);
            let space = room.saturating_sub(indent + width(text));
            format!("{}{}{}", " ".repeat(*indent), style.paint(text, colours), " ".repeat(space))
        });
        format!("│ {} │\n", parts.collect::<Vec<_>>().join(&" ".repeat(GAP)))
    };
    (0..height).map(line).collect()
}

#[cfg(test)]
mod tests;
