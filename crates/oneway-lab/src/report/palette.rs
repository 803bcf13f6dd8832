//! One colour and one dash for each series, the same in every figure and on its switch.

use std::fmt::Write as _;

use maud::{Markup, html};
use serde_json::Value;

use super::Figure;

/// The series of all figures, in order of appearance.
#[derive(Debug)]
pub(super) struct Palette(Vec<Series>);

/// A series' looks.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) name: String,
    /// Its place in the palette.
    place: usize,
    light: String,
    dark: String,
    dash: String,
    /// The custom properties that drawings paint it with, without `--`.
    properties: Vec<String>,
}

impl Palette {
    /// Collects the series. Where figures disagree on a colour, the first one decides.
    pub(super) fn of(figures: &[Figure]) -> Self {
        let mut all: Vec<Series> = vec![];
        for figure in figures {
            let painted = painted(&figure.svg);
            for series in figure.data["series"].as_array().into_iter().flatten() {
                let Some(name) = series["name"].as_str() else { continue };
                let place = all.iter().position(|known| known.name == name).unwrap_or(all.len());
                if place == all.len() {
                    all.push(Series {
                        name: name.to_owned(),
                        place,
                        light: colour(&series["color_light"]),
                        dark: colour(&series["color_dark"]),
                        dash: dash(&series["dash"]),
                        properties: vec![],
                    });
                }
                for (_, property) in painted.iter().filter(|(painted, _)| painted == name) {
                    if !all.iter().any(|known| known.properties.contains(property)) {
                        all[place].properties.push(property.clone());
                    }
                }
            }
        }
        Self(all)
    }

    /// The series, in order of appearance.
    pub(super) fn series(&self) -> &[Series] {
        &self.0
    }

    /// The colours on white, as a style sheet.
    pub(super) fn light(&self) -> String {
        self.sheet(|series| &series.light)
    }

    /// The colours on black, as a style sheet.
    pub(super) fn dark(&self) -> String {
        self.sheet(|series| &series.dark)
    }

    fn sheet(&self, colour: impl Fn(&Series) -> &str) -> String {
        let mut sheet = ":root {\n".to_owned();
        for series in &self.0 {
            let _ = writeln!(sheet, "  --line-{}: {};", series.place, colour(series));
            for property in &series.properties {
                let _ = writeln!(sheet, "  --{property}: var(--line-{});", series.place);
            }
        }
        sheet + "}\n"
    }
}

impl Series {
    /// A short stretch of the curve.
    pub(super) fn swatch(&self) -> Markup {
        html! {
            svg.swatch viewBox="0 0 26 10" aria-hidden="true" {
                line x1="1" y1="5" x2="25" y2="5" style={ "stroke:var(--line-" (self.place) ")" }
                    stroke-dasharray=(self.dash) {}
            }
        }
    }
}

/// Which series a drawing paints with which properties of the form `--series-…`: (name, property).
fn painted(svg: &str) -> Vec<(String, String)> {
    let mut painted = vec![];
    for group in svg.split("data-series=\"").skip(1) {
        let Some((name, content)) = group.split_once('"') else { continue };
        let name = unescaped(name);
        for rest in content.split("var(--").skip(1) {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').unwrap_or(rest.len());
            let pair = (name.clone(), rest[..end].to_owned());
            if pair.1.starts_with("series-") && !painted.contains(&pair) {
                painted.push(pair);
            }
        }
    }
    painted
}

/// The text of an XML attribute.
fn unescaped(attribute: &str) -> String {
    let entities =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&")];
    entities.iter().fold(attribute.to_owned(), |text, (entity, character)| text.replace(entity, character))
}

/// A CSS colour, or ink where the text could be anything else.
fn colour(value: &Value) -> String {
    let harmless = |character: char| character.is_ascii_alphanumeric() || "#(),.%/ -".contains(character);
    match value.as_str() {
        Some(text) if !text.is_empty() && text.chars().all(harmless) => text.to_owned(),
        _ => "var(--ink)".to_owned(),
    }
}

/// A dash pattern, given as text or as an array; empty for a full line.
fn dash(value: &Value) -> String {
    match value {
        Value::String(text) if text != "none" => text.clone(),
        Value::Array(lengths) => lengths.iter().map(Value::to_string).collect::<Vec<_>>().join(" "),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn properties_take_the_colour_of_their_series() {
        let svg = r##"<svg><text fill="var(--series-blue)"/><g data-series="A &amp; B"><path stroke="var(--series-blue,#00f)"/>
            <text fill="var(--ink)"/></g><g data-series="C"><path fill="var(--series-c)" stroke="var(--series-blue)"/></g></svg>"##;
        let series = |name, light| json!({ "name": name, "color_light": light, "color_dark": "white" });
        let data = json!({ "series": [series("A & B", "blue"), series("C", "red")] });
        let palette = Palette::of(&[Figure { svg: svg.to_owned(), data, ..Figure::default() }]);
        let sheet = ":root {\n  --line-0: blue;\n  --series-blue: var(--line-0);\n  --line-1: red;\n  \
                     --series-c: var(--line-1);\n}\n";
        assert_eq!(palette.light(), sheet);
        assert_eq!(palette.dark().matches("white").count(), 2);
    }

    #[test]
    fn a_colour_cannot_end_its_rule() {
        assert_eq!(colour(&json!("#0072b2")), "#0072b2");
        assert_eq!(colour(&json!("rgb(0 0 0 / 50%)")), "rgb(0 0 0 / 50%)");
        for hostile in [json!("red;} body {display: none"), json!("</style>"), json!(""), json!(null)] {
            assert_eq!(colour(&hostile), "var(--ink)");
        }
    }

    #[test]
    fn dashes_are_text_or_arrays() {
        assert_eq!(dash(&json!("6 3")), "6 3");
        assert_eq!(dash(&json!([6, 3])), "6 3");
        assert_eq!(dash(&json!(null)), "");
        assert_eq!(dash(&json!("none")), "");
    }
}
