//! Exhaustive comparison for games that are small enough.

use std::sync::Arc;

use agon_game::lockstep::{Comparator, Options, Payoffs};
use agon_game::{Notation as _, Position as _, Role};
use agon_text::Source;
use agon_toss::interpreter::{Game, Interpreter};

use super::{RoundTrip, round_trip};
use crate::to_gdl::{ToGdlLimits, lockstep_options};
use crate::to_toss;

fn game(name: &str) -> Arc<Game> {
    let path = format!("{}/../../games/toss/{name}.toss", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let checked = agon_toss::check::check(Arc::new(Source::new(name, text)));
    let arena = checked.arena.unwrap_or_else(|| panic!("{name}: {:?}", checked.findings));
    Game::open(arena, agon_toss::interpreter::Options::default())
        .unwrap_or_else(|finding| panic!("{}", finding.message))
}

/// Compares the games in every state of every play of at most `max_steps` steps, and returns the
/// number of states. All games have one player.
fn explore(trip: &RoundTrip, original: &Arc<Game>, max_steps: usize) -> usize {
    let back = trip.open_back();
    let second_move = |role: Role, text: &str| trip.original_move(role.index(), text);
    let first_payoffs = |position: &Interpreter, role| trip.there.goal(position, role);
    let options = lockstep_options::<Interpreter>(&second_move, &first_payoffs);
    let options = Options { payoffs: Payoffs::AtEnd, ..options };
    let mut open = vec![(original.start(), back.start(), Vec::<String>::new())];
    let mut n_states = 0;
    while let Some((here, there, moves)) = open.pop() {
        n_states += 1;
        // A new comparator for each state, because the texts of moves depend on the state.
        let mut comparator = Comparator::new(&here, &options);
        comparator
            .compare_position(&here, &there)
            .unwrap_or_else(|mismatch| panic!("after {moves:?}: {mismatch}"));
        if here.is_terminal() {
            continue;
        }
        let [role] = here.shape().roles().collect::<Vec<_>>()[..] else {
            panic!("the game has one role")
        };
        let partners = comparator
            .compare_moves(&here, &there, role)
            .unwrap_or_else(|mismatch| panic!("after {moves:?}: {mismatch}"));
        if moves.len() == max_steps {
            continue;
        }
        for (m, &partner) in here.legal_moves(role).iter().zip(partners) {
            let (mut next, mut other) = (here.clone(), there.clone());
            other.advance(std::slice::from_ref(&there.legal_moves(role)[partner]));
            next.advance(std::slice::from_ref(m));
            open.push((next, other, [moves.as_slice(), &[here.move_text(m)]].concat()));
        }
    }
    n_states
}

#[test]
fn round_trip_of_rewriting_agrees_in_all_short_plays() {
    let game = game("rewriting");
    let trip = round_trip(&game, ToGdlLimits::default(), &to_toss::ToTossOptions::default());
    let trip = trip.unwrap_or_else(|error| panic!("{error}"));
    // All plays of up to four steps, and the legal moves after them. Counts by `rewriting.perft`: 1
    // + 2 + 13 + 84 + 772 states.
    assert_eq!(explore(&trip, &game, 4), 872);
}

#[test]
fn round_trip_of_rewriting_agrees_in_all_plays() {
    if std::env::var_os("SLOW").is_none() {
        println!("skipped: with the last step it takes half a minute; SLOW=1 runs it");
        return;
    }
    let game = game("rewriting");
    let trip = round_trip(&game, ToGdlLimits::default(), &to_toss::ToTossOptions::default());
    let trip = trip.unwrap_or_else(|error| panic!("{error}"));
    println!("{} states", explore(&trip, &game, 5));
}
