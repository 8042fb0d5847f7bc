//! A search in the seat of a player.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_game::{Hidden, Notation, Observation, Role};
use agon_match::{Belief, Choice, MoveTracker, Player, PlayerError, Thought};
use agon_search::{Budget, Search};

/// A search that plays a game with complete information. It keeps its own position.
pub struct SearchPlayer<P, S> {
    position: P,
    role: Role,
    search: S,
}

impl<P: Notation, S: Search<P>> SearchPlayer<P, S> {
    /// Makes a player of a role in a match that starts at `start`.
    pub fn new(start: P, role: Role, search: S) -> SearchPlayer<P, S> {
        SearchPlayer { position: start, role, search }
    }

    /// Returns the joint move that follows from the own move alone: every other role has only one
    /// move.
    fn certain_joint(&self, own_move: &str) -> Option<Vec<P::Move>> {
        let roles = self.position.shape().roles();
        roles
            .map(|role| match self.position.legal_moves(role) {
                _ if role == self.role => self.position.parse_move(role, own_move),
                [only] => Some(only.clone()),
                [] | [_, _, ..] => None,
            })
            .collect()
    }
}

impl<P: Notation + 'static, S: Search<P>> Player for SearchPlayer<P, S> {
    fn prepare(&mut self, budget: &Budget) -> Result<(), PlayerError> {
        // A budget of 0 iterations means that the match counts iterations, and the first move must
        // cost as much as the others.
        if budget.iterations != Some(0) && !self.position.is_terminal() {
            self.search.think(&mut self.position, self.role, budget);
        }
        Ok(())
    }

    fn legal_moves(&mut self, _: &Budget) -> Vec<String> {
        legal_texts(&self.position, self.role)
    }

    fn move_tracker(&self) -> Option<Box<dyn MoveTracker>> {
        Some(Box::new(Follower {
            position: self.position.clone(),
            role: self.role,
            is_lost: false,
        }))
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, PlayerError> {
        match self.position.legal_moves(self.role) {
            [] => Err(PlayerError::Broken("the game has ended for this player".to_owned())),
            [only] => Ok(Choice { text: self.position.move_text(only), thought: None }),
            [_, _, ..] => {
                let report = self.search.think(&mut self.position, self.role, budget);
                let thought = crate::thought_of(&report, &self.position);
                let thought = Thought { method: self.search.method(), ..thought };
                Ok(Choice { text: self.position.move_text(&report.best), thought: Some(thought) })
            }
        }
    }

    fn ponder(&mut self, own_move: Option<&str>, budget: &Budget) {
        if self.position.is_terminal() {
            return;
        }
        let home = self.position.state().clone();
        if let Some(joint) = own_move.and_then(|text| self.certain_joint(text)) {
            self.position.advance(&joint);
        }
        if !self.position.is_terminal() {
            self.search.ponder(&mut self.position, self.role, budget);
        }
        self.position.go_to(&home);
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        if follow(&mut self.position, observation) {
            return Ok(());
        }
        let seen = observation.seen.join(" ");
        Err(PlayerError::Broken(format!("`{seen}` is not a joint move in the player's position")))
    }
}

fn legal_texts<P: Notation>(position: &P, role: Role) -> Vec<String> {
    position.legal_moves(role).iter().map(|m| position.move_text(m)).collect()
}

/// Makes the observed joint move, and returns whether it is legal.
fn follow<P: Notation>(position: &mut P, observation: &Observation) -> bool {
    let roles = position.shape().roles();
    let moves = roles.zip(&observation.seen).map(|(role, text)| position.parse_move(role, text));
    let joint: Option<Vec<P::Move>> = moves.collect();
    match joint.filter(|joint| joint.len() == position.shape().role_names.len()) {
        Some(joint) => position.advance(&joint),
        None => return false,
    }
    true
}

/// Follows a match while the player thinks.
struct Follower<P> {
    position: P,
    role: Role,
    is_lost: bool,
}

impl<P: Notation> MoveTracker for Follower<P> {
    fn learn(&mut self, observation: &Observation) {
        self.is_lost = self.is_lost || !follow(&mut self.position, observation);
    }

    fn moves(&self) -> Vec<String> {
        if self.is_lost { Vec::new() } else { legal_texts(&self.position, self.role) }
    }
}

/// A search for complete information that plays a game with hidden information. It searches a few
/// of the states that its role believes possible, each as if it were the true state, and plays the
/// move that is chosen in most of them (determinisation).
///
/// It uses only what its role may know, but it ignores the value of information. Searches made for
/// hidden information play better.
pub struct HiddenSearchPlayer<P: Hidden, S> {
    belief: Belief<P>,
    search: S,
}

/// Maximum number of states that are searched for a move.
const MAX_STATES: usize = 8;

