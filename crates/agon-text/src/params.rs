//! Parametrised rulesheets: a board size is one number at the top of the text.
//!
//! A comment `;; param size = 8` declares a parameter. It may have bounds and a description: `;;
//! param size = 8 in 2..26: side of the board`. Comments are those of the [`Notation`]. In the
//! rules, braces hold expressions over parameters:
//!
//! - `{size}` or `{2*size+1}` is a number.
//! - `{1..size}` repeats the clause for each number of the range. Several ranges of a clause
//!   multiply: `(init (cell {1..size} {1..size} blank))` is one fact for each cell.
//! - `{i=1..size-1}` is a range with a name, which other braces of the clause may use: `(succ
//!   {i=1..size-1} {i+1})`.
//! - `{i=1..size: (true (cell {i} ?y ?mark))}` repeats what follows the colon at its place, inside
//!   of a rule or around whole clauses.
//!
//! [`expand`] turns such a text into plain rules before it is read. In GDL, lines keep their
//! numbers, so that every message about the plain text also names the right line of the original.
//! A text without a declaration is never changed, whatever braces it has.
//!
//! In Toss, braces have other meanings, too. There, only braces with a parameter or the name of a
//! block are numbers, only blocks have ranges, and copies of a block keep their line ends, so that
//! the rows of a board can be repeated.

mod expression;
mod template;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::{Diagnostic, Diagnostics, Source, Span, did_you_mean};

use template::Writer;

/// Maximum length of an expanded text in bytes.
const MAX_BYTES: usize = 16 << 20;

/// The notation of a rulesheet: its comments, and what braces may hold.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Notation {
    /// GDL in KIF, with comments after `;`.
    Kif,
    /// GDL in infix syntax, with comments after `%`.
    Infix,
    /// Structure rewriting games, with comments after `//`.
    Toss,
}

impl Notation {
    /// Returns the sign with which declarations start.
    fn sign(self) -> &'static str {
        match self {
            Notation::Kif => ";;",
            Notation::Infix => "%",
            Notation::Toss => "//",
        }
    }
}

/// A parameter of a rulesheet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// The name, in lower case.
    pub name: String,
    /// The value: that of the declaration, or the one that was set.
    pub value: i64,
    /// The least and the greatest value that the declaration allows.
    pub bounds: Option<(i64, i64)>,
    /// The description after the colon. May be empty.
    pub meaning: String,
    /// The place of the value in the declaration.
    value_span: Span,
}

/// The values of parameters by name, in place of the declared ones.
pub type Settings = BTreeMap<String, i64>;

/// A rulesheet without parameters, made from one with parameters.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// The plain text, under the name of the original.
    pub source: Arc<Source>,
    /// The parameters with their values.
    pub params: Vec<Param>,
    /// Where each part of the plain text comes from. Sorted by place in the plain text.
    parts: Vec<Part>,
}

/// A part of an expanded text.
#[derive(Copy, Clone, Debug)]
struct Part {
    /// Where it starts in the plain text.
    start: usize,
    /// Where it comes from.
    from: Span,
    /// Whether it was copied byte by byte, or computed as a whole.
    is_copy: bool,
}

impl Expanded {
    /// Returns the place in the original from which a place of the plain text comes.
    pub fn original(&self, span: Span) -> Span {
        let part = |offset: usize| {
            let after = self.parts.partition_point(|part| part.start <= offset);
            after.checked_sub(1).map(|index| self.parts[index])
        };
        let Some(first) = part(span.start()) else { return Span::default() };
        let moved = |part: Part, offset: usize| {
            (part.from.start() + (offset - part.start)).min(part.from.end())
        };
        let start = if first.is_copy { moved(first, span.start()) } else { first.from.start() };
        if span.end() == span.start() {
            return Span::new(start, start);
        }
        let last = part(span.end() - 1).unwrap_or(first);
        let end = if last.is_copy { moved(last, span.end()) } else { last.from.end() };
        // Copies of a clause overlap in the original, so the end may come from before the start.
        Span::new(start, end.max(start))
    }

    /// Moves findings about the plain text to the original. Findings about copies of a clause are
    /// the same finding. Fixes and suggestions are dropped, because they would edit the plain text.
    #[must_use]
    pub fn original_findings(&self, findings: Diagnostics) -> Diagnostics {
        let mut seen = BTreeSet::new();
        let mut moved = Diagnostics::default();
        for mut finding in findings.0 {
            finding.span = self.original(finding.span);
            finding.notes.iter_mut().for_each(|(span, _)| *span = self.original(*span));
            finding.fix = None;
            finding.suggestion = None;
            if seen.insert((finding.span, finding.code)) {
                moved.push(finding);
            }
        }
        moved.sort();
        moved
    }
}

/// Returns the parameters that a rulesheet declares, in the order of the text, and what is wrong
/// with the declarations. Declarations in GDL start with `;` or `%` in both of its notations.
pub fn declarations(source: &Source, notation: Notation) -> (Vec<Param>, Diagnostics) {
    let mut params: Vec<Param> = Vec::new();
    let mut findings = Diagnostics::default();
    for line in 1..=source.n_lines() {
        let Some(range) = source.line_range(line) else { continue };
        let line = &source.text()[range.clone()];
        let Some(found) = declaration(line, notation) else { continue };
        let at = |part: &std::ops::Range<usize>| {
            Span::new(range.start + part.start, range.start + part.end)
        };
        match found {
            Ok((param, place)) => {
                let param = Param { value_span: at(&place), ..param };
                match params.iter().find(|other| other.name == param.name) {
                    Some(first) => findings.push(
                        Diagnostic::error(
                            "param-declaration",
                            param.value_span,
                            format!("the parameter `{}` is declared twice", param.name),
                        )
                        .note(first.value_span, "declared here first")
                        .hint("remove one of the declarations"),
                    ),
                    None => params.push(param),
                }
            }
            Err((message, place)) => findings.push(
                Diagnostic::error("param-declaration", at(&place), message).hint(format!(
                    "write for example `{} param size = 8 in 2..26: side of the board`",
                    notation.sign()
                )),
            ),
        }
    }
    (params, findings)
}

