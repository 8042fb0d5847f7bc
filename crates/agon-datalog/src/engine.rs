//! Top-down evaluation with tabling.
//!
//! A query is evaluated by applying the rules of its procedure. The calls that these rules make are
//! queries themselves. Every answer is stored in a table until the relations that it depends on
//! change.
//!
//! **Recursion.** An entry that is called again while it is open answers with the answers found so
//! far. Such entries form a strongly connected component of calls. The engine finds the components
//! like Tarjan's algorithm, by the lowest open entry that an entry depends on (`low_link`). The
//! outermost entry of a component, its leader, is evaluated again until nothing new is found. This
//! is the least fixed point, and only then are the entries of the component complete.
//!
//! **Negation.** A negated call must be complete before its answer is used. If it depends on an
//! open entry, the rules are not stratified for these values, and evaluation stops with
//! [`RefusalKind::Unstratified`]. So programs that are only locally stratified, by the arguments of
//! their atoms, are evaluated correctly.
//!
//! **Cutting.** [`Engine::ask_some`] does not give up at a limit. From then on every rule ends with
//! its next answer, and a call returns the answers found so far. All of them are true, because a
//! negated call that is not complete counts as failed.

use std::sync::Arc;
use std::time::Instant;

use crate::limits::{Limits, Refusal, RefusalKind};
use crate::plan::{
    Build, Call, Matcher, PlannedRule, Plans, ProcedureId, QueryId, Scan, Step, Take,
};
use crate::program::{Level, PredicateId};
use crate::relation::{END, Relation};
use crate::table::{Status, Table};
use crate::term::TermRefusal;
use crate::term_cache::TermCache;
use crate::{Symbol, TermBank, TermId};

/// Evaluates queries of one program. An engine belongs to one thread. The plans and the terms are
/// shared.
#[derive(Clone)]
pub struct Engine {
    plans: Arc<Plans>,
    evaluation: Evaluation,
}

/// The mutable state of an evaluation.
#[derive(Clone)]
struct Evaluation {
    bank: Arc<TermBank>,
    term_cache: TermCache,
    relations: Vec<Relation>,
    tables: Vec<Table>,
    /// Tables with entries that are invalid after a change of the state, and after a change of the
    /// moves.
    dirty: [Vec<u32>; 2],
    limits: Limits,
    /// Stack of frames with the variables of all active rules.
    slots: Vec<u32>,
    /// Current nesting depth of calls.
    depth: u32,
    /// Depth of the lowest open entry that the current one depends on.
    low_link: u32,
    /// Entries that depend on an open one.
    incomplete: Vec<(ProcedureId, u32)>,
    /// Number of times that a component was evaluated again.
    round: u64,
    /// Number of answers found since the state was set.
    n_facts: usize,
    n_steps: u64,
    /// Number of steps for earlier states.
    n_steps_before: u64,
    n_cells: usize,
    cut: Cut,
}

/// Whether an evaluation goes on with some of the answers when it reaches a limit.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Cut {
    /// It is refused.
    Forbidden,
    /// It goes on.
    Allowed,
    /// It has reached a limit, and may take this number of steps in all.
    Made { max_steps: u64 },
}

/// Number of steps that are left after a limit, to find an answer from what was found before it.
const STEPS_AFTER_CUT: u64 = 2_000_000;

/// No open entry.
const NONE: u32 = u32::MAX;

/// Step index that means "no answer was found here, continue".
const EXHAUSTED: usize = usize::MAX;

/// Step index that means "leave the rule".
const LEAVE: usize = 0;

