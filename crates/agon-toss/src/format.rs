//! The layout of a game: the same text with blanks and indentation in their usual places.
//!
//! Names, comments, boards and line breaks stay. Each section starts on a line of its own, lines
//! are indented by the braces around them, blanks are single, and so are blank lines. Formatting
//! twice gives the same text as formatting once.

use std::sync::Arc;

use agon_text::params::{self, Notation};
use agon_text::{Diagnostics, Severity, Source, gap_before_comment, n_line_ends};

use crate::read::{Lexeme, LexemeKind, lexemes, read};

/// Indentation for each pair of braces, and of lines that continue another one.
const INDENT: usize = 2;

/// Returns a game in its usual layout.
///
/// ```
/// use std::sync::Arc;
/// let text = "PLAYERS a ,b  // both\nLOC 0 {\nPLAYER a MOVES [R->1] }";
/// let source = Arc::new(agon_text::Source::new("x.toss", text));
/// let formatted = agon_toss::format::format(&source)?;
/// assert_eq!(formatted, "PLAYERS a, b  // both\nLOC 0 {\n  PLAYER a MOVES [R->1] }\n");
/// # Ok::<(), agon_text::Diagnostics>(())
/// ```
///
/// # Errors
/// The mistakes because of which the text cannot be read.
pub fn format(source: &Arc<Source>) -> Result<String, Diagnostics> {
    let plain = match params::expand(source, &Default::default(), Notation::Toss)? {
        Some(expanded) => expanded.source,
        None => Arc::clone(source),
    };
    let (_, mut findings) = read(plain);
    findings.0.retain(|finding| finding.severity == Severity::Error);
    // What is parsed but cannot be played has a layout all the same.
    let is_readable = |code: &str| matches!(code, "toss-not-supported" | "toss-given-twice");
    if findings.0.iter().any(|finding| !is_readable(finding.code)) {
        return Err(findings);
    }
    Ok(layout(source))
}

struct Layout<'a> {
    text: String,
    /// The open brackets.
    open: Vec<&'a str>,
}

fn layout(source: &Source) -> String {
    let text = source.text();
    let lexemes = lexemes(source);
    let mut layout = Layout { text: String::with_capacity(text.len()), open: Vec::new() };
    let mut last: Option<(Lexeme, &str)> = None;
    let mut is_data = false;
    for (index, lexeme) in lexemes.iter().enumerate() {
        let word = source.slice(lexeme.span).trim_end();
        let gap = &text[last.map_or(0, |(last, _)| last.span.end())..lexeme.span.start()];
        let is_section = lexeme.kind == LexemeKind::Section
            && layout.open.is_empty()
            && last.is_none_or(|(_, word)| word != "STATE");
        if is_data && !is_section {
            // A value of `DATA` is the text as it stands.
            layout.text.push_str(gap);
        } else if let Some((last, last_word)) = last {
            let n_lines = n_line_ends(gap);
            if n_lines > 0 || is_section || last.kind == LexemeKind::Comment {
                // Comments between sections belong to the next one.
                let next = lexemes[index..].iter().find(|next| next.kind != LexemeKind::Comment);
                let starts_section = is_section
                    || (lexeme.kind == LexemeKind::Comment
                        && next.is_none_or(|next| next.kind == LexemeKind::Section));
                layout.line(n_lines > 1, starts_section, word);
            } else if lexeme.kind == LexemeKind::Comment {
                layout.text.push_str(gap_before_comment(gap));
            } else if needs_blank(last_word, word, !gap.is_empty()) {
                layout.text.push(' ');
            }
        }
        if is_section {
            is_data = word == "DATA";
        }
        layout.put(word, lexeme.kind);
        last = Some((*lexeme, word));
    }
    if !layout.text.is_empty() {
        layout.text.push('\n');
    }
    layout.text
}

