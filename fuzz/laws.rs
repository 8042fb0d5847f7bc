//! What must be true of every text, however broken: the laws that fuzzing tries to break.
//!
//! Included both by the fuzz targets and by `crates/agon-gdl/tests/fuzz_smoke.rs`, which runs the same laws without
//! a fuzzer. A law panics where it is broken.
#![allow(dead_code)] // Each target uses one law.

use std::sync::Arc;

use agon_circuit::{Backend, BatchCircuit, BatchOptions, Executor, Input, ScalarCircuit};
use agon_datalog::{GroundLimits, Limits};
use agon_game::{Batch as _, Children, Fault, Notation as _, Position as _, Rng, Role};
use agon_gdl::check::check as check_rules;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::engine::GdlPosition;
use agon_gdl::interpreter::{Game, Interpreter, Move, Options};
use agon_gdl::print::print_rulesheet;
use agon_gdl::read::{read as read_rules, read_in};
use agon_gdl::same_rules::same_rules;
use agon_gdl::symbols::Case;
use agon_gdl::syntax::{Literal, LiteralKind, Rulesheet, Syntax, Term, TermKind};
use agon_gdl::why::Why;
use agon_text::{Diagnostics, Source, Span, apply_fixes, render};
use rand::SeedableRng as _;

/// No reader panics; every place is in the text; what was read without errors is the same after printing.
pub(crate) fn read(text: &str) {
    for syntax in [Syntax::Kif, Syntax::Infix] {
        for case in [Case::Ignored, Case::Respected] {
            let (sheet, findings) = read_in(source(text), case, syntax);
            check_places(&sheet, &findings);
            if findings.has_errors() || case == Case::Respected {
                continue;
            }
            for printed in
                [Syntax::Kif, Syntax::Infix].map(|printed| print_rulesheet(&sheet, printed))
            {
                let (again, findings) = read_rules(source(&printed));
                assert!(!findings.has_errors(), "printed:\n{printed}\n{findings:?}");
                assert!(same_rules(&sheet, &again), "printing changed the rules:\n{printed}");
            }
        }
    }
}

/// Checking ends; there are rules just if there are no errors; fixes come to an end and spoil nothing.
pub(crate) fn check(text: &str) {
    let mut text = text.to_owned();
    let mut was_playable = false;
    // A fix that touches another waits for the next round, and lists nest at most 200 deep.
    for _ in 0..1000 {
        let source = source(&text);
        let checked = check_rules(Arc::clone(&source));
        assert_eq!(
            checked.rules.is_none(),
            checked.findings.has_errors(),
            "rules just if no errors:\n{text}"
        );
        assert!(checked.rules.is_some() || !was_playable, "a fix spoilt the rules:\n{text}");
        was_playable = checked.rules.is_some();
        check_findings(&source, &checked.findings);
        let fixes = checked.findings.0.iter().filter_map(|finding| finding.fix.as_ref());
        let (fixed, applied) = apply_fixes(&source, fixes);
        if applied.is_empty() {
            return;
        }
        text = fixed;
    }
    panic!("fixing does not come to an end:\n{text}");
}

/// Rules without errors open or are refused; play never panics, and going back to a state restores it.
pub(crate) fn play(text: &str) {
    let Some(mut position) = open(text) else { return };
    let mut rng = seeded(text);
    let mut seen: Vec<(<Interpreter as agon_game::Position>::State, Vec<Vec<Move>>)> = Vec::new();
    let mut joint = Vec::new();
    for _ in 0..20 {
        let moves = legal_moves(&position);
        assert!(
            moves.iter().all(|moves| moves.is_empty() == position.is_terminal()),
            "moves just until the end"
        );
        for (role, moves) in position.shape().roles().zip(&moves) {
            for m in moves {
                assert_eq!(
                    position.parse_move(role, &position.move_text(m)),
                    Some(*m),
                    "moves can be read back"
                );
            }
            let payoff = position.payoff(role);
            assert!(position.shape().payoffs.contains(&payoff), "payoffs lie within the shape");
        }
        // A refusal may come or not, depending on what was worked out before; only sound answers are compared.
        if position.fault().is_none() {
            seen.push((position.state().clone(), moves));
        }
        if position.is_terminal() {
            break;
        }
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
    }
    for (state, moves) in seen.iter().rev() {
        position.go_to(state);
        assert!(position.state() == state, "going to a state comes to it");
        if position.fault().is_none() {
            assert_eq!(&legal_moves(&position), moves, "going back restores the moves");
        }
    }
}

