//! One colour and one dash for each series, the same in every figure and on its switch.

use maud::{Markup, html};
use serde_json::Value;

use super::Figure;
use crate::draw::figure::palette::custom_properties;
use crate::draw::figure::render::Theme;

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
}

impl Palette {
    /// Collects the series. Where figures disagree on a colour, the first one decides.
    pub(super) fn new(figures: &[Figure]) -> Self {
        let mut all: Vec<Series> = vec![];
        for figure in figures {
            for series in figure.data["series"].as_array().into_iter().flatten() {
                let Some(name) = series["name"].as_str() else { continue };
                if !all.iter().any(|known| known.name == name) {
                    all.push(Series {
                        name: name.to_owned(),
                        place: all.len(),
                        light: colour(&series["color_light"]),
                        dark: colour(&series["color_dark"]),
                        dash: dash(&series["dash"]),
                    });
                }
            }
        }
        Self(all)
    }

    /// The series, in order of appearance.
    pub(super) fn series(&self) -> &[Series] {
        &self.0
    }

    /// The colours of switches and of drawings on white, as a style sheet.
    pub(super) fn light(&self) -> String {
        self.sheet(Theme::Light, |series| &series.light)
    }

    /// The same on black.
    pub(super) fn dark(&self) -> String {
        self.sheet(Theme::Dark, |series| &series.dark)
    }

    fn sheet(&self, theme: Theme, colour: impl Fn(&Series) -> &str) -> String {
        let lines = self.0.iter().map(|series| format!("--line-{}:{};", series.place, colour(series)));
        format!(":root {{ {}{} }}\n", custom_properties(theme), lines.collect::<String>())
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
    fn a_series_has_one_colour_in_each_theme() {
        let series = |name, light| json!({ "name": name, "color_light": light, "color_dark": "white" });
        let data = json!({ "series": [series("A & B", "blue"), series("C", "red"), series("C", "green")] });
        let palette = Palette::new(&[Figure { data, ..Figure::default() }]);
        assert!(palette.light().contains("--line-0:blue;--line-1:red;"), "{}", palette.light());
        assert!(
            palette.dark().contains("--line-0:white;--line-1:white;") && !palette.dark().contains("--line-2")
        );
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
