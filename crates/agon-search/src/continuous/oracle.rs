//! The double oracle method where players choose at the same time (McMahan et al. 2003).
//!
//! A small matrix game over a few actions of each player is solved. Then every player searches for
//! a best response to the others' mixed strategies among many actions, by sampling and refinement
//! of parameters. Best responses enter the matrix until no player gains by them. With one player
//! this is a maximisation.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use agon_game::{Continuous, Polynomial, Role};
use rand::RngExt as _;

use super::GeneralSum;
use super::actions::Arm;
use super::equilibrium::{self, Profile, next_profile};
use super::optimise::{Found, refine};
use super::pieces::maximise;
use super::play::{Play, sample_arms};
use super::regret::NormalForm;
use super::statistics::pooled_variance;
use super::surface::{Estimate, Surface};
use super::tree::{Chooser, Edge, N_AHEAD, Tree};

/// How the payoffs of a joint action are estimated.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Valuation {
    /// By plays of the evaluation game.
    Assess,
    /// By plays of the game through the tree.
    Play,
}

/// The state of the method at a node of a tree.
pub(super) struct Oracle<'t, P: Continuous> {
    tree: &'t mut Tree<P>,
    root: usize,
    valuation: Valuation,
    /// By player: the arms among which it searches for best responses.
    candidates: Vec<Vec<u32>>,
    /// By player: the arms of the matrix game.
    restricted: Vec<Vec<u32>>,
    /// The constant sum of the payoffs of two players.
    constant_sum: Option<f64>,
    /// The least and the largest payoff so far.
    seen: (f64, f64),
    /// Whether some payoffs are only estimates.
    is_noisy: bool,
    /// By the discrete choices of all choosers and a player: the polynomial of its payoffs.
    surfaces: BTreeMap<(Vec<usize>, usize), Surface>,
    /// The bounds of payoffs.
    payoffs: RangeInclusive<f64>,
}

/// The result of the method.
pub(super) struct Equilibrium {
    /// By player: the arms of the matrix game.
    pub(super) arms: Vec<Vec<u32>>,
    /// The strategies over these arms.
    pub(super) profile: Profile,
    /// By player: the expected payoff of each arm against the strategies of the others.
    pub(super) values: Vec<Vec<f64>>,
}

/// A best response: the arm, what it gains, and the standard error of its value.
struct Response {
    arm: u32,
    gain: f64,
    error: f64,
}

/// Number of candidates of all families of a player together, beyond which each family gets fewer.
const MAX_CANDIDATES: usize = 256;
/// Number of actions of a player in the first matrix game, if not all actions are in it.
const N_FIRST: usize = 4;
/// Maximum number of profiles of the other players that a response is valued against.
const MAX_PROFILES: usize = 256;
/// Probabilities below this are ignored when responses are valued.
const NEGLIGIBLE: f64 = 1e-4;
/// Gains below this share of the range of payoffs do not count.
const TOLERANCE: f64 = 1e-5;
/// Number of plays of a joint action in the first round, if payoffs are estimates.
const FIRST_PLAYS: f64 = 4.0;
/// If payoffs are estimates, every so manyth candidate is tried.
const NOISY_STRIDE: usize = 2;
/// Maximum number of polynomial pieces of a payoff that are maximised for one response.
const MAX_PIECES: usize = 4;
/// Maximum number of states that are computed in advance, because the budget may end before they
/// are used.
const MAX_AHEAD: usize = 64;
/// Number of points near the best response that become candidates if payoffs are estimates.
const N_NEAR: usize = 2;

