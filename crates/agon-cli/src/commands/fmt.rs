//! `agon fmt`: lays out rulesheets without changing their rules.

use std::sync::Arc;

use agon_text::{Diagnostic, Source, render};
use serde_json::json;

use crate::failure::Failure;
use crate::terminal::{put, remark, say};
use crate::{open, terminal};

/// Format rulesheets: the usual layout, with the same rules and comments
#[derive(clap::Args)]
#[command(after_help = "\
Exit code 0: all files have the usual layout now, or had it before; 1: with --check, a file has not,
or a file has mistakes that hide its layout; 2: a file cannot be read or written.

Only blanks and line ends change. A rule over several lines gets a line for each condition, a rule
on one line stays there if it fits in 100 columns.

Examples:
  agon fmt my-game.kif
  agon fmt *.kif *.toss --check       # for scripts: changes nothing, lists what would change
  agon fmt my-game.kif --diff         # shows what would change
  agon fmt - < my-game.kif            # writes to standard output")]
pub(crate) struct Args {
    /// Paths of rulesheets in GDL or Toss, or - for standard input
    #[arg(required = true)]
    files: Vec<String>,
    /// Write nothing, list the files that would change, and fail if there are any
    #[arg(long)]
    check: bool,
    /// Write nothing, and show what would change
    #[arg(long)]
    diff: bool,
    /// Print one JSON object per file: `file`, `changed`, `written`, and `error` if there is one
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (mut n_changed, mut n_faulty, mut n_unreadable) = (0, 0, 0);
    for file in &args.files {
        // Parameters stay as they are written.
        let source = match open::raw_source(file) {
            Ok((source, _)) => source,
            Err(failure) => {
                n_unreadable += 1;
                report(args, file, &failure.message);
                continue;
            }
        };
        // Bytes that are not UTF-8 were replaced for reading, and must not be lost in the file.
        if std::fs::read(file).is_ok_and(|bytes| std::str::from_utf8(&bytes).is_err()) {
            n_unreadable += 1;
            report(args, file, &format!("{file} is not in UTF-8, so it is not formatted"));
            continue;
        }
        match agon::format::format(&source) {
            Ok(text) => n_changed += usize::from(format_file(file, &source, &text, args)?),
            Err(findings) => {
                n_faulty += 1;
                report(args, file, &faults(&findings, &source));
            }
        }
    }
    match (n_unreadable, n_faulty, args.check && n_changed > 0) {
        (0, 0, false) => Ok(()),
        (0, ..) => Err(Failure::reported()),
        _ => Err(Failure { code: 2, message: String::new() }),
    }
}

/// Handles a file whose new text is known. Returns whether it differs.
fn format_file(file: &str, source: &Source, text: &str, args: &Args) -> Result<bool, Failure> {
    let is_changed = source.text() != text;
    let is_written = is_changed && !args.check && !args.diff && file != "-";
    if file == "-" && !args.check && !args.diff && !args.json {
        put!("{text}");
    }
    if args.diff && is_changed {
        let diff = similar::TextDiff::from_lines(source.text(), text);
        let header = (format!("{file} (before)"), format!("{file} (after)"));
        put!("{}", diff.unified_diff().context_radius(2).header(&header.0, &header.1));
    }
    if is_written {
        open::replace_file(file, text)?;
    }
    if args.json {
        say!("{}", json!({"file": file, "changed": is_changed, "written": is_written}));
    } else if is_written {
        say!("{file}: formatted");
    } else if args.check && is_changed {
        say!("{file}: would change");
    }
    Ok(is_changed)
}

/// Maximum number of mistakes of one file that are shown.
const MAX_SHOWN: usize = 100;

fn faults(findings: &[Diagnostic], source: &Arc<Source>) -> String {
    let (shown, rest) = findings.split_at(findings.len().min(MAX_SHOWN));
    let mut text = render(shown, source, terminal::colour_on_stdout());
    if !rest.is_empty() {
        text.push_str(&format!("… and {} more mistakes\n", rest.len()));
    }
    text + &format!("{}: not formatted, because of the mistakes above", source.name())
}

fn report(args: &Args, file: &str, message: &str) {
    if args.json {
        say!("{}", json!({"file": file, "changed": false, "written": false, "error": message}));
    } else {
        remark!("{message}");
    }
}
