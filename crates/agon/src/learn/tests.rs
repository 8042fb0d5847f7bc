use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_learn::Transferred;

use super::*;

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let name = format!("agon-learn-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
        Folder(folder)
    }

    fn model(&self) -> PathBuf {
        self.0.join("game.agon-model")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn options(n_games: u64, threads: usize) -> LearnOptions {
    LearnOptions {
        seconds: None,
        n_games: Some(n_games),
        threads,
        seed: 3,
        from: LearnFrom::Whatever,
        forms: Forms::One(ModelKind::Tables),
        targets: Targets::Differences,
        stop: Arc::default(),
        now: || 1_000_000,
    }
}

/// Learns and returns the numbers of games at the checkpoints, and the result.
fn run(game: &Game, folder: &Folder, options: &LearnOptions) -> (Vec<String>, Learnt) {
    let mut events = Vec::new();
    let learnt = learn(game, &folder.model(), options, &mut |event| {
        events.push(match event {
            LearnEvent::Begun { resumed: None, .. } => "new".to_owned(),
            LearnEvent::Begun { resumed: Some(history), .. } => {
                format!("after {}", history.n_games)
            }
            LearnEvent::Checkpoint { progress, .. } => format!("{}", progress.n_games),
            LearnEvent::Chosen { kind, .. } => kind.name().to_owned(),
            LearnEvent::Warning(text) => text.clone(),
        });
    });
    (events, learnt.expect("the game can be learnt"))
}

/// The bytes of a model without the seconds of learning, which differ from run to run.
fn timeless(folder: &Folder) -> Vec<u8> {
    let mut model = read_model(&folder.model()).expect("it was written");
    model.history.seconds = 0.0;
    model.history.progress.iter_mut().for_each(|progress| progress.seconds = 0.0);
    model.to_bytes()
}

#[test]
fn results_with_one_thread_depend_on_the_seed_alone() {
    let game = Game::open("tic-tac-toe").expect("it ships");
    let folders = [Folder::new("one"), Folder::new("two"), Folder::new("other")];
    let (events, learnt) = run(&game, &folders[0], &options(600, 1));
    // Twelve slices at most: up to 64 games are played side by side, so each may be larger.
    assert!((8..=13).contains(&events.len()), "{events:?}");
    assert!(learnt.history.n_games >= 600 && !learnt.is_interrupted);
    run(&game, &folders[1], &options(600, 1));
    run(&game, &folders[2], &LearnOptions { seed: 4, ..options(600, 1) });
    assert_eq!(timeless(&folders[0]), timeless(&folders[1]));
    assert_ne!(timeless(&folders[0]), timeless(&folders[2]));
}

#[test]
fn learning_is_measured_and_helps() {
    let game = Game::open("breakthrough").expect("it ships");
    let folder = Folder::new("helps");
    let (_, learnt) = run(&game, &folder, &options(1200, 2));
    let elo = learnt.history.elo.expect("it was measured");
    assert!(elo.low > 0.0, "{elo:?}");
    let model = read_model(&folder.model()).expect("it was written");
    assert_eq!(model.history.elo, Some(elo));
    assert_eq!(model.history.key, game.key().key);
    assert!(!model.has_training_state());
    let state = read_model(&training_path(&folder.model())).expect("it was written");
    assert!(state.has_training_state());
}

#[test]
fn learning_goes_on_unless_it_shall_start_afresh() {
    let game = Game::open("tic-tac-toe").expect("it ships");
    let folder = Folder::new("resume");
    let missing = LearnOptions { from: LearnFrom::Saved, ..options(64, 1) };
    let refused = learn(&game, &folder.model(), &missing, &mut |_| {});
    assert!(matches!(refused, Err(LearnError::NothingSaved(_))), "{refused:?}");
    let (_, first) = run(&game, &folder, &options(128, 1));
    let (events, second) = run(&game, &folder, &options(128, 1));
    assert_eq!(events[0], format!("after {}", first.history.n_games));
    assert!(second.history.n_games >= first.history.n_games + 128);
    assert!(second.history.seconds > first.history.seconds);
    assert!(second.history.progress.len() > first.history.progress.len());
    let fresh = LearnOptions { from: LearnFrom::Nothing, ..options(64, 1) };
    let (events, third) = run(&game, &folder, &fresh);
    assert_eq!(events[0], "new");
    assert!(third.history.n_games < second.history.n_games);
}

#[test]
fn damaged_files_are_reported_and_ignored() {
    let game = Game::open("tic-tac-toe").expect("it ships");
    let folder = Folder::new("damaged");
    run(&game, &folder, &options(64, 1));
    let state = training_path(&folder.model());
    let bytes = std::fs::read(&state).expect("it was written");
    std::fs::write(&state, &bytes[..bytes.len() / 2]).expect("the folder is writable");
    let (events, _) = run(&game, &folder, &options(64, 1));
    assert!(events[0].contains("is ignored: it is damaged"), "{events:?}");
    assert!(events[1].starts_with("after "), "the model is still good: {events:?}");
}

#[test]
fn an_interruption_keeps_what_was_learnt() {
    let game = Game::open("tic-tac-toe").expect("it ships");
    let folder = Folder::new("interrupted");
    let stop = Arc::new(AtomicBool::new(false));
    let options = LearnOptions { stop: Arc::clone(&stop), ..options(1_000_000_000, 2) };
    let learnt = learn(
        &game,
        &folder.model(),
        &LearnOptions { seconds: Some(30.0), ..options },
        &mut |event| {
            if matches!(event, LearnEvent::Checkpoint { .. }) {
                stop.store(true, Ordering::Relaxed);
            }
        },
    )
    .expect("the game can be learnt");
    assert!(learnt.is_interrupted);
    assert!(learnt.history.n_games > 0);
    read_model(&folder.model()).expect("the model was written");
    read_model(&training_path(&folder.model())).expect("the state was written");
}

/// Tables and a network learn in turns, a match chooses one of them, and it goes on later.
#[test]
fn two_forms_compete_and_one_learns_on() {
    let game = Game::open("tic-tac-toe").expect("it ships");
    let folder = Folder::new("forms");
    let both = |n_games| LearnOptions { forms: Forms::Both, ..options(n_games, 1) };
    let is_chosen = |event: &&String| ["tables", "network"].contains(&event.as_str());
    // Stopped after two slices: both states are kept.
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = LearnOptions { stop: Arc::clone(&stop), ..both(1200) };
    let mut forms = Vec::new();
    let first = learn(&game, &folder.model(), &stopped, &mut |event| {
        if let LearnEvent::Checkpoint { progress, .. } = event {
            forms.push(progress.kind);
            stop.store(forms.len() == 2, Ordering::Relaxed);
        }
    })
    .expect("the game can be learnt");
    assert_eq!(forms, [ModelKind::Tables, ModelKind::Network]);
    let second_state = second_training_path(&folder.model());
    let kind = |path: &Path| read_model(path).map(|model| model.kind()).expect("it was written");
    assert_eq!(kind(&training_path(&folder.model())), ModelKind::Tables);
    assert_eq!(kind(&second_state), ModelKind::Network);
    // Both go on, and one is chosen.
    let (events, _) = run(&game, &folder, &both(1200));
    assert_eq!(events[0], format!("after {}", first.history.n_games));
    let chosen = events.iter().find(is_chosen).expect("one of them is chosen");
    assert!(!second_state.exists());
    assert_eq!(kind(&training_path(&folder.model())).name(), chosen);
    // A network alone may follow: it has to beat the best model.
    let network = LearnOptions { forms: Forms::One(ModelKind::Network), ..options(64, 1) };
    run(&game, &folder, &network);
    assert_eq!(kind(&training_path(&folder.model())), ModelKind::Network);
}

#[test]
fn games_that_cannot_be_learnt_are_refused() {
    let game = Game::open("kuhn-poker").expect("it ships");
    let folder = Folder::new("refused");
    let refused = learn(&game, &folder.model(), &options(64, 1), &mut |_| {});
    assert!(matches!(refused, Err(LearnError::Cannot(_))), "{refused:?}");
}

/// What was learnt on a small board helps on a larger one before anything is learnt there.
#[test]
fn a_small_board_starts_a_larger_one() {
    let [small, large] = ["reversi-6x6", "othello"].map(|name| Game::open(name).expect("it ships"));
    let folder = Folder::new("transfer");
    run(&small, &folder, &options(2000, 2));
    let model = read_model(&folder.model()).expect("it was written");
    let path = folder.0.join("large.agon-model");
    let plan = TransferOptions { threads: 2, seed: 3, now: || 1_000_000 };
    let report = transfer(&small, &model, &large, &path, &plan).expect("the games are alike");
    let Transferred { n_tables, n_filled } = report.transferred;
    assert!(n_filled * 2 > n_tables, "{n_filled} of {n_tables}");
    assert!(report.elo.low > 0.0, "{:?}", report.elo);
    let other = Game::open("four-way-tron").expect("it ships");
    let refused = transfer(&small, &model, &other, &path, &plan);
    assert!(matches!(refused, Err(TransferError::Games(_))), "{refused:?}");
    let refused = transfer(&large, &model, &small, &path, &plan);
    assert!(matches!(refused, Err(TransferError::Model(_))), "{refused:?}");
    // Learning goes on from there.
    let mut begun = String::new();
    let learnt = learn(&large, &path, &options(64, 2), &mut |event| {
        if let LearnEvent::Begun { resumed, .. } = event {
            begun = format!("{}", resumed.is_some());
        }
    });
    assert!(learnt.is_ok() && begun == "true", "{learnt:?}");
}
