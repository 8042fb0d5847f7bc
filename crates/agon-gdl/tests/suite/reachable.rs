//! The terms of reachable states and moves, found without a circuit.

use std::sync::Arc;

use agon_datalog::GroundLimits;
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_testkit::files;
use agon_text::Source;

fn open(source: Arc<Source>) -> Arc<Game> {
    let checked = check(source);
    let game = Game::open(checked.rules.expect("the rules are sound"), Options::default());
    game.unwrap_or_else(|finding| panic!("{}", finding.message))
}

#[test]
fn no_term_of_a_circuit_is_missing() {
    let games = ["gdl", "gdl2"].iter().flat_map(|folder| files::games(folder));
    let mut n_games = 0;
    for path in games {
        let game = open(files::source(&path));
        let name = path.display();
        let ground = game.ground(&CircuitLimits::default());
        let ground = ground.unwrap_or_else(|why| panic!("{name}: {}", game.refusal_text(&why)));
        let reachable = game.reachable(&GroundLimits::default());
        let reachable =
            reachable.unwrap_or_else(|why| panic!("{name}: {}", game.refusal_text(&why)));
        let fluents: Vec<String> = reachable.base.iter().map(|&term| game.text(term)).collect();
        let missing = ground.circuit.base.iter().find(|text| !fluents.contains(text));
        assert_eq!(missing, None, "{name}");
        for (role, moves) in ground.circuit.roles.iter().zip(&reachable.moves) {
            let moves: Vec<String> = moves.iter().map(|&term| game.text(term)).collect();
            // A role that never has a move has one in the circuit, named after it and never legal.
            let missing =
                role.moves.iter().find(|text| !moves.contains(text) && **text != role.name);
            assert_eq!(missing, None, "{name}");
        }
        n_games += 1;
    }
    assert!(n_games >= 30, "only {n_games} shipped games");
}

#[test]
fn negated_conditions_are_not_evaluated() {
    // `bad` has very many instances, but only a negated condition asks for it.
    let places: String = (0..40).map(|n| format!("(place {n}) ")).collect();
    let text = format!(
        "(role a) {places} (init (at 0)) (<= (legal a (go ?x)) (place ?x) (not bad)) (<= (next (at ?x)) (does a (go ?x)))
         (<= bad (true (at ?a)) (true (at ?b)) (true (at ?c)) (true (at ?d)) (true (at ?e)) (odd ?a ?b ?c ?d ?e))
         (<= (odd ?a ?b ?c ?d ?e) (place ?a) (place ?b) (place ?c) (place ?d) (place ?e) (true (at ?a))
             (distinct ?a ?b) (distinct ?a ?c) (distinct ?b ?c) (distinct ?d ?e) (distinct ?b ?e))
         (<= terminal (true (at 7))) (goal a 100)"
    );
    let game = open(Arc::new(Source::new("game.kif", text)));
    let small = CircuitLimits {
        ground: GroundLimits { rules: 100_000, steps: 10_000_000, ..GroundLimits::default() },
        ..CircuitLimits::default()
    };
    assert!(game.ground(&small).is_err(), "the circuit exceeds the limits");
    let reachable = game.reachable(&small.ground).expect("its terms are few");
    assert_eq!((reachable.base.len(), reachable.moves[0].len()), (40, 40));
}
