//! The evaluation order of goals.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::program::{Atom, Goal, Level, PredicateId};
use crate::relation::{IndexSpec, Path};
use crate::{TermBank, TermId};

use super::agenda::Agenda;
use super::prepare::Prepared;
use super::shape::{ScanShape, scan_shape};
use super::unify::SpecialisedRule;
use super::{PlanRefusal, Planner, Step};

/// Where a variable is bound.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum BoundAt {
    Input,
    Step(usize),
}

/// Typical rows of a relation, with cached statistics.
pub(super) struct Sample {
    rows: Vec<Vec<TermId>>,
    /// Numbers of matching rows and of different keys among them.
    counted: RefCell<BTreeMap<SpecKey, (usize, usize)>>,
}

/// An index specification in a form that can be ordered.
type SpecKey = (Vec<(Path, usize, usize)>, Vec<Path>);

pub(super) fn samples(
    prepared: &Prepared,
    given: &[(PredicateId, Vec<Vec<TermId>>)],
) -> Vec<Sample> {
    let mut rows: Vec<Vec<Vec<TermId>>> = prepared.facts.clone();
    for (predicate, sample) in given {
        rows[predicate.index()].clone_from(sample);
    }
    rows.into_iter().map(|rows| Sample { rows, counted: RefCell::default() }).collect()
}

impl Sample {
    /// Returns the number of matching rows, and the number of different keys among them.
    fn count(&self, spec: &IndexSpec, bank: &TermBank) -> (usize, usize) {
        let forms = spec.forms.iter().map(|(p, s, n)| (p.clone(), s.index(), *n)).collect();
        let spec_key = (forms, spec.keys.clone());
        if let Some(&known) = self.counted.borrow().get(&spec_key) {
            return known;
        }
        let at = |row: &[TermId], path: &Path| {
            path[1..].iter().try_fold(row[path[0] as usize], |term, &step| {
                (usize::from(step) < bank.arity(term)).then(|| bank.argument(term, step.into()))
            })
        };
        let mut n_rows = 0;
        let mut keys: Vec<Vec<TermId>> = Vec::new();
        for row in &self.rows {
            let fits = spec.forms.iter().all(|(path, symbol, arity)| {
                at(row, path).is_some_and(|term| bank.has_form(term, *symbol, *arity))
            });
            if fits {
                n_rows += 1;
                keys.extend(spec.keys.iter().map(|path| at(row, path)).collect::<Option<Vec<_>>>());
            }
        }
        keys.sort_unstable();
        keys.dedup();
        let counted = (n_rows, keys.len().max(1));
        self.counted.borrow_mut().insert(spec_key, counted);
        counted
    }
}

impl Planner {
    /// Orders the goals and turns them into steps. Also returns where each variable is bound.
    pub(super) fn order(
        &mut self,
        specialised: &SpecialisedRule,
        mut bound: Vec<bool>,
        uses: &[u32],
        origin: u32,
    ) -> Result<(Vec<Step>, Vec<Option<BoundAt>>), PlanRefusal> {
        let mut bound_at: Vec<Option<BoundAt>> =
            bound.iter().map(|&b| b.then_some(BoundAt::Input)).collect();
        let goals = &specialised.body;
        let mut agenda = Agenda::new(goals, bound.len(), |_| true);
        for i in agenda.left() {
            agenda.set_cost(i, self.cost(&goals[i], &bound, uses, origin)?);
        }
        let mut steps = Vec::with_capacity(goals.len());
        while !agenda.is_empty() {
            let Some(chosen) = agenda.pop() else { return Err(PlanRefusal::Unbound { origin }) };
            let goal = &goals[chosen];
            steps.push(self.step(goal, &mut bound, uses, origin)?);
            let mut newly_bound = Vec::new();
            goal.each_variable(&mut |v| {
                let at = &mut bound_at[v as usize];
                if bound[v as usize] && at.is_none() {
                    *at = Some(BoundAt::Step(steps.len() - 1));
                    newly_bound.push(v);
                }
            });
            for i in agenda.goals_with(&newly_bound) {
                agenda.set_cost(i, self.cost(&goals[i], &bound, uses, origin)?);
            }
        }
        Ok((steps, bound_at))
    }

