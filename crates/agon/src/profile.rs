//! What each rule of a game costs, and which rules and conditions are never used in play.
//!
//! The rules are evaluated one by one at the states of random plays. The cost of a rule is the
//! number of evaluation steps of the interpreter for it alone, when everything that it asks for has
//! been computed. In the circuit it is the number of instances, and of gates before these are
//! shared.

mod rewriting;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_datalog::Symbol;
use agon_game::{Position as _, Rng};
use agon_gdl::circuit::{CircuitLimits, RuleCost};
use agon_gdl::interpreter::{Game, Query, QueryEngine, QueryPlan};
use agon_gdl::rules::{Condition, Rule, RuleAtom, RuleTerm};
use rand::SeedableRng as _;
pub use rewriting::profile_rewriting;
use serde_json::{Value, json};

/// How a game is profiled.
#[derive(Clone, Debug)]
pub struct ProfileOptions {
    /// Number of random plays.
    pub plays: usize,
    /// Maximum number of steps of a play.
    pub max_steps: usize,
    /// Seed of the plays.
    pub seed: u64,
    /// Time after which no further play begins.
    pub time: Duration,
}

impl Default for ProfileOptions {
    fn default() -> ProfileOptions {
        let time = Duration::from_secs(20);
        ProfileOptions { plays: 20, max_steps: 200, seed: 1, time }
    }
}

/// What is known about the rules of a game.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Number of plays.
    pub plays: usize,
    /// Number of states at which the rules were evaluated.
    pub states: usize,
    /// Whether the rules have been grounded, so that the numbers of gates are known.
    pub has_gates: bool,
    /// The clauses with conditions, in the order of the text.
    pub rules: Vec<RuleProfile>,
}

/// What is known about one clause of a rulesheet.
#[derive(Clone, Debug, Default)]
pub struct RuleProfile {
    /// The line at which it starts, from 1.
    pub line: usize,
    /// The head as it was written.
    pub head: String,
    /// Evaluation steps of the interpreter in all states together.
    pub steps: u64,
    /// Number of states at which the rule derived something.
    pub used: usize,
    /// Instances in the circuit.
    pub instances: u64,
    /// Gates of the circuit before gates are shared.
    pub gates: u64,
    /// Whether it was evaluated. Rules that need given arguments are not.
    pub is_measured: bool,
    /// Conditions that were never true, as they were written, with their lines.
    pub never_true: Vec<(usize, String)>,
}

/// Profiles the rules of a game.
///
/// # Errors
/// If the rules cannot be evaluated, a sentence that says why.
pub fn profile(game: &Arc<Game>, options: &ProfileOptions) -> Result<Profile, String> {
    let rules = game.rules().rules();
    let mut meters: Vec<Meter> = (0..rules.len()).map(|rule| Meter::new(game, rule)).collect();
    let mut queries: Vec<Query> = Vec::new();
    for meter in meters.iter_mut().filter(|meter| meter.is_measured) {
        let rule = &rules[meter.rule];
        meter.query = queries.len();
        queries.push(query(rule, rule.body.clone()));
        for condition in rule.body.iter().filter(|condition| is_positive(condition)) {
            meter.conditions.push((queries.len(), condition.span(), false));
            queries.push(query(rule, vec![condition.clone()]));
        }
    }
    let first_relation = queries.len();
    queries.extend(relations(game));
    let n_queries = queries.len();
    let plan = QueryPlan::new(game, &queries).map_err(|why| why.to_string())?;
    let limits = game.options().limits.clone();
    let mut engine = QueryEngine::new(&Arc::new(plan), limits);
    let shared = first_relation..n_queries;
    let (plays, states) = play(game, options, &mut engine, &mut meters, &shared)?;
    let circuit_limits = {
        let mut limits = CircuitLimits::default();
        limits.ground.deadline = Instant::now().checked_add(options.time);
        limits
    };
    let costs = game.ground_rules(&circuit_limits).ok().map(|ground| ground.costs());
    Ok(Profile {
        plays,
        states,
        has_gates: costs.is_some(),
        rules: by_clause(game, &meters, &costs.unwrap_or_default()),
    })
}

/// The measurement of a rule in normal form.
struct Meter {
    rule: usize,
    is_measured: bool,
    query: usize,
    /// By positive condition: its query, its place, and whether it has been true.
    conditions: Vec<(usize, agon_text::Span, bool)>,
    steps: u64,
    used: usize,
}

