//! The lockstep comparison accepts equal engines and names the first difference of others.

use super::faulty::{Defect, Faulty};
use super::games::{Engine, Gamble, Nim, Poker, Rochambeau, StuckNim};
use crate::laws::Plan;
use crate::lockstep::{
    self, Agreement, Chances, Comparator, Difference, Draw, Faults, Mismatch, MoveOrder, Options,
    Payoffs, TextDifference,
};
use crate::{Hidden, Position as _, Role};

fn plan() -> Plan {
    Plan { seed: 4, plays: 30, max_steps: 50 }
}

fn strict<'o, A: Hidden, B: Hidden>() -> Options<'o, A, B> {
    Options { plan: plan(), ..Options::default() }.with_percepts()
}

#[track_caller]
fn agrees<A: Hidden + 'static>(start: A) -> Agreement {
    let sound = Faulty::new(start.clone(), Defect::None);
    let agreement = lockstep::compare(&start, &sound, &strict());
    let agreement = agreement.unwrap_or_else(|difference| panic!("{difference}"));
    assert_eq!((agreement.plays, agreement.ended), (30, 30));
    agreement
}

#[track_caller]
fn difference<A: Hidden + 'static>(start: A, defect: Defect) -> Difference {
    let faulty = Faulty::new(start.clone(), defect);
    lockstep::compare(&start, &faulty, &strict()).expect_err("the second engine is wrong")
}

#[test]
fn equal_engines_agree() {
    assert_eq!(agrees(Engine::<Rochambeau>::new()).steps(), 30 * 5);
    assert_eq!(agrees(Engine::<Gamble>::new()).states, 30 * 5);
    agrees(Engine::<Nim>::new());
    agrees(Engine::<Poker>::new());
    agrees(Engine::<StuckNim>::new());
}

#[test]
fn each_kind_of_difference_is_found() {
    let nim = Engine::<Nim>::new;
    let found = difference(nim(), Defect::NoMoveAfterTwoSteps);
    assert!(matches!(&found.mismatch, Mismatch::Moves { role, .. } if role == "First"));
    assert_eq!((found.play, found.moves.len()), (0, 2));

    let found = difference(nim(), Defect::MoveListedTwice);
    assert!(matches!(found.mismatch, Mismatch::Moves { difference, .. }
        if difference.missing.is_empty() && difference.extra.len() == 1));

    let found = difference(nim(), Defect::StateUnsorted);
    assert!(matches!(found.mismatch, Mismatch::State(_)));

    let found = difference(Engine::<Gamble>::new(), Defect::PayoffTooHigh);
    assert!(matches!(found.mismatch, Mismatch::Payoff { second, .. } if second == [100.5]));

    let found = difference(Engine::<Poker>::new(), Defect::PerceptsUnsorted);
    assert!(matches!(found.mismatch, Mismatch::Percepts { .. }));
}

#[test]
fn a_game_that_ends_early_differs() {
    let (nim, stuck) = (Engine::<Nim>::new(), Engine::<StuckNim>::new());
    let options = Options { plan: plan(), ..Options::default() };
    let found = lockstep::compare(&nim, &stuck, &options).expect_err("the moves differ");
    assert!(
        matches!(&found.mismatch, Mismatch::Moves { difference, .. }
        if difference.missing == ["take 1"]),
        "{found}"
    );
    let text = "different legal moves of First: missing take 1 (play 1, after 0 steps)";
    assert_eq!(found.to_string(), text);
}

#[test]
fn faults_are_compared_allowed_or_rejected() {
    let stuck = Engine::<StuckNim>::new();
    let with = |faults| Options { plan: plan(), faults, ..Options::default() };
    let agreement = lockstep::compare(&stuck, &stuck, &with(Faults::Compared));
    assert_eq!(agreement.expect("both have the same faults").ended, 30);
    let agreement = lockstep::compare(&stuck, &stuck, &with(Faults::FirstMayFail));
    let agreement = agreement.expect("games with a fault are abandoned");
    assert!(agreement.plays == 30 && agreement.ended < 30, "{agreement:?}");
    let found = lockstep::compare(&stuck, &stuck, &with(Faults::Rejected));
    let found = found.expect_err("some game ends in a fault");
    assert!(found.mismatch.is_fault(), "{found}");

    let start = Engine::<Rochambeau>::new();
    let faulty = Faulty::new(start.clone(), Defect::FaultIsNotTerminal);
    let options = Options { plan: plan(), faults: Faults::FirstMayFail, ..Options::default() };
    let found = lockstep::compare(&start, &faulty, &options).expect_err("the second has a fault");
    assert_eq!(found.to_string(), "fault of the second game: faulty (play 1, after 1 steps)");
}

