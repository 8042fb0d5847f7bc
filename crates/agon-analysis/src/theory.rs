//! The rules of a game in a form that can be reasoned about.
//!
//! A [`Theory`] offers unification ([`Bindings`]), the static relations as indexed tables, the set
//! of all possible fluents, and a bounded search for the values that the variables of a conjunction
//! can take ([`Theory::possible_values`]). It never looks at a state of the game.

mod join;
mod terms;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use agon_datalog::{Symbol, TermId};
use agon_gdl::interpreter::Game;
use agon_gdl::rules::{Condition, Rule, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;

pub(crate) use join::LimitReached;
pub(crate) use terms::Bindings;

/// A relation, identified by its name and number of arguments.
pub(crate) type RelationId = (Symbol, usize);

/// A table of terms with an index on every column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Vec<TermId>>,
    /// By column: the numbers of the rows that contain a value.
    index: Vec<BTreeMap<TermId, Vec<u32>>>,
}

impl Table {
    fn new(rows: Vec<Vec<TermId>>, n_columns: usize) -> Table {
        let mut table = Table { rows: Vec::new(), index: vec![BTreeMap::new(); n_columns] };
        rows.into_iter().for_each(|row| table.push(row));
        table
    }

    fn push(&mut self, row: Vec<TermId>) {
        let number = u32::try_from(self.rows.len()).expect("fewer than 2^32 rows");
        for (column, &term) in row.iter().enumerate() {
            self.index[column].entry(term).or_default().push(number);
        }
        self.rows.push(row);
    }
}

/// The rules of a game, prepared for reasoning.
pub(crate) struct Theory {
    /// The game that the rules belong to.
    pub(crate) game: Arc<Game>,
    rules_of: BTreeMap<RelationId, Vec<usize>>,
    is_static: BTreeMap<RelationId, bool>,
    recursive: BTreeSet<RelationId>,
    statics: BTreeMap<RelationId, Table>,
    /// All possible fluents if `is_complete`, otherwise the known ones.
    fluents: Vec<TermId>,
    place: BTreeMap<TermId, usize>,
    forms: BTreeMap<RelationId, (Table, Vec<usize>)>,
    /// Whether `fluents` contains every possible fluent.
    pub(crate) is_complete: bool,
    /// The fluents that held in some state of a random play. Empty if nothing was played.
    pub(crate) seen: BTreeSet<TermId>,
    /// Number of steps left for all searches together.
    n_left: AtomicUsize,
    /// Time at which all searches are given up.
    deadline: Option<Instant>,
    /// By variable: its name in the rule. Each call of [`Theory::fresh_rule`] adds new variables.
    names: Vec<String>,
}

impl Theory {
    /// Creates the theory of a game. `is_complete` says whether `fluents` contains every possible
    /// fluent.
    pub(crate) fn new(game: &Arc<Game>, fluents: Vec<TermId>, is_complete: bool) -> Theory {
        let mut rules_of: BTreeMap<RelationId, Vec<usize>> = BTreeMap::new();
        for (index, rule) in game.rules().rules().iter().enumerate() {
            rules_of.entry(relation_of(&rule.head)).or_default().push(index);
        }
        let statics = game.static_rows().into_iter();
        let statics =
            statics.map(|(relation, rows)| (relation, Table::new(rows, relation.1))).collect();
        let mut theory = Theory {
            game: Arc::clone(game),
            recursive: recursive(game.rules().rules()),
            is_static: game.is_static(),
            rules_of,
            statics,
            fluents: Vec::new(),
            place: BTreeMap::new(),
            forms: BTreeMap::new(),
            is_complete,
            seen: BTreeSet::new(),
            n_left: AtomicUsize::new(MAX_STEPS_IN_ALL),
            deadline: None,
            names: Vec::new(),
        };
        fluents.into_iter().for_each(|fluent| {
            theory.intern_fluent(fluent);
        });
        theory
    }

