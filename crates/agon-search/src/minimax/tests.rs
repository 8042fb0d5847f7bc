use agon_game::{Position, Role, Shape};

use super::*;
use crate::sample::{Kind, RandomGame, minimax, shipped};

fn full_search<P: Position + 'static>(
    position: &mut P,
    us: Role,
    options: MinimaxOptions,
) -> Report<P::Move> {
    Minimax::new(options, NoEvaluation).think(position, us, &Budget::nodes(10_000_000))
}

/// Options with a small table, because these tests make many searches.
fn small() -> MinimaxOptions {
    MinimaxOptions { table_entries: 1 << 12, ..MinimaxOptions::default() }
}

#[test]
fn agrees_with_plain_minimax_on_random_games() {
    for seed in 0..300 {
        let kind = Kind { n_labels: 1 + seed % 40, ..Kind::TURNS };
        let mut game = RandomGame::new(seed, kind);
        for us in [Role::new(0), Role::new(1)] {
            let expected = minimax(&mut game.clone(), us);
            for late_move_reductions in [false, true] {
                let options = MinimaxOptions { late_move_reductions, ..small() };
                let report = full_search(&mut game, us, options);
                assert_eq!(report.value, expected, "game {seed}, role {us:?}");
                assert!(game.is_legal(us, &report.best));
            }
        }
    }
}

/// Returns the payoff of a role that reveals its moves where both players choose at once.
fn maximin<P: Position>(position: &mut P, us: Role) -> f64 {
    if position.is_terminal() {
        return position.payoff(us);
    }
    let here = position.state().clone();
    let them = Role::new(1 - us.index());
    let mut best = f64::NEG_INFINITY;
    for own in position.legal_moves(us).to_vec() {
        let mut worst = f64::INFINITY;
        for reply in position.legal_moves(them).to_vec() {
            let joint =
                if us.index() == 0 { vec![own.clone(), reply] } else { vec![reply, own.clone()] };
            position.advance(&joint);
            worst = worst.min(maximin(position, us));
            position.go_to(&here);
        }
        best = best.max(worst);
    }
    best
}

#[test]
fn reveals_its_move_where_both_choose() {
    let mut n_joint = 0;
    for seed in 0..120 {
        let kind = Kind { simultaneous: true, n_steps: 5, n_labels: 1 + seed % 40, ..Kind::TURNS };
        let mut game = RandomGame::new(seed, kind);
        n_joint += u32::from(game.choosers().count() == 2);
        for us in [Role::new(0), Role::new(1)] {
            let expected = maximin(&mut game.clone(), us);
            for late_move_reductions in [false, true] {
                let options = MinimaxOptions { late_move_reductions, ..small() };
                let report = full_search(&mut game, us, options);
                assert_eq!(report.value, expected, "game {seed}, role {us:?}");
                assert!(!report.is_proven || expected == 100.0, "only wins are certain");
            }
        }
    }
    assert!(n_joint > 20, "both choose at the start of {n_joint} games");
}

#[test]
fn the_best_move_keeps_the_value() {
    for seed in 0..200 {
        let mut game = RandomGame::new(seed, Kind::TURNS);
        let Some(us) = game.choosers().next() else { continue };
        let report = full_search(&mut game, us, small());
        let joint: Vec<u8> = game
            .shape()
            .roles()
            .map(|role| if role == us { report.best } else { game.legal_moves(role)[0] })
            .collect();
        game.advance(&joint);
        assert_eq!(minimax(&mut game, us), report.value, "game {seed}");
    }
}

#[test]
fn a_small_table_changes_no_value() {
    for seed in 0..100 {
        let mut game = RandomGame::new(seed, Kind::TURNS);
        let options = MinimaxOptions { table_entries: 4, ..MinimaxOptions::default() };
        let expected = minimax(&mut game.clone(), Role::new(0));
        assert_eq!(full_search(&mut game, Role::new(0), options).value, expected, "game {seed}");
    }
}

#[test]
fn solves_small_shipped_games() {
    // Tic-tac-toe is a draw, connect three on its board and nim are won: see their headers.
    let mut game = shipped("tic-tac-toe");
    let report = full_search(&mut game, Role::new(0), MinimaxOptions::default());
    assert_eq!(report.value, 50.0);
    for name in ["connect-three", "nim"] {
        let mut game = shipped(name);
        let expected = crate::solve::Solver::new(crate::solve::SolveOptions::default())
            .solve(&game, &Budget::default())
            .unwrap_or_else(|_| panic!("{name} can be solved"));
        let report = full_search(&mut game, Role::new(0), MinimaxOptions::default());
        assert_eq!((report.value, report.is_proven), (expected.values[0], true), "{name}");
    }
}

#[test]
fn quick_wins_come_first_and_budgets_are_repeatable() {
    let mut game = shipped("breakthrough");
    let think = |game: &mut _| {
        let mut search = Minimax::new(MinimaxOptions::default(), NoEvaluation);
        search.think(game, Role::new(0), &Budget::nodes(50_000))
    };
    let (first, second) = (think(&mut game), think(&mut game));
    assert_eq!(Report { seconds: 0.0, ..first }, Report { seconds: 0.0, ..second });
}

