//! Properties of a game, each with how it is known: proved from the rules, or observed in random plays.
//!
//! First some random plays refute what is not so; then what is left is to be proved by induction over the steps of
//! the circuit ([`crate::prove`]), each proof helped by the ones before it. What is neither refuted nor proved in time is
//! observed, and no more than that. A game without a circuit gets by with observations.

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
use agon_gdl::engine::Compiled;
use agon_gdl::interpreter::Game;

use crate::prove::{ProofLimits, Prover};
pub use boards::Board;
pub use groups::{Group, Mode};
pub use length::{Bound, Length};
pub use parts::{Once, Part};
pub use payoffs::{Payoffs, prove_constant_sum};
pub use plays::{PlayLimits, Plays, Seen};
pub use relations::{Relation, RelationKind};
pub use symmetry::Symmetry;
pub use turns::{RoleTurns, Turns};

/// How a property is known.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Known {
    /// It follows from the rules.
    Proved,
    /// It held in so many random plays.
    Observed {
        /// How many.
        plays: u64,
    },
}

impl Known {
    /// Whether it follows from the rules: what searches may use without asking.
    pub fn is_proved(self) -> bool {
        self == Known::Proved
    }

    /// What holds together is known as badly as the worse known of the two.
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

/// What finding properties may cost.
#[derive(Clone, Debug, Default)]
pub struct PropertyLimits {
    /// For random plays.
    pub plays: PlayLimits,
    /// For proofs.
    pub proof: ProofLimits,
}

impl PropertyLimits {
    /// The usual limits, and no more time than until then.
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
    /// The same as the rules would write it.
    pub text: String,
    /// Its name and its number of arguments.
    pub form: (Symbol, usize),
    /// Whether it holds in the initial state.
    pub is_initial: bool,
    /// Once it holds, it holds for ever. `None`: a play showed otherwise.
    pub persistent_true: Option<Known>,
    /// Once it does not hold, it never does again. `None`: a play showed otherwise.
    pub persistent_false: Option<Known>,
}

/// What is known of a game. `None` stands for what is not so or not known at all.
pub struct Properties {
    /// The game.
    pub game: Arc<Game>,
    /// With a circuit its base bits, in their order, which are all fluents there can be; else those that were seen.
    pub fluents: Vec<Fluent>,
    /// Whether `fluents` are all there can be.
    pub is_complete: bool,
    /// Fluents of which at most one holds at a time, as indices into `fluents`.
    pub groups: Vec<Group>,
    /// Which arguments of a fluent follow from the others.
    pub modes: Vec<Mode>,
    /// Who chooses when.
    pub turns: Turns,
    /// Static relations of two arguments.
    pub relations: Vec<Relation>,
    /// What the rules pay.
    pub payoffs: Payoffs,
    /// How long play can last.
    pub length: Length,
    /// Pairs of arguments that are coordinates.
    pub boards: Vec<Board>,
    /// Symmetries of the board, and interchangeable roles.
    pub symmetries: Vec<Symmetry>,
    /// Independent sub-games: at least two, or none are known. Proved.
    pub parts: Vec<Part>,
    /// Moves that are made once at most.
    pub once: Vec<Once>,
    /// The random plays behind what is observed.
    pub plays: Plays,
    /// What could not be found out, with the reason.
    pub refused: Vec<(&'static str, String)>,
}

impl Properties {
    /// Finds out what it can within the limits. `compiled` is the circuit of the same game, if there is one.
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
                    "there is no circuit of the game to prove anything of".to_owned(),
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
            // There are as many of these questions as there are fluents: what is left open is asked again when more is known.
            given.iter().for_each(|group| prover.suppose_at_most_one(group));
            prover.within(4, |prover| persistence::prove(&mut fluents, prover));
        }
        let (groups, modes) = match &mut prover {
            // The hardest of all, and much depends on them; but what comes after them is to have its chance.
            Some(prover) => {
                prover.within(2, |prover| groups::find(game, &fluents, &plays, given, Some(prover)))
            }
            None => groups::find(game, &fluents, &plays, given, None),
        };
        if let Some(prover) = &mut prover {
            prover.within(2, |prover| persistence::prove(&mut fluents, prover));
        }
        let turns = turns::find(game, compiled, &plays, prover.as_mut());
        let payoffs = payoffs::find(game, compiled, &plays, prover.as_mut());
        let circuit = compiled.map(|compiled| &*compiled.circuit);
        let length = length::find(circuit, &fluents, &groups, &plays, prover.as_mut());
        let parts =
            circuit.map_or(Vec::new(), |circuit| parts::parts(circuit, &turns, &length.counters));
        let once = parts::once(circuit, &fluents, &turns, &plays, prover.as_mut());
        let relations = relations::find(game);
        let boards =
            boards::find(game, &fluents, compiled.is_some(), plays.n_plays(), &modes, &relations);
        let deadline = limits.proof.deadline;
        let symmetries = symmetry::find(game, compiled, &fluents, &boards, &plays, deadline);
        if prover.as_ref().is_some_and(Prover::has_run_out) {
            refused.push(("some proofs", "they took too long".to_owned()));
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

    /// The fluent that is written like this.
    pub fn fluent(&self, text: &str) -> Option<usize> {
        let term = self.game.parse(text)?;
        self.fluents.iter().position(|fluent| fluent.term == term)
    }

    /// How it is known that of these fluents at most one holds at a time, if it is.
    pub fn at_most_one(&self, fluents: &[usize]) -> Option<Known> {
        let covers = |group: &&Group| fluents.iter().all(|fluent| group.fluents.contains(fluent));
        let known = self.groups.iter().filter(covers).map(|group| group.at_most_one);
        known.min()
    }

    /// How it is known that exactly one of these fluents holds at every state, if it is.
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