    fn step(
        &mut self,
        goal: &Goal,
        bound: &mut [bool],
        uses: &[u32],
        origin: u32,
    ) -> Result<Step, PlanRefusal> {
        Ok(match goal {
            Goal::Differ(a, b) => Step::Differ(self.build(a, origin)?, self.build(b, origin)?),
            Goal::Holds(atom) => match self.plans.relation_of[atom.predicate.index()] {
                Some(relation) => {
                    let shape = self.shape_of(atom, bound, uses, origin)?;
                    for (_, take) in &shape.take {
                        if let super::Take::Bind(v) = take {
                            bound[*v as usize] = true;
                        }
                    }
                    Step::Scan(self.scan(relation, shape))
                }
                None => Step::Call(self.call(atom, bound, uses, origin)?),
            },
            Goal::Fails(atom) => match self.plans.relation_of[atom.predicate.index()] {
                Some(relation) => {
                    let shape = self.shape_of(atom, bound, uses, origin)?;
                    Step::NoRow(self.scan(relation, shape))
                }
                // Bindings of a negated call are not kept, because its variables are local.
                None => Step::NoAnswer(self.call(atom, &mut bound.to_vec(), uses, origin)?),
            },
        })
    }

    /// Returns the expected number of solutions of a goal: below one it prunes, above it branches.
    /// `None` if it cannot be evaluated yet.
    fn cost(
        &self,
        goal: &Goal,
        bound: &[bool],
        uses: &[u32],
        origin: u32,
    ) -> Result<Option<f64>, PlanRefusal> {
        match goal {
            Goal::Differ(a, b) => Ok((a.is_bound(bound) && b.is_bound(bound)).then_some(0.0)),
            Goal::Fails(atom) => {
                let mut ready = true;
                let mut here: BTreeMap<u32, u32> = BTreeMap::new();
                atom.each_variable(&mut |v| *here.entry(v).or_default() += 1);
                // A variable that also occurs elsewhere must be bound first.
                for (v, n_here) in here {
                    ready &= bound[v as usize] || uses[v as usize] == n_here;
                }
                let is_given = self.plans.relation_of[atom.predicate.index()].is_some();
                Ok((ready && self.are_requirements_met(atom, bound)).then_some(if is_given {
                    0.02
                } else {
                    0.7
                }))
            }
            Goal::Holds(atom) if !self.are_requirements_met(atom, bound) => Ok(None),
            Goal::Holds(atom) => match self.plans.relation_of[atom.predicate.index()] {
                Some(relation) => {
                    let shape = self.shape_of(atom, bound, uses, origin)?;
                    let branches = self.branching(atom.predicate, relation, &shape.spec);
                    Ok(Some(if shape.n_bound == 0 {
                        0.03 + branches.min(1.0) * 0.3
                    } else {
                        branches
                    }))
                }
                None => {
                    let n_wanted = atom.arguments.iter().filter(|a| !a.is_bound(bound)).count();
                    let exponent = i32::try_from(n_wanted.min(12)).expect("at most 12");
                    let branches = (0..exponent).fold(2.0, |product, _| product * 4.0);
                    Ok(Some(if n_wanted == 0 { 0.6 } else { branches }))
                }
            },
        }
    }

    fn shape_of(
        &self,
        atom: &Atom,
        bound: &[bool],
        uses: &[u32],
        origin: u32,
    ) -> Result<ScanShape, PlanRefusal> {
        scan_shape(&self.plans.bank, atom, bound, uses).map_err(|_| PlanRefusal::Term { origin })
    }

    fn are_requirements_met(&self, atom: &Atom, bound: &[bool]) -> bool {
        let required_arguments = &self.prepared.required_arguments[atom.predicate.index()];
        atom.arguments
            .iter()
            .zip(required_arguments)
            .all(|(argument, &demand_relation)| !demand_relation || argument.is_bound(bound))
    }

    /// Returns the expected number of matching rows.
    fn branching(&self, predicate: PredicateId, relation: usize, spec: &IndexSpec) -> f64 {
        let sample = &self.samples[predicate.index()];
        let (n_rows, n_keys) = sample.count(spec, &self.plans.bank);
        match self.plans.relations[relation].level {
            Level::Static => n_rows as f64 / n_keys as f64,
            // There is one move for each role, so rarely more than one row matches.
            Level::Move => 0.4,
            // Not in the sample: assume a dozen rows, and that each known part leaves a third.
            Level::State if n_rows == 0 => {
                (0..spec.keys.len().min(8)).fold(12.0, |left, _| left / 3.0)
            }
            Level::State => n_rows as f64 / n_keys as f64,
        }
    }
}
