//! Laws for the files that programs write or import, and for texts with formulas: models, networks
//! in ONNX, endgame tables, stylesheets, experiments, parametrised rulesheets, formulas of three
//! languages, concepts and evaluation games.
//!
//! The fuzz targets and `crates/agon/tests/suite/fuzz_smoke.rs` include this file. A broken law
//! panics.
#![allow(dead_code)] // Each target uses one law.

use std::sync::{Arc, LazyLock};

use agon::experiment::{Experiment, Size};
use agon::models::{Model, fact_places, fit, from_onnx, to_onnx};
use agon::open::{EngineChoice, OpenOptions};
use agon::{Game, Rng};
use agon_board::stylesheet::{Stylesheet, StylesheetOptions};
use agon_gdl::params::{Settings, declarations, expand};
use agon_search::solve::Endgames;
use agon_text::Source;
use agon_toss::evaluation::EvaluationGames;
use rand::SeedableRng as _;

/// A small game as a circuit: models, tables and networks belong to it.
static GAME: LazyLock<Game> = LazyLock::new(|| {
    let options = OpenOptions { engine: EngineChoice::Circuit, ..OpenOptions::default() };
    let text = include_str!("../games/gdl/tic-tac-toe.kif");
    Game::from_source(source("tic-tac-toe.kif", text), &options).expect("a shipped game opens")
});

/// A structure rewriting game that has evaluation games.
const EVALUATED: &str = include_str!("../games/toss/tic-tac-toe.toss");

fn source(name: &str, text: &str) -> Arc<Source> {
    Arc::new(Source::new(name, text))
}

/// Checks that a model file is read or refused, and that a model that was read is written and read
/// again as it was. Checksums are corrected, because no damaged file would get past them.
pub(crate) fn model(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), with_checksum(bytes, model_checksum)] {
        let Ok(model) = Model::from_bytes(&bytes) else { continue };
        let written = model.to_bytes();
        let again = Model::from_bytes(&written).expect("a model that was written can be read");
        assert_eq!(again.to_bytes(), written, "writing what was read changes it");
        if let Ok(fitted) = fit(&GAME, &model) {
            let _ = to_onnx(&GAME, &fitted);
        }
    }
}

/// Checks that a network of another program is read or refused, and that one that was read can be
/// stored and read again.
pub(crate) fn onnx(bytes: &[u8]) {
    if let Ok(model) = from_onnx(&GAME, bytes, 0) {
        let again = Model::from_bytes(&model.to_bytes());
        let again = again.expect("an imported model can be read");
        fit(&GAME, &again).expect("an imported model fits its game");
    }
}

/// Checks that an endgame table is read or refused.
pub(crate) fn endgames(bytes: &[u8]) {
    let places = fact_places(&GAME).expect("tic-tac-toe can have a table");
    let key = GAME.key().key;
    for bytes in [bytes.to_vec(), with_checksum(bytes, table_checksum)] {
        if let Ok(table) = Endgames::from_bytes(&bytes, key, places.clone()) {
            let written = table.to_bytes(key);
            let again = Endgames::from_bytes(&written, key, places.clone());
            assert_eq!(again.map(|again| again.len()), Ok(table.len()));
        }
    }
}

/// Returns bytes with the last eight replaced by the checksum of those before.
fn with_checksum(bytes: &[u8], checksum: fn(&[u8]) -> u64) -> Vec<u8> {
    let mut bytes = bytes[..bytes.len().saturating_sub(8)].to_vec();
    bytes.extend(checksum(&bytes).to_le_bytes());
    bytes
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    })
}

/// The checksum of models, as `agon_learn` computes it.
fn model_checksum(bytes: &[u8]) -> u64 {
    words(bytes).fold(bytes.len() as u64 ^ 0x6a09_e667_f3bc_c908, |sum, word| {
        let sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^ sum >> 32
    })
}

