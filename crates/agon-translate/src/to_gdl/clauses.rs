//! Clauses of the GDL rulesheet under construction: terms, conditions, the sheet, its
//! simplification and its text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A variable. Numbers are unique within a translation, so two meanings never share one.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Var(pub(super) u32);

/// A term.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Expression {
    /// A variable.
    Variable(Var),
    /// A constant.
    Word(String),
    /// A function application. Without arguments it is printed as a constant.
    Call(String, Vec<Expression>),
}

/// A relation applied to terms.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Atom {
    pub(super) relation: String,
    pub(super) arguments: Vec<Expression>,
}

/// A condition.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Literal {
    Holds(Atom),
    Fails(Atom),
    Differ(Expression, Expression),
}

/// A fact or a rule.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Clause {
    pub(super) head: Atom,
    pub(super) body: Vec<Literal>,
}

/// Sections of a rulesheet, in printing order.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Section {
    Roles,
    Start,
    Moves,
    Changes,
    End,
    Payoffs,
    Meanings,
    Facts,
}

impl Section {
    const ALL: [Section; 8] = [
        Section::Roles,
        Section::Start,
        Section::Moves,
        Section::Changes,
        Section::End,
        Section::Payoffs,
        Section::Meanings,
        Section::Facts,
    ];

    fn heading(self) -> &'static str {
        match self {
            Section::Roles => "Who plays.",
            Section::Start => "How play starts.",
            Section::Moves => "What may be done.",
            Section::Changes => "What comes of it.",
            Section::End => "When play ends: a player who is to act cannot.",
            Section::Payoffs => "What it pays.",
            Section::Meanings => "What it all means.",
            Section::Facts => "What never changes.",
        }
    }
}

/// The clauses written so far.
#[derive(Default)]
pub(super) struct Sheet {
    clauses: Vec<(Section, Clause)>,
    present: BTreeSet<Clause>,
    size: usize,
}

impl Expression {
    pub(super) fn word(text: impl Into<String>) -> Expression {
        Expression::Word(text.into())
    }

    pub(super) fn each_variable(&self, visit: &mut dyn FnMut(Var)) {
        match self {
            Expression::Variable(var) => visit(*var),
            Expression::Word(_) => {}
            Expression::Call(_, arguments) => arguments.iter().for_each(|a| a.each_variable(visit)),
        }
    }

    fn replaced(&self, by: &BTreeMap<Var, Expression>) -> Expression {
        match self {
            Expression::Variable(var) => by.get(var).cloned().unwrap_or_else(|| self.clone()),
            Expression::Word(_) => self.clone(),
            Expression::Call(name, arguments) => {
                Expression::Call(name.clone(), arguments.iter().map(|a| a.replaced(by)).collect())
            }
        }
    }

    fn write(&self, names: &BTreeMap<Var, String>, text: &mut String) {
        match self {
            Expression::Variable(var) => {
                text.push('?');
                text.push_str(&names[var]);
            }
            Expression::Word(word) => text.push_str(word),
            Expression::Call(name, arguments) => write_call(name, arguments, names, text),
        }
    }
}

fn write_call(
    name: &str,
    arguments: &[Expression],
    names: &BTreeMap<Var, String>,
    text: &mut String,
) {
    if arguments.is_empty() {
        text.push_str(name);
        return;
    }
    text.push('(');
    text.push_str(name);
    for argument in arguments {
        text.push(' ');
        argument.write(names, text);
    }
    text.push(')');
}

impl Atom {
    pub(super) fn new(relation: impl Into<String>, arguments: Vec<Expression>) -> Atom {
        Atom { relation: relation.into(), arguments }
    }

    /// Wraps one term in a keyword, as in `(true fluent)`.
    pub(super) fn about(keyword: &str, term: Expression) -> Atom {
        Atom::new(keyword, vec![term])
    }

    pub(super) fn each_variable(&self, visit: &mut dyn FnMut(Var)) {
        self.arguments.iter().for_each(|a| a.each_variable(visit));
    }

