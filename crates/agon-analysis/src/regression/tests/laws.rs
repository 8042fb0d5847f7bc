//! Laws of formulas: simplification, pruning and networks preserve the meaning.

use std::sync::Arc;

use agon_game::Role;
use agon_testkit::seeded;
use proptest::prelude::*;

use super::super::*;

/// Crisp logic: a fluent that holds has the value 1, and the unknown a half.
const CRISP: Logic = Logic::Product { p: 1.0 };

/// A formula as a tree, without simplification.
#[derive(Clone, Debug)]
enum Plain {
    Constant(bool),
    Fluent(usize),
    Not(Box<Plain>),
    And(Vec<Plain>),
    Or(Vec<Plain>),
}

const N_FLUENTS: usize = 5;

fn plain() -> impl Strategy<Value = Plain> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Plain::Constant),
        8 => (0..N_FLUENTS).prop_map(Plain::Fluent),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Plain::Not(Box::new(inner))),
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Plain::And),
            proptest::collection::vec(inner, 0..5).prop_map(Plain::Or),
        ]
    })
}

fn made(plain: &Plain, formulas: &mut Formulas) -> Formula {
    match plain {
        Plain::Constant(value) => Formula::constant(*value),
        Plain::Fluent(fluent) => formulas.fluent(*fluent),
        Plain::Not(inner) => !made(inner, formulas),
        Plain::And(parts) => {
            let mut list: Vec<Formula> = parts.iter().map(|part| made(part, formulas)).collect();
            formulas.and(&mut list)
        }
        Plain::Or(parts) => {
            let mut list: Vec<Formula> = parts.iter().map(|part| made(part, formulas)).collect();
            formulas.or(&mut list)
        }
    }
}

fn truth(plain: &Plain, state: u32) -> bool {
    match plain {
        Plain::Constant(value) => *value,
        Plain::Fluent(fluent) => state >> fluent & 1 == 1,
        Plain::Not(inner) => !truth(inner, state),
        Plain::And(parts) => parts.iter().all(|part| truth(part, state)),
        Plain::Or(parts) => parts.iter().any(|part| truth(part, state)),
    }
}

