//! A match as a state machine: who is to answer, what was answered, what was done.
//!
//! It reads no clock and waits for nobody: whoever runs it says when time is up.

use agon_game::{Fault, Rng, Role, Shape, Table};
use rand::{RngExt as _, SeedableRng as _};

use crate::kif::canonical;
use crate::player::stream;
use crate::{Lapse, News, first_term, spaced};

/// A game being refereed.
///
/// Until [`Match::is_over`], in turns: each player of [`Match::asked`] is [heard](Match::hear), then
/// [`Match::make_step`] is called, then each player is told its [`Match::news`].
pub struct Match {
    table: Box<dyn Table>,
    options: MatchOptions,
    nature: Rng,
    substitute: Rng,
    /// By role: what was heard in this step.
    answers: Vec<Option<Result<String, Lapse>>>,
    /// By role: what was amiss before the first step, as records write it.
    start_errors: Vec<String>,
    steps: Vec<Step>,
    /// From the start on: one more than steps.
    states: Vec<Vec<String>>,
    /// By state: when it came about.
    state_times: Vec<u64>,
    ending: Option<Ending>,
}

/// How a match is to be played.
#[derive(Clone, Debug)]
pub struct MatchOptions {
    /// Decides what nature does and which moves are put in the place of bad ones.
    pub seed: u64,
    /// A match that is longer is ended without a result.
    pub max_steps: usize,
    /// Joint moves that are made at first without asking anybody: a given opening, or a match taken up where it was left.
    pub opening: Vec<Vec<String>>,
    /// What is done in the place of a player that does nothing legal.
    pub substitute: Substitute,
}

/// What is done in the place of a player that does nothing legal.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Substitute {
    /// A legal move drawn at random: ggp-base, Tiltyard.
    #[default]
    Random,
    /// The first legal move: Dresden.
    First,
    /// The last legal move.
    Last,
}

impl Default for MatchOptions {
    fn default() -> MatchOptions {
        // Far beyond any game with a step counter, and soon enough for one that runs in circles.
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
    /// By role: what was wrong with the move that the player sent, if so; then the one made was drawn at random.
    pub slips: Vec<Option<Slip>>,
}

/// Why a move was made in a player's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slip {
    /// There was no move.
    Lapse(Lapse),
    /// The move is not legal.
    Illegal(String),
}

impl Slip {
    /// As records write it.
    pub fn code(&self) -> String {
        match self {
            Slip::Lapse(lapse) => lapse.code().to_owned(),
            Slip::Illegal(text) => format!("IL {}", spaced(text)),
        }
    }
}

impl std::fmt::Display for Slip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Slip::Lapse(lapse) => lapse.fmt(f),
            Slip::Illegal(text) => write!(f, "`{text}` is not legal"),
        }
    }
}

/// How a match ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// By the rules, with what each role gets.
    Finished(Vec<f64>),
    /// The rules gave out: their author's fault.
    Fault(Fault),
    /// It was longer than allowed.
    TooLong,
    /// The player of this role wanted it to end.
    Stopped(Role),
    /// Whoever hosts it wanted it to end.
    Aborted,
}

impl Match {
    /// A match that begins where the table stands, at this time, in milliseconds since 1970.
    pub fn new(table: Box<dyn Table>, options: MatchOptions, now: u64) -> Match {
        let n_roles = table.shape().role_names.len();
        let mut game = Match {
            nature: Rng::seed_from_u64(stream(options.seed, 0)),
            substitute: Rng::seed_from_u64(stream(options.seed, 1)),
            answers: vec![None; n_roles],
            start_errors: vec![String::new(); n_roles],
            steps: Vec::new(),
            states: vec![table.state()],
            state_times: vec![now],
            ending: None,
            options,
            table,
        };
        game.look_for_the_end();
        game
    }

    /// What is known of the game.
    pub fn shape(&self) -> &Shape {
        self.table.shape()
    }

    /// The game as it stands. Not for players.
    pub fn table(&self) -> &dyn Table {
        self.table.as_ref()
    }

    /// How it ended, if it has.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Whether nothing more is to be done.
    pub fn is_over(&self) -> bool {
        self.ending.is_some()
    }

    /// The steps made.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The states from the start on, one more than steps.
    pub fn states(&self) -> &[Vec<String>] {
        &self.states
    }

    /// By state: when it came about, in milliseconds since 1970.
    pub fn state_times(&self) -> &[u64] {
        &self.state_times
    }

