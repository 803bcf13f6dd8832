//! Colours: a method has the same one, and the same dashes, in every figure.
//!
//! The first hues are those of Okabe and Ito; their pale ones, which are lost on white and cannot be told
//! from others once darkened, gave way to darker ones. A test holds all of them to be apart to the
//! colour-blind. Each has a variant for dark pages. A colour also has a name: in a page, CSS custom
//! properties of that name rule (`--ink`, `--series-blue`), so that one SVG serves both themes.

use super::render::Theme;
use super::shades::{self, SHADES};

/// A colour in both themes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Color {
    /// Its CSS custom property, without the dashes.
    pub(crate) name: &'static str,
    /// On white.
    pub(crate) light: &'static str,
    /// On #111.
    pub(crate) dark: &'static str,
}

pub(super) const fn color(name: &'static str, light: &'static str, dark: &'static str) -> Color {
    Color { name, light, dark }
}

/// Text that matters, and the reference method.
pub(crate) const INK: Color = color("ink", "#1a1a1a", "#ececec");
/// Labels of axes and other quiet text.
pub(crate) const MUTED: Color = color("muted", "#5c5c5c", "#a3a3a3");
/// Grid lines.
pub(crate) const GRID: Color = color("grid", "#e4e4e4", "#2e2e2e");
/// Links that are not used.
pub(crate) const LINK: Color = color("link", "#c8c8c8", "#484848");
/// The paper.
pub(crate) const PAPER: Color = color("paper", "#ffffff", "#111111");

/// The hues of methods: as it is, and lighter for variants of a method, which often run on top of it.
const HUES: [[Color; 2]; 7] = [
    [color("series-blue", "#0072b2", "#3fa7e8"), color("series-blue-2", "#4095cb", "#8fcbf2")],
    [color("series-vermilion", "#d55e00", "#f07f2e"), color("series-vermilion-2", "#d77830", "#f7b283")],
    [color("series-green", "#009e73", "#2fcb9b"), color("series-green-2", "#2f9f7c", "#83d9bd")],
    [color("series-pink", "#b8548f", "#dc86b8"), color("series-pink-2", "#c876a6", "#ecb9d7")],
    [color("series-violet", "#7326d9", "#9b5cff"), color("series-violet-2", "#9a66e3", "#c3a0ff")],
    [color("series-brown", "#553300", "#f2cf8d"), color("series-brown-2", "#8a6a33", "#f7e3bf")],
    [color("series-crimson", "#8f0f3c", "#ef3f5f"), color("series-crimson-2", "#b85577", "#f58a9c")],
];

/// Pulled models: the hue of R in network figures.
pub(crate) const PULL: Color = HUES[0][0];
/// Pushed trackers: the hue of C.
pub(crate) const PUSH: Color = HUES[1][0];

/// What is proven to work.
pub(crate) const PROVEN: Color = HUES[2][0];
/// What works, and what bounds it.
pub(crate) const WORKS: Color = HUES[0][0];
/// What fails.
pub(crate) const FAILS: Color = HUES[1][0];

/// How the line of a method, or a set of points, is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) color: Color,
    /// `stroke-dasharray`.
    pub(crate) dash: Option<&'static str>,
    /// Points apart from each other, and no line.
    pub(crate) mark: Option<Mark>,
}

/// The shape of a point: where colours fail, shapes tell points apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Disc,
    Cross,
    Diamond,
    Ring,
}

impl Style {
    /// A line.
    pub(crate) const fn line(color: Color, dash: Option<&'static str>) -> Self {
        Self { color, dash, mark: None }
    }

    /// Points.
    pub(crate) const fn marks(color: Color, mark: Mark) -> Self {
        Self { color, dash: None, mark: Some(mark) }
    }
}

/// The reference runs under the methods that should follow it: dots on top of a line leave both to be seen.
const REFERENCE: Style = Style::line(INK, Some("1.6 3.4"));