impl Engine {
    /// Creates an engine without rows in the changing relations.
    pub fn new(plans: Arc<Plans>, limits: Limits) -> Engine {
        let bank = Arc::clone(&plans.bank);
        let mut relations: Vec<Relation> =
            plans.relations.iter().map(|r| Relation::new(r.arity, r.specs.clone())).collect();
        for (relation, planned) in relations.iter_mut().zip(&plans.relations) {
            planned.facts.iter().for_each(|row| relation.push(row));
        }
        let tables = plans.procedures.iter().map(|p| Table::new(p.n_inputs, p.n_outputs)).collect();
        let evaluation = Evaluation {
            bank,
            term_cache: TermCache::new(),
            relations,
            tables,
            dirty: [Vec::new(), Vec::new()],
            limits,
            slots: Vec::new(),
            depth: 0,
            low_link: NONE,
            incomplete: Vec::new(),
            round: 0,
            n_facts: 0,
            n_steps: 0,
            n_steps_before: 0,
            n_cells: 0,
            cut: Cut::Forbidden,
        };
        Engine { plans, evaluation }
    }

    /// Returns the term bank.
    pub fn bank(&self) -> &Arc<TermBank> {
        &self.evaluation.bank
    }

    /// Sets the rows of a changing relation, and discards everything that was derived from the old
    /// ones. The rows must be distinct.
    pub fn set_rows<'a>(
        &mut self,
        predicate: PredicateId,
        rows: impl Iterator<Item = &'a [TermId]>,
    ) {
        let relation =
            self.plans.relation_of[predicate.index()].expect("only given relations have rows");
        self.evaluation.invalidate(self.plans.relations[relation].level);
        self.evaluation.relations[relation].clear();
        for row in rows {
            self.evaluation.relations[relation].push(row);
        }
    }

    /// Returns the limits for modification.
    pub fn limits_mut(&mut self) -> &mut Limits {
        &mut self.evaluation.limits
    }

    /// Returns the number of evaluation steps since the engine was created.
    pub fn n_steps(&self) -> u64 {
        self.evaluation.n_steps_before + self.evaluation.n_steps
    }

    /// Evaluates a query. `known` are the values of its known arguments.
    pub fn ask(&mut self, query: QueryId, known: &[TermId]) -> Result<Answers<'_>, Refusal> {
        let key: Vec<u32> = known.iter().map(|t| t.raw()).collect();
        self.evaluation.begin();
        let entry = match self.evaluation.call(&self.plans, query.0, &key) {
            Ok(entry) => entry,
            Err(refusal) => {
                // Incomplete entries must not be used as answers later.
                self.evaluation.abandon();
                return Err(refusal);
            }
        };
        Ok(Answers { table: &self.evaluation.tables[query.0.index()], entry })
    }

    /// Evaluates a query like [`Engine::ask`], but not beyond a moment. If a limit is reached, the
    /// result has those answers that were found, which may be none. Also returns whether the
    /// answers are all there are.
    ///
    /// # Errors
    /// A refusal if no answer was found, or the evaluation is cancelled.
    pub fn ask_some(
        &mut self,
        query: QueryId,
        known: &[TermId],
        until: Instant,
    ) -> Result<(Answers<'_>, bool), Refusal> {
        let key: Vec<u32> = known.iter().map(|t| t.raw()).collect();
        self.evaluation.begin();
        self.evaluation.cut = Cut::Allowed;
        let deadline = self.evaluation.limits.deadline;
        self.evaluation.limits.deadline = Some(deadline.map_or(until, |at| at.min(until)));
        let called = self.evaluation.call(&self.plans, query.0, &key);
        self.evaluation.limits.deadline = deadline;
        let is_complete = called.is_ok() && self.evaluation.cut == Cut::Allowed;
        if is_complete {
            self.evaluation.cut = Cut::Forbidden;
        }
        let table = &self.evaluation.tables[query.0.index()];
        let entry = match called {
            Ok(entry) => Some(entry),
            Err(refusal) if refusal.kind == RefusalKind::Cancelled => None,
            Err(_) => table.find(&key),
        };
        match (entry.filter(|&entry| is_complete || table.n_answers(entry) > 0), called) {
            (Some(entry), _) => {
                let table = &self.evaluation.tables[query.0.index()];
                Ok((Answers { table, entry }, is_complete))
            }
            (None, Err(refusal)) => Err(refusal),
            (None, Ok(_)) => Err(Refusal { kind: RefusalKind::Deadline, origin: None }),
        }
    }

    /// Returns whether a query has an answer.
    pub fn holds(&mut self, query: QueryId, known: &[TermId]) -> Result<bool, Refusal> {
        Ok(!self.ask(query, known)?.is_empty())
    }
}

