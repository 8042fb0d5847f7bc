//! `auto`: the player that suits a game best.

use std::sync::Arc;

use agon_game::{Continuous, Hidden, Shape};
use agon_learn::GameModel;
use agon_match::Player;

use super::{BuildContext, Kind, mcts};
use crate::learnt::{LEAF_PART, LearnPlan, LearntSearch, Method};
use crate::registry::Origin;
use crate::{BuiltIn, PlayerKind, PlayerSource, PlayerSpec, Threads, parse_spec};

pub(crate) static KIND: PlayerKind = PlayerKind {
    name: "auto",
    form: "auto",
    summary: "the player that suits the game best",
    options: &[],
    origin: Origin::BuiltIn(|_| BuiltIn::Auto(Auto)),
};

/// The player that suits a game best.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Auto;

impl Auto {
    /// Returns the specification of the player that suits a game best.
    pub fn choose(shape: &Shape) -> PlayerSpec {
        let n_players = shape.players().count();
        let name = if shape.hidden {
            "hidden"
        } else if shape.continuous {
            // The other searches see only a sample of the moves.
            "continuous"
        } else if n_players == 1 && shape.nature.is_none() {
            "puzzle"
        } else if n_players == 2 {
            // The solver is for two players: with three there is no single notion of optimal play.
            "solver(insight=trial)"
        } else {
            "mcts"
        };
        parse_spec(name).expect("the automatic choice is a valid specification")
    }
}

impl Kind for Auto {
    fn build<P: Hidden + Continuous + 'static>(&self, context: BuildContext<P>) -> Box<dyn Player> {
        // In games of more than two players, and of chance that all players see, a stored model
        // evaluates leaves, unless matches have shown that it does harm. There are no models of
        // games with secrets.
        let helps = |model: &Arc<GameModel>| {
            model.history().elo.is_none_or(|measured| measured.high >= 0.0)
        };
        let shape = context.start.shape();
        if (shape.players().count() > 2 || shape.hidden)
            && !shape.continuous
            && let Some(model) = context.rules.model.clone().filter(helps)
        {
            let method = Method::Mcts(mcts::default_options(), LEAF_PART);
            let plan = LearnPlan { percent: 1, n_games: 0 };
            let search = LearntSearch::new(plan, method, Some(model), context.seed);
            return context.seat(search);
        }
        match Auto::choose(context.start.shape()).kind {
            PlayerSource::BuiltIn(player) => player.build(context),
            PlayerSource::Human | PlayerSource::Http(_) | PlayerSource::Command(_) => {
                unreachable!("the automatic choice is a built-in player")
            }
        }
    }

    fn threads(&self) -> Threads {
        Threads::Adaptive
    }
}
