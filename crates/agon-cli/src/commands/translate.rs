//! `agon translate`: translates a game to the other rule language or to the format of another tool.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::open::render_first;
use agon_game::laws::Plan;
use agon_game::lockstep::{Agreement, Difference};
use agon_gdl::print::print_rulesheet;
use agon_gdl::read::{ReadOptions, read_with};
use agon_gdl::same_rules::same_rules;
use agon_gdl::syntax::{Rulesheet, Syntax};
use agon_text::{Severity, Source, render};
use agon_translate::formats::{asp, dot};
use agon_translate::to_gdl::{ToGdlLimits, to_gdl};
use agon_translate::to_toss;
use serde_json::json;

use crate::failure::Failure;
use crate::open::{self, Language, RuleOptions};
use crate::terminal::{self, put, remark, say};

/// Translate a game: GDL to Toss, Toss to GDL, or to formats of other tools
#[derive(clap::Args)]
#[command(after_help = "\
`--to gdl` translates a structure rewriting game to GDL; `--to toss` translates a GDL game to a
structure rewriting game. kif, infix and asp of a structure rewriting game go through GDL. If the
other language cannot express a game, the message names the reason. --check plays both games with
the same random moves and compares legal moves, chances, ends and payoffs at every step.

Examples:
  agon translate toss/breakthrough --to gdl --check 100 --output breakthrough.kif
  agon translate breakthrough --to toss
  agon translate my-game.kif --to infix
  agon translate tic-tac-toe --to dot | dot -Tsvg > rules.svg
  agon translate eight-puzzle --to asp --horizon 10 | clingo - 1")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Target language or format
    #[arg(long, value_enum)]
    to: Target,
    /// File for the result [default: standard output]
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Number of random games that are played on both sides and compared at every step
    #[arg(long, value_name = "PLAYS")]
    check: Option<u64>,
    /// With --check: maximum number of steps of a play
    #[arg(long, default_value_t = 300)]
    max_steps: usize,
    /// With --check: seed of the random number generator
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// With --to toss: time limit in seconds for finding an equivalent translation
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// With --to asp: maximum number of steps of a play
    #[arg(long, default_value_t = 20)]
    horizon: usize,
    /// Print one JSON object: the text unless it goes to a file, and the result of the check
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) play: RuleOptions,
}

/// The language or format of the result.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Target {
    /// A structure rewriting game.
    Toss,
    /// GDL, in prefix KIF.
    Gdl,
    /// GDL in prefix KIF, same as gdl.
    Kif,
    /// GDL in infix syntax.
    Infix,
    /// A graph for Graphviz: of relations (GDL), of locations (structure rewriting).
    Dot,
    /// A logic program for answer set solvers such as clingo.
    Asp,
}

/// The result of a translation.
struct Translated {
    text: String,
    /// Remarks for the user.
    notes: Vec<String>,
    /// The result of `--check`.
    check: Option<Check>,
}

/// Plays on both sides without a difference.
struct Check {
    plays: u64,
    steps: u64,
    ended: u64,
}

