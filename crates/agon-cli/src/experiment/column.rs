//! Plays a column of an experiment as a tournament of two players.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agon_match::tournament::{Estimate, Outcome, read, standings};

use super::spec::{Column, Experiment, GameLocation};
use crate::failure::Failure;
use crate::terminal::remark;
use crate::tournament::{self, Ended, Plan, RunOptions, Store};

/// The result of one game of a column.
pub(crate) struct Cell {
    /// The name of the game in the paper.
    pub(crate) game: String,
    /// The mean goals of the opponent and of the player.
    pub(crate) goals: [Option<f64>; 2],
    /// The points of the player.
    pub(crate) points: Option<Estimate>,
    /// For each role of the player: the number of wins, losses and draws.
    pub(crate) roles: Vec<(String, [usize; 3])>,
}

/// Plays the remaining matches of a column. Returns `None` if the user has interrupted the run.
pub(crate) fn play_column(
    experiment: &Experiment,
    column: &Column,
    games: &[(String, GameLocation)],
    store: &Path,
    options: &RunOptions,
    is_interrupted: &Arc<AtomicBool>,
) -> Result<Option<Vec<Cell>>, Failure> {
    let text = spec_text(experiment, column, games);
    let tournament = read(&text, &tournament::parse_entrant).map_err(|findings| {
        let first = findings.0.first().map_or_else(String::new, |finding| finding.message.clone());
        Failure::unreadable(format!("the experiment is not valid: {first}"))
    })?;
    let mut store = Store::open(store)?;
    let plan = Arc::new(Plan::new(text, tournament, Path::new("experiment.toml"))?);
    let (mut outcomes, found) = plan.begin(&mut store)?;
    if let Some(found) = found.filter(|_| !options.quiet) {
        remark!("{}: {found}", column.name);
    }
    let ended = tournament::run(&plan, &mut store, &mut outcomes, options, is_interrupted)?;
    if ended == Ended::Interrupted {
        return Ok(None);
    }
    let tables = standings(&plan.tournament, &plan.schedule, &outcomes);
    let stored = store.games()?;
    let mut cells = Vec::new();
    for (at, (game, _)) in games.iter().enumerate() {
        let table = &tables.games[at];
        let names = stored.iter().find(|game| game.name == plan.tournament.games[at]);
        let names = names.map_or_else(Vec::new, |game| game.roles.clone());
        cells.push(Cell {
            game: game.clone(),
            goals: [0, 1].map(|player| table.rows[player].mean_goal),
            points: table.cross[1][0],
            roles: results_by_role(&plan, at, names, &outcomes),
        });
    }
    Ok(Some(cells))
}

/// Returns for each role the wins, losses and draws of the player in that role, in one game.
fn results_by_role(
    plan: &Plan,
    game: usize,
    names: Vec<String>,
    outcomes: &[Option<Outcome>],
) -> Vec<(String, [usize; 3])> {
    let mut roles: Vec<(String, [usize; 3])> =
        names.into_iter().map(|role| (role, [0; 3])).collect();
    for (fixture, outcome) in plan.schedule.fixtures.iter().zip(outcomes) {
        let goals = outcome.as_ref().and_then(|outcome| outcome.goals.as_ref());
        let (Some(goals), true, 2) = (goals, fixture.game == game, fixture.seating.len()) else {
            continue;
        };
        let Some(seat) = fixture.seating.iter().position(|&player| player == 1) else {
            continue;
        };
        let (own, other) = (goals[seat], goals[1 - seat]);
        let result = if own > other { 0 } else { 1 + usize::from(own == other) };
        if let Some((_, counts)) = roles.get_mut(seat) {
            counts[result] += 1;
        }
    }
    roles
}

/// Returns the column as the description of a tournament, with the opponent first. Openings are
/// drawn for each repeat, so they are the same for both seatings of a repeat and for all columns.
fn spec_text(experiment: &Experiment, column: &Column, games: &[(String, GameLocation)]) -> String {
    let quoted = |text: &str| format!("{text:?}");
    let places: Vec<String> = games.iter().map(|(_, place)| quoted(&place.name())).collect();
    let thinking = match (column.iterations.or(experiment.iterations), experiment.play_clock) {
        (Some(iterations), _) => format!("iterations = {iterations}"),
        (None, clock) => {
            let clock = clock.unwrap_or(1.0);
            format!(
                "play_clock = {clock:?}\nstart_clock = {:?}",
                experiment.start_clock.unwrap_or(clock)
            )
        }
    };
    format!(
        "name = {}\nseed = 1\nrepeats = {}\nopenings = {}\n{thinking}\nmax_steps = {}\ngames = \
         [{}]\n[players]\nopponent = {}\nplayer = {}\n",
        quoted(&column.name),
        column.repeats.unwrap_or(experiment.repeats),
        experiment.openings,
        experiment.max_steps,
        places.join(", "),
        quoted(&column.opponent),
        quoted(&column.player),
    )
}
