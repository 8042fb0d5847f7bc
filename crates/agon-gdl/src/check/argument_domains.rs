//! The names that can occur at each argument and as each variable, for hovers and completion.

use std::collections::BTreeSet;

use agon_datalog::Symbol;

use super::domains::{Domains, Slot};
use super::view::View;
use crate::normalise::normalise;
use crate::syntax::Rulesheet;

/// A place where terms stand.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ArgumentPlace {
    /// An argument of a relation: its name, its number of arguments, the position from 0.
    Relation(Symbol, usize, usize),
    /// An argument of a function, wherever the function occurs.
    Function(Symbol, usize, usize),
}

/// A name and its number of arguments.
pub type NameAndArity = (Symbol, usize);

/// The possible names at each place of a rulesheet: a superset of what occurs in play.
///
/// ```
/// use std::sync::Arc;
/// use agon_gdl::check::{ArgumentDomains, ArgumentPlace};
/// use agon_gdl::read::read;
/// use agon_text::Source;
///
/// let (sheet, _) = read(Arc::new(Source::new("x.kif", "(size 3) (<= (wide ?n) (size ?n))")));
/// let domains = ArgumentDomains::new(&sheet).expect("the rules are small");
/// let wide = sheet.symbols.find("wide").expect("the name occurs");
/// let names = domains.at(ArgumentPlace::Relation(wide, 1, 0)).expect("a variable is bound");
/// assert_eq!(names.iter().map(|&(name, _)| sheet.symbols.name(name)).collect::<Vec<_>>(), ["3"]);
/// ```
pub struct ArgumentDomains {
    domains: Domains,
    /// The clause of each rule.
    clauses: Vec<usize>,
}

impl ArgumentDomains {
    /// Computes the possible names. `None` if that is too expensive.
    pub fn new(sheet: &Rulesheet) -> Option<ArgumentDomains> {
        let (rules, _) = normalise(sheet);
        let view = View::new(sheet, &rules, false);
        let domains = Domains::new(&view, &BTreeSet::new())?;
        Some(ArgumentDomains { domains, clauses: rules.iter().map(|rule| rule.clause).collect() })
    }

    /// Returns the names that can occur at a place, in the order of their first appearance. `None`
    /// if there is no bound, or the place does not exist.
    pub fn at(&self, place: ArgumentPlace) -> Option<Vec<NameAndArity>> {
        self.domains.bounded_names(match place {
            ArgumentPlace::Relation(name, arity, position) => Slot::of(name, arity, position),
            ArgumentPlace::Function(name, arity, position) => Slot::Function(name, arity, position),
        })
    }

    /// Returns the values that a variable of a clause can have, given as indices into the rulesheet
    /// and the clause. `None` if there is no bound.
    pub fn variable(&self, clause: usize, variable: u32) -> Option<Vec<NameAndArity>> {
        let rules = (0..self.clauses.len()).filter(|&rule| self.clauses[rule] == clause);
        let mut all = BTreeSet::new();
        let mut names = Vec::new();
        for rule in rules {
            let values = self.domains.variable_names(rule, variable)?;
            names.extend(values.into_iter().filter(|&name| all.insert(name)));
        }
        Some(names)
    }
}
