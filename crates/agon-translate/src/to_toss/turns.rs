//! Turns as locations.
//!
//! If a control fluent such as `(control ?player)` determines the roles that have a choice, each of
//! its values becomes a location. The other roles wait there with a fixed move, which is `noop` in
//! the translation. Otherwise there is one location, where all roles that ever have a choice act
//! simultaneously.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;

use super::domain::{Domain, Functor};
use super::sampling::Sample;

/// A location.
#[derive(Clone, Debug)]
pub(super) struct Location {
    pub(super) name: String,
    /// Predicate of the control fluent that holds here.
    pub(super) token: Option<usize>,
    /// Roles that act here, in order. At least one.
    pub(super) active: Vec<usize>,
}

/// The locations of a game.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    pub(super) locations: Vec<Location>,
    /// Predicates of the control fluent.
    pub(super) tokens: BTreeSet<usize>,
    /// For each role: its move while it waits.
    pub(super) waiting: Vec<Option<TermId>>,
    pub(super) start: usize,
}

/// Finds the control fluent that leaves the fewest roles with a choice.
pub(super) fn turns(domain: &Domain) -> Turns {
    let n_roles = domain.moves.len();
    let waiting: Vec<Option<TermId>> =
        (0..n_roles).map(|role| waiting_move(domain, role)).collect();
    let active = |sample: &Sample| -> BTreeSet<usize> {
        let waits = |role: usize| match sample.legal[role].as_slice() {
            [only] => Some(*only) == waiting[role],
            _ => false,
        };
        (0..n_roles).filter(|&role| !waits(role)).collect()
    };
    let playing: Vec<&Sample> =
        domain.samples.iter().filter(|sample| !sample.is_terminal).collect();
    let all_active: BTreeSet<usize> = playing.iter().flat_map(|sample| active(sample)).collect();
    let all_active = if all_active.is_empty() { BTreeSet::from([0]) } else { all_active };
    let mut best: Option<(usize, Functor, BTreeMap<usize, BTreeSet<usize>>)> = None;
    let cost = |groups: &BTreeMap<usize, BTreeSet<usize>>| {
        groups.values().map(|roles| roles.len().max(1)).sum::<usize>()
    };
    for &functor in domain.state.keys() {
        let Some(groups) = by_place(domain, functor, &playing, &active) else { continue };
        // A control fluent is useful only if it removes the choice of some role.
        if groups.values().all(|roles| roles.len() >= all_active.len()) {
            continue;
        }
        let cost = cost(&groups) * 100 / groups.len();
        if best
            .as_ref()
            .is_none_or(|(least, _, known)| (cost, groups.len()) < (*least, known.len()))
        {
            best = Some((cost, functor, groups));
        }
    }
    let Some((_, functor, groups)) = best else {
        let name = "0".to_owned();
        let locations =
            vec![Location { name, token: None, active: all_active.into_iter().collect() }];
        return Turns { locations, tokens: BTreeSet::new(), waiting, start: 0 };
    };
    let tokens: BTreeSet<usize> = (0..domain.predicates.len())
        .filter(|&predicate| domain.predicates[predicate].functor == functor)
        .collect();
    let locations: Vec<Location> = tokens
        .iter()
        .enumerate()
        .map(|(index, &token)| {
            // At locations that no play visited, any role may have a choice.
            let mut roles = groups.get(&token).cloned().unwrap_or_else(|| all_active.clone());
            if roles.is_empty() {
                roles.insert(0);
            }
            Location {
                name: index.to_string(),
                token: Some(token),
                active: roles.into_iter().collect(),
            }
        })
        .collect();
    let initial = domain.game.initial_fluents().iter().filter_map(|&term| domain.place(term));
    let held: BTreeSet<usize> = initial.map(|(predicate, _)| predicate).collect();
    let start = locations.iter().position(|l| l.token.is_some_and(|token| held.contains(&token)));
    Turns { locations, tokens, waiting, start: start.unwrap_or(0) }
}

/// Returns the constant that is most often the only legal move of a role.
fn waiting_move(domain: &Domain, role: usize) -> Option<TermId> {
    let mut counts: BTreeMap<TermId, usize> = BTreeMap::new();
    for sample in &domain.samples {
        if let [only] = sample.legal[role].as_slice()
            && domain.bank.arity(*only) == 0
        {
            *counts.entry(*only).or_default() += 1;
        }
    }
    counts.into_iter().max_by_key(|&(_, count)| count).map(|(term, _)| term)
}

/// Returns the active roles for each value of the functor, if exactly one of its terms holds in
/// each state and has no coordinates.
fn by_place(
    domain: &Domain,
    functor: Functor,
    samples: &[&Sample],
    active: &dyn Fn(&Sample) -> BTreeSet<usize>,
) -> Option<BTreeMap<usize, BTreeSet<usize>>> {
    if domain.state[&functor].named.iter().any(|named| !named) || functor.1 == 0 {
        return None;
    }
    let mut groups: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for sample in samples {
        let mut of_functor =
            sample.fluents.iter().filter(|&&term| domain.bank.has_form(term, functor.0, functor.1));
        let (first, second) = (of_functor.next(), of_functor.next());
        let (Some(&only), None) = (first, second) else { return None };
        let (predicate, _) = domain.place(only)?;
        groups.entry(predicate).or_default().extend(active(sample));
    }
    // The condition must also hold in terminal states, which need a location, too.
    let is_single = |sample: &Sample| {
        sample
            .fluents
            .iter()
            .filter(|&&term| domain.bank.has_form(term, functor.0, functor.1))
            .count()
            == 1
    };
    domain.samples.iter().all(is_single).then_some(groups)
}
