//! Compares the evaluator with the definition of truth.

use std::sync::Arc;

use proptest::prelude::*;

use crate::evaluate::{Assignment, EvaluationError, Evaluator, Limits, Model, Naive, Solutions};
use crate::formula::{Definitions, Extreme, Fold, Formula, RealFunction, Sign, Term, Variable};
use crate::rational::Rational;
use crate::structure::{Element, Structure, Tuples, Vocabulary};
use crate::tests::seeded;
use crate::tests::tape::{Tape, Use, definitions, free_variables};

/// Limits that suffice for small structures and are soon exceeded by deeply nested formulas.
pub(crate) const SMALL: Limits =
    Limits { steps: 300_000, cells: 100_000, parts: 20_000, gates: 50_000, conflicts: 1_000 };

/// Returns whether evaluation failed because of its cost. Costs and the order of sums differ
/// between evaluators.
pub(crate) fn is_costly(error: &EvaluationError) -> bool {
    matches!(
        error,
        EvaluationError::Steps(_)
            | EvaluationError::Cells(_)
            | EvaluationError::FormulaTooLarge(_)
            | EvaluationError::Gates(_)
            | EvaluationError::Conflicts(_)
            | EvaluationError::SetsInside(_)
            | EvaluationError::NumberTooLarge
    )
}

fn rows(tuples: &Tuples) -> Vec<Vec<Element>> {
    tuples.iter().map(<[Element]>::to_vec).collect()
}

proptest! {
    #![proptest_config(seeded(6000))]

    #[test]
    fn solutions_are_those_of_the_definition(
        bytes in prop::collection::vec(any::<u8>(), 0..160),
        monadic: bool,
    ) {
        let mut tape = Tape::new(bytes);
        let structure = tape.structure(4);
        let formula =
            tape.formula(&if monadic { Use::monadic(4) } else { Use::everything(4) });
        let definitions = definitions();
        let free = free_variables();
        let model = Model { structure: &structure, definitions: &definitions };
        let expected = Naive::new(model, SMALL).solutions(&formula, &free, &Assignment::new());
        // Pruning must not change the result.
        if let Ok(expected) = &expected {
            let pruned = Naive::new(model, SMALL).with_pruning().solutions(
                &formula,
                &free,
                &Assignment::new(),
            );
            match pruned {
                Ok(pruned) => prop_assert_eq!(&pruned, expected, "{} in {}", formula, structure),
                Err(error) => prop_assert!(is_costly(&error), "{}: {}", formula, error),
            }
        }
        let mut evaluator =
            Evaluator::new(structure.vocabulary().clone(), Arc::new(definitions.clone()), SMALL);
        let answer = evaluator
            .formula(&formula, &free)
            .and_then(|query| Ok((query, evaluator.solve(query, &structure, &Assignment::new())?)));
        match (expected, answer) {
            (Ok(expected), Ok((query, answer))) => {
                prop_assert_eq!(rows(&answer), expected.clone(), "{} in {}", formula, structure);
                // From given assignments, one or many.
                for element in structure.elements() {
                    let given = Assignment::new().with(&free[1], element);
                    let partial = evaluator.solve(query, &structure, &given).unwrap();
                    let wanted: Vec<_> =
                        expected.iter().filter(|row| row[1] == element).cloned().collect();
                    prop_assert_eq!(rows(&partial), wanted.clone(), "{} in {}", formula, structure);
                    prop_assert_eq!(
                        evaluator.holds(query, &structure, &given).unwrap(),
                        !wanted.is_empty()
                    );
                }
                let some: Vec<Element> = structure.elements().step_by(2).collect();
                let given = Tuples::of(1, some.chunks(1));
                let partial = evaluator.solve_from(query, &structure, &free[..1], &given).unwrap();
                let wanted: Vec<_> =
                    expected.iter().filter(|row| some.contains(&row[0])).cloned().collect();
                prop_assert_eq!(rows(&partial), wanted, "{} in {}", formula, structure);
            }
            (Err(one), Err(other)) if !is_costly(&one) && !is_costly(&other) => {
                prop_assert_eq!(one, other);
            }
            (Err(error), _) | (_, Err(error)) => {
                prop_assert!(is_costly(&error), "{}: {}", formula, error);
            }
        }
    }

    #[test]
    fn values_are_those_of_the_definition(
        bytes in prop::collection::vec(any::<u8>(), 0..160),
        monadic: bool,
    ) {
        let mut tape = Tape::new(bytes);
        let structure = tape.structure(3);
        let term = tape.term(&if monadic { Use::monadic(4) } else { Use::everything(4) });
        let definitions = definitions();
        let free = free_variables();
        let model = Model { structure: &structure, definitions: &definitions };
        let mut naive = Naive::new(model, SMALL);
        let mut evaluator =
            Evaluator::new(structure.vocabulary().clone(), Arc::new(definitions.clone()), SMALL);
        let query = evaluator.term(&term, &free);
        for x in structure.elements() {
            for y in structure.elements() {
                let assignment = Assignment::new().with(&free[0], x).with(&free[1], y);
                let expected = naive.value(&term, &assignment);
                let answer =
                    query.clone().and_then(|query| evaluator.value(query, &structure, &assignment));
                match (expected, answer) {
                    (Ok(expected), Ok(answer)) => {
                        prop_assert_eq!(answer, expected, "{} in {}", term, structure);
                    }
                    (Err(one), Err(other)) if !is_costly(&one) && !is_costly(&other) => {
                        prop_assert_eq!(one, other);
                    }
                    (Err(error), _) | (_, Err(error)) => {
                        prop_assert!(is_costly(&error), "{}: {}", term, error);
                    }
                }
            }
        }
    }

    #[test]
    fn cached_relations_stay_correct(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        monadic: bool,
    ) {
        let mut tape = Tape::new(bytes);
        let mut structure = tape.structure(4);
        let formula = tape.formula(&if monadic { Use::monadic(3) } else { Use::everything(3) });
        let definitions = definitions();
        let free = free_variables();
        let mut evaluator =
            Evaluator::new(structure.vocabulary().clone(), Arc::new(definitions.clone()), SMALL);
        let Ok(query) = evaluator.formula(&formula, &free) else { return Ok(()) };
        for _ in 0..5 {
            let model = Model { structure: &structure, definitions: &definitions };
            let expected = Naive::new(model, SMALL).solutions(&formula, &free, &Assignment::new());
            let answer = evaluator.solve(query, &structure, &Assignment::new());
            if let (Ok(expected), Ok(answer)) = (expected, answer) {
                prop_assert_eq!(rows(&answer), expected, "{} in {}", formula, structure);
            }
            change(&mut tape, &mut structure);
        }
    }
}

