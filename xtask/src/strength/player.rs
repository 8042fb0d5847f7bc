//! Parses players such as `plain,rave,k=500`.

use agon_game::PlayoutKind;
use agon_search::{
    Amaf, Bandit, Choice, FirstPlay, Leaves, MctsOptions, PlayoutPolicy, PlayoutPreference,
    Simultaneous,
};

/// Parses a number.
///
/// # Panics
/// If the text is not a number.
pub(crate) fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}

/// Parses a player. Returns its options and the factor by which its iterations are multiplied.
///
/// # Panics
/// If the text is not a player.
pub(crate) fn player(text: &str) -> (MctsOptions, f64) {
    let mut options = MctsOptions::default();
    let mut scale = 1.0;
    for word in text.split(',') {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        match key {
            "default" => {}
            "plain" => options = MctsOptions::plain(),
            "tuned" => options.bandit = Bandit::TUNED,
            "c" => {
                options.bandit = match options.bandit {
                    Bandit::Ucb1 { .. } => Bandit::Ucb1 { c: number(value) },
                    Bandit::Ucb1Tuned { .. } => Bandit::Ucb1Tuned { c: number(value) },
                }
            }
            "rave" => options.amaf = Amaf::RAVE,
            "k" => options.amaf = Amaf::Rave { k: number(value) },
            "grave" => options.amaf = Amaf::GRAVE,
            "bias" => options.amaf = Amaf::Grave { reference: 50, bias: number(value) },
            "mast" => options.policy = PlayoutPolicy::Mast,
            "past" => options.policy = PlayoutPolicy::PAST,
            "nst" => options.policy = PlayoutPolicy::NST,
            "uniform" => options.playout_kind = Some(PlayoutKind::Uniform),
            "decisive" => options.playout_kind = Some(PlayoutKind::Decisive),
            "careful" => options.playout_kind = Some(PlayoutKind::Careful),
            "average" => options.playout_preference = PlayoutPreference::Average,
            "advantage" => options.playout_preference = PlayoutPreference::Advantage,
            "greedy" => options.choice = Choice::EpsilonGreedy { epsilon: number(value) },
            "temperature" => options.choice = Choice::Gibbs { temperature: number(value) },
            "leaves" => {
                let (at_once, playouts) = value.split_once('x').expect("leaves=64x32");
                options.leaves = Leaves {
                    at_once: number(at_once) as u32,
                    playouts: number(playouts) as u32,
                    ..options.leaves
                };
            }
            "siblings" => options.leaves.siblings = number(value) as u32,
            "solver" => options.solver = value != "no",
            "look" => options.look_ahead = value != "no",
            "graph" => options.transpositions = value != "no",
            "loss" => options.virtual_loss = number(value),
            "first" => options.first_play = FirstPlay::BelowMean(number(value)),
            "matching" => options.simultaneous = Simultaneous::REGRET_MATCHING,
            "regret" => options.simultaneous = Simultaneous::ITERATED_REGRET,
            "threads" => options.threads = number(value) as usize,
            "nodes" => options.max_nodes = number(value) as usize,
            "scale" => scale = number(value),
            _ => panic!("`{word}` is not an option of a player"),
        }
    }
    (options, scale)
}
