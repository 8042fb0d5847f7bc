//! The prompt at which people type moves: with line editing, history and completion on a terminal,
//! line by line from a pipe.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{Config, Context, Editor, Helper, Highlighter, Hinter, Validator};

use crate::terminal::{self, put, say};

/// Reads lines, and remembers them.
#[derive(Default)]
pub(crate) struct Prompt {
    /// What was typed before, for the arrow keys.
    typed: Vec<String>,
}

impl Prompt {
    /// Asks for a line. `words` are offered as completions. Returns `None` at the end of the input
    /// and when the person interrupts.
    pub(crate) fn line(&mut self, question: &str, words: &[String]) -> Option<String> {
        if !terminal::is_interactive() {
            return plain_line(question);
        }
        match self.edited_line(question, words) {
            Ok(line) => {
                self.typed.push(line.clone());
                Some(line)
            }
            Err(ReadlineError::Eof | ReadlineError::Interrupted) => None,
            // A terminal that cannot be edited on is still a terminal.
            Err(_) => plain_line(question),
        }
    }

    fn edited_line(&self, question: &str, words: &[String]) -> rustyline::Result<String> {
        let config = Config::builder().auto_add_history(false).build();
        let mut editor: Editor<Words, DefaultHistory> = Editor::with_config(config)?;
        editor.set_helper(Some(Words { words: words.to_vec() }));
        for line in &self.typed {
            editor.add_history_entry(line)?;
        }
        editor.readline(question)
    }
}

/// Reads a line without editing, and shows it if the terminal does not.
fn plain_line(question: &str) -> Option<String> {
    put!("{question}");
    let _ = std::io::stdout().flush();
    let mut line = String::new();
    let n_read = std::io::stdin().lock().read_line(&mut line).unwrap_or(0);
    if n_read == 0 {
        return None;
    }
    if !std::io::stdin().is_terminal() {
        // Input from a pipe is not echoed by the terminal.
        say!("{}", line.trim_end());
    }
    Some(line)
}

/// Completes whole lines to commands and moves.
#[derive(Helper, Highlighter, Hinter, Validator)]
struct Words {
    words: Vec<String>,
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((0, completions(&self.words, &line[..position])))
    }
}

/// Returns the words that begin like the text. Parentheses may be left out.
fn completions(words: &[String], text: &str) -> Vec<String> {
    let begins = |word: &&String| {
        word.starts_with(text) || word.strip_prefix('(').is_some_and(|word| word.starts_with(text))
    };
    words.iter().filter(begins).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completes_commands_and_moves() {
        let words = ["moves", "(mark 1 1)", "(mark 1 2)"].map(str::to_owned);
        assert_eq!(completions(&words, "mo"), ["moves"]);
        assert_eq!(completions(&words, "mark 1"), ["(mark 1 1)", "(mark 1 2)"]);
        assert_eq!(completions(&words, "(mark 1 2"), ["(mark 1 2)"]);
        assert!(completions(&words, "x").is_empty());
    }
}
