//! What must be true of every text that is taken for a structure rewriting game, however broken.
//!
//! Included both by the fuzz targets and by `crates/agon-toss/tests/fuzz_smoke.rs`, which runs the same laws without a fuzzer. A law
//! panics where it is broken.
#![allow(dead_code)] // Each target uses one law.

use std::sync::Arc;

use agon_circuit::{Deadline, ScalarCircuit};
use agon_game::{Fault, Notation as _, Position as _, Rng, Role};
use agon_structures::evaluate::Limits;
use agon_text::{Diagnostics, Source, render};
use agon_toss::check::check;
use agon_toss::circuit::{CircuitLimits, NoCircuit};
use agon_toss::interpreter::{Game, Interpreter, Matching, Options};
use agon_toss::print::print_sheet;
use agon_toss::read::read as read_sheet;
use agon_toss::rewrite::Growth;
use rand::SeedableRng as _;

/// The reader does not panic; every place it names is in the text; what was read without errors is the same after printing.
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

/// There is a game just if there are no errors. It opens or is refused. In a random play of 20 steps under small limits there are legal
/// moves just until the end and moves can be read back; matches that are followed are those found anew; the circuit, with post-conditions
/// asked of the state and of the step, says the same as the interpreter.
pub(crate) fn play(text: &str) {
    let source = source(text);
    let checked = check(Arc::clone(&source));
    assert_eq!(checked.arena.is_none(), checked.findings.has_errors(), "a game just if no errors");
    check_findings(&source, &checked.findings);
    let Some(anew) = open(text, Matching::Anew) else { return };
    let Some(followed) = open(text, Matching::Followed) else {
        panic!("it opens one way and not the other")
    };
    let circuits: Vec<ScalarCircuit> = [usize::MAX, 0]
        .into_iter()
        .filter_map(|exact_matches| circuit(&anew, exact_matches))
        .collect();
    let mut rng = Rng::seed_from_u64(text.len() as u64);
    let (mut anew, mut followed, mut circuits) = (anew, followed, circuits);
    for _ in 0..20 {
        if matches!(anew.fault().or(followed.fault()), Some(Fault::Refused(_))) {
            return;
        }
        assert_eq!(followed.is_terminal(), anew.is_terminal(), "the end is followed");
        let roles: Vec<Role> = anew.shape().roles().collect();
        for &role in &roles {
            let moves = anew.legal_moves(role);
            assert_eq!(moves.is_empty(), anew.is_terminal(), "moves just until the end");
            assert_eq!(followed.legal_moves(role), moves, "matches are followed");
            let texts: Vec<String> = moves.iter().map(|m| anew.move_text(m)).collect();
            for (m, text) in moves.iter().zip(&texts) {
                assert_eq!(anew.parse_move(role, text).as_ref(), Some(m), "`{text}` is read back");
            }
            for circuit in &circuits {
                let own: Vec<String> =
                    circuit.legal_moves(role).iter().map(|m| circuit.move_text(m)).collect();
                assert_eq!(own, texts, "the circuit has the same moves");
                if anew.is_terminal() {
                    assert_eq!(
                        circuit.payoff(role),
                        anew.payoff(role),
                        "the circuit pays the same"
                    );
                }
            }
        }
        for circuit in &circuits {
            assert_eq!(circuit.state_text(), anew.state_text(), "the circuit has the same state");
            assert_eq!(circuit.is_terminal(), anew.is_terminal(), "the circuit ends alike");
        }
        if anew.is_terminal() {
            return;
        }
        let mut joint = Vec::new();
        anew.draw(&mut rng, &mut joint);
        let texts: Vec<String> = joint.iter().map(|m| anew.move_text(m)).collect();
        for circuit in &mut circuits {
            let own: Vec<_> = roles
                .iter()
                .zip(&texts)
                .map(|(&role, text)| circuit.parse_move(role, text).expect("it has the same moves"))
                .collect();
            circuit.advance(&own);
        }
        anew.advance(&joint);
        followed.advance(&joint);
    }
}

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("fuzz.toss", text))
}

fn open(text: &str, matching: Matching) -> Option<Interpreter> {
    let arena = check(source(text)).arena?;
    let options = Options {
        limits: Limits { steps: 300_000, cells: 1 << 18, parts: 20_000 },
        growth: Growth { elements: 200, tuples: 5000 },
        matching,
    };
    Game::open(arena, options).ok().map(|game| game.start())
}

fn circuit(position: &Interpreter, exact_matches: usize) -> Option<ScalarCircuit> {
    let limits = CircuitLimits {
        gates: 30_000,
        rows: 20_000,
        work: 200_000,
        values: 200,
        parts: 20_000,
        exact_matches,
        evaluation: Limits { steps: 300_000, cells: 1 << 18, parts: 20_000 },
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
