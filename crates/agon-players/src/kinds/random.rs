//! `random`: a legal move at random.

use agon_game::{Continuous, Hidden, Rng, Role};
use agon_match::Player;
use agon_search::continuous::draw_move;
use agon_search::{Budget, Report, Search};
use rand::{RngExt as _, SeedableRng as _};

use super::{BuildContext, Kind};
use crate::registry::Origin;
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
