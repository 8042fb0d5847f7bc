//! Grounding: all rule instances that can ever apply.
//!
//! Reachability is relaxed. A negated condition on a changing relation is assumed to hold. What a
//! feed carries over (from `next` to `true`, from `legal` to `does`) stays for ever. So the ground
//! program has an atom for everything that can become true, and possibly for more.
//!
//! Evaluation is semi-naive: in each round, every rule is joined once for each condition that has
//! new rows. So no instance is found twice.
//!
//! The rules are rewritten first, in this order:
//!
//! 1. [`merge`](merge()) unites rules that differ in one condition.
//! 2. [`materialise`](crate::materialise()) computes static relations.
//! 3. [`demand`](demand()) restricts relations to the tuples that are needed (magic sets).
//! 4. [`split`](split()) decomposes rules with many variables, and `materialise` runs once more.
//!
//! If a limit is exceeded, grounding stops with a refusal that names the responsible rule.

mod demand;
mod join;
mod merge;
mod split;

use std::time::Instant;

use crate::limits::{Refusal, RefusalKind, StopFlag};
use crate::plan::prepare::{Prepared, prepare};
use crate::program::{Goal, Level, PredicateId, Program};
use crate::relation::{END, IndexSpec, Path, Relation};
use crate::{TermBank, TermId};
pub use demand::demand;
use join::{Join, joins};
pub use merge::merge;
pub use split::{SplitLimits, split};

/// Limits of grounding.
#[derive(Clone, Debug)]
pub struct GroundLimits {
    /// Maximum number of atoms.
    pub atoms: usize,
    /// Maximum number of rule instances.
    pub rules: usize,
    /// Maximum number of bytes for rule instances and atoms.
    pub bytes: usize,
    /// Maximum number of join steps, a machine-independent measure of time.
    pub steps: u64,
    /// Time to stop at.
    pub deadline: Option<Instant>,
    /// Cancels the work when it is set.
    pub stop: StopFlag,
}

impl Default for GroundLimits {
    fn default() -> GroundLimits {
        GroundLimits {
            atoms: 20_000_000,
            rules: 60_000_000,
            bytes: 3 << 30,
            steps: 20_000_000_000,
            deadline: None,
            stop: StopFlag::NEVER,
        }
    }
}

/// Maximum number of conditions of a rule that [`merge()`] and [`demand()`] rewrite. Their time
/// and memory grow with the square of that number. Rules of public rulesheets have fewer than a
/// hundred conditions.
const MAX_REWRITTEN: usize = 400;

/// An atom of a [`GroundProgram`]. Dense: `0..n_atoms()`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AtomId(pub u32);

/// Ground atoms and ground rules.
pub struct GroundProgram {
    relations: Vec<Relation>,
    atoms_of: Vec<Vec<u32>>,
    /// Whether each atom always holds.
    pub always: Vec<bool>,
    rules: Vec<u32>,
    starts: Vec<usize>,
    /// For each occurrence of an atom in a negated condition: the atom, if it can ever hold.
    mentions: Vec<Option<AtomId>>,
}

/// A ground rule. The head holds if all atoms of `positive` and none of `negative` hold.
pub struct GroundRule<'a> {
    /// The derived atom.
    pub head: AtomId,
    /// Atoms that must hold.
    pub positive: &'a [u32],
    negative: &'a [u32],
    /// The rule that this is an instance of.
    pub origin: u32,
    program: &'a GroundProgram,
}

impl GroundRule<'_> {
    /// Returns the atoms that must not hold. Atoms that can never hold are omitted.
    pub fn negative(&self) -> impl Iterator<Item = AtomId> {
        self.negative.iter().filter_map(|&mention| self.program.mentions[mention as usize])
    }
}

impl GroundProgram {
    /// Returns the number of atoms.
    pub fn n_atoms(&self) -> usize {
        self.always.len()
    }

    /// Returns the number of rule instances, without facts.
    pub fn n_rules(&self) -> usize {
        self.starts.len()
    }

