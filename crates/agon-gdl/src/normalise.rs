//! Clauses to rules in normal form.
//!
//! `or` is multiplied out, `not` is pushed down to atoms, and `(not (distinct a b))` unifies the
//! terms. A variable without values at the place of a role means every role, because ggp.org's
//! rulesheets rely on it (`(<= (goal ?p 100) …)`, `(<= (legal ?p noop))`).

use agon_text::{Diagnostic, Diagnostics};

use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};
use crate::symbols::keyword;
use crate::syntax::{Atom, Clause, Literal, LiteralKind, Polarity, Rulesheet, Term, TermKind};

/// Maximum number of rules that one clause is multiplied out into.
const MAX_ALTERNATIVES: usize = 4096;

/// Maximum number of rules that all clauses together are multiplied out into.
const MAX_RULES: usize = 200_000;

/// Brings all clauses into normal form. Reports the clauses for which that is not possible.
pub fn normalise(sheet: &Rulesheet) -> (Vec<Rule>, Diagnostics) {
    let mut rules = Vec::new();
    let mut findings = Diagnostics::default();
    for (index, clause) in sheet.clauses.iter().enumerate() {
        match alternatives(&clause.body) {
            Some(bodies) if rules.len() + bodies.len() <= sheet.clauses.len() + MAX_RULES => {
                let unified = bodies.into_iter().filter_map(|parts| rule(clause, index, parts));
                rules.extend(unified.map(bind_roles));
            }
            Some(_) => {
                findings.push(
                    Diagnostic::error(
                        "too-many-alternatives",
                        clause.span,
                        format!("the `or`s up to here multiply out to more than {MAX_RULES} rules"),
                    )
                    .hint("define separate relations for the alternatives"),
                );
                break;
            }
            None => findings.push(
                Diagnostic::error(
                    "too-many-alternatives",
                    clause.span,
                    format!(
                        "the `or`s of this rule multiply out to more than {MAX_ALTERNATIVES} rules"
                    ),
                )
                .hint("define a separate relation for the alternatives and use it here"),
            ),
        }
    }
    (rules, findings)
}

/// A condition on the way to normal form. `Same` comes from `(not (distinct a b))`.
#[derive(Clone)]
enum Part {
    Condition(Condition),
    Same(RuleTerm, RuleTerm),
}

/// Returns the ways to satisfy all of `literals`. `None` if there are too many.
fn alternatives(literals: &[Literal]) -> Option<Vec<Vec<Part>>> {
    product(literals.iter().map(|literal| satisfy(literal, Polarity::Positive)))
}

/// Returns the ways to make one literal hold, or fail if `wanted` is negative. `None` if there are
/// too many.
fn satisfy(literal: &Literal, wanted: Polarity) -> Option<Vec<Vec<Part>>> {
    match (&literal.kind, wanted) {
        (LiteralKind::Atom(atom), Polarity::Positive) => {
            Some(vec![vec![Part::Condition(Condition::Holds(rule_atom(atom)))]])
        }
        (LiteralKind::Atom(atom), Polarity::Negative) => {
            Some(vec![vec![Part::Condition(Condition::Fails(rule_atom(atom)))]])
        }
        (LiteralKind::Not(inner), _) => satisfy(inner, wanted.negated()),
        (LiteralKind::And(parts), Polarity::Positive)
        | (LiteralKind::Or(parts), Polarity::Negative) => {
            product(parts.iter().map(|part| satisfy(part, wanted)))
        }
        (LiteralKind::Or(parts), Polarity::Positive)
        | (LiteralKind::And(parts), Polarity::Negative) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(satisfy(part, wanted)?);
                if all.len() > MAX_ALTERNATIVES {
                    return None;
                }
            }
            Some(all)
        }
        (LiteralKind::Distinct(terms), wanted) => {
            // The readers report `distinct` with other than two terms. The first two count, as in
            // ggp-base.
            let (a, b) = (rule_term(&terms[0]), rule_term(&terms[1]));
            let part = match wanted {
                Polarity::Positive => Part::Condition(Condition::Differ(a, b, literal.span)),
                Polarity::Negative => Part::Same(a, b),
            };
            Some(vec![vec![part]])
        }
    }
}

fn product(factors: impl Iterator<Item = Option<Vec<Vec<Part>>>>) -> Option<Vec<Vec<Part>>> {
    let mut all = vec![Vec::new()];
    for factor in factors {
        let factor = factor?;
        if let [only] = factor.as_slice() {
            // The usual case is done in place, so that a long body is not copied for each of its
            // conditions.
            all.iter_mut().for_each(|left| left.extend_from_slice(only));
            continue;
        }
        if all.len() * factor.len() > MAX_ALTERNATIVES {
            return None;
        }
        all = all
            .iter()
            .flat_map(|left| {
                factor.iter().map(move |right| [left.as_slice(), right.as_slice()].concat())
            })
            .collect();
    }
    Some(all)
}

/// Builds the rule for one way to satisfy the body. `None` if that way requires two different terms
/// to be equal.
fn rule(clause: &Clause, index: usize, parts: Vec<Part>) -> Option<Rule> {
    let mut rule = Rule {
        head: rule_atom(&clause.head),
        body: Vec::new(),
        n_variables: u32::try_from(clause.variables.len())
            .expect("a clause has fewer than 2^32 variables"),
        clause: index,
    };
    let mut equations = Vec::new();
    for part in parts {
        match part {
            Part::Condition(condition) => rule.body.push(condition),
            Part::Same(a, b) => equations.push((a, b)),
        }
    }
    while let Some((a, b)) = equations.pop() {
        match (a, b) {
            (RuleTerm::Variable(v), other) | (other, RuleTerm::Variable(v)) => {
                if other == RuleTerm::Variable(v) {
                    continue;
                }
                if other.mentions(v) {
                    return None;
                }
                rule.replace(v, &other);
                for (left, right) in &mut equations {
                    *left = left.replace(v, &other);
                    *right = right.replace(v, &other);
                }
            }
            (RuleTerm::Function(f, left), RuleTerm::Function(g, right)) => {
                if f != g || left.len() != right.len() {
                    return None;
                }
                equations.extend(left.into_iter().zip(right));
            }
        }
    }
    Some(rule)
}

/// Adds `(role ?p)` where nothing else binds the variable at the place of a role.
fn bind_roles(mut rule: Rule) -> Rule {
    if ![keyword::LEGAL, keyword::GOAL, keyword::INPUT, keyword::SEES].contains(&rule.head.relation)
    {
        return rule;
    }
    if let Some(RuleTerm::Variable(v)) = rule.head.arguments.first()
        && !rule.bound_variables()[*v as usize]
    {
        let atom = RuleAtom {
            relation: keyword::ROLE,
            arguments: vec![RuleTerm::Variable(*v)],
            span: rule.head.span,
        };
        rule.body.insert(0, Condition::Holds(atom));
    }
    rule
}

fn rule_atom(atom: &Atom) -> RuleAtom {
    RuleAtom {
        relation: atom.relation,
        arguments: atom.arguments.iter().map(rule_term).collect(),
        span: atom.span,
    }
}

fn rule_term(term: &Term) -> RuleTerm {
    match &term.kind {
        TermKind::Variable(v) => RuleTerm::Variable(v.0),
        TermKind::Constant(symbol) => RuleTerm::constant(*symbol),
        TermKind::Function(symbol, arguments) => {
            RuleTerm::Function(*symbol, arguments.iter().map(rule_term).collect())
        }
    }
}
