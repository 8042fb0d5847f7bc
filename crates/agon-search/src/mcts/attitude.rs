//! What the players are assumed to want, and how that is learnt from their moves.
//!
//! Where the payoffs of two players add up to a constant, each wants the least for the other. In
//! all other games the rules do not say how much a player minds what the others get. The search
//! assumes a weight for each of three attitudes of every other player (compare the social
//! orientations of Wilson, Zuckerman and Nau 2011, "Modeling Social Preferences in Multi-player
//! Games"):
//!
//! - *selfish*: it wants the most for itself,
//! - *relative*: it wants to be ahead of the others,
//! - *hostile*: it wants the least for us.
//!
//! Results are rewritten from payoffs to utilities before they reach the tree, so that the tree
//! knows nothing of this. All utilities are weighted means of payoffs and of payoffs turned round
//! (`min + max - payoff`), so they are in the range of the payoffs.
//!
//! After each move of another player, the weights change by Bayes' rule: an attitude gains weight
//! if the move is better by that attitude than the other moves were.

use agon_game::Role;

use super::facts::Facts;

/// The weights of the attitudes of one other player, which add up to 1.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Attitude {
    /// Selfish, relative, hostile.
    pub(crate) weights: [f64; N_ATTITUDES],
}

const N_ATTITUDES: usize = 3;

/// The least weight of an attitude. So utilities can be turned back into payoffs, and a player that
/// changes its mind is understood after a few moves.
const LEAST_WEIGHT: f64 = 0.02;

/// The weight of our own wish to be ahead of the others. It decides between moves that pay us the
/// same.
pub(crate) const RELATIVE_PART: f64 = 0.05;

/// By how much the utility of moves must differ for one of them to be e times as likely, as a part
/// of the range of payoffs.
const TEMPERATURE: f64 = 0.1;

/// The probability of a move that no attitude explains, such as a slip.
const SLIP: f64 = 0.2;

impl Attitude {
    pub(crate) const HOSTILE: Attitude = Attitude { weights: [0.0, 0.0, 1.0] };

    /// The assumption before the first move. The small weights of the others decide between moves
    /// that are equal for a selfish player.
    pub(crate) const BEFORE: Attitude = Attitude { weights: [0.9, 0.05, 0.05] };

    /// Learns from a move. `utilities` has, for each attitude, the utilities of all moves that are
    /// compared, and `made` is the index of the move that was made.
    fn learn(&mut self, utilities: &[Vec<f64>; N_ATTITUDES], made: usize, range: f64) {
        let mut weights = self.weights;
        for (weight, utilities) in weights.iter_mut().zip(utilities) {
            *weight *= likelihood(utilities, made, range);
        }
        let total: f64 = weights.iter().sum();
        if total > 0.0 {
            let free = 1.0 - LEAST_WEIGHT * N_ATTITUDES as f64;
            self.weights = weights.map(|weight| LEAST_WEIGHT + free * weight / total);
        }
    }

    /// Returns how much weight has moved from one attitude to others.
    pub(crate) fn distance(&self, other: &Attitude) -> f64 {
        let pairs = self.weights.iter().zip(&other.weights);
        pairs.map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0
    }
}

/// Returns the probability of a move of a player with these utilities.
fn likelihood(utilities: &[f64], made: usize, range: f64) -> f64 {
    let best = utilities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let share = |utility: f64| libm::exp((utility - best) / (TEMPERATURE * range));
    let total: f64 = utilities.iter().map(|&utility| share(utility)).sum();
    (1.0 - SLIP) * share(utilities[made]) / total + SLIP / utilities.len() as f64
}

/// What one role wants: a weighted mean of payoffs and of payoffs turned round.
#[derive(Clone, Debug)]
struct Wish {
    /// By role: the weight of its payoff.
    payoffs: Vec<f64>,
    /// By role: the weight of its payoff turned round.
    turned: Vec<f64>,
}

impl Wish {
    fn nothing(n_roles: usize) -> Wish {
        Wish { payoffs: vec![0.0; n_roles], turned: vec![0.0; n_roles] }
    }

    fn own(role: Role, n_roles: usize) -> Wish {
        let mut wish = Wish::nothing(n_roles);
        wish.payoffs[role.index()] = 1.0;
        wish
    }

    /// The wish to be ahead of the mean of the other players.
    fn relative(role: Role, players: &[Role], n_roles: usize) -> Wish {
        let mut wish = Wish::nothing(n_roles);
        let others = || players.iter().filter(|&&other| other != role);
        wish.payoffs[role.index()] = 0.5;
        for other in others() {
            wish.turned[other.index()] = 0.5 / others().count() as f64;
        }
        wish
    }

