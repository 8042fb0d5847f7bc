//! `puzzle`: plans in games of one player.

mod parts;
#[cfg(test)]
mod tests;

use agon_analysis::Analysis;
use agon_game::{Continuous, Hidden, Notation, Position, Role};
use agon_match::Player;
use agon_search::{Budget, PuzzleOptions, Report, Search};

use super::{BuildContext, Kind, mcts};
use crate::budget::{as_nodes, share, share_of_counts};
use crate::option::Settings;
use crate::registry::Origin;
use crate::{BuiltIn, OptionKind, PlayerKind, Threads};
use parts::PuzzleParts;

pub(crate) static KIND: PlayerKind = PlayerKind {
    name: "puzzle",
    form: "puzzle(OPTIONS)",
    summary: "searches for a plan and keeps it, in games of one player; mcts is asked too until \
              there is a plan with the highest payoff",
    options: &[&[
        OptionKind::integer("nodes", 16..=1_000_000_000, 4_000_000, "number of positions kept"),
        OptionKind::integer(
            "max-steps",
            1..=1_000_000,
            1000,
            "number of steps after which a playout is cut off",
        ),
        OptionKind::flag(
            "mcts",
            true,
            "mcts gets a quarter of the time until there is a plan with the highest payoff",
        ),
    ]],
    origin: Origin::BuiltIn(|settings| BuiltIn::Puzzle(Puzzle::from_settings(settings))),
};

/// A player of games of one player, which searches for a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Puzzle {
    /// The seed is set when the player is built.
    options: PuzzleOptions,
    has_mcts: bool,
}

impl Puzzle {
    fn from_settings(settings: &Settings) -> Puzzle {
        Puzzle { options: search_options(settings), has_mcts: settings.flag("mcts") }
    }
}

pub(super) fn search_options(settings: &Settings) -> PuzzleOptions {
    PuzzleOptions {
        seed: 0,
        max_positions: settings.integer_usize("nodes"),
        max_steps: settings.integer_usize("max-steps"),
    }
}

impl Kind for Puzzle {
    fn build<P: Hidden + Continuous + 'static>(&self, context: BuildContext<P>) -> Box<dyn Player> {
        let seed = context.seed;
        let options = PuzzleOptions { seed, ..self.options.clone() };
        let search = PlanThenSearch {
            planner: agon_search::Puzzle::new(options),
            other: self.has_mcts.then(|| mcts::default_search(seed)),
            rules: context.rules.gdl.clone(),
        };
        context.seat(search)
    }

    fn threads(&self) -> Threads {
        Threads::Adaptive
    }
}

/// Part of the budget for planning, in percent, if another search is asked too.
const PLANNING_PERCENT: u32 = 75;

/// A planner, and another search that is asked until there is a plan with the highest payoff.
struct PlanThenSearch<P: Position, S> {
    planner: agon_search::Puzzle<P>,
    other: Option<S>,
    /// The rules, until they were looked at for independent sub-games.
    rules: Option<Analysis>,
}

impl<P: Notation + 'static, S: Search<P>> Search<P> for PlanThenSearch<P, S> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let rules = self.rules.take();
        if let Some(sub_games) = rules.and_then(|rules| PuzzleParts::find(&rules, position, budget))
        {
            self.planner.set_sub_games(Box::new(sub_games));
        }
        let Some(other) = &mut self.other else {
            return self.planner.think(position, us, &as_nodes(budget));
        };
        let for_plan = as_nodes(&share(budget, PLANNING_PERCENT));
        let plan = self.planner.think(position, us, &for_plan);
        if plan.is_proven || plan.value >= *position.shape().payoffs.end() {
            return plan;
        }
        let rest = share_of_counts(budget, 100 - PLANNING_PERCENT);
        let opinion = other.think(position, us, &rest);
        // The payoff of a plan is known; the value of the other search is an average.
        let has_plan = plan.lines.first().is_some_and(|line| !line.joints.is_empty());
        if has_plan && plan.value >= opinion.value { plan } else { opinion }
    }

    /// Does nothing: in a game with one player there is no time in which others choose.
    fn ponder(&mut self, _: &mut P, _: Role, _: &Budget) {}
}
