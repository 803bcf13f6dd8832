//! Colours for print: the usual ones, with a dash for each line, or greys.

use clap::ValueEnum;

use super::palette::{Color, DASHES, Palette, Style, color};

/// Which colours and dashes tell the lines of a figure apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colours {
    /// A colour for each method, the same in every figure, and safe for colour-blind readers
    Oneway,
    /// The same colours, and for up to five lines different dashes, so that colours are not needed
    Safe,
    /// Greys and dashes, for print without colour, for up to fifteen lines
    Grey,
}

/// Greys that stand out on white (3:1 at least), and from each other.
const GREYS: [Color; 3] = [
    color("grey-1", "#1a1a1a", "#ececec"),
    color("grey-2", "#616161", "#b0b0b0"),
    color("grey-3", "#929292", "#7c7c7c"),
];

impl Colours {
    /// Styles for these methods: for the same ones in several figures give all methods of all of them.
    pub(crate) fn palette<'a>(self, methods: impl IntoIterator<Item = &'a str>) -> Palette {
        let mut names: Vec<&str> = vec![];
        for name in methods {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let usual = Palette::new(names.iter().copied());
        let dash = |place: usize| {
            [None].into_iter().chain(DASHES.map(Some)).nth(place % (1 + DASHES.len())).flatten()
        };
        let style = |place: usize, name: &str| match self {
            Colours::Oneway => usual.style(name),
            Colours::Safe => Style::line(usual.style(name).color, dash(place)),
            Colours::Grey => Style::line(GREYS[place % GREYS.len()], dash(place)),
        };
        let styled = |(place, name): (usize, &&str)| ((*name).to_owned(), style(place, name));
        Palette::from_styles(names.iter().enumerate().map(styled).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_differ_without_their_colours() {
        let names: Vec<String> = (0..15).map(|i| format!("method {i}")).collect();
        let greys = Colours::Grey.palette(names.iter().map(String::as_str));
        for (i, a) in names.iter().enumerate() {
            assert!(names[..i].iter().all(|b| greys.style(a) != greys.style(b)), "{a}");
            let hex = greys.style(a).color.light;
            assert!(hex[1..3] == hex[3..5] && hex[3..5] == hex[5..7], "{hex} is no grey");
        }
        let safe = Colours::Safe.palette(names.iter().map(String::as_str));
        let dashes: Vec<_> = names[..5].iter().map(|name| safe.style(name).dash).collect();
        assert!((1..5).all(|i| !dashes[..i].contains(&dashes[i])), "{dashes:?}");
        let usual = Colours::Oneway.palette(["SMTPP", "SGP", "SMTPP"]);
        assert_eq!(usual, Palette::new(["SMTPP", "SGP"]));
        assert_eq!(
            safe.style("method 3").color,
            Palette::new(names.iter().map(String::as_str)).style("method 3").color
        );
    }
}
