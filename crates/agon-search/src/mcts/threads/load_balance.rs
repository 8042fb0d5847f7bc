//! Load balance: whether the coordinator has time for playouts of its own.

/// The weight of the last batch in the running means.
const LAST_WEIGHT: f64 = 0.05;
/// A batch that takes more than this many times as long as usual was interrupted and is not counted
/// in full.
const INTERRUPTED: f64 = 4.0;

/// Running means of the times that batches take, in seconds.
#[derive(Default)]
pub(super) struct LoadBalance {
    /// For the coordinator to apply the batch of a helper and to gather the next one.
    served: f64,
    /// For a helper to simulate a batch.
    played: f64,
}

impl LoadBalance {
    pub(super) fn note_served(&mut self, seconds: f64) {
        note(&mut self.served, seconds);
    }

    pub(super) fn note_played(&mut self, seconds: f64) {
        note(&mut self.played, seconds);
    }

    /// Returns whether the coordinator has time left when `n_helpers` helpers have what they need.
    pub(super) fn has_time(&self, n_helpers: usize) -> bool {
        self.played / n_helpers as f64 > self.served
    }
}

fn note(known: &mut f64, seconds: f64) {
    if *known == 0.0 {
        *known = seconds;
    } else {
        *known += LAST_WEIGHT * (seconds.min(INTERRUPTED * *known) - *known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(served: f64, played: f64) -> LoadBalance {
        let mut load = LoadBalance::default();
        load.note_served(served);
        load.note_played(played);
        load
    }

    #[test]
    fn time_is_left_if_helpers_play_longer_than_it_takes_to_serve_them() {
        assert!(!LoadBalance::default().has_time(1), "nothing is known yet");
        assert!(load(10e-6, 30e-6).has_time(2));
        assert!(!load(10e-6, 30e-6).has_time(3));
        assert!(!load(30e-6, 10e-6).has_time(1));
    }

    #[test]
    fn lasting_changes_count_and_single_interruptions_do_not() {
        let mut load = load(10e-6, 30e-6);
        load.note_served(1.0);
        assert!(load.has_time(1), "one interruption tells nothing");
        (0..100).for_each(|_| load.note_served(50e-6));
        assert!(!load.has_time(1));
        (0..100).for_each(|_| load.note_played(70e-6));
        assert!(load.has_time(1));
    }
}
