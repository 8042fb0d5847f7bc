//! `agon explain GAME --formulas`: concepts in first-order logic with counting.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon::Game;
use agon::learn::EloEstimate;
use agon::learn::combined::CombineOptions;
use agon::learn::concepts::{
    Concept, ConceptOptions, Concepts, Measured, find_concepts, measure_concepts,
};
use agon::learn::worth::{FormulaBase, Worth, WorthOptions, concepts_worth};
use agon_board::TextOptions;
use serde_json::{Value, json};

use super::models::{elo_json, elo_text};
use crate::failure::Failure;
use crate::open::{self, RuleOptions};
use crate::terminal::{self, put, say};

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
    /// Say what the concepts are worth in Elo as features of an evaluation: all together and each
    /// alone play so many matches against the same search without them. --seconds limits the matches
    #[arg(
        long,
        value_name = "MATCHES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "100",
        requires = "formulas",
        value_parser = clap::value_parser!(u64).range(2..=1_000_000)
    )]
    formulas_elo: Option<u64>,
    /// Number of positions that a search visits for a move of these matches
    #[arg(
        long,
        value_name = "N",
        default_value_t = 200,
        requires = "formulas_elo",
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    formulas_iterations: u64,
    /// What the concepts are added to: the number of pieces of each kind, or all heuristics
    #[arg(long, value_enum, value_name = "BASE", default_value = "material")]
    #[arg(requires = "formulas_elo")]
    formulas_base: Base,
}

/// The heuristics to which concepts are added, as an option.
#[derive(Copy, Clone, Debug, clap::ValueEnum)]
enum Base {
    /// The number of facts of each kind, and who is to move
    Material,
    /// All heuristics of --combined
    Combined,
}

impl Base {
    fn name(self) -> &'static str {
        match self {
            Base::Material => "material",
            Base::Combined => "combined",
        }
    }
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
    let list: Vec<Concept> =
        concepts.found.iter().map(|measured| measured.concept.clone()).collect();
    let (worth, is_stopped) = match args.formulas_elo {
        Some(n_matches) if !list.is_empty() => {
            let (worth, is_stopped) = worth(&game, &list, args, n_matches, deadline());
            let late = || {
                Failure::wrong(format!(
                    "{name}: no play ended within {seconds} s, so nothing was learnt to play \
                     matches with; give more time with --seconds"
                ))
            };
            (Some(worth.ok_or_else(late)?), is_stopped)
        }
        _ => (None, false),
    };
    if is_json {
        say!("{}", as_json(name, &concepts, worth.as_ref(), args));
    } else {
        print(&game, &concepts, given.is_some(), worth.as_ref());
        print_worth(worth.as_ref(), args);
    }
    if is_stopped {
        let message = "stopped: there were fewer matches than asked for".to_owned();
        return Err(Failure { code: 130, message });
    }
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

/// Measures what concepts are worth, with a progress bar. Also returns whether Ctrl-C has ended it.
fn worth(
    game: &Game,
    concepts: &[Concept],
    args: &FormulaArgs,
    n_matches: u64,
    deadline: Option<Instant>,
) -> (Option<Worth>, bool) {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    crate::signals::on_interrupt(move || {
        // The second Ctrl-C ends the process at once.
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    let options = WorthOptions {
        n_matches,
        iterations: args.formulas_iterations,
        base: match args.formulas_base {
            Base::Material => FormulaBase::Material,
            Base::Combined => FormulaBase::Combined,
        },
        learning: CombineOptions::default(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        stop: Arc::clone(&stop),
    };
    let bar = terminal::progress(0, "matches");
    let mut report = |played: u64, all: u64| {
        bar.set_length(all);
        bar.set_position(played);
    };
    let worth = concepts_worth(game, concepts, &options, deadline, &mut report);
    bar.finish_and_clear();
    (worth, stop.load(Ordering::Relaxed))
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

fn print(game: &Game, concepts: &Concepts, are_given: bool, worth: Option<&Worth>) {
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
        if let Some(elo) = worth.and_then(|worth| worth.each.get(number - 1)) {
            say!("   As a feature: {}.", matches_text(elo));
        }
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

/// Says what a difference in strength is, and how well it is known.
fn matches_text(elo: &EloEstimate) -> String {
    match elo.n_matches {
        0 => "no match was played in the time".to_owned(),
        n => format!("{} Elo ({n} matches)", elo_text(elo)),
    }
}

/// Says what all concepts are worth together, and how it was measured.
fn print_worth(worth: Option<&Worth>, args: &FormulaArgs) {
    let Some(worth) = worth else { return };
    let base = match args.formulas_base {
        Base::Material => "material and who is to move",
        Base::Combined => "all other heuristics",
    };
    say!(
        "All together as features: {}. Both players search {} positions a move and evaluate by \
         {base}, one of them also by concepts; weights are learnt from the same plays.",
        matches_text(&worth.all),
        args.formulas_iterations
    );
    if worth.is_cut {
        say!("There are fewer matches than asked for; --seconds gives more time.");
    }
}

fn as_json(name: &str, concepts: &Concepts, worth: Option<&Worth>, args: &FormulaArgs) -> Value {
    let elo_of = |number: usize| worth.and_then(|worth| worth.each.get(number)).map(elo_json);
    let of = |(number, measured): (usize, &Measured)| {
        json!({
            "elo": elo_of(number),
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
        "concepts": concepts.found.iter().enumerate().map(of).collect::<Vec<_>>(),
        "worth": worth.map(|worth| json!({
            "all": elo_json(&worth.all), "base": args.formulas_base.name(),
            "iterations": args.formulas_iterations, "is_cut": worth.is_cut,
        })),
    })
}
