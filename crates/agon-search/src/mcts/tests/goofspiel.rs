//! Goofspiel with few cards: simultaneous moves in several rounds. The strategies of the search are
//! compared with exact values of the rounds that follow.

use agon_game::{Position, Role, Shape};

use super::think;
use crate::solve::{SolveOptions, solve};
use crate::{Budget, MctsOptions, Simultaneous};

/// Players with the cards 1 to n bid for prizes n, n - 1, … 1. The higher card wins the prize; equal
/// cards win nothing. The player with more points gets 100.
#[derive(Clone, Debug)]
struct Goofspiel {
    shape: Shape,
    state: State,
    hands: [Vec<u8>; 2],
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct State {
    /// The cards in the hands, as bits.
    hands: [u8; 2],
    /// The next prize; 0 at the end.
    prize: u8,
    /// The points of the first player less those of the second one.
    lead: i8,
}

impl Goofspiel {
    fn start(n: u8, lead: i8) -> Goofspiel {
        let all = (1 << n) - 1;
        let shape = Shape {
            constant_sum: Some(100.0),
            ..Shape::new(vec!["first".into(), "second".into()], None)
        };
        let state = State { hands: [all; 2], prize: n, lead };
        let mut start = Goofspiel { shape, state, hands: [Vec::new(), Vec::new()] };
        start.go_to(&state);
        start
    }
}

impl Position for Goofspiel {
    type Move = u8;
    type State = State;

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn is_terminal(&self) -> bool {
        self.state.prize == 0
    }

    fn legal_moves(&self, role: Role) -> &[u8] {
        &self.hands[role.index()]
    }

    fn payoff(&self, player: Role) -> f64 {
        let lead = if player.index() == 0 { self.state.lead } else { -self.state.lead };
        50.0 * (1.0 + f64::from(lead.signum()))
    }

    fn advance(&mut self, joint: &[u8]) {
        let State { mut hands, prize, lead } = self.state;
        for (hand, &card) in hands.iter_mut().zip(joint) {
            *hand &= !(1 << (card - 1));
        }
        let won = i8::try_from(prize).unwrap_or(0) * (joint[0].cmp(&joint[1]) as i8);
        self.go_to(&State { hands, prize: prize - 1, lead: lead + won });
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn go_to(&mut self, state: &State) {
        self.state = *state;
        let cards = |hand: u8| (1..=8).filter(|card| hand >> (card - 1) & 1 == 1).collect();
        self.hands =
            state.hands.map(|hand| if state.prize == 0 { Vec::new() } else { cards(hand) });
    }

    fn key(&self) -> u64 {
        let State { hands, prize, lead } = self.state;
        u64::from(hands[0]) << 24
            | u64::from(hands[1]) << 16
            | u64::from(prize) << 8
            | u64::from(lead.cast_unsigned())
    }
}

/// Returns the exact payoff of the first player.
fn value(position: &mut Goofspiel) -> f64 {
    if position.is_terminal() {
        return position.payoff(Role::new(0));
    }
    let solved = solve(position, &Budget::nodes(1_000_000), &SolveOptions::default());
    solved.expect("the game is small").values[0]
}

/// Returns the value of a game for a role, and how much less than that its strategy of the search
/// gets against the best reply, if both play perfectly from the next round on.
fn value_and_exploitability(start: &Goofspiel, us: usize, options: &MctsOptions) -> (f64, f64) {
    let report = think(&mut start.clone(), us, options, 11, 60_000);
    let ours = |payoff: f64| if us == 0 { payoff } else { 100.0 - payoff };
    let replies = start.legal_moves(Role::new(1 - us)).iter().map(|&reply| {
        let expected = report.candidates.iter().map(|candidate| {
            let mut after = start.clone();
            let mut joint = [candidate.m, reply];
            if us == 1 {
                joint.reverse();
            }
            after.advance(&joint);
            candidate.probability * ours(value(&mut after))
        });
        expected.sum::<f64>()
    });
    let worst = replies.fold(f64::INFINITY, f64::min);
    let exact = ours(value(&mut start.clone()));
    assert!((report.value - exact).abs() < 6.0, "{} for {exact}", report.value);
    (exact, exact - worst)
}

#[test]
fn regret_matching_can_hardly_be_exploited() {
    let options =
        MctsOptions { simultaneous: Simultaneous::REGRET_MATCHING, ..MctsOptions::default() };
    for (n, lead) in [(3, 0), (4, 0), (3, 1), (4, 1), (4, -2)] {
        let start = Goofspiel::start(n, lead);
        for us in 0..2 {
            let (exact, lost) = value_and_exploitability(&start, us, &options);
            if lead == 0 {
                assert!((exact - 50.0).abs() < 1e-6, "the game is symmetric: {exact}");
            }
            assert!(lost < 4.0, "{n} cards, lead {lead}, role {us}: {lost} of {exact}");
        }
    }
}
