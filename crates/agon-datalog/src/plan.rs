//! Rules to procedures: how each relation is computed for each way in which it is asked.
//!
//! A relation is asked with some arguments known and others wanted; the pattern of the two is a [`Skeleton`]. For
//! each skeleton that occurs there is one procedure, and in it each rule has its head matched with the skeleton and
//! its goals put in an order fixed once and for all: tests as soon as they can be made, then whatever is expected to
//! branch least. Nothing is evaluated here.

mod order;
pub(crate) mod prepare;
pub(crate) mod shape;
mod unify;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::program::{Goal, Level, Pattern, PredicateId, Program};
use crate::relation::{IndexSpec, Path};
use crate::{Symbol, TermBank, TermId};
use order::Sample;
use prepare::Prepared;

/// Why a program cannot be planned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlanRefusal {
    /// A variable of the rule with this origin is bound by nothing, so the rule cannot be evaluated as asked.
    Unbound {
        /// The rule's origin.
        origin: u32,
    },
    /// The rule with this origin holds a term that the bank refuses.
    Term {
        /// The rule's origin.
        origin: u32,
    },
    /// More ways of asking occur than there may be.
    TooManyProcedures,
}

/// How many procedures a program may need. Real rulesheets need fewer than a thousand.
const MAX_PROCEDURES: usize = 50_000;

/// How deep a skeleton looks into terms; below that a term is matched after the call. Bounds the number of
/// skeletons where rules build ever deeper terms.
const SKELETON_DEPTH: usize = 2;

/// Bytes of stack for a call and for each step of its longest rule. A step takes below 300 when optimised and below
/// 1200 when not; sanitizers need more.
const CALL_STACK: usize = 64 << 10;
const STEP_STACK: usize = 2 << 10;

/// What a caller knows of an argument.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Skeleton {
    /// Its value.
    Known,
    /// Nothing: it is wanted.
    Wanted,
    /// Its form.
    Form(Symbol, Vec<Skeleton>),
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct ProcedureId(pub(crate) u32);

impl ProcedureId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A way to ask a relation that was planned for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Question(pub(crate) ProcedureId);

/// A plan for every way in which the relations of a program are asked.
pub struct Plans {
    pub(crate) bank: Arc<TermBank>,
    pub(crate) procedures: Vec<Procedure>,
    pub(crate) relations: Vec<PlannedRelation>,
    /// The relation of each given predicate.
    pub(crate) relation_of: Vec<Option<usize>>,
}

pub(crate) struct PlannedRelation {
    pub(crate) arity: usize,
    pub(crate) level: Level,
    pub(crate) specs: Vec<IndexSpec>,
    /// Rows that never change.
    pub(crate) facts: Vec<Vec<TermId>>,
}

pub(crate) struct Procedure {
    pub(crate) level: Level,
    pub(crate) n_inputs: usize,
    pub(crate) n_outputs: usize,
    /// Bytes of stack that working it out may need, its calls apart: steps are tried one inside the other.
    pub(crate) stack: usize,
    pub(crate) rules: Vec<PlannedRule>,
}

pub(crate) struct PlannedRule {
    pub(crate) origin: u32,
    pub(crate) n_slots: usize,
    /// How each input is taken apart.
    pub(crate) inputs: Vec<Match>,
    pub(crate) steps: Vec<Step>,
    pub(crate) outputs: Vec<Build>,
    /// The last step on which an output depends; once an answer is found, the steps after it need not be tried
    /// for others. `None`: no output depends on any step.
    pub(crate) last_choice: Option<usize>,
}

pub(crate) enum Step {
    /// For each row that fits.
    Scan(Scan),
    /// For each answer.
    Call(Call),
    /// If no row fits.
    NoRow(Scan),
    /// If there is no answer.
    NoAnswer(Call),
    /// If the two differ.
    Differ(Build, Build),
}

pub(crate) struct Scan {
    pub(crate) relation: usize,
    pub(crate) index: usize,
    pub(crate) key: Vec<Build>,
    pub(crate) take: Vec<(Path, Take)>,
}

pub(crate) struct Call {
    pub(crate) procedure: ProcedureId,
    pub(crate) key: Vec<Build>,
    pub(crate) take: Vec<Match>,
}

/// What to do with a term of a row.
#[derive(Copy, Clone)]
pub(crate) enum Take {
    Bind(u32),
    Same(u32),
}

/// How a term is taken apart.
pub(crate) enum Match {
    Ignore,
    Bind(u32),
    Same(u32),
    Constant(TermId),
    Open(Symbol, Vec<Match>),
}

