//! Tournaments and their stores: begins, continues and reads them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use agon::models::ModelStore;
use agon::tournament::{PlayedMatch, TournamentError, TournamentPlan, read};
use agon_match::tournament::{Outcome, Schedule, Tournament, schedule};
use agon_text::Source;

use super::store::Store;
use crate::failure::Failure;
use crate::terminal::remark;

impl From<TournamentError> for Failure {
    fn from(error: TournamentError) -> Failure {
        let message = error.render(crate::terminal::colour_on_stderr());
        match error {
            TournamentError::Game { name, error } => {
                let failure = Failure::from(error);
                Failure { message: format!("{name}: {}", failure.message), ..failure }
            }
            TournamentError::NoPlayer { .. } => Failure::wrong(message),
            TournamentError::Setup(error) => Failure::from(error),
            _ => Failure::unreadable(message),
        }
    }
}

/// Reads the description of a tournament. A failure shows all errors with their places.
pub(crate) fn read_spec(path: &Path) -> Result<(Arc<Source>, Tournament), Failure> {
    let shown = path.display().to_string();
    let bytes = agon::files::read(path, agon::open::MAX_BYTES).map_err(|error| {
        Failure::unreadable(format!(
            "cannot read {shown}: {error}; docs/tournaments.md describes the format"
        ))
    })?;
    let source = Source::from_bytes(shown.as_str(), &bytes);
    let folder = path.parent().unwrap_or(Path::new(""));
    let text = agon::selection::resolve_spec(source.text(), folder).map_err(|selection| {
        let tags: Vec<&str> = agon::selection::TAGS.iter().map(|(tag, _)| *tag).collect();
        let tags = tags.join(", ");
        Failure::unreadable(format!("{shown}: `{selection}` selects no game; the tags are {tags}"))
    })?;
    let source = Arc::new(Source::new(shown.as_str(), text));
    let tournament = read(&source)?;
    Ok((source, tournament))
}

/// Opens the games of a tournament and makes the schedule. Paths are relative to `folder`.
pub(crate) fn open_plan(
    source: &Arc<Source>,
    tournament: Tournament,
    folder: &Path,
    models: Option<&ModelStore>,
) -> Result<Arc<TournamentPlan>, Failure> {
    let plan = TournamentPlan::open(source, tournament, folder)?.with_models(models);
    plan.games().iter().flat_map(|game| game.game.notes()).for_each(|note| remark!("{note}"));
    Ok(Arc::new(plan))
}

/// Begins a tournament in a store, or continues the tournament in the store if it is the same.
/// Returns the outcome of each fixture that has been played, and a message for the user if the store
/// was not empty.
pub(crate) fn begin(
    plan: &TournamentPlan,
    store: &mut Store,
) -> Result<(Vec<Option<Outcome>>, Option<String>), Failure> {
    let mut grown = None;
    if let Some(old) = store.spec()? {
        grown = Some(plan.additions(&old, &store.games()?)?);
    }
    store.begin(plan.text(), &plan.stored_games())?;
    let outcomes = by_fixture(plan.schedule(), &store.matches()?);
    let n = outcomes.iter().flatten().count();
    let found = grown.map(|grown| {
        let added = if grown.is_empty() { grown } else { format!("; added: {grown}") };
        format!("continuing: {n} of {} matches are played{added}", outcomes.len())
    });
    Ok((outcomes, found))
}

/// A tournament that was read from its store.
pub(crate) struct Stored {
    pub(crate) tournament: Tournament,
    pub(crate) schedule: Schedule,
    /// The outcome of each fixture that has been played.
    pub(crate) outcomes: Vec<Option<Outcome>>,
    /// The finished matches, in the order in which they ended.
    pub(crate) played: Vec<PlayedMatch>,
}

/// Reads a tournament and its finished matches from a store. The games are not opened.
pub(crate) fn stored(store: &Store) -> Result<Stored, Failure> {
    let text = store.spec()?.ok_or_else(|| Failure::unreadable("the store has no tournament"))?;
    let tournament = read(&Arc::new(Source::new("the tournament in the store", text)))?;
    let games = store.games()?;
    let n_roles: Option<Vec<usize>> = tournament
        .games
        .iter()
        .map(|name| games.iter().find(|game| game.name == *name).map(|game| game.roles.len()))
        .collect();
    let n_roles = n_roles
        .ok_or_else(|| Failure::unreadable("a game of the tournament is missing in the store"))?;
    let schedule =
        schedule(&tournament, &n_roles).map_err(|error| Failure::unreadable(error.to_string()))?;
    let played = store.matches()?;
    let outcomes = by_fixture(&schedule, &played);
    Ok(Stored { tournament, schedule, outcomes, played })
}

/// Returns the outcome of each fixture of a schedule that has been played.
fn by_fixture(schedule: &Schedule, played: &[PlayedMatch]) -> Vec<Option<Outcome>> {
    let by_id: BTreeMap<&str, &Outcome> =
        played.iter().map(|played| (played.id.as_str(), &played.outcome)).collect();
    let outcome = |id: String| by_id.get(id.as_str()).map(|outcome| (*outcome).clone());
    schedule.fixtures.iter().map(|fixture| outcome(fixture.id.to_string())).collect()
}
