//! Diagnostics as text for people.

use std::borrow::Cow;
use std::fmt::Write as _;

use codespan_reporting::diagnostic as cs;
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::{Config, emit_into_string, termcolor};

use crate::printable::{printable, with_placeholders};
use crate::{Diagnostic, Severity, Source};

/// Returns the text of diagnostics with the lines they refer to, carets below the place, notes and
/// hints. ANSI colours are added if `colour` is set. Control characters of the source are not part
/// of the result.
pub fn render(diagnostics: &[Diagnostic], source: &Source, colour: bool) -> String {
    let shown = with_placeholders(source.text());
    let changed;
    let source = match shown {
        Cow::Borrowed(_) if printable(source.name()) == source.name() => source,
        shown => {
            changed = Source::new(printable(source.name()), shown);
            &changed
        }
    };
    let config = Config::default();
    let mut shown = String::new();
    for diagnostic in diagnostics {
        let diagnostic = &clean(diagnostic);
        if line_length(source, diagnostic) > LONG_LINE {
            excerpt(diagnostic, source, &mut shown);
            continue;
        }
        let diagnostic = translate(diagnostic);
        if colour {
            let mut buffer = termcolor::Buffer::ansi();
            codespan_reporting::term::emit_to_write_style(
                &mut buffer,
                &config,
                source,
                &diagnostic,
            )
            .expect("spans lie within the source they were made for");
            shown.push_str(&String::from_utf8_lossy(buffer.as_slice()));
        } else {
            let text = emit_into_string(&config, source, &diagnostic)
                .expect("spans lie within the source they were made for");
            shown.push_str(&text);
        }
    }
    shown
}

/// Returns a diagnostic without control characters in its texts, which quote the source.
fn clean(diagnostic: &Diagnostic) -> Diagnostic {
    let mut clean = diagnostic.clone();
    let texts = clean.notes.iter_mut().map(|(_, text)| text).chain(&mut clean.hints);
    for text in texts.chain([&mut clean.message]) {
        let escaped = printable(text).into_owned();
        *text = escaped;
    }
    clean
}

/// Longer lines, in bytes, are not shown in full. A generated rulesheet may be one single line.
const LONG_LINE: usize = 400;

/// Number of characters shown before the place in a long line.
const AROUND: usize = 40;

/// Returns the length in bytes of the longest line that a diagnostic refers to.
fn line_length(source: &Source, diagnostic: &Diagnostic) -> usize {
    let places = diagnostic.notes.iter().map(|(span, _)| *span).chain([diagnostic.span]);
    let lengths = places
        .flat_map(|span| [span.start(), span.end()])
        .map(|byte| source.line_range(source.line_of(byte)).map_or(0, |range| range.len()));
    lengths.max().unwrap_or(0)
}

/// Writes a diagnostic in a long line: the usual form with a piece of the line, without colour.
fn excerpt(diagnostic: &Diagnostic, source: &Source, shown: &mut String) {
    let place = source.place(diagnostic.span.start());
    let (name, line, column) = (source.name(), place.line, place.column);
    let before: String = {
        let start = source.line_range(line).map_or(0, |range| range.start);
        let text = &source.text()[start..diagnostic.span.start()];
        let cut = text.char_indices().rev().nth(AROUND).map_or(0, |(at, _)| at);
        text[cut..].to_owned()
    };
    let after: String = source.text()[diagnostic.span.start()..]
        .chars()
        .take_while(|c| !matches!(c, '\n' | '\r'))
        .take(2 * AROUND)
        .collect();
    let width = source.slice(diagnostic.span).chars().count().clamp(1, 2 * AROUND);
    let margin = line.to_string().len();
    let (word, code, message) = (diagnostic.severity.word(), diagnostic.code, &diagnostic.message);
    let _ = writeln!(shown, "{word}[{code}]: {message}");
    let _ = writeln!(shown, "{:margin$} ┌─ {name}:{line}:{column}", "");
    let _ = writeln!(shown, "{line} │ … {before}{after} …");
    let indent = 2 + before.chars().count();
    let _ = writeln!(shown, "{:margin$} │ {:indent$}{}", "", "", "^".repeat(width));
    for (span, text) in &diagnostic.notes {
        let place = source.place(span.start());
        let _ = writeln!(shown, "{:margin$} = {}:{}: {text}", "", place.line, place.column);
    }
    for hint in &diagnostic.hints {
        let _ = writeln!(shown, "{:margin$} = hint: {hint}", "");
    }
    shown.push('\n');
}

fn translate(diagnostic: &Diagnostic) -> cs::Diagnostic<()> {
    let severity = match diagnostic.severity {
        Severity::Error => cs::Severity::Error,
        Severity::Warning => cs::Severity::Warning,
        Severity::Note => cs::Severity::Note,
    };
    let mut labels = vec![cs::Label::primary((), diagnostic.span.start()..diagnostic.span.end())];
    for (span, text) in &diagnostic.notes {
        labels.push(cs::Label::secondary((), span.start()..span.end()).with_message(text));
    }
    let hints = diagnostic.hints.iter().map(|hint| format!("hint: {hint}")).collect();
    cs::Diagnostic::new(severity)
        .with_code(diagnostic.code)
        .with_message(&diagnostic.message)
        .with_labels(labels)
        .with_notes(hints)
}

impl<'a> Files<'a> for Source {
    type FileId = ();
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(Source::name(self))
    }

    fn source(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(self.text())
    }

    fn line_index(&'a self, (): (), byte: usize) -> Result<usize, Error> {
        Ok(self.line_of(byte) - 1)
    }

    fn line_range(&'a self, (): (), index: usize) -> Result<std::ops::Range<usize>, Error> {
        Source::line_range(self, index + 1)
            .ok_or(Error::LineTooLarge { given: index, max: self.n_lines().saturating_sub(1) })
    }
}
