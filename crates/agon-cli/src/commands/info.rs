//! `agon info`: facts about a game, by proof and by observation.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::explain::{properties_json, properties_text};
use agon_analysis::properties::{Known, Properties, PropertyLimits};
use agon_game::{Notation as _, Position, Rng, Role, SecretPlan, hides_information};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Level};
use agon_gdl::symbols::keyword;
use agon_gdl::syntax::{Rulesheet, Syntax};
use rand::SeedableRng as _;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::open::{self, Language, RuleOptions};
use crate::terminal;
use crate::terminal::say;
use agon::shipped::header;

/// Show facts about a game: roles, size, proved and observed properties
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon info connect-four
  agon info my-game.kif --plays 100 --json")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Number of random plays for observed properties
    #[arg(long, default_value_t = 20)]
    plays: u64,
    /// Seed of the random plays
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Time limit for proofs, in seconds
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) play: RuleOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let source = open::source(&args.game)?;
    let (facts, properties) = match open::language(&source) {
        Language::Gdl => {
            let game = open::open_source(source, &args.play.within(args.seconds as f64))?;
            let properties = properties(args, &game);
            (facts(args, &game, &properties), properties_text(&properties))
        }
        Language::Toss => {
            let game = open::open_toss(source, &args.play.within(args.seconds as f64))?;
            (toss_facts(args, &game), Vec::new())
        }
    };
    if args.json {
        say!("{facts}");
    } else {
        print(&facts, args);
        for (what, text) in properties {
            say!("  {}  {text}", terminal::dim(&format!("{what:14}")));
        }
    }
    Ok(())
}

/// Finds properties by random plays and proofs, on a circuit if that can be made in time.
fn properties(args: &Args, game: &Arc<Game>) -> Properties {
    let part = Duration::from_secs(args.seconds) / 2;
    let mut circuit = CircuitLimits { gates: MAX_GATES, ..CircuitLimits::default() };
    circuit.ground.deadline = Some(Instant::now() + part);
    let compiled = game.compile(&circuit).ok();
    let mut limits = PropertyLimits::until(Instant::now() + part);
    (limits.plays.plays, limits.plays.seed) = (args.plays, args.seed);
    Properties::find(game, compiled.as_ref(), &limits)
}

/// Maximum number of gates: proofs on larger circuits take too long.
const MAX_GATES: usize = 1_000_000;

/// Returns the facts about a GDL game as JSON.
fn facts(args: &Args, game: &Arc<Game>, properties: &Properties) -> Value {
    let rules = game.rules();
    let sheet = rules.sheet();
    let start = game.start();
    let shape = game.shape();
    let relations = game.relations();
    let at_level = |level| relations.iter().filter(|r| r.level == level).count();
    let keywords = used_keywords(sheet);
    let header = |key| header(sheet.source.text(), key);
    let (n_procedures, n_indexes) = game.plan_sizes();
    let takes_turns = properties.turns.turn_taking == Some(Known::Proved);
    json!({
        "game": args.game,
        "title": header("title"), "summary": header("summary"), "interest": header("interest"),
        "facts": header("facts"),
        "params": params(&sheet.source),
        "language": if rules.is_gdl2() { "GDL-II" } else { "GDL" },
        "syntax": match sheet.syntax { Syntax::Kif => "kif", Syntax::Infix => "infix" },
        "roles": shape.role_names,
        "nature": shape.nature.map(|role| &shape.role_names[role.index()]),
        "hidden_information": shape.hidden,
        "secrets_met": shape.hidden && hides_information(&start, &SecretPlan::default()),
        "keywords": keywords,
        "clauses": sheet.clauses.len(),
        "rules": sheet.clauses.iter().filter(|clause| !clause.body.is_empty()).count(),
        "rules_in_normal_form": rules.rules().len(),
        "relations": {"static": at_level(Level::Static), "state": at_level(Level::State),
            "move": at_level(Level::Move)},
        "initial_fluents": start.state_text().len(),
        "plan": {"procedures": n_procedures, "indexes": n_indexes},
        "proved": {
            "safe": true, "stratified": true,
            "turn_taking": takes_turns.then_some(true),
            "constant_sum": match properties.payoffs.constant_sum {
                Some((sum, Known::Proved)) => json!(sum),
                Some((_, Known::Observed { .. })) | None => Value::Null,
            },
        },
        "observed": observe(args, &start),
        "properties": properties_json(properties),
    })
}

/// Returns the parameters of the rules with their values.
fn params(source: &agon_text::Source) -> Vec<Value> {
    let params = agon::open::params(source);
    params
        .iter()
        .map(|param| {
            json!({
                "name": param.name, "value": param.value, "meaning": param.meaning,
                "bounds": param.bounds.map(|(low, high)| [low, high]),
            })
        })
        .collect()
}