    pub(super) fn replaced(&self, by: &BTreeMap<Var, Expression>) -> Atom {
        Atom::new(self.relation.clone(), self.arguments.iter().map(|a| a.replaced(by)).collect())
    }
}

impl Literal {
    pub(super) fn each_variable(&self, visit: &mut dyn FnMut(Var)) {
        match self {
            Literal::Holds(atom) | Literal::Fails(atom) => atom.each_variable(visit),
            Literal::Differ(a, b) => {
                a.each_variable(visit);
                b.each_variable(visit);
            }
        }
    }

    pub(super) fn replaced(&self, by: &BTreeMap<Var, Expression>) -> Literal {
        match self {
            Literal::Holds(atom) => Literal::Holds(atom.replaced(by)),
            Literal::Fails(atom) => Literal::Fails(atom.replaced(by)),
            Literal::Differ(a, b) => Literal::Differ(a.replaced(by), b.replaced(by)),
        }
    }

    fn write(&self, names: &BTreeMap<Var, String>, text: &mut String) {
        match self {
            Literal::Holds(atom) => write_call(&atom.relation, &atom.arguments, names, text),
            Literal::Fails(atom) => {
                text.push_str("(not ");
                write_call(&atom.relation, &atom.arguments, names, text);
                text.push(')');
            }
            Literal::Differ(a, b) => write_call("distinct", &[a.clone(), b.clone()], names, text),
        }
    }
}

impl Clause {
    /// Renumbers the variables in order of appearance, so that clauses that differ only in
    /// variables become equal.
    fn renumbered(&self) -> Clause {
        let mut order: BTreeMap<Var, Expression> = BTreeMap::new();
        let mut number = |var: Var| {
            let next = Expression::word(format!("?{}", order.len()));
            order.entry(var).or_insert(next);
        };
        self.head.each_variable(&mut number);
        self.body.iter().for_each(|literal| literal.each_variable(&mut number));
        let body = self.body.iter().map(|literal| literal.replaced(&order)).collect();
        Clause { head: self.head.replaced(&order), body }
    }
}

/// Keywords that hold without rules of their own.
const GIVEN: [&str; 3] = ["true", "does", "role"];

impl Sheet {
    /// Adds a clause, unless an equal clause up to renaming of variables is already there.
    pub(super) fn add(&mut self, section: Section, clause: Clause) {
        if self.present.insert(clause.renumbered()) {
            self.size += 1 + clause.body.len();
            self.clauses.push((section, clause));
        }
    }

    /// Returns the number of clauses and conditions.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Removes clauses that can never hold or are never used, such as those with a condition on a
    /// relation without clauses.
    pub(super) fn tidy(&mut self) {
        self.drop_impossible();
        self.drop_subsumed();
        self.drop_unused();
    }

    /// Removes clauses that are subsumed by another one with the same head. Clauses that differ in
    /// their variables are not compared.
    fn drop_subsumed(&mut self) {
        let mut by_head: BTreeMap<&Atom, Vec<usize>> = BTreeMap::new();
        for (index, (_, clause)) in self.clauses.iter().enumerate() {
            by_head.entry(&clause.head).or_default().push(index);
        }
        let mut dropped = vec![false; self.clauses.len()];
        for group in by_head.values().filter(|group| group.len() > 1) {
            for &strong in group {
                let body = &self.clauses[strong].1.body;
                dropped[strong] = group.iter().any(|&weak| {
                    let other = &self.clauses[weak].1.body;
                    other.len() < body.len() && other.iter().all(|literal| body.contains(literal))
                });
            }
        }
        let mut dropped = dropped.into_iter();
        self.clauses.retain(|_| !dropped.next().expect("one for each clause"));
    }

