//! Structures keep their tuples sorted, their keys up to date and their copies independent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use crate::rational::Rational;
use crate::structure::{Element, Structure, StructureError, Tuples, Vocabulary};
use crate::tests::seeded;

fn vocabulary() -> Arc<Vocabulary> {
    let mut vocabulary = Vocabulary::new();
    vocabulary.add_relation("N", 0).unwrap();
    vocabulary.add_relation("P", 1).unwrap();
    vocabulary.add_relation("R", 2).unwrap();
    vocabulary.add_relation("T", 3).unwrap();
    vocabulary.add_function("f");
    vocabulary.add_constant("c");
    Arc::new(vocabulary)
}

#[derive(Clone, Debug)]
enum Change {
    Create,
    Delete(u32),
    Add(usize, Vec<u32>),
    Remove(usize, Vec<u32>),
    Value(u32, Option<i64>),
    Constant(Option<u32>),
}

fn change() -> impl Strategy<Value = Change> {
    let tuple =
        || (0..4usize).prop_flat_map(|arity| (Just(arity), prop::collection::vec(0..5u32, arity)));
    prop_oneof![
        3 => Just(Change::Create),
        1 => (0..5u32).prop_map(Change::Delete),
        6 => tuple().prop_map(|(arity, tuple)| Change::Add(arity, tuple)),
        2 => tuple().prop_map(|(arity, tuple)| Change::Remove(arity, tuple)),
        2 => (0..5u32, prop::option::of(-2..3i64))
            .prop_map(|(element, value)| Change::Value(element, value)),
        1 => prop::option::of(0..5u32).prop_map(Change::Constant),
    ]
}

/// Rebuilds a structure with the same contents from scratch.
fn rebuilt(structure: &Structure) -> Structure {
    let mut copy = Structure::new(structure.vocabulary().clone());
    for id in 0..structure.id_bound() as u32 {
        let name = if structure.has(Element::new(id)) {
            structure.name(Element::new(id)).to_string()
        } else {
            format!("gap{id}")
        };
        copy.create(Some(&name)).unwrap();
    }
    for id in 0..structure.id_bound() as u32 {
        if !structure.has(Element::new(id)) {
            copy.delete(Element::new(id)).unwrap();
        }
    }
    for relation in structure.vocabulary().relations() {
        for tuple in structure.tuples(relation).iter() {
            copy.add(relation, tuple).unwrap();
        }
    }
    for function in structure.vocabulary().functions() {
        for &(element, value) in structure.values(function) {
            copy.set_value(function, element, Some(value)).unwrap();
        }
    }
    for constant in structure.vocabulary().constants() {
        copy.set_constant(constant, structure.constant(constant)).unwrap();
    }
    copy
}

