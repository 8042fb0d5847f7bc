//! Goal circuits have exactly the values of the slow evaluation of terms.

use std::sync::Arc;

use agon_game::{Position as _, Rng};
use agon_structures::structure::{Element, Structure};
use agon_toss::arena::LocationId;
use agon_toss::interpreter::Game;
use rand::{RngExt as _, SeedableRng as _};

use super::super::{
    GoalCircuit, GoalCircuitLimits, GoalEvaluator, GoalLanes, GoalOptions, GoalState, Method,
    Rational, goal_terms,
};
use super::shipped;

const METHODS: [Method; 3] = [Method::Existential, Method::Descriptions, Method::RuleConditions];
const GAMES: [&str; 6] = [
    "tic-tac-toe",
    "breakthrough",
    "pawn-whopping",
    "entanglement",
    "stepping-stones",
    "connect-four",
];
const LIMITS: GoalCircuitLimits =
    GoalCircuitLimits { gates: 20_000, summands: 10_000, assignments: 50_000 };

/// Returns states of one random play of a game.
fn played(game: &Arc<Game>, seed: u64, n_states: usize) -> Vec<(Structure, LocationId)> {
    let (mut position, mut rng) = (game.start(), Rng::seed_from_u64(seed));
    let (mut joint, mut states) = (Vec::new(), Vec::new());
    while !position.is_terminal() && states.len() < n_states {
        let state = position.state();
        states.push((state.structure().clone(), state.location()));
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
    }
    states
}

/// Returns states with random facts, most of which no play reaches.
fn random(game: &Arc<Game>, seed: u64, n_states: usize) -> Vec<(Structure, LocationId)> {
    let (arena, mut rng) = (game.arena(), Rng::seed_from_u64(seed));
    let elements: Vec<Element> = game.start_structure().elements().collect();
    let state = |rng: &mut Rng| {
        let mut structure = game.start_structure().clone();
        let vocabulary = arena.vocabulary();
        for relation in vocabulary.relations().filter(|&relation| arena.is_fluent(relation)) {
            let density: f64 = rng.random();
            for tuple in tuples(&elements, vocabulary.arity(relation)) {
                structure.remove(relation, &tuple);
                if rng.random::<f64>() < density {
                    structure.add(relation, &tuple).expect("the elements exist");
                }
            }
        }
        structure
    };
    (0..n_states).map(|_| (state(&mut rng), arena.start_location())).collect()
}

/// Returns all tuples of elements, or none for arities of which there are too many.
fn tuples(elements: &[Element], arity: usize) -> Vec<Vec<Element>> {
    match arity {
        0 => vec![Vec::new()],
        1 => elements.iter().map(|&element| vec![element]).collect(),
        _ => Vec::new(),
    }
}

/// Compares all ways to evaluate the terms of a game, and returns the number of values compared.
fn compare(name: &str, game: &Arc<Game>, states: &[(Structure, LocationId)]) -> usize {
    let mut n_compared = 0;
    for method in METHODS {
        let terms = goal_terms(game.arena(), method, &GoalOptions::default())
            .expect("no game is too large");
        let circuit = GoalCircuit::new(game, &terms, LIMITS);
        let circuit = Arc::new(circuit.unwrap_or_else(|why| panic!("{name} {method:?}: {why}")));
        let mut slow = GoalEvaluator::new(game, &terms).expect("the terms fit the game");
        let (mut one, mut many) = (GoalState::new(&circuit), GoalLanes::new(&circuit));
        let mut facts = Vec::new();
        for (lane, (structure, _)) in states.iter().enumerate() {
            circuit.read(structure, &mut facts);
            many.set(lane, &facts);
        }
        many.evaluate();
        let mut sums = [0; GoalLanes::LANES];
        for player in 0..game.arena().players().len() {
            for (lane, (structure, location)) in states.iter().enumerate() {
                let expected = slow.value(structure, *location, player).expect("it is small");
                circuit.read(structure, &mut facts);
                one.go_to(&facts);
                assert_eq!(one.value(*location, player), expected, "{name} {method:?}");
                let denominator = many.values(*location, player, &mut sums);
                let value = Rational::fraction(sums[lane], denominator);
                assert_eq!(value, expected, "{name} {method:?}");
                n_compared += 1;
            }
        }
    }
    n_compared
}

#[test]
fn circuits_have_the_values_of_the_slow_evaluation_in_play() {
    let mut n_compared = 0;
    for name in GAMES {
        let game = shipped(name);
        n_compared += compare(name, &game, &played(&game, 0, 20));
    }
    assert!(n_compared > 500, "{n_compared}");
}

#[test]
fn circuits_have_the_values_of_the_slow_evaluation_with_random_facts() {
    let mut n_compared = 0;
    for name in GAMES {
        let game = shipped(name);
        n_compared += compare(name, &game, &random(&game, 11, 6));
    }
    assert!(n_compared > 150, "{n_compared}");
}

/// A circuit that follows changes has the values of one that computes all gates, for every shipped
/// game that has a circuit.
#[test]
fn one_state_has_the_values_of_many_states_in_every_game() {
    let mut n_circuits = 0;
    for name in super::shipped_names() {
        let game = shipped(&name);
        for method in METHODS {
            let terms = goal_terms(game.arena(), method, &GoalOptions::default())
                .expect("no game is too large");
            let Ok(circuit) = GoalCircuit::new(&game, &terms, LIMITS) else { continue };
            n_circuits += 1;
            let circuit = Arc::new(circuit);
            let (mut one, mut many) = (GoalState::new(&circuit), GoalLanes::new(&circuit));
            let mut states = played(&game, 3, 60);
            states.extend(random(&game, 5, 60));
            let mut facts: Vec<Vec<u32>> = vec![Vec::new(); states.len()];
            for (lane, (structure, _)) in states.iter().enumerate() {
                circuit.read(structure, &mut facts[lane]);
                many.set(lane, &facts[lane]);
            }
            many.evaluate();
            let mut sums = [0; GoalLanes::LANES];
            for player in 0..game.arena().players().len() {
                for (lane, (_, location)) in states.iter().enumerate() {
                    one.go_to(&facts[lane]);
                    let denominator = many.values(*location, player, &mut sums);
                    let expected = Rational::fraction(sums[lane], denominator);
                    assert_eq!(one.value(*location, player), expected, "{name} {method:?}");
                }
            }
        }
    }
    assert!(n_circuits >= 20, "{n_circuits}");
}
