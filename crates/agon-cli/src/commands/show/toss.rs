//! `agon show` for structure rewriting games.

use std::sync::Arc;

use agon_circuit::Deadline;
use agon_game::Notation as _;
use agon_structures::formula::Variable;
use agon_structures::interrupt::Interrupt;
use agon_text::{Source, render};
use agon_toss::arena::{ArenaRule, CheckedArena, Effect, Equation, Reason};
use agon_toss::circuit::CircuitLimits;

use super::{Args, SECONDS, Stage, show_circuit, show_stats};
use crate::failure::Failure;
use crate::open;
use crate::terminal;
use crate::terminal::{put, say};

/// Prints a structure rewriting game at a stage.
pub(super) fn show(source: Arc<Source>, args: &Args) -> Result<(), Failure> {
    let play = args.play.within(SECONDS);
    match args.stage {
        Stage::Source => put!("{}", source.text()),
        Stage::Rules => {
            let (sheet, findings) = agon_toss::read::read(Arc::clone(&source));
            if findings.has_errors() {
                return Err(Failure::wrong(render(
                    &findings.0,
                    &source,
                    terminal::colour_on_stderr(),
                )));
            }
            put!("{}", agon_toss::print::print_sheet(&sheet));
        }
        Stage::Checked => show_rules(open::open_toss(source, &play)?.arena()),
        Stage::Relations => show_relations(open::open_toss(source, &play)?.arena()),
        Stage::Initial => {
            let start = open::open_toss(source, &play)?.start();
            start.state_text().iter().for_each(|fluent| say!("{fluent}"));
        }
        Stage::Kif | Stage::Infix => {
            return Err(Failure::wrong(
                "a structure rewriting game cannot be shown in KIF or infix; try --stage rules",
            ));
        }
        Stage::Circuit | Stage::Dot => {
            let limits =
                CircuitLimits { interrupt: Interrupt::at(play.until), ..CircuitLimits::default() };
            let compiled = open::open_toss(source, &play)?
                .compile(&limits, Deadline::new(play.until))
                .map_err(|why| {
                    Failure::wrong(format!("no circuit could be made of the game: {why}"))
                })?;
            if args.stage == Stage::Circuit && args.stats {
                let tested = if compiled.circuit.is_exact() { "the state" } else { "the step" };
                say!(
                    "ground   {} gates; post-conditions are tested on {tested}",
                    compiled.n_raw_gates
                );
                show_stats(&compiled);
            } else {
                show_circuit(&compiled.circuit, args.stage);
            }
        }
    }
    Ok(())
}

/// Prints the match formulas and effects of the rules, in the form that engines use.
fn show_rules(arena: &CheckedArena) {
    for definition in arena.definitions().iter() {
        let variables: Vec<&str> = definition.variables.iter().map(Variable::name).collect();
        say!("REL {}({}) = {}", definition.name, variables.join(", "), definition.body);
    }
    for rule in arena.rules() {
        let elements: Vec<&str> = rule.elements.iter().map(Variable::name).collect();
        say!("RULE {}({})", rule.name, elements.join(", "));
        for part in &rule.parts {
            let reason = match part.reason {
                Reason::Tuple => "left side",
                Reason::Embedded => "embedding",
                Reason::Different => "distinct",
                Reason::Match => "match",
                Reason::Pre => "pre",
            };
            say!("  {reason:10} {}", part.formula);
        }
        for (earlier, holds) in &rule.history {
            say!(
                "  {:10} {}{}",
                "before",
                if *holds { "" } else { "not " },
                arena.rule(*earlier).name
            );
        }
        if !rule.parameters.is_empty() {
            let names: Vec<&str> = rule.parameters.iter().map(Variable::name).collect();
            say!("  {:10} {}", "parameters", names.join(", "));
        }
        for equation in &rule.dynamics {
            let element = rule.elements[equation.element].name();
            say!("  {:10} {}", "dynamics", equation_text(arena, equation, element, 1));
        }
        if let Some(invariant) = &rule.invariant {
            say!("  {:10} {}", "inv", invariant.formula);
        }
        show_effect(arena, rule);
        for update in &rule.updates {
            let element = match &rule.effect {
                Effect::Tuples { .. } => rule.elements[update.element].name(),
                Effect::Rewrite(rewrite) => rewrite.right[update.element].name(),
            };
            say!("  {:10} {}", "update", equation_text(arena, update, element, 0));
        }
        if let Some(post) = &rule.post {
            say!("  {:10} {}", "post", post.formula);
        }
    }
}