proptest! {
    #![proptest_config(seeded(3000))]

    #[test]
    fn updated_solutions_equal_those_from_scratch(
        bytes in prop::collection::vec(any::<u8>(), 0..240),
    ) {
        let mut tape = Tape::new(bytes);
        let mut structure = tape.structure(4);
        let scope = match tape.below(4) {
            0 => Use::everything(3),
            1 => Use::monadic(3),
            _ => Use::first_order(4),
        };
        let formula = tape.formula(&scope);
        // Also as a sentence, because sentences are updated in another way.
        let sentence = Formula::exists(free_variables(), formula.clone());
        let definitions = definitions();
        for (formula, columns) in [(formula, free_variables()), (sentence, Vec::new())] {
            let mut evaluator = Evaluator::new(
                structure.vocabulary().clone(),
                Arc::new(definitions.clone()),
                SMALL,
            );
            let Ok(query) = evaluator.formula(&formula, &columns) else { return Ok(()) };
            let mut updater = evaluator.clone();
            let Ok(mut solutions) = updater.solutions(query, &structure) else { return Ok(()) };
            for _ in 0..8 {
                for _ in 0..1 + tape.below(2) {
                    change(&mut tape, &mut structure);
                }
                let expected = evaluator.clone().solve(query, &structure, &Assignment::new());
                let updated = updater.update(query, &solutions, &structure);
                let (Ok(updated), Ok(expected)) = (updated, expected) else { return Ok(()) };
                let updated = updated.map_or_else(|| updater.solutions(query, &structure), Ok);
                let Ok(updated) = updated else { return Ok(()) };
                prop_assert_eq!(updated.tuples(), expected, "{} in {}", formula, structure);
                solutions = updated;
            }
        }
    }
}

