//! A match as a player over the network hears of it: which messages are news, and which were heard before.
//!
//! Hosts repeat themselves when a connection breaks, go on without an answer when it comes late, and the older messages carry no
//! number. What is news is told from what is not by the numbers where there are any, and by the rules otherwise.

use agon_game::{Role, Shape};

use crate::kif::canonical;
use crate::{News, Told};

/// A match being played over the network.
#[derive(Clone, Debug)]
pub struct Session {
    role: Role,
    n_roles: usize,
    hidden: bool,
    /// What was told last, for comparing.
    last: Vec<String>,
    /// By turn: what was answered. The last one is the turn at hand, and may have no answer yet.
    answers: Vec<Option<String>>,
}

/// What a message comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heed {
    /// The first move is wanted.
    First,
    /// A step was made.
    News(News),
    /// It was asked before, in this turn.
    Again(usize),
    /// It does not fit what is known of the match; the text says why. The match is where it was.
    Unfit(String),
}

impl Session {
    /// A match in which nothing was heard yet.
    pub fn new(shape: &Shape, role: Role) -> Session {
        let n_roles = shape.role_names.len();
        Session { role, n_roles, hidden: shape.hidden, last: Vec::new(), answers: Vec::new() }
    }

    /// The turn at hand: how many steps were made.
    pub fn turn(&self) -> usize {
        self.answers.len().saturating_sub(1)
    }

    /// What was answered in a turn.
    pub fn answer(&self, turn: usize) -> Option<&str> {
        self.answers.get(turn)?.as_deref()
    }

    /// Notes what is answered in the turn at hand.
    pub fn note_answer(&mut self, turn: usize, text: &str) {
        if let Some(answer) = self.answers.get_mut(turn) {
            *answer = Some(text.to_owned());
        }
    }

    /// Takes in what a message tells. `is_legal` says whether a joint move can be made where the match stands.
    pub fn heed(&mut self, told: &Told, is_legal: &mut dyn FnMut(&[String]) -> bool) -> Heed {
        let is_new = self.answers.is_empty();
        let turn = self.turn();
        match told {
            Told::Nothing | Told::Turn { turn: 0, .. } if is_new => {
                self.answers.push(None);
                Heed::First
            }
            Told::Nothing => Heed::Again(0),
            // The first question was never heard.
            _ if is_new => {
                self.answers.push(None);
                self.heed(told, is_legal)
            }
            Told::Turn { turn: number, .. } if *number <= turn => Heed::Again(*number),
            Told::Turn { turn: number, .. } if *number > turn + 1 => {
                Heed::Unfit(format!("turn {number} after turn {turn}: messages were lost"))
            }
            Told::Turn { own, seen, .. } => {
                let own = own.clone().or_else(|| self.answers[turn].clone());
                self.step(own.unwrap_or_default(), seen, seen.clone())
            }
            Told::Terms(terms) if self.hidden => {
                // Percepts are no moves: nothing in them says whether they are new. They are not while they are being
                // thought about.
                if self.answers[turn].is_none() && turn > 0 && self.last == compared(terms) {
                    return Heed::Again(turn);
                }
                let own = self.answers[turn].clone().unwrap_or_default();
                self.step(own, terms, terms.clone())
            }
            Told::Terms(terms) if terms.len() != self.n_roles => {
                Heed::Unfit(format!("{} moves for {} roles", terms.len(), self.n_roles))
            }
            Told::Terms(terms) => {
                let is_same = turn > 0 && self.last == compared(terms);
                if is_same && (self.answers[turn].is_none() || !is_legal(terms)) {
                    return Heed::Again(turn);
                }
                if !is_legal(terms) {
                    return Heed::Unfit(format!(
                        "{} cannot be made where the match stands",
                        terms.join(" ")
                    ));
                }
                self.step(terms[self.role.index()].clone(), terms, terms.clone())
            }
        }
    }

    fn step(&mut self, own: String, told: &[String], mut seen: Vec<String>) -> Heed {
        self.last = compared(told);
        self.answers.push(None);
        if self.hidden {
            seen.sort();
        }
        Heed::News(News { step: self.turn(), own, seen })
    }
}

fn compared(terms: &[String]) -> Vec<String> {
    terms.iter().map(|term| canonical(term)).collect()
}
