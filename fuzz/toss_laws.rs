//! Laws for every text that is read as a structure rewriting game, however broken.
//!
//! The fuzz targets and `crates/agon-toss/tests/suite/fuzz_smoke.rs` include this file. The latter
//! checks the laws without a fuzzer. A broken law panics.
#![allow(dead_code)] // Each target uses one law.

use std::sync::Arc;

use agon_circuit::{Deadline, ScalarCircuit};
use agon_game::laws::Plan;
use agon_game::lockstep::{self, Payoffs};
use agon_game::{Fault, Notation as _, Position as _, Rng};
use agon_structures::evaluate::Limits;
use agon_text::{Diagnostics, Source, render};
use agon_toss::check::check;
use agon_toss::circuit::{CircuitLimits, NoCircuit};
use agon_toss::interpreter::{EmbeddingSearch, Game, Interpreter, Options};
use agon_toss::print::print_sheet;
use agon_toss::read::read as read_sheet;
use agon_toss::rewrite::GrowthLimits;
use rand::SeedableRng as _;

/// Checks that the reader does not panic, that every span lies in the text, and that printing keeps
/// rules without errors unchanged.
pub(crate) fn read(text: &str) {
    let (sheet, findings) = read_sheet(source(text));
    check_findings(&sheet.source, &findings);
    if findings.has_errors() {
        return;
    }
    let printed = print_sheet(&sheet);
    let (again, findings) = read_sheet(source(&printed));
    assert!(!findings.has_errors(), "printed:\n{printed}\n{findings:?}");
    assert_eq!(print_sheet(&again), printed, "printing what was printed changes it");
}

/// Checks the laws of play. There is a game if and only if there are no errors, and it opens or is
/// refused. In a random game of 20 steps under small limits, there are legal moves until the end
/// and they can be read back. Embeddings that are updated after each step equal those found from
/// scratch. The circuit agrees with the interpreter, with post-conditions evaluated in the state
/// and in the step.
pub(crate) fn play(text: &str) {
    let source = source(text);
    let checked = check(Arc::clone(&source));
    let has_errors = checked.findings.has_errors();
    assert_eq!(checked.arena.is_none(), has_errors, "a game if and only if no errors");
    check_findings(&source, &checked.findings);
    let Some(scratch) = open(text, EmbeddingSearch::FromScratch) else { return };
    let Some(incremental) = open(text, EmbeddingSearch::Incremental) else {
        panic!("it opens with one search for embeddings and not with the other")
    };
    let plan = Plan { seed: text.len() as u64, plays: 1, max_steps: 20 };
    let options = lockstep::Options { plan: plan.clone(), ..lockstep::Options::default() };
    if let Err(difference) = lockstep::compare(&scratch, &incremental, &options) {
        panic!("embeddings updated after each step: {difference}");
    }
    for exact_embeddings in [usize::MAX, 0] {
        let Some(circuit) = circuit(&scratch, exact_embeddings) else { continue };
        let options = lockstep::Options {
            plan: plan.clone(),
            payoffs: Payoffs::AtEnd,
            ..lockstep::Options::default()
        };
        if let Err(difference) = lockstep::compare(&scratch, &circuit, &options) {
            panic!("the circuit: {difference}");
        }
    }
    moves_can_be_read_back(scratch, &plan);
}

fn moves_can_be_read_back(mut position: Interpreter, plan: &Plan) {
    let mut rng = Rng::seed_from_u64(plan.seed);
    let mut joint = Vec::new();
    for _ in 0..plan.max_steps {
        if matches!(position.fault(), Some(Fault::Refused(_))) {
            return;
        }
        for role in position.shape().roles() {
            let moves = position.legal_moves(role);
            assert_eq!(moves.is_empty(), position.is_terminal(), "legal moves until the end");
            for m in moves {
                let text = position.move_text(m);
                let read = position.parse_move(role, &text);
                assert_eq!(read.as_ref(), Some(m), "`{text}` is read back");
            }
        }
        if position.is_terminal() {
            return;
        }
        position.draw(&mut rng, &mut joint);
        // A drawn move need not be in the list, because a move may have real parameters.
        for (role, m) in position.shape().roles().zip(&joint) {
            let text = position.move_text(m);
            assert!(position.is_legal(role, m), "`{text}` is drawn and not legal");
            assert_eq!(position.parse_move(role, &text).as_ref(), Some(m), "`{text}` is read back");
        }
        position.advance(&joint);
    }
}

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("fuzz.toss", text))
}

fn open(text: &str, embeddings: EmbeddingSearch) -> Option<Interpreter> {
    let arena = check(source(text)).arena?;
    let options = Options {
        limits: Limits { steps: 300_000, cells: 1 << 18, parts: 20_000, ..Limits::default() },
        growth: GrowthLimits { elements: 200, tuples: 5000 },
        embeddings,
        ..Options::default()
    };
    Game::open(arena, options).ok().map(|game| game.start())
}

fn circuit(position: &Interpreter, exact_embeddings: usize) -> Option<ScalarCircuit> {
    let limits = CircuitLimits {
        gates: 30_000,
        rows: 20_000,
        work: 200_000,
        values: 200,
        parts: 20_000,
        exact_embeddings,
        evaluation: Limits { steps: 300_000, cells: 1 << 18, parts: 20_000, ..Limits::default() },
        ..CircuitLimits::default()
    };
    match position.game().compile(&limits, Deadline::NEVER) {
        Ok(compiled) => Some(compiled.start()),
        Err(NoCircuit::UniverseChanges) => {
            assert!(!position.game().arena().keeps_universe(), "a universe that stays changes");
            None
        }
        Err(_) => None,
    }
}

fn check_findings(source: &Source, findings: &Diagnostics) {
    for finding in &findings.0 {
        let piece = source.text().get(finding.span.start()..finding.span.end());
        assert!(piece.is_some(), "a place outside of the text: {finding:?}");
    }
    render(&findings.0, source, false);
}
