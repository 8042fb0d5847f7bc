//! The search on games with known answers.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use agon_game::{Continuous as _, Position as _, Role};

use super::super::*;
use super::games::{Chase, Move, Noisy, NoisyParrilo, OneShot, Pursuit, Steps, Toy, Travellers};

/// Searches once with the default options.
fn think(game: &mut Toy, us: usize, seed: u64, n: u64) -> Report<Move> {
    think_with(game, us, seed, &Budget::iterations(n), ContinuousOptions::default())
}

fn think_with(
    game: &mut Toy,
    us: usize,
    seed: u64,
    budget: &Budget,
    options: ContinuousOptions,
) -> Report<Move> {
    let mut search = ContinuousSearch::new(options, NoEvaluationGame, seed);
    let report = search.think(game, Role::new(us), budget);
    check_report(game, &report);
    report
}

/// Asserts what every report promises.
fn check_report(game: &Toy, report: &Report<Move>) {
    assert!(game.is_legal(report.us, &report.best));
    assert_eq!(report.candidates[0].m, report.best);
    for candidate in &report.candidates {
        let (family, values) = game.coordinates(report.us, &candidate.m).expect("a legal move");
        assert_eq!(game.member(report.us, family, &values).as_ref(), Some(&candidate.m));
        assert!(game.shape().payoffs.contains(&candidate.value), "{}", candidate.value);
    }
    let total: f64 = report.candidates.iter().map(|candidate| candidate.probability).sum();
    assert!((total - 1.0).abs() < 1e-9, "{total}");
    for line in &report.lines {
        let mut along = game.clone();
        for joint in &line.joints {
            assert!(!along.is_terminal());
            along.advance(joint);
        }
    }
}

type Mixed = Vec<(f64, f64)>;

/// Returns the values and probabilities of a report on a game with one parameter.
fn strategy(report: &Report<Move>) -> Mixed {
    let mixed = report.candidates.iter().filter(|candidate| candidate.probability > 0.0);
    mixed.map(|candidate| (candidate.m.value(0), candidate.probability)).collect()
}

/// Returns how much the players of a game of one step can gain, by a fine grid.
fn exploitability(rules: &OneShot, row: &Mixed, column: &Mixed) -> f64 {
    const N: usize = 4000;
    let (low, high) = rules.interval;
    let grid = || (0..=N).map(move |i| low + (high - low) * i as f64 / N as f64);
    let against = |x: f64| column.iter().map(|&(y, weight)| weight * (rules.payoff)(x, y)).sum();
    let by = |y: f64| row.iter().map(|&(x, weight)| weight * (rules.payoff)(x, y)).sum();
    let best: f64 = grid().map(against).fold(f64::NEG_INFINITY, f64::max);
    let worst: f64 = grid().map(by).fold(f64::INFINITY, f64::min);
    best - worst
}

fn parrilo() -> OneShot {
    OneShot {
        interval: (-1.0, 1.0),
        payoff: |x, y| 5.0 * x * y - 2.0 * x * x - 2.0 * x * y * y - y,
    }
}

/// Solves a game of one step for both players. Returns the value for the row player, the
/// exploitability, and the largest number of payoffs that one search evaluated.
fn solve_one_shot(rules: fn() -> OneShot, seed: u64, n: u64) -> (f64, f64, u64) {
    let mut n_steps = 0;
    let mut report = |us: usize| {
        let mut game = Toy::new(rules(), &[0.0, 0.0]);
        let report = think(&mut game, us, seed, n);
        n_steps = n_steps.max(game.n_steps.load(Ordering::Relaxed));
        report
    };
    let (row, column) = (report(0), report(1));
    (row.value, exploitability(&rules(), &strategy(&row), &strategy(&column)), n_steps)
}

#[test]
fn parrilos_game_is_solved_by_few_evaluations() {
    for seed in 0..10 {
        let (value, gain, n_steps) = solve_one_shot(parrilo, seed, 990);
        println!("Parrilo's game: value {value:.5}, exploitability {gain:.5}, {n_steps} payoffs");
        assert!(n_steps <= 1000, "{n_steps}");
        assert!(gain <= 0.02, "{gain}");
        assert!((value + 0.48).abs() <= 0.01, "{value}");
    }
}

#[test]
fn distance_games_have_their_values() {
    let absolute = || OneShot { interval: (0.0, 1.0), payoff: |x, y| (x - y).abs() };
    let square = || OneShot { interval: (0.0, 1.0), payoff: |x, y| (x - y) * (x - y) };
    for seed in 0..5 {
        for (rules, expected) in [(absolute as fn() -> OneShot, 0.5), (square, 0.25)] {
            let (value, gain, n_steps) = solve_one_shot(rules, seed, 1000);
            println!("value {expected}: {value:.5}, exploitability {gain:.5}, {n_steps} payoffs");
            assert!(n_steps <= 1001, "{n_steps}");
            assert!((value - expected).abs() < 0.005, "{value}");
            assert!(gain < 0.01, "{gain}");
        }
    }
}

