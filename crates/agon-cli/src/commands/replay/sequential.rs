//! Replays the plays of a trace one after another, with any engine.

use agon_game::Role;

use super::compare::{Goal, Tally};
use crate::failure::describe;
use crate::trace::{Play, Trace};
use agon::engine::{GamePosition, GameTask};

/// The task of replaying a trace.
pub(super) struct Replay<'a>(pub(super) &'a Trace);

impl GameTask for Replay<'_> {
    type Output = Tally;

    fn run<P: GamePosition + 'static>(self, start: P) -> Tally {
        let mut tally = Tally::default();
        if !tally.same_roles(&self.0.roles, &start.shape().role_names) {
            return tally;
        }
        let mut position = start.clone();
        for (index, play) in self.0.plays.iter().enumerate() {
            position.go_to(start.state());
            replay_play(&mut position, play, index + 1, &mut tally);
            tally.n_plays += 1;
        }
        tally
    }
}

fn replay_play<P: GamePosition>(position: &mut P, play: &Play, number: usize, tally: &mut Tally) {
    let roles: Vec<Role> = position.shape().roles().collect();
    let names = position.shape().role_names.clone();
    for (index, step) in play.steps.iter().enumerate() {
        let place = format!("play {number}, step {}", index + 1);
        let texts = |role: &Role| {
            position.legal_moves(*role).iter().map(|m| position.move_text(m)).collect()
        };
        let legal: Vec<Vec<String>> = roles.iter().map(texts).collect();
        if !tally.compare_step(&place, step, &position.state_text(), &legal, &names) {
            return;
        }
        let joint = roles.iter().map(|&role| position.parse_move(role, &step.joint[role.index()]));
        let Some(joint) = joint.collect::<Option<Vec<_>>>() else {
            let why = position
                .fault()
                .map(|fault| format!("; {}", describe(fault, position.shape())))
                .unwrap_or_default();
            tally.differ(
                &place,
                &format!("the recorded move {} is not legal here{why}", step.joint.join(" ")),
            );
            return;
        };
        position.advance(&joint);
    }
    let goals = |role: usize| Goal::Values(position.goal_values(roles[role]));
    let (state, is_terminal) = (position.state_text(), position.is_terminal());
    tally.compare_end(&format!("play {number}, end"), play, &state, is_terminal, goals, &names);
}
