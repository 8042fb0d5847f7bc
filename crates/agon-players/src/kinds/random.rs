//! `random`: a legal move at random.

use agon_game::{Continuous, Hidden, Observation, Rng, Role};
use agon_match::{Belief, Choice, Player, PlayerError};
use agon_search::continuous::draw_move;
use agon_search::{Budget, Report, Search};
use rand::{RngExt as _, SeedableRng as _};

use super::{BELIEF_STREAM, BuildContext, Kind};
use crate::registry::Origin;
use crate::search_player::no_consistent_history;
use crate::thought::report_without_search;
use crate::{BuiltIn, PlayerKind};

pub(crate) static KIND: PlayerKind = PlayerKind {
    name: "random",
    form: "random",
    summary: "a legal move at random",
    options: &[],
    origin: Origin::BuiltIn(|_| BuiltIn::Random(Random)),
};

/// A player that makes legal moves at random.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Random;

impl Kind for Random {
    fn build<P: Hidden + Continuous + 'static>(&self, context: BuildContext<P>) -> Box<dyn Player> {
        let rng = Rng::seed_from_u64(context.seed);
        if context.start.shape().hidden {
            let belief = Belief::new(context.start, context.role, context.seed ^ BELIEF_STREAM);
            return Box::new(RandomBeliever { belief, rng });
        }
        context.seat(RandomSearch { rng })
    }
}

struct RandomSearch {
    rng: Rng,
}

impl<P: Continuous> Search<P> for RandomSearch {
    fn think(&mut self, position: &mut P, us: Role, _: &Budget) -> Report<P::Move> {
        if position.shape().continuous {
            return report_without_search(draw_move(position, us, &mut self.rng), us);
        }
        let moves = position.legal_moves(us);
        report_without_search(moves[self.rng.random_range(0..moves.len())].clone(), us)
    }

    /// Does nothing, because this search remembers nothing from call to call.
    fn ponder(&mut self, _: &mut P, _: Role, _: &Budget) {}
}

/// Draws a move in a game with hidden information. A draw in each believed state and a vote, as
/// other searches do it, would not be uniform, because the first move wins all ties.
struct RandomBeliever<P: Hidden> {
    belief: Belief<P>,
    rng: Rng,
}

impl<P: Hidden + Continuous> Player for RandomBeliever<P> {
    fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
        Ok(())
    }

    fn legal_moves(&mut self, _: &Budget) -> Vec<String> {
        self.belief.legal_moves()
    }

    fn choose(&mut self, _: &Budget) -> Result<Choice, PlayerError> {
        let role = self.belief.role();
        let (position, states) = self.belief.worlds();
        if let (true, Some(state)) = (position.shape().continuous, states.first()) {
            position.go_to(state);
            let drawn = draw_move(position, role, &mut self.rng);
            return Ok(Choice { text: position.move_text(&drawn), thought: None });
        }
        let mut legal = self.belief.legal_moves();
        if legal.is_empty() {
            return Err(no_consistent_history());
        }
        let drawn = legal.swap_remove(self.rng.random_range(0..legal.len()));
        Ok(Choice { text: drawn, thought: None })
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        self.belief.learn(observation);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use agon_game::{Notation as _, Position as _};

    use super::*;
    use crate::kinds::Rules;
    use crate::test_games::gdl2_game;

    /// Plays to the first state in which a role has several moves, and counts what players of that
    /// role choose there.
    fn choices(game: &str, n_players: u64) -> (usize, BTreeMap<String, u64>) {
        let mut position = gdl2_game(game).start();
        let start = position.clone();
        let mut steps = Vec::new();
        let has_choice = |position: &agon_gdl::interpreter::Interpreter| {
            position.shape().players().find(|role| position.legal_moves(*role).len() > 1)
        };
        while has_choice(&position).is_none() {
            let roles = position.shape().roles();
            let joint: Vec<_> = roles.map(|role| position.legal_moves(role)[0]).collect();
            steps.push((position.clone(), joint.clone()));
            position.advance(&joint);
        }
        let role = has_choice(&position).expect("the loop ends there");
        let mut counts = BTreeMap::new();
        for seed in 0..n_players {
            let (start, rules) = (start.clone(), Rules::default());
            let mut player = Random.build(BuildContext { start, role, seed, rules });
            for (step, (before, joint)) in (1..).zip(&steps) {
                let own = before.move_text(&joint[role.index()]);
                let seen = before.percepts(joint, role);
                player.learn(&Observation { step, own, seen }).expect("it was perceived");
            }
            let choice = player.choose(&Budget::default()).expect("there is a legal move");
            *counts.entry(choice.text).or_default() += 1;
        }
        (position.legal_moves(role).len(), counts)
    }

    #[test]
    fn moves_are_uniform_where_information_is_hidden() {
        for game in ["kuhn-poker", "krieg-tic-tac-toe", "liars-dice"] {
            let n = 2000.0;
            let (n_moves, counts) = choices(game, n as u64);
            assert_eq!(counts.len(), n_moves, "{game}: {counts:?}");
            // Five standard deviations of a binomial distribution.
            let p = 1.0 / n_moves as f64;
            let slack = 5.0 * (n * p * (1.0 - p)).sqrt();
            for (text, count) in counts {
                let difference = (count as f64 - n * p).abs();
                assert!(difference < slack, "{game}: {text} was drawn {count} times");
            }
        }
    }
}
