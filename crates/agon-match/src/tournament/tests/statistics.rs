//! Schedules are balanced, Elo recovers the strengths behind simulated results, and the sequential
//! test keeps its error rates.

use agon_game::Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::super::*;

fn tournament(n_games: usize, n_players: usize, repeats: u64, seed: u64) -> Tournament {
    let games: Vec<String> = (0..n_games).map(|at| format!("\"game {at}\"")).collect();
    let players: Vec<String> = (0..n_players).map(|at| format!("p{at} = \"random\"")).collect();
    let text = format!(
        "games = [{}]\niterations = 1\nrepeats = {repeats}\nseed = {seed}\n[players]\n{}\n",
        games.join(", "),
        players.join("\n")
    );
    read(&text, &super::parse_player).expect("the text is valid")
}

#[test]
fn schedules_are_balanced_and_growth_keeps_their_matches() {
    let mut rng = Rng::seed_from_u64(5);
    for _ in 0..40 {
        let (n_games, n_players) = (rng.random_range(1..5), rng.random_range(2..6));
        let repeats = rng.random_range(1..5);
        let t = tournament(n_games, n_players, repeats, rng.random());
        let n_roles: Vec<usize> = (0..n_games).map(|_| rng.random_range(1..7)).collect();
        let s = schedule(&t, &n_roles).expect("the schedule is small");
        assert_eq!(
            s,
            schedule(&t, &n_roles).expect("the schedule is small"),
            "schedules are deterministic"
        );
        for (game, &n) in n_roles.iter().enumerate() {
            // In each game, every player has every role equally often, against every other player.
            for role in 0..n {
                for player in 0..n_players {
                    let at =
                        s.fixtures.iter().filter(|f| f.game == game && f.seating[role] == player);
                    let per_pair = [0, 1, 1, 3, 7, 5, 6][n];
                    let n_pairs = if n == 1 { 1 } else { n_players - 1 };
                    assert_eq!(at.count(), per_pair * n_pairs * repeats as usize);
                }
            }
        }
        for block in &s.blocks {
            let [a, b] = block.players;
            assert!(a < b && block.matches.len() >= 2);
            let fixtures: Vec<&Fixture> = block.matches.iter().map(|at| &s.fixtures[*at]).collect();
            assert!(fixtures.iter().all(|f| (f.game, f.repeat) == (block.game, block.repeat)));
            if fixtures[0].seating.len() > 1 {
                // A block has one seed, one opening, and for each seating the swapped one.
                assert!(
                    fixtures.iter().all(|f| (f.seed, f.opening_seed)
                        == (fixtures[0].seed, fixtures[0].opening_seed))
                );
                for f in &fixtures {
                    let swapped: Vec<usize> =
                        f.seating.iter().map(|p| if *p == a { b } else { a }).collect();
                    assert_eq!(fixtures.iter().filter(|other| other.seating == swapped).count(), 1);
                    assert!(f.seating.contains(&a) && f.seating.contains(&b));
                }
            }
        }
        // Additions leave every match unchanged.
        let larger = tournament(n_games + 1, n_players + 1, repeats + 1, t.seed);
        let grown =
            schedule(&larger, &[&n_roles[..], &[2]].concat()).expect("the schedule is small");
        for f in &s.fixtures {
            assert!(grown.fixtures.contains(f), "{f:?}");
        }
        // The seed of the tournament changes all seeds and no id.
        let other_seed = schedule(&Tournament { seed: t.seed ^ 1, ..t.clone() }, &n_roles)
            .expect("the schedule is small");
        let pairs = s.fixtures.iter().zip(&other_seed.fixtures);
        assert!(
            pairs
                .clone()
                .all(|(a, b)| a.id == b.id && a.seed != b.seed && a.opening_seed != b.opening_seed)
        );
    }
    assert!(schedule(&tournament(1, 2, 1_000_000, 1), &[4]).is_err(), "there are too many matches");
}

#[test]
fn points_of_both_players_sum_to_one() {
    let mut rng = Rng::seed_from_u64(6);
    for _ in 0..100 {
        let (a, b) = (f64::from(rng.random_range(0..101)), f64::from(rng.random_range(0..101)));
        assert!((points(a, b) + points(b, a) - 1.0).abs() < 1e-12);
        assert_eq!(points(a, b) > 0.5, a > b);
    }
    assert_eq!((points(100.0, 0.0), points(0.0, 100.0), points(100.0, 100.0)), (1.0, 0.0, 0.5));
}