#[test]
fn travellers_name_97() {
    let mut game = Toy::new(Travellers, &[0.0]);
    for method in [Method::Auto, Method::Basic] {
        let options = ContinuousOptions { method, ..ContinuousOptions::default() };
        let mut search = ContinuousSearch::new(options, CurrentPayoffs, 3);
        let report = search.think(&mut game, Role::new(1), &Budget::iterations(20_000));
        assert_eq!(report.best.family + 2, 97, "{method:?}");
    }
    // The tree of the paper knows all payoffs after the first iteration, because play ends there.
    let options = ContinuousOptions { method: Method::Uct, ..ContinuousOptions::default() };
    let report = think_with(&mut game, 0, 1, &Budget::iterations(20), options);
    assert_eq!(report.best.family + 2, 97);
}

#[test]
fn a_single_player_finds_the_optimum_of_several_steps() {
    for seed in 0..5 {
        let mut game = Toy::new(Steps, &[0.0, 0.0, 0.0]);
        let mut search =
            ContinuousSearch::new(ContinuousOptions::default(), NoEvaluationGame, seed);
        while !game.is_terminal() {
            let report = search.think(&mut game, Role::new(0), &Budget::iterations(1000));
            check_report(&game, &report);
            game.advance(&[report.best]);
        }
        let payoff = game.payoff(Role::new(0));
        assert!(payoff > 99.9, "{payoff}");
    }
}

#[test]
fn widening_finds_good_parameters_step_by_step() {
    let mut sum = 0.0;
    for seed in 0..5 {
        let mut game = Toy::new(Steps, &[0.0, 0.0, 0.0]);
        let options = ContinuousOptions { method: Method::Uct, ..ContinuousOptions::default() };
        let mut search = ContinuousSearch::new(options, NoEvaluationGame, seed);
        while !game.is_terminal() {
            let report = search.think(&mut game, Role::new(0), &Budget::iterations(2000));
            check_report(&game, &report);
            game.advance(&[report.best]);
        }
        sum += game.payoff(Role::new(0));
    }
    assert!(sum / 5.0 > 95.0, "{}", sum / 5.0);
}

#[test]
fn directions_are_found_by_predictions_where_random_plays_hardly_ever_catch() {
    for (us, seed) in [(0, 1), (1, 2), (0, 3), (1, 4)] {
        let mut game = Toy::new(Chase, &[0.0, 0.0, 3.0]);
        let budget = Budget::nodes(6000);
        let report = think_with(&mut game, us, seed, &budget, ContinuousOptions::default());
        // Both run along the line through both, upwards.
        let angle = report.best.value(0);
        assert!((angle - std::f64::consts::FRAC_PI_2).abs() < 0.5, "role {us}: {angle}");
        let again = {
            let mut game = Toy::new(Chase, &[0.0, 0.0, 3.0]);
            think_with(&mut game, us, seed, &budget, ContinuousOptions::default())
        };
        assert_eq!(report.best, again.best, "equal seeds give equal moves");
    }
}

/// Plays a pursuit against an optimal opponent. Returns the distance at the end.
fn pursue(us: usize, seed: u64, n: u64, has_evaluation: bool) -> f64 {
    let rules = Pursuit { pursuer: 2.0, evader: 1.0, n_steps: 4.0 };
    let mut game = Toy::new(rules, &[0.0, 10.0]);
    let evaluator: Box<dyn MoveEvaluator<Toy>> =
        if has_evaluation { Box::new(CurrentPayoffs) } else { Box::new(NoEvaluationGame) };
    let mut search = ContinuousSearch::new(ContinuousOptions::default(), evaluator, seed);
    while !game.is_terminal() {
        let report = search.think(&mut game, Role::new(us), &Budget::iterations(n));
        check_report(&game, &report);
        let mut joint = vec![Move::new(0, &[2.0]), Move::new(0, &[1.0])];
        joint[us] = report.best;
        game.advance(&joint);
    }
    game.payoff(Role::new(1))
}

#[test]
fn pursuit_comes_close_to_the_optimum() {
    // Random plays are noisy, so more of them are needed than plays by an evaluation game.
    let mut means = Vec::new();
    for (has_evaluation, n) in [(true, 2000), (false, 8000)] {
        for us in [0, 1] {
            let sum: f64 = (0..5).map(|seed| pursue(us, seed, n, has_evaluation)).sum();
            means.push(sum / 5.0);
        }
    }
    // 5 % of the optimum 6.
    assert!(means.iter().all(|mean| (mean - 6.0).abs() < 0.3), "{means:?}");
}

#[test]
fn noise_is_averaged() {
    for seed in 0..5 {
        let mut game = Toy::new(Noisy, &[0.0, 0.0, 0.0]);
        let report = think(&mut game, 0, seed, 5000);
        assert!((report.best.value(0) - 0.6).abs() < 0.5, "{}", report.best.value(0));
    }
}

