//! Lines that are not too long.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that text takes on a terminal.
pub(super) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// A line in lines: the first of at most `first` columns, the others of at most `rest`. Broken between words,
/// and inside a word only where it is longer than a line: after a `/`, `,` or `;` if it has one. There is
/// always a line.
pub(super) fn wrap(line: &str, first: usize, rest: usize) -> Vec<String> {
    let (first, rest) = (first.max(1), rest.max(1));
    let mut lines: Vec<String> = vec![String::new()];
    let mut room = first;
    for (at, word) in line.split(' ').enumerate() {
        let fresh = lines.len() > 1 && lines.last().is_some_and(String::is_empty);
        let mut gap = usize::from(at > 0 && !fresh); // further spaces are empty words
        let mut word = word;
        loop {
            if gap + width(word) <= room {
                break;
            }
            let begun = lines.last().is_some_and(|line| !line.trim_end().is_empty());
            if !begun || width(word) > rest {
                // a word that fits no line: what fits of it, if that is more than a scrap
                let head = head(word, room.saturating_sub(gap), !begun && gap == 0 && room == rest);
                if !head.is_empty() && gap <= room && (!begun || head.ends_with(BREAKS)) {
                    push(&mut lines, gap, head);
                    word = &word[head.len()..];
                }
            }
            if let Some(line) = lines.last_mut() {
                line.truncate(line.trim_end().len());
            }
            lines.push(String::new());
            (room, gap) = (rest, 0);
        }
        push(&mut lines, gap, word);
        room -= gap + width(word);
    }
    lines
}

fn push(lines: &mut [String], gap: usize, word: &str) {
    if let Some(line) = lines.last_mut() {
        line.extend(std::iter::repeat_n(' ', gap));
        *line += word;
    }
}

/// Characters after which a long word may be broken.
const BREAKS: [char; 3] = ['/', ',', ';'];

/// As much of a word as `room` columns hold, up to a break if there is one; `something` even if that has no
/// room.
fn head(word: &str, room: usize, something: bool) -> &str {
    let mut used = 0;
    let fits = |&(_, letter): &(usize, char)| {
        used += letter.width().unwrap_or(0);
        used <= room
    };
    let end = word.char_indices().take_while(fits).last().map_or(0, |(at, letter)| at + letter.len_utf8());
    let end = match word.chars().next() {
        Some(letter) if end == 0 && something => letter.len_utf8(),
        _ => end,
    };
    let nice = word[..end].rfind(BREAKS).map(|at| at + 1);
    match nice {
        Some(nice) if end < word.len() => &word[..nice],
        _ => &word[..end],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap("one two three", 7, 7), ["one two", "three"]);
        assert_eq!(wrap("one two three", 4, 9), ["one", "two three"]);
        assert_eq!(wrap("", 5, 5), [""]);
        assert_eq!(wrap("a  b", 9, 9), ["a  b"], "spaces inside a line stay");
        assert_eq!(wrap(" ,", 1, 1), ["", ","], "a space takes room too");
    }

    #[test]
    fn long_words_are_broken_after_a_slash_if_there_is_one() {
        assert_eq!(wrap("out/paper/report.html", 12, 12), ["out/paper/", "report.html"]);
        assert_eq!(wrap("abcdefghij", 4, 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("see out/paper/report.html", 12, 12), ["see out/", "paper/", "report.html"]);
    }

    #[test]
    fn columns_are_counted_not_characters() {
        assert_eq!(width("‖∇F(x̄)‖²"), 8, "the bar stands above the x");
        assert_eq!(wrap("日本 日本", 5, 5), ["日本", "日本"]);
    }

    proptest! {
        #[test]
        fn nothing_is_too_long_and_nothing_is_lost(text in "[ a-z/,‖∇x̄]{0,80}", first in 1usize..30, rest in 1usize..30) {
            let lines = wrap(&text, first, rest);
            prop_assert!(width(&lines[0]) <= first);
            prop_assert!(lines[1..].iter().all(|line| width(line) <= rest));
            let letters = |text: &str| text.chars().filter(|letter| *letter != ' ').collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
