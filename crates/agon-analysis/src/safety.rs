//! Whether a game can ever reach a bad state: the question behind all temporal properties.
//!
//! A `Problem` is a circuit with a signal that marks the bad states and one that marks the states
//! after which nothing matters any more. It may also have pending signals: a play that goes on for
//! ever is bad, too, if one of them holds from some state on. `Problem::decide` answers it by four
//! methods, in this order, until one succeeds or the time is over:
//!
//! 1. Random plays, which find deep violations fast.
//! 2. All reachable states, breadth first, if there are few of them. This finds a shortest play,
//!    and decides every question about small games.
//! 3. Bounded model checking (Biere et al. 1999): the circuit is unrolled step by step from the
//!    initial state, and a SAT solver looks for a play of that length, or for one that returns to
//!    a state in which it has been.
//! 4. k-induction (Sheeran, Singh and Stålmarck 2000): if a state is never bad after `k` states
//!    that are not, no reachable state is, because there is no shorter bad play. Proved groups of
//!    mutually exclusive fluents make the induction stronger.
//!
//! Endless plays are ruled out by a bound on the length of play, where `ranking` or the properties
//! of the game prove one.
//!
//! The answer is a play, a proof, or the number of steps within which there is no violation.

mod evaluate;
mod explore;
mod ranking;
mod states;
mod unroll;

use std::time::Instant;

use agon_circuit::{Circuit, Signal};

use crate::properties::Group;
use crate::prove::{Answer, Literal, ProofLimits};
pub(crate) use explore::{Explorer, Visited, shortest_way};
pub(crate) use ranking::longest_play;
use states::Search;
pub(crate) use unroll::Unrolling;

/// A question about the reachable states of a circuit.
pub(crate) struct Problem<'a> {
    pub(crate) circuit: &'a Circuit,
    /// Marks the bad states. Depends on no input.
    pub(crate) bad: Signal,
    /// Marks states after which nothing matters any more. Depends on no input.
    pub(crate) stop: Signal,
    /// A play that goes on for ever is bad if one of these holds at all of its states from some
    /// state on. They depend on no input, and there are at most [`MAX_PENDING`].
    pub(crate) pending: &'a [Signal],
    /// Groups of base bits that are known to be mutually exclusive.
    pub(crate) groups: &'a [Group],
    /// The maximum number of steps of a play, if that is proved.
    pub(crate) longest: Option<u64>,
}

/// Maximum number of pending signals of a [`Problem`].
pub(crate) const MAX_PENDING: usize = 64;

/// Limits on the work for one question.
#[derive(Clone, Debug)]
pub struct SafetyLimits {
    /// Number of random plays.
    pub plays: u64,
    /// Seed of the random plays.
    pub seed: u64,
    /// Maximum number of states that are visited one by one.
    pub states: usize,
    /// Maximum number of steps of plays that the SAT solver looks for.
    pub steps: usize,
    /// Maximum number of gates that are unrolled.
    pub gates: usize,
    /// The time at which the answer must be given.
    pub deadline: Option<Instant>,
}

impl Default for SafetyLimits {
    fn default() -> SafetyLimits {
        SafetyLimits {
            plays: 200,
            seed: 1,
            states: 300_000,
            steps: 60,
            gates: 300_000,
            deadline: None,
        }
    }
}

/// Why no reachable state is bad.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// All reachable states were visited.
    AllStates(usize),
    /// All reachable states were visited, each with every set of requirements of the formula that
    /// it can have.
    WatchedStates(usize),
    /// By induction over this number of consecutive steps.
    Induction(usize),
    /// No play is longer than this, and none of this length has a bad state.
    Length(u64),
}

/// A play as joint moves, each with one move for each role.
pub type Line = Vec<Vec<String>>;

/// The answer to a [`Problem`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// No reachable state is bad.
    Never(Reason),
    /// This play reaches a bad state. It is a shortest one if the flag says so.
    Reached(Line, bool),
    /// This play returns to the state in which it was after this number of steps: it can go on for
    /// ever.
    Repeats(Line, usize),
    /// There is no bad state within this number of steps. More is not known.
    Unknown { steps: usize, why: &'static str },
}

