//! Tests of tournaments.

mod specification;
mod statistics;

use agon_text::{Diagnostic, Span, did_you_mean};

use super::EntrantKind;

/// Parses the few specifications of players that these tests use. The real parser is in
/// agon-players.
fn parse_player(text: &str) -> Result<EntrantKind, Box<Diagnostic>> {
    const NAMES: [&str; 5] = ["mcts", "random", "greedy", "uct", "legal"];
    let name = &text[..text.find('(').unwrap_or(text.len())];
    match name {
        "human" => Ok(EntrantKind::Person),
        _ if text.starts_with("cmd:") || text.starts_with("http://") => Ok(EntrantKind::Outside),
        _ if text.contains("(z=") => {
            let span = Span::new(name.len() + 1, name.len() + 2);
            Err(Box::new(Diagnostic::error(
                "player-name",
                span,
                format!("`{name}` has no option `z`"),
            )))
        }
        _ if NAMES.contains(&name) => Ok(EntrantKind::InProcess),
        _ => {
            let span = Span::new(0, name.len());
            let unknown =
                Diagnostic::error("player-name", span, format!("no player is called `{name}`"));
            Err(Box::new(match did_you_mean(name, NAMES) {
                Some(other) => unknown.hint(format!("did you mean `{other}`?")),
                None => unknown,
            }))
        }
    }
}