/// Returns the keywords of GDL that a rulesheet uses.
fn used_keywords(sheet: &Rulesheet) -> Vec<&str> {
    let used = |symbol| {
        let mut used = false;
        for clause in &sheet.clauses {
            used |= clause.head.relation == symbol;
            for literal in &clause.body {
                literal.each_atom(&mut |atom, _| used |= atom.relation == symbol);
            }
        }
        used
    };
    [
        keyword::ROLE,
        keyword::INIT,
        keyword::TRUE,
        keyword::DOES,
        keyword::NEXT,
        keyword::LEGAL,
        keyword::GOAL,
        keyword::TERMINAL,
        keyword::BASE,
        keyword::INPUT,
        keyword::SEES,
        keyword::PERCEPT,
    ]
    .into_iter()
    .filter(|&symbol| used(symbol))
    .map(|symbol| sheet.symbols.name(symbol))
    .collect()
}

/// Returns the facts about a structure rewriting game as JSON.
fn toss_facts(args: &Args, game: &Arc<agon_toss::interpreter::Game>) -> Value {
    let arena = game.arena();
    let (start, shape) = (game.start(), game.shape());
    let header = |key| header(arena.sheet().source.text(), key);
    let relations = arena.vocabulary().relations();
    let n_fluents = relations.filter(|&relation| arena.is_fluent(relation)).count();
    let vocabulary = arena.vocabulary();
    let functions: Vec<String> = vocabulary
        .functions()
        .map(|function| {
            let name = vocabulary.function_name(function);
            let how = if arena.is_changing_function(function) { "changes" } else { "is fixed" };
            format!("{name} {how}")
        })
        .collect();
    json!({
        "game": args.game,
        "title": header("title"), "summary": header("summary"), "interest": header("interest"),
        "facts": header("facts"),
        "language": "Toss", "syntax": "toss",
        "roles": shape.role_names,
        "nature": shape.nature.map(|role| &shape.role_names[role.index()]),
        "hidden_information": false,
        "rules": arena.rules().len(), "locations": arena.locations().len(),
        "elements": arena.start().n_elements(), "keeps_universe": arena.keeps_universe(),
        "relations": {"static": arena.vocabulary().n_relations() - n_fluents, "state": n_fluents,
            "defined": arena.definitions().len()},
        "functions": functions, "continuous": arena.is_continuous(),
        "initial_fluents": start.state_text().len(),
        "payoffs": [shape.payoffs.start(), shape.payoffs.end()],
        "proved": {
            "turn_taking": if shape.turn_taking { json!(true) } else { Value::Null },
            "constant_sum": shape.constant_sum,
        },
        "observed": observe(args, &start),
    })
}

/// Returns what random plays show: observed, not proved.
fn observe<P: Position>(args: &Args, start: &P) -> Value {
    let mut position = start.clone();
    let mut rng = Rng::seed_from_u64(args.seed);
    let roles: Vec<Role> = start.shape().roles().collect();
    let players: Vec<Role> = start.shape().players().collect();
    let (mut n_steps, mut n_ended, mut n_plays) = (0u64, 0u64, 0u64);
    let mut n_moves = vec![0u64; roles.len()];
    let mut turn_taking = true;
    let mut sums: Vec<f64> = Vec::new();
    let mut joint = Vec::new();
    for _ in 0..args.plays {
        position.go_to(start.state());
        n_plays += 1;
        for _ in 0..1000 {
            if position.is_terminal() {
                break;
            }
            for &role in &roles {
                n_moves[role.index()] += position.legal_moves(role).len() as u64;
            }
            turn_taking &=
                players.iter().filter(|&&r| position.legal_moves(r).len() > 1).count() <= 1;
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
            n_steps += 1;
        }
        if position.is_terminal() {
            n_ended += 1;
            sums.push(players.iter().map(|&role| position.payoff(role)).sum());
        }
    }
    let constant = sums.first().filter(|first| sums.iter().all(|sum| sum == *first));
    let branching: Vec<f64> = n_moves.iter().map(|&n| n as f64 / n_steps.max(1) as f64).collect();
    json!({
        "plays": n_plays, "ended": n_ended, "seed": args.seed,
        "mean_length": n_steps as f64 / n_plays.max(1) as f64,
        "mean_legal_moves": branching,
        "turn_taking": turn_taking, "constant_sum": constant,
    })
}

