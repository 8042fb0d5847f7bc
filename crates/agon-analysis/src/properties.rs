//! Properties of a game, each proved from the rules or observed in random plays.
//!
//! The search for properties runs in four stages, in [`Properties::find`]:
//!
//! 1. Random plays ([`Plays`]) refute the candidates that are not properties of the game.
//! 2. The remaining candidates are proved by induction over the steps of the circuit
//!    ([`crate::prove`]: a SAT solver over two consecutive states). Groups of mutually exclusive
//!    fluents are proved together, because each helps to prove the others: a counterexample refutes
//!    some of them, and the proof is repeated with the rest (the Houdini algorithm of Flanagan &
//!    Leino 2001). Persistence is proved with the help of the groups.
//! 3. Symmetries of the board are proved by an isomorphism check: the circuit must be mapped onto
//!    itself.
//! 4. Candidates that are neither refuted nor proved within the limits are reported as observed.
//!
//! The cost of a proof is counted in conflicts of the solver. A result therefore does not depend on
//! the clock unless a deadline is set. Hard questions get a share of the remaining budget
//! (`Prover::with_share`), so that the questions after them can still be asked.
//!
//! A game without a circuit has observed properties only.

mod automorphism;
mod boards;
mod groups;
mod length;
mod parts;
mod payoffs;
mod persistence;
mod plays;
mod relations;
mod symmetry;
mod turns;

use std::sync::Arc;
use std::time::Instant;

use agon_datalog::{Symbol, TermId};
use agon_gdl::circuit::Compiled;
use agon_gdl::interpreter::Game;

use crate::prove::{ProofLimits, Prover};
pub use boards::Board;
pub use groups::{Group, Mode};
pub use length::{Bound, Length};
pub use parts::{OneTimeMove, SubGame};
pub use payoffs::{Payoffs, prove_constant_sum};
pub use plays::{ObservedState, PlayLimits, Plays};
pub(crate) use relations::symbol_orders;
pub use relations::{Relation, RelationKind};
pub use symmetry::{Symmetry, SymmetryImages};
pub use turns::{RoleTurns, Turns, prove_turn_taking};

/// How a property is known.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Known {
    /// The property follows from the rules.
    Proved,
    /// The property held in all recorded random plays.
    Observed {
        /// The number of plays.
        plays: u64,
    },
}

impl Known {
    /// Returns whether the property follows from the rules. A search may rely on it without further
    /// checks.
    pub fn is_proved(self) -> bool {
        self == Known::Proved
    }

    /// Returns how a conjunction of two properties is known. A conjunction is only as well
    /// established as its weaker part.
    #[must_use]
    pub fn and(self, other: Known) -> Known {
        self.max(other)
    }
}

impl std::fmt::Display for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Known::Proved => f.write_str("proved"),
            Known::Observed { plays: 0 } => f.write_str("not known"),
            Known::Observed { plays: 1 } => f.write_str("observed in 1 play"),
            Known::Observed { plays } => write!(f, "observed in {plays} plays"),
        }
    }
}

/// Limits on the cost of finding properties.
#[derive(Clone, Debug, Default)]
pub struct PropertyLimits {
    /// The limits for random plays.
    pub plays: PlayLimits,
    /// The limits for proofs.
    pub proof: ProofLimits,
}

impl PropertyLimits {
    /// Returns the default limits with a deadline.
    pub fn until(deadline: Instant) -> PropertyLimits {
        let mut limits = PropertyLimits::default();
        limits.plays.deadline = Some(deadline);
        limits.proof.deadline = Some(deadline);
        limits
    }
}

/// A fluent of a game.
#[derive(Clone, Debug)]
pub struct Fluent {
    /// The fluent as a term of the game.
    pub term: TermId,
    /// The text of the fluent in the syntax of the rules.
    pub text: String,
    /// The name of the fluent and its number of arguments.
    pub form: (Symbol, usize),
    /// Whether the fluent holds in the initial state.
    pub is_initial: bool,
    /// Whether a fluent that holds stays true for ever. `None` if a play refuted it.
    pub persistent_true: Option<Known>,
    /// Whether a fluent that does not hold stays false for ever. `None` if a play refuted it.
    pub persistent_false: Option<Known>,
}

