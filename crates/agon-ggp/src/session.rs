//! A match as a player over the network receives it: which messages report a new step, and which
//! are repetitions.
//!
//! Hosts send a message again when a connection breaks, they go on without an answer that is late,
//! and older forms of messages carry no turn number. Where messages have numbers, these tell
//! whether a step is new. Elsewhere the rules tell: a joint move that is not legal now cannot be
//! new.

use agon_game::kif::canonical;
use agon_game::{Observation, Role, Shape};

use crate::LastStep;

/// A match being played over the network.
#[derive(Clone, Debug)]
pub struct Session {
    role: Role,
    n_roles: usize,
    hidden: bool,
    /// The terms of the last step in canonical spelling.
    last: Vec<String>,
    /// By turn: the answer. The last entry is the current turn, which may have no answer yet.
    answers: Vec<Option<String>>,
}

/// The meaning of a message in its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnUpdate {
    /// The first move is asked for.
    First,
    /// A step was made.
    Step(Observation),
    /// The move of this turn was asked for before.
    Again(usize),
    /// The message does not fit the match; the text says why. The session is unchanged.
    Inconsistent(String),
}

impl Session {
    /// Returns the session of a match in which no message was received yet.
    pub fn new(shape: &Shape, role: Role) -> Session {
        let n_roles = shape.role_names.len();
        Session { role, n_roles, hidden: shape.hidden, last: Vec::new(), answers: Vec::new() }
    }

    /// Returns the current turn: the number of steps made.
    pub fn turn(&self) -> usize {
        self.answers.len().saturating_sub(1)
    }

    /// Returns the answer in a turn, if there is one.
    pub fn answer(&self, turn: usize) -> Option<&str> {
        self.answers.get(turn)?.as_deref()
    }

    /// Stores the answer in a turn.
    pub fn note_answer(&mut self, turn: usize, text: &str) {
        if let Some(answer) = self.answers.get_mut(turn) {
            *answer = Some(text.to_owned());
        }
    }

    /// Updates the session by the last step that a message describes. `is_legal` returns whether a
    /// joint move can be made at the current position.
    pub fn update(
        &mut self,
        last_step: &LastStep,
        is_legal: &mut dyn FnMut(&[String]) -> bool,
    ) -> TurnUpdate {
        let is_new = self.answers.is_empty();
        let turn = self.turn();
        match last_step {
            LastStep::Nothing | LastStep::Turn { turn: 0, .. } if is_new => {
                self.answers.push(None);
                TurnUpdate::First
            }
            LastStep::Nothing => TurnUpdate::Again(0),
            // The message that asked for the first move was lost.
            _ if is_new => {
                self.answers.push(None);
                self.update(last_step, is_legal)
            }
            LastStep::Turn { turn: number, .. } if *number <= turn => TurnUpdate::Again(*number),
            LastStep::Turn { turn: number, .. } if *number > turn + 1 => TurnUpdate::Inconsistent(
                format!("turn {number} follows turn {turn}: messages were lost"),
            ),
            LastStep::Turn { own, seen, .. } => {
                let own = own.clone().or_else(|| self.answers[turn].clone());
                self.step(own.unwrap_or_default(), seen)
            }
            LastStep::Terms(terms) if self.hidden => {
                // Percepts do not tell whether they are new. While the player thinks about a step,
                // the same percepts are taken for a repetition of it.
                if self.answers[turn].is_none() && turn > 0 && self.last == canonical_terms(terms) {
                    return TurnUpdate::Again(turn);
                }
                let own = self.answers[turn].clone().unwrap_or_default();
                self.step(own, terms)
            }
            LastStep::Terms(terms) => self.update_by_moves(terms, is_legal),
        }
    }

    /// Updates the session by a joint move without a turn number.
    fn update_by_moves(
        &mut self,
        joint: &[String],
        is_legal: &mut dyn FnMut(&[String]) -> bool,
    ) -> TurnUpdate {
        if joint.len() != self.n_roles {
            let (n_moves, n_roles) = (joint.len(), self.n_roles);
            return TurnUpdate::Inconsistent(format!("{n_moves} moves for {n_roles} roles"));
        }
        let turn = self.turn();
        let is_same = turn > 0 && self.last == canonical_terms(joint);
        if is_same && (self.answers[turn].is_none() || !is_legal(joint)) {
            return TurnUpdate::Again(turn);
        }
        if !is_legal(joint) {
            let joint = joint.join(" ");
            return TurnUpdate::Inconsistent(format!("{joint} is not legal at this position"));
        }
        self.step(joint[self.role.index()].clone(), joint)
    }

    fn step(&mut self, own: String, terms: &[String]) -> TurnUpdate {
        self.last = canonical_terms(terms);
        self.answers.push(None);
        let mut seen = terms.to_vec();
        if self.hidden {
            seen.sort();
        }
        TurnUpdate::Step(Observation { step: self.turn(), own, seen })
    }
}

fn canonical_terms(terms: &[String]) -> Vec<String> {
    terms.iter().map(|term| canonical(term)).collect()
}
