//! Redundant rules: equal to another rule, or special cases of a more general one.

use std::collections::BTreeMap;

use agon_datalog::Symbol;
use agon_text::{Diagnostic, Diagnostics, Fix, Span};

use super::view::View;
use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};
use crate::syntax::Clause;

/// Maximum numbers of steps to decide whether one rule is a special case of another: for one pair,
/// and for a whole rulesheet. The problem is NP-complete, but rules are small. Pairs that exceed
/// the limit are not reported.
const MAX_STEPS: usize = 1_000;
const BUDGET: usize = 1_000_000;

pub(super) fn check(view: &View<'_>, findings: &mut Diagnostics) {
    let covers = covers(view);
    let mut of_clause: Vec<Vec<usize>> = vec![Vec::new(); view.sheet.clauses.len()];
    view.rules.iter().enumerate().for_each(|(index, rule)| of_clause[rule.clause].push(index));
    for (clause, rules) in view.sheet.clauses.iter().zip(&of_clause) {
        let covering: Option<Vec<Cover>> = rules.iter().map(|&index| covers[index]).collect();
        let Some(first) = covering.as_ref().and_then(|covering| covering.first()) else { continue };
        let all_same = covering.iter().flatten().all(|cover| cover.is_same);
        let other = view.clause(&view.rules[first.by]);
        let kind = if clause.is_rule { "rule" } else { "fact" };
        findings.push(if all_same {
            let title = format!("remove this {kind}");
            Diagnostic::warning(
                "duplicate-rule",
                clause.span,
                format!("this {kind} repeats an earlier one"),
            )
            .note(other.span, "first written here")
            .hint(title.clone())
            .fix(Fix { title, edits: vec![view.cut(line_of(view, clause))] })
        } else {
            Diagnostic::warning(
                "subsumed-rule",
                clause.head.span,
                "this rule adds nothing to a more general one",
            )
            .note(other.head.span, "this rule applies whenever the other does")
            .hint("remove it, or add the missing condition to the general rule")
        });
    }
}

/// Returns the span of the clause, extended to the whole line if nothing else is on it.
fn line_of(view: &View<'_>, clause: &Clause) -> Span {
    let text = view.sheet.source.text();
    let is_end = |c: char| c == '\n' || c == '\r';
    let start = text[..clause.span.start()].rfind(is_end).map_or(0, |at| at + 1);
    let end =
        text[clause.span.end()..].find(is_end).map_or(text.len(), |at| clause.span.end() + at);
    let is_alone = text[start..clause.span.start()].trim().is_empty()
        && text[clause.span.end()..end].trim().is_empty();
    if !is_alone {
        return clause.span;
    }
    let line_end =
        if text[end..].starts_with("\r\n") { end + 2 } else { (end + 1).min(text.len()) };
    Span::new(start, line_end)
}

/// A rule that makes another one redundant.
#[derive(Copy, Clone)]
struct Cover {
    by: usize,
    is_same: bool,
}

/// Finds for each rule a rule of another clause that derives everything it derives. Among equal
/// rules the first covers the others. So covering has no cycles, and all covered clauses can be
/// removed together.
fn covers(view: &View<'_>) -> Vec<Option<Cover>> {
    let mut covers: Vec<Option<Cover>> = vec![None; view.rules.len()];
    let mut by_form: BTreeMap<Form, usize> = BTreeMap::new();
    let mut groups: BTreeMap<(Symbol, usize), Vec<Candidate<'_>>> = BTreeMap::new();
    for (index, rule) in view.rules.iter().enumerate() {
        let first = *by_form.entry(form(rule)).or_insert(index);
        if first != index {
            if view.rules[first].clause != rule.clause {
                covers[index] = Some(Cover { by: first, is_same: true });
            }
            continue;
        }
        // A fact can only be a special case of a fact with variables. These are rare and reported
        // anyway.
        if !rule.body.is_empty() {
            let key = (rule.head.relation, rule.head.arguments.len());
            let candidate =
                Candidate { index, rule, signature: signature(rule), is_plain: is_plain(rule) };
            groups.entry(key).or_default().push(candidate);
        }
    }
    let mut budget = BUDGET;
    for group in groups.values() {
        for special in group {
            for general in group {
                let Some(left) = budget.checked_sub(1) else { return covers };
                budget = left;
                if general.index == special.index
                    || general.rule.clause == special.rule.clause
                    || !general.is_plain
                    || general.signature & !special.signature != 0
                    || !subsumes(general.rule, special.rule, &mut budget)
                {
                    continue;
                }
                let is_same = subsumes(special.rule, general.rule, &mut budget);
                if !is_same || general.index < special.index {
                    covers[special.index] = Some(Cover { by: general.index, is_same });
                    break;
                }
            }
        }
    }
    covers
}

/// A rule that may be a special case of another rule, or have special cases.
struct Candidate<'a> {
    index: usize,
    rule: &'a Rule,
    signature: u64,
    is_plain: bool,
}

/// Returns whether each variable gets its values from a positive condition or the head. A variable
/// that occurs in a negated condition alone means "for no value", which is a stronger condition
/// than the same for one value.
fn is_plain(rule: &Rule) -> bool {
    let mut bound = rule.bound_variables();
    rule.head.each_variable(&mut |v| bound[v as usize] = true);
    let mut all = true;
    rule.body
        .iter()
        .for_each(|condition| condition.each_variable(&mut |v| all &= bound[v as usize]));
    all
}

