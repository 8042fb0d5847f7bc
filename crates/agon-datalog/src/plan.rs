//! Planning: rules to procedures.
//!
//! A relation is called with some arguments bound and others free. The pattern of the two is a
//! [`BindingPattern`] (an adornment, in the terms of deductive databases), which may look into
//! terms. For each pattern that occurs there is one procedure. In it, each rule has its head
//! unified with the pattern, and its goals in a fixed order: tests as soon as possible, then the
//! goal with the least expected branching. The branching is estimated from a sample of real states.
//! Nothing is evaluated here.

pub(crate) mod agenda;
mod order;
pub(crate) mod prepare;
pub(crate) mod shape;
mod unify;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::program::{Goal, Level, Pattern, PredicateId, Program};
use crate::relation::{IndexSpec, Path};
use crate::{Symbol, TermBank, TermId};
use order::Sample;
use prepare::Prepared;

/// Reason why a program cannot be planned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlanRefusal {
    /// A variable of the rule is unbound, so the rule cannot be evaluated for a required binding
    /// pattern.
    Unbound {
        /// Origin of the rule.
        origin: u32,
    },
    /// The rule has a term that the bank rejects.
    Term {
        /// Origin of the rule.
        origin: u32,
    },
    /// A sentence or term of the rule has more than [`MAX_WIDTH`] arguments.
    Width {
        /// Origin of the rule.
        origin: u32,
    },
    /// The program needs too many procedures.
    TooManyProcedures,
}

/// Maximum number of arguments of a sentence or term. Columns are numbered by 16 bits, and an index
/// over all columns has to fit in memory.
pub const MAX_WIDTH: usize = 10_000;

impl fmt::Display for PlanRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PlanRefusal::Unbound { .. } => "a variable is bound by no condition",
            PlanRefusal::Term { .. } => "a term is nested too deeply",
            PlanRefusal::Width { .. } => "a sentence or term has too many arguments",
            PlanRefusal::TooManyProcedures => "the rules need too many procedures",
        })
    }
}

impl std::error::Error for PlanRefusal {}

/// Maximum number of procedures of a program. Real rulesheets need fewer than a thousand.
const MAX_PROCEDURES: usize = 50_000;

/// Maximum depth at which binding patterns look into terms. Deeper terms are matched after the
/// call. This bounds the number of patterns where rules build ever deeper terms.
const MAX_PATTERN_DEPTH: usize = 2;

/// Bytes of stack for a call. A step takes less than 300 bytes in optimised builds and less than
/// 1200 otherwise. Sanitizers need more.
const CALL_STACK: usize = 64 << 10;

/// Bytes of stack for each step of a call's longest rule.
const STEP_STACK: usize = 2 << 10;

/// The knowledge of a caller about an argument.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum BindingPattern {
    /// The value is known.
    Bound,
    /// The value is unknown and wanted.
    Free,
    /// The functor is known.
    Form(Symbol, Vec<BindingPattern>),
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct ProcedureId(pub(crate) u32);

impl ProcedureId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A planned query: a relation with a binding pattern.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct QueryId(pub(crate) ProcedureId);

/// Procedures for all binding patterns with which the relations of a program are called.
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
    /// Bytes of stack that an evaluation may need, without its calls. Steps are nested.
    pub(crate) stack: usize,
    pub(crate) rules: Vec<PlannedRule>,
}

pub(crate) struct PlannedRule {
    pub(crate) origin: u32,
    pub(crate) n_slots: usize,
    /// Patterns of the inputs.
    pub(crate) inputs: Vec<Matcher>,
    pub(crate) steps: Vec<Step>,
    pub(crate) outputs: Vec<Build>,
    /// The last step that an output depends on. After an answer, later steps need not be tried
    /// again. `None` if no output depends on a step.
    pub(crate) last_choice: Option<usize>,
}

