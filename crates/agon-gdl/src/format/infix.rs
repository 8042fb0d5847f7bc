//! The layout of infix.

use agon_text::{gap_before_comment, n_line_ends};

use super::WIDTH;
use crate::read::{Lexeme, LexemeKind, lexemes};
use crate::syntax::{Rulesheet, Syntax};

/// Indentation of the conditions of a rule.
const INDENT: usize = 2;

/// A lexeme with its text and the blanks before it.
struct Piece<'a> {
    kind: LexemeKind,
    text: &'a str,
    gap: &'a str,
    end: usize,
}

impl Piece<'_> {
    fn is_comment(&self) -> bool {
        self.kind == LexemeKind::Comment
    }

    /// Returns whether nothing may follow on the line.
    fn ends_line(&self) -> bool {
        self.is_comment() && !self.text.starts_with("/*")
    }

    fn is_on_new_line(&self) -> bool {
        n_line_ends(self.gap) > 0
    }
}

/// Formats a text without errors. `sheet` has its clauses.
pub(super) fn format(text: &str, sheet: &Rulesheet) -> String {
    let mut end = 0;
    let pieces: Vec<Piece<'_>> = lexemes(text, Syntax::Infix)
        .into_iter()
        .map(|Lexeme { kind, span }| {
            let gap = &text[end..span.start()];
            end = span.end();
            Piece { kind, text: text[span.start()..span.end()].trim_end(), gap, end }
        })
        .collect();
    let mut printed = String::with_capacity(text.len());
    let mut rest = pieces.as_slice();
    let mut clauses = sheet.clauses.iter();
    let mut last: Option<Last> = None;
    while let Some(first) = rest.first() {
        let (part, text) = if first.is_comment() {
            (1, first.text.to_owned())
        } else {
            // A clause starts at its first token, so comments before it are not part of it.
            let end = clauses.next().map_or(usize::MAX, |clause| clause.span.end());
            let n_pieces = rest.iter().take_while(|piece| piece.end <= end).count().max(1);
            (n_pieces, clause(&rest[..n_pieces]))
        };
        separate(first, &text, last.as_ref(), &mut printed);
        last = Some(Last {
            ends_line: first.ends_line(),
            is_comment: first.is_comment(),
            is_flat: !text.contains('\n'),
        });
        printed.push_str(&text);
        rest = &rest[part..];
    }
    if !printed.is_empty() {
        printed.push('\n');
    }
    printed
}

/// The clause or comment that was printed last.
struct Last {
    ends_line: bool,
    is_comment: bool,
    is_flat: bool,
}

