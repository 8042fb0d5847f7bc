//! Writes standings as Markdown, LaTeX and SVG, for papers and pages of others.

use std::fmt::Write as _;

use agon_match::tournament::{Schedule, Standings, Tournament};

use super::plot::{self, Frame, Plot, WIDE};
use super::tables::{by_seat, cross, notes, ranked, rows};

/// Returns the tables in Markdown.
pub(crate) fn to_markdown(
    tournament: &Tournament,
    schedule: &Schedule,
    standings: &Standings,
) -> String {
    let origin = crate::provenance::line();
    let mut text = format!("# {}\n", markdown(&tournament.name));
    for section in sections(tournament, standings) {
        let _ = write!(text, "\n## {}\n\n", markdown(&section.title));
        for (number, row) in section.rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| markdown(cell)).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
            if number == 0 {
                let others = if section.is_text { "---|" } else { "---:|" };
                let _ = writeln!(text, "|---|{}", others.repeat(row.len().saturating_sub(1)));
            }
        }
        for note in &section.notes {
            let _ = write!(text, "\n{}\n", markdown(note));
        }
        let _ = write!(text, "\n{}\n", markdown(&origin));
    }
    for note in notes(tournament, schedule, standings) {
        let _ = write!(text, "\n{}\n", markdown(&note));
    }
    text
}

/// Returns the tables in LaTeX, with the package `booktabs`.
pub(crate) fn to_latex(
    tournament: &Tournament,
    schedule: &Schedule,
    standings: &Standings,
) -> String {
    let origin = crate::provenance::line();
    let mut text = format!("% {origin}\n");
    for note in notes(tournament, schedule, standings) {
        let _ = writeln!(text, "% {note}");
    }
    for section in sections(tournament, standings) {
        let others = section.rows.first().map_or(0, Vec::len).saturating_sub(1);
        // Eleven columns fit the page of an article only in small print with narrow gaps.
        let columns = if section.is_text { "p{.7\\textwidth}" } else { "r" }.repeat(others);
        let _ = write!(
            text,
            "\\begin{{table}}\n  \\centering\\footnotesize\\setlength{{\\tabcolsep}}{{4pt}}\n  \
             \\caption{{{}}}\n  \\begin{{tabular}}{{l{columns}}}\n    \\toprule\n",
            latex(&section.title),
        );
        for (number, row) in section.rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| latex(cell)).collect();
            let _ = writeln!(text, "    {} \\\\", cells.join(" & "));
            if number == 0 {
                text.push_str("    \\midrule\n");
            }
        }
        text.push_str("    \\bottomrule\n  \\end{tabular}\n");
        for note in section.notes.iter().chain([&origin]) {
            let _ = writeln!(text, "  \\par\\smallskip {}", latex(note));
        }
        text.push_str("\\end{table}\n\n");
    }
    text
}

/// Returns the points by game as a picture that needs no other file.
pub(crate) fn to_svg(tournament: &Tournament, standings: &Standings) -> String {
    let style = "svg { background: #ffffff; font: 12px sans-serif; } .tick { font-size: 11px; } \
                 .small { font-size: 9px; fill: #66686e; } \
                 .grid { stroke: #e3e1dc; } .zero { stroke: #66686e; stroke-dasharray: 3 3; } \
                 .bar { stroke-width: 1.6; } .s0 { fill: #2166ac; stroke: #2166ac; } \
                 .s1 { fill: #c8501e; stroke: #c8501e; } .s2 { fill: #1b8a6b; stroke: #1b8a6b; } \
                 .s3 { fill: #8e4fa8; stroke: #8e4fa8; } .s4 { fill: #9a7400; stroke: #9a7400; } \
                 .s5 { fill: #3a9ad9; stroke: #3a9ad9; } .good { fill: #2166ac; } \
                 .bad { fill: #d6604d; } .empty { fill: #eeeeee; }";
    points_plot(WIDE, tournament, standings).into_file(style, &crate::provenance::line())
}

/// Draws the points by game. Of two players only the first has a series, sorted by effect, because
/// the points of the second are what is missing to one.
pub(super) fn points_plot(frame: Frame, tournament: &Tournament, standings: &Standings) -> Plot {
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
        return plot::points_by_game(frame, &names, &by_game);
    }
    let (games, cells): (Vec<String>, Vec<Vec<_>>) = by_game.into_iter().unzip();
    plot::heat_map(frame, &games, &names, &cells, "points of each player in each game")
}

/// A table of a document.
struct Section {
    title: String,
    /// A row of titles, then the others. The first column has names.
    rows: Vec<Vec<String>>,
    /// Whether the other columns are text rather than numbers.
    is_text: bool,
    /// Sentences below the table.
    notes: Vec<String>,
}

/// Returns the tables: who the players are, all games, the players against each other, each game.
fn sections(tournament: &Tournament, standings: &Standings) -> Vec<Section> {
    let mut players = vec![vec![String::new(), "player".to_owned()]];
    players.extend(tournament.players.iter().map(|p| vec![p.name.clone(), p.player.clone()]));
    let section = |title: &str, rows| Section {
        title: title.to_owned(),
        rows,
        is_text: false,
        notes: Vec::new(),
    };
    let mut sections = vec![Section { is_text: true, ..section("Players", players) }];
    if standings.games.len() > 1 {
        sections.push(section("All games", rows(tournament, &standings.overall)));
    }
    if tournament.players.len() > 2 {
        let title = "Against each other, points in percent over all games";
        sections.push(section(title, cross(tournament, &standings.overall)));
    }
    for table in &standings.games {
        let name = table.game.map_or("", |game| tournament.games[game].as_str());
        let notes = by_seat(table).into_iter().collect();
        sections.push(Section { notes, ..section(name, rows(tournament, table)) });
    }
    sections
}

/// Returns a text escaped for Markdown. Line ends would end a row of a table.
fn markdown(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '\\' | '|' | '*' | '_' | '`' | '<' | '[' => safe.extend(['\\', c]),
            '\n' | '\r' => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
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
            // Two hyphens in a row, as in the options of a command, would become a dash.
            '-' if safe.ends_with('-') => safe.push_str("{}-"),
            '·' => safe.push_str("$\\cdot$"),
            '\n' | '\r' => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::{latex, markdown};

    #[test]
    fn markdown_is_escaped() {
        assert_eq!(markdown("a_b|*c*"), "a\\_b\\|\\*c\\*");
        assert_eq!(markdown("two\nlines <b>"), "two lines \\<b>");
    }

    #[test]
    fn latex_is_escaped() {
        assert_eq!(latex("a_b 50 % ± 2"), "a\\_b 50 \\% $\\pm$ 2");
        assert_eq!(latex("\\x{}"), "\\textbackslash{}x\\{\\}");
        assert_eq!(latex("--store a-b 3–4"), "-{}-store a-b 3--4");
    }
}
