//! Whether recursion ends: a rule must not build ever larger terms out of its own results.
//!
//! Arguments of relations get ranks. The rank of an argument bounds the depth of its terms. A rule
//! that puts a variable deeper into its head than into all of its positive conditions raises the
//! rank of the head's argument above theirs. If ranks exist, the relations are finite
//! ("argument-restricted" programs: Lierler and Lifschitz, "One more decidable class of finitely
//! ground programs", 2009). If not, there is a cycle of rules that grows terms. It may still end
//! for other reasons, so only the hopeless cases are errors.

use std::collections::BTreeMap;

use agon_datalog::Symbol;
use agon_text::{Diagnostic, Diagnostics, Severity};

use super::graph::components;
use super::head_index::HeadIndex;
use super::safety::{self, Demands};
use super::unify::may_be_same;
use super::view::View;
use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};
use crate::symbols::keyword;

/// Maximum number of pairs of conditions and heads that are compared. Beyond it, names alone
/// decide.
const MAX_COMPARISONS: usize = 500_000;

/// Maximum number of growing rules that are tested one by one, if they do not pass together.
const MAX_SINGLE: usize = 16;

/// Maximum number of rank updates. Beyond it, recursion is left to the budgets of the interpreter.
const MAX_STEPS: usize = 1_000_000;

pub(super) fn check(view: &View<'_>, demands: &Demands, findings: &mut Diagnostics) {
    let arguments = Arguments::new(view);
    let ranks = arguments.ranks(view);
    let mut growing: Vec<(&Rule, usize)> = Vec::new();
    for (rule, recursive) in recursive_rules(view) {
        match grows(rule, &arguments, &ranks, &recursive) {
            Some(position) => growing.push((rule, position)),
            None => restriction(view, rule, &recursive, findings),
        }
    }
    let wanted: Vec<(&RuleAtom, usize)> =
        growing.iter().map(|(rule, position)| (&rule.head, *position)).collect();
    let can_demand_all = safety::can_demand(view, demands, &wanted);
    for (rule, position) in growing {
        let is_given = can_demand_all
            || (wanted.len() <= MAX_SINGLE
                && safety::can_demand(view, demands, &[(&rule.head, position)]));
        let severity = match is_given || may_stop(rule) {
            true => Severity::Warning,
            false => Severity::Error,
        };
        findings.push(report_growth(view, rule, position, severity));
    }
}

/// Returns the rules that lead back to themselves, each with the positive conditions by which they
/// do. Decides by the names of relations first and then, among those, by whether conditions and
/// heads unify.
fn recursive_rules<'a>(view: &View<'a>) -> Vec<(&'a Rule, Vec<&'a RuleAtom>)> {
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); view.sheet.symbols.len()];
    for rule in view.rules {
        successors[rule.head.relation.index()]
            .extend(positive(rule).map(|atom| atom.relation.index()));
    }
    let component = components(&successors);
    let same_component = |rule: &Rule, atom: &RuleAtom| {
        component[rule.head.relation.index()] == component[atom.relation.index()]
    };
    let mut rules: Vec<(&Rule, Vec<&RuleAtom>)> = Vec::new();
    for rule in view.rules {
        let recursive: Vec<&RuleAtom> =
            positive(rule).filter(|atom| same_component(rule, atom)).collect();
        if !recursive.is_empty() {
            rules.push((rule, recursive));
        }
    }
    let heads = HeadIndex::new(rules.iter().map(|(rule, _)| &rule.head));
    let mut budget = MAX_COMPARISONS;
    let mut targets: Vec<Vec<Vec<usize>>> = Vec::with_capacity(rules.len());
    for (_, recursive) in &rules {
        let mut of_rule = Vec::new();
        for atom in recursive {
            let mut candidates = heads.candidates(atom);
            let Some(left) = budget.checked_sub(candidates.len()) else { return rules };
            budget = left;
            candidates.retain(|&other| may_be_same(atom, &rules[other].0.head));
            of_rule.push(candidates);
        }
        targets.push(of_rule);
    }
    let component = components(&targets.iter().map(|of_rule| of_rule.concat()).collect::<Vec<_>>());
    for (index, (_, recursive)) in rules.iter_mut().enumerate() {
        let mut leads_back =
            targets[index].iter().map(|to| to.iter().any(|&t| component[t] == component[index]));
        recursive.retain(|_| leads_back.next() == Some(true));
    }
    rules.retain(|(_, recursive)| !recursive.is_empty());
    rules
}

