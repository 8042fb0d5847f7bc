//! Games with hidden information: no player knows more than its role.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use agon_game::{Observation, Position as _, Rng, Role};
use agon_gdl::interpreter::Game;
use agon_match::{Match, MatchOptions, PlayerError, Seat, view};
use rand::SeedableRng as _;

use super::games::{Log, Logged, name, open, run, seats, shipped, table};

/// Plays a match in which the player of `us` is logged. Its seed is fixed; `seed` is that of nature
/// and of the other players.
fn logged(
    game: &Arc<Game>,
    us: Role,
    player: &str,
    seed: u64,
    opening: Vec<Vec<String>>,
) -> (Match, Log) {
    let log = Arc::new(Mutex::new(Log::default()));
    let ours = seats(game, &[player], 77)
        .into_iter()
        .find(|seat| seat.role == us)
        .expect("the role has a player");
    let mut all: Vec<Seat> =
        seats(game, &["random"], seed).into_iter().filter(|seat| seat.role != us).collect();
    all.push(Seat {
        player: Box::new(Logged { player: ours.player, log: Arc::clone(&log) }),
        ..ours
    });
    let played =
        run(game, all, MatchOptions { seed, max_steps: 60, opening, ..MatchOptions::default() });
    let log = log.lock().expect("no thread panics").clone();
    (played, log)
}

#[test]
fn choices_do_not_depend_on_what_is_hidden() {
    let game = shipped("kuhn-poker");
    let opener = Role::new(0);
    let deal = |cards: &str| vec![["noop", "noop", cards].map(str::to_owned).to_vec()];
    for player in ["random", "greedy", "legal", "hidden", "mcts", "auto", "alphabeta", "solver"] {
        for seed in 0..20 {
            let (king, saw_king) = logged(&game, opener, player, seed, deal("(deal queen king)"));
            let (jack, saw_jack) = logged(&game, opener, player, seed, deal("(deal queen jack)"));
            assert_ne!(king.states()[1], jack.states()[1], "they differ");
            assert_eq!(saw_king.observations[0], saw_jack.observations[0]);
            assert_eq!(saw_king.choices[0], saw_jack.choices[0], "{player}, seed {seed}");
            // The choices are the same as long as the observations are.
            let n_same = saw_king
                .observations
                .iter()
                .zip(&saw_jack.observations)
                .take_while(|(a, b)| a == b)
                .count();
            assert_eq!(
                saw_king.choices.iter().take(n_same).collect::<Vec<_>>(),
                saw_jack.choices.iter().take(n_same).collect::<Vec<_>>()
            );
        }
    }
}

/// The own move and the percepts of each step.
type Percepts = Vec<(String, Vec<String>)>;

#[test]
fn choices_depend_on_observations_alone() {
    let mut n_compared = 0;
    for path in
        super::games::rulesheets().iter().filter(|path| path.to_string_lossy().contains("gdl2"))
    {
        let game = open(path);
        for us in game.shape().players() {
            // By all observations so far: the hidden state, and the choice made there.
            let mut chosen: BTreeMap<Percepts, (Vec<String>, Result<String, PlayerError>)> =
                BTreeMap::new();
            for seed in 0..12 {
                let (played, log) = logged(&game, us, "random", seed, Vec::new());
                for (n, choice) in log.choices.iter().enumerate() {
                    let observed = log.observations[..n]
                        .iter()
                        .map(|seen| (seen.own.clone(), seen.seen.clone()));
                    let state = &played.states()[n];
                    let (other_state, other) = chosen
                        .entry(observed.collect())
                        .or_insert_with(|| (state.clone(), choice.clone()));
                    assert_eq!(choice, other, "{}, seed {seed}, step {n}", name(path));
                    n_compared += usize::from(other_state != state);
                }
            }
        }
    }
    assert!(n_compared > 20, "the states differ in only {n_compared} comparisons");
}

/// Plays a match of random moves, and calls `follow` with the observations of a role.
fn observe_random_match(
    game: &Arc<Game>,
    us: Role,
    seed: u64,
    mut follow: impl FnMut(&Match, &Observation),
) {
    let mut played = Match::new(
        table(game.start()),
        MatchOptions { seed, max_steps: 60, ..MatchOptions::default() },
        0,
    );
    let mut rng = Rng::seed_from_u64(seed);
    while !played.is_over() {
        let joint = played.table().draw(&mut rng);
        for role in played.asked() {
            played.receive(role, Ok(joint[role.index()].clone()));
        }
        played.make_step(0);
        if let Some(observation) = played.observation(us).filter(|_| !played.is_over()) {
            follow(&played, &observation);
        }
    }
}

#[test]
fn views_know_the_legal_moves() {
    for path in super::games::rulesheets() {
        let is_hidden = path.to_string_lossy().contains("gdl2");
        if !is_hidden && name(&path) != "tic-tac-toe" {
            continue;
        }
        let game = open(&path);
        for us in game.shape().players() {
            for seed in 0..6 {
                let mut view = view(game.start(), us, 5);
                assert_eq!(view.legal_moves(), table(game.start()).legal_moves(us));
                observe_random_match(&game, us, seed, |played, observation| {
                    view.learn(observation).expect("the observation is true");
                    let mut known = view.legal_moves();
                    let mut legal = played.table().legal_moves(us);
                    known.sort();
                    legal.sort();
                    let step = observation.step;
                    assert_eq!(known, legal, "{}, seed {seed}, step {step}", name(&path));
                    assert_eq!(view.state().is_some(), !game.start().shape().hidden);
                });
            }
        }
    }
}
