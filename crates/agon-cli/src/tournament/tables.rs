//! Prints standings as text tables.

use agon_match::tournament::{
    Decision, Entrant, Estimate, Schedule, Standings, Table, Thinking, Tournament,
};

use crate::terminal::{self, say};

/// Prints all tables.
pub(crate) fn show(tournament: &Tournament, schedule: &Schedule, standings: &Standings) {
    let Standings { n_played, n_matches, .. } = *standings;
    say!(
        "{}: {n_played} of {n_matches} matches, {}, {} openings, seed {}",
        terminal::bold(&tournament.name),
        thinking(tournament),
        match tournament.openings {
            0 => "no".to_owned(),
            n => format!("{n}-move"),
        },
        tournament.seed
    );
    if standings.games.len() > 1 {
        say!("");
        say!("{}", terminal::bold("all games"));
        print(&rows(tournament, &standings.overall));
    }
    for table in &standings.games {
        let game = table.game.map_or("", |game| tournament.games[game].as_str());
        say!("");
        say!("{}{}", terminal::bold(game), terminal::dim(&lengths(table)));
        print(&rows(tournament, table));
        if let Some(seats) = by_seat(table) {
            say!("  {}", terminal::dim(&seats));
        }
    }
    if tournament.players.len() > 2 {
        say!("");
        say!("{} {}", terminal::bold("against each other"), terminal::dim("(points %, all games)"));
        print(&cross(tournament, &standings.overall));
    }
    let notes = notes(tournament, schedule, standings);
    if !notes.is_empty() {
        say!("");
        notes.iter().for_each(|note| say!("{note}"));
    }
    say!("");
    say!("{}", terminal::dim(&crate::provenance::line()));
}

/// Describes the mean goal of each seat, which shows whether a role is better than another.
pub(super) fn by_seat(table: &Table) -> Option<String> {
    if table.by_seat.len() < 2 {
        return None;
    }
    let seats = table.by_seat.iter().enumerate();
    let seats: Vec<String> =
        seats.map(|(seat, goal)| format!("seat {} {goal:.1}", seat + 1)).collect();
    Some(format!("mean goal by seat: {}", seats.join(", ")))
}

/// Returns the thinking time or iterations in words.
pub(super) fn thinking(tournament: &Tournament) -> String {
    let Thinking { iterations, start_clock, play_clock, .. } = tournament.thinking;
    let is_own = |player: &Entrant| !player.is_outside;
    match iterations {
        Some(n) if tournament.players.iter().all(is_own) => format!("{n} iterations a move"),
        Some(n) => format!("{n} iterations a move, external players {play_clock} s"),
        None => format!("{play_clock} s a move, {start_clock} s before the first"),
    }
}

/// Returns remarks on the standings, as sentences.
pub(super) fn notes(
    tournament: &Tournament,
    schedule: &Schedule,
    standings: &Standings,
) -> Vec<String> {
    let mut notes = Vec::new();
    if let [first, second] = &tournament.players[..] {
        if let Some(apart) = standings.overall.ratings.difference(0, 1) {
            let (first, second) = (&first.name, &second.name);
            notes.push(format!(
                "{first} against {second}: {:+.0} Elo ± {:.0} (95 %)",
                apart.elo, apart.half
            ));
        }
        if let (Some(state), Some(sprt)) = (&standings.sprt, &tournament.sprt) {
            let verdict = match state.decision {
                None => "undecided".to_owned(),
                Some(Decision::First) => {
                    format!("{} is not stronger by {} Elo", first.name, sprt.elo1)
                }
                Some(Decision::Second) => {
                    format!("{} is stronger by more than {} Elo", first.name, sprt.elo0)
                }
            };
            notes.push(format!(
                "sequential test of {} against {} Elo: {verdict} after {} blocks of {} (LLR {:.2} \
                 of {:.2} to {:.2}, alpha {}, beta {})",
                sprt.elo0,
                sprt.elo1,
                state.n_blocks,
                schedule.blocks.len(),
                state.llr,
                state.lower,
                state.upper,
                sprt.alpha,
                sprt.beta
            ));
        }
    }
    if standings.games.iter().chain([&standings.overall]).any(|table| !table.ratings.is_bounded) {
        notes.push(
            "* A player has won or lost all its matches, so Elo differences are lower bounds, \
             computed with one draw added for each pair that met."
                .to_owned(),
        );
    }
    let broken: usize = standings.overall.rows.iter().map(|row| row.n_broken).sum();
    if broken > 0 {
        notes.push(
            "Matches without a result are not counted; `show --matches` lists them.".to_owned(),
        );
    }
    notes
}