/// The answers of a query. Each answer has the unknown arguments in order.
pub struct Answers<'a> {
    table: &'a Table,
    entry: u32,
}

impl Answers<'_> {
    /// Returns the number of answers.
    pub fn len(&self) -> usize {
        self.table.n_answers(self.entry)
    }

    /// Returns whether there are no answers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the unknown argument `column` of answer `index`.
    pub fn get(&self, index: usize, column: usize) -> TermId {
        TermId::from_raw(self.table.answer(self.entry, index)[column])
    }
}

impl Evaluation {
    /// Discards everything that depends on rows of this level.
    fn invalidate(&mut self, level: Level) {
        let first = match level {
            Level::Static => panic!("static relations never change"),
            Level::State => 0,
            Level::Move => 1,
        };
        for dirty in &mut self.dirty[first..] {
            for table in dirty.drain(..) {
                self.tables[table as usize].clear();
            }
        }
        if level == Level::State {
            self.n_facts = 0;
            self.n_steps_before += std::mem::take(&mut self.n_steps);
            self.n_cells = 0;
        }
    }

    /// Prepares for a query. Entries of a query that was cut must not be used as answers.
    fn begin(&mut self) {
        if self.cut != Cut::Forbidden {
            self.cut = Cut::Forbidden;
            self.abandon();
            // What the cut query has used up is free again.
            (self.n_facts, self.n_cells) = (0, 0);
            self.n_steps_before += std::mem::take(&mut self.n_steps);
        }
        self.depth = 0;
        self.low_link = NONE;
    }

    fn abandon(&mut self) {
        for table in &mut self.tables {
            table.clear();
        }
        self.dirty.iter_mut().for_each(Vec::clear);
        self.incomplete.clear();
        self.slots.clear();
    }

    /// Returns the entry of a call, evaluated as far as currently possible.
    fn call(&mut self, plans: &Plans, id: ProcedureId, key: &[u32]) -> Result<u32, Refusal> {
        let procedure = &plans.procedures[id.index()];
        let is_cut = self.is_cut();
        let table = &mut self.tables[id.index()];
        let entry = if let Some(entry) = table.find(key) {
            match table.status(entry) {
                Status::Complete => return Ok(entry),
                Status::Open { depth } => {
                    self.low_link = self.low_link.min(depth);
                    return Ok(entry);
                }
                Status::Incomplete { .. } if is_cut => return Ok(entry),
                // A true atom stays true, whatever else is found.
                Status::Incomplete { .. }
                    if procedure.n_outputs == 0 && table.n_answers(entry) > 0 =>
                {
                    return Ok(entry);
                }
                Status::Incomplete { depth, round } if round == self.round => {
                    self.low_link = self.low_link.min(depth);
                    return Ok(entry);
                }
                Status::Incomplete { .. } => entry,
            }
        } else {
            if table.is_empty() {
                match procedure.level {
                    Level::Static => {}
                    Level::State => self.dirty[0].push(id.0),
                    Level::Move => self.dirty[1].push(id.0),
                }
            }
            self.n_cells += key.len() + 8;
            table.insert(key, Status::Open { depth: self.depth })
        };
        if self.depth as usize >= self.limits.depth {
            let origin = procedure.rules.first().map(|rule| rule.origin);
            return Err(Refusal { kind: RefusalKind::Depth, origin });
        }
        // Rules may recurse to any depth. The stack grows up to the limit above.
        stacker::maybe_grow(procedure.stack, (1 << 20) + procedure.stack, || {
            self.evaluate(plans, id, entry, key)
        })?;
        Ok(entry)
    }

