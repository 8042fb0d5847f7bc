//! `agon show`: prints a game at one stage of its compilation.

mod toss;

use std::sync::Arc;

use agon::open::render_first;
use agon_circuit::{Circuit, Compiled, write_graphviz};
use agon_game::Notation as _;
use agon_gdl::check::check_with;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Level};
use agon_gdl::print::{print_rules, print_rulesheet};
use agon_gdl::read::read_with;
use agon_gdl::syntax::Syntax;
use agon_text::Severity;

use crate::failure::Failure;
use crate::open::{self, Language, RuleOptions};
use crate::terminal;
use crate::terminal::{put, say};

/// Show a game at one stage: as text, rules, checked rules, circuit
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon show tic-tac-toe
  agon show my-game.kif --stage infix
  agon show my-game.kif --stage checked
  agon show breakthrough --stage circuit --stats
  agon show tic-tac-toe --stage dot | dot -Tsvg > circuit.svg")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Stage to show
    #[arg(long, value_enum, default_value = "source")]
    stage: Stage,
    /// With --stage circuit: show the size after grounding and after each optimiser pass, instead
    /// of the gates
    #[arg(long)]
    stats: bool,
    #[command(flatten)]
    pub(super) play: RuleOptions,
}

/// A stage of the compilation of a game.
#[derive(Copy, Clone, PartialEq, Eq, clap::ValueEnum)]
enum Stage {
    /// The text, with comments.
    Source,
    /// The rules as read, in the syntax in which they are written.
    Rules,
    /// The rules in prefix KIF.
    Kif,
    /// The rules in infix syntax.
    Infix,
    /// The rules in normal form: `or` multiplied out, `not` on atoms only, roles bound.
    Checked,
    /// The relations: number of arguments, facts and rules, and when each changes.
    Relations,
    /// The initial state.
    Initial,
    /// The optimised circuit of the ground game.
    Circuit,
    /// The optimised circuit as a graph for Graphviz.
    Dot,
}

/// Time in seconds for evaluating the rules.
const SECONDS: f64 = 30.0;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let source = open::source(&args.game)?;
    if args.stage == Stage::Source {
        put!("{}", source.text());
        return Ok(());
    }
    if open::language(&source) == Language::Toss {
        return toss::show(source, args);
    }
    let (sheet, findings) = read_with(Arc::clone(&source), &args.play.case().into());
    if findings.has_errors() {
        return Err(Failure::wrong(render_first(
            &findings.0,
            &source,
            terminal::colour_on_stderr(),
        )));
    }
    match args.stage {
        Stage::Source => unreachable!("shown above"),
        Stage::Rules => put!("{}", print_rulesheet(&sheet, sheet.syntax)),
        Stage::Kif => put!("{}", print_rulesheet(&sheet, Syntax::Kif)),
        Stage::Infix => put!("{}", print_rulesheet(&sheet, Syntax::Infix)),
        Stage::Checked => {
            let checked = check_with(Arc::clone(&source), &args.play.case().into());
            let Some(rules) = checked.rules else {
                let errors: Vec<_> = checked
                    .findings
                    .0
                    .into_iter()
                    .filter(|f| f.severity == Severity::Error)
                    .collect();
                return Err(Failure::wrong(render_first(
                    &errors,
                    &source,
                    terminal::colour_on_stderr(),
                )));
            };
            put!("{}", print_rules(rules.rules(), rules.sheet(), rules.sheet().syntax));
        }
        Stage::Relations => show_relations(&open::open_source(source, &args.play.within(SECONDS))?),
        Stage::Initial => {
            let start = open::open_source(source, &args.play.within(SECONDS))?.start();
            start.state_text().iter().for_each(|fluent| say!("{fluent}"));
        }
        Stage::Circuit | Stage::Dot => {
            let compiled = open::open_source(source, &args.play.within(SECONDS))?
                .compile(&CircuitLimits::default())
                .map_err(|why| {
                    Failure::wrong(format!("no circuit could be made of the game: {why}"))
                })?;
            if args.stage == Stage::Circuit && args.stats {
                let seconds = compiled.grounding.time.as_secs_f64();
                say!(
                    "ground   {} atoms, {} rule instances, {seconds:.3} s",
                    compiled.grounding.n_atoms,
                    compiled.grounding.n_rules
                );
                show_stats(&compiled);
            } else {
                show_circuit(&compiled.circuit, args.stage);
            }
        }
    }
    Ok(())
}

fn show_relations(game: &Arc<Game>) {
    let relations = game.relations();
    let width = relations.iter().map(|relation| relation.name.len()).max().unwrap_or(0);
    say!("{:width$}  arguments  facts  rules  changes", "relation");
    for r in relations {
        let level = match r.level {
            Level::Static => "never",
            Level::State => "with the state",
            Level::Move => "with the moves",
        };
        say!("{:width$}  {:9}  {:5}  {:5}  {level}", r.name, r.arity, r.n_facts, r.n_rules);
    }
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

fn show_stats(compiled: &Compiled) {
    let circuit = &compiled.circuit;
    say!("circuit  {} base bits, {} inputs", circuit.base.len(), circuit.n_inputs());
    say!("turns    {}", if compiled.turns.is_some() { "proved" } else { "not proved" });
    say!("{:12} {:>10} {:>10} {:>10} {:>9}", "pass", "before", "after", "saved", "seconds");
    for pass in &compiled.passes {
        let (before, after) = (pass.gates_before, pass.gates_after);
        let saved = before as i64 - after as i64;
        say!("{:12} {before:10} {after:10} {saved:10} {:9.4}", pass.name, pass.seconds);
    }
    say!("{} AND gates in the end", circuit.ands.len());
}
