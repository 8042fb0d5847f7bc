//! From a game to its action heuristics, and from a position to what they need to know of it.

use std::any::Any;
use std::collections::BTreeMap;
use std::time::Instant;

use agon_circuit::{Circuit, Deadline, ScalarCircuit, prove_groups_until, prove_turns};
use agon_game::{Notation, Role};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::engine::Compiled;
use agon_gdl::interpreter::Game;

use super::abreast::{Abreast, Lane};
use super::evaluator::Evaluator;
use super::knowledge::Knowledge;
use super::regress::{ActionHeuristics, Refusal, RegressOptions, regress};
use crate::properties::{Known, Properties};

impl ActionHeuristics {
    /// The action heuristics of a game. What is proved of it helps, if it is given; `compiled` and `properties` are of the same game.
    ///
    /// The rules are grounded once more, for the circuit that plays is optimised: it says the same, but not in the way the
    /// rules do, and in fuzzy logic the way matters.
    ///
    /// # Errors
    /// If the game is too large for it, or if no role has a goal that its moves could bring nearer.
    pub fn of_game(
        game: &Game,
        compiled: Option<&Compiled>,
        properties: Option<&Properties>,
        options: &RegressOptions,
    ) -> Result<ActionHeuristics, Refusal> {
        let mut limits = CircuitLimits::default();
        limits.ground.deadline = options.deadline;
        let ground = game.ground(&limits).map_err(|refusal| match options.deadline {
            Some(deadline) if Instant::now() > deadline => Refusal::Late,
            _ => Refusal::NotGround(game.refusal_text(&refusal)),
        })?;
        let mut knowledge = knowledge(&ground.circuit, compiled, properties);
        if compiled.is_none() {
            let part = options.deadline.map(|deadline| {
                let now = Instant::now();
                now + deadline.saturating_duration_since(now) / GROUPS_PART
            });
            let proved =
                prove_groups_until(&ground.circuit, ground.candidates, Deadline::new(part));
            knowledge.groups.extend(proved);
            knowledge.groups.sort();
            knowledge.groups.dedup();
        }
        regress(&ground.circuit, knowledge, options)
    }
}

/// The part of the time that is for proving which fluents exclude each other, where nobody has done so before.
const GROUPS_PART: u32 = 10;

/// What is proved, told of the base bits of a circuit of the same game.
fn knowledge(
    circuit: &Circuit,
    compiled: Option<&Compiled>,
    properties: Option<&Properties>,
) -> Knowledge {
    let n_fluents = circuit.base.len();
    let mut knowledge = Knowledge::default();
    let has_same_moves = |other: &Circuit| {
        other.roles.len() == circuit.roles.len()
            && other.roles.iter().zip(&circuit.roles).all(|(other, own)| other.moves == own.moves)
    };
    knowledge.turns = match compiled {
        Some(compiled) if compiled.turns.is_some() && has_same_moves(&compiled.circuit) => {
            compiled.turns.clone()
        }
        _ => prove_turns(circuit),
    };
    if let Some(compiled) = compiled
        && compiled.circuit.base == circuit.base
    {
        knowledge.groups.clone_from(&compiled.groups);
    }
    let Some(properties) = properties else { return knowledge };
    let places: BTreeMap<&str, usize> = circuit.base.iter().map(String::as_str).zip(0..).collect();
    let place = |fluent: usize| places.get(properties.fluents[fluent].text.as_str()).copied();
    knowledge.persistent_true = vec![false; n_fluents];
    knowledge.persistent_false = vec![false; n_fluents];
    for (at, fluent) in properties.fluents.iter().enumerate() {
        let Some(bit) = place(at) else { continue };
        knowledge.persistent_true[bit] = fluent.persistent_true.is_some_and(Known::is_proved);
        knowledge.persistent_false[bit] = fluent.persistent_false.is_some_and(Known::is_proved);
    }
    for group in properties.groups.iter().filter(|group| group.at_most_one.is_proved()) {
        let bits: Option<Vec<usize>> = group.fluents.iter().map(|&fluent| place(fluent)).collect();
        knowledge.groups.extend(bits);
    }
    knowledge.groups.sort();
    knowledge.groups.dedup();
    knowledge
}

/// Reads states and moves of positions of one game as numbers of fluents and of moves.
///
/// A circuit tells them as they are; of any other engine they are read as text, which is slow, but so are those engines.
#[derive(Clone)]
pub struct Reader {
    /// By base bit of the circuit that plays: the fluent. None if they are numbered alike.
    bits: Option<Vec<Option<u32>>>,
    /// By role, and move of the circuit that plays: the move. None if they are numbered alike.
    inputs: Option<Vec<Vec<Option<u32>>>>,
    fluents: BTreeMap<String, u32>,
    /// By role.
    moves: Vec<BTreeMap<String, u32>>,
    n_words: usize,
}