#[test]
fn small_changes_cause_little_work() {
    // Three in a row on a board: adding a stone must not cause an evaluation of the whole board.
    let [x, y, z] = ["x", "y", "z"].map(Variable::new);
    let mut vocabulary = Vocabulary::new();
    let stone = vocabulary.add_relation("P", 1).unwrap();
    let next = vocabulary.add_relation("R", 2).unwrap();
    let vocabulary = Arc::new(vocabulary);
    let mut structure = Structure::new(vocabulary.clone());
    let cells: Vec<Element> = (0..100).map(|_| structure.create(None).unwrap()).collect();
    for pair in cells.windows(2) {
        structure.add(next, pair).unwrap();
    }
    let line = ["x", "y", "z"].map(|name| Formula::atom("P", [&Variable::new(name)])).to_vec();
    let mut line = Formula::And(line);
    if let Formula::And(parts) = &mut line {
        parts.extend([Formula::atom("R", [&x, &y]), Formula::atom("R", [&y, &z])]);
    }
    let mut definitions = Definitions::new();
    definitions.add("Line", vec![x.clone(), y.clone(), z.clone()], line).unwrap();
    let mut evaluator = Evaluator::new(vocabulary, Arc::new(definitions), Limits::default());
    let won = Formula::exists([&x, &y, &z], Formula::atom("Line", [&x, &y, &z]));
    let query = evaluator.formula(&won, &[]).unwrap();
    let mut solutions = evaluator.solutions(query, &structure).unwrap();
    let mut update = |solutions: &Solutions, structure: &Structure| {
        let updated = evaluator.update(query, solutions, structure).unwrap();
        updated.expect("the formula is not evaluated from scratch")
    };
    for place in [10, 12, 50, 51, 53, 11] {
        assert!(solutions.is_empty());
        structure.add(stone, &[cells[place]]).unwrap();
        solutions = update(&solutions, &structure);
    }
    assert_eq!(solutions.len(), 1);
    structure.remove(stone, &[cells[11]]);
    // Whether a true sentence has become false may need an evaluation from scratch.
    let updated = evaluator.update(query, &solutions, &structure).unwrap();
    let solutions = updated.unwrap_or_else(|| evaluator.solutions(query, &structure).unwrap());
    assert!(solutions.is_empty());
}

/// Makes a random change: a tuple, a value, a constant, an element.
pub(crate) fn change(tape: &mut Tape, structure: &mut Structure) {
    let elements: Vec<Element> = structure.elements().collect();
    let vocabulary = structure.vocabulary().clone();
    let relations: Vec<_> = vocabulary.relations().collect();
    match tape.below(12) {
        0 => {
            structure.create(None).unwrap();
        }
        1 if !elements.is_empty() => {
            structure.delete(elements[tape.below(elements.len())]).unwrap();
        }
        2 if !elements.is_empty() => {
            let value = [None, Some(Rational::ONE)][tape.below(2)];
            let element = elements[tape.below(elements.len())];
            structure.set_value(vocabulary.function("f").unwrap(), element, value).unwrap();
        }
        3 if !elements.is_empty() => {
            let element = elements[tape.below(elements.len())];
            structure.set_constant(vocabulary.constant("d").unwrap(), Some(element)).unwrap();
        }
        _ => {
            let relation = relations[tape.below(relations.len())];
            let arity = vocabulary.arity(relation);
            if arity > 0 && elements.is_empty() {
                return;
            }
            let tuple: Vec<Element> =
                (0..arity).map(|_| elements[tape.below(elements.len())]).collect();
            if !structure.remove(relation, &tuple) {
                structure.add(relation, &tuple).unwrap();
            }
        }
    }
}

fn graph(n_elements: usize, edges: &[(usize, usize)]) -> Structure {
    let mut vocabulary = Vocabulary::new();
    let edge = vocabulary.add_relation("R", 2).unwrap();
    let mut structure = Structure::new(Arc::new(vocabulary));
    let elements: Vec<Element> = (0..n_elements).map(|_| structure.create(None).unwrap()).collect();
    for &(from, to) in edges {
        structure.add(edge, &[elements[from - 1], elements[to - 1]]).unwrap();
    }
    structure
}

/// Returns for each `y`, counted from 1, the `x`s for which the formula holds.
fn by_end(structure: &Structure, formula: &Formula) -> Vec<Vec<u32>> {
    let [x, y] = ["x", "y"].map(Variable::new);
    let definitions = Definitions::new();
    let mut evaluator =
        Evaluator::new(structure.vocabulary().clone(), Arc::default(), Limits::default());
    let query = evaluator.formula(formula, &[y.clone(), x.clone()]).unwrap();
    let found = rows(&evaluator.solve(query, structure, &Assignment::new()).unwrap());
    let model = Model { structure, definitions: &definitions };
    let expected = Naive::new(model, Limits::default())
        .solutions(formula, &[y, x], &Assignment::new())
        .unwrap();
    assert_eq!(found, expected);
    let ends = structure
        .elements()
        .map(|end| found.iter().filter(|row| row[0] == end).map(|row| row[1].id() + 1).collect());
    ends.collect()
}

