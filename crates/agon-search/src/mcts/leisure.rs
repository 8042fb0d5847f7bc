//! Whether the thread that keeps the tree has time for playouts of its own.

/// How much the last round counts in what is known of all.
const NEWS: f64 = 0.05;
/// A round that takes more than this many times as long as usual was interrupted, and tells nothing.
const INTERRUPTED: f64 = 4.0;

/// How long things have taken of late, in seconds.
#[derive(Default)]
pub(super) struct Leisure {
    /// To put a round of another thread into the tree and to gather the next one.
    served: f64,
    /// For another thread to play one out.
    played: f64,
}

impl Leisure {
    pub(super) fn note_served(&mut self, seconds: f64) {
        note(&mut self.served, seconds);
    }

    pub(super) fn note_played(&mut self, seconds: f64) {
        note(&mut self.played, seconds);
    }

    /// Whether there is time left when so many others have what they need.
    pub(super) fn is_left(&self, n_others: usize) -> bool {
        self.played / n_others as f64 > self.served
    }
}

fn note(known: &mut f64, seconds: f64) {
    if *known == 0.0 {
        *known = seconds;
    } else {
        *known += NEWS * (seconds.min(INTERRUPTED * *known) - *known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leisure(served: f64, played: f64) -> Leisure {
        let mut leisure = Leisure::default();
        leisure.note_served(served);
        leisure.note_played(played);
        leisure
    }

    #[test]
    fn time_is_left_where_others_are_busy_for_longer_than_it_takes_to_serve_them() {
        assert!(!Leisure::default().is_left(1), "nothing is known yet");
        assert!(leisure(10e-6, 30e-6).is_left(2));
        assert!(!leisure(10e-6, 30e-6).is_left(3));
        assert!(!leisure(30e-6, 10e-6).is_left(1));
    }

    #[test]
    fn what_changes_is_learnt_and_what_happens_once_is_not() {
        let mut leisure = leisure(10e-6, 30e-6);
        leisure.note_served(1.0);
        assert!(leisure.is_left(1), "one interruption says nothing");
        (0..100).for_each(|_| leisure.note_served(50e-6));
        assert!(!leisure.is_left(1));
        (0..100).for_each(|_| leisure.note_played(70e-6));
        assert!(leisure.is_left(1));
    }
}