    /// Sets the time at which all searches for values are given up.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Sets the number of steps that all later searches may take together.
    pub(crate) fn set_step_budget(&mut self, n_steps: usize) {
        self.n_left.store(n_steps, Relaxed);
    }

    /// Returns whether no steps or no time is left for searches.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.n_left.load(Relaxed) == 0
    }

    /// Returns whether the deadline has passed.
    pub(crate) fn is_past_deadline(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() > deadline)
    }

    /// Counts a step of a search. Returns false if none is left.
    fn step(&self) -> bool {
        let left = self.n_left.load(Relaxed);
        if left == 0 || (left.is_multiple_of(1024) && self.is_past_deadline()) {
            self.n_left.store(0, Relaxed);
            return false;
        }
        self.n_left.store(left - 1, Relaxed);
        true
    }

    /// Returns the number of a fluent, and adds the fluent if it is new.
    pub(crate) fn intern_fluent(&mut self, fluent: TermId) -> usize {
        if let Some(&place) = self.place.get(&fluent) {
            return place;
        }
        let place = self.fluents.len();
        self.fluents.push(fluent);
        self.place.insert(fluent, place);
        let bank = self.game.bank();
        let form = (bank.symbol(fluent), bank.arity(fluent));
        let (table, places) =
            self.forms.entry(form).or_insert_with(|| (Table::new(Vec::new(), form.1), Vec::new()));
        table.push(bank.arguments(fluent).collect());
        places.push(place);
        place
    }

    /// Returns the number of a known fluent.
    pub(crate) fn fluent(&self, term: TermId) -> Option<usize> {
        self.place.get(&term).copied()
    }

    /// Returns the fluents, ordered by number.
    pub(crate) fn fluents(&self) -> &[TermId] {
        &self.fluents
    }

    /// Returns number and arguments of each fluent with this name and number of arguments.
    pub(crate) fn fluents_of_form(
        &self,
        form: RelationId,
    ) -> impl Iterator<Item = (usize, &[TermId])> {
        let found = self.forms.get(&form).into_iter();
        found.flat_map(|(table, places)| {
            places.iter().copied().zip(table.rows.iter().map(Vec::as_slice))
        })
    }

    /// Returns whether a relation is the same in every state.
    pub(crate) fn is_static(&self, relation: RelationId) -> bool {
        self.is_static.get(&relation).copied().unwrap_or(true)
    }

    /// Returns whether a relation depends on itself.
    pub(crate) fn is_recursive(&self, relation: RelationId) -> bool {
        self.recursive.contains(&relation)
    }

    /// Returns the rows of a static relation. `None` if the game does not list them because there
    /// are too many.
    pub(crate) fn table(&self, relation: RelationId) -> Option<&Table> {
        self.statics.get(&relation)
    }

    /// Returns the rules that derive a relation, as indices into the rules of the game.
    pub(crate) fn rules_of(&self, relation: RelationId) -> &[usize] {
        self.rules_of.get(&relation).map_or(&[], Vec::as_slice)
    }

    /// Returns a copy of a rule whose variables are new.
    pub(crate) fn fresh_rule(&mut self, rule: usize) -> Rule {
        let rule = &self.game.rules().rules()[rule];
        let first = u32::try_from(self.names.len()).expect("fewer than 2^32 variables");
        let clause = &self.game.rules().sheet().clauses[rule.clause];
        for variable in 0..rule.n_variables {
            let name =
                clause.variables.get(variable as usize).map(|variable| variable.name.clone());
            self.names.push(name.unwrap_or_else(|| format!("v{variable}")));
        }
        let mut fresh = rule.clone();
        let mut shifted = Bindings::default();
        for variable in 0..rule.n_variables {
            shifted.bind(variable, RuleTerm::Variable(first + variable + SHIFT));
        }
        // Two steps, so that no variable is replaced twice.
        let back = |term: &RuleTerm| shifted.shift(term, SHIFT);
        fresh.head = map_atom(&fresh.head, &back);
        fresh.body = fresh.body.iter().map(|condition| map_condition(condition, &back)).collect();
        fresh
    }

    /// Returns the name of a variable.
    pub(crate) fn name(&self, variable: u32) -> &str {
        self.names.get(variable as usize).map_or("v", String::as_str)
    }

    /// Converts a rule term to a term of the game. `None` if it has variables or is nested too
    /// deeply.
    pub(crate) fn ground(&self, term: &RuleTerm) -> Option<TermId> {
        match term {
            RuleTerm::Variable(_) => None,
            RuleTerm::Function(symbol, arguments) => {
                let arguments: Vec<TermId> = arguments
                    .iter()
                    .map(|argument| self.ground(argument))
                    .collect::<Option<_>>()?;
                self.game.bank().term(*symbol, &arguments).ok()
            }
        }
    }

    /// Converts a term of the game to a rule term.
    pub(crate) fn term(&self, term: TermId) -> RuleTerm {
        let bank = self.game.bank();
        RuleTerm::Function(bank.symbol(term), bank.arguments(term).map(|a| self.term(a)).collect())
    }

    /// Returns whether a static ground atom holds. `None` if that is not known.
    pub(crate) fn holds_always(&self, atom: &RuleAtom) -> Option<bool> {
        let table = self.table(relation_of(atom))?;
        let row: Option<Vec<TermId>> =
            atom.arguments.iter().map(|argument| self.ground(argument)).collect();
        let row = row?;
        let Some((&first, _)) = row.split_first() else { return Some(!table.rows.is_empty()) };
        let found = table.index[0].get(&first).into_iter().flatten();
        Some(found.into_iter().any(|&number| table.rows[number as usize] == row))
    }
}

