//! `agon explain`: what can be read out of the rules, and why a position is worth what it is.

mod rewriting;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::concepts::{Kind, LearnOptions, write_concepts};
use agon_analysis::explain::{
    Entry, action_heuristic_json, action_heuristic_text, concepts_json, concepts_text,
    evaluation_json, evaluation_text, properties_json, properties_text,
};
use agon_analysis::fuzzy::{Fuzzy, FuzzyJudge, FuzzyOptions, Seen};
use agon_analysis::regression::Wanted;
use agon_analysis::{ConceptsFrom, Subject};
use agon_game::{Notation as _, Position as _, Role};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Interpreter};
use agon_gdl::read::split_terms;
use serde_json::{Value, json};

use super::why::go_on;
use crate::failure::Failure;
use crate::open::{self, Language, RuleOptions};
use crate::terminal;
use crate::terminal::say;

/// Explain a game: its properties, its goals as an evaluation function, and the value of each part of it at a position.
#[derive(clap::Args)]
#[command(after_help = "\
MOVES are terms one after the other, as for `agon why`. FLUENTS are the terms that hold, one after the other.

Examples:
  agon explain tic-tac-toe
  agon explain tic-tac-toe --after \"(mark 2 2) (mark 1 2)\"
  agon explain connect-four --parts 20 --json
  agon explain tic-tac-toe --state \"(control xplayer) (cell 1 1 x) (cell 2 2 x) (cell 3 3 blank)\"
  agon explain toss/breakthrough
  agon explain --all my-rulesheets --json

In --json the keys `properties`, `fuzzy`, `action_heuristic` and `concepts` are there, or the reason under `refused`.")]
pub(crate) struct Args {
    /// A shipped game's name or the path of a rulesheet
    #[arg(required_unless_present = "all")]
    game: Option<String>,
    /// The moves that lead to the position
    #[arg(long, value_name = "MOVES", default_value = "", conflicts_with = "state")]
    after: String,
    /// The position itself
    #[arg(long, value_name = "FLUENTS")]
    state: Option<String>,
    /// Of many parts of a goal, show so many
    #[arg(long, default_value_t = 8)]
    parts: usize,
    /// Write the concepts found to a file, for `eval=concepts(file=FILE)`
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    concepts: Option<PathBuf>,
    /// Seconds for one game
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Every rulesheet below a folder: a line for each with what was found
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["game", "after", "state"])]
    all: Option<PathBuf>,
    /// One JSON object; with --all one for each rulesheet
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    play: RuleOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if let Some(folder) = &args.all {
        return survey(args, folder);
    }
    let name = args.game.as_deref().expect("clap asks for a game");
    let source = open::source(name)?;
    let game = match open::language(&source) {
        Language::Gdl => open::open_source(source, &args.play)?,
        Language::Toss => return rewriting::run(args, name, &open::open_toss(source)?),
    };
    let time = Duration::from_secs(args.seconds);
    // First the circuit: with it all fluents are known that a state may be told by.
    let subject = subject(&game, time);
    let position = position(args, &game)?;
    let properties = subject.properties(time / 3);
    let fuzzy = subject.fuzzy(&FuzzyOptions::default(), time / 3);
    let heuristics = subject.action_heuristics(Wanted::default(), time / 3);
    let learn = LearnOptions { kind: Kind::Concepts, ..LearnOptions::default() };
    let learnt = subject.concepts(&learn, &ConceptsFrom::Own, time / 6);
    if let Some(file) = &args.concepts {
        std::fs::write(file, write_concepts(&learnt.concepts)).map_err(|error| {
            Failure::unreadable(format!("cannot write {}: {error}", file.display()))
        })?;
    }
    let mut judge = fuzzy.as_ref().ok().map(FuzzyJudge::new);
    if let Some(judge) = &mut judge {
        judge.look(Seen::Terms(position.state().fluents()));
    }
    let moves = judge.as_mut().map(|judge| outlook(&position, judge)).unwrap_or_default();
    if args.json {
        let entry = Entry {
            properties: Ok(properties_json(&properties)),
            fuzzy: fuzzy.as_ref().map_err(ToString::to_string).map(|fuzzy| {
                let mut value = evaluation_json(fuzzy, judge.as_mut());
                let moves = moves
                    .iter()
                    .map(|(role, text, worth)| json!({"role": role, "move": text, "worth": worth}));
                value["moves"] = moves.collect();
                value
            }),
            action_heuristic: heuristics
                .map(|heuristics| action_heuristic_json(&heuristics, &position))
                .map_err(|why| why.to_string()),
            concepts: Ok(concepts_json(&learnt, &position)),
        };
        let mut object = entry.json();
        object.insert("game".to_owned(), json!(name));
        object.insert("state".to_owned(), json!(position.state_text()));
        say!("{}", Value::Object(object));
        return Ok(());
    }
    say!("{}", terminal::bold("What is known of the game"));
    for (what, text) in properties_text(&properties) {
        say!("  {}  {text}", terminal::dim(&format!("{what:14}")));
    }
    say!("");
    say!("{}", terminal::bold("What a position is worth, by fuzzy logic over the goals"));
    match &fuzzy {
        Ok(fuzzy) => {
            say!("  at {}", position.state_text().join(" "));
            evaluation_text(fuzzy, judge.as_mut(), args.parts)
                .iter()
                .for_each(|line| say!("  {line}"));
        }
        Err(why) => say!("  none: {why}"),
    }
    if !moves.is_empty() {
        say!("");
        say!("{}", terminal::bold("What it is worth after each move"));
        for (role, text, worth) in moves.iter().take(args.parts) {
            say!("  {worth:8.2}  {role} {text}");
        }
        if moves.len() > args.parts {
            say!("  … and {} more moves", moves.len() - args.parts);
        }
    }
    say!("");
    say!("{}", terminal::bold("What must hold now for a move to reach the goal"));
    match heuristics {
        Ok(heuristics) => {
            let lines = action_heuristic_text(&heuristics, &position, args.parts);
            lines.iter().for_each(|line| say!("  {line}"));
        }
        Err(why) => say!("  none: {why}"),
    }
    say!("");
    say!("{}", terminal::bold("What goes together where somebody has won"));
    concepts_text(&learnt, &position, args.parts).iter().for_each(|line| say!("  {line}"));
    Ok(())
}

