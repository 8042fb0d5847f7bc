//! Decomposition of rules with many variables.
//!
//! A variable that occurs only in one part of a body is local to that part. The part becomes a
//! relation over the variables that it shares with the rest. Repeated, this is a tree decomposition
//! of the rule by variable elimination, cheapest first. Instances then multiply within a part, not
//! across the whole rule.
//!
//! Negated conditions and disequalities bind nothing. If a part has one on variables that only the
//! rest binds, the part gets a demand relation with the values that the whole rule needs.

use crate::program::{Atom, Goal, Pattern, Program, Rule};

/// Rules with at most this number of variables are not split.
const MAX_UNSPLIT_VARIABLES: usize = 3;

/// Splits the rules of a program. The rows of existing relations stay the same.
pub fn split(program: &mut Program) {
    let mut index = 0;
    while index < program.rules.len() {
        while let Some(part) = part_to_cut(&program.rules[index]) {
            cut(program, index, &part);
        }
        index += 1;
    }
}

/// A part of a body that becomes a rule.
struct Part {
    goals: Vec<usize>,
    /// Variables shared with the rest.
    shared: Vec<u32>,
    /// Whether its own positive conditions bind all its variables.
    is_safe: bool,
}

fn part_to_cut(rule: &Rule) -> Option<Part> {
    let n = rule.n_variables as usize;
    let variables: Vec<Vec<u32>> = rule.body.iter().map(variables_of).collect();
    let mut used = vec![false; n];
    variables.iter().flatten().for_each(|&v| used[v as usize] = true);
    let n_used = used.iter().filter(|&&used| used).count();
    if n_used <= MAX_UNSPLIT_VARIABLES || rule.body.len() < 2 {
        return None;
    }
    let mut in_head = vec![false; n];
    rule.head.each_variable(&mut |v| in_head[v as usize] = true);
    let mut best: Option<(usize, Part)> = None;
    for v in (0..rule.n_variables).filter(|&v| used[v as usize] && !in_head[v as usize]) {
        let mut goals: Vec<usize> =
            (0..rule.body.len()).filter(|&g| variables[g].contains(&v)).collect();
        let inside = inside(&goals, &variables, n);
        // Tests on variables of the part belong to it as well, because they make it smaller.
        goals.extend((0..rule.body.len()).filter(|g| {
            !goals_contain(&variables, *g, v)
                && !variables[*g].is_empty()
                && variables[*g].iter().all(|&w| inside[w as usize])
        }));
        goals.sort_unstable();
        let n_inside = inside.iter().filter(|&&inside| inside).count();
        if goals.len() == rule.body.len()
            || n_inside >= n_used
            || !is_connected(rule, &goals, &variables)
        {
            continue;
        }
        let is_safe = inside == positive_inside(rule, &goals, &variables);
        let is_shared = |w: u32| {
            in_head[w as usize]
                || (0..rule.body.len()).any(|g| !goals.contains(&g) && variables[g].contains(&w))
        };
        let shared: Vec<u32> =
            (0..rule.n_variables).filter(|&w| inside[w as usize] && is_shared(w)).collect();
        // A part of a single condition is useful only if it eliminates a variable.
        if goals.len() == 1 && shared.len() == n_inside {
            continue;
        }
        if best.as_ref().is_none_or(|(least, _)| n_inside < *least) {
            best = Some((n_inside, Part { goals, shared, is_safe }));
        }
    }
    best.map(|(_, part)| part)
}

fn goals_contain(variables: &[Vec<u32>], goal: usize, v: u32) -> bool {
    variables[goal].contains(&v)
}

fn inside(goals: &[usize], variables: &[Vec<u32>], n: usize) -> Vec<bool> {
    let mut inside = vec![false; n];
    goals.iter().flat_map(|&goal| &variables[goal]).for_each(|&v| inside[v as usize] = true);
    inside
}

/// Returns the variables that the positive conditions among `goals` bind.
fn positive_inside(rule: &Rule, goals: &[usize], variables: &[Vec<u32>]) -> Vec<bool> {
    let positive = goals.iter().copied().filter(|&goal| matches!(rule.body[goal], Goal::Holds(_)));
    inside(&positive.collect::<Vec<_>>(), variables, rule.n_variables as usize)
}

/// Returns whether the positive conditions of a part are connected by variables. Otherwise the part
/// would be a cross product.
fn is_connected(rule: &Rule, goals: &[usize], variables: &[Vec<u32>]) -> bool {
    let positive: Vec<usize> =
        goals.iter().copied().filter(|&goal| matches!(rule.body[goal], Goal::Holds(_))).collect();
    let Some(&first) = positive.first() else { return false };
    let n = rule.n_variables as usize;
    let bound = inside(&positive, variables, n);
    let mut reached = inside(&[first], variables, n);
    loop {
        let mut grew = false;
        for &goal in &positive {
            let touches = variables[goal].iter().any(|&v| reached[v as usize]);
            if touches {
                for &v in &variables[goal] {
                    grew |= !std::mem::replace(&mut reached[v as usize], true);
                }
            }
        }
        if !grew {
            return reached == bound;
        }
    }
}

fn cut(program: &mut Program, index: usize, part: &Part) {
    let arguments: Vec<Pattern> = part.shared.iter().map(|&v| Pattern::Variable(v)).collect();
    let is_demand = program.predicates[program.rules[index].head.predicate.index()].is_demand;
    let predicate = if is_demand {
        program.demand_relation(arguments.len())
    } else {
        program.derived(arguments.len())
    };
    let demand = (!part.is_safe).then(|| demand_of(program, index, part));
    let whole = &mut program.rules[index];
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for (goal, condition) in std::mem::take(&mut whole.body).into_iter().enumerate() {
        if part.goals.contains(&goal) { inside.push(condition) } else { outside.push(condition) }
    }
    outside.insert(0, Goal::Holds(Atom { predicate, arguments: arguments.clone() }));
    whole.body = outside;
    inside.extend(demand);
    let rule = Rule {
        head: Atom { predicate, arguments },
        body: inside,
        n_variables: whole.n_variables,
        origin: whole.origin,
    };
    program.rule(rule);
}

/// Returns a condition that restricts a part to the values of its shared variables for which all
/// positive conditions of the whole rule hold.
fn demand_of(program: &mut Program, index: usize, part: &Part) -> Goal {
    let demand = program.demand_relation(part.shared.len());
    let arguments: Vec<Pattern> = part.shared.iter().map(|&v| Pattern::Variable(v)).collect();
    let whole = &program.rules[index];
    let demand_rule = Rule {
        head: Atom { predicate: demand, arguments: arguments.clone() },
        body: whole.body.iter().filter(|goal| matches!(goal, Goal::Holds(_))).cloned().collect(),
        n_variables: whole.n_variables,
        origin: whole.origin,
    };
    program.rule(demand_rule);
    Goal::Holds(Atom { predicate: demand, arguments })
}

fn variables_of(goal: &Goal) -> Vec<u32> {
    let mut variables = Vec::new();
    goal.each_variable(&mut |v| variables.push(v));
    variables.sort_unstable();
    variables.dedup();
    variables
}
