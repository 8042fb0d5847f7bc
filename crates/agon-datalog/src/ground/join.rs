//! How the instances of a rule are found: one join for each condition that may have new rows.

use crate::limits::{Refusal, RefusalKind};
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
    /// The relations of the conditions that change, in the order of the rule.
    pub(super) positive: Vec<usize>,
    pub(super) n_positive: usize,
    /// Negated conditions that change.
    pub(super) negative: Vec<(usize, Vec<Build>)>,
    /// The condition whose new rows start the join; without one the rule applies once.
    pub(super) delta: Option<Delta>,
    pub(super) steps: Vec<Step>,
}

pub(super) struct Delta {
    pub(super) predicate: usize,
    /// Its place among the conditions that change.
    pub(super) position: usize,
    pub(super) take: Vec<Open>,
}

pub(super) enum Step {
    /// For each row that fits; the place is among the conditions that change.
    Scan(Scan, Option<usize>, Sight),
    /// If no row of a static relation fits.
    NoRow(Scan),
    Differ(Build, Build),
}

/// Which rows a condition sees. Conditions before the one with new rows see only old ones, so that an instance
/// with several new rows is found once.
pub(super) enum Sight {
    Static,
    Old,
    Now,
}

/// How a value is taken apart.
pub(super) enum Open {
    Bind(u32),
    Same(u32),
    Constant(TermId),
    Form(Symbol, Vec<Open>),
}

