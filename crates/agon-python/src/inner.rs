//! Positions by the engine that plays the game, and moves as Python gives them.

use agon::numbered::{NumberedPosition, ToMove};
use agon::{Position, Rng, Role, Shape};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use rand::{RngExt as _, SeedableRng as _};

use crate::error::{IllegalMoveError, not_played};

/// A position, by the engine that plays the game.
#[derive(Clone)]
pub(crate) enum Inner {
    /// Played by a circuit: moves have numbers.
    Numbered(Box<NumberedPosition>),
    /// Played by the interpreter: the number of a move is its place among the legal ones.
    Text(Box<Position>),
}

/// A move as Python gives it.
pub(crate) enum MoveGiven {
    Text(String),
    Number(u32),
    /// The only legal move, or a random one of nature.
    Open,
}

impl MoveGiven {
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<MoveGiven> {
        if given.is_none() {
            return Ok(MoveGiven::Open);
        }
        if let Ok(text) = given.extract::<String>() {
            return Ok(MoveGiven::Text(text));
        }
        // Numbers of numpy are numbers by `__index__`.
        given.extract::<u32>().map(MoveGiven::Number).map_err(|error| {
            if error.is_instance_of::<PyOverflowError>(given.py()) {
                IllegalMoveError::new_err(format!("{given} is not the number of a move"))
            } else {
                PyTypeError::new_err(format!("a move is a text or a number: {given}"))
            }
        })
    }

    /// Returns whether Python gives one move, not several.
    pub(crate) fn is_one(given: &Bound<'_, PyAny>) -> bool {
        let is_number = |number: PyResult<i64>| match number {
            Ok(_) => true,
            Err(error) => error.is_instance_of::<PyOverflowError>(given.py()),
        };
        given.extract::<String>().is_ok() || is_number(given.extract())
    }
}

impl Inner {
    pub(crate) fn shape(&self) -> &Shape {
        match self {
            Inner::Numbered(position) => position.numbers().shape(),
            Inner::Text(position) => position.shape(),
        }
    }

    pub(crate) fn is_terminal(&self) -> bool {
        match self {
            Inner::Numbered(position) => position.is_terminal(),
            Inner::Text(position) => position.is_terminal(),
        }
    }

    pub(crate) fn legal_texts(&self, role: Role) -> Vec<String> {
        match self {
            Inner::Numbered(position) => {
                let numbers = position.numbers();
                let text = |action| numbers.text(role, action).unwrap_or_default().to_owned();
                position.legal(role).map(text).collect()
            }
            Inner::Text(position) => position.legal_moves(role),
        }
    }

    pub(crate) fn legal_actions(&self, role: Role) -> Vec<u32> {
        match self {
            Inner::Numbered(position) => {
                let mut actions: Vec<u32> = position.legal(role).collect();
                actions.sort_unstable();
                actions
            }
            Inner::Text(position) => (0..position.legal_moves(role).len() as u32).collect(),
        }
    }

    pub(crate) fn n_legal(&self, role: Role) -> usize {
        match self {
            Inner::Numbered(position) => position.legal(role).len(),
            Inner::Text(position) => position.legal_moves(role).len(),
        }
    }

    pub(crate) fn to_move(&self) -> ToMove {
        match self {
            Inner::Numbered(position) => position.to_move(),
            Inner::Text(position) if position.is_terminal() => ToMove::Ended,
            Inner::Text(position) => match position.choosers().as_slice() {
                [only] => ToMove::One(*only),
                // Where no player has a choice, the first one stands for all.
                [] => position.shape().players().next().map_or(ToMove::Several, ToMove::One),
                _ => ToMove::Several,
            },
        }
    }

    pub(crate) fn payoff(&self, role: Role) -> f64 {
        match self {
            Inner::Numbered(position) => position.payoff(role),
            Inner::Text(position) => position.payoff(role),
        }
    }

    pub(crate) fn facts(&self) -> Vec<String> {
        match self {
            Inner::Numbered(position) => position.facts(),
            Inner::Text(position) => position.state(),
        }
    }

    pub(crate) fn n_steps(&self) -> usize {
        match self {
            Inner::Numbered(position) => position.n_steps(),
            Inner::Text(position) => position.history().count(),
        }
    }

    pub(crate) fn history(&self) -> Vec<Vec<String>> {
        match self {
            Inner::Numbered(position) => position.history_text().collect(),
            Inner::Text(position) => position.history().map(<[String]>::to_vec).collect(),
        }
    }

