//! Terms that count the open ways to a goal, by the conditions of the rules.

use std::collections::{BTreeMap, BTreeSet};

use agon_structures::formula::{
    Argument, Definition, Fold, Formula, Fresh, Name, Operator, Term, Variable,
};
use agon_structures::normal_form::{dnf, pnf, simplified};
use agon_toss::arena::{ArenaRule, CheckedArena, Effect, Reason};

use super::{GoalOptions, GoalTermsError, all_of, one_of, sum};

/// Returns the term for a goal: a sum over all assignments for which the stable part of the goal
/// holds, some of its fluent part holds, and moves can still be made. The summand is the number of
/// fluent parts that hold, raised to a power.
///
/// Disjuncts with quantifiers of their own are summed.
pub(super) fn open_ways(
    goal: &Formula,
    arena: &CheckedArena,
    fluents: &BTreeSet<Name>,
    options: &GoalOptions,
) -> Result<Term, GoalTermsError> {
    // In type normal form the disjuncts of a goal have separate quantifiers. Those over the same
    // variables are joined again, as in the prenex form that Kaiser & Stafiniak 2011 start from.
    let parts = match goal {
        Formula::Or(parts) => parts.clone(),
        other => vec![other.clone()],
    };
    let mut by_variables: BTreeMap<Vec<Variable>, Vec<Formula>> = BTreeMap::new();
    let mut terms = Vec::new();
    for part in &parts {
        let (hidden, universals) = without_universals(part);
        let prenex = pnf(&hidden, options.size)?;
        let (variables, matrix) = prefix(&prenex);
        if variables.is_empty() {
            terms.push(Term::characteristic(part.clone()));
            continue;
        }
        let (variables, matrix) = with_plain_names(&variables, matrix);
        let Formula::Or(disjuncts) = as_or(dnf(&matrix, options.size)?) else {
            unreachable!("`as_or` returns a disjunction")
        };
        for disjunct in disjuncts {
            let restored = universals.iter().try_fold(disjunct, |formula, universal| {
                formula.with_relation(universal, options.size)
            })?;
            by_variables.entry(variables.clone()).or_default().push(restored);
        }
    }
    for (variables, disjuncts) in by_variables {
        terms.push(of_block(&variables, &disjuncts, arena, fluents, options));
    }
    Ok(sum(terms))
}

/// Returns the term for `ex variables (disjunct or ...)`, where each disjunct is a conjunction of
/// literals.
fn of_block(
    variables: &[Variable],
    disjuncts: &[Formula],
    arena: &CheckedArena,
    fluents: &BTreeSet<Name>,
    options: &GoalOptions,
) -> Term {
    let mut wanted: Vec<Formula> = Vec::new();
    let mut stable: Vec<Formula> = Vec::new();
    for disjunct in disjuncts {
        let parts = match disjunct {
            Formula::And(parts) => parts.clone(),
            other => vec![other.clone()],
        };
        let is_wanted =
            |part: &Formula| matches!(part, Formula::Relation(name, _) if fluents.contains(name));
        let (own, others): (Vec<Formula>, Vec<Formula>) = parts.into_iter().partition(is_wanted);
        // Equal parts of several disjuncts are counted once, as in example 10 of Kaiser & Stafiniak
        // 2011.
        for part in own {
            if !wanted.contains(&part) {
                wanted.push(part);
            }
        }
        let others = all_of(others);
        if !stable.contains(&others) {
            stable.push(others);
        }
    }
    if wanted.is_empty() {
        return Term::characteristic(Formula::exists(variables, one_of(disjuncts.to_vec())));
    }
    wanted.sort();
    let mut guard = Vec::new();
    if !stable.iter().any(Formula::is_truth) {
        guard.push(one_of(stable));
    }
    guard.push(one_of(wanted.clone()));
    for variable in variables {
        guard.extend(can_be_taken(variable, &wanted, arena));
    }
    let counted = sum(wanted.into_iter().map(Term::characteristic));
    let counted = Term::binary(Operator::Power, counted, Term::whole(options.power.into()));
    Term::aggregate(Fold::Sum, variables.to_vec(), all_of(guard), counted)
}