impl Open {
    pub(super) fn fits(&self, value: u32, slots: &mut [u32], bank: &TermBank) -> bool {
        match self {
            Open::Bind(slot) => {
                slots[*slot as usize] = value;
                true
            }
            Open::Same(slot) => slots[*slot as usize] == value,
            Open::Constant(id) => id.raw() == value,
            Open::Form(symbol, parts) => {
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

/// The joins of all rules of relevant relations.
pub(super) fn joins(
    prepared: &Prepared,
    relevant: &[bool],
    is_static: &[bool],
    relations: &mut [Relation],
    bank: &TermBank,
) -> Result<Vec<Join>, Refusal> {
    let mut joins = Vec::new();
    let is_static = |predicate: usize| is_static[predicate];
    for (index, predicate) in prepared.program.predicates.iter().enumerate() {
        if !relevant[index] {
            continue;
        }
        for &rule in &predicate.rules {
            let rule = &prepared.program.rules[rule as usize];
            let mut planner = JoinPlanner { rule, relations, bank, is_static: &is_static };
            let changing = rule.body.iter().enumerate().filter_map(|(i, goal)| match goal {
                Goal::Holds(atom) if !is_static(atom.predicate.index()) => Some(i),
                _ => None,
            });
            let changing: Vec<usize> = changing.collect();
            if changing.is_empty() {
                joins.push(planner.join(&changing, None)?);
            }
            for position in 0..changing.len() {
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
}

impl JoinPlanner<'_> {
    fn join(&mut self, changing: &[usize], delta: Option<usize>) -> Result<Join, Refusal> {
        let rule = self.rule;
        let mut bound = vec![false; rule.n_variables as usize];
        let position_of = |goal: usize| changing.iter().position(|&c| c == goal);
        let delta = match delta {
            None => None,
            Some(position) => {
                let Goal::Holds(atom) = &rule.body[changing[position]] else {
                    unreachable!("only positive conditions have new rows")
                };
                let take = atom.arguments.iter().map(|p| self.open(p, &mut bound));
                let take = take.collect::<Result<Vec<_>, _>>()?;
                Some(Delta { predicate: atom.predicate.index(), position, take })
            }
        };
        // Every variable is taken: the head or a negated condition may need it.
        let uses = vec![2; bound.len()];
        let delta_goal = delta.as_ref().map(|delta| changing[delta.position]);
        let is_step = |goal: &Goal| match goal {
            Goal::Fails(atom) => (self.is_static)(atom.predicate.index()),
            Goal::Holds(_) | Goal::Differ(..) => true,
        };
        let mut left: Vec<usize> = (0..rule.body.len())
            .filter(|&goal| Some(goal) != delta_goal && is_step(&rule.body[goal]))
            .collect();
        let mut steps = Vec::new();
        while !left.is_empty() {
            let costs: Vec<Option<f64>> = left
                .iter()
                .map(|&goal| self.cost(&rule.body[goal], &bound, &uses))
                .collect::<Result<_, _>>()?;
            let best = (0..left.len())
                .filter(|&i| costs[i].is_some())
                .min_by(|&a, &b| costs[a].partial_cmp(&costs[b]).expect("costs are numbers"));
            let Some(best) = best else { return Err(self.unbound()) };
            let goal = left.remove(best);
            let step = match &rule.body[goal] {
                Goal::Differ(a, b) => Step::Differ(self.build(a)?, self.build(b)?),
                Goal::Fails(atom) => Step::NoRow(self.scan(atom, &mut bound.clone(), &uses)?),
                Goal::Holds(atom) => {
                    let position = position_of(goal);
                    let sight = match (position, &delta) {
                        (None, _) => Sight::Static,
                        (Some(position), Some(delta)) if position < delta.position => Sight::Old,
                        (Some(_), _) => Sight::Now,
                    };
                    Step::Scan(self.scan(atom, &mut bound, &uses)?, position, sight)
                }
            };
            steps.push(step);
        }
        let all_bound =
            |atom: &Atom| atom.arguments.iter().all(|argument| argument.is_bound(&bound));
        let negative: Vec<&Atom> = rule
            .body
            .iter()
            .filter_map(|goal| match goal {
                Goal::Fails(atom) if !(self.is_static)(atom.predicate.index()) => Some(atom),
                _ => None,
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
            Goal::Differ(..) => unreachable!("a difference has no relation"),
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

    fn scan(&mut self, atom: &Atom, bound: &mut [bool], uses: &[u32]) -> Result<Scan, Refusal> {
        let shape = scan_shape(self.bank, atom, bound, uses).map_err(|_| self.too_deep())?;
        for (_, take) in &shape.take {
            if let Take::Bind(v) = take {
                bound[*v as usize] = true;
            }
        }
        let relation = atom.predicate.index();
        let index = self.relations[relation].add_index(shape.spec);
        Ok(Scan { relation, index, key: shape.key, take: shape.take })
    }

    /// How much trying a goal now branches; `None` if it cannot be tried yet.
    fn cost(&mut self, goal: &Goal, bound: &[bool], uses: &[u32]) -> Result<Option<f64>, Refusal> {
        match goal {
            Goal::Differ(a, b) => Ok((a.is_bound(bound) && b.is_bound(bound)).then_some(0.0)),
            Goal::Fails(atom) => {
                // A variable of its own is allowed in a negated static condition: no value may fit.
                let others = self.rule.body.iter().filter(|other| !std::ptr::eq(*other, goal));
                let mut elsewhere = vec![false; bound.len()];
                others.for_each(|other| other.each_variable(&mut |v| elsewhere[v as usize] = true));
                self.rule.head.each_variable(&mut |v| elsewhere[v as usize] = true);
                let mut ready = true;
                atom.each_variable(&mut |v| ready &= bound[v as usize] || !elsewhere[v as usize]);
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
                    // Unknown before it is grown: guess a few per known part.
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

    fn open(&self, pattern: &Pattern, bound: &mut [bool]) -> Result<Open, Refusal> {
        Ok(match pattern {
            Pattern::Variable(v) if bound[*v as usize] => Open::Same(*v),
            Pattern::Variable(v) => {
                bound[*v as usize] = true;
                Open::Bind(*v)
            }
            Pattern::Function(symbol, arguments) => match ground(pattern, self.bank) {
                Some(id) => Open::Constant(id.map_err(|_| self.too_deep())?),
                None => {
                    let mut parts = Vec::new();
                    for argument in arguments {
                        parts.push(self.open(argument, bound)?);
                    }
                    Open::Form(*symbol, parts)
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
