//! What is found out of the games that were opened last, so that matches of one game share it.

use std::sync::{Arc, Mutex, PoisonError};

use agon_analysis::Subject;
use agon_analysis::concepts::read_concepts;
use agon_analysis::goal_formulas::RewritingGame;
use agon_game::Notation as _;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::engine::Opened;
use agon_match::{Spec, concepts_file};
use agon_text::Source;
use agon_translate::to_gdl::{Limits, to_gdl};

use crate::failure::Failure;

/// Games remembered. A tournament has no more under way at the same time.
const MAX_RECENT: usize = 16;

static RECENT: Mutex<Vec<Subject>> = Mutex::new(Vec::new());

/// The game, for those who want to look into its rules: the same for every match of the same opened game.
pub(crate) fn subject_of(opened: &Opened) -> Subject {
    let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    let has_circuit = matches!(opened, Opened::Circuit(..));
    let known = recent.iter().position(|subject| {
        Arc::ptr_eq(subject.game(), opened.game()) && subject.compiled().is_some() == has_circuit
    });
    let subject = match known {
        Some(at) => recent.remove(at),
        None => Subject::of(opened),
    };
    recent.push(subject.clone());
    if recent.len() > MAX_RECENT {
        recent.remove(0);
    }
    subject
}

/// Structure rewriting games that were looked into last, and what they are in GDL, or why they are not.
static TRANSLATED: Mutex<Vec<Translated>> = Mutex::new(Vec::new());

type Translated = (Arc<RewritingGame>, Result<Subject, String>);

/// Circuits larger than this are not made only to look into a game.
const MAX_GATES: usize = 1_000_000;

/// A structure rewriting game as GDL, for players who look into rules of that family. Both tell states in the same words.
///
/// # Errors
/// If it cannot be written so, or its states would be told in other words.
pub(crate) fn subject_of_rewriting(game: &Arc<RewritingGame>) -> Result<Subject, String> {
    let mut recent = TRANSLATED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = recent.iter().find(|(known, _)| Arc::ptr_eq(known, game)) {
        return known.clone();
    }
    let made = translated(game);
    recent.push((Arc::clone(game), made.clone()));
    if recent.len() > MAX_RECENT {
        let _ = recent.remove(0);
    }
    made
}

fn translated(game: &Arc<RewritingGame>) -> Result<Subject, String> {
    let translation = to_gdl(game.arena(), Limits::default()).map_err(|why| why.to_string())?;
    if !translation.tells_states_alike {
        return Err("some of its names mean something else in GDL".to_owned());
    }
    let source = Arc::new(Source::new("translation", translation.text));
    let rules = agon_gdl::check::check(source).rules.ok_or("its translation is not sound")?;
    let other = agon_gdl::interpreter::Game::open(rules, agon_gdl::interpreter::Options::default())
        .map_err(|finding| finding.message)?;
    debug_assert_eq!(
        told(game.start().state_text()),
        told(other.start().state_text()),
        "states are told in the same words"
    );
    let limits = CircuitLimits { gates: MAX_GATES, ..CircuitLimits::default() };
    let compiled = other.compile(&limits).ok().map(Arc::new);
    Ok(Subject::new(other, compiled))
}

/// Reads the concepts that a player wants from a file.
pub(crate) fn bring_concepts(subject: &Subject, spec: &Spec) -> Result<(), Failure> {
    let Some(file) = concepts_file(spec) else { return Ok(()) };
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::unreadable(format!("{}: cannot read {file}: {error}", spec.text))
    })?;
    let concepts = read_concepts(&text).map_err(|line| {
        Failure::wrong(format!(
            "{file}:{line}: this is no concept; one looks like (<= (concept (number ?x0) ?x1) (cell ?x0 ?x1) (cell (+ ?x0 1) ?x1))"
        ))
    })?;
    subject.give_concepts(file, concepts);
    Ok(())
}

/// The texts of a state, whatever their order and capitals.
fn told(texts: Vec<String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.into_iter().map(|text| text.to_lowercase()).collect();
    texts.sort();
    texts
}