impl Translated {
    fn plain(text: String) -> Translated {
        Translated { text, notes: Vec::new(), check: None }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let source = open::source(&args.game)?;
    let language = open::language(&source);
    if args.check.is_some() && !is_played(language, args.to) {
        return Err(Failure::unreadable(format!(
            "--check compares two games, and `--to {}` does not give another game; \
             hint: check `--to {}` instead",
            name(args.to),
            if language == Language::Toss { "gdl" } else { "toss" }
        )));
    }
    let translated = match language {
        Language::Gdl => from_gdl(args, source)?,
        Language::Toss => from_toss(args, source)?,
    };
    if let Some(path) = &args.output {
        std::fs::write(path, &translated.text)
            .map_err(|error| Failure::cannot_write(path, &error))?;
    }
    report(args, language, &translated);
    Ok(())
}

/// Returns whether the result is another game, which can be compared with the original.
fn is_played(language: Language, to: Target) -> bool {
    match (language, to) {
        (Language::Toss, Target::Gdl | Target::Kif | Target::Infix)
        | (Language::Gdl, Target::Toss) => true,
        (Language::Toss, Target::Toss | Target::Dot | Target::Asp)
        | (Language::Gdl, Target::Gdl | Target::Kif | Target::Infix | Target::Dot | Target::Asp) => {
            false
        }
    }
}

fn from_gdl(args: &Args, source: Arc<Source>) -> Result<Translated, Failure> {
    match args.to {
        Target::Gdl | Target::Kif => to_syntax(args, source, Syntax::Kif),
        Target::Infix => to_syntax(args, source, Syntax::Infix),
        Target::Dot => {
            let game = open::open_source(source, &args.play)?;
            Ok(Translated::plain(dot::dependencies(game.rules())))
        }
        Target::Asp => {
            let game = open::open_source(Arc::clone(&source), &args.play)?;
            let text = asp::program(game.rules(), args.horizon)
                .map_err(|why| Failure::wrong(format!("{}: {why}", source.name())))?;
            Ok(Translated::plain(text))
        }
        Target::Toss => gdl_to_toss(args, source),
    }
}

/// Prints a rulesheet in a syntax of GDL.
fn to_syntax(args: &Args, source: Arc<Source>, syntax: Syntax) -> Result<Translated, Failure> {
    let (sheet, findings) = read_with(Arc::clone(&source), &args.play.case().into());
    if findings.has_errors() {
        return Err(Failure::wrong(render_first(
            &findings.0,
            &source,
            terminal::colour_on_stderr(),
        )));
    }
    if sheet.clauses.is_empty() {
        return Err(Failure::wrong(format!(
            "{}: the rulesheet is empty; hint: `agon check` says what a game needs",
            source.name()
        )));
    }
    Ok(Translated::plain(printed(&sheet, syntax)?))
}

/// Prints a rulesheet, and checks that the text has the same rules when it is read again.
fn printed(sheet: &Rulesheet, syntax: Syntax) -> Result<String, Failure> {
    let text = print_rulesheet(sheet, syntax);
    let again = Arc::new(Source::new("printed", text.as_str()));
    let options = ReadOptions { case: sheet.symbols.case(), syntax: Some(syntax) };
    let (again, _) = read_with(again, &options);
    if !same_rules(sheet, &again) {
        return Err(Failure::wrong(
            "the printed rules differ from the original rules: this is a bug in agon".to_owned(),
        ));
    }
    Ok(text)
}

fn gdl_to_toss(args: &Args, source: Arc<Source>) -> Result<Translated, Failure> {
    let game = open::open_source(Arc::clone(&source), &args.play)?;
    let deadline = Instant::now().checked_add(Duration::from_secs(args.seconds));
    let options =
        to_toss::ToTossOptions { seed: args.seed, deadline, ..to_toss::ToTossOptions::default() };
    let translation = to_toss::to_toss(&game, &options).map_err(|why| {
        Failure::wrong(format!(
            "{} cannot be translated to a structure rewriting game: {why}",
            source.name()
        ))
    })?;
    let check = match args.check {
        None => None,
        Some(plays) => {
            let written =
                Source::new(format!("{} rewritten.toss", source.name()), translation.text.as_str());
            let other = open::open_toss(Arc::new(written))?;
            Some(check_result(translation.compare(
                &game.start(),
                &other.start(),
                &plan(args, plays),
            ))?)
        }
    };
    Ok(Translated { text: translation.text, notes: Vec::new(), check })
}

fn from_toss(args: &Args, source: Arc<Source>) -> Result<Translated, Failure> {
    let game = open::open_toss(Arc::clone(&source))?;
    match args.to {
        Target::Toss => {
            return Ok(Translated::plain(agon_toss::print::print_sheet(game.arena().sheet())));
        }
        Target::Dot => return Ok(Translated::plain(dot::arena(game.arena()))),
        Target::Gdl | Target::Kif | Target::Infix | Target::Asp => {}
    }
    let translation = to_gdl(game.arena(), ToGdlLimits::default()).map_err(|why| {
        let hint = why.hint().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        Failure::wrong(format!("{} cannot be translated to GDL: {why}{hint}", source.name()))
    })?;
    let rulesheet =
        Arc::new(Source::new(format!("{} in GDL", source.name()), translation.text.as_str()));
    let checked = agon_gdl::check::check(Arc::clone(&rulesheet));
    let Some(rules) = checked.rules else {
        let errors: Vec<_> = checked
            .findings
            .0
            .into_iter()
            .filter(|finding| finding.severity == Severity::Error)
            .collect();
        let shown = render_first(&errors, &rulesheet, terminal::colour_on_stderr());
        return Err(Failure::wrong(format!(
            "{shown}the translation of {} is wrong: this is a bug in agon",
            source.name()
        )));
    };
    let mut notes = Vec::new();
    if translation.payoffs.is_scaled() {
        let exact = if translation.payoffs.is_exact() {
            ""
        } else {
            ", and some different payoffs become equal"
        };
        notes.push(format!("payoffs are scaled to whole numbers from 0 to 100{exact}"));
    }
    let text = match args.to {
        Target::Infix => printed(rules.sheet(), Syntax::Infix)?,
        Target::Asp => asp::program(&rules, args.horizon).map_err(|why| {
            Failure::wrong(format!("the translation of {}: {why}", source.name()))
        })?,
        Target::Gdl | Target::Kif | Target::Toss | Target::Dot => translation.text.clone(),
    };
    let check = match args.check {
        None => None,
        Some(plays) => {
            let other =
                agon_gdl::interpreter::Game::open(rules, agon_gdl::interpreter::Options::default())
                    .map_err(|finding| Failure::wrong(render(&[*finding], &rulesheet, false)))?;
            Some(check_result(translation.compare(&game, &other, &plan(args, plays)))?)
        }
    };
    Ok(Translated { text, notes, check })
}

/// Returns the random games of `--check`.
fn plan(args: &Args, plays: u64) -> Plan {
    let plays = usize::try_from(plays).unwrap_or(usize::MAX);
    Plan { plays, max_steps: args.max_steps, seed: args.seed }
}

/// Returns the counts of a comparison, or a failure if the two games differ.
fn check_result(compared: Result<Agreement, Difference>) -> Result<Check, Failure> {
    let agreement = compared.map_err(|difference| {
        Failure::wrong(format!("the translation plays differently: {difference}"))
    })?;
    Ok(Check {
        plays: agreement.plays as u64,
        steps: agreement.steps() as u64,
        ended: agreement.ended as u64,
    })
}

fn report(args: &Args, language: Language, made: &Translated) {
    let output = args.output.as_deref();
    let from = match language {
        Language::Gdl => "gdl",
        Language::Toss => "toss",
    };
    if args.json {
        let check = made.check.as_ref().map(|check| {
            json!({"plays": check.plays, "steps": check.steps, "ended": check.ended,
                "alike": true})
        });
        let mut object =
            json!({"game": args.game, "from": from, "to": name(args.to), "notes": made.notes});
        match output {
            Some(path) => object["output"] = json!(path.display().to_string()),
            None => object["text"] = json!(made.text),
        }
        if let Some(check) = check {
            object["check"] = check;
        }
        say!("{object}");
        return;
    }
    if output.is_none() {
        put!("{}", made.text);
    }
    made.notes.iter().for_each(|note| remark!("note: {note}"));
    if let Some(check) = &made.check {
        remark!(
            "{} plays, {} steps, {} to the end: both sides agree",
            check.plays,
            check.steps,
            check.ended
        );
    }
}

fn name(target: Target) -> &'static str {
    match target {
        Target::Toss => "toss",
        Target::Gdl => "gdl",
        Target::Kif => "kif",
        Target::Infix => "infix",
        Target::Dot => "dot",
        Target::Asp => "asp",
    }
}
