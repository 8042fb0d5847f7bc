//! Action heuristics of a game, from its rules.

use std::collections::BTreeMap;
use std::time::Instant;

use agon_circuit::{Circuit, Deadline, prove_groups, prove_turns};
use agon_gdl::circuit::{CircuitLimits, Compiled};
use agon_gdl::interpreter::Game;

use super::knowledge::Knowledge;
use super::orbits::StateSymmetry;
use super::regress::{ActionHeuristics, RegressError, RegressOptions, regress};
use crate::properties::{Known, Properties, SymmetryImages};

impl ActionHeuristics {
    /// Computes the action heuristics of a game. `compiled` and `properties` belong to the same
    /// game, and help if given.
    ///
    /// The rules are grounded again, because the circuit that plays is optimised. It is equivalent
    /// to the rules, but has another shape, and in fuzzy logic the shape matters.
    ///
    /// # Errors
    /// If the game is too large, or if no role has a goal that depends on its moves.
    pub fn of_game(
        game: &Game,
        compiled: Option<&Compiled>,
        properties: Option<&Properties>,
        options: &RegressOptions,
    ) -> Result<ActionHeuristics, RegressError> {
        let mut limits = CircuitLimits::default();
        limits.ground.deadline = options.deadline;
        let ground = game.ground(&limits).map_err(|refusal| match options.deadline {
            Some(deadline) if Instant::now() > deadline => RegressError::DeadlinePassed,
            _ => RegressError::NotGround(game.refusal_text(&refusal)),
        })?;
        let mut knowledge = knowledge(&ground.circuit, compiled, properties);
        if compiled.is_none() {
            let part = options.deadline.map(|deadline| {
                let now = Instant::now();
                now + deadline.saturating_duration_since(now) / GROUPS_SHARE
            });
            let proved = prove_groups(&ground.circuit, ground.candidates, Deadline::new(part));
            knowledge.groups.extend(proved);
            knowledge.groups.sort();
            knowledge.groups.dedup();
        }
        regress(&ground.circuit, knowledge, options)
    }
}

/// One out of this many parts of the time is for proving exclusive groups, if no compiled game
/// provides them.
const GROUPS_SHARE: u32 = 10;

/// Returns the proved facts in the numbering of the base bits of a circuit of the same game.
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
    // Rules that count cell by cell hide a symmetry from the proof. It only makes values equal here,
    // so that observation is enough.
    let symmetries = properties.symmetries.iter();
    knowledge.symmetries = symmetries
        .filter_map(|symmetry| symmetry.images.as_ref())
        .filter_map(|images| state_symmetry(circuit, images))
        .collect();
    knowledge
}

/// Returns a symmetry in the numbering of a circuit. `None` if the circuit lacks an image.
fn state_symmetry(circuit: &Circuit, images: &SymmetryImages) -> Option<StateSymmetry> {
    let mapped = |texts: &[String], images: &BTreeMap<String, String>| {
        let places: BTreeMap<&str, u32> = texts.iter().map(String::as_str).zip(0..).collect();
        let image = |text: &String| places.get(images.get(text)?.as_str()).copied();
        texts.iter().map(image).collect::<Option<Vec<u32>>>()
    };
    let moves = circuit.roles.iter().zip(&images.moves);
    Some(StateSymmetry {
        fluents: mapped(&circuit.base, &images.fluents)?,
        moves: moves.map(|(role, images)| mapped(&role.moves, images)).collect::<Option<_>>()?,
    })
}