    fn against(role: Role, n_roles: usize) -> Wish {
        let mut wish = Wish::nothing(n_roles);
        wish.turned[role.index()] = 1.0;
        wish
    }

    fn add(&mut self, other: &Wish, weight: f64) {
        let add = |to: &mut [f64], from: &[f64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += weight * from);
        };
        add(&mut self.payoffs, &other.payoffs);
        add(&mut self.turned, &other.turned);
    }

    /// Adds up what `plain` gives for each payoff that is wished for, and `turned` for each that is
    /// wished against.
    fn sum(&self, plain: impl Fn(usize) -> f64, turned: impl Fn(usize) -> f64) -> f64 {
        let mut sum = 0.0;
        for (role, (&with, &against)) in self.payoffs.iter().zip(&self.turned).enumerate() {
            if with > 0.0 {
                sum += with * plain(role);
            }
            if against > 0.0 {
                sum += against * turned(role);
            }
        }
        sum
    }
}

/// The wishes of all roles.
#[derive(Clone, Debug)]
pub(crate) struct Utilities {
    /// By role; None if it wants its own payoff alone.
    wishes: Vec<Option<Wish>>,
    /// The least payoff and the greatest one together.
    total: f64,
    /// Memory for the payoffs while they are rewritten.
    payoffs: Vec<f64>,
    squares: Vec<f64>,
}

impl Utilities {
    /// All roles want the most for themselves.
    pub(crate) fn plain(facts: &Facts) -> Utilities {
        Utilities {
            wishes: vec![None; facts.n_roles],
            total: facts.min + facts.max,
            payoffs: Vec::new(),
            squares: Vec::new(),
        }
    }

    /// The wishes of all roles in a game that we play: `attitudes` are those of the other players,
    /// by role, and `relative_part` is the weight of our own wish to be ahead.
    pub(crate) fn new(
        facts: &Facts,
        us: Role,
        attitudes: &[Attitude],
        relative_part: f64,
    ) -> Utilities {
        let (n, players) = (facts.n_roles, facts.players.as_slice());
        let mut utilities = Utilities::plain(facts);
        for &player in players {
            let [selfish, relative, hostile] = if player == us {
                [1.0 - relative_part, relative_part, 0.0]
            } else {
                attitudes[player.index()].weights
            };
            if players.len() == 1 || selfish == 1.0 {
                continue;
            }
            let mut wish = Wish::nothing(n);
            wish.add(&Wish::own(player, n), selfish);
            wish.add(&Wish::relative(player, players, n), relative);
            wish.add(&Wish::against(us, n), hostile);
            utilities.wishes[player.index()] = Some(wish);
        }
        utilities
    }

    /// Returns whether the utility of a role is its payoff.
    pub(crate) fn is_payoff(&self, role: Role) -> bool {
        self.wishes[role.index()].is_none()
    }

    /// Returns whether all utilities are payoffs.
    pub(crate) fn is_plain(&self) -> bool {
        self.wishes.iter().all(Option::is_none)
    }

    /// Rewrites payoffs of positions, `n_roles` each, to utilities.
    pub(crate) fn rewrite(&mut self, list: &mut [f64]) {
        if self.is_plain() {
            return;
        }
        let Utilities { wishes, total, payoffs, .. } = self;
        for utilities in list.chunks_mut(wishes.len()) {
            payoffs.clear();
            payoffs.extend_from_slice(utilities);
            for (utility, wish) in utilities.iter_mut().zip(&*wishes) {
                if let Some(wish) = wish {
                    *utility = wish.sum(|role| payoffs[role], |role| *total - payoffs[role]);
                }
            }
        }
    }

    /// Rewrites the sums of the payoffs of `n` playouts, and of their squares. The squares become
    /// an upper bound, because those of a mean are less than the mean of the squares; where a
    /// utility is one payoff, turned round or not, they are exact.
    pub(crate) fn rewrite_sums(&mut self, n: f64, sums: &mut [f64], square_sums: &mut [f64]) {
        if self.is_plain() {
            return;
        }
        let Utilities { wishes, total, payoffs, squares } = self;
        let total = *total;
        payoffs.clear();
        payoffs.extend_from_slice(sums);
        squares.clear();
        squares.extend_from_slice(square_sums);
        for (role, wish) in wishes.iter().enumerate() {
            let Some(wish) = wish else { continue };
            sums[role] = wish.sum(|role| payoffs[role], |role| total * n - payoffs[role]);
            square_sums[role] = wish.sum(
                |role| squares[role],
                |role| total * total * n - 2.0 * total * payoffs[role] + squares[role],
            );
        }
    }