#[test]
fn closures_are_reflexive_and_transitive() {
    let [x, y] = ["x", "y"].map(Variable::new);
    let edge = Formula::atom("R", [&x, &y]);
    let closure = |bound| Formula::closure(bound, x.clone(), y.clone(), edge.clone());
    assert_eq!(
        by_end(&graph(3, &[(1, 2), (2, 3)]), &closure(None)),
        [vec![1], vec![1, 2], vec![1, 2, 3]]
    );
    assert_eq!(
        by_end(&graph(3, &[(1, 2), (1, 3)]), &closure(None)),
        [vec![1], vec![1, 2], vec![1, 3]]
    );
    let chain: Vec<(usize, usize)> = (1..8).map(|from| (from, from + 1)).collect();
    let far = |bound| {
        Formula::And(vec![
            Formula::not(Formula::equal(&x, &y)),
            Formula::not(edge.clone()),
            closure(bound),
        ])
    };
    let expected: Vec<Vec<u32>> =
        (1..=8u32).map(|end| (1..end.saturating_sub(1)).collect()).collect();
    assert_eq!(by_end(&graph(8, &chain), &far(None)), expected);
    assert_eq!(by_end(&graph(8, &chain), &far(Some(4))), expected);
    // One doubling: at most two steps.
    let two: Vec<Vec<u32>> =
        (1..=8u32).map(|end| (end.saturating_sub(2).max(1)..=end).collect()).collect();
    assert_eq!(by_end(&graph(8, &chain), &closure(Some(1))), two);
}

#[test]
fn a_closure_is_a_least_fixed_point() {
    let [x, y, z] = ["x", "y", "z"].map(Variable::new);
    let step = Formula::And(vec![Formula::atom("S", [&x, &z]), Formula::atom("R", [&z, &y])]);
    let body = Formula::Or(vec![Formula::equal(&x, &y), Formula::exists([&z], step)]);
    let fixed = Formula::fix(Extreme::Least, "S", vec![x.clone(), y.clone()], body);
    let structure = graph(6, &[(1, 2), (2, 3), (3, 1), (4, 5), (5, 5)]);
    let closure = Formula::closure(None, x.clone(), y.clone(), Formula::atom("R", [&x, &y]));
    assert_eq!(by_end(&structure, &fixed), by_end(&structure, &closure));
}

#[test]
fn elements_with_infinite_paths_are_a_greatest_fixed_point() {
    let [x, y] = ["x", "y"].map(Variable::new);
    let step = Formula::And(vec![Formula::atom("R", [&x, &y]), Formula::atom("S", [&y])]);
    let forever =
        Formula::fix(Extreme::Greatest, "S", vec![x.clone()], Formula::exists([&y], step));
    let structure = graph(5, &[(1, 2), (2, 3), (3, 2), (4, 5)]);
    let both = Formula::And(vec![forever, Formula::equal(&x, &y)]);
    assert_eq!(by_end(&structure, &both), [vec![1], vec![2], vec![3], vec![], vec![]]);
}

#[test]
fn terms_count() {
    let [x, y] = ["x", "y"].map(Variable::new);
    let structure = graph(4, &[(1, 2), (1, 3), (1, 4), (2, 3)]);
    let edge = Formula::atom("R", [&x, &y]);
    let out = Term::aggregate(Fold::Sum, vec![y.clone()], edge.clone(), Term::whole(1));
    let most = Term::aggregate(Fold::Max, vec![x.clone()], Formula::truth(), out.clone());
    let none = Term::aggregate(Fold::Min, vec![x.clone()], Formula::falsity(), Term::whole(1));
    let numbers = Term::aggregate(
        Fold::Product,
        vec![x.clone()],
        Formula::truth(),
        Term::ElementNumber((&x).into()),
    );
    let leaves = Term::aggregate(
        Fold::Sum,
        vec![x.clone()],
        Formula::compare(out, Sign::Equal, Term::whole(0)),
        Term::ElementNumber((&x).into()),
    );
    let mut evaluator =
        Evaluator::new(structure.vocabulary().clone(), Arc::default(), Limits::default());
    for (term, expected) in [(most, Some(3)), (none, None), (numbers, Some(24)), (leaves, Some(7))]
    {
        let query = evaluator.term(&term, &[]).unwrap();
        let value = evaluator.value(query, &structure, &Assignment::new()).unwrap();
        assert_eq!(value, expected.map(Rational::whole), "{term}");
    }
}

