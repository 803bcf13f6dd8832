//! A small SVG writer: elements with attributes, escaped text, short numbers.

use std::fmt::Write as _;

use crate::draw::maths::Part;

/// SVG text under construction.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    out: String,
    open: Vec<&'static str>,
}

impl Svg {
    /// Starts an element; finish it with [`Element::empty`], [`Element::open`] or [`Element::text`].
    pub(crate) fn element(&mut self, tag: &'static str) -> Element<'_> {
        self.indent();
        self.out.push('<');
        self.out.push_str(tag);
        Element { svg: self, tag }
    }

    /// Ends the innermost open element.
    pub(crate) fn close(&mut self) {
        if let Some(tag) = self.open.pop() {
            self.indent();
            let _ = writeln!(self.out, "</{tag}>");
        }
    }

    /// The text, all elements ended.
    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.out
    }

    fn indent(&mut self) {
        self.out.extend(std::iter::repeat_n(' ', self.open.len()));
    }
}

/// A started element.
#[derive(Debug)]
pub(crate) struct Element<'a> {
    svg: &'a mut Svg,
    tag: &'static str,
}

impl Element<'_> {
    /// An attribute.
    pub(crate) fn set(self, name: &str, value: impl Value) -> Self {
        let _ = write!(self.svg.out, " {name}=\"{}\"", value.attribute());
        self
    }

    /// An attribute that may be left out.
    pub(crate) fn maybe(self, name: &str, value: Option<impl Value>) -> Self {
        match value {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    /// Ends it without content.
    pub(crate) fn empty(self) {
        self.svg.out.push_str("/>\n");
    }

    /// Leaves it open: what follows goes inside, until [`Svg::close`].
    pub(crate) fn open(self) {
        self.svg.out.push_str(">\n");
        self.svg.open.push(self.tag);
    }

    /// Ends it with text inside.
    pub(crate) fn text(self, text: &str) {
        let Self { svg, tag } = self;
        let _ = writeln!(svg.out, ">{}</{tag}>", escape(text));
    }
}

impl Element<'_> {
    /// Ends it with a formula inside: indices smaller and below the line, for text of this size.
    pub(crate) fn spans(self, parts: &[Part<'_>], size: f64) {
        let Self { svg, tag } = self;
        let (drop, small) = (number(0.22 * size), number(0.72 * size));
        let mut down = false;
        svg.out.push('>');
        for part in parts {
            let _ = match part {
                Part::Index(index) => {
                    write!(svg.out, "<tspan dy=\"{drop}\" font-size=\"{small}\">{}</tspan>", escape(index))
                }
                Part::Plain(text) if down => {
                    write!(svg.out, "<tspan dy=\"-{drop}\">{}</tspan>", escape(text))
                }
                Part::Plain(text) => write!(svg.out, "{}", escape(text)),
            };
            down = matches!(part, Part::Index(_));
        }
        let _ = writeln!(svg.out, "</{tag}>");
    }
}

/// What an attribute can be.
pub(crate) trait Value {
    /// As it stands between the quotes.
    fn attribute(&self) -> String;
}

impl Value for f64 {
    fn attribute(&self) -> String {
        number(*self)
    }
}

impl Value for &str {
    fn attribute(&self) -> String {
        escape(self)
    }
}

impl Value for String {
    fn attribute(&self) -> String {
        escape(self)
    }
}

/// A coordinate with two decimals at most: a hundredth of a pixel is more than anyone sees.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned(); // a file that opens is better than one that does not
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Path data through points: `M x y L x y …`.
pub(crate) fn path(points: &[(f64, f64)]) -> String {
    let mut data = String::new();
    for (i, &(x, y)) in points.iter().enumerate() {
        let letter = if i == 0 { "M" } else { "L" };
        let _ = write!(data, "{letter}{} {}", number(x), number(y));
    }
    data
}

/// Text as XML takes it; characters that XML forbids become the replacement character.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_break_the_file() {
        let shown = [1.0, -0.001, 2.504, f64::NAN, f64::INFINITY, 1234.5].map(number);
        assert_eq!(shown, ["1", "0", "2.5", "0", "0", "1234.5"]);
    }

    #[test]
    fn elements_nest_and_text_is_escaped() {
        let mut svg = Svg::default();
        svg.element("g").set("class", "a\"b").open();
        svg.element("text").set("x", 1.5).maybe("y", None::<f64>).text("a < b & \u{1}c");
        assert_eq!(
            svg.finish(),
            "<g class=\"a&quot;b\">\n <text x=\"1.5\">a &lt; b &amp; \u{fffd}c</text>\n</g>\n"
        );
    }
}
