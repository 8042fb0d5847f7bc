//! A person at the terminal.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use agon::{Game, Position};
use agon_board::Layout;
use agon_game::{Family, Observation, Role};
use agon_match::{Choice, Player, PlayerError, View};
use agon_search::Budget;

use crate::commands::why;
use crate::outside::prompt::Prompt;
use crate::picture;
use crate::terminal::{self, say};

/// The terminal, shared by all people who play at it.
#[derive(Default)]
pub(crate) struct Console {
    /// Set when a person has asked to stop the match.
    stop_request: Mutex<Option<StopRequest>>,
    /// Held while a person is asked for a move. With simultaneous moves, several people are asked
    /// in one step. It keeps what was typed before.
    prompt: Mutex<Prompt>,
}

/// Why a person asked to stop the match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StopRequest {
    /// To write the record of the match so far to a file, and to go on.
    Save(PathBuf),
    /// To take back the last move.
    Undo,
    /// To end the match.
    Quit,
}

impl Console {
    /// Returns the request to stop the match, if there is one, and clears it.
    pub(crate) fn take_stop_request(&self) -> Option<StopRequest> {
        self.stop_request.lock().expect("nothing panics while it holds the lock").take()
    }

    fn request_stop(&self, request: StopRequest) {
        *self.stop_request.lock().expect("nothing panics while it holds the lock") = Some(request);
    }
}

/// A person who plays a role.
pub(crate) struct Human {
    role: Role,
    role_name: String,
    view: Box<dyn View>,
    layout: Option<Arc<Layout>>,
    console: Arc<Console>,
    last: Option<Observation>,
    /// The position that the person sees, for advice. `None` in a game with hidden information.
    position: Option<Position>,
    /// Whether the board has been shown. After the first step, the reporter of the match shows it.
    has_shown: bool,
}

const HELP: &str = "\
Type the number of a move, or the move itself. Parentheses may be left out, and the beginning of a
move is enough if no other move begins like that. On a board, places are enough: e2e4.
  moves     list the legal moves         board     show the board
  hint      a move that is good          eval      what the position is worth
  why MOVE  why a move is legal or not   history   the moves so far
  save FILE write a record of the match  undo      take back your last move
  quit      end the match";

/// The commands at the prompt, for completion.
const COMMANDS: [&str; 10] =
    ["moves", "board", "hint", "eval", "why ", "history", "save ", "undo", "quit", "help"];

/// Maximum number of moves that are listed without the command `moves`.
const MAX_LISTED: usize = 30;

/// Seconds for which the computer thinks about a hint.
const HINT_SECONDS: f64 = 2.0;

impl Human {
    pub(crate) fn new(
        game: &Game,
        role: Role,
        view: Box<dyn View>,
        layout: Option<Arc<Layout>>,
        console: Arc<Console>,
    ) -> Human {
        let role_name = game.shape().role_names[role.index()].clone();
        let position = (!game.shape().hidden).then(|| game.start());
        Human { role, role_name, view, layout, console, last: None, position, has_shown: false }
    }

    /// Suggests a move, or says what the position is worth.
    fn advise(&self, is_move_shown: bool) {
        let Some(position) = &self.position else {
            return say!("There is no advice in games with hidden information.");
        };
        // The player that compares moves without time to prepare. Both kinds of advice come from it,
        // so that they do not contradict each other.
        let game = position.game();
        let Ok(mut player) = game.player(game.analyst()) else { return };
        let spinner = terminal::spinner("thinking");
        let report = player.think_as(self.role, position, agon::Budget::seconds(HINT_SECONDS));
        spinner.finish_and_clear();
        if let Some(error) = report.error {
            return say!("no advice: {error}");
        }
        // The moves of those who do more than wait.
        let only = |joint: &Vec<String>| {
            let moves = joint.iter().filter(|text| *text != "noop");
            moves.map(String::as_str).collect::<Vec<_>>().join(" ")
        };
        let certain = if report.is_proven { " for certain" } else { "" };
        let value = format!("{} expects {:.0}{certain}", self.role_name, report.value);
        if is_move_shown {
            say!("{}: {value}", terminal::bold(&report.best_move));
        } else {
            say!("{value}");
            for considered in report.considered.iter().take(5) {
                let rest: Vec<String> = considered.line.iter().skip(1).take(4).map(only).collect();
                let certain = if considered.is_proven { " for certain" } else { "" };
                let line = if rest.is_empty() {
                    String::new()
                } else {
                    format!(", then {}", rest.join(" "))
                };
                say!("  {:5.1}{certain}  {}{line}", considered.value, considered.text);
            }
        }
    }

