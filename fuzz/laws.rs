//! Laws for every text that is read as GDL, however broken.
//!
//! The fuzz targets and `crates/agon-gdl/tests/suite/fuzz_smoke.rs` include this file. The latter
//! checks the laws without a fuzzer. A broken law panics.
#![allow(dead_code)] // Each target uses one law.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use agon_circuit::{Backend, BatchCircuit, BatchOptions, Executor, ScalarCircuit};
use agon_datalog::{GroundLimits, Limits, StopFlag};
use agon_game::laws::Plan;
use agon_game::{Batch as _, Children, Notation, Position as _, Rng, Role, lockstep};
use agon_gdl::check::check as check_rules;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Interpreter, Move, Options};
use agon_gdl::print::print_rulesheet;
use agon_gdl::read::{ReadOptions, read as read_rules, read_with};
use agon_gdl::same_rules::same_rules;
use agon_gdl::symbols::Case;
use agon_gdl::syntax::{Literal, LiteralKind, Rulesheet, Syntax, Term, TermKind};
use agon_gdl::why::Why;
use agon_text::{Diagnostics, Source, Span, apply_fixes, render};
use rand::SeedableRng as _;

/// Checks that no reader panics, that every span lies in the text, and that printing keeps rules
/// without errors unchanged.
pub(crate) fn read(text: &str) {
    for syntax in [Syntax::Kif, Syntax::Infix] {
        for case in [Case::Ignored, Case::Respected] {
            let (sheet, findings) =
                read_with(source(text), &ReadOptions { case, syntax: Some(syntax) });
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

/// Checks that checking ends, that there are rules if and only if there are no errors, and that
/// applying fixes ends and adds no errors.
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
            "rules if and only if no errors:\n{text}"
        );
        assert!(checked.rules.is_some() || !was_playable, "a fix added errors:\n{text}");
        was_playable = checked.rules.is_some();
        check_findings(&source, &checked.findings);
        let fixes = checked.findings.0.iter().filter_map(|finding| finding.fix.as_ref());
        let (fixed, applied) = apply_fixes(&source, fixes);
        if applied.is_empty() {
            return;
        }
        text = fixed;
    }
    panic!("applying fixes does not end:\n{text}");
}

/// Checks that rules without errors open or are refused, that play never panics, and that `go_to`
/// restores a state.
pub(crate) fn play(text: &str) {
    let Some(mut position) = open(text) else { return };
    let mut rng = seeded(text);
    let mut seen: Vec<(<Interpreter as agon_game::Position>::State, Vec<Vec<Move>>)> = Vec::new();
    let mut joint = Vec::new();
    for _ in 0..20 {
        let moves = legal_moves(&position);
        assert!(
            moves.iter().all(|moves| moves.is_empty() == position.is_terminal()),
            "legal moves until the end"
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
        // A refusal may depend on what was computed before, so only positions without a fault are
        // compared.
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
        assert!(position.state() == state, "`go_to` restores the state");
        if position.fault().is_none() {
            assert_eq!(&legal_moves(&position), moves, "`go_to` restores the legal moves");
        }
    }
}

/// Checks that opening ends with a refusal if it is cancelled or its time is over.
pub(crate) fn open_cancelled(text: &str) {
    let Some(rules) = check_rules(source(text)).rules else { return };
    let stop = StopFlag::new(Arc::new(AtomicBool::new(true)));
    let cancelled = Options { limits: Limits { stop, ..Limits::default() }, ..Options::default() };
    assert!(Game::open(rules.clone(), cancelled).is_err(), "a cancelled game is not opened");
    let late = Options { deadline: Some(Instant::now()), ..Options::default() };
    std::thread::sleep(Duration::from_micros(1));
    assert!(Game::open(rules, late).is_err(), "a game is not opened after its deadline");
}

/// Checks that any sentence can be explained. The last line of the text is the sentence, the rest
/// the rules.
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
                    assert_eq!(first, again, "an explanation is reproducible");
                }
            }
        }
        position.advance(&joint);
    }
}

