//! The layout of KIF.

use agon_text::{gap_before_comment, n_line_ends};

use super::WIDTH;
use crate::read::{Lexeme, LexemeKind, lexemes};
use crate::syntax::Syntax;

/// Indentation of the conditions of a rule.
const INDENT: usize = 4;

/// A word, a list or a comment, and the blanks before it.
struct Item<'a> {
    kind: ItemKind<'a>,
    /// The text between the lexeme before and this one.
    gap: &'a str,
}

enum ItemKind<'a> {
    Word(&'a str),
    List(Vec<Item<'a>>),
    Comment(&'a str),
}

impl Item<'_> {
    fn is_comment(&self) -> bool {
        matches!(self.kind, ItemKind::Comment(_))
    }

    fn is_on_new_line(&self) -> bool {
        n_line_ends(self.gap) > 0
    }
}

/// What braces mean.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Braces {
    /// They are letters of names.
    Letters,
    /// They hold expressions over parameters, which stay as they are written.
    Expressions,
}

/// Formats a text with matching parentheses.
pub(super) fn format(text: &str, braces: Braces) -> String {
    let mut printer = Printer { text: String::with_capacity(text.len()), column: 0 };
    printer.clauses(&items(text, braces));
    let mut text = printer.text;
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn items(text: &str, braces: Braces) -> Vec<Item<'_>> {
    let mut open: Vec<(&str, Vec<Item<'_>>)> = Vec::new();
    let mut top = Vec::new();
    let mut end = 0;
    let lexemes = lexemes(text, Syntax::Kif);
    let lexemes = match braces {
        Braces::Letters => lexemes,
        Braces::Expressions => with_braces_joined(text, lexemes),
    };
    for Lexeme { kind, span } in lexemes {
        let (word, gap) = (&text[span.start()..span.end()], &text[end..span.start()]);
        end = span.end();
        let (kind, gap) = match kind {
            LexemeKind::Open => {
                open.push((gap, Vec::new()));
                continue;
            }
            LexemeKind::Close => match open.pop() {
                Some((gap, inner)) => (ItemKind::List(inner), gap),
                None => continue,
            },
            LexemeKind::Comment => (ItemKind::Comment(word.trim_end()), gap),
            LexemeKind::Name | LexemeKind::Variable | LexemeKind::Sign => {
                (ItemKind::Word(word), gap)
            }
        };
        open.last_mut().map_or(&mut top, |(_, list)| list).push(Item { kind, gap });
    }
    top
}

/// Joins everything from an opening brace to the closing one to a single name. If a brace is not
/// closed, it is not known what belongs to it, and nothing is joined.
fn with_braces_joined(text: &str, lexemes: Vec<Lexeme>) -> Vec<Lexeme> {
    let mut joined: Vec<Lexeme> = Vec::new();
    let mut depth = 0_usize;
    for &lexeme in &lexemes {
        let is_inside = depth > 0;
        let word = &text[lexeme.span.start()..lexeme.span.end()];
        if lexeme.kind != LexemeKind::Comment && !word.starts_with(['"', '|']) {
            for byte in word.bytes() {
                match byte {
                    b'{' => depth += 1,
                    b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
        match joined.last_mut() {
            Some(last) if is_inside => last.span = last.span.to(lexeme.span),
            _ => joined.push(match depth {
                0 => lexeme,
                _ => Lexeme { kind: LexemeKind::Name, ..lexeme },
            }),
        }
    }
    if depth == 0 { joined } else { lexemes }
}

struct Printer {
    text: String,
    column: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.chars().count();
    }

    fn line(&mut self, indent: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    /// Prints clauses and the comments between them.
    fn clauses(&mut self, items: &[Item<'_>]) {
        let mut last: Option<&Item<'_>> = None;
        let mut is_last_flat = true;
        for item in items {
            let width = flat_width(item);
            if let Some(last) = last {
                let n_lines = n_line_ends(item.gap);
                let stays = n_lines == 0
                    && !last.is_comment()
                    && is_last_flat
                    && width.is_some_and(|width| self.column + 1 + width <= WIDTH);
                match &item.kind {
                    ItemKind::Comment(_) if n_lines == 0 && !last.is_comment() => {
                        self.put(gap_before_comment(item.gap));
                    }
                    _ if stays => self.put(" "),
                    _ => {
                        if n_lines > 1 {
                            self.text.push('\n');
                        }
                        self.line(0);
                    }
                }
            }
            let start = self.text.len();
            self.clause(item);
            is_last_flat = !self.text[start..].contains('\n');
            last = Some(item);
        }
    }

    fn clause(&mut self, item: &Item<'_>) {
        if let ItemKind::List(inner) = &item.kind
            && matches!(
                inner.iter().find(|item| !item.is_comment()).map(|item| &item.kind),
                Some(ItemKind::List(_))
            )
        {
            // A whole description in one pair of parentheses, as START messages have it.
            self.put("(");
            self.line(0);
            self.clauses(inner);
            self.line(0);
            self.put(")");
            return;
        }
        self.item(item);
    }

    fn item(&mut self, item: &Item<'_>) {
        match &item.kind {
            ItemKind::Word(word) | ItemKind::Comment(word) => self.put(word),
            ItemKind::List(inner) => {
                let fits = flat_width(item).is_some_and(|width| {
                    // Sentences are not broken, so only lists of conditions must fit.
                    !is_connective(inner) || self.column + width <= WIDTH
                });
                if fits { self.flat(item) } else { self.broken(inner) }
            }
        }
    }

    fn flat(&mut self, item: &Item<'_>) {
        match &item.kind {
            ItemKind::Word(word) | ItemKind::Comment(word) => self.put(word),
            ItemKind::List(inner) => {
                self.put("(");
                for (index, part) in inner.iter().enumerate() {
                    if index > 0 {
                        self.put(" ");
                    }
                    self.flat(part);
                }
                self.put(")");
            }
        }
    }

    /// Prints a list over several lines: the first two parts on the first line, and the others
    /// below each other.
    fn broken(&mut self, inner: &[Item<'_>]) {
        let start = self.column;
        self.put("(");
        let mut indent = start + 1;
        let mut n_parts = 0;
        let mut after_comment = false;
        for item in inner {
            match &item.kind {
                ItemKind::Comment(text) => {
                    if item.is_on_new_line() || after_comment || n_parts == 0 {
                        self.line(indent);
                    } else {
                        self.put(gap_before_comment(item.gap));
                    }
                    self.put(text);
                    after_comment = true;
                    continue;
                }
                ItemKind::Word(word) if n_parts == 0 => {
                    if after_comment {
                        self.line(indent);
                    }
                    self.put(word);
                    indent = match *word {
                        "<=" => start + INDENT,
                        _ => self.column + 1,
                    };
                }
                ItemKind::Word(_) | ItemKind::List(_) => {
                    let is_first_argument = n_parts == 1 && !after_comment;
                    match (n_parts, after_comment) {
                        (0, false) => {}
                        _ if is_first_argument => self.put(" "),
                        _ => self.line(indent),
                    }
                    self.item(item);
                }
            }
            n_parts += 1;
            after_comment = false;
        }
        if after_comment {
            // The parenthesis would be part of the comment.
            self.line(start);
        }
        self.put(")");
    }
}

/// Returns whether a list has conditions, each of which may have its own line.
fn is_connective(inner: &[Item<'_>]) -> bool {
    match inner.first().map(|item| &item.kind) {
        Some(ItemKind::Word(word)) => {
            ["<=", "or", "and", "not"].iter().any(|name| word.eq_ignore_ascii_case(name))
        }
        Some(ItemKind::List(_) | ItemKind::Comment(_)) | None => false,
    }
}

/// Returns the width on one line. `None` if the author or a comment demands several lines.
fn flat_width(item: &Item<'_>) -> Option<usize> {
    match &item.kind {
        ItemKind::Word(word) => Some(word.chars().count()),
        ItemKind::Comment(_) => None,
        ItemKind::List(inner) => {
            let is_not = matches!(
                inner.first().map(|item| &item.kind),
                Some(ItemKind::Word(word)) if word.eq_ignore_ascii_case("not")
            );
            let is_broken =
                is_connective(inner) && !is_not && inner.iter().skip(2).any(Item::is_on_new_line);
            if is_broken {
                return None;
            }
            let widths: Option<usize> = inner.iter().map(flat_width).sum();
            Some(2 + widths? + inner.len().saturating_sub(1))
        }
    }
}