    fn show_history(&self) {
        let Some(position) = &self.position else {
            return say!("The moves of the others are hidden in this game.");
        };
        for (number, joint) in position.history().enumerate() {
            let names = &position.shape().role_names;
            let moves = names.iter().zip(joint).filter(|(_, text)| *text != "noop");
            let moves: Vec<String> = moves.map(|(name, text)| format!("{name} {text}")).collect();
            say!("{:>4}. {}", number + 1, moves.join(", "));
        }
    }

    /// Explains why a move is legal or not.
    fn explain(&self, typed: &str, legal: &[String]) {
        let Some(position) = &self.position else {
            return say!("There is no explanation in games with hidden information.");
        };
        let exact = pick(legal, &self.aliases(legal), typed).ok();
        let text = match exact {
            Some(text) => text.clone(),
            None if typed.starts_with('(') || !typed.contains(' ') => typed.to_owned(),
            None => format!("({typed})"),
        };
        let moves: Vec<String> = position.history().map(|joint| joint.join(" ")).collect();
        let game = position.game();
        let sentence = match game.gdl() {
            Some(_) => format!("(legal {} {text})", self.role_name),
            None => text,
        };
        if let Err(failure) = why::print(game.name(), &sentence, &moves.join(" ")) {
            say!("{failure}");
        }
    }

    /// Returns for each legal move the names of its places, as in `e2e4`.
    fn aliases(&self, legal: &[String]) -> Vec<String> {
        let (Some(layout), Some(state)) = (&self.layout, self.view.state()) else {
            return vec![String::new(); legal.len()];
        };
        let scene = layout.scene(&state);
        let name = |id: &String| scene.place(id).map(|place| place.name.replace(' ', ""));
        let alias = |target: &agon_board::MoveTarget| {
            let places: Option<String> = target
                .steps
                .iter()
                .map(|step| if let [id] = step.as_slice() { name(id) } else { None })
                .collect();
            places.unwrap_or_default() + &target.choice.to_lowercase().replace(' ', "")
        };
        layout.targets(legal).iter().map(alias).collect()
    }

    fn show_board(&self) {
        match self.view.state() {
            Some(state) => match &self.layout {
                Some(layout) => picture::show(layout, &state, None),
                None => say!("{}", state.join(" ")),
            },
            None => match &self.last {
                None => say!("This game has hidden information. You have perceived nothing yet."),
                Some(observation) if observation.seen.is_empty() => {
                    say!("You played {} and perceived nothing.", observation.own);
                }
                Some(observation) => say!(
                    "You played {} and perceived {}.",
                    observation.own,
                    observation.seen.join(", ")
                ),
            },
        }
    }

    fn show_moves(legal: &[String], at_most: usize) {
        let width = legal.iter().take(at_most).map(|m| m.chars().count()).max().unwrap_or(0) + 6;
        let per_line = (100 / width).max(1);
        for (index, line) in legal[..legal.len().min(at_most)].chunks(per_line).enumerate() {
            let first = index * per_line + 1;
            let texts = line.iter().enumerate().map(|(i, m)| format!("{:>4} {m}", first + i));
            let padded: Vec<String> = texts.map(|text| format!("{text:width$}")).collect();
            say!("{}", padded.concat().trim_end());
        }
        if legal.len() > at_most {
            say!("     and {} more: `moves` lists them all", legal.len() - at_most);
        }
    }
}

impl Human {
    /// Shows moves with real parameters: each family once, with the intervals of its parameters.
    fn show_families(families: &[Family], example: Option<&String>) {
        for family in families {
            let parameters: Vec<String> = family
                .parameters
                .iter()
                .map(|p| format!("{} from {} to {}", p.name, p.low, p.high))
                .collect();
            say!("     {}  {}", family.text, parameters.join(", "));
        }
        if let Some(example) = example {
            say!("Type a move with its numbers, such as {example}; `moves` lists a sample.");
        }
    }
}