/// How a term is put together.
#[derive(Clone)]
pub(crate) enum Build {
    Slot(u32),
    Constant(TermId),
    Make(Symbol, Vec<Build>),
}

/// How a relation will be asked: which arguments will be known.
pub struct Entry {
    /// The relation.
    pub predicate: PredicateId,
    /// For each argument whether its value is known.
    pub known: Vec<bool>,
}

impl Plans {
    /// Plans a program for the given entries; `samples` are typical rows of relations that change, by which the
    /// planner judges how much a goal branches. Returns the plans and one question per entry.
    pub fn new(
        program: Program,
        bank: Arc<TermBank>,
        samples: &[(PredicateId, Vec<Vec<TermId>>)],
        entries: &[Entry],
    ) -> Result<(Plans, Vec<Question>), PlanRefusal> {
        let prepared = prepare::prepare(program, &bank)?;
        let mut planner = Planner {
            samples: order::samples(&prepared, samples),
            plans: Plans {
                bank,
                procedures: Vec::new(),
                relations: Vec::new(),
                relation_of: Vec::new(),
            },
            prepared,
            known: BTreeMap::new(),
            open: Vec::new(),
        };
        planner.make_relations();
        let mut questions = Vec::new();
        for entry in entries {
            let skeleton = entry
                .known
                .iter()
                .map(|&k| if k { Skeleton::Known } else { Skeleton::Wanted })
                .collect();
            questions.push(Question(planner.procedure(entry.predicate, skeleton)?));
        }
        while let Some((id, predicate, skeleton)) = planner.open.pop() {
            planner.plan(id, predicate, &skeleton)?;
        }
        Ok((planner.plans, questions))
    }

    /// How many procedures and indexes there are: a measure of how many ways of asking occur.
    pub fn sizes(&self) -> (usize, usize) {
        (self.procedures.len(), self.relations.iter().map(|r| r.specs.len()).sum())
    }
}

pub(crate) struct Planner {
    prepared: Prepared,
    plans: Plans,
    samples: Vec<Sample>,
    known: BTreeMap<(PredicateId, Vec<Skeleton>), ProcedureId>,
    /// Made but not yet planned.
    open: Vec<(ProcedureId, PredicateId, Vec<Skeleton>)>,
}

impl Planner {
    fn make_relations(&mut self) {
        for (predicate, facts) in
            self.prepared.program.predicates.iter().zip(&mut self.prepared.facts)
        {
            self.plans.relation_of.push(predicate.given.map(|level| {
                let facts = std::mem::take(facts);
                let relation =
                    PlannedRelation { arity: predicate.arity, level, specs: Vec::new(), facts };
                self.plans.relations.push(relation);
                self.plans.relations.len() - 1
            }));
        }
    }

    /// The procedure for a relation asked this way, made (but not yet planned) if it is new.
    fn procedure(
        &mut self,
        predicate: PredicateId,
        skeleton: Vec<Skeleton>,
    ) -> Result<ProcedureId, PlanRefusal> {
        if let Some(&id) = self.known.get(&(predicate, skeleton.clone())) {
            return Ok(id);
        }
        if self.plans.procedures.len() >= MAX_PROCEDURES {
            return Err(PlanRefusal::TooManyProcedures);
        }
        let id = ProcedureId(u32::try_from(self.plans.procedures.len()).expect("limited above"));
        let (mut n_inputs, mut n_outputs) = (0, 0);
        skeleton.iter().for_each(|s| s.count(&mut n_inputs, &mut n_outputs));
        let level = self.prepared.levels[predicate.index()];
        self.plans.procedures.push(Procedure {
            level,
            n_inputs,
            n_outputs,
            stack: CALL_STACK,
            rules: Vec::new(),
        });
        self.known.insert((predicate, skeleton.clone()), id);
        self.open.push((id, predicate, skeleton));
        Ok(id)
    }

    fn plan(
        &mut self,
        id: ProcedureId,
        predicate: PredicateId,
        skeleton: &[Skeleton],
    ) -> Result<(), PlanRefusal> {
        let mut planned = Vec::new();
        if self.prepared.program.predicates[predicate.index()].given.is_some() {
            // A relation of plain rows asked from outside: a rule that reads it.
            planned.extend(self.plan_rule(&self.prepared.reader(predicate), skeleton)?);
        }
        for rule in self.prepared.program.predicates[predicate.index()].rules.clone() {
            let rule = self.prepared.program.rules[rule as usize].clone();
            planned.extend(self.plan_rule(&rule, skeleton)?);
        }
        let n_steps = planned.iter().map(|rule| rule.steps.len()).max().unwrap_or(0);
        let procedure = &mut self.plans.procedures[id.index()];
        procedure.stack = CALL_STACK + n_steps * STEP_STACK;
        procedure.rules = planned;
        Ok(())
    }