fn print(facts: &Value, args: &Args) {
    let text = |key: &str| facts[key].as_str().unwrap_or_default().to_owned();
    let line = |name: &str, value: String| {
        if !value.is_empty() {
            say!("  {}  {value}", terminal::dim(&format!("{name:14}")));
        }
    };
    let list = |value: &Value| {
        let items = value.as_array().into_iter().flatten();
        items
            .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
            .collect::<Vec<_>>()
    };
    let title = if text("title").is_empty() { args.game.clone() } else { text("title") };
    say!("{}", terminal::bold(&title));
    line("summary", text("summary"));
    line("interesting", text("interest"));
    line("facts", text("facts"));
    for param in facts["params"].as_array().into_iter().flatten() {
        let bounds = match &param["bounds"] {
            Value::Array(bounds) => format!(" ({} to {})", bounds[0], bounds[1]),
            _ => String::new(),
        };
        let meaning = match param["meaning"].as_str().unwrap_or_default() {
            "" => String::new(),
            meaning => format!(", {meaning}"),
        };
        let name = param["name"].as_str().unwrap_or_default();
        line("parameter", format!("{name} = {}{bounds}{meaning}", param["value"]));
    }
    let syntax = match text("syntax").as_str() {
        "infix" => ", infix notation",
        _ => "",
    };
    line("language", format!("{}{syntax}", text("language")));
    line("roles", list(&facts["roles"]).join(", "));
    line("chance", text("nature"));
    line(
        "information",
        match (&facts["hidden_information"], &facts["secrets_met"]) {
            (Value::Bool(true), Value::Bool(false)) => {
                "open: players are told everything by percepts (observed in 2 plays)".into()
            }
            (Value::Bool(true), _) => "hidden: players do not see everything".into(),
            _ => "open: every player sees everything".into(),
        },
    );
    if facts["language"] == json!("Toss") {
        print_toss(facts, &line);
    } else {
        print_gdl(facts, &line);
    }
    let n_players = list(&facts["roles"]).len() - usize::from(facts["nature"].is_string());
    // The properties of GDL games are printed after this.
    let is_known = |what: &str| match facts["language"] == json!("Toss") {
        true => !matches!(facts["proved"][what], Value::Null | Value::Bool(false)),
        false => !facts["properties"][what].is_null(),
    };
    print_observed(&facts["observed"], &list(&facts["roles"]), &is_known, n_players < 2, &line);
}

fn print_toss(facts: &Value, line: &dyn Fn(&str, String)) {
    let changes =
        if facts["keeps_universe"] == json!(true) { "always the same" } else { "they change" };
    line(
        "size",
        format!(
            "{}, {}, {} at the start ({changes})",
            count(&facts["rules"], "rule"),
            count(&facts["locations"], "location"),
            count(&facts["elements"], "element")
        ),
    );
    let relations = &facts["relations"];
    line(
        "relations",
        format!(
            "{} without changes, {} changed by rules, {} defined",
            relations["static"], relations["state"], relations["defined"]
        ),
    );
    if let Some(names) = facts["functions"].as_array().filter(|names| !names.is_empty()) {
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        let time = if facts["continuous"] == json!(true) { "; time passes" } else { "" };
        line("values", format!("{}{time}", names.join(", ")));
    }
    let payoff = |at: usize| facts["payoffs"][at].as_f64().unwrap_or(0.0);
    line("payoffs", format!("from {} to {}", payoff(0), payoff(1)));
    let mut proved = Vec::new();
    let is_single = facts["roles"].as_array().is_some_and(|roles| roles.len() < 2);
    if facts["proved"]["turn_taking"] == json!(true) && !is_single {
        proved.push("players take turns".to_owned());
    }
    if let Some(sum) = facts["proved"]["constant_sum"].as_f64() {
        proved.push(format!("payoffs add up to {sum}"));
    }
    line("proved", proved.join("; "));
}

/// Writes a number of things: "1 rule", "2 rules".
fn count(number: &Value, what: &str) -> String {
    if number.as_u64() == Some(1) { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn print_gdl(facts: &Value, line: &dyn Fn(&str, String)) {
    line(
        "size",
        format!(
            "{}, {}; {} at the start",
            count(&facts["clauses"], "clause"),
            match facts["rules"].as_u64() {
                Some(1) => "1 of them a rule".to_owned(),
                _ => format!("{} of them rules", facts["rules"]),
            },
            count(&facts["initial_fluents"], "fact"),
        ),
    );
    let relations = &facts["relations"];
    line(
        "relations",
        format!(
            "{} never change, {} depend on the position, {} on the moves",
            relations["static"], relations["state"], relations["move"]
        ),
    );
}

fn print_observed(
    observed: &Value,
    roles: &[String],
    is_known: &dyn Fn(&str) -> bool,
    is_single: bool,
    line: &dyn Fn(&str, String),
) {
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let branching: Vec<String> = roles
        .iter()
        .zip(observed["mean_legal_moves"].as_array().into_iter().flatten())
        .map(|(role, moves)| format!("{role} {:.1}", number(moves)))
        .collect();
    let plays = &observed["plays"];
    line(
        "in play",
        format!(
            "{} of {plays} random plays ended, {:.1} steps on average",
            observed["ended"],
            number(&observed["mean_length"])
        ),
    );
    line("legal moves", format!("{} on average", branching.join(", ")));
    let mut seen = Vec::new();
    // A single player has neither turns nor an opponent, and what is listed below needs no line.
    if observed["turn_taking"] == json!(true) && !is_single && !is_known("turn_taking") {
        seen.push("at most one player had a choice at a time".to_owned());
    }
    if let Some(sum) = observed["constant_sum"].as_f64()
        && !is_single
        && !is_known("constant_sum")
    {
        seen.push(format!("payoffs always added up to {sum}"));
    }
    line("observed", seen.join("; "));
}
