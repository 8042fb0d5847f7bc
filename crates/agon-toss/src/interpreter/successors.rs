//! The states after several joint moves from one position, with their times passing side by side.

use agon_reals::evolve::evolve_many;
use agon_reals::real::Real;

use super::moves::Move;
use super::position::{Interpreter, PositionError};
use super::state::{Phase, State};
use super::step::{Application, act};
use crate::continuous::{Act, Stretch};

impl Interpreter {
    /// Returns the state after each of several joint moves. The first stretches of time of all
    /// moves are solved together.
    pub(super) fn states_after(&self, joints: &[Vec<Move>]) -> Vec<State> {
        let content = self.state.content();
        let (Phase::Choose, Some(values)) = (content.phase, content.values.as_deref()) else {
            let single = |joint: &Vec<Move>| {
                self.for_one_state(|| self.compute_next(joint)).map(|(state, _)| state)
            };
            return joints.iter().map(|joint| self.or_failed(single(joint))).collect();
        };
        let arena = self.game.arena();
        let moment = self.moment(&content.structure, values);
        let moves: Vec<Result<Vec<Application>, PositionError>> =
            joints.iter().map(|joint| self.applications(joint)).collect();
        let acts: Vec<Vec<Act<'_>>> = moves
            .iter()
            .map(|moves| {
                moves.iter().flatten().map(|application| act(arena, application)).collect()
            })
            .collect();
        let stretches: Vec<Option<Stretch>> = acts
            .iter()
            .map(|acts| match acts.as_slice() {
                [] => None,
                // What cannot be prepared is refused by the step below.
                acts => self.for_one_state(|| Stretch::new(arena, moment, acts, Real::ZERO)).ok(),
            })
            .collect();
        let options = self.game.evolve_options();
        let problems: Vec<_> =
            stretches.iter().flatten().map(|stretch| stretch.problem(options)).collect();
        let mut evolutions = evolve_many(&problems).into_iter();
        let mut states = Vec::with_capacity(joints.len());
        for (((joint, moves), acts), stretch) in
            joints.iter().zip(moves.iter()).zip(&acts).zip(stretches)
        {
            let state = self.for_one_state(|| {
                let applications = moves.as_ref().map_err(Clone::clone)?;
                let first = match stretch {
                    None => None,
                    Some(stretch) => {
                        let evolution = evolutions.next().expect("a problem for each stretch");
                        let evolved = stretch.end(moment, acts, evolution);
                        Some(evolved.map_err(|error| self.time_error(applications, &error))?)
                    }
                };
                let stepped = self.step_after(applications, first, options)?;
                Ok(self.after_step(joint, applications, stepped).0)
            });
            states.push(self.or_failed(state));
        }
        states
    }

    fn or_failed(&self, state: Result<State, PositionError>) -> State {
        state.unwrap_or_else(|error| State::failed(&self.state, error))
    }
}
