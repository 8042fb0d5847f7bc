//! Games with hidden information: nobody gets to know what its role does not.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use agon_game::{Position as _, Rng, Role};
use agon_gdl::interpreter::Game;
use agon_match::{Lapse, Match, MatchOptions, News, Seat, view};
use rand::SeedableRng as _;

use super::games::{Log, Overheard, name, open, run, seats, shipped, table};

/// A match in which all that the player of `us` was told and said is written down. It always has the same seed; the others and nature
/// have another one each time.
fn overheard(
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
        .expect("somebody plays it");
    let mut all: Vec<Seat> =
        seats(game, &["random"], seed).into_iter().filter(|seat| seat.role != us).collect();
    all.push(Seat {
        player: Box::new(Overheard { player: ours.player, log: Arc::clone(&log) }),
        ..ours
    });
    let played =
        run(game, all, MatchOptions { seed, max_steps: 60, opening, ..MatchOptions::default() });
    let log = log.lock().expect("nothing panics").clone();
    (played, log)
}

#[test]
fn matches_that_differ_in_hidden_things_alone_are_the_same_to_a_player() {
    let game = shipped("kuhn-poker");
    let opener = Role::new(0);
    let deal = |cards: &str| vec![["noop", "noop", cards].map(str::to_owned).to_vec()];
    for player in ["random", "greedy", "legal", "hidden", "mcts", "auto", "alphabeta", "solver"] {
        for seed in 0..20 {
            let (king, saw_king) =
                overheard(&game, opener, player, seed, deal("(deal queen king)"));
            let (jack, saw_jack) =
                overheard(&game, opener, player, seed, deal("(deal queen jack)"));
            assert_ne!(king.states()[1], jack.states()[1], "they differ");
            assert_eq!(saw_king.news[0], saw_jack.news[0]);
            assert_eq!(saw_king.choices[0], saw_jack.choices[0], "{player}, seed {seed}");
            // As long as the news are the same, so are the choices.
            let n_same =
                saw_king.news.iter().zip(&saw_jack.news).take_while(|(a, b)| a == b).count();
            assert_eq!(
                saw_king.choices.iter().take(n_same).collect::<Vec<_>>(),
                saw_jack.choices.iter().take(n_same).collect::<Vec<_>>()
            );
        }
    }
}

/// Step by step, its own move and what it perceived.
type Told = Vec<(String, Vec<String>)>;

#[test]
fn choices_follow_from_news_alone() {
    let mut n_compared = 0;
    for path in
        super::games::rulesheets().iter().filter(|path| path.to_string_lossy().contains("gdl2"))
    {
        let game = open(path);
        for us in game.shape().players() {
            // All that a player had been told, with the state it could not see: and what it then chose.
            let mut chosen: BTreeMap<Told, (Vec<String>, Result<String, Lapse>)> = BTreeMap::new();
            for seed in 0..12 {
                let (played, log) = overheard(&game, us, "random", seed, Vec::new());
                for (n, choice) in log.choices.iter().enumerate() {
                    let told =
                        log.news[..n].iter().map(|news| (news.own.clone(), news.seen.clone()));
                    let state = &played.states()[n];
                    let (other_state, other) = chosen
                        .entry(told.collect())
                        .or_insert_with(|| (state.clone(), choice.clone()));
                    assert_eq!(choice, other, "{}, seed {seed}, step {n}", name(path));
                    n_compared += usize::from(other_state != state);
                }
            }
        }
    }
    assert!(n_compared > 20, "only {n_compared} times did the states differ");
}

/// What the referee tells, in a match of random moves.
fn news_of(game: &Arc<Game>, us: Role, seed: u64, mut follow: impl FnMut(&Match, &News)) {
    let mut played = Match::new(
        table(game.start()),
        MatchOptions { seed, max_steps: 60, ..MatchOptions::default() },
        0,
    );
    let mut rng = Rng::seed_from_u64(seed);
    while !played.is_over() {
        let joint = played.table().draw(&mut rng);
        for role in played.asked() {
            played.hear(role, Ok(joint[role.index()].clone()));
        }
        played.make_step(0);
        if let Some(news) = played.news(us).filter(|_| !played.is_over()) {
            follow(&played, &news);
        }
    }
}

#[test]
fn what_can_be_known_of_the_legal_moves_is_known() {
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
                news_of(&game, us, seed, |played, news| {
                    view.learn(news).expect("the news are true");
                    let mut known = view.legal_moves();
                    let mut legal = played.table().legal_moves(us);
                    known.sort();
                    legal.sort();
                    assert_eq!(known, legal, "{}, seed {seed}, step {}", name(&path), news.step);
                    assert_eq!(view.state().is_some(), !game.start().shape().hidden);
                });
            }
        }
    }
}