pub(crate) enum Step {
    /// For each matching row.
    Scan(Scan),
    /// For each answer.
    Call(Call),
    /// If no row matches.
    NoRow(Scan),
    /// If there is no answer.
    NoAnswer(Call),
    /// If the terms differ.
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
    pub(crate) take: Vec<Matcher>,
}

/// How a term of a row is used.
#[derive(Copy, Clone)]
pub(crate) enum Take {
    Bind(u32),
    Same(u32),
}

/// A pattern that a term is matched with.
pub(crate) enum Matcher {
    Ignore,
    Bind(u32),
    Same(u32),
    Constant(TermId),
    Open(Symbol, Vec<Matcher>),
}

/// A recipe for building a term.
#[derive(Clone)]
pub(crate) enum Build {
    Slot(u32),
    Constant(TermId),
    Make(Symbol, Vec<Build>),
}

/// A query to plan: a relation, and which arguments are known.
pub struct QueryForm {
    /// The relation.
    pub predicate: PredicateId,
    /// Whether each argument is known.
    pub known: Vec<bool>,
}

impl Plans {
    /// Plans a program for the given queries. `samples` are typical rows of changing relations,
    /// from which the planner estimates the branching of goals. Returns the plans and one id for
    /// each query.
    ///
    /// # Errors
    /// Returns an error if a rule has an unbound variable or an invalid term, or if too many
    /// procedures are needed.
    pub fn new(
        program: Program,
        bank: Arc<TermBank>,
        samples: &[(PredicateId, Vec<Vec<TermId>>)],
        forms: &[QueryForm],
    ) -> Result<(Plans, Vec<QueryId>), PlanRefusal> {
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
        let mut queries = Vec::new();
        for form in forms {
            let bindings = form
                .known
                .iter()
                .map(|&k| if k { BindingPattern::Bound } else { BindingPattern::Free })
                .collect();
            queries.push(QueryId(planner.procedure(form.predicate, bindings)?));
        }
        while let Some((id, predicate, bindings)) = planner.open.pop() {
            planner.plan(id, predicate, &bindings)?;
        }
        Ok((planner.plans, queries))
    }

    /// Returns the numbers of procedures and indexes, a measure of how many binding patterns occur.
    pub fn sizes(&self) -> (usize, usize) {
        (self.procedures.len(), self.relations.iter().map(|r| r.specs.len()).sum())
    }
}

pub(crate) struct Planner {
    prepared: Prepared,
    plans: Plans,
    samples: Vec<Sample>,
    known: BTreeMap<(PredicateId, Vec<BindingPattern>), ProcedureId>,
    /// Procedures that are not planned yet.
    open: Vec<(ProcedureId, PredicateId, Vec<BindingPattern>)>,
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

    /// Returns the procedure of a relation with a binding pattern. A new procedure is planned
    /// later.
    fn procedure(
        &mut self,
        predicate: PredicateId,
        bindings: Vec<BindingPattern>,
    ) -> Result<ProcedureId, PlanRefusal> {
        if let Some(&id) = self.known.get(&(predicate, bindings.clone())) {
            return Ok(id);
        }
        if self.plans.procedures.len() >= MAX_PROCEDURES {
            return Err(PlanRefusal::TooManyProcedures);
        }
        let id = ProcedureId(
            u32::try_from(self.plans.procedures.len())
                .expect("the number of procedures is limited"),
        );
        let (mut n_inputs, mut n_outputs) = (0, 0);
        bindings.iter().for_each(|s| s.count(&mut n_inputs, &mut n_outputs));
        let level = self.prepared.levels[predicate.index()];
        self.plans.procedures.push(Procedure {
            level,
            n_inputs,
            n_outputs,
            stack: CALL_STACK,
            rules: Vec::new(),
        });
        self.known.insert((predicate, bindings.clone()), id);
        self.open.push((id, predicate, bindings));
        Ok(id)
    }

