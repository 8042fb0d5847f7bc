//! From a goal condition to an evaluation tree: the function `expand` of Michulke 2011.
//!
//! A conjunction is split only where its parts share no variables. Relations of the game are
//! replaced by their rules, unless they are recursive. Static conditions are folded. The remaining
//! conjunctions, whose parts share variables, are handled in this order:
//!
//! 1. If the conjunction is recognised as a feature, it becomes a node of that feature.
//! 2. Otherwise as few of its variables as possible are instantiated.
//! 3. If that makes the tree too large, the conjunction is left to the reasoner, which counts its
//!    solutions.

use std::collections::BTreeMap;

use agon_gdl::rules::{Condition, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;

use super::conditions::{components, mentions, variables};
use super::features::{OrderComparison, PairDistance};
use super::tree::{Expression, Node, NodeId, Tree};
use super::unfold::Unfolding;
use super::{Evolution, FuzzyOptions};
use crate::properties::Properties;
use crate::theory::{Bindings, Theory, fluent_of, relation_of};

/// Maximum number of steps of a search for the values of variables.
const MAX_STEPS: usize = 100_000;

/// Maximum number of calls of `conjunction` for one goal. Some rulesheets need very many calls
/// although the resulting tree is small.
const MAX_CALLS: usize = 20_000;
/// The state of the expansion: the trees built so far and the expressions that their nodes refer
/// to.
pub(super) struct Expander<'a> {
    pub(super) theory: &'a mut Theory,
    pub(super) evolution: &'a mut Evolution,
    pub(super) properties: &'a Properties,
    pub(super) options: &'a FuzzyOptions,
    pub(super) tree: Tree,
    pub(super) patterns: Vec<Expression>,
    pub(super) queries: Vec<Expression>,
    pub(super) orders: Vec<OrderComparison>,
    pub(super) pair_distances: Vec<PairDistance>,
    /// By the text of a pattern, a query or a feature, with numbered variables: its node.
    by_key: BTreeMap<String, NodeId>,
    /// The first node of the tree of the current goal.
    start: usize,
    pub(super) n_calls: usize,
    /// The unfolded recursive relations. `None` if they are not unfolded.
    pub(super) unfolding: Option<Unfolding>,
    /// Maximum number of calls of `conjunction` for one goal.
    pub(super) max_calls: usize,
}

/// The result of evaluating a condition without a state.
enum Folded {
    /// The condition holds in every state.
    Always,
    /// The condition holds in no state.
    Never,
    /// The condition holds in every state for exactly these values of its variables.
    Bound(Bindings),
    /// The condition depends on the state or on variables with several values.
    Open,
}

