//! The record of a match, filled from the referee.

use agon_ggp::Record;

use crate::{Ending, Match, MoveError};

/// Writes what has happened in a match into its record: states, moves, errors and goals. The other
/// fields of the record stay as they are.
pub fn fill_record(record: &mut Record, game: &Match) {
    record.states = game.states().to_vec();
    record.state_times = game.state_times().to_vec();
    record.moves = game.steps().iter().map(|step| step.joint.clone()).collect();
    let code = |error: &Option<MoveError>| error.as_ref().map_or(String::new(), MoveError::code);
    record.errors = vec![game.start_errors().to_vec()];
    record.errors.extend(game.steps().iter().map(|step| step.errors.iter().map(code).collect()));
    (record.goal_values, record.is_aborted) = match game.ending() {
        None => (None, false),
        Some(Ending::Finished(payoffs)) => {
            (Some(payoffs.iter().map(|payoff| payoff.round() as i64).collect()), false)
        }
        Some(Ending::Fault(_) | Ending::TooLong | Ending::Stopped(_) | Ending::Aborted) => {
            (None, true)
        }
    };
}
