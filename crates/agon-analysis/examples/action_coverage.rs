//! Which of the rulesheets below a folder get an action heuristic within 30 seconds, grounding included, and why others do not:
//! `cargo run --release -p agon-analysis --example action_coverage -- FOLDER`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::regression::{ActionHeuristics, Logic, Network, RegressOptions};
use agon_gdl::check::check;
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;

fn main() {
    let folder = std::env::args().nth(1).expect("a folder with rulesheets");
    let mut sheets = Vec::new();
    list(Path::new(&folder), &mut sheets);
    sheets.sort();
    let (mut n_made, mut n_refused, mut n_faulty) = (0, 0, 0);
    for path in &sheets {
        let name =
            path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let bytes = std::fs::read(path).expect("it can be read");
        let checked = check(Arc::new(Source::from_bytes(path.to_string_lossy(), &bytes)));
        let game = checked.rules.map(|rules| Game::open(rules, Options::default()));
        let Some(Ok(game)) = game else {
            n_faulty += 1;
            println!("{name}: the rules have faults");
            continue;
        };
        std::io::stdout().flush().expect("somebody reads");
        let began = Instant::now();
        let deadline = Some(began + Duration::from_secs(30));
        let options = RegressOptions { deadline, ..RegressOptions::default() };
        match ActionHeuristics::of_game(&game, None, None, &options) {
            Ok(heuristics) => {
                n_made += 1;
                let network = Network::new(&heuristics, Logic::PRODUCT);
                let seconds = began.elapsed().as_secs_f64();
                let n_moves: usize = heuristics.roles.iter().map(|role| role.moves.len()).sum();
                println!(
                    "{name}: {seconds:.2} s, {n_moves} moves, {} nodes, {} operands, {:?}",
                    network.n_nodes(),
                    network.n_operands(),
                    heuristics.extent
                );
            }
            Err(why) => {
                n_refused += 1;
                println!("{name}: refused after {:.2} s: {why}", began.elapsed().as_secs_f64());
            }
        }
    }
    println!(
        "{n_made} of {} have an action heuristic, {n_refused} are refused, {n_faulty} have faults",
        sheets.len()
    );
}

fn list(folder: &Path, sheets: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("it can be listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(&path, sheets);
        } else if path.extension().is_some_and(|ending| ending == "kif") {
            sheets.push(path);
        }
    }
}
