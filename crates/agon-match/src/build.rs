//! From a player's name to the player.

use agon_game::{Hidden, Role, Shape};
use agon_search::{GoalValues, Search};

use crate::{FirstLegal, Greedy, HiddenSearchPlayer, Player, Random, SearchPlayer, Settings, Spec, SpecKind};

/// Makes a player of our own, for a role in a match that begins where `start` stands. `None` if the player lives outside.
///
/// To add one: a row in [`crate::KINDS`] and an arm here.
pub fn build<P: Hidden + 'static>(spec: &Spec, start: P, role: Role, seed: u64) -> Option<Box<dyn Player>> {
    let (kind, settings) = match &spec.kind {
        SpecKind::BuiltIn(kind, settings) => (*kind, settings.clone()),
        SpecKind::Human | SpecKind::Http(_) | SpecKind::Command(_) => return None,
    };
    let (name, settings) = match kind.name {
        "auto" => match auto(start.shape(), role).kind {
            SpecKind::BuiltIn(kind, settings) => (kind.name, settings),
            SpecKind::Human | SpecKind::Http(_) | SpecKind::Command(_) => {
                unreachable!("the automatic choice is one of our own")
            }
        },
        name => (name, settings),
    };
    Some(named(name, &settings, start, role, seed))
}

/// The player of our own that suits a game best.
pub fn auto(shape: &Shape, _: Role) -> Spec {
    Spec::built_in(if shape.hidden { "random" } else { "greedy" })
}

fn named<P: Hidden + 'static>(
    name: &str,
    settings: &Settings,
    start: P,
    role: Role,
    seed: u64,
) -> Box<dyn Player> {
    match name {
        "random" => seated(start, role, Random::new(seed), seed),
        "legal" => seated(start, role, FirstLegal, seed),
        "greedy" => seated(start, role, Greedy::new(GoalValues, settings.integer("replies"), seed), seed),
        other => unreachable!("the table of players has `{other}`, and there is no arm for it here"),
    }
}

/// A search in a seat: as it is where everybody sees everything, else over the worlds that the role takes for possible.
fn seated<P, S>(start: P, role: Role, search: S, seed: u64) -> Box<dyn Player>
where
    P: Hidden + 'static,
    S: Search<P> + 'static,
{
    if start.shape().hidden {
        Box::new(HiddenSearchPlayer::new(start, role, search, seed ^ BELIEF))
    } else {
        Box::new(SearchPlayer::new(start, role, search))
    }
}

/// What a player believes is drawn from another stream than what it plays.
const BELIEF: u64 = 0x005e_ed0f_be11_ef00;