/// Simulates a schedule: goal values are drawn by the strengths of the players, with draws.
fn simulate(s: &Schedule, elo: &[f64], draws: f64, rng: &mut Rng) -> Vec<Option<Outcome>> {
    let play = |f: &Fixture| {
        let a = f.seating[0];
        let b = f.seating.iter().copied().find(|p| *p != a);
        let expected = b.map_or(0.5, |b| points_of_elo(elo[a] - elo[b]));
        // The number of draws is limited so that the expected points stay the same.
        let draws = draws.min(2.0 * expected.min(1.0 - expected));
        let x: f64 = rng.random();
        let ours = match x {
            x if x < draws => 50.0,
            x if x < draws + (expected - draws / 2.0) => 100.0,
            _ => 0.0,
        };
        let goals = f.seating.iter().map(|p| if *p == a { ours } else { 100.0 - ours }).collect();
        Some(Outcome {
            goals: Some(goals),
            n_steps: 7,
            n_errors: vec![0; f.seating.len()],
            seconds: 0.1,
        })
    };
    s.fixtures.iter().map(play).collect()
}

#[test]
fn elo_recovers_the_strengths_behind_the_results() {
    let mut rng = Rng::seed_from_u64(7);
    for n_players in [2, 3, 5] {
        let t = tournament(2, n_players, 800, 3);
        let s = schedule(&t, &[2, 3]).expect("the schedule is small");
        let mut elo: Vec<f64> = (0..n_players).map(|_| rng.random_range(-250.0..250.0)).collect();
        let mean = elo.iter().sum::<f64>() / n_players as f64;
        elo.iter_mut().for_each(|x| *x -= mean);
        let table = standings(&t, &s, &simulate(&s, &elo, 0.3, &mut rng));
        for (player, truth) in elo.iter().enumerate() {
            let rating = table.overall.ratings.ratings[player].expect("every player has played");
            assert!((rating.elo - truth).abs() < 15.0, "{truth}: {rating:?}");
            assert!(rating.half > 1.0 && rating.half < 15.0, "{rating:?}");
        }
        let sum: f64 = table.overall.ratings.ratings.iter().flatten().map(|r| r.elo).sum();
        assert!(sum.abs() < 1e-6);
        assert!(table.overall.ratings.is_bounded);
    }
}

#[test]
fn intervals_contain_the_true_value_in_95_percent_of_runs() {
    let mut rng = Rng::seed_from_u64(8);
    let t = tournament(1, 2, 25, 3);
    let s = schedule(&t, &[2]).expect("the schedule is small");
    for (elo, draws) in [(0.0, 0.0), (0.0, 0.8), (150.0, 0.2), (300.0, 0.1)] {
        let (mut n_points, mut n_elo, mut n_difference) = (0, 0, 0);
        const TRIES: usize = 600;
        for _ in 0..TRIES {
            let table =
                standings(&t, &s, &simulate(&s, &[elo / 2.0, -elo / 2.0], draws, &mut rng)).overall;
            let points = table.rows[0].points.expect("there are matches");
            n_points += usize::from((points.low..=points.high).contains(&points_of_elo(elo)));
            let rating = table.ratings.ratings[0].expect("there are matches");
            n_elo += usize::from((rating.elo - elo / 2.0).abs() <= rating.half);
            let apart = table.ratings.difference(0, 1).expect("there are matches");
            n_difference += usize::from((apart.elo - elo).abs() <= apart.half);
        }
        for (what, n) in [("points", n_points), ("elo", n_elo), ("difference", n_difference)] {
            let share = n as f64 / TRIES as f64;
            assert!((0.92..=0.995).contains(&share), "{what} at {elo} with {draws} draws: {share}");
        }
    }
}

