//! `agon translate`: a game in the other family of rules, or in the language of another tool.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_gdl::print::print_rulesheet;
use agon_gdl::read::read_in;
use agon_gdl::same_rules::same_rules;
use agon_gdl::syntax::{Rulesheet, Syntax};
use agon_text::{Severity, Source, render};
use agon_translate::formats::{asp, dot};
use agon_translate::joint::{self, Extent};
use agon_translate::to_gdl::joint::{Plan, play_jointly};
use agon_translate::to_gdl::{Limits, to_gdl};
use agon_translate::to_toss;
use serde_json::json;

use crate::failure::Failure;
use crate::open::{self, Language, RuleOptions};
use crate::terminal::{self, put, remark, say};

/// Write a game in the other family of rules, or in the language of another tool.
#[derive(clap::Args)]
#[command(after_help = "\
A structure rewriting game becomes GDL with `--to gdl`, and through GDL kif, infix and asp; a rulesheet becomes a structure
rewriting game with `--to toss`. What cannot be said in the other language is refused by name. --check plays both games
with the same random moves and compares legal moves, chances, ends and payoffs at every step.

Examples:
  agon translate toss/breakthrough --to gdl --check 100 --output breakthrough.kif
  agon translate breakthrough --to toss
  agon translate my-game.kif --to infix
  agon translate tic-tac-toe --to dot | dot -Tsvg > rules.svg
  agon translate eight-puzzle --to asp --horizon 10 | clingo - 1")]
