//! Scores: integers that order the results of play.

use std::ops::Neg;

use agon_game::{Role, Shape};

/// The value of a position for one player, who gains what the other one loses.
///
/// A decided game is worth more than any estimate: a win [`WIN`] less the number of steps to it, so
/// that quick wins come before slow ones. Every other result lies within `-LIMIT..=LIMIT`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score(i32);

/// The score of a game that is won here.
const WIN: i32 = 30_000;
/// Scores beyond this are decided games. The difference to [`WIN`] is the longest play.
const DECIDED: i32 = 28_000;
/// The score of the best result that is not a win by the rules.
const LIMIT: i32 = 20_000;
/// The score of the best estimate. It is below every certain result that is nearly as good.
const ESTIMATE_LIMIT: f32 = 19_000.0;

impl Score {
    pub(super) const EVEN: Score = Score(0);
    pub(super) const MIN: Score = Score(-WIN - 1);
    pub(super) const MAX: Score = Score(WIN + 1);

    /// Returns the score of an estimate from -1 to 1.
    pub(super) fn estimate(value: f32) -> Score {
        Score((value.clamp(-1.0, 1.0) * ESTIMATE_LIMIT) as i32)
    }

    pub(super) fn of_table(raw: i16) -> Score {
        Score(raw.into())
    }

    pub(super) fn for_table(self) -> i16 {
        i16::try_from(self.0.clamp(-WIN, WIN)).expect("scores are small")
    }

    /// Returns whether the winner is certain.
    pub(super) fn is_decided(self) -> bool {
        self.0.abs() >= DECIDED
    }

    pub(super) fn is_win(self) -> bool {
        self.0 >= DECIDED
    }

    /// Returns the score as seen from a parent that is one step before.
    pub(super) fn one_step_before(self) -> Score {
        Score(if self.0 >= DECIDED {
            self.0 - 1
        } else if self.0 <= -DECIDED {
            self.0 + 1
        } else {
            self.0
        })
    }

    /// Returns a bound on a parent's score as a bound on the child's: the inverse of
    /// [`Score::one_step_before`].
    pub(super) fn one_step_after(self) -> Score {
        Score(if self.0 >= DECIDED {
            (self.0 + 1).min(WIN + 1)
        } else if self.0 <= -DECIDED {
            (self.0 - 1).max(-WIN - 1)
        } else {
            self.0
        })
    }

    /// Returns the score plus an amount.
    pub(super) fn plus(self, amount: i32) -> Score {
        Score((self.0 + amount).clamp(Score::MIN.0, Score::MAX.0))
    }

    pub(super) fn to_i32(self) -> i32 {
        self.0
    }

    pub(super) fn of_i32(raw: i32) -> Score {
        Score(raw.clamp(Score::MIN.0, Score::MAX.0))
    }
}

impl Neg for Score {
    type Output = Score;

    fn neg(self) -> Score {
        Score(-self.0)
    }
}

/// The translation between payoffs and scores.
#[derive(Copy, Clone, Debug)]
pub(super) struct Payoffs {
    least: f64,
    range: f64,
    players: [usize; 2],
}

impl Payoffs {
    pub(super) fn new(shape: &Shape) -> Payoffs {
        let mut players = shape.players().map(Role::index);
        let first = players.next().expect("a game has a player");
        let players = [first, players.next().unwrap_or(first)];
        let (least, most) = (*shape.payoffs.start(), *shape.payoffs.end());
        Payoffs { least, range: (most - least).max(f64::MIN_POSITIVE), players }
    }

    pub(super) fn players(&self) -> [usize; 2] {
        self.players
    }

    /// Returns the score of the first player at the end of play.
    pub(super) fn score(&self, payoffs: &[f64]) -> Score {
        let [first, second] = self.players.map(|player| payoffs[player]);
        let share = (first - second) / self.range;
        if share >= 1.0 {
            Score(WIN)
        } else if share <= -1.0 {
            Score(-WIN)
        } else {
            Score((share * f64::from(LIMIT)) as i32)
        }
    }

    /// Returns the payoff that a score of the same player stands for, if payoffs add up to a
    /// constant.
    pub(super) fn payoff_of(&self, score: Score) -> f64 {
        let share = if score.is_decided() {
            f64::from(score.0.signum())
        } else {
            f64::from(score.0) / f64::from(LIMIT)
        };
        self.least + self.range * (1.0 + share.clamp(-1.0, 1.0)) / 2.0
    }
}
