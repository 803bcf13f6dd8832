//! What stands out.

/// How text stands out on a terminal with colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Style {
    #[default]
    Plain,
    /// Headings, and what a command ends with.
    Strong,
    /// What a reader may look past.
    Quiet,
    Good,
    Bad,
    /// Neither.
    Open,
}

impl Style {
    /// `text` in this style, or as it is.
    pub(crate) fn paint(self, text: &str, colours: bool) -> String {
        let code = match self {
            Style::Plain => return text.to_owned(),
            Style::Strong => "1",
            Style::Quiet => "2",
            Style::Good => "32",
            Style::Bad => "31",
            Style::Open => "33",
        };
        match colours && !text.is_empty() {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}

/// Whether colours are wanted, by the conventions of the environment.
pub(super) fn colours(variable: impl Fn(&str) -> Option<String>, is_terminal: bool) -> bool {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let is = |name: &str, value: &str| variable(name).as_deref() == Some(value);
    if set("NO_COLOR") {
        return false;
    }
    if set("CLICOLOR_FORCE") && !is("CLICOLOR_FORCE", "0") {
        return true;
    }
    is_terminal && !is("CLICOLOR", "0") && !is("TERM", "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides_over_colours() {
        type Variables = &'static [(&'static str, &'static str)];
        let cases: [(Variables, [bool; 2]); 9] = [
            (&[], [false, true]),
            (&[("NO_COLOR", "1")], [false, false]),
            (&[("NO_COLOR", "")], [false, true]),
            (&[("CLICOLOR_FORCE", "1")], [true, true]),
            (&[("CLICOLOR_FORCE", "0")], [false, true]),
            (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], [false, false]),
            (&[("CLICOLOR", "0")], [false, false]),
            (&[("TERM", "dumb")], [false, false]),
            (&[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")], [true, true]),
        ];
        for (variables, expected) in cases {
            let variable =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, v)| (*v).to_owned());
            assert_eq!([false, true].map(|terminal| colours(variable, terminal)), expected, "{variables:?}");
        }
    }

    #[test]
    fn paint_ends_where_it_begins() {
        assert_eq!(Style::Good.paint("holds", true), "\u{1b}[32mholds\u{1b}[0m");
        assert_eq!(Style::Good.paint("holds", false), "holds");
        assert_eq!(Style::Plain.paint("holds", true), "holds");
        assert_eq!(Style::Bad.paint("", true), "");
    }
}