#[test]
fn invalid_formulas_are_rejected() {
    let [x, y] = ["x", "y"].map(Variable::new);
    let structure = graph(2, &[(1, 2)]);
    let mut evaluator =
        Evaluator::new(structure.vocabulary().clone(), Arc::default(), Limits::default());
    let mut refused = |formula: Formula, variables: &[Variable]| {
        evaluator.formula(&formula, variables).unwrap_err()
    };
    let edge = Formula::atom("R", [&x, &y]);
    assert_eq!(
        refused(Formula::atom("Z", [&x]), std::slice::from_ref(&x)),
        EvaluationError::UnknownRelation("Z".into())
    );
    let wrong = EvaluationError::WrongArity { relation: "R".into(), arity: 2, given: 1 };
    assert_eq!(refused(Formula::atom("R", [&x]), std::slice::from_ref(&x)), wrong);
    assert_eq!(
        refused(edge.clone(), std::slice::from_ref(&x)),
        EvaluationError::UnboundVariable(y.clone())
    );
    let twice = Formula::exists([&x, &x], edge.clone());
    assert_eq!(
        refused(twice, std::slice::from_ref(&y)),
        EvaluationError::RepeatedVariable(x.clone())
    );
    let flips =
        Formula::fix(Extreme::Least, "S", vec![x.clone()], Formula::not(Formula::atom("S", [&x])));
    assert_eq!(refused(flips, std::slice::from_ref(&x)), EvaluationError::NotMonotone("S".into()));
    let [set, relation, real] = ["X", "|r", ":a"].map(Variable::new);
    let unsupported =
        |variable: &Variable| EvaluationError::UnsupportedSort(variable.clone(), variable.sort());
    for variable in [&relation, &real] {
        assert_eq!(
            refused(Formula::exists([variable], Formula::truth()), &[]),
            unsupported(variable)
        );
    }
    // Sets are neither columns of solutions nor of aggregates.
    let member = Formula::member(&x, &set);
    assert_eq!(refused(member.clone(), &[x.clone(), set.clone()]), unsupported(&set));
    assert_eq!(
        refused(member, std::slice::from_ref(&x)),
        EvaluationError::UnboundVariable(set.clone())
    );
    let count = Term::aggregate(Fold::Sum, vec![set.clone()], Formula::truth(), Term::whole(1));
    let counted = Formula::compare(count, Sign::Equal, Term::whole(1));
    assert_eq!(refused(counted, &[]), unsupported(&set));
    let least = Term::Least(real.clone(), Box::new(Formula::truth()));
    let is_zero = Formula::compare(least, Sign::Equal, Term::whole(0));
    assert_eq!(refused(is_zero, &[]), unsupported(&real));
    let no_maximum = Term::Apply(RealFunction::Max, vec![Term::whole(1)]);
    let is_one = Formula::compare(no_maximum, Sign::Equal, Term::whole(1));
    assert_eq!(refused(is_one, &[]), EvaluationError::WrongArguments(RealFunction::Max, 1));
}

#[test]
fn filters_come_before_parts_that_add_rows() {
    // In a complete graph, the estimate assumes that the two known ends are independent and leave
    // one edge. In fact all edges remain.
    let edges: Vec<(usize, usize)> =
        (1..=8).flat_map(|from| (1..=8).map(move |to| (from, to))).collect();
    let structure = graph(8, &edges);
    let variables: Vec<Variable> =
        (0..6).map(|number| Variable::new(&format!("x{number}"))).collect();
    let number = |variable: &Variable| Term::ElementNumber(variable.into());
    let mut parts = Vec::new();
    for pair in variables.windows(2) {
        parts.push(Formula::atom("R", [&pair[0], &pair[1]]));
    }
    // In the worst order, after everything that they could narrow.
    for pair in variables.windows(2) {
        parts.push(Formula::compare(number(&pair[0]), Sign::Less, number(&pair[1])));
    }
    let mut evaluator =
        Evaluator::new(structure.vocabulary().clone(), Arc::default(), Limits::default());
    let copy = evaluator.clone();
    let query = evaluator.formula(&Formula::And(parts), &variables).unwrap();
    let found = evaluator.solve(query, &structure, &Assignment::new()).unwrap();
    // Six of eight, in order.
    assert_eq!(found.len(), 28);
    // There are 8^6 paths; those in order are never more than 8 choose 3.
    assert!(evaluator.spent() < 20_000, "{} steps", evaluator.spent());
    assert_eq!(copy.spent(), evaluator.spent(), "copies count together");
}

