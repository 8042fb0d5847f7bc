//! `hidden`: search in games with hidden information.

use agon_game::{Continuous, Hidden};
use agon_match::Player;
use agon_search::hidden::{Bandit, Choice, HiddenOptions};

use super::{BuildContext, Kind, mcts};
use crate::option::Settings;
use crate::registry::Origin;
use crate::{BuiltIn, OptionKind, PerceptPlayer, PlayerKind, Threads};

pub(crate) static KIND: PlayerKind = PlayerKind {
    name: "hidden",
    form: "hidden(OPTIONS)",
    summary: "search over the states that the role's own moves and percepts leave possible; \
              mcts in games without hidden information",
    options: &[&[
        OptionKind::integer(
            "particles",
            1..=10_000_000,
            1000,
            "number of states in the belief; a belief of fewer states is exact",
        ),
        OptionKind::integer(
            "proposals",
            1..=100_000_000,
            20_000,
            "number of joint moves tried to update the belief by one step",
        ),
        OptionKind::integer(
            "repair",
            0..=1_000_000_000,
            50_000,
            "number of positions searched for a consistent history when the belief is empty",
        ),
        OptionKind::word("bandit", &["smooth", "ucb"], "selection of moves: smooth UCT, UCB1"),
        OptionKind::real(
            "exploration",
            0.0..=100.0,
            0.7,
            "exploration constant, for payoffs from 0 to 1",
        ),
        OptionKind::word(
            "choice",
            &["most", "mixed"],
            "the move played: the most visited one, or one drawn in proportion to the visits",
        ),
        OptionKind::integer(
            "max-steps",
            1..=1_000_000,
            500,
            "number of steps after which a playout is cut off",
        ),
        OptionKind::integer("nodes", 16..=100_000_000, 200_000, "number of information sets kept"),
    ]],
    origin: Origin::BuiltIn(|settings| BuiltIn::Hidden(HiddenSearch::from_settings(settings))),
};

/// A player that searches the states that its own moves and percepts leave possible.
#[derive(Clone, Debug, PartialEq)]
pub struct HiddenSearch {
    /// The seed is set when the player is built.
    options: HiddenOptions,
}

impl HiddenSearch {
    fn from_settings(settings: &Settings) -> HiddenSearch {
        HiddenSearch { options: search_options(settings) }
    }
}

pub(super) fn search_options(settings: &Settings) -> HiddenOptions {
    HiddenOptions {
        seed: 0,
        max_particles: settings.integer_usize("particles"),
        max_proposals: settings.integer_usize("proposals"),
        repair_nodes: settings.integer("repair"),
        bandit: match settings.word("bandit") {
            "ucb" => Bandit::Ucb,
            _ => Bandit::Smooth,
        },
        exploration: settings.real("exploration"),
        choice: match settings.word("choice") {
            "mixed" => Choice::Mixed,
            _ => Choice::MostVisited,
        },
        max_steps: settings.integer_usize("max-steps"),
        max_nodes: settings.integer_usize("nodes"),
    }
}

impl Kind for HiddenSearch {
    fn build<P: Hidden + Continuous + 'static>(&self, context: BuildContext<P>) -> Box<dyn Player> {
        if context.start.shape().hidden {
            let options = HiddenOptions { seed: context.seed, ..self.options.clone() };
            Box::new(PerceptPlayer::new(context.start, context.role, options))
        } else {
            let search = mcts::default_search(context.seed);
            context.seat(search)
        }
    }

    fn threads(&self) -> Threads {
        Threads::Adaptive
    }
}
