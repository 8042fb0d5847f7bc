//! Shows a match while it is played: as text for people, or as JSON lines for programs.

use std::path::Path;
use std::time::Duration;

use agon_game::{Role, Shape};
use agon_match::{Choice, Ending, Event, Match, PlayerError, Step, Thought};
use serde_json::{Map, Value, json};

use crate::failure::{Failure, describe};
use crate::hosted_match::HostedMatch;
use crate::picture;
use crate::terminal::{self, say};

/// Shows the events of a match.
pub(crate) trait MatchReporter {
    /// Shows an event. `game` is the match up to and including the event.
    fn report(&mut self, game: &Match, event: Event<'_>);
}

/// Whether the whole position is shown after each step.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Positions {
    /// Positions and moves are shown.
    Shown,
    /// Only the end is shown. For a person at the same terminal who plays a game with hidden
    /// information.
    Secret,
}

/// Whether the reports of the players are shown.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Thoughts {
    /// The value, the best moves and the expected line are shown.
    Shown,
    /// Only moves are shown, and no moves of roles that wait.
    Hidden,
}

/// Shows a match as text for people.
pub(crate) struct TextReporter<'a> {
    hosted: &'a HostedMatch,
    shape: &'a Shape,
    positions: Positions,
    shown_thoughts: Thoughts,
    /// The reports of the players on the current step.
    thoughts: Vec<(Role, String)>,
}

impl<'a> TextReporter<'a> {
    /// Prints the players and the legend of the board.
    pub(crate) fn new(
        hosted: &'a HostedMatch,
        shape: &'a Shape,
        positions: Positions,
    ) -> TextReporter<'a> {
        let players: Vec<String> = shape
            .players()
            .map(|role| {
                format!("{} {}", shape.role_names[role.index()], hosted.setup.player_name(role))
            })
            .collect();
        say!("{}: {}", terminal::bold(hosted.setup.game.name()), players.join(", "));
        if let Some(layout) = hosted.layout.as_ref().filter(|_| positions == Positions::Shown) {
            picture::show_legend(layout, &hosted.setup.game.table().state());
        }
        let shown_thoughts = Thoughts::Shown;
        TextReporter { hosted, shape, positions, shown_thoughts, thoughts: Vec::new() }
    }

    /// Returns the reporter with the choice whether reports of players are shown.
    #[must_use]
    pub(crate) fn with_thoughts(mut self, thoughts: Thoughts) -> TextReporter<'a> {
        self.shown_thoughts = thoughts;
        self
    }

    fn name(&self, role: Role) -> &str {
        &self.shape.role_names[role.index()]
    }

    fn show_step(&mut self, game: &Match, step: &Step) {
        // Players answer in any order; they are shown in the order of the roles.
        let mut thoughts = std::mem::take(&mut self.thoughts);
        thoughts.sort();
        if self.positions == Positions::Secret {
            return;
        }
        let number = game.steps().len();
        let is_quiet = self.shown_thoughts == Thoughts::Hidden;
        if is_quiet {
            thoughts.clear();
        }
        let all_wait = step.joint.iter().all(|text| text == "noop");
        let is_shown = |role: &Role| !is_quiet || all_wait || step.joint[role.index()] != "noop";
        let moves = self.shape.roles().filter(is_shown).map(|role| {
            format!("{} {}", self.name(role), terminal::bold(&step.joint[role.index()]))
        });
        say!("\n{} {}", terminal::dim(&format!("{number}.")), moves.collect::<Vec<_>>().join(", "));
        for role in self.shape.roles() {
            if let Some(error) = &step.errors[role.index()] {
                let name = self.name(role);
                let text = format!("{name}: {error}; another move was played instead");
                say!("  {}", terminal::red(&text));
            }
        }
        for (role, text) in thoughts {
            say!("  {}", terminal::dim(&format!("{}: {text}", self.name(role))));
        }
        let states = game.states();
        if let Some(layout) = &self.hosted.layout {
            picture::show(layout, &states[number], Some(&states[number - 1]));
        }
    }

    fn show_end(&self, game: &Match) {
        say!("");
        let n_steps = game.steps().len();
        let word = if n_steps == 1 { "step" } else { "steps" };
        match game.ending() {
            Some(Ending::Finished(payoffs)) => {
                let result = self
                    .shape
                    .players()
                    .map(|role| format!("{} {}", self.name(role), payoffs[role.index()]));
                say!(
                    "{} after {n_steps} {word}: {}",
                    terminal::bold("result"),
                    result.collect::<Vec<_>>().join(", ")
                );
            }
            Some(Ending::Stopped(role)) => {
                say!("stopped by {} after {n_steps} {word}", self.name(*role));
            }
            Some(Ending::Fault(_) | Ending::TooLong | Ending::Aborted) | None => {}
        }
        for role in self.shape.players() {
            let errors = game.steps().iter().filter_map(|step| step.errors[role.index()].as_ref());
            let n_errors = errors
                .filter(|error| **error != agon_match::MoveError::NoMove(PlayerError::Stop))
                .count();
            if n_errors > 0 {
                let name = self.name(role);
                say!("{}", terminal::red(&format!("{n_errors} moves of {name} were substituted")));
            }
        }
    }
}

