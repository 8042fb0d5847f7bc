//! Standings as JSON.

use agon_match::tournament::{Decision, Estimate, Rating, Standings, Table, Tournament};
use serde_json::{Value, json};

/// Returns standings as one JSON object, with the keys of `agon tournament --json`.
pub fn standings_json(tournament: &Tournament, standings: &Standings) -> Value {
    let sprt = standings.sprt.map(|state| {
        json!({
            "llr": state.llr, "lower": state.lower, "upper": state.upper, "blocks": state.n_blocks,
            "decision": state.decision.map(|decision| match decision {
                Decision::First => "elo0",
                Decision::Second => "elo1",
            }),
        })
    });
    json!({
        "name": tournament.name,
        "seed": tournament.seed,
        "matches": standings.n_matches,
        "played": standings.n_played,
        "is_complete": standings.n_played == standings.n_matches,
        "sprt": sprt,
        "overall": table(tournament, &standings.overall),
        "games": standings.games.iter().map(|game| table(tournament, game)).collect::<Vec<_>>(),
    })
}

fn table(tournament: &Tournament, table: &Table) -> Value {
    let name = |player: usize| tournament.players[player].name.as_str();
    let estimate =
        |e: &Estimate| json!({"mean": e.mean, "low": e.low, "high": e.high, "observations": e.n});
    let rating = |r: &Rating| json!({"elo": r.elo, "low": r.elo - r.half, "high": r.elo + r.half});
    let players = table.rows.iter().enumerate().map(|(player, row)| {
        let against = table.cross[player].iter().enumerate().filter_map(|(other, points)| {
            let mut entry = estimate(points.as_ref()?);
            entry["player"] = json!(name(other));
            entry["elo_difference"] =
                json!(table.ratings.difference(player, other).as_ref().map(rating));
            Some(entry)
        });
        json!({
            "player": name(player),
            "spec": tournament.players[player].player,
            "points": row.points.as_ref().map(estimate),
            "rating": table.ratings.ratings[player].as_ref().map(rating),
            "mean_goal": row.mean_goal,
            "matches": row.n_matches, "broken": row.n_broken,
            "wins": row.wins, "draws": row.draws, "losses": row.losses, "slips": row.n_errors,
            "against": against.collect::<Vec<_>>(),
        })
    });
    json!({
        "game": table.game.map(|game| tournament.games[game].as_str()),
        "ratings_are_bounded": table.ratings.is_bounded,
        "by_seat": table.by_seat,
        "players": players.collect::<Vec<_>>(),
    })
}