/// The position that was asked for.
fn position(args: &Args, game: &Arc<Game>) -> Result<Interpreter, Failure> {
    let mut position = game.start();
    let Some(state) = &args.state else {
        go_on(&mut position, &args.after)?;
        return Ok(position);
    };
    let texts = split_terms(state).map_err(Failure::unreadable)?;
    let mut fluents = Vec::new();
    for text in texts {
        let term = game.parse(&text);
        fluents.push(
            term.ok_or_else(|| Failure::wrong(format!("`{text}` is no fluent of this game")))?,
        );
    }
    position.go_to(&game.state(fluents));
    Ok(position)
}

/// The game with its circuit, if one can be made in a third of the time.
fn subject(game: &Arc<Game>, time: Duration) -> Subject {
    let mut limits = CircuitLimits { gates: 1_000_000, ..CircuitLimits::default() };
    limits.ground.deadline = Some(Instant::now() + time / 3);
    let compiled = game.compile(&limits).ok();
    Subject::new(Arc::clone(game), compiled.map(Arc::new))
}

/// What the position after each legal move of a role that alone has a choice is worth to it, the best first.
fn outlook(position: &Interpreter, judge: &mut FuzzyJudge) -> Vec<(String, String, f64)> {
    let choosers: Vec<Role> = position.choosers().collect();
    let [chooser] = choosers.as_slice() else { return Vec::new() };
    let name = &position.shape().role_names[chooser.index()];
    let mut after = position.clone();
    let mut moves = Vec::new();
    for m in position.legal_moves(*chooser) {
        let roles = position.shape().roles();
        let joint: Vec<_> = roles
            .map(|role| if role == *chooser { *m } else { position.legal_moves(role)[0] })
            .collect();
        after.go_to(position.state());
        after.advance(&joint);
        let worth = if after.is_terminal() {
            after.payoff(*chooser)
        } else {
            judge.look(Seen::Terms(after.state().fluents()));
            judge.value(chooser.index())
        };
        moves.push((name.clone(), position.move_text(m), worth));
    }
    judge.look(Seen::Terms(position.state().fluents()));
    moves.sort_by(|a, b| b.2.total_cmp(&a.2));
    moves
}

