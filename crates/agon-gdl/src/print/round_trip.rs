//! Reading a printed rulesheet gives the same rules: tested with random rulesheets and with public
//! ones.

use std::fs;
use std::sync::Arc;

use agon_testkit::{files, seeded};
use agon_text::{Source, Span, render};
use proptest::prelude::*;

use super::{print_kif, print_rulesheet};
use crate::read::words::is_kif_name;
use crate::read::{guess_syntax, read};
use crate::same_rules::same_rules;
use crate::symbols::Symbols;
use crate::syntax::{
    Atom, Clause, Literal, LiteralKind, Rulesheet, Syntax, Term, TermKind, Variable, VariableId,
};

fn read_again(text: &str) -> Rulesheet {
    let source = Arc::new(Source::new("printed", text));
    let (sheet, findings) = read(source.clone());
    assert!(findings.0.is_empty(), "{}\nin:\n{text}", render(&findings.0, &source, false));
    sheet
}

/// Prints in `syntax`, reads the text and compares the rules.
fn check_printed(sheet: &Rulesheet, syntax: Syntax) -> Rulesheet {
    let text = print_rulesheet(sheet, syntax);
    let again = read_again(&text);
    if !sheet.clauses.is_empty() {
        assert_eq!(again.syntax, syntax, "{text}");
    }
    assert!(same_rules(sheet, &again), "changed by printing:\n{text}");
    assert_eq!(
        print_rulesheet(&again, syntax),
        text,
        "printing what was printed changes nothing more"
    );
    again
}

/// Names that have a meaning of their own in some places.
const KEYWORDS: [&str; 9] =
    ["role", "true", "does", "next", "random", "not", "or", "and", "distinct"];

/// Generates names that both readers accept: words of KIF.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z][a-z0-9_]{0,3}",
        1 => "-?[0-9]{1,3}(\\.[0-9])?",
        1 => "[A-Z_][a-zA-Z0-9-]{0,3}",
        1 => "[a-z0-9+<>=:.,&~'\"|\\\\%/#_!-]{1,4}".prop_filter("a name", |s| is_kif_name(s)),
        1 => "\"[a-zA-Z ();'|\\\\]{0,4}\"",
        1 => "\\|[a-zA-Z ();'\"\\\\]{0,4}\\|",
        1 => prop::sample::select(KEYWORDS.to_vec()).prop_map(str::to_owned),
        1 => "[^\\s();?\"|\u{feff}]{1,3}".prop_filter("a name", |s| is_kif_name(s)),
    ]
}

fn variable_name() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-c]?[A-C]?", 2 => "[a-zA-Z0-9_+*.'-]{0,4}", 1 => "[^\\s();]{0,2}"]
}

/// A rulesheet before its names and variables are numbered.
#[derive(Clone, Debug)]
enum Draft {
    Variable(String),
    Application(String, Vec<Draft>),
}

#[derive(Clone, Debug)]
enum DraftLiteral {
    Atom(String, Vec<Draft>),
    Not(Box<DraftLiteral>),
    And(Vec<DraftLiteral>),
    Or(Vec<DraftLiteral>),
    Distinct(Draft, Draft),
}

fn draft_term() -> impl Strategy<Value = Draft> {
    let leaf = prop_oneof![
        variable_name().prop_map(Draft::Variable),
        name().prop_map(|name| Draft::Application(name, Vec::new())),
    ];
    leaf.prop_recursive(6, 16, 3, |inner| {
        (name(), prop::collection::vec(inner, 1..4))
            .prop_map(|(name, parts)| Draft::Application(name, parts))
    })
}

/// Generates names of relations, without the words for conditions.
fn relation() -> impl Strategy<Value = String> {
    name().prop_filter("a relation", |name| {
        !["not", "or", "and", "distinct"].contains(&name.to_lowercase().as_str())
    })
}

fn draft_literal() -> impl Strategy<Value = DraftLiteral> {
    let leaf = prop_oneof![
        4 => (relation(), prop::collection::vec(draft_term(), 0..4))
            .prop_map(|(r, a)| DraftLiteral::Atom(r, a)),
        1 => (draft_term(), draft_term()).prop_map(|(a, b)| DraftLiteral::Distinct(a, b)),
    ];
    leaf.prop_recursive(8, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| DraftLiteral::Not(Box::new(inner))),
            prop::collection::vec(inner.clone(), 0..4).prop_map(DraftLiteral::And),
            prop::collection::vec(inner, 0..4).prop_map(DraftLiteral::Or),
        ]
    })
}