#[test]
fn few_equal_results_give_wide_intervals() {
    let wins = Estimate::of(&[1.0; 10]).expect("there are some");
    assert!(wins.mean == 1.0 && wins.high == 1.0 && (0.65..0.8).contains(&wins.low), "{wins:?}");
    let draws = Estimate::of(&[0.5; 10]).expect("there are some");
    assert!(draws.mean == 0.5 && (0.02..0.15).contains(&draws.half()), "{draws:?}");
    let one = Estimate::of(&[0.5]).expect("there is one");
    assert!(one.half() > 0.35, "{one:?}");
    assert_eq!((Estimate::of(&[]), Estimate::of_means(&[])), (None, None));
    let game = |points, cluster| EloGame { players: [0, 1], points, cluster };
    let all_won: Vec<EloGame> = (0..10).map(|at| game(1.0, at)).collect();
    let ratings = rate(3, &all_won);
    assert!(!ratings.is_bounded && ratings.ratings[2].is_none());
    let apart = ratings.difference(0, 1).expect("they have met");
    assert!(
        apart.elo > 300.0 && apart.elo < 800.0 && apart.half > 100.0 && apart.half.is_finite(),
        "{apart:?}"
    );
    let all_drawn: Vec<EloGame> = (0..10).map(|at| game(0.5, at)).collect();
    let apart = rate(2, &all_drawn).difference(0, 1).expect("they have met");
    assert!(apart.elo.abs() < 1e-6 && apart.half > 10.0, "{apart:?}");
    assert_eq!(rate(2, &[]).ratings, [None, None]);
}

#[test]
fn elo_and_expected_points_are_inverse_functions() {
    for elo in [-400.0, -10.0, 0.0, 5.0, 200.0] {
        assert!((elo_of_points(points_of_elo(elo)) - elo).abs() < 1e-9);
    }
    assert!((points_of_elo(400.0) - 10.0 / 11.0).abs() < 1e-12);
    let mut rng = Rng::seed_from_u64(9);
    for _ in 0..50 {
        // For two players the maximum has a closed form.
        let games: Vec<EloGame> = (0..rng.random_range(5..80))
            .map(|cluster| EloGame { players: [1, 0], points: rng.random(), cluster })
            .collect();
        let mean = games.iter().map(|game| game.points).sum::<f64>() / games.len() as f64;
        let apart = rate(2, &games).difference(1, 0).expect("they have met");
        assert!((apart.elo - elo_of_points(mean)).abs() < 1e-6, "{apart:?} {mean}");
    }
}

#[test]
fn expected_points_at_the_maximum_equal_the_points_made() {
    let mut rng = Rng::seed_from_u64(10);
    for _ in 0..50 {
        let n = rng.random_range(2..9);
        let games: Vec<EloGame> = (0..300)
            .map(|cluster| {
                let a = rng.random_range(0..n);
                let b = (a + rng.random_range(1..n)) % n;
                EloGame {
                    players: [a, b],
                    points: f64::from(rng.random_range(0..3)) / 2.0,
                    cluster,
                }
            })
            .collect();
        let ratings = rate(n, &games);
        assert!(ratings.is_bounded);
        let elo: Vec<f64> = ratings.ratings.iter().map(|r| r.expect("all have met").elo).collect();
        let mut surplus = vec![0.0; n];
        for game in &games {
            let [a, b] = game.players;
            surplus[a] += game.points - points_of_elo(elo[a] - elo[b]);
            surplus[b] -= game.points - points_of_elo(elo[a] - elo[b]);
        }
        assert!(surplus.iter().all(|x: &f64| x.abs() < 1e-6), "{surplus:?}");
    }
}

/// Runs a test on simulated blocks of two matches with swapped roles. The opening favours one role
/// by `bias` Elo, so the two matches are not independent. Returns how often the second hypothesis
/// was accepted, and the mean number of blocks.
fn sprt_rate(sprt: &Sprt, elo: f64, draws: f64, bias: f64, rng: &mut Rng) -> (f64, f64) {
    const RUNS: usize = 300;
    let (mut n_second, mut n_blocks) = (0, 0);
    // The bias makes a difference in strength worth fewer points. Find the larger difference that
    // gives the same points.
    let of_pair = |elo: f64| f64::midpoint(points_of_elo(elo + bias), points_of_elo(elo - bias));
    let (mut low, mut high) = (-1000.0, 1000.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if of_pair(middle) < points_of_elo(elo) { low = middle } else { high = middle }
    }
    let elo = f64::midpoint(low, high);
    for _ in 0..RUNS {
        let mut result = |difference: f64| {
            let expected = points_of_elo(difference);
            let draws = draws.min(2.0 * expected.min(1.0 - expected));
            let x: f64 = rng.random();
            if x < draws { 0.5 } else { f64::from(u8::from(x < draws / 2.0 + expected)) }
        };
        let blocks =
            std::iter::repeat_with(|| f64::midpoint(result(elo + bias), result(elo - bias)))
                .take(20_000);
        let state = sprt.run(blocks);
        assert!(state.decision.is_some(), "{state:?}");
        n_second += usize::from(state.decision == Some(Decision::Second));
        n_blocks += state.n_blocks;
    }
    (n_second as f64 / RUNS as f64, n_blocks as f64 / RUNS as f64)
}

