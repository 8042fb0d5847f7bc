//! What holds in every state of a small game, found by a look at all of them.
//!
//! Some properties are hard to prove from rules and easy to check where there are few states. A
//! survey is exact: it has looked at every joint move of every reachable state.

use std::collections::BTreeMap;

use agon_circuit::{Bits, ScalarCircuit};
use agon_game::{Position as _, joint_moves};

use crate::numbered::Numbers;

/// What holds in every reachable state of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// Number of reachable states.
    pub n_states: usize,
    /// Number of joint moves of all these states.
    pub n_steps: usize,
    /// Whether at most one player has a choice in every state. Nature does not count.
    pub is_turn_taking: bool,
    /// The sum of the payoffs of all players, if it is the same in every final state.
    pub constant_sum: Option<f64>,
    /// Number of steps of the longest play; `None` if a state can occur twice in a play.
    pub longest: Option<usize>,
}

/// Maximum number of joint moves for each state that a survey may have, on average.
const MAX_BRANCHING: usize = 16;

/// Surveys a game. Returns `None` if it has more than `max_states` states, too many joint moves, or
/// a state that cannot be computed.
///
/// ```
/// use agon::{Game, numbered::Numbers, survey::survey};
/// let numbers = Numbers::of(&Game::open("tic-tac-toe")?)?;
/// let found = survey(&numbers, 10_000).expect("tic-tac-toe is small");
/// assert_eq!((found.n_states, found.longest), (5478, Some(9)));
/// assert_eq!((found.is_turn_taking, found.constant_sum), (true, Some(100.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn survey(numbers: &Numbers, max_states: usize) -> Option<Survey> {
    let mut position = numbers.game().compiled()?.start();
    let max_steps = max_states.saturating_mul(MAX_BRANCHING);
    let mut graph = Graph::default();
    graph.number_of(position.state());
    let (mut is_turn_taking, mut sums) = (true, Vec::new());
    let mut at = 0;
    while at < graph.states.len() {
        position.go_to(&graph.states[at].clone());
        if position.fault().is_some() {
            return None;
        }
        let mut children = Vec::new();
        if position.is_terminal() {
            let players = position.shape().players();
            sums.push(players.map(|role| position.payoff(role)).sum::<f64>());
        } else {
            let shape = position.shape();
            let n_choosing =
                shape.players().filter(|role| position.legal_moves(*role).len() > 1).count();
            is_turn_taking &= n_choosing <= 1;
            if graph.n_steps + n_joints(&position) > max_steps {
                return None;
            }
            for joint in joint_moves(&position) {
                position.go_to(&graph.states[at].clone());
                position.advance(&joint);
                children.push(graph.number_of(position.state()));
                if graph.states.len() > max_states {
                    return None;
                }
            }
            graph.n_steps += children.len();
            children.sort_unstable();
            children.dedup();
        }
        graph.children.push(children);
        at += 1;
    }
    let constant_sum = sums.first().copied().filter(|first| sums.iter().all(|sum| sum == first));
    Some(Survey {
        n_states: graph.states.len(),
        n_steps: graph.n_steps,
        is_turn_taking,
        constant_sum,
        longest: graph.longest(),
    })
}

/// Returns the number of joint moves of a position.
fn n_joints(position: &ScalarCircuit) -> usize {
    let roles = position.shape().roles();
    roles.map(|role| position.legal_moves(role).len()).fold(1, usize::saturating_mul)
}

/// The states found so far, and which follow which.
#[derive(Default)]
struct Graph {
    states: Vec<Bits>,
    numbers: BTreeMap<Vec<u64>, u32>,
    children: Vec<Vec<u32>>,
    n_steps: usize,
}

impl Graph {
    fn number_of(&mut self, state: &Bits) -> u32 {
        let next = self.states.len() as u32;
        *self.numbers.entry(state.words().to_vec()).or_insert_with(|| {
            self.states.push(state.clone());
            next
        })
    }

    /// Returns the length of the longest path from the start, or `None` if there is a cycle: states
    /// are taken away in the order in which all their predecessors are gone.
    fn longest(&self) -> Option<usize> {
        let mut n_before = vec![0_u32; self.states.len()];
        for &child in self.children.iter().flatten() {
            n_before[child as usize] += 1;
        }
        let mut depths = vec![0_usize; self.states.len()];
        // Every state is reachable, so only the start can have no predecessor.
        let mut ready = if n_before[0] == 0 { vec![0_u32] } else { Vec::new() };
        let mut n_taken = 0;
        while let Some(state) = ready.pop() {
            n_taken += 1;
            for &child in &self.children[state as usize] {
                let child = child as usize;
                depths[child] = depths[child].max(depths[state as usize] + 1);
                n_before[child] -= 1;
                if n_before[child] == 0 {
                    ready.push(child as u32);
                }
            }
        }
        (n_taken == self.states.len()).then(|| depths.into_iter().max().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Game;

    fn surveyed(name: &str) -> Option<Survey> {
        let numbers = Numbers::of(&Game::open(name).expect("it ships")).expect("it has a circuit");
        survey(&numbers, 5_000)
    }

    #[test]
    fn small_games_are_known_and_large_ones_are_not() {
        let kuhn = surveyed("kuhn-poker").expect("it is small");
        assert_eq!((kuhn.is_turn_taking, kuhn.constant_sum), (true, Some(100.0)));
        assert_eq!(kuhn.longest, Some(4));
        let pennies = surveyed("matching-pennies").expect("it is small");
        assert!(!pennies.is_turn_taking);
        assert_eq!(surveyed("othello"), None);
    }

    /// A play may go back and forth between two states for ever.
    #[test]
    fn cycles_have_no_longest_play() {
        let rules = "(role r) (init (at 1)) (base (at 1)) (base (at 2)) (input r go) (legal r go)
            (input r stay) (legal r stay)
            (<= (next (at 2)) (true (at 1)) (does r go)) (<= (next (at 1)) (true (at 2)) (does r go))
            (<= (next (at 1)) (true (at 1)) (does r stay)) (<= (next (at 3)) (true (at 2)) (does r stay))
            (base (at 3)) (<= terminal (true (at 3))) (goal r 100)";
        let source = std::sync::Arc::new(agon_text::Source::new("rules", rules));
        let game = Game::from_source(source, &Default::default()).expect("the rules are sound");
        let found = survey(&Numbers::of(&game).expect("it is finite"), 100).expect("it is small");
        assert_eq!((found.n_states, found.longest), (3, None));
    }
}