/// Returns an equation for a derivative of this order of what the equation is about.
fn equation_text(arena: &CheckedArena, equation: &Equation, element: &str, order: usize) -> String {
    let name = arena.vocabulary().function_name(equation.function);
    let base = name.trim_end_matches('\'');
    let strokes = "'".repeat(name.len() - base.len() + order);
    format!(":{base}({element}){strokes} = {}", equation.term)
}

fn show_effect(arena: &CheckedArena, rule: &ArenaRule) {
    let vocabulary = arena.vocabulary();
    match &rule.effect {
        Effect::Tuples { delete, add } => {
            for pattern in delete {
                let name =
                    |index: &Option<usize>| index.map_or("_", |index| rule.elements[index].name());
                let names: Vec<&str> = pattern.arguments.iter().map(name).collect();
                say!(
                    "  {:10} {}({})",
                    "delete",
                    vocabulary.relation_name(pattern.relation),
                    names.join(", ")
                );
            }
            for tuple in add {
                let names: Vec<&str> =
                    tuple.arguments.iter().map(|&index| rule.elements[index].name()).collect();
                say!(
                    "  {:10} {}({})",
                    "add",
                    vocabulary.relation_name(tuple.relation),
                    names.join(", ")
                );
            }
        }
        Effect::Rewrite(rewrite) => {
            for (variable, map) in rewrite.right.iter().zip(&rewrite.map) {
                match map {
                    Some(left) => {
                        say!("  {:10} {} <- {}", "replace", variable, rule.elements[*left]);
                    }
                    None => say!("  {:10} {}", "create", variable),
                }
            }
            for (index, element) in rule.elements.iter().enumerate() {
                if !rewrite.map.contains(&Some(index)) {
                    say!("  {:10} {}", "delete", element);
                }
            }
            for tuple in &rewrite.tuples {
                let names: Vec<&str> =
                    tuple.arguments.iter().map(|&index| rewrite.right[index].name()).collect();
                say!(
                    "  {:10} {}({})",
                    "add",
                    vocabulary.relation_name(tuple.relation),
                    names.join(", ")
                );
            }
        }
    }
}

fn show_relations(arena: &CheckedArena) {
    let vocabulary = arena.vocabulary();
    let names = vocabulary.relations().map(|relation| vocabulary.relation_name(relation).len());
    let width =
        names.chain(arena.definitions().iter().map(|d| d.name.len())).max().unwrap_or(0).max(8);
    say!("{:width$}  arguments  tuples at the start  changes", "relation");
    for relation in vocabulary.relations() {
        let (name, arity) = (vocabulary.relation_name(relation), vocabulary.arity(relation));
        let n_tuples = arena.start().tuples(relation).len();
        let changes = if arena.is_fluent(relation) { "by rules" } else { "never" };
        say!("{name:width$}  {arity:9}  {n_tuples:19}  {changes}");
    }
    for definition in arena.definitions().iter() {
        let (name, arity) = (&definition.name, definition.variables.len());
        say!("{name:width$}  {arity:9}  {:>19}  defined", "");
    }
    show_functions(arena);
}

/// Prints the functions of a game that has some.
fn show_functions(arena: &CheckedArena) {
    let vocabulary = arena.vocabulary();
    let name = |function| vocabulary.function_name(function);
    let Some(width) = vocabulary.functions().map(|function| name(function).len()).max() else {
        return;
    };
    let width = width.max(8);
    say!("");
    say!("{:width$}  values at the start  changes", "function");
    for function in vocabulary.functions() {
        let n_values = arena.start().values(function).len();
        let is_moved = |rule: &ArenaRule| rule.dynamics.iter().any(|e| e.function == function);
        let is_set = |rule: &ArenaRule| rule.updates.iter().any(|e| e.function == function);
        let (moves, sets) = (arena.rules().iter().any(is_moved), arena.rules().iter().any(is_set));
        let changes = match (moves || arena.derivative(function).is_some(), sets) {
            (true, true) => "in time and by rules",
            (true, false) => "in time",
            (false, true) => "by rules",
            (false, false) => "never",
        };
        say!("{:width$}  {n_values:19}  {changes}", name(function));
    }
}
