//! Writes standings as Markdown, LaTeX and SVG, for papers and pages of others.

use std::fmt::Write as _;

use agon_match::tournament::{Standings, Table, Tournament};

use super::plot;
use super::tables::{ranked, rows};

/// Returns the tables in Markdown.
pub(crate) fn to_markdown(tournament: &Tournament, standings: &Standings) -> String {
    let mut text = format!("# {}\n", tournament.name);
    for (title, table) in tables(tournament, standings) {
        let _ = write!(text, "\n## {title}\n\n");
        for (number, row) in rows(tournament, table).iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
            if number == 0 {
                let _ = writeln!(text, "|---|{}", "---:|".repeat(row.len().saturating_sub(1)));
            }
        }
    }
    let _ = write!(text, "\n{}\n", crate::provenance::line());
    text
}

/// Returns the tables in LaTeX, with the package `booktabs`.
pub(crate) fn to_latex(tournament: &Tournament, standings: &Standings) -> String {
    let mut text = format!("% {}\n", crate::provenance::line());
    for (title, table) in tables(tournament, standings) {
        let rows = rows(tournament, table);
        let columns = rows.first().map_or(1, Vec::len);
        let _ = write!(
            text,
            "\\begin{{table}}\n  \\caption{{{}}}\n  \\begin{{tabular}}{{l{}}}\n    \\toprule\n",
            latex(&title),
            "r".repeat(columns.saturating_sub(1))
        );
        for (number, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| latex(cell)).collect();
            let _ = writeln!(text, "    {} \\\\", cells.join(" & "));
            if number == 0 {
                text.push_str("    \\midrule\n");
            }
        }
        text.push_str("    \\bottomrule\n  \\end{tabular}\n\\end{table}\n\n");
    }
    text
}

/// Returns the points by game as a picture that needs no other file.
pub(crate) fn to_svg(tournament: &Tournament, standings: &Standings) -> String {
    let plot = points_plot(tournament, standings);
    let style = "svg { background: #ffffff; font: 12px sans-serif; } .tick { font-size: 11px; } \
                 .grid { stroke: #e3e1dc; } .zero { stroke: #66686e; stroke-dasharray: 3 3; } \
                 .bar { stroke-width: 1.6; } .s0 { fill: #2166ac; stroke: #2166ac; } \
                 .s1 { fill: #c8501e; stroke: #c8501e; } .s2 { fill: #1b8a6b; stroke: #1b8a6b; } \
                 .s3 { fill: #8e4fa8; stroke: #8e4fa8; } .s4 { fill: #9a7400; stroke: #9a7400; } \
                 .s5 { fill: #3a9ad9; stroke: #3a9ad9; } .good { fill: #2166ac; } \
                 .bad { fill: #d6604d; } .empty { fill: #eeeeee; }";
    let about = plot::escape(&crate::provenance::line());
    let head = plot.find('>').map_or(0, |at| at + 1);
    let opening = plot[..head].replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    format!("{opening}<desc>{about}</desc><style>{style}</style>{}", &plot[head..])
}

/// Draws the points by game. Of two players only the first has a series, sorted by effect, because
/// the points of the second are what is missing to one.
pub(super) fn points_plot(tournament: &Tournament, standings: &Standings) -> String {
    let order = match tournament.players.len() {
        2 => vec![0],
        _ => ranked(&standings.overall),
    };
    let names: Vec<String> =
        order.iter().map(|player| tournament.players[*player].name.clone()).collect();
    let mut by_game: Vec<(String, Vec<_>)> = standings
        .games
        .iter()
        .map(|table| {
            let name = table.game.map_or(String::new(), |game| tournament.games[game].clone());
            (name, order.iter().map(|player| table.rows[*player].points).collect())
        })
        .collect();
    if let [_] = order.as_slice() {
        let effect = |game: &(String, Vec<Option<agon_match::tournament::Estimate>>)| {
            game.1[0].map_or(-1.0, |points| points.mean)
        };
        by_game.sort_by(|a, b| effect(b).total_cmp(&effect(a)).then(a.0.cmp(&b.0)));
    }
    if names.len() <= plot::N_SERIES {
        return plot::points_by_game(&names, &by_game);
    }
    let (games, cells): (Vec<String>, Vec<Vec<_>>) = by_game.into_iter().unzip();
    plot::heat_map(&games, &names, &cells, "points of each player in each game")
}

/// Returns the table over all games, if there are several, and the one of each game, with titles.
fn tables<'a>(
    tournament: &'a Tournament,
    standings: &'a Standings,
) -> impl Iterator<Item = (String, &'a Table)> {
    let overall =
        (standings.games.len() > 1).then_some(("All games".to_owned(), &standings.overall));
    let games = standings.games.iter().map(|table| {
        let name = table.game.map_or("", |game| tournament.games[game].as_str());
        (name.to_owned(), table)
    });
    overall.into_iter().chain(games)
}

/// Returns a text escaped for LaTeX.
fn latex(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => safe.extend(['\\', c]),
            '\\' => safe.push_str("\\textbackslash{}"),
            '~' => safe.push_str("\\textasciitilde{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '±' => safe.push_str("$\\pm$"),
            '–' => safe.push_str("--"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::latex;

    #[test]
    fn latex_is_escaped() {
        assert_eq!(latex("a_b 50 % ± 2"), "a\\_b 50 \\% $\\pm$ 2");
        assert_eq!(latex("\\x{}"), "\\textbackslash{}x\\{\\}");
    }
}