impl Meter {
    fn new(game: &Game, rule: usize) -> Meter {
        let rules = game.rules();
        let head = &rules.rules()[rule].head;
        let is_measured = !rules.rules()[rule].body.is_empty()
            && rules.demanded(head.relation, head.arguments.len()).is_none();
        Meter { rule, is_measured, query: 0, conditions: Vec::new(), steps: 0, used: 0 }
    }
}

fn is_positive(condition: &Condition) -> bool {
    matches!(condition, Condition::Holds(_))
}

/// Returns the query for conditions of a rule: the values of the variables that they bind.
fn query(rule: &Rule, body: Vec<Condition>) -> Query {
    let mut bound = vec![false; rule.n_variables as usize];
    for condition in body.iter().filter(|condition| is_positive(condition)) {
        condition.each_variable(&mut |variable| bound[variable as usize] = true);
    }
    let wanted = (0..rule.n_variables).filter(|&variable| bound[variable as usize]).collect();
    Query { body, wanted, n_variables: rule.n_variables }
}

/// Returns a query for each relation that rules define: all its rows.
fn relations(game: &Game) -> impl Iterator<Item = Query> {
    let heads = game.rules().rules().iter().map(|rule| &rule.head);
    let open =
        heads.filter(|head| game.rules().demanded(head.relation, head.arguments.len()).is_none());
    let distinct: BTreeSet<(Symbol, usize)> =
        open.map(|head| (head.relation, head.arguments.len())).collect();
    distinct.into_iter().map(|(relation, arity)| {
        let n_variables = u32::try_from(arity).expect("arguments are limited by the reader");
        let arguments = (0..n_variables).map(RuleTerm::Variable).collect();
        let atom = RuleAtom { relation, arguments, span: agon_text::Span::default() };
        let body = vec![Condition::Holds(atom)];
        Query { body, wanted: (0..n_variables).collect(), n_variables }
    })
}

/// Plays at random and evaluates the rules at every state. `shared` are the queries of the
/// relations. Returns the numbers of plays and states.
fn play(
    game: &Arc<Game>,
    options: &ProfileOptions,
    engine: &mut QueryEngine,
    meters: &mut [Meter],
    shared: &std::ops::Range<usize>,
) -> Result<(usize, usize), String> {
    let deadline = Instant::now().checked_add(options.time);
    let is_late = || deadline.is_some_and(|deadline| Instant::now() > deadline);
    let mut rng = Rng::seed_from_u64(options.seed);
    let (mut n_plays, mut n_states) = (0, 0);
    for _ in 0..options.plays {
        if is_late() {
            break;
        }
        let mut position = game.start();
        let mut joint = Vec::new();
        for _ in 0..=options.max_steps {
            engine.go_to(position.state().fluents());
            let is_over = position.is_terminal();
            if !is_over {
                position.draw(&mut rng, &mut joint);
                engine.set_moves(&joint);
            }
            // Relations are computed first, so that each rule pays for itself alone.
            for query in shared.clone() {
                engine.count(query).map_err(|why| why.to_string())?;
            }
            for meter in meters.iter_mut().filter(|meter| meter.is_measured) {
                evaluate(engine, meter)?;
            }
            n_states += 1;
            if is_over || is_late() {
                break;
            }
            position.advance(&joint);
        }
        n_plays += 1;
    }
    Ok((n_plays, n_states))
}

fn evaluate(engine: &mut QueryEngine, meter: &mut Meter) -> Result<(), String> {
    let before = engine.n_steps();
    let holds = engine.count(meter.query).map_err(|why| why.to_string())? > 0;
    meter.steps += engine.n_steps() - before;
    meter.used += usize::from(holds);
    for (query, _, was_true) in &mut meter.conditions {
        if !*was_true {
            *was_true = holds || engine.holds(*query).map_err(|why| why.to_string())?;
        }
    }
    Ok(())
}

