//! What has a meaning and was probably not meant: warnings.

use std::collections::BTreeSet;

use agon_text::{Diagnostic, Diagnostics};

use super::signature::Signature;
use crate::arena::{ArenaLocation, ArenaRule, LocationId};
use crate::syntax::{Change, GameSheet};

/// Warns of locations that cannot be reached, and of rules and relations that nothing uses.
pub(super) fn check(
    sheet: &GameSheet,
    signature: &Signature,
    rules: &[ArenaRule],
    locations: &[ArenaLocation],
    start: LocationId,
    used: &BTreeSet<String>,
    findings: &mut Diagnostics,
) {
    let mut reached = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        let targets = locations[at.index()].edges.iter().flatten().flat_map(|edge| &edge.outcomes);
        open.extend(targets.map(|outcome| outcome.0).filter(|target| reached.insert(*target)));
    }
    for (index, location) in locations.iter().enumerate() {
        if !reached.contains(&LocationId::new(index)) {
            let what = format!("no move leads to the location `{}`", location.name);
            findings.push(Diagnostic::warning("toss-unreachable-location", location.span, what));
        }
    }
    if locations[start.index()].edges.iter().all(Vec::is_empty) {
        let what = "nobody has moves at the location that play starts in";
        findings.push(
            Diagnostic::warning("toss-no-moves", locations[start.index()].span, what).hint(
                "play ends where nothing can be applied, so this game is over before it begins",
            ),
        );
    }
    for (index, rule) in rules.iter().enumerate() {
        let is_used = locations
            .iter()
            .flat_map(|location| location.edges.iter().flatten())
            .any(|e| e.rule.index() == index);
        if !is_used {
            let what = format!("the rule `{}` is the move of nobody", rule.name);
            findings.push(Diagnostic::warning("toss-unused-rule", rule.span, what));
        }
    }
    for (name, known) in &signature.relations {
        if known.is_defined && !used.contains(name) {
            let what = format!("the relation `{name}` is defined and never used");
            findings.push(Diagnostic::warning("toss-unused-relation", known.span, what));
        }
    }
    for rule in &sheet.rules {
        if let Change::Rewrite { left, .. } = &rule.change
            && let Some(relation) = left.relations.iter().find(|relation| {
                relation.is_optional
                    && !rule.embedded.iter().any(|name| name.text == relation.name.text)
            })
        {
            let what = format!(
                "`{}` is optional, and not embedded: it makes no difference",
                relation.name.text
            );
            findings.push(
                Diagnostic::warning("toss-idle-option", relation.name.span, what)
                    .hint(format!("add `emb {}`, or leave it out", relation.name.text)),
            );
        }
    }
}