impl<P: Hidden, S: Search<P>> HiddenSearchPlayer<P, S> {
    /// Makes a player of a role in a match that starts at `start`.
    pub fn new(start: P, role: Role, search: S, seed: u64) -> HiddenSearchPlayer<P, S> {
        HiddenSearchPlayer { belief: Belief::new(start, role, seed), search }
    }
}

/// The results of a move in the possible states.
struct Votes {
    text: String,
    /// Number of states in which the move is legal.
    n_legal: usize,
    /// Number of states in which the move is chosen.
    n_chosen: usize,
    /// Sum of the values in the states in which the move is chosen.
    value: f64,
}

impl<P: Hidden, S: Search<P>> Player for HiddenSearchPlayer<P, S> {
    fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
        Ok(())
    }

    fn legal_moves(&mut self, _: &Budget) -> Vec<String> {
        self.belief.legal_moves()
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, PlayerError> {
        let role = self.belief.role();
        let (position, states) = self.belief.worlds();
        let states: Vec<&P::State> = states.iter().take(MAX_STATES).collect();
        let mut votes = legal_votes(position, role, &states);
        match votes.as_slice() {
            [] => return Err(no_consistent_history()),
            [only] => return Ok(Choice { text: only.text.clone(), thought: None }),
            [_, _, ..] => {}
        }
        let mut thought: Option<Thought> = None;
        for (index, state) in states.iter().enumerate() {
            position.go_to(state);
            let share = equal_share(budget, states.len() - index, states.len());
            let report = self.search.think(position, role, &share);
            let best = position.move_text(&report.best);
            // A move with real parameters need not be listed.
            let index = votes.iter().position(|votes| votes.text == best).unwrap_or(votes.len());
            if index == votes.len() {
                let n_legal = n_states_with(position, role, &states, &best);
                position.go_to(state);
                votes.push(Votes { text: best, n_legal, n_chosen: 0, value: 0.0 });
            }
            votes[index].n_chosen += 1;
            votes[index].value += report.value;
            let here = crate::thought_of(&report, position);
            match &mut thought {
                None => thought = Some(here),
                Some(sum) => add_counts(sum, &here),
            }
        }
        // `min_by` returns the first of equals, so the order of the legal moves breaks ties.
        let best = votes.iter().min_by(|a, b| {
            (b.n_legal, b.n_chosen).cmp(&(a.n_legal, a.n_chosen)).then(b.value.total_cmp(&a.value))
        });
        let best = best.expect("there are at least two moves");
        // Values and lines of one state say nothing about the others, so only counts are kept.
        let thought = thought.map(|thought| Thought {
            value: thought.value.map(|_| best.value / best.n_chosen.max(1) as f64),
            is_proven: false,
            considered: Vec::new(),
            line: Vec::new(),
            ..thought
        });
        Ok(Choice { text: best.text.clone(), thought })
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        self.belief.learn(observation);
        Ok(())
    }
}

/// Returns the moves that are legal in some of the states, in the order in which they are met.
fn legal_votes<P: Notation>(position: &mut P, role: Role, states: &[&P::State]) -> Vec<Votes> {
    let mut votes: Vec<Votes> = Vec::new();
    for state in states {
        position.go_to(state);
        for m in position.legal_moves(role) {
            let text = position.move_text(m);
            match votes.iter_mut().find(|votes| votes.text == text) {
                Some(votes) => votes.n_legal += 1,
                None => votes.push(Votes { text, n_legal: 1, n_chosen: 0, value: 0.0 }),
            }
        }
    }
    votes
}

/// Returns the number of states in which a move is legal.
fn n_states_with<P: Notation>(
    position: &mut P,
    role: Role,
    states: &[&P::State],
    text: &str,
) -> usize {
    let mut is_legal = |state: &&&P::State| {
        position.go_to(state);
        !position.is_terminal() && position.parse_move(role, text).is_some()
    };
    states.iter().filter(|state| is_legal(state)).count()
}

fn add_counts(sum: &mut Thought, other: &Thought) {
    sum.iterations += other.iterations;
    sum.nodes += other.nodes;
    sum.playouts += other.playouts;
    sum.seconds += other.seconds;
    sum.depth = sum.depth.max(other.depth);
}

/// Returns the error of a player whose belief is empty.
pub(crate) fn no_consistent_history() -> PlayerError {
    PlayerError::Broken("found no history that is consistent with the percepts".to_owned())
}

/// Returns an equal part of the rest of a budget when `n_left` of `n` states are still to be
/// searched.
fn equal_share(budget: &Budget, n_left: usize, n: usize) -> Budget {
    let part = |amount: u64| (amount / n as u64).max(1);
    let now = Instant::now();
    Budget {
        deadline: budget.deadline.map(|deadline| {
            now + deadline.saturating_duration_since(now).max(Duration::ZERO) / n_left as u32
        }),
        iterations: budget.iterations.map(part),
        nodes: budget.nodes.map(part),
        stop: budget.stop.clone(),
        // The best move of one state is not the answer, so it is not reported as a hint.
        hint: Arc::default(),
    }
}