impl Layout<'_> {
    /// Ends the line and indents the next one, which starts with `word`.
    fn line(&mut self, is_paragraph: bool, starts_section: bool, word: &str) {
        self.text.push_str(if is_paragraph { "\n\n" } else { "\n" });
        let n_closed = usize::from(matches!(word, "}" | ")" | "]"));
        let open = &self.open[..self.open.len().saturating_sub(n_closed)];
        let n_braces = open.iter().filter(|bracket| **bracket == "{").count();
        let continues = match n_braces {
            0 => !starts_section && n_closed == 0,
            _ => open.last().is_some_and(|bracket| *bracket != "{"),
        };
        let indent = INDENT * (n_braces + usize::from(continues));
        self.text.extend(std::iter::repeat_n(' ', indent));
    }

    fn put(&mut self, word: &str, kind: LexemeKind) {
        self.text.push_str(word);
        if kind != LexemeKind::Sign {
            return;
        }
        match word {
            "{" => self.open.push("{"),
            "(" => self.open.push("("),
            "[" => self.open.push("["),
            "}" | ")" | "]" => {
                self.open.pop();
            }
            _ => {}
        }
    }
}

fn needs_blank(left: &str, right: &str, was_blank: bool) -> bool {
    match (left, right) {
        (_, "," | ";" | ")") | ("(", _) => false,
        ("," | ";", _) => true,
        _ => was_blank,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agon_testkit::files;
    use agon_text::Source;

    use super::format;
    use crate::print::print_sheet;
    use crate::read::{LexemeKind, lexemes, read};

    /// Checks that formatting keeps the rules, the comments and the boards, and that a second time
    /// changes nothing. Returns the formatted text, or `None` if the text cannot be read.
    fn check_laws(source: &Arc<Source>) -> Option<String> {
        let text = format(source).ok()?;
        let again = Arc::new(Source::new(source.name(), text.as_str()));
        let name = source.name();
        let printed = |source: &Arc<Source>| print_sheet(&read(Arc::clone(source)).0);
        assert_eq!(printed(source), printed(&again), "{name}: the rules have changed\n{text}");
        let words = |source: &Source| -> Vec<(LexemeKind, String)> {
            let lexemes = lexemes(source).into_iter();
            lexemes.map(|l| (l.kind, source.slice(l.span).trim_end().to_owned())).collect()
        };
        assert_eq!(words(source), words(&again), "{name}");
        assert_eq!(format(&again).as_ref().ok(), Some(&text), "{name}: not the same twice");
        Some(text)
    }

    #[test]
    fn formatting_keeps_rules_and_comments_of_all_games() {
        let mut paths = files::games("toss");
        paths.extend(files::with_extension(&files::repository().join("tests"), &["toss"]));
        let shared = files::repository().join("../shared");
        paths.extend(files::with_extension(&shared, &["toss"]));
        let n_formatted = paths.iter().filter_map(|path| check_laws(&files::source(path))).count();
        println!("{n_formatted} of {} games formatted", paths.len());
        assert!(n_formatted > paths.len() / 2);
    }

    #[test]
    fn cut_games_keep_the_laws() {
        for path in files::games("toss").iter().step_by(5) {
            let source = files::source(path);
            let words = lexemes(&source);
            for cut in (0..words.len()).step_by(words.len() / 20 + 1) {
                let end = words[cut].span.end();
                check_laws(&Arc::new(Source::new("cut.toss", &source.text()[..end])));
            }
        }
    }

    #[test]
    fn lines_are_indented_by_braces() {
        let text = "PLAYERS a,b\n// the end\nPAYOFF {\na: 1+\n(2\n* 3);\nb: 0\n}\nREL P(x) =\nQ(x)";
        let source = Arc::new(Source::new("x.toss", text));
        assert_eq!(
            check_laws(&source).as_deref(),
            Some(
                "PLAYERS a, b\n// the end\nPAYOFF {\n  a: 1+\n  (2\n    * 3);\n  b: 0\n}\n\
                 REL P(x) =\n  Q(x)\n"
            )
        );
    }

    #[test]
    fn unreadable_text_is_reported() {
        let source = Arc::new(Source::new("x.toss", "RULE : ["));
        assert!(format(&source).is_err_and(|findings| !findings.0.is_empty()));
    }
}