/// The known properties of a game. `None` means that a property is refuted or that nothing is known
/// of it.
pub struct Properties {
    /// The game.
    pub game: Arc<Game>,
    /// The fluents. With a circuit these are its base bits in their order, which are all possible
    /// fluents. Without a circuit they are the fluents that occurred in the plays.
    pub fluents: Vec<Fluent>,
    /// Whether `fluents` lists all possible fluents.
    pub is_complete: bool,
    /// Groups of fluents of which at most one holds at a time, as indices into `fluents`.
    pub groups: Vec<Group>,
    /// The fluent modes: which arguments of a fluent are determined by the others.
    pub modes: Vec<Mode>,
    /// Which role has a choice in which states.
    pub turns: Turns,
    /// The static relations with two arguments.
    pub relations: Vec<Relation>,
    /// The possible payoffs.
    pub payoffs: Payoffs,
    /// Bounds on the length of play.
    pub length: Length,
    /// The pairs of fluent arguments that are coordinates of a board.
    pub boards: Vec<Board>,
    /// The symmetries of the boards, and the pairs of interchangeable roles.
    pub symmetries: Vec<Symmetry>,
    /// The independent sub-games: at least two of them, or none. They are proved.
    pub parts: Vec<SubGame>,
    /// The moves that can be made at most once in a play.
    pub once: Vec<OneTimeMove>,
    /// The random plays in which the properties were observed.
    pub plays: Plays,
    /// The analyses that were not carried out, each with the reason.
    pub refused: Vec<(&'static str, String)>,
}

impl Properties {
    /// Finds the properties of a game within the limits. `compiled` is the circuit of the same
    /// game, if it has one.
    pub fn find(
        game: &Arc<Game>,
        compiled: Option<&Compiled>,
        limits: &PropertyLimits,
    ) -> Properties {
        let plays = Plays::play(game, compiled, &limits.plays);
        let mut refused = Vec::new();
        let mut fluents = list_fluents(game, compiled, &plays);
        let mut prover = None;
        match compiled {
            None => {
                refused.push((
                    "proofs",
                    "the game has no circuit, so nothing can be proved".to_owned(),
                ));
            }
            Some(compiled) => {
                prover = Prover::new(&compiled.circuit, &limits.proof);
                if prover.is_none() {
                    let n_gates = compiled.circuit.n_gates();
                    refused.push(("proofs", format!("the circuit is too large: {n_gates} gates")));
                }
            }
        }
        let given = compiled.map_or(&[][..], |compiled| &compiled.groups);
        persistence::observe(&mut fluents, &plays);
        if let Some(prover) = &mut prover {
            // There is a question for every fluent. Those left open are asked again when more is
            // known.
            given.iter().for_each(|group| prover.add_lemma_at_most_one(group));
            prover.with_share(4, |prover| persistence::prove(&mut fluents, prover));
        }
        let (mut groups, mut modes) = match &mut prover {
            // These are the hardest proofs, and later ones depend on them. The share leaves some
            // budget for the later ones.
            Some(prover) => prover
                .with_share(2, |prover| groups::find(game, &fluents, &plays, given, Some(prover))),
            None => groups::find(game, &fluents, &plays, given, None),
        };
        if let Some(prover) = &mut prover {
            prover.with_share(2, |prover| persistence::prove(&mut fluents, prover));
        }
        let mut turns = turns::find(game, compiled, &plays, prover.as_mut());
        let mut payoffs = payoffs::find(game, compiled, &plays, prover.as_mut());
        let circuit = compiled.map(|compiled| &*compiled.circuit);
        let length = length::find(circuit, &fluents, &groups, &plays, prover.as_mut());
        let parts =
            circuit.map_or(Vec::new(), |circuit| parts::parts(circuit, &turns, &length.counters));
        let mut once = parts::once(circuit, &fluents, &turns, &plays, prover.as_mut());
        let are_too_few = plays.are_too_few();
        if are_too_few {
            drop_observed_facts(&mut fluents, &mut groups, &mut modes);
            turns.drop_observed();
            payoffs.constant_sum = payoffs.constant_sum.filter(|(_, known)| known.is_proved());
            once.retain(|once| once.known.is_proved());
            let n = plays.n_plays();
            let of = if n == 1 { "one play" } else { "a few plays" };
            let why = format!("there was time only for the beginning of {of}");
            refused.push(("what random plays show", why));
        }
        let relations = relations::find(game);
        let known = match compiled {
            Some(_) => Known::Proved,
            None => Known::Observed { plays: plays.n_plays() },
        };
        let boards = boards::find(game, &fluents, known, &modes, &relations);
        let deadline = limits.proof.deadline;
        let mut symmetries = symmetry::find(game, compiled, &fluents, &boards, &plays, deadline);
        if are_too_few {
            symmetries.retain(|symmetry| symmetry.known.is_proved());
        }
        persistence::drop_vacuous(&mut fluents, &plays);
        if prover.as_ref().is_some_and(Prover::has_run_out) {
            let is_open = |known: &Option<Known>| known.is_some_and(|known| !known.is_proved());
            let n_lasting = fluents
                .iter()
                .filter(|f| is_open(&f.persistent_true) || is_open(&f.persistent_false))
                .count();
            let n_modes = modes.iter().filter(|mode| !mode.known.is_proved()).count();
            let mut left = Vec::new();
            if n_lasting > 0 {
                let facts = if n_lasting == 1 { "one fact lasts" } else { "some facts last" };
                left.push(format!("that {facts}"));
            }
            if n_modes > 0 {
                left.push("that some facts exclude each other".to_owned());
            }
            if is_open(&turns.turn_taking) {
                left.push("the turns".to_owned());
            }
            if payoffs.constant_sum.is_some_and(|(_, known)| !known.is_proved()) {
                left.push("the sum of the payoffs".to_owned());
            }
            let left = match left.is_empty() {
                true => String::new(),
                false => format!("; only observed, not proved: {}", left.join(", ")),
            };
            let why = format!("the limits on time or work were reached{left}");
            refused.push(("some proofs", why));
        }
        Properties {
            game: Arc::clone(game),
            is_complete: compiled.is_some(),
            fluents,
            groups,
            modes,
            turns,
            relations,
            payoffs,
            length,
            boards,
            symmetries,
            parts,
            once,
            plays,
            refused,
        }
    }

