//! The input of all checks: the rulesheet as written, its normal form, and an index of definitions.

use std::cell::Cell;

use agon_datalog::Symbol;
use agon_text::{Edit, Span, closest_name};

use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};
use crate::symbols::keyword;
use crate::syntax::{
    Atom, Clause, Literal, LiteralKind, Polarity, Rulesheet, Syntax, Term, TermKind,
};

/// The rulesheet being checked.
pub(super) struct View<'a> {
    pub(super) sheet: &'a Rulesheet,
    /// The normal form of `sheet`.
    pub(super) rules: &'a [Rule],
    /// Whether every clause could be read. Only then is an absent clause known to be absent.
    pub(super) is_complete: bool,
    /// The rules, facts included, that define a relation. Indexed by the relation's symbol.
    definitions: Vec<Vec<usize>>,
    /// Whether a relation is a condition of some rule. Indexed by the relation's symbol.
    is_condition: Vec<bool>,
    /// How many more pairs of names may be compared to suggest a spelling.
    comparisons: Cell<usize>,
}

/// Maximum number of comparisons of names. Enough for some hundred mistakes among some hundred
/// names.
const MAX_COMPARISONS: usize = 50_000;

/// Maximum length of a compared name, because the time grows with the square of the length.
const MAX_COMPARED_LENGTH: usize = 64;

impl<'a> View<'a> {
    pub(super) fn new(sheet: &'a Rulesheet, rules: &'a [Rule], is_complete: bool) -> View<'a> {
        let mut definitions = vec![Vec::new(); sheet.symbols.len()];
        let mut is_condition = vec![false; sheet.symbols.len()];
        for (index, rule) in rules.iter().enumerate() {
            definitions[rule.head.relation.index()].push(index);
            for atom in rule.body.iter().filter_map(Condition::atom) {
                is_condition[atom.relation.index()] = true;
            }
        }
        View {
            sheet,
            rules,
            is_complete,
            definitions,
            is_condition,
            comparisons: Cell::new(MAX_COMPARISONS),
        }
    }

    /// Returns the rules that define a relation.
    pub(super) fn definitions(&self, relation: Symbol) -> &[usize] {
        &self.definitions[relation.index()]
    }

    /// Returns whether some rule has the relation as a condition.
    pub(super) fn is_condition(&self, relation: Symbol) -> bool {
        self.is_condition[relation.index()]
    }

    /// Returns the clause that a rule comes from.
    pub(super) fn clause(&self, rule: &Rule) -> &'a Clause {
        &self.sheet.clauses[rule.clause]
    }

    /// Returns a name in its first spelling.
    pub(super) fn name(&self, symbol: Symbol) -> &'a str {
        self.sheet.symbols.name(symbol)
    }

    /// Returns a variable of a clause in its first spelling.
    pub(super) fn variable(&self, clause: &Clause, variable: u32) -> &'a str {
        self.text(clause.variables[variable as usize].span)
    }

    /// Writes a sentence or term in the syntax of the rulesheet: `word("p", &["a"])` is `(p a)` in
    /// KIF.
    pub(super) fn word(&self, name: &str, arguments: &[&str]) -> String {
        match (self.sheet.syntax, arguments) {
            (_, []) => name.to_owned(),
            (Syntax::Kif, _) => format!("({name} {})", arguments.join(" ")),
            (Syntax::Infix, _) => format!("{name}({})", arguments.join(", ")),
        }
    }

    /// Writes an atom of a clause, or an instance of one.
    pub(super) fn show(&self, clause: &Clause, atom: &RuleAtom) -> String {
        self.show_term(clause, &RuleTerm::Function(atom.relation, atom.arguments.clone()))
    }

    fn show_term(&self, clause: &Clause, term: &RuleTerm) -> String {
        match term {
            RuleTerm::Variable(v) => self.variable(clause, *v).to_owned(),
            RuleTerm::Function(name, arguments) => {
                let arguments: Vec<String> =
                    arguments.iter().map(|a| self.show_term(clause, a)).collect();
                self.word(
                    self.name(*name),
                    &arguments.iter().map(String::as_str).collect::<Vec<_>>(),
                )
            }
        }
    }

    /// Returns the text at a span.
    pub(super) fn text(&self, span: Span) -> &'a str {
        self.sheet.source.slice(span)
    }

    /// Returns the edit that removes a piece of the text. In KIF, parentheses separate names as
    /// blanks do. Where a name would touch the text after the piece, the edit leaves a blank.
    pub(super) fn cut(&self, span: Span) -> Edit {
        let text = self.sheet.source.text();
        let ends_name = |c: char| !c.is_whitespace() && c != '(' && c != ')';
        let touches = self.sheet.syntax == Syntax::Kif
            && text[..span.start()].ends_with(ends_name)
            && text[span.end()..].starts_with(|c: char| !c.is_whitespace() && c != ')');
        Edit { span, replacement: if touches { " ".to_owned() } else { String::new() } }
    }

    /// Returns the end of the rulesheet. Diagnostics about missing clauses point there.
    pub(super) fn end(&self) -> Span {
        let all = self.sheet.source.text().trim_end().len();
        let end = self.sheet.clauses.last().map_or(all, |clause| clause.span.end());
        Span::new(end, end)
    }

    /// Returns where `variable` occurs within `place`, a part of `clause`. Returns `place` itself
    /// if the variable is not written there, as after `(not (distinct ?x ?y))` has unified two
    /// variables.
    pub(super) fn place_of(&self, clause: &Clause, variable: u32, place: Span) -> Span {
        let mut found = None;
        clause.each_variable(&mut |v, span| {
            if v.0 == variable
                && found.is_none()
                && place.start() <= span.start()
                && span.end() <= place.end()
            {
                found = Some(span);
            }
        });
        found.unwrap_or(place)
    }

    /// Visits each atom of each clause, with the clause and the part of it that the atom is.
    pub(super) fn each_atom(&self, visit: &mut dyn FnMut(&'a Clause, &'a Atom, Part)) {
        for clause in &self.sheet.clauses {
            visit(clause, &clause.head, Part::Head);
            for literal in &clause.body {
                literal.each_atom(&mut |atom, polarity| match polarity {
                    Polarity::Positive => visit(clause, atom, Part::Body),
                    Polarity::Negative => visit(clause, atom, Part::Negated),
                });
            }
        }
    }

    /// Visits each name of a relation, function or constant, in the order of the text.
    pub(super) fn each_name(&self, visit: &mut dyn FnMut(Name)) {
        for clause in &self.sheet.clauses {
            atom_names(&clause.head, visit);
            for literal in &clause.body {
                each_literal(literal, &mut |part| match &part.kind {
                    LiteralKind::Atom(atom) => atom_names(atom, visit),
                    LiteralKind::Distinct(terms) => {
                        terms.iter().for_each(|term| term_names(term, visit));
                    }
                    LiteralKind::Not(_) | LiteralKind::And(_) | LiteralKind::Or(_) => {}
                });
            }
        }
    }

    /// Returns which of `candidates` was probably meant by `name`.
    pub(super) fn did_you_mean(
        &self,
        name: &str,
        candidates: impl Iterator<Item = Symbol>,
    ) -> Option<&'a str> {
        // A third of the letters may be wrong, and in short names one.
        let n_chars = name.chars().count();
        let tolerance = (n_chars / 3).max(1);
        if name.len() > MAX_COMPARED_LENGTH || n_chars < 2 {
            return None;
        }
        let candidates = candidates
            .map(|symbol| self.name(symbol))
            .filter(|candidate| {
                candidate.len() <= MAX_COMPARED_LENGTH
                    && candidate.len().abs_diff(name.len()) <= tolerance
            })
            .map_while(|candidate| {
                self.comparisons.set(self.comparisons.get().checked_sub(1)?);
                Some(candidate)
            })
            // Numbers are similar without being mistaken for each other.
            .filter(|candidate| *candidate != name && candidate.parse::<i64>().is_err());
        closest_name(name, candidates, tolerance)
    }
}

