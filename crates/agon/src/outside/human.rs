//! A person at the terminal.

use std::io::{BufRead as _, IsTerminal as _};
use std::sync::{Arc, Mutex};

use agon_match::{Board, Choice, Lapse, News, Player, View};
use agon_search::Budget;

use crate::picture;
use crate::terminal::{self, put, say};

/// What people share: one terminal, and what they want of the match beyond moves.
#[derive(Default)]
pub(crate) struct Console {
    /// Set when somebody wants the match stopped.
    wish: Mutex<Option<Wish>>,
    /// Held while somebody is asked: in games of simultaneous moves several may be.
    turn: Mutex<()>,
}

/// Why a person stopped the match.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    /// To take the last move back.
    Undo,
    /// Enough.
    Quit,
}

impl Console {
    /// Why the match was stopped, if a person did; asked once.
    pub(crate) fn take_wish(&self) -> Option<Wish> {
        self.wish.lock().expect("nothing panics while it holds the lock").take()
    }

    fn make_wish(&self, wish: Wish) {
        *self.wish.lock().expect("nothing panics while it holds the lock") = Some(wish);
    }
}

/// A person who plays a role.
pub(crate) struct Human {
    role_name: String,
    view: Box<dyn View>,
    board: Option<Arc<Board>>,
    console: Arc<Console>,
    last: Option<News>,
    /// Whether the board has been shown. After that, whoever shows the match shows it.
    has_shown: bool,
}

const HELP: &str = "\
Type the number of a move, or the move itself; its beginning is enough if no other begins so, and parentheses may be left out.
  moves   the legal moves again      board   the board again
  undo    take your last move back   quit    end the match";

/// As many moves as are listed without being asked for all.
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
                None => say!("You know only what you perceive; nothing yet."),
                Some(news) if news.seen.is_empty() => {
                    say!("You did {} and perceived nothing.", news.own);
                }
                Some(news) => say!("You did {} and perceived {}.", news.own, news.seen.join(", ")),
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
    fn prepare(&mut self, _: &Budget) -> Result<(), Lapse> {
        Ok(())
    }

    fn choose(&mut self, _: &Budget) -> Result<Choice, Lapse> {
        let console = Arc::clone(&self.console);
        let _turn = console.turn.lock().expect("nothing panics while it holds the lock");
        let legal = self.view.legal_moves();
        let chosen = |text: &String| Ok(Choice { text: text.clone(), thought: None });
        match legal.as_slice() {
            [] => return Err(Lapse::Broken("no legal move is known".to_owned())),
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
                console.make_wish(Wish::Quit);
                return Err(Lapse::Stop);
            }
            if !std::io::stdin().is_terminal() {
                // What a pipe says is not to be seen otherwise.
                say!("{}", line.trim_end());
            }
            match line.trim() {
                "" => {}
                "help" | "?" => say!("{HELP}"),
                "moves" => Human::show_moves(&legal, usize::MAX),
                "board" => self.show_board(),
                "undo" => {
                    console.make_wish(Wish::Undo);
                    return Err(Lapse::Stop);
                }
                "quit" | "exit" => {
                    console.make_wish(Wish::Quit);
                    return Err(Lapse::Stop);
                }
                typed => match pick(&legal, typed) {
                    Ok(text) => return chosen(text),
                    Err(why) => say!("{why}"),
                },
            }
        }
    }

    fn learn(&mut self, news: &News) -> Result<(), Lapse> {
        self.last = Some(news.clone());
        self.view.learn(news).map_err(Lapse::Broken)
    }

    fn finish(&mut self, news: Option<&News>) {
        if let (None, Some(news)) = (self.view.state(), news) {
            self.last = Some(news.clone());
            self.show_board();
        }
    }
}

/// The move that was typed: a number, a move, or enough of one.
fn pick<'a>(legal: &'a [String], typed: &str) -> Result<&'a String, String> {
    // In some games the moves themselves are numbers.
    if let Some(exact) = legal.iter().find(|m| *m == typed) {
        return Ok(exact);
    }
    if let Ok(number) = typed.parse::<usize>() {
        let by_number = number.checked_sub(1).and_then(|index| legal.get(index));
        return by_number
            .ok_or(format!("there is no move {number}: the numbers go from 1 to {}", legal.len()));
    }
    let words = |text: &str| {
        let spaced = text.replace(['(', ')'], " ").to_lowercase();
        spaced.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let wanted = words(typed);
    // Where all moves begin with the same word, that may be left out too.
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
                return Err(format!("`{typed}` may be {}: say more", shown.join(", ")));
            }
        }
    }
    Err(format!(
        "`{typed}` is not a legal move; a number, a move or its beginning is wanted, `help` tells more"
    ))
}
