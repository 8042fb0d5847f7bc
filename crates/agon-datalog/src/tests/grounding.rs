//! Comparison of grounding with the oracle: a ground program, evaluated for a subset of its given
//! rows, has the same consequences as the rules, however they were rewritten before.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::oracle::{Facts, Ground, oracle};
use super::programs::{Built, draft, rows, tangle, universe};
use super::{atom, holds, rule, seeded, variable};
use crate::program::{Goal, Pattern, Program};
use crate::{
    GroundLimits, GroundProgram, Level, MaterialiseLimits, PredicateId, SplitLimits, Symbol,
    TermBank, demand, ground, materialise, merge, split,
};

/// Returns the atoms that hold if only the atoms of `given` among the given ones hold. Negation is
/// computed by the alternating fixpoint, which decides all atoms if the rules are stratified.
fn evaluate(program: &GroundProgram, is_given: &[bool], given: &[bool]) -> Vec<bool> {
    let least = |assumed: &[bool]| {
        let mut holds: Vec<bool> = (0..program.n_atoms())
            .map(|atom| if is_given[atom] { given[atom] } else { program.always[atom] })
            .collect();
        loop {
            let mut changed = false;
            for rule in program.rules().filter(|rule| !is_given[rule.head.0 as usize]) {
                let is_met = rule.positive.iter().all(|&atom| holds[atom as usize])
                    && rule.negative().all(|atom| !assumed[atom.0 as usize]);
                changed |= is_met && !std::mem::replace(&mut holds[rule.head.0 as usize], true);
            }
            if !changed {
                return holds;
            }
        }
    };
    let mut low = least(&vec![true; program.n_atoms()]);
    loop {
        let high = least(&low);
        let again = least(&high);
        if again == low {
            assert_eq!(low, high, "a stratified program decides every atom");
            return low;
        }
        low = again;
    }
}

/// Grounds for all of `rows`, and compares with the oracle for every second row.
fn check(built: &Built, rows: &[Vec<Vec<Ground>>]) -> Result<(), TestCaseError> {
    let bank = Arc::new(TermBank::new(20));
    let mut program = built.program.clone();
    let roots: Vec<PredicateId> = (0..program.n_predicates())
        .map(|index| PredicateId(u32::try_from(index).expect("few relations")))
        .filter(|predicate| program.predicates[predicate.index()].given.is_none())
        .skip(2)
        .step_by(2)
        .collect();
    let mut feeds = Vec::new();
    for ((given, arity), rows) in built.given.iter().zip(rows) {
        let source = program.derived(*arity);
        for row in rows {
            let arguments: Vec<Pattern> = row.iter().map(as_pattern).collect();
            program.rule(rule(atom(source, &arguments), Vec::new(), 0, 2000));
        }
        feeds.push((source, *given));
    }
    let mut all_roots = roots.clone();
    all_roots.extend(feeds.iter().map(|(source, _)| *source));
    merge(&mut program);
    materialise(&mut program, &bank, &all_roots, &MaterialiseLimits::default());
    demand(&mut program, &bank, &all_roots);
    split(&mut program, &SplitLimits::default());
    materialise(&mut program, &bank, &all_roots, &MaterialiseLimits::default());
    let limits = GroundLimits { atoms: 20_000, steps: 2_000_000, ..GroundLimits::default() };
    // A refusal is not a wrong answer.
    let Ok(program) = ground(program, &bank, &feeds, &all_roots, &limits) else { return Ok(()) };

    let mut given: Facts = vec![BTreeSet::new(); built.program.n_predicates()];
    let (mut is_given, mut holds) =
        (vec![false; program.n_atoms()], vec![false; program.n_atoms()]);
    for ((predicate, _), rows) in built.given.iter().zip(rows) {
        given[predicate.index()].extend(rows.iter().step_by(2).cloned());
        for (atom, row) in program.atoms_of(*predicate) {
            let row: Vec<Ground> = row.iter().map(|&term| Ground::of_bank(term, &bank)).collect();
            is_given[atom.0 as usize] = true;
            holds[atom.0 as usize] = given[predicate.index()].contains(&row);
        }
    }
    let facts = oracle(&built.program, &given, &built.strata, &universe());
    let holds = evaluate(&program, &is_given, &holds);
    for root in roots {
        let found: BTreeSet<Vec<Ground>> = program
            .atoms_of(root)
            .filter(|(atom, _)| holds[atom.0 as usize])
            .map(|(_, row)| row.iter().map(|&term| Ground::of_bank(term, &bank)).collect())
            .collect();
        prop_assert_eq!(&found, &facts[root.index()], "of {:?}", root);
    }
    Ok(())
}

fn as_pattern(term: &Ground) -> Pattern {
    Pattern::Function(Symbol::new(term.0), term.1.iter().map(as_pattern).collect())
}

proptest! {
    #![proptest_config(seeded(400))]

    #[test]
    fn ground_programs_agree_with_the_oracle(draft in draft(), rows in rows()) {
        check(&draft.build(), &rows)?;
    }

    #[test]
    fn ground_recursive_programs_agree_with_the_oracle(draft in tangle(), rows in rows()) {
        check(&draft.build(), &rows)?;
    }
}

/// far(x, y, z) holds for all triples of 30 constants, and few of them are needed.
#[test]
fn only_demanded_tuples_are_grounded() {
    let mut program = Program::default();
    let [token, source] = [program.given(1, Level::State), program.derived(1)];
    let [thing, next, far, root] = [1, 2, 3, 1].map(|arity| program.derived(arity));
    let thing_of = |number| Pattern::Function(Symbol::new(number), Vec::new());
    for number in 0..30 {
        program.rule(rule(atom(thing, &[thing_of(number)]), Vec::new(), 0, 0));
        program.rule(rule(atom(next, &[thing_of(number), thing_of(number + 1)]), Vec::new(), 0, 0));
        program.rule(rule(atom(source, &[thing_of(number)]), Vec::new(), 0, 0));
    }
    let [x, y, z] = [0, 1, 2].map(variable);
    let all = [&x, &y, &z].map(|v| holds(thing, std::slice::from_ref(v)));
    let body = all.into_iter().chain([holds(token, std::slice::from_ref(&z))]).collect();
    program.rule(rule(atom(far, &[x.clone(), y.clone(), z.clone()]), body, 3, 1));
    let body = [
        holds(token, std::slice::from_ref(&x)),
        holds(next, &[x.clone(), y.clone()]),
        holds(next, &[y.clone(), z.clone()]),
        Goal::Fails(atom(far, &[x.clone(), y.clone(), z.clone()])),
    ];
    program.rule(rule(atom(root, std::slice::from_ref(&x)), body.to_vec(), 3, 2));
    let bank = Arc::new(TermBank::new(5));
    let roots = [root, source];
    materialise(&mut program, &bank, &roots, &MaterialiseLimits::default());
    demand(&mut program, &bank, &roots);
    split(&mut program, &SplitLimits::default());
    materialise(&mut program, &bank, &roots, &MaterialiseLimits::default());
    let program = ground(program, &bank, &[(source, token)], &roots, &GroundLimits::default());
    let program = program.expect("the program is small");
    assert!(program.n_rules() < 200, "{} rules", program.n_rules());
    assert_eq!(program.atoms_of(far).count(), 28, "only the demanded tuples");
}