    /// Iterates over the rule instances.
    pub fn rules(&self) -> impl Iterator<Item = GroundRule<'_>> {
        (0..self.starts.len()).map(|index| self.rule(index))
    }

    /// Returns a rule instance.
    pub fn rule(&self, index: usize) -> GroundRule<'_> {
        let start = self.starts[index];
        let (head, origin) = (AtomId(self.rules[start]), self.rules[start + 1]);
        let (n_positive, n_negative) =
            (self.rules[start + 2] as usize, self.rules[start + 3] as usize);
        let positive = &self.rules[start + 4..][..n_positive];
        let negative = &self.rules[start + 4 + n_positive..][..n_negative];
        GroundRule { head, positive, negative, origin, program: self }
    }

    /// Iterates over the atoms of a relation, with their arguments.
    pub fn atoms_of(&self, predicate: PredicateId) -> impl Iterator<Item = (AtomId, Vec<TermId>)> {
        let relation = &self.relations[predicate.index()];
        let ids = self.atoms_of[predicate.index()].iter();
        ids.enumerate().map(|(row, &id)| {
            let row = relation.row(u32::try_from(row).expect("fewer than 2^32 rows"));
            (AtomId(id), row.iter().map(|&raw| TermId::from_raw(raw)).collect())
        })
    }
}

/// Grounds the rules that `roots` depend on. Each of `feeds` carries the rows of a derived relation
/// over to a given one.
///
/// # Errors
/// Returns a refusal if a limit is exceeded, or if a variable of a rule is unbound.
pub fn ground(
    program: Program,
    bank: &TermBank,
    feeds: &[(PredicateId, PredicateId)],
    roots: &[PredicateId],
    limits: &GroundLimits,
) -> Result<GroundProgram, Refusal> {
    let prepared = prepare(program, bank)?;
    let relevant = relevant(&prepared.program, feeds, roots);
    let n = prepared.program.predicates.len();
    let mut is_static: Vec<bool> =
        prepared.program.predicates.iter().map(|p| p.given == Some(Level::Static)).collect();
    let atoms = roots.iter().chain(feeds.iter().map(|(from, _)| from));
    atoms.for_each(|predicate| is_static[predicate.index()] = false);
    let mut grounder = Grounder {
        bank,
        limits,
        is_static,
        is_demand: prepared.program.predicates.iter().map(|p| p.is_demand).collect(),
        n_demanded: 0,
        feeds_to: vec![Vec::new(); n],
        program: GroundProgram {
            relations: Vec::new(),
            atoms_of: vec![Vec::new(); n],
            always: Vec::new(),
            rules: Vec::new(),
            starts: Vec::new(),
            mentions: Vec::new(),
        },
        mentioned: Vec::new(),
        mention_ids: vec![Vec::new(); n],
        mention_places: Vec::new(),
        visible: vec![(0, 0); n],
        slots: Vec::new(),
        key: Vec::new(),
        last_head: (usize::MAX, Vec::new(), 0),
        rows: Vec::new(),
        n_steps: 0,
        n_emitted: 0,
    };
    for (from, to) in feeds {
        grounder.feeds_to[from.index()].push(*to);
    }
    grounder.run(&prepared, &relevant)?;
    Ok(grounder.finish())
}

/// Returns the relations that the roots depend on, through rules and feeds.
fn relevant(
    program: &Program,
    feeds: &[(PredicateId, PredicateId)],
    roots: &[PredicateId],
) -> Vec<bool> {
    let mut relevant = vec![false; program.predicates.len()];
    let mut open: Vec<PredicateId> = roots.to_vec();
    while let Some(predicate) = open.pop() {
        if std::mem::replace(&mut relevant[predicate.index()], true) {
            continue;
        }
        open.extend(feeds.iter().filter(|(_, to)| *to == predicate).map(|(from, _)| *from));
        for &rule in &program.predicates[predicate.index()].rules {
            for goal in &program.rules[rule as usize].body {
                if let Goal::Holds(atom) | Goal::Fails(atom) = goal {
                    open.push(atom.predicate);
                }
            }
        }
    }
    relevant
}

