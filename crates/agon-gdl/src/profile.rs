//! What each rule of a rulesheet costs, and which rules and conditions are never used in play.
//!
//! The rules are evaluated one by one at the states of random plays. The cost of a rule is the
//! number of evaluation steps of the interpreter for it alone, when everything that it asks for has
//! been computed. In the circuit it is the number of instances, and of gates before these are
//! shared.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use agon_datalog::Symbol;
use agon_game::{Position as _, Rng};
use agon_text::profile::{Profile, ProfileOptions, RuleProfile};
use rand::SeedableRng as _;

use crate::circuit::{CircuitLimits, RuleCost};
use crate::interpreter::{Game, Query, QueryEngine, QueryPlan};
use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};

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
    let ground = options.gates.then(|| game.ground_rules(&circuit_limits).ok()).flatten();
    let costs = ground.map(|ground| ground.costs());
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
    let is_late =
        || options.is_stopped() || deadline.is_some_and(|deadline| Instant::now() > deadline);
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
