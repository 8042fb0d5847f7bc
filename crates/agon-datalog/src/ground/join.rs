//! Join plans for grounding: one join for each condition that may have new rows.

use std::collections::BTreeMap;

use super::GroundLimits;
use crate::limits::{Refusal, RefusalKind};
use crate::plan::agenda::Agenda;
use crate::plan::prepare::{Prepared, ground};
use crate::plan::shape::scan_shape;
use crate::plan::{Build, Scan, Take};
use crate::program::{Atom, Goal, Pattern, Rule};
use crate::relation::Relation;
use crate::{Symbol, TermBank, TermId};

pub(super) struct Join {
    pub(super) origin: u32,
    pub(super) n_slots: usize,
    pub(super) head_predicate: usize,
    pub(super) head: Vec<Build>,
    /// Relations of the changing conditions, in the order of the rule.
    pub(super) positive: Vec<usize>,
    pub(super) n_positive: usize,
    /// Negated changing conditions.
    pub(super) negative: Vec<(usize, Vec<Build>)>,
    /// The condition whose new rows start the join. Without one, the rule applies once.
    pub(super) delta: Option<Delta>,
    pub(super) steps: Vec<Step>,
}

pub(super) struct Delta {
    pub(super) predicate: usize,
    /// Position among the changing conditions.
    pub(super) position: usize,
    pub(super) take: Vec<DeltaMatcher>,
}

pub(super) enum Step {
    /// For each matching row. The position is among the changing conditions.
    Scan(Scan, Option<usize>, RowRange),
    /// If no row of a static relation matches.
    NoRow(Scan),
    Differ(Build, Build),
}

/// The rows that a condition ranges over. Conditions before the delta condition range over old rows
/// only, so an instance with several new rows is found once.
pub(super) enum RowRange {
    All,
    Old,
    Current,
}

/// A pattern that a value is matched with.
pub(super) enum DeltaMatcher {
    Bind(u32),
    Same(u32),
    Constant(TermId),
    Form(Symbol, Vec<DeltaMatcher>),
}

impl DeltaMatcher {
    pub(super) fn fits(&self, value: u32, slots: &mut [u32], bank: &TermBank) -> bool {
        match self {
            DeltaMatcher::Bind(slot) => {
                slots[*slot as usize] = value;
                true
            }
            DeltaMatcher::Same(slot) => slots[*slot as usize] == value,
            DeltaMatcher::Constant(id) => id.raw() == value,
            DeltaMatcher::Form(symbol, parts) => {
                let term = TermId::from_raw(value);
                bank.has_form(term, *symbol, parts.len())
                    && parts
                        .iter()
                        .enumerate()
                        .all(|(i, part)| part.fits(bank.argument(term, i).raw(), slots, bank))
            }
        }
    }
}

/// Returns the joins of all rules of relevant relations.
pub(super) fn joins(
    prepared: &Prepared,
    relevant: &[bool],
    is_static: &[bool],
    relations: &mut [Relation],
    bank: &TermBank,
    limits: &GroundLimits,
) -> Result<Vec<Join>, Refusal> {
    let mut joins = Vec::new();
    let mut n_steps = 0_u64;
    let is_static = |predicate: usize| is_static[predicate];
    for (index, predicate) in prepared.program.predicates.iter().enumerate() {
        if !relevant[index] {
            continue;
        }
        for &rule in &predicate.rules {
            let rule = &prepared.program.rules[rule as usize];
            let mut planner = JoinPlanner::new(rule, relations, bank, &is_static);
            let changing = rule.body.iter().enumerate().filter_map(|(i, goal)| match goal {
                Goal::Holds(atom) if !is_static(atom.predicate.index()) => Some(i),
                _ => None,
            });
            let changing: Vec<usize> = changing.collect();
            // There is a join for each changing condition, and each orders all conditions.
            let n_goals = rule.body.len() as u64;
            let work = (changing.len() as u64).saturating_mul(n_goals);
            n_steps = n_steps.saturating_add(work);
            if n_steps > limits.steps {
                return Err(Refusal { kind: RefusalKind::Steps, origin: Some(rule.origin) });
            }
            if changing.is_empty() {
                joins.push(planner.join(&changing, None)?);
            }
            for position in 0..changing.len() {
                if let Some(kind) = limits.stop.reason(limits.deadline) {
                    return Err(Refusal { kind, origin: Some(rule.origin) });
                }
                joins.push(planner.join(&changing, Some(position))?);
            }
        }
    }
    Ok(joins)
}

