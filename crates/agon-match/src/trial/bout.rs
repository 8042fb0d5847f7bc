//! A short match between two searches, and what several of them prove.

use agon_game::{Position, Rng, Role};
use agon_search::{Budget, Search};

/// A trial of fewer matches is none.
pub(crate) const MIN_MATCHES: usize = 8;
/// A match is not waited for after so many steps.
pub(super) const MAX_STEPS: usize = 500;
/// So many standard errors above an even score are wanted. 1.65: by chance one in twenty, and there are three contenders or four.
const SURE: f64 = 1.65;

/// Who plays what in a short match.
pub(crate) struct Bout {
    pub(crate) roles: [Role; 2],
    /// The role of the contender.
    pub(crate) own: Role,
}

impl Bout {
    /// Makes a few steps at random, so that matches differ.
    pub(crate) fn open<P: Position>(position: &mut P, n_steps: usize, rng: &mut Rng) {
        let start = position.state().clone();
        let mut joint = Vec::new();
        for _ in 0..n_steps {
            position.draw(rng, &mut joint);
            position.advance(&joint);
            if position.is_terminal() {
                position.go_to(&start);
                return;
            }
        }
    }

    /// The score of the contender, 1 if it got everything and the other nothing. `budget` says how long to think about a move; none if
    /// there is no time left.
    pub(crate) fn play<P: Position>(
        &self,
        opening: &P,
        mut ours: Box<dyn Search<P>>,
        mut theirs: Box<dyn Search<P>>,
        budget: &mut dyn FnMut() -> Option<Budget>,
        rng: &mut Rng,
    ) -> Option<f64> {
        let mut position = opening.clone();
        let mut joint = Vec::new();
        for _ in 0..MAX_STEPS {
            if position.is_terminal() {
                break;
            }
            position.draw(rng, &mut joint);
            for role in self.roles {
                if position.legal_moves(role).len() > 1 {
                    let budget = budget()?;
                    let search = if role == self.own { &mut ours } else { &mut theirs };
                    joint[role.index()] = search.think(&mut position, role, &budget).best;
                }
            }
            position.advance(&joint);
        }
        let payoffs = &position.shape().payoffs;
        let range = (payoffs.end() - payoffs.start()).max(f64::MIN_POSITIVE);
        let other = self.roles[usize::from(self.own == self.roles[0])];
        Some(0.5 + 0.5 * (position.payoff(self.own) - position.payoff(other)) / range)
    }
}

/// The mean of some scores between 0 and 1 if it is above a half for sure.
pub(crate) fn sure_score(scores: &[f64]) -> Option<f64> {
    let n = scores.len() as f64;
    if scores.len() < MIN_MATCHES {
        return None;
    }
    let mean = scores.iter().sum::<f64>() / n;
    let squares: f64 = scores.iter().map(|score| (score - mean) * (score - mean)).sum();
    // As if one more match had been drawn against the odds: a few wins in a row are no proof.
    let error = ((squares + 0.25) / n / n).sqrt();
    (mean - SURE * error > 0.5).then_some(mean)
}
