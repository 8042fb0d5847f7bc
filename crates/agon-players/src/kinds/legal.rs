//! `legal`: the first legal move.

use agon_game::{Continuous, Hidden, Position, Role};
use agon_match::Player;
use agon_search::{Budget, Report, Search};

use super::{BuildContext, Kind};
use crate::registry::Origin;
use crate::thought::report_without_search;
use crate::{BuiltIn, PlayerKind};

pub(crate) static KIND: PlayerKind = PlayerKind {
    name: "legal",
    form: "legal",
    summary: "always the first legal move",
    options: &[],
    origin: Origin::BuiltIn(|_| BuiltIn::FirstLegal(FirstLegal)),
};

/// A player that makes the first legal move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FirstLegal;

impl Kind for FirstLegal {
    fn build<P: Hidden + Continuous + 'static>(&self, context: BuildContext<P>) -> Box<dyn Player> {
        context.seat(*self)
    }
}

impl<P: Position> Search<P> for FirstLegal {
    fn think(&mut self, position: &mut P, us: Role, _: &Budget) -> Report<P::Move> {
        report_without_search(position.legal_moves(us)[0].clone(), us)
    }

    /// Does nothing, because this search remembers nothing from call to call.
    fn ponder(&mut self, _: &mut P, _: Role, _: &Budget) {}
}