fn positive(rule: &Rule) -> impl Iterator<Item = &RuleAtom> {
    rule.body.iter().filter_map(|condition| match condition {
        Condition::Holds(atom) => Some(atom),
        Condition::Fails(_) | Condition::Differ(..) => None,
    })
}

/// A numbering of the arguments of the relations that rules define.
struct Arguments {
    first: BTreeMap<(Symbol, usize), usize>,
    n_arguments: usize,
}

/// The ranks by argument. `None` means that the argument has no rank.
type Ranks = Vec<Option<u32>>;

impl Arguments {
    fn new(view: &View<'_>) -> Arguments {
        let mut arguments = Arguments { first: BTreeMap::new(), n_arguments: 0 };
        for rule in view.rules {
            let arity = rule.head.arguments.len();
            let n_arguments = &mut arguments.n_arguments;
            arguments.first.entry((rule.head.relation, arity)).or_insert_with(|| {
                *n_arguments += arity;
                *n_arguments - arity
            });
        }
        arguments
    }

    /// Returns the number of an argument. `None` for the state and the moves, whose terms are
    /// given.
    fn number(&self, atom: &RuleAtom, position: usize) -> Option<usize> {
        if [keyword::TRUE, keyword::DOES].contains(&atom.relation) {
            return None;
        }
        self.first.get(&(atom.relation, atom.arguments.len())).map(|first| first + position)
    }

    /// Computes the least ranks. Arguments without a rank have `None`.
    fn ranks(&self, view: &View<'_>) -> Ranks {
        let mut ranks: Ranks = vec![Some(0); self.n_arguments];
        // No rank needs to exceed the sum of the depths of all heads. A higher one went round a
        // cycle.
        let deepest = |rule: &Rule| rule.head.arguments.iter().map(depth).max().unwrap_or(0);
        let recursive: Vec<&Rule> =
            view.rules.iter().filter(|rule| positive(rule).next().is_some()).collect();
        let limit: u32 = recursive.iter().map(|rule| deepest(rule)).sum();
        if limit == 0 {
            return ranks;
        }
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); self.n_arguments];
        for (index, rule) in recursive.iter().enumerate() {
            for atom in positive(rule) {
                let numbers =
                    (0..atom.arguments.len()).filter_map(|position| self.number(atom, position));
                numbers.for_each(|number| readers[number].push(index));
            }
        }
        let mut open: Vec<usize> = (0..recursive.len()).rev().collect();
        let mut is_open = vec![true; recursive.len()];
        let mut n_steps = 0;
        while let Some(index) = open.pop() {
            n_steps += 1;
            if n_steps > MAX_STEPS {
                return vec![Some(0); self.n_arguments];
            }
            is_open[index] = false;
            let rule = recursive[index];
            for (position, term) in rule.head.arguments.iter().enumerate() {
                let Some(number) = self.number(&rule.head, position) else { continue };
                let wanted = self.wanted(rule, term, &ranks, limit);
                if ranks[number].is_some()
                    && wanted.is_none_or(|wanted| Some(wanted) > ranks[number])
                {
                    ranks[number] = wanted;
                    for &reader in &readers[number] {
                        if !std::mem::replace(&mut is_open[reader], true) {
                            open.push(reader);
                        }
                    }
                }
            }
        }
        ranks
    }

    /// Returns the rank that a term of the head requires.
    fn wanted(&self, rule: &Rule, term: &RuleTerm, ranks: &Ranks, limit: u32) -> Option<u32> {
        let mut wanted = Some(depth(term));
        each_depth(term, 0, &mut |variable, depth| {
            let bounds = positive(rule).flat_map(|atom| self.bounds(atom, variable, ranks));
            // A variable that no positive condition mentions has its value given.
            let bound = bounds.flatten().min();
            let has_source = positive(rule).any(|atom| mentions(atom, variable));
            let asked = match bound {
                Some(bound) => Some(bound + depth).filter(|&rank| rank <= limit),
                None if has_source => None,
                None => Some(depth),
            };
            wanted = wanted.zip(asked).map(|(a, b)| a.max(b));
        });
        wanted
    }

    /// Returns how deep the values of a variable can be by each of its occurrences in a condition.
    /// `None` means without bound.
    fn bounds(&self, atom: &RuleAtom, variable: u32, ranks: &Ranks) -> Vec<Option<u32>> {
        let mut bounds = Vec::new();
        for (position, term) in atom.arguments.iter().enumerate() {
            let rank = self.number(atom, position).map_or(Some(0), |number| ranks[number]);
            each_depth(term, 0, &mut |v, depth| {
                if v == variable {
                    bounds.push(rank.map(|rank| rank.saturating_sub(depth)));
                }
            });
        }
        bounds
    }
}

