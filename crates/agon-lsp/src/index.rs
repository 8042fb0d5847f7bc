//! Names and the places where they are written.

use agon_datalog::Symbol;
use agon_gdl::symbols::{Symbols, keyword};
use agon_gdl::syntax::{
    Atom, Literal, LiteralKind, Rulesheet, Term, TermKind, Variable, VariableId,
};
use agon_text::Span;
use agon_toss::syntax::{GameSheet, NameKind};

/// What a name stands for.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Class {
    /// A keyword of GDL that is a relation.
    Keyword,
    /// A relation of GDL.
    Relation,
    /// A constant or function of GDL.
    Term,
    /// A variable of a clause of GDL.
    Variable,
    /// A name of a structure rewriting game.
    Toss(NameKind),
}

/// What two mentions must share to be the same thing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Key {
    pub(crate) class: Class,
    /// The name. In GDL, where case does not matter, in its first spelling.
    pub(crate) name: String,
    /// The clause or section, for names that are known only there.
    pub(crate) scope: Option<usize>,
}

/// A name where it is written.
#[derive(Clone, Debug)]
pub(crate) struct Mention {
    pub(crate) key: Key,
    /// The place of the name.
    pub(crate) span: Span,
    /// The place of the sentence or term that it names.
    pub(crate) whole: Span,
    pub(crate) arity: usize,
    /// Whether the thing is defined here: a head, a term in a head, the first place of a variable.
    pub(crate) is_definition: bool,
    /// The clause of GDL, as an index into the rulesheet, if it could be read as a whole.
    pub(crate) clause: Option<usize>,
    /// The symbol of GDL, except of variables.
    pub(crate) symbol: Option<Symbol>,
    /// The number of a variable in its clause.
    pub(crate) variable: Option<u32>,
}

/// All mentions of a text, sorted by place.
#[derive(Default)]
pub(crate) struct Index {
    pub(crate) mentions: Vec<Mention>,
}

impl Index {
    /// Indexes a rulesheet, including clauses that could be read only in part.
    pub(crate) fn gdl(sheet: &Rulesheet) -> Index {
        let mut mentions = Vec::new();
        for (number, clause) in sheet.clauses.iter().enumerate() {
            let mut walk = Walk::new(&sheet.symbols, &clause.variables, clause.span.start());
            walk.clause = Some(number);
            walk.head(&clause.head);
            clause.body.iter().for_each(|literal| walk.literal(literal));
            mentions.append(&mut walk.mentions);
        }
        for clause in &sheet.partial {
            let mut walk = Walk::new(&sheet.symbols, &clause.variables, clause.span.start());
            clause.head.iter().for_each(|head| walk.head(head));
            clause.body.iter().for_each(|literal| walk.literal(literal));
            mentions.append(&mut walk.mentions);
        }
        Index::new(mentions)
    }

    /// Indexes a structure rewriting game.
    pub(crate) fn toss(sheet: &GameSheet) -> Index {
        let arity_at = |span: Span| {
            // The number of arguments is that of the commas in the parentheses after the name.
            let rest = sheet.source.text()[span.end()..].trim_start();
            let inner = rest.strip_prefix('(').and_then(|rest| rest.split(')').next());
            inner.map_or(0, |inner| {
                if inner.trim().is_empty() { 0 } else { inner.matches(',').count() + 1 }
            })
        };
        let is_label = |name: &str| {
            sheet.mentions.iter().any(|mention| {
                mention.kind == NameKind::Label
                    && mention.is_definition
                    && mention.name.text == name
            })
        };
        let mentions = sheet.mentions.iter().map(|mention| {
            let kind = match mention.kind {
                // Edges for tuples of moves name labels, or else rules.
                NameKind::Label if !is_label(&mention.name.text) => NameKind::Rule,
                kind => kind,
            };
            let is_local =
                matches!(kind, NameKind::Variable | NameKind::Number | NameKind::Parameter);
            Mention {
                key: Key {
                    class: Class::Toss(kind),
                    name: mention.name.text.clone(),
                    scope: is_local.then_some(mention.section),
                },
                span: mention.name.span,
                whole: mention.name.span,
                arity: if kind == NameKind::Relation { arity_at(mention.name.span) } else { 0 },
                is_definition: mention.is_definition,
                clause: None,
                symbol: None,
                variable: None,
            }
        });
        Index::new(mentions.collect())
    }

