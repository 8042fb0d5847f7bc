//! Tests of the laws with correct and with faulty engines, and tests of tables.

mod continuous;
mod faulty;
mod games;
mod lockstep;

use rand::SeedableRng;

use crate::laws::{self, Law, Plan, Summary};
use crate::{
    Batch, Fault, Hidden, IllegalMove, Notation, PlayoutKind, PlayoutRequest, Position,
    PositionTable, Rng, Role, SequentialBatch, Table, playout_moves,
};
use faulty::{Defect, Faulty};
use games::{Engine, Gamble, Nim, Poker, Rochambeau, StuckNim};

#[track_caller]
fn passes<P: Hidden + 'static>(start: P) -> Summary {
    let plan = Plan { plays: 40, ..Plan::default() };
    // Without a defect the wrapper must keep all laws, or it would prove nothing.
    let sound = Faulty::new(start.clone(), Defect::None);
    laws::check_hidden(&sound, &plan).unwrap_or_else(|violation| panic!("{violation}"));
    let summary = laws::check(&start, &plan).unwrap_or_else(|violation| panic!("{violation}"));
    assert_eq!(summary, laws::check_hidden(&start, &plan).expect("percepts keep the law"));
    assert_eq!((summary.plays, summary.finished), (40, 40));
    summary
}

#[track_caller]
fn breaks<P: Hidden + 'static>(law: Law, defect: Defect, start: P) {
    for seed in 0..5 {
        let plan = Plan { seed, plays: 20, max_steps: 50 };
        match laws::check_hidden(&Faulty::new(start.clone(), defect), &plan) {
            Ok(summary) => panic!("{defect:?} was not found: {summary:?}"),
            Err(violation) => assert_eq!(violation.law, law, "{defect:?}, {violation}"),
        }
    }
}

#[test]
fn correct_engines_keep_all_laws() {
    // Ten sizes of the pile and two players to move, but at nine only First moves and at eight only
    // Second.
    let nim = passes(Engine::<Nim>::new());
    assert!(nim.positions <= 18 && nim.steps >= 3 * 40 && nim.faults == 0, "{nim:?}");
    let rochambeau = passes(Engine::<Rochambeau>::new());
    assert_eq!(rochambeau.steps, 5 * 40);
    assert_eq!(passes(Engine::<Gamble>::new()).steps, 4 * 40);
    let poker = passes(Engine::<Poker>::new());
    assert!(poker.positions > 6, "{poker:?}");
}

#[test]
fn a_fault_breaks_no_law() {
    let stuck = passes(Engine::<StuckNim>::new());
    assert!(0 < stuck.faults && stuck.faults < 40, "{stuck:?}");
}

#[test]
fn long_games_are_abandoned() {
    let plan = Plan { seed: 3, plays: 4, max_steps: 2 };
    let summary =
        laws::check(&Engine::<Rochambeau>::new(), &plan).expect("rochambeau keeps the laws");
    assert_eq!((summary.finished, summary.steps), (0, 8));
}

#[test]
fn law_1_moves() {
    breaks(Law::Moves, Defect::MovesAfterEnd, Engine::<Nim>::new());
    breaks(Law::Moves, Defect::NoMoveAfterTwoSteps, Engine::<Nim>::new());
    breaks(Law::Moves, Defect::FaultIsNotTerminal, Engine::<Rochambeau>::new());
}

#[test]
fn law_2_advance() {
    breaks(Law::Advance, Defect::AdvanceCountsCalls, Engine::<Nim>::new());
    breaks(Law::Advance, Defect::AdvanceDependsOnPath, Engine::<Nim>::new());
    breaks(Law::Advance, Defect::ClonesShareState, Engine::<Rochambeau>::new());
}

#[test]
fn law_3_return() {
    breaks(Law::Return, Defect::GoToKeepsOldMoves, Engine::<Nim>::new());
    breaks(Law::Return, Defect::GoToReversesMoves, Engine::<Rochambeau>::new());
    breaks(Law::Return, Defect::GoToChangesPayoff, Engine::<Gamble>::new());
}