    /// By role: what was amiss before the first step, as records write it.
    pub fn start_errors(&self) -> &[String] {
        &self.start_errors
    }

    /// A player could not get ready. The match goes on all the same.
    pub fn not_ready(&mut self, role: Role, lapse: &Lapse) {
        self.start_errors[role.index()] = lapse.code().to_owned();
        if *lapse == Lapse::Stop {
            self.ending.get_or_insert(Ending::Stopped(role));
        }
    }

    /// The host breaks the match off.
    pub fn abort(&mut self) {
        self.ending.get_or_insert(Ending::Aborted);
    }

    /// The players that have not been heard in this step.
    pub fn asked(&self) -> Vec<Role> {
        if self.is_over() || self.is_opening() {
            return Vec::new();
        }
        self.shape().players().filter(|role| self.answers[role.index()].is_none()).collect()
    }

    /// Whether the next step is one of the given opening.
    pub fn is_opening(&self) -> bool {
        self.steps.len() < self.options.opening.len()
    }

    /// What a player wants to do, or why there is nothing. The first answer of a step counts.
    pub fn hear(&mut self, role: Role, answer: Result<String, Lapse>) {
        if answer == Err(Lapse::Stop) {
            self.ending.get_or_insert(Ending::Stopped(role));
        }
        self.answers[role.index()].get_or_insert(answer);
    }

    /// Time is up: makes the step with what was heard. A player that was not heard is late. Nothing happens once the match is over.
    pub fn make_step(&mut self, now: u64) -> Option<&Step> {
        if self.is_over() {
            return None;
        }
        // What nature does depends on its own stream alone: a player's slip does not change the dice.
        let drawn = self.table.draw(&mut self.nature);
        let roles: Vec<Role> = self.shape().roles().collect();
        let opening = self.options.opening.get(self.steps.len()).cloned();
        let mut step = Step { joint: Vec::new(), slips: Vec::new() };
        for role in roles {
            let given = opening.as_ref().and_then(|joint| joint.get(role.index()));
            let (text, slip) = match given {
                Some(given) => {
                    self.answers[role.index()] = Some(Ok(given.clone()));
                    self.settle(role)
                }
                None if Some(role) == self.shape().nature => (drawn[role.index()].clone(), None),
                None => self.settle(role),
            };
            step.joint.push(text);
            step.slips.push(slip);
        }
        let joint: Vec<&str> = step.joint.iter().map(String::as_str).collect();
        self.table
            .advance(&joint)
            .expect("every move of the joint move was found among the legal ones");
        self.states.push(self.table.state());
        self.state_times.push(now);
        self.steps.push(step);
        self.look_for_the_end();
        self.steps.last()
    }

    /// What a role gets to know of the last step.
    pub fn news(&self, role: Role) -> Option<News> {
        let step = self.steps.last()?;
        Some(News {
            step: self.steps.len(),
            own: step.joint[role.index()].clone(),
            seen: self.table.percepts(role).to_vec(),
        })
    }

    /// What a role gets if play ended here.
    pub fn payoff(&self, role: Role) -> f64 {
        self.table.payoff(role)
    }

    /// The move that a role makes, and what was wrong with the one it sent.
    fn settle(&mut self, role: Role) -> (String, Option<Slip>) {
        let legal = self.table.legal_moves(role);
        let slip = match self.answers[role.index()].take().unwrap_or(Err(Lapse::Late)) {
            Ok(text) => match find(&legal, &text) {
                Some(found) => return (found.clone(), None),
                None => Slip::Illegal(first_term(&text).unwrap_or_else(|| "null".to_owned())),
            },
            Err(lapse) => Slip::Lapse(lapse),
        };
        // Drawn in any case, so that the policy for one slip does not change what another one comes to.
        let drawn = self.substitute.random_range(0..legal.len());
        let at = match self.options.substitute {
            Substitute::Random => drawn,
            Substitute::First => 0,
            Substitute::Last => legal.len() - 1,
        };
        (legal[at].clone(), Some(slip))
    }

    fn look_for_the_end(&mut self) {
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

/// The legal move that a text names, whatever its spacing and, if no other is meant, its capitalisation.
pub(crate) fn find<'a>(legal: &'a [String], text: &str) -> Option<&'a String> {
    let term = first_term(text)?;
    let exact = legal.iter().find(|m| **m == term);
    exact.or_else(|| {
        let wanted = canonical(&term);
        legal.iter().find(|m| canonical(m) == wanted)
    })
}