pub(crate) struct Args {
    /// A shipped game's name or the path of a rulesheet
    game: String,
    /// What to make of it
    #[arg(long, value_enum)]
    to: Target,
    /// Where to write; standard output if not given
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Play so many random games on both sides and compare them at every step
    #[arg(long, value_name = "PLAYS")]
    check: Option<u64>,
    /// With --check: plays longer than this are cut off
    #[arg(long, default_value_t = 300)]
    max_steps: usize,
    /// With --check: seed of the random generator
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// With --to toss: so many seconds it may take to find a translation that plays alike
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// With --to asp: so many steps a play may have
    #[arg(long, default_value_t = 20)]
    horizon: usize,
    /// One JSON object: what was translated, the text unless it goes to a file, how the check went
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    play: RuleOptions,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Target {
    /// A structure rewriting game.
    Toss,
    /// GDL, in prefix KIF.
    Gdl,
    /// The same, by its syntax.
    Kif,
    /// GDL in infix.
    Infix,
    /// A graph for Graphviz: of relations (GDL), of locations (structure rewriting).
    Dot,
    /// A logic program for answer set solvers such as clingo.
    Asp,
}

/// What came out.
struct Made {
    text: String,
    /// What the reader should know about it.
    notes: Vec<String>,
    /// How both sides played.
    check: Option<Check>,
}

/// Plays made on both sides, all alike.
struct Check {
    plays: u64,
    steps: u64,
    ended: u64,
}

impl Made {
    fn plain(text: String) -> Made {
        Made { text, notes: Vec::new(), check: None }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let source = open::source(&args.game)?;
    let language = open::language(&source);
    if args.check.is_some() && !is_played(language, args.to) {
        return Err(Failure::unreadable(format!(
            "--check compares two games, and `{}` of this one is no other game; \
             hint: check `--to {}`, from which it follows",
            name(args.to),
            if language == Language::Toss { "gdl" } else { "toss" }
        )));
    }
    let made = match language {
        Language::Gdl => from_gdl(args, source)?,
        Language::Toss => from_toss(args, source)?,
    };
    if let Some(path) = &args.output {
        std::fs::write(path, &made.text).map_err(|error| {
            Failure::unreadable(format!("cannot write {}: {error}", path.display()))
        })?;
    }
    report(args, language, &made, args.output.as_deref());
    Ok(())
}

/// Whether the translation is a game that can be played beside the original.
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

fn from_gdl(args: &Args, source: Arc<Source>) -> Result<Made, Failure> {
    match args.to {
        Target::Gdl | Target::Kif => written(args, source, Syntax::Kif),
        Target::Infix => written(args, source, Syntax::Infix),
        Target::Dot => {
            let game = open::open_source(source, &args.play)?;
            Ok(Made::plain(dot::dependencies(game.rules())))
        }
        Target::Asp => {
            let game = open::open_source(Arc::clone(&source), &args.play)?;
            let text = asp::program(game.rules(), args.horizon)
                .map_err(|why| Failure::wrong(format!("{}: {why}", source.name())))?;
            Ok(Made::plain(text))
        }
        Target::Toss => gdl_to_toss(args, source),
    }
}

/// A rulesheet in one of GDL's syntaxes, which must say the same when it is read again.
fn written(args: &Args, source: Arc<Source>, syntax: Syntax) -> Result<Made, Failure> {
    let (sheet, findings) = agon_gdl::read::read_as(Arc::clone(&source), args.play.case());
    if findings.has_errors() {
        return Err(Failure::wrong(render(&findings.0, &source, terminal::colour_on_stderr())));
    }
    if sheet.clauses.is_empty() {
        return Err(Failure::wrong(format!(
            "{}: there are no rules in it; hint: `agon check` tells what a game needs",
            source.name()
        )));
    }
    Ok(Made::plain(printed(&sheet, syntax)?))
}

fn printed(sheet: &Rulesheet, syntax: Syntax) -> Result<String, Failure> {
    let text = print_rulesheet(sheet, syntax);
    let again = Arc::new(Source::new("printed", text.as_str()));
    let (again, _) = read_in(again, sheet.symbols.case(), syntax);
    if !same_rules(sheet, &again) {
        return Err(Failure::wrong(
            "what would be written does not say the same as the rules: a fault of agon's"
                .to_owned(),
        ));
    }
    Ok(text)
}

fn gdl_to_toss(args: &Args, source: Arc<Source>) -> Result<Made, Failure> {
    let game = open::open_source(Arc::clone(&source), &args.play)?;
    let deadline = Instant::now().checked_add(Duration::from_secs(args.seconds));
    let options = to_toss::Options { seed: args.seed, deadline, ..to_toss::Options::default() };
    let translation = to_toss::to_toss(&game, &options).map_err(|why| {
        Failure::wrong(format!(
            "{} cannot be written as a structure rewriting game: {why}",
            source.name()
        ))
    })?;
    let check = match args.check {
        None => None,
        Some(plays) => {
            let written =
                Source::new(format!("{} rewritten.toss", source.name()), translation.text.as_str());
            let other = open::open_toss(Arc::new(written))?;
            let plays = usize::try_from(plays).unwrap_or(usize::MAX);
            let extent = Extent { plays, steps: args.max_steps, seed: args.seed };
            let translate = |role: usize, text: &str| translation.gdl_move(role, text);
            let played = joint::play_jointly(&game.start(), &other.start(), &translate, &extent);
            let played = played.map_err(|difference| {
                Failure::wrong(format!("the translation plays differently: {difference}"))
            })?;
            // States are one more than steps in each play.
            let steps = (played.states - played.plays) as u64;
            Some(Check { plays: played.plays as u64, steps, ended: played.ended as u64 })
        }
    };
    Ok(Made { text: translation.text, notes: Vec::new(), check })
}

fn from_toss(args: &Args, source: Arc<Source>) -> Result<Made, Failure> {
    let game = open::open_toss(Arc::clone(&source))?;
    match args.to {
        Target::Toss => {
            return Ok(Made::plain(agon_toss::print::print_sheet(game.arena().sheet())));
        }
        Target::Dot => return Ok(Made::plain(dot::arena(game.arena()))),
        Target::Gdl | Target::Kif | Target::Infix | Target::Asp => {}
    }
    let translation = to_gdl(game.arena(), Limits::default()).map_err(|why| {
        let hint = why.hint().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        Failure::wrong(format!("{} cannot be written in GDL: {why}{hint}", source.name()))
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
        let shown = render(&errors, &rulesheet, terminal::colour_on_stderr());
        return Err(Failure::wrong(format!(
            "{shown}the translation of {} is not sound",
            source.name()
        )));
    };
    let mut notes = Vec::new();
    if translation.payoffs.is_scaled() {
        let exact = if translation.payoffs.is_exact() {
            ""
        } else {
            ", and some that differ become the same"
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
            let plan = Plan { plays, max_steps: args.max_steps, seed: args.seed };
            let played = play_jointly(&game, &other, &translation, plan).map_err(|difference| {
                Failure::wrong(format!("the translation plays differently: {difference}"))
            })?;
            Some(Check { plays: played.plays, steps: played.steps, ended: played.ended })
        }
    };
    Ok(Made { text, notes, check })
}

fn report(args: &Args, language: Language, made: &Made, output: Option<&Path>) {
    let from = match language {
        Language::Gdl => "gdl",
        Language::Toss => "toss",
    };
    if args.json {
        let check = made.check.as_ref().map(
            |check| json!({"plays": check.plays, "steps": check.steps, "ended": check.ended, "alike": true}),
        );
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
            "{} plays, {} steps, {} to the end: both sides alike",
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
