//! Terms as the world outside writes them: any spacing, any nesting, never trusted.

use std::borrow::Cow;

/// How deep terms from outside may nest. Deeper ones are no moves of any game.
const MAX_DEPTH: usize = 1_000;

/// The first term of a text with single spaces, `(f a (g b))`; `None` if there is none or it is never closed.
pub fn first_term(text: &str) -> Option<String> {
    let mut terms = Vec::new();
    Terms::new(text).read(&mut terms, Some(1))?;
    terms.pop()
}

/// The parts of a list such as `( ( cell 1 1 b ) ( control x ) )`, each with single spaces; `None` if the text is anything else.
pub(crate) fn list(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    let inside = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut terms = Vec::new();
    Terms::new(inside).read(&mut terms, None)?;
    Some(terms)
}

/// A term as ggp-base writes it: `( f a ( g b ) )`. Other programs read any spacing, and some compare texts.
pub fn spaced(term: &str) -> String {
    let tokens: Vec<&str> = tokens(term).collect();
    tokens.join(" ")
}

/// A term for comparing: lower case, single spaces, and `(f)` written `f`, since programs differ in all of these.
pub(crate) fn canonical(term: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for token in tokens(term) {
        match (token, kept.as_slice()) {
            (")", [.., "(", name]) if *name != "(" && *name != ")" => {
                let name = kept.pop().expect("it was just seen");
                *kept.last_mut().expect("the parenthesis was just seen") = name;
            }
            _ => kept.push(token),
        }
    }
    kept.join(" ").to_lowercase()
}

/// Terms in parentheses with spaces between.
pub fn joined(terms: &[String]) -> String {
    format!("({})", terms.join(" "))
}

/// A text without what stands between a `;` and the end of its line.
pub(crate) fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains(';') {
        return Cow::Borrowed(text);
    }
    let lines = text.lines().map(|line| line.split(';').next().unwrap_or_default());
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Parentheses and names.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let end = if matches!(first, '(' | ')') {
            1
        } else {
            rest.find(|c: char| c.is_whitespace() || matches!(c, '(' | ')')).unwrap_or(rest.len())
        };
        let token = &rest[..end];
        rest = &rest[end..];
        Some(token)
    })
}

struct Terms<I> {
    tokens: I,
}

impl<'a> Terms<Box<dyn Iterator<Item = &'a str> + 'a>> {
    fn new(text: &'a str) -> Self {
        Terms { tokens: Box::new(tokens(text)) }
    }

    /// Reads terms to the end, or so many of them; `None` if parentheses do not match.
    fn read(&mut self, terms: &mut Vec<String>, at_most: Option<usize>) -> Option<()> {
        let (mut term, mut depth) = (String::new(), 0_usize);
        while at_most.is_none_or(|n| terms.len() < n) {
            let Some(token) = self.tokens.next() else { break };
            if token != ")" && !term.is_empty() && !term.ends_with('(') {
                term.push(' ');
            }
            term.push_str(token);
            match token {
                "(" => depth += 1,
                ")" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth > MAX_DEPTH {
                return None;
            }
            if depth == 0 {
                terms.push(std::mem::take(&mut term));
            }
        }
        (depth == 0).then_some(())
    }
}