/// Prints the blanks between a clause or comment and the one before.
fn separate(first: &Piece<'_>, text: &str, last: Option<&Last>, printed: &mut String) {
    let Some(last) = last else { return };
    let n_lines = n_line_ends(first.gap);
    let column = printed.rsplit('\n').next().map_or(0, width);
    if first.is_comment() && n_lines == 0 && !last.ends_line && !last.is_comment {
        printed.push_str(gap_before_comment(first.gap));
    } else if n_lines == 0
        && !last.ends_line
        && last.is_flat
        && !text.contains('\n')
        && column + 1 + width(text) <= WIDTH
    {
        printed.push(' ');
    } else {
        printed.push_str(if n_lines > 1 { "\n\n" } else { "\n" });
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Prints one clause with the comments inside of it. It ends with a full stop.
fn clause(pieces: &[Piece<'_>]) -> String {
    let roles = roles(pieces);
    let is_broken = pieces.iter().any(Piece::ends_line)
        || (1..pieces.len()).any(|at| {
            roles[at - 1].may_break && pieces[at].is_on_new_line() && !pieces[at - 1].is_comment()
        });
    if !is_broken {
        let line = print(pieces, &roles, Lines::One);
        if width(&line) <= WIDTH {
            return line;
        }
    }
    print(pieces, &roles, Lines::Several)
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Lines {
    One,
    Several,
}

/// What is known of a lexeme by its surroundings.
#[derive(Copy, Clone, Default)]
struct PieceRole {
    /// Whether a line may end after it: `:-`, and connectives outside of all parentheses.
    may_break: bool,
    /// Whether blanks stand on both sides of it.
    is_operator: bool,
    /// Whether it is a comma between the arguments of a name.
    is_separator: bool,
    /// Whether it is the parenthesis before the arguments of a name.
    opens_arguments: bool,
}

fn roles(pieces: &[Piece<'_>]) -> Vec<PieceRole> {
    let mut roles = vec![PieceRole::default(); pieces.len()];
    // For each open parenthesis: whether it holds the arguments of a name.
    let mut open: Vec<bool> = Vec::new();
    let mut before: Option<usize> = None;
    let mut is_body = false;
    for (at, piece) in pieces.iter().enumerate() {
        if piece.is_comment() {
            continue;
        }
        let after_operand = before.is_some_and(|before: usize| match pieces[before].kind {
            LexemeKind::Close | LexemeKind::Variable => true,
            LexemeKind::Name => !roles[before].is_operator && !is_word(&pieces[before], "not"),
            LexemeKind::Open | LexemeKind::Comment | LexemeKind::Sign => false,
        });
        let role = &mut roles[at];
        match piece.kind {
            LexemeKind::Open => {
                let after_name = before.is_some_and(|before| {
                    pieces[before].kind == LexemeKind::Name
                        && (after_operand || is_word(&pieces[before], "not"))
                });
                role.opens_arguments = after_name;
                // `not(p, q)` is not correct, so the commas inside of `not` are conjunctions.
                open.push(after_name && !before.is_some_and(|b| is_word(&pieces[b], "not")));
            }
            LexemeKind::Close => {
                open.pop();
            }
            LexemeKind::Sign => match piece.text {
                "," => {
                    role.is_separator = open.last() == Some(&true);
                    role.may_break = open.is_empty() && is_body;
                }
                "~" | "." => {}
                text => {
                    role.is_operator = true;
                    let implies = matches!(text, ":-" | "<=");
                    is_body |= implies;
                    let connects = matches!(text, "&" | "|" | ";");
                    role.may_break = open.is_empty() && (implies || connects);
                }
            },
            LexemeKind::Name => {
                let connects = is_word(piece, "and") || is_word(piece, "or");
                if connects && after_operand && is_body {
                    role.is_operator = true;
                    role.may_break = open.is_empty();
                }
            }
            LexemeKind::Variable | LexemeKind::Comment => {}
        }
        before = Some(at);
    }
    roles
}

fn is_word(piece: &Piece<'_>, word: &str) -> bool {
    piece.kind == LexemeKind::Name && piece.text.eq_ignore_ascii_case(word)
}

fn print(pieces: &[Piece<'_>], roles: &[PieceRole], lines: Lines) -> String {
    let mut text = String::new();
    let mut before: Option<usize> = None;
    for (at, piece) in pieces.iter().enumerate() {
        if let Some(before) = before {
            let starts_line = pieces[before].ends_line()
                || (piece.is_comment() && piece.is_on_new_line() && lines == Lines::Several)
                || (lines == Lines::Several && breaks_before(pieces, roles, at));
            if starts_line {
                text.push('\n');
                text.extend(std::iter::repeat_n(' ', INDENT));
            } else if piece.is_comment() {
                text.push_str(gap_before_comment(piece.gap));
            } else if needs_blank(pieces, roles, before, at) {
                text.push(' ');
            }
        }
        text.push_str(piece.text);
        before = Some(at);
    }
    let last = pieces.iter().rposition(|piece| !piece.is_comment());
    match last {
        Some(last) if roles[last].is_operator => text.push_str(" ."),
        Some(last) if pieces[last].text != "." => text.push('.'),
        Some(_) | None => {}
    }
    text
}

/// Returns whether a token starts a line because the line may break before it. A comment may stand
/// between the two.
fn breaks_before(pieces: &[Piece<'_>], roles: &[PieceRole], at: usize) -> bool {
    if pieces[at].is_comment() {
        return false;
    }
    let before = pieces[..at].iter().rposition(|piece| !piece.is_comment());
    // A comment after the connective that starts a line has brought the break along.
    let is_done =
        pieces[before.map_or(at, |before| before + 1)..at].iter().any(Piece::is_on_new_line);
    before.is_some_and(|before| roles[before].may_break) && !is_done && pieces[at].text != "."
}

fn needs_blank(pieces: &[Piece<'_>], roles: &[PieceRole], before: usize, at: usize) -> bool {
    let (left, right) = (&pieces[before], &pieces[at]);
    if left.is_comment() {
        return true;
    }
    if right.kind == LexemeKind::Close || matches!(right.text, "," | ".") {
        // `p :- .` keeps its blank, because `:-.` is hard to read.
        return roles[before].is_operator;
    }
    if left.kind == LexemeKind::Open || left.text == "~" || roles[before].is_separator {
        return false;
    }
    !(right.kind == LexemeKind::Open && roles[at].opens_arguments)
}