#[test]
fn law_4_key() {
    breaks(Law::Key, Defect::KeyIsConstant, Engine::<Nim>::new());
    breaks(Law::Key, Defect::KeyDependsOnPath, Engine::<Nim>::new());
}

#[test]
fn law_5_chance() {
    breaks(Law::Chance, Defect::ChancesTooHigh, Engine::<Gamble>::new());
    breaks(Law::Chance, Defect::ChanceNegative, Engine::<Gamble>::new());
    breaks(Law::Chance, Defect::ChanceForEverything, Engine::<Gamble>::new());
}

#[test]
fn law_6_shape() {
    breaks(Law::Shape, Defect::PayoffTooHigh, Engine::<Gamble>::new());
    breaks(Law::Shape, Defect::PayoffNotANumber, Engine::<Gamble>::new());
    breaks(Law::Shape, Defect::ClaimsConstantSum, Engine::<Gamble>::new());
    breaks(Law::Shape, Defect::ClaimsTurnTaking, Engine::<Rochambeau>::new());
    breaks(Law::Shape, Defect::ShapeChanges, Engine::<Nim>::new());
}

#[test]
fn law_7_listing() {
    breaks(Law::Listing, Defect::MoveListedTwice, Engine::<Nim>::new());
    breaks(Law::Listing, Defect::EverythingIsLegal, Engine::<Nim>::new());
    breaks(Law::Listing, Defect::FirstMoveIsNotLegal, Engine::<Nim>::new());
}

#[test]
fn law_8_provided() {
    breaks(Law::Provided, Defect::ChoosersAreEmpty, Engine::<Nim>::new());
    breaks(Law::Provided, Defect::DrawKeepsTheBuffer, Engine::<Nim>::new());
    breaks(Law::Provided, Defect::DrawsIllegalMoves, Engine::<Nim>::new());
    breaks(Law::Provided, Defect::DrawIgnoresTheSeed, Engine::<Rochambeau>::new());
    breaks(Law::Provided, Defect::DrawsImpossibleMove, Engine::<Gamble>::new());
    breaks(Law::Provided, Defect::PlayOutStopsEarly, Engine::<Nim>::new());
    breaks(Law::Provided, Defect::PlayOutExceedsLimit, Engine::<Nim>::new());
    breaks(Law::Provided, Defect::PlayOutIgnoresTheSeed, Engine::<Rochambeau>::new());
}

#[test]
fn law_9_notation() {
    breaks(Law::Notation, Defect::RejectsCapitals, Engine::<Nim>::new());
    breaks(Law::Notation, Defect::RejectsSpaces, Engine::<Nim>::new());
    breaks(Law::Notation, Defect::AlwaysReadsFirstMove, Engine::<Nim>::new());
    breaks(Law::Notation, Defect::ReadsForeignMoves, Engine::<Nim>::new());
    breaks(Law::Notation, Defect::ReadsEmptyText, Engine::<Nim>::new());
    breaks(Law::Notation, Defect::StateUnsorted, Engine::<Nim>::new());
}

#[test]
fn law_10_percepts() {
    breaks(Law::Percepts, Defect::PerceptsUnsorted, Engine::<Poker>::new());
    breaks(Law::Percepts, Defect::PerceptsCountCalls, Engine::<Poker>::new());
    breaks(Law::Percepts, Defect::PerceptsDependOnPath, Engine::<Poker>::new());
    // `check` does not test percepts.
    let faulty = Faulty::new(Engine::<Poker>::new(), Defect::PerceptsCountCalls);
    assert!(laws::check(&faulty, &Plan::default()).is_ok());
}

#[test]
fn a_violation_says_where_and_is_found_again() {
    let faulty = Faulty::new(Engine::<Nim>::new(), Defect::NoMoveAfterTwoSteps);
    let plan = Plan { seed: 17, ..Plan::default() };
    let violation = laws::check(&faulty, &plan).expect_err("the engine is faulty");
    assert_eq!(
        violation.to_string(),
        "law 1 is broken at step 2 of play 0, seed 17: \
         First has no legal move, but play has not ended"
    );
    assert_eq!(laws::check(&faulty, &plan), Err(violation));
}

