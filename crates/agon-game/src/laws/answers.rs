//! All answers of a position, recorded for comparison.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{Fault, Notation, Position};

/// All answers of a position at one moment.
pub(super) struct Answers<P: Position> {
    pub(super) terminal: bool,
    pub(super) fault: Option<Fault>,
    /// By role.
    pub(super) legal: Vec<Vec<P::Move>>,
    /// By player, without nature.
    pub(super) payoffs: Vec<f64>,
    pub(super) state: Vec<String>,
    pub(super) key: u64,
}

impl<P: Notation> Answers<P> {
    pub(super) fn of(position: &P) -> Answers<P> {
        let shape = position.shape();
        Answers {
            terminal: position.is_terminal(),
            fault: position.fault().cloned(),
            legal: shape.roles().map(|role| position.legal_moves(role).to_vec()).collect(),
            payoffs: shape.players().map(|player| position.payoff(player)).collect(),
            state: position.state_text(),
            key: position.key(),
        }
    }

    /// Describes the first answer that differs in `there`, if there is one.
    pub(super) fn difference(&self, there: &Answers<P>) -> Option<String> {
        if self.state != there.state {
            return Some(state_difference(&self.state, &there.state));
        }
        if self.terminal != there.terminal {
            return Some(format!("is_terminal was {} and is {}", self.terminal, there.terminal));
        }
        if self.fault != there.fault {
            return Some(format!("the fault was {:?} and is {:?}", self.fault, there.fault));
        }
        for (role, (here, there)) in self.legal.iter().zip(&there.legal).enumerate() {
            // Lists may be long, so only the first pair that differs is shown.
            let longest = here.len().max(there.len());
            if let Some(nth) = (0..longest).find(|&nth| here.get(nth) != there.get(nth)) {
                return Some(format!(
                    "role {} had {} legal moves and has {}; index {nth} was {:?} and is {:?}",
                    role + 1,
                    here.len(),
                    there.len(),
                    here.get(nth),
                    there.get(nth)
                ));
            }
        }
        if !self.payoff_bits().eq(there.payoff_bits()) {
            return Some(format!(
                "the payoffs were {:?} and are {:?}",
                self.payoffs, there.payoffs
            ));
        }
        if self.key != there.key {
            return Some(format!("the key was {:#x} and is {:#x}", self.key, there.key));
        }
        None
    }

    /// Returns a hash of all answers except the key.
    pub(super) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.terminal.hash(&mut hasher);
        self.fault.as_ref().map(ToString::to_string).hash(&mut hasher);
        self.legal.hash(&mut hasher);
        self.payoff_bits().for_each(|bits| bits.hash(&mut hasher));
        self.state.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the bits of the payoffs. They are compared as bits so that NaN equals itself.
    fn payoff_bits(&self) -> impl Iterator<Item = u64> {
        self.payoffs.iter().map(|payoff| payoff.to_bits())
    }
}

/// Describes how two different states differ, without the parts that are equal.
pub(super) fn state_difference(here: &[String], there: &[String]) -> String {
    let lost: Vec<&String> = here.iter().filter(|part| !there.contains(part)).collect();
    let gained: Vec<&String> = there.iter().filter(|part| !here.contains(part)).collect();
    format!("the state had {lost:?} and has {gained:?} instead")
}

/// Returns a hash of a value that is stable within one run.
pub(super) fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