impl Reader {
    /// For positions like this one.
    pub fn new<P: Notation + 'static>(position: &P, heuristics: &ActionHeuristics) -> Reader {
        let numbered = |texts: &[String]| -> BTreeMap<String, u32> {
            texts.iter().cloned().zip(0..).collect()
        };
        let fluents = numbered(&heuristics.fluents);
        let moves: Vec<_> = heuristics.roles.iter().map(|role| numbered(&role.moves)).collect();
        let (mut bits, mut inputs) = (None, None);
        if let Some(position) = circuit_of(position) {
            let circuit = position.circuit();
            if circuit.base != heuristics.fluents {
                bits = Some(circuit.base.iter().map(|text| fluents.get(text).copied()).collect());
            }
            let is_alike = circuit
                .roles
                .iter()
                .zip(&heuristics.roles)
                .all(|(other, own)| other.moves == own.moves);
            if !is_alike {
                let of_role =
                    |(role, known): (&agon_circuit::CircuitRole, &BTreeMap<String, u32>)| {
                        role.moves.iter().map(|text| known.get(text).copied()).collect()
                    };
                inputs = Some(circuit.roles.iter().zip(&moves).map(of_role).collect());
            }
        }
        Reader { bits, inputs, n_words: heuristics.fluents.len().div_ceil(64), fluents, moves }
    }

    /// The fluents that hold where a position stands: a bit for each, 64 to a word, the lowest first.
    pub fn state<P: Notation + 'static>(&self, position: &P, words: &mut Vec<u64>) {
        words.clear();
        match (circuit_of(position), &self.bits) {
            (Some(position), None) => {
                words.extend_from_slice(agon_game::Position::state(position).words());
                words.resize(self.n_words, 0);
            }
            (Some(position), Some(bits)) => {
                words.resize(self.n_words, 0);
                let state = agon_game::Position::state(position);
                let known = bits.iter().enumerate().filter(|&(bit, _)| state.get(bit));
                known.filter_map(|(_, fluent)| *fluent).for_each(|fluent| set(words, fluent));
            }
            (None, _) => {
                words.resize(self.n_words, 0);
                let known = position
                    .state_text()
                    .into_iter()
                    .filter_map(|text| self.fluents.get(&text).copied());
                known.for_each(|fluent| set(words, fluent));
            }
        }
    }

    /// Takes an evaluator to where a position stands, which costs as much as has changed since. `seen` belongs to the evaluator: what
    /// was read the last time; nothing, if the evaluator is new.
    pub fn lead<P: Notation + 'static>(
        &self,
        position: &P,
        seen: &mut Vec<u64>,
        evaluator: &mut Evaluator,
    ) {
        let Some(position) = circuit_of(position) else {
            self.state(position, seen);
            evaluator.go_to(seen);
            return;
        };
        let state = agon_game::Position::state(position).words();
        seen.resize(state.len(), 0);
        for (at, (&word, seen)) in state.iter().zip(seen).enumerate() {
            let mut changed = std::mem::replace(seen, word) ^ word;
            while changed != 0 {
                let place = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                let bit = 64 * at + place;
                let fluent = match &self.bits {
                    None => Some(bit),
                    // What stands in a state beside its fluents is nobody's business here.
                    Some(bits) => bits.get(bit).copied().flatten().map(|fluent| fluent as usize),
                };
                if let Some(fluent) = fluent {
                    evaluator.set(fluent, word >> place & 1 == 1);
                }
            }
        }
    }

    /// Puts the states where these positions stand in the first lanes, one in each.
    pub fn lead_lanes<'p, P: Notation + 'static>(
        &self,
        positions: impl Iterator<Item = &'p P>,
        role: Role,
        abreast: &mut Abreast,
    ) {
        let mut are_circuits = false;
        for (lane, position) in positions.enumerate() {
            if let Some(state) = Reader::words(position) {
                are_circuits = true;
                abreast.put(role, lane, state);
            } else {
                let mut state = Vec::new();
                self.state(position, &mut state);
                abreast.put(role, lane, &state);
            }
        }
        match &self.bits {
            Some(bits) if are_circuits => {
                abreast.follow(role, |bit| {
                    bits.get(bit).copied().flatten().map(|fluent| fluent as usize)
                });
            }
            _ => abreast.follow(role, Some),
        }
    }

    /// The state where a position stands, as a circuit has it; none of any other engine.
    #[inline]
    pub fn words<P: Notation + 'static>(position: &P) -> Option<&[u64]> {
        circuit_of(position).map(|position| agon_game::Position::state(position).words())
    }

    /// Adds what all legal moves of a role are worth in a lane, where a position stands; 0 for those that nothing is said of, for they bring no
    /// goal nearer.
    pub fn add_values<P: Notation + 'static>(
        &self,
        position: &P,
        role: Role,
        judged: Lane<'_>,
        values: &mut Vec<f64>,
    ) {
        if let (Some(circuit), None) = (circuit_of(position), &self.inputs) {
            let first = circuit.input(role, 0).0;
            let moves = agon_game::Position::legal_moves(circuit, role);
            let value =
                |m: &agon_circuit::Input| judged.value((m.0 - first) as usize).unwrap_or(0.0);
            values.extend(moves.iter().map(value));
            return;
        }
        values.extend(position.legal_moves(role).iter().map(|m| {
            let move_idx = self.move_idx(position, role, m);
            move_idx.and_then(|move_idx| judged.value(move_idx)).unwrap_or(0.0)
        }));
    }

    /// The number of a role's move among all its moves, if it is known.
    pub fn move_idx<P: Notation + 'static>(
        &self,
        position: &P,
        role: Role,
        m: &P::Move,
    ) -> Option<usize> {
        let input = (m as &dyn Any).downcast_ref::<agon_circuit::Input>();
        if let (Some(position), Some(input)) = (circuit_of(position), input) {
            let at = input.0.checked_sub(position.input(role, 0).0)? as usize;
            return match &self.inputs {
                None => Some(at),
                Some(inputs) => {
                    inputs[role.index()].get(at).copied().flatten().map(|at| at as usize)
                }
            };
        }
        self.moves[role.index()].get(&position.move_text(m)).map(|&at| at as usize)
    }
}

fn set(words: &mut [u64], fluent: u32) {
    words[fluent as usize / 64] |= 1 << (fluent % 64);
}

fn circuit_of<P: 'static>(position: &P) -> Option<&ScalarCircuit> {
    (position as &dyn Any).downcast_ref::<ScalarCircuit>()
}
