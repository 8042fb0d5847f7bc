//! Questions about structure rewriting games: why a move can be made or not, what a formula is true of, what a term comes to.

use std::sync::Arc;

use agon_game::{Notation as _, Position as _};
use agon_gdl::read::split_terms;
use agon_text::Source;
use agon_toss::why::{Explanation, explain};
use serde_json::{Value, json};

use super::{Args, take_joint};
use crate::failure::Failure;
use crate::open;
use crate::terminal;
use crate::terminal::say;

pub(super) fn run(args: &Args, source: Arc<Source>) -> Result<(), Failure> {
    let mut position = open::open_toss(Arc::clone(&source))?.start();
    let mut moves = split_terms(&args.after).map_err(Failure::unreadable)?.into_iter().peekable();
    let mut step = 0;
    while moves.peek().is_some() {
        step += 1;
        let joint = take_joint(&position, &mut moves, step)?;
        position.advance(&joint);
    }
    if args.does.is_some() {
        return Err(Failure::wrong("--does has no meaning here: give the moves with --after"));
    }
    let explanation = explain(&position, &args.sentence).map_err(Failure::wrong)?;
    if args.json {
        say!("{}", to_json(&explanation, &source, &position.state_text()));
    } else {
        print(&explanation, &source);
    }
    Ok(())
}

fn print(explanation: &Explanation, source: &Source) {
    let verdict = match explanation.holds {
        Some(true) => terminal::green("holds"),
        Some(false) => terminal::red("does not hold"),
        None => String::new(),
    };
    say!("{} {verdict}", terminal::bold(&explanation.question));
    let n = explanation.findings.len();
    for (i, finding) in explanation.findings.iter().enumerate() {
        let branch = if i + 1 == n { "└─" } else { "├─" };
        let sign = match finding.holds {
            Some(true) => terminal::green("yes "),
            Some(false) => terminal::red("no  "),
            None => String::new(),
        };
        let place = finding.span.map_or(String::new(), |span| {
            terminal::dim(&format!("  {}:{}", source.name(), source.place(span.start()).line))
        });
        say!("{branch} {sign}{}{place}", finding.text);
    }
}

fn to_json(explanation: &Explanation, source: &Source, state: &[String]) -> Value {
    let findings: Vec<Value> = explanation
        .findings
        .iter()
        .map(|finding| {
            let line = finding.span.map(|span| source.place(span.start()).line);
            json!({"holds": finding.holds, "text": finding.text, "line": line})
        })
        .collect();
    json!({
        "question": explanation.question, "holds": explanation.holds, "findings": findings, "state": state,
    })
}
