//! Writes a tournament as one HTML page with tables and plots. The page needs no other files.

use std::fmt::Write as _;

use agon::tournament::PlayedMatch;
use agon_match::tournament::{Schedule, Standings, Table, Tournament};

use super::documents::points_plot;
use super::plot::{self, escape};
use super::tables::{by_seat, elo, elo_title, interval, notes, percent, ranked, thinking};

const STYLE: &str = include_str!("page.css");

/// Maximum number of matches listed in the section on problems.
const MAX_LISTED: usize = 200;

/// Returns the page as HTML.
pub(crate) fn page(
    tournament: &Tournament,
    schedule: &Schedule,
    standings: &Standings,
    played: &[PlayedMatch],
) -> String {
    let title = escape(&tournament.name);
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n"
    );
    head(&mut text, tournament, schedule, standings);
    section(&mut text, "Players", "", &players(tournament));
    overall_sections(&mut text, tournament, standings);
    game_sections(&mut text, tournament, standings);
    problems(&mut text, played);
    text.push_str(
        "<p class=\"soft\">Points: one half plus half the difference of the goals, so that 100 to \
         0 is one point. Players meet in every seating with the same seed and opening; such a \
         block counts as one observation. Errors are moves that were late, illegal or missing, and \
         were replaced by random moves.</p>\n",
    );
    let origin = escape(&crate::provenance::line());
    let _ = write!(text, "<p class=\"soft\">{origin}</p>\n</main>\n</body>\n</html>\n");
    text
}

/// Writes the tables and plots over all games.
fn overall_sections(text: &mut String, tournament: &Tournament, standings: &Standings) {
    let all = &standings.overall;
    let order = ranked(all);
    let names: Vec<String> =
        order.iter().map(|player| tournament.players[*player].name.clone()).collect();
    section(
        text,
        "Standings",
        "Every game counts the same. Elo is 0 on average.",
        &standing(tournament, all),
    );
    let rated: Vec<_> = order
        .iter()
        .zip(&names)
        .map(|(player, name)| (name.clone(), all.ratings.ratings[*player]))
        .collect();
    section(
        text,
        "Elo",
        "With 95 % intervals, all games.",
        &plot::both(|frame| plot::ratings(frame, &rated)),
    );
    if names.len() > 2 {
        let cells: Vec<Vec<_>> = order
            .iter()
            .map(|row| order.iter().map(|column| all.cross[*row][*column]).collect())
            .collect();
        let label = "points of each player against each other";
        let map = plot::both(|frame| plot::heat_map(frame, &names, &names, &cells, label));
        section(
            text,
            "Against each other",
            "Points of the row against the column, in percent, all games.",
            &map,
        );
    }
}

/// Writes the tables and plots by game.
fn game_sections(text: &mut String, tournament: &Tournament, standings: &Standings) {
    let game_name =
        |table: &Table| table.game.map_or(String::new(), |game| tournament.games[game].clone());
    let plot = plot::both(|frame| points_plot(frame, tournament, standings));
    let about = match &tournament.players[..] {
        [first, second] => {
            let (first, second) = (escape(&first.name), escape(&second.name));
            format!(
                "Points of {first} against {second}, with 95 % intervals, sorted by effect. The \
                 points of {second} are the rest."
            )
        }
        _ => "Against all others, with 95 % intervals.".to_owned(),
    };
    section(text, "Points by game", &about, &plot);
    let seats: String = standings
        .games
        .iter()
        .filter_map(|table| Some((game_name(table), by_seat(table)?)))
        .map(|(game, seats)| format!("<p>{}: {}</p>\n", escape(&game), escape(&seats)))
        .collect();
    if !seats.is_empty() {
        let about = "The mean goal of the players in the seat: it shows whether a role is better.";
        section(text, "By seat", about, &seats);
    }
    let lengths: Vec<_> =
        standings.games.iter().map(|table| (game_name(table), table.n_steps.clone())).collect();
    let about = "Steps from the shortest to the longest match. The box is the middle half, the \
                 line is the median.";
    section(text, "Length of matches", about, &plot::both(|frame| plot::lengths(frame, &lengths)));
    if standings.games.len() > 1 {
        let mut tables = String::new();
        for table in &standings.games {
            let name = escape(&game_name(table));
            let _ = write!(
                tables,
                "<details><summary>{name}</summary>\n{}</details>\n",
                standing(tournament, table)
            );
        }
        section(text, "Game by game", "", &tables);
    }
}