/// Checks that the interpreter, all executors of the circuit and the lanes of both batch backends
/// agree along a random game, if the rules can be compiled to a circuit.
pub(crate) fn circuit(text: &str) {
    let Some(oracle) = open(text) else { return };
    let ground = GroundLimits {
        atoms: 5_000,
        rules: 20_000,
        bytes: 8 << 20,
        steps: 1_000_000,
        deadline: None,
        stop: StopFlag::NEVER,
    };
    let Ok(compiled) = oracle.game().compile(&CircuitLimits { ground, gates: 100_000 }) else {
        return;
    };
    let single = |executor| {
        ScalarCircuit::with_executor(
            Arc::clone(&compiled.circuit),
            compiled.shape().clone(),
            executor,
        )
    };
    let scalar = single(Executor::Levelled);
    // Where the interpreter exceeds its budget, it cannot serve as an oracle, because circuits have
    // no budget in play. Such games are abandoned.
    agree(&oracle, |position, role| position.goal_values(role).to_vec(), &scalar, text);
    for executor in [Executor::Native, Executor::Events] {
        agree(&scalar, ScalarCircuit::goal_values, &single(executor), text);
    }
    for backend in [Backend::Portable, Backend::Native] {
        let options =
            BatchOptions { backend, turns: compiled.turns.clone(), ..BatchOptions::default() };
        let circuit = Arc::clone(&compiled.circuit);
        let batch = BatchCircuit::new(circuit, compiled.shape().clone(), options);
        lanes_agree(scalar.clone(), batch, text);
    }
}

/// Plays an engine and a circuit in lockstep. `goals` returns the goal values that the engine gives
/// a role.
fn agree<P: Notation>(
    engine: &P,
    goals: fn(&P, Role) -> Vec<i64>,
    circuit: &ScalarCircuit,
    text: &str,
) {
    let as_floats = |values: Vec<i64>| Some(values.into_iter().map(|value| value as f64).collect());
    // The comparison asks for players only, so the goal values of nature go with those of each.
    let nature = engine.shape().nature;
    let first_goals = |position: &P, role| {
        let roles = [Some(role), nature].into_iter().flatten();
        as_floats(roles.flat_map(|role| goals(position, role)).collect())
    };
    let second_goals = |position: &ScalarCircuit, role| {
        let roles = [Some(role), nature].into_iter().flatten();
        as_floats(roles.flat_map(|role| position.goal_values(role)).collect())
    };
    let options = lockstep::Options {
        plan: Plan { seed: seed(text), plays: 1, max_steps: 20 },
        first_payoffs: Some(&first_goals),
        second_payoffs: Some(&second_goals),
        ..lockstep::Options::default()
    };
    if let Err(difference) = lockstep::compare(engine, circuit, &options) {
        panic!("two engines differ: {difference}");
    }
}

/// Makes every step of a random game in several lanes of a batch as well.
fn lanes_agree(mut scalar: ScalarCircuit, mut batch: BatchCircuit, text: &str) {
    let roles: Vec<Role> = scalar.shape().roles().collect();
    let mut children = Children::new(roles.len());
    let mut rng = seeded(text);
    let mut joint = Vec::new();
    for _ in 0..20 {
        if scalar.is_terminal() {
            return;
        }
        scalar.draw(&mut rng, &mut joint);
        let before = scalar.state().clone();
        scalar.advance(&joint);
        let steps = vec![(&before, joint.as_slice()); 256];
        batch.advance_all(&steps, &mut children);
        // Several lanes, including the last one of a plane.
        for child in [0, 77, 255] {
            assert_eq!(&children.states[child], scalar.state(), "the state of lane {child}");
            let is_terminal = scalar.is_terminal();
            assert_eq!(children.ended[child], is_terminal, "the end of play in lane {child}");
            for &role in &roles {
                let mut legal = Vec::new();
                children.list_legal(child, role, &mut legal);
                assert_eq!(legal, scalar.legal_moves(role), "the legal moves of lane {child}");
                let payoff = children.payoffs(child)[role.index()];
                assert_eq!(payoff, scalar.payoff(role), "the payoffs of lane {child}");
            }
        }
    }
}

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("fuzz", text))
}

/// Returns a generator that depends on the text alone, so that a failing text always fails.
fn seeded(text: &str) -> Rng {
    Rng::seed_from_u64(seed(text))
}

fn seed(text: &str) -> u64 {
    text.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()))
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
        "{span:?} is not a range of the text"
    );
}