#[test]
fn moves_are_paired_by_translated_texts() {
    let start = Engine::<Nim>::new();
    let dots = |_: Role, text: &str| text.replace(' ', ".");
    let to_dots = |_: Role, text: &str| Some(text.replace(' ', "."));
    let options = Options {
        plan: plan(),
        draw: Draw::Uniform,
        first_move: Some(&dots),
        second_move: Some(&to_dots),
        ..Options::default()
    };
    assert!(lockstep::compare(&start, &start, &options).is_ok());

    let no_threes = |_: Role, text: &str| (text != "take 3").then(|| text.to_owned());
    let options = Options { plan: plan(), second_move: Some(&no_threes), ..Options::default() };
    let found = lockstep::compare(&start, &start, &options).expect_err("a move is unknown");
    let text = "legal move take 3 of First in the second game has no original";
    assert!(found.to_string().starts_with(text), "{found}");
}

#[test]
fn the_order_of_moves_is_an_option() {
    let start = Engine::<Rochambeau>::new();
    let mut reversed = Faulty::new(start.clone(), Defect::GoToReversesMoves);
    let state = reversed.state().clone();
    reversed.go_to(&state);
    let options = Options { plan: plan(), ..Options::default() };
    let found = lockstep::compare(&start, &reversed, &options).expect_err("the order differs");
    assert_eq!(found.mismatch, Mismatch::MoveOrder { role: "left".to_owned(), index: 0 });
    let options = Options { move_order: MoveOrder::Any, ..options };
    assert!(lockstep::compare(&start, &reversed, &options).is_ok());
}

#[test]
fn chances_of_nature_are_an_option() {
    let start = Engine::<Gamble>::new();
    let faulty = Faulty::new(start.clone(), Defect::ChancesTooHigh);
    let options = Options { plan: plan(), ..Options::default() };
    assert!(lockstep::compare(&start, &faulty, &options).is_ok());
    let options = Options { chances: Chances::Compared, ..options };
    let found = lockstep::compare(&start, &faulty, &options).expect_err("the chances differ");
    assert!(matches!(&found.mismatch, Mismatch::Chance { text, .. } if text == "low"), "{found}");
}

#[test]
fn payoffs_are_read_by_the_given_functions() {
    let start = Engine::<Nim>::new();
    let unknown = |_: &Engine<Nim>, _: Role| None;
    let two = |position: &Engine<Nim>, role| Some(vec![position.payoff(role), 1.0]);
    let options = Options { plan: plan(), second_payoffs: Some(&two), ..Options::default() };
    let found = lockstep::compare(&start, &start, &options).expect_err("there are two values");
    let text = "payoff of First: 50 in the first game, [50.0, 1.0] in the second";
    assert!(found.to_string().starts_with(text), "{found}");
    let options = Options { payoffs: Payoffs::AtEnd, ..options };
    let found = lockstep::compare(&start, &start, &options).expect_err("there are two values");
    assert!(found.moves.len() >= 3, "{found}");
    let options = Options { first_payoffs: Some(&unknown), ..options };
    assert!(lockstep::compare(&start, &start, &options).is_ok());
}

#[test]
fn several_differences_are_collected_until_the_limit_or_the_stop() {
    let start = Engine::<Nim>::new();
    let faulty = Faulty::new(start.clone(), Defect::NoMoveAfterTwoSteps);
    let options = Options { plan: plan(), ..Options::default() };
    let comparison = lockstep::differences(&start, &faulty, &options, 3);
    let plays: Vec<usize> = comparison.differences.iter().map(|found| found.play).collect();
    assert_eq!((plays, comparison.agreement), (vec![0, 1, 2], Agreement::default()));

    let n_left = std::cell::Cell::new(12);
    let stop = || n_left.replace(n_left.get() - 1) == 0;
    let start = Engine::<Rochambeau>::new();
    let options = Options { plan: plan(), stop: Some(&stop), ..Options::default() };
    let comparison = lockstep::differences(&start, &start, &options, 1);
    // Each game has six positions, so the third one is not finished and does not count.
    assert_eq!(comparison.agreement, Agreement { plays: 2, states: 12, ended: 2 });
}

#[test]
fn a_caller_may_choose_the_moves() {
    let (mut a, mut b) = (Engine::<Nim>::new(), Engine::<Nim>::new());
    let options = Options::default();
    let mut comparator = Comparator::new(&a, &options);
    while !a.is_terminal() {
        comparator.compare_position(&a, &b).expect("both are the same");
        let joint: Vec<u8> = a.shape().roles().map(|role| a.legal_moves(role)[0]).collect();
        let partner = comparator.joint(&a, &b, &joint).expect("both are the same");
        assert_eq!(partner, joint);
        a.advance(&joint);
        b.advance(&partner);
    }
    assert!(b.is_terminal());
}

#[test]
fn text_differences_are_short() {
    let list = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (first, second) = (list(&["A", "b"]), list(&["b", "a"]));
    assert_eq!(TextDifference::between(&first, &second, str::to_lowercase), None);
    let found = TextDifference::between(&first, &second, str::to_owned).expect("case differs");
    assert_eq!(found.to_string(), "missing A; unexpected a");
    let many = list(&["1", "2", "3", "4", "5", "6"]);
    let found = TextDifference::between(&many, &[], str::to_owned).expect("all are missing");
    assert_eq!(found.to_string(), "missing 1 2 3 4 and 2 more");
}