    /// Returns the index of the fluent with this text.
    pub fn fluent(&self, text: &str) -> Option<usize> {
        let term = self.game.parse(text)?;
        self.fluents.iter().position(|fluent| fluent.term == term)
    }

    /// Returns how it is known that at most one of these fluents holds at a time. `None` if it is
    /// not known.
    pub fn at_most_one(&self, fluents: &[usize]) -> Option<Known> {
        let covers = |group: &&Group| fluents.iter().all(|fluent| group.fluents.contains(fluent));
        let known = self.groups.iter().filter(covers).map(|group| group.at_most_one);
        known.min()
    }

    /// Returns how it is known that exactly one of these fluents holds in every state. `None` if it
    /// is not known.
    pub fn exactly_one(&self, fluents: &[usize]) -> Option<Known> {
        let mut sorted = fluents.to_vec();
        sorted.sort_unstable();
        let known = self
            .groups
            .iter()
            .filter(|group| group.fluents == sorted)
            .filter_map(|group| group.exactly_one);
        known.min()
    }
}

/// Forgets which facts last and exclude each other, except where it is proved.
fn drop_observed_facts(fluents: &mut [Fluent], groups: &mut Vec<Group>, modes: &mut Vec<Mode>) {
    let proved = |known: Option<Known>| known.filter(|known| known.is_proved());
    for fluent in fluents {
        fluent.persistent_true = proved(fluent.persistent_true);
        fluent.persistent_false = proved(fluent.persistent_false);
    }
    groups.iter_mut().for_each(|group| group.exactly_one = proved(group.exactly_one));
    // Of a single fact at most one holds in any case.
    groups.retain(|group| {
        let says_something = group.fluents.len() > 1 || group.exactly_one.is_some();
        says_something && group.at_most_one.is_proved()
    });
    modes.retain(|mode| mode.known.is_proved());
    modes.iter_mut().for_each(|mode| mode.exactly_one = proved(mode.exactly_one));
}

fn list_fluents(game: &Game, compiled: Option<&Compiled>, plays: &Plays) -> Vec<Fluent> {
    let bank = game.bank();
    let initial = game.initial_fluents();
    let fluent = |term: TermId| Fluent {
        term,
        text: game.text(term),
        form: (bank.symbol(term), bank.arity(term)),
        is_initial: initial.binary_search(&term).is_ok(),
        persistent_true: None,
        persistent_false: None,
    };
    match compiled {
        Some(compiled) => {
            let parse = |text: &String| game.parse(text).expect("base bits are terms of the game");
            compiled.circuit.base.iter().map(|text| fluent(parse(text))).collect()
        }
        None => plays.terms.iter().map(|&term| fluent(term)).collect(),
    }
}