/// Returns the condition under which a rule can make a fluent part true at an element (`move` in
/// Kaiser & Stafiniak 2011). `None` if no rule can.
fn can_be_taken(variable: &Variable, wanted: &[Formula], arena: &CheckedArena) -> Option<Formula> {
    let names: BTreeSet<&Name> = wanted.iter().filter_map(relation_of).collect();
    let is_of =
        |formula: &Formula| arguments_of(formula).iter().any(|a| a.variable() == Some(variable));
    let wanted_here: BTreeSet<&Name> =
        wanted.iter().filter(|part| is_of(part)).filter_map(relation_of).collect();
    let vocabulary = arena.vocabulary();
    let mut ways: Vec<Formula> = Vec::new();
    for rule in arena.rules() {
        let Effect::Tuples { add, .. } = &rule.effect else { continue };
        for added in add {
            if !wanted_here.contains(vocabulary.relation_name(added.relation)) {
                continue;
            }
            for &element in &added.arguments {
                let way = condition_at(rule, element, variable, &names);
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
        }
    }
    if ways.is_empty() || ways.iter().any(Formula::is_truth) {
        return None;
    }
    Some(one_of(ways))
}

/// Returns the left-hand side of a rule as a formula about one of its elements. Negations of the
/// wanted relations are left out, and the other elements are quantified existentially.
fn condition_at(
    rule: &ArenaRule,
    element: usize,
    variable: &Variable,
    wanted: &BTreeSet<&Name>,
) -> Formula {
    let mut fresh = Fresh::avoiding(rule.condition.all_names());
    fresh.avoid(BTreeSet::from([variable.name().into()]));
    let renamed: BTreeMap<Variable, Argument> = rule
        .elements
        .iter()
        .enumerate()
        .map(|(at, own)| {
            let new = if at == element { variable.clone() } else { fresh.variable(own) };
            (own.clone(), Argument::from(new))
        })
        .collect();
    let is_left_side = |reason: Reason| {
        matches!(reason, Reason::Tuple | Reason::Embedded | Reason::Different | Reason::Match)
    };
    let parts = rule.parts.iter().filter(|part| is_left_side(part.reason)).filter(|part| {
        !matches!(&part.formula, Formula::Not(inner)
            if relation_of(inner).is_some_and(|name| wanted.contains(name)))
    });
    let parts: Vec<Formula> = parts.map(|part| part.formula.substituted(&renamed)).collect();
    let others: Vec<Variable> = renamed
        .values()
        .filter_map(Argument::variable)
        .filter(|other| {
            *other != variable && parts.iter().any(|part| part.free_variables().contains(*other))
        })
        .cloned()
        .collect();
    simplified(&Formula::exists(&others, all_of(parts)))
}

fn relation_of(formula: &Formula) -> Option<&Name> {
    match formula {
        Formula::Relation(name, _) => Some(name),
        _ => None,
    }
}

fn arguments_of(formula: &Formula) -> &[Argument] {
    match formula {
        Formula::Relation(_, arguments) => arguments,
        _ => &[],
    }
}

/// Returns the variables of the leading existential quantifiers, and the formula below them.
fn prefix(formula: &Formula) -> (Vec<Variable>, &Formula) {
    let mut variables = Vec::new();
    let mut inner = formula;
    while let Formula::Exists(own, below) = inner {
        variables.extend(own.iter().cloned());
        inner = below;
    }
    (variables, inner)
}

/// Returns the variables and the matrix with numeric suffixes removed from the names, so that
/// blocks over the same variables are recognised. The examples of Kaiser & Stafiniak 2011 use the
/// names of the goal, so they are kept where possible.
fn with_plain_names(variables: &[Variable], matrix: &Formula) -> (Vec<Variable>, Formula) {
    let base = |variable: &Variable| -> Variable {
        let name = variable.name();
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
        Variable::new(if stem.is_empty() { name } else { stem })
    };
    let plain: Vec<Variable> = variables.iter().map(base).collect();
    let are_distinct = plain.iter().collect::<BTreeSet<_>>().len() == plain.len();
    let free = matrix.free_variables();
    let clashes = plain.iter().any(|new| free.contains(new) && !variables.contains(new));
    if !are_distinct || clashes {
        return (variables.to_vec(), matrix.clone());
    }
    let replaced = variables.iter().cloned().zip(plain.iter().map(Argument::from)).collect();
    (plain, matrix.substituted(&replaced))
}

fn as_or(formula: Formula) -> Formula {
    match formula {
        Formula::Or(parts) => Formula::Or(parts),
        other => Formula::Or(vec![other]),
    }
}

/// Returns the formula with its universal parts replaced by atoms, and the definitions of these
/// atoms.
fn without_universals(formula: &Formula) -> (Formula, Vec<Definition>) {
    let mut universals = Vec::new();
    let mut fresh = Fresh::avoiding(formula.all_names());
    let hidden = hide(formula, &mut fresh, &mut universals);
    (hidden, universals)
}

fn hide(formula: &Formula, fresh: &mut Fresh, universals: &mut Vec<Definition>) -> Formula {
    match formula {
        Formula::And(parts) => {
            Formula::And(parts.iter().map(|p| hide(p, fresh, universals)).collect())
        }
        Formula::Or(parts) => {
            Formula::Or(parts.iter().map(|p| hide(p, fresh, universals)).collect())
        }
        Formula::Exists(variables, inner) => {
            Formula::exists(variables, hide(inner, fresh, universals))
        }
        Formula::All(..) => {
            let name = fresh.name("All");
            let variables: Vec<Variable> = formula.free_variables().into_iter().collect();
            let atom =
                Formula::Relation(name.clone(), variables.iter().map(Argument::from).collect());
            universals.push(Definition { name, variables, body: formula.clone() });
            atom
        }
        other => other.clone(),
    }
}
