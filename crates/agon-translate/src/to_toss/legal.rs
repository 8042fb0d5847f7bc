//! When a move is legal, as a relation of its own.
//!
//! A class of moves has a rule for each case, and all of them ask first when the move is legal. Said once, as a definition, that is worked
//! out once a state, and each rule begins with the few moves that there are: what else it asks is asked of these alone.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;

use super::arena::Arena;
use super::cases::Ruling;
use super::domain::Functor;
use super::formula::{Form, Relation, Val, Var, and};
use super::lift::Defined;
use super::shared::{Sizes, bound};

/// So many moves there may be expected to be at a state. The number is a guess, and far from being reached by what is legal; conditions
/// of which not much was left in common may be larger.
const MAX_MOVES: f64 = 1_000_000.0;

/// Where a class is at home, and what its moves look like.
type ClassKey = (usize, usize, Functor, Vec<ArgumentKey>);

/// An argument: a term, or the number of an element of the match, and which coordinate of it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum ArgumentKey {
    Fixed(TermId),
    Element(usize, Option<usize>),
}

/// Gives what all rules of a class ask of the move itself a name.
pub(super) fn name_legal(arena: &mut Arena<'_>) {
    let mut rulings = std::mem::take(&mut arena.rulings);
    let mut classes: BTreeMap<ClassKey, Vec<usize>> = BTreeMap::new();
    for (index, (location, _, ruling)) in rulings.iter().enumerate() {
        let key = (*location, ruling.role, ruling.functor, argument_keys(ruling));
        classes.entry(key).or_default().push(index);
    }
    for members in classes.into_values().filter(|members| members.len() > 1) {
        let asked: Vec<BTreeMap<Form, Form>> =
            members.iter().map(|&member| asked_of_move(&rulings[member].2)).collect();
        let Some((first, others)) = asked.split_first() else { continue };
        let is_common = |form: &Form| others.iter().all(|asked| asked.contains_key(form));
        let common: BTreeSet<&Form> = first.keys().filter(|form| is_common(form)).collect();
        let own = own(&rulings[members[0]].2);
        let body = and(common.iter().map(|&form| first[form].clone()));
        let free = body.free();
        // By their places among the elements of the move, since each rule has variables of its own.
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
        let name = format!("{}_legal", arena.lifter.symbol_name(rulings[members[0]].2.functor.0));
        // No two quantifiers share a variable, so the definition has variables of its own.
        let body = arena.lifter.renamed(&body).replace(&by);
        let legal = Relation::Defined(arena.lifter.defined.len());
        arena.lifter.defined.push(Defined {
            name,
            parameters: variables,
            body,
            is_recursive: false,
        });
        for (&member, asked) in members.iter().zip(&asked) {
            let ruling = &mut rulings[member].2;
            let own = self::own(ruling);
            let said: BTreeSet<&Form> = common.iter().map(|&form| &asked[form]).collect();
            let arguments = parameters.iter().map(|&place| Val::Var(own[place])).collect();
            let rest = ruling
                .condition
                .clone()
                .conjuncts()
                .into_iter()
                .filter(|part| !said.contains(part));
            ruling.condition = and([Form::Atom(legal, arguments)].into_iter().chain(rest));
        }
    }
    arena.rulings = rulings;
}

/// Whether it is more than an atom, binds all its variables, and has not too many tuples.
fn is_worthwhile(arena: &Arena<'_>, body: &Form) -> bool {
    let mut n_atoms = 0;
    body.each_atom(&mut |_, _| n_atoms += 1);
    let free = body.free();
    n_atoms > 1
        && !free.is_empty()
        && free.is_subset(&bound(body))
        && Sizes::of(arena).n_tuples(body, &mut BTreeSet::new()) <= MAX_MOVES
}

fn argument_keys(ruling: &Ruling) -> Vec<ArgumentKey> {
    let own = own(ruling);
    let key = |value: &Val| match value {
        Val::Term(term) => ArgumentKey::Fixed(*term),
        Val::Var(v) => {
            let (element, coordinate) = element(ruling, *v);
            let place = own.iter().position(|&known| known == element);
            ArgumentKey::Element(place.unwrap_or(usize::MAX), coordinate)
        }
    };
    ruling.arguments.iter().map(key).collect()
}

/// The element of the match that a variable of the move is, or is a coordinate of.
fn element(ruling: &Ruling, v: Var) -> (Var, Option<usize>) {
    ruling.coordinates.get(&v).map_or((v, None), |&(place, coordinate)| (place, Some(coordinate)))
}

/// The elements that the move names, in the order in which it does.
fn own(ruling: &Ruling) -> Vec<Var> {
    let mut own = Vec::new();
    for value in &ruling.arguments {
        if let Val::Var(v) = value {
            let (element, _) = element(ruling, *v);
            if !own.contains(&element) {
                own.push(element);
            }
        }
    }
    own
}

/// What a rule asks of the elements of the move alone, by what is the same in all rules of the class.
fn asked_of_move(ruling: &Ruling) -> BTreeMap<Form, Form> {
    let own = own(ruling);
    let places: BTreeMap<Var, Val> =
        (0..).zip(&own).map(|(place, &v)| (v, Val::Var(place))).collect();
    let parts = ruling.condition.clone().conjuncts().into_iter();
    let of_move = parts.filter(|part| part.free().iter().all(|v| places.contains_key(v)));
    of_move
        .map(|part| {
            // Bound variables first, and far away: the places must not be taken for them.
            let mut next = Var::MAX / 2;
            let plain = part.renamed(&mut |_| {
                next += 1;
                next
            });
            (plain.replace(&places), part)
        })
        .collect()
}
