//! The possible names at each argument of each relation and function.
//!
//! A variable can take the names that are possible at all places where a positive condition
//! mentions it, and a rule carries these into its head. The fixpoint is a superset of what occurs
//! in play. A condition that asks for another name can never hold.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use agon_datalog::Symbol;
use agon_text::Span;

use super::view::View;
use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};
use crate::symbols::keyword;

/// Maximum number of bit-set words read. The largest public rulesheet needs about 100 000.
const BUDGET: usize = 3_000_000;

/// The possible names at each place, after all rules.
pub(super) struct Domains {
    slots: BTreeMap<Slot, usize>,
    sets: Vec<Set>,
    names: BTreeMap<(Symbol, usize), usize>,
    /// The names by their number.
    known: Vec<(Symbol, usize)>,
    patterns: Vec<Pattern>,
}

/// A place for terms. The state shares its places with `next` and `init`, and `does` shares its
/// places with `legal`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Slot {
    /// The relation itself, not an argument. It has the name [`HOLDS`] if some rule for it can
    /// apply.
    Truth(Symbol, usize),
    /// An argument of a relation: its name, its number of arguments, the position.
    Relation(Symbol, usize, usize),
    /// An argument of a function, wherever the function occurs: its name, its number of arguments,
    /// the position.
    Function(Symbol, usize, usize),
}

impl Slot {
    /// Returns the place of an argument of an atom.
    pub(super) fn of(relation: Symbol, n_arguments: usize, position: usize) -> Slot {
        Slot::Relation(source(relation), n_arguments, position)
    }

    fn truth(atom: &RuleAtom) -> Slot {
        Slot::Truth(source(atom.relation), atom.arguments.len())
    }
}

/// Returns the relation that `relation` takes its arguments from.
pub(super) fn source(relation: Symbol) -> Symbol {
    match relation {
        keyword::INIT | keyword::NEXT => keyword::TRUE,
        keyword::DOES => keyword::LEGAL,
        other => other,
    }
}

/// The name with number 0.
const HOLDS: (Symbol, usize) = (keyword::IMPLIES, 0);

/// A set of names with their numbers of arguments, as bits; or the set of all names.
#[derive(Clone, PartialEq, Eq, Default)]
struct Set {
    bits: Vec<u64>,
    is_all: bool,
}

impl Set {
    fn has(&self, name: usize) -> bool {
        self.is_all || self.bits.get(name / 64).is_some_and(|word| word >> (name % 64) & 1 == 1)
    }

    fn is_empty(&self) -> bool {
        !self.is_all && self.bits.iter().all(|&word| word == 0)
    }

    fn insert(&mut self, name: usize) -> bool {
        if self.bits.len() <= name / 64 {
            self.bits.resize(name / 64 + 1, 0);
        }
        let word = &mut self.bits[name / 64];
        let before = std::mem::replace(word, *word | 1 << (name % 64));
        before != *word
    }

    fn unite(&mut self, other: &Set) -> bool {
        if self.bits.len() < other.bits.len() {
            self.bits.resize(other.bits.len(), 0);
        }
        let mut has_grown = other.is_all && !self.is_all;
        self.is_all |= other.is_all;
        for (word, more) in self.bits.iter_mut().zip(&other.bits) {
            has_grown |= *more & !*word != 0;
            *word |= more;
        }
        has_grown
    }

    fn intersect(&mut self, other: &Set) {
        if other.is_all {
            return;
        }
        if self.is_all {
            self.clone_from(other);
            return;
        }
        self.bits.truncate(other.bits.len());
        self.bits.iter_mut().zip(&other.bits).for_each(|(word, more)| *word &= more);
    }
}

/// A rule as the places it reads and writes, from left to right and from outside in.
struct Pattern {
    head: Vec<Entry>,
    /// The entries of the positive conditions, each with the index of its condition in the body.
    body: Vec<(usize, Entry)>,
}

