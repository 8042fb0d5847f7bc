//! Sorts of values, and mappings of them.

use std::collections::BTreeMap;

use agon_datalog::{Symbol, TermId};
use agon_gdl::interpreter::Game;
use agon_gdl::rules::{Condition, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;

/// A place where a value can occur.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Place {
    /// An argument of a fluent: name, number of arguments, index.
    Fluent(Symbol, usize, usize),
    /// An argument of a move: name, number of arguments, index.
    Move(Symbol, usize, usize),
    /// An argument of a relation that is not static: name, number of arguments, index.
    Relation(Symbol, usize, usize),
}

/// Sorts: classes of places between which rules pass values by variables. Static relations do not
/// unite places, because they may relate values of different sorts.
pub(super) struct Sorts {
    number: BTreeMap<Place, usize>,
    union: Vec<usize>,
}

impl Sorts {
    /// Reads the sorts out of the rules.
    pub(super) fn new(game: &Game) -> Sorts {
        let is_static = game.is_static();
        let mut sorts = Sorts { number: BTreeMap::new(), union: Vec::new() };
        for rule in game.rules().rules() {
            let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
            for atom in rule.body.iter().filter_map(Condition::atom).chain([&rule.head]) {
                for (place, term) in places(atom, &is_static) {
                    let sort = sorts.sort(place);
                    let RuleTerm::Variable(v) = term else { continue };
                    match seen.get(v) {
                        Some(&other) => sorts.unite(sort, other),
                        None => {
                            seen.insert(*v, sort);
                        }
                    }
                }
            }
        }
        sorts
    }

    fn sort(&mut self, place: Place) -> usize {
        let n_known = self.union.len();
        let sort = *self.number.entry(place).or_insert(n_known);
        if sort == n_known {
            self.union.push(sort);
        }
        sort
    }

    fn root(&self, mut sort: usize) -> usize {
        while self.union[sort] != sort {
            sort = self.union[sort];
        }
        sort
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.union[a.max(b)] = a.min(b);
    }

    /// Returns the sort of a place, if values occur there.
    pub(super) fn of(&self, place: Place) -> Option<usize> {
        self.number.get(&place).map(|&sort| self.root(sort))
    }
}

/// Returns the terms of an atom with their places. Static relations have none.
fn places<'r>(
    atom: &'r RuleAtom,
    is_static: &BTreeMap<(Symbol, usize), bool>,
) -> Vec<(Place, &'r RuleTerm)> {
    let relation = (atom.relation, atom.arguments.len());
    match (relation, atom.arguments.last()) {
        ((keyword::TRUE | keyword::NEXT | keyword::INIT, 1), Some(RuleTerm::Function(f, xs))) => {
            xs.iter().enumerate().map(|(i, x)| (Place::Fluent(*f, xs.len(), i), x)).collect()
        }
        ((keyword::DOES | keyword::LEGAL, 2), Some(RuleTerm::Function(f, xs))) => {
            xs.iter().enumerate().map(|(i, x)| (Place::Move(*f, xs.len(), i), x)).collect()
        }
        ((name, n), _) if is_static.get(&relation) == Some(&false) => {
            let terms = atom.arguments.iter().enumerate();
            terms.map(|(i, x)| (Place::Relation(name, n, i), x)).collect()
        }
        _ => Vec::new(),
    }
}

/// A mapping of the values of some sorts.
pub(super) struct Mapping {
    /// By sort: the image of each value.
    pub(super) values: BTreeMap<usize, BTreeMap<TermId, TermId>>,
    /// Two sorts whose arguments are exchanged.
    pub(super) exchange: Option<(usize, usize)>,
}

impl Mapping {
    /// Returns the image of a term. `None` if it is not a term of the game.
    pub(super) fn apply(
        &self,
        game: &Game,
        term: TermId,
        sort_of: &dyn Fn(Symbol, usize, usize) -> Option<usize>,
    ) -> Option<TermId> {
        let bank = game.bank();
        let (name, n) = (bank.symbol(term), bank.arity(term));
        let mut arguments: Vec<TermId> = bank.arguments(term).collect();
        let sorts: Vec<Option<usize>> = (0..n).map(|argument| sort_of(name, n, argument)).collect();
        for (argument, sort) in arguments.iter_mut().zip(&sorts) {
            if let Some(values) = sort.and_then(|sort| self.values.get(&sort)) {
                *argument = values.get(argument).copied().unwrap_or(*argument);
            }
        }
        if let Some((x, y)) = self.exchange {
            let places =
                |of: usize| (0..n).filter(|&i| sorts[i] == Some(of)).collect::<Vec<usize>>();
            let (xs, ys) = (places(x), places(y));
            if xs.len() != ys.len() {
                return None;
            }
            xs.into_iter().zip(ys).for_each(|(i, j)| arguments.swap(i, j));
        }
        bank.find(name, &arguments)
    }
}