impl<'a> Expander<'a> {
    pub(super) fn new(
        theory: &'a mut Theory,
        evolution: &'a mut Evolution,
        properties: &'a Properties,
        options: &'a FuzzyOptions,
    ) -> Expander<'a> {
        Expander {
            theory,
            evolution,
            properties,
            options,
            tree: Tree::default(),
            patterns: Vec::new(),
            queries: Vec::new(),
            orders: Vec::new(),
            pair_distances: Vec::new(),
            by_key: BTreeMap::new(),
            start: 0,
            n_calls: 0,
            unfolding: Some(Unfolding::default()),
            max_calls: MAX_CALLS,
        }
    }

    /// Returns the tree of a ground atom.
    pub(super) fn goal(&mut self, atom: RuleAtom) -> NodeId {
        self.start = self.tree.len();
        self.n_calls = 0;
        self.conjunction(vec![Condition::Holds(atom)], 1, None)
    }

    /// Returns the tree of a conjunction.
    pub(super) fn expression(&mut self, conditions: Vec<Condition>) -> NodeId {
        self.start = self.tree.len();
        self.n_calls = 0;
        self.conjunction(conditions, 1, None)
    }

    /// Returns whether the tree of the current goal has reached a limit.
    pub(super) fn is_full(&self) -> bool {
        self.tree.len() - self.start > self.options.max_size
            || self.n_calls > self.max_calls
            || self.theory.is_exhausted()
    }

    /// Returns the tree of a conjunction at a depth. `origin` is the rule it comes from.
    fn conjunction(
        &mut self,
        conditions: Vec<Condition>,
        depth: usize,
        origin: Option<usize>,
    ) -> NodeId {
        self.n_calls += 1;
        let Some(conditions) = self.fold(conditions) else {
            return self.tree.node(Node::Constant(false), origin);
        };
        let parts = components(&conditions);
        match <[Vec<Condition>; 1]>::try_from(parts) {
            Ok([part]) => self.part(part, depth, origin),
            Err(parts) => {
                let children =
                    parts.into_iter().map(|part| self.part(part, depth + 1, origin)).collect();
                self.tree.node(Node::And(children), origin)
            }
        }
    }

    /// Drops conditions that always hold and substitutes variables for which static conditions
    /// leave one value. `None` if the conjunction never holds.
    fn fold(&mut self, mut conditions: Vec<Condition>) -> Option<Vec<Condition>> {
        loop {
            let mut bindings = None;
            let mut kept: Vec<Condition> = Vec::new();
            for condition in conditions {
                // One substitution at a time: the next round sees the other conditions with it
                // applied.
                match self.fold_condition(&condition, bindings.is_none()) {
                    Folded::Never => return None,
                    Folded::Always => {}
                    Folded::Bound(found) => bindings = Some(found),
                    Folded::Open => kept.push(condition),
                }
            }
            let Some(bindings) = bindings else { return Some(kept) };
            conditions = bindings.fill_all(&kept);
        }
    }

    /// Evaluates a condition as far as it does not depend on the state. Looks for a substitution
    /// only if `may_bind`.
    fn fold_condition(&self, condition: &Condition, may_bind: bool) -> Folded {
        let (atom, is_positive) = match condition {
            Condition::Differ(a, b, _) => {
                let may_be_equal = Bindings::default().unify(a, b);
                return match (may_be_equal, a == b) {
                    (false, _) => Folded::Always,
                    (true, true) => Folded::Never,
                    (true, false) => Folded::Open,
                };
            }
            Condition::Holds(atom) => (atom, true),
            Condition::Fails(atom) => (atom, false),
        };
        let relation = relation_of(atom);
        let is_known = self.theory.is_static(relation) && self.theory.table(relation).is_some();
        if is_known && atom.is_ground() {
            let is_true = self.theory.holds_always(atom) == Some(is_positive);
            return if is_true { Folded::Always } else { Folded::Never };
        }
        if !is_positive {
            return Folded::Open;
        }
        let alone = std::slice::from_ref(condition);
        if is_known && may_bind {
            let variables = variables(alone);
            match self.theory.possible_values(alone, &variables, 1, MAX_STEPS).as_deref() {
                Ok([]) => return Folded::Never,
                Ok([only]) => {
                    let mut bindings = Bindings::default();
                    for (&variable, &value) in variables.iter().zip(only) {
                        bindings.bind(variable, self.theory.term(value));
                    }
                    return Folded::Bound(bindings);
                }
                Ok(_) | Err(_) => {}
            }
        }
        match self.theory.is_complete && self.is_impossible_fluent(condition) {
            true => Folded::Never,
            false => Folded::Open,
        }
    }

    /// Returns whether a condition requires a fluent that is not possible.
    fn is_impossible_fluent(&self, condition: &Condition) -> bool {
        fluent_of(condition).is_some()
            && self.theory.possible_values(std::slice::from_ref(condition), &[], 1, MAX_STEPS)
                == Ok(Vec::new())
    }

    /// Returns the tree of conditions that are connected by shared variables.
    fn part(&mut self, part: Vec<Condition>, depth: usize, origin: Option<usize>) -> NodeId {
        match part.as_slice() {
            [] => self.tree.node(Node::Constant(true), origin),
            [Condition::Fails(atom)] => {
                // Its variables occur nowhere else, so it says that no value satisfies the atom.
                let child =
                    self.conjunction(vec![Condition::Holds(atom.clone())], depth + 1, origin);
                self.tree.node(Node::Not(child), origin)
            }
            [Condition::Holds(atom)] if relation_of(atom) == (keyword::TRUE, 1) => {
                self.fluent(&part[0], &atom.arguments[0], origin)
            }
            [Condition::Holds(atom)] => {
                let relation = relation_of(atom);
                if let Some(node) = self.unfold(atom, depth, origin) {
                    return node;
                }
                if self.theory.is_recursive(relation)
                    && !self.theory.is_static(relation)
                    && let Some(unfolding) = &mut self.unfolding
                {
                    unfolding.note_left();
                }
                let is_foreign = matches!(relation.0, keyword::DOES);
                if is_foreign
                    || self.theory.is_recursive(relation)
                    || self.theory.is_static(relation)
                    || depth > self.options.max_depth
                    || self.is_full()
                {
                    return self.reasoner_query(part, origin);
                }
                let atom = atom.clone();
                let before = self.tree.len();
                let children = self.expand_rules(&atom, &[], depth);
                let node = self.tree.node(Node::Or(children), origin);
                self.unless_full(node, before, part, origin)
            }
            [Condition::Differ(..)] => self.tree.node(Node::Constant(true), origin),
            [_, _, ..] => self.shared(part, depth, origin),
        }
    }

    /// Returns the trees of the rules of an atom, each in conjunction with other conditions.
    pub(super) fn expand_rules(
        &mut self,
        atom: &RuleAtom,
        others: &[Condition],
        depth: usize,
    ) -> Vec<NodeId> {
        let rules = self.theory.rules_of(relation_of(atom)).to_vec();
        let mut matching = Vec::new();
        for index in rules {
            let rule = self.theory.fresh_rule(index);
            let mut bindings = Bindings::default();
            if bindings.unify_all(&atom.arguments, &rule.head.arguments) {
                let mut body = rule.body.clone();
                body.extend(others.iter().cloned());
                matching.push((index, bindings.fill_all(&body)));
            }
        }
        let deeper = depth + usize::from(matching.len() > 1);
        let mut children = Vec::new();
        for (index, body) in matching {
            if self.is_full() && !children.is_empty() {
                break;
            }
            children.push(self.conjunction(body, deeper, Some(index)));
        }
        children
    }

    /// Returns the node, unless it has made the tree too large. Then its nodes are discarded, and
    /// the expression is left to the reasoner.
    fn unless_full(
        &mut self,
        node: NodeId,
        before: usize,
        part: Vec<Condition>,
        origin: Option<usize>,
    ) -> NodeId {
        if !self.is_full() {
            return node;
        }
        self.discard_from(before);
        self.reasoner_query(part, origin)
    }

    /// Removes the nodes from a number on.
    pub(super) fn discard_from(&mut self, before: usize) {
        self.by_key.retain(|_, node| node.index() < before);
        if let Some(unfolding) = &mut self.unfolding {
            unfolding.discard_from(before);
        }
        self.tree.truncate(before);
    }

    /// Returns the node of a condition on a fluent.
    fn fluent(
        &mut self,
        condition: &Condition,
        fluent: &RuleTerm,
        origin: Option<usize>,
    ) -> NodeId {
        if let Some(term) = self.theory.ground(fluent) {
            if self.theory.is_complete && self.theory.fluent(term).is_none() {
                return self.tree.node(Node::Constant(false), origin);
            }
            let place = self.theory.intern_fluent(term);
            return self.tree.node(Node::Fluent(place as u32), origin);
        }
        let RuleTerm::Function(..) = fluent else {
            return self.reasoner_query(vec![condition.clone()], origin);
        };
        self.pattern(vec![condition.clone()], origin)
    }

    /// Returns the node of a conjunction of one condition on a fluent with variables and static
    /// conditions on these variables. `None` if the conjunction is not of this kind.
    fn limited_fluent(&mut self, part: &[Condition], origin: Option<usize>) -> Option<NodeId> {
        let (dynamic, statics): (Vec<&Condition>, Vec<&Condition>) =
            part.iter().partition(|condition| {
                condition.atom().is_some_and(|atom| !self.theory.is_static(relation_of(atom)))
            });
        let [only] = dynamic.as_slice() else { return None };
        let RuleTerm::Function(..) = fluent_of(only)? else { return None };
        let is_known = |condition: &&&Condition| match condition.atom() {
            Some(atom) => self.theory.table(relation_of(atom)).is_some(),
            None => true,
        };
        // Static conditions with further variables would change the number of solutions.
        let of_fluent = variables(std::slice::from_ref(*only));
        let is_limiting = |condition: &&&Condition| {
            variables(std::slice::from_ref(**condition)).iter().all(|v| of_fluent.contains(v))
        };
        if !statics.iter().all(|condition| is_known(&condition) && is_limiting(&condition)) {
            return None;
        }
        let mut ordered = vec![(*only).clone()];
        ordered.extend(statics.into_iter().cloned());
        Some(self.pattern(ordered, origin))
    }

    /// Returns the node of the fluents that satisfy these conditions. The first one is on the
    /// fluent.
    fn pattern(&mut self, conditions: Vec<Condition>, origin: Option<usize>) -> NodeId {
        let key = self.key(&conditions);
        if let Some(&known) = self.by_key.get(&key) {
            return known;
        }
        let text = self.text(&conditions);
        let number = u32::try_from(self.patterns.len()).expect("trees are limited");
        self.patterns.push(Expression { conditions, text });
        let node = self.tree.node(Node::Pattern(number), origin);
        self.by_key.insert(key, node);
        node
    }

    /// Returns the tree of at least two conditions that share variables.
    fn shared(&mut self, part: Vec<Condition>, depth: usize, origin: Option<usize>) -> NodeId {
        let key = self.key(&part);
        if let Some(&known) = self.by_key.get(&key) {
            return known;
        }
        if let Some(order) = self.order(&part) {
            let number = u32::try_from(self.orders.len()).expect("trees are limited");
            self.orders.push(order);
            let node = self.tree.node(Node::Order(number), origin);
            self.by_key.insert(key, node);
            return node;
        }
        if let Some(between) = self.pair_distance(&part) {
            let number = u32::try_from(self.pair_distances.len()).expect("trees are limited");
            self.pair_distances.push(between);
            let node = self.tree.node(Node::PairDistance(number), origin);
            self.by_key.insert(key, node);
            return node;
        }
        if let Some(node) = self.limited_fluent(&part, origin) {
            return node;
        }
        if depth > self.options.max_depth || self.is_full() || !self.theory.is_complete {
            return self.reasoner_query(part, origin);
        }
        let before = self.tree.len();
        for variables in self.choices(&part) {
            if let Some(children) = self.instantiate(&part, &variables, depth, origin) {
                return self.tree.node(Node::Or(children), origin);
            }
            self.discard_from(before);
        }
        // An auxiliary relation that alone limits a variable is replaced by its rules. Then the
        // fluents in the rules limit the variable.
        let auxiliary = part.iter().position(|condition| self.is_expandable(condition));
        if let Some(place) = auxiliary
            && let Condition::Holds(atom) = part[place].clone()
        {
            let mut others = part.clone();
            others.remove(place);
            let children = self.expand_rules(&atom, &others, depth);
            let node = self.tree.node(Node::Or(children), origin);
            return self.unless_full(node, before, part, origin);
        }
        self.reasoner_query(part, origin)
    }

    /// Returns the trees of a conjunction for all values of some variables. `None` if there are too
    /// many.
    fn instantiate(
        &mut self,
        part: &[Condition],
        variables: &[u32],
        depth: usize,
        origin: Option<usize>,
    ) -> Option<Vec<NodeId>> {
        let max_rows = self.options.max_size;
        let rows = self.theory.possible_values(part, variables, max_rows, MAX_STEPS).ok()?;
        let mut children = Vec::new();
        for row in rows {
            let mut bindings = Bindings::default();
            for (&variable, &value) in variables.iter().zip(&row) {
                bindings.bind(variable, self.theory.term(value));
            }
            children.push(self.conjunction(bindings.fill_all(part), depth + 1, origin));
            if self.is_full() {
                break;
            }
        }
        (!self.is_full()).then_some(children)
    }

    /// Returns whether a condition can be replaced by the rules of its relation.
    fn is_expandable(&self, condition: &Condition) -> bool {
        let Condition::Holds(atom) = condition else { return false };
        let relation = relation_of(atom);
        relation != (keyword::TRUE, 1)
            && !self.theory.is_static(relation)
            && !self.theory.is_recursive(relation)
            && !self.theory.rules_of(relation).is_empty()
    }

    /// Returns the sets of variables to be instantiated, in the order in which they are tried.
    /// First come single variables that take the conjunction apart, those with the fewest values
    /// first. The last set contains all shared variables.
    fn choices(&self, part: &[Condition]) -> Vec<Vec<u32>> {
        let shared: Vec<u32> = variables(part)
            .into_iter()
            .filter(|&variable| {
                part.iter().filter(|condition| mentions(condition, variable)).count() > 1
            })
            .collect();
        let mut alone: Vec<(usize, u32)> = Vec::new();
        for &variable in &shared {
            let mut rest = part.to_vec();
            let mut bindings = Bindings::default();
            bindings.bind(variable, RuleTerm::constant(keyword::RANDOM));
            rest = bindings.fill_all(&rest);
            let takes_apart = components(&rest).len() > 1;
            let rows =
                self.theory.possible_values(part, &[variable], self.options.max_size, MAX_STEPS);
            if let Ok(rows) = rows
                && takes_apart
            {
                alone.push((rows.len(), variable));
            }
        }
        alone.sort_unstable();
        let mut choices: Vec<Vec<u32>> =
            alone.into_iter().map(|(_, variable)| vec![variable]).collect();
        if shared.len() != 1 || choices.is_empty() {
            choices.push(shared);
        }
        choices
    }

    /// Returns the node of an expression that is left to the reasoner.
    fn reasoner_query(&mut self, part: Vec<Condition>, origin: Option<usize>) -> NodeId {
        let key = self.key(&part);
        if let Some(&known) = self.by_key.get(&key) {
            return known;
        }
        let text = self.text(&part);
        let number = u32::try_from(self.queries.len()).expect("trees are limited");
        self.queries.push(Expression { conditions: part, text });
        let node = self.tree.node(Node::Query(number), origin);
        self.by_key.insert(key, node);
        node
    }

    /// Writes conditions with the variable names of the rules.
    pub(super) fn text(&self, conditions: &[Condition]) -> String {
        let mut names: BTreeMap<u32, String> = BTreeMap::new();
        for variable in variables(conditions) {
            let own = self.theory.name(variable);
            let mut name = own.to_owned();
            let mut number = 1;
            while names.values().any(|other| *other == name) {
                number += 1;
                name = format!("{own}_{number}");
            }
            names.insert(variable, name);
        }
        let name = |variable: u32| format!("?{}", names[&variable]);
        super::text::conditions(&self.theory.game, conditions, &name)
    }

    /// Writes conditions with numbered variables. Conditions that differ only in the names of
    /// variables have the same text.
    fn key(&self, conditions: &[Condition]) -> String {
        let numbers: BTreeMap<u32, usize> =
            variables(conditions).into_iter().enumerate().map(|(number, v)| (v, number)).collect();
        super::text::conditions(&self.theory.game, conditions, &|v| format!("?{}", numbers[&v]))
    }
}