    fn plan(
        &mut self,
        id: ProcedureId,
        predicate: PredicateId,
        bindings: &[BindingPattern],
    ) -> Result<(), PlanRefusal> {
        let mut planned = Vec::new();
        if self.prepared.program.predicates[predicate.index()].given.is_some() {
            // A query of a given relation: a rule that reads its rows.
            planned.extend(self.plan_rule(&self.prepared.reader(predicate), bindings)?);
        }
        for rule in self.prepared.program.predicates[predicate.index()].rules.clone() {
            let rule = self.prepared.program.rules[rule as usize].clone();
            planned.extend(self.plan_rule(&rule, bindings)?);
        }
        let n_steps = planned.iter().map(|rule| rule.steps.len()).max().unwrap_or(0);
        let procedure = &mut self.plans.procedures[id.index()];
        procedure.stack = CALL_STACK + n_steps * STEP_STACK;
        procedure.rules = planned;
        Ok(())
    }

    /// Plans a rule for a binding pattern. Returns `None` if its head does not fit.
    fn plan_rule(
        &mut self,
        rule: &crate::program::Rule,
        bindings: &[BindingPattern],
    ) -> Result<Option<PlannedRule>, PlanRefusal> {
        let Some(specialised) = unify::specialise(rule, bindings) else { return Ok(None) };
        let mut bound = vec![false; specialised.n_variables];
        let mut inputs = Vec::new();
        for pattern in &specialised.inputs {
            inputs.push(self.matcher(pattern, &mut bound, &|_| true, rule.origin)?);
        }
        let mut uses = vec![0u32; specialised.n_variables];
        for goal in &specialised.body {
            goal.each_variable(&mut |v| uses[v as usize] += 1);
        }
        for pattern in specialised.inputs.iter().chain(&specialised.outputs) {
            // Counted twice, so that a variable of the head is never taken for a local variable of
            // a goal.
            pattern.each_variable(&mut |v| uses[v as usize] += 2);
        }
        let (steps, bound_at) = self.order(&specialised, bound, &uses, rule.origin)?;
        let mut last_choice = None;
        for pattern in &specialised.outputs {
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
        let outputs = specialised
            .outputs
            .iter()
            .map(|p| self.build(p, rule.origin))
            .collect::<Result<Vec<_>, _>>()?;
        let n_slots = specialised.n_variables;
        Ok(Some(PlannedRule { origin: rule.origin, n_slots, inputs, steps, outputs, last_choice }))
    }

    /// Returns a recipe for building a pattern whose variables are bound.
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

    /// Returns a matcher for a pattern, and binds the pattern's variables. Unused variables are
    /// ignored.
    fn matcher(
        &self,
        pattern: &Pattern,
        bound: &mut [bool],
        is_used: &dyn Fn(u32) -> bool,
        origin: u32,
    ) -> Result<Matcher, PlanRefusal> {
        Ok(match pattern {
            Pattern::Variable(v) if bound[*v as usize] => Matcher::Same(*v),
            Pattern::Variable(v) if !is_used(*v) => Matcher::Ignore,
            Pattern::Variable(v) => {
                bound[*v as usize] = true;
                Matcher::Bind(*v)
            }
            Pattern::Function(symbol, arguments) => {
                match prepare::ground(pattern, &self.plans.bank) {
                    Some(id) => Matcher::Constant(id.map_err(|_| PlanRefusal::Term { origin })?),
                    None => {
                        let mut parts = Vec::new();
                        for argument in arguments {
                            parts.push(self.matcher(argument, bound, is_used, origin)?);
                        }
                        Matcher::Open(*symbol, parts)
                    }
                }
            }
        })
    }
}

impl BindingPattern {
    fn count(&self, n_inputs: &mut usize, n_outputs: &mut usize) {
        match self {
            BindingPattern::Bound => *n_inputs += 1,
            BindingPattern::Free => *n_outputs += 1,
            BindingPattern::Form(_, parts) => {
                parts.iter().for_each(|p| p.count(n_inputs, n_outputs));
            }
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
