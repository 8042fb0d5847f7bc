//! Random formulas with many quantifiers over sets, compared with the definition of truth.

use proptest::prelude::*;

use super::*;
use crate::evaluate::tests::is_costly;
use crate::tests::seeded;
use crate::tests::tape::Tape;

/// Reads a formula in which most atoms are about sets.
fn formula(tape: &mut Tape, depth: usize, elements: &[Variable], sets: &[Variable]) -> Formula {
    let element = |tape: &mut Tape| elements[tape.below(elements.len())].clone();
    if depth == 0 {
        return match tape.below(if sets.is_empty() { 3 } else { 8 }) {
            0 => Formula::atom("R", [&element(tape), &element(tape)]),
            1 => Formula::atom("P", [&element(tape)]),
            2 => Formula::equal(element(tape), element(tape)),
            _ => Formula::member(element(tape), &sets[tape.below(sets.len())]),
        };
    }
    let with = |known: &[Variable], new: &Variable| [known, std::slice::from_ref(new)].concat();
    match tape.below(11) {
        0 => Formula::not(formula(tape, depth - 1, elements, sets)),
        choice @ 1..=4 => {
            let parts = (0..2).map(|_| formula(tape, depth - 1, elements, sets)).collect();
            if choice < 3 { Formula::Or(parts) } else { Formula::And(parts) }
        }
        choice @ (5 | 6) => {
            let bound = Variable::new(["x", "y", "z"][tape.below(3)]);
            let inner = formula(tape, depth - 1, &with(elements, &bound), sets);
            let quantified = if choice == 5 { Formula::exists } else { Formula::all };
            quantified([&bound], inner)
        }
        choice @ 7..=9 => {
            let bound = Variable::new(["X", "Y", "Z"][tape.below(3)]);
            let inner = formula(tape, depth - 1, elements, &with(sets, &bound));
            let quantified = if choice == 7 { Formula::exists } else { Formula::all };
            quantified([&bound], inner)
        }
        _ => {
            let bound = Variable::new(["x", "z"][tape.below(2)]);
            let guard = formula(tape, depth - 1, &with(elements, &bound), sets);
            let weight = match tape.below(3) {
                0 => Term::ElementNumber(Argument::from(&bound)),
                number => Term::whole(number as i64),
            };
            let sum = Term::aggregate(Fold::Sum, vec![bound], guard, weight);
            let signs = [Sign::AtMost, Sign::Equal, Sign::Greater, Sign::Unequal];
            Formula::compare(sum, signs[tape.below(4)], Term::whole(tape.below(4) as i64))
        }
    }
}

/// Reads a structure with `R` and `P`.
fn structure(tape: &mut Tape, n_max: usize) -> Structure {
    let mut vocabulary = Vocabulary::new();
    let edge = vocabulary.add_relation("R", 2).unwrap();
    let property = vocabulary.add_relation("P", 1).unwrap();
    let mut structure = Structure::new(Arc::new(vocabulary));
    let elements: Vec<Element> =
        (0..tape.below(n_max + 1)).map(|_| structure.create(None).unwrap()).collect();
    if elements.is_empty() {
        return structure;
    }
    for _ in 0..tape.below(6) {
        let pair = [0, 1].map(|_| elements[tape.below(elements.len())]);
        structure.add(edge, &pair).unwrap();
    }
    for _ in 0..tape.below(3) {
        structure.add(property, &[elements[tape.below(elements.len())]]).unwrap();
    }
    structure
}

proptest! {
    #![proptest_config(seeded(6000))]

    #[test]
    fn sets_are_found_as_by_enumeration(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        let mut tape = Tape::new(bytes);
        let structure = structure(&mut tape, 3);
        let columns = variables(["x", "y"]);
        let formula = formula(&mut tape, 6, &columns, &[]);
        let limits = Limits { steps: 2_000_000, gates: 200_000, ..Limits::default() };
        let definitions = Definitions::new();
        let model = Model { structure: &structure, definitions: &definitions };
        let none = Assignment::new();
        let expected = Naive::new(model, limits).solutions(&formula, &columns, &none);
        let mut evaluator = Evaluator::new(structure.vocabulary().clone(), Arc::default(), limits);
        let query = evaluator.formula(&formula, &columns).unwrap();
        let found = evaluator.solve(query, &structure, &none);
        match (expected, found) {
            (Ok(expected), Ok(found)) => {
                let found: Vec<Vec<Element>> = found.iter().map(<[Element]>::to_vec).collect();
                prop_assert_eq!(found, expected, "{} in {}", formula, structure);
            }
            (Err(error), _) | (_, Err(error)) => {
                prop_assert!(is_costly(&error), "{}: {}", formula, error);
            }
        }
    }
}
