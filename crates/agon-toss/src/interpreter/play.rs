//! The interpreter as a position of a game.

use agon_game::{Fault, Position, Rng, Role, Shape, draw_listed};

use super::moves::Move;
use super::position::Interpreter;
use super::state::State;

impl Position for Interpreter {
    type Move = Move;
    type State = State;

    fn shape(&self) -> &Shape {
        self.game.shape()
    }

    fn is_terminal(&self) -> bool {
        self.derived().terminal
    }

    fn legal_moves(&self, role: Role) -> &[Move] {
        &self.derived().legal[role.index()]
    }

    fn payoff(&self, player: Role) -> f64 {
        let value = self.payoff_values().map_or(0.0, |payoffs| payoffs[player.index()].midpoint());
        value.clamp(*self.shape().payoffs.start(), *self.shape().payoffs.end())
    }

    fn advance(&mut self, joint: &[Move]) {
        self.advance_with_motion(joint);
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn go_to(&mut self, state: &State) {
        self.set_state(state.clone());
    }

    fn key(&self) -> u64 {
        self.state.key()
    }

    fn fault(&self) -> Option<&Fault> {
        self.derived().fault.as_ref().map(|fault| &fault.0)
    }

    fn is_legal(&self, role: Role, candidate: &Move) -> bool {
        // Edges are in order and embeddings are sorted, so the list is sorted.
        self.legal_moves(role).binary_search(candidate).is_ok()
            || (!self.is_terminal() && self.is_legal_beyond_list(role, candidate))
    }

    fn draw(&self, rng: &mut Rng, joint: &mut Vec<Move>) {
        joint.clear();
        for role in self.shape().roles() {
            joint.push(if self.game.arena().is_continuous() {
                self.draw_move(role, rng)
            } else {
                draw_listed(self, role, rng)
            });
        }
    }

    fn chance(&self, nature_move: &Move) -> f64 {
        self.chance_of(nature_move)
    }
}
