//! The solver agrees with plain minimax and with known values of shipped games, and refuses other
//! games with a reason.

use agon_game::{Position, Rng, Role};
use proptest::prelude::*;
use rand::SeedableRng as _;

use super::matrix::matrix_game;
use super::*;
use crate::sample::{Kind, RandomGame, max_n, minimax, shipped};

fn options() -> SolveOptions {
    SolveOptions { bytes: 64 << 20, ..SolveOptions::default() }
}

#[track_caller]
fn solved<P: Position>(start: &P) -> Solution<P::Move> {
    let solution = solve(start, &Budget::nodes(5_000_000), &options());
    solution.unwrap_or_else(|unsolved| panic!("{unsolved:?}"))
}

/// Plays a line and returns the payoffs.
#[track_caller]
fn played<P: Position>(start: &P, line: &Line<P::Move>) -> Vec<f64> {
    let mut position = start.clone();
    for joint in &line.joints {
        for role in position.shape().roles() {
            assert!(position.is_legal(role, &joint[role.index()]), "{joint:?}");
        }
        position.advance(joint);
    }
    assert!(position.is_terminal(), "a line leads to the end");
    position.shape().players().map(|player| position.payoff(player)).collect()
}

/// Solves a game of two players by both methods.
fn both_ways(game: &RandomGame) -> (Solution<u8>, Solution<u8>) {
    let budget = Budget::nodes(1_000_000);
    let mut meter = budget.start();
    let players = [Role::new(0), Role::new(1)];
    let mut bounds = vec![(0.0, 100.0); 2];
    let mut prover = Prover::new(2, 1 << 19, None);
    let proved =
        thresholds::solve(game, players, &mut prover, &mut meter, &mut bounds).expect("small");
    let listed =
        values::value_all(game, &mut meter, 64 << 20, &mut bounds, &mut |_| ()).expect("small");
    let valued = listed.solution(game, &meter).expect("the start is among all positions");
    (proved, valued)
}

