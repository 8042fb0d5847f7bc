//! Counts the rulesheets below a folder that get an action heuristic within 30 seconds, grounding
//! included, and prints why the others do not: `cargo xtask action-coverage FOLDER`.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use agon_analysis::regression::{ActionHeuristics, Logic, Network, RegressOptions};
use agon_testkit::files;

use crate::rulesheets;

pub(crate) fn run(args: Vec<String>) {
    let folder = args.into_iter().next().expect("the argument is a folder with rulesheets");
    let sheets = files::with_extension(Path::new(&folder), &["kif"]);
    let (mut n_made, mut n_refused, mut n_faulty) = (0, 0, 0);
    for path in &sheets {
        let name = files::stem(path);
        let game = match rulesheets::open(path) {
            Ok(game) => game,
            Err(why) => {
                n_faulty += 1;
                println!("{name}: {why}");
                continue;
            }
        };
        std::io::stdout().flush().expect("standard output is open");
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
        "{n_made} of {} have an action heuristic, {n_refused} are refused, {n_faulty} have errors",
        sheets.len()
    );
}