impl Player for Human {
    fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, _: &Budget) -> Result<Choice, PlayerError> {
        let console = Arc::clone(&self.console);
        let mut prompt = console.prompt.lock().expect("nothing panics while it holds the lock");
        let legal = self.view.legal_moves();
        let chosen = |text: &String| Ok(Choice { text: text.clone(), thought: None });
        match legal.as_slice() {
            [] => return Err(PlayerError::Broken("no legal move is known".to_owned())),
            [only] => {
                if self.view.state().is_none()
                    && self.last.as_ref().is_some_and(|l| !l.seen.is_empty())
                {
                    self.show_board();
                }
                return chosen(only);
            }
            [_, _, ..] => {}
        }
        if !self.has_shown || self.view.state().is_none() {
            self.has_shown = true;
            self.show_board();
        }
        say!("{} to move:", terminal::bold(&self.role_name));
        let families = self.view.families();
        if families.iter().any(|family| !family.parameters.is_empty()) {
            Human::show_families(&families, legal.last());
        } else {
            Human::show_moves(&legal, MAX_LISTED);
        }
        let aliases = self.aliases(&legal);
        let mut words: Vec<String> = COMMANDS.map(str::to_owned).to_vec();
        words.extend(legal.iter().cloned());
        let stop = |request: StopRequest| {
            console.request_stop(request);
            Err(PlayerError::Stop)
        };
        loop {
            let Some(line) = prompt.line(&format!("{}> ", self.role_name), &words) else {
                say!("");
                return stop(StopRequest::Quit);
            };
            let line = line.trim();
            let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
            match (command, rest.trim()) {
                ("", _) => {}
                ("help" | "?", "") => say!("{HELP}"),
                ("moves", "") => Human::show_moves(&legal, usize::MAX),
                ("board", "") => self.show_board(),
                ("hint", "") => self.advise(true),
                ("eval", "") => self.advise(false),
                ("history", "") => self.show_history(),
                ("why", "") => say!("Write the move too, as in `why {}`.", legal[0]),
                ("why", typed) => self.explain(typed, &legal),
                ("save", "") => say!("Write the name of a file too, as in `save match.json`."),
                ("save", file) => return stop(StopRequest::Save(PathBuf::from(file))),
                ("undo", "") => return stop(StopRequest::Undo),
                ("quit" | "exit", "") => return stop(StopRequest::Quit),
                _ => match pick(&legal, &aliases, line) {
                    Ok(text) => return chosen(text),
                    Err(why) => match self.view.find_move(line) {
                        Some(text) => return chosen(&text),
                        None => match families.iter().find_map(|family| family.mistake(line)) {
                            Some(mistake) => say!("`{line}` is not a legal move: {mistake}"),
                            None => say!("{why}"),
                        },
                    },
                },
            }
        }
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        self.last = Some(observation.clone());
        if let Some(position) = &mut self.position {
            let joint: Vec<&str> = observation.seen.iter().map(String::as_str).collect();
            if position.play_joint(&joint).is_err() {
                self.position = None;
            }
        }
        self.view.learn(observation).map_err(|error| PlayerError::Broken(error.to_string()))
    }

    fn finish(&mut self, observation: Option<&Observation>, _: Option<&[f64]>) {
        if let (None, Some(observation)) = (self.view.state(), observation) {
            self.last = Some(observation.clone());
            self.show_board();
        }
    }
}

/// Returns the legal move that was typed: its number, its text, the beginning of its text, or the
/// names of its places (`aliases`).
///
/// # Errors
/// A text for the user if no move or several moves match.
fn pick<'a>(legal: &'a [String], aliases: &[String], typed: &str) -> Result<&'a String, String> {
    // The exact text goes first, because in some games the moves themselves are numbers.
    if let Some(exact) = legal.iter().find(|m| *m == typed) {
        return Ok(exact);
    }
    if let Ok(number) = typed.parse::<usize>() {
        let by_number = number.checked_sub(1).and_then(|index| legal.get(index));
        return by_number
            .ok_or(format!("there is no move {number}: the numbers are 1 to {}", legal.len()));
    }
    let compact = typed.to_lowercase().replace([' ', '-'], "");
    let named = legal.iter().zip(aliases).filter(|(_, alias)| **alias == compact);
    if let [(text, _)] = named.collect::<Vec<_>>().as_slice() {
        return Ok(text);
    }
    let words = |text: &str| {
        let spaced = text.replace(['(', ')'], " ").to_lowercase();
        spaced.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let wanted = words(typed);
    // The first word may be left out too.
    let without_head =
        |text: &str| text.split_once(' ').map_or(String::new(), |(_, rest)| rest.to_owned());
    let ways: [&dyn Fn(&str) -> bool; 4] = [
        &|m| words(m) == wanted,
        &|m| words(m).starts_with(&wanted),
        &|m| without_head(&words(m)) == wanted,
        &|m| without_head(&words(m)).starts_with(&wanted),
    ];
    for way in ways {
        match legal.iter().filter(|m| way(m)).collect::<Vec<_>>().as_slice() {
            [] => {}
            [only] => return Ok(only),
            several => {
                let shown: Vec<&str> = several.iter().take(5).map(|m| m.as_str()).collect();
                return Err(format!("`{typed}` is ambiguous: {}", shown.join(", ")));
            }
        }
    }
    Err(format!(
        "`{typed}` is not a legal move; type a number, a move or the beginning of a move, or `help`"
    ))
}