#[test]
fn the_sequential_test_keeps_its_error_rates() {
    let mut rng = Rng::seed_from_u64(11);
    let sprt = Sprt { elo0: 0.0, elo1: 60.0, alpha: 0.05, beta: 0.1 };
    for (draws, bias) in [(0.0, 0.0), (0.4, 0.0), (0.2, 150.0)] {
        let (wrong, _) = sprt_rate(&sprt, 0.0, draws, bias, &mut rng);
        // 0.05 and three standard deviations of 300 runs, which are 0.038.
        assert!(wrong <= 0.09, "accepted {wrong} with {draws} draws, bias {bias}");
        let (right, _) = sprt_rate(&sprt, 60.0, draws, bias, &mut rng);
        assert!(right >= 0.83, "accepted {right} with {draws} draws, bias {bias}");
    }
    let (_, close) = sprt_rate(&sprt, 30.0, 0.2, 0.0, &mut rng);
    let (_, clear) = sprt_rate(&sprt, 200.0, 0.2, 0.0, &mut rng);
    assert!(clear < close / 3.0, "a clear case takes fewer blocks: {clear} and {close}");
}

#[test]
fn blocks_after_a_decision_change_nothing() {
    let sprt = Sprt { elo0: 0.0, elo1: 50.0, alpha: 0.05, beta: 0.05 };
    let won = sprt.run(std::iter::repeat_n(1.0, 1000));
    assert_eq!(won.decision, Some(Decision::Second));
    assert!(won.n_blocks < 100, "{won:?}");
    let more = std::iter::repeat_n(1.0, won.n_blocks).chain(std::iter::repeat_n(0.0, 1000));
    assert_eq!(sprt.run(more), won);
    assert_eq!(sprt.run(std::iter::repeat_n(0.0, 1000)).decision, Some(Decision::First));
    assert_eq!(sprt.run([]).decision, None);
}

#[test]
fn standings_count_the_matches_played() {
    let t = tournament(2, 3, 2, 4);
    let s = schedule(&t, &[1, 2]).expect("the schedule is small");
    let mut rng = Rng::seed_from_u64(12);
    let mut outcomes = simulate(&s, &[0.0, 10.0, -10.0], 0.3, &mut rng);
    let full = standings(&t, &s, &outcomes);
    assert_eq!((full.n_played, full.n_matches), (18, 18));
    assert_eq!(full.overall.rows.iter().map(|row| row.n_matches).sum::<usize>(), 6 + 2 * 12);
    for table in full.games.iter().chain([&full.overall]) {
        let (won, lost): (usize, usize) =
            (table.rows.iter().map(|r| r.wins).sum(), table.rows.iter().map(|r| r.losses).sum());
        assert_eq!(won, lost);
        let sum: f64 =
            table.rows.iter().filter_map(|row| row.points).map(|points| points.mean).sum();
        assert!((sum - 1.5).abs() < 1e-9, "points sum to one for each pair: {sum}");
    }
    outcomes.iter_mut().skip(3).for_each(|outcome| *outcome = None);
    if let Some(outcome) = &mut outcomes[0] {
        outcome.goals = None;
        outcome.n_errors = vec![2];
    }
    let part = standings(&t, &s, &outcomes);
    assert_eq!(
        (part.n_played, part.overall.rows[0].n_broken, part.overall.rows[0].n_errors),
        (3, 1, 2)
    );
    assert!(part.overall.rows[0].points.is_none() && part.overall.rows[1].points.is_some());
}
