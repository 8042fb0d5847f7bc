//! Tables of a tournament, for each game and overall.

use std::collections::BTreeMap;

use super::block_result::{BlockResult, block_results, mean_of};
use super::{EloGame, Estimate, Outcome, Ratings, Schedule, SprtState, Tournament, rate};

/// All tables of a tournament.
#[derive(Clone, Debug)]
pub struct Standings {
    /// The table over all games.
    pub overall: Table,
    /// By game: its table.
    pub games: Vec<Table>,
    /// The state of the sequential test, if there is one.
    pub sprt: Option<SprtState>,
    /// Number of matches played, including aborted ones.
    pub n_played: usize,
    /// Number of scheduled matches.
    pub n_matches: usize,
}

/// The results of all players in one game, or in all games.
#[derive(Clone, Debug)]
pub struct Table {
    /// Index of the game; `None` for all games.
    pub game: Option<usize>,
    /// By player: its results.
    pub rows: Vec<Row>,
    /// By player and opponent: the points of the player against the opponent.
    pub cross: Vec<Vec<Option<Estimate>>>,
    /// The Elo ratings.
    pub ratings: Ratings,
    /// By match that was played to its end: the number of its steps.
    pub n_steps: Vec<usize>,
    /// By seat, which is a role with a player: the mean goal of whoever has it. Empty for all games
    /// together, because games have different roles.
    pub by_seat: Vec<f64>,
}

/// The results of a player.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Row {
    /// Number of matches of the player.
    pub n_matches: usize,
    /// Number of these that were not played to their end.
    pub n_broken: usize,
    /// Points against all others, with equal weights for all games.
    pub points: Option<Estimate>,
    /// Mean goal value.
    pub mean_goal: Option<f64>,
    /// Number of comparisons with another player in which this one has the higher goal value.
    pub wins: usize,
    /// Number of comparisons with equal goal values.
    pub draws: usize,
    /// Number of comparisons in which the other player has the higher goal value.
    pub losses: usize,
    /// Number of moves that were late, illegal or missing.
    pub n_errors: usize,
}

/// Computes the tables from the outcomes so far. `outcomes` is by fixture.
pub fn standings(
    tournament: &Tournament,
    schedule: &Schedule,
    outcomes: &[Option<Outcome>],
) -> Standings {
    let results = block_results(schedule, outcomes);
    let n_players = tournament.players.len();
    let games: Vec<Table> = (0..tournament.games.len())
        .map(|game| {
            let of_game: Vec<&BlockResult> =
                results.iter().map(|(_, result)| result).filter(|r| r.game == game).collect();
            table(Some(game), n_players, schedule, outcomes, &of_game)
        })
        .collect();
    let all: Vec<&BlockResult> = results.iter().map(|(_, result)| result).collect();
    let mut overall = table(None, n_players, schedule, outcomes, &all);
    // All games have equal weights, also those with more seatings and therefore more matches.
    for player in 0..n_players {
        let parts: Vec<Estimate> =
            games.iter().filter_map(|table| table.rows[player].points).collect();
        overall.rows[player].points = Estimate::of_means(&parts);
        for other in 0..n_players {
            let parts: Vec<Estimate> =
                games.iter().filter_map(|table| table.cross[player][other]).collect();
            overall.cross[player][other] = Estimate::of_means(&parts);
        }
    }
    let sprt = sprt_state(tournament, schedule, outcomes);
    Standings {
        overall,
        games,
        sprt,
        n_played: outcomes.iter().flatten().count(),
        n_matches: schedule.fixtures.len(),
    }
}

/// Returns the state of the sequential test, or `None` if the tournament has none.
pub fn sprt_state(
    tournament: &Tournament,
    schedule: &Schedule,
    outcomes: &[Option<Outcome>],
) -> Option<SprtState> {
    let sprt = tournament.sprt?;
    // Blocks are counted in the order of the schedule up to the first gap, so that the decision
    // does not depend on which match ends first.
    let is_played = |at: &usize| outcomes.get(*at).is_some_and(Option::is_some);
    let n_complete =
        schedule.blocks.iter().take_while(|block| block.matches.iter().all(is_played)).count();
    let results = block_results(schedule, outcomes);
    let counted = results.iter().filter(|(at, result)| *at < n_complete && result.is_whole);
    Some(sprt.run(counted.map(|(_, result)| result.mean())))
}

