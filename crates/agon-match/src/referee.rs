//! The referee: a match as a state machine without clock and threads.
//!
//! The owner of a [`Match`] asks the players, passes their answers on, and decides when time is up.
//! A move that is late, illegal or missing is replaced by a legal one and noted in the step.
//!
//! Nature, substitute moves and each player draw from random streams of their own. So an error of a
//! player changes neither the dice nor the choices of other players.

use std::fmt;

use agon_game::kif::{canonical, first_term, spaced};
use agon_game::{Fault, Observation, Rng, Role, Shape, Table};
use rand::{RngExt as _, SeedableRng as _};

use crate::PlayerError;
use crate::player::derive_seed;

/// A match with its referee.
///
/// Until [`Match::is_over`], the owner repeats three things: it passes the answer of each role in
/// [`Match::asked`] to [`Match::receive`], calls [`Match::make_step`], and passes on to each player
/// its [`Match::observation`].
pub struct Match {
    table: Box<dyn Table>,
    options: MatchOptions,
    nature: Rng,
    substitute: Rng,
    /// By role: the answer in this step.
    answers: Vec<Option<Result<String, PlayerError>>>,
    /// By role: the error before the first step, as the code that records use; empty if none.
    start_errors: Vec<String>,
    steps: Vec<Step>,
    /// One more than steps, beginning with the initial state.
    states: Vec<Vec<String>>,
    /// By state: the time at which it was reached.
    state_times: Vec<u64>,
    ending: Option<Ending>,
}

/// How a match is played.
#[derive(Clone, Debug)]
pub struct MatchOptions {
    /// The seed of nature's moves and of substitute moves.
    pub seed: u64,
    /// Maximum number of steps. A longer match ends without a result.
    pub max_steps: usize,
    /// Joint moves that are made first without asking the players: a given opening, or the steps of
    /// a match that is resumed.
    pub opening: Vec<Vec<String>>,
    /// The move that replaces a missing or illegal one.
    pub substitute: Substitute,
}

/// The move that the referee makes for a player that has not sent a legal move.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Substitute {
    /// A random legal move, as in ggp-base and Tiltyard.
    #[default]
    Random,
    /// The first legal move, as in Dresden's GameController.
    First,
    /// The last legal move.
    Last,
}

impl Default for MatchOptions {
    fn default() -> MatchOptions {
        // 10 000 steps: far beyond any game with a step counter, but a game that runs in circles
        // still ends.
        MatchOptions {
            seed: 1,
            max_steps: 10_000,
            opening: Vec::new(),
            substitute: Substitute::default(),
        }
    }
}

/// A step that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// By role: the move made.
    pub joint: Vec<String>,
    /// By role: the error in the player's answer, if there was one. The move made is then the
    /// referee's [`Substitute`].
    pub errors: Vec<Option<MoveError>>,
}

/// Why the referee made a move in a player's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveError {
    /// The player sent no move.
    NoMove(PlayerError),
    /// The player's move is not legal. Contains the move.
    Illegal(String),
}

impl MoveError {
    /// Returns the code that records use, such as `TO` or `IL ( mark 1 1 )`.
    pub fn code(&self) -> String {
        match self {
            MoveError::NoMove(error) => error.code().to_owned(),
            MoveError::Illegal(text) => format!("IL {}", spaced(text)),
        }
    }
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MoveError::NoMove(error) => error.fmt(f),
            MoveError::Illegal(text) => write!(f, "`{text}` is not legal"),
        }
    }
}

impl std::error::Error for MoveError {}

/// How a match ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// By the rules, with the payoff of each role.
    Finished(Vec<f64>),
    /// By a fault in the rules, for which their author is responsible.
    Fault(Fault),
    /// By the maximum number of steps.
    TooLong,
    /// By the player of this role, who wanted to stop.
    Stopped(Role),
    /// By the host.
    Aborted,
}

impl Match {
    /// Starts a match at the position of the table. `now` is the time in milliseconds since 1970.
    pub fn new(table: Box<dyn Table>, options: MatchOptions, now: u64) -> Match {
        let n_roles = table.shape().role_names.len();
        let mut game = Match {
            nature: Rng::seed_from_u64(derive_seed(options.seed, 0)),
            substitute: Rng::seed_from_u64(derive_seed(options.seed, 1)),
            answers: vec![None; n_roles],
            start_errors: vec![String::new(); n_roles],
            steps: Vec::new(),
            states: vec![table.state()],
            state_times: vec![now],
            ending: None,
            options,
            table,
        };
        game.check_for_end();
        game
    }

    /// Returns the static facts about the game.
    pub fn shape(&self) -> &Shape {
        self.table.shape()
    }

    /// Returns the table with the whole position. Players must not see it.
    pub fn table(&self) -> &dyn Table {
        self.table.as_ref()
    }

    /// Returns how the match ended, or `None` while it is running.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Returns whether the match has ended.
    pub fn is_over(&self) -> bool {
        self.ending.is_some()
    }

    /// Returns the steps made so far.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the states so far, beginning with the initial state: one more than steps.
    pub fn states(&self) -> &[Vec<String>] {
        &self.states
    }

    /// Returns for each state when it was reached, in milliseconds since 1970.
    pub fn state_times(&self) -> &[u64] {
        &self.state_times
    }

    /// Returns for each role the error before the first step, as the code that records use. The
    /// text is empty if there was no error.
    pub fn start_errors(&self) -> &[String] {
        &self.start_errors
    }

