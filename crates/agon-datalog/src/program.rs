//! Programs: relations and the rules between them.

use std::fmt;

use crate::{Symbol, TermId};

/// A relation of a [`Program`]. Dense: `0..program.predicates.len()`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PredicateId(pub(crate) u32);

impl PredicateId {
    /// Returns the number of the relation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for PredicateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "q{}", self.0)
    }
}

/// How often the rows of a relation change. A derived relation changes as often as the most
/// frequently changing relation that it depends on, and its answers are kept until then.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// Never.
    Static,
    /// With the state.
    State,
    /// With the moves made in a state.
    Move,
}

/// A term with variables. A constant is a function without arguments.
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
    /// One pattern for each column of the relation.
    pub arguments: Vec<Pattern>,
}

/// A condition of a rule.
#[derive(Clone, Debug)]
pub enum Goal {
    /// The atom holds.
    Holds(Atom),
    /// The atom holds for no value of its local variables.
    Fails(Atom),
    /// The terms differ.
    Differ(Pattern, Pattern),
}

/// A rule. The head holds if all goals hold.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The derived atom.
    pub head: Atom,
    /// The conditions, in any order.
    pub body: Vec<Goal>,
    /// Number of variables, which are `0..n_variables`.
    pub n_variables: u32,
    /// A number of the owner's choice that is returned with refusals at this rule.
    pub origin: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Predicate {
    pub(crate) arity: usize,
    /// `None` if it is derived by rules. Otherwise the level of the given rows.
    pub(crate) given: Option<Level>,
    pub(crate) rules: Vec<u32>,
    /// Rows of a static given relation.
    pub(crate) rows: Vec<Vec<TermId>>,
    /// Whether this is a demand relation. A condition on it restricts a search but has no meaning
    /// of its own.
    pub(crate) is_demand: bool,
}

/// Relations and the rules between them.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(crate) predicates: Vec<Predicate>,
    pub(crate) rules: Vec<Rule>,
}

impl Program {
    /// Adds a relation that is derived by rules. Without rules it is empty.
    pub fn derived(&mut self, arity: usize) -> PredicateId {
        self.add(Predicate {
            arity,
            given: None,
            rules: Vec::new(),
            rows: Vec::new(),
            is_demand: false,
        })
    }

    /// Adds a demand relation.
    pub(crate) fn demand_relation(&mut self, arity: usize) -> PredicateId {
        let demand = self.derived(arity);
        self.predicates[demand.index()].is_demand = true;
        demand
    }

    /// Adds a relation whose rows are set by the caller.
    pub fn given(&mut self, arity: usize, level: Level) -> PredicateId {
        self.add(Predicate {
            arity,
            given: Some(level),
            rules: Vec::new(),
            rows: Vec::new(),
            is_demand: false,
        })
    }

    pub(crate) fn add(&mut self, predicate: Predicate) -> PredicateId {
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

    /// Returns the rows of a static relation if they are known: given by the caller, or computed by
    /// [`crate::materialise()`].
    pub fn rows(&self, predicate: PredicateId) -> Option<&[Vec<TermId>]> {
        let predicate = &self.predicates[predicate.index()];
        (predicate.given == Some(Level::Static)).then_some(predicate.rows.as_slice())
    }

    /// Returns the number of relations.
    #[cfg(test)]
    pub(crate) fn n_predicates(&self) -> usize {
        self.predicates.len()
    }

    /// Returns how often each relation changes.
    pub fn levels(&self) -> Vec<Level> {
        let mut levels: Vec<Level> =
            self.predicates.iter().map(|p| p.given.unwrap_or(Level::Static)).collect();
        // Levels only increase and there are three of them, so the loop terminates quickly.
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

    /// Returns for each relation and argument whether the caller must supply the argument, because
    /// some rule cannot compute it. Safe rules need none. `(<= (other ?x ?y) (distinct ?x ?y))`
    /// needs both.
    pub fn required_arguments(&self) -> Vec<Vec<bool>> {
        let mut required_arguments: Vec<Vec<bool>> =
            self.predicates.iter().map(|p| vec![false; p.arity]).collect();
        loop {
            let mut changed = false;
            for rule in &self.rules {
                let head = rule.head.predicate.index();
                let found = rule.found(&required_arguments);
                for (i, argument) in rule.head.arguments.iter().enumerate() {
                    if !required_arguments[head][i] && !argument.is_bound(&found) {
                        required_arguments[head][i] = true;
                        changed = true;
                    }
                }
            }
            if !changed {
                return required_arguments;
            }
        }
    }
}

impl Rule {
    /// Calls `change` on each variable of the rule.
    pub(crate) fn each_variable_mut(&mut self, change: &mut dyn FnMut(&mut u32)) {
        let in_body = self.body.iter_mut().flat_map(|goal| match goal {
            Goal::Holds(atom) | Goal::Fails(atom) => atom.arguments.iter_mut().collect(),
            Goal::Differ(a, b) => vec![a, b],
        });
        self.head
            .arguments
            .iter_mut()
            .chain(in_body)
            .for_each(|pattern| pattern.each_variable_mut(change));
    }

    /// Returns the variables that are bound, by a supplied argument or by a goal whose required
    /// arguments are bound.
    fn found(&self, required_arguments: &[Vec<bool>]) -> Vec<bool> {
        let mut found = vec![false; self.n_variables as usize];
        for (argument, &demand_relation) in
            self.head.arguments.iter().zip(&required_arguments[self.head.predicate.index()])
        {
            if demand_relation {
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
                let required_arguments = &required_arguments[atom.predicate.index()];
                let met = atom
                    .arguments
                    .iter()
                    .zip(required_arguments)
                    .all(|(a, &demand_relation)| !demand_relation || a.is_bound(&found));
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
                arguments.iter().for_each(|a| a.each_variable(visit));
            }
        }
    }

    fn each_variable_mut(&mut self, change: &mut dyn FnMut(&mut u32)) {
        match self {
            Pattern::Variable(v) => change(v),
            Pattern::Function(_, arguments) => {
                arguments.iter_mut().for_each(|a| a.each_variable_mut(change));
            }
        }
    }

    /// Returns whether every variable of the pattern is bound.
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