/// Computes the table of one game, or of all games.
fn table(
    game: Option<usize>,
    n_players: usize,
    schedule: &Schedule,
    outcomes: &[Option<Outcome>],
    results: &[&BlockResult],
) -> Table {
    let mut rows = vec![Row::default(); n_players];
    let n_steps = count_matches(&mut rows, game, schedule, outcomes);
    // By player and cluster, and by player and opponent: the mean points of each block.
    let mut own: Vec<BTreeMap<usize, Vec<f64>>> = vec![BTreeMap::new(); n_players];
    let mut against: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); n_players]; n_players];
    let mut rated = Vec::new();
    for result in results {
        let [a, b] = result.players;
        for &points in &result.points {
            rated.push(EloGame { players: [a, b], points, cluster: result.cluster });
            for (player, points) in [(a, points), (b, 1.0 - points)] {
                let row = &mut rows[player];
                row.wins += usize::from(points > 0.5);
                row.draws += usize::from(points == 0.5);
                row.losses += usize::from(points < 0.5);
            }
        }
        own[a].entry(result.cluster).or_default().push(result.mean());
        own[b].entry(result.cluster).or_default().push(1.0 - result.mean());
        against[a][b].push(result.mean());
        against[b][a].push(1.0 - result.mean());
    }
    for (row, clusters) in rows.iter_mut().zip(&own) {
        let means: Vec<f64> = clusters
            .values()
            .map(|points| points.iter().sum::<f64>() / points.len() as f64)
            .collect();
        row.points = Estimate::of(&means);
    }
    let cross =
        against.iter().map(|row| row.iter().map(|points| Estimate::of(points)).collect()).collect();
    let by_seat = game.map_or(Vec::new(), |game| by_seat(game, schedule, outcomes));
    Table { game, rows, cross, ratings: rate(n_players, &rated), n_steps, by_seat }
}

/// Returns the mean goal of each seat of a game.
fn by_seat(game: usize, schedule: &Schedule, outcomes: &[Option<Outcome>]) -> Vec<f64> {
    let mut sums: Vec<f64> = Vec::new();
    let mut n_matches = 0;
    for (fixture, outcome) in schedule.fixtures.iter().zip(outcomes) {
        let goals = outcome.as_ref().and_then(|outcome| outcome.goals.as_ref());
        let Some(goals) = goals.filter(|_| fixture.game == game) else { continue };
        sums.resize(goals.len().max(sums.len()), 0.0);
        sums.iter_mut().zip(goals).for_each(|(sum, goal)| *sum += goal);
        n_matches += 1;
    }
    sums.iter().map(|sum| sum / f64::from(n_matches.max(1_u32))).collect()
}

/// Fills the columns of a table that count matches. Returns the number of steps of each match that
/// was played to its end.
fn count_matches(
    rows: &mut [Row],
    game: Option<usize>,
    schedule: &Schedule,
    outcomes: &[Option<Outcome>],
) -> Vec<usize> {
    let mut goals = vec![(0.0, 0_usize); rows.len()];
    let mut n_steps = Vec::new();
    let fixtures = schedule.fixtures.iter().zip(outcomes);
    for (fixture, outcome) in fixtures.filter(|(f, _)| game.is_none_or(|game| f.game == game)) {
        let Some(outcome) = outcome else { continue };
        let mut seated = fixture.seating.clone();
        seated.sort_unstable();
        seated.dedup();
        for player in seated {
            let row = &mut rows[player];
            row.n_matches += 1;
            row.n_broken += usize::from(outcome.goals.is_none());
            let own =
                fixture.seating.iter().zip(&outcome.n_errors).filter(|(seat, _)| **seat == player);
            row.n_errors += own.map(|(_, n)| n).sum::<usize>();
            if let Some(paid) = &outcome.goals {
                goals[player].0 += mean_of(paid, &fixture.seating, player);
                goals[player].1 += 1;
            }
        }
        if outcome.goals.is_some() {
            n_steps.push(outcome.n_steps);
        }
    }
    for (row, (sum, n)) in rows.iter_mut().zip(goals) {
        row.mean_goal = (n > 0).then(|| sum / n as f64);
    }
    n_steps
}
