//! `agon check`: reports errors in rulesheets, with their places and fixes.

use std::sync::Arc;
use std::time::Duration;

use agon::reports::{CheckPlays, check, check_watched, finding_json};
use agon_text::{Diagnostic, Severity, Source, apply_fixes, render};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::open::ParamOptions;
use crate::terminal::{put, remark, say};
use crate::{open, terminal};

/// Check rulesheets: report errors and warnings, and apply fixes
#[derive(clap::Args)]
#[command(after_help = "\
Exit code 0: no errors (there may be warnings); 1: errors; 2: a file cannot be read.
`agon explain-code CODE` explains a diagnostic code.

Examples:
  agon check my-game.kif
  agon check my-game.kif --plays 200 --seed 7
  agon check my-game.kif --strict
  agon check my-game.kif --fix
  agon check *.kif --json")]
pub(crate) struct Args {
    /// Paths of rulesheets, names of shipped games, or - for standard input
    #[arg(required = true)]
    pub(super) files: Vec<String>,
    /// Play N random games and report errors that occur in play [default: a few steps; 0: none]
    #[arg(long, value_name = "N")]
    plays: Option<u64>,
    /// Report every violation of the definition of GDL as an error, although Agon can play it
    #[arg(long)]
    strict: bool,
    /// Seed of the random games
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Maximum number of steps of a play; a longer one is reported as not ending
    #[arg(long, default_value_t = 1000)]
    max_steps: usize,
    /// Time limit for the random games of a file, in seconds
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Apply the fixes that do not change the meaning of the rules, and show them
    #[arg(long)]
    fix: bool,
    /// With --fix: show the changes without writing them
    #[arg(long, requires = "fix")]
    dry_run: bool,
    /// Show notes, too
    #[arg(long)]
    notes: bool,
    /// Print one JSON object per file
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) params: ParamOptions,
}

/// Maximum number of findings shown for one file. The first ones are usually the cause of the
/// others.
const MAX_SHOWN: usize = 100;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let time = Duration::try_from_secs_f64(args.seconds).map_err(|_| {
        Failure::unreadable(format!("--seconds: {} is not a number of seconds", args.seconds))
    })?;
    let mut total = Counts::default();
    let mut n_unreadable = 0;
    for file in &args.files {
        match source(file) {
            Ok(source) => {
                let counts = check_file(source, file, args, time)?;
                total.errors += counts.errors;
                total.warnings += counts.warnings;
            }
            Err(failure) => {
                n_unreadable += 1;
                if args.json {
                    say!("{}", json!({"file": file, "unreadable": failure.message}));
                } else {
                    remark!("{}", failure.message);
                }
            }
        }
    }
    if args.files.len() > 1 && !args.json {
        let unreadable =
            if n_unreadable > 0 { format!(", {n_unreadable} unreadable") } else { String::new() };
        say!("{} files: {}{unreadable}", args.files.len(), summary(total));
    }
    match (n_unreadable, total.errors) {
        (0, 0) => Ok(()),
        (0, _) => Err(Failure::reported()),
        _ => Err(Failure { code: 2, message: String::new() }),
    }
}

/// Reads a rulesheet. One with parameters is checked as it was written, so that findings name the
/// right columns, unless values are set.
fn source(file: &str) -> Result<Arc<Source>, Failure> {
    let (source, settings) = open::raw_source(file)?;
    if settings.is_empty() { Ok(source) } else { Ok(agon::open::expanded(source, &settings)?) }
}

/// The number of errors and warnings.
#[derive(Copy, Clone, Default)]
struct Counts {
    errors: usize,
    warnings: usize,
}