impl<'t, P: Continuous> Oracle<'t, P> {
    /// Prepares the method at a node, at which `before` stands.
    pub(super) fn new(
        tree: &'t mut Tree<P>,
        root: usize,
        valuation: Valuation,
        play: &mut Play<'_, '_, P>,
    ) -> Oracle<'t, P> {
        let shape = play.before.shape();
        let constant_sum = shape.constant_sum.filter(|_| shape.players().count() == 2);
        let payoffs = shape.payoffs.clone();
        let mut candidates = Vec::new();
        for chooser in &mut tree.nodes[root].choosers {
            let Chooser { role, actions, .. } = chooser;
            let groups = 0..actions.n_groups();
            let n_wide = groups.filter(|&group| actions.n_parameters(group) > 0).count();
            let n_points = (MAX_CANDIDATES / n_wide.max(1)).clamp(3, play.options.candidates);
            chooser.arms = sample_arms(actions, &*play.before, *role, n_points, play.rng);
            candidates.push((0..chooser.arms.len() as u32).collect());
        }
        Oracle {
            tree,
            root,
            valuation,
            candidates,
            restricted: Vec::new(),
            constant_sum,
            seen: (f64::INFINITY, f64::NEG_INFINITY),
            is_noisy: false,
            surfaces: BTreeMap::new(),
            payoffs,
        }
    }

    /// Runs the method until no player gains or the budget ends. Returns the last solution, if the
    /// budget allowed for one.
    pub(super) fn run(mut self, play: &mut Play<'_, '_, P>) -> Option<Equilibrium> {
        self.restricted = self.first_actions(play);
        let mut solved = None;
        let mut n_plays = 1.0;
        while let Some(game) = self.matrix(play, n_plays) {
            let profile = equilibrium::solve(&game);
            solved = Some((game, self.restricted.clone(), profile.clone()));
            let mut has_gain = false;
            let mut is_over = false;
            for player in 0..self.restricted.len() {
                match self.best_response(play, player, &profile, n_plays) {
                    None => is_over = true,
                    Some(response) => {
                        let least = TOLERANCE * (self.seen.1 - self.seen.0);
                        let is_new = !self.restricted[player].contains(&response.arm);
                        if is_new && response.gain > least.max(response.error) {
                            self.restricted[player].push(response.arm);
                            has_gain = true;
                        }
                    }
                }
            }
            if is_over || !has_gain && !self.is_noisy {
                break;
            }
            n_plays = if self.is_noisy { (n_plays * 1.5).max(FIRST_PLAYS) } else { 1.0 };
        }
        let (game, arms, profile) = solved?;
        let profile = match play.options.general_sum {
            GeneralSum::Regret if self.constant_sum.is_none() && game.constant_sum().is_none() => {
                uniform_survivors(&game)
            }
            GeneralSum::Regret | GeneralSum::Matching => profile,
        };
        let players = 0..game.n_players();
        let values = players.map(|p| game.action_values(&profile.strategies, p)).collect();
        Some(Equilibrium { arms, profile, values })
    }

    /// Returns the actions of the first matrix game: all if they are discrete and few enough,
    /// otherwise the middle ones of a few discrete choices.
    fn first_actions(&self, play: &mut Play<'_, '_, P>) -> Vec<Vec<u32>> {
        let choosers = &self.tree.nodes[self.root].choosers;
        let n_cells = choosers.iter().map(|c| c.arms.len()).fold(1, usize::saturating_mul);
        let n_left = play.n_iterations_left();
        let is_discrete = choosers.iter().all(|chooser| !chooser.actions.has_parameters());
        if is_discrete && n_cells <= play.options.max_cells && n_cells as u64 <= n_left {
            return self.candidates.clone();
        }
        let mut middles = Vec::new();
        for chooser in choosers {
            let mut of_player: Vec<u32> = Vec::new();
            for group in 0..chooser.actions.n_groups() {
                let arms = chooser.arms.iter().enumerate();
                let own: Vec<u32> =
                    arms.filter(|(_, arm)| arm.group == group).map(|(i, _)| i as u32).collect();
                // On an interval the middle point is in the middle of the list; otherwise it is
                // the first.
                let is_line = chooser.actions.n_parameters(group) == 1;
                let middle = if is_line { own.get(own.len() / 2) } else { own.first() };
                of_player.extend(middle);
            }
            while of_player.len() > N_FIRST {
                of_player.swap_remove(play.rng.random_range(0..of_player.len()));
            }
            middles.push(of_player);
        }
        middles
    }

    /// Returns the payoffs of the choosers for a joint action, from at least `n_plays` plays if
    /// they are estimates, and the variances of their means.
    fn value(
        &mut self,
        play: &mut Play<'_, '_, P>,
        key: &[u32],
        n_plays: f64,
    ) -> Option<Vec<(f64, f64)>> {
        loop {
            let node = &self.tree.nodes[self.root];
            let is_enough = |edge: &&Edge<P::Move>| {
                edge.is_exact && edge.statistics.n() > 0.0
                    || edge.statistics.n() >= n_plays
                    || self.valuation == Valuation::Assess
            };
            if let Some(edge) = node.edges.get(key).filter(is_enough) {
                self.is_noisy |= !edge.is_exact && self.valuation == Valuation::Play;
                let values: Vec<(f64, f64)> = node
                    .choosers
                    .iter()
                    .map(|chooser| match self.valuation {
                        Valuation::Assess => (edge.statistics.mean(chooser.role), 0.0),
                        Valuation::Play => edge.statistics.mean_and_error(chooser.role),
                    })
                    .collect();
                let values = self.pool(key, edge.statistics.n(), values);
                for &(value, _) in &values {
                    self.seen = (self.seen.0.min(value), self.seen.1.max(value));
                }
                return Some(values);
            }
            if play.meter.is_over(1) {
                return None;
            }
            match self.valuation {
                Valuation::Assess => {
                    let n = play.options.assessments;
                    self.tree.assess_edge(play, self.root, key, n)?;
                }
                Valuation::Play => {
                    self.tree.play_edge(play, self.root, key)?;
                }
            }
            play.meter.n_iterations += 1;
        }
    }

    /// Moves the estimates of a joint action towards the fitted polynomials.
    fn pool(&self, key: &[u32], n: f64, mut values: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
        if self.surfaces.is_empty() {
            return values;
        }
        let (groups, point) = (self.groups(key), self.point(key));
        let range = self.payoffs.clone();
        for (player, (value, _)) in values.iter_mut().enumerate() {
            if let Some(surface) = self.surfaces.get(&(groups.clone(), player)) {
                *value = surface.pooled(&point, *value, n).clamp(*range.start(), *range.end());
            }
        }
        values
    }

    /// Returns the matrix game, or `None` if the budget ends first.
    fn matrix(&mut self, play: &mut Play<'_, '_, P>, n_plays: f64) -> Option<NormalForm> {
        let game = self.fill_matrix(play, n_plays)?;
        if !self.is_noisy {
            return Some(game);
        }
        self.fit_surfaces();
        self.fill_matrix(play, n_plays)
    }

    fn fill_matrix(&mut self, play: &mut Play<'_, '_, P>, n_plays: f64) -> Option<NormalForm> {
        let n_actions: Vec<usize> = self.restricted.iter().map(Vec::len).collect();
        let mut cells = Vec::new();
        let mut profile = vec![0; n_actions.len()];
        loop {
            let arms = self.restricted.iter().zip(&profile);
            let key: Vec<u32> = arms.map(|(arms, &action)| arms[action]).collect();
            let values = self.value(play, &key, n_plays)?;
            let mut payoffs: Vec<f64> = values.iter().map(|&(value, _)| value).collect();
            // Plays that are cut off may break the sum that the rules promise.
            if let (Some(sum), [first, second]) = (self.constant_sum, payoffs.as_mut_slice()) {
                *second = sum - *first;
            }
            cells.push(payoffs);
            if !next_profile(&mut profile, |player| n_actions[player]) {
                break;
            }
        }
        let mut cells = cells.into_iter();
        Some(NormalForm::new(n_actions, |_| cells.next().expect("a cell for each profile")))
    }

    /// Returns a best response of a player to the strategies of the others, or `None` if the budget
    /// ends first.
    fn best_response(
        &mut self,
        play: &mut Play<'_, '_, P>,
        player: usize,
        profile: &Profile,
        n_plays: f64,
    ) -> Option<Response> {
        let others = self.support(player, profile);
        // Estimates need many plays, so fewer candidates are tried. Extreme values stay, because
        // they are often the best.
        let is_tried = |&(index, &arm): &(usize, &u32)| {
            let point = &self.arm(player, arm).point;
            !self.is_noisy
                || index.is_multiple_of(NOISY_STRIDE)
                || point.iter().all(|&x| x == 0.0 || x == 1.0)
        };
        let all = self.candidates[player].iter().enumerate();
        let tried: Vec<u32> = all.filter(is_tried).map(|(_, &arm)| arm).collect();
        let mut field: Vec<(u32, f64, f64)> = Vec::new();
        for (index, &arm) in tried.iter().enumerate() {
            if index.is_multiple_of(N_AHEAD) && self.valuation == Valuation::Assess {
                let next = &tried[index..tried.len().min(index + N_AHEAD)];
                self.look_ahead(play, player, next, &others);
            }
            let (value, error) = self.score(play, player, arm, &others, n_plays)?;
            field.push((arm, value, error));
        }
        if self.is_noisy {
            self.fit_surfaces();
            for entry in &mut field {
                (entry.1, _) = self.score(play, player, entry.0, &others, n_plays)?;
            }
        }
        // The sort is stable, so the first of equals stays first.
        field.sort_by(|a, b| b.1.total_cmp(&a.1));
        let &(mut best, mut value, error) = field.first()?;
        let arm = self.arm(player, best).clone();
        if !arm.point.is_empty() {
            let n_own = self.tree.nodes[self.root].choosers[player]
                .arms
                .iter()
                .zip(&self.candidates[player])
                .filter(|(other, _)| other.group == arm.group)
                .count();
            let n_axis = libm::pow(n_own as f64, 1.0 / arm.point.len() as f64);
            let radius = 1.0 / (n_axis - 1.0).max(1.0);
            if self.is_noisy {
                self.add_near(play, player, &arm, radius);
            } else {
                (best, value) = self.by_pieces(play, player, best, value, &others)?;
                (best, value) = self.refine(play, player, best, value, radius, &others)?;
            }
        }
        Some(Response { arm: best, gain: value - profile.values[player], error })
    }

    /// Computes the states after responses that are valued next, side by side.
    fn look_ahead(
        &mut self,
        play: &mut Play<'_, '_, P>,
        player: usize,
        arms: &[u32],
        others: &[(Vec<u32>, f64)],
    ) {
        let mut keys = Vec::new();
        for &arm in arms {
            for (key, _) in others {
                let mut key = key.clone();
                key[player] = arm;
                if !self.tree.nodes[self.root].edges.contains_key(&key) {
                    keys.push(key);
                }
            }
        }
        let n_left = usize::try_from(play.n_iterations_left()).unwrap_or(usize::MAX);
        keys.truncate(n_left.min(MAX_AHEAD));
        self.tree.look_ahead(play, self.root, &keys);
    }

    /// Fits polynomials to the estimates of all joint actions with the same discrete choices.
    fn fit_surfaces(&mut self) {
        self.surfaces.clear();
        if !self.is_noisy {
            return;
        }
        let node = &self.tree.nodes[self.root];
        let mut estimates: BTreeMap<Vec<usize>, Vec<&Vec<u32>>> = BTreeMap::new();
        for (key, edge) in &node.edges {
            if edge.statistics.n() > 0.0 {
                estimates.entry(self.groups(key)).or_default().push(key);
            }
        }
        for (groups, keys) in estimates {
            for (player, chooser) in node.choosers.iter().enumerate() {
                let of = |key: &Vec<u32>| &node.edges[key].statistics;
                let estimate = |&key: &&Vec<u32>| Estimate {
                    point: self.point(key),
                    mean: of(key).mean(chooser.role),
                    n: of(key).n(),
                };
                let all: Vec<Estimate> = keys.iter().map(estimate).collect();
                let noise = pooled_variance(keys.iter().map(|&key| of(key)), chooser.role);
                if let Some(surface) = Surface::fit(&all, noise) {
                    self.surfaces.insert((groups.clone(), player), surface);
                }
            }
        }
    }

    fn groups(&self, key: &[u32]) -> Vec<usize> {
        key.iter().enumerate().map(|(player, &arm)| self.arm(player, arm).group).collect()
    }

    /// Returns the parameters of all choosers in one list.
    fn point(&self, key: &[u32]) -> Vec<f64> {
        let arms = key.iter().enumerate().map(|(player, &arm)| self.arm(player, arm));
        arms.flat_map(|arm| arm.point.iter().copied()).collect()
    }

    /// Improves a response by the polynomials of payoffs in its parameters, if they are known.
    fn by_pieces(
        &mut self,
        play: &mut Play<'_, '_, P>,
        player: usize,
        mut best: u32,
        mut value: f64,
        others: &[(Vec<u32>, f64)],
    ) -> Option<(u32, f64)> {
        for _ in 0..MAX_PIECES {
            let arm = self.arm(player, best).clone();
            let Some(shares) = self.best_of_piece(play, player, best, others) else { break };
            let Some(next) = self.add_arm(play, player, arm.group, &shares) else { break };
            let (found, _) = self.score(play, player, next, others, 1.0)?;
            if found <= value {
                break;
            }
            (best, value) = (next, found);
        }
        Some((best, value))
    }

    /// Returns the shares of the parameters of an arm at which the polynomial piece of its expected
    /// payoff is greatest. Returns `None` if payoffs are not known as polynomials.
    fn best_of_piece(
        &self,
        play: &mut Play<'_, '_, P>,
        player: usize,
        arm: u32,
        others: &[(Vec<u32>, f64)],
    ) -> Option<Vec<f64>> {
        let node = &self.tree.nodes[self.root];
        let chooser = &node.choosers[player];
        let own = self.arm(player, arm);
        let bounds = chooser.actions.intervals(own.group);
        let is_payoff = play.predicted.is_none() && play.evaluator.gives_payoffs();
        play.before.go_to(&node.state);
        let mut terms = Vec::new();
        for (key, weight) in others {
            let mut key = key.clone();
            key[player] = arm;
            if !is_payoff && !node.edges.get(&key)?.is_exact {
                return None;
            }
            let polynomial = play.before.payoff_along(&[node.joint_of(&key)], chooser.role)?;
            terms.extend(polynomial.terms.into_iter().map(|(c, powers)| (weight * c, powers)));
        }
        let (_, start) = play.before.coordinates(chooser.role, &own.m)?;
        let best = maximise(&Polynomial { terms }, &bounds, &start)?;
        let share = |(x, (low, high)): (&f64, &(f64, f64))| match high > low {
            true => (x - low) / (high - low),
            false => 0.0,
        };
        Some(best.iter().zip(&bounds).map(share).collect())
    }

    /// Refines the parameters of a response.
    fn refine(
        &mut self,
        play: &mut Play<'_, '_, P>,
        player: usize,
        best: u32,
        value: f64,
        radius: f64,
        others: &[(Vec<u32>, f64)],
    ) -> Option<(u32, f64)> {
        let start = self.arm(player, best).clone();
        let mut is_over = false;
        let mut tried: Vec<(Vec<f64>, u32)> = Vec::new();
        let max_calls = play.options.refinements * start.point.len();
        let found = Found { point: start.point.clone(), value };
        let refined = refine(found, radius, max_calls, |point| {
            if is_over {
                return None;
            }
            let arm = self.add_arm(play, player, start.group, point)?;
            let scored = self.score(play, player, arm, others, 1.0);
            is_over = scored.is_none();
            tried.push((point.to_vec(), arm));
            scored.map(|(value, _)| value)
        });
        if is_over {
            return None;
        }
        let arm = tried.iter().find(|(point, _)| *point == refined.point).map(|&(_, arm)| arm);
        Some(arm.map_or((best, value), |arm| (arm, refined.value)))
    }

    /// Adds candidates near a response.
    fn add_near(
        &mut self,
        play: &mut Play<'_, '_, P>,
        player: usize,
        centre: &Arm<P::Move>,
        radius: f64,
    ) {
        for _ in 0..N_NEAR {
            let near = |&x: &f64| x + radius * (2.0 * play.rng.random::<f64>() - 1.0);
            let point: Vec<f64> = centre.point.iter().map(near).collect();
            if let Some(arm) = self.add_arm(play, player, centre.group, &point) {
                self.candidates[player].push(arm);
            }
        }
    }

    fn arm(&self, player: usize, arm: u32) -> &Arm<P::Move> {
        &self.tree.nodes[self.root].choosers[player].arms[arm as usize]
    }

    /// Adds an arm, unless the rules forbid it.
    fn add_arm(
        &mut self,
        play: &mut Play<'_, '_, P>,
        player: usize,
        group: usize,
        point: &[f64],
    ) -> Option<u32> {
        let node = &mut self.tree.nodes[self.root];
        play.before.go_to(&node.state);
        let chooser = &mut node.choosers[player];
        let arm = chooser.actions.arm(&*play.before, chooser.role, group, point)?;
        chooser.arms.push(arm);
        Some(chooser.arms.len() as u32 - 1)
    }

    /// Returns the profiles that the other players mix, with their probabilities. The player's own
    /// place holds any of its arms.
    fn support(&self, player: usize, profile: &Profile) -> Vec<(Vec<u32>, f64)> {
        let mut all: Vec<(Vec<u32>, f64)> = vec![(Vec::new(), 1.0)];
        for (other, arms) in self.restricted.iter().enumerate() {
            let mut longer = Vec::new();
            for (key, weight) in all {
                let mixed = arms.iter().zip(&profile.strategies[other]);
                let mut push = |arm: u32, weight: f64| {
                    let mut key: Vec<u32> = key.clone();
                    key.push(arm);
                    longer.push((key, weight));
                };
                if other == player {
                    push(arms[0], weight);
                } else {
                    mixed
                        .filter(|&(_, &probability)| weight * probability > NEGLIGIBLE)
                        .for_each(|(&arm, &probability)| push(arm, weight * probability));
                }
            }
            longer.sort_by(|a, b| b.1.total_cmp(&a.1));
            longer.truncate(MAX_PROFILES);
            all = longer;
        }
        let total: f64 = all.iter().map(|(_, weight)| weight).sum();
        all.iter_mut().for_each(|(_, weight)| *weight /= total);
        all
    }

    /// Returns the expected payoff of an arm against mixed profiles of the others, with its
    /// standard error.
    fn score(
        &mut self,
        play: &mut Play<'_, '_, P>,
        player: usize,
        arm: u32,
        others: &[(Vec<u32>, f64)],
        n_plays: f64,
    ) -> Option<(f64, f64)> {
        let (mut mean, mut variance) = (0.0, 0.0);
        for (key, weight) in others {
            let mut key = key.clone();
            key[player] = arm;
            let (value, error) = self.value(play, &key, n_plays)?[player];
            mean += weight * value;
            variance += weight * weight * error;
        }
        Some((mean, variance.sqrt()))
    }
}

/// Returns the uniform strategies over the actions that survive iterated regret minimisation.
fn uniform_survivors(game: &NormalForm) -> Profile {
    let survivors = game.minimise_regret();
    let strategies: Vec<Vec<f64>> = survivors
        .iter()
        .enumerate()
        .map(|(player, own)| {
            let weight = 1.0 / own.len() as f64;
            let mut strategy = vec![0.0; game.n_actions(player)];
            own.iter().for_each(|&action| strategy[action] = weight);
            strategy
        })
        .collect();
    Profile::new(game, strategies)
}

/// Returns the index of a role among the choosers of a node.
pub(super) fn chooser_of<M>(choosers: &[Chooser<M>], role: Role) -> Option<usize> {
    choosers.iter().position(|chooser| chooser.role == role)
}