/// Methods whose hue never depends on what else is drawn, as an index of [`HUES`].
const KNOWN: [(&str, usize); 6] =
    [("smtpp", 0), ("stpp", 1), ("sgp", 2), ("push-diging", 3), ("push-pull", 4), ("momentum-tracking", 5)];

/// Dashes of variants, as in "SMTPP (trees)", by order of appearance; after them they start again.
pub(super) const DASHES: [&str; 4] = ["7 3.5", "2.5 2.5", "9 3 2 3", "4 2 1 2 1 2"];

/// The styles of a set of methods.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Palette(Vec<(String, Style)>);

impl Palette {
    /// Styles for these methods. Known ones have their own; others take what is left in order of appearance,
    /// so for the same colours in several figures give all methods of all of them.
    pub(crate) fn new<'a>(methods: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names: Vec<&str> = vec![];
        for name in methods {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut families: Vec<(String, usize)> = vec![];
        for name in &names {
            let Name { family, .. } = Name::new(name);
            let known = KNOWN.iter().find(|(known, _)| *known == family);
            if let (Some(&(_, hue)), false) = (known, families.iter().any(|(other, _)| *other == family)) {
                families.push((family, hue));
            }
        }
        let mut styles: Vec<(String, Style)> = vec![];
        for name in &names {
            let Name { family, variant, value } = Name::new(name);
            if matches!(&*family, "csgdm" | "csgd" | "centralised") && variant.is_none() && value.is_none() {
                styles.push(((*name).to_owned(), REFERENCE));
                continue;
            }
            let hue = families.iter().find(|(known, _)| *known == family).map(|&(_, hue)| hue);
            let hue = hue.unwrap_or_else(|| {
                // From the far end, which known methods do not use, then what the known ones left, then those
                // with the fewest lines.
                let taken = |hue: &usize| families.iter().any(|&(_, other)| other == *hue);
                let free = (0..HUES.len()).rev().find(|hue| !taken(hue));
                let of_hue =
                    |hue: usize, color: &Color| HUES[hue].contains(color) || SHADES[hue].contains(color);
                let lines =
                    |hue: &usize| styles.iter().filter(|(_, style)| of_hue(*hue, &style.color)).count();
                let hue = free.or_else(|| (0..HUES.len()).min_by_key(lines)).unwrap_or(0);
                families.push((family.clone(), hue));
                hue
            });
            let used = |style: &Style| styles.iter().any(|(_, other)| other == style);
            let plain = Style::line(HUES[hue][0], None);
            let style = match (value, variant.as_deref()) {
                (Some(_), _) => {
                    let swept =
                        |other: &&&str| Name::new(other).is_of(&family, &variant) && ***other != **name;
                    let before = names.iter().take_while(|other| *other != name).filter(swept).count();
                    let all = 1 + names.iter().filter(swept).count();
                    shade(hue, before, all, variant.as_deref())
                }
                (None, Some("trees")) => Style::line(HUES[hue][1], Some(DASHES[0])),
                (None, None) if !used(&plain) => plain,
                (None, _) => {
                    let dashed = DASHES.map(|dash| Style::line(HUES[hue][1], Some(dash)));
                    let free = dashed[1..].iter().find(|style| !used(style));
                    *free.unwrap_or(&dashed[1 + styles.len() % (DASHES.len() - 1)])
                }
            };
            styles.push(((*name).to_owned(), style));
        }
        Self(styles)
    }

    /// Styles that were chosen otherwise.
    pub(super) fn from_styles(styles: Vec<(String, Style)>) -> Self {
        Self(styles)
    }

    /// The style of a method; plain ink for one that this palette was not made for.
    pub(crate) fn style(&self, method: &str) -> Style {
        let found = self.0.iter().find(|(name, _)| name == method);
        found.map_or(Style::line(INK, None), |&(_, style)| style)
    }
}

