//! Exports standings as CSV.

use std::fmt::Write as _;

use agon_match::tournament::{Estimate, Rating, Standings, Tournament};

/// Returns the standings as CSV: for each game and for all games together, one line for each player
/// and one for each pair of players. Points are from 0 to 1. An empty cell means an unknown value.
/// The last column is the provenance, on every line, so that a line that is taken out still has it.
pub(crate) fn to_csv(tournament: &Tournament, standings: &Standings) -> String {
    let mut text = String::from(
        "game,player,opponent,matches,points,points_low,points_high,elo,elo_low,elo_high,\
         mean_goal,wins,draws,losses,slips,broken,provenance\r\n",
    );
    let origin = cell(&crate::provenance::line());
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
                "{},{},{},{},{},{origin}\r\n",
                row.wins, row.draws, row.losses, row.n_errors, row.n_broken
            );
            for (other, points) in table.cross[player].iter().enumerate() {
                if points.is_none() {
                    continue;
                }
                let opponent = cell(&tournament.players[other].name);
                let (points, elo) =
                    (estimate(*points), rating(table.ratings.difference(player, other)));
                let _ = write!(text, "{game},{name},{opponent},,{points},{elo},,,,,,,{origin}\r\n");
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
