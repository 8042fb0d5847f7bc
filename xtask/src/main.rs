//! Surveys and measurements of Agon that are not part of the product.
//!
//! `cargo xtask` lists them, `cargo xtask NAME ARGUMENTS` runs one in a release build.
#![forbid(unsafe_code)]

mod action_coverage;
mod agree;
mod boards;
mod clock;
mod connect_four_truth;
mod elimination;
mod evolve;
mod growing;
mod growth;
mod heuristic_cost;
mod learn_concepts;
mod mso;
mod properties;
mod queries;
mod round_trip;
mod rulesheets;
mod strength;
mod toss_circuits;
mod translate_all;

use std::process::ExitCode;

/// A survey or measurement.
struct Task {
    name: &'static str,
    about: &'static str,
    run: fn(Vec<String>),
}

/// All tasks, with the line that `cargo xtask` prints about each.
const TASKS: &[Task] = &[
    Task {
        name: "strength",
        about: "Compares searches with each other: matches, speed, threads, proofs",
        run: strength::run,
    },
    Task {
        name: "action-coverage",
        about: "Counts the rulesheets of a folder that get an action heuristic",
        run: action_coverage::run,
    },
    Task {
        name: "heuristic-cost",
        about: "Measures the cost of evaluating moves by regressed goals",
        run: heuristic_cost::run,
    },
    Task {
        name: "learn-concepts",
        about: "Learns concepts from a game and prints them",
        run: learn_concepts::run,
    },
    Task {
        name: "properties",
        about: "Times the search for properties of rulesheets",
        run: properties::run,
    },
    Task {
        name: "queries",
        about: "Compares the evaluation of formulas with SQLite on growing boards",
        run: queries::run,
    },
    Task {
        name: "mso",
        about: "Measures quantifiers over sets on graphs of growing size",
        run: mso::run,
    },
    Task {
        name: "agree",
        about: "Compares all engines of structure rewriting games on random plays",
        run: agree::run,
    },
    Task {
        name: "toss-circuits",
        about: "Measures the circuits of the shipped structure rewriting games",
        run: toss_circuits::run,
    },
    Task {
        name: "evolve",
        about: "Measures the evolution of differential equations",
        run: evolve::run,
    },
    Task {
        name: "growing",
        about: "Measures the interpreter on games whose universe grows",
        run: growing::run,
    },
    Task {
        name: "elimination",
        about: "Times quantifier elimination over the reals on known problems, and compares with z3",
        run: elimination::run,
    },
    Task {
        name: "round-trip",
        about: "Translates structure rewriting games to GDL and back, and compares",
        run: round_trip::run,
    },
    Task {
        name: "translate-all",
        about: "Translates every rulesheet of a folder and compares",
        run: translate_all::run,
    },
    Task {
        name: "boards",
        about: "Counts the rulesheets that get a board, and draws contact sheets",
        run: boards::run,
    },
    Task {
        name: "connect-four-truth",
        about: "Counts best moves of learnt evaluations and players, judged by a perfect solver",
        run: connect_four_truth::run,
    },
    Task {
        name: "growth",
        about: "Measures each stage of grounding on one game at growing sizes",
        run: growth::run,
    },
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let wanted = args.next();
    let task = TASKS.iter().find(|task| Some(task.name) == wanted.as_deref());
    match (task, wanted) {
        (Some(task), _) => {
            (task.run)(args.collect());
            ExitCode::SUCCESS
        }
        (None, None) => {
            for task in TASKS {
                println!("{:18} {}", task.name, task.about);
            }
            ExitCode::SUCCESS
        }
        (None, Some(name)) => {
            eprintln!("there is no task `{name}`; `cargo xtask` lists them");
            ExitCode::from(2)
        }
    }
}