/// Any sentence can be asked about; the last line of the text is the sentence, all of it the rules.
pub(crate) fn why(text: &str) {
    let (rules, sentence) = text.rsplit_once('\n').unwrap_or((text, "(legal ?role ?move)"));
    let Some(mut position) = open(rules) else { return };
    let mut rng = seeded(text);
    let mut joint = Vec::new();
    for _ in 0..2 {
        if position.is_terminal() {
            break;
        }
        position.draw(&mut rng, &mut joint);
        for joint in [None, Some(joint.as_slice())] {
            if let Ok(mut why) = Why::new(&position, joint) {
                let first = why.explain(sentence).map(|answer| format!("{answer:?}"));
                let again = why.explain(sentence).map(|answer| format!("{answer:?}"));
                if let (Ok(first), Ok(again)) = (first, again) {
                    assert_eq!(first, again, "the same question has the same answer");
                }
            }
        }
        position.advance(&joint);
    }
}

/// Of rules that become a circuit, the interpreter, the circuit and its lanes say the same, along a random play.
pub(crate) fn circuit(text: &str) {
    let Some(mut judge) = open(text) else { return };
    let ground = GroundLimits {
        atoms: 5_000,
        rules: 20_000,
        bytes: 8 << 20,
        steps: 1_000_000,
        deadline: None,
    };
    let Ok(compiled) = judge.game().compile(&CircuitLimits { ground, gates: 100_000 }) else {
        return;
    };
    let single = |executor| {
        ScalarCircuit::with_executor(
            Arc::clone(&compiled.circuit),
            compiled.shape.clone(),
            executor,
        )
    };
    let mut scalar = single(Executor::Levelled);
    let mut others = [Executor::Native, Executor::Events].map(single);
    let new_batch = |backend| {
        let options =
            BatchOptions { backend, turns: compiled.turns.clone(), ..BatchOptions::default() };
        BatchCircuit::new(Arc::clone(&compiled.circuit), compiled.shape.clone(), options)
    };
    let mut batches = [Backend::Portable, Backend::Native].map(new_batch);
    let mut children = Children::new(compiled.circuit.roles.len());
    let mut rng = seeded(text);
    let mut joint = Vec::new();
    let roles: Vec<Role> = judge.shape().roles().collect();
    for _ in 0..20 {
        // A circuit has no budget in play: what the judge could not work out, it cannot judge.
        let is_refused = |fault: &Fault| matches!(fault, Fault::Refused(_));
        if judge.fault().is_some_and(is_refused) {
            return;
        }
        assert_eq!(answers(&judge), answers(&scalar), "the circuit says the same as the rules");
        for other in &others {
            assert_eq!(answers(other), answers(&scalar), "however it is executed");
        }
        if judge.fault().is_some_and(is_refused) || judge.is_terminal() {
            return;
        }
        judge.draw(&mut rng, &mut joint);
        // Both list the same moves in the same order, as has just been seen.
        let same = |role: &Role| {
            let place = judge.legal_moves(*role).iter().position(|m| *m == joint[role.index()]);
            scalar.legal_moves(*role)[place.expect("what is drawn is legal")]
        };
        let same: Vec<Input> = roles.iter().map(same).collect();
        let before = scalar.state().clone();
        judge.advance(&joint);
        scalar.advance(&same);
        others.iter_mut().for_each(|other| other.advance(&same));
        for batch in &mut batches {
            // In several lanes, with the last one of a plane among them.
            let steps = vec![(&before, same.as_slice()); 256];
            batch.advance_all(&steps, &mut children);
            for child in [0, 77, 255] {
                assert_eq!(
                    &children.states[child],
                    scalar.state(),
                    "lane {child} comes to the same state"
                );
                assert_eq!(
                    children.ended[child],
                    scalar.is_terminal(),
                    "lane {child} ends with the others"
                );
                for &role in &roles {
                    let mut legal = Vec::new();
                    children.list_legal(child, role, &mut legal);
                    assert_eq!(
                        legal,
                        scalar.legal_moves(role),
                        "lane {child} has the same legal moves"
                    );
                    let payoff = children.payoffs(child)[role.index()];
                    assert_eq!(payoff, scalar.payoff(role), "lane {child} pays the same");
                }
            }
        }
    }
}