/// Adds up the rules of each clause.
fn by_clause(game: &Game, meters: &[Meter], costs: &[RuleCost]) -> Vec<RuleProfile> {
    let sheet = game.rules().sheet();
    let source = &sheet.source;
    let mut all: Vec<RuleProfile> = Vec::new();
    let mut last = usize::MAX;
    for meter in meters {
        let rule = &game.rules().rules()[meter.rule];
        if rule.body.is_empty() {
            continue;
        }
        let clause = &sheet.clauses[rule.clause];
        if rule.clause != last {
            last = rule.clause;
            all.push(RuleProfile {
                line: source.place(clause.span.start()).line,
                head: source.slice(clause.head.span).to_owned(),
                ..RuleProfile::default()
            });
        }
        let profile = all.last_mut().expect("a clause was pushed");
        profile.is_measured |= meter.is_measured;
        profile.steps += meter.steps;
        profile.used = profile.used.max(meter.used);
        if let Some(cost) = costs.get(meter.rule) {
            profile.instances += cost.instances as u64;
            profile.gates += cost.conditions as u64;
        }
        for &(_, span, was_true) in &meter.conditions {
            let found = (source.place(span.start()).line, source.slice(span).to_owned());
            if !was_true && !profile.never_true.contains(&found) {
                profile.never_true.push(found);
            }
        }
    }
    all
}

impl Profile {
    /// Returns the profile as JSON, with the rules in the order of the text.
    pub fn to_json(&self) -> Value {
        let rules = self.rules.iter().map(|rule| {
            let never_true = rule.never_true.iter();
            json!({
                "line": rule.line, "head": rule.head, "measured": rule.is_measured,
                "steps": rule.steps, "used_at_states": rule.used,
                "instances": self.has_gates.then_some(rule.instances),
                "gates": self.has_gates.then_some(rule.gates),
                "never_true": never_true
                    .map(|(line, text)| json!({"line": line, "condition": text}))
                    .collect::<Vec<_>>(),
            })
        });
        json!({
            "plays": self.plays, "states": self.states,
            "rules": rules.collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} plays, {} states", self.plays, self.states)?;
        let all_steps: u64 = self.rules.iter().map(|rule| rule.steps).sum();
        let mut order: Vec<&RuleProfile> = self.rules.iter().collect();
        order.sort_by_key(|rule| (std::cmp::Reverse(rule.steps), rule.line));
        writeln!(f, "{:>6}  {:>7}  {:>7}  {:>9}  rule", "line", "cost", "used", "gates")?;
        for rule in order {
            let share = 100.0 * rule.steps as f64 / all_steps.max(1) as f64;
            let used = 100.0 * rule.used as f64 / self.states.max(1) as f64;
            let cost = match rule.is_measured {
                true => format!("{share:5.1} %"),
                false => "-".to_owned(),
            };
            let used = if rule.is_measured { format!("{used:5.1} %") } else { "-".to_owned() };
            let gates = if self.has_gates { rule.gates.to_string() } else { "-".to_owned() };
            writeln!(f, "{:6}  {cost:>7}  {used:>7}  {gates:>9}  {}", rule.line, rule.head)?;
        }
        let unused: Vec<&RuleProfile> =
            self.rules.iter().filter(|rule| rule.is_measured && rule.used == 0).collect();
        if !unused.is_empty() {
            writeln!(f, "\nnever used in these plays:")?;
        }
        for rule in unused {
            writeln!(f, "{:6}  {}", rule.line, rule.head)?;
            match rule.never_true.as_slice() {
                [] => writeln!(f, "        its conditions were never true together")?,
                never => {
                    for (line, condition) in never {
                        writeln!(f, "{line:6}    never true: {condition}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_rules_and_conditions_are_found() {
        let text = "(role a) (init (n 1)) (succ 1 2) (succ 2 3)
            (<= (legal a go) (true (n ?x)))
            (<= (next (n ?y)) (does a go) (true (n ?x)) (succ ?x ?y))
            (<= (next lost) (does a go) (true (n 9)) (succ 1 2))
            (<= terminal (true (n 3)))
            (<= (goal a 100) (true (n 3)))
            (<= (goal a 0) (not (true (n 3))))";
        let game = crate::Game::open(text).expect("the rules are sound");
        let rules = game.gdl().expect("it is GDL");
        let profile = profile(rules, &ProfileOptions::default()).expect("it can be played");
        let lost = profile.rules.iter().find(|rule| rule.head == "(next lost)");
        let lost = lost.expect("the rule is listed");
        assert_eq!(lost.used, 0);
        assert_eq!(lost.never_true, [(4, "(true (n 9))".to_owned())]);
        let steps = profile.rules.iter().find(|rule| rule.head == "(next (n ?y))");
        let steps = steps.expect("the rule is listed");
        assert_eq!(steps.used * 3, profile.states * 2, "it applies before the end");
        assert!(profile.has_gates && profile.to_string().contains("never true: (true (n 9))"));
    }
}