    fn evaluate(
        &mut self,
        plans: &Plans,
        id: ProcedureId,
        entry: u32,
        key: &[u32],
    ) -> Result<(), Refusal> {
        let depth = self.depth;
        let outer_low_link = std::mem::replace(&mut self.low_link, NONE);
        let first_incomplete = self.incomplete.len();
        self.tables[id.index()].set_status(entry, Status::Open { depth });
        self.depth += 1;
        loop {
            let n_facts = self.n_facts;
            self.try_rules(plans, id, entry, key)?;
            let is_test = plans.procedures[id.index()].n_outputs == 0;
            if is_test && self.tables[id.index()].n_answers(entry) > 0 {
                // The atom is true, and no later answer can change that. Entries that depended on
                // it are evaluated again.
                self.tables[id.index()].set_status(entry, Status::Complete);
                if self.low_link != NONE {
                    self.incomplete.truncate(first_incomplete);
                    self.round += 1;
                    self.low_link = NONE;
                }
                break;
            }
            if self.is_cut() {
                let status = Status::Incomplete { depth, round: self.round };
                self.tables[id.index()].set_status(entry, status);
                self.low_link = NONE;
                break;
            }
            if self.low_link < depth {
                // Part of a larger component, whose leader will evaluate it again.
                let status = Status::Incomplete { depth: self.low_link, round: self.round };
                self.tables[id.index()].set_status(entry, status);
                self.incomplete.push((id, entry));
                break;
            }
            let is_leader = self.low_link == depth;
            if !is_leader || self.n_facts == n_facts {
                self.tables[id.index()].set_status(entry, Status::Complete);
                for (other, incomplete) in self.incomplete.drain(first_incomplete..) {
                    self.tables[other.index()].set_status(incomplete, Status::Complete);
                }
                self.low_link = NONE;
                break;
            }
            self.incomplete.truncate(first_incomplete);
            self.low_link = NONE;
            self.round += 1;
        }
        self.depth = depth;
        self.low_link = self.low_link.min(outer_low_link);
        Ok(())
    }

    fn try_rules(
        &mut self,
        plans: &Plans,
        id: ProcedureId,
        entry: u32,
        key: &[u32],
    ) -> Result<(), Refusal> {
        let procedure = &plans.procedures[id.index()];
        for rule in &procedure.rules {
            let base = self.slots.len();
            self.slots.resize(base + rule.n_slots, NONE);
            let fits =
                rule.inputs.iter().zip(key).all(|(input, &value)| self.take(input, value, base));
            if fits {
                let target = Target { id, entry, base };
                self.step(plans, rule, 0, target)?;
            }
            self.slots.truncate(base);
            if procedure.n_outputs == 0 && self.tables[id.index()].n_answers(entry) > 0 {
                break;
            }
        }
        Ok(())
    }

    /// Executes the steps from `at` on. If an answer was found, returns the step (counted from 1)
    /// to which to return, because steps after it cannot produce another answer, or `LEAVE` if no
    /// step can. Otherwise returns `EXHAUSTED`.
    fn step(
        &mut self,
        plans: &Plans,
        rule: &PlannedRule,
        at: usize,
        target: Target,
    ) -> Result<usize, Refusal> {
        let Some(step) = rule.steps.get(at) else { return self.answer(rule, target) };
        self.n_steps += 1;
        if self.n_steps & 0xfff == 0 {
            self.check_limits(rule)?;
        }
        match step {
            Step::Differ(a, b) => {
                if self.build(a, rule, target.base)? != self.build(b, rule, target.base)? {
                    return self.step(plans, rule, at + 1, target);
                }
            }
            Step::Scan(scan) => {
                let mut row = self.first_row(scan, rule, target.base)?;
                while row != END {
                    if self.take_row(scan, row, target.base) {
                        let back_to = self.step(plans, rule, at + 1, target)?;
                        if back_to <= at {
                            return Ok(back_to);
                        }
                    }
                    row = self.relations[scan.relation].next(scan.index, row);
                }
            }
            Step::NoRow(scan) => {
                let mut row = self.first_row(scan, rule, target.base)?;
                while row != END && !self.take_row(scan, row, target.base) {
                    row = self.relations[scan.relation].next(scan.index, row);
                }
                if row == END {
                    return self.step(plans, rule, at + 1, target);
                }
            }
            Step::Call(call) => {
                let entry = self.make_call(plans, call, rule, target.base)?;
                let callee = call.procedure.index();
                let mut index = 0;
                // The count is read again each time, because an open entry may get answers while
                // they are read.
                while index < self.tables[callee].n_answers(entry) {
                    if self.take_answer(call, entry, index, target.base) {
                        let back_to = self.step(plans, rule, at + 1, target)?;
                        if back_to <= at {
                            return Ok(back_to);
                        }
                    }
                    index += 1;
                }
            }
            Step::NoAnswer(call) => {
                let entry = self.make_call(plans, call, rule, target.base)?;
                let callee = call.procedure.index();
                let n_answers = self.tables[callee].n_answers(entry);
                if (0..n_answers).any(|index| self.take_answer(call, entry, index, target.base)) {
                    return Ok(EXHAUSTED);
                }
                if self.tables[callee].status(entry) != Status::Complete {
                    if self.is_cut() {
                        return Ok(EXHAUSTED);
                    }
                    let kind = RefusalKind::Unstratified;
                    return Err(Refusal { kind, origin: Some(rule.origin) });
                }
                return self.step(plans, rule, at + 1, target);
            }
        }
        Ok(EXHAUSTED)
    }