/// What a position says of itself.
#[derive(Debug, PartialEq, Eq)]
struct Answers {
    state: Vec<String>,
    legal: Vec<Vec<String>>,
    is_terminal: bool,
    goals: Vec<Vec<i64>>,
}

fn answers<P: GdlPosition>(position: &P) -> Answers {
    let roles = || position.shape().roles();
    let texts =
        |role: Role| position.legal_moves(role).iter().map(|m| position.move_text(m)).collect();
    Answers {
        state: position.state_text(),
        legal: roles().map(texts).collect(),
        is_terminal: position.is_terminal(),
        goals: roles().map(|role| position.goal_values(role)).collect(),
    }
}

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("fuzz", text))
}

/// A generator that depends on the text alone, so that a text that breaks a law always does.
fn seeded(text: &str) -> Rng {
    let seed =
        text.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    Rng::seed_from_u64(seed)
}

fn open(text: &str) -> Option<Interpreter> {
    let rules = check_rules(source(text)).rules?;
    let limits = Limits {
        facts: 20_000,
        steps: 300_000,
        depth: 2_000,
        term_depth: 50,
        bytes: 64 << 20,
        ..Limits::default()
    };
    let game = Game::open(rules, Options { limits, ..Options::default() }).ok()?;
    Some(game.start())
}

fn legal_moves(position: &Interpreter) -> Vec<Vec<Move>> {
    position.shape().roles().map(|role| position.legal_moves(role).to_vec()).collect()
}

fn check_findings(source: &Source, findings: &Diagnostics) {
    for finding in &findings.0 {
        check_place(source, finding.span);
        finding.notes.iter().for_each(|(span, _)| check_place(source, *span));
        let edits = finding.fix.iter().flat_map(|fix| &fix.edits);
        edits.for_each(|edit| check_place(source, edit.span));
    }
    render(&findings.0, source, false);
}

fn check_places(sheet: &Rulesheet, findings: &Diagnostics) {
    check_findings(&sheet.source, findings);
    let term = |term: &Term| check_term(&sheet.source, term);
    for clause in &sheet.clauses {
        let spans = [clause.span, clause.head.span, clause.head.name_span];
        spans.into_iter().for_each(|span| check_place(&sheet.source, span));
        clause.variables.iter().for_each(|variable| check_place(&sheet.source, variable.span));
        clause.head.arguments.iter().for_each(term);
        clause.body.iter().for_each(|literal| check_literal(&sheet.source, literal));
    }
}

fn check_literal(source: &Source, literal: &Literal) {
    check_place(source, literal.span);
    match &literal.kind {
        LiteralKind::Atom(atom) => {
            [atom.span, atom.name_span].into_iter().for_each(|span| check_place(source, span));
            atom.arguments.iter().for_each(|term| check_term(source, term));
        }
        LiteralKind::Not(inner) => check_literal(source, inner),
        LiteralKind::And(parts) | LiteralKind::Or(parts) => {
            parts.iter().for_each(|part| check_literal(source, part));
        }
        LiteralKind::Distinct(terms) => terms.iter().for_each(|term| check_term(source, term)),
    }
}

fn check_term(source: &Source, term: &Term) {
    [term.span, term.name_span].into_iter().for_each(|span| check_place(source, span));
    if let TermKind::Function(_, arguments) = &term.kind {
        arguments.iter().for_each(|argument| check_term(source, argument));
    }
}

fn check_place(source: &Source, span: Span) {
    assert!(
        source.text().get(span.start()..span.end()).is_some(),
        "{span:?} is not a piece of the text"
    );
}