/// Checks one file and shows the result.
fn check_file(
    mut source: Arc<Source>,
    file: &str,
    args: &Args,
    time: Duration,
) -> Result<Counts, Failure> {
    let mut fixes = Vec::new();
    if args.fix {
        (source, fixes) = fix(source, file, args)?;
    }
    let findings = findings(&source, args, time);
    let count = |severity| findings.iter().filter(|f| f.severity == severity).count();
    let counts = Counts { errors: count(Severity::Error), warnings: count(Severity::Warning) };
    let shown: Vec<Diagnostic> =
        findings.into_iter().filter(|f| args.notes || f.severity > Severity::Note).collect();
    if args.json {
        let findings: Vec<Value> =
            shown.iter().map(|finding| finding_json(finding, &source)).collect();
        let mut object = json!({
            "file": file, "errors": counts.errors, "warnings": counts.warnings,
            "strict": args.strict, "findings": findings,
        });
        if args.fix {
            object["fixes"] = fixes.into();
            object["written"] = (!args.dry_run && object["fixes"] != json!([])).into();
        }
        say!("{object}");
    } else {
        let first = &shown[..shown.len().min(MAX_SHOWN)];
        put!("{}", render(first, &source, terminal::colour_on_stdout()));
        if shown.len() > first.len() {
            say!("… and {} more findings (--json shows all)", shown.len() - first.len());
        }
        say!("{}: {}", terminal::bold(file), summary(counts));
    }
    Ok(counts)
}

fn summary(Counts { errors: n_errors, warnings: n_warnings }: Counts) -> String {
    let count =
        |n: usize, word: &str| if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") };
    match (n_errors, n_warnings) {
        (0, 0) => terminal::green("no errors, no warnings"),
        (0, _) => format!("no errors, {}", count(n_warnings, "warning")),
        _ => {
            let errors = terminal::red(&count(n_errors, "error"));
            format!("{errors}, {}", count(n_warnings, "warning"))
        }
    }
}

/// Returns all findings. Without `--plays`, a few short plays are part of the check.
fn findings(source: &Arc<Source>, args: &Args, time: Duration) -> Vec<Diagnostic> {
    let plays = match (args.plays, args.strict) {
        (None, false) => CheckPlays { seed: args.seed, ..CheckPlays::quick() },
        (plays, is_strict) => CheckPlays {
            plays: plays.unwrap_or(STRICT_PLAYS),
            seed: args.seed,
            max_steps: args.max_steps,
            is_strict,
            time: Some(time),
            ..CheckPlays::default()
        },
    };
    let bar = terminal::progress(plays.plays, "playing");
    let found = check_watched(source, plays, &mut || bar.inc(1));
    bar.finish_and_clear();
    found
}

/// Number of plays of a strict check, if the user does not say.
const STRICT_PLAYS: u64 = 20;

/// Applies fixes until none are left, shows the difference and writes the file.
///
/// One fix may enable another, so this takes several rounds. Returns the text to check afterwards,
/// and the fixes as JSON. Their line numbers refer to the text at the time of each fix.
fn fix(source: Arc<Source>, file: &str, args: &Args) -> Result<(Arc<Source>, Vec<Value>), Failure> {
    let mut fixed = Arc::clone(&source);
    let mut fixes = Vec::new();
    for _ in 0..8 {
        let findings = check(&fixed, CheckPlays::default());
        let (text, applied) = apply_fixes(&fixed, findings.iter().filter_map(|f| f.fix.as_ref()));
        if applied.is_empty() {
            break;
        }
        for fix in applied {
            let first = fix.edits.iter().map(|edit| edit.span.start()).min().unwrap_or(0);
            fixes.push(json!({"line": fixed.place(first).line, "title": fix.title}));
        }
        fixed = Arc::new(Source::new(source.name(), text));
    }
    let n_fixes = fixes.len();
    if n_fixes == 0 {
        return Ok((source, fixes));
    }
    if !args.json {
        let diff = similar::TextDiff::from_lines(source.text(), fixed.text());
        let header = (format!("{} (before)", source.name()), format!("{} (after)", source.name()));
        put!("{}", diff.unified_diff().context_radius(2).header(&header.0, &header.1));
    }
    if args.dry_run {
        if !args.json {
            say!("{file}: {n_fixes} fixes possible, nothing written");
        }
        return Ok((source, fixes));
    }
    open::replace_file(file, fixed.text())?;
    if !args.json {
        say!("{file}: {n_fixes} fixes applied");
    }
    Ok((fixed, fixes))
}
