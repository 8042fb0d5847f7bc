//! Preparation of a program: ground facts become rows.

use crate::program::{Atom, Goal, Level, Pattern, PredicateId, Program, Rule};
use crate::term::TermRefusal;
use crate::{TermBank, TermId};

use super::{MAX_WIDTH, PlanRefusal};

pub(crate) struct Prepared {
    pub(crate) program: Program,
    /// Static rows of each predicate.
    pub(crate) facts: Vec<Vec<Vec<TermId>>>,
    pub(crate) levels: Vec<Level>,
    pub(crate) required_arguments: Vec<Vec<bool>>,
}

/// Moves ground facts from rules to rows. A relation that consists of facts only becomes a given
/// relation. If it also has rules, the facts get a relation of their own and a rule that reads it.
pub(crate) fn prepare(mut program: Program, bank: &TermBank) -> Result<Prepared, PlanRefusal> {
    if let Some(wide) = program.rules.iter().find(|rule| is_wide(rule)) {
        return Err(PlanRefusal::Width { origin: wide.origin });
    }
    let mut facts: Vec<Vec<Vec<TermId>>> = vec![Vec::new(); program.predicates.len()];
    for predicate in 0..program.predicates.len() {
        if program.predicates[predicate].given.is_some() {
            facts[predicate] = std::mem::take(&mut program.predicates[predicate].rows);
            continue;
        }
        let rules = std::mem::take(&mut program.predicates[predicate].rules);
        let (mut rows, mut proper) = (Vec::new(), Vec::new());
        for index in rules {
            let rule = &program.rules[index as usize];
            let row = if rule.body.is_empty() { ground_row(&rule.head, bank) } else { None };
            match row {
                Some(row) => rows.push(row.map_err(|_| PlanRefusal::Term { origin: rule.origin })?),
                None => proper.push(index),
            }
        }
        rows.sort_unstable();
        rows.dedup();
        if proper.is_empty() {
            program.predicates[predicate].given = Some(Level::Static);
            facts[predicate] = rows;
            continue;
        }
        program.predicates[predicate].rules = proper;
        if !rows.is_empty() {
            let arity = program.predicates[predicate].arity;
            let holder = program.given(arity, Level::Static);
            facts.push(rows);
            let head = PredicateId(u32::try_from(predicate).expect("fewer than 2^32 relations"));
            program.rule(reader(head, holder, arity));
        }
    }
    let (levels, required_arguments) = (program.levels(), program.required_arguments());
    Ok(Prepared { program, facts, levels, required_arguments })
}

/// Returns whether a sentence or term of a rule has too many arguments.
fn is_wide(rule: &Rule) -> bool {
    fn pattern_is_wide(pattern: &Pattern) -> bool {
        match pattern {
            Pattern::Variable(_) => false,
            Pattern::Function(_, arguments) => list_is_wide(arguments),
        }
    }
    fn list_is_wide(arguments: &[Pattern]) -> bool {
        arguments.len() > MAX_WIDTH || arguments.iter().any(pattern_is_wide)
    }
    list_is_wide(&rule.head.arguments)
        || rule.body.iter().any(|goal| match goal {
            Goal::Holds(atom) | Goal::Fails(atom) => list_is_wide(&atom.arguments),
            Goal::Differ(a, b) => pattern_is_wide(a) || pattern_is_wide(b),
        })
}

impl Prepared {
    /// Returns a rule that reads the rows of a given relation.
    pub(super) fn reader(&self, predicate: PredicateId) -> Rule {
        reader(predicate, predicate, self.program.predicates[predicate.index()].arity)
    }
}

fn reader(head: PredicateId, holder: PredicateId, arity: usize) -> Rule {
    let n_variables = u32::try_from(arity).expect("fewer than 2^32 columns");
    let arguments: Vec<Pattern> = (0..n_variables).map(Pattern::Variable).collect();
    Rule {
        head: Atom { predicate: head, arguments: arguments.clone() },
        body: vec![Goal::Holds(Atom { predicate: holder, arguments })],
        n_variables,
        origin: u32::MAX,
    }
}

/// Returns the term of a pattern without variables, or `None` if it has variables.
pub(crate) fn ground(pattern: &Pattern, bank: &TermBank) -> Option<Result<TermId, TermRefusal>> {
    match pattern {
        Pattern::Variable(_) => None,
        Pattern::Function(symbol, arguments) => {
            let mut ids = Vec::with_capacity(arguments.len());
            for argument in arguments {
                match ground(argument, bank)? {
                    Ok(id) => ids.push(id),
                    Err(refusal) => return Some(Err(refusal)),
                }
            }
            Some(bank.term(*symbol, &ids))
        }
    }
}

fn ground_row(atom: &Atom, bank: &TermBank) -> Option<Result<Vec<TermId>, TermRefusal>> {
    atom.arguments.iter().map(|argument| ground(argument, bank)).collect()
}
