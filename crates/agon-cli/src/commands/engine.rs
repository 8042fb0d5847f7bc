//! `agon engine`: answers calls of programs in any language, as JSON lines.

use std::io::{BufRead as _, Read as _, Write as _};

use serde_json::{Value, json};

use crate::engine_calls::EngineCalls;
use crate::failure::Failure;

/// Answer questions about games as JSON lines, for programs in any language
#[derive(clap::Args)]
#[command(after_help = "\
Each line of standard input is one call, and each call is answered by one line. docs/engine.md
describes the calls: load, legal, next, facts, goals, playout, search, explain, drop.

Examples:
  agon engine < calls.jsonl
  echo '{\"call\": \"load\", \"game\": \"tic-tac-toe\"}' | agon engine
  node examples/engine.mjs
  perl examples/engine.pl")]
pub(crate) struct Args {}

/// Maximum length of a line in bytes: the largest rulesheet, with room for escapes.
const MAX_LINE: u64 = 64 << 20;

pub(crate) fn run(_: &Args) -> Result<(), Failure> {
    let mut calls = EngineCalls::default();
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    loop {
        let mut bytes = Vec::new();
        let n_read = input
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut bytes)
            .map_err(|error| Failure::unreadable(format!("cannot read a line: {error}")))?;
        if n_read == 0 {
            return Ok(());
        }
        if n_read as u64 == MAX_LINE && bytes.last() != Some(&b'\n') {
            return Err(Failure::unreadable(format!("a line has more than {MAX_LINE} bytes")));
        }
        let text = String::from_utf8_lossy(&bytes);
        if text.trim().is_empty() {
            continue;
        }
        let answer = match serde_json::from_str::<Value>(&text) {
            Ok(call) => calls.answer(&call, None),
            Err(error) => {
                json!({"ok": false, "error": format!("the line is not JSON: {error}")})
            }
        };
        // A program that has closed its end has no more questions.
        if writeln!(output, "{answer}").and_then(|()| output.flush()).is_err() {
            return Ok(());
        }
    }
}
