use agon_testkit::connect_four::{Board, Solver};

use super::*;
use crate::open::OpenOptions;

fn options(n_positions: usize, max_nodes: u64) -> TruthOptions {
    TruthOptions { n_positions, max_nodes, seed: 2 }
}

/// Exhaustive search by the engine and the bit boards agree on every move.
#[test]
fn exact_values_agree_with_the_solver_of_connect_four() {
    let game = Game::open("connect-four").expect("it ships");
    let positions = judged_positions(&game, &options(12, 3000)).expect("endings are solved");
    let mut solver = Solver::default();
    for judged in &positions {
        let mut board = Board::empty();
        for joint in &judged.history {
            let dropped = joint.iter().find_map(|text| column(text)).expect("somebody drops");
            board = board.drop(dropped);
        }
        let expected = solver.columns(board);
        assert_eq!(expected.len(), judged.moves.len());
        for (text, value) in &judged.moves {
            let column = column(text).expect("the mover drops");
            let (_, known) = expected.iter().find(|(other, _)| *other == column).expect("legal");
            assert_eq!(*value, 100.0 * f64::from(*known), "{text} after {:?}", judged.history);
        }
        assert!(judged.chance() < 1.0, "moves differ");
    }
}

/// Returns the column of a text like `(drop 4)`, from 0.
fn column(text: &str) -> Option<u32> {
    let number = text.strip_prefix("(drop ")?.strip_suffix(')')?;
    Some(number.parse::<u32>().ok()? - 1)
}

/// The first player loses breakthrough on 4x4, which is known.
#[test]
fn the_first_player_loses_small_breakthrough() {
    struct Solve;
    impl GameTask for Solve {
        type Output = f64;

        fn run<P: GamePosition + 'static>(self, start: P) -> f64 {
            let mut exact = Exact::new(&start).expect("two players take turns");
            let children = exact.children(start.state(), 2_000_000).expect("it is small");
            children.iter().map(|(_, value)| *value).fold(f64::MIN, f64::max)
        }
    }
    let options =
        OpenOptions { settings: [("size".to_owned(), 4)].into(), ..OpenOptions::default() };
    let game = Game::open_with("breakthrough", &options).expect("it ships");
    assert_eq!(game.run(Solve), -100.0);
}

#[test]
fn a_player_that_sees_the_end_is_always_right() {
    let game = Game::open("tic-tac-toe").expect("it ships");
    let positions = judged_positions(&game, &options(20, 20_000)).expect("it is solved");
    assert_eq!(positions.len(), 20);
    let all = player_truth(&game, "minimax(learn=0)", Thinking::Iterations(20_000), &positions);
    assert_eq!(all.expect("the player is made"), Share { n_right: 20, n: 20 });
    let some = player_truth(&game, "random", Thinking::Iterations(1), &positions);
    assert!(some.expect("the player is made").n_right < 20);
    assert!(positions.iter().all(|judged| !judged.is_best("(mark 9 9)")));
    let refused = player_truth(&game, "nobody", Thinking::Iterations(1), &positions);
    assert!(matches!(refused, Err(CannotJudge::Player(_))), "{refused:?}");
}

#[test]
fn games_of_other_kinds_are_refused() {
    for name in ["rock-paper-scissors", "eight-puzzle", "kuhn-poker", "three-way-tic-tac-toe"] {
        let game = Game::open(name).expect("it ships");
        let refused = judged_positions(&game, &options(1, 100));
        assert!(matches!(refused, Err(CannotJudge::Game)), "{name}: {refused:?}");
    }
}

#[test]
fn intervals_contain_the_share() {
    let [low, high] = Share { n_right: 8, n: 10 }.interval().expect("something was asked");
    // By hand: Wilson's interval of 8 of 10.
    assert!((low - 0.490).abs() < 0.001 && (high - 0.943).abs() < 0.001, "{low} {high}");
    assert_eq!(Share::default().interval(), None);
}
