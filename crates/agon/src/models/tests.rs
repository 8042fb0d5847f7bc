use std::collections::BTreeMap;
use std::path::PathBuf;

use agon_circuit::ScalarCircuit;
use agon_game::{Budget, Notation as _, Position as _, Rng, Role};
use agon_gdl::canonical::canonical;
use agon_gdl::print::print_kif;
use agon_ggp::Scrambler;
use agon_learn::{Learner, LearntEvaluator, ModelHistory, TrainOptions};
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use super::*;
use crate::open::{OpenOptions, Purpose};

/// Games of many kinds: boards, cards, puzzles, several players, simultaneous moves.
const GAMES: [&str; 20] = [
    "tic-tac-toe",
    "connect-four",
    "breakthrough",
    "othello",
    "checkers",
    "knightthrough",
    "nine-board-tic-tac-toe",
    "blocker",
    "clobber",
    "three-way-tic-tac-toe",
    "four-way-tron",
    "eight-puzzle",
    "pentago",
    "reversi-6x6",
    "hex",
    "isolation",
    "sheep-and-wolf",
    "skirmish",
    "nim",
    "quarto",
];

fn open(game: &str) -> Game {
    let options = OpenOptions { purpose: Purpose::ReproducibleSearch, ..OpenOptions::default() };
    Game::open_with(game, &options).unwrap_or_else(|error| panic!("{game}: {error}"))
}

fn start(game: &Game) -> ScalarCircuit {
    game.compiled().expect("the game has a circuit").start()
}

/// Returns the rules of a game in another order, with other names.
fn disguised(game: &Game, seed: u64) -> String {
    let mut sheet = (**game.gdl().expect("it is GDL").rules().sheet()).clone();
    let mut rng = Rng::seed_from_u64(seed);
    sheet.clauses.shuffle(&mut rng);
    sheet.clauses.iter_mut().for_each(|clause| clause.body.shuffle(&mut rng));
    let text = print_kif(&sheet);
    Scrambler::new(&text, seed).scramble(&text)
}

fn labels(game: &Game) -> BTreeMap<String, u32> {
    canonical(game.gdl().expect("it is GDL").rules()).expect("the rules are small").labels
}

fn model(game: &Game, n_games: u64) -> Model {
    let start = start(game);
    let mut learner =
        Learner::new(&start, TrainOptions::default(), None).expect("it can be learnt");
    learner.learn(&Budget::iterations(n_games));
    let history = ModelHistory {
        game: game.name().to_owned(),
        key: game.key().key,
        ..ModelHistory::default()
    };
    learner.model(&start, &game.key().labels, history).expect("all names have labels")
}

/// Returns the value of a player.
fn value(
    evaluator: &mut LearntEvaluator<ScalarCircuit>,
    position: &ScalarCircuit,
    player: usize,
) -> f32 {
    let n_players = position.shape().players().count();
    match evaluator.n_values() {
        1 if n_players == 2 && player == 1 => 1.0 - evaluator.value(position.state()),
        _ => evaluator.value_of(player, position.state()),
    }
}

