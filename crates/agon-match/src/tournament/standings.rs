//! Who leads, game by game and overall.

use std::collections::BTreeMap;

use super::meeting::mean_of;
use super::{
    EloGame, Estimate, Meeting, Outcome, Ratings, Schedule, SprtState, Tournament, meetings, rate,
};

/// All tables of a tournament.
#[derive(Clone, Debug)]
pub struct Standings {
    /// All games together.
    pub overall: Table,
    /// By game.
    pub games: Vec<Table>,
    /// How far the test has come, if there is one.
    pub sprt: Option<SprtState>,
    /// Matches played, to an end or not.
    pub n_played: usize,
    /// Matches to be played.
    pub n_matches: usize,
}

/// The players in one game, or in all.
#[derive(Clone, Debug)]
pub struct Table {
    /// The game; none: all of them.
    pub game: Option<usize>,
    /// By player.
    pub rows: Vec<Row>,
    /// By player and player: the points of the first against the second.
    pub cross: Vec<Vec<Option<Estimate>>>,
    /// How strong they are.
    pub ratings: Ratings,
    /// The steps of the matches that came to an end.
    pub n_steps: Vec<usize>,
}

/// What a player has done.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Row {
    /// Matches it sat in.
    pub n_matches: usize,
    /// Of these, how many came to no end.
    pub n_broken: usize,
    /// Points against all others, every game counting the same.
    pub points: Option<Estimate>,
    /// What it got by the rules, on average.
    pub mean_goal: Option<f64>,
    /// Comparisons with others in which it got more.
    pub wins: usize,
    /// In which both got the same.
    pub draws: usize,
    /// In which it got less.
    pub losses: usize,
    /// Moves of it that were late, illegal or missing.
    pub slips: usize,
}

/// The tables, from what came of the matches so far, by fixture.
pub fn standings(
    tournament: &Tournament,
    schedule: &Schedule,
    outcomes: &[Option<Outcome>],
) -> Standings {
    let met = meetings(schedule, outcomes);
    let n_players = tournament.players.len();
    let games: Vec<Table> = (0..tournament.games.len())
        .map(|game| {
            let of_game: Vec<&Meeting> =
                met.iter().map(|(_, m)| m).filter(|m| m.game == game).collect();
            table(Some(game), n_players, schedule, outcomes, &of_game)
        })
        .collect();
    let all: Vec<&Meeting> = met.iter().map(|(_, meeting)| meeting).collect();
    let mut overall = table(None, n_players, schedule, outcomes, &all);
    // A game with more seatings has more matches, and is still one game.
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

/// How far the test has come, if there is one.
pub fn sprt_state(
    tournament: &Tournament,
    schedule: &Schedule,
    outcomes: &[Option<Outcome>],
) -> Option<SprtState> {
    let sprt = tournament.sprt?;
    // In the order of the schedule and without a gap: whichever match ends first, the same is decided.
    let is_settled = |at: &usize| outcomes.get(*at).is_some_and(Option::is_some);
    let settled =
        schedule.blocks.iter().take_while(|block| block.matches.iter().all(is_settled)).count();
    let met = meetings(schedule, outcomes);
    Some(sprt.run(
        met.iter().filter(|(at, m)| *at < settled && m.is_whole).map(|(_, meeting)| meeting.mean()),
    ))
}

fn table(
    game: Option<usize>,
    n_players: usize,
    schedule: &Schedule,
    outcomes: &[Option<Outcome>],
    met: &[&Meeting],
) -> Table {
    let mut rows = vec![Row::default(); n_players];
    let mut goals = vec![(0.0, 0_usize); n_players];
    let mut n_steps = Vec::new();
    let played = schedule
        .fixtures
        .iter()
        .zip(outcomes)
        .filter(|(f, _)| game.is_none_or(|game| f.game == game));
    for (fixture, outcome) in played {
        let Some(outcome) = outcome else { continue };
        let mut seated = fixture.seating.clone();
        seated.sort_unstable();
        seated.dedup();
        for player in seated {
            let row = &mut rows[player];
            row.n_matches += 1;
            row.n_broken += usize::from(outcome.goals.is_none());
            let own =
                fixture.seating.iter().zip(&outcome.slips).filter(|(seat, _)| **seat == player);
            row.slips += own.map(|(_, n)| n).sum::<usize>();
            if let Some(paid) = &outcome.goals {
                goals[player].0 += mean_of(paid, &fixture.seating, player);
                goals[player].1 += 1;
            }
        }
        if outcome.goals.is_some() {
            n_steps.push(outcome.n_steps);
        }
    }
    // By player, and by player and opponent: the points of each cluster.
    let mut own: Vec<BTreeMap<usize, Vec<f64>>> = vec![BTreeMap::new(); n_players];
    let mut against: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); n_players]; n_players];
    let mut rated = Vec::new();
    for meeting in met {
        let [a, b] = meeting.players;
        for &points in &meeting.points {
            rated.push(EloGame { players: [a, b], points, cluster: meeting.cluster });
            for (player, points) in [(a, points), (b, 1.0 - points)] {
                let row = &mut rows[player];
                row.wins += usize::from(points > 0.5);
                row.draws += usize::from(points == 0.5);
                row.losses += usize::from(points < 0.5);
            }
        }
        own[a].entry(meeting.cluster).or_default().push(meeting.mean());
        own[b].entry(meeting.cluster).or_default().push(1.0 - meeting.mean());
        against[a][b].push(meeting.mean());
        against[b][a].push(1.0 - meeting.mean());
    }
    for (player, row) in rows.iter_mut().enumerate() {
        let means: Vec<f64> = own[player]
            .values()
            .map(|points| points.iter().sum::<f64>() / points.len() as f64)
            .collect();
        row.points = Estimate::of(&means);
        let (sum, n) = goals[player];
        row.mean_goal = (n > 0).then(|| sum / n as f64);
    }
    let cross =
        against.iter().map(|row| row.iter().map(|points| Estimate::of(points)).collect()).collect();
    Table { game, rows, cross, ratings: rate(n_players, &rated), n_steps }
}