proptest! {
    #![proptest_config(seeded(300))]

    #[test]
    fn changes_agree_with_plain_sets(changes in prop::collection::vec(change(), 0..40)) {
        let vocabulary = vocabulary();
        let relations: Vec<_> = vocabulary.relations().collect();
        let function = vocabulary.function("f").unwrap();
        let constant = vocabulary.constant("c").unwrap();
        let mut structure = Structure::new(vocabulary);
        let mut living: BTreeSet<u32> = BTreeSet::new();
        let mut sets: Vec<BTreeSet<Vec<Element>>> = vec![BTreeSet::new(); 4];
        for change in changes {
            let before = structure.clone();
            let picture = before.to_string();
            match change {
                Change::Create if living.len() < 5 => {
                    living.insert(structure.create(None).unwrap().id());
                }
                Change::Create => {}
                Change::Delete(id) => {
                    let done = structure.delete(Element::new(id));
                    prop_assert_eq!(done.is_ok(), living.remove(&id));
                    sets.iter_mut()
                        .for_each(|set| set.retain(|tuple| !tuple.contains(&Element::new(id))));
                }
                Change::Add(arity, tuple) => {
                    let tuple: Vec<Element> = tuple.into_iter().map(Element::new).collect();
                    let lives = tuple.iter().all(|element| living.contains(&element.id()));
                    let added = structure.add(relations[arity], &tuple);
                    prop_assert_eq!(added.is_ok(), lives);
                    if lives {
                        prop_assert_eq!(added, Ok(sets[arity].insert(tuple)));
                    }
                }
                Change::Remove(arity, tuple) => {
                    let tuple: Vec<Element> = tuple.into_iter().map(Element::new).collect();
                    prop_assert_eq!(
                        structure.remove(relations[arity], &tuple),
                        sets[arity].remove(&tuple)
                    );
                }
                Change::Value(id, value) => {
                    let value = value.map(Rational::whole);
                    let done = structure.set_value(function, Element::new(id), value);
                    prop_assert_eq!(done.is_ok(), living.contains(&id));
                }
                Change::Constant(id) => {
                    let done = structure.set_constant(constant, id.map(Element::new));
                    prop_assert_eq!(done.is_ok(), id.is_none_or(|id| living.contains(&id)));
                }
            }
            prop_assert_eq!(before.to_string(), picture, "the copy is another structure");
            for (arity, set) in sets.iter().enumerate() {
                let rows: Vec<Vec<Element>> =
                    structure.tuples(relations[arity]).iter().map(<[Element]>::to_vec).collect();
                prop_assert_eq!(rows, set.iter().cloned().collect::<Vec<_>>());
            }
            let copy = rebuilt(&structure);
            prop_assert_eq!(copy.key(), structure.key());
            prop_assert_eq!(&copy, &structure);
            prop_assert_eq!(before.key() == structure.key(), before == structure);
        }
    }

    #[test]
    fn rationals_agree_with_fractions(
        a in -50..50i64,
        b in 1..20i64,
        c in -50..50i64,
        d in 1..20i64,
    ) {
        let number = |above: i64, below: i64| {
            Rational::fraction(i128::from(above), i128::from(below)).unwrap()
        };
        let (left, right) = (number(a, b), number(c, d));
        prop_assert_eq!(left.plus(right), Ok(number(a * d + c * b, b * d)));
        prop_assert_eq!(left.minus(right), Ok(number(a * d - c * b, b * d)));
        prop_assert_eq!(left.times(right), Ok(number(a * c, b * d)));
        prop_assert_eq!(
            left.divided_by(right),
            Ok(if c == 0 { None } else { Some(number(a * d, b * c)) })
        );
        prop_assert_eq!(left.cmp(&right), (a * d).cmp(&(c * b)));
        prop_assert_eq!(left.to_string().parse(), Ok(left));
        let mut power = Rational::ONE;
        for exponent in 0..6i64 {
            prop_assert_eq!(left.power(Rational::whole(exponent)), Ok(Some(power)));
            prop_assert_eq!(
                left.power(Rational::whole(-exponent)),
                Rational::ONE.divided_by(power)
            );
            power = power.times(left).unwrap();
        }
    }
}

/// A simple model of the names of a structure.
#[derive(Clone, Default)]
struct Names(BTreeMap<u32, String>);

impl Names {
    fn next_id(&self) -> u32 {
        (0..).find(|id| !self.0.contains_key(id)).expect("there are more ids than names")
    }

    fn is_taken(&self, name: &str) -> bool {
        self.0.values().any(|other| other == name)
    }
}