impl Problem<'_> {
    /// Answers the question within the limits.
    pub(crate) fn decide(&self, limits: &SafetyLimits) -> Outcome {
        if !self.circuit.is_exact() {
            let why = "the circuit leaves some conditions of moves to the states after them";
            return Outcome::Unknown { steps: 0, why };
        }
        let found = self.random_plays(limits);
        if self.bad == Signal::FALSE && !self.needs_end() {
            return Outcome::Never(Reason::Induction(0));
        }
        if let (Signal::FALSE, true, Some(longest)) = (self.bad, self.needs_end(), self.longest) {
            return Outcome::Never(Reason::Length(longest));
        }
        let states = match self.all_states(limits) {
            Search::Decided(outcome) => return outcome,
            Search::GaveUp { complete_steps } => complete_steps,
        };
        let outcome = self.unrolled(limits, states);
        match (outcome, found) {
            (Outcome::Unknown { .. }, Some(line)) => Outcome::Reached(line, false),
            (Outcome::Unknown { steps, why }, None) => Outcome::Unknown { steps, why },
            (outcome, _) => outcome,
        }
    }

    /// Returns whether some endless plays are bad.
    pub(crate) fn needs_end(&self) -> bool {
        self.pending.iter().any(|&signal| signal != Signal::FALSE)
    }

    /// Looks for plays and proofs with a SAT solver. Plays of `n_known` steps have no bad state.
    fn unrolled(&self, limits: &SafetyLimits, n_known: usize) -> Outcome {
        let proof = ProofLimits {
            gates: limits.gates,
            conflicts: 100_000,
            conflicts_in_all: u64::MAX / 4,
            deadline: limits.deadline,
        };
        let unknown = |steps: usize, why| Outcome::Unknown { steps, why };
        if self.circuit.n_gates() > limits.gates {
            return unknown(n_known, "the circuit is too large for the solver");
        }
        let mut plays = Unrolling::new(self, &proof, true);
        let mut induction = Some(Unrolling::new(self, &proof, false));
        let mut steps = n_known;
        for k in 0..=limits.steps {
            if k > 0 {
                plays.add_step();
            }
            if plays.n_gates() > limits.gates.saturating_mul(10) {
                return unknown(steps, "the unrolled circuit is too large");
            }
            let bad = plays.signal(k, self.bad);
            match plays.ask(&[bad]) {
                Answer::Possible => return Outcome::Reached(plays.line(k), true),
                Answer::Impossible => steps = steps.max(k),
                Answer::Undecided => return unknown(steps, "the time is over"),
            }
            plays.assume_harmless(k);
            if self.longest.is_some_and(|longest| k as u64 >= longest) {
                return Outcome::Never(Reason::Length(self.longest.unwrap_or(0)));
            }
            if self.needs_end() && self.longest.is_none() {
                // There may be endless plays, so that induction proves nothing.
                if let Some((start, line)) = self.endless(&mut plays, k, limits) {
                    return Outcome::Repeats(line, start);
                }
                continue;
            }
            if let Some(unrolling) = &mut induction {
                unrolling.assume_harmless(k);
                unrolling.add_step();
                let bad = unrolling.signal(k + 1, self.bad);
                match unrolling.ask(&[bad]) {
                    Answer::Impossible => return Outcome::Never(Reason::Induction(k + 1)),
                    Answer::Possible => {}
                    Answer::Undecided => induction = None,
                }
            }
        }
        let why = match self.needs_end() && self.longest.is_none() {
            true => "no bound on the length of play was found",
            false => "the bound on the number of steps is reached",
        };
        unknown(steps, why)
    }

    /// Looks for a play whose state after `k` steps is one in which it has been, while something
    /// was pending all the time. Returns the number of steps to that state with the play.
    fn endless(
        &self,
        plays: &mut Unrolling<'_>,
        k: usize,
        limits: &SafetyLimits,
    ) -> Option<(usize, Line)> {
        let n_equations = k.saturating_mul(k).saturating_mul(self.circuit.base.len());
        if n_equations > limits.gates {
            return None;
        }
        let mut loops = Vec::new();
        for start in 0..k {
            let is_same = plays.same_state_if(start, k);
            for &signal in self.pending {
                let mut needed: Vec<Literal> =
                    (start..=k).map(|state| plays.signal(state, signal)).collect();
                needed.push(is_same);
                loops.push((start, plays.all(&needed)));
            }
        }
        let literals: Vec<Literal> = loops.iter().map(|&(_, literal)| literal).collect();
        let some = plays.some(&literals);
        if plays.ask(&[some]) != Answer::Possible {
            return None;
        }
        let found = loops.into_iter().find(|&(_, literal)| plays.value(literal));
        found.map(|(start, _)| (start, plays.line(k)))
    }
}