/// A disguised game has the same key, and labels say which names correspond: legal moves, ends,
/// payoffs and the values of a model agree at corresponding positions.
#[test]
fn disguised_games_find_their_models() {
    let mut keys: BTreeMap<u128, &str> = BTreeMap::new();
    for (seed, name) in (1..).zip(GAMES) {
        let game = open(name);
        let other = open(&disguised(&game, seed));
        assert_eq!(game.key().key, other.key().key, "{name}");
        assert!(game.key().is_canonical, "{name}");
        if let Some(same) = keys.insert(game.key().key, name) {
            panic!("{name} and {same} have the same key");
        }
        let names: BTreeMap<u32, String> =
            labels(&other).into_iter().map(|(name, label)| (label, name)).collect();
        let own = labels(&game);
        let translate = |text: &str| -> String {
            let spaced = text.replace('(', "( ").replace(')', " )");
            let words = spaced.split_whitespace().map(|word| match word {
                "(" | ")" => word.to_owned(),
                word => names[&own[word]].clone(),
            });
            words.collect::<Vec<_>>().join(" ").replace("( ", "(").replace(" )", ")")
        };
        let (mut position, mut image) = (start(&game), start(&other));
        let texts: BTreeMap<String, usize> = (0..)
            .zip(image.feature_texts())
            .map(|(fact, text)| (text.to_lowercase(), fact))
            .collect();
        let facts: Vec<usize> =
            position.feature_texts().iter().map(|text| texts[&translate(text)]).collect();
        let players: Vec<(Role, Role)> = position
            .shape()
            .players()
            .map(|role| {
                let name = translate(&position.shape().role_names[role.index()]);
                (role, image.shape().role_named(&name).expect("the role has a counterpart"))
            })
            .collect();
        let place = |shape: &agon_game::Shape, role: Role| {
            shape.players().position(|other| other == role).expect("it is a player")
        };
        let model = model(&game, 32);
        let model = Model::from_bytes(&model.to_bytes()).expect("it was written");
        let fitted = [&game, &other].map(|game| fit(game, &model).expect("it is its game"));
        let mut evaluators = [(&game, &fitted[0]), (&other, &fitted[1])]
            .map(|(game, fitted)| fitted.evaluator(&start(game)).expect("states are bits"));
        let mut rng = Rng::seed_from_u64(seed);
        let mut joint = Vec::new();
        let mut largest = 0.0_f32;
        for _ in 0..80 {
            let words = ScalarCircuit::state_words(position.state()).expect("states are bits");
            let mut mapped = vec![0_u64; words.len()];
            for (fact, &to) in facts.iter().enumerate() {
                mapped[to / 64] |= (words[fact / 64] >> (fact % 64) & 1) << (to % 64);
            }
            let mapped = image.state_of_words(&mapped).expect("as many words");
            image.go_to(&mapped);
            assert_eq!(position.is_terminal(), image.is_terminal(), "{name}");
            for &(role, other) in &players {
                let n_legal =
                    [position.legal_moves(role), image.legal_moves(other)].map(<[_]>::len);
                assert_eq!(n_legal[0], n_legal[1], "{name}");
                assert_eq!(position.payoff(role), image.payoff(other), "{name}");
                let values = [
                    value(&mut evaluators[0], &position, place(position.shape(), role)),
                    value(&mut evaluators[1], &image, place(image.shape(), other)),
                ];
                assert!((values[0] - values[1]).abs() < 1e-4, "{name}: {values:?}");
                largest = largest.max((values[0] - 0.5).abs());
            }
            if position.is_terminal() {
                position = start(&game);
            } else {
                position.draw(&mut rng, &mut joint);
                position.advance(&joint);
            }
        }
        assert!(largest > 0.001, "{name} has learnt something");
    }
}

/// Scrambling keeps numbers, so corresponding positions of a scrambled match have the same values
/// even where rules are symmetric.
#[test]
fn numbers_decide_between_symmetric_labels() {
    for name in ["tic-tac-toe", "connect-four", "othello"] {
        let game = open(name);
        let text = game.rules_text();
        let scrambler = Scrambler::new(&text, 9);
        let other = open(&scrambler.scramble(&text));
        let model = model(&game, 64);
        let [mut one, mut two] = [&game, &other].map(|game| {
            fit(game, &model).expect("it is its game").evaluator(&start(game)).expect("bits")
        });
        let (mut position, mut image) = (start(&game), start(&other));
        let mut rng = Rng::seed_from_u64(2);
        let mut joint = Vec::new();
        while !position.is_terminal() {
            let values = [one.value(position.state()), two.value(image.state())];
            assert!((values[0] - values[1]).abs() < 1e-4, "{name}: {values:?}");
            position.draw(&mut rng, &mut joint);
            let scrambled: Vec<_> = position
                .shape()
                .roles()
                .map(|role| {
                    let text = scrambler.scramble(&position.move_text(&joint[role.index()]));
                    image.parse_move(role, &text).expect("the move has a counterpart")
                })
                .collect();
            position.advance(&joint);
            image.advance(&scrambled);
        }
        assert!(image.is_terminal());
    }
}

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let name = format!("agon-models-{}-{test}", std::process::id());
        Folder(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn games_are_opened_with_their_models() {
    let folder = Folder::new("opened");
    let store = ModelStore::at(&folder.0);
    assert!(store.list().expect("a folder that does not exist is empty").is_empty());
    let game = open("tic-tac-toe");
    let model = model(&game, 64).without_training_state();
    let path = store.path(game.key().key);
    write_model(&path, &model).expect("the folder is made");
    let options = OpenOptions { models: Some(store.clone()), ..OpenOptions::default() };
    let with = |text: &str| Game::open_with(text, &options).expect("the rules are sound");
    let opened = with("tic-tac-toe");
    assert_eq!(opened.model().expect("it has a model").history().n_games, model.history.n_games);
    assert!(opened.notes().is_empty());
    assert!(with(&disguised(&game, 3)).model().is_some());
    assert!(with("connect-four").model().is_none());
    assert!(open("tic-tac-toe").model().is_none(), "without a store there are no models");

    let listed = store.list().expect("the folder can be read");
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].model.as_ref().ok(), Some(&model));
    let key = game.key().text();
    assert_eq!(store.find(&key[..6]).expect("there is one"), path);
    assert!(matches!(store.find("zz"), Err(StoreError::Key { .. })));

    let mut bytes = std::fs::read(&path).expect("it was written");
    bytes[100] ^= 1;
    std::fs::write(&path, &bytes).expect("the folder is writable");
    let damaged = with("tic-tac-toe");
    assert!(damaged.model().is_none());
    assert!(damaged.notes()[0].contains("its checksum is wrong"), "{:?}", damaged.notes());
    assert!(store.list().expect("the folder can be read")[0].model.is_err());
    ModelStore::remove(&path).expect("it is there");
    assert!(store.list().expect("the folder can be read").is_empty());
}