    /// Returns by step what a role did and what it perceived.
    pub(crate) fn observations(&self, role: Role) -> Vec<(String, Vec<String>)> {
        match self {
            Inner::Numbered(position) => position
                .history_text()
                .enumerate()
                .map(|(step, joint)| (joint[role.index()].clone(), position.percepts(step, role)))
                .collect(),
            Inner::Text(position) => position
                .observations(role)
                .map(|observation| (observation.own.clone(), observation.seen.clone()))
                .collect(),
        }
    }

    pub(crate) fn fault(&self) -> Option<String> {
        match self {
            Inner::Numbered(position) => position.fault().map(ToString::to_string),
            Inner::Text(position) => position.fault().map(ToString::to_string),
        }
    }

    /// Makes a joint move: one for each role. Moves left open are filled in.
    pub(crate) fn play(&mut self, joint: &[MoveGiven], seed: u64) -> PyResult<()> {
        let shape = self.shape().clone();
        if self.is_terminal() {
            return Err(IllegalMoveError::new_err("the game has ended"));
        }
        match self {
            Inner::Numbered(_) => {
                let mut chosen: Vec<u32> = Vec::with_capacity(joint.len());
                for (role, given) in shape.roles().zip(joint) {
                    chosen.push(match given {
                        MoveGiven::Number(number) => *number,
                        MoveGiven::Text(text) => self.number_of(role, text)?,
                        MoveGiven::Open => self.fill_in(role, seed)?,
                    });
                }
                let Inner::Numbered(position) = self else { unreachable!("it was matched") };
                position.play(&chosen).map_err(|error| not_played(&error))
            }
            Inner::Text(_) => {
                // Texts are passed on as they are, because a move may have parameters that no list
                // of legal moves can show.
                let mut texts: Vec<String> = Vec::with_capacity(joint.len());
                for (role, given) in shape.roles().zip(joint) {
                    texts.push(match given {
                        MoveGiven::Text(text) => text.clone(),
                        MoveGiven::Number(number) => self.text_of(role, *number)?,
                        MoveGiven::Open => self.text_of(role, self.fill_in(role, seed)?)?,
                    });
                }
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let Inner::Text(position) = self else { unreachable!("it was matched") };
                position.play_joint(&texts).map_err(|error| not_played(&error))
            }
        }
    }

    /// Returns the text of a legal move by its number.
    fn text_of(&self, role: Role, number: u32) -> PyResult<String> {
        let legal = self.legal_texts(role);
        let n = legal.len();
        legal.into_iter().nth(number as usize).ok_or_else(|| {
            IllegalMoveError::new_err(format!(
                "move {number} of {}: there are {n} legal moves",
                self.shape().role_names[role.index()]
            ))
        })
    }

    /// Returns the number of a legal move by its text.
    fn number_of(&self, role: Role, text: &str) -> PyResult<u32> {
        let legal = self.legal_texts(role);
        let found = agon_match::find_move(&legal, text)
            .and_then(|found| legal.iter().position(|other| other == found));
        let Some(place) = found else {
            let shown: Vec<&str> = legal.iter().take(5).map(String::as_str).collect();
            let more = if legal.len() > 5 { " …" } else { "" };
            return Err(IllegalMoveError::new_err(format!(
                "`{text}` is not a legal move of {}: legal here: {}{more}",
                self.shape().role_names[role.index()],
                shown.join(" ")
            )));
        };
        Ok(match self {
            Inner::Numbered(position) => {
                position.legal(role).nth(place).expect("texts and numbers are in the same order")
            }
            Inner::Text(_) => place as u32,
        })
    }

    fn fill_in(&self, role: Role, seed: u64) -> PyResult<u32> {
        let legal = self.legal_actions(role);
        let name = &self.shape().role_names[role.index()];
        match legal.as_slice() {
            [] => Err(IllegalMoveError::new_err(format!("{name} has no legal move"))),
            [only] => Ok(*only),
            // The dice depend on the seed and the step alone, so copies and pickles go on alike.
            several if Some(role) == self.shape().nature => {
                let step = self.n_steps() as u64;
                let mut rng = Rng::seed_from_u64(
                    seed ^ step.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
                );
                let rank = rng.random_range(0..several.len());
                match self {
                    Inner::Numbered(position) => {
                        let mut left: f64 = rng.random();
                        let drawn = several.iter().find(|&&action| {
                            left -= position.chance(action);
                            left < 0.0
                        });
                        Ok(*drawn.unwrap_or(&several[rank]))
                    }
                    Inner::Text(_) => Ok(several[rank]),
                }
            }
            several => Err(IllegalMoveError::new_err(format!(
                "a move of {name} is missing, and it has {} legal moves",
                several.len()
            ))),
        }
    }
}
