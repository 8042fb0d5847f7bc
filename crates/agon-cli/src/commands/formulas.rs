//! `agon explain GAME --formulas`: concepts in first-order logic with counting.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon::Game;
use agon::learn::concepts::{
    Concept, ConceptOptions, Concepts, Measured, find_concepts, measure_concepts,
};
use agon_board::TextOptions;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::open::{self, RuleOptions};
use crate::terminal::{put, say};

/// Options of `--formulas`.
#[derive(clap::Args)]
pub(super) struct FormulaArgs {
    /// Find concepts: formulas about the cells of the board that say who is ahead
    #[arg(long, conflicts_with_all = ["all", "after", "state", "concepts", "lessons", "combined"])]
    pub(super) formulas: bool,
    /// Maximum number of concepts
    #[arg(
        long,
        value_name = "N",
        default_value_t = 6,
        requires = "formulas",
        value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..)
    )]
    formulas_count: usize,
    /// Number of positions that are labelled by search
    #[arg(
        long,
        value_name = "N",
        default_value_t = 800,
        requires = "formulas",
        value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(20..)
    )]
    formulas_positions: usize,
    /// Measure the concepts of a file in place of finding some
    #[arg(long, value_name = "FILE", requires = "formulas")]
    formulas_from: Option<PathBuf>,
    /// Write the concepts to a file
    #[arg(long, value_name = "FILE", requires = "formulas")]
    formulas_out: Option<PathBuf>,
    /// Other games on which the concepts are measured, beside as many of their own
    #[arg(long, value_name = "GAMES", value_delimiter = ',', requires = "formulas")]
    formulas_on: Vec<String>,
}

pub(super) fn run(
    name: &str,
    args: &FormulaArgs,
    seconds: u64,
    rules: &RuleOptions,
    is_json: bool,
) -> Result<(), Failure> {
    let options = ConceptOptions {
        n_concepts: args.formulas_count,
        n_positions: args.formulas_positions,
        ..ConceptOptions::default()
    };
    let deadline = || Instant::now().checked_add(Duration::from_secs(seconds));
    let given = args.formulas_from.as_deref().map(read).transpose()?;
    let game = open::open_rules_to_learn(name, rules)?;
    let refused = |name: &str, why| Failure::wrong(format!("{name} has no concepts: {why}"));
    let concepts = match &given {
        None => find_concepts(&game, &options, deadline()),
        Some(given) => measure_concepts(&game, given, &options, deadline()),
    };
    let concepts = concepts.map_err(|why| refused(name, why))?;
    if concepts.n_positions == [0, 0] {
        return Err(no_positions(name, seconds));
    }
    if let Some(file) = &args.formulas_out {
        let lines: Vec<String> =
            concepts.found.iter().map(|measured| format!("{}\n", measured.concept)).collect();
        std::fs::write(file, lines.concat())
            .map_err(|error| Failure::cannot_write(file, &error))?;
    }
    if is_json {
        say!("{}", as_json(name, &concepts));
    } else {
        print(&game, &concepts, given.is_some());
    }
    let list: Vec<Concept> =
        concepts.found.iter().map(|measured| measured.concept.clone()).collect();
    if list.is_empty() && !args.formulas_on.is_empty() {
        return Err(Failure::wrong(format!(
            "{name} gave no concepts that could be measured on other games; try more positions \
             (--formulas-positions) or another game"
        )));
    }
    for (number, other) in args.formulas_on.iter().enumerate() {
        let game = open::open_rules_to_learn(other, rules)?;
        let own = ConceptOptions { n_concepts: list.len(), ..options };
        let transferred = measure_concepts(&game, &list, &own, deadline());
        let transferred = transferred.map_err(|why| refused(other, why))?;
        if transferred.n_positions == [0, 0] {
            return Err(no_positions(other, seconds));
        }
        let own = find_concepts(&game, &own, deadline()).map_err(|why| refused(other, why))?;
        let [theirs, ours] = [&transferred, &own].map(|concepts| 100.0 * concepts.explained[1]);
        if is_json {
            let line = json!({
                "game": other, "concepts_of": name, "explained": transferred.explained,
                "explained_by_own": own.explained,
                "is_late": transferred.is_late || own.is_late,
            });
            say!("{line}");
            continue;
        }
        if number == 0 {
            say!("");
            say!("{:24}  {:>14}  {:>12}", "explained, in percent", "these concepts", "its own");
        }
        say!("{other:24}  {theirs:14.1}  {ours:12.1}");
    }
    Ok(())
}

fn no_positions(name: &str, seconds: u64) -> Failure {
    Failure::wrong(format!(
        "{name}: no position was labelled within {seconds} s; give more time with --seconds"
    ))
}

fn read(file: &Path) -> Result<Vec<Concept>, Failure> {
    let text = agon::files::read_text(file).map_err(|error| Failure::cannot_read(file, &error))?;
    let concepts = Concept::read_all(&text)
        .map_err(|error| Failure::unreadable(format!("{}: {error}", file.display())))?;
    if concepts.is_empty() {
        return Err(Failure::unreadable(format!("{} has no concepts", file.display())));
    }
    Ok(concepts)
}

fn print(game: &Game, concepts: &Concepts, are_given: bool) {
    for (number, measured) in (1..).zip(&concepts.found) {
        let Measured { concept, weight, saved, is_good, n, value, usual, example } = measured;
        say!("{number}. {}", concept.sentence());
        say!("   {}", concept.formula());
        let who = if *is_good { "more" } else { "fewer" };
        say!(
            "   Who has {who} of these gets {:.0} % of the points at {n} positions (usual: {:.0}); \
             weight {:+.1} points, {saved:.0} bits saved.",
            100.0 * value,
            100.0 * usual,
            100.0 * weight
        );
        if let Some(example) = example {
            say!("   For example at {}:", example.place);
            let scene = game.layout().scene(&example.facts);
            put!("{}", agon_board::text::text(&scene, &TextOptions::default()));
        }
        say!("");
    }
    let explained = 100.0 * concepts.explained[1];
    let verdict = if concepts.found.is_empty() {
        "No formula saves more than its own description takes.".to_owned()
    } else if explained < 0.5 {
        "Together they explain nothing there: do not rely on them. More positions may help \
         (--formulas-positions)."
            .to_owned()
    } else {
        format!("Together they explain {explained:.0} % of the values there.")
    };
    let [n_chosen, n_tested] = concepts.n_positions;
    let source = if are_given {
        format!("Weights are from {n_chosen} positions")
    } else {
        format!("Found at {n_chosen} positions among {} formulas", concepts.n_tried)
    };
    say!("{source}, measured at {n_tested} of other plays. {verdict}");
    if concepts.is_late {
        let what = if are_given { "positions were labelled" } else { "concepts were found" };
        say!("The time was over before all {what}; --seconds gives more.");
    }
}

fn as_json(name: &str, concepts: &Concepts) -> Value {
    let of = |measured: &Measured| {
        json!({
            "concept": measured.concept.to_string(),
            "sentence": measured.concept.sentence(),
            "formula": measured.concept.formula().to_string(),
            "facts": measured.concept.n_facts(), "weight": measured.weight, "good": measured.is_good,
            "bits": measured.saved, "positions": measured.n, "value": measured.value,
            "usual": measured.usual,
            "example": measured.example.as_ref().map(|e| json!({"facts": e.facts, "at": e.place})),
        })
    };
    json!({
        "game": name, "positions": concepts.n_positions, "explained": concepts.explained,
        "tried": concepts.n_tried, "is_late": concepts.is_late,
        "concepts": concepts.found.iter().map(of).collect::<Vec<_>>(),
    })
}
