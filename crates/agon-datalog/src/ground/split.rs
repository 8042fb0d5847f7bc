//! Decomposition of rules with many variables.
//!
//! A variable that occurs only in one part of a body is local to that part. The part becomes a
//! relation over the variables that it shares with the rest. Repeated, this is a tree decomposition
//! of the rule by variable elimination, cheapest first. Instances then multiply within a part, not
//! across the whole rule.
//!
//! Negated conditions and disequalities bind nothing. If a part has one on variables that only the
//! rest binds, the part gets a demand relation with the values that the whole rule needs.

use std::collections::{BTreeMap, BTreeSet};
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
        let rule = &program.rules[index];
        if rule.n_variables as usize > MAX_UNSPLIT_VARIABLES && rule.body.len() >= 2 {
            let mut body = Body::new(rule, &mut n_steps);
            let mut has_changed = false;
            while let Some(part) = body.part_to_cut(&mut n_steps) {
                if n_steps > limits.steps || limits.stop.reason(limits.deadline).is_some() {
                    body.store(program, index, has_changed);
                    return;
                }
                body.cut(program, index, &part, &mut n_steps);
                has_changed = true;
            }
            body.store(program, index, has_changed);
        }
        index += 1;
    }
}

/// A part of a body that becomes a rule.
#[derive(Clone, Debug)]
struct Part {
    /// The places of its conditions, sorted.
    goals: Vec<i64>,
    /// Its variables, sorted.
    inside: Vec<u32>,
    /// Variables shared with the rest.
    shared: Vec<u32>,
    /// Whether its own positive conditions bind all its variables.
    is_safe: bool,
}

/// A condition of a body that is being split.
struct BodyGoal {
    goal: Goal,
    /// Its variables, sorted.
    variables: Vec<u32>,
    is_positive: bool,
}

/// The body of a rule that is being split. It is updated with each cut, because a rule may have
/// thousands of conditions, and looking at all of them for each cut would take quadratic time.
struct Body {
    /// The conditions by place, in the order of the rule. The condition that replaces a part comes
    /// first.
    goals: BTreeMap<i64, BodyGoal>,
    /// By variable: the places of the conditions that have it.
    goals_of: Vec<BTreeSet<i64>>,
    in_head: Vec<bool>,
    /// Number of variables that occur in the body.
    n_used: usize,
    /// By variable: the part that eliminates it, unless it has to be computed again.
    parts: Vec<Option<Part>>,
    /// The variables that some part eliminates, with the number of variables of the part.
    candidates: BTreeSet<(usize, u32)>,
    /// Variables whose part has to be computed again.
    outdated: BTreeSet<u32>,
}

impl Body {
    fn new(rule: &Rule, n_steps: &mut u64) -> Body {
        let n = rule.n_variables as usize;
        let mut in_head = vec![false; n];
        rule.head.each_variable(&mut |v| in_head[v as usize] = true);
        let mut body = Body {
            goals: BTreeMap::new(),
            goals_of: vec![BTreeSet::new(); n],
            in_head,
            n_used: 0,
            parts: vec![None; n],
            candidates: BTreeSet::new(),
            outdated: BTreeSet::new(),
        };
        for (place, goal) in (0..).zip(&rule.body) {
            body.add(place, goal.clone());
        }
        body.outdated.extend(0..rule.n_variables);
        *n_steps += rule.body.len() as u64 + u64::from(rule.n_variables);
        body
    }

    fn add(&mut self, place: i64, goal: Goal) {
        let variables = variables_of(&goal);
        for &v in &variables {
            self.n_used += usize::from(self.goals_of[v as usize].is_empty());
            self.goals_of[v as usize].insert(place);
        }
        let is_positive = matches!(goal, Goal::Holds(_));
        self.goals.insert(place, BodyGoal { goal, variables, is_positive });
    }

    fn remove(&mut self, place: i64) -> Goal {
        let removed = self.goals.remove(&place).expect("a part consists of conditions of the body");
        for &v in &removed.variables {
            self.goals_of[v as usize].remove(&place);
            self.n_used -= usize::from(self.goals_of[v as usize].is_empty());
        }
        removed.goal
    }

