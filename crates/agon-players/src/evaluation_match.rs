//! Matches between two learnt evaluations, used by the same search.

use agon_game::{Notation, Rng, Role};
use agon_learn::LearntEvaluator;
use agon_match::tournament::points;
use agon_search::{Budget, MctsOptions, Minimax, MinimaxOptions, NoEvaluation, Search};
use rand::{RngExt as _, SeedableRng as _};

use crate::kinds::mcts;
use crate::learnt::{LEAF_PART, mcts_with, minimax_with};
use crate::trial::short_match::ShortMatch;

/// Matches of a game in which two evaluations meet. Both are used by the same search with the same
/// number of positions for each move, so results do not depend on the clock: minimax search where
/// it suits the game, otherwise Monte Carlo tree search with the evaluation at its leaves. Without
/// an evaluation, minimax sees only the ends of play, and the tree search only playouts.
pub struct EvaluationMatch<P> {
    start: P,
    seed: u64,
}

/// Makes the search of the first contender or of the second one from a seed, and the budget of its
/// moves.
pub(crate) type MakeSearch<'s, P> = dyn Fn(bool, u64) -> (Box<dyn Search<P>>, Budget) + 's;

/// Number of positions for a move of minimax search.
const N_NODES: u64 = 300;
/// Number of iterations for a move of Monte Carlo tree search.
const N_ITERATIONS: u64 = 150;
/// Number of entries of the table of minimax search, which is small like the search.
const N_ENTRIES: usize = 1 << 14;
/// Number of random steps at the beginning of a match, at least and at most.
const OPENING: std::ops::RangeInclusive<usize> = 2..=5;
/// Number of steps after which a match is cut off.
const MAX_STEPS: usize = 500;

impl<P: Notation + 'static> EvaluationMatch<P> {
    /// Prepares matches from a start position.
    pub fn new(start: &P, seed: u64) -> EvaluationMatch<P> {
        EvaluationMatch { start: start.clone(), seed }
    }

    /// Plays one match for each seat from the same opening, which the number of the block selects.
    /// Returns the mean points of the first evaluation, from 0 to 1. In a game of one player each
    /// evaluation plays alone, and the payoffs are compared.
    pub fn play_block(&self, block: u64, [ours, theirs]: [Option<&LearntEvaluator<P>>; 2]) -> f64 {
        let search = |is_own: bool, seed: u64| {
            let evaluator = if is_own { ours } else { theirs };
            self.search(evaluator.cloned(), seed)
        };
        self.play_block_by(block, &search)
    }

    /// Plays a block like [`EvaluationMatch::play_block`] between searches that are made from a
    /// seed: those of the first contender, or those of the second.
    pub(crate) fn play_block_by(&self, block: u64, search: &MakeSearch<'_, P>) -> f64 {
        let mut rng = Rng::seed_from_u64(self.seed ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut opening = self.start.clone();
        ShortMatch::open(&mut opening, rng.random_range(OPENING), &mut rng);
        let players: Vec<Role> = opening.shape().players().collect();
        let mut seed = || rng.random::<u64>();
        if let [player] = players[..] {
            let own = Self::play(&opening, &[(player, true)], search, seed());
            let other = Self::play(&opening, &[(player, false)], search, seed());
            return points(own[0], other[0]);
        }
        let mut sum = 0.0;
        for own in 0..players.len() {
            let seats: Vec<(Role, bool)> =
                players.iter().enumerate().map(|(seat, &role)| (role, seat == own)).collect();
            let payoffs = Self::play(&opening, &seats, search, seed());
            let others = (0..players.len()).filter(|&seat| seat != own);
            let against: f64 = others.map(|seat| points(payoffs[own], payoffs[seat])).sum();
            sum += against / (players.len() - 1) as f64;
        }
        sum / players.len() as f64
    }

    /// Plays a match and returns the payoffs of the players. A seat is a role, and whether it is
    /// the first contender's.
    fn play(
        opening: &P,
        seats: &[(Role, bool)],
        search: &MakeSearch<'_, P>,
        seed: u64,
    ) -> Vec<f64> {
        let mut rng = Rng::seed_from_u64(seed);
        let mut searches: Vec<(Role, Box<dyn Search<P>>, Budget)> = seats
            .iter()
            .map(|&(role, is_own)| {
                let (search, budget) = search(is_own, rng.random());
                (role, search, budget)
            })
            .collect();
        let mut position = opening.clone();
        let mut joint = Vec::new();
        for _ in 0..MAX_STEPS {
            if position.is_terminal() {
                break;
            }
            position.draw(&mut rng, &mut joint);
            for (role, search, budget) in &mut searches {
                if position.legal_moves(*role).len() > 1 {
                    joint[role.index()] = search.think(&mut position, *role, budget).best;
                }
            }
            position.advance(&joint);
        }
        seats.iter().map(|&(role, _)| position.payoff(role)).collect()
    }

    fn search(
        &self,
        evaluator: Option<LearntEvaluator<P>>,
        seed: u64,
    ) -> (Box<dyn Search<P>>, Budget) {
        if Minimax::<P, NoEvaluation>::suits(&self.start) {
            let options = MinimaxOptions {
                threads: 1,
                table_entries: N_ENTRIES,
                ..MinimaxOptions::default()
            };
            (Box::new(minimax_with(options, evaluator)), Budget::iterations(N_NODES))
        } else {
            let options = MctsOptions { threads: 1, ..mcts::default_options() };
            let search = mcts_with(options, seed, &self.start, evaluator, LEAF_PART);
            (Box::new(search), Budget::iterations(N_ITERATIONS))
        }
    }
}
