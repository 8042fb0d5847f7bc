//! Symmetries of boards, and interchangeable roles.
//!
//! Interchangeable roles are proved on the text of the rules: exchanging the names of the two
//! roles, together with the symbols that belong to them, gives the same set of rules.
//!
//! Symmetries of a board are observed first: recorded plays, with fluents and moves mapped, must be
//! plays again. They are proved if the circuit of the rules is mapped onto itself (`automorphism`).

mod roles;
mod sorts;

use std::collections::BTreeMap;
use std::time::Instant;

use agon_circuit::Circuit;
use agon_datalog::{Symbol, TermId};
use agon_game::{Notation as _, Position as _, Role};
use agon_gdl::circuit::{CircuitLimits, Compiled};
use agon_gdl::interpreter::Game;

use super::automorphism::{Permutation, is_automorphism};
use super::{Board, Fluent, Known, Plays};
use sorts::{Mapping, Place, Sorts};

/// A symmetry of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    /// A description of the mapping.
    pub text: String,
    /// How the symmetry is known.
    pub known: Known,
    /// What is mapped to what, for symmetries of a board.
    pub images: Option<SymmetryImages>,
}

/// The mapping of a symmetry, by the texts of fluents and moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymmetryImages {
    /// The image of each fluent.
    pub fluents: BTreeMap<String, String>,
    /// By role: the image of each move.
    pub moves: Vec<BTreeMap<String, String>>,
}

/// Maximum number of plays that are mapped and replayed.
const MAX_PLAYS: usize = 20;

/// Finds the symmetries of the boards and the interchangeable roles of a game.
pub(super) fn find(
    game: &Game,
    compiled: Option<&Compiled>,
    fluents: &[Fluent],
    boards: &[Board],
    plays: &Plays,
    deadline: Option<Instant>,
) -> Vec<Symmetry> {
    let mut found = roles::roles(game);
    let Some(compiled) = compiled else { return found };
    let candidates = Candidates { game, compiled, fluents, plays, sorts: Sorts::new(game) };
    let n_plays = plays.plays.len().min(MAX_PLAYS) as u64;
    if n_plays == 0 {
        return found;
    }
    // The check needs the circuit before optimisation, where similar rules give similar gates. It
    // is grounded on first use.
    let mut raw: Option<Option<Circuit>> = None;
    // By number of a symmetry of a board: the names of its fluents, and what it does to them.
    let mut told: Vec<(usize, Vec<String>, String)> = Vec::new();
    for (name, what, mapping) in boards.iter().flat_map(|board| candidates.of_board(board)) {
        let is_one = candidates.maps_plays_to_plays(&mapping) == Some(true);
        if !is_one || candidates.is_idle(&mapping) {
            continue;
        }
        let images = candidates.images(&mapping);
        // Fluents on one board are mapped together.
        let same = told.iter_mut().find(|(at, ..)| images.is_some() && found[*at].images == images);
        if let Some((at, names, of_others)) = same {
            if *of_others == what {
                names.push(name);
                found[*at].text = format!("{} {what}", names.join(" and "));
            }
            continue;
        }
        let raw = raw.get_or_insert_with(|| ground(game, deadline)).as_ref();
        let is_proved = raw.is_some_and(|circuit| candidates.is_proved(circuit, &mapping));
        let known = if is_proved { Known::Proved } else { Known::Observed { plays: n_plays } };
        let text = format!("{name} {what}");
        told.push((found.len(), vec![name], what));
        found.push(Symmetry { text, known, images });
    }
    found
}

/// Returns the circuit of the rules before optimisation, if it is small enough and there is time.
fn ground(game: &Game, deadline: Option<Instant>) -> Option<Circuit> {
    let mut limits = CircuitLimits { gates: MAX_RAW_GATES, ..CircuitLimits::default() };
    limits.ground.deadline = deadline;
    game.ground(&limits).ok().map(|ground| ground.circuit)
}

/// Maximum number of gates of a circuit that is grounded again for the proof.
const MAX_RAW_GATES: usize = 300_000;

