//! `agon translate`: translates a game to the other rule language or to the format of another tool.

use std::path::PathBuf;
use std::time::Duration;

use agon::reports::{self, TranslateOptions, Translated};
use agon_game::laws::Plan;
use serde_json::json;

use crate::failure::Failure;
use crate::open::{self, Language, RuleOptions};
use crate::terminal::{put, remark, say};

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
    /// Time limit in seconds of the translation; the plays of --check may take as long again
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

impl Target {
    fn of_library(self) -> reports::Target {
        match self {
            Target::Toss => reports::Target::Toss,
            Target::Gdl | Target::Kif => reports::Target::Gdl,
            Target::Infix => reports::Target::Infix,
            Target::Dot => reports::Target::Dot,
            Target::Asp => reports::Target::Asp,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let source = open::source(&args.game)?;
    let language = open::language(&source);
    if args.check.is_some() && !args.to.of_library().is_game(language) {
        return Err(Failure::unreadable(format!(
            "--check compares two games, and `--to {}` does not give another game; \
             hint: check `--to {}` instead",
            name(args.to),
            if language == Language::Toss { "gdl" } else { "toss" }
        )));
    }
    let options = TranslateOptions {
        open: args.play.options(),
        time: Duration::from_secs(args.seconds),
        seed: args.seed,
        horizon: args.horizon,
        compare: args.check.map(|plays| {
            let plays = usize::try_from(plays).unwrap_or(usize::MAX);
            Plan { plays, max_steps: args.max_steps, seed: args.seed }
        }),
    };
    let translated = reports::translate(&source, args.to.of_library(), &options)
        .map_err(|error| Failure::wrong(error.to_string()))?;
    if let Some(path) = &args.output {
        std::fs::write(path, &translated.text)
            .map_err(|error| Failure::cannot_write(path, &error))?;
    }
    report(args, language, &translated);
    Ok(())
}

fn report(args: &Args, language: Language, made: &Translated) {
    let output = args.output.as_deref();
    let from = match language {
        Language::Gdl => "gdl",
        Language::Toss => "toss",
    };
    if args.json {
        let check = made.agreement.as_ref().map(|check| {
            json!({"plays": check.plays, "steps": check.steps(), "ended": check.ended,
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
    if let Some(check) = &made.agreement {
        remark!(
            "{} plays, {} steps, {} to the end: both sides agree",
            check.plays,
            check.steps(),
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
