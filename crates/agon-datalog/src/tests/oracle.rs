//! The oracle: naive evaluation. Every rule is applied to every assignment of its variables from a
//! finite set of terms until nothing new follows, stratum by stratum.

use std::collections::BTreeSet;

use crate::program::{Atom, Goal, Pattern, Program, Rule};
use crate::{Symbol, TermBank, TermId};

/// A ground term of the oracle: the number of a symbol and arguments.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Ground(pub(super) u32, pub(super) Vec<Ground>);

pub(super) type Row = Vec<Ground>;

/// Rows of each relation, by its number.
pub(super) type Facts = Vec<BTreeSet<Row>>;

impl Ground {
    pub(super) fn in_bank(&self, bank: &TermBank) -> TermId {
        let arguments: Vec<TermId> = self.1.iter().map(|argument| argument.in_bank(bank)).collect();
        bank.term(Symbol::new(self.0), &arguments).expect("the oracle's terms are small")
    }

    pub(super) fn of_bank(term: TermId, bank: &TermBank) -> Ground {
        let symbol =
            u32::try_from(bank.symbol(term).index()).expect("symbols are numbers of 32 bits");
        Ground(
            symbol,
            bank.arguments(term).map(|argument| Ground::of_bank(argument, bank)).collect(),
        )
    }
}

/// Returns all consequences of `given`. `strata` has the stratum of each relation. Variables range
/// over `universe`.
pub(super) fn oracle(
    program: &Program,
    given: &Facts,
    strata: &[usize],
    universe: &[Ground],
) -> Facts {
    let mut facts = given.clone();
    for stratum in 0..=strata.iter().copied().max().unwrap_or(0) {
        loop {
            let mut found = Vec::new();
            for rule in
                program.rules.iter().filter(|rule| strata[rule.head.predicate.index()] == stratum)
            {
                each_filling(rule, universe, &mut |filling| {
                    if rule.body.iter().all(|goal| is_met(goal, filling, &facts)) {
                        found.push((rule.head.predicate.index(), row(&rule.head, filling)));
                    }
                });
            }
            let mut is_new = false;
            for (relation, row) in found {
                is_new |= facts[relation].insert(row);
            }
            if !is_new {
                break;
            }
        }
    }
    facts
}

type Filling = Vec<Option<Ground>>;

/// Calls `visit` with every assignment of the variables, except those that occur nowhere or only in
/// one negated goal.
fn each_filling(rule: &Rule, universe: &[Ground], visit: &mut dyn FnMut(&Filling)) {
    let to_fill: Vec<u32> = (0..rule.n_variables).filter(|&v| is_shared(rule, v)).collect();
    let mut choice = vec![0; to_fill.len()];
    loop {
        let mut filling = vec![None; rule.n_variables as usize];
        for (&v, &chosen) in to_fill.iter().zip(&choice) {
            filling[v as usize] = Some(universe[chosen].clone());
        }
        visit(&filling);
        // Counts up like digits.
        let Some(digit) = choice.iter().position(|&chosen| chosen + 1 < universe.len()) else {
            return;
        };
        choice[digit] += 1;
        choice[..digit].fill(0);
    }
}

fn is_shared(rule: &Rule, variable: u32) -> bool {
    let mut in_head = false;
    rule.head.each_variable(&mut |v| in_head |= v == variable);
    let users: Vec<&Goal> = rule.body.iter().filter(|goal| mentions(goal, variable)).collect();
    in_head || !matches!(users[..], [] | [Goal::Fails(_)])
}

fn mentions(goal: &Goal, variable: u32) -> bool {
    let mut found = false;
    let mut visit = |v| found |= v == variable;
    match goal {
        Goal::Holds(atom) | Goal::Fails(atom) => atom.each_variable(&mut visit),
        Goal::Differ(a, b) => {
            a.each_variable(&mut visit);
            b.each_variable(&mut visit);
        }
    }
    found
}

fn is_met(goal: &Goal, filling: &Filling, facts: &Facts) -> bool {
    match goal {
        Goal::Holds(atom) => facts[atom.predicate.index()].contains(&row(atom, filling)),
        Goal::Fails(atom) => !facts[atom.predicate.index()].iter().any(|row| {
            let mut filling = filling.clone();
            atom.arguments.iter().zip(row).all(|(pattern, term)| fits(pattern, term, &mut filling))
        }),
        Goal::Differ(a, b) => filled(a, filling) != filled(b, filling),
    }
}

fn row(atom: &Atom, filling: &Filling) -> Row {
    atom.arguments.iter().map(|pattern| filled(pattern, filling)).collect()
}

fn filled(pattern: &Pattern, filling: &Filling) -> Ground {
    match pattern {
        Pattern::Variable(v) => {
            filling[*v as usize].clone().expect("only negated atoms have variables of their own")
        }
        Pattern::Function(symbol, arguments) => Ground(
            u32::try_from(symbol.index()).expect("symbols are numbers of 32 bits"),
            arguments.iter().map(|argument| filled(argument, filling)).collect(),
        ),
    }
}

fn fits(pattern: &Pattern, term: &Ground, filling: &mut Filling) -> bool {
    match pattern {
        Pattern::Variable(v) => filling[*v as usize].get_or_insert_with(|| term.clone()) == term,
        Pattern::Function(symbol, arguments) => {
            symbol.index() == term.0 as usize
                && arguments.len() == term.1.len()
                && arguments
                    .iter()
                    .zip(&term.1)
                    .all(|(argument, part)| fits(argument, part, filling))
        }
    }
}
