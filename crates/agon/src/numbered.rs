//! Moves and facts as numbers, for programs that learn or that play many games.
//!
//! Text moves are convenient and slow. A game that is played by a circuit has finitely many moves
//! and fluents, so each has a number that means the same at every position and in every process:
//! [`Numbers`] has the tables, and [`NumberedPosition`] plays by them. [`crate::batch`] plays
//! thousands of games at once in the same numbers.
//!
//! Players share one list of *actions*: two roles that may both `(mark 1 1)` use the same number
//! for it. Nature has a list of its own, because its moves are not choices.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use agon_analysis::properties::prove_turn_taking;
use agon_circuit::{Bits, Circuit, Input, ScalarCircuit};
use agon_game::{Hidden as _, Notation as _, Position as _, Rng, Role, Shape};

use crate::game::Game;
use crate::position::{PlayError, Position};

/// The number of a move. Players count in [`Numbers::actions`], nature in
/// [`Numbers::nature_moves`].
pub type Action = u32;

/// Marks a move that a role never has.
const NONE: u32 = u32::MAX;

/// The moves and fluents of a game by number.
pub struct Numbers {
    game: Game,
    circuit: Arc<Circuit>,
    actions: Vec<String>,
    /// By input, counted over all roles: its action.
    action_of: Vec<Action>,
    /// By role and action: the input, or [`NONE`].
    input_of: Vec<Vec<u32>>,
    /// By role: its first input, and at the end the number of inputs.
    first_inputs: Vec<u32>,
    /// By input: whether it is a waiting move of a game in which players provably take turns.
    waits: Vec<bool>,
    /// Whether it is proved that at most one player has a choice at a time.
    is_turn_taking: bool,
    /// The start position, of which others are copies.
    start: std::sync::Mutex<ScalarCircuit>,
}

/// Why the moves of a game have no numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoNumbers(String);

impl fmt::Display for NoNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "moves have no fixed numbers: {}", self.0)
    }
}

impl std::error::Error for NoNumbers {}

impl Numbers {
    /// Numbers the moves and fluents of a game.
    ///
    /// # Errors
    /// [`NoNumbers`] if no circuit plays the game. The message names the rule that prevents it.
    pub fn of(game: &Game) -> Result<Arc<Numbers>, NoNumbers> {
        let Some(compiled) = game.compiled() else {
            let why = game.notes().first().cloned();
            return Err(NoNumbers(why.unwrap_or_else(|| {
                "the game is played by the interpreter, because its universe is not finite or \
                 because the interpreter was asked for"
                    .to_owned()
            })));
        };
        let circuit = Arc::clone(&compiled.circuit);
        let mut actions: Vec<String> = Vec::new();
        let mut known: BTreeMap<&str, Action> = BTreeMap::new();
        let (mut action_of, mut first_inputs, mut waits) = (Vec::new(), vec![0], Vec::new());
        for (role, of_role) in circuit.roles.iter().enumerate() {
            for (move_idx, text) in of_role.moves.iter().enumerate() {
                let action = if of_role.is_nature {
                    move_idx as Action
                } else {
                    *known.entry(text).or_insert_with(|| {
                        actions.push(text.clone());
                        actions.len() as Action - 1
                    })
                };
                action_of.push(action);
                waits.push(compiled.turns.as_ref().is_some_and(|t| t.waits[role][move_idx]));
            }
            first_inputs.push(action_of.len() as u32);
        }
        let mut input_of = Vec::new();
        for (role, of_role) in circuit.roles.iter().enumerate() {
            let n = if of_role.is_nature { of_role.moves.len() } else { actions.len() };
            let mut inputs = vec![NONE; n];
            for input in first_inputs[role]..first_inputs[role + 1] {
                inputs[action_of[input as usize] as usize] = input;
            }
            input_of.push(inputs);
        }
        let start = std::sync::Mutex::new(compiled.start());
        Ok(Arc::new(Numbers {
            game: game.clone(),
            circuit,
            actions,
            action_of,
            input_of,
            first_inputs,
            waits,
            is_turn_taking: prove_turn_taking(compiled),
            start,
        }))
    }

    /// Returns the game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Returns what is known of the game.
    pub fn shape(&self) -> &Shape {
        self.game.shape()
    }

    /// Returns whether it is proved that at most one player has a choice at a time, nature aside.
    /// Also true if there is only one player.
    pub fn is_turn_taking(&self) -> bool {
        self.is_turn_taking
    }

    /// Returns the texts of all moves of players, by number.
    pub fn actions(&self) -> &[String] {
        &self.actions
    }

    /// Returns the texts of all moves of nature, by number. Empty if there is no nature.
    pub fn nature_moves(&self) -> &[String] {
        self.shape().nature.map_or(&[], |role| &self.circuit.roles[role.index()].moves)
    }

    /// Returns the texts of all fluents, by number. A state is a set of these.
    pub fn fluents(&self) -> &[String] {
        &self.circuit.base
    }