/// Returns a bit for each kind of condition. A special case has all bits of the general rule.
fn signature(rule: &Rule) -> u64 {
    rule.body.iter().fold(0, |bits, condition| {
        let number = match condition {
            Condition::Holds(atom) => 3 * atom.relation.index() + 1 + atom.arguments.len(),
            Condition::Fails(atom) => 3 * atom.relation.index() + 2 + atom.arguments.len(),
            Condition::Differ(..) => 0,
        };
        bits | 1 << (number % 64)
    })
}

/// A rule with its variables numbered by appearance. Rules that differ only in the names of their
/// variables have the same form.
type Form = (Symbol, Vec<RuleTerm>, Vec<(u8, Symbol, Vec<RuleTerm>)>);

fn form(rule: &Rule) -> Form {
    let mut numbers: Vec<Option<u32>> = vec![None; rule.n_variables as usize];
    let mut n_numbers = 0;
    let mut renumber = |terms: &[RuleTerm]| -> Vec<RuleTerm> {
        terms.iter().map(|term| renumbered(term, &mut numbers, &mut n_numbers)).collect()
    };
    let head = renumber(&rule.head.arguments);
    let body = rule.body.iter().map(|condition| match condition {
        Condition::Holds(atom) => (0, atom.relation, renumber(&atom.arguments)),
        Condition::Fails(atom) => (1, atom.relation, renumber(&atom.arguments)),
        Condition::Differ(a, b, _) => {
            (2, crate::symbols::keyword::DISTINCT, renumber(&[a.clone(), b.clone()]))
        }
    });
    let body = body.collect();
    (rule.head.relation, head, body)
}

fn renumbered(term: &RuleTerm, numbers: &mut [Option<u32>], n_numbers: &mut u32) -> RuleTerm {
    match term {
        RuleTerm::Variable(v) => {
            RuleTerm::Variable(*numbers[*v as usize].get_or_insert_with(|| {
                *n_numbers += 1;
                *n_numbers - 1
            }))
        }
        RuleTerm::Function(name, arguments) => RuleTerm::Function(
            *name,
            arguments.iter().map(|a| renumbered(a, numbers, n_numbers)).collect(),
        ),
    }
}

/// Returns whether some substitution turns the head of `general` into that of `special`, and each
/// of its conditions into one of `special`. Then `general` derives everything that `special`
/// derives (Plotkin, "A note on inductive generalization", 1970).
fn subsumes(general: &Rule, special: &Rule, budget: &mut usize) -> bool {
    let mut matching = Matching {
        bindings: vec![None; general.n_variables as usize],
        steps: MAX_STEPS.min(*budget),
        trail: Vec::new(),
    };
    let before = matching.steps;
    let answer = matching.atoms(&general.head, &special.head)
        && matching.conditions(&general.body, &special.body);
    *budget -= before - matching.steps;
    answer
}

/// The terms of the special rule that the variables of the general rule stand for.
struct Matching<'a> {
    bindings: Vec<Option<&'a RuleTerm>>,
    trail: Vec<u32>,
    steps: usize,
}

impl<'a> Matching<'a> {
    fn conditions(&mut self, general: &[Condition], special: &'a [Condition]) -> bool {
        let Some((first, rest)) = general.split_first() else { return true };
        for candidate in special {
            let Some(left) = self.steps.checked_sub(1) else { return false };
            self.steps = left;
            let mark = self.trail.len();
            let swapped = matches!(first, Condition::Differ(..));
            if self.condition(first, candidate, Order::Same) && self.conditions(rest, special) {
                return true;
            }
            self.undo(mark);
            if swapped
                && self.condition(first, candidate, Order::Swapped)
                && self.conditions(rest, special)
            {
                return true;
            }
            self.undo(mark);
        }
        false
    }

    fn condition(&mut self, general: &Condition, special: &'a Condition, order: Order) -> bool {
        match (general, special) {
            (Condition::Holds(general), Condition::Holds(special))
            | (Condition::Fails(general), Condition::Fails(special)) => {
                self.atoms(general, special)
            }
            (Condition::Differ(a, b, _), Condition::Differ(c, d, _)) => match order {
                Order::Same => self.term(a, c) && self.term(b, d),
                Order::Swapped => self.term(a, d) && self.term(b, c),
            },
            _ => false,
        }
    }

    fn atoms(&mut self, general: &RuleAtom, special: &'a RuleAtom) -> bool {
        general.relation == special.relation && self.terms(&general.arguments, &special.arguments)
    }

    fn terms(&mut self, general: &[RuleTerm], special: &'a [RuleTerm]) -> bool {
        general.len() == special.len() && general.iter().zip(special).all(|(g, s)| self.term(g, s))
    }

    fn term(&mut self, general: &RuleTerm, special: &'a RuleTerm) -> bool {
        match (general, special) {
            (RuleTerm::Variable(v), special) => match self.bindings[*v as usize] {
                Some(bound) => bound == special,
                None => {
                    self.bindings[*v as usize] = Some(special);
                    self.trail.push(*v);
                    true
                }
            },
            (RuleTerm::Function(f, general), RuleTerm::Function(g, special)) => {
                f == g && self.terms(general, special)
            }
            (RuleTerm::Function(..), RuleTerm::Variable(_)) => false,
        }
    }

    fn undo(&mut self, mark: usize) {
        for v in self.trail.drain(mark..) {
            self.bindings[v as usize] = None;
        }
    }
}

/// The order in which two comparisons are matched, because `(distinct a b)` equals `(distinct b
/// a)`.
#[derive(Copy, Clone)]
enum Order {
    Same,
    Swapped,
}
