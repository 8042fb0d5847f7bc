//! Mixed strategies for games in normal form.

use super::regret::NormalForm;
use crate::solve::matrix::matrix_game;

/// Mixed strategies of all players with the payoffs that they lead to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Profile {
    /// By player: the probability of each action.
    pub(super) strategies: Vec<Vec<f64>>,
    /// By player: the expected payoff.
    pub(super) values: Vec<f64>,
}

impl Profile {
    /// Returns the profile of strategies, with their payoffs.
    pub(super) fn new(game: &NormalForm, strategies: Vec<Vec<f64>>) -> Profile {
        let value = |player: usize| {
            let of_actions = game.action_values(&strategies, player);
            of_actions.iter().zip(&strategies[player]).map(|(value, weight)| value * weight).sum()
        };
        let values = (0..game.n_players()).map(value).collect();
        Profile { strategies, values }
    }
}

/// Returns strategies of the players of a game. One player takes its best action. Two players with
/// payoffs of constant sum get an equilibrium by linear programming. Otherwise the strategies are
/// the averages of regret matching, which need not be an equilibrium.
pub(super) fn solve(game: &NormalForm) -> Profile {
    if game.n_players() == 2 && game.constant_sum().is_some() {
        let n_columns = game.n_actions(1);
        let rows = 0..game.n_actions(0);
        let payoffs: Vec<f64> = rows
            .flat_map(|row| (0..n_columns).map(move |column| [row, column]))
            .map(|profile| game.payoff(&profile, 0))
            .collect();
        let solution = matrix_game(&payoffs, n_columns);
        let profile = Profile::new(game, vec![solution.rows, solution.columns]);
        // Rounding can spoil the simplex method if many actions are almost equal.
        if exploitability(game, &profile) <= 1e4 * game.tolerance() {
            return profile;
        }
    }
    match_regrets(game)
}

/// Returns how much the players can gain in total if each alone changes its strategy. It is not a
/// number if a probability is not.
pub(super) fn exploitability(game: &NormalForm, profile: &Profile) -> f64 {
    let gain = |player: usize| {
        let of_actions = game.action_values(&profile.strategies, player);
        of_actions.into_iter().fold(f64::NEG_INFINITY, f64::max) - profile.values[player]
    };
    (0..game.n_players()).map(gain).sum()
}

/// Number of payoffs that regret matching may read.
const MATCHING_WORK: usize = 20_000_000;

/// Returns the average strategies of regret matching+ with linear weights (Tammelin 2014). In games
/// of two players with constant sum they converge to an equilibrium.
pub(super) fn match_regrets(game: &NormalForm) -> Profile {
    let players = 0..game.n_players();
    let n_cells: usize = players.clone().map(|player| game.n_actions(player)).product();
    let n_rounds = (MATCHING_WORK / (n_cells * game.n_players()).max(1)).clamp(100, 20_000);
    let zeros = || players.clone().map(|player| vec![0.0; game.n_actions(player)]);
    let (mut regrets, mut sums): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
        (zeros().collect(), zeros().collect());
    let mut current: Vec<Vec<f64>> = regrets.iter().map(|own| proportional(own)).collect();
    for round in 1..=n_rounds {
        // Players take turns, which converges faster than updates at the same time.
        for player in players.clone() {
            let values = game.action_values(&current, player);
            let mean: f64 = values.iter().zip(&current[player]).map(|(v, w)| v * w).sum();
            for (regret, value) in regrets[player].iter_mut().zip(&values) {
                *regret = (*regret + value - mean).max(0.0);
            }
            current[player] = proportional(&regrets[player]);
            for (sum, weight) in sums[player].iter_mut().zip(&current[player]) {
                *sum += weight * round as f64;
            }
        }
    }
    Profile::new(game, sums.iter().map(|own| proportional(own)).collect())
}

/// Returns probabilities in proportion to weights that are not negative; uniform ones if all
/// weights are 0.
pub(super) fn proportional(weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    if total > 0.0 && total.is_finite() {
        weights.iter().map(|weight| weight / total).collect()
    } else {
        vec![1.0 / weights.len() as f64; weights.len()]
    }
}

impl NormalForm {
    /// Returns the expected payoff of each action of a player if the others mix as given.
    pub(super) fn action_values(&self, strategies: &[Vec<f64>], player: usize) -> Vec<f64> {
        let mut values = vec![0.0; self.n_actions(player)];
        let mut profile = vec![0; self.n_players()];
        loop {
            let others = profile.iter().enumerate().filter(|&(other, _)| other != player);
            let weight: f64 = others.map(|(other, &action)| strategies[other][action]).product();
            if weight != 0.0 {
                values[profile[player]] += weight * self.payoff(&profile, player);
            }
            if !next_profile(&mut profile, |other| self.n_actions(other)) {
                return values;
            }
        }
    }
}

/// Turns to the next profile of actions, the last player's action first. Returns false after the
/// last profile.
pub(super) fn next_profile(profile: &mut [usize], n_actions: impl Fn(usize) -> usize) -> bool {
    for player in (0..profile.len()).rev() {
        profile[player] += 1;
        if profile[player] < n_actions(player) {
            return true;
        }
        profile[player] = 0;
    }
    false
}
