//! Fonts inside an SVG: the glyphs that its text uses, as data, so that it looks the same where no such font
//! is installed.

use std::collections::BTreeSet;

use subsetter::GlyphRemapper;
use ttf_parser::{Face, Tag};

use super::font;

/// The SVG with the glyphs of its text, from the first font that has each; what no font here has is left to
/// the reader's.
pub(crate) fn with_fonts(svg: &str) -> String {
    let (mut left, mut rules) = (used_in(svg), String::new());
    for (place, (family, data)) in font::EMBEDDED.into_iter().enumerate() {
        let weights: &[usize] = if place < 2 { &[place] } else { &[0, 1] };
        let wanted: BTreeSet<char> =
            weights.iter().flat_map(|&weight| left[weight].iter().copied()).collect();
        let Some((subset, has)) = subset(data, &wanted) else { continue };
        weights.iter().for_each(|&weight| left[weight].retain(|c| !has.contains(c)));
        let weight = if place == 1 { "font-weight:600;" } else { "" };
        let form = if data.starts_with(b"OTTO") { "otf" } else { "ttf" };
        rules += &format!(
            "@font-face{{font-family:'{family}';{weight}src:url(data:font/{form};base64,{})}}",
            base64(&subset)
        );
    }
    match svg.find(">\n") {
        Some(end) if !rules.is_empty() => {
            format!("{}<style>{rules}</style>\n{}", &svg[..end + 2], &svg[end + 2..])
        }
        _ => svg.to_owned(),
    }
}

/// The characters of all text elements: of plain ones, and of headings.
fn used_in(svg: &str) -> [BTreeSet<char>; 2] {
    let mut used = [BTreeSet::new(), BTreeSet::new()];
    for element in svg.split("<text ").skip(1) {
        let Some((attributes, rest)) = element.split_once('>') else { continue };
        let text = rest.split_once("</text>").map_or(rest, |(text, _)| text);
        let text = without_tags(text);
        let text =
            text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        used[usize::from(attributes.contains("font-weight=\"600\""))].extend(text.chars());
    }
    used
}

/// What stands between the tags: those of an index are in a text.
fn without_tags(text: &str) -> String {
    let mut pieces = text.split('<');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('>').map_or("", |(_, after)| after))
}

/// A font of these characters, and which of them it has; none if it has none.
fn subset(data: &[u8], wanted: &BTreeSet<char>) -> Option<(Vec<u8>, BTreeSet<char>)> {
    let face = Face::parse(data, 0).ok()?;
    let mut glyphs = GlyphRemapper::new();
    let mut places = vec![];
    for &c in wanted {
        if let Some(glyph) = face.glyph_index(c) {
            places.push((c, glyphs.remap(glyph.0)));
        }
    }
    if places.is_empty() {
        return None;
    }
    let subset = subsetter::subset(data, 0, &glyphs).ok()?;
    // a subset for PDF has no map from characters to glyphs, which is all that a browser misses
    let small = ttf_parser::RawFace::parse(&subset, 0).ok()?;
    let mut tables: Vec<(Tag, Vec<u8>)> = small
        .table_records
        .into_iter()
        .filter_map(|record| Some((record.tag, small.table(record.tag)?.to_vec())))
        .collect();
    tables.push((Tag::from_bytes(b"OS/2"), face.raw_face().table(Tag::from_bytes(b"OS/2"))?.to_vec()));
    tables.push((Tag::from_bytes(b"cmap"), character_map(&places)));
    Some((assembled(subset.get(..4)?, tables), places.into_iter().map(|(c, _)| c).collect()))
}

/// A `cmap` table of format 12: each character is a group of its own.
fn character_map(places: &[(char, u16)]) -> Vec<u8> {
    let count = places.len() as u32;
    let mut table = vec![];
    table.extend([0_u16, 1, 3, 10].into_iter().flat_map(u16::to_be_bytes)); // one map: Windows, all of Unicode
    table.extend(12_u32.to_be_bytes());
    table.extend([12_u16, 0].into_iter().flat_map(u16::to_be_bytes));
    table.extend([16 + 12 * count, 0, count].into_iter().flat_map(u32::to_be_bytes));
    for &(c, glyph) in places {
        table.extend([c as u32, c as u32, u32::from(glyph)].into_iter().flat_map(u32::to_be_bytes));
    }
    table
}

/// A font file of these tables.
fn assembled(kind: &[u8], mut tables: Vec<(Tag, Vec<u8>)>) -> Vec<u8> {
    tables.sort_by_key(|(tag, _)| *tag);
    let count = tables.len() as u16;
    let power = count.ilog2() as u16;
    let range = 16 << power;
    let mut out = kind.to_vec();
    out.extend([count, range, power, 16 * count - range].into_iter().flat_map(u16::to_be_bytes));
    let mut offset = 12 + 16 * tables.len();
    for (tag, table) in &tables {
        let words = [tag.0, checksum(table), offset as u32, table.len() as u32];
        out.extend(words.into_iter().flat_map(u32::to_be_bytes));
        offset += table.len().next_multiple_of(4);
    }
    for (_, table) in &tables {
        out.extend(table);
        out.resize(out.len().next_multiple_of(4), 0);
    }
    out
}

/// The sum of a table's words, the last one filled up with zeros.
fn checksum(table: &[u8]) -> u32 {
    table.chunks(4).fold(0, |sum: u32, chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        sum.wrapping_add(u32::from_be_bytes(word))
    })
}

/// Bytes as text, six bits a letter (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(4 * bytes.len().div_ceil(3));
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_letters() {
        let written = [&b""[..], b"f", b"fo", b"foo", b"foob", b"\xff\xfe"].map(base64);
        assert_eq!(written, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "//4="]);
    }

    #[test]
    fn a_subset_has_the_glyphs_that_were_asked_for_and_no_others() {
        for (family, data) in font::EMBEDDED {
            let wanted: BTreeSet<char> = "Axᵢ∇²中".chars().collect();
            let (small, has) = subset(data, &wanted).unwrap();
            let (small, whole) = (Face::parse(&small, 0).unwrap(), Face::parse(data, 0).unwrap());
            assert!(!has.contains(&'中') && !has.is_empty());
            for &c in &wanted {
                assert_eq!(small.glyph_index(c).is_some(), has.contains(&c), "{family} {c}");
                let advance = |face: &Face<'_>| face.glyph_hor_advance(face.glyph_index(c)?);
                assert_eq!(advance(&small), advance(&whole), "{family} {c}");
            }
            assert_eq!(small.glyph_index('B'), None);
        }
    }

    #[test]
    fn a_figure_carries_what_its_text_needs_and_little_more() {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\">\n <text x=\"1\">Σᵢ &lt; ∇F</text>\n <text font-weight=\"600\">Loss</text>\n</svg>\n";
        let embedded = with_fonts(svg);
        assert_eq!(embedded.matches("@font-face").count(), 3, "regular, semi-bold, signs");
        assert!(embedded.len() < 12_000, "{}", embedded.len());
        assert_eq!(embedded, with_fonts(svg));
        assert_eq!(with_fonts("<svg>\n</svg>"), "<svg>\n</svg>");
    }
}
