//! Infers the layout of a game.
//!
//! Names of relations matter little here: what counts is how arguments behave in sampled play. An
//! axis is an argument whose values have an order. A board is a relation with two axes, neither of
//! them roles. Relations whose coordinates lie on a board are drawn on it. The rest are counters,
//! hands, words, or a list.

mod edges;
mod grids;
mod hex;
mod nodes;
mod orient;
mod owners;
mod places;
mod reals;
pub(crate) mod stacks;
pub(crate) mod towers;
mod tracks;

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::Evidence;
use crate::fluent::Flat;
use crate::hints::HintedKind;
use crate::layout::{BoardPlan, Layout, LayoutKind, Use};
use crate::moves::{Changed, MoveMatcher};
use crate::scene::BoardKind;
use crate::world::{Pattern, World};

/// A layout while it is found.
pub(crate) struct Builder<'e> {
    pub(crate) world: World<'e>,
    pub(crate) boards: Vec<BoardPlan>,
    pub(crate) uses: BTreeMap<String, Use>,
}

impl Builder<'_> {
    /// Returns the patterns that have no use yet.
    pub(crate) fn unused(&self) -> Vec<usize> {
        let patterns = self.world.patterns.iter().enumerate();
        patterns
            .filter(|(_, pattern)| !self.uses.contains_key(&pattern.skeleton))
            .map(|(index, _)| index)
            .collect()
    }

    pub(crate) fn pattern(&self, index: usize) -> &Pattern {
        &self.world.patterns[index]
    }

    pub(crate) fn set_use(&mut self, pattern: usize, use_: Use) {
        let skeleton = self.world.patterns[pattern].skeleton.clone();
        self.uses.insert(skeleton, use_);
    }
}

/// Infers the layout of a game.
pub(crate) fn infer(evidence: &Evidence) -> Layout {
    let world = World::new(evidence);
    let mut builder = Builder { world, boards: Vec::new(), uses: BTreeMap::new() };
    find_turn(&mut builder);
    let reals = reals::find(&mut builder);
    let mut plans = Vec::new();
    if evidence.hints.kind != Some(HintedKind::List) {
        towers::find(&mut builder);
        tracks::find(&mut builder);
        places::find(&mut builder);
        edges::find(&mut builder);
        plans = grids::find(&mut builder);
        nodes::find(&mut builder);
        stacks::find(&mut builder);
    }
    find_panels(&mut builder);
    let styles = owners::styles(&builder);
    orient::finish(&mut builder, &plans, &styles);
    let steps = steps(&builder);
    let matcher = MoveMatcher::new(&builder.boards, &builder.world.moves, &steps);
    if matcher.has_two_places(&builder.world.moves) {
        orient::chequer(&mut builder);
    }
    let has_plane = reals.as_ref().is_some_and(|reals| !reals.axes.is_empty());
    let kind = match kind(&builder) {
        LayoutKind::List if has_plane => LayoutKind::Picture,
        kind => kind,
    };
    Layout {
        roles: evidence.roles.clone(),
        boards: builder.boards,
        uses: builder.uses,
        styles,
        movers: evidence.movers.clone(),
        hidden: evidence.hints.hide.clone(),
        reals,
        matcher,
        kind,
    }
}

fn kind(builder: &Builder<'_>) -> LayoutKind {
    let is_grid = |board: &BoardPlan| matches!(board.kind, BoardKind::Grid | BoardKind::Hex);
    if builder.boards.iter().any(is_grid) {
        return LayoutKind::Grid;
    }
    let has_list = builder.uses.values().any(|use_| matches!(use_, Use::Row));
    if builder.boards.is_empty() && has_list { LayoutKind::List } else { LayoutKind::Picture }
}