proptest! {
    #![proptest_config(seeded(400))]

    #[test]
    fn simplification_preserves_the_meaning(plain in plain()) {
        let mut formulas = Formulas::new(N_FLUENTS);
        let formula = made(&plain, &mut formulas);
        for state in 0..1 << N_FLUENTS {
            let value = formulas.fuzzy_value(formula, CRISP, &|fluent| f64::from(state >> fluent & 1));
            prop_assert_eq!(value == 1.0, truth(&plain, state), "{:?}", formula);
        }
    }

    #[test]
    fn a_network_has_the_values_of_its_formulas(
        plains in proptest::collection::vec(plain(), 1..6),
        states in proptest::collection::vec(0_u64..1 << N_FLUENTS, 1..8),
        persistent in 0_u32..1 << N_FLUENTS,
        is_yager: bool,
    ) {
        let logic = if is_yager { Logic::YAGER } else { Logic::PRODUCT };
        let mut formulas = Formulas::new(N_FLUENTS);
        let all: Vec<Formula> = plains.iter().map(|plain| made(plain, &mut formulas)).collect();
        let persistent_true = (0..N_FLUENTS).map(|fluent| persistent >> fluent & 1 == 1).collect();
        let knowledge = Knowledge { persistent_true, ..Knowledge::default() };
        let heuristics = heuristics_of(formulas, &all, knowledge);
        let mut evaluator = Evaluator::new(Arc::new(Network::new(&heuristics, logic)));
        for &state in &states {
            evaluator.go_to(&[state]);
            // The evaluator recomputes only what changes from state to state. The reference
            // implementation computes everything.
            for (at, &formula) in all.iter().enumerate() {
                let count = |fluent: usize| match state >> fluent & 1 == 1 {
                    true if heuristics.knowledge.stays_true(fluent) => 1.0,
                    true => logic.holding(),
                    false => logic.failing(),
                };
                let wanted = heuristics.formulas.fuzzy_value(formula, logic, &count);
                let found = evaluator.value(Role::new(0), at).expect("it was regressed");
                prop_assert!((found - wanted).abs() < 1e-12, "{} is not {}", found, wanted);
            }
        }
        // Folding permanent fluents changes no truth value in later states.
        let now = states[0];
        let folded = heuristics.folded(&|fluent| now >> fluent & 1 == 1);
        for later in 0..1_u64 << N_FLUENTS {
            let keeps = (0..N_FLUENTS).all(|f| {
                !heuristics.knowledge.stays_true(f) || now >> f & 1 == 0 || later >> f & 1 == 1
            });
            if keeps {
                for at in 0..all.len() {
                    let value = |heuristics: &ActionHeuristics| {
                        let formula = heuristics.roles[0].regressed[at].as_ref().expect("it was regressed")[0];
                        heuristics.formulas.fuzzy_value(formula, CRISP, &|f| (later >> f & 1) as f64)
                    };
                    prop_assert_eq!(value(&heuristics), value(&folded));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(seeded(200))]

    #[test]
    fn a_batch_has_the_values_of_single_evaluations(
        plains in proptest::collection::vec(plain(), 1..6),
        rounds in proptest::collection::vec(proptest::collection::vec(0_u64..1 << N_FLUENTS, 1..=BatchEvaluator::LANES), 1..4),
        persistent in 0_u32..1 << N_FLUENTS,
        has_lower_goal: bool,
    ) {
        let mut formulas = Formulas::new(N_FLUENTS);
        let all: Vec<Formula> = plains.iter().map(|plain| made(plain, &mut formulas)).collect();
        let persistent_true = (0..N_FLUENTS).map(|fluent| persistent >> fluent & 1 == 1).collect();
        let mut heuristics =
            heuristics_of(formulas, &all, Knowledge { persistent_true, ..Knowledge::default() });
        if has_lower_goal {
            // The formula of the last move as a second goal of every move.
            let last = all[all.len() - 1];
            let role = &mut heuristics.roles[0];
            role.goals.insert(0, 30);
            role.regressed.iter_mut().flatten().for_each(|goals| goals.insert(0, last));
        }
        let network = Arc::new(Network::new(&heuristics, Logic::PRODUCT));
        prop_assert!(BatchEvaluator::new(&Network::new(&heuristics, Logic::YAGER)).is_none());
        let role = Role::new(0);
        for backend in [agon_circuit::Backend::Native, agon_circuit::Backend::Portable] {
            let mut batch = BatchEvaluator::new(&network).expect("it is small").with_backend(backend);
            for states in &rounds {
                for (lane, &state) in states.iter().enumerate() {
                    batch.set_state(role, lane, &[state]);
                }
                batch.update_fluents(role, Some);
                batch.evaluate(role, states.len());
                for (lane, &state) in states.iter().enumerate() {
                    let mut evaluator = Evaluator::new(Arc::clone(&network));
                    evaluator.go_to(&[state]);
                    for at in 0..all.len() {
                        prop_assert_eq!(batch.lane(role, lane).value(at), evaluator.value(role, at), "to the last bit");
                    }
                    prop_assert_eq!(batch.lane(role, lane).value(all.len()), None);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(seeded(300))]

    #[test]
    fn pruning_preserves_the_comparison_of_moves(
        rests in proptest::collection::vec(plain(), 2..6),
        common in proptest::collection::vec(plain(), 1..3),
        is_or: bool,
        states in proptest::collection::vec(0_u64..1 << N_FLUENTS, 1..8),
    ) {
        let mut formulas = Formulas::new(N_FLUENTS);
        let all: Vec<Formula> = rests
            .iter()
            .map(|rest| {
                let mut parts = common.clone();
                parts.push(rest.clone());
                made(&if is_or { Plain::Or(parts) } else { Plain::And(parts) }, &mut formulas)
            })
            .collect();
        let heuristics = heuristics_of(formulas, &all, Knowledge::default());
        let pruned = heuristics.pruned();
        let evaluator = |of: &ActionHeuristics| {
            Evaluator::new(Arc::new(Network::new(of, Logic::PRODUCT)))
        };
        let (mut before, mut after) = (evaluator(&heuristics), evaluator(&pruned));
        prop_assert!(after.network().n_operands() <= before.network().n_operands());
        for state in states {
            let values = |evaluator: &mut Evaluator| -> (Vec<f64>, bool) {
                evaluator.go_to(&[state]);
                let value = |m| evaluator.value(Role::new(0), m).expect("it was regressed");
                let mut values: Vec<f64> = (0..all.len()).map(value).collect();
                let are_distinct = values.iter().any(|value| (value - values[0]).abs() > 1e-6);
                // Pruning removes what all moves have in common, so relative differences grow.
                crate::regression::normalise_above(&mut values, 0.0);
                (values, are_distinct)
            };
            let (wanted, are_distinct) = values(&mut before);
            let (found, _) = values(&mut after);
            if are_distinct {
                for (wanted, found) in wanted.iter().zip(&found) {
                    prop_assert!((wanted - found).abs() < 1e-6, "{:?} is not {:?}", found, wanted);
                }
            }
        }
    }

    #[test]
    fn wide_conjunctions_share_their_branches(width in 150_usize..400, other in 0_usize..1000) {
        let mut formulas = Formulas::new(width + 1);
        // Two conjunctions that differ in one operand, like those of two moves.
        let mut list: Vec<Formula> = (0..width).map(|fluent| formulas.fluent(fluent)).collect();
        let first = formulas.and(&mut list.clone());
        list[other % width] = !formulas.fluent(width);
        let second = formulas.and(&mut list);
        let heuristics = heuristics_of(formulas, &[first, second], Knowledge::default());
        let network = Arc::new(Network::new(&heuristics, Logic::PRODUCT));
        let n_operands = network.n_operands();
        prop_assert!(n_operands < 2 * width, "{} operands of {}", n_operands, 2 * width);
        let mut evaluator = Evaluator::new(network);
        let state: Vec<u64> =
            (0..(width + 1).div_ceil(64)).map(|word| 0x9e37_79b9_7f4a_7c15 << word).collect();
        evaluator.go_to(&state);
        for (m, formula) in [first, second].into_iter().enumerate() {
            let count = |fluent: usize| {
                if state[fluent / 64] >> (fluent % 64) & 1 == 1 { 0.97 } else { 0.03 }
            };
            let wanted = heuristics.formulas.fuzzy_value(formula, Logic::PRODUCT, &count);
            let found = evaluator.value(Role::new(0), m).expect("it was regressed");
            prop_assert!((found - wanted).abs() <= 1e-9 * wanted, "{} is not {}", found, wanted);
        }
    }
}

/// Returns heuristics of one player with these formulas for its moves.
fn heuristics_of(formulas: Formulas, all: &[Formula], knowledge: Knowledge) -> ActionHeuristics {
    ActionHeuristics {
        extent: Extent::default(),
        fluents: (0..formulas.n_fluents()).map(|fluent| format!("f{fluent}")).collect(),
        roles: vec![RoleHeuristic {
            name: "player".to_owned(),
            goals: vec![100],
            goal_fluents: (0..formulas.n_fluents()).collect(),
            moves: (0..all.len()).map(|m| format!("m{m}")).collect(),
            regressed: all.iter().map(|&formula| Some(vec![formula])).collect(),
        }],
        knowledge,
        formulas,
    }
}
