//! The names that each syntax can hold, and how a name is written in the other.
//!
//! A name is always one word of KIF, so KIF writes it as it is. KIF's quoted words keep their
//! quotation marks in the name: `"a b"` and `|a b|` are two names, and neither is `ab`. Infix
//! writes
//!
//! * bare: what [`infix_word`] covers, unless it starts like a variable: `cell`, `x-1`, `-3`,
//!   `2.5`;
//! * in double quotes: exactly what KIF has in double quotes: `"a b"`;
//! * in single quotes: everything else: `'White'`, `'<'`, `'n++'`, `'|a b|'`. Inside, `\'` stands
//!   for `'` and `\\` for `\`. A text that is not one word of KIF gets double quotes there, so `'a
//!   b'` is the name `"a b"`.
//!
//! No quoted word extends beyond the end of its line.

use std::borrow::Cow;

/// Returns the length of the KIF word at the start of `text`. The error is the length of a word
/// whose quotation mark is not closed on its line, up to where the word would end without the mark.
pub(super) fn kif_word(text: &str) -> Result<usize, usize> {
    let bare = || text.find(ends_kif_word).unwrap_or(text.len());
    let Some(mark @ ('"' | '|')) = text.chars().next() else { return Ok(bare()) };
    match text[1..].find([mark, '\n', '\r']) {
        Some(end) if text[1 + end..].starts_with(mark) => Ok(end + 2),
        Some(_) | None => Err(bare()),
    }
}

/// Returns whether KIF can write `text` as a name without changes.
pub(crate) fn is_kif_name(text: &str) -> bool {
    let starts_name = |c: char| c != '?' && c != '\u{feff}' && !ends_kif_word(c);
    text != "<=" && text.starts_with(starts_name) && kif_word(text) == Ok(text.len())
}

fn ends_kif_word(c: char) -> bool {
    c.is_whitespace() || c == '(' || c == ')' || c == ';'
}

/// Returns the length of the bare infix word at the start of `text`; 0 if there is none.
///
/// A word consists of letters, digits and `_`. A `-` belongs to it if a letter, digit or `_`
/// follows, at the start only if a digit follows. A `.` belongs to it between digits, if only
/// digits stand before.
pub(crate) fn infix_word(text: &str) -> usize {
    let mut end = 0;
    loop {
        let mut rest = text[end..].chars();
        let (Some(c), next) = (rest.next(), rest.next()) else { return end };
        let belongs = match c {
            '-' if end == 0 => next.is_some_and(|c| c.is_ascii_digit()),
            '-' => next.is_some_and(is_infix_letter),
            '.' => next.is_some_and(|c| c.is_ascii_digit()) && is_digits(&text[..end]),
            _ => is_infix_letter(c),
        };
        if !belongs {
            return end;
        }
        end += c.len_utf8();
    }
}

/// Returns whether a character belongs to an infix word at every position.
pub(crate) fn is_infix_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_digits(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Returns whether a bare infix word is a variable: it starts with an upper-case letter or with
/// `_`.
pub(crate) fn is_infix_variable(word: &str) -> bool {
    word.starts_with(|c: char| c.is_uppercase() || c == '_')
}

/// Returns the name that infix means by `text` in single quotes, after its escapes are resolved.
/// `None` if no quotation mark of KIF can hold it.
pub(super) fn quoted_name(text: &str) -> Option<Cow<'_, str>> {
    if is_kif_name(text) {
        return Some(Cow::Borrowed(text));
    }
    let mark = ['"', '|'].into_iter().find(|mark| !text.contains(*mark))?;
    Some(Cow::Owned(format!("{mark}{text}{mark}")))
}

/// Writes a name in infix; the inverse of the infix reader.
pub(crate) fn infix_spelling(name: &str) -> Cow<'_, str> {
    if !name.is_empty() && infix_word(name) == name.len() && !is_infix_variable(name) {
        return Cow::Borrowed(name);
    }
    if name.starts_with('"') && kif_word(name) == Ok(name.len()) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'")))
}
