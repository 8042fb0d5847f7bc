//! Evaluation: questions answered on demand, every answer kept as long as it stays true.
//!
//! A question is worked out by trying its rules; the calls it makes are questions in turn. An entry that is asked
//! again while it is still open (recursion) answers with what it has so far, and the outermost entry of such a
//! circle is tried again until nothing new is found: the least fixpoint. Only then are the entries of the circle
//! done. A negated call must be done when it answers; if it waits for an open entry, the rules are not stratified
//! for these values, and that is said instead of guessing.

use std::sync::Arc;
use std::time::Instant;

use crate::limits::{Limits, Refusal, RefusalKind};
use crate::made::Made;
use crate::plan::{
    Build, Call, Match, PlannedRule, Plans, ProcedureId, Question, Scan, Step, Take,
};
use crate::program::{Level, PredicateId};
use crate::relation::{END, Relation};
use crate::table::{Status, Table};
use crate::term::TermRefusal;
use crate::{Symbol, TermBank, TermId};

/// Answers questions about one program. Owned by one thread; the plans and the terms are shared.
#[derive(Clone)]
pub struct Engine {
    plans: Arc<Plans>,
    work: Work,
}

/// All that changes during evaluation.
#[derive(Clone)]
struct Work {
    bank: Arc<TermBank>,
    made: Made,
    relations: Vec<Relation>,
    tables: Vec<Table>,
    /// Tables with entries that must go when the state changes, or the moves.
    dirty: [Vec<u32>; 2],
    limits: Limits,
    /// Values of the variables of all rules being applied, one frame above the other.
    slots: Vec<u32>,
    /// Calls within calls, now.
    depth: u32,
    /// The lowest open entry that the current one turned out to wait for.
    waits_for: u32,
    /// Entries that wait for an open one.
    waiting: Vec<(ProcedureId, u32)>,
    /// Counts the times a circle of entries was tried again.
    round: u64,
    /// Answers found since the state was set.
    n_facts: usize,
    n_steps: u64,
    /// Steps for earlier states.
    n_steps_before: u64,
    n_cells: usize,
}

/// No open entry.
const NONE: u32 = u32::MAX;

/// The step index that means "nothing was found here, go on".
const EXHAUSTED: usize = usize::MAX;

/// The step index that means "leave the rule".
const LEAVE: usize = 0;

impl Engine {
    /// An engine with no rows in the relations that change.
    pub fn new(plans: Arc<Plans>, limits: Limits) -> Engine {
        let bank = Arc::clone(&plans.bank);
        let mut relations: Vec<Relation> =
            plans.relations.iter().map(|r| Relation::new(r.arity, r.specs.clone())).collect();
        for (relation, planned) in relations.iter_mut().zip(&plans.relations) {
            planned.facts.iter().for_each(|row| relation.push(row));
        }
        let tables = plans.procedures.iter().map(|p| Table::new(p.n_inputs, p.n_outputs)).collect();
        let work = Work {
            bank,
            made: Made::new(),
            relations,
            tables,
            dirty: [Vec::new(), Vec::new()],
            limits,
            slots: Vec::new(),
            depth: 0,
            waits_for: NONE,
            waiting: Vec::new(),
            round: 0,
            n_facts: 0,
            n_steps: 0,
            n_steps_before: 0,
            n_cells: 0,
        };
        Engine { plans, work }
    }

    /// The terms it works with.
    pub fn bank(&self) -> &Arc<TermBank> {
        &self.work.bank
    }