impl MatchReporter for TextReporter<'_> {
    fn report(&mut self, game: &Match, event: Event<'_>) {
        match event {
            Event::Ready(role, Some(error)) => {
                let text = format!("{} is not ready: {error}", self.name(role));
                say!("{}", terminal::red(&text));
            }
            Event::Ready(_, None) => {}
            Event::Overdue(role) => {
                let text = "did not answer in time: its best move so far is played".to_owned();
                self.thoughts.push((role, text));
            }
            Event::Chosen(role, Ok(Choice { thought: Some(thought), .. }), took) => {
                self.thoughts.extend(thought_text(thought, took).map(|text| (role, text)));
            }
            Event::Chosen(_, Ok(Choice { thought: None, .. }) | Err(_), _) => {}
            Event::Step(step) => self.show_step(game, step),
            Event::Over => self.show_end(game),
        }
    }
}

/// Returns the report of a player as one line, or `None` if the report is empty.
fn thought_text(thought: &Thought, took: Duration) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(value) = thought.value {
        let proved = if thought.is_proven { " for certain" } else { "" };
        parts.push(format!("expects {value:.1}{proved}"));
    }
    let considered = thought.considered.iter().take(3).map(|c| {
        let proved = if c.is_proven { "!" } else { "" };
        format!("{} {:.1}{proved} ({})", c.text, c.value, c.visits)
    });
    let considered: Vec<String> = considered.collect();
    if !considered.is_empty() {
        parts.push(considered.join(", "));
    }
    if let Some(joints) =
        thought.line.get(..thought.line.len().min(4)).filter(|line| !line.is_empty())
    {
        let line: Vec<String> = joints.iter().map(|joint| joint.join(" ")).collect();
        parts.push(format!("then {}", line.join(" | ")));
    }
    if parts.is_empty() {
        return None;
    }
    if thought.nodes > 0 {
        parts.push(format!("{} positions to depth {}", thought.nodes, thought.depth));
    }
    if let Some(rate) = thought.playouts_per_second() {
        parts.push(format!("{} playouts, {rate:.0}/s", thought.playouts));
    }
    // The reason is part of the JSON output; a line for people names the method only.
    if let Some(name) = thought.method.as_ref().and_then(|method| method.split(':').next()) {
        parts.push(format!("by {name}"));
    }
    parts.push(format!("{:.2} s", took.as_secs_f64()));
    Some(parts.join("; "))
}

/// Shows a match as JSON lines for programs.
pub(crate) struct JsonReporter<'a> {
    shape: &'a Shape,
    /// Whether times are part of the output. Without them, equal matches have equal texts.
    has_times: bool,
    thoughts: Map<String, Value>,
}

impl<'a> JsonReporter<'a> {
    /// Prints the line of type `start`.
    pub(crate) fn new(hosted: &HostedMatch, shape: &'a Shape) -> JsonReporter<'a> {
        let players: Vec<Value> = shape
            .players()
            .map(|role| {
                let name = &shape.role_names[role.index()];
                json!({"role": name, "player": hosted.setup.player_name(role)})
            })
            .collect();
        let has_times = hosted.setup.limits.iterations.is_none();
        let mut start = json!({
            "type": "start", "game": hosted.setup.game.name(), "roles": shape.role_names,
            "players": players,
            "seed": hosted.setup.limits.seed, "engine": hosted.setup.game.engine().name(),
            "state": hosted.setup.game.table().state(),
        });
        match hosted.setup.limits.iterations {
            Some(n) => start["iterations"] = json!(n),
            None => {
                start["match"] = json!(hosted.setup.id);
                start["start_clock"] = json!(hosted.setup.limits.start_clock);
                start["play_clock"] = json!(hosted.setup.limits.play_clock);
            }
        }
        say!("{start}");
        JsonReporter { shape, has_times, thoughts: Map::new() }
    }
}

impl JsonReporter<'_> {
    fn errors<'e>(&self, errors: impl Iterator<Item = (Role, &'e dyn std::fmt::Display)>) -> Value {
        let named = errors.map(|(role, what)| (self.name(role), json!(what.to_string())));
        Value::Object(named.collect())
    }

    fn name(&self, role: Role) -> String {
        self.shape.role_names[role.index()].clone()
    }

    fn add_thought(&mut self, role: Role, choice: Result<&Choice, &PlayerError>, took: Duration) {
        let earlier = self.thoughts.remove(&self.name(role)).unwrap_or(json!({}));
        let reported = choice.ok().and_then(|choice| choice.thought.as_ref());
        let mut thought = reported.map_or(earlier, Thought::to_json);
        if self.has_times {
            thought["seconds"] = json!(took.as_secs_f64());
            if let Some(rate) = reported.and_then(Thought::playouts_per_second) {
                thought["playouts_per_s"] = json!(rate.round());
            }
        }
        if thought.as_object().is_some_and(|fields| !fields.is_empty()) {
            self.thoughts.insert(self.name(role), thought);
        }
    }

    fn show_step(&mut self, game: &Match, step: &Step) {
        let errors = self.shape.roles().filter_map(|role| {
            let error = step.errors[role.index()].as_ref()?;
            Some((role, error as &dyn std::fmt::Display))
        });
        let errors = self.errors(errors);
        // Players answer in any order; they are shown in the order of the roles.
        let mut reports = std::mem::take(&mut self.thoughts);
        let names = self.shape.role_names.iter();
        let thoughts: Map<String, Value> =
            names.filter_map(|name| Some((name.clone(), reports.remove(name)?))).collect();
        let line = json!({
            "type": "step", "step": game.steps().len(), "moves": step.joint, "errors": errors,
            "thoughts": thoughts, "state": game.states().last(),
        });
        say!("{line}");
    }

    fn show_end(&self, game: &Match) {
        let (ending, goals) = match game.ending() {
            Some(Ending::Finished(payoffs)) => ("finished", json!(payoffs)),
            Some(Ending::Fault(_)) => ("fault", Value::Null),
            Some(Ending::TooLong) => ("too_long", Value::Null),
            Some(Ending::Aborted) => ("aborted", Value::Null),
            Some(Ending::Stopped(_)) | None => ("stopped", Value::Null),
        };
        let line = json!({
            "type": "result", "ending": ending, "steps": game.steps().len(), "goals": goals,
            "errors": n_move_errors(game),
        });
        say!("{line}");
    }
}

