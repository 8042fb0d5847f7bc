//! Which fluents of the goals are places to be reached, and from where: the distance to a fixed fluent.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;
use agon_gdl::rules::RuleTerm;

use super::conditions::known_arguments;
use super::{DomainKind, Evolution, FuzzyOptions, Node, NodeId, Pattern, Towards, Tree};
use crate::theory::{RelationId, Theory, fluent_of};

/// The nodes of fluents and patterns whose value is a distance, by the paper's rules for conflicts.
pub(super) fn find_towards(
    theory: &Theory,
    evolution: &mut Evolution,
    tree: &Tree,
    patterns: &[Pattern],
    goals: &[Vec<(i64, NodeId)>],
    options: &FuzzyOptions,
) -> BTreeMap<NodeId, Towards> {
    let roots = goals.iter().flatten().map(|&(_, root)| root);
    let used: BTreeSet<NodeId> = roots.flat_map(|root| tree.below(root)).collect();
    // By form and what does not move: the fluents of the goals.
    let mut mentioned: BTreeMap<(RelationId, Vec<Option<TermId>>), BTreeSet<usize>> =
        BTreeMap::new();
    let mut candidates = Vec::new();
    let bank = theory.game.bank();
    for id in used {
        let (known, form, ground) = match tree.get(id) {
            Node::Fluent(fluent) => {
                let term = theory.fluents()[*fluent as usize];
                let known = bank.arguments(term).map(Some).collect();
                (known, (bank.symbol(term), bank.arity(term)), Some(*fluent as usize))
            }
            Node::Pattern(number) => {
                let pattern = &patterns[*number as usize];
                let fluent = fluent_of(&pattern.expression.conditions[0]);
                let Some(RuleTerm::Function(name, arguments)) = fluent else { continue };
                (known_arguments(theory, arguments), (*name, arguments.len()), None)
            }
            _ => continue,
        };
        let moving = evolution.moving(form);
        let fixed: Vec<Option<TermId>> =
            (0..form.1).map(|i| if moving.contains(&i) { None } else { known[i] }).collect();
        let is_plain_pattern =
            matches!(tree.get(id), Node::Pattern(_)) && moving.iter().all(|&i| known[i].is_none());
        if let Some(fluent) = ground {
            mentioned.entry((form, fixed.clone())).or_default().insert(fluent);
        }
        // A pattern that leaves open where something is names no place to be reached.
        if !is_plain_pattern && !moving.is_empty() {
            candidates.push((id, form, known, fixed, moving));
        }
    }
    let mut found = BTreeMap::new();
    for (id, form, known, fixed, moving) in candidates {
        let of_kind: Vec<(usize, &[TermId])> = theory
            .of_form(form)
            .filter(|(_, values)| {
                fixed.iter().zip(*values).all(|(known, v)| known.is_none_or(|k| k == *v))
            })
            .collect();
        // Connect Four: where most such fluents stand in the goal, none of them is a distant place to be reached. Pawn
        // Whopping: this does not concern those with a free argument.
        let n_mentioned = mentioned.get(&(form, fixed.clone())).map_or(0, BTreeSet::len);
        if matches!(tree.get(id), Node::Fluent(_)) && 2 * n_mentioned > of_kind.len() {
            continue;
        }
        let mut arguments = Vec::new();
        for &argument in &moving {
            let Some(target) = known[argument] else { continue };
            let Some(domain) = evolution.domain(theory, form, &fixed, argument) else { continue };
            let is_wanted = match domain.kind {
                DomainKind::Natural => options.features.natural,
                DomainKind::Graph => options.features.graph,
            };
            if is_wanted {
                arguments.push((argument, target, domain));
            }
        }
        if arguments.is_empty() {
            continue;
        }
        let mut rules: Vec<usize> = arguments
            .iter()
            .flat_map(|(argument, _, _)| evolution.rules(form, *argument))
            .collect();
        rules.sort_unstable();
        rules.dedup();
        let is_only_moved = evolution.is_only_moved(form);
        let mut towards = Towards { arguments, fluents: Vec::new(), rules, is_only_moved };
        let floor = (!is_only_moved).then_some(1.0);
        towards.fluents = of_kind
            .iter()
            .map(|&(fluent, values)| (fluent, towards.distance(values).or(floor)))
            .collect();
        found.insert(id, towards);
    }
    found
}
