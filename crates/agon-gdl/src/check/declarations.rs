//! Relations that only declare what can come: `base`, `input` and `percept`. Games are played without them, so
//! their faults are warnings, and faulty ones are left out.

use std::collections::BTreeSet;

use agon_datalog::Symbol;

use super::dependencies::Dependence;
use super::safety::{self, Demands};
use super::view::{View, parameters};
use crate::rules::Rule;
use crate::symbols::keyword;

/// The relations that only declare.
pub(super) const DECLARATIONS: [Symbol; 3] = [keyword::BASE, keyword::INPUT, keyword::PERCEPT];

/// Whether `rule` only declares something: no other rule asks for it.
pub(super) fn is_mere(view: &View<'_>, rule: &Rule) -> bool {
    DECLARATIONS.contains(&rule.head.relation) && !view.is_condition(rule.head.relation)
}

/// What happens to a faulty declaration.
pub(super) fn consequence(view: &View<'_>, relation: Symbol) -> String {
    format!("as it stands, `{}` is not taken as a declaration at all", view.name(relation))
}

/// The declarations that cannot be relied on: their rules have other numbers of arguments (old rulesheets use
/// `base` for purposes of their own), unsafe variables, or depend on the state.
pub(super) fn spoilt(view: &View<'_>, demands: &Demands) -> BTreeSet<Symbol> {
    let on_state = Dependence::on(view, keyword::TRUE);
    let on_moves = Dependence::on(view, keyword::DOES);
    let is_spoilt = |relation: Symbol| {
        on_state.has(relation)
            || on_moves.has(relation)
            || view.definitions(relation).iter().any(|&index| {
                let rule = &view.rules[index];
                Some(rule.head.arguments.len()) != parameters(relation).map(<[_]>::len)
                    || safety::is_unsafe(rule, demands)
            })
    };
    DECLARATIONS.into_iter().filter(|&relation| is_spoilt(relation)).collect()
}
