//! Exports standings as JSON and CSV.

use std::fmt::Write as _;

use agon_match::tournament::{Decision, Estimate, Rating, Standings, Table, Tournament};
use serde_json::{Value, json};

/// Returns the standings as one JSON object.
pub(crate) fn to_json(tournament: &Tournament, standings: &Standings) -> Value {
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
        "provenance": crate::provenance::line(),
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

/// Returns the standings as CSV: for each game and for all games together, one line for each player
/// and one for each pair of players. Points are from 0 to 1. An empty cell means an unknown value.
pub(crate) fn to_csv(tournament: &Tournament, standings: &Standings) -> String {
    let mut text = String::from(
        "game,player,opponent,matches,points,points_low,points_high,elo,elo_low,elo_high,\
         mean_goal,wins,draws,losses,slips,broken\r\n",
    );
    for table in std::iter::once(&standings.overall).chain(&standings.games) {
        let game = cell(table.game.map_or("", |game| tournament.games[game].as_str()));
        for (player, row) in table.rows.iter().enumerate() {
            let name = cell(&tournament.players[player].name);
            let elo = rating(table.ratings.ratings[player]);
            let points = estimate(row.points);
            let goal = row.mean_goal.map(|goal| goal.to_string()).unwrap_or_default();
            let _ = write!(text, "{game},{name},,{},{points},{elo},{goal},", row.n_matches);
            let _ = write!(
                text,
                "{},{},{},{},{}\r\n",
                row.wins, row.draws, row.losses, row.n_errors, row.n_broken
            );
            for (other, points) in table.cross[player].iter().enumerate() {
                if points.is_none() {
                    continue;
                }
                let opponent = cell(&tournament.players[other].name);
                let (points, elo) =
                    (estimate(*points), rating(table.ratings.difference(player, other)));
                let _ = write!(text, "{game},{name},{opponent},,{points},{elo},,,,,,\r\n");
            }
        }
    }
    text
}

fn estimate(estimate: Option<Estimate>) -> String {
    estimate.map_or(",,".to_owned(), |e| format!("{},{},{}", e.mean, e.low, e.high))
}

fn rating(rating: Option<Rating>) -> String {
    rating.map_or(",,".to_owned(), |r| format!("{},{},{}", r.elo, r.elo - r.half, r.elo + r.half))
}

/// Returns a CSV cell by RFC 4180. A text that a spreadsheet would take for a formula is marked as
/// text.
fn cell(text: &str) -> String {
    let text =
        if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(cell("mcts"), "mcts");
        assert_eq!(cell("mcts(rave,c=0.4)"), "\"mcts(rave,c=0.4)\"");
        assert_eq!(cell("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(cell("=1+1"), "'=1+1");
    }
}
