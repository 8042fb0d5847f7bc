//! What is found out of the games that were opened last, so that matches of one game share it.

use std::sync::{Arc, Mutex, PoisonError};

use agon_gdl::engine::Opened;
use agon_insight::Subject;
use agon_insight::concepts::read_concepts;
use agon_match::{Spec, concepts_file};

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

/// Reads the concepts that a player wants from a file.
pub(crate) fn bring_concepts(subject: &Subject, spec: &Spec) -> Result<(), Failure> {
    let Some(file) = concepts_file(spec) else { return Ok(()) };
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::unreadable(format!("{}: cannot read {file}: {error}", spec.text)))?;
    let concepts = read_concepts(&text).map_err(|line| {
        Failure::wrong(format!(
            "{file}:{line}: this is no concept; one looks like (<= (concept (number ?x0) ?x1) (cell ?x0 ?x1) (cell (+ ?x0 1) ?x1))"
        ))
    })?;
    subject.give_concepts(file, concepts);
    Ok(())
}
