//! Computes an upper bound of the tuples and embeddings that can occur in play, by assuming that
//! every negated condition on changing relations holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_structures::evaluate::{Assignment, Evaluator, FormulaQuery};
use agon_structures::formula::{Closure, Definitions, Fix, Formula, Name};
use agon_structures::normal_form::nnf;
use agon_structures::structure::{Element, Structure};

use super::{CircuitLimits, NoCircuit};
use crate::arena::Effect;
use crate::interpreter::Game;

/// An upper bound of what can occur in play.
pub(super) struct Possible {
    /// The start with every tuple that may ever hold.
    pub(super) upper_bound: Structure,
    /// The possible embeddings of each rule, sorted.
    pub(super) embeddings: Vec<Vec<Vec<Element>>>,
    /// The defined relations that depend on changing relations. The others are relations of the
    /// structure.
    pub(super) definitions: Definitions,
}

pub(super) fn possible(game: &Game, limits: &CircuitLimits) -> Result<Possible, NoCircuit> {
    let arena = game.arena();
    let start = game.start_structure();
    let mut changing: BTreeSet<Name> = arena
        .vocabulary()
        .relations()
        .filter(|&relation| arena.is_fluent(relation))
        .map(|relation| arena.vocabulary().relation_name(relation).clone())
        .collect();
    let mut definitions = Definitions::new();
    let mut relaxed_definitions = Definitions::new();
    for definition in arena.definitions().iter() {
        if start.vocabulary().relation(&definition.name).is_some() {
            continue;
        }
        changing.insert(definition.name.clone());
        // These definitions were accepted before, and the relations they use still come first.
        let _ = definitions.add(
            &definition.name,
            definition.variables.clone(),
            definition.body.clone(),
        );
        let body = relaxed(&nnf(&definition.body.without_lets(limits.parts)?), &changing);
        let _ = relaxed_definitions.add(&definition.name, definition.variables.clone(), body);
    }
    let vocabulary = start.vocabulary().clone();
    let mut evaluator =
        Evaluator::new(vocabulary, Arc::new(relaxed_definitions), limits.evaluation);
    evaluator.set_interrupt(limits.interrupt.clone());
    let mut queries: Vec<FormulaQuery> = Vec::new();
    for rule in arena.rules() {
        let condition = relaxed(&nnf(&rule.condition.without_lets(limits.parts)?), &changing);
        queries.push(evaluator.formula(&condition, &rule.elements)?);
    }
    let mut upper_bound = start.clone();
    let mut embeddings: BTreeMap<usize, Vec<Vec<Element>>> = BTreeMap::new();
    let mut work_left = limits.work;
    loop {
        let mut grows = false;
        for (place, rule) in arena.rules().iter().enumerate() {
            let found = evaluator.solve(queries[place], &upper_bound, &Assignment::new())?;
            if found.len() > limits.rows {
                return Err(NoCircuit::TooLarge(limits.rows));
            }
            // Every round examines all embeddings again.
            work_left =
                work_left.checked_sub(found.len() as u64).ok_or(NoCircuit::Work(limits.work))?;
            let Effect::Tuples { add, .. } = &rule.effect else {
                return Err(NoCircuit::UniverseChanges);
            };
            for embedding in found.iter() {
                for tuple in add {
                    let elements: Vec<Element> =
                        tuple.arguments.iter().map(|&index| embedding[index]).collect();
                    grows |= upper_bound
                        .add(tuple.relation, &elements)
                        .expect("an embedding names living elements, and arities were checked");
                }
            }
            embeddings.insert(place, found.iter().map(<[Element]>::to_vec).collect());
        }
        if !grows {
            break;
        }
    }
    let embeddings = embeddings.into_values().collect();
    Ok(Possible { upper_bound, embeddings, definitions })
}

/// Weakens a formula in negation normal form so that it holds wherever the formula may hold when
/// changing relations have fewer tuples than now.
fn relaxed(formula: &Formula, changing: &BTreeSet<Name>) -> Formula {
    let changes =
        |formula: &Formula| formula.free_relations().keys().any(|name| changing.contains(name));
    let all = |parts: &[Formula]| parts.iter().map(|part| relaxed(part, changing)).collect();
    match formula {
        Formula::Relation(..) | Formula::Equal(..) | Formula::Member(..) => formula.clone(),
        Formula::Not(_) | Formula::Compare(..) => {
            if changes(formula) {
                Formula::truth()
            } else {
                formula.clone()
            }
        }
        Formula::And(parts) => Formula::And(all(parts)),
        Formula::Or(parts) => Formula::Or(all(parts)),
        Formula::Exists(variables, inner) => Formula::exists(variables, relaxed(inner, changing)),
        Formula::All(variables, inner) => Formula::all(variables, relaxed(inner, changing)),
        Formula::Fix(fix) => {
            // The bound relation shadows one of the same name.
            let mut inside = changing.clone();
            inside.remove(&fix.relation);
            Formula::Fix(Box::new(Fix { body: relaxed(&fix.body, &inside), ..(**fix).clone() }))
        }
        Formula::Closure(closure) => Formula::Closure(Box::new(Closure {
            body: relaxed(&closure.body, changing),
            ..(**closure).clone()
        })),
        Formula::Let(_) => unreachable!("`let`s were put in place"),
    }
}
