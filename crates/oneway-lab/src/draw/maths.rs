//! Formulas in plain text, in parts: `c_x1η²E_v` has the indices x1 and v.

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// As it stands.
    Plain(&'a str),
    /// What goes below the line.
    Index(&'a str),
}

/// The parts of a text: plain ones, and the indices of its symbols: `E_v`, `‖V‖_F²`, `C_m3n²`, `m̄_{k−1}`.
/// There is at least one.
///
/// An index follows one letter, a bar or a bracket, and is a word with figures behind it, a Greek letter or
/// what stands in braces. Names such as `record_every` are left alone: their letters before the line are
/// many.
pub(crate) fn parts(text: &str) -> Vec<Part<'_>> {
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    let byte = |at: usize| characters.get(at).map_or(text.len(), |&(byte, _)| byte);
    let (mut parts, mut plain, mut at) = (vec![], 0, 0);
    while at < characters.len() {
        match index_at(&characters, at) {
            Some((from, to, next)) => {
                parts.push(Part::Plain(&text[byte(plain)..byte(at)]));
                parts.push(Part::Index(&text[byte(from)..byte(to)]));
                (plain, at) = (next, next);
            }
            None => at += 1,
        }
    }
    if plain < characters.len() || parts.is_empty() {
        parts.push(Part::Plain(&text[byte(plain)..]));
    }
    parts
}

/// The index that begins at a low line: from where to where it goes, and where the text goes on.
fn index_at(characters: &[(usize, char)], at: usize) -> Option<(usize, usize, usize)> {
    let before = |back: usize| at.checked_sub(back).map(|place| characters[place].1);
    let is_mark = |c: char| ('\u{300}'..='\u{36f}').contains(&c);
    let back = if before(1).is_some_and(is_mark) { 2 } else { 1 };
    let base = before(back)?;
    let in_a_word = |c: char| c.is_ascii_alphabetic() || c == '_';
    let alone = !base.is_ascii_alphabetic() || !before(back + 1).is_some_and(in_a_word);
    if characters[at].1 != '_' || !alone || !(base.is_alphabetic() || "‖|)]".contains(base)) {
        return None;
    }
    let rest = &characters[at + 1..];
    let is = |test: fn(&char) -> bool| move |(_, c): &&(usize, char)| test(c);
    let (from, to, length) = match rest.first()?.1 {
        '{' => {
            let end = rest.iter().position(|(_, c)| *c == '}')?;
            (1, end, end + 1)
        }
        first if first.is_ascii_alphabetic() => {
            let word = rest.iter().take_while(is(char::is_ascii_alphabetic)).count();
            let figures = rest[word..].iter().take_while(is(char::is_ascii_digit)).count();
            (0, word + figures, word + figures)
        }
        first if first.is_alphanumeric() => (0, 1, 1),
        _ => return None,
    };
    let goes_on = rest.get(length).is_some_and(|(_, c)| *c == '_');
    (from < to && !goes_on).then_some((at + 1 + from, at + 1 + to, at + 1 + length))
}
