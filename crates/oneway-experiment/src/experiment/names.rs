//! What a topology or a method may be called: names stand in tables, figures, legends and columns.

use anyhow::{Result, bail};

/// Characters of a name, at most: more do not fit into any figure.
const LONGEST: usize = 100;

/// Characters of a name that a sweep has put its values into, at most.
const LONGEST_SWEPT: usize = 400;

/// Whether a name that a file gives can stand in the output; `place` is the table that has it.
pub(super) fn check(place: &str, name: &str) -> Result<()> {
    let refuse = |why: &str| bail!("{place}: the name \"{}\" {why}", shown(name));
    if name.trim().is_empty() {
        return refuse("must not be empty or blank");
    }
    if name.trim() != name {
        return refuse("must not begin or end with a blank");
    }
    if name.contains(|c: char| c.is_control() || matches!(c, ',' | '"')) {
        return refuse("must not hold commas, quotes or control characters");
    }
    if let Some(wrong) = name.chars().find(|&c| is_invisible(c)) {
        return refuse(&format!(
            "holds {}, which nobody sees or which turns round what follows: write letters and plain blanks only",
            code_point(wrong)
        ));
    }
    // a sweep's values stand in brackets behind the name that the file gives
    let given = name.split_once(" [").map_or(name, |(given, _)| given);
    for (part, most) in [(given, LONGEST), (name, LONGEST_SWEPT)] {
        let length = part.chars().count();
        if length > most {
            return refuse(&format!("has {length} characters: give at most {most}"));
        }
    }
    Ok(())
}

/// The beginning of a name, with what cannot be seen written out.
fn shown(name: &str) -> String {
    const SHOWN: usize = 40;
    let begin: String = name.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    let begin = written_out(&begin);
    if name.chars().nth(SHOWN).is_some() { begin + "…" } else { begin }
}

/// A text with what cannot be seen written out: a message must not hide a part of itself, nor move the
/// cursor.
pub fn written_out(text: &str) -> String {
    let hides = |c: char| c != '\n' && (is_invisible(c) || c.is_control());
    text.chars().fold(String::with_capacity(text.len()), |mut seen, c| {
        match hides(c) {
            true => seen.push_str(&code_point(c)),
            false => seen.push(c),
        }
        seen
    })
}

fn code_point(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// Blanks other than the plain one, marks of no width, and marks that change the direction of writing.
fn is_invisible(c: char) -> bool {
    c != ' ' && c.is_whitespace()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