impl MatchReporter for JsonReporter<'_> {
    fn report(&mut self, game: &Match, event: Event<'_>) {
        match event {
            Event::Ready(role, Some(error)) => {
                let errors = self.errors([(role, error as &dyn std::fmt::Display)].into_iter());
                say!("{}", json!({"type": "not_ready", "errors": errors}));
            }
            Event::Ready(_, None) => {}
            Event::Overdue(role) => {
                self.thoughts.insert(self.name(role), json!({"overdue": true}));
            }
            Event::Chosen(role, choice, took) => self.add_thought(role, choice, took),
            Event::Step(step) => self.show_step(game, step),
            Event::Over => self.show_end(game),
        }
    }
}

/// Returns for each role the number of moves that were played in its place.
pub(crate) fn n_move_errors(game: &Match) -> Vec<usize> {
    game.shape()
        .roles()
        .map(|role| game.steps().iter().filter(|step| step.errors[role.index()].is_some()).count())
        .collect()
}

/// Writes the record of a match to a file, in the JSON format of ggp.org.
///
/// A match is not lost if the file cannot be written: the record then goes to the folder for
/// temporary files, and the failure names it.
pub(crate) fn write_record(hosted: &HostedMatch, game: &Match, path: &Path) -> Result<(), Failure> {
    keep_text(path, &format!("{}\n", hosted.record(game).to_json()), &hosted.setup.id)
}

/// Writes a text to a file, or under another name that the failure tells.
pub(crate) fn keep_text(path: &Path, text: &str, id: &str) -> Result<(), Failure> {
    let Err(error) = std::fs::write(path, text) else { return Ok(()) };
    let failure = Failure::cannot_write(path, &error);
    let kept = std::env::temp_dir().join(format!("{id}.json"));
    match std::fs::write(&kept, text) {
        Ok(()) => Err(Failure {
            message: format!("{}; the record is kept in {}", failure.message, kept.display()),
            ..failure
        }),
        Err(_) => Err(failure),
    }
}

/// Checks before a match that its record can be written, because a long match must not be played in
/// vain.
pub(crate) fn check_record_path(path: &Path) -> Result<(), Failure> {
    let existed = path.exists();
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
    opened.map_err(|error| Failure::cannot_write(path, &error))?;
    if !existed {
        // Only a test: the file comes with the match.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

/// Returns the result of a command that played one match: a failure if the match has no result.
pub(crate) fn end(game: &Match) -> Result<(), Failure> {
    match game.ending() {
        Some(Ending::Fault(fault)) => {
            let why = describe(fault, game.shape());
            Err(Failure::wrong(format!("the match cannot continue: {why}")))
        }
        Some(Ending::TooLong) => Err(Failure::wrong(format!(
            "the match was aborted at the limit of {} steps",
            game.steps().len()
        ))),
        Some(Ending::Aborted) => Err(Failure::wrong("the match was aborted")),
        Some(Ending::Finished(_) | Ending::Stopped(_)) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_cannot_be_written_is_kept_elsewhere() {
        let id = format!("agon.kept.{}", std::process::id());
        let failure = keep_text(Path::new("/no/such/folder/x.json"), "text", &id)
            .expect_err("the folder does not exist");
        let kept = std::env::temp_dir().join(format!("{id}.json"));
        assert!(failure.message.contains(&kept.display().to_string()), "{}", failure.message);
        assert_eq!(std::fs::read_to_string(&kept).ok().as_deref(), Some("text"));
        std::fs::remove_file(kept).expect("the file was just read");
    }
}