/// The content of one place in a rule.
#[derive(Copy, Clone)]
enum Entry {
    /// A place and the number of the name there.
    Name(usize, usize),
    /// A place and the variable there.
    Variable(usize, u32),
}

impl Domains {
    /// Computes the possible names if the conditions at `ignored` count as satisfied. Returns
    /// `None` if that exceeds the budget.
    pub(super) fn new(view: &View<'_>, ignored: &BTreeSet<Span>) -> Option<Domains> {
        let names = BTreeMap::from([(HOLDS, 0)]);
        let mut domains = Domains {
            slots: BTreeMap::new(),
            sets: Vec::new(),
            names,
            known: vec![HOLDS],
            patterns: Vec::with_capacity(view.rules.len()),
        };
        for rule in view.rules {
            let pattern = domains.pattern(rule, ignored);
            domains.patterns.push(pattern);
        }
        domains.run().then_some(domains)
    }

    /// Returns whether a name with `n_arguments` arguments can occur at a place. The answer is yes
    /// for places that no name reaches, because that is a different fault.
    pub(super) fn allows(&self, slot: Slot, name: Symbol, n_arguments: usize) -> bool {
        let Some(set) = self.slots.get(&slot).map(|&slot| &self.sets[slot]) else { return true };
        set.is_empty()
            || set.is_all
            || self.names.get(&(name, n_arguments)).is_some_and(|&name| set.has(name))
    }

    /// Returns the names that can occur at a place.
    pub(super) fn names_at(&self, slot: Slot) -> impl Iterator<Item = Symbol> {
        let set = self.slots.get(&slot).map(|&slot| &self.sets[slot]);
        let comes =
            move |(number, _): &(usize, &(Symbol, usize))| set.is_some_and(|set| set.has(*number));
        self.known.iter().enumerate().filter(comes).map(|(_, (name, _))| *name)
    }

    /// Returns the names, with their numbers of arguments, that can occur at a place. `None` if
    /// there is no bound, or the place does not exist.
    pub(super) fn bounded_names(&self, slot: Slot) -> Option<Vec<(Symbol, usize)>> {
        self.members(&self.sets[*self.slots.get(&slot)?])
    }

    /// Returns the names that a variable of a rule can stand for. `None` if there is no bound.
    pub(super) fn variable_names(
        &self,
        rule: usize,
        variable: u32,
    ) -> Option<Vec<(Symbol, usize)>> {
        let mut variables = Vec::new();
        match self.variables(&self.patterns[rule], &mut variables, &mut BUDGET.clone()) {
            Ok(()) => self.members(variables.get(variable as usize)?),
            Err(_) => Some(Vec::new()),
        }
    }

    fn members(&self, set: &Set) -> Option<Vec<(Symbol, usize)>> {
        let names = self.known.iter().enumerate().filter(|(number, _)| set.has(*number));
        (!set.is_all).then(|| names.map(|(_, name)| *name).collect())
    }

    /// Returns why a rule, given by its index, can never apply. `None` if it can.
    pub(super) fn obstacle(&self, rule: usize) -> Option<Obstacle> {
        self.variables(&self.patterns[rule], &mut Vec::new(), &mut BUDGET.clone()).err()
    }

    /// Numbers the places and names of a rule.
    fn pattern(&mut self, rule: &Rule, ignored: &BTreeSet<Span>) -> Pattern {
        let mut head = Vec::new();
        self.atom(&rule.head, &mut |entry| head.push(entry));
        let mut body = Vec::new();
        for (index, condition) in rule.body.iter().enumerate() {
            if let Condition::Holds(atom) = condition
                && !ignored.contains(&atom.span)
            {
                self.atom(atom, &mut |entry| body.push((index, entry)));
            }
        }
        Pattern { head, body }
    }

    fn atom(&mut self, atom: &RuleAtom, push: &mut dyn FnMut(Entry)) {
        push(Entry::Name(self.slot(Slot::truth(atom)), 0));
        for (position, term) in atom.arguments.iter().enumerate() {
            self.term(Slot::of(atom.relation, atom.arguments.len(), position), term, push);
        }
    }

