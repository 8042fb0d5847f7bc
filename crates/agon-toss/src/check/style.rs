//! Warnings: what has a meaning but was probably not intended.

use std::collections::BTreeSet;

use agon_text::{Diagnostic, Diagnostics};

use super::signature::Signature;
use crate::arena::{ArenaLocation, ArenaRule, LocationId};
use crate::syntax::{Change, GameSheet};

/// The parts of a game that warnings are about.
pub(super) struct Style<'a> {
    pub(super) sheet: &'a GameSheet,
    pub(super) signature: &'a Signature,
    pub(super) rules: &'a [ArenaRule],
    pub(super) locations: &'a [ArenaLocation],
    /// The location that play starts in.
    pub(super) start: LocationId,
    /// The names of the relations that definitions, rules and payoffs use.
    pub(super) used: &'a BTreeSet<String>,
}

impl Style<'_> {
    /// Warns of unreachable locations, of unused rules and relations, and of optional tuples
    /// without effect.
    pub(super) fn check(&self, findings: &mut Diagnostics) {
        self.check_locations(findings);
        self.check_unused(findings);
        self.check_optional(findings);
    }

    fn check_locations(&self, findings: &mut Diagnostics) {
        let mut reached = BTreeSet::from([self.start]);
        let mut open = vec![self.start];
        while let Some(at) = open.pop() {
            let location = &self.locations[at.index()];
            let targets = location.edges.iter().flatten().flat_map(|edge| &edge.outcomes);
            let targets = targets.chain(location.joint.iter().flat_map(|edge| &edge.outcomes));
            open.extend(targets.map(|outcome| outcome.0).filter(|target| reached.insert(*target)));
        }
        for (index, location) in self.locations.iter().enumerate() {
            if !reached.contains(&LocationId::new(index)) {
                let what = format!("no move leads to the location `{}`", location.name);
                let finding = Diagnostic::warning("toss-unreachable-location", location.span, what);
                findings.push(finding);
            }
        }
        let start = &self.locations[self.start.index()];
        if start.edges.iter().all(Vec::is_empty) {
            let what = "no player has moves at the location where play starts";
            findings.push(Diagnostic::warning("toss-no-moves", start.span, what).hint(
                "play ends where no rule can be applied, so this game is over before it begins",
            ));
        }
    }

    fn check_unused(&self, findings: &mut Diagnostics) {
        let mut is_used = vec![false; self.rules.len()];
        for edge in self.locations.iter().flat_map(|location| location.edges.iter().flatten()) {
            is_used[edge.rule.index()] = true;
        }
        for (rule, is_used) in self.rules.iter().zip(is_used) {
            if !is_used {
                let what = format!("no move applies the rule `{}`", rule.name);
                findings.push(Diagnostic::warning("toss-unused-rule", rule.span, what));
            }
        }
        for (name, known) in &self.signature.relations {
            if known.is_defined && !self.used.contains(name) {
                let what = format!("the relation `{name}` is defined but never used");
                findings.push(Diagnostic::warning("toss-unused-relation", known.span, what));
            }
        }
    }

    fn check_optional(&self, findings: &mut Diagnostics) {
        for rule in &self.sheet.rules {
            let Change::Rewrite { left, .. } = &rule.change else { continue };
            let idle = left.relations.iter().find(|relation| {
                relation.is_optional
                    && !rule.embedded.iter().any(|name| name.text == relation.name.text)
            });
            if let Some(relation) = idle {
                let name = &relation.name.text;
                let what =
                    format!("`{name}` is optional but not embedded, so it makes no difference");
                findings.push(
                    Diagnostic::warning("toss-idle-option", relation.name.span, what)
                        .hint(format!("add `emb {name}`, or remove the optional tuple")),
                );
            }
        }
    }
}
