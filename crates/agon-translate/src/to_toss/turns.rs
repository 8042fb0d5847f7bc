//! Whose turn it is, as locations.
//!
//! Where a token of the state, such as `(control ?player)`, tells who has a choice, each of its places is a location. Roles that have
//! none there wait with one and the same move, which is `noop` in the translation. Otherwise there is one location where all who
//! ever have a choice act at once.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;

use super::domain::{Domain, Functor};
use super::sampling::Sample;

/// A location.
#[derive(Clone, Debug)]
pub(super) struct Location {
    pub(super) name: String,
    /// The predicate of the token that holds here.
    pub(super) token: Option<usize>,
    /// The roles that act here, in order; at least one.
    pub(super) active: Vec<usize>,
}

/// The locations of a game.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    pub(super) locations: Vec<Location>,
    /// The predicates of the token.
    pub(super) tokens: BTreeSet<usize>,
    /// By role: the move with which it waits.
    pub(super) waiting: Vec<Option<TermId>>,
    pub(super) start: usize,
}

/// Finds the token that leaves fewest roles with a choice where it stands.
pub(super) fn turns(domain: &Domain) -> Turns {
    let n_roles = domain.moves.len();
    let waiting: Vec<Option<TermId>> =
        (0..n_roles).map(|role| waiting_move(domain, role)).collect();
    let active = |sample: &Sample| -> BTreeSet<usize> {
        let waits = |role: &usize| matches!(sample.legal[*role].as_slice(), [only] if Some(*only) == waiting[*role]);
        (0..n_roles).filter(|role| !waits(role)).collect()
    };
    let playing: Vec<&Sample> =
        domain.samples.iter().filter(|sample| !sample.is_terminal).collect();
    let everybody: BTreeSet<usize> = playing.iter().flat_map(|sample| active(sample)).collect();
    let everybody = if everybody.is_empty() { BTreeSet::from([0]) } else { everybody };
    let mut best: Option<(usize, Functor, BTreeMap<usize, BTreeSet<usize>>)> = None;
    let cost = |groups: &BTreeMap<usize, BTreeSet<usize>>| {
        groups.values().map(|roles| roles.len().max(1)).sum::<usize>()
    };
    for &functor in domain.state.keys() {
        let Some(groups) = by_place(domain, functor, &playing, &active) else { continue };
        // A token is worth its locations only where it takes choices away from somebody.
        if groups.values().all(|roles| roles.len() >= everybody.len()) {
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
            vec![Location { name, token: None, active: everybody.into_iter().collect() }];
        return Turns { locations, tokens: BTreeSet::new(), waiting, start: 0 };
    };
    let tokens: BTreeSet<usize> = (0..domain.predicates.len())
        .filter(|&predicate| domain.predicates[predicate].functor == functor)
        .collect();
    let locations: Vec<Location> = tokens
        .iter()
        .enumerate()
        .map(|(index, &token)| {
            // Where no play came by, everybody may have a choice.
            let mut roles = groups.get(&token).cloned().unwrap_or_else(|| everybody.clone());
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

/// The constant that is most often all that a role may do.
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

/// If exactly one term of the functor holds in each state, and has no coordinates: who acts where it is which.
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
    // At ends of play too, or there would be no location.
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