fn mentions(atom: &RuleAtom, variable: u32) -> bool {
    atom.arguments.iter().any(|term| term.mentions(variable))
}

/// Returns the depth of a term: 0 for variables and constants.
fn depth(term: &RuleTerm) -> u32 {
    match term {
        RuleTerm::Variable(_) => 0,
        RuleTerm::Function(_, arguments) => {
            arguments.iter().map(|argument| depth(argument) + 1).max().unwrap_or(0)
        }
    }
}

/// Calls `visit` on each variable with its depth.
fn each_depth(term: &RuleTerm, depth: u32, visit: &mut dyn FnMut(u32, u32)) {
    match term {
        RuleTerm::Variable(v) => visit(*v, depth),
        RuleTerm::Function(_, arguments) => {
            arguments.iter().for_each(|a| each_depth(a, depth + 1, visit));
        }
    }
}

/// Finds an argument of the head that has no rank and that this rule makes larger than its sources.
fn grows(
    rule: &Rule,
    arguments: &Arguments,
    ranks: &Ranks,
    recursive: &[&RuleAtom],
) -> Option<usize> {
    (0..rule.head.arguments.len()).find(|&position| {
        let has_rank =
            arguments.number(&rule.head, position).is_none_or(|number| ranks[number].is_some());
        let mut is_larger = false;
        each_depth(&rule.head.arguments[position], 0, &mut |variable, depth| {
            let bounds = positive(rule).flat_map(|atom| arguments.bounds(atom, variable, ranks));
            let is_free = bounds.flatten().next().is_none();
            let mut below = None;
            for term in recursive.iter().flat_map(|atom| &atom.arguments) {
                each_depth(term, 0, &mut |v, depth| {
                    if v == variable {
                        below = below.max(Some(depth));
                    }
                });
            }
            is_larger |= is_free && below.is_some_and(|below| below < depth);
        });
        !has_rank && is_larger
    })
}

/// Returns whether a negated condition or a comparison may stop the recursion.
fn may_stop(rule: &Rule) -> bool {
    rule.body.iter().any(|condition| match condition {
        Condition::Holds(_) => false,
        Condition::Fails(_) | Condition::Differ(..) => true,
    })
}

/// Reports growing recursion.
fn report_growth(view: &View<'_>, rule: &Rule, position: usize, severity: Severity) -> Diagnostic {
    let clause = view.clause(rule);
    let name = view.name(rule.head.relation);
    let mut finding = Diagnostic::error(
        "recursion-restriction",
        clause.head.arguments[position].span,
        format!("`{name}` builds larger terms out of its own results without end"),
    )
    .hint("bound the recursion by a condition on a relation that is not recursive");
    if severity == Severity::Warning {
        finding.severity = severity;
        finding.message =
            format!("`{name}` builds larger terms out of its own results, possibly without end");
    }
    finding
}

/// Reports violations of GDL's own restriction: each argument of a recursive condition is ground,
/// an argument of the head, or an argument of a positive condition that is not recursive.
fn restriction(view: &View<'_>, rule: &Rule, recursive: &[&RuleAtom], findings: &mut Diagnostics) {
    for atom in recursive {
        for term in &atom.arguments {
            let mut is_ground = true;
            term.each_variable(&mut |_| is_ground = false);
            let elsewhere =
                positive(rule).filter(|other| !recursive.iter().any(|r| std::ptr::eq(*r, *other)));
            let is_bounded = is_ground
                || rule.head.arguments.contains(term)
                || elsewhere.into_iter().any(|other| other.arguments.contains(term));
            if !is_bounded {
                findings.push(
                    Diagnostic::warning(
                        "recursion-restriction",
                        atom.span,
                        format!(
                            "`{}` recurs with an argument that nothing else limits",
                            view.name(rule.head.relation)
                        ),
                    )
                    .hint("use an argument of the head or of a condition that is not recursive"),
                );
                return;
            }
        }
    }
}