/// The style of value number `place` of `all` that a setting takes: shades in the order of the values, and
/// dashes where there are more values than shades.
fn shade(hue: usize, place: usize, all: usize, variant: Option<&str>) -> Style {
    let (shade, turn) = match all {
        0..=shades::COUNT => (place * (shades::COUNT - 1) / (all - 1).max(1), 0),
        _ => {
            (place * shades::COUNT / all, place - (place * shades::COUNT / all * all).div_ceil(shades::COUNT))
        }
    };
    let dashes = [None].into_iter().chain(DASHES.map(Some)).skip(usize::from(variant.is_some()));
    let dash = dashes.clone().cycle().nth(turn % dashes.count()).flatten();
    Style::line(SHADES[hue][shade], dash)
}

/// What a method's name says of its kin.
#[derive(Debug, PartialEq)]
struct Name {
    /// `smtpp` of `SMTPP (trees) [step.size=0.1]`.
    family: String,
    /// `trees`.
    variant: Option<String>,
    /// `step.size=0.1`: what a sweep set.
    value: Option<String>,
}

impl Name {
    fn new(method: &str) -> Self {
        let plain = |text: &str| text.trim().to_lowercase().replace([' ', '_'], "-");
        let (method, value) = match method.strip_suffix(']').and_then(|method| method.rsplit_once(" [")) {
            Some((method, value)) => (method, Some(value.to_owned())),
            None => (method, None),
        };
        match method.split_once('(') {
            Some((family, variant)) => {
                let variant = Some(plain(variant.trim_end_matches([')', ' '])));
                Self { family: plain(family), variant, value }
            }
            None => Self { family: plain(method), variant: None, value },
        }
    }

    /// Whether it is one of the values that this variant of a family takes.
    fn is_of(&self, family: &str, variant: &Option<String>) -> bool {
        self.value.is_some() && self.family == family && self.variant == *variant
    }
}

