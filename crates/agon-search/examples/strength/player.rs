//! Players by their spelling, and games by their names.

use std::path::Path;
use std::sync::Arc;

use agon_circuit::ScalarCircuit;
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_search::{
    Amaf, Bandit, Choice, FirstPlay, Leaves, MctsOptions, PlayoutPolicy, Simultaneous,
};
use agon_text::Source;

/// The start of a shipped game.
pub(crate) fn open(name: &str) -> ScalarCircuit {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    let path = games.join("gdl").join(format!("{name}.kif"));
    let path = if path.exists() { path } else { games.join("gdl2").join(format!("{name}.kif")) };
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let checked = check(Arc::new(Source::new(path.to_string_lossy(), text)));
    let game = Game::open(checked.rules.expect("shipped games are right"), Options::default());
    let game = game.unwrap_or_else(|finding| panic!("{name}: {}", finding.message));
    game.compile(&CircuitLimits::default()).unwrap_or_else(|why| panic!("{name}: {why}")).start()
}

pub(crate) fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
}

/// A player, and by how much its iterations are multiplied.
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
            _ => panic!("`{word}` is no option of a player"),
        }
    }
    (options, scale)
}