    /// Returns the payoffs that have these utilities; None if the utilities do not determine them.
    pub(crate) fn payoffs_of(&self, utilities: &[f64]) -> Option<Vec<f64>> {
        let n = utilities.len();
        // One linear equation for each role.
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
        for (role, wish) in self.wishes.iter().enumerate() {
            let mut row = vec![0.0; n + 1];
            match wish {
                None => {
                    row[role] = 1.0;
                    row[n] = utilities[role];
                }
                Some(wish) => {
                    let parts = wish.payoffs.iter().zip(&wish.turned);
                    let weights = parts.map(|(with, against)| with - against);
                    row.iter_mut().zip(weights).for_each(|(place, weight)| *place = weight);
                    row[n] = utilities[role] - self.total * wish.turned.iter().sum::<f64>();
                }
            }
            rows.push(row);
        }
        solve(rows)
    }

    /// Returns how good payoffs are for a player with each of the attitudes, if we are `us`.
    fn of_attitudes(
        facts: &Facts,
        us: Role,
        player: Role,
        moves: &[Vec<f64>],
    ) -> [Vec<f64>; N_ATTITUDES] {
        let (n, total) = (facts.n_roles, facts.min + facts.max);
        let wishes =
            [Wish::own(player, n), Wish::relative(player, &facts.players, n), Wish::against(us, n)];
        wishes.map(|wish| {
            let utility =
                |payoffs: &Vec<f64>| wish.sum(|role| payoffs[role], |role| total - payoffs[role]);
            moves.iter().map(utility).collect()
        })
    }
}

/// Solves linear equations, one in each row with its right side last, by elimination.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    const LEAST_PIVOT: f64 = 1e-6;
    let n = rows.len();
    for column in 0..n {
        let pivot =
            (column..n).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        if rows[pivot][column].abs() < LEAST_PIVOT {
            return None;
        }
        rows.swap(column, pivot);
        let known = rows[column].clone();
        for (at, row) in rows.iter_mut().enumerate() {
            let factor = row[column] / known[column];
            if at != column && factor != 0.0 {
                row.iter_mut().zip(&known).for_each(|(value, known)| *value -= factor * known);
            }
        }
    }
    Some((0..n).map(|at| rows[at][n] / rows[at][at]).collect())
}

/// The attitudes of all other players in a match, as far as their moves have shown them.
#[derive(Clone, Debug)]
pub(crate) struct Attitudes {
    /// By role.
    learnt: Vec<Attitude>,
    /// Those with which the tree was grown.
    used: Vec<Attitude>,
}

/// The tree is grown again from its root when this much weight has moved from one attitude of a player to others.
const STALE: f64 = 0.15;

impl Attitudes {
    pub(crate) fn new(before: Attitude, n_roles: usize) -> Attitudes {
        let learnt = vec![before; n_roles];
        Attitudes { used: learnt.clone(), learnt }
    }

    /// Returns the attitudes with which trees are grown.
    pub(crate) fn in_use(&self) -> &[Attitude] {
        &self.used
    }

    /// Returns whether the tree should be grown anew, and uses what was learnt from then on.
    pub(crate) fn renew(&mut self) -> bool {
        let is_stale =
            self.learnt.iter().zip(&self.used).any(|(new, old)| new.distance(old) > STALE);
        if is_stale {
            self.used.clone_from(&self.learnt);
        }
        is_stale
    }

    /// Learns from a move of another player. `moves` has the expected payoffs of all roles after
    /// each move that is compared, and `made` is the index of the move that was made.
    pub(crate) fn learn(
        &mut self,
        facts: &Facts,
        us: Role,
        player: Role,
        moves: &[Vec<f64>],
        made: usize,
    ) {
        let utilities = Utilities::of_attitudes(facts, us, player, moves);
        self.learnt[player.index()].learn(&utilities, made, facts.range());
    }