proptest! {
    #![proptest_config(seeded(300))]

    #[test]
    fn names_agree_with_a_plain_map(
        changes in prop::collection::vec((0..5u8, 0..120u32, 0..3usize), 0..200),
    ) {
        let stems = ["b", "b_1", "c"];
        let mut versions = vec![(Structure::new(vocabulary()), Names::default())];
        for (kind, number, stem) in changes {
            let (mut structure, mut names) = versions[versions.len() - 1].clone();
            let element = Element::new(number);
            match kind {
                0 | 1 => {
                    let name = (1..)
                        .map(|k| format!("{}_{k}", stems[stem]))
                        .find(|name| !names.is_taken(name));
                    let made = structure.create_numbered(stems[stem]).unwrap();
                    prop_assert_eq!(made.id(), names.next_id());
                    names.0.insert(made.id(), name.unwrap());
                }
                2 => {
                    let name = format!("{}_{number}", stems[stem]);
                    let made = structure.create(Some(&name));
                    prop_assert_eq!(made.is_err(), names.is_taken(&name));
                    if let Ok(made) = made {
                        prop_assert_eq!(made.id(), names.next_id());
                        names.0.insert(made.id(), name);
                    }
                }
                3 => prop_assert_eq!(
                    structure.delete(element).is_ok(),
                    names.0.remove(&number).is_some()
                ),
                // Back to an earlier state: copies must not have changed with the others.
                _ => {
                    versions.truncate((number as usize).clamp(1, versions.len()));
                    continue;
                }
            }
            let shown: Vec<(u32, String)> = structure
                .elements()
                .map(|element| (element.id(), structure.name(element).to_string()))
                .collect();
            prop_assert_eq!(shown, names.0.clone().into_iter().collect::<Vec<_>>());
            prop_assert_eq!(structure.n_elements(), names.0.len());
            for (&id, name) in &names.0 {
                prop_assert_eq!(structure.element(name), Some(Element::new(id)));
            }
            let (before, known) = &versions[versions.len() - 1];
            prop_assert_eq!(before.names_key() == structure.names_key(), known.0 == names.0);
            let moved = |id: &u32| known.0.contains_key(id) != names.0.contains_key(id);
            let moved: Vec<Element> = (0..400).filter(moved).map(Element::new).collect();
            prop_assert_eq!(before.universe_difference(&structure), moved);
            versions.push((structure, names));
        }
    }

    #[test]
    fn tuples_are_found_by_their_elements(
        arity in 0..4usize,
        cells in prop::collection::vec(0..40u32, 0..400),
        wanted in prop::collection::vec(0..40u32, 0..4),
    ) {
        let cells: Vec<Element> = cells.into_iter().map(Element::new).collect();
        let wanted: Vec<Element> = wanted.into_iter().map(Element::new).collect();
        let tuples = Tuples::of(arity, cells.chunks_exact(arity.max(1)).filter(|_| arity > 0));
        let expected: Vec<Vec<Element>> = tuples
            .iter()
            .filter(|tuple| tuple.iter().any(|element| wanted.contains(element)))
            .map(<[Element]>::to_vec)
            .collect();
        prop_assert_eq!(tuples.touching(&wanted), expected);
    }
}

#[test]
fn numbers_that_do_not_fit_are_errors() {
    let large = Rational::fraction(i128::MAX, 1).unwrap();
    assert!(large.plus(Rational::ONE).is_err());
    assert!(large.times(large).is_err());
    assert!(Rational::whole(2).power(Rational::whole(i64::MAX)).is_err());
    assert_eq!(Rational::whole(-1).power(Rational::whole(i64::MAX)), Ok(Some(Rational::whole(-1))));
    let close = Rational::fraction(i128::MAX - 1, i128::MAX).unwrap();
    assert!(close < Rational::ONE && large > close);
    assert_eq!(large.times(Rational::ONE.divided_by(large).unwrap().unwrap()), Ok(Rational::ONE));
}

#[test]
fn errors_name_their_cause() {
    let mut structure = Structure::new(vocabulary());
    let a = structure.create(Some("a")).unwrap();
    assert_eq!(structure.create(Some("a")), Err(StructureError::NameTaken("a".into())));
    let relation = structure.vocabulary().relation("R").unwrap();
    let wrong = StructureError::WrongArity { relation: "R".into(), arity: 2, given: 1 };
    assert_eq!(structure.add(relation, &[a]), Err(wrong));
    assert_eq!(Arc::make_mut(&mut vocabulary()).add_relation("R", 3).unwrap_err().known, 2);
    structure.delete(a).unwrap();
    assert_eq!(structure.delete(a), Err(StructureError::NoSuchElement(a)));
}