fn lengths(table: &Table) -> String {
    let mut steps = table.n_steps.clone();
    steps.sort_unstable();
    match (steps.first(), steps.get(steps.len() / 2), steps.last()) {
        (Some(low), Some(middle), Some(high)) => {
            format!("  {low} to {high} steps, median {middle}")
        }
        _ => String::new(),
    }
}

/// Returns the players by rank: the best first, players without a match last.
pub(super) fn ranked(table: &Table) -> Vec<usize> {
    let mut order: Vec<usize> = (0..table.rows.len()).collect();
    let points = |player: usize| table.rows[player].points.map_or(-1.0, |points| points.mean);
    order.sort_by(|a, b| points(*b).total_cmp(&points(*a)).then(a.cmp(b)));
    order
}

/// Returns the table of one game or of all games: a row of titles, then a row for each player.
pub(super) fn rows(tournament: &Tournament, table: &Table) -> Vec<Vec<String>> {
    let head =
        ["", "points %", "95 %", "Elo", "±", "goal", "matches", "won", "drawn", "lost", "errors"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    elo_title(table).clone_into(&mut rows[0][3]);
    let has_broken = table.rows.iter().any(|row| row.n_broken > 0);
    if has_broken {
        rows[0].push("no result".to_owned());
    }
    for player in ranked(table) {
        let row = &table.rows[player];
        let rating = table.ratings.ratings[player];
        let mut cells = vec![
            tournament.players[player].name.clone(),
            row.points.map_or("-".to_owned(), |points| percent(points.mean)),
            row.points.map_or(String::new(), |points| interval(&points)),
            rating.map_or("-".to_owned(), |rating| elo(rating.elo)),
            rating.map_or(String::new(), |rating| format!("{:.0}", rating.half)),
            row.mean_goal.map_or("-".to_owned(), |goal| format!("{goal:.1}")),
            row.n_matches.to_string(),
            row.wins.to_string(),
            row.draws.to_string(),
            row.losses.to_string(),
            row.n_errors.to_string(),
        ];
        if has_broken {
            cells.push(row.n_broken.to_string());
        }
        rows.push(cells);
    }
    rows
}

/// Returns the title of the Elo column, marked if ratings are only bounds.
pub(super) fn elo_title(table: &Table) -> &'static str {
    if table.ratings.is_bounded { "Elo" } else { "Elo*" }
}

/// Returns a rating as a whole number with its sign. A rating that rounds to 0 has none.
pub(super) fn elo(elo: f64) -> String {
    match elo.round() == 0.0 {
        true => "0".to_owned(),
        false => format!("{elo:+.0}"),
    }
}

/// Returns the points of each player against each other: a row of titles, then one for each.
pub(super) fn cross(tournament: &Tournament, table: &Table) -> Vec<Vec<String>> {
    let order = ranked(table);
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(order.iter().map(|player| tournament.players[*player].name.clone()));
    for &player in &order {
        let mut cells = vec![tournament.players[player].name.clone()];
        cells.extend(order.iter().map(|other| match table.cross[player][*other] {
            Some(points) => format!("{} ± {}", percent(points.mean), percent(points.half())),
            None => "·".to_owned(),
        }));
        rows.push(cells);
    }
    rows
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

pub(super) fn interval(points: &Estimate) -> String {
    format!("{}–{}", percent(points.low), percent(points.high))
}

/// Prints a table: the first column aligned to the left, the others to the right.
fn print(rows: &[Vec<String>]) {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let space = " ".repeat(width - cell.chars().count());
            if column == 0 { format!("  {cell}{space}") } else { format!("  {space}{cell}") }
        });
        let line = cells.collect::<String>();
        let line = line.trim_end();
        if number == 0 { say!("{}", terminal::dim(line)) } else { say!("{line}") }
    }
}

#[cfg(test)]
mod tests {
    use super::elo;

    #[test]
    fn ratings_have_a_sign_unless_they_are_zero() {
        assert_eq!([elo(12.4), elo(-3.6), elo(-0.2), elo(0.0)], ["+12", "-4", "0", "0"]);
    }
}
