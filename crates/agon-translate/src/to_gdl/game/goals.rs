//! Payoffs as goals.

use std::collections::{BTreeMap, BTreeSet};

use agon_structures::rational::Rational;

use super::super::clauses::{Atom, Expression, Section};
use super::super::formulas::Scope;
use super::super::nodes::Node;
use super::super::terms::Cases;
use super::super::translator::{Moment, Translator};
use super::super::{Payoffs, ToGdlError};
use super::Words;

/// The cases of a payoff at the location of this number, or at all locations.
type PayoffAt = (Option<usize>, Cases);

impl Translator<'_> {
    /// Writes the goals. Values are scaled where GDL cannot represent them.
    pub(super) fn payoffs(
        &mut self,
        words: &Words,
        pending: &BTreeMap<String, usize>,
    ) -> Result<Payoffs, ToGdlError> {
        let arena = self.arena;
        let scope = Scope::new(Moment::Now, &[], Vec::new());
        let mut goals: Vec<(Expression, Vec<PayoffAt>)> = Vec::new();
        let mut values: BTreeSet<Rational> = BTreeSet::new();
        for (player, name) in arena.players().iter().enumerate() {
            if Some(player) == arena.nature() {
                continue;
            }
            let role = Expression::word(self.names.constant(name));
            self.context = format!("payoff_{name}");
            let terms: Vec<_> =
                arena.locations().iter().map(|location| &location.payoffs[player]).collect();
            let is_alike = terms.iter().all(|term| *term == terms[0]);
            let mut by_location = Vec::new();
            for (index, term) in
                terms.iter().enumerate().take(if is_alike { 1 } else { terms.len() })
            {
                let cases = self.term(term, &scope)?;
                values.extend(cases.iter().map(|(value, _)| *value));
                by_location.push(((!is_alike).then_some(index), cases));
            }
            goals.push((role, by_location));
        }
        let payoffs = Payoffs::of(&values);
        for (role, by_location) in goals {
            for (index, cases) in by_location {
                for (value, node) in cases {
                    let places: Vec<Node> = match index {
                        None => vec![Node::truth()],
                        Some(index) => {
                            let own = self.names.constant(&arena.locations()[index].name);
                            let waiting = pending
                                .iter()
                                .filter(|(_, of)| **of == index)
                                .map(|(name, _)| name.clone());
                            [own]
                                .into_iter()
                                .chain(waiting)
                                .map(|name| Node::holds(self.here(words, Expression::word(name))))
                                .collect()
                        }
                    };
                    let goal = Expression::word(payoffs.goal(value).to_string());
                    let head = Atom::new("goal", vec![role.clone(), goal]);
                    for place in places {
                        self.define(Section::Payoffs, &head, &Node::and([place, node.clone()]))?;
                    }
                }
            }
        }
        Ok(payoffs)
    }
}
