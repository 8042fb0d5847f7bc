//! Which relations may depend on the state and on the moves.

use std::collections::VecDeque;

use agon_datalog::Symbol;
use agon_text::{Diagnostic, Diagnostics, Severity};

use super::declarations::{DECLARATIONS, consequence};
use super::unify::may_be_same;
use super::view::View;
use crate::rules::RuleAtom;
use crate::symbols::keyword;

pub(super) fn check(view: &View<'_>, findings: &mut Diagnostics) {
    let on_moves = Dependence::on(view, keyword::DOES);
    let on_state = Dependence::on(view, keyword::TRUE);
    // Rules for `true` are an error of their own, by which everything depends on moves.
    if view.definitions(keyword::TRUE).is_empty() {
        for relation in [keyword::LEGAL, keyword::GOAL, keyword::TERMINAL] {
            report(view, &on_moves, relation, findings);
        }
    }
    // `role` has its own check.
    for relation in [keyword::INIT].into_iter().chain(DECLARATIONS) {
        report(view, &on_moves, relation, findings);
        report(view, &on_state, relation, findings);
    }
}

/// The relations that depend on the state, or on the moves, directly or indirectly.
pub(super) struct Dependence {
    target: Symbol,
    /// Indexed by the relation's symbol.
    depends: Vec<bool>,
}

impl Dependence {
    /// Finds the relations that depend on `target`, by names alone.
    pub(super) fn on(view: &View<'_>, target: Symbol) -> Dependence {
        let n = view.sheet.symbols.len();
        let mut users: Vec<Vec<Symbol>> = vec![Vec::new(); n];
        for rule in view.rules {
            for atom in rule.body.iter().filter_map(|condition| condition.atom()) {
                users[atom.relation.index()].push(rule.head.relation);
            }
        }
        let mut depends = vec![false; n];
        depends[target.index()] = true;
        let mut open = vec![target];
        while let Some(relation) = open.pop() {
            for &user in &users[relation.index()] {
                if !std::mem::replace(&mut depends[user.index()], true) {
                    open.push(user);
                }
            }
        }
        Dependence { target, depends }
    }

    /// Returns whether `relation` depends on the target or is the target.
    pub(super) fn has(&self, relation: Symbol) -> bool {
        self.depends[relation.index()]
    }

    /// Returns the shortest chain of conditions that leads from a rule for `relation` to the
    /// target. A condition leads only to rules whose head it unifies with, so `(p a)` does not
    /// depend on what `(p b)` depends on.
    fn reason<'a>(&self, view: &View<'a>, relation: Symbol) -> Option<Vec<&'a RuleAtom>> {
        if !self.has(relation) {
            return None;
        }
        let mut before: Vec<Option<(usize, &'a RuleAtom)>> = vec![None; view.rules.len()];
        let mut is_seen = vec![false; view.rules.len()];
        let mut queue: VecDeque<usize> = view.definitions(relation).iter().copied().collect();
        queue.iter().for_each(|&start| is_seen[start] = true);
        while let Some(at) = queue.pop_front() {
            for atom in view.rules[at].body.iter().filter_map(|condition| condition.atom()) {
                if atom.relation == self.target {
                    let mut chain = vec![atom];
                    let mut rule = at;
                    while let Some((user, atom)) = before[rule] {
                        chain.push(atom);
                        rule = user;
                    }
                    chain.reverse();
                    return Some(chain);
                }
                if !self.has(atom.relation) {
                    continue;
                }
                for &definition in view.definitions(atom.relation) {
                    if !is_seen[definition] && may_be_same(atom, &view.rules[definition].head) {
                        is_seen[definition] = true;
                        before[definition] = Some((at, atom));
                        queue.push_back(definition);
                    }
                }
            }
        }
        None
    }
}

fn report(view: &View<'_>, dependence: &Dependence, relation: Symbol, findings: &mut Diagnostics) {
    let Some(chain) = dependence.reason(view, relation) else { return };
    let (code, what) = match dependence.target {
        keyword::DOES => ("depends-on-does", "the players' moves"),
        _ => ("depends-on-state", "the state"),
    };
    let name = view.name(relation);
    let mut finding = Diagnostic::error(code, chain[0].span, format!("`{name}` depends on {what}"));
    if DECLARATIONS.contains(&relation) {
        finding.severity = Severity::Warning;
    }
    for link in chain.windows(2) {
        finding = finding
            .note(link[1].span, format!("`{}` depends on this", view.name(link[0].relation)));
    }
    findings.push(match relation {
        keyword::LEGAL => finding.hint(
            "players move at the same time; let `next` record the relevant facts in the state",
        ),
        keyword::GOAL | keyword::TERMINAL => finding
            .hint("let `next` record the relevant facts in the state and ask for them by `true`"),
        keyword::INIT => {
            finding.hint("before the game starts there are no moves and nothing is true")
        }
        _ => finding.hint(consequence(view, relation)),
    });
}
