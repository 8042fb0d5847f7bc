use std::sync::Arc;

use agon_analysis::Analysis;
use agon_game::{Notation, Position as _, Rng, Role};
use agon_gdl::circuit::CircuitLimits;
use agon_learn::combination::{CombineOptions, Experts};
use agon_search::{Budget, Evaluate as _, EvaluateLeaves as _};
use rand::SeedableRng as _;

use super::experts::{Sources, experts};
use super::{ByCombination, CombinedLeaves, CombinedOptions, HeuristicFamily, learn_combination};
use crate::Rules;
use crate::test_games::{gdl_game, rewriting_game};

fn options(only: Option<HeuristicFamily>) -> CombinedOptions {
    let learning = CombineOptions { n_plays: 40, ..CombineOptions::default() };
    CombinedOptions { only, n_formulas: 0, learning }
}

fn names<P: Notation + 'static>(rules: &Rules, start: &P) -> Vec<String> {
    let time = std::time::Duration::from_secs(600);
    let sources = Sources { rules, time, seed: 1 };
    let all: Experts<P> = experts(&sources, None, &[], start);
    all.names()
}

#[test]
fn every_family_takes_part() {
    let game = gdl_game("tic-tac-toe");
    let compiled = game.compile(&CircuitLimits::default()).unwrap_or_else(|why| panic!("{why}"));
    let start = compiled.start();
    let analysis = Analysis::new(game, Some(Arc::new(compiled)));
    let rules = Rules { gdl: Some(analysis), ..Rules::default() };
    assert_eq!(
        names(&rules, &start),
        [
            "goals",
            "fuzzy goals",
            "regressed goals",
            "frequent facts",
            "concepts of two facts",
            "mobility",
            "number of cell blank",
            "number of cell o",
            "number of cell x",
            "turn"
        ]
    );
    let rewriting = rewriting_game("tic-tac-toe");
    let start = rewriting.game().start();
    let rules = Rules { rewriting: Some(rewriting), ..Rules::default() };
    let found = names(&rules, &start);
    assert!(found.iter().any(|name| name.starts_with("goal terms (")), "{found:?}");
}

/// The evaluation is the same for a search that asks by position, for leaves, and for a second
/// player of the game, and neither value nor learning depends on the state of the position.
#[test]
fn values_are_the_same_everywhere() {
    let game = gdl_game("breakthrough");
    let compiled = game.compile(&CircuitLimits::default()).unwrap_or_else(|why| panic!("{why}"));
    let start = compiled.start();
    let analysis = Analysis::new(game, Some(Arc::new(compiled)));
    let rules = Rules { gdl: Some(analysis), ..Rules::default() };
    let only = Some(HeuristicFamily::Material);
    let budget = Budget::iterations(1);
    let make = || ByCombination::new(&rules, &options(only), &start, &budget).expect("it has ends");
    let learnt = learn_combination(&rules, &options(only), &start, &budget).expect("it has ends");
    let again = learn_combination(&rules, &options(only), &start, &budget).expect("it has ends");
    assert!(Arc::ptr_eq(&learnt, &again), "it is learnt once");
    let (mut first, mut second) = (make(), make());
    let mut leaves = CombinedLeaves::new(make(), &start);
    let mut position = start.clone();
    let mut rng = Rng::seed_from_u64(5);
    let mut joint = Vec::new();
    let mut seen = Vec::new();
    for _ in 0..20 {
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
        let roles = [0, 1].map(Role::new);
        let values = roles.map(|role| first.value(&position, role));
        assert_eq!(values, roles.map(|role| second.value(&position, role)));
        assert!((values[0] + values[1] - 100.0).abs() < 1e-9, "{values:?}");
        let mut payoffs = [0.0; 2];
        leaves.fork().evaluate(position.state(), &mut payoffs);
        assert_eq!(values, payoffs);
        leaves.evaluate(position.state(), &mut payoffs);
        assert_eq!(values, payoffs);
        seen.push(values[0]);
    }
    seen.dedup();
    assert!(seen.len() > 1, "positions differ");
}

#[test]
fn without_heuristics_there_is_no_evaluation() {
    let game = gdl_game("tic-tac-toe");
    let (rules, start) = (Rules::default(), game.start());
    for only in [HeuristicFamily::Terms, HeuristicFamily::Fuzzy, HeuristicFamily::Material] {
        let learnt =
            learn_combination(&rules, &options(Some(only)), &start, &Budget::iterations(1));
        assert_eq!(learnt, None, "{only}");
    }
    let mobility = options(Some(HeuristicFamily::Mobility));
    assert!(learn_combination(&rules, &mobility, &start, &Budget::iterations(1)).is_some());
}