    /// Adds an answer after all steps succeeded.
    fn answer(&mut self, rule: &PlannedRule, target: Target) -> Result<usize, Refusal> {
        let mut answer = [0; 8];
        let mut long_answer = Vec::new();
        let answer: &[u32] = if rule.outputs.len() <= answer.len() {
            for (place, output) in answer.iter_mut().zip(&rule.outputs) {
                *place = self.build(output, rule, target.base)?;
            }
            &answer[..rule.outputs.len()]
        } else {
            for output in &rule.outputs {
                long_answer.push(self.build(output, rule, target.base)?);
            }
            &long_answer
        };
        if self.tables[target.id.index()].add(target.entry, answer) {
            self.n_facts += 1;
            self.n_cells += answer.len();
            if self.n_facts > self.limits.facts && !self.is_cut() {
                self.exceed(RefusalKind::Facts, rule)?;
            }
        }
        if self.is_cut() {
            return Ok(LEAVE);
        }
        Ok(rule.last_choice.map_or(LEAVE, |step| step + 1))
    }

    fn first_row(&mut self, scan: &Scan, rule: &PlannedRule, base: usize) -> Result<u32, Refusal> {
        let mut key = [0; 8];
        if scan.key.len() <= key.len() {
            for (place, build) in key.iter_mut().zip(&scan.key) {
                *place = self.build(build, rule, base)?;
            }
            return Ok(self.relations[scan.relation].first(
                scan.index,
                &key[..scan.key.len()],
                &self.bank,
            ));
        }
        let key: Vec<u32> =
            scan.key.iter().map(|build| self.build(build, rule, base)).collect::<Result<_, _>>()?;
        Ok(self.relations[scan.relation].first(scan.index, &key, &self.bank))
    }

    fn make_call(
        &mut self,
        plans: &Plans,
        call: &Call,
        rule: &PlannedRule,
        base: usize,
    ) -> Result<u32, Refusal> {
        let mut key = [0; 8];
        if call.key.len() <= key.len() {
            for (place, build) in key.iter_mut().zip(&call.key) {
                *place = self.build(build, rule, base)?;
            }
            return self.call(plans, call.procedure, &key[..call.key.len()]);
        }
        let key: Vec<u32> =
            call.key.iter().map(|build| self.build(build, rule, base)).collect::<Result<_, _>>()?;
        self.call(plans, call.procedure, &key)
    }

    #[inline]
    fn take_row(&mut self, scan: &Scan, row: u32, base: usize) -> bool {
        let relation = &self.relations[scan.relation];
        scan.take.iter().all(|(path, take)| {
            let value = relation.at(row, path, &self.bank);
            match *take {
                Take::Bind(slot) => {
                    self.slots[base + slot as usize] = value;
                    true
                }
                Take::Same(slot) => self.slots[base + slot as usize] == value,
            }
        })
    }

