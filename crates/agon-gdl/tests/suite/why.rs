//! Explanations are correct: a sentence that is explained as true holds, its proof rests on the
//! state, the moves and the facts, and a sentence that is explained as false does not hold.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_game::{Notation as _, Position as _, Rng};
use agon_gdl::check::check;
use agon_gdl::interpreter::{Game, Interpreter, Options};
use agon_gdl::why::{Because, Explanation, Proof, Support, Unmet, Why, WhyError};
use agon_testkit::files;
use agon_text::Source;
use rand::SeedableRng as _;

fn open(name: &str) -> Arc<Game> {
    let source = files::source(&files::repository().join("games").join(name));
    let rules = check(source).rules.expect("shipped games have no errors");
    Game::open(rules, Options::default()).unwrap_or_else(|finding| panic!("{}", finding.message))
}

/// Asserts that every leaf of a proof is where the proof says it is.
fn rests_on(proof: &Proof, state: &BTreeSet<String>, shown: &mut BTreeSet<String>) {
    match &proof.because {
        Because::State => {
            assert!(state.contains(&proof.sentence), "{} is not in the state", proof.sentence);
        }
        Because::Move | Because::Fact(_) | Because::TooDeep => {}
        Because::ShownAbove => {
            assert!(shown.contains(&proof.sentence), "{} was not shown", proof.sentence);
        }
        Because::Rule(_, supports) => {
            assert!(!supports.is_empty(), "a rule has conditions");
            for support in supports {
                match support {
                    Support::Holds(inner) => rests_on(inner, state, shown),
                    Support::DoesNotHold(_) => {}
                    Support::Different(a, b) => assert_ne!(a, b),
                }
            }
            shown.insert(proof.sentence.clone());
        }
    }
}

fn check_position(position: &Interpreter) {
    let state: BTreeSet<String> =
        position.state_text().iter().map(|f| format!("(true {f})")).collect();
    let mut why = Why::new(position, None).expect("it can be asked");
    let terminal = matches!(why.explain("terminal"), Ok(Explanation::Holds { .. }));
    assert_eq!(terminal, position.is_terminal());
    // At terminal states the rules may still derive legal moves, but a position lists none.
    if terminal {
        return;
    }
    for role in position.shape().roles() {
        let name = &position.shape().role_names[role.index()];
        let legal: BTreeSet<String> =
            position.legal_moves(role).iter().map(|m| position.move_text(m)).collect();
        // The declared moves include legal and, mostly, illegal ones.
        for text in position
            .input_moves(role)
            .expect("it can be listed")
            .iter()
            .map(|m| position.move_text(m))
            .take(25)
        {
            match why.explain(&format!("(legal {name} {text})")).expect("it can be explained") {
                Explanation::Holds { proofs, n_ways } => {
                    assert!(legal.contains(&text), "{text} is explained as legal and is not");
                    assert_eq!(n_ways, 1);
                    rests_on(&proofs[0], &state, &mut BTreeSet::new());
                }
                Explanation::Fails(failure) => {
                    assert!(!legal.contains(&text), "{text} is explained as illegal and is legal");
                    assert!(
                        failure.remark.is_some() || !failure.attempts.is_empty(),
                        "there is a reason"
                    );
                }
            }
        }
    }
}

#[test]
fn explanations_agree_with_play() {
    for name in [
        "gdl/tic-tac-toe.kif",
        "gdl/hex.kif",
        "gdl/checkers.kif",
        "gdl/nim.kif",
        "gdl2/kuhn-poker.kif",
    ] {
        let game = open(name);
        let mut position = game.start();
        let mut rng = Rng::seed_from_u64(4);
        let mut joint = Vec::new();
        for _ in 0..8 {
            check_position(&position);
            if position.is_terminal() {
                break;
            }
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
        }
    }
}

#[test]
fn a_condition_that_fails_is_the_one_shown() {
    let game = open("gdl/tic-tac-toe.kif");
    let mut position = game.start();
    for (x, o) in [("(mark 1 1)", "noop"), ("noop", "(mark 2 2)")] {
        let roles: Vec<_> = position.shape().roles().collect();
        let joint = [position.parse_move(roles[0], x), position.parse_move(roles[1], o)];
        position.advance(&joint.map(|m| m.expect("it is legal")));
    }
    let mut why = Why::new(&position, None).expect("it can be asked");
    let Ok(Explanation::Fails(failure)) = why.explain("(legal xplayer (mark 1 1))") else {
        panic!("the cell is taken")
    };
    let [attempt] = failure.attempts.as_slice() else { panic!("one rule could give it") };
    assert_eq!(attempt.met, ["(true (control xplayer))"]);
    assert_eq!(attempt.unmet, "(true (cell 1 1 blank))");
    let Unmet::Fails(Some(inner)) = &attempt.because else {
        panic!("it is a condition that fails")
    };
    assert!(
        inner.remark.as_deref().is_some_and(|remark| remark.contains("(cell 1 1 x)")),
        "{inner:?}"
    );
}

#[test]
fn unanswerable_questions_are_errors() {
    let game = open("gdl/tic-tac-toe.kif");
    let position = game.start();
    let mut why = Why::new(&position, None).expect("it can be asked");
    assert_eq!(
        why.explain("(next (cell 1 1 x))").err(),
        Some(WhyError::NeedsMoves("next".to_owned()))
    );
    for text in ["", "(", "a b", "?x", "(not terminal)"] {
        assert!(matches!(why.explain(text), Err(WhyError::NotASentence(_))), "{text}");
    }
}

#[test]
fn a_proof_never_rests_on_itself() {
    let rules = "(role a) (init s) (legal a go) (goal a 50) (<= terminal (not (true s)))
(edge 1 2) (edge 2 3) (edge 3 1)
(<= (reach ?x ?y) (reach ?y ?x))
(<= (reach ?x ?z) (reach ?x ?y) (reach ?y ?z))
(<= (reach ?x ?y) (edge ?x ?y))";
    let rules =
        check(Arc::new(Source::new("loop.kif", rules))).rules.expect("the rules have no errors");
    let game = Game::open(rules, Options::default())
        .unwrap_or_else(|finding| panic!("{}", finding.message));
    let mut why = Why::new(&game.start(), None).expect("it can be asked");
    let Ok(Explanation::Holds { proofs, .. }) = why.explain("(reach 1 3)") else {
        panic!("it holds")
    };
    fn above(proof: &Proof, path: &mut Vec<String>) {
        assert!(!path.contains(&proof.sentence), "{} rests on itself", proof.sentence);
        if let Because::Rule(_, supports) = &proof.because {
            path.push(proof.sentence.clone());
            for support in supports {
                if let Support::Holds(inner) = support {
                    above(inner, path);
                }
            }
            path.pop();
        }
    }
    above(&proofs[0], &mut Vec::new());
}