/// Finds the fluents that say whose turn it is.
fn find_turn(builder: &mut Builder<'_>) {
    let movers = &builder.world.evidence.movers;
    let by_table: Vec<usize> = (0..builder.world.patterns.len())
        .filter(|&i| {
            let relation = &builder.world.patterns[i].relation;
            movers.keys().any(|key| Flat::parse(key).is_some_and(|key| key.relation == *relation))
        })
        .collect();
    for index in by_table {
        builder.set_use(index, Use::Movers);
    }
    const NAMES: [&str; 6] = ["control", "turn", "whose", "tomove", "moves", "active"];
    let is_turn = |pattern: &Pattern| {
        let is_named = NAMES.iter().any(|name| pattern.relation.to_lowercase().contains(name));
        pattern.arity == 1
            && builder.world.is_role(&pattern.domains[0])
            && pattern.max_rows() == 1
            && (is_named || pattern.min_rows() == 1 && pattern.domains[0].len() > 1)
    };
    let candidates: Vec<usize> =
        builder.unused().into_iter().filter(|&i| is_turn(builder.pattern(i))).collect();
    // Several relations may name one role each; the one called after the turn is meant.
    let named = candidates.iter().copied().find(|&i| {
        let relation = builder.pattern(i).relation.to_lowercase();
        NAMES.iter().any(|name| relation.contains(name))
    });
    if let Some(index) = named.or_else(|| candidates.first().copied()) {
        builder.set_use(index, Use::Turn);
    }
}

/// Decides how fluents are shown that are not on a board.
fn find_panels(builder: &mut Builder<'_>) {
    for index in builder.unused() {
        let pattern = builder.pattern(index);
        let is_number =
            |i: usize| pattern.domains[i].iter().all(|value| value.parse::<f64>().is_ok());
        let is_role = |i: usize| builder.world.is_role(&pattern.domains[i]);
        let role = (0..pattern.arity).find(|&i| is_role(i));
        let number = (0..pattern.arity).rfind(|&i| is_number(i) && Some(i) != role);
        let use_ = match (pattern.arity, role, number) {
            (0, ..) => Use::Status,
            (1, _, Some(value)) if pattern.max_rows() <= 1 => Use::Counter { role: None, value },
            (2, Some(role), Some(value)) if pattern.is_key(&[role]) => {
                Use::Counter { role: Some(role), value }
            }
            (2, None, Some(value))
                if value == 1 && pattern.is_key(&[0]) && pattern.max_rows() > 1 =>
            {
                Use::Counter { role: Some(0), value }
            }
            (2 | 3, Some(holder), _) => Use::Hand { holder },
            (1, ..) if pattern.max_rows() <= 12 => Use::Status,
            (2, None, _) if pattern.is_key(&[0]) && pattern.domains[0].len() <= 24 => {
                Use::Hand { holder: 0 }
            }
            _ if pattern.max_rows() <= 2 => Use::Status,
            _ => Use::Row,
        };
        builder.set_use(index, use_);
    }
}

/// Returns the sampled moves of all roles with the places that the step changed.
fn steps(builder: &Builder<'_>) -> Vec<(Flat, Changed)> {
    const MAX_STEPS: usize = 400;
    let mut steps = Vec::new();
    for play in &builder.world.evidence.plays {
        let n_steps_known = play.states.len().saturating_sub(1);
        for (index, joint) in play.joints.iter().take(n_steps_known).enumerate() {
            if steps.len() >= MAX_STEPS {
                return steps;
            }
            let (before, after) = (&play.states[index], &play.states[index + 1]);
            let (before, after): (BTreeSet<&String>, BTreeSet<&String>) =
                (before.iter().collect(), after.iter().collect());
            let changed: Changed = before
                .symmetric_difference(&after)
                .filter_map(|fluent| place_of(builder, fluent))
                .collect();
            steps.extend(joint.iter().filter_map(|m| Some((Flat::parse(m)?, changed.clone()))));
        }
    }
    steps
}

/// Returns the place on which a fluent is drawn.
pub(crate) fn place_of(builder: &Builder<'_>, fluent: &str) -> Option<(usize, usize)> {
    let flat = Flat::parse(fluent)?;
    let Use::Layer(layer) = builder.uses.get(&flat.skeleton)? else { return None };
    Some((layer.board, layer.place(&builder.boards[layer.board], &flat)?))
}