proptest! {
    #![proptest_config(seeded(2000))]

    /// Rules of translated games are conjunctions of dozens of parts. In any order of the parts,
    /// the answers are those of the definition.
    #[test]
    fn parts_of_long_conjunctions_come_in_any_order(
        edges in prop::collection::vec((1..=4usize, 1..=4usize), 0..10),
        parts in prop::collection::vec((0..6u8, 0..4usize, 0..4usize), 1..12),
    ) {
        let structure = graph(4, &edges);
        let variables: Vec<Variable> =
            (0..4).map(|number| Variable::new(&format!("x{number}"))).collect();
        let other = Variable::new("z");
        let part = |&(kind, left, right): &(u8, usize, usize)| {
            let (x, y) = (&variables[left], &variables[right]);
            let edge = Formula::atom("R", [x, y]);
            let numbers = [x, y].map(|variable| Term::ElementNumber(variable.into()));
            let [less, more] = numbers;
            match kind {
                0 => edge,
                1 => Formula::not(edge),
                2 => Formula::compare(less, Sign::Less, more),
                3 => Formula::Or(vec![
                    Formula::compare(less, Sign::Less, more),
                    Formula::equal(x, y),
                ]),
                4 => Formula::exists(
                    [&other],
                    Formula::And(vec![
                        Formula::atom("R", [x, &other]),
                        Formula::atom("R", [&other, y]),
                    ]),
                ),
                _ => Formula::not(Formula::exists([&other], Formula::atom("R", [y, &other]))),
            }
        };
        let formula = Formula::And(parts.iter().map(part).collect());
        let mut evaluator =
            Evaluator::new(structure.vocabulary().clone(), Arc::default(), Limits::default());
        let query = evaluator.formula(&formula, &variables).unwrap();
        let found = rows(&evaluator.solve(query, &structure, &Assignment::new()).unwrap());
        let definitions = Definitions::new();
        let model = Model { structure: &structure, definitions: &definitions };
        let mut naive = Naive::new(model, Limits::default());
        let expected = naive.solutions(&formula, &variables, &Assignment::new()).unwrap();
        prop_assert_eq!(found, expected, "{}", formula);
    }
}

#[test]
fn limits_hold() {
    let variables: Vec<Variable> =
        (0..12).map(|number| Variable::new(&format!("x{number}"))).collect();
    let structure = graph(9, &[(1, 2)]);
    let limits = Limits { steps: 1_000_000, cells: 50_000, parts: 1_000, ..Limits::default() };
    let mut evaluator = Evaluator::new(structure.vocabulary().clone(), Arc::default(), limits);
    let all_equal = variables.windows(2).map(|pair| Formula::equal(&pair[0], &pair[1])).collect();
    let query = evaluator.formula(&Formula::not(Formula::And(all_equal)), &variables).unwrap();
    assert_eq!(
        evaluator.solve(query, &structure, &Assignment::new()),
        Err(EvaluationError::Cells(50_000))
    );
    // Each `let` doubles the size of what it uses, so the expanded formula is too large.
    let [x, y] = ["x", "y"].map(Variable::new);
    let mut formula = Formula::atom("L40", [&x, &y]);
    for number in (1..=40).rev() {
        let lower = format!("L{}", number - 1);
        let lower = if number == 1 { "R" } else { &lower };
        let both = Formula::Or(vec![
            Formula::not(Formula::atom(lower, [&x, &y])),
            Formula::atom(lower, [&y, &x]),
        ]);
        formula = Formula::with(&format!("L{number}"), vec![x.clone(), y.clone()], both, formula);
    }
    assert_eq!(evaluator.formula(&formula, &[x, y]), Err(EvaluationError::FormulaTooLarge(1_000)));
}
