//! Iterated regret minimisation and mixed strategies, against slow oracles.

use agon_game::Rng;
use proptest::{prop_assert, prop_assert_eq, proptest};
use rand::{RngExt as _, SeedableRng as _};

use super::super::equilibrium::{exploitability, match_regrets, solve};
use super::super::regret::NormalForm;
use crate::sample::seeded;

fn travellers() -> NormalForm {
    NormalForm::new(vec![99, 99], |actions| {
        let prices = [actions[0] as f64 + 2.0, actions[1] as f64 + 2.0];
        let lower = prices[0].min(prices[1]);
        let bonus = 2.0 * (prices[1] - prices[0]).clamp(-1.0, 1.0);
        vec![lower + bonus, lower - bonus]
    })
}

#[test]
fn travellers_name_97() {
    let game = travellers();
    let all = vec![(0..99).collect::<Vec<usize>>(); 2];
    let prices = |actions: &[usize]| actions.iter().map(|a| a + 2).collect::<Vec<usize>>();
    let first = game.minimise_regret_once(&all);
    assert_eq!(prices(&first[0]), [96, 97, 98, 99, 100]);
    let regrets = game.max_regrets(&all, 0);
    assert!(first[0].iter().all(|&action| (regrets[action] - 3.0).abs() < 1e-9));
    assert_eq!(prices(&game.minimise_regret()[0]), [97]);
    assert_eq!(prices(&game.minimise_regret()[1]), [97]);
}

#[test]
fn payoffs_that_are_not_numbers_do_not_survive() {
    let game =
        NormalForm::new(vec![3], |actions| vec![[f64::NAN, 1.0, f64::NEG_INFINITY][actions[0]]]);
    assert_eq!(game.minimise_regret(), vec![vec![1]]);
}

/// Iterated regret minimisation by definition: the regret of every action in every profile.
fn naive(sizes: &[usize], payoff: &dyn Fn(&[usize], usize) -> f64) -> Vec<Vec<usize>> {
    let mut alive: Vec<Vec<usize>> = sizes.iter().map(|&n| (0..n).collect()).collect();
    loop {
        let mut profiles: Vec<Vec<usize>> = vec![Vec::new()];
        for own in &alive {
            profiles = profiles
                .iter()
                .flat_map(|p| own.iter().map(move |&a| [p.as_slice(), &[a]].concat()))
                .collect();
        }
        let mut next = Vec::new();
        for (player, own) in alive.iter().enumerate() {
            let mut worst = vec![0.0_f64; own.len()];
            for profile in &profiles {
                for &other in own {
                    let mut changed = profile.clone();
                    changed[player] = other;
                    let regret = payoff(&changed, player) - payoff(profile, player);
                    let at = own.iter().position(|&a| a == profile[player]).expect("alive");
                    worst[at] = worst[at].max(regret);
                }
            }
            let least = worst.iter().copied().fold(f64::INFINITY, f64::min);
            let survivors = own.iter().zip(&worst).filter(|&(_, &w)| w <= least + 1e-9);
            next.push(survivors.map(|(&a, _)| a).collect::<Vec<usize>>());
        }
        if next == alive {
            return alive;
        }
        alive = next;
    }
}

/// Returns a random game with whole payoffs, so that there are ties.
fn random_game(seed: u64, sizes: &[usize], is_zero_sum: bool) -> NormalForm {
    let mut rng = Rng::seed_from_u64(seed);
    NormalForm::new(sizes.to_vec(), |_| {
        let first = f64::from(rng.random_range(0..8));
        let mut payoffs: Vec<f64> =
            sizes.iter().map(|_| f64::from(rng.random_range(0..8))).collect();
        if is_zero_sum {
            payoffs = vec![first, 7.0 - first];
        }
        payoffs
    })
}

proptest! {
    #![proptest_config(seeded(200))]

    #[test]
    fn survivors_are_those_of_the_definition(
        seed: u64,
        sizes in proptest::collection::vec(1_usize..5, 1..4),
    ) {
        let game = random_game(seed, &sizes, false);
        let expected = naive(&sizes, &|profile, player| game.payoff(profile, player));
        prop_assert_eq!(game.minimise_regret(), expected);
    }

    #[test]
    fn one_chooser_takes_the_best_payoff(seed: u64, n in 1_usize..9) {
        let game = random_game(seed, &[1, n, 1], false);
        let payoffs: Vec<f64> = (0..n).map(|action| game.payoff(&[0, action, 0], 1)).collect();
        let best = payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let expected: Vec<usize> = (0..n).filter(|&action| payoffs[action] == best).collect();
        prop_assert_eq!(&game.minimise_regret()[1], &expected);
    }

    #[test]
    fn a_strictly_dominant_action_survives_alone(seed: u64, n in 2_usize..6, m in 1_usize..6) {
        let game = random_game(seed, &[n, m], false);
        let raised = NormalForm::new(vec![n, m], |profile| {
            let bonus = if profile[0] == 0 { 10.0 } else { 0.0 };
            vec![game.payoff(profile, 0) + bonus, game.payoff(profile, 1)]
        });
        prop_assert_eq!(&raised.minimise_regret()[0], &vec![0]);
    }

    #[test]
    fn zero_sum_games_are_solved(seed: u64, n in 1_usize..7, m in 1_usize..7) {
        let game = random_game(seed, &[n, m], true);
        let profile = solve(&game);
        prop_assert!(exploitability(&game, &profile).abs() < 1e-6);
        let matched = match_regrets(&game);
        prop_assert!(exploitability(&game, &matched) < 0.02, "{:?}", matched);
        prop_assert!((profile.values[0] - matched.values[0]).abs() < 0.02);
    }
}