#[test]
fn threads_share_a_table_and_find_the_same_value() {
    let mut game = shipped("connect-three");
    let options = MinimaxOptions { threads: 2, ..MinimaxOptions::default() };
    let mut search = Minimax::new(options, NoEvaluation);
    let report = search.think(&mut game, Role::new(0), &Budget::seconds(20.0));
    let alone = full_search(&mut game, Role::new(0), MinimaxOptions::default());
    assert_eq!((report.value, report.is_proven), (alone.value, true));
}

#[test]
fn scores_keep_their_order() {
    let shape = Shape::new(vec!["a".to_owned(), "b".to_owned()], None);
    let payoffs = Payoffs::new(&shape);
    let ends = [[0.0, 100.0], [25.0, 75.0], [50.0, 50.0], [90.0, 10.0], [100.0, 0.0]];
    let scores = ends.map(|end| payoffs.score(&end));
    assert!(scores.is_sorted());
    for (end, score) in ends.iter().zip(scores) {
        assert_eq!(payoffs.payoff_of(score), end[0]);
        assert_eq!(payoffs.score(&[end[1], end[0]]), -score);
    }
    let win = scores[4];
    assert!(win.one_step_before() < win && win.one_step_before().is_win());
    assert_eq!(win.one_step_before().one_step_after(), win);
    assert!(Score::estimate(1.0) < win.one_step_before());
    assert!(Score::estimate(-1.0) > -win);
}

#[test]
fn entries_are_found_again_until_they_are_replaced() {
    let table = Table::new(1 << 10);
    let entry = |n: u64| table::Entry {
        score: Score::estimate(n as f32 / 500.0 - 1.0),
        bound: table::Bound::AtLeast,
        depth: (n % 30) as u8,
        best: n as u16,
    };
    let key = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for n in 0..200 {
        table.put(key(n), entry(n));
    }
    let n_found = (0..200).filter(|&n| table.get(key(n)) == Some(entry(n))).count();
    assert!(n_found > 150, "{n_found}");
    assert!((200..1000).all(|n| table.get(key(n)).is_none()));
}

/// Makes moves of the roles that choose, written one after another. Other roles wait.
fn play<P: agon_game::Notation>(position: &mut P, moves: &str) {
    for text in moves.replace(") (", ")|(").split('|') {
        let joint: Vec<_> = position
            .shape()
            .roles()
            .map(|role| {
                let waiting = position.legal_moves(role)[0].clone();
                position.parse_move(role, text).unwrap_or(waiting)
            })
            .collect();
        position.advance(&joint);
    }
}

/// Won positions are proved within the number of positions that the file gives.
#[test]
fn won_positions_are_proved() {
    let path = agon_testkit::files::repository().join("tests/positions/won.txt");
    let text = std::fs::read_to_string(path).expect("the file is readable");
    let mut n_proved = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(" | ").collect();
        let [name, role, value, n_nodes, moves] = fields[..] else { panic!("{line}") };
        let mut position = shipped(name);
        play(&mut position, moves);
        let number = |text: &str| text.parse::<u64>().expect("the field is a number");
        let us = Role::new(number(role) as usize);
        let options = MinimaxOptions { table_entries: 1 << 18, ..MinimaxOptions::default() };
        let report = Minimax::new(options, NoEvaluation).think(
            &mut position,
            us,
            &Budget::nodes(number(n_nodes)),
        );
        assert!(report.is_proven, "{line}: {} positions", report.nodes);
        assert_eq!(report.value, number(value) as f64, "{line}");
        n_proved += 1;
    }
    assert!(n_proved >= 20, "the file has {n_proved} positions");
}

/// What minimax search proves of connect four agrees with another solver.
#[test]
fn connect_four_has_its_perfect_values() {
    use agon_game::Rng;
    use agon_testkit::connect_four::{Board, Solver};
    use rand::{RngExt as _, SeedableRng as _};
    /// The first player is to move. With fewer stones hardly any position is proved.
    const N_STONES: u32 = 28;
    let start = shipped("connect-four");
    let mut solver = Solver::default();
    let mut n_proved = std::collections::BTreeMap::<i8, u32>::new();
    for seed in 0..100 {
        let mut rng = Rng::seed_from_u64(seed);
        let (mut position, mut board) = (start.clone(), Board::empty());
        while board.n_stones() < N_STONES {
            // Nobody leaves the other player a win in one move.
            let is_quiet = |&column: &u32| {
                let after = board.drop(column);
                !board.wins(column) && !after.columns().any(|reply| after.wins(reply))
            };
            let columns: Vec<u32> = board.columns().filter(is_quiet).collect();
            if columns.is_empty() {
                break;
            }
            let column = columns[rng.random_range(0..columns.len())];
            play(&mut position, &format!("(drop {})", column + 1));
            board = board.drop(column);
        }
        if board.n_stones() < N_STONES {
            continue;
        }
        let us = Role::new(0);
        let options = MinimaxOptions { table_entries: 1 << 18, ..MinimaxOptions::default() };
        let budget = Budget::nodes(1_000_000);
        let report = Minimax::new(options, NoEvaluation).think(&mut position, us, &budget);
        if report.is_proven {
            let expected = solver.value(board);
            assert_eq!(report.value, 50.0 + 50.0 * f64::from(expected), "seed {seed}");
            *n_proved.entry(expected).or_default() += 1;
        }
    }
    let n_all: u32 = n_proved.values().sum();
    assert!(n_all >= 10 && n_proved.len() >= 2, "{n_proved:?}");
}
