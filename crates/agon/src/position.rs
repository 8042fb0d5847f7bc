//! A position with text moves: the checked, simple way to play.

use std::fmt;

use agon_game::{Family, IllegalMove, Observation, Passage, Rng, Role, Shape, Table};

use crate::game::Game;

/// A position of a game, with the moves that led to it. Moves are text and are checked.
///
/// ```
/// let game = agon::Game::open("tic-tac-toe")?;
/// let mut position = game.start();
/// position.play("(mark 2 2)")?;
/// assert_eq!(position.role_to_move().map(|role| position.role_name(role)), Some("oplayer"));
/// assert!(position.play("(mark 2 2)").is_err(), "the cell is taken");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Position {
    game: Game,
    table: Box<dyn Table>,
    steps: Vec<StepMade>,
}

/// A step that led to a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepMade {
    pub(crate) joint: Vec<String>,
    /// By role.
    pub(crate) observations: Vec<Observation>,
}

/// Why [`Position::play`] or [`Position::play_joint`] refused a move. The position is unchanged.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PlayError {
    /// Several roles choose at the same time, so that one move does not say what happens.
    SeveralRoles(Vec<String>),
    /// The joint move cannot be made.
    Illegal(IllegalMove),
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayError::SeveralRoles(names) => {
                write!(f, "{} move at the same time: give a move for each role", names.join(", "))
            }
            PlayError::Illegal(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for PlayError {}

impl Position {
    pub(crate) fn new(game: Game) -> Position {
        let table = game.table();
        Position { game, table, steps: Vec::new() }
    }

    /// Returns the game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Returns what is known of the game.
    pub fn shape(&self) -> &Shape {
        self.table.shape()
    }

    /// Returns the name of a role.
    pub fn role_name(&self, role: Role) -> &str {
        &self.shape().role_names[role.index()]
    }

    /// Tells whether play has ended.
    pub fn is_terminal(&self) -> bool {
        self.table.is_terminal()
    }

    /// Returns the legal moves of a role; none once play has ended.
    pub fn legal_moves(&self, role: Role) -> Vec<String> {
        self.table.legal_moves(role)
    }

    /// Returns the families of moves with real parameters of a role. There are none in a discrete
    /// game.
    pub fn families(&self, role: Role) -> Vec<Family> {
        self.table.families(role)
    }

    /// Returns the text of the legal move that a text names. Spacing and capitalisation do not
    /// matter. A move with real parameters need not be in the list of legal moves.
    pub fn find_move(&self, role: Role, text: &str) -> Option<String> {
        agon_match::find_legal(self.table.as_ref(), role, text)
    }

    /// Returns the payoff of a role if play ended here.
    pub fn payoff(&self, role: Role) -> f64 {
        self.table.payoff(role)
    }

    /// Returns the facts that hold here, sorted.
    pub fn state(&self) -> Vec<String> {
        self.table.state()
    }

    /// Returns the joint moves that led here from the start.
    pub fn history(&self) -> impl Iterator<Item = &[String]> {
        self.steps.iter().map(|step| step.joint.as_slice())
    }

    /// Returns what a role observed of each step from the start.
    pub fn observations(&self, role: Role) -> impl ExactSizeIterator<Item = &Observation> {
        self.steps.iter().map(move |step| &step.observations[role.index()])
    }

    /// Returns why this position could not be computed, if so. It then counts as terminal.
    pub fn fault(&self) -> Option<&agon_game::Fault> {
        self.table.fault()
    }

    /// Returns a hash of the state.
    pub fn key(&self) -> u64 {
        self.table.key()
    }

    pub(crate) fn steps(&self) -> &[StepMade] {
        &self.steps
    }

    /// Returns the only role that has a choice here. `None` if several roles choose at the same
    /// time, if no role has a choice, or if play has ended. Nature does not count.
    pub fn role_to_move(&self) -> Option<Role> {
        match self.choosers().as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Returns the roles that have more than one legal move, without nature.
    pub fn choosers(&self) -> Vec<Role> {
        self.shape().players().filter(|role| self.legal_moves(*role).len() > 1).collect()
    }

    /// Makes the move of the one role that has a choice. Every other role makes its only move.
    ///
    /// # Errors
    /// [`PlayError`] if the move is not legal, or if several roles choose at the same time.
    pub fn play(&mut self, text: &str) -> Result<(), PlayError> {
        let legal: Vec<Vec<String>> =
            self.shape().roles().map(|role| self.legal_moves(role)).collect();
        let choosers: Vec<usize> = (0..legal.len()).filter(|role| legal[*role].len() > 1).collect();
        let mover = match choosers.as_slice() {
            [only] => *only,
            [] => (0..legal.len())
                .find(|role| self.find_move(Role::new(*role), text).is_some())
                .unwrap_or(0),
            several => {
                let names = several.iter().map(|role| self.shape().role_names[*role].clone());
                return Err(PlayError::SeveralRoles(names.collect()));
            }
        };
        let own = self.find_move(Role::new(mover), text).unwrap_or_else(|| text.to_owned());
        let joint: Vec<&str> = (0..legal.len())
            .map(|role| match (role == mover, legal[role].first()) {
                (false, Some(only)) => only.as_str(),
                (true, _) | (false, None) => own.as_str(),
            })
            .collect();
        self.play_joint(&joint)
    }

    /// Makes a joint move: one legal move for each role, in the order of the roles.
    ///
    /// # Errors
    /// [`PlayError::Illegal`] if it cannot be made.
    pub fn play_joint(&mut self, joint: &[&str]) -> Result<(), PlayError> {
        self.table.advance(joint).map_err(PlayError::Illegal)?;
        let observe = |(role, own): (Role, &&str)| Observation {
            step: self.steps.len() + 1,
            own: (*own).to_owned(),
            seen: self.table.percepts(role).to_vec(),
        };
        let observations = self.shape().roles().zip(joint).map(observe).collect();
        let joint = joint.iter().map(|text| (*text).to_owned()).collect();
        self.steps.push(StepMade { joint, observations });
        Ok(())
    }

    /// Returns how numbers change while a joint move is made from here, at `n_points` equally spaced
    /// times and at all events. Returns `None` in discrete games, and if the move cannot be made.
    pub fn passage(&self, joint: &[&str], n_points: usize) -> Option<Passage> {
        self.table.passage(joint, n_points)
    }

    /// Makes a random joint move: uniform for players, by its chances for nature.
    pub fn play_random(&mut self, rng: &mut Rng) {
        let joint = self.table.draw(rng);
        let joint: Vec<&str> = joint.iter().map(String::as_str).collect();
        if !joint.is_empty() {
            self.play_joint(&joint).expect("a move drawn from the legal ones can be made");
        }
    }

    /// Draws the position as lines of text: its boards, counters, and what does not fit on them.
    pub fn picture(&self) -> String {
        let state = self.state();
        let scene = self.game.layout().scene(&state);
        agon_board::text::text(&scene, &agon_board::TextOptions::default())
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Position").field("state", &self.state()).finish_non_exhaustive()
    }
}
