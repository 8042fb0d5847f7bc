//! Assigns processors to matches, so that matches do not share a processor and slow each other
//! down. [`Need`] says what a match needs.

use std::collections::BTreeMap;

use agon::tournament::Need;

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
    use super::*;

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