    /// Returns the variables of conditions, sorted.
    fn inside<'a>(&self, places: impl Iterator<Item = &'a i64>) -> Vec<u32> {
        let mut inside: Vec<u32> =
            places.flat_map(|place| &self.goals[place].variables).copied().collect();
        inside.sort_unstable();
        inside.dedup();
        inside
    }

    /// Returns whether the positive conditions of a part are connected by variables. Otherwise the
    /// part would be a cross product. All of them have variables.
    fn are_connected(&self, goals: &[i64]) -> bool {
        let positive = || goals.iter().filter(|place| self.goals[place].is_positive);
        let Some(&first) = positive().next() else { return false };
        let bound = self.inside(positive());
        let mut reached = vec![false; bound.len()];
        let place_of = |v: u32| bound.binary_search(&v).ok();
        let mut open = vec![first];
        let mut is_seen = vec![false; goals.len()];
        while let Some(goal) = open.pop() {
            for &v in &self.goals[&goal].variables {
                let place = place_of(v).expect("it is a variable of a positive condition");
                if std::mem::replace(&mut reached[place], true) {
                    continue;
                }
                for &next in &self.goals_of[v as usize] {
                    if self.goals[&next].is_positive
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

    /// Returns the part with the fewest variables that can be cut off, the first one if there are
    /// several.
    fn part_to_cut(&mut self, n_steps: &mut u64) -> Option<Part> {
        if self.n_used <= MAX_UNSPLIT_VARIABLES {
            return None;
        }
        for v in std::mem::take(&mut self.outdated) {
            if let Some(old) = self.parts[v as usize].take() {
                self.candidates.remove(&(old.inside.len(), v));
            }
            if let Some(part) = self.part_without(v, n_steps) {
                self.candidates.insert((part.inside.len(), v));
                self.parts[v as usize] = Some(part);
            }
        }
        for &(n_inside, v) in &self.candidates {
            if n_inside >= self.n_used {
                return None;
            }
            let part = self.parts[v as usize].as_ref().expect("every candidate has a part");
            if part.goals.len() < self.goals.len() {
                return Some(part.clone());
            }
        }
        None
    }

    /// Returns the part that eliminates a variable, if it is one that may be cut off.
    fn part_without(&self, v: u32, n_steps: &mut u64) -> Option<Part> {
        let own = &self.goals_of[v as usize];
        if own.is_empty() || self.in_head[v as usize] {
            return None;
        }
        *n_steps += own.len() as u64;
        let inside = self.inside(own.iter());
        let is_inside = |w: &u32| inside.binary_search(w).is_ok();
        // Tests on variables of the part belong to it as well, because they make it smaller.
        let mut goals: Vec<i64> = own.iter().copied().collect();
        for &w in &inside {
            let others = &self.goals_of[w as usize];
            *n_steps += others.len() as u64;
            let within = |goal: &&i64| self.goals[goal].variables.iter().all(is_inside);
            goals.extend(others.iter().filter(within));
        }
        goals.sort_unstable();
        goals.dedup();
        if !self.are_connected(&goals) {
            return None;
        }
        let is_safe =
            inside == self.inside(goals.iter().filter(|place| self.goals[place].is_positive));
        let is_shared = |w: &&u32| {
            let others = &self.goals_of[**w as usize];
            self.in_head[**w as usize]
                || others.iter().any(|goal| goals.binary_search(goal).is_err())
        };
        let shared: Vec<u32> = inside.iter().filter(is_shared).copied().collect();
        // A part of a single condition is useful only if it eliminates a variable.
        let is_useful = goals.len() > 1 || shared.len() < inside.len();
        is_useful.then_some(Part { goals, inside, shared, is_safe })
    }

    /// Makes a part of the body of rule `index` a rule of its own.
    fn cut(&mut self, program: &mut Program, index: usize, part: &Part, n_steps: &mut u64) {
        let arguments: Vec<Pattern> = part.shared.iter().map(|&v| Pattern::Variable(v)).collect();
        let whole = &program.rules[index];
        let (origin, n_variables) = (whole.origin, whole.n_variables);
        let is_demand = program.predicates[whole.head.predicate.index()].is_demand;
        let predicate = if is_demand {
            program.demand_relation(arguments.len())
        } else {
            program.derived(arguments.len())
        };
        let demand = (!part.is_safe).then(|| {
            let body: Vec<Goal> = self.positive().cloned().collect();
            *n_steps += body.len() as u64;
            demand_of(program, part, body, n_variables, origin)
        });
        // The parts of variables that share a condition with the part change.
        for &v in &part.inside {
            for place in &self.goals_of[v as usize] {
                *n_steps += 1;
                self.outdated.extend(&self.goals[place].variables);
            }
        }
        let mut inside: Vec<Goal> = part.goals.iter().map(|&place| self.remove(place)).collect();
        let first = self.goals.first_key_value().map_or(0, |(&place, _)| place);
        let replacement = Atom { predicate, arguments: arguments.clone() };
        self.add(first.min(0) - 1, Goal::Holds(replacement));
        inside.extend(demand);
        let head = Atom { predicate, arguments };
        program.rule(renumbered(Rule { head, body: inside, n_variables, origin }));
    }

    fn positive(&self) -> impl Iterator<Item = &Goal> {
        self.goals.values().filter(|goal| goal.is_positive).map(|goal| &goal.goal)
    }

    /// Stores the rest of the body as the body of its rule.
    fn store(self, program: &mut Program, index: usize, has_changed: bool) {
        if has_changed {
            program.rules[index].body = self.goals.into_values().map(|goal| goal.goal).collect();
        }
    }
}

/// Returns a rule whose variables are numbered without gaps. A part has few variables of a rule
/// that may have thousands.
fn renumbered(mut rule: Rule) -> Rule {
    let mut used: Vec<u32> = rule.body.iter().flat_map(variables_of).collect();
    rule.head.each_variable(&mut |v| used.push(v));
    used.sort_unstable();
    used.dedup();
    let place = |v: u32| {
        let place = used.binary_search(&v).expect("it is a variable of the rule");
        u32::try_from(place).expect("there are fewer than before")
    };
    rule.each_variable_mut(&mut |v| *v = place(*v));
    rule.n_variables = u32::try_from(used.len()).expect("there are fewer than before");
    rule
}

/// Returns a condition that restricts a part to the values of its shared variables for which all
/// positive conditions of the whole rule hold, which are `body`.
fn demand_of(
    program: &mut Program,
    part: &Part,
    body: Vec<Goal>,
    n_variables: u32,
    origin: u32,
) -> Goal {
    let demand = program.demand_relation(part.shared.len());
    let arguments: Vec<Pattern> = part.shared.iter().map(|&v| Pattern::Variable(v)).collect();
    let head = Atom { predicate: demand, arguments: arguments.clone() };
    program.rule(Rule { head, body, n_variables, origin });
    Goal::Holds(Atom { predicate: demand, arguments })
}

fn variables_of(goal: &Goal) -> Vec<u32> {
    let mut variables = Vec::new();
    goal.each_variable(&mut |v| variables.push(v));
    variables.sort_unstable();
    variables.dedup();
    variables
}
