//! Findings as people read them.

use codespan_reporting::diagnostic as cs;
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::{Config, emit_into_string, termcolor};

use crate::{Diagnostic, Severity, Source};

/// Shows findings with the lines they are about, a caret below the place, notes and hints.
pub fn render(diagnostics: &[Diagnostic], source: &Source, colour: bool) -> String {
    let config = Config::default();
    let mut shown = String::new();
    for diagnostic in diagnostics {
        let diagnostic = translate(diagnostic);
        if colour {
            let mut buffer = termcolor::Buffer::ansi();
            codespan_reporting::term::emit_to_write_style(&mut buffer, &config, source, &diagnostic)
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
        Ok(self.place(byte).line - 1)
    }

    fn line_range(&'a self, (): (), index: usize) -> Result<std::ops::Range<usize>, Error> {
        Source::line_range(self, index + 1)
            .ok_or(Error::LineTooLarge { given: index, max: self.n_lines().saturating_sub(1) })
    }
}
