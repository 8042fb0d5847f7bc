//! Decomposition of rules with many variables.
//!
//! A variable that occurs only in one part of a body is local to that part. The part becomes a
//! relation over the variables that it shares with the rest. Repeated, this is a tree decomposition
//! of the rule by variable elimination, cheapest first. Instances then multiply within a part, not
//! across the whole rule.
//!
//! Negated conditions and disequalities bind nothing. If a part has one on variables that only the
//! rest binds, the part gets a demand relation with the values that the whole rule needs.

use std::time::Instant;

use crate::limits::StopFlag;
use crate::program::{Atom, Goal, Pattern, Program, Rule};

/// Rules with at most this number of variables are not split.
const MAX_UNSPLIT_VARIABLES: usize = 3;

/// Limits of [`split`]. When one is reached, the remaining rules stay as they are.
#[derive(Clone, Debug)]
pub struct SplitLimits {
    /// Maximum number of steps, a machine-independent measure of time: looking at a condition of a
    /// rule, or copying it, is one step.
    pub steps: u64,
    /// Time to stop at.
    pub deadline: Option<Instant>,
    /// Cancels the work when it is set.
    pub stop: StopFlag,
}

impl Default for SplitLimits {
    fn default() -> SplitLimits {
        SplitLimits { steps: 50_000_000, deadline: None, stop: StopFlag::NEVER }
    }
}

/// Splits the rules of a program. The rows of existing relations stay the same.
pub fn split(program: &mut Program, limits: &SplitLimits) {
    let mut n_steps = 0;
    let mut index = 0;
    while index < program.rules.len() {
        while let Some(part) = part_to_cut(&program.rules[index], &mut n_steps) {
            if n_steps > limits.steps || limits.stop.reason(limits.deadline).is_some() {
                return;
            }
            n_steps += program.rules[index].body.len() as u64;
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

/// The variables of the conditions of a rule, and the conditions of its variables.
struct Occurrences {
    /// By condition: its variables, sorted.
    variables: Vec<Vec<u32>>,
    /// By variable: the conditions that have it, sorted.
    goals: Vec<Vec<usize>>,
    is_positive: Vec<bool>,
    in_head: Vec<bool>,
}

impl Occurrences {
    fn new(rule: &Rule) -> Occurrences {
        let n = rule.n_variables as usize;
        let variables: Vec<Vec<u32>> = rule.body.iter().map(variables_of).collect();
        let mut goals = vec![Vec::new(); n];
        for (goal, variables) in variables.iter().enumerate() {
            variables.iter().for_each(|&v| goals[v as usize].push(goal));
        }
        let mut in_head = vec![false; n];
        rule.head.each_variable(&mut |v| in_head[v as usize] = true);
        let is_positive = rule.body.iter().map(|goal| matches!(goal, Goal::Holds(_))).collect();
        Occurrences { variables, goals, is_positive, in_head }
    }

    /// Returns the variables of conditions, sorted.
    fn inside(&self, goals: impl Iterator<Item = usize>) -> Vec<u32> {
        let mut inside: Vec<u32> = goals.flat_map(|goal| &self.variables[goal]).copied().collect();
        inside.sort_unstable();
        inside.dedup();
        inside
    }

    /// Returns whether the positive conditions of a part are connected by variables. Otherwise the
    /// part would be a cross product. All of them have variables.
    fn are_connected(&self, goals: &[usize]) -> bool {
        let positive = || goals.iter().copied().filter(|&goal| self.is_positive[goal]);
        let Some(first) = positive().next() else { return false };
        let bound = self.inside(positive());
        let mut reached = vec![false; bound.len()];
        let place = |v: u32| bound.binary_search(&v).ok();
        let mut open = vec![first];
        let mut is_seen = vec![false; goals.len()];
        while let Some(goal) = open.pop() {
            for &v in &self.variables[goal] {
                let place = place(v).expect("it is a variable of a positive condition");
                if std::mem::replace(&mut reached[place], true) {
                    continue;
                }
                for &next in &self.goals[v as usize] {
                    if self.is_positive[next]
                        && let Ok(at) = goals.binary_search(&next)
                        && !std::mem::replace(&mut is_seen[at], true)
                    {
                        open.push(next);
                    }
                }
            }
        }
        reached.iter().all(|&reached| reached)
    }
}

fn part_to_cut(rule: &Rule, n_steps: &mut u64) -> Option<Part> {
    if rule.n_variables as usize <= MAX_UNSPLIT_VARIABLES || rule.body.len() < 2 {
        return None;
    }
    let occurrences = Occurrences::new(rule);
    *n_steps += rule.body.len() as u64 + u64::from(rule.n_variables);
    let Occurrences { variables, goals: goals_of, in_head, .. } = &occurrences;
    let n_used = goals_of.iter().filter(|goals| !goals.is_empty()).count();
    if n_used <= MAX_UNSPLIT_VARIABLES {
        return None;
    }
    let mut best: Option<(usize, Part)> = None;
    for v in (0..rule.n_variables as usize).filter(|&v| !goals_of[v].is_empty() && !in_head[v]) {
        let inside = occurrences.inside(goals_of[v].iter().copied());
        *n_steps += goals_of[v].len() as u64;
        // The part has at least these variables, so it cannot become the smallest.
        if best.as_ref().is_some_and(|(least, _)| inside.len() >= *least) || inside.len() >= n_used
        {
            continue;
        }
        let is_inside = |w: &u32| inside.binary_search(w).is_ok();
        // Tests on variables of the part belong to it as well, because they make it smaller.
        let mut goals: Vec<usize> = goals_of[v].clone();
        for &w in &inside {
            *n_steps += goals_of[w as usize].len() as u64;
            let within = |goal: &&usize| variables[**goal].iter().all(is_inside);
            goals.extend(goals_of[w as usize].iter().filter(within));
        }
        goals.sort_unstable();
        goals.dedup();
        if goals.len() == rule.body.len() || !occurrences.are_connected(&goals) {
            continue;
        }
        let positive = goals.iter().copied().filter(|&goal| occurrences.is_positive[goal]);
        let is_safe = inside == occurrences.inside(positive);
        let is_shared = |w: &&u32| {
            in_head[**w as usize]
                || goals_of[**w as usize].iter().any(|goal| goals.binary_search(goal).is_err())
        };
        let shared: Vec<u32> = inside.iter().filter(is_shared).copied().collect();
        // A part of a single condition is useful only if it eliminates a variable.
        if goals.len() == 1 && shared.len() == inside.len() {
            continue;
        }
        best = Some((inside.len(), Part { goals, shared, is_safe }));
        if inside.len() == 1 {
            break;
        }
    }
    best.map(|(_, part)| part)
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
        if part.goals.binary_search(&goal).is_ok() {
            inside.push(condition);
        } else {
            outside.push(condition);
        }
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