/// All answers of a table as one text.
fn answers(table: &dyn Table) -> String {
    let shape = table.shape();
    let legal: Vec<_> = shape.roles().map(|role| table.legal_moves(role)).collect();
    let payoffs: Vec<_> = shape.players().map(|player| table.payoff(player)).collect();
    let percepts: Vec<_> = shape.roles().map(|role| table.percepts(role)).collect();
    format!("{:?} {legal:?} {payoffs:?} {percepts:?} {}", table.state(), table.key())
}

#[track_caller]
fn refuses(table: &mut dyn Table, joint: &[&str], why: &str) -> IllegalMove {
    let before = answers(table);
    let error = table.advance(joint).expect_err("the move is illegal");
    assert_eq!(error.to_string(), why);
    assert_eq!(answers(table), before);
    error
}

fn open<P: Notation + 'static>(position: P) -> Box<dyn Table> {
    Box::new(PositionTable::open(position))
}

#[test]
fn a_table_plays_a_game() {
    let mut table = open(Engine::<Nim>::new());
    let [first, second] = [Role::new(0), Role::new(1)];
    assert_eq!(table.legal_moves(first), ["take 1", "take 2", "take 3"]);
    assert_eq!(table.legal_moves(second), ["wait"]);
    assert!(table.percepts(first).is_empty());
    table.advance(&["Take  3", " wait "]).expect("spacing and capitals do not matter");
    assert_eq!(table.percepts(first), ["take 3", "wait"]);
    assert_eq!(table.percepts(second), ["take 3", "wait"]);
    assert_eq!(table.state(), ["left 6", "mover 1"]);

    let fork = table.clone();
    table.advance(&["wait", "take 3"]).expect("a legal move");
    table.advance(&["take 3", "wait"]).expect("a legal move");
    assert!(table.is_terminal() && table.fault().is_none());
    assert_eq!((table.payoff(first), table.payoff(second)), (100.0, 0.0));
    assert_eq!(
        (fork.state(), fork.is_terminal()),
        (vec!["left 6".to_owned(), "mover 1".to_owned()], false)
    );
}

#[test]
fn an_illegal_move_changes_nothing() {
    let mut table = open(Engine::<Nim>::new());
    let error = refuses(
        &mut *table,
        &["take 4", "wait"],
        "`take 4` is not a legal move of First: legal here: `take 1`, `take 2`, `take 3`",
    );
    assert!(
        matches!(error, IllegalMove::NotLegal { role, n_legal: 3, .. } if role == Role::new(0))
    );
    table.advance(&["take 1", "wait"]).expect("a legal move");
    // The first move is legal, and still the position must not change.
    let why = "`pass` is not a legal move of Second: legal here: `take 1`, `take 2`, `take 3`";
    refuses(&mut *table, &["wait", "pass"], why);
    let why = "a joint move has one move for each role: expected 2 moves, got 1";
    refuses(&mut *table, &["wait"], why);
}

#[test]
fn a_long_list_of_legal_moves_is_cut() {
    let mut table = open(Engine::<Poker>::new());
    refuses(
        &mut *table,
        &["deal 1 1", "wait", "wait"],
        "`deal 1 1` is not a legal move of dealer: legal here: \
         `deal 1 2`, `deal 1 3`, `deal 2 1`, `deal 2 3`, \
         `deal 3 1` and 1 more",
    );
}

