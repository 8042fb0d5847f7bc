//! The goal values of each role.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_datalog::Symbol;
use agon_game::Role;
use agon_gdl::circuit::Compiled;
use agon_gdl::interpreter::Game;
use agon_gdl::rules::RuleTerm;
use agon_gdl::symbols::keyword;

use super::FuzzyError;
use crate::theory::{Bindings, Theory};

/// Maximum number of goal values of one role.
const MAX_VALUES: usize = 300;

/// Maximum number of steps of a search for goal values.
const MAX_STEPS: usize = 500_000;

/// Returns by role its goal values, each with its symbol. Empty for nature.
pub(super) fn goal_values(
    game: &Arc<Game>,
    compiled: Option<&Compiled>,
    theory: &mut Theory,
) -> Result<Vec<Vec<(i64, Symbol)>>, FuzzyError> {
    let mut values = Vec::new();
    for role in game.shape().roles() {
        if game.shape().nature == Some(role) {
            values.push(Vec::new());
            continue;
        }
        let found = match compiled {
            Some(compiled) => values_of_circuit(game, compiled, role),
            None => values_of_rules(game, theory, role)?,
        };
        if found.is_empty() {
            let role = game.shape().role_names[role.index()].clone();
            return Err(FuzzyError::NoGoalValue { role });
        }
        if found.len() > MAX_VALUES {
            let n_values = found.len();
            return Err(FuzzyError::TooManyGoalValues { n_values, max_values: MAX_VALUES });
        }
        values.push(found.into_iter().collect());
    }
    Ok(values)
}

/// Reads the goal values of a role from the outputs of the circuit.
fn values_of_circuit(game: &Game, compiled: &Compiled, role: Role) -> BTreeMap<i64, Symbol> {
    let symbols = &game.rules().sheet().symbols;
    let goals = &compiled.circuit.outputs.goals[role.index()];
    goals
        .iter()
        .filter_map(|&(value, _)| Some((value, symbols.find(&value.to_string())?)))
        .collect()
}

/// Reads the goal values of a role from the heads of the rules for `goal`.
fn values_of_rules(
    game: &Game,
    theory: &mut Theory,
    role: Role,
) -> Result<BTreeMap<i64, Symbol>, FuzzyError> {
    let symbols = &game.rules().sheet().symbols;
    let own = RuleTerm::constant(game.rules().roles()[role.index()]);
    let mut found: BTreeMap<i64, Symbol> = BTreeMap::new();
    for index in theory.rules_of((keyword::GOAL, 2)).to_vec() {
        let rule = theory.fresh_rule(index);
        let mut bindings = Bindings::default();
        if !bindings.unify(&rule.head.arguments[0], &own) {
            continue;
        }
        let values: Vec<Symbol> = match bindings.fill(&rule.head.arguments[1]) {
            RuleTerm::Function(symbol, _) => vec![symbol],
            RuleTerm::Variable(v) => {
                let body = bindings.fill_all(&rule.body);
                let rows = theory
                    .possible_values(&body, &[v], MAX_VALUES, MAX_STEPS)
                    .map_err(|_| FuzzyError::UnknownGoalValues)?;
                rows.iter().map(|row| game.bank().symbol(row[0])).collect()
            }
        };
        let number = |symbol: Symbol| Some((symbols.name(symbol).parse::<i64>().ok()?, symbol));
        found.extend(values.into_iter().filter_map(number));
    }
    Ok(found)
}
