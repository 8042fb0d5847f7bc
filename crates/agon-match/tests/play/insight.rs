//! Players that look into the rules.

use std::sync::Arc;

use agon_analysis::Subject;
use agon_analysis::regression::Wanted;
use agon_game::{Notation as _, Position as _, Rng, Role};
use agon_gdl::circuit::CircuitLimits;
use agon_match::{
    MatchOptions, Rules, Seat, Timing, action_heuristic, build_with_insight, parse_spec, role_seed,
};
use agon_search::Budget;
use rand::SeedableRng as _;

use super::games::{run, shipped};

#[test]
fn the_interpreter_and_the_circuit_hear_the_same_of_moves() {
    for name in ["tic-tac-toe", "connect-four", "breakthrough", "bidding-tic-tac-toe"] {
        let game = shipped(name);
        let compiled =
            Arc::new(game.compile(&CircuitLimits::default()).unwrap_or_else(|why| panic!("{why}")));
        let subject = Subject::new(Arc::clone(&game), Some(Arc::clone(&compiled)));
        let budget = Budget::iterations(1);
        let (mut slow, mut fast) = (game.start(), compiled.start());
        let mut by_text =
            action_heuristic(&subject, Wanted::default(), &slow, &budget).expect("it has one");
        let mut by_bits =
            action_heuristic(&subject, Wanted::default(), &fast, &budget).expect("it has one");
        let mut rng = Rng::seed_from_u64(2);
        let (mut joint, mut n_said) = (Vec::new(), 0);
        while !slow.is_terminal() {
            for role in slow.shape().players() {
                let (mut ours, mut theirs) = (Vec::new(), Vec::new());
                let says = by_text.values(&slow, role, slow.legal_moves(role), &mut ours);
                assert_eq!(
                    says,
                    by_bits.values(&fast, role, fast.legal_moves(role), &mut theirs),
                    "{name}"
                );
                assert_eq!(ours, theirs, "{name}: both list moves in one order");
                assert!(ours.iter().all(|value| (0.0..=1.0).contains(value)), "{ours:?}");
                n_said += usize::from(says);
            }
            slow.draw(&mut rng, &mut joint);
            let moves = slow.shape().roles().zip(&joint).map(|(role, m)| {
                fast.parse_move(role, &slow.move_text(m)).expect("the same moves are legal")
            });
            let same: Vec<_> = moves.collect();
            fast.advance(&same);
            slow.advance(&joint);
            // What has come to stay is folded in: it changes nothing that both would not see alike.
            by_text.settle(&slow);
            by_bits.settle(&fast);
        }
        assert!(n_said > 0, "{name}: nothing was ever said");
    }
}

#[test]
fn they_play_to_the_end_and_the_same_again() {
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
            // Learning and proving are done once for both.
            let subject = Subject::new(Arc::clone(&game), None);
            let roles: Vec<Role> = game.shape().players().collect();
            let seats = roles.iter().zip(players).map(|(&role, player)| {
                let spec =
                    parse_spec(player).unwrap_or_else(|why| panic!("{player}: {}", why.message));
                let seed = role_seed(4, role);
                let player =
                    build_with_insight(&spec, game.start(), role, seed, Rules::Gdl(&subject));
                Seat {
                    role,
                    player: player.expect("one of our own"),
                    timing: Timing::Iterations(20),
                }
            });
            run(&game, seats.collect(), MatchOptions::default())
        };
        let (first, second) = (play(), play());
        assert_eq!(first.states(), second.states(), "{name}: {players:?}");
    }
}