/// The part of its clause that an atom is.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// The head of the clause.
    Head,
    /// A positive condition.
    Body,
    /// A negated condition.
    Negated,
}

/// An occurrence of a name.
#[derive(Copy, Clone)]
pub(super) struct Name {
    pub(super) symbol: Symbol,
    pub(super) kind: NameKind,
    pub(super) n_arguments: usize,
    /// The place of the name alone.
    pub(super) span: Span,
    /// The place of the sentence or term that it names.
    pub(super) whole: Span,
}

/// The kind of thing that a name stands for where it occurs.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum NameKind {
    /// A relation.
    Relation,
    /// A function with arguments, or a constant.
    Function,
}

fn atom_names(atom: &Atom, visit: &mut dyn FnMut(Name)) {
    visit(Name {
        symbol: atom.relation,
        kind: NameKind::Relation,
        n_arguments: atom.arguments.len(),
        span: atom.name_span,
        whole: atom.span,
    });
    atom.arguments.iter().for_each(|term| term_names(term, visit));
}

fn term_names(term: &Term, visit: &mut dyn FnMut(Name)) {
    let (symbol, arguments) = match &term.kind {
        TermKind::Variable(_) => return,
        TermKind::Constant(symbol) => (*symbol, &[][..]),
        TermKind::Function(symbol, arguments) => (*symbol, arguments.as_slice()),
    };
    visit(Name {
        symbol,
        kind: NameKind::Function,
        n_arguments: arguments.len(),
        span: term.name_span,
        whole: term.span,
    });
    arguments.iter().for_each(|argument| term_names(argument, visit));
}

/// Calls `visit` on a condition and on all conditions within it.
pub(super) fn each_literal<'a>(literal: &'a Literal, visit: &mut dyn FnMut(&'a Literal)) {
    visit(literal);
    match &literal.kind {
        LiteralKind::Atom(_) | LiteralKind::Distinct(_) => {}
        LiteralKind::Not(inner) => each_literal(inner, visit),
        LiteralKind::And(parts) | LiteralKind::Or(parts) => {
            parts.iter().for_each(|part| each_literal(part, visit));
        }
    }
}

/// The keywords that name relations, each with placeholders for its arguments.
const RELATIONS: [(Symbol, &[&str]); 12] = [
    (keyword::ROLE, &["ROLE"]),
    (keyword::INIT, &["FLUENT"]),
    (keyword::TRUE, &["FLUENT"]),
    (keyword::DOES, &["ROLE", "MOVE"]),
    (keyword::NEXT, &["FLUENT"]),
    (keyword::LEGAL, &["ROLE", "MOVE"]),
    (keyword::GOAL, &["ROLE", "NUMBER"]),
    (keyword::TERMINAL, &[]),
    (keyword::BASE, &["FLUENT"]),
    (keyword::INPUT, &["ROLE", "MOVE"]),
    (keyword::SEES, &["ROLE", "PERCEPT"]),
    (keyword::PERCEPT, &["ROLE", "PERCEPT"]),
];

/// Returns placeholders for the arguments of a keyword; `None` for all other names.
pub(super) fn parameters(relation: Symbol) -> Option<&'static [&'static str]> {
    RELATIONS.iter().find(|(symbol, _)| *symbol == relation).map(|(_, parameters)| *parameters)
}

/// Formats a number with a noun: "1 argument", "2 arguments".
pub(super) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
