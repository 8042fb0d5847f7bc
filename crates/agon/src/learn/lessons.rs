//! What a learnt evaluation says about a game, as statements with their measured truth.

use agon_learn::{CannotLearn, GameModel};
pub use agon_learn::{Lesson, LessonOptions, Lessons};

use crate::engine::{GamePosition, GameTask};
use crate::game::Game;

/// Finds what a model says about its game.
///
/// # Errors
/// [`CannotLearn`] if the game is not one of two players alone, or has no circuit.
pub fn lessons(
    game: &Game,
    model: &GameModel,
    options: &LessonOptions,
) -> Result<Lessons, CannotLearn> {
    struct Find<'a>(&'a GameModel, &'a LessonOptions);
    impl GameTask for Find<'_> {
        type Output = Result<Lessons, CannotLearn>;

        fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
            let mut evaluator = self.0.evaluator(&start).ok_or(CannotLearn::NoBits)?;
            agon_learn::lessons(&start, &mut evaluator, self.1)
        }
    }
    game.run(Find(model, options))
}