#[test]
fn equal_seeds_give_equal_reports() {
    let games: [fn() -> Toy; 4] = [
        || Toy::new(parrilo(), &[0.0, 0.0]),
        || Toy::new(Steps, &[0.0, 0.0, 0.0]),
        || Toy::new(Noisy, &[0.0, 0.0, 0.0]),
        || Toy::new(Pursuit { pursuer: 2.0, evader: 1.0, n_steps: 3.0 }, &[0.0, 10.0]),
    ];
    for game in games {
        for method in [Method::Auto, Method::Uct, Method::Basic] {
            let think = || {
                let options = ContinuousOptions { method, ..ContinuousOptions::default() };
                let mut search = ContinuousSearch::new(options, RandomPlays::new(20), 7);
                let report = search.think(&mut game(), Role::new(0), &Budget::iterations(200));
                Report { seconds: 0.0, ..report }
            };
            assert_eq!(think(), think());
        }
    }
}

#[test]
fn any_budget_gives_a_legal_move() {
    let games: [fn() -> Toy; 4] = [
        || Toy::new(parrilo(), &[0.0, 0.0]),
        || Toy::new(Steps, &[0.0, 0.0, 0.0]),
        || Toy::new(Noisy, &[0.0, 0.0, 0.0]),
        || Toy::new(Pursuit { pursuer: 2.0, evader: 1.0, n_steps: 3.0 }, &[0.0, 10.0]),
    ];
    let cancelled = Budget::default();
    cancelled.cancel();
    for game in games {
        for method in [Method::Auto, Method::Uct, Method::Basic] {
            for n in 0..20 {
                for budget in [Budget::iterations(n), Budget::nodes(n * 3)] {
                    let options = ContinuousOptions { method, ..ContinuousOptions::default() };
                    let report = think_with(&mut game(), 0, n, &budget, options);
                    assert!(report.iterations <= n || budget.iterations.is_none());
                }
            }
            let options = ContinuousOptions { method, ..ContinuousOptions::default() };
            think_with(&mut game(), 0, 1, &cancelled, options.clone());
            let soon = Budget::until(Instant::now() + Duration::from_millis(5));
            think_with(&mut game(), 0, 1, &soon, options);
        }
    }
}

#[test]
fn without_an_evaluation_game_the_basic_choice_is_uniform() {
    let mut game = Toy::new(Pursuit { pursuer: 2.0, evader: 1.0, n_steps: 3.0 }, &[0.0, 10.0]);
    let options = ContinuousOptions { method: Method::Basic, ..ContinuousOptions::default() };
    let mut search = ContinuousSearch::new(options, NoEvaluationGame, 5);
    let mut quarters = [0; 4];
    for _ in 0..400 {
        let report = search.think(&mut game, Role::new(0), &Budget::iterations(10));
        quarters[((report.best.value(0) + 2.0) as usize).min(3)] += 1;
    }
    assert!(quarters.iter().all(|n| (60..140).contains(n)), "{quarters:?}");
}

#[test]
fn noisy_payoffs_are_pooled() {
    let mut sum = 0.0;
    for seed in 0..5 {
        let mut reports = [0, 1].map(|us| {
            let mut game = Toy::new(NoisyParrilo, &[0.0, 0.0]);
            strategy(&think(&mut game, us, seed, 4000))
        });
        let [row, column] = &mut reports;
        let gain = exploitability(&parrilo(), row, column);
        sum += gain;
    }
    // Measured: 0.076.
    assert!(sum / 5.0 < 0.12, "{}", sum / 5.0);
}

#[test]
fn other_searches_play_on_the_listed_moves_without_proofs() {
    let games: [fn() -> Toy; 3] = [
        || Toy::new(parrilo(), &[0.0, 0.0]),
        || Toy::new(Steps, &[0.0, 0.0, 0.0]),
        || Toy::new(Noisy, &[0.0, 0.0, 0.0]),
    ];
    let budget = Budget::iterations(500);
    for game in games {
        let searches: [Box<dyn Search<Toy>>; 4] = [
            Box::new(crate::Mcts::new(crate::MctsOptions::default(), 1)),
            Box::new(crate::AlphaBeta::new(crate::AlphaBetaOptions::default())),
            Box::new(crate::BestFirst::new(crate::BestFirstOptions::default())),
            Box::new(crate::Puzzle::new(crate::PuzzleOptions::default())),
        ];
        for mut search in searches {
            let mut game = game();
            let nodes = Budget { nodes: Some(500), ..budget.clone() };
            let report = search.think(&mut game, Role::new(0), &nodes);
            assert!(game.legal_moves(Role::new(0)).contains(&report.best));
            assert!(!report.is_proven && report.candidates.iter().all(|c| !c.is_proven));
        }
        let refused = crate::solve::solve(&game(), &budget, &crate::solve::SolveOptions::default());
        let reason = refused.expect_err("the listed moves are a sample").reason;
        assert_eq!(reason, crate::solve::UnsolvedReason::Continuous);
    }
}
