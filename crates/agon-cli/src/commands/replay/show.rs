//! `agon replay --show`: steps through a recorded match.

use std::path::Path;

use agon::shipped::Shipped;
use agon_ggp::Record;

use crate::failure::Failure;
use crate::open::{self, PlayOptions};
use crate::outside::Prompt;
use crate::picture;
use crate::terminal::{self, say};
use crate::trace;

/// Shows a recorded match position by position. On a terminal, the person steps through it;
/// otherwise all positions are printed.
pub(super) fn show(
    rules: Option<&str>,
    file: Option<&Path>,
    play: &PlayOptions,
) -> Result<(), Failure> {
    let (rules, path) = match (rules, file) {
        (Some(rules), Some(file)) => (Some(rules.to_owned()), file),
        (Some(file), None) => (None, Path::new(file)),
        (None, _) => return Err(Failure::unreadable("--show needs a recorded match")),
    };
    let shown = path.display();
    let value = trace::read_json(path)?;
    let record = Record::from_json(&value).map_err(|what| {
        Failure::unreadable(format!("cannot read {shown}: not a valid match record: {what}"))
    })?;
    let key = record.game_key().and_then(Shipped::named).map(|game| game.name.to_owned());
    let rules = rules.or(key).ok_or_else(|| {
        Failure::unreadable(format!(
            "{shown} does not name a shipped game; give its rules: agon replay --show RULES {shown}"
        ))
    })?;
    let game = open::open_engine(&rules, play)?;
    let (layout, names) = (game.layout(), &game.shape().role_names);
    picture::show_legend(layout, record.states.first().map_or(&[], Vec::as_slice));
    let mut prompt = Prompt::default();
    let is_asking = terminal::is_interactive();
    let mut at = 0;
    while at < record.states.len() {
        if let Some(joint) = at.checked_sub(1).and_then(|step| record.moves.get(step)) {
            let moves = names.iter().zip(joint).map(|(name, text)| {
                let text = agon_game::kif::first_term(text).unwrap_or_else(|| text.clone());
                format!("{name} {text}")
            });
            say!("\n{} {}", terminal::dim(&format!("{at}.")), moves.collect::<Vec<_>>().join(", "));
        }
        let before = at.checked_sub(1).map(|before| record.states[before].as_slice());
        picture::show(layout, &record.states[at], before);
        if !is_asking {
            at += 1;
            continue;
        }
        let question =
            format!("{at}/{} (enter, b back, number, q quit)> ", record.states.len() - 1);
        match prompt.line(&question, &[]).as_deref().map(str::trim) {
            None | Some("q" | "quit") => break,
            Some("b" | "back") => at = at.saturating_sub(1),
            Some(typed) => match typed.parse::<usize>() {
                Ok(number) if number < record.states.len() => at = number,
                _ if at + 1 < record.states.len() => at += 1,
                _ => break,
            },
        }
    }
    if let Some(goals) = &record.goal_values {
        let goals = names.iter().zip(goals).map(|(name, goal)| format!("{name} {goal}"));
        say!("{}: {}", terminal::bold("result"), goals.collect::<Vec<_>>().join(", "));
    }
    Ok(())
}
