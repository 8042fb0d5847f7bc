//! A person at the terminal.

use std::io::{BufRead as _, IsTerminal as _};
use std::sync::{Arc, Mutex};

use agon_board::Board;
use agon_game::Observation;
use agon_match::{Choice, Player, PlayerError, View};
use agon_search::Budget;

use crate::picture;
use crate::terminal::{self, put, say};

/// The terminal, shared by all people who play at it.
#[derive(Default)]
pub(crate) struct Console {
    /// Set when a person has asked to stop the match.
    stop_request: Mutex<Option<StopRequest>>,
    /// Held while a person is asked for a move. With simultaneous moves, several people are asked
    /// in one step.
    prompt: Mutex<()>,
}

/// Why a person asked to stop the match.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum StopRequest {
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
    role_name: String,
    view: Box<dyn View>,
    board: Option<Arc<Board>>,
    console: Arc<Console>,
    last: Option<Observation>,
    /// Whether the board has been shown. After the first step, the reporter of the match shows it.
    has_shown: bool,
}

const HELP: &str = "\
Type the number of a move, or the move itself. Parentheses may be left out, and the beginning of a
move is enough if no other move begins like that.
  moves   list the legal moves       board   show the board
  undo    take back your last move   quit    end the match";

/// Maximum number of moves that are listed without the command `moves`.
const MAX_LISTED: usize = 60;

impl Human {
    pub(crate) fn new(
        role_name: String,
        view: Box<dyn View>,
        board: Option<Arc<Board>>,
        console: Arc<Console>,
    ) -> Human {
        Human { role_name, view, board, console, last: None, has_shown: false }
    }

    fn show_board(&self) {
        match self.view.state() {
            Some(state) => picture::show(self.board.as_deref(), &state, None),
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

impl Player for Human {
    fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, _: &Budget) -> Result<Choice, PlayerError> {
        let console = Arc::clone(&self.console);
        let _prompt = console.prompt.lock().expect("nothing panics while it holds the lock");
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
                say!("{}", terminal::dim(&format!("{}: {only}, the only move", self.role_name)));
                return chosen(only);
            }
            [_, _, ..] => {}
        }
        if !self.has_shown || self.view.state().is_none() {
            self.has_shown = true;
            self.show_board();
        }
        say!("{} to move:", terminal::bold(&self.role_name));
        Human::show_moves(&legal, MAX_LISTED);
        loop {
            put!("{}> ", self.role_name);
            let _ = std::io::Write::flush(&mut std::io::stdout());
            let mut line = String::new();
            let n_read = std::io::stdin().lock().read_line(&mut line).unwrap_or(0);
            if n_read == 0 {
                say!("");
                console.request_stop(StopRequest::Quit);
                return Err(PlayerError::Stop);
            }
            if !std::io::stdin().is_terminal() {
                // Input from a pipe is not echoed by the terminal.
                say!("{}", line.trim_end());
            }
            match line.trim() {
                "" => {}
                "help" | "?" => say!("{HELP}"),
                "moves" => Human::show_moves(&legal, usize::MAX),
                "board" => self.show_board(),
                "undo" => {
                    console.request_stop(StopRequest::Undo);
                    return Err(PlayerError::Stop);
                }
                "quit" | "exit" => {
                    console.request_stop(StopRequest::Quit);
                    return Err(PlayerError::Stop);
                }
                typed => match pick(&legal, typed) {
                    Ok(text) => return chosen(text),
                    Err(why) => say!("{why}"),
                },
            }
        }
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        self.last = Some(observation.clone());
        self.view.learn(observation).map_err(|error| PlayerError::Broken(error.to_string()))
    }

    fn finish(&mut self, observation: Option<&Observation>) {
        if let (None, Some(observation)) = (self.view.state(), observation) {
            self.last = Some(observation.clone());
            self.show_board();
        }
    }
}

/// Returns the legal move that was typed: its number, its text, or the beginning of its text.
///
/// # Errors
/// A text for the user if no move or several moves match.
fn pick<'a>(legal: &'a [String], typed: &str) -> Result<&'a String, String> {
    // The exact text goes first, because in some games the moves themselves are numbers.
    if let Some(exact) = legal.iter().find(|m| *m == typed) {
        return Ok(exact);
    }
    if let Ok(number) = typed.parse::<usize>() {
        let by_number = number.checked_sub(1).and_then(|index| legal.get(index));
        return by_number
            .ok_or(format!("there is no move {number}: the numbers are 1 to {}", legal.len()));
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