/// The checksum of endgame tables, as `agon_search` computes it.
fn table_checksum(bytes: &[u8]) -> u64 {
    words(bytes).fold(bytes.len() as u64, |sum, word| {
        let sum = sum.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
        let product = u128::from(sum ^ word ^ 0xa076_1d64_78bd_642f) * 0xe703_7ed1_a0b4_28db;
        (product >> 64) as u64 ^ product as u64
    })
}

/// Checks that a stylesheet is applied to a state or refused with a text.
pub(crate) fn stylesheet(text: &str) {
    let load = |_: &str| Ok(String::from("<xsl:stylesheet version=\"1.0\"/>"));
    let state: Vec<String> =
        ["( cell 1 1 x )", "( cell 2 1 b )", "( control xplayer )"].map(str::to_owned).to_vec();
    let drawn = Stylesheet::new(text.to_owned(), &load)
        .and_then(|sheet| sheet.draw(&state, &StylesheetOptions::default()));
    match drawn {
        Ok(drawing) => assert!(!drawing.page("title").is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Checks that the definition of an experiment is read or refused with a text.
pub(crate) fn experiment(text: &str) {
    for size in [Size::Quick, Size::Full] {
        if let Err(error) = Experiment::read(text, size) {
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Checks that parameters are expanded or refused, and that an expanded rulesheet has none left.
pub(crate) fn params(text: &str) {
    let sheet = source("sheet.kif", text);
    let (declared, _) = declarations(&sheet);
    let mut settings = vec![Settings::new()];
    settings.extend(declared.first().map(|param| Settings::from([(param.name.clone(), 3)])));
    for settings in settings {
        if let Ok(Some(expanded)) = expand(&sheet, &settings) {
            let again = source("sheet.kif", expanded.source.text());
            assert!(!matches!(expand(&again, &Settings::new()), Ok(Some(_))), "it is plain now");
        }
    }
}

/// Checks that formulas, terms, structures, concepts and sentences about plays are read or refused.
pub(crate) fn formulas(text: &str) {
    let sheet = Source::new("formula", text);
    let _ = agon_toss::read::read_formula(&sheet);
    let _ = agon_toss::read::read_term(&sheet);
    let _ = agon_toss::read::read_structure(&sheet);
    let _ = agon_ggp::Address::parse(text);
    if let Ok(formula) = agon_analysis::temporal::Formula::parse(text) {
        // A conjunction of one part is shown as that part, so texts are compared.
        let shown = formula.to_string();
        let again = agon_analysis::temporal::Formula::parse(&shown);
        assert_eq!(again.map(|again| again.to_string()), Ok(shown), "read as it is shown");
    }
    if let Ok(concepts) = agon_analysis::concepts::read_concepts(text) {
        let file = agon_analysis::concepts::write_concepts(&concepts);
        let again = agon_analysis::concepts::read_concepts(&file);
        assert_eq!(again, Ok(concepts), "concepts are read as they are written");
    }
    if let Ok(concepts) = agon_learn::concepts::Concept::read_all(text) {
        for concept in concepts {
            let shown = concept.to_string();
            let again = agon_learn::concepts::Concept::read_all(&shown);
            assert_eq!(again.map(|again| again.len()), Ok(1), "`{shown}` is read again");
            assert!(!concept.sentence().is_empty());
        }
    }
}

/// Checks that evaluation games open or are refused, and that they assess a move.
pub(crate) fn evaluation(text: &str) {
    let arena = agon_toss::check::check(source("game.toss", EVALUATED)).arena;
    let arena = arena.expect("a shipped game has no errors");
    let options = agon_toss::interpreter::Options::default();
    let game = agon_toss::interpreter::Game::open(arena, options).expect("a shipped game opens");
    let Ok(games) = EvaluationGames::open(&game, &[source("evaluation.toss", text)]) else {
        return;
    };
    let mut rng = Rng::seed_from_u64(text.len() as u64);
    let mut joint = Vec::new();
    let position = game.start();
    agon_game::Position::draw(&position, &mut rng, &mut joint);
    let _ = games.assess(&position, &joint, &mut rng);
}
