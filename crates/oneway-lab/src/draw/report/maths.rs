//! Formulas in plain text, set: `c_x1η²E_v` with its indices below the line.

use maud::{Markup, html};

/// A text with the indices of its symbols as subscripts: `E_v`, `‖V‖_F²`, `C_m3n²`, `m̄_{k−1}`.
///
/// An index follows one letter, a bar or a bracket, and is a word with figures behind it, a Greek letter or
/// what stands in braces. Names such as `record_every` are left alone: their letters before the line are
/// many.
pub(super) fn set(text: &str) -> Markup {
    let characters: Vec<char> = text.chars().collect();
    let (mut plain, mut parts) = (String::new(), vec![]);
    let mut at = 0;
    while at < characters.len() {
        match index_at(&characters, at) {
            Some((index, next)) => {
                parts.push((std::mem::take(&mut plain), index));
                at = next;
            }
            None => {
                plain.push(characters[at]);
                at += 1;
            }
        }
    }
    html! { @for (before, index) in &parts { (before) sub { (index) } } (plain) }
}

/// The index that begins at a low line, and where the text goes on.
fn index_at(characters: &[char], at: usize) -> Option<(String, usize)> {
    let before = |back: usize| at.checked_sub(back).map(|place| characters[place]);
    let is_mark = |c: char| ('\u{300}'..='\u{36f}').contains(&c);
    let back = if before(1).is_some_and(is_mark) { 2 } else { 1 };
    let base = before(back)?;
    let in_a_word = |c: char| c.is_ascii_alphabetic() || c == '_';
    let alone = !base.is_ascii_alphabetic() || !before(back + 1).is_some_and(in_a_word);
    if characters[at] != '_' || !alone || !(base.is_alphabetic() || "‖|)]".contains(base)) {
        return None;
    }
    let rest = &characters[at + 1..];
    let (index, length): (String, usize) = match rest.first()? {
        '{' => {
            let end = rest.iter().position(|c| *c == '}')?;
            (rest[1..end].iter().collect(), end + 1)
        }
        first if first.is_ascii_alphabetic() => {
            let word = rest.iter().take_while(|c| c.is_ascii_alphabetic()).count();
            let figures = rest[word..].iter().take_while(|c| c.is_ascii_digit()).count();
            (rest[..word + figures].iter().collect(), word + figures)
        }
        first if first.is_alphanumeric() => (first.to_string(), 1),
        _ => return None,
    };
    let goes_on = rest.get(length) == Some(&'_');
    (!index.is_empty() && !goes_on).then_some((index, at + 1 + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_go_below_the_line() {
        for (text, html) in [
            ("c_x1η²E_v", "c<sub>x1</sub>η²E<sub>v</sub>"),
            ("‖V‖_F² ≤ 2E_v", "‖V‖<sub>F</sub>² ≤ 2E<sub>v</sub>"),
            ("(C_m3n²‖π_C‖²η²/λ)‖m̄_{k−1}‖²", "(C<sub>m3</sub>n²‖π<sub>C</sub>‖²η²/λ)‖m̄<sub>k−1</sub>‖²"),
            ("12C_tr L²", "12C<sub>tr</sub> L²"),
            ("η·c_π·h", "η·c<sub>π</sub>·h"),
        ] {
            assert_eq!(set(text).into_string(), html);
        }
    }

    #[test]
    fn names_are_left_alone_and_text_is_escaped() {
        for text in ["record_every", "grad_norm_sq", "a_b_c", "_x", "x_", "E_{v", "30_000", ""] {
            assert_eq!(set(text).into_string(), text);
        }
        assert_eq!(set("E_v < <b>").into_string(), "E<sub>v</sub> &lt; &lt;b&gt;");
        assert_eq!(set("x_{<b>}").into_string(), "x<sub>&lt;b&gt;</sub>");
    }
}
