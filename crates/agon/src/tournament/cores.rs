//! How many processors a match keeps busy, so that no two matches share one and steal each other's clock.
//!
//! What is decided here: a player of our own counts as many processors as it has threads. Where players take turns, which has to be
//! proved, only one of them thinks at a time, so a match takes what the greediest of them does; else the sum. A program (`cmd:`) and a player that
//! listens on this machine count one each, unless `threads` says otherwise: what they do while others think is not known. A player
//! on another machine counts none, but plays one match at a time, as most do.

use std::collections::BTreeMap;

use agon_game::Shape;
use agon_match::SpecKind;
use agon_match::tournament::{Entrant, Thinking};

/// What a match needs while it is played.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Need {
    /// Processors.
    pub(super) cores: usize,
    /// Players elsewhere, by address, which must not be in another match.
    pub(super) addresses: Vec<String>,
}

impl Need {
    /// What these players, one to a role, need in a game.
    pub(super) fn of(
        seated: &[&Entrant],
        shape: &Shape,
        thinking: &Thinking,
        n_processors: usize,
    ) -> Need {
        let threads = seated.iter().map(|entrant| threads(entrant, shape, thinking, n_processors));
        let cores = if shape.turn_taking { threads.max().unwrap_or(0) } else { threads.sum() };
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
    match &entrant.spec.kind {
        SpecKind::BuiltIn(kind, settings) => {
            let given = kind.option("threads").map_or(0, |_| settings.integer("threads"));
            let is_single =
                matches!(kind.name, "random" | "legal" | "greedy" | "alphabeta" | "bestfirst");
            let is_alone = shape.turn_taking || shape.players().count() == 1;
            match usize::try_from(given).unwrap_or(usize::MAX) {
                // As our players decide by themselves: two at most, and only if the clock counts.
                0 if !is_single && thinking.iterations.is_none() && is_alone => {
                    n_processors.clamp(1, 2)
                }
                0 => 1,
                threads => threads,
            }
        }
        SpecKind::Http(address) if !is_here(&address.host) => 0,
        SpecKind::Http(_) | SpecKind::Command(_) | SpecKind::Human => 1,
    }
}

fn is_here(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn address(entrant: &Entrant) -> Option<String> {
    match &entrant.spec.kind {
        SpecKind::Http(address) => {
            Some(format!("{}:{}", address.host.to_lowercase(), address.port))
        }
        SpecKind::BuiltIn(..) | SpecKind::Command(_) | SpecKind::Human => None,
    }
}

/// What is free.
pub(super) struct Cores {
    n_cores: usize,
    n_used: usize,
    n_jobs: usize,
    max_jobs: usize,
    /// How many matches each address is in.
    busy: BTreeMap<String, usize>,
}

impl Cores {
    pub(super) fn new(n_cores: usize, max_jobs: usize) -> Cores {
        Cores { n_cores, n_used: 0, n_jobs: 0, max_jobs, busy: BTreeMap::new() }
    }

    /// Whether all players of a match are free for it.
    pub(super) fn are_players_free(&self, need: &Need) -> bool {
        need.addresses.iter().all(|address| !self.busy.contains_key(address))
    }

    /// Takes what a match needs, if it is free. One that needs more than there is gets all there is, alone.
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
        let t = read(&format!("games = [\"x\"]\n{thinking}\nplayers = [{players}]\n"))
            .expect("it is right");
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
    fn no_processor_is_given_out_twice() {
        let one = |cores| Need { cores, addresses: Vec::new() };
        let mut cores = Cores::new(4, 10);
        assert!(cores.take(&one(2)) && cores.take(&one(2)) && !cores.take(&one(1)));
        cores.give_back(&one(2));
        assert!(!cores.take(&one(3)) && cores.take(&one(1)) && cores.take(&one(1)));
        let mut small = Cores::new(2, 1);
        assert!(small.take(&one(9)), "alone it may have all there is");
        assert!(!small.take(&one(0)), "one match at a time was asked for");
        small.give_back(&one(9));
        assert!(small.is_idle());
        let far = Need { cores: 0, addresses: vec!["far:1".to_owned()] };
        let mut cores = Cores::new(4, 10);
        assert!(cores.take(&far) && !cores.take(&far));
        cores.give_back(&far);
        assert!(cores.take(&far));
    }
}