    fn drop_impossible(&mut self) {
        loop {
            let defined: BTreeSet<String> =
                self.clauses.iter().map(|(_, clause)| clause.head.relation.clone()).collect();
            let is_given = |atom: &Atom| {
                defined.contains(&atom.relation) || GIVEN.contains(&atom.relation.as_str())
            };
            let n_before = self.clauses.len();
            self.clauses.retain(|(_, clause)| {
                clause.body.iter().all(|literal| match literal {
                    Literal::Holds(atom) => is_given(atom),
                    Literal::Fails(_) | Literal::Differ(..) => true,
                })
            });
            if self.clauses.len() < n_before {
                continue;
            }
            for (_, clause) in &mut self.clauses {
                clause.body.retain(|literal| match literal {
                    Literal::Fails(atom) => is_given(atom),
                    Literal::Holds(_) | Literal::Differ(..) => true,
                });
            }
            return;
        }
    }

    fn drop_unused(&mut self) {
        let mut used: BTreeSet<String> = BTreeSet::new();
        let mut open: Vec<usize> = (0..self.clauses.len())
            .filter(|&i| !matches!(self.clauses[i].0, Section::Meanings | Section::Facts))
            .collect();
        let mut of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, (_, clause)) in self.clauses.iter().enumerate() {
            of.entry(&clause.head.relation).or_default().push(index);
        }
        while let Some(index) = open.pop() {
            for literal in &self.clauses[index].1.body {
                let (Literal::Holds(atom) | Literal::Fails(atom)) = literal else { continue };
                if used.insert(atom.relation.clone()) {
                    open.extend(of.get(atom.relation.as_str()).into_iter().flatten());
                }
            }
        }
        self.clauses.retain(|(section, clause)| {
            !matches!(section, Section::Meanings | Section::Facts)
                || used.contains(&clause.head.relation)
        });
    }

    /// Prints the sheet with a heading for each section. `hints` has a name for each variable.
    pub(super) fn print(&self, hints: &[String]) -> String {
        let mut text = String::new();
        for section in Section::ALL {
            let mut parts = self.clauses.iter().filter(|(of, _)| *of == section).peekable();
            if parts.peek().is_none() {
                continue;
            }
            let _ = write!(text, "\n;; {}\n", section.heading());
            for (_, clause) in parts {
                print_clause(clause, hints, &mut text);
            }
        }
        text
    }
}

/// Maximum line width. Longer clauses are broken between conditions.
const WIDTH: usize = 110;

fn print_clause(clause: &Clause, hints: &[String], text: &mut String) {
    let names = variable_names(clause, hints);
    let mut head = String::new();
    write_call(&clause.head.relation, &clause.head.arguments, &names, &mut head);
    if clause.body.is_empty() {
        text.push_str(&head);
        text.push('\n');
        return;
    }
    let conditions: Vec<String> = clause
        .body
        .iter()
        .map(|literal| {
            let mut condition = String::new();
            literal.write(&names, &mut condition);
            condition
        })
        .collect();
    let one_line = format!("(<= {head} {})", conditions.join(" "));
    if one_line.len() <= WIDTH {
        text.push_str(&one_line);
    } else {
        let _ = write!(text, "(<= {head}\n    {})", conditions.join("\n    "));
    }
    text.push('\n');
}

/// Returns the names of the variables of a clause: their hints, made unique by numbers. A variable
/// that occurs once starts with `_`.
fn variable_names(clause: &Clause, hints: &[String]) -> BTreeMap<Var, String> {
    let mut order: Vec<Var> = Vec::new();
    let mut n_places: BTreeMap<Var, usize> = BTreeMap::new();
    let mut visit = |var: Var| {
        let count = n_places.entry(var).or_insert(0);
        *count += 1;
        if *count == 1 {
            order.push(var);
        }
    };
    clause.head.each_variable(&mut visit);
    clause.body.iter().for_each(|literal| literal.each_variable(&mut visit));
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut names = BTreeMap::new();
    for var in order {
        let mark = if n_places[&var] == 1 { "_" } else { "" };
        let hint = hints.get(var.0 as usize).map_or("x", String::as_str);
        let mut name = format!("{mark}{hint}");
        let mut number = 2;
        while !taken.insert(name.to_lowercase()) {
            name = format!("{mark}{hint}_{number}");
            number += 1;
        }
        names.insert(var, name);
    }
    names
}