proptest! {
    #![proptest_config(crate::sample::seeded(256))]

    #[test]
    fn two_players_that_take_turns(seed: u64, n_labels in 3_u64..60) {
        let mut game = RandomGame::new(seed, Kind { n_labels, ..Kind::TURNS });
        let expected = minimax(&mut game, Role::new(0));
        let (proved, valued) = both_ways(&game);
        prop_assert_eq!(&proved.values, &vec![expected, 100.0 - expected]);
        prop_assert_eq!(&valued.values, &proved.values);
        prop_assert_eq!(played(&game, &proved.line), vec![expected, 100.0 - expected]);
        prop_assert_eq!(played(&game, &valued.line), vec![expected, 100.0 - expected]);
    }

    /// Results for earlier positions are right for later ones, whatever moves are played.
    #[test]
    fn a_solver_keeps_its_results(seed: u64, n_labels in 3_u64..60, lists: bool, plays: u64) {
        let game = RandomGame::new(seed, Kind { n_labels, ..Kind::TURNS });
        let mut solver = Solver::new(SolveOptions::default());
        if lists {
            let budget = Budget::default();
            let mut bounds = [(0.0, 100.0); 2];
            let mut meter = budget.start();
            let listed =
                values::value_all(&game, &mut meter, 64 << 20, &mut bounds, &mut |_| ());
            solver.valued = Some(listed.expect("small"));
        }
        let mut rng = Rng::seed_from_u64(plays);
        let mut position = game.clone();
        while !position.is_terminal() {
            let expected = minimax(&mut position.clone(), Role::new(0));
            let solution = solver.solve(&position, &Budget::nodes(1_000_000)).expect("small");
            prop_assert_eq!(&solution.values, &vec![expected, 100.0 - expected]);
            prop_assert_eq!(played(&position, &solution.line), vec![expected, 100.0 - expected]);
            position.play_out(&mut rng, 1);
        }
    }

    #[test]
    fn one_player(seed: u64) {
        let kind = Kind { n_players: 1, constant_sum: false, ..Kind::TURNS };
        let mut game = RandomGame::new(seed, kind);
        let expected = minimax(&mut game, Role::new(0));
        let solution = solved(&game);
        prop_assert_eq!(&solution.values, &vec![expected]);
        prop_assert_eq!(played(&game, &solution.line), vec![expected]);
    }

    #[test]
    fn chance(seed: u64, n_players in 1_usize..=2) {
        let kind = Kind { n_players, constant_sum: n_players == 2, ..Kind::TURNS };
        let kind = Kind { chance: true, n_steps: 4, ..kind };
        let mut game = RandomGame::new(seed, kind);
        let expected = minimax(&mut game, Role::new(0));
        let solution = solved(&game);
        let value = solution.values[0];
        prop_assert!((value - expected).abs() < 1e-9, "{value} {expected}");
        played(&game, &solution.line);
    }

    #[test]
    fn three_players(seed: u64) {
        let kind = Kind { n_players: 3, constant_sum: false, ..Kind::TURNS };
        let mut game = RandomGame::new(seed, kind);
        let expected = max_n(&mut game);
        let solution = solved(&game);
        prop_assert_eq!(&solution.values, &expected);
        prop_assert_eq!(played(&game, &solution.line), expected);
    }

    /// In a game that may go on forever, solutions hold whatever endless play is worth.
    #[test]
    fn positions_that_repeat(seed: u64) {
        let kind = Kind { cyclic: true, n_labels: 12, ..Kind::TURNS };
        let game = RandomGame::new(seed, kind);
        // The oracle: minimax with a limited depth, where the cut pays the least or the highest
        // payoff.
        let [low, high] = [0.0, 100.0].map(|cut| cut_minimax(&mut game.clone(), 9, cut));
        match solve(&game, &Budget::nodes(100_000), &options()) {
            Ok(solution) => {
                prop_assert!(low <= solution.values[0] && solution.values[0] <= high);
                prop_assert_eq!(played(&game, &solution.line)[0], solution.values[0]);
            }
            Err(Unsolved { reason, bounds, .. }) => {
                prop_assert_eq!(reason, UnsolvedReason::Endless);
                let (least, most) = bounds[0];
                prop_assert!(least < most && low <= least && most <= high);
            }
        }
    }

    /// In a matrix game no side can improve against the strategy of the other.
    #[test]
    fn matrix_games(n_rows in 1_usize..6, n_columns in 1_usize..6, seed: u64) {
        let cell = |i: usize| (crate::hash::fold(seed, i as u64) % 7) as f64 * 10.0;
        let payoffs: Vec<f64> = (0..n_rows * n_columns).map(cell).collect();
        let solution = matrix_game(&payoffs, n_columns);
        prop_assert!((solution.rows.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        prop_assert!((solution.columns.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        for column in 0..n_columns {
            let gets: f64 = (0..n_rows)
                .map(|row| solution.rows[row] * payoffs[row * n_columns + column])
                .sum();
            prop_assert!(gets >= solution.value - 1e-6, "{payoffs:?} {solution:?}");
        }
        for row in 0..n_rows {
            let gives: f64 =
                (0..n_columns)
                    .map(|column| solution.columns[column] * payoffs[row * n_columns + column])
                    .sum();
            prop_assert!(gives <= solution.value + 1e-6, "{payoffs:?} {solution:?}");
        }
    }
}

fn cut_minimax(game: &mut RandomGame, depth: u32, cut: f64) -> f64 {
    if game.is_terminal() {
        return game.payoff(Role::new(0));
    }
    if depth == 0 {
        return cut;
    }
    let here = *game.state();
    let chooser = game.choosers().next().unwrap_or(Role::new(0));
    let mut values = Vec::new();
    for joint in agon_game::joint_moves(game) {
        game.advance(&joint);
        values.push(cut_minimax(game, depth - 1, cut));
        game.go_to(&here);
    }
    let pick = if chooser == Role::new(0) { f64::max } else { f64::min };
    values.into_iter().reduce(pick).expect("there are moves")
}

#[test]
fn known_values_of_shipped_games() {
    let known: [(&str, &[f64], Method); 6] = [
        ("tic-tac-toe", &[50.0, 50.0], Method::ProofNumbers),
        ("nim", &[0.0, 100.0], Method::ProofNumbers),
        ("connect-three", &[100.0, 0.0], Method::ProofNumbers),
        ("hanoi", &[100.0], Method::BreadthFirst),
        ("matching-pennies", &[50.0, 50.0], Method::Retrograde),
        ("rock-paper-scissors", &[50.0, 50.0], Method::Retrograde),
    ];
    for (name, values, method) in known {
        let start = shipped(name);
        let solution = solved(&start);
        for (value, known) in solution.values.iter().zip(values) {
            assert!((value - known).abs() < 1e-6, "{name}: {:?}", solution.values);
        }
        assert_eq!(solution.method, method, "{name}");
        if method != Method::Retrograde {
            assert_eq!(played(&start, &solution.line), values, "{name}");
        }
    }
}

/// In sheep and wolf the numbers of moves, which guide proof numbers, say nothing about who wins.
#[test]
fn tree_search_solves_what_proof_numbers_do_not() {
    let start = shipped("sheep-and-wolf");
    let solve_with = |tree_search: bool| {
        solve(&start, &Budget::nodes(3_000_000), &SolveOptions { tree_search, ..options() })
    };
    let solution = solve_with(true).expect("the tree search proves it");
    assert_eq!((solution.method, &solution.values), (Method::TreeSearch, &vec![0.0, 100.0]));
    assert_eq!(played(&start, &solution.line), [0.0, 100.0]);
    let chosen: Vec<f64> = solution.strategies[0].iter().map(|(_, part)| *part).collect();
    assert_eq!(chosen.iter().sum::<f64>(), 1.0);
    assert_eq!(solve_with(false).expect_err("it is too large").reason, UnsolvedReason::Budget);
}

/// Tree search has the same values as enumeration in games that take turns.
#[test]
fn tree_search_agrees_with_enumeration() {
    for name in ["tic-tac-toe", "nim", "connect-three"] {
        let start = shipped(name);
        let budget = Budget::nodes(2_000_000);
        let mut tree = TreeProver::new(64 << 20);
        assert!(TreeProver::suits(&start));
        let players = [Role::new(0), Role::new(1)];
        let found = tree.solve(&start, players, &budget, &mut budget.start());
        let found = found.unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(found.values, solved(&start).values, "{name}");
        assert_eq!(played(&start, &found.line), found.values, "{name}");
    }
}

#[test]
fn mixtures_at_the_start() {
    for name in ["matching-pennies", "rock-paper-scissors"] {
        let solution = solved(&shipped(name));
        for strategy in &solution.strategies {
            for (_, probability) in strategy {
                assert!(
                    (probability - 1.0 / strategy.len() as f64).abs() < 1e-9,
                    "{name}: {strategy:?}"
                );
            }
        }
    }
}

/// Puzzles have the optimal lengths that other programs have found (see their headers), within a
/// number of positions.
#[test]
fn the_shortest_solutions_of_puzzles() {
    let puzzles = [
        ("hanoi", 31, 20_000),
        ("missionaries", 11, 20_000),
        ("rush-hour", 12, 200_000),
        ("sokoban", 53, 1_500_000),
    ];
    for (name, length, n_nodes) in puzzles {
        let start = shipped(name);
        let solution = solve(&start, &Budget::nodes(n_nodes), &options());
        let solution = solution.unwrap_or_else(|unsolved| panic!("{name}: {unsolved:?}"));
        assert_eq!(solution.values, [100.0], "{name}");
        assert_eq!(solution.line.joints.len(), length, "{name}: {} positions", solution.nodes);
        assert_eq!(played(&start, &solution.line), [100.0], "{name}");
    }
}

#[test]
fn refusals_say_why() {
    let refuse = |name: &str, nodes: u64| {
        solve(&shipped(name), &Budget::nodes(nodes), &options()).expect_err("it cannot be solved")
    };
    assert_eq!(refuse("kuhn-poker", 1000).reason, UnsolvedReason::Hidden);
    assert_eq!(refuse("connect-four", 20_000).reason, UnsolvedReason::Budget);
    assert_eq!(refuse("connect-four", 20_000).bounds, [(0.0, 100.0); 2]);
    let dilemma = refuse("prisoners-dilemma", 1_000_000);
    assert_eq!(dilemma.reason, UnsolvedReason::Simultaneous);
    assert!(
        dilemma.bounds.iter().all(|bounds| bounds.0 > 0.0),
        "always defecting pays: {dilemma:?}"
    );
    let narrow = SolveOptions { bytes: 100_000, ..options() };
    let full = solve(&shipped("bidding-tic-tac-toe"), &Budget::default(), &narrow);
    assert_eq!(full.expect_err("it does not fit").reason, UnsolvedReason::Memory);
}

#[test]
fn chance_in_a_race_of_dice() {
    let open = SolveOptions { hidden: HiddenGames::AsIfOpen, bytes: 256 << 20, ..options() };
    let solution =
        solve(&shipped("dice-race"), &Budget::nodes(3_000_000), &open).expect("it is small");
    // Facts in the rulesheet, computed by another program.
    assert!((solution.values[0] - 54.28).abs() < 0.01, "{:?}", solution.values);
}

/// Returns the numbering of a shipped game in which every fact and role has its own number.
fn own_places<P: agon_game::Notation>(start: &P) -> FactPlaces {
    let facts: Vec<u32> = (0..start.feature_texts().len() as u32).collect();
    let roles: Vec<u32> = (0..start.shape().role_names.len() as u32).collect();
    FactPlaces::new(start, &facts, &roles).expect("a circuit keeps states as bits")
}

#[test]
fn endgame_tables_have_the_values_of_all_positions() {
    let start = shipped("tic-tac-toe");
    let (solution, table) =
        solve_with_table(&start, &Budget::default(), &options(), own_places(&start))
            .expect("it is small");
    let table = table.expect("positions do not repeat");
    assert_eq!(solution.values, [50.0, 50.0]);
    assert_eq!(
        table.payoffs::<agon_circuit::ScalarCircuit>(start.state()),
        Some(&[50.0, 50.0][..])
    );
    let bytes = table.to_bytes(7);
    let read = Endgames::from_bytes(&bytes, 7, own_places(&start)).expect("it was just written");
    assert_eq!(read, table);
    // Every position of some random plays has the value that another method finds.
    let mut rng = Rng::seed_from_u64(1);
    let mut n_checked = 0;
    for _ in 0..10 {
        let mut position = start.clone();
        while !position.is_terminal() {
            let expected = minimax(&mut position.clone(), Role::new(0));
            let found = read.payoffs::<agon_circuit::ScalarCircuit>(position.state());
            assert_eq!(found.map(|payoffs| payoffs[0]), Some(expected));
            position.play_out(&mut rng, 1);
            n_checked += 1;
        }
    }
    assert!(n_checked > 50);
}

/// With a table of the positions after the first moves, the whole game is proved at once.
#[test]
fn solvers_look_positions_up() {
    let start = shipped("connect-three");
    let (_, table) = solve_with_table(&start, &Budget::default(), &options(), own_places(&start))
        .expect("it is small");
    let table = std::sync::Arc::new(table.expect("positions do not repeat"));
    let alone = solve(&start, &Budget::default(), &options()).expect("it is small");
    let mut solver = Solver::new(options()).with_endgames(Some(table));
    let found = solver.solve(&start, &Budget::nodes(5_000)).expect("all replies are known");
    assert_eq!(found.values, alone.values);
    assert_eq!(played(&start, &found.line), found.values);
    assert!(found.nodes * 2 < alone.nodes, "{} and {}", found.nodes, alone.nodes);
}

#[test]
fn damaged_endgame_tables_are_refused() {
    let start = shipped("nim");
    let (_, table) = solve_with_table(&start, &Budget::default(), &options(), own_places(&start))
        .expect("it is small");
    let bytes = table.expect("positions do not repeat").to_bytes(7);
    let read = |bytes: &[u8]| Endgames::from_bytes(bytes, 7, own_places(&start));
    assert!(read(&bytes).is_ok());
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).is_err(), "{end} bytes");
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 200 + 1) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        assert!(read(&damaged).is_err(), "byte {at}");
    }
    assert_eq!(
        Endgames::from_bytes(&bytes, 8, own_places(&start)).expect_err("another key"),
        EndgamesError::OtherGame
    );
    let other = shipped("tic-tac-toe");
    assert_eq!(
        Endgames::from_bytes(&bytes, 7, own_places(&other)).expect_err("another game"),
        EndgamesError::OtherGame
    );
}

/// A table of a game whose positions repeat would not say how to make progress.
#[test]
fn games_that_repeat_have_no_table() {
    let start = shipped("hanoi");
    let (_, table) = solve_with_table(&start, &Budget::default(), &options(), own_places(&start))
        .expect("it is small");
    assert!(table.is_none());
}

/// One position may have more moves than the whole budget.
#[test]
fn a_puzzle_with_many_moves_keeps_to_its_budget() {
    let start = shipped("eight-queens");
    let budget = Budget::nodes(3);
    let unsolved = solve(&start, &budget, &options()).expect_err("three positions are too few");
    assert_eq!(unsolved.reason, UnsolvedReason::Budget);
    assert!(unsolved.nodes <= 4, "{} positions", unsolved.nodes);
}
