//! Terms in KIF notation as other programs write them, with any spacing and nesting. The text is
//! untrusted.

use std::borrow::Cow;

/// Maximum nesting depth of a term from outside. No move of a real game is deeper.
const MAX_DEPTH: usize = 1_000;

/// Returns the first term of a text with single spaces, `(f a (g b))`. Returns `None` if there is
/// none or if it is not closed.
pub fn first_term(text: &str) -> Option<String> {
    let mut terms = Vec::new();
    Terms::new(text).read(&mut terms, Some(1))?;
    terms.pop()
}

/// Returns the parts of a list such as `( ( cell 1 1 b ) ( control x ) )`, each with single spaces.
/// Returns `None` if the text is not a list.
pub fn list(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    let inside = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut terms = Vec::new();
    Terms::new(inside).read(&mut terms, None)?;
    Some(terms)
}

/// Returns a term in the spacing of ggp-base: `( f a ( g b ) )`. Some programs compare texts.
pub fn spaced(term: &str) -> String {
    let tokens: Vec<&str> = tokens(term).collect();
    tokens.join(" ")
}

/// Returns a term in a form for comparison: lower case, single spaces, and `(f)` written `f`,
/// because programs differ in all of these.
pub fn canonical(term: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for token in tokens(term) {
        match (token, kept.as_slice()) {
            (")", [.., "(", name]) if *name != "(" && *name != ")" => {
                let name = kept.pop().expect("the name was just matched");
                *kept.last_mut().expect("the parenthesis was just matched") = name;
            }
            _ => kept.push(token),
        }
    }
    kept.join(" ").to_lowercase()
}

/// Returns a list of terms in parentheses.
pub fn joined(terms: &[String]) -> String {
    format!("({})", terms.join(" "))
}

/// Returns a text without comments, which reach from a `;` to the end of the line.
pub fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains(';') {
        return Cow::Borrowed(text);
    }
    let lines = text.lines().map(|line| line.split(';').next().unwrap_or_default());
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Returns the tokens of a text: parentheses and names.
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
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

    /// Reads terms until the end, or until `terms` has `at_most` of them. Returns `None` if the
    /// parentheses do not match.
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