/// The game in which candidate symmetries are checked.
struct Candidates<'a> {
    game: &'a Game,
    compiled: &'a Compiled,
    fluents: &'a [Fluent],
    plays: &'a Plays,
    sorts: Sorts,
}

impl Candidates<'_> {
    /// Returns the mappings of a board that may be symmetries, each with the name of the fluents and
    /// what happens to them.
    fn of_board(&self, board: &Board) -> Vec<(String, String, Mapping)> {
        let arity = n_arguments(self.fluents, board);
        let sorts = board
            .arguments
            .map(|argument| self.sorts.of(Place::Fluent(board.name, arity, argument)));
        let [Some(x), Some(y)] = sorts else { return Vec::new() };
        let name = self.game.rules().sheet().symbols.name(board.name);
        let [first, second] = board.arguments.map(|argument| argument + 1);
        let mirror = |axis: usize| -> BTreeMap<TermId, TermId> {
            let values = &board.axes[axis];
            values.iter().copied().zip(values.iter().rev().copied()).collect()
        };
        let values = |values| Mapping { values, exchange: None };
        if x == y {
            let both = values(BTreeMap::from([(x, mirror(0))]));
            return vec![(name.to_owned(), "turned round".to_owned(), both)];
        }
        let both = BTreeMap::from([(x, mirror(0)), (y, mirror(1))]);
        let mut found = vec![
            (format!("mirrored in argument {first}"), values(BTreeMap::from([(x, mirror(0))]))),
            (format!("mirrored in argument {second}"), values(BTreeMap::from([(y, mirror(1))]))),
            ("turned round".to_owned(), values(both)),
        ];
        if board.axes[0] == board.axes[1] {
            let exchange = Mapping { values: BTreeMap::new(), exchange: Some((x, y)) };
            found.push((format!("with arguments {first} and {second} exchanged"), exchange));
        }
        found.into_iter().map(|(what, mapping)| (name.to_owned(), what, mapping)).collect()
    }

    /// Returns whether a mapping changes no move and no state that was seen: then it only exchanges
    /// facts that hold in every state, such as the squares of a maze.
    fn is_idle(&self, mapping: &Mapping) -> bool {
        let Some(images) = self.images(mapping) else { return false };
        let is_fixed = |images: &BTreeMap<String, String>| images.iter().all(|(a, b)| a == b);
        if !images.moves.iter().all(is_fixed) {
            return false;
        }
        let moved: Vec<bool> = self
            .fluents
            .iter()
            .map(|fluent| images.fluents.get(&fluent.text).is_some_and(|to| *to != fluent.text))
            .collect();
        let states = self.plays.plays.iter().flatten();
        let mut moved_facts = states.map(|seen| -> Vec<u32> {
            let own = seen.fluents.iter().copied().filter(|&fluent| moved[fluent as usize]);
            own.collect::<std::collections::BTreeSet<u32>>().into_iter().collect()
        });
        // The facts that are mapped to others are the same ones in every state.
        let Some(first) = moved_facts.next() else { return true };
        moved_facts.all(|facts| facts == first)
    }

    /// Returns the images of all fluents and moves. `None` if one is not part of the game.
    fn images(&self, mapping: &Mapping) -> Option<SymmetryImages> {
        let Candidates { game, compiled, sorts, .. } = self;
        let of_fluent = |f: Symbol, n: usize, i: usize| sorts.of(Place::Fluent(f, n, i));
        let of_move = |f: Symbol, n: usize, i: usize| sorts.of(Place::Move(f, n, i));
        let mapped = |texts: &[String], sort_of: &dyn Fn(Symbol, usize, usize) -> Option<usize>| {
            let to = |text: &String| {
                let image = mapping.apply(game, game.parse(text)?, sort_of)?;
                Some((text.clone(), game.text(image)))
            };
            texts.iter().map(to).collect::<Option<BTreeMap<String, String>>>()
        };
        let circuit = &compiled.circuit;
        let moves = circuit.roles.iter().map(|role| mapped(&role.moves, &of_move));
        Some(SymmetryImages {
            fluents: mapped(&circuit.base, &of_fluent)?,
            moves: moves.collect::<Option<_>>()?,
        })
    }

    /// Returns whether the mapping maps the circuit onto itself.
    fn is_proved(&self, circuit: &Circuit, mapping: &Mapping) -> bool {
        let Candidates { game, sorts, .. } = self;
        let of_fluent = |f: Symbol, n: usize, i: usize| sorts.of(Place::Fluent(f, n, i));
        let of_move = |f: Symbol, n: usize, i: usize| sorts.of(Place::Move(f, n, i));
        let mapped = |texts: &[String], sort_of: &dyn Fn(Symbol, usize, usize) -> Option<usize>| {
            let places: BTreeMap<&str, usize> = texts.iter().map(String::as_str).zip(0..).collect();
            let to = |text: &String| {
                let term = mapping.apply(game, game.parse(text)?, sort_of)?;
                places.get(game.text(term).as_str()).copied()
            };
            texts.iter().map(to).collect::<Option<Vec<usize>>>()
        };
        let bits = mapped(&circuit.base, &of_fluent);
        let moves = circuit
            .roles
            .iter()
            .map(|role| mapped(&role.moves, &of_move))
            .collect::<Option<Vec<_>>>();
        match (bits, moves) {
            (Some(bits), Some(moves)) => is_automorphism(circuit, &Permutation { bits, moves }),
            _ => false,
        }
    }

    /// Returns whether the recorded plays are still plays after the mapping. `None` if the image of
    /// a move is not a move.
    fn maps_plays_to_plays(&self, mapping: &Mapping) -> Option<bool> {
        let Candidates { game, compiled, fluents, plays, sorts } = self;
        let place: BTreeMap<TermId, u32> =
            fluents.iter().map(|fluent| fluent.term).zip(0..).collect();
        let of_fluent = |f: Symbol, n: usize, i: usize| sorts.of(Place::Fluent(f, n, i));
        let of_move = |f: Symbol, n: usize, i: usize| sorts.of(Place::Move(f, n, i));
        let mapped: Option<Vec<u32>> = fluents
            .iter()
            .map(|fluent| {
                mapping
                    .apply(game, fluent.term, &of_fluent)
                    .and_then(|term| place.get(&term).copied())
            })
            .collect();
        let mapped = mapped?;
        let start = compiled.start();
        let mut position = start.clone();
        let mut bits = Vec::new();
        for play in plays.plays.iter().take(MAX_PLAYS) {
            position.go_to(start.state());
            for seen in play {
                position.features(&mut bits);
                let mut expected: Vec<u32> =
                    seen.fluents.iter().map(|&fluent| mapped[fluent as usize]).collect();
                expected.sort_unstable();
                bits.sort_unstable();
                let n_legal = |role: usize| position.legal_moves(Role::new(role)).len();
                let is_alike = bits == expected
                    && position.is_terminal() == seen.is_terminal
                    && seen
                        .legal
                        .iter()
                        .enumerate()
                        .all(|(role, legal)| n_legal(role) == legal.len())
                    && (seen.payoffs.iter().enumerate())
                        .all(|(role, &pay)| position.payoff(Role::new(role)) == pay);
                if !is_alike {
                    return Some(false);
                }
                if seen.joint.is_empty() {
                    break;
                }
                let mut joint = Vec::new();
                for (role, &m) in seen.joint.iter().enumerate() {
                    let term = game.parse(&plays.moves[role][m as usize])?;
                    let text = game.text(mapping.apply(game, term, &of_move)?);
                    let Some(m) = position.parse_move(Role::new(role), &text) else {
                        return Some(false);
                    };
                    joint.push(m);
                }
                position.advance(&joint);
            }
        }
        Some(true)
    }
}

/// Returns the number of arguments of the fluent of a board.
fn n_arguments(fluents: &[Fluent], board: &Board) -> usize {
    let own = fluents
        .iter()
        .find(|fluent| fluent.form.0 == board.name && fluent.form.1 > board.arguments[1]);
    own.map_or(0, |fluent| fluent.form.1)
}
