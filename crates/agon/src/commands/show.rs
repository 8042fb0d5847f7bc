//! `agon show`: a game at one stage of its way from text to play.

mod toss;

use std::sync::Arc;

use agon_circuit::optimise::PassReport;
use agon_circuit::{Circuit, write_graphviz};
use agon_game::Notation as _;
use agon_gdl::check::check_as;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::print::{print_rules, print_rulesheet};
use agon_gdl::read::read_as;
use agon_gdl::syntax::Syntax;
use agon_text::{Severity, render};

use crate::failure::Failure;
use crate::open::{self, Language, RuleOptions};
use crate::terminal;
use crate::terminal::{put, say};

/// Show a game at one stage: as text, as rules, in either syntax, checked and normalised.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon show tic-tac-toe
  agon show my-game.kif --stage infix
  agon show my-game.kif --stage checked
  agon show breakthrough --stage circuit --stats
  agon show tic-tac-toe --stage dot | dot -Tsvg > circuit.svg")]
pub(crate) struct Args {
    /// A shipped game's name or the path of a rulesheet
    game: String,
    /// What to show
    #[arg(long, value_enum, default_value = "source")]
    stage: Stage,
    /// With --stage circuit: what grounding gave and what each pass of the optimiser saved, instead of the gates
    #[arg(long)]
    stats: bool,
    #[command(flatten)]
    play: RuleOptions,
}

#[derive(Copy, Clone, PartialEq, Eq, clap::ValueEnum)]
enum Stage {
    /// The text as it stands, comments included.
    Source,
    /// The rules as read, in the syntax they were written in.
    Rules,
    /// The rules in prefix KIF.
    Kif,
    /// The rules in infix.
    Infix,
    /// The rules in normal form: `or` multiplied out, `not` on atoms only, roles bound.
    Checked,
    /// The relations: how many arguments, facts and rules, and how often each changes.
    Relations,
    /// The initial state.
    Initial,
    /// The optimised circuit of the ground game.
    Circuit,
    /// The same for Graphviz.
    Dot,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let source = open::source(&args.game)?;
    if args.stage == Stage::Source {
        put!("{}", source.text());
        return Ok(());
    }
    if open::language(&source) == Language::Toss {
        return toss::show(source, args);
    }
    let (sheet, findings) = read_as(Arc::clone(&source), args.play.case());
    if findings.has_errors() {
        return Err(Failure::wrong(render(&findings.0, &source, terminal::colour_on_stderr())));
    }
    match args.stage {
        Stage::Source => unreachable!("shown above"),
        Stage::Rules => put!("{}", print_rulesheet(&sheet, sheet.syntax)),
        Stage::Kif => put!("{}", print_rulesheet(&sheet, Syntax::Kif)),
        Stage::Infix => put!("{}", print_rulesheet(&sheet, Syntax::Infix)),
        Stage::Checked => {
            let checked = check_as(Arc::clone(&source), args.play.case());
            let Some(rules) = checked.rules else {
                let errors: Vec<_> = checked
                    .findings
                    .0
                    .into_iter()
                    .filter(|f| f.severity == Severity::Error)
                    .collect();
                return Err(Failure::wrong(render(&errors, &source, terminal::colour_on_stderr())));
            };
            put!("{}", print_rules(rules.rules(), rules.sheet(), rules.sheet().syntax));
        }
        Stage::Relations => {
            let game = open::open_source(source, &args.play)?;
            let relations = game.relations();
            let width = relations.iter().map(|relation| relation.name.len()).max().unwrap_or(0);
            say!("{:width$}  arguments  facts  rules  changes", "relation");
            for r in relations {
                let level = match r.level {
                    agon_gdl::interpreter::Level::Static => "never",
                    agon_gdl::interpreter::Level::State => "with the state",
                    agon_gdl::interpreter::Level::Move => "with the moves",
                };
                say!("{:width$}  {:9}  {:5}  {:5}  {level}", r.name, r.arity, r.n_facts, r.n_rules);
            }
        }
        Stage::Initial => {
            let start = open::open_source(source, &args.play)?.start();
            start.state_text().iter().for_each(|fluent| say!("{fluent}"));
        }
        Stage::Circuit | Stage::Dot => {
            let compiled =
                open::open_source(source, &args.play)?.compile(&CircuitLimits::default()).map_err(
                    |why| Failure::wrong(format!("no circuit could be made of the game: {why}")),
                )?;
            if args.stage == Stage::Circuit && args.stats {
                let seconds = compiled.ground_time.as_secs_f64();
                say!(
                    "ground   {} atoms, {} rule instances, {seconds:.3} s",
                    compiled.n_atoms,
                    compiled.n_rules
                );
                show_stats(&compiled.circuit, compiled.turns.is_some(), &compiled.passes);
            } else {
                show_circuit(&compiled.circuit, args.stage);
            }
        }
    }
    Ok(())
}

fn show_circuit(circuit: &Circuit, stage: Stage) {
    if stage == Stage::Dot {
        let mut text = String::new();
        write_graphviz(circuit, &mut text).expect("writing to a string does not fail");
        put!("{text}");
    } else {
        put!("{circuit}");
    }
}

fn show_stats(circuit: &Circuit, has_turns: bool, passes: &[PassReport]) {
    say!("circuit  {} base bits, {} inputs", circuit.base.len(), circuit.n_inputs());
    say!("turns    {}", if has_turns { "proved" } else { "not proved" });
    say!("{:12} {:>10} {:>10} {:>10} {:>9}", "pass", "before", "after", "saved", "seconds");
    for pass in passes {
        let (before, after) = (pass.gates_before, pass.gates_after);
        let saved = before as i64 - after as i64;
        say!("{:12} {before:10} {after:10} {saved:10} {:9.4}", pass.name, pass.seconds);
    }
    say!("{} AND gates in the end", circuit.ands.len());
}
