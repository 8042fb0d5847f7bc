//! What all checks look at: the rulesheet as written, its normal form, and who defines what.

use std::cell::Cell;

use agon_datalog::Symbol;
use agon_text::{Edit, Span};

use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};
use crate::symbols::keyword;
use crate::syntax::{Atom, Clause, Literal, LiteralKind, Rulesheet, Syntax, Term, TermKind};

/// The rulesheet under examination.
pub(super) struct View<'a> {
    pub(super) sheet: &'a Rulesheet,
    /// The normal form of `sheet`.
    pub(super) rules: &'a [Rule],
    /// Whether every clause could be read, so that what is absent is really absent.
    pub(super) is_complete: bool,
    /// By the index of a symbol: the rules, facts included, that define the relation of that name.
    definitions: Vec<Vec<usize>>,
    /// By the index of a symbol: whether the relation of that name is a condition of some rule.
    is_condition: Vec<bool>,
    /// How many pairs of names may still be compared in search of what was meant.
    comparisons: Cell<usize>,
}

/// Enough for some hundred mistakes among some hundred names; a text with more of them is no rulesheet.
const MAX_COMPARISONS: usize = 50_000;

/// Longer names are not compared: the time to compare grows with the square of the length.
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

    /// The rules that define a relation.
    pub(super) fn definitions(&self, relation: Symbol) -> &[usize] {
        &self.definitions[relation.index()]
    }

    /// Whether some rule has the relation among its conditions.
    pub(super) fn is_condition(&self, relation: Symbol) -> bool {
        self.is_condition[relation.index()]
    }

    /// The clause a rule comes from.
    pub(super) fn clause(&self, rule: &Rule) -> &'a Clause {
        &self.sheet.clauses[rule.clause]
    }

    /// A name as first spelt.
    pub(super) fn name(&self, symbol: Symbol) -> &'a str {
        self.sheet.symbols.name(symbol)
    }

    /// A variable of a clause as it is first written.
    pub(super) fn variable(&self, clause: &Clause, variable: u32) -> &'a str {
        self.text(clause.variables[variable as usize].span)
    }

    /// A sentence or term in the syntax of the rulesheet: `word("p", &["a"])` is `(p a)` in KIF.
    pub(super) fn word(&self, name: &str, arguments: &[&str]) -> String {
        match (self.sheet.syntax, arguments) {
            (_, []) => name.to_owned(),
            (Syntax::Kif, _) => format!("({name} {})", arguments.join(" ")),
            (Syntax::Infix, _) => format!("{name}({})", arguments.join(", ")),
        }
    }

    /// An atom, or an instance of one, of a clause.
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

    /// What stands in the text.
    pub(super) fn text(&self, span: Span) -> &'a str {
        self.sheet.source.slice(span)
    }

    /// The edit that cuts out a piece of the text. In KIF parentheses part names as blanks do: where a name would come to
    /// touch what follows, a blank takes the place of the piece.
    pub(super) fn cut(&self, span: Span) -> Edit {
        let text = self.sheet.source.text();
        let ends_name = |c: char| !c.is_whitespace() && c != '(' && c != ')';
        let touches = self.sheet.syntax == Syntax::Kif
            && text[..span.start()].ends_with(ends_name)
            && text[span.end()..].starts_with(|c: char| !c.is_whitespace() && c != ')');
        Edit { span, replacement: if touches { " ".to_owned() } else { String::new() } }
    }

    /// Where the rulesheet ends: findings about what is nowhere to be found point there.
    pub(super) fn end(&self) -> Span {
        let all = self.sheet.source.text().trim_end().len();
        let end = self.sheet.clauses.last().map_or(all, |clause| clause.span.end());
        Span::new(end, end)
    }

    /// Where `variable` stands within `place`, a part of `clause`; `place` itself if it is not written there, as
    /// after `(not (distinct ?x ?y))` has made two variables one.
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

    /// Each atom of each clause, with the clause and what part of it the atom is.
    pub(super) fn each_atom(&self, visit: &mut dyn FnMut(&'a Clause, &'a Atom, Part)) {
        for clause in &self.sheet.clauses {
            visit(clause, &clause.head, Part::Head);
            for literal in &clause.body {
                literal.each_atom(false, &mut |atom, negated| {
                    visit(clause, atom, if negated { Part::Negated } else { Part::Body });
                });
            }
        }
    }

    /// Each name of a relation, function or constant, in the order of the text.
    pub(super) fn each_name(&self, visit: &mut dyn FnMut(Name)) {
        for clause in &self.sheet.clauses {
            atom_names(&clause.head, visit);
            for literal in &clause.body {
                each_literal(literal, &mut |part| match &part.kind {
                    LiteralKind::Atom(atom) => atom_names(atom, visit),
                    LiteralKind::Distinct(terms) => {
                        terms.iter().for_each(|term| term_names(term, visit))
                    }
                    LiteralKind::Not(_) | LiteralKind::And(_) | LiteralKind::Or(_) => {}
                });
            }
        }
    }

    /// Which of `candidates` was probably meant by `name`.
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
        let lower = name.to_lowercase();
        let mut best: Option<(usize, &'a str)> = None;
        for symbol in candidates {
            let candidate = self.name(symbol);
            if candidate.len() > MAX_COMPARED_LENGTH
                || candidate.len().abs_diff(name.len()) > tolerance
            {
                continue;
            }
            let Some(left) = self.comparisons.get().checked_sub(1) else { break };
            self.comparisons.set(left);
            let distance = strsim::osa_distance(&lower, &candidate.to_lowercase());
            // Numbers are close to each other without being mistaken for each other.
            let is_number = candidate.parse::<i64>().is_ok();
            if candidate != name
                && distance <= tolerance
                && !is_number
                && best.is_none_or(|(d, _)| distance < d)
            {
                best = Some((distance, candidate));
            }
        }
        best.map(|(_, candidate)| candidate)
    }
}

/// What part of its clause an atom is.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// What the clause says.
    Head,
    /// A condition.
    Body,
    /// A condition that must fail.
    Negated,
}

/// An occurrence of a name.
#[derive(Copy, Clone)]
pub(super) struct Name {
    pub(super) symbol: Symbol,
    pub(super) kind: NameKind,
    pub(super) n_arguments: usize,
    /// The name alone.
    pub(super) span: Span,
    /// The sentence or term it is the name of.
    pub(super) whole: Span,
}

/// What a name stands for where it occurs.
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

/// The keywords that name relations, each with what its arguments are.
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

/// What the arguments of a keyword are; `None` for all other names.
pub(super) fn parameters(relation: Symbol) -> Option<&'static [&'static str]> {
    RELATIONS.iter().find(|(symbol, _)| *symbol == relation).map(|(_, parameters)| *parameters)
}

/// "1 argument", "2 arguments".
pub(super) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