    /// Sets the rows of a relation that changes and forgets all that was derived from the old ones. No row may be
    /// given twice.
    pub fn set_rows<'a>(
        &mut self,
        predicate: PredicateId,
        rows: impl Iterator<Item = &'a [TermId]>,
    ) {
        let relation = self.plans.relation_of[predicate.index()]
            .expect("rows are set only of given relations");
        self.work.forget(self.plans.relations[relation].level);
        self.work.relations[relation].clear();
        for row in rows {
            self.work.relations[relation].push(row);
        }
    }

    /// The limits in force.
    pub fn limits_mut(&mut self) -> &mut Limits {
        &mut self.work.limits
    }

    /// Steps of evaluation since the engine was made.
    pub fn n_steps(&self) -> u64 {
        self.work.n_steps_before + self.work.n_steps
    }

    /// Answers a question. `known` are the values of the arguments that were said to be known.
    pub fn ask(&mut self, question: Question, known: &[TermId]) -> Result<Answers<'_>, Refusal> {
        let key: Vec<u32> = known.iter().map(|t| t.raw()).collect();
        self.work.depth = 0;
        self.work.waits_for = NONE;
        let entry = match self.work.call(&self.plans, question.0, &key) {
            Ok(entry) => entry,
            Err(refusal) => {
                // Half-made entries must not be taken for answers later.
                self.work.abandon();
                return Err(refusal);
            }
        };
        Ok(Answers { table: &self.work.tables[question.0.index()], entry })
    }

    /// Whether a question has an answer.
    pub fn holds(&mut self, question: Question, known: &[TermId]) -> Result<bool, Refusal> {
        Ok(!self.ask(question, known)?.is_empty())
    }
}

/// The answers to a question: for each the wanted arguments, in order.
pub struct Answers<'a> {
    table: &'a Table,
    entry: u32,
}

impl Answers<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.table.n_answers(self.entry)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The wanted argument `column` of answer `index`.
    pub fn get(&self, index: usize, column: usize) -> TermId {
        TermId::from_raw(self.table.answer(self.entry, index)[column])
    }
}

