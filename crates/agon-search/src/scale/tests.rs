//! Searches in a game whose rules do not bound payoffs.

use agon_game::{Budget, Position, Rng, Role, Shape};
use rand::SeedableRng as _;

use super::payoff_scale;
use crate::{Mcts, MctsOptions, Search as _};

/// One player adds 1, 2 or 3 to a sum in each of so many steps. The payoff is its half.
#[derive(Clone)]
struct Sum {
    shape: Shape,
    n_steps: u32,
    state: (u32, u32),
}

impl Sum {
    fn new(n_steps: u32, bounds: std::ops::RangeInclusive<f64>) -> Sum {
        let shape = Shape {
            turn_taking: true,
            payoffs: bounds,
            ..Shape::new(vec!["adder".to_owned()], None)
        };
        Sum { shape, n_steps, state: (0, 0) }
    }
}

impl Position for Sum {
    type Move = u32;
    type State = (u32, u32);

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn is_terminal(&self) -> bool {
        self.state.0 == self.n_steps
    }

    fn legal_moves(&self, _: Role) -> &[u32] {
        if self.is_terminal() { &[] } else { &[1, 2, 3] }
    }

    fn payoff(&self, _: Role) -> f64 {
        f64::from(self.state.1) / 2.0
    }

    fn advance(&mut self, joint: &[u32]) {
        self.state = (self.state.0 + 1, self.state.1 + joint[0]);
    }

    fn state(&self) -> &(u32, u32) {
        &self.state
    }

    fn go_to(&mut self, state: &(u32, u32)) {
        self.state = *state;
    }

    fn key(&self) -> u64 {
        (u64::from(self.state.0) << 32) | u64::from(self.state.1)
    }
}

const UNBOUNDED: std::ops::RangeInclusive<f64> = -1e9..=1e9;

#[test]
fn the_scale_is_that_of_plays_where_bounds_are_unknown() {
    assert_eq!(payoff_scale(&Sum::new(8, 0.0..=100.0)), 0.0..=100.0);
    for bounds in [UNBOUNDED, 0.0..=1e9] {
        let scale = payoff_scale(&Sum::new(8, bounds.clone()));
        // Payoffs are from 4 to 12, and random ones are near 8.
        assert!(
            (0.0..7.0).contains(scale.start()) && (9.0..16.0).contains(scale.end()),
            "{scale:?}"
        );
        assert!(bounds.contains(scale.start()));
        assert_eq!(payoff_scale(&Sum::new(8, bounds)), scale);
    }
    // All payoffs are equal.
    let mut ended = Sum::new(8, UNBOUNDED);
    ended.play_out(&mut Rng::seed_from_u64(1), 8);
    let payoff = ended.payoff(Role::new(0));
    assert_eq!(payoff_scale(&ended), payoff - 0.5..=payoff + 0.5);
}

#[test]
fn good_moves_are_preferred_where_bounds_are_unknown() {
    let options = MctsOptions { solver: false, ..MctsOptions::default() };
    let mut search = Mcts::new(options, 3);
    let report = search.think(&mut Sum::new(8, UNBOUNDED), Role::new(0), &Budget::iterations(900));
    let total: u64 = report.candidates.iter().map(|candidate| candidate.visits).sum();
    assert_eq!(report.best, 3);
    assert!(report.candidates[0].visits * 2 > total, "{:?}", report.candidates);
}

/// Values that differ by less than a thousand-millionth of the bounds are different.
#[test]
fn proofs_are_exact_where_bounds_are_unknown() {
    for n_steps in [1, 3] {
        let mut search = Mcts::new(MctsOptions::default(), 3);
        let mut game = Sum::new(n_steps, UNBOUNDED);
        let report = search.think(&mut game, Role::new(0), &Budget::iterations(2000));
        assert_eq!((report.best, report.is_proven), (3, true));
        assert_eq!(report.value, f64::from(3 * n_steps) / 2.0);
    }
}
