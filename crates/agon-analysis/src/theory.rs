//! The rules of a game as a theory to reason about: unification, static relations as tables, all fluents there can be.

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

pub use join::TooMuch;
pub use terms::Bindings;

/// A relation: name and number of arguments.
pub type RelationId = (Symbol, usize);

/// Rows of terms, found by the value of any column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Vec<TermId>>,
    /// By column: the rows with a value.
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

/// The rules of a game, ready to be reasoned about.
pub struct Theory {
    /// The game.
    pub game: Arc<Game>,
    rules_of: BTreeMap<RelationId, Vec<usize>>,
    is_static: BTreeMap<RelationId, bool>,
    recursive: BTreeSet<RelationId>,
    statics: BTreeMap<RelationId, Table>,
    /// The fluents: all there can be if `is_complete`, else those that are known of.
    fluents: Vec<TermId>,
    place: BTreeMap<TermId, usize>,
    forms: BTreeMap<RelationId, (Table, Vec<usize>)>,
    /// Whether `fluents` are all there can be.
    pub is_complete: bool,
    /// Steps of searches for values that are left, and when they end in any case.
    n_left: AtomicUsize,
    deadline: Option<Instant>,
    /// By variable: how a rule calls it. Variables of rules in use are numbered apart from each other.
    names: Vec<String>,
}

impl Theory {
    /// The theory of a game of which these fluents are known, all of them or some.
    pub fn new(game: &Arc<Game>, fluents: Vec<TermId>, is_complete: bool) -> Theory {
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
            n_left: AtomicUsize::new(MAX_STEPS_IN_ALL),
            deadline: None,
            names: Vec::new(),
        };
        fluents.into_iter().for_each(|fluent| {
            theory.admit(fluent);
        });
        theory
    }

    /// Gives all searches for values up at this moment.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Allows so many steps from now on.
    pub fn grant(&mut self, n_steps: usize) {
        self.n_left.store(n_steps, Relaxed);
    }

    /// Whether there is no work or time left for searches.
    pub fn is_spent(&self) -> bool {
        self.n_left.load(Relaxed) == 0
    }

    /// Takes a step of a search, if there is one left.
    fn step(&self) -> bool {
        let left = self.n_left.load(Relaxed);
        let is_late = || self.deadline.is_some_and(|deadline| Instant::now() > deadline);
        if left == 0 || (left.is_multiple_of(1024) && is_late()) {
            self.n_left.store(0, Relaxed);
            return false;
        }
        self.n_left.store(left - 1, Relaxed);
        true
    }

    /// The number of a fluent, which may be new.
    pub fn admit(&mut self, fluent: TermId) -> usize {
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

    /// The number of a fluent that is known of.
    pub fn fluent(&self, term: TermId) -> Option<usize> {
        self.place.get(&term).copied()
    }

    /// The fluents by number.
    pub fn fluents(&self) -> &[TermId] {
        &self.fluents
    }

    /// The fluents of one form: number and arguments of each.
    pub fn of_form(&self, form: RelationId) -> impl Iterator<Item = (usize, &[TermId])> {
        let found = self.forms.get(&form).into_iter();
        found.flat_map(|(table, places)| {
            places.iter().copied().zip(table.rows.iter().map(Vec::as_slice))
        })
    }

    /// Whether a relation never changes.
    pub fn is_static(&self, relation: RelationId) -> bool {
        self.is_static.get(&relation).copied().unwrap_or(true)
    }

    /// Whether a relation depends on itself.
    pub fn is_recursive(&self, relation: RelationId) -> bool {
        self.recursive.contains(&relation)
    }

    /// The rows of a static relation, if they are few enough to be known.
    pub(crate) fn table(&self, relation: RelationId) -> Option<&Table> {
        self.statics.get(&relation)
    }

    /// The rules that derive a relation, as indices into those of the game.
    pub fn rules_of(&self, relation: RelationId) -> &[usize] {
        self.rules_of.get(&relation).map_or(&[], Vec::as_slice)
    }

    /// A rule with variables of its own, that occur nowhere else.
    pub fn fresh(&mut self, rule: usize) -> Rule {
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
        // In two steps, so that no variable is replaced twice.
        let back = |term: &RuleTerm| shifted.shift(term, SHIFT);
        fresh.head = map_atom(&fresh.head, &back);
        fresh.body = fresh.body.iter().map(|condition| map_condition(condition, &back)).collect();
        fresh
    }

    /// How many variables are in use: those of fresh rules are numbered below this.
    pub fn n_variables(&self) -> usize {
        self.names.len()
    }

    /// How a variable is called.
    pub fn name(&self, variable: u32) -> &str {
        self.names.get(variable as usize).map_or("v", String::as_str)
    }

    /// A term without variables as a term of the game. `None` if it has variables or nests too deep.
    pub fn ground(&self, term: &RuleTerm) -> Option<TermId> {
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

    /// A term of the game as a term of rules.
    pub fn term(&self, term: TermId) -> RuleTerm {
        let bank = self.game.bank();
        RuleTerm::Function(bank.symbol(term), bank.arguments(term).map(|a| self.term(a)).collect())
    }

    /// Whether a static atom without variables holds; `None` if that is not known.
    pub fn holds_always(&self, atom: &RuleAtom) -> Option<bool> {
        let table = self.table(relation_of(atom))?;
        let row: Option<Vec<TermId>> =
            atom.arguments.iter().map(|argument| self.ground(argument)).collect();
        let row = row?;
        let Some((&first, _)) = row.split_first() else { return Some(!table.rows.is_empty()) };
        let found = table.index[0].get(&first).into_iter().flatten();
        Some(found.into_iter().any(|&number| table.rows[number as usize] == row))
    }
}

/// Steps of all searches for values together: some seconds.
const MAX_STEPS_IN_ALL: usize = 8_000_000;

/// Larger than any number of variables in a rule.
const SHIFT: u32 = 1 << 28;

/// The relation of an atom.
pub fn relation_of(atom: &RuleAtom) -> RelationId {
    (atom.relation, atom.arguments.len())
}

/// The fluent that a condition is about, if it is `true` of one.
pub fn fluent_of(condition: &Condition) -> Option<&RuleTerm> {
    match condition {
        Condition::Holds(atom) if atom.relation == keyword::TRUE && atom.arguments.len() == 1 => {
            atom.arguments.first()
        }
        Condition::Holds(_) | Condition::Fails(_) | Condition::Differ(..) => None,
    }
}

/// An atom with every argument replaced.
pub fn map_atom(atom: &RuleAtom, to: &dyn Fn(&RuleTerm) -> RuleTerm) -> RuleAtom {
    RuleAtom {
        relation: atom.relation,
        arguments: atom.arguments.iter().map(to).collect(),
        span: atom.span,
    }
}

/// A condition with every term replaced.
pub fn map_condition(condition: &Condition, to: &dyn Fn(&RuleTerm) -> RuleTerm) -> Condition {
    match condition {
        Condition::Holds(atom) => Condition::Holds(map_atom(atom, to)),
        Condition::Fails(atom) => Condition::Fails(map_atom(atom, to)),
        Condition::Differ(a, b, span) => Condition::Differ(to(a), to(b), *span),
    }
}

/// The relations that depend on themselves.
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
