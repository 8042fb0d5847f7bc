//! Assigns processors to matches, so that matches do not share a processor and slow each other
//! down.
//!
//! A built-in player needs as many processors as it has threads. If players take turns, which must
//! be proved, and do not ponder, only one of them thinks at a time, and a match needs the maximum
//! over its players; otherwise it needs the sum. A program (`cmd:`) and a player that listens on this machine need
//! one processor each, unless `threads` is given. A player on another machine needs none, but plays
//! only one match at a time.

use super::spec_of;
use std::collections::BTreeMap;

use agon_game::Shape;
use agon_match::tournament::{Entrant, Thinking};
use agon_players::PlayerSource;

/// The resources that a match needs while it is played.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Need {
    /// Number of processors.
    pub(super) cores: usize,
    /// Addresses of players over HTTP, each of which plays one match at a time.
    pub(super) addresses: Vec<String>,
}

impl Need {
    /// Returns the resources for a match of the given players, one for each role.
    pub(super) fn of(
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
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn address(entrant: &Entrant) -> Option<String> {
    match &spec_of(entrant).kind {
        PlayerSource::Http(address) => {
            Some(format!("{}:{}", address.host.to_lowercase(), address.port))
        }
        PlayerSource::BuiltIn(..) | PlayerSource::Command(_) | PlayerSource::Human => None,
    }
}

/// The resources that are in use.
pub(super) struct Cores {
    n_cores: usize,
    n_used: usize,
    n_jobs: usize,
    max_jobs: usize,
    /// The number of matches of each address.
    busy: BTreeMap<String, usize>,
}

impl Cores {
    pub(super) fn new(n_cores: usize, max_jobs: usize) -> Cores {
        Cores { n_cores, n_used: 0, n_jobs: 0, max_jobs, busy: BTreeMap::new() }
    }

    /// Returns whether no player of a match is in another match.
    pub(super) fn are_players_free(&self, need: &Need) -> bool {
        need.addresses.iter().all(|address| !self.busy.contains_key(address))
    }

    /// Takes the resources of a match, if they are free. A match that needs more processors than
    /// the machine has gets all of them, with no other match beside it.
    pub(super) fn take(&mut self, need: &Need) -> bool {
        let has_room = self.n_used + need.cores <= self.n_cores || self.n_used == 0;
        let is_free = has_room && self.n_jobs < self.max_jobs && self.are_players_free(need);
        if is_free {
            self.n_used += need.cores;
            self.n_jobs += 1;
            need.addresses
                .iter()
                .for_each(|address| *self.busy.entry(address.clone()).or_default() += 1);
        }
        is_free
    }

    pub(super) fn give_back(&mut self, need: &Need) {
        self.n_used -= need.cores;
        self.n_jobs -= 1;
        need.addresses.iter().for_each(|address| {
            self.busy.remove(address);
        });
    }

    pub(super) fn is_idle(&self) -> bool {
        self.n_jobs == 0
    }
}

#[cfg(test)]
mod tests {
    use agon_match::tournament::read;

    use super::*;

    fn need(players: &str, thinking: &str, turn_taking: bool, n_processors: usize) -> Need {
        let text = format!("games = [\"x\"]\n{thinking}\nplayers = [{players}]\n");
        let t = read(&text, &crate::tournament::parse_entrant).expect("the tournament is valid");
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

    #[test]
    fn no_processor_is_assigned_twice() {
        let one = |cores| Need { cores, addresses: Vec::new() };
        let mut cores = Cores::new(4, 10);
        assert!(cores.take(&one(2)) && cores.take(&one(2)) && !cores.take(&one(1)));
        cores.give_back(&one(2));
        assert!(!cores.take(&one(3)) && cores.take(&one(1)) && cores.take(&one(1)));
        let mut small = Cores::new(2, 1);
        assert!(small.take(&one(9)), "a match alone gets all processors");
        assert!(!small.take(&one(0)), "the limit is one match at a time");
        small.give_back(&one(9));
        assert!(small.is_idle());
        let far = Need { cores: 0, addresses: vec!["far:1".to_owned()] };
        let mut cores = Cores::new(4, 10);
        assert!(cores.take(&far) && !cores.take(&far));
        cores.give_back(&far);
        assert!(cores.take(&far));
    }
}
