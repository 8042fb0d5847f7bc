//! Rules in normal form to a Datalog program.

use std::collections::BTreeMap;

use agon_datalog::{Atom, Goal, Level, Pattern, PredicateId, Program, Rule, Symbol};

use crate::rules::{Condition, RuleAtom, RuleTerm};
use crate::symbols::keyword;

/// A program, and the predicate of each relation of the rules.
pub(crate) struct Compiled {
    pub(crate) program: Program,
    predicates: BTreeMap<(Symbol, usize), PredicateId>,
}

/// Compiles rules in normal form. A relation that occurs with several numbers of arguments becomes
/// several predicates. The origin of a rule is its index in `rules`.
pub(crate) fn compile(rules: &[crate::rules::Rule]) -> Compiled {
    let mut compiled = Compiled { program: Program::default(), predicates: BTreeMap::new() };
    // The state and the moves are input, so these two exist even if no rule mentions them.
    compiled.predicate(keyword::TRUE, 1);
    compiled.predicate(keyword::DOES, 2);
    for (index, rule) in rules.iter().enumerate() {
        let head = compiled.atom(&rule.head);
        let body = rule
            .body
            .iter()
            .map(|condition| match condition {
                Condition::Holds(atom) => Goal::Holds(compiled.atom(atom)),
                Condition::Fails(atom) => Goal::Fails(compiled.atom(atom)),
                Condition::Differ(a, b, _) => Goal::Differ(pattern(a), pattern(b)),
            })
            .collect();
        let origin = u32::try_from(index).expect("fewer than 2^32 rules");
        compiled.program.rule(Rule { head, body, n_variables: rule.n_variables, origin });
    }
    compiled
}

impl Compiled {
    /// Returns the predicate of a relation with `arity` arguments. Creates it if no rule mentions
    /// it.
    pub(crate) fn predicate(&mut self, relation: Symbol, arity: usize) -> PredicateId {
        if let Some(&known) = self.predicates.get(&(relation, arity)) {
            return known;
        }
        let made = match (relation, arity) {
            (keyword::TRUE, 1) => self.program.given(1, Level::State),
            (keyword::DOES, 2) => self.program.given(2, Level::Move),
            _ => self.program.derived(arity),
        };
        self.predicates.insert((relation, arity), made);
        made
    }

    /// Returns all relations with their numbers of arguments, in the order of their names.
    pub(crate) fn relations(&self) -> Vec<((Symbol, usize), PredicateId)> {
        self.predicates.iter().map(|(&relation, &predicate)| (relation, predicate)).collect()
    }

    fn atom(&mut self, atom: &RuleAtom) -> Atom {
        Atom {
            predicate: self.predicate(atom.relation, atom.arguments.len()),
            arguments: atom.arguments.iter().map(pattern).collect(),
        }
    }
}

fn pattern(term: &RuleTerm) -> Pattern {
    match term {
        RuleTerm::Variable(v) => Pattern::Variable(*v),
        RuleTerm::Function(symbol, arguments) => {
            Pattern::Function(*symbol, arguments.iter().map(pattern).collect())
        }
    }
}