struct Grounder<'a> {
    bank: &'a TermBank,
    limits: &'a GroundLimits,
    is_static: Vec<bool>,
    /// Whether each relation is a demand relation. Its rows are not atoms.
    is_demand: Vec<bool>,
    n_demanded: usize,
    feeds_to: Vec<Vec<PredicateId>>,
    program: GroundProgram,
    /// Atoms in negated conditions, by relation.
    mentioned: Vec<Relation>,
    /// For each relation: the number of each row of `mentioned`.
    mention_ids: Vec<Vec<u32>>,
    /// Relation and row of each mention.
    mention_places: Vec<(usize, u32)>,
    /// For each relation: rows below the first number are old, rows below the second are visible in
    /// this round.
    visible: Vec<(u32, u32)>,
    slots: Vec<u32>,
    /// Buffer for a key or a row.
    key: Vec<u32>,
    /// Head of the last instance: relation, arguments and atom.
    last_head: (usize, Vec<u32>, u32),
    /// Rows of the conditions of the current rule.
    rows: Vec<u32>,
    n_steps: u64,
    /// Number of rule instances found, new or not. One step may find thousands of them.
    n_emitted: u64,
}

/// The index over all columns, which finds a given row. It is the first index of every growing
/// relation.
const WHOLE_ROW: usize = 0;

