//! Concepts: relations between two or three facts, independent of which facts they are.

use std::fmt;

use super::fact::{Fact, parts};
use super::words::Axes;

/// A relation between two or three facts with the same name: by how much their numbers differ, and
/// which symbols are equal or given. Invariant: the facts are sorted, so that equal concepts are
/// equal values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Concept {
    /// The name of the facts.
    pub(super) name: String,
    /// By argument: how it is related.
    pub(super) columns: Vec<Column>,
    /// The number of facts that it relates.
    pub(super) n_facts: usize,
}

/// The relation between the values of one argument in all facts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    /// Numbers, as differences to the number of the first fact.
    Offsets(Vec<i64>),
    /// Any symbol, if it is the same one in all facts.
    Same,
    /// These symbols, by fact.
    Symbols(Vec<String>),
}

/// Maximum absolute value of a number. Larger numbers are treated as symbols.
const MAX_NUMBER: i64 = 1_000_000;

/// Reads an argument as a number.
pub(super) fn number(text: &str) -> Option<i64> {
    text.parse().ok().filter(|number: &i64| number.abs() <= MAX_NUMBER)
}

impl Concept {
    /// Returns the concept of facts (Sato & Cazenave 2016, algorithm 2). `None` if the facts have
    /// different names or numbers of arguments, if two are equal, or if every argument is a given
    /// symbol.
    pub(super) fn of(facts: &[&Fact]) -> Option<Concept> {
        let first = facts.first()?;
        let n = first.arguments.len();
        if facts.iter().any(|fact| fact.name != first.name || fact.arguments.len() != n) {
            return None;
        }
        let column = |at: usize| {
            let texts: Vec<&String> = facts.iter().map(|fact| &fact.arguments[at]).collect();
            let numbers: Option<Vec<i64>> = facts.iter().map(|fact| fact.ranks[at]).collect();
            match numbers {
                Some(numbers) => Column::Offsets(numbers),
                None if texts.iter().all(|text| *text == texts[0]) => Column::Same,
                None => Column::Symbols(texts.into_iter().cloned().collect()),
            }
        };
        let concept = Concept {
            name: first.name.clone(),
            columns: (0..n).map(column).collect(),
            n_facts: facts.len(),
        };
        concept.normalised()
    }

