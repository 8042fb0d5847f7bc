//! The resources that a match of a tournament needs.
//!
//! A built-in player needs as many processors as it has threads. If players take turns, which must
//! be proved, and do not ponder, only one of them thinks at a time, and a match needs the maximum
//! over its players; otherwise it needs the sum. A program (`cmd:`) and a player that listens on
//! this machine need one processor each, unless `threads` is given. A player on another machine
//! needs none, but plays only one match at a time.

use agon_game::Shape;
use agon_match::tournament::{Entrant, Thinking};
use agon_players::PlayerSource;

use super::spec_of;

/// The resources that a match needs while it is played.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Need {
    /// Number of processors.
    pub cores: usize,
    /// Addresses of players over HTTP, each of which plays one match at a time.
    pub addresses: Vec<String>,
}

impl Need {
    /// Returns the resources for a match of the given players, one for each role.
    pub fn of(
        seated: &[&Entrant],
        shape: &Shape,
        thinking: &Thinking,
        n_processors: usize,
    ) -> Need {
        let threads = seated.iter().map(|entrant| threads(entrant, shape, thinking, n_processors));
        let takes_turns = shape.turn_taking && !thinking.ponder;
        let cores = if takes_turns { threads.max().unwrap_or(0) } else { threads.sum() };
        let mut addresses: Vec<String> =
            seated.iter().filter_map(|entrant| address(entrant)).collect();
        addresses.sort();
        addresses.dedup();
        Need { cores, addresses }
    }
}

fn threads(entrant: &Entrant, shape: &Shape, thinking: &Thinking, n_processors: usize) -> usize {
    if let Some(threads) = entrant.threads {
        return threads;
    }
    match &spec_of(entrant).kind {
        PlayerSource::BuiltIn(player) => match thinking.iterations {
            Some(_) => player.threads().without_clock(),
            None => player.threads().with_clock(shape, n_processors),
        },
        PlayerSource::Http(address) if !is_here(&address.host) => 0,
        PlayerSource::Http(_) | PlayerSource::Command(_) | PlayerSource::Human => 1,
    }
}

fn is_here(host: &str) -> bool {
    // Only the text of the address is read; nothing here opens a connection.
    let address = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn address(entrant: &Entrant) -> Option<String> {
    match &spec_of(entrant).kind {
        PlayerSource::Http(address) => {
            Some(format!("{}:{}", address.host.to_lowercase(), address.port))
        }
        PlayerSource::BuiltIn(..) | PlayerSource::Command(_) | PlayerSource::Human => None,
    }
}

#[cfg(test)]
mod tests {
    use agon_text::Source;

    use super::*;
    use crate::tournament::read;

    fn need(players: &str, thinking: &str, turn_taking: bool, n_processors: usize) -> Need {
        let text = format!("games = [\"x\"]\n{thinking}\nplayers = [{players}]\n");
        let source = std::sync::Arc::new(Source::new("spec", text));
        let t = read(&source).expect("the tournament is valid");
        let names = (0..t.players.len()).map(|at| format!("r{at}")).collect();
        let shape = Shape { turn_taking, ..Shape::new(names, None) };
        Need::of(&t.players.iter().collect::<Vec<_>>(), &shape, &t.thinking, n_processors)
    }

    #[test]
    fn threads_are_counted_as_players_use_them() {
        let clock = "play_clock = 1";
        for (players, thinking, turn_taking, n_processors, cores) in [
            ("\"mcts\", \"random\"", clock, true, 8, 2),
            ("\"mcts\", \"random\"", clock, true, 1, 1),
            ("\"mcts\", \"random\"", clock, false, 8, 2),
            ("\"mcts(threads=4)\", \"uct\"", clock, true, 8, 4),
            ("\"mcts(threads=4)\", \"uct\"", clock, false, 8, 5),
            ("\"mcts\", \"uct\"", "iterations = 5", true, 8, 1),
            ("\"mcts(threads=1)\", \"uct\"", "play_clock = 1\nponder = true", true, 8, 2),
            ("\"cmd:x\", \"http://far:1\"", clock, false, 8, 1),
            ("\"cmd:x\", \"http://localhost:1\"", clock, false, 8, 2),
            ("{ player = \"cmd:x\", threads = 3 }, \"http://far\"", clock, true, 8, 3),
        ] {
            let found = need(players, thinking, turn_taking, n_processors);
            assert_eq!(found.cores, cores, "{players} {thinking} {turn_taking} {n_processors}");
        }
        let far = need("\"http://Far\", \"http://far:9147/x\"", clock, true, 8);
        assert_eq!((far.cores, far.addresses), (0, vec!["far:9147".to_owned()]));
    }
}
