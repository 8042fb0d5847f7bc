//! Negation among the atoms of one relation: correct if it is well-founded, refused if it is not.

use std::sync::Arc;

use proptest::prelude::*;

use super::{atom, holds, rule, seeded, variable};
use crate::{
    Engine, Goal, Level, Limits, Plans, Program, QueryForm, RefusalKind, Symbol, TermBank, TermId,
};

const N_NODES: usize = 7;

/// Returns the value of each node of the game "a player who cannot move loses" by backward
/// induction. `None` if play can continue for ever and neither side can force a win.
fn values(edges: &[(usize, usize)]) -> Vec<Option<bool>> {
    let mut values = vec![None; N_NODES];
    loop {
        let before = values.clone();
        for (node, value) in values.iter_mut().enumerate() {
            let mut successors =
                edges.iter().filter(|edge| edge.0 == node).map(|edge| before[edge.1]);
            if successors.clone().any(|value| value == Some(false)) {
                *value = Some(true);
            } else if successors.all(|value| value == Some(true)) {
                *value = Some(false);
            }
        }
        if values == before {
            return values;
        }
    }
}

/// Returns whether a cycle is reachable from the node.
fn reaches_a_cycle(node: usize, edges: &[(usize, usize)]) -> bool {
    let reach = |starts: Vec<usize>| {
        let mut seen: Vec<usize> = starts;
        let mut next = 0;
        while let Some(&at) = seen.get(next) {
            for &(from, to) in edges {
                if from == at && !seen.contains(&to) {
                    seen.push(to);
                }
            }
            next += 1;
        }
        seen
    };
    let successors = |node: usize| {
        edges.iter().filter(|edge| edge.0 == node).map(|edge| edge.1).collect::<Vec<_>>()
    };
    reach(vec![node]).into_iter().any(|other| reach(successors(other)).contains(&other))
}

/// Returns the engine for `win(x) :- move(x, y), not win(y)`, the queries for one node and for all
/// winners, and the nodes.
fn game(edges: &[(usize, usize)]) -> (Engine, [crate::QueryId; 2], Vec<TermId>) {
    let mut program = Program::default();
    let edge = program.given(2, Level::State);
    let win = program.derived(1);
    let [x, y] = [0, 1].map(variable);
    let body = vec![holds(edge, &[x.clone(), y.clone()]), Goal::Fails(atom(win, &[y]))];
    program.rule(rule(atom(win, &[x]), body, 2, 5));
    let bank = Arc::new(TermBank::new(3));
    let nodes: Vec<TermId> =
        (0..20).map(|i| bank.term(Symbol::new(i), &[]).expect("a constant fits")).collect();
    let entries = [vec![true], vec![false]].map(|known| QueryForm { predicate: win, known });
    let (plans, queries) =
        Plans::new(program, bank, &[], &entries).expect("all variables are bound");
    let mut engine = Engine::new(Arc::new(plans), Limits::default());
    let rows: Vec<[TermId; 2]> = edges.iter().map(|&(a, b)| [nodes[a], nodes[b]]).collect();
    engine.set_rows(edge, rows.iter().map(<[_; 2]>::as_slice));
    (engine, [queries[0], queries[1]], nodes)
}

fn edges() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::btree_set((0..N_NODES, 0..N_NODES), 0..14)
        .prop_map(|edges| edges.into_iter().collect())
}

proptest! {
    #![proptest_config(seeded(2000))]

    #[test]
    fn every_winner_is_found_in_acyclic_games(
        edges in edges(),
        order in Just((0..N_NODES).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let edges: Vec<(usize, usize)> = edges.into_iter().filter(|(from, to)| from < to).collect();
        let values = values(&edges);
        let (mut engine, [one, all], nodes) = game(&edges);
        for node in order {
            prop_assert_eq!(engine.holds(one, &[nodes[node]]).ok(), values[node]);
        }
        let answers = engine.ask(all, &[]).expect("there is no cycle");
        prop_assert_eq!(answers.len(), values.iter().filter(|&&value| value == Some(true)).count());
    }

    #[test]
    fn no_answer_is_wrong_in_cyclic_games(
        edges in edges(),
        order in Just((0..N_NODES).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let values = values(&edges);
        let (mut engine, [one, _], nodes) = game(&edges);
        for node in order {
            match engine.holds(one, &[nodes[node]]) {
                Ok(wins) => prop_assert_eq!(values[node], Some(wins)),
                Err(refusal) => {
                    prop_assert_eq!(refusal.kind, RefusalKind::Unstratified);
                    prop_assert_eq!(refusal.origin, Some(5));
                    prop_assert!(reaches_a_cycle(node, &edges), "refused without reason");
                }
            }
        }
    }
}

#[test]
fn cycles_of_any_length_are_refused() {
    for length in 1..N_NODES {
        let edges: Vec<(usize, usize)> = (0..length).map(|i| (i, (i + 1) % length)).collect();
        let (mut engine, [one, all], nodes) = game(&edges);
        for _ in 0..2 {
            let refusal =
                engine.holds(one, &[nodes[0]]).expect_err("a cycle has no single meaning");
            assert_eq!(refusal.kind, RefusalKind::Unstratified);
            assert!(engine.ask(all, &[]).is_err());
        }
        // A node that leads into no cycle is answered nevertheless.
        assert_eq!(engine.holds(one, &[nodes[10]]), Ok(false));
    }
}
