//! Short matches between two searches, and the significance of their scores.

use agon_game::{Position, Rng, Role};
use agon_search::{Budget, Search};

/// Minimum number of matches of a trial that counts.
pub(crate) const MIN_MATCHES: usize = 8;
/// Number of steps after which a match is cut off.
pub(super) const MAX_STEPS: usize = 500;
/// Number of standard errors by which a score must exceed an even one. 1.65 corresponds to an error
/// probability of 5 percent, and there are three or four contenders.
const STANDARD_ERRORS: f64 = 1.65;

/// The roles in a short match.
pub(crate) struct ShortMatch {
    pub(crate) roles: [Role; 2],
    /// The role of the contender.
    pub(crate) own: Role,
}

impl ShortMatch {
    /// Makes random steps, so that matches differ.
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

    /// Plays a match between the contender's search and the other, and returns the score of the
    /// contender: 1 if it has the highest payoff and the other the lowest. `budget` returns the
    /// budget of a move, or `None` if time is over; then the match has no score.
    pub(crate) fn play<P: Position>(
        &self,
        opening: &P,
        [mut ours, mut theirs]: [Box<dyn Search<P>>; 2],
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

/// Returns the mean of scores between 0 and 1 if it is significantly above a half.
pub(crate) fn significant_score(scores: &[f64]) -> Option<f64> {
    let n = scores.len() as f64;
    if scores.len() < MIN_MATCHES {
        return None;
    }
    let mean = scores.iter().sum::<f64>() / n;
    let squares: f64 = scores.iter().map(|score| (score - mean) * (score - mean)).sum();
    // 0.25 is the contribution of one more match that deviates by a half. Without it, a short
    // sequence of wins would have no error at all.
    let error = ((squares + 0.25) / n / n).sqrt();
    (mean - STANDARD_ERRORS * error > 0.5).then_some(mean)
}