#[test]
fn no_move_is_legal_when_play_has_ended() {
    let mut table = open(Engine::<StuckNim>::new());
    for joint in [["take 2", "wait"], ["wait", "take 3"], ["take 3", "wait"]] {
        table.advance(&joint).expect("a legal move");
    }
    // A fault of the rules: they give no move for a pile of one.
    assert_eq!(table.fault(), Some(&Fault::NoLegalMove(Role::new(1))));
    refuses(&mut *table, &["wait", "take 1"], "the game cannot go on: role 2 has no legal move");

    let mut table = open(Engine::<Nim>::new());
    let mut rng = Rng::seed_from_u64(5);
    while !table.is_terminal() {
        let joint = table.draw(&mut rng);
        table
            .advance(&joint.iter().map(String::as_str).collect::<Vec<_>>())
            .expect("drawn moves are legal");
    }
    assert!(table.draw(&mut rng).is_empty());
    refuses(&mut *table, &["wait", "wait"], "the game has ended");
}

#[test]
fn an_illegal_move_where_none_is_legal() {
    // The message occurs only with an engine that breaks law 1.
    let mut table = open(Faulty::new(Engine::<Nim>::new(), Defect::NoMoveAfterTwoSteps));
    table.advance(&["take 1", "wait"]).expect("a legal move");
    table.advance(&["wait", "take 1"]).expect("a legal move");
    let error = table.advance(&["take 9", "wait"]).expect_err("no move is legal");
    assert_eq!(error.to_string(), "`take 9` is not a legal move of First: there are none");
}

#[test]
fn each_role_of_a_hidden_game_has_its_own_percepts() {
    let mut table: Box<dyn Table> = Box::new(PositionTable::hidden(Engine::<Poker>::new()));
    let [dealer, ann, bob] = [0, 1, 2].map(Role::new);
    table.advance(&["deal 3 1", "wait", "wait"]).expect("a legal deal");
    assert_eq!(table.percepts(ann), ["card 3"]);
    assert_eq!(table.percepts(bob), ["card 1"]);
    assert!(table.percepts(dealer).is_empty());
    table.advance(&["wait", "bet", "wait"]).expect("a legal bet");
    assert_eq!(table.percepts(bob), ["ann bet", "bob wait"]);
}

#[test]
fn tables_draw_as_positions_do() {
    let table = open(Engine::<Gamble>::new());
    let mut rng = Rng::seed_from_u64(1);
    let n_low = (0..1000).filter(|_| table.draw(&mut rng)[1] == "low").count();
    // 0.7 of 1000, and four standard deviations of 14.5 to either side.
    assert!((642..=758).contains(&n_low), "{n_low}");
}

#[test]
fn playouts_look_ahead() {
    let mut position = Engine::<Nim>::new();
    let moves = |position: &mut Engine<Nim>, kind| -> Vec<u8> {
        let joints = playout_moves(position, kind);
        joints.iter().map(|joint| joint[0].max(joint[1])).collect()
    };
    // From nine every move is safe. From six, taking three loses; from five, all but taking one;
    // from four, every move. From three, all are taken.
    assert_eq!(moves(&mut position, PlayoutKind::Careful), [1, 2, 3]);
    for (taken, left, careful) in [(3, 6, &[1, 2][..]), (1, 5, &[1]), (1, 4, &[1, 2, 3])] {
        let mover = usize::from(position.legal_moves(Role::new(0)).len() == 1);
        let mut joint = [0, 0];
        joint[mover] = taken;
        position.advance(&joint);
        assert_eq!(position.state_text()[0], format!("left {left}"));
        assert_eq!(moves(&mut position, PlayoutKind::Decisive), [1, 2, 3]);
        assert_eq!(moves(&mut position, PlayoutKind::Careful), careful);
    }
    position.advance(&[0, 1]);
    assert_eq!(moves(&mut position, PlayoutKind::Decisive), [3]);
    let mut batch = SequentialBatch::new(position.clone(), Rng::seed_from_u64(1));
    assert_eq!(batch.set_playouts(PlayoutKind::Decisive), PlayoutKind::Decisive);
    let request =
        PlayoutRequest { state: position.state().clone(), n_playouts: 50, expected_steps: 0 };
    let stats = batch.play_out(&[request], 100).remove(0);
    assert_eq!((stats.n_playouts, stats.n_steps), (50, 50));
    assert_eq!(stats.mean_payoff(Role::new(0)), 100.0);
}
