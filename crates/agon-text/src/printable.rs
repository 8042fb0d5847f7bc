//! Texts from outside on a terminal.
//!
//! A rulesheet, a message or a file name may contain control characters, which a terminal obeys:
//! they move the cursor, set the title or hide text. Such characters are shown, not sent.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns a text with its control characters written as `\u{1b}`. Line breaks and tabs stay.
///
/// ```
/// assert_eq!(agon_text::printable("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\n");
/// assert_eq!(agon_text::printable("plain"), "plain");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_dangerous) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(escape(text, |_| 0))
}

/// Like [`printable`], but keeps the sequences that set colours and weights of letters, which our
/// own output contains. Other properties of letters, such as hidden ones, are not kept.
pub fn printable_with_colours(text: &str) -> Cow<'_, str> {
    if !text.contains(is_dangerous) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(escape(text, colour_length))
}

/// Returns a text of the same length in bytes, with another character in place of each control
/// character. For texts in which places are numbers of bytes.
pub(crate) fn with_placeholders(text: &str) -> Cow<'_, str> {
    if !text.contains(is_dangerous) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match c.len_utf8() {
        _ if !is_dangerous(c) => c,
        1 => '?',
        2 => '\u{bf}',
        _ => '\u{fffd}',
    };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Returns whether a terminal may obey a character. Directional marks are not obeyed, but make a
/// text look like another one.
fn is_dangerous(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes a text. `kept` returns the length of the harmless sequence at the start of a text.
fn escape(text: &str, kept: impl Fn(&str) -> usize) -> String {
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match kept(rest) {
            0 if is_dangerous(c) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
                c.len_utf8()
            }
            0 => {
                shown.push(c);
                c.len_utf8()
            }
            length => {
                shown.push_str(&rest[..length]);
                length
            }
        };
        rest = &rest[length..];
    }
    shown
}

/// Returns the length of the sequence at the start of a text that sets colours or weight of
/// letters, and 0 if there is none.
fn colour_length(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\u{1b}[") else { return 0 };
    let Some(end) = rest.find(|c: char| !c.is_ascii_digit() && c != ';') else { return 0 };
    let numbers: Vec<&str> = rest[..end].split(';').collect();
    let is_small = |number: &str| {
        matches!(number, "" | "0" | "1" | "2" | "3" | "4" | "22" | "23" | "24")
            || matches!(number.parse::<u8>(), Ok(30..=37 | 39 | 90..=97))
    };
    let is_harmless = match numbers.as_slice() {
        ["38", "5", colour] => colour.parse::<u8>().is_ok(),
        numbers => numbers.iter().all(|number| is_small(number)),
    };
    if is_harmless && rest[end..].starts_with('m') { "\u{1b}[".len() + end + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::{printable, printable_with_colours, with_placeholders};

    #[test]
    fn control_characters_are_shown() {
        let hostile = "a\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}z\tb\r\nc\u{7f}\0";
        let shown = "a\\u{1b}[2J\\u{1b}]0;title\\u{7}\\u{9b}31m\\u{202e}z\tb\r\nc\\u{7f}\\u{0}";
        assert_eq!(printable(hostile), shown);
        assert_eq!(printable_with_colours(hostile), shown);
    }

    #[test]
    fn only_colours_and_weights_are_kept() {
        for kept in ["\u{1b}[0m", "\u{1b}[1;31m", "\u{1b}[38;5;9m", "\u{1b}[m", "\u{1b}[94m"] {
            assert_eq!(printable_with_colours(kept), kept);
        }
        for escaped in ["\u{1b}[8m", "\u{1b}[5;1m", "\u{1b}[1A", "\u{1b}[1", "\u{1b}c", "\u{1b}["] {
            assert!(!printable_with_colours(escaped).contains('\u{1b}'), "{escaped:?}");
        }
    }

    #[test]
    fn placeholders_keep_all_places() {
        let hostile = "(p \u{1b}[31m \u{9b} \u{202e} \u{e4})\n";
        let shown = with_placeholders(hostile);
        assert_eq!(shown.len(), hostile.len());
        assert!(!shown.contains(['\u{1b}', '\u{9b}', '\u{202e}']));
    }
}