    /// Sorts the facts and makes the numbers relative to the first fact. `None` if two facts are
    /// equal, or every argument is a given symbol.
    fn normalised(mut self) -> Option<Concept> {
        let mut order: Vec<usize> = (0..self.n_facts).collect();
        let key = |fact: usize| -> Vec<(i64, &str)> {
            let of_column = |column: &'_ Column| match column {
                Column::Offsets(numbers) => (numbers[fact], ""),
                Column::Same => (0, ""),
                Column::Symbols(_) => (0, ""),
            };
            let mut key: Vec<(i64, &str)> = self.columns.iter().map(of_column).collect();
            for column in &self.columns {
                if let Column::Symbols(symbols) = column {
                    key.push((0, symbols[fact].as_str()));
                }
            }
            key
        };
        order.sort_by(|&a, &b| key(a).cmp(&key(b)));
        if order.windows(2).any(|pair| key(pair[0]) == key(pair[1])) {
            return None;
        }
        for column in &mut self.columns {
            match column {
                Column::Offsets(numbers) => {
                    let first = numbers[order[0]];
                    *numbers = order.iter().map(|&fact| numbers[fact] - first).collect();
                }
                Column::Same => {}
                Column::Symbols(symbols) => {
                    *symbols = order.iter().map(|&fact| symbols[fact].clone()).collect();
                }
            }
        }
        let is_open = self.columns.iter().any(|column| !matches!(column, Column::Symbols(_)));
        is_open.then_some(self)
    }

    /// Joins two concepts of two facts that share a fact (Sato & Cazenave 2016, algorithm 4). The
    /// shared fact is number `own` in this concept and number `others` in the other. `None` if the
    /// two cannot be the same fact.
    pub(super) fn joined(&self, own: usize, other: &Concept, others: usize) -> Option<Concept> {
        if self.name != other.name || self.columns.len() != other.columns.len() {
            return None;
        }
        if self.n_facts != 2 || other.n_facts != 2 {
            return None;
        }
        let (own_rest, other_rest) = (1 - own, 1 - others);
        let column = |(a, b): (&Column, &Column)| match (a, b) {
            (Column::Offsets(a), Column::Offsets(b)) => {
                Some(Column::Offsets(vec![0, a[own_rest] - a[own], b[other_rest] - b[others]]))
            }
            (Column::Same, Column::Same) => Some(Column::Same),
            (Column::Same, Column::Symbols(b)) => {
                let shared = b[others].clone();
                Some(Column::Symbols(vec![shared.clone(), shared, b[other_rest].clone()]))
            }
            (Column::Symbols(a), Column::Same) => {
                let shared = a[own].clone();
                Some(Column::Symbols(vec![shared.clone(), a[own_rest].clone(), shared]))
            }
            (Column::Symbols(a), Column::Symbols(b)) if a[own] == b[others] => {
                Some(Column::Symbols(vec![
                    a[own].clone(),
                    a[own_rest].clone(),
                    b[other_rest].clone(),
                ]))
            }
            (Column::Offsets(_) | Column::Same | Column::Symbols(_), _) => None,
        };
        let columns: Option<Vec<Column>> =
            self.columns.iter().zip(&other.columns).map(column).collect();
        Concept { name: self.name.clone(), columns: columns?, n_facts: 3 }.normalised()
    }

    /// Writes the concept as a rule: `(<= (concept ?x0 ?x1) (cell ?x0 1 ?x1) …)`.
    pub fn rule(&self) -> String {
        let open =
            self.columns.iter().enumerate().filter(|(_, c)| !matches!(c, Column::Symbols(_)));
        let head: Vec<String> = open.map(|(at, _)| format!(" ?x{at}")).collect();
        let facts: Vec<String> = (0..self.n_facts).map(|fact| self.fact_text(fact)).collect();
        format!("(<= (concept{}) {})", head.concat(), facts.join(" "))
    }

    fn fact_text(&self, fact: usize) -> String {
        let argument = |(at, column): (usize, &Column)| match column {
            Column::Offsets(offsets) if offsets[fact] == 0 => format!(" ?x{at}"),
            Column::Offsets(offsets) => format!(" (+ ?x{at} {})", offsets[fact]),
            Column::Same => format!(" ?x{at}"),
            Column::Symbols(symbols) => format!(" {}", symbols[fact]),
        };
        let arguments: Vec<String> = self.columns.iter().enumerate().map(argument).collect();
        format!("({}{})", self.name, arguments.concat())
    }

    /// Reads a concept from its rule. A variable without an addition stands for a symbol, unless
    /// the head marks it as a number: `(number ?x0)`.
    pub(super) fn parse(rule: &str) -> Option<Concept> {
        let inside = rule.trim().strip_prefix("(<=")?.strip_suffix(')')?;
        let mut terms = parts(inside).into_iter();
        let head = terms.next()?;
        let facts: Vec<Fact> = terms.map(|term| Fact::parse(&term)).collect();
        let first = facts.first()?;
        let is_alike =
            |fact: &Fact| fact.name == first.name && fact.arguments.len() == first.arguments.len();
        if !(2..=3).contains(&facts.len()) || !facts.iter().all(is_alike) {
            return None;
        }
        let numbers: Vec<String> = parts(head.strip_prefix('(')?.strip_suffix(')')?);
        let mut columns = Vec::new();
        for at in 0..first.arguments.len() {
            let texts: Vec<&str> = facts.iter().map(|fact| fact.arguments[at].as_str()).collect();
            let offsets: Option<Vec<i64>> = texts.iter().map(|text| offset(text)).collect();
            let name = format!("?x{at}");
            let is_number = numbers.contains(&format!("(number {name})"));
            columns.push(match offsets {
                Some(offsets) if is_number || offsets.iter().any(|&offset| offset != 0) => {
                    Column::Offsets(offsets)
                }
                Some(_) => Column::Same,
                None if texts.iter().any(|text| text.contains('?')) => return None,
                None => Column::Symbols(texts.into_iter().map(str::to_owned).collect()),
            });
        }
        Concept { name: first.name.clone(), columns, n_facts: facts.len() }.normalised()
    }

    /// Writes the concept as a rule in which the head marks numbers, as [`Concept::parse`] needs
    /// it.
    pub(super) fn file_rule(&self) -> String {
        let mut rule = self.rule();
        for (at, column) in self.columns.iter().enumerate() {
            if matches!(column, Column::Offsets(_)) {
                rule = rule.replacen(&format!(" ?x{at}"), &format!(" (number ?x{at})"), 1);
            }
        }
        rule
    }

    /// Describes the concept in words. Two numbers are read as a row and a column.
    pub fn sentence(&self) -> String {
        super::words::sentence(self, None)
    }

    /// Describes the concept in words, as what its facts are and how the second lies to the first:
    /// "two discs of one colour" and "side by side". The second part is empty if the description
    /// cannot be divided. Directions are those of a drawn board.
    pub(crate) fn parts_on(&self, axes: Option<&Axes>) -> (String, String) {
        super::words::parts(self, axes)
    }

    /// Returns the name of the facts.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// Returns the number that a term adds to its variable: 0 for `?x`, 2 for `(+ ?x 2)`.
fn offset(text: &str) -> Option<i64> {
    if text.starts_with('?') {
        return Some(0);
    }
    let inside = text.strip_prefix('(')?.strip_suffix(')')?;
    match parts(inside).as_slice() {
        [plus, variable, number] if plus == "+" && variable.starts_with('?') => number.parse().ok(),
        _ => None,
    }
}

impl fmt::Display for Concept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rule())
    }
}