fn rulesheets() -> impl Strategy<Value = Rulesheet> {
    let head = (relation(), prop::collection::vec(draft_term(), 0..4));
    let clause = (head, prop::option::of(prop::collection::vec(draft_literal(), 0..5)));
    prop::collection::vec(clause, 0..6).prop_map(|clauses| {
        let mut symbols = Symbols::default();
        let clauses = clauses
            .into_iter()
            .map(|((relation, arguments), body)| {
                let mut draft = Numbering { symbols: &mut symbols, variables: Vec::new() };
                let head = draft.atom(&relation, &arguments);
                let is_rule = body.is_some();
                let body = body.iter().flatten().map(|literal| draft.literal(literal)).collect();
                Clause { head, body, is_rule, variables: draft.variables, span: Span::default() }
            })
            .collect();
        Rulesheet {
            source: Arc::new(Source::new("random", "")),
            syntax: Syntax::Kif,
            clauses,
            partial: Vec::new(),
            symbols,
        }
    })
}

struct Numbering<'a> {
    symbols: &'a mut Symbols,
    variables: Vec<Variable>,
}

impl Numbering<'_> {
    fn literal(&mut self, literal: &DraftLiteral) -> Literal {
        let kind = match literal {
            DraftLiteral::Atom(relation, arguments) => {
                LiteralKind::Atom(self.atom(relation, arguments))
            }
            DraftLiteral::Not(inner) => LiteralKind::Not(Box::new(self.literal(inner))),
            DraftLiteral::And(parts) => {
                LiteralKind::And(parts.iter().map(|p| self.literal(p)).collect())
            }
            DraftLiteral::Or(parts) => {
                LiteralKind::Or(parts.iter().map(|p| self.literal(p)).collect())
            }
            DraftLiteral::Distinct(a, b) => LiteralKind::Distinct(vec![self.term(a), self.term(b)]),
        };
        Literal { kind, span: Span::default() }
    }

    fn atom(&mut self, relation: &str, arguments: &[Draft]) -> Atom {
        let arguments = arguments.iter().map(|a| self.term(a)).collect();
        let span = Span::default();
        Atom { relation: self.symbols.intern(relation), arguments, span, name_span: span }
    }

    fn term(&mut self, term: &Draft) -> Term {
        let kind = match term {
            Draft::Variable(name) => {
                let known = self
                    .variables
                    .iter()
                    .position(|v| v.name.to_lowercase() == name.to_lowercase());
                let index = known.unwrap_or_else(|| {
                    self.variables.push(Variable { name: name.clone(), span: Span::default() });
                    self.variables.len() - 1
                });
                TermKind::Variable(VariableId(u32::try_from(index).expect("few variables")))
            }
            Draft::Application(name, parts) if parts.is_empty() => {
                TermKind::Constant(self.symbols.intern(name))
            }
            Draft::Application(name, parts) => TermKind::Function(
                self.symbols.intern(name),
                parts.iter().map(|p| self.term(p)).collect(),
            ),
        };
        Term { kind, span: Span::default(), name_span: Span::default() }
    }
}

proptest! {
    #![proptest_config(seeded(1000))]

    #[test]
    fn both_syntaxes_preserve_random_rulesheets(sheet in rulesheets()) {
        check_printed(&sheet, Syntax::Kif);
        let infix = check_printed(&sheet, Syntax::Infix);
        let kif = check_printed(&infix, Syntax::Kif);
        prop_assert!(same_rules(&sheet, &kif));
    }
}

#[test]
fn both_syntaxes_preserve_shared_rulesheets() {
    let folder = files::repository().join("../shared/games");
    let paths = files::with_extension(&folder, &["kif"]);
    if paths.is_empty() {
        println!("skipped: there is no ../shared/games beside this checkout");
    }
    let mut n_unreadable = 0;
    for path in &paths {
        let bytes = fs::read(path).expect("the file was just listed");
        let source = Arc::new(Source::from_bytes(path.display().to_string(), &bytes));
        assert_eq!(guess_syntax(source.text()), Syntax::Kif, "{}", source.name());
        let (sheet, findings) = read(source.clone());
        if !findings.0.is_empty() {
            println!("{}", render(&findings.0, &source, false));
            n_unreadable += 1;
            continue;
        }
        let again = read_again(&print_kif(&sheet));
        assert!(same_rules(&sheet, &again), "{}: KIF to KIF", source.name());
        let infix = read_again(&print_rulesheet(&sheet, Syntax::Infix));
        assert_eq!(infix.syntax, Syntax::Infix, "{}", source.name());
        assert!(same_rules(&sheet, &infix), "{}: KIF to infix", source.name());
        let kif = read_again(&print_kif(&infix));
        assert!(same_rules(&sheet, &kif), "{}: KIF to infix to KIF", source.name());
    }
    println!("{} rulesheets read, printed and read again", paths.len());
    assert_eq!(n_unreadable, 0, "rulesheets with findings, listed above");
}
