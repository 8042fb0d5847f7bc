//! Rules over relations: what is to be evaluated.

use std::fmt;

use crate::{Symbol, TermId};

/// A relation of a [`Program`]. Dense: `0..program.predicates.len()`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PredicateId(pub(crate) u32);

impl PredicateId {
    /// Its number.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for PredicateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "q{}", self.0)
    }
}

/// How often the rows of a relation change. What is derived changes as often as the most restless relation it is
/// derived from, and is kept until then.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// Never.
    Static,
    /// With the state.
    State,
    /// With the moves made in a state.
    Move,
}

/// A term with variables; a constant is a function without arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// A variable of the rule.
    Variable(u32),
    /// A constant or a function term.
    Function(Symbol, Vec<Pattern>),
}

/// A relation applied to patterns.
#[derive(Clone, Debug)]
pub struct Atom {
    /// The relation.
    pub predicate: PredicateId,
    /// As many as the relation has columns.
    pub arguments: Vec<Pattern>,
}

/// A condition of a rule.
#[derive(Clone, Debug)]
pub enum Goal {
    /// The atom holds.
    Holds(Atom),
    /// The atom holds for no value of the variables that occur nowhere else.
    Fails(Atom),
    /// The two differ.
    Differ(Pattern, Pattern),
}

/// A rule: the head holds where all goals do.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What is derived.
    pub head: Atom,
    /// From what; in any order.
    pub body: Vec<Goal>,
    /// Variables are `0..n_variables`.
    pub n_variables: u32,
    /// Whatever the owner wants to be told when something goes wrong with this rule.
    pub origin: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Predicate {
    pub(crate) arity: usize,
    /// `None`: derived by rules. Otherwise its rows are given from outside.
    pub(crate) given: Option<Level>,
    pub(crate) rules: Vec<u32>,
    /// Rows of a static given relation.
    pub(crate) rows: Vec<Vec<TermId>>,
    /// Whether its rows say only what is asked for, so that a condition on it limits a search but tells nothing.
    pub(crate) is_demand: bool,
}

/// Relations and the rules between them.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(crate) predicates: Vec<Predicate>,
    pub(crate) rules: Vec<Rule>,
}

impl Program {
    /// A relation that rules derive. Without rules it is empty.
    pub fn derived(&mut self, arity: usize) -> PredicateId {
        self.add(Predicate {
            arity,
            given: None,
            rules: Vec::new(),
            rows: Vec::new(),
            is_demand: false,
        })
    }

    /// A derived relation whose rows say only what is asked for.
    pub(crate) fn demanded(&mut self, arity: usize) -> PredicateId {
        let demand = self.derived(arity);
        self.predicates[demand.index()].is_demand = true;
        demand
    }

    /// A relation whose rows are set from outside.
    pub fn given(&mut self, arity: usize, level: Level) -> PredicateId {
        self.add(Predicate {
            arity,
            given: Some(level),
            rules: Vec::new(),
            rows: Vec::new(),
            is_demand: false,
        })
    }

    fn add(&mut self, predicate: Predicate) -> PredicateId {
        self.predicates.push(predicate);
        PredicateId(u32::try_from(self.predicates.len() - 1).expect("fewer than 2^32 relations"))
    }

    /// Adds a rule for a derived relation.
    pub fn rule(&mut self, rule: Rule) {
        let head = &mut self.predicates[rule.head.predicate.index()];
        assert!(head.given.is_none(), "rules derive only derived relations");
        assert_eq!(
            head.arity,
            rule.head.arguments.len(),
            "an atom has as many arguments as its relation"
        );
        head.rules.push(u32::try_from(self.rules.len()).expect("fewer than 2^32 rules"));
        self.rules.push(rule);
    }

    /// The rows of a relation that never changes, if they are known: given from outside, or worked out by
    /// [`crate::materialise`].
    pub fn rows(&self, predicate: PredicateId) -> Option<&[Vec<TermId>]> {
        let predicate = &self.predicates[predicate.index()];
        (predicate.given == Some(Level::Static)).then_some(predicate.rows.as_slice())
    }

    /// How many relations there are.
    pub fn n_predicates(&self) -> usize {
        self.predicates.len()
    }

    /// How often each relation changes, by number.
    pub fn levels(&self) -> Vec<Level> {
        let mut levels: Vec<Level> =
            self.predicates.iter().map(|p| p.given.unwrap_or(Level::Static)).collect();
        // Levels only rise and there are three, so this ends after few rounds.
        loop {
            let mut changed = false;
            for rule in &self.rules {
                let head = rule.head.predicate.index();
                for goal in &rule.body {
                    if let Goal::Holds(atom) | Goal::Fails(atom) = goal
                        && levels[atom.predicate.index()] > levels[head]
                    {
                        levels[head] = levels[atom.predicate.index()];
                        changed = true;
                    }
                }
            }
            if !changed {
                return levels;
            }
        }
    }

    /// Which arguments a caller must supply, because some rule cannot find them: `demands[relation][argument]`.
    /// In safe rules none; `(<= (other ?x ?y) (distinct ?x ?y))` demands both.
    pub fn demands(&self) -> Vec<Vec<bool>> {
        let mut demands: Vec<Vec<bool>> =
            self.predicates.iter().map(|p| vec![false; p.arity]).collect();
        loop {
            let mut changed = false;
            for rule in &self.rules {
                let head = rule.head.predicate.index();
                let found = rule.found(&demands);
                for (i, argument) in rule.head.arguments.iter().enumerate() {
                    if !demands[head][i] && !argument.is_bound(&found) {
                        demands[head][i] = true;
                        changed = true;
                    }
                }
            }
            if !changed {
                return demands;
            }
        }
    }
}

impl Rule {
    /// The variables that get a value, from the caller by a demanded argument or from a goal whose own demands are
    /// met.
    fn found(&self, demands: &[Vec<bool>]) -> Vec<bool> {
        let mut found = vec![false; self.n_variables as usize];
        for (argument, &demanded) in
            self.head.arguments.iter().zip(&demands[self.head.predicate.index()])
        {
            if demanded {
                argument.each_variable(&mut |v| found[v as usize] = true);
            }
        }
        let mut left: Vec<&Atom> = self
            .body
            .iter()
            .filter_map(|goal| if let Goal::Holds(atom) = goal { Some(atom) } else { None })
            .collect();
        loop {
            let n_left = left.len();
            left.retain(|atom| {
                let demands = &demands[atom.predicate.index()];
                let met = atom
                    .arguments
                    .iter()
                    .zip(demands)
                    .all(|(a, &demanded)| !demanded || a.is_bound(&found));
                if met {
                    atom.each_variable(&mut |v| found[v as usize] = true);
                }
                !met
            });
            if left.len() == n_left {
                return found;
            }
        }
    }
}

impl Pattern {
    /// Calls `visit` on each variable from left to right.
    pub fn each_variable(&self, visit: &mut dyn FnMut(u32)) {
        match self {
            Pattern::Variable(v) => visit(*v),
            Pattern::Function(_, arguments) => {
                arguments.iter().for_each(|a| a.each_variable(visit))
            }
        }
    }

    /// Whether every variable in it is among `bound`.
    pub(crate) fn is_bound(&self, bound: &[bool]) -> bool {
        let mut all = true;
        self.each_variable(&mut |v| all &= bound[v as usize]);
        all
    }
}

impl Atom {
    /// Calls `visit` on each variable from left to right.
    pub fn each_variable(&self, visit: &mut dyn FnMut(u32)) {
        self.arguments.iter().for_each(|a| a.each_variable(visit));
    }
}
