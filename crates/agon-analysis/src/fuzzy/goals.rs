//! The goal values that there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_datalog::Symbol;
use agon_gdl::engine::Compiled;
use agon_gdl::interpreter::Game;
use agon_gdl::rules::RuleTerm;
use agon_gdl::symbols::keyword;

use super::NoFuzzy;
use crate::theory::{Bindings, Theory};

/// Goal values of one role.
const MAX_VALUES: usize = 300;

/// Steps of a search for them.
const MAX_STEPS: usize = 500_000;

/// By role: the goal values, each with its name. None for nature.
pub(super) fn goal_values(
    game: &Arc<Game>,
    compiled: Option<&Compiled>,
    theory: &mut Theory,
) -> Result<Vec<Vec<(i64, Symbol)>>, NoFuzzy> {
    let symbols = &game.rules().sheet().symbols;
    let mut values = Vec::new();
    for role in game.shape().roles() {
        let mut found: BTreeMap<i64, Symbol> = BTreeMap::new();
        if game.shape().nature == Some(role) {
            values.push(Vec::new());
            continue;
        }
        match compiled {
            Some(compiled) => {
                let goals = &compiled.circuit.outputs.goals[role.index()];
                found.extend(
                    goals
                        .iter()
                        .filter_map(|&(value, _)| Some((value, symbols.find(&value.to_string())?))),
                );
            }
            None => {
                for index in theory.rules_of((keyword::GOAL, 2)).to_vec() {
                    let rule = theory.fresh(index);
                    let own = RuleTerm::constant(game.rules().roles()[role.index()]);
                    let mut bindings = Bindings::default();
                    if !bindings.unify(&rule.head.arguments[0], &own) {
                        continue;
                    }
                    let symbol_values: Vec<Symbol> = match bindings.fill(&rule.head.arguments[1]) {
                        RuleTerm::Function(symbol, _) => vec![symbol],
                        RuleTerm::Variable(v) => {
                            let body = bindings.fill_all(&rule.body);
                            let rows = theory.possible(&body, &[v], MAX_VALUES, MAX_STEPS);
                            let rows = rows.map_err(|_| {
                                NoFuzzy(
                                    "the goal values follow from play and not from the rules"
                                        .to_owned(),
                                )
                            })?;
                            rows.iter().map(|row| game.bank().symbol(row[0])).collect()
                        }
                    };
                    for symbol in symbol_values {
                        found.extend(
                            symbols.name(symbol).parse::<i64>().ok().map(|value| (value, symbol)),
                        );
                    }
                }
            }
        }
        if found.is_empty() {
            let name = &game.shape().role_names[role.index()];
            return Err(NoFuzzy(format!("the rules give {name} no goal that can be reached")));
        }
        if found.len() > MAX_VALUES {
            return Err(NoFuzzy(format!(
                "there are {} goal values, more than {MAX_VALUES}",
                found.len()
            )));
        }
        values.push(found.into_iter().collect());
    }
    Ok(values)
}