    fn new(mut mentions: Vec<Mention>) -> Index {
        mentions.sort_by_key(|mention| mention.span);
        Index { mentions }
    }

    /// Returns the mention that contains a byte, or ends there.
    pub(crate) fn at(&self, byte: usize) -> Option<&Mention> {
        let after = self.mentions.partition_point(|mention| mention.span.start() <= byte);
        let near = &self.mentions[after.saturating_sub(2)..after];
        near.iter().rev().find(|mention| byte <= mention.span.end())
    }

    /// Returns all mentions of one thing, in order.
    pub(crate) fn all<'a>(&'a self, key: &'a Key) -> impl Iterator<Item = &'a Mention> {
        self.mentions.iter().filter(move |mention| mention.key == *key)
    }

    /// Returns the mentions that define a thing. If none does, the first mention.
    pub(crate) fn definitions<'a>(&'a self, key: &'a Key) -> Vec<&'a Mention> {
        let defined: Vec<&Mention> = self.all(key).filter(|m| m.is_definition).collect();
        if defined.is_empty() { self.all(key).take(1).collect() } else { defined }
    }
}

/// Collects the mentions of one clause.
struct Walk<'a> {
    symbols: &'a Symbols,
    variables: &'a [Variable],
    scope: usize,
    clause: Option<usize>,
    is_head: bool,
    mentions: Vec<Mention>,
}

impl<'a> Walk<'a> {
    fn new(symbols: &'a Symbols, variables: &'a [Variable], scope: usize) -> Walk<'a> {
        Walk { symbols, variables, scope, clause: None, is_head: false, mentions: Vec::new() }
    }

    fn head(&mut self, head: &Atom) {
        self.is_head = true;
        self.atom(head);
        self.is_head = false;
    }

    fn literal(&mut self, literal: &Literal) {
        match &literal.kind {
            LiteralKind::Atom(atom) => self.atom(atom),
            LiteralKind::Not(inner) => self.literal(inner),
            LiteralKind::And(parts) | LiteralKind::Or(parts) => {
                parts.iter().for_each(|part| self.literal(part));
            }
            LiteralKind::Distinct(terms) => terms.iter().for_each(|term| self.term(term)),
        }
    }

    fn atom(&mut self, atom: &Atom) {
        let is_keyword =
            atom.relation.index() <= keyword::RANDOM.index() && atom.relation != keyword::RANDOM;
        let class = if is_keyword { Class::Keyword } else { Class::Relation };
        self.name(class, atom.relation, atom.arguments.len(), atom.name_span, atom.span);
        atom.arguments.iter().for_each(|term| self.term(term));
    }

    fn term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Variable(id) => self.variable(*id, term.span),
            TermKind::Constant(symbol) => {
                self.name(Class::Term, *symbol, 0, term.name_span, term.span);
            }
            TermKind::Function(symbol, arguments) => {
                self.name(Class::Term, *symbol, arguments.len(), term.name_span, term.span);
                arguments.iter().for_each(|argument| self.term(argument));
            }
        }
    }

    fn name(&mut self, class: Class, symbol: Symbol, arity: usize, span: Span, whole: Span) {
        let key = Key { class, name: self.symbols.name(symbol).to_owned(), scope: None };
        self.mentions.push(Mention {
            key,
            span,
            whole,
            arity,
            is_definition: self.is_head,
            clause: self.clause,
            symbol: Some(symbol),
            variable: None,
        });
    }

    fn variable(&mut self, id: VariableId, span: Span) {
        let variable = &self.variables[id.0 as usize];
        let key =
            Key { class: Class::Variable, name: variable.name.clone(), scope: Some(self.scope) };
        self.mentions.push(Mention {
            key,
            span,
            whole: span,
            arity: 0,
            is_definition: variable.span == span,
            clause: self.clause,
            symbol: None,
            variable: Some(id.0),
        });
    }
}
