//! The fonts of the figures: embedded, so that a figure has the same bytes on every machine.

use std::sync::{Arc, LazyLock};

use resvg::usvg::fontdb;
use ttf_parser::Face;

/// Families in the order a reader's machine should try them.
pub(crate) const FAMILIES: &str = "Inter, 'oneway signs', system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/// Whether text is plain or a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    SemiBold,
}

const REGULAR: &[u8] = include_bytes!("../../../assets/fonts/Inter-Regular-subset.otf");
const SEMI_BOLD: &[u8] = include_bytes!("../../../assets/fonts/Inter-SemiBold-subset.otf");
/// Signs that Inter lacks, such as ∇.
const SIGNS: &[u8] = include_bytes!("../../../assets/fonts/DejaVuSans-subset.ttf");

/// The fonts, and the families that a figure calls them by: plain, semi-bold, and signs for both.
pub(crate) const EMBEDDED: [(&str, &[u8]); 3] =
    [("Inter", REGULAR), ("Inter", SEMI_BOLD), ("oneway signs", SIGNS)];

/// What stands for a character without a glyph, in files that cannot ask the reader's machine for one.
pub(crate) const REPLACEMENT: char = '?';

/// Whether a character is drawn by the embedded fonts. Marks and spaces are never missed.
pub(crate) fn has_glyph(c: char) -> bool {
    c.is_whitespace() || c.is_control() || FACES.iter().flatten().any(|face| face.glyph_index(c).is_some())
}

/// The embedded fonts and no others: what a machine has installed must not change a figure.
pub(crate) static DATABASE: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut database = fontdb::Database::new();
    for font in [REGULAR, SEMI_BOLD, SIGNS] {
        database.load_font_data(font.to_vec());
    }
    database.set_sans_serif_family("Inter");
    Arc::new(database)
});

static FACES: LazyLock<[Option<Face<'static>>; 3]> =
    LazyLock::new(|| [REGULAR, SEMI_BOLD, SIGNS].map(|font| Face::parse(font, 0).ok()));

/// The width of a text in pixels, without kerning: good to a pixel or two, which is all that a layout needs.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let [regular, semi_bold, signs] = &*FACES;
    let face = if weight == Weight::Regular { regular } else { semi_bold };
    let advance = |face: &Option<Face<'_>>, c: char| {
        let face = face.as_ref()?;
        let advance = face.glyph_hor_advance(face.glyph_index(c)?)?;
        Some(f64::from(advance) / f64::from(face.units_per_em()))
    };
    let em = |c: char| match c {
        '\u{300}'..='\u{36f}' => 0.0, // marks stand over the letter before
        c => advance(face, c).or_else(|| advance(signs, c)).unwrap_or(1.0),
    };
    size * text.chars().map(em).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_that_figures_use_has_a_glyph() {
        let used = "ABCXYZabcxyz0189 .,:;()[]{}/+-=<>%_∇‖²−×±≤≥√·…–—→∞∂∑ΣαβγδεηθκλμπρσφωΩ\
                    ⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₄₅₆₇₈₉ᵢₖᵀ∝∈\u{304}éüñß½′";
        for c in used.chars() {
            let has = |face: &Option<Face<'_>>| face.as_ref().unwrap().glyph_index(c).is_some();
            assert!(has(&FACES[0]) && has(&FACES[1]) || has(&FACES[2]), "{c} U+{:04X}", c as u32);
        }
    }

    #[test]
    fn what_has_no_glyph_is_known() {
        assert!("SMTPP (trees) λ = 0.1".chars().all(has_glyph) && has_glyph(REPLACEMENT));
        assert!(!"環🙂".chars().any(has_glyph));
    }

    #[test]
    fn widths_add_up_and_marks_take_no_room() {
        let plain = |text| width(text, 10.0, Weight::Regular);
        assert!(plain("m") > plain("i") && plain("∇") > 0.0);
        assert_eq!(plain("x\u{304}"), plain("x"));
        assert!(width("mm", 10.0, Weight::SemiBold) > plain("mm"));
    }
}
