//! Whether negation is stratified: no atom may depend on its own negation.
//!
//! The names of relations decide first, as in the definition of GDL. Real rulesheets such as `(<=
//! (goal ?r 0) (role ?r) (not (goal ?r 100)))` fail that test although they are sound. So where
//! names form a cycle, the rules are tested one by one: a condition leads only to rules whose head
//! it unifies with. If the rules still form a cycle, they are instantiated by the static relations
//! in their bodies and tested again. A cycle of ground atoms is always a cycle of rules, so rules
//! that pass are locally stratified (Przymusinski, "On the declarative semantics of deductive
//! databases and logic programs", 1988).

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::Symbol;
use agon_text::{Diagnostic, Diagnostics, Span};

use super::graph::{components, shortest_path};
use super::head_index::HeadIndex;
use super::static_relations::{Bindings, StaticRelations, ground};
use super::unify::may_be_same;
use super::view::View;
use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};

/// Maximum number of rows read and names written to instantiate the rules of one cycle.
const BUDGET: usize = 200_000;

/// Maximum number of instances of the rules of one cycle.
const MAX_INSTANCES: usize = 5_000;

/// Maximum number of pairs of conditions and heads that are compared in one cycle.
const MAX_COMPARISONS: usize = 500_000;

pub(super) fn check(view: &View<'_>, findings: &mut Diagnostics) {
    let component = by_name(view);
    let mut cycles: BTreeMap<usize, Span> = BTreeMap::new();
    for rule in view.rules {
        for condition in &rule.body {
            let own = component[rule.head.relation.index()];
            if let Condition::Fails(atom) = condition
                && component[atom.relation.index()] == own
            {
                cycles.entry(own).or_insert(atom.span);
            }
        }
    }
    for (cycle_component, place) in cycles {
        let is_inside = |relation: Symbol| component[relation.index()] == cycle_component;
        let links = view
            .rules
            .iter()
            .filter(|rule| is_inside(rule.head.relation))
            .map(|rule| Link::new(rule, &is_inside))
            .filter(|link| !link.needs.is_empty())
            .collect();
        let problem = match negative_cycle(links) {
            Verdict::Sound => None,
            Verdict::Cycle(cycle, involved) => match instantiate(view, &involved, &is_inside) {
                Some(instances) => match negative_cycle(instances) {
                    Verdict::Sound => None,
                    Verdict::Cycle(cycle, _) => Some(report(view, &cycle)),
                    Verdict::TooLarge => Some(report(view, &cycle)),
                },
                None => Some(report(view, &cycle)),
            },
            Verdict::TooLarge => Some(Diagnostic::error(
                "unstratified",
                place,
                "the negated relation depends on this rule, and there are too many rules to decide \
                     whether their arguments differ",
            )),
        };
        findings.push(problem.unwrap_or_else(|| {
            let name = view.text(place);
            Diagnostic::remark(
                "stratified-by-arguments",
                place,
                format!(
                    "`{name}` and this rule depend on each other by name, but not by arguments"
                ),
            )
            .hint("this is sound, but other systems may reject it")
        }));
    }
}

/// Returns the components of the graph of relations, indexed by the relations' symbols.
fn by_name(view: &View<'_>) -> Vec<usize> {
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); view.sheet.symbols.len()];
    for rule in view.rules {
        let used = rule.body.iter().filter_map(Condition::atom);
        successors[rule.head.relation.index()].extend(used.map(|atom| atom.relation.index()));
    }
    components(&successors)
}

/// A rule, or an instance of one, reduced to what can be part of a cycle.
#[derive(Clone)]
struct Link<'a> {
    rule: &'a Rule,
    head: RuleAtom,
    needs: Vec<Need>,
}

#[derive(Clone)]
struct Need {
    atom: RuleAtom,
    is_negated: bool,
}

