//! Rules with many variables cut into rules with few.
//!
//! A variable that occurs in part of a body only is bound there and nowhere else: that part becomes a relation of
//! its own over the variables it shares with the rest. Done again and again this is a tree decomposition of the
//! rule, by the order in which variables are removed, least first. Instances then multiply within a part, not
//! across the whole rule.
//!
//! Negated conditions and differences bind nothing. Where a part has one on variables that only the rest binds, the
//! part gets a demand: the values that the whole rule asks of it.

use crate::program::{Atom, Goal, Pattern, Program, Rule};

/// Rules with no more variables than this are left whole.
const FEW_VARIABLES: usize = 3;

/// Cuts up the rules of a program. What follows from it stays the same.
pub fn split(program: &mut Program) {
    let mut index = 0;
    while index < program.rules.len() {
        while let Some(part) = part_to_cut(&program.rules[index]) {
            cut(program, index, &part);
        }
        index += 1;
    }
}

/// The goals to cut out.
struct Part {
    goals: Vec<usize>,
    /// The variables shared with the rest.
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
    if n_used <= FEW_VARIABLES || rule.body.len() < 2 {
        return None;
    }
    let mut in_head = vec![false; n];
    rule.head.each_variable(&mut |v| in_head[v as usize] = true);
    let mut best: Option<(usize, Part)> = None;
    for v in (0..rule.n_variables).filter(|&v| used[v as usize] && !in_head[v as usize]) {
        let mut goals: Vec<usize> =
            (0..rule.body.len()).filter(|&g| variables[g].contains(&v)).collect();
        let inside = inside(&goals, &variables, n);
        // Tests on nothing but the part's variables belong to it as well: they make it smaller.
        goals.extend((0..rule.body.len()).filter(|g| {
            !goals_contain(&variables, *g, v)
                && !variables[*g].is_empty()
                && variables[*g].iter().all(|&w| inside[w as usize])
        }));
        goals.sort_unstable();
        let n_inside = inside.iter().filter(|&&inside| inside).count();
        if goals.len() == rule.body.len()
            || n_inside >= n_used
            || !hangs_together(rule, &goals, &variables)
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
        // A single condition is worth cutting only if that loses a variable.
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

/// The variables that the positive conditions among `goals` bind.
fn positive_inside(rule: &Rule, goals: &[usize], variables: &[Vec<u32>]) -> Vec<bool> {
    let positive = goals.iter().copied().filter(|&goal| matches!(rule.body[goal], Goal::Holds(_)));
    inside(&positive.collect::<Vec<_>>(), variables, rule.n_variables as usize)
}

/// Whether the positive conditions of a part hang together, so that it does not multiply things that have nothing to
/// do with each other.
fn hangs_together(rule: &Rule, goals: &[usize], variables: &[Vec<u32>]) -> bool {
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
        program.demanded(arguments.len())
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

/// A condition that says which values of its shared variables a part is asked for: those for which all positive
/// conditions of the whole rule hold.
fn demand_of(program: &mut Program, index: usize, part: &Part) -> Goal {
    let demand = program.demanded(part.shared.len());
    let arguments: Vec<Pattern> = part.shared.iter().map(|&v| Pattern::Variable(v)).collect();
    let whole = &program.rules[index];
    let asking = Rule {
        head: Atom { predicate: demand, arguments: arguments.clone() },
        body: whole.body.iter().filter(|goal| matches!(goal, Goal::Holds(_))).cloned().collect(),
        n_variables: whole.n_variables,
        origin: whole.origin,
    };
    program.rule(asking);
    Goal::Holds(Atom { predicate: demand, arguments })
}

fn variables_of(goal: &Goal) -> Vec<u32> {
    let mut variables = Vec::new();
    goal.each_variable(&mut |v| variables.push(v));
    variables.sort_unstable();
    variables.dedup();
    variables
}