impl Work {
    /// Forgets what depends on rows of this level.
    fn forget(&mut self, level: Level) {
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

    fn abandon(&mut self) {
        for table in &mut self.tables {
            table.clear();
        }
        self.dirty.iter_mut().for_each(Vec::clear);
        self.waiting.clear();
        self.slots.clear();
    }

    /// The entry that answers a call, worked out as far as it can be now.
    fn call(&mut self, plans: &Plans, id: ProcedureId, key: &[u32]) -> Result<u32, Refusal> {
        let procedure = &plans.procedures[id.index()];
        let table = &mut self.tables[id.index()];
        let entry = if let Some(entry) = table.find(key) {
            match table.status(entry) {
                Status::Done => return Ok(entry),
                Status::Open { depth } => {
                    self.waits_for = self.waits_for.min(depth);
                    return Ok(entry);
                }
                // What was found true stays true, whatever else is found.
                Status::Waiting { .. }
                    if procedure.n_outputs == 0 && table.n_answers(entry) > 0 =>
                {
                    return Ok(entry);
                }
                Status::Waiting { depth, round } if round == self.round => {
                    self.waits_for = self.waits_for.min(depth);
                    return Ok(entry);
                }
                Status::Waiting { .. } => entry,
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
        // Rules recurse as deep as their author likes; the stack grows with them up to the limit above.
        stacker::maybe_grow(procedure.stack, (1 << 20) + procedure.stack, || {
            self.work_out(plans, id, entry, key)
        })?;
        Ok(entry)
    }

    fn work_out(
        &mut self,
        plans: &Plans,
        id: ProcedureId,
        entry: u32,
        key: &[u32],
    ) -> Result<(), Refusal> {
        let depth = self.depth;
        let outer_waits_for = std::mem::replace(&mut self.waits_for, NONE);
        let first_waiting = self.waiting.len();
        self.tables[id.index()].set_status(entry, Status::Open { depth });
        self.depth += 1;
        loop {
            let n_facts = self.n_facts;
            self.try_rules(plans, id, entry, key)?;
            let is_test = plans.procedures[id.index()].n_outputs == 0;
            if is_test && self.tables[id.index()].n_answers(entry) > 0 {
                // True, and nothing found later can change that. Whoever waited for it is to be tried again.
                self.tables[id.index()].set_status(entry, Status::Done);
                if self.waits_for != NONE {
                    self.waiting.truncate(first_waiting);
                    self.round += 1;
                    self.waits_for = NONE;
                }
                break;
            }
            if self.waits_for < depth {
                // Part of a larger circle: whoever closes that one will come back.
                let status = Status::Waiting { depth: self.waits_for, round: self.round };
                self.tables[id.index()].set_status(entry, status);
                self.waiting.push((id, entry));
                break;
            }
            let in_circle = self.waits_for == depth;
            if !in_circle || self.n_facts == n_facts {
                self.tables[id.index()].set_status(entry, Status::Done);
                for (other, waiting) in self.waiting.drain(first_waiting..) {
                    self.tables[other.index()].set_status(waiting, Status::Done);
                }
                self.waits_for = NONE;
                break;
            }
            self.waiting.truncate(first_waiting);
            self.waits_for = NONE;
            self.round += 1;
        }
        self.depth = depth;
        self.waits_for = self.waits_for.min(outer_waits_for);
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

    /// Tries the steps from `at` on. Returns the step (counted from 1) to which to go back because an answer was
    /// found and steps after it cannot give another, `LEAVE` if no step can, or `EXHAUSTED`.
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
                // The count is read anew each time: an open entry may get answers while they are being read.
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
                if self.tables[callee].status(entry) != Status::Done {
                    let kind = RefusalKind::Unstratified;
                    return Err(Refusal { kind, origin: Some(rule.origin) });
                }
                return self.step(plans, rule, at + 1, target);
            }
        }
        Ok(EXHAUSTED)
    }

    /// All steps succeeded: enters the answer.
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
            if self.n_facts > self.limits.facts {
                return Err(Refusal { kind: RefusalKind::Facts, origin: Some(rule.origin) });
            }
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

    /// Takes a value apart into slots; says whether it fits.
    fn take(&mut self, pattern: &Match, value: u32, base: usize) -> bool {
        match pattern {
            Match::Ignore => true,
            Match::Bind(slot) => {
                self.slots[base + *slot as usize] = value;
                true
            }
            Match::Same(slot) => self.slots[base + *slot as usize] == value,
            Match::Constant(id) => id.raw() == value,
            Match::Open(symbol, parts) => {
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

    // Apart from `build`, so that the two cases without a call of that one are inlined.
    fn make(
        &mut self,
        symbol: Symbol,
        parts: &[Build],
        rule: &PlannedRule,
        base: usize,
    ) -> Result<u32, Refusal> {
        let mut arguments = [TermId::from_raw(0); 8];
        let made = if parts.len() <= arguments.len() {
            for (place, part) in arguments.iter_mut().zip(parts) {
                *place = TermId::from_raw(self.build(part, rule, base)?);
            }
            self.made.term(&self.bank, symbol, &arguments[..parts.len()])
        } else {
            let arguments: Vec<TermId> = parts
                .iter()
                .map(|part| self.build(part, rule, base).map(TermId::from_raw))
                .collect::<Result<_, _>>()?;
            self.made.term(&self.bank, symbol, &arguments)
        };
        made.map(TermId::raw).map_err(|refusal| Refusal {
            kind: match refusal {
                TermRefusal::Depth => RefusalKind::TermDepth,
                TermRefusal::Full => RefusalKind::Bytes,
            },
            origin: Some(rule.origin),
        })
    }

    fn check_limits(&self, rule: &PlannedRule) -> Result<(), Refusal> {
        let kind = if self.n_steps > self.limits.steps {
            RefusalKind::Steps
        } else if self.n_cells * 4 + self.bank.bytes() > self.limits.bytes {
            RefusalKind::Bytes
        } else if self.limits.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            RefusalKind::Deadline
        } else {
            return Ok(());
        };
        Err(Refusal { kind, origin: Some(rule.origin) })
    }
}

/// The entry being worked out and the frame of the rule applied to it.
#[derive(Copy, Clone)]
struct Target {
    id: ProcedureId,
    entry: u32,
    base: usize,
}
