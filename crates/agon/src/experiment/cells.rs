//! The results of an experiment, beside those of the paper.

use agon_match::tournament::{Estimate, Outcome};
use serde_json::{Value, json};

use super::spec::Column;
use crate::tournament::TournamentPlan;

/// The result of one game of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The name of the game in the paper.
    pub game: String,
    /// The mean goals of the opponent and of the player.
    pub goals: [Option<f64>; 2],
    /// The points of the player.
    pub points: Option<Estimate>,
    /// For each role of the player: the number of wins, losses and draws.
    pub roles: Vec<(String, [usize; 3])>,
}

/// Computes the cells of a column from the outcomes of its tournament, by fixture. `games` are the
/// names of the games in the paper, in the order of the tournament.
pub fn cells(plan: &TournamentPlan, games: &[&str], outcomes: &[Option<Outcome>]) -> Vec<Cell> {
    let tables = plan.standings(outcomes);
    let cell = |(at, game): (usize, &&str)| {
        let table = &tables.games[at];
        Cell {
            game: (*game).to_owned(),
            goals: [0, 1].map(|player: usize| table.rows[player].mean_goal),
            points: table.cross[1][0],
            roles: results_by_role(plan, at, outcomes),
        }
    };
    games.iter().enumerate().map(cell).collect()
}

/// Returns for each role the wins, losses and draws of the player in that role, in one game.
fn results_by_role(
    plan: &TournamentPlan,
    game: usize,
    outcomes: &[Option<Outcome>],
) -> Vec<(String, [usize; 3])> {
    let names = plan.games()[game].role_names();
    let mut roles: Vec<(String, [usize; 3])> =
        names.into_iter().map(|role| (role, [0; 3])).collect();
    for (fixture, outcome) in plan.fixtures().iter().zip(outcomes) {
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

impl Column {
    /// Returns the result of the paper for a game.
    pub fn paper_of(&self, game: &str) -> Option<&str> {
        self.paper.iter().find(|(known, _)| known == game).map(|(_, text)| text.as_str())
    }

    /// Returns the result of the paper for a role, by the beginning of its name or by its place.
    pub fn paper_of_role(&self, game: &str, role: &str, at: usize) -> Option<&str> {
        let place = if at == 0 { "first" } else { "second" };
        let is_it = |known: &str| {
            let rest = known.strip_prefix(game).map(str::trim);
            rest.is_some_and(|rest| rest == place || !rest.is_empty() && role.starts_with(rest))
        };
        self.paper.iter().find(|(known, _)| is_it(known)).map(|(_, text)| text.as_str())
    }

    /// Returns a cell of the column as JSON, with the keys of `agon experiment --json`.
    pub fn cell_json(&self, cell: &Cell) -> Value {
        let points = cell.points.map(|points| {
            json!({"mean": points.mean, "low": points.low, "high": points.high,
                "blocks": points.n})
        });
        let roles = cell.roles.iter().enumerate().map(|(at, (role, [won, lost, drawn]))| {
            let paper = self.paper_of_role(&cell.game, role, at);
            json!({"role": role, "won": won, "lost": lost, "drawn": drawn, "paper": paper})
        });
        json!({
            "column": self.name, "opponent": self.opponent, "player": self.player,
            "game": cell.game,
            "goals": cell.goals, "points": points, "roles": roles.collect::<Vec<Value>>(),
            "paper": self.paper_of(&cell.game),
        })
    }
}
