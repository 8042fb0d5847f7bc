//! Players that analyse the rules.

use std::sync::Arc;

use agon_analysis::Analysis;
use agon_analysis::regression::HeuristicRequest;
use agon_game::{Notation as _, Position as _, Rng, Role};
use agon_gdl::circuit::CircuitLimits;
use agon_match::{MatchOptions, Seat, Timing, role_seed};
use agon_players::{BuildContext, Rules, action_heuristic};
use agon_search::Budget;
use rand::SeedableRng as _;

use super::games::{run, shipped, spec};

#[test]
fn moves_have_the_same_values_in_the_interpreter_and_the_circuit() {
    for name in ["tic-tac-toe", "connect-four", "breakthrough", "bidding-tic-tac-toe"] {
        let game = shipped(name);
        let compiled =
            Arc::new(game.compile(&CircuitLimits::default()).unwrap_or_else(|why| panic!("{why}")));
        let analysis = Analysis::new(Arc::clone(&game), Some(Arc::clone(&compiled)));
        let (request, budget) = (HeuristicRequest::default(), Budget::iterations(1));
        let (mut slow, mut fast) = (game.start(), compiled.start());
        let mut by_text = action_heuristic(&analysis, request, &slow, &budget).expect(name);
        let mut by_bits = action_heuristic(&analysis, request, &fast, &budget).expect(name);
        let mut rng = Rng::seed_from_u64(2);
        let (mut joint, mut n_rated) = (Vec::new(), 0);
        while !slow.is_terminal() {
            for role in slow.shape().players() {
                let (mut ours, mut theirs) = (Vec::new(), Vec::new());
                let is_rated = by_text.values(&slow, role, slow.legal_moves(role), &mut ours);
                let also = by_bits.values(&fast, role, fast.legal_moves(role), &mut theirs);
                assert_eq!(is_rated, also, "{name}");
                assert_eq!(ours, theirs, "{name}: both list moves in one order");
                assert!(ours.iter().all(|value| (0.0..=1.0).contains(value)), "{ours:?}");
                n_rated += usize::from(is_rated);
            }
            slow.draw(&mut rng, &mut joint);
            let moves = slow.shape().roles().zip(&joint).map(|(role, m)| {
                fast.parse_move(role, &slow.move_text(m)).expect("the same moves are legal")
            });
            let same: Vec<_> = moves.collect();
            fast.advance(&same);
            slow.advance(&joint);
            // Fluents that hold permanently are folded in, in the same way by both.
            by_text.commit(&slow);
            by_bits.commit(&fast);
        }
        assert!(n_rated > 0, "{name}: no move was ever rated");
    }
}

#[test]
fn matches_of_players_with_analysis_can_be_repeated() {
    for (name, players) in [
        ("tic-tac-toe", ["mcts(action-heuristic=combined,leaves=1,playouts=1)", "uct(tree,mast)"]),
        (
            "tic-tac-toe",
            ["alphabeta(depth=1,extension=0,eval=concepts(kind=sets,size=3,plays=50))", "random"],
        ),
        (
            "connect-four",
            ["alphabeta(depth=1,eval=concepts(from=tic-tac-toe,plays=5))", "uct(playout,rave)"],
        ),
        (
            "tic-tac-toe",
            ["bestfirst(eval=concepts(file=nowhere,plays=5))", "solver(insight=trial)"],
        ),
        ("tic-tac-toe", ["auto", "mcts(action-heuristic=tree,heuristic-steps=2)"]),
    ] {
        let game = shipped(name);
        let play = || {
            // Both players share the analysis.
            let analysis = Analysis::new(Arc::clone(&game), None);
            let roles: Vec<Role> = game.shape().players().collect();
            let seats = roles.iter().zip(players).map(|(&role, player)| {
                let rules =
                    Rules { gdl: Some(analysis.clone()), rewriting: None, ..Rules::default() };
                let seed = role_seed(4, role);
                let context = BuildContext { start: game.start(), role, seed, rules };
                let player = spec(player).build(context).expect("the player is built-in");
                Seat { role, player, timing: Timing::Iterations(20) }
            });
            run(&game, seats.collect(), MatchOptions::default())
        };
        let (first, second) = (play(), play());
        assert_eq!(first.states(), second.states(), "{name}: {players:?}");
    }
}
