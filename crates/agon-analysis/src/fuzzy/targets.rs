//! Fluents of the goals that are places to be reached: their value is the distance to them.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;
use agon_gdl::rules::RuleTerm;

use super::conditions::known_arguments;
use super::{
    DomainKind, Evolution, Features, FuzzyOptions, Node, NodeId, Pattern, TargetDistance, Tree,
};
use crate::theory::{RelationId, Theory, fluent_of};

/// A node that may be a place to be reached.
struct Candidate {
    id: NodeId,
    /// The form of its fluents.
    form: RelationId,
    /// The values of the arguments that are known.
    known: Vec<Option<TermId>>,
    /// The values of the known arguments that do not move.
    fixed: Vec<Option<TermId>>,
    /// The arguments that move.
    moving: Vec<usize>,
}

/// The fluents that occur in the goals, by their form and the values of the arguments that do not
/// move.
type Mentioned = BTreeMap<(RelationId, Vec<Option<TermId>>), BTreeSet<usize>>;

/// Returns the nodes of fluents and patterns whose value is a distance, by the rules for conflicts
/// of Michulke 2011.
pub(super) fn find_target_distances(
    theory: &Theory,
    evolution: &mut Evolution,
    tree: &Tree,
    patterns: &[Pattern],
    goals: &[Vec<(i64, NodeId)>],
    options: &FuzzyOptions,
) -> BTreeMap<NodeId, TargetDistance> {
    let roots = goals.iter().flatten().map(|&(_, root)| root);
    let used: BTreeSet<NodeId> = roots.flat_map(|root| tree.below(root)).collect();
    let mut mentioned = Mentioned::new();
    let mut candidates = Vec::new();
    for id in used {
        let Some(candidate) = candidate(theory, evolution, patterns, id, tree.get(id)) else {
            continue;
        };
        let is_open = match tree.get(id) {
            Node::Fluent(fluent) => {
                let key = (candidate.form, candidate.fixed.clone());
                mentioned.entry(key).or_default().insert(*fluent as usize);
                false
            }
            _ => candidate.moving.iter().all(|&i| candidate.known[i].is_none()),
        };
        // A pattern in which all moving arguments are variables does not name a place to be
        // reached.
        if !is_open && !candidate.moving.is_empty() {
            candidates.push(candidate);
        }
    }
    let mut found = BTreeMap::new();
    for candidate in candidates {
        let fluents = reaching_fluents(theory, &candidate);
        // Connect Four: if most such fluents occur in the goal, none of them is a distant place to
        // be reached. Pawn Whopping: this does not apply to fluents with a free argument.
        let key = (candidate.form, candidate.fixed.clone());
        let n_mentioned = mentioned.get(&key).map_or(0, BTreeSet::len);
        let is_fluent = matches!(tree.get(candidate.id), Node::Fluent(_));
        if is_fluent && 2 * n_mentioned > fluents.len() {
            continue;
        }
        let target = target_distance(theory, evolution, &candidate, &fluents, options.features);
        found.extend(target.map(|target| (candidate.id, target)));
    }
    found
}

/// Returns the candidate for a node. `None` if it is neither a fluent nor a pattern.
fn candidate(
    theory: &Theory,
    evolution: &Evolution,
    patterns: &[Pattern],
    id: NodeId,
    node: &Node,
) -> Option<Candidate> {
    let bank = theory.game.bank();
    let (known, form): (Vec<Option<TermId>>, RelationId) = match node {
        Node::Fluent(fluent) => {
            let term = theory.fluents()[*fluent as usize];
            (bank.arguments(term).map(Some).collect(), (bank.symbol(term), bank.arity(term)))
        }
        Node::Pattern(number) => {
            let pattern = &patterns[*number as usize];
            let fluent = fluent_of(&pattern.expression.conditions[0]);
            let Some(RuleTerm::Function(name, arguments)) = fluent else { return None };
            (known_arguments(theory, arguments), (*name, arguments.len()))
        }
        _ => return None,
    };
    let moving = evolution.moving(form);
    let fixed = (0..form.1).map(|i| if moving.contains(&i) { None } else { known[i] }).collect();
    Some(Candidate { id, form, known, fixed, moving })
}

/// Returns the fluents that agree with a candidate in the arguments that do not move.
fn reaching_fluents<'a>(theory: &'a Theory, candidate: &Candidate) -> Vec<(usize, &'a [TermId])> {
    let agrees = |values: &[TermId]| {
        candidate.fixed.iter().zip(values).all(|(known, v)| known.is_none_or(|k| k == *v))
    };
    theory.fluents_of_form(candidate.form).filter(|(_, values)| agrees(values)).collect()
}

/// Returns the distance feature of a candidate. `None` if no argument moves along a graph whose
/// feature is switched on.
fn target_distance(
    theory: &Theory,
    evolution: &mut Evolution,
    candidate: &Candidate,
    fluents: &[(usize, &[TermId])],
    features: Features,
) -> Option<TargetDistance> {
    let form = candidate.form;
    let mut arguments = Vec::new();
    for &argument in &candidate.moving {
        let Some(target) = candidate.known[argument] else { continue };
        let Some(domain) = evolution.domain(theory, form, &candidate.fixed, argument, Some(target))
        else {
            continue;
        };
        let is_wanted = match domain.kind {
            DomainKind::Natural => features.natural,
            DomainKind::Graph => features.graph,
        };
        if is_wanted {
            arguments.push((argument, target, domain));
        }
    }
    if arguments.is_empty() {
        return None;
    }
    let mut rules: Vec<usize> =
        arguments.iter().flat_map(|(argument, _, _)| evolution.rules(form, *argument)).collect();
    rules.sort_unstable();
    rules.dedup();
    let is_only_moved = evolution.is_only_moved(form);
    let mut target = TargetDistance { arguments, fluents: Vec::new(), rules, is_only_moved };
    let floor = (!is_only_moved).then_some(1.0);
    target.fluents = fluents
        .iter()
        .map(|&(fluent, values)| (fluent, target.distance(values).or(floor)))
        .collect();
    Some(target)
}