/// Maximum number of steps of all searches together: a few seconds.
const MAX_STEPS_IN_ALL: usize = 8_000_000;

/// Offset larger than the number of variables of any rule.
const SHIFT: u32 = 1 << 28;

/// Returns the relation of an atom.
pub(crate) fn relation_of(atom: &RuleAtom) -> RelationId {
    (atom.relation, atom.arguments.len())
}

/// Returns the fluent of a condition `(true fluent)`, and `None` for other conditions.
pub(crate) fn fluent_of(condition: &Condition) -> Option<&RuleTerm> {
    match condition {
        Condition::Holds(atom) if atom.relation == keyword::TRUE && atom.arguments.len() == 1 => {
            atom.arguments.first()
        }
        Condition::Holds(_) | Condition::Fails(_) | Condition::Differ(..) => None,
    }
}

/// Replaces every argument of an atom.
pub(crate) fn map_atom(atom: &RuleAtom, to: &dyn Fn(&RuleTerm) -> RuleTerm) -> RuleAtom {
    RuleAtom {
        relation: atom.relation,
        arguments: atom.arguments.iter().map(to).collect(),
        span: atom.span,
    }
}

/// Replaces every term of a condition.
pub(crate) fn map_condition(
    condition: &Condition,
    to: &dyn Fn(&RuleTerm) -> RuleTerm,
) -> Condition {
    match condition {
        Condition::Holds(atom) => Condition::Holds(map_atom(atom, to)),
        Condition::Fails(atom) => Condition::Fails(map_atom(atom, to)),
        Condition::Differ(a, b, span) => Condition::Differ(to(a), to(b), *span),
    }
}

/// Returns the relations that depend on themselves.
fn recursive(rules: &[Rule]) -> BTreeSet<RelationId> {
    let mut uses: BTreeMap<RelationId, BTreeSet<RelationId>> = BTreeMap::new();
    for rule in rules {
        let used = uses.entry(relation_of(&rule.head)).or_default();
        used.extend(rule.body.iter().filter_map(Condition::atom).map(relation_of));
    }
    let reaches_itself = |start: RelationId| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<RelationId> = uses[&start].iter().copied().collect();
        while let Some(relation) = open.pop() {
            if relation == start {
                return true;
            }
            if seen.insert(relation) {
                open.extend(uses.get(&relation).into_iter().flatten());
            }
        }
        false
    };
    uses.keys().copied().filter(|&relation| reaches_itself(relation)).collect()
}