type Declared = Result<(Param, std::ops::Range<usize>), (String, std::ops::Range<usize>)>;

/// Reads a line such as `;; param size = 8 in 2..26: side of the board`. `None` if it does not
/// declare a parameter.
fn declaration(line: &str, notation: Notation) -> Option<Declared> {
    let text = line.trim_start();
    let text = match notation {
        Notation::Toss => text.strip_prefix("//")?,
        Notation::Kif | Notation::Infix => match text.strip_prefix(';') {
            Some(rest) => rest.trim_start_matches(';'),
            None => text.strip_prefix("%%").or_else(|| text.strip_prefix('%'))?,
        },
    };
    let text = text.trim_start().strip_prefix("param")?;
    let (name, rest) = text.strip_prefix([' ', '\t'])?.split_once('=')?;
    let name = name.trim();
    if name.is_empty() || name.contains(char::is_whitespace) {
        return None;
    }
    let place = |part: &str| {
        let start = part.as_ptr() as usize - line.as_ptr() as usize;
        start..start + part.len()
    };
    if !is_name(name) {
        let message = format!("`{name}` is not a name of a parameter: lower-case letters, digits");
        return Some(Err((message, place(name))));
    }
    let (values, meaning) = rest.split_once(':').unwrap_or((rest, ""));
    let (value, bounds) = match values.split_once(" in ") {
        Some((value, bounds)) => (value.trim(), Some(bounds.trim())),
        None => (values.trim(), None),
    };
    let Ok(number) = value.parse::<i64>() else {
        let shown = if value.is_empty() { "the value" } else { value };
        return Some(Err((format!("`{shown}` is not a whole number"), place(value))));
    };
    let bounds = match bounds.map(|text| (text, range(text))) {
        None => None,
        Some((_, Some((low, high)))) if low <= number && number <= high => Some((low, high)),
        Some((text, Some(_))) => {
            return Some(Err((format!("{number} is not within {text}"), place(value))));
        }
        Some((text, None)) => {
            let message = format!("`{text}` is not a range such as 2..26");
            return Some(Err((message, place(text))));
        }
    };
    let param = Param {
        name: name.to_owned(),
        value: number,
        bounds,
        meaning: meaning.trim().to_owned(),
        value_span: Span::default(),
    };
    Some(Ok((param, place(value))))
}

fn range(text: &str) -> Option<(i64, i64)> {
    let (low, high) = text.split_once("..")?;
    Some((low.trim().parse().ok()?, high.trim().parse().ok()?))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Expands a rulesheet with the declared values, except for those in `settings`. Returns `None` if
/// the text is plain already and nothing is set.
///
/// # Errors
/// If a declaration or an expression is wrong, or a setting does not fit the declarations.
pub fn expand(
    source: &Source,
    settings: &Settings,
    notation: Notation,
) -> Result<Option<Expanded>, Diagnostics> {
    let (mut params, mut findings) = declarations(source, notation);
    if params.is_empty() && settings.is_empty() && findings.0.is_empty() {
        return Ok(None);
    }
    set(&mut params, settings, notation, &mut findings);
    if findings.has_errors() {
        return Err(findings);
    }
    let is_changed = settings.iter().any(|(name, value)| {
        params.iter().any(|param| {
            param.name == *name && { source.slice(param.value_span).parse() != Ok(*value) }
        })
    });
    let pieces = template::read(source.text(), &params, notation)?;
    if !is_changed && template::is_plain(&pieces) {
        return Ok(None);
    }
    let mut writer = Writer::new(source.text(), &params, notation);
    writer.write(&pieces)?;
    let (text, parts) = writer.finish();
    Ok(Some(Expanded { source: Arc::new(Source::new(source.name(), text)), params, parts }))
}

/// Gives the parameters the values that are set.
fn set(params: &mut [Param], settings: &Settings, notation: Notation, findings: &mut Diagnostics) {
    for (name, &value) in settings {
        let names: Vec<String> = params.iter().map(|param| format!("`{}`", param.name)).collect();
        let Some(param) = params.iter_mut().find(|param| param.name == *name) else {
            let mut finding = Diagnostic::error(
                "param-value",
                Span::default(),
                format!("the rules have no parameter `{name}`"),
            );
            finding = match did_you_mean(name, params.iter().map(|param| param.name.as_str())) {
                Some(meant) => finding.hint(format!("did you mean `{meant}`?")),
                None if names.is_empty() => {
                    let sign = notation.sign();
                    finding.hint(format!("a comment such as `{sign} param size = 8` declares one"))
                }
                None => finding.hint(format!("the parameters are {}", names.join(", "))),
            };
            findings.push(finding);
            continue;
        };
        match param.bounds {
            Some((low, high)) if value < low || high < value => findings.push(
                Diagnostic::error(
                    "param-value",
                    param.value_span,
                    format!("`{name}` is {value}, but the rules allow {low} to {high}"),
                )
                .hint(format!("set `{name}` to a number from {low} to {high}")),
            ),
            _ => param.value = value,
        }
    }
}