    fn term(&mut self, slot: Slot, term: &RuleTerm, push: &mut dyn FnMut(Entry)) {
        let slot = self.slot(slot);
        match term {
            RuleTerm::Variable(v) => push(Entry::Variable(slot, *v)),
            RuleTerm::Function(name, arguments) => {
                let key = (*name, arguments.len());
                let n_names = self.known.len();
                let number = *self.names.entry(key).or_insert(n_names);
                if number == n_names {
                    self.known.push(key);
                }
                push(Entry::Name(slot, number));
                for (position, argument) in arguments.iter().enumerate() {
                    self.term(Slot::Function(*name, arguments.len(), position), argument, push);
                }
            }
        }
    }

    fn slot(&mut self, slot: Slot) -> usize {
        let n_slots = self.sets.len();
        let number = *self.slots.entry(slot).or_insert(n_slots);
        if number == n_slots {
            self.sets.push(Set::default());
        }
        number
    }

    /// Applies the rules until no place grows. Returns false if the budget was exceeded.
    fn run(&mut self) -> bool {
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); self.sets.len()];
        for (index, pattern) in self.patterns.iter().enumerate() {
            for (_, entry) in &pattern.body {
                let (Entry::Name(slot, _) | Entry::Variable(slot, _)) = *entry;
                if readers[slot].last() != Some(&index) {
                    readers[slot].push(index);
                }
            }
        }
        let patterns = std::mem::take(&mut self.patterns);
        let mut open: VecDeque<usize> = (0..patterns.len()).collect();
        let mut is_open = vec![true; patterns.len()];
        let mut budget = BUDGET;
        let mut variables = Vec::new();
        while let Some(index) = open.pop_front() {
            is_open[index] = false;
            let pattern = &patterns[index];
            if budget == 0 {
                return false;
            }
            if self.variables(pattern, &mut variables, &mut budget).is_err() {
                continue;
            }
            for &entry in &pattern.head {
                let (slot, has_grown) = match entry {
                    Entry::Name(slot, name) => (slot, self.sets[slot].insert(name)),
                    // A variable that no positive condition mentions can be anything.
                    Entry::Variable(slot, v) => match variables.get(v as usize) {
                        Some(set) => (slot, self.sets[slot].unite(set)),
                        None => (slot, !std::mem::replace(&mut self.sets[slot].is_all, true)),
                    },
                };
                let waiting = readers[slot].iter().filter(|_| has_grown);
                for &reader in waiting {
                    if !std::mem::replace(&mut is_open[reader], true) {
                        open.push_back(reader);
                    }
                }
            }
        }
        self.patterns = patterns;
        true
    }

    /// Computes the possible values of each variable of a rule, or why the rule cannot apply.
    fn variables(
        &self,
        pattern: &Pattern,
        variables: &mut Vec<Set>,
        budget: &mut usize,
    ) -> Result<(), Obstacle> {
        variables.clear();
        for &(condition, entry) in &pattern.body {
            *budget = budget.saturating_sub(1);
            match entry {
                Entry::Name(slot, name) => {
                    if !self.sets[slot].has(name) {
                        return Err(Obstacle { condition, variable: None });
                    }
                }
                Entry::Variable(slot, v) => {
                    let set = &self.sets[slot];
                    *budget = budget.saturating_sub(set.bits.len());
                    if variables.len() <= v as usize {
                        variables.resize(v as usize + 1, Set { bits: Vec::new(), is_all: true });
                    }
                    variables[v as usize].intersect(set);
                    if variables[v as usize].is_empty() {
                        return Err(Obstacle { condition, variable: Some(v) });
                    }
                }
            }
        }
        Ok(())
    }
}

/// A condition that can never hold. If a variable is the cause, no value is possible at all of its
/// places.
pub(super) struct Obstacle {
    /// Index of the condition in the body.
    pub(super) condition: usize,
    pub(super) variable: Option<u32>,
}
