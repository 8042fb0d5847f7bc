//! Goal values are whole numbers from 0 to 100.

use agon_text::{Diagnostic, Diagnostics};

use super::view::View;
use crate::symbols::keyword;
use crate::syntax::TermKind;

pub(super) fn check(view: &View<'_>, findings: &mut Diagnostics) {
    for clause in &view.sheet.clauses {
        let (keyword::GOAL, [role, value]) =
            (clause.head.relation, clause.head.arguments.as_slice())
        else {
            continue;
        };
        if matches!(role.kind, TermKind::Constant(keyword::RANDOM)) {
            findings.push(
                Diagnostic::remark(
                    "random-goal",
                    clause.head.span,
                    "a goal value for `random` is ignored",
                )
                .hint("remove it; nature chooses its moves at random"),
            );
        }
        let number = match &value.kind {
            TermKind::Variable(_) => continue,
            TermKind::Constant(symbol) => view.name(*symbol).parse::<i64>().ok(),
            TermKind::Function(..) => None,
        };
        match number {
            Some(0..=100) => {}
            Some(number) => findings.push(
                Diagnostic::warning(
                    "goal-out-of-range",
                    value.span,
                    format!("goal value {number} is not between 0 and 100"),
                )
                .hint("scale the goal values so that the best is 100 and the worst 0"),
            ),
            None => findings.push(
                Diagnostic::error(
                    "goal-not-number",
                    value.span,
                    format!("goal value `{}` is not a whole number", view.text(value.span)),
                )
                .hint("write a whole number from 0 to 100"),
            ),
        }
    }
}
