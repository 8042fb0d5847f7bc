//! What must be true of every text, however broken: the laws that fuzzing tries to break.
//!
//! Included both by the fuzz targets and by `crates/agon-gdl/tests/fuzz_smoke.rs`, which runs the same laws without
//! a fuzzer. A law panics where it is broken.
#![allow(dead_code)] // Each target uses one law.

use std::sync::Arc;

use agon_game::{Notation as _, Position as _, Rng};
use agon_gdl::check::check as check_rules;
use agon_gdl::interpreter::{Game, Interpreter, Move, Options};
use agon_gdl::print::print_rulesheet;
use agon_gdl::read::{read as read_rules, read_in};
use agon_gdl::same_rules::same_rules;
use agon_gdl::symbols::Case;
use agon_gdl::syntax::{Literal, LiteralKind, Rulesheet, Syntax, Term, TermKind};
use agon_gdl::why::Why;
use agon_logic::Limits;
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
            for printed in [Syntax::Kif, Syntax::Infix].map(|printed| print_rulesheet(&sheet, printed)) {
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
        let (fixed, n_applied) = apply_fixes(&source, fixes);
        if n_applied == 0 {
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

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("fuzz", text))
}

/// A generator that depends on the text alone, so that a text that breaks a law always does.
fn seeded(text: &str) -> Rng {
    let seed = text.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
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
    assert!(source.text().get(span.start()..span.end()).is_some(), "{span:?} is not a piece of the text");
}
