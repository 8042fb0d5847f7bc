//! Leaves that are valued by an evaluator.

use agon_circuit::ScalarCircuit;
use agon_game::{Notation as _, Position, Role};

use crate::mcts::Mcts;
use crate::sample::shipped;
use crate::{Budget, EvaluateLeaves, MctsOptions, Report, Search};

type State = <ScalarCircuit as Position>::State;

/// An evaluator that regards one fact as won for the first player.
#[derive(Clone)]
struct OneFact {
    position: ScalarCircuit,
    text: &'static str,
}

impl EvaluateLeaves<State> for OneFact {
    fn fork(&self) -> Box<dyn EvaluateLeaves<State>> {
        Box::new(self.clone())
    }

    fn evaluate(&mut self, state: &State, payoffs: &mut [f64]) {
        self.position.go_to(state);
        let texts = self.position.feature_texts();
        let words = ScalarCircuit::state_words(state).expect("circuits keep bits");
        let fact = texts.iter().position(|text| text == self.text).expect("the fact exists");
        let holds = words[fact / 64] >> (fact % 64) & 1 == 1;
        payoffs[0] = if holds { 100.0 } else { 0.0 };
        payoffs[1] = 100.0 - payoffs[0];
    }
}

fn think(part: Option<f64>, text: &'static str) -> Report<<ScalarCircuit as Position>::Move> {
    let mut position = shipped("connect-four");
    let mut search = Mcts::new(MctsOptions::default(), 5);
    if let Some(part) = part {
        let evaluator = OneFact { position: position.clone(), text };
        search = search.with_evaluator(Box::new(evaluator), part);
    }
    let report = search.think(&mut position, Role::new(0), &Budget::iterations(3000));
    Report { seconds: 0.0, ..report }
}

#[test]
fn an_evaluator_without_a_part_changes_nothing() {
    assert_eq!(think(Some(0.0), "(disc 1 1 red)"), think(None, ""));
}

#[test]
fn the_evaluator_decides_where_it_is_trusted() {
    let position = shipped("connect-four");
    for (fact, best) in [("(disc 1 1 red)", "(drop 1)"), ("(disc 5 1 red)", "(drop 5)")] {
        let report = think(Some(1.0), fact);
        assert_eq!(position.move_text(&report.best), best);
        assert!(report.value > 90.0, "{}", report.value);
    }
}