/// All colours as CSS custom properties, for the rule of a page's theme.
pub(crate) fn custom_properties(theme: Theme) -> String {
    let all = [INK, MUTED, GRID, LINK, PAPER]
        .into_iter()
        .chain(HUES.into_iter().flatten())
        .chain(SHADES.into_iter().flatten());
    all.map(|color| {
        format!("--{}:{};", color.name, if theme == Theme::Dark { color.dark } else { color.light })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_looks_the_same_whatever_is_drawn_beside_it() {
        let one = Palette::new(["SMTPP", "SMTPP (trees)", "STPP", "SGP", "Push-DIGing", "CSGDM"]);
        let other =
            Palette::new(["my own", "SGP", "CSGDM", "SMTPP (trees)", "another", "Push-DIGing", "STPP"]);
        for method in ["SMTPP (trees)", "STPP", "SGP", "Push-DIGing", "CSGDM"] {
            assert_eq!(one.style(method), other.style(method), "{method}");
        }
        assert_eq!(Palette::new(["SMTPP"]).style("SMTPP"), one.style("SMTPP"));
        assert_ne!(one.style("SMTPP"), one.style("SMTPP (trees)"));
        assert_eq!(one.style("CSGDM").color, INK);
    }

    #[test]
    fn no_two_of_many_methods_look_alike() {
        let names: Vec<String> = (0..20).map(|i| format!("method {i}")).collect();
        let known = ["SMTPP", "STPP", "SGP", "SMTPP (trees)", "SMTPP (lazy-trees)", "SMTPP (a)", "Push-Pull"];
        let all: Vec<&str> = known.into_iter().chain(names.iter().map(String::as_str)).collect();
        let palette = Palette::new(all.iter().copied());
        for (i, a) in all.iter().enumerate() {
            for b in &all[..i] {
                assert_ne!(palette.style(a), palette.style(b), "{a} and {b}");
            }
        }
    }

    #[test]
    fn values_of_a_sweep_are_shades_of_one_hue_in_their_order() {
        let luminance = |hex: &str| contrast(hex, "#000000");
        for count in 2..=24 {
            let names: Vec<String> =
                (0..count).map(|i| format!("SMTPP [step.size={i}; momentum=0.1]")).collect();
            let all = names.iter().map(String::as_str).chain(["SMTPP", "STPP"]);
            let palette = Palette::new(all.clone());
            let styles: Vec<Style> = names.iter().map(|name| palette.style(name)).collect();
            assert!(styles.iter().all(|style| SHADES[0].contains(&style.color)), "{styles:?}");
            let light: Vec<f64> = styles.iter().map(|style| luminance(style.color.light)).collect();
            assert!(light.is_sorted_by(|a, b| a >= b) && light[0] > light[count - 1], "{light:?}");
            assert_eq!(styles[0].color, SHADES[0][0]);
            assert_eq!(styles[count - 1].color, SHADES[0][shades::COUNT - 1]);
            for (i, name) in all.clone().enumerate() {
                assert!(
                    all.clone().take(i).all(|other| palette.style(other) != palette.style(name)),
                    "{name}"
                );
            }
        }
        let trees = Palette::new(["SMTPP (trees) [step=1]", "SMTPP (trees) [step=2]", "SMTPP [step=1]"]);
        assert_ne!(trees.style("SMTPP (trees) [step=1]"), trees.style("SMTPP [step=1]"));
        let (first, last) = (SHADES.map(|hue| hue[0]), SHADES.map(|hue| hue[shades::COUNT - 1]));
        assert!(
            first.iter().all(|c| contrast(c.light, "#ffffff") >= 3.0 && contrast(c.dark, "#111111") >= 4.5)
        );
        assert!(
            last.iter().all(|c| contrast(c.light, "#ffffff") >= 7.0 && contrast(c.dark, "#111111") >= 7.0)
        );
    }

    /// Contrast of two colours by WCAG 2.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |hex: &str| {
            let part = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            let linear = |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
            0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn lines_and_text_stand_out_in_both_themes() {
        for color in HUES.into_iter().flatten() {
            assert!(contrast(color.light, "#ffffff") >= 3.0, "{color:?}");
            assert!(contrast(color.dark, "#111111") >= 4.5, "{color:?}");
        }
        for color in [INK, MUTED] {
            assert!(contrast(color.light, "#ffffff") >= 4.5 && contrast(color.dark, "#111111") >= 4.5);
        }
    }

    /// CIE L*a*b* of a colour as a dichromat sees it (Machado, Oliveira & Fernandes 2009, severity 1).
    fn seen(hex: &str, sight: &[[f64; 3]; 3]) -> [f64; 3] {
        let part = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
        let linear = |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        let rgb = [1, 3, 5].map(|at| linear(part(at)));
        let times =
            |m: &[[f64; 3]; 3], v: [f64; 3]| m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2]);
        let rgb = times(sight, rgb).map(|c| c.clamp(0.0, 1.0));
        let [x, y, z] =
            times(&[[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], rgb);
        let root = |t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let (x, y, z) = (root(x / 0.9505), root(y), root(z / 1.089));
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn the_colour_blind_can_tell_methods_apart() {
        const SIGHTS: [(&str, [[f64; 3]; 3]); 3] = [
            ("protan", [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
            ("deutan", [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
            ("tritan", [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
        ];
        let colors: Vec<Color> = HUES.iter().map(|hue| hue[0]).chain([INK]).collect();
        for (name, sight) in SIGHTS {
            for (i, a) in colors.iter().enumerate() {
                for b in &colors[..i] {
                    for (a_hex, b_hex) in [(a.light, b.light), (a.dark, b.dark)] {
                        let (p, q) = (seen(a_hex, &sight), seen(b_hex, &sight));
                        let apart = (p[0] - q[0]).hypot(p[1] - q[1]).hypot(p[2] - q[2]);
                        assert!(apart > 13.0, "{name}: {} and {} are {apart:.0} apart", a.name, b.name);
                    }
                }
            }
        }
    }
}