    /// One rule for one way of asking; `None` if its head does not fit.
    fn plan_rule(
        &mut self,
        rule: &crate::program::Rule,
        skeleton: &[Skeleton],
    ) -> Result<Option<PlannedRule>, PlanRefusal> {
        let Some(asked) = unify::specialise(rule, skeleton) else { return Ok(None) };
        let mut bound = vec![false; asked.n_variables];
        let mut inputs = Vec::new();
        for pattern in &asked.inputs {
            inputs.push(self.matcher(pattern, &mut bound, &|_| true, rule.origin)?);
        }
        let mut uses = vec![0u32; asked.n_variables];
        for goal in &asked.body {
            goal.each_variable(&mut |v| uses[v as usize] += 1);
        }
        for pattern in asked.inputs.iter().chain(&asked.outputs) {
            // Twice, so that a variable of the head never looks like one that occurs only in a single goal.
            pattern.each_variable(&mut |v| uses[v as usize] += 2);
        }
        let (steps, bound_at) = self.order(&asked, bound, &uses, rule.origin)?;
        let mut last_choice = None;
        for pattern in &asked.outputs {
            let mut unbound = false;
            pattern.each_variable(&mut |v| match bound_at[v as usize] {
                Some(order::BoundAt::Input) => {}
                Some(order::BoundAt::Step(step)) => last_choice = last_choice.max(Some(step)),
                None => unbound = true,
            });
            if unbound {
                return Err(PlanRefusal::Unbound { origin: rule.origin });
            }
        }
        let outputs = asked
            .outputs
            .iter()
            .map(|p| self.build(p, rule.origin))
            .collect::<Result<Vec<_>, _>>()?;
        let n_slots = asked.n_variables;
        Ok(Some(PlannedRule { origin: rule.origin, n_slots, inputs, steps, outputs, last_choice }))
    }

    /// How to put a pattern together whose variables are all bound.
    fn build(&self, pattern: &Pattern, origin: u32) -> Result<Build, PlanRefusal> {
        Ok(match pattern {
            Pattern::Variable(v) => Build::Slot(*v),
            Pattern::Function(symbol, arguments) => {
                match prepare::ground(pattern, &self.plans.bank) {
                    Some(id) => Build::Constant(id.map_err(|_| PlanRefusal::Term { origin })?),
                    None => Build::Make(
                        *symbol,
                        arguments
                            .iter()
                            .map(|a| self.build(a, origin))
                            .collect::<Result<_, _>>()?,
                    ),
                }
            }
        })
    }

    /// How to take a value apart by a pattern; binds the pattern's variables. Variables that nobody uses are
    /// ignored.
    fn matcher(
        &self,
        pattern: &Pattern,
        bound: &mut [bool],
        is_used: &dyn Fn(u32) -> bool,
        origin: u32,
    ) -> Result<Match, PlanRefusal> {
        Ok(match pattern {
            Pattern::Variable(v) if bound[*v as usize] => Match::Same(*v),
            Pattern::Variable(v) if !is_used(*v) => Match::Ignore,
            Pattern::Variable(v) => {
                bound[*v as usize] = true;
                Match::Bind(*v)
            }
            Pattern::Function(symbol, arguments) => {
                match prepare::ground(pattern, &self.plans.bank) {
                    Some(id) => Match::Constant(id.map_err(|_| PlanRefusal::Term { origin })?),
                    None => {
                        let mut parts = Vec::new();
                        for argument in arguments {
                            parts.push(self.matcher(argument, bound, is_used, origin)?);
                        }
                        Match::Open(*symbol, parts)
                    }
                }
            }
        })
    }
}

impl Skeleton {
    fn count(&self, n_inputs: &mut usize, n_outputs: &mut usize) {
        match self {
            Skeleton::Known => *n_inputs += 1,
            Skeleton::Wanted => *n_outputs += 1,
            Skeleton::Form(_, parts) => parts.iter().for_each(|p| p.count(n_inputs, n_outputs)),
        }
    }
}

impl Goal {
    pub(crate) fn each_variable(&self, visit: &mut dyn FnMut(u32)) {
        match self {
            Goal::Holds(atom) | Goal::Fails(atom) => atom.each_variable(visit),
            Goal::Differ(a, b) => {
                a.each_variable(visit);
                b.each_variable(visit);
            }
        }
    }
}
