//! What can come about at most: tuples and matches, found by taking all that is negated to be so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_structures::evaluate::{Assignment, Evaluator, FormulaQuery};
use agon_structures::formula::{Closure, Definitions, Fix, Formula, Name};
use agon_structures::normal_form::nnf;
use agon_structures::structure::{Element, Structure};

use super::{CircuitLimits, NoCircuit};
use crate::arena::Effect;
use crate::interpreter::Game;

/// What can come about.
pub(super) struct Possible {
    /// The start, with every tuple that may ever hold.
    pub(super) most: Structure,
    /// By rule: the matches that may ever be, sorted.
    pub(super) matches: Vec<Vec<Vec<Element>>>,
    /// The defined relations that depend on what changes; the others are relations of the structure.
    pub(super) definitions: Definitions,
}

pub(super) fn possible(game: &Game, limits: &CircuitLimits) -> Result<Possible, NoCircuit> {
    let arena = game.arena();
    let start = game.settled();
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
        // They were accepted once, and those they use are still before them.
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
    let mut queries: Vec<FormulaQuery> = Vec::new();
    for rule in arena.rules() {
        let condition = relaxed(&nnf(&rule.condition.without_lets(limits.parts)?), &changing);
        queries.push(evaluator.formula(&condition, &rule.elements)?);
    }
    let mut most = start.clone();
    let mut matches: BTreeMap<usize, Vec<Vec<Element>>> = BTreeMap::new();
    let mut work_left = limits.work;
    loop {
        let mut grows = false;
        for (place, rule) in arena.rules().iter().enumerate() {
            let found = evaluator.solve(queries[place], &most, &Assignment::new())?;
            if found.len() > limits.rows {
                return Err(NoCircuit::TooLarge(limits.rows));
            }
            // Every round looks at all matches again.
            work_left =
                work_left.checked_sub(found.len() as u64).ok_or(NoCircuit::Work(limits.work))?;
            let Effect::Tuples { add, .. } = &rule.effect else {
                return Err(NoCircuit::UniverseChanges);
            };
            for matched in found.iter() {
                for tuple in add {
                    let elements: Vec<Element> =
                        tuple.arguments.iter().map(|&index| matched[index]).collect();
                    grows |= most
                        .add(tuple.relation, &elements)
                        .expect("a match names living elements, and arities were checked");
                }
            }
            matches.insert(place, found.iter().map(<[Element]>::to_vec).collect());
        }
        if !grows {
            break;
        }
    }
    let matches = matches.into_values().collect();
    Ok(Possible { most, matches, definitions })
}

/// What holds wherever the formula, which is in negation normal form, may hold while changing relations are smaller than now.
fn relaxed(formula: &Formula, changing: &BTreeSet<Name>) -> Formula {
    let changes =
        |formula: &Formula| formula.free_relations().keys().any(|name| changing.contains(name));
    let all = |parts: &[Formula]| parts.iter().map(|part| relaxed(part, changing)).collect();
    match formula {
        Formula::Relation(..) | Formula::Equal(..) => formula.clone(),
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
            // The relation that it binds hides one of the same name.
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