fn head(text: &mut String, tournament: &Tournament, schedule: &Schedule, standings: &Standings) {
    let openings = match tournament.openings {
        0 => "no given openings".to_owned(),
        1 => "openings of one random move".to_owned(),
        n => format!("openings of {n} random moves"),
    };
    let _ = writeln!(
        text,
        "<p class=\"soft\">{} of {} matches · {} games · {} players · {} · {openings} · seed \
         {}</p>",
        standings.n_played,
        standings.n_matches,
        tournament.games.len(),
        tournament.players.len(),
        escape(&thinking(tournament)),
        tournament.seed
    );
    for note in notes(tournament, schedule, standings) {
        let _ = writeln!(text, "<p>{}</p>", escape(&note));
    }
}

fn section(text: &mut String, title: &str, about: &str, body: &str) {
    let about =
        if about.is_empty() { String::new() } else { format!("<p class=\"soft\">{about}</p>\n") };
    let _ = write!(text, "<section>\n<h2>{title}</h2>\n{about}{body}</section>\n");
}

fn standing(tournament: &Tournament, table: &Table) -> String {
    let mut text = String::from("<table class=\"standing\">\n");
    let head = [
        "player", "points %", "95 %", "Elo", "±", "goal", "matches", "won", "drawn", "lost",
        "errors",
    ];
    let mut head = head.map(str::to_owned);
    elo_title(table).clone_into(&mut head[3]);
    row(&mut text, "th", &head);
    for player in ranked(table) {
        let entry = &table.rows[player];
        let rating = table.ratings.ratings[player];
        let cells = [
            tournament.players[player].name.clone(),
            entry.points.map_or("–".to_owned(), |points| percent(points.mean)),
            entry.points.map_or(String::new(), |points| interval(&points)),
            rating.map_or("–".to_owned(), |rating| elo(rating.elo)),
            rating.map_or(String::new(), |rating| format!("{:.0}", rating.half)),
            entry.mean_goal.map_or("–".to_owned(), |goal| format!("{goal:.1}")),
            entry.n_matches.to_string(),
            entry.wins.to_string(),
            entry.draws.to_string(),
            entry.losses.to_string(),
            entry.n_errors.to_string(),
        ];
        row(&mut text, "td", &cells);
    }
    text.push_str("</table>\n");
    text
}

fn row(text: &mut String, tag: &str, cells: &[String]) {
    text.push_str("<tr>");
    for cell in cells {
        let _ = write!(text, "<{tag}>{}</{tag}>", escape(cell));
    }
    text.push_str("</tr>\n");
}

/// Writes the section on matches that were not finished or in which a move was substituted.
fn problems(text: &mut String, played: &[PlayedMatch]) {
    let has_problem =
        |p: &&PlayedMatch| p.outcome.goals.is_none() || p.outcome.n_errors.iter().any(|n| *n > 0);
    let all: Vec<&PlayedMatch> = played.iter().filter(has_problem).collect();
    if all.is_empty() {
        return;
    }
    let mut table = String::from("<table>\n");
    row(
        &mut table,
        "th",
        &["match", "game", "players", "ended", "errors", "steps"].map(str::to_owned),
    );
    for played in all.iter().take(MAX_LISTED) {
        let errors: Vec<String> = played.outcome.n_errors.iter().map(usize::to_string).collect();
        let cells = [
            played.id.clone(),
            played.game.clone(),
            played.players.join(", "),
            played.status.clone(),
            errors.join(", "),
            played.outcome.n_steps.to_string(),
        ];
        row(&mut table, "td", &cells);
    }
    table.push_str("</table>\n");
    let about = format!(
        "In {} of {} matches there was no result, or a player did not send a legal move in time.",
        all.len(),
        played.len()
    );
    let more = if all.len() > MAX_LISTED {
        format!(" The first {MAX_LISTED} are listed.")
    } else {
        String::new()
    };
    section(text, "Problems", &format!("{about}{more}"), &table);
}

fn players(tournament: &Tournament) -> String {
    let mut text = String::from("<table>\n");
    for player in &tournament.players {
        let (name, spec) = (escape(&player.name), escape(&player.player));
        let _ = writeln!(text, "<tr><td>{name}</td><td><code>{spec}</code></td></tr>");
    }
    text.push_str("</table>\n");
    text
}