impl<'a> Link<'a> {
    fn new(rule: &'a Rule, is_inside: &dyn Fn(Symbol) -> bool) -> Link<'a> {
        let mut needs = Vec::new();
        for condition in &rule.body {
            let (atom, is_negated) = match condition {
                Condition::Holds(atom) => (atom, false),
                Condition::Fails(atom) => (atom, true),
                Condition::Differ(..) => continue,
            };
            if is_inside(atom.relation) {
                needs.push(Need { atom: atom.clone(), is_negated });
            }
        }
        Link { rule, head: rule.head.clone(), needs }
    }
}

enum Verdict<'a> {
    Sound,
    /// The links of a cycle in order, each with the need that leads to the next; and all rules of
    /// its component.
    Cycle(Vec<(Link<'a>, Need)>, Vec<&'a Rule>),
    TooLarge,
}

fn negative_cycle(links: Vec<Link<'_>>) -> Verdict<'_> {
    let heads = HeadIndex::new(links.iter().map(|link| &link.head));
    let mut edges: Vec<Vec<(usize, usize)>> = Vec::with_capacity(links.len());
    let mut budget = MAX_COMPARISONS;
    for link in &links {
        let mut of_link = Vec::new();
        for (index, need) in link.needs.iter().enumerate() {
            let candidates = heads.candidates(&need.atom);
            let Some(left) = budget.checked_sub(candidates.len()) else { return Verdict::TooLarge };
            budget = left;
            let same =
                candidates.iter().filter(|&&other| may_be_same(&need.atom, &links[other].head));
            of_link.extend(same.map(|&other| (other, index)));
        }
        edges.push(of_link);
    }
    let successors: Vec<Vec<usize>> =
        edges.iter().map(|of_link| of_link.iter().map(|(other, _)| *other).collect()).collect();
    let component = components(&successors);
    for (from, of_link) in edges.iter().enumerate() {
        for &(to, index) in of_link {
            if component[from] != component[to] || !links[from].needs[index].is_negated {
                continue;
            }
            let back =
                shortest_path(&successors, to, from, |node| component[node] == component[from])
                    .expect("nodes of one component reach each other");
            let mut cycle = vec![(links[from].clone(), links[from].needs[index].clone())];
            for step in back.windows(2) {
                let need = edges[step[0]]
                    .iter()
                    .find(|(other, _)| *other == step[1])
                    .map(|(_, index)| *index);
                let need = need.expect("paths follow edges");
                cycle.push((links[step[0]].clone(), links[step[0]].needs[need].clone()));
            }
            let mut rules: Vec<&Rule> = Vec::new();
            for (node, link) in links.iter().enumerate() {
                let is_bad =
                    edges[node].iter().any(|(other, _)| component[*other] == component[node]);
                if is_bad && !rules.iter().any(|rule| std::ptr::eq(*rule, link.rule)) {
                    rules.push(link.rule);
                }
            }
            return Verdict::Cycle(cycle, rules);
        }
    }
    Verdict::Sound
}

/// Returns the instances of `rules` that agree with the static relations in their bodies. `None` if
/// they are too many.
fn instantiate<'a>(
    view: &View<'_>,
    rules: &[&'a Rule],
    is_inside: &dyn Fn(Symbol) -> bool,
) -> Option<Vec<Link<'a>>> {
    let mut wanted = BTreeSet::new();
    for atom in rules.iter().flat_map(|rule| &rule.body).filter_map(Condition::atom) {
        if !is_inside(atom.relation) {
            wanted.insert(atom.relation);
        }
    }
    let mut budget = BUDGET;
    let statics = StaticRelations::evaluate(view, &wanted, &mut budget);
    let mut instances = Vec::new();
    for rule in rules {
        let link = Link::new(rule, is_inside);
        let mut seen: BTreeSet<Vec<Vec<RuleTerm>>> = BTreeSet::new();
        let conditions: Vec<&Condition> = rule.body.iter().collect();
        let mut bindings = vec![None; rule.n_variables as usize];
        let room = MAX_INSTANCES.checked_sub(instances.len())?;
        statics.join(&conditions, &mut bindings, &mut budget, &mut |bindings| {
            if seen.len() <= room {
                let atoms =
                    std::iter::once(&link.head).chain(link.needs.iter().map(|need| &need.atom));
                seen.insert(atoms.map(|atom| substitute(&atom.arguments, bindings)).collect());
            }
        })?;
        if seen.len() > room {
            return None;
        }
        for arguments in seen {
            let mut instance = link.clone();
            let mut arguments = arguments.into_iter();
            instance.head.arguments = arguments.next()?;
            for (need, arguments) in instance.needs.iter_mut().zip(arguments) {
                need.atom.arguments = arguments;
            }
            instances.push(instance);
        }
    }
    Some(instances)
}

/// Replaces the variables that have values.
fn substitute(terms: &[RuleTerm], bindings: &Bindings) -> Vec<RuleTerm> {
    let replaced = |term: &RuleTerm| match (ground(term, bindings), term) {
        (Some(term), _) => term,
        (None, RuleTerm::Variable(v)) => RuleTerm::Variable(*v),
        (None, RuleTerm::Function(name, arguments)) => {
            RuleTerm::Function(*name, substitute(arguments, bindings))
        }
    };
    terms.iter().map(replaced).collect()
}

fn report(view: &View<'_>, cycle: &[(Link<'_>, Need)]) -> Diagnostic {
    let step = |(link, need): &(Link<'_>, Need)| {
        let clause = view.clause(link.rule);
        let not = if need.is_negated { "not " } else { "" };
        format!(
            "`{}` needs `{not}{}`",
            view.show(clause, &link.head),
            view.show(clause, &need.atom)
        )
    };
    let steps: Vec<String> = cycle.iter().map(step).collect();
    let mut finding = Diagnostic::error(
        "unstratified",
        cycle[0].1.atom.span,
        format!("cycle of negation: {}", steps.join(", ")),
    );
    for ((link, need), step) in cycle.iter().zip(steps) {
        let place = if finding.span == need.atom.span { link.head.span } else { need.atom.span };
        finding = finding.note(place, step);
    }
    finding.hint("define one of these relations without the others")
}