    #[cfg(test)]
    pub(crate) fn of(&self, player: Role) -> Attitude {
        self.learnt[player.index()]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn facts(n_roles: usize) -> Facts {
        Facts {
            n_roles,
            players: (0..n_roles).map(Role::new).collect(),
            nature: None,
            min: -20.0,
            max: 100.0,
            low: -20.0,
            high: 100.0,
            constant_sum: None,
        }
    }

    fn attitude() -> impl Strategy<Value = Attitude> {
        (0.0..1.0, 0.0..1.0, 0.0..1.0).prop_map(|(a, b, c)| {
            let total: f64 = 1e-9 + a + b + c;
            let free = 1.0 - LEAST_WEIGHT * 3.0;
            Attitude { weights: [a, b, c].map(|w: f64| LEAST_WEIGHT + free * w / total) }
        })
    }

    proptest! {
        /// Utilities are in the range of payoffs, and payoffs can be found again.
        #[test]
        fn utilities_are_payoffs_rewritten(
            attitudes in prop::collection::vec(attitude(), 2..5),
            payoffs in prop::collection::vec(-20.0..100.0, 5),
            us in 0_usize..2,
            part in 0.0..0.5,
        ) {
            let facts = facts(attitudes.len());
            let payoffs = &payoffs[..attitudes.len()];
            let mut utilities = Utilities::new(&facts, Role::new(us), &attitudes, part);
            let mut rewritten = payoffs.to_vec();
            utilities.rewrite(&mut rewritten);
            prop_assert!(rewritten.iter().all(|u| (-20.0 - 1e-9..=100.0 + 1e-9).contains(u)));
            let found = utilities.payoffs_of(&rewritten).expect("the weights permit that");
            for (found, payoff) in found.iter().zip(payoffs) {
                prop_assert!((found - payoff).abs() < 1e-6, "{found} {payoff}");
            }
        }

        /// Sums of payoffs become sums of utilities, and their squares an upper bound.
        #[test]
        fn sums_are_rewritten_like_payoffs(
            attitudes in prop::collection::vec(attitude(), 3),
            playouts in prop::collection::vec(prop::collection::vec(-20.0..100.0, 3), 1..6),
        ) {
            let facts = facts(3);
            let mut utilities = Utilities::new(&facts, Role::new(1), &attitudes, 0.1);
            let sum = |of: &dyn Fn(&Vec<f64>, usize) -> f64| -> Vec<f64> {
                (0..3).map(|role| playouts.iter().map(|p| of(p, role)).sum()).collect()
            };
            let (mut sums, mut squares) = (sum(&|p, at| p[at]), sum(&|p, at| p[at] * p[at]));
            let n = playouts.len() as f64;
            utilities.rewrite_sums(n, &mut sums, &mut squares);
            let rewritten: Vec<Vec<f64>> = playouts
                .iter()
                .map(|payoffs| {
                    let mut payoffs = payoffs.clone();
                    utilities.rewrite(&mut payoffs);
                    payoffs
                })
                .collect();
            for role in 0..3 {
                let sum: f64 = rewritten.iter().map(|p| p[role]).sum();
                let square: f64 = rewritten.iter().map(|p| p[role] * p[role]).sum();
                prop_assert!((sum - sums[role]).abs() < 1e-6);
                prop_assert!(squares[role] >= square - 1e-6);
            }
        }
    }

    #[test]
    fn a_hostile_player_wants_the_opposite_of_our_payoff() {
        let facts = facts(3);
        let us = Role::new(1);
        let mut utilities = Utilities::new(&facts, us, &[Attitude::HOSTILE; 3], 0.0);
        let mut payoffs = vec![10.0, 70.0, 30.0];
        utilities.rewrite(&mut payoffs);
        assert_eq!(payoffs, [10.0, 70.0, 10.0]);
        assert!(utilities.payoffs_of(&payoffs).is_none(), "what the others get is lost");
        let mut squares = vec![100.0, 4900.0, 900.0];
        let mut sums = vec![10.0, 70.0, 30.0];
        utilities.rewrite_sums(1.0, &mut sums, &mut squares);
        assert_eq!((sums, squares), (vec![10.0, 70.0, 10.0], vec![100.0, 4900.0, 100.0]));
    }

    #[test]
    fn the_moves_of_a_player_show_its_attitude() {
        let facts = facts(2);
        let (us, other) = (Role::new(0), Role::new(1));
        // By move: what we get, and what the other player gets.
        let moves = [vec![80.0, 60.0], vec![0.0, 40.0], vec![50.0, 50.0]];
        for (made, expected) in [(0, 0), (1, 2)] {
            let mut attitudes = Attitudes::new(Attitude::BEFORE, 2);
            for _ in 0..4 {
                attitudes.learn(&facts, us, other, &moves, made);
            }
            let weights = attitudes.of(other).weights;
            assert!(weights[expected] > 0.5, "move {made}: {weights:?}");
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn moves_that_are_alike_show_nothing() {
        let facts = facts(2);
        let moves = [vec![50.0, 50.0], vec![50.0, 50.0]];
        let mut attitudes = Attitudes::new(Attitude::BEFORE, 2);
        attitudes.learn(&facts, Role::new(0), Role::new(1), &moves, 1);
        assert!(attitudes.of(Role::new(1)).distance(&Attitude::BEFORE) < 0.05);
        assert!(!attitudes.renew());
    }
}
