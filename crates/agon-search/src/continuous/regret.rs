//! Games in normal form, and iterated regret minimisation over pure strategies.
//!
//! Halpern & Pass (2009) define the solution concept. Kaiser & Stafiniak (2010) choose the actions
//! of structure rewriting games by it.

use agon_game::Rng;
use rand::RngExt as _;

/// A game in normal form: every player chooses one of finitely many actions at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct NormalForm {
    /// By player: the number of its actions, at least 1.
    n_actions: Vec<usize>,
    /// By player: the distance between the numbers of profiles that differ by one in its action.
    strides: Vec<usize>,
    /// The payoffs of all players for each profile of actions. The action of the last player
    /// changes fastest.
    payoffs: Vec<f64>,
}

/// Bound of payoffs, so that differences of payoffs are finite.
const LARGEST: f64 = f64::MAX / 8.0;

impl NormalForm {
    /// Makes a game with these numbers of actions by player. `payoffs` is called with every
    /// profile, in the order of the profiles, and returns the payoffs by player.
    ///
    /// A payoff that is not a number counts as the lowest one.
    ///
    /// # Panics
    /// If a player has no action, or `payoffs` returns a list of another length.
    pub fn new(n_actions: Vec<usize>, mut payoffs: impl FnMut(&[usize]) -> Vec<f64>) -> NormalForm {
        assert!(n_actions.iter().all(|&n| n > 0), "every player has an action");
        let mut strides = vec![1; n_actions.len()];
        for player in (1..n_actions.len()).rev() {
            strides[player - 1] = strides[player] * n_actions[player];
        }
        let n_profiles: usize = n_actions.iter().product();
        let mut all = Vec::with_capacity(n_profiles * n_actions.len());
        let mut profile = vec![0; n_actions.len()];
        for number in 0..n_profiles {
            for (player, action) in profile.iter_mut().enumerate() {
                *action = number / strides[player] % n_actions[player];
            }
            let of_profile = payoffs(&profile);
            assert_eq!(of_profile.len(), n_actions.len(), "a payoff for each player");
            all.extend(of_profile.into_iter().map(|payoff| {
                if payoff.is_nan() { -LARGEST } else { payoff.clamp(-LARGEST, LARGEST) }
            }));
        }
        NormalForm { n_actions, strides, payoffs: all }
    }

    /// Returns the number of players.
    pub fn n_players(&self) -> usize {
        self.n_actions.len()
    }

    /// Returns the number of actions of a player.
    pub fn n_actions(&self, player: usize) -> usize {
        self.n_actions[player]
    }

    /// Returns the payoff of a player for a profile of actions, one by player.
    pub fn payoff(&self, profile: &[usize], player: usize) -> f64 {
        let number: usize = profile.iter().zip(&self.strides).map(|(a, stride)| a * stride).sum();
        self.payoffs[number * self.n_players() + player]
    }

    /// Returns the sum of all players' payoffs if it is the same for all profiles, except for
    /// rounding.
    pub fn constant_sum(&self) -> Option<f64> {
        let mut sums = self.payoffs.chunks(self.n_players()).map(|all| all.iter().sum::<f64>());
        let first = sums.next()?;
        let tolerance = self.tolerance();
        sums.all(|sum| (sum - first).abs() <= tolerance).then_some(first)
    }

    /// Returns the largest difference of two payoffs that counts as rounding.
    pub(super) fn tolerance(&self) -> f64 {
        let largest = self.payoffs.iter().fold(0.0_f64, |most, payoff| most.max(payoff.abs()));
        1e-9 * largest
    }

    /// Calls `visit` with the number of every profile in which each player takes an action of its
    /// list and this player its first one. The other actions of the player are reached by its
    /// stride.
    fn for_others(&self, actions: &[Vec<usize>], player: usize, mut visit: impl FnMut(usize)) {
        let mut places = vec![0_usize; self.n_players()];
        loop {
            let numbers = places.iter().enumerate().filter(|&(other, _)| other != player);
            visit(numbers.map(|(other, &at)| actions[other][at] * self.strides[other]).sum());
            let mut turning = 0;
            loop {
                if turning == self.n_players() {
                    return;
                }
                if turning != player {
                    places[turning] += 1;
                    if places[turning] < actions[turning].len() {
                        break;
                    }
                    places[turning] = 0;
                }
                turning += 1;
            }
        }
    }

    /// Returns the maximum regret of each listed action of a player. The regret of an action for
    /// given actions of the others is the difference between the best payoff of a listed action
    /// and its own payoff. The maximum is over all listed actions of the others.
    pub fn max_regrets(&self, actions: &[Vec<usize>], player: usize) -> Vec<f64> {
        let own = &actions[player];
        let mut regrets = vec![0.0_f64; own.len()];
        let n_players = self.n_players();
        self.for_others(actions, player, |others| {
            let payoff = |action: usize| {
                self.payoffs[(others + action * self.strides[player]) * n_players + player]
            };
            let best = own.iter().fold(f64::NEG_INFINITY, |best, &a| best.max(payoff(a)));
            for (regret, &action) in regrets.iter_mut().zip(own) {
                *regret = regret.max(best - payoff(action));
            }
        });
        regrets
    }

    /// Deletes, for all players at the same time, the listed actions that do not minimise the
    /// maximum regret. Returns the actions that survive, at least one by player.
    pub fn minimise_regret_once(&self, actions: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let tolerance = self.tolerance();
        let of_player = |player: usize| {
            let regrets = self.max_regrets(actions, player);
            let least = regrets.iter().copied().fold(f64::INFINITY, f64::min);
            let survives = |&(_, regret): &(&usize, &f64)| *regret <= least + tolerance;
            actions[player].iter().zip(&regrets).filter(survives).map(|(&a, _)| a).collect()
        };
        (0..self.n_players()).map(of_player).collect()
    }

    /// Repeats [`NormalForm::minimise_regret_once`] until no action is deleted any more (iterated
    /// regret minimisation over pure strategies, Halpern & Pass 2009). Returns the surviving
    /// actions by player.
    ///
    /// If only one player has a choice, these are its actions with the best payoff.
    pub fn minimise_regret(&self) -> Vec<Vec<usize>> {
        let mut actions: Vec<Vec<usize>> =
            self.n_actions.iter().map(|&n| (0..n).collect()).collect();
        loop {
            let survivors = self.minimise_regret_once(&actions);
            if survivors == actions {
                return actions;
            }
            actions = survivors;
        }
    }

    /// Returns a profile of actions that survive iterated regret minimisation, drawn uniformly.
    pub fn draw_regret_minimiser(&self, rng: &mut Rng) -> Vec<usize> {
        let survivors = self.minimise_regret();
        survivors.iter().map(|own| own[rng.random_range(0..own.len())]).collect()
    }
}