    fn take_answer(&mut self, call: &Call, entry: u32, index: usize, base: usize) -> bool {
        call.take.iter().enumerate().all(|(column, take)| {
            let value = self.tables[call.procedure.index()].answer(entry, index)[column];
            self.take(take, value, base)
        })
    }

    /// Matches a value with a pattern and binds its variables. Returns whether it fits.
    fn take(&mut self, pattern: &Matcher, value: u32, base: usize) -> bool {
        match pattern {
            Matcher::Ignore => true,
            Matcher::Bind(slot) => {
                self.slots[base + *slot as usize] = value;
                true
            }
            Matcher::Same(slot) => self.slots[base + *slot as usize] == value,
            Matcher::Constant(id) => id.raw() == value,
            Matcher::Open(symbol, parts) => {
                let term = TermId::from_raw(value);
                self.bank.has_form(term, *symbol, parts.len())
                    && parts.iter().enumerate().all(|(i, part)| {
                        let argument = self.bank.argument(term, i).raw();
                        self.take(part, argument, base)
                    })
            }
        }
    }

    #[inline]
    fn build(&mut self, build: &Build, rule: &PlannedRule, base: usize) -> Result<u32, Refusal> {
        match build {
            Build::Slot(slot) => Ok(self.slots[base + *slot as usize]),
            Build::Constant(id) => Ok(id.raw()),
            Build::Make(symbol, parts) => self.make(*symbol, parts, rule, base),
        }
    }

    // A separate function, so that the two simple cases of `build` are inlined.
    fn make(
        &mut self,
        symbol: Symbol,
        parts: &[Build],
        rule: &PlannedRule,
        base: usize,
    ) -> Result<u32, Refusal> {
        let mut arguments = [TermId::from_raw(0); 8];
        let term_cache = if parts.len() <= arguments.len() {
            for (place, part) in arguments.iter_mut().zip(parts) {
                *place = TermId::from_raw(self.build(part, rule, base)?);
            }
            self.term_cache.term(&self.bank, symbol, &arguments[..parts.len()])
        } else {
            let arguments: Vec<TermId> = parts
                .iter()
                .map(|part| self.build(part, rule, base).map(TermId::from_raw))
                .collect::<Result<_, _>>()?;
            self.term_cache.term(&self.bank, symbol, &arguments)
        };
        term_cache.map(TermId::raw).map_err(|refusal| Refusal {
            kind: match refusal {
                TermRefusal::Depth => RefusalKind::TermDepth,
                TermRefusal::Full => RefusalKind::Bytes,
            },
            origin: Some(rule.origin),
        })
    }

    fn is_cut(&self) -> bool {
        matches!(self.cut, Cut::Made { .. })
    }

    /// Refuses the evaluation because of a limit, or cuts it if that is allowed.
    fn exceed(&mut self, kind: RefusalKind, rule: &PlannedRule) -> Result<(), Refusal> {
        if self.cut == Cut::Allowed && kind != RefusalKind::Cancelled {
            self.cut = Cut::Made { max_steps: self.n_steps + STEPS_AFTER_CUT };
            return Ok(());
        }
        Err(Refusal { kind, origin: Some(rule.origin) })
    }

    fn check_limits(&mut self, rule: &PlannedRule) -> Result<(), Refusal> {
        if let Cut::Made { max_steps } = self.cut {
            let kind = match self.limits.stop.is_set() {
                true => RefusalKind::Cancelled,
                false if self.n_steps > max_steps => RefusalKind::Steps,
                false => return Ok(()),
            };
            return Err(Refusal { kind, origin: Some(rule.origin) });
        }
        let kind = if self.n_steps > self.limits.steps {
            RefusalKind::Steps
        } else if self.n_cells * 4 + self.bank.bytes() > self.limits.bytes {
            RefusalKind::Bytes
        } else if let Some(kind) = self.limits.stop.reason(self.limits.deadline) {
            kind
        } else {
            return Ok(());
        };
        self.exceed(kind, rule)
    }
}

/// The entry under evaluation, and the frame of the current rule.
#[derive(Copy, Clone)]
struct Target {
    id: ProcedureId,
    entry: u32,
    base: usize,
}