    /// Returns the texts of everything that a role may perceive, by number. Empty if nothing is
    /// hidden.
    pub fn percepts(&self, role: Role) -> impl ExactSizeIterator<Item = &str> {
        self.circuit.outputs.percepts[role.index()].iter().map(|(text, _)| text.as_str())
    }

    /// Returns the number of a move of a role by its exact text.
    pub fn action(&self, role: Role, text: &str) -> Option<Action> {
        let moves = &self.circuit.roles[role.index()].moves;
        let move_idx = moves.iter().position(|m| m == text)?;
        Some(self.action_of[self.first_inputs[role.index()] as usize + move_idx])
    }

    /// Returns the text of a move of a role.
    pub fn text(&self, role: Role, action: Action) -> Option<&str> {
        let input = self.input(role, action)?;
        let move_idx = input.0 - self.first_inputs[role.index()];
        Some(&self.circuit.roles[role.index()].moves[move_idx as usize])
    }

    /// Returns the start position.
    pub fn start(self: &Arc<Self>) -> NumberedPosition {
        let cursor = self.start.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        NumberedPosition {
            numbers: Arc::clone(self),
            cursor,
            joints: Vec::new(),
            percepts: Vec::new(),
        }
    }

    pub(crate) fn input(&self, role: Role, action: Action) -> Option<Input> {
        let input = *self.input_of[role.index()].get(action as usize)?;
        (input != NONE).then_some(Input(input))
    }

    pub(crate) fn action_of(&self, input: Input) -> Action {
        self.action_of[input.0 as usize]
    }

    /// Returns, by input, its action.
    pub(crate) fn actions_of(&self) -> &[Action] {
        &self.action_of
    }

    pub(crate) fn inputs_of(&self, role: Role) -> std::ops::Range<u32> {
        self.first_inputs[role.index()]..self.first_inputs[role.index() + 1]
    }

    pub(crate) fn is_wait(&self, input: Input) -> bool {
        self.waits[input.0 as usize]
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Numbers").field("actions", &self.actions.len()).finish_non_exhaustive()
    }
}

/// Which roles are to move at a position.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ToMove {
    /// No role, because play has ended.
    Ended,
    /// One player. Every other player has only one legal move.
    One(Role),
    /// Several players at the same time.
    Several,
}

/// A position with moves as numbers, and the moves that led to it.
///
/// ```
/// use agon::{Game, Role};
/// use agon::numbered::Numbers;
/// let numbers = Numbers::of(&Game::open("tic-tac-toe")?)?;
/// let mut position = numbers.start();
/// let (xplayer, oplayer) = (Role::new(0), Role::new(1));
/// let corner = numbers.action(xplayer, "(mark 1 1)").expect("it is a move of the game");
/// assert!(position.legal(xplayer).any(|action| action == corner));
/// position.play(&[corner, numbers.action(oplayer, "noop").expect("it is a move")])?;
/// assert_eq!(position.legal(oplayer).count(), 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct NumberedPosition {
    numbers: Arc<Numbers>,
    cursor: ScalarCircuit,
    /// The joint moves that led here, one after another.
    joints: Vec<Input>,
    /// By step and role: what the role perceived, if the game has hidden information.
    percepts: Vec<Vec<String>>,
}

impl NumberedPosition {
    /// Returns the tables of the game.
    pub fn numbers(&self) -> &Arc<Numbers> {
        &self.numbers
    }

    /// Tells whether play has ended.
    pub fn is_terminal(&self) -> bool {
        self.cursor.is_terminal()
    }

    /// Returns why this position could not be computed, if so.
    pub fn fault(&self) -> Option<&agon_game::Fault> {
        self.cursor.fault()
    }

    /// Returns the legal moves of a role, in ascending order of their moves in the rules.
    pub fn legal(&self, role: Role) -> impl ExactSizeIterator<Item = Action> {
        self.cursor.legal_moves(role).iter().map(|&input| self.numbers.action_of(input))
    }

    /// Returns the payoff of a role if play ended here.
    pub fn payoff(&self, role: Role) -> f64 {
        self.cursor.payoff(role)
    }

    /// Returns the state: bit `i` says whether fluent `i` holds.
    pub fn bits(&self) -> &Bits {
        self.cursor.state()
    }

    /// Returns the fluents that hold, sorted.
    pub fn facts(&self) -> Vec<String> {
        self.cursor.state_text()
    }

    /// Returns a hash of the state, which is the same in every run of the same build.
    pub fn key(&self) -> u64 {
        self.cursor.key()
    }

    /// Returns the number of steps from the start.
    pub fn n_steps(&self) -> usize {
        self.joints.len() / self.shape().role_names.len()
    }

    /// Returns the joint moves that led here, in the numbers of each role.
    pub fn history(&self) -> impl ExactSizeIterator<Item = Vec<Action>> {
        let n_roles = self.shape().role_names.len();
        let to_actions =
            |joint: &[Input]| joint.iter().map(|&input| self.numbers.action_of(input)).collect();
        self.joints.chunks(n_roles).map(to_actions)
    }

