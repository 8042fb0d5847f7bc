//! From a goal condition to an evaluation tree: the paper's `expand`.
//!
//! A conjunction is split only where its parts share no variables. Relations of the game are replaced by what their
//! rules say, unless they are recursive. Statics are folded. What is left, a conjunction whose parts share variables, is
//! taken for a feature if it looks like one; else it is ground-instantiated, as few of its variables as will do; and if
//! that would make the tree too large, it is left to the reasoner, who counts its solutions.

use std::collections::BTreeMap;

use agon_gdl::rules::{Condition, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;

use super::conditions::{components, mentions, variables};
use super::features::{Between, Order};
use super::tree::{Expression, Node, NodeId, Tree};
use super::unfold::Unfolding;
use super::{Evolution, FuzzyOptions};
use crate::properties::Properties;
use crate::theory::{Bindings, Theory, fluent_of, relation_of};

/// Steps of a search for the values of variables.
const MAX_STEPS: usize = 100_000;

/// Calls of `expand` for one goal: hand-made rulesheets can make trees explode although they are small in the end.
const MAX_CALLS: usize = 20_000;
/// The same where recursion is unfolded: of what is shared there are many calls, each of which is short.
const MAX_UNFOLDING_CALLS: usize = 200_000;

/// Everything that is at hand while trees are made.
pub(super) struct Expander<'a> {
    pub(super) theory: &'a mut Theory,
    pub(super) evolution: &'a mut Evolution,
    pub(super) properties: &'a Properties,
    pub(super) options: &'a FuzzyOptions,
    pub(super) tree: Tree,
    pub(super) patterns: Vec<Expression>,
    pub(super) queries: Vec<Expression>,
    pub(super) orders: Vec<Order>,
    pub(super) betweens: Vec<Between>,
    /// By the text of a pattern, a query or a feature with its variables numbered: its node.
    by_key: BTreeMap<String, NodeId>,
    /// Where the tree of the present goal begins.
    start: usize,
    n_calls: usize,
    /// What recursive relations come down to, if they are unfolded at all.
    pub(super) unfolding: Option<Unfolding>,
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
            betweens: Vec::new(),
            by_key: BTreeMap::new(),
            start: 0,
            n_calls: 0,
            unfolding: None,
        }
    }

    /// The tree of an atom without variables.
    pub(super) fn goal(&mut self, atom: RuleAtom) -> NodeId {
        self.start = self.tree.len();
        self.n_calls = 0;
        self.conjunction(vec![Condition::Holds(atom)], 1, None)
    }

    /// The tree of conditions.
    pub(super) fn expression(&mut self, conditions: Vec<Condition>) -> NodeId {
        self.start = self.tree.len();
        self.n_calls = 0;
        self.conjunction(conditions, 1, None)
    }

    /// Whether the tree of the present goal is as large as it may become.
    pub(super) fn is_full(&self) -> bool {
        let max_calls = if self.unfolding.is_some() { MAX_UNFOLDING_CALLS } else { MAX_CALLS };
        self.tree.len() - self.start > self.options.max_size
            || self.n_calls > max_calls
            || self.theory.is_spent()
    }

    /// The tree of a conjunction at a depth; `origin` is the rule it comes from.
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

    /// Drops what always holds and fills in what static conditions leave no choice for. `None` if it never holds.
    fn fold(&mut self, mut conditions: Vec<Condition>) -> Option<Vec<Condition>> {
        loop {
            let mut bindings = Bindings::default();
            let mut is_bound = false;
            let mut kept: Vec<Condition> = Vec::new();
            for condition in conditions {
                match &condition {
                    Condition::Differ(a, b, _) => {
                        let mut trial = Bindings::default();
                        if !trial.unify(a, b) {
                            continue;
                        }
                        if a == b {
                            return None;
                        }
                    }
                    Condition::Holds(atom) | Condition::Fails(atom) => {
                        let is_positive = matches!(condition, Condition::Holds(_));
                        let is_known = self.theory.is_static(relation_of(atom))
                            && self.theory.table(relation_of(atom)).is_some();
                        if is_known && atom.is_ground() {
                            if self.theory.holds_always(atom)? != is_positive {
                                return None;
                            }
                            continue;
                        }
                        if is_known && is_positive && !is_bound {
                            let variables = variables(std::slice::from_ref(&condition));
                            let rows = self.theory.possible(
                                std::slice::from_ref(&condition),
                                &variables,
                                1,
                                MAX_STEPS,
                            );
                            match rows.as_deref() {
                                Ok([]) => return None,
                                Ok([only]) => {
                                    for (&variable, &value) in variables.iter().zip(only) {
                                        bindings.bind(variable, self.theory.term(value));
                                    }
                                    is_bound = true;
                                    continue;
                                }
                                Ok(_) | Err(_) => {}
                            }
                        }
                        if is_positive
                            && self.theory.is_complete
                            && self.is_out_of_reach(&condition)
                        {
                            return None;
                        }
                    }
                }
                kept.push(condition);
            }
            if !is_bound {
                return Some(kept);
            }
            conditions = bindings.fill_all(&kept);
        }
    }

    /// Whether a condition is on a fluent that there cannot be.
    fn is_out_of_reach(&self, condition: &Condition) -> bool {
        fluent_of(condition).is_some()
            && self.theory.possible(std::slice::from_ref(condition), &[], 1, MAX_STEPS)
                == Ok(Vec::new())
    }

    /// The tree of conditions that hang together by variables.
    fn part(&mut self, part: Vec<Condition>, depth: usize, origin: Option<usize>) -> NodeId {
        match part.as_slice() {
            [] => self.tree.node(Node::Constant(true), origin),
            [Condition::Fails(atom)] => {
                // Variables that occur nowhere else: there is no value for which it holds.
                let child =
                    self.conjunction(vec![Condition::Holds(atom.clone())], depth + 1, origin);
                self.tree.node(Node::Not(child), origin)
            }
            [Condition::Holds(atom)] if relation_of(atom) == (keyword::TRUE, 1) => {
                self.fluent(&part[0], &atom.arguments[0], origin)
            }
            [Condition::Holds(atom)] => {
                let relation = relation_of(atom);
                if let Some(node) = self.unfold(atom, origin) {
                    return node;
                }
                let is_foreign = matches!(relation.0, keyword::DOES);
                if is_foreign
                    || self.theory.is_recursive(relation)
                    || self.theory.is_static(relation)
                    || depth > self.options.max_depth
                    || self.is_full()
                {
                    return self.left_to_the_reasoner(part, origin);
                }
                let atom = atom.clone();
                let before = self.tree.len();
                let children = self.by_rules(&atom, &[], depth);
                let node = self.tree.node(Node::Or(children), origin);
                self.fitting(node, before, part, origin)
            }
            [Condition::Differ(..)] => self.tree.node(Node::Constant(true), origin),
            [_, _, ..] => self.shared(part, depth, origin),
        }
    }

    /// The trees of the rules of an atom, each together with other conditions.
    pub(super) fn by_rules(
        &mut self,
        atom: &RuleAtom,
        others: &[Condition],
        depth: usize,
    ) -> Vec<NodeId> {
        let rules = self.theory.rules_of(relation_of(atom)).to_vec();
        let mut fitting = Vec::new();
        for index in rules {
            let rule = self.theory.fresh(index);
            let mut bindings = Bindings::default();
            if bindings.unify_all(&atom.arguments, &rule.head.arguments) {
                let mut body = rule.body.clone();
                body.extend(others.iter().cloned());
                fitting.push((index, bindings.fill_all(&body)));
            }
        }
        let deeper = depth + usize::from(fitting.len() > 1);
        let mut children = Vec::new();
        for (index, body) in fitting {
            if self.is_full() && !children.is_empty() {
                break;
            }
            children.push(self.conjunction(body, deeper, Some(index)));
        }
        children
    }

    /// The node, unless it has made the tree too large: then the expression goes to the reasoner, and what was made of it
    /// is forgotten.
    fn fitting(
        &mut self,
        node: NodeId,
        before: usize,
        part: Vec<Condition>,
        origin: Option<usize>,
    ) -> NodeId {
        if !self.is_full() {
            return node;
        }
        self.forget(before);
        self.left_to_the_reasoner(part, origin)
    }

    /// Forgets the nodes from a number on.
    pub(super) fn forget(&mut self, before: usize) {
        self.by_key.retain(|_, node| node.index() < before);
        if let Some(unfolding) = &mut self.unfolding {
            unfolding.forget(before);
        }
        self.tree.truncate(before);
    }

    /// A condition on a fluent.
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
            let place = self.theory.admit(term);
            return self.tree.node(Node::Fluent(place as u32), origin);
        }
        let RuleTerm::Function(..) = fluent else {
            return self.left_to_the_reasoner(vec![condition.clone()], origin);
        };
        self.pattern(vec![condition.clone()], origin)
    }

    /// One condition on a fluent with variables, and others that never change: fluents that fit a pattern.
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
        // Variables that stand beside the fluent only would be counted too.
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

    /// The node of fluents that fit the first of these conditions and of which the others hold.
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

    /// Conditions that share variables.
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
        if let Some(between) = self.between(&part) {
            let number = u32::try_from(self.betweens.len()).expect("trees are limited");
            self.betweens.push(between);
            let node = self.tree.node(Node::Between(number), origin);
            self.by_key.insert(key, node);
            return node;
        }
        if let Some(node) = self.limited_fluent(&part, origin) {
            return node;
        }
        if depth > self.options.max_depth || self.is_full() || !self.theory.is_complete {
            return self.left_to_the_reasoner(part, origin);
        }
        let before = self.tree.len();
        for variables in self.choices(&part) {
            let max_rows = self.options.max_size;
            let Ok(rows) = self.theory.possible(&part, &variables, max_rows, MAX_STEPS) else {
                continue;
            };
            let mut children = Vec::new();
            for row in rows {
                let mut bindings = Bindings::default();
                for (&variable, &value) in variables.iter().zip(&row) {
                    bindings.bind(variable, self.theory.term(value));
                }
                children.push(self.conjunction(bindings.fill_all(&part), depth + 1, origin));
                if self.is_full() {
                    break;
                }
            }
            if !self.is_full() {
                return self.tree.node(Node::Or(children), origin);
            }
            self.forget(before);
        }
        // A relation that alone limits a variable is replaced by its rules; then the fluents in them do.
        let helper = part.iter().position(|condition| match condition {
            Condition::Holds(atom) => {
                let relation = relation_of(atom);
                relation != (keyword::TRUE, 1)
                    && !self.theory.is_static(relation)
                    && !self.theory.is_recursive(relation)
                    && !self.theory.rules_of(relation).is_empty()
            }
            Condition::Fails(_) | Condition::Differ(..) => false,
        });
        if let Some(place) = helper
            && let Condition::Holds(atom) = part[place].clone()
        {
            let mut others = part.clone();
            others.remove(place);
            let children = self.by_rules(&atom, &others, depth);
            let node = self.tree.node(Node::Or(children), origin);
            return self.fitting(node, before, part, origin);
        }
        self.left_to_the_reasoner(part, origin)
    }

    /// The variables to be instantiated, in the order in which it is tried: first the one that alone takes the
    /// conjunction apart, with the fewest values first; then all that are shared.
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
            let rows = self.theory.possible(part, &[variable], self.options.max_size, MAX_STEPS);
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

    /// An expression for the reasoner.
    fn left_to_the_reasoner(&mut self, part: Vec<Condition>, origin: Option<usize>) -> NodeId {
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

    /// Conditions as text, variables by the names they have in their rules.
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

    /// Conditions as text, variables by number: the same for conditions that differ in the names of variables only.
    fn key(&self, conditions: &[Condition]) -> String {
        let numbers: BTreeMap<u32, usize> =
            variables(conditions).into_iter().enumerate().map(|(number, v)| (v, number)).collect();
        super::text::conditions(&self.theory.game, conditions, &|v| format!("?{}", numbers[&v]))
    }
}