impl Grounder<'_> {
    fn run(&mut self, prepared: &Prepared, relevant: &[bool]) -> Result<(), Refusal> {
        for (index, predicate) in prepared.program.predicates.iter().enumerate() {
            let n_columns = u16::try_from(predicate.arity)
                .map_err(|_| Refusal { kind: RefusalKind::Width, origin: None })?;
            let columns = (0..n_columns).map(|column| Path::from([column].as_slice()));
            let whole = IndexSpec { forms: Vec::new(), keys: columns.collect() };
            let mut relation = Relation::new(predicate.arity, vec![whole.clone()]);
            if self.is_static[index] {
                prepared.facts[index].iter().for_each(|row| relation.push(row));
            }
            self.program.relations.push(relation);
            self.mentioned.push(Relation::new(predicate.arity, vec![whole]));
        }
        // Facts of roots and of fed relations are atoms that always hold.
        for (index, facts) in prepared.facts.iter().enumerate() {
            if self.is_static[index] {
                continue;
            }
            for row in facts {
                let row: Vec<u32> = row.iter().map(|term| term.raw()).collect();
                if self.is_demand[index] {
                    self.add_demand(index, &row, u32::MAX)?;
                    continue;
                }
                let atom = self.atom(index, &row, u32::MAX)?;
                self.program.always[atom as usize] = true;
            }
        }
        let joins = joins(
            prepared,
            relevant,
            &self.is_static,
            &mut self.program.relations,
            self.bank,
            self.limits,
        )?;
        // Rules without changing conditions apply from the start.
        for join in joins.iter().filter(|join| join.delta.is_none()) {
            self.start(join)?;
        }
        loop {
            let mut is_new = false;
            for (predicate, visible) in self.visible.iter_mut().enumerate() {
                if !self.is_static[predicate] {
                    *visible = (visible.1, self.program.relations[predicate].len());
                    is_new |= visible.0 < visible.1;
                }
            }
            if !is_new {
                return Ok(());
            }
            for join in &joins {
                if join.delta.as_ref().is_some_and(|delta| {
                    let (old, now) = self.visible[delta.predicate];
                    old < now
                }) {
                    self.start(join)?;
                }
            }
        }
    }

    fn start(&mut self, join: &Join) -> Result<(), Refusal> {
        self.slots.clear();
        self.slots.resize(join.n_slots, END);
        self.rows.clear();
        self.rows.resize(join.n_positive, END);
        let Some(delta) = &join.delta else { return self.step(join, 0) };
        let (old, now) = self.visible[delta.predicate];
        for row in old..now {
            let fits = delta.take.iter().enumerate().all(|(column, take)| {
                let value = self.program.relations[delta.predicate].row(row)[column];
                take.fits(value, &mut self.slots, self.bank)
            });
            if fits {
                self.rows[delta.position] = row;
                self.step(join, 0)?;
            }
        }
        Ok(())
    }

    fn step(&mut self, join: &Join, at: usize) -> Result<(), Refusal> {
        let Some(step) = join.steps.get(at) else { return self.emit(join) };
        self.n_steps += 1;
        if self.n_steps & 0xffff == 0 {
            self.check_limits(join.origin)?;
        }
        match step {
            join::Step::Differ(a, b) => {
                if self.build(a, join.origin)? != self.build(b, join.origin)? {
                    self.step(join, at + 1)?;
                }
            }
            join::Step::NoRow(scan) => {
                let mut row = self.first(scan, join.origin)?;
                while row != END && !self.take(scan, row) {
                    row = self.program.relations[scan.relation].next(scan.index, row);
                }
                if row == END {
                    self.step(join, at + 1)?;
                }
            }
            join::Step::Scan(scan, position, range) => {
                let (old, now) = self.visible[scan.relation];
                let end = match range {
                    join::RowRange::All => END,
                    join::RowRange::Old => old,
                    join::RowRange::Current => now,
                };
                let mut row = self.first(scan, join.origin)?;
                // Rows are stored in order of arrival, so the first invisible one ends the scan.
                while row != END && row < end {
                    if self.take(scan, row) {
                        if let Some(position) = position {
                            self.rows[*position] = row;
                        }
                        self.step(join, at + 1)?;
                    }
                    row = self.program.relations[scan.relation].next(scan.index, row);
                }
            }
        }
        Ok(())
    }

    fn first(&mut self, scan: &crate::plan::Scan, origin: u32) -> Result<u32, Refusal> {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        for part in &scan.key {
            key.push(self.build(part, origin)?);
        }
        let row = self.program.relations[scan.relation].first(scan.index, &key, self.bank);
        self.key = key;
        Ok(row)
    }

    fn take(&mut self, scan: &crate::plan::Scan, row: u32) -> bool {
        let relation = &self.program.relations[scan.relation];
        scan.take.iter().all(|(path, take)| {
            let value = relation.at(row, path, self.bank);
            match *take {
                crate::plan::Take::Bind(slot) => {
                    self.slots[slot as usize] = value;
                    true
                }
                crate::plan::Take::Same(slot) => self.slots[slot as usize] == value,
            }
        })
    }

    fn build(&self, build: &crate::plan::Build, origin: u32) -> Result<u32, Refusal> {
        match build {
            crate::plan::Build::Slot(slot) => Ok(self.slots[*slot as usize]),
            crate::plan::Build::Constant(id) => Ok(id.raw()),
            crate::plan::Build::Make(symbol, parts) => {
                let arguments: Vec<TermId> = parts
                    .iter()
                    .map(|part| self.build(part, origin).map(TermId::from_raw))
                    .collect::<Result<_, _>>()?;
                let refused = |_| Refusal { kind: RefusalKind::TermDepth, origin: Some(origin) };
                Ok(self.bank.term(*symbol, &arguments).map_err(refused)?.raw())
            }
        }
    }

    /// Adds the rule instance after all conditions are met.
    fn emit(&mut self, join: &Join) -> Result<(), Refusal> {
        self.n_emitted += 1;
        if self.n_emitted & 0x3fff == 0 {
            self.check_limits(join.origin)?;
        }
        let mut row = std::mem::take(&mut self.key);
        row.clear();
        for part in &join.head {
            row.push(self.build(part, join.origin)?);
        }
        if self.is_demand[join.head_predicate] {
            let added = self.add_demand(join.head_predicate, &row, join.origin);
            self.key = row;
            return added;
        }
        // Usually many successive instances have the same head.
        if self.last_head.0 != join.head_predicate || self.last_head.1 != row {
            let head = self.atom(join.head_predicate, &row, join.origin)?;
            self.last_head = (join.head_predicate, row.clone(), head);
        }
        self.key = row;
        let head = self.last_head.2;
        if self.program.always[head as usize] {
            return Ok(());
        }
        let start = self.program.rules.len();
        let n_negative = u32::try_from(join.negative.len()).expect("fewer than 2^32 conditions");
        self.program.rules.extend([head, join.origin, 0, n_negative]);
        for (position, &row) in self.rows.iter().enumerate() {
            // Demand is not a condition of the ground rule.
            if self.is_demand[join.positive[position]] {
                continue;
            }
            let atom = self.program.atoms_of[join.positive[position]][row as usize];
            if !self.program.always[atom as usize] {
                self.program.rules.push(atom);
            }
        }
        let n_positive = self.program.rules.len() - start - 4;
        self.program.rules[start + 2] =
            u32::try_from(n_positive).expect("fewer than 2^32 conditions");
        for (predicate, arguments) in &join.negative {
            let mut row = std::mem::take(&mut self.key);
            row.clear();
            for part in arguments {
                row.push(self.build(part, join.origin)?);
            }
            let mention = self.mention(*predicate, &row);
            self.key = row;
            self.program.rules.push(mention);
        }
        if n_positive == 0 && n_negative == 0 {
            self.program.always[head as usize] = true;
            self.program.rules.truncate(start);
        } else {
            self.program.starts.push(start);
        }
        let limits = self.limits;
        let bytes = self.program.rules.len() * 4 + (self.program.n_atoms() + self.n_demanded) * 64;
        let kind = if self.program.starts.len() > limits.rules || bytes > limits.bytes {
            RefusalKind::Bytes
        } else {
            return Ok(());
        };
        Err(Refusal { kind, origin: Some(join.origin) })
    }

    /// Adds a row to a demand relation.
    fn add_demand(&mut self, predicate: usize, row: &[u32], origin: u32) -> Result<(), Refusal> {
        let relation = &mut self.program.relations[predicate];
        if relation.first(WHOLE_ROW, row, self.bank) == END {
            relation.grow(row, self.bank);
            self.n_demanded += 1;
            if self.program.n_atoms() + self.n_demanded > self.limits.atoms {
                return Err(Refusal { kind: RefusalKind::Facts, origin: Some(origin) });
            }
        }
        Ok(())
    }

    /// Returns the atom with these arguments. A new atom is added, and is carried over to the
    /// relations that it feeds.
    fn atom(&mut self, predicate: usize, row: &[u32], origin: u32) -> Result<u32, Refusal> {
        let relation = &mut self.program.relations[predicate];
        let known = relation.first(WHOLE_ROW, row, self.bank);
        if known != END {
            return Ok(self.program.atoms_of[predicate][known as usize]);
        }
        relation.grow(row, self.bank);
        let id = u32::try_from(self.program.n_atoms()).expect("limited to fewer than 2^32 atoms");
        if self.program.n_atoms() >= self.limits.atoms {
            return Err(Refusal { kind: RefusalKind::Facts, origin: Some(origin) });
        }
        self.program.always.push(false);
        self.program.atoms_of[predicate].push(id);
        for to in self.feeds_to[predicate].clone() {
            self.atom(to.index(), row, origin)?;
        }
        Ok(id)
    }

    /// Returns the number of an atom in a negated condition. Whether it can hold is known only at
    /// the end.
    fn mention(&mut self, predicate: usize, row: &[u32]) -> u32 {
        let relation = &mut self.mentioned[predicate];
        let known = relation.first(WHOLE_ROW, row, self.bank);
        if known != END {
            return self.mention_ids[predicate][known as usize];
        }
        relation.grow(row, self.bank);
        let id = u32::try_from(self.mention_places.len()).expect("fewer than 2^32 mentions");
        self.mention_places.push((predicate, relation.len() - 1));
        self.mention_ids[predicate].push(id);
        id
    }

    fn check_limits(&self, origin: u32) -> Result<(), Refusal> {
        let kind = if self.n_steps > self.limits.steps {
            RefusalKind::Steps
        } else if let Some(kind) = self.limits.stop.reason(self.limits.deadline) {
            kind
        } else {
            return Ok(());
        };
        Err(Refusal { kind, origin: Some(origin) })
    }

    fn finish(mut self) -> GroundProgram {
        for &(predicate, row) in &self.mention_places {
            let row = self.mentioned[predicate].row(row);
            let known = self.program.relations[predicate].first(WHOLE_ROW, row, self.bank);
            let atom =
                (known != END).then(|| AtomId(self.program.atoms_of[predicate][known as usize]));
            self.program.mentions.push(atom);
        }
        self.program
    }
}