/// A model under the key of another game is refused.
#[test]
fn foreign_models_are_ignored() {
    let folder = Folder::new("foreign");
    let store = ModelStore::at(&folder.0);
    let model = model(&open("tic-tac-toe"), 64);
    let other = open("connect-four");
    write_model(&store.path(other.key().key), &model).expect("the folder is made");
    let options = OpenOptions { models: Some(store), ..OpenOptions::default() };
    let opened = Game::open_with("connect-four", &options).expect("it ships");
    assert!(opened.model().is_none());
    assert!(opened.notes()[0].contains("another game"), "{:?}", opened.notes());
}

/// Renaming numbers that are not goal values does not change the key.
#[test]
fn numbers_are_names_too() {
    let game = open("tic-tac-toe");
    let mut rng = Rng::seed_from_u64(1);
    let suffix: u32 = rng.random_range(100..1000);
    let rules = game.rules_text();
    let text = agon_game::kif::without_comments(&rules);
    let renamed: Vec<String> = agon_game::kif::tokens(&text)
        .map(|token| match token {
            "1" | "2" | "3" => format!("place{token}x{suffix}"),
            token => token.to_owned(),
        })
        .collect();
    let other = open(&renamed.join(" "));
    assert_eq!(other.key().key, game.key().key);
}

/// A table of a game is found by the same game with other names, and has its values there. A damaged
/// one is ignored with a remark.
#[test]
fn endgame_tables_are_kept_for_disguised_games() {
    use agon_search::solve::{SolveOptions, solve_with_table};
    let folder = Folder::new("endgames");
    let store = ModelStore::at(&folder.0);
    let game = open("connect-three");
    let places = fact_places(&game).expect("it has a circuit");
    let solved =
        solve_with_table(&start(&game), &Budget::default(), &SolveOptions::default(), places);
    let (solution, table) = solved.expect("it is small");
    let table = table.expect("positions do not repeat");
    let n_positions = table.len();
    let (path, n_stored) = store.save_endgames(&game, table).expect("the folder is writable");
    assert_eq!(n_stored, n_positions);

    let other = open(&disguised(&game, 5)).with_models(Some(&store));
    let found = other.endgames().expect("it is the same game");
    assert_eq!(found.len(), n_positions);
    // Roles may have another order there.
    let image = start(&other);
    let names = labels(&other);
    let own = labels(&game);
    let value_of = |role: &str| {
        let labels_of = |names: &BTreeMap<String, u32>, role: &str| names[role];
        let roles = &start(&game).shape().role_names.clone();
        let at = roles.iter().position(|name| own[name] == labels_of(&names, role));
        solution.values[at.expect("the role has a counterpart")]
    };
    let expected: Vec<f64> = image.shape().role_names.iter().map(|name| value_of(name)).collect();
    assert_eq!(found.payoffs::<ScalarCircuit>(image.state()), Some(&expected[..]));

    // Another table is merged into the first one.
    let table = found.as_ref().clone();
    assert_eq!(store.save_endgames(&other, table).expect("as before").1, n_positions);

    let mut bytes = std::fs::read(&path).expect("the file is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).expect("the folder is writable");
    let damaged = open("connect-three").with_models(Some(&store));
    assert!(damaged.endgames().is_none());
    assert!(
        damaged.notes().iter().any(|note| note.contains("is ignored")),
        "{:?}",
        damaged.notes()
    );
}