struct JoinPlanner<'a> {
    rule: &'a Rule,
    relations: &'a mut [Relation],
    bank: &'a TermBank,
    is_static: &'a dyn Fn(usize) -> bool,
    /// By variable: the number of its occurrences in the rule.
    n_occurrences: Vec<u32>,
}

impl<'a> JoinPlanner<'a> {
    fn new(
        rule: &'a Rule,
        relations: &'a mut [Relation],
        bank: &'a TermBank,
        is_static: &'a dyn Fn(usize) -> bool,
    ) -> JoinPlanner<'a> {
        let mut n_occurrences = vec![0; rule.n_variables as usize];
        let count = &mut |v: u32| n_occurrences[v as usize] += 1;
        rule.head.each_variable(count);
        rule.body.iter().for_each(|goal| goal.each_variable(count));
        JoinPlanner { rule, relations, bank, is_static, n_occurrences }
    }

    /// Plans the join of the rule that starts with new rows of the changing condition `delta`.
    fn join(&mut self, changing: &[usize], delta: Option<usize>) -> Result<Join, Refusal> {
        let rule = self.rule;
        let mut bound = vec![false; rule.n_variables as usize];
        let delta = match delta {
            None => None,
            Some(position) => {
                let Goal::Holds(atom) = &rule.body[changing[position]] else {
                    unreachable!("only positive conditions have new rows")
                };
                let take = atom.arguments.iter().map(|p| self.matcher(p, &mut bound));
                let take = take.collect::<Result<Vec<_>, _>>()?;
                Some(Delta { predicate: atom.predicate.index(), position, take })
            }
        };
        let steps = self.steps(changing, delta.as_ref(), &mut bound)?;
        let all_bound =
            |atom: &Atom| atom.arguments.iter().all(|argument| argument.is_bound(&bound));
        let negative: Vec<&Atom> = rule
            .body
            .iter()
            .filter_map(|goal| match goal {
                Goal::Fails(atom) if !(self.is_static)(atom.predicate.index()) => Some(atom),
                Goal::Fails(_) | Goal::Holds(_) | Goal::Differ(..) => None,
            })
            .collect();
        if !all_bound(&rule.head) || !negative.iter().all(|atom| all_bound(atom)) {
            return Err(self.unbound());
        }
        let build_all = |atom: &Atom| {
            atom.arguments
                .iter()
                .map(|argument| self.build(argument))
                .collect::<Result<Vec<_>, _>>()
        };
        let predicate_of = |&goal: &usize| match &rule.body[goal] {
            Goal::Holds(atom) | Goal::Fails(atom) => atom.predicate.index(),
            Goal::Differ(..) => unreachable!("only atoms are listed as changing conditions"),
        };
        Ok(Join {
            origin: rule.origin,
            n_slots: bound.len(),
            head_predicate: rule.head.predicate.index(),
            head: build_all(&rule.head)?,
            positive: changing.iter().map(predicate_of).collect(),
            n_positive: changing.len(),
            negative: negative
                .into_iter()
                .map(|atom| Ok((atom.predicate.index(), build_all(atom)?)))
                .collect::<Result<_, Refusal>>()?,
            delta,
            steps,
        })
    }

    /// Orders the conditions after the delta condition, cheapest first, and binds their variables.
    fn steps(
        &mut self,
        changing: &[usize],
        delta: Option<&Delta>,
        bound: &mut [bool],
    ) -> Result<Vec<Step>, Refusal> {
        let rule = self.rule;
        // Every variable is bound, because the head or a negated condition may need it.
        let uses = vec![2; bound.len()];
        let delta_goal = delta.map(|delta| changing[delta.position]);
        let is_step = |goal: &Goal| match goal {
            Goal::Fails(atom) => (self.is_static)(atom.predicate.index()),
            Goal::Holds(_) | Goal::Differ(..) => true,
        };
        let mut agenda = Agenda::new(&rule.body, bound.len(), |goal| {
            Some(goal) != delta_goal && is_step(&rule.body[goal])
        });
        for goal in agenda.left() {
            agenda.set_cost(goal, self.cost(&rule.body[goal], bound, &uses)?);
        }
        let mut steps = Vec::new();
        while !agenda.is_empty() {
            let Some(goal) = agenda.pop() else { return Err(self.unbound()) };
            let mut newly_bound = Vec::new();
            steps.push(match &rule.body[goal] {
                Goal::Differ(a, b) => Step::Differ(self.build(a)?, self.build(b)?),
                // A negated condition binds nothing.
                Goal::Fails(atom) => Step::NoRow(self.scan(atom, bound, &uses)?),
                Goal::Holds(atom) => {
                    let position = changing.binary_search(&goal).ok();
                    let range = match (position, delta) {
                        (None, _) => RowRange::All,
                        (Some(position), Some(delta)) if position < delta.position => RowRange::Old,
                        (Some(_), _) => RowRange::Current,
                    };
                    let scan = self.scan(atom, bound, &uses)?;
                    newly_bound.extend(scan.take.iter().filter_map(|(_, take)| match take {
                        Take::Bind(v) => Some(*v),
                        Take::Same(_) => None,
                    }));
                    newly_bound.iter().for_each(|&v| bound[v as usize] = true);
                    Step::Scan(scan, position, range)
                }
            });
            for goal in agenda.goals_with(&newly_bound) {
                agenda.set_cost(goal, self.cost(&rule.body[goal], bound, &uses)?);
            }
        }
        Ok(steps)
    }

    fn scan(&mut self, atom: &Atom, bound: &[bool], uses: &[u32]) -> Result<Scan, Refusal> {
        let shape = scan_shape(self.bank, atom, bound, uses).map_err(|_| self.too_deep())?;
        let relation = atom.predicate.index();
        let index = self.relations[relation].add_index(shape.spec);
        Ok(Scan { relation, index, key: shape.key, take: shape.take })
    }

    /// Returns the expected branching of a goal, or `None` if it cannot be evaluated yet.
    fn cost(&mut self, goal: &Goal, bound: &[bool], uses: &[u32]) -> Result<Option<f64>, Refusal> {
        match goal {
            Goal::Differ(a, b) => Ok((a.is_bound(bound) && b.is_bound(bound)).then_some(0.0)),
            Goal::Fails(atom) => {
                // A negated static condition may have local variables: then no value may match.
                let mut here: BTreeMap<u32, u32> = BTreeMap::new();
                atom.each_variable(&mut |v| *here.entry(v).or_default() += 1);
                let is_local = |v: u32, n_here: u32| self.n_occurrences[v as usize] == n_here;
                let ready = here.into_iter().all(|(v, n)| bound[v as usize] || is_local(v, n));
                Ok(ready.then_some(0.01))
            }
            Goal::Holds(atom) => {
                let shape =
                    scan_shape(self.bank, atom, bound, uses).map_err(|_| self.too_deep())?;
                let is_static = (self.is_static)(atom.predicate.index());
                let n_keys = shape.spec.keys.len();
                let branches = if is_static {
                    let relation = &mut self.relations[atom.predicate.index()];
                    let index = relation.add_index(shape.spec);
                    relation.fan_out(index, self.bank)
                } else {
                    // The size is unknown in advance: assume 200 rows, and that each known part
                    // leaves a fifth.
                    (0..n_keys.min(6)).fold(200.0, |left, _| left / 5.0)
                };
                Ok(Some(if shape.n_bound == 0 {
                    0.02 + branches.min(1.0) * 0.2
                } else {
                    branches + 0.1
                }))
            }
        }
    }

    fn matcher(&self, pattern: &Pattern, bound: &mut [bool]) -> Result<DeltaMatcher, Refusal> {
        Ok(match pattern {
            Pattern::Variable(v) if bound[*v as usize] => DeltaMatcher::Same(*v),
            Pattern::Variable(v) => {
                bound[*v as usize] = true;
                DeltaMatcher::Bind(*v)
            }
            Pattern::Function(symbol, arguments) => match ground(pattern, self.bank) {
                Some(id) => DeltaMatcher::Constant(id.map_err(|_| self.too_deep())?),
                None => {
                    let mut parts = Vec::new();
                    for argument in arguments {
                        parts.push(self.matcher(argument, bound)?);
                    }
                    DeltaMatcher::Form(*symbol, parts)
                }
            },
        })
    }

    fn build(&self, pattern: &Pattern) -> Result<Build, Refusal> {
        Ok(match pattern {
            Pattern::Variable(v) => Build::Slot(*v),
            Pattern::Function(symbol, arguments) => match ground(pattern, self.bank) {
                Some(id) => Build::Constant(id.map_err(|_| self.too_deep())?),
                None => Build::Make(
                    *symbol,
                    arguments
                        .iter()
                        .map(|argument| self.build(argument))
                        .collect::<Result<_, _>>()?,
                ),
            },
        })
    }

    fn unbound(&self) -> Refusal {
        Refusal { kind: RefusalKind::Unbound, origin: Some(self.rule.origin) }
    }

    fn too_deep(&self) -> Refusal {
        Refusal { kind: RefusalKind::TermDepth, origin: Some(self.rule.origin) }
    }
}
