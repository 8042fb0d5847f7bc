//! Legality of moves as a relation of its own.
//!
//! A class of moves has one rule for each case, and all of them repeat the condition under which
//! the move is legal. As a definition, this condition is evaluated once in each state. Each rule
//! then starts from the few legal moves, and checks its other conditions only for these.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;

use super::arena::Arena;
use super::cases::TranslatedRule;
use super::domain::Functor;
use super::formula::{Form, Relation, Val, Var, and};
use super::lift::Defined;
use super::shared::{Sizes, bound};

/// Maximum estimated number of moves in a state. The estimate is rough, and legal moves stay far
/// below the limit. Conditions with little in common may exceed it.
const MAX_MOVES: f64 = 1_000_000.0;

/// Location, role, functor and arguments of a class of moves.
type ClassKey = (usize, usize, Functor, Vec<ArgumentKey>);

/// An argument: a term, or the number of an element of the embedding with the index of its
/// coordinate.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum ArgumentKey {
    Fixed(TermId),
    Element(usize, Option<usize>),
}

/// Names the conditions on the move itself that all rules of a class share.
pub(super) fn name_legality(arena: &mut Arena<'_>) {
    let mut translated_rules = std::mem::take(&mut arena.translated_rules);
    let mut classes: BTreeMap<ClassKey, Vec<usize>> = BTreeMap::new();
    for (index, (location, _, translated_rule)) in translated_rules.iter().enumerate() {
        let key = (
            *location,
            translated_rule.role,
            translated_rule.functor,
            argument_keys(translated_rule),
        );
        classes.entry(key).or_default().push(index);
    }
    for members in classes.into_values().filter(|members| members.len() > 1) {
        let asked: Vec<BTreeMap<Form, Form>> =
            members.iter().map(|&member| asked_of_move(&translated_rules[member].2)).collect();
        let Some((first, others)) = asked.split_first() else { continue };
        let is_common = |form: &Form| others.iter().all(|asked| asked.contains_key(form));
        let common: BTreeSet<&Form> = first.keys().filter(|form| is_common(form)).collect();
        let own = own(&translated_rules[members[0]].2);
        let body = and(common.iter().map(|&form| first[form].clone()));
        let free = body.free();
        // By their positions among the elements of the move, because each rule has its own
        // variables.
        let parameters: Vec<usize> =
            (0..own.len()).filter(|&place| free.contains(&own[place])).collect();
        if !is_worthwhile(arena, &body) {
            continue;
        }
        let mut by: BTreeMap<Var, Val> = BTreeMap::new();
        let mut variables = Vec::new();
        for &place in &parameters {
            let called = arena.lifter.names[own[place] as usize].clone();
            let variable = arena.lifter.fresh(&called);
            by.insert(own[place], Val::Var(variable));
            variables.push(variable);
        }
        let name =
            format!("{}_legal", arena.lifter.symbol_name(translated_rules[members[0]].2.functor.0));
        // No two quantifiers share a variable, so the definition gets its own variables.
        let body = arena.lifter.renamed(&body).replace(&by);
        let legal = Relation::Defined(arena.lifter.defined.len());
        arena.lifter.defined.push(Defined {
            name,
            parameters: variables,
            body,
            is_recursive: false,
        });
        for (&member, asked) in members.iter().zip(&asked) {
            let translated_rule = &mut translated_rules[member].2;
            let own = self::own(translated_rule);
            let said: BTreeSet<&Form> = common.iter().map(|&form| &asked[form]).collect();
            let arguments = parameters.iter().map(|&place| Val::Var(own[place])).collect();
            let rest = translated_rule
                .condition
                .clone()
                .conjuncts()
                .into_iter()
                .filter(|part| !said.contains(part));
            translated_rule.condition = and([Form::Atom(legal, arguments)].into_iter().chain(rest));
        }
    }
    arena.translated_rules = translated_rules;
}

/// Returns whether a body is more than an atom, binds all its variables, and has few tuples.
fn is_worthwhile(arena: &Arena<'_>, body: &Form) -> bool {
    let mut n_atoms = 0;
    body.each_atom(&mut |_, _| n_atoms += 1);
    let free = body.free();
    n_atoms > 1
        && !free.is_empty()
        && free.is_subset(&bound(body))
        && Sizes::of(arena).n_tuples(body, &mut BTreeSet::new()) <= MAX_MOVES
}

fn argument_keys(translated_rule: &TranslatedRule) -> Vec<ArgumentKey> {
    let own = own(translated_rule);
    let key = |value: &Val| match value {
        Val::Term(term) => ArgumentKey::Fixed(*term),
        Val::Var(v) => {
            let (element, coordinate) = element(translated_rule, *v);
            let place = own.iter().position(|&known| known == element);
            ArgumentKey::Element(place.unwrap_or(usize::MAX), coordinate)
        }
    };
    translated_rule.arguments.iter().map(key).collect()
}

/// Returns the element of the embedding that a variable of the move is, or is a coordinate of.
fn element(translated_rule: &TranslatedRule, v: Var) -> (Var, Option<usize>) {
    translated_rule
        .coordinates
        .get(&v)
        .map_or((v, None), |&(place, coordinate)| (place, Some(coordinate)))
}

/// Returns the elements that the move names, in their order.
fn own(translated_rule: &TranslatedRule) -> Vec<Var> {
    let mut own = Vec::new();
    for value in &translated_rule.arguments {
        if let Val::Var(v) = value {
            let (element, _) = element(translated_rule, *v);
            if !own.contains(&element) {
                own.push(element);
            }
        }
    }
    own
}

/// Returns the conditions of a rule on the elements of the move alone. The key is the condition in
/// terms of argument positions, which is the same in all rules of the class.
fn asked_of_move(translated_rule: &TranslatedRule) -> BTreeMap<Form, Form> {
    let own = own(translated_rule);
    let places: BTreeMap<Var, Val> =
        (0..).zip(&own).map(|(place, &v)| (v, Val::Var(place))).collect();
    let parts = translated_rule.condition.clone().conjuncts().into_iter();
    let of_move = parts.filter(|part| part.free().iter().all(|v| places.contains_key(v)));
    of_move
        .map(|part| {
            // Bound variables get numbers far away from the positions, to prevent capture.
            let mut next = Var::MAX / 2;
            let plain = part.renamed(&mut |_| {
                next += 1;
                next
            });
            (plain.replace(&places), part)
        })
        .collect()
}
