//! Relations that only declare what can occur: `base`, `input` and `percept`. Games can be played
//! without them, so their faults are warnings, and faulty declarations are dropped.

use std::collections::BTreeSet;

use agon_datalog::Symbol;

use super::dependencies::Dependence;
use super::safety::{self, Demands};
use super::view::{View, parameters};
use crate::rules::Rule;
use crate::symbols::keyword;

/// The relations that only declare.
pub(super) const DECLARATIONS: [Symbol; 3] = [keyword::BASE, keyword::INPUT, keyword::PERCEPT];

/// Returns whether `rule` only declares something: no other rule has its relation as a condition.
pub(super) fn is_only_declared(view: &View<'_>, rule: &Rule) -> bool {
    DECLARATIONS.contains(&rule.head.relation) && !view.is_condition(rule.head.relation)
}

/// Describes what happens to a faulty declaration.
pub(super) fn consequence(view: &View<'_>, relation: Symbol) -> String {
    format!("`{}` is therefore not used as a declaration", view.name(relation))
}

/// Returns the declarations that cannot be relied on. Their rules have other numbers of arguments
/// (old rulesheets use `base` for their own purposes), have unsafe variables, or depend on the
/// state.
pub(super) fn unreliable(view: &View<'_>, demands: &Demands) -> BTreeSet<Symbol> {
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