    /// Returns the joint move that led here, if this is not the start.
    pub(crate) fn last_joint(&self) -> Option<&[Input]> {
        let n_roles = self.shape().role_names.len();
        self.joints.len().checked_sub(n_roles).map(|first| &self.joints[first..])
    }

    /// Returns the joint moves that led here as texts.
    pub fn history_text(&self) -> impl Iterator<Item = Vec<String>> {
        let texts = |joint: &[Input]| joint.iter().map(|m| self.cursor.move_text(m)).collect();
        self.joints.chunks(self.shape().role_names.len()).map(texts)
    }

    /// Returns what a role perceived in a step, counted from 0. In a game of perfect information
    /// this is the joint move.
    pub fn percepts(&self, step: usize, role: Role) -> Vec<String> {
        let n_roles = self.shape().role_names.len();
        if self.shape().hidden {
            return self.percepts.get(step * n_roles + role.index()).cloned().unwrap_or_default();
        }
        let joint = self.joints.chunks(n_roles).nth(step).unwrap_or_default();
        joint.iter().map(|m| self.cursor.move_text(m)).collect()
    }

    /// Returns which players are to move. Nature does not count.
    ///
    /// Where no player has a choice, it is the player whose move is not a proved waiting move, or
    /// else the first player.
    pub fn to_move(&self) -> ToMove {
        if self.is_terminal() {
            return ToMove::Ended;
        }
        let shape = self.shape();
        let mut choosers = shape.players().filter(|&role| self.cursor.legal_moves(role).len() > 1);
        match (choosers.next(), choosers.next()) {
            (Some(only), None) => ToMove::One(only),
            (Some(_), Some(_)) => ToMove::Several,
            (None, _) => {
                let moves = |role: &Role| {
                    self.cursor
                        .legal_moves(*role)
                        .first()
                        .is_some_and(|&m| !self.numbers.is_wait(m))
                };
                let mover = shape.players().find(moves).or_else(|| shape.players().next());
                mover.map_or(ToMove::Several, ToMove::One)
            }
        }
    }

    /// Makes a joint move: one legal move for each role, nature included, in the order of the
    /// roles.
    ///
    /// # Errors
    /// [`PlayError::Illegal`] if it cannot be made. The position is then unchanged.
    pub fn play(&mut self, joint: &[Action]) -> Result<(), PlayError> {
        let n_roles = self.shape().role_names.len();
        if self.is_terminal() {
            let fault = self.cursor.fault().cloned();
            return Err(PlayError::Illegal(agon_game::IllegalMove::Ended { fault }));
        }
        if joint.len() != n_roles {
            let (expected, given) = (n_roles, joint.len());
            return Err(PlayError::Illegal(agon_game::IllegalMove::Count { expected, given }));
        }
        let mut inputs = Vec::with_capacity(n_roles);
        for (role, &action) in self.shape().roles().zip(joint) {
            let input = self.numbers.input(role, action);
            match input.filter(|input| self.cursor.is_legal(role, input)) {
                Some(input) => inputs.push(input),
                None => return Err(PlayError::Illegal(self.illegal(role, action))),
            }
        }
        self.advance(&inputs);
        Ok(())
    }

    /// Makes a random joint move: uniform for players, by its chances for nature. Does nothing once
    /// play has ended.
    pub fn play_random(&mut self, rng: &mut Rng) {
        if !self.is_terminal() {
            let mut joint = Vec::new();
            self.cursor.draw(rng, &mut joint);
            self.advance(&joint);
        }
    }

    /// Returns the probability with which nature makes a move here.
    pub fn chance(&self, nature_move: Action) -> f64 {
        let Some(nature) = self.shape().nature else { return 0.0 };
        self.numbers.input(nature, nature_move).map_or(0.0, |input| self.cursor.chance(&input))
    }

    /// Returns the position with text moves, for searches, explanations and matches.
    pub fn to_position(&self) -> Position {
        let mut position = self.numbers.game.start();
        for joint in self.history_text() {
            let joint: Vec<&str> = joint.iter().map(String::as_str).collect();
            position.play_joint(&joint).expect("these moves were legal here before");
        }
        position
    }

    fn shape(&self) -> &Shape {
        self.numbers.game.shape()
    }

    fn advance(&mut self, joint: &[Input]) {
        if self.shape().hidden {
            for role in self.numbers.game.shape().roles() {
                self.percepts.push(self.cursor.percepts(joint, role));
            }
        }
        self.cursor.advance(joint);
        self.joints.extend_from_slice(joint);
    }

    fn illegal(&self, role: Role, action: Action) -> agon_game::IllegalMove {
        let legal = self.cursor.legal_moves(role);
        let text = match self.numbers.text(role, action) {
            Some(text) => format!("{text} (action {action})"),
            None => format!("action {action}"),
        };
        agon_game::IllegalMove::NotLegal {
            role,
            role_name: self.shape().role_names[role.index()].clone(),
            text,
            mistake: None,
            examples: legal.iter().take(5).map(|m| self.cursor.move_text(m)).collect(),
            n_legal: legal.len(),
        }
    }
}

impl fmt::Debug for NumberedPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NumberedPosition").field("facts", &self.facts()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