/// Looks at every rulesheet below a folder.
fn survey(args: &Args, folder: &Path) -> Result<(), Failure> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let listed = std::fs::read_dir(&folder).map_err(|error| {
            Failure::unreadable(format!("cannot read {}: {error}", folder.display()))
        })?;
        for entry in listed.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "kif") {
                found.push(path);
            }
        }
    }
    found.sort();
    let (mut n_made, mut n_refused, mut n_late, mut n_unplayable) = (0, 0, 0, 0);
    // By feature: in how many games it is (001, figure 1, on the right). Last: those without any.
    let mut games_with: Vec<(String, usize)> = Vec::new();
    let mut n_without = 0;
    for path in &found {
        let began = Instant::now();
        let name = path.display().to_string();
        let Ok(game) = open::open(&name, &args.play) else {
            n_unplayable += 1;
            tell(args, &json!({"game": name, "refused": {"game": "the rules have faults"}}));
            continue;
        };
        let time = Duration::from_secs(args.seconds);
        let subject = subject(&game, time);
        let fuzzy = subject.fuzzy(&FuzzyOptions::default(), time);
        let seconds = began.elapsed().as_secs_f64();
        let is_late = seconds > args.seconds as f64;
        match &fuzzy {
            Ok(_) if is_late => n_late += 1,
            Ok(_) => n_made += 1,
            Err(_) => n_refused += 1,
        }
        let line = line(&name, seconds, subject.compiled().is_some(), fuzzy.as_deref());
        if let Some(features) = line["features"].as_object() {
            n_without += usize::from(features.values().all(|n| n.as_u64() == Some(0)));
            games_with.resize(features.len(), (String::new(), 0));
            for ((name, n), (known, n_games)) in features.iter().zip(&mut games_with) {
                known.clone_from(name);
                *n_games += usize::from(n.as_u64() != Some(0));
            }
        }
        tell(args, &line);
    }
    if !args.json {
        for (feature, n_games) in &games_with {
            say!("{n_games:5} games with {}", feature.replace('_', " "));
        }
        say!("{n_without:5} games without any feature");
        say!(
            "{n_made} of {} have an evaluation within {} s; {n_late} took longer, {n_refused} are refused, {n_unplayable} \
             cannot be played",
            found.len(),
            args.seconds
        );
    }
    Ok(())
}

fn tell(args: &Args, line: &Value) {
    if args.json {
        say!("{line}");
        return;
    }
    let what = match (&line["features"], &line["refused"]) {
        (Value::Null, why) => format!("refused: {why}"),
        (features, _) => format!("{:.1} s, {features}", line["seconds"].as_f64().unwrap_or(0.0)),
    };
    say!("{}  {what}", line["game"].as_str().unwrap_or_default());
}

fn line(
    name: &str,
    seconds: f64,
    has_circuit: bool,
    fuzzy: Result<&Fuzzy, &agon_analysis::fuzzy::NoFuzzy>,
) -> Value {
    match fuzzy {
        Err(why) => {
            json!({"game": name, "seconds": seconds, "refused": {"fuzzy": why.to_string()}})
        }
        Ok(fuzzy) => {
            let counts = fuzzy.counts();
            json!({
                "game": name, "seconds": seconds, "circuit": has_circuit, "nodes": fuzzy.tree.len(),
                "features": {
                    "expression_cardinality": counts.expression_cardinality,
                    "fluent_cardinality": counts.fluent_cardinality,
                    "order": counts.order, "distance_between": counts.between,
                    "natural_distance": counts.natural, "graph_distance": counts.graph,
                    "persistence": counts.persistence,
                },
            })
        }
    }
}
