//! `agon why` for structure rewriting games: why a move is legal or not, where a formula holds,
//! what the value of a term is.

use std::sync::Arc;

use agon::reports::rewriting_json;
use agon_game::Notation as _;
use agon_text::Source;
use agon_toss::why::{Explanation, explain};

use super::{Args, SECONDS, play_moves};
use crate::failure::Failure;
use crate::open;
use crate::terminal;
use crate::terminal::say;

pub(super) fn run(args: &Args, source: Arc<Source>) -> Result<(), Failure> {
    let play = args.play.within(SECONDS);
    let mut position = open::open_toss(Arc::clone(&source), &play)?.start();
    play_moves(&mut position, &args.after)?;
    if args.does.is_some() {
        return Err(Failure::wrong("--does is for GDL only; give the moves with --after"));
    }
    let explanation =
        explain(&position, &args.sentence).map_err(|error| Failure::wrong(error.to_string()))?;
    if args.json {
        say!("{}", rewriting_json(&explanation, &source, &position.state_text()));
    } else {
        print(&explanation, &source);
    }
    Ok(())
}

fn print(explanation: &Explanation, source: &Source) {
    let question = terminal::bold(&explanation.question);
    match explanation.holds {
        Some(true) => say!("{question} {}", terminal::green("holds")),
        Some(false) => say!("{question} {}", terminal::red("does not hold")),
        None => say!("{question}"),
    }
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