    /// Notes that a player could not prepare. The match goes on unless the player wants to stop.
    pub fn not_ready(&mut self, role: Role, error: &PlayerError) {
        self.start_errors[role.index()] = error.code().to_owned();
        if *error == PlayerError::Stop {
            self.ending.get_or_insert(Ending::Stopped(role));
        }
    }

    /// Aborts the match on behalf of the host.
    pub fn abort(&mut self) {
        self.ending.get_or_insert(Ending::Aborted);
    }

    /// Returns the roles whose players have not answered in this step.
    pub fn asked(&self) -> Vec<Role> {
        if self.is_over() || self.is_opening() {
            return Vec::new();
        }
        self.shape().players().filter(|role| self.answers[role.index()].is_none()).collect()
    }

    /// Returns whether the next step belongs to the given opening.
    pub fn is_opening(&self) -> bool {
        self.steps.len() < self.options.opening.len()
    }

    /// Receives the move of a player, or the reason why there is none. Only the first answer of a
    /// player in each step counts.
    pub fn receive(&mut self, role: Role, answer: Result<String, PlayerError>) {
        if answer == Err(PlayerError::Stop) {
            self.ending.get_or_insert(Ending::Stopped(role));
        }
        self.answers[role.index()].get_or_insert(answer);
    }

    /// Makes a step with the answers received. A player that has not answered counts as late.
    /// Returns `None` and does nothing if the match is over.
    pub fn make_step(&mut self, now: u64) -> Option<&Step> {
        if self.is_over() {
            return None;
        }
        // Drawn from nature's own stream, so that an error of a player does not change the dice.
        let drawn = self.table.draw(&mut self.nature);
        let roles: Vec<Role> = self.shape().roles().collect();
        let opening = self.options.opening.get(self.steps.len()).cloned();
        let mut step = Step { joint: Vec::new(), errors: Vec::new() };
        for role in roles {
            let given = opening.as_ref().and_then(|joint| joint.get(role.index()));
            let (text, error) = match given {
                Some(given) => {
                    self.answers[role.index()] = Some(Ok(given.clone()));
                    self.resolve_move(role)
                }
                None if Some(role) == self.shape().nature => (drawn[role.index()].clone(), None),
                None => self.resolve_move(role),
            };
            step.joint.push(text);
            step.errors.push(error);
        }
        let joint: Vec<&str> = step.joint.iter().map(String::as_str).collect();
        self.table
            .advance(&joint)
            .expect("every move of the joint move was found among the legal ones");
        self.states.push(self.table.state());
        self.state_times.push(now);
        self.steps.push(step);
        self.check_for_end();
        self.steps.last()
    }

    /// Returns what a role observes of the last step, or `None` before the first.
    pub fn observation(&self, role: Role) -> Option<Observation> {
        let step = self.steps.last()?;
        Some(Observation {
            step: self.steps.len(),
            own: step.joint[role.index()].clone(),
            seen: self.table.percepts(role).to_vec(),
        })
    }

    /// Returns the payoff of a role if play ended here.
    pub fn payoff(&self, role: Role) -> f64 {
        self.table.payoff(role)
    }

    /// Returns the move that a role makes, and the error in the player's answer if there is one.
    fn resolve_move(&mut self, role: Role) -> (String, Option<MoveError>) {
        let legal = self.table.legal_moves(role);
        let error = match self.answers[role.index()].take().unwrap_or(Err(PlayerError::Late)) {
            Ok(text) => match find_legal(self.table.as_ref(), role, &text) {
                Some(found) => return (found, None),
                None => MoveError::Illegal(first_term(&text).unwrap_or_else(|| "null".to_owned())),
            },
            Err(error) => MoveError::NoMove(error),
        };
        // Drawn under every policy, so that the policy does not change the random numbers that
        // follow.
        let drawn = self.substitute.random_range(0..legal.len());
        let move_idx = match self.options.substitute {
            Substitute::Random => drawn,
            Substitute::First => 0,
            Substitute::Last => legal.len() - 1,
        };
        (legal[move_idx].clone(), Some(error))
    }

    fn check_for_end(&mut self) {
        if let Some(fault) = self.table.fault() {
            self.ending = Some(Ending::Fault(fault.clone()));
        } else if self.table.is_terminal() {
            let payoffs = self.shape().roles().map(|role| self.table.payoff(role));
            self.ending = Some(Ending::Finished(payoffs.collect()));
        } else if self.steps.len() >= self.options.max_steps {
            self.ending = Some(Ending::TooLong);
        }
    }
}

/// Returns the legal move of a role that a text names. In a game with real parameters it need not be
/// in the list of legal moves.
pub fn find_legal(table: &dyn Table, role: Role, text: &str) -> Option<String> {
    if let Some(found) = find_move(&table.legal_moves(role), text) {
        return Some(found.clone());
    }
    // The list need not have all moves: of a game with real parameters, or where it takes long.
    table.find_move(role, &first_term(text)?)
}

/// Returns the legal move that a text names. Spacing does not matter, and capitalisation matters
/// only if the exact spelling is legal too.
pub fn find_move<'a>(legal: &'a [String], text: &str) -> Option<&'a String> {
    let term = first_term(text)?;
    let exact = legal.iter().find(|m| **m == term);
    exact.or_else(|| {
        let wanted = canonical(&term);
        legal.iter().find(|m| canonical(m) == wanted)
    })
}
