//! What was learnt from random plays, for people and for programs.

use agon_game::{Notation, Role};
use serde_json::{Value, json};

use crate::concepts::ConceptJudge;

/// Rules that are shown of each role.
const N_RULES: usize = 10;

/// Concepts with their rules and sentences, and what the role's most telling facts are.
pub fn concepts_json<P: Notation>(judge: &ConceptJudge, position: &P) -> Value {
    let concepts = judge.concepts.iter();
    let concepts =
        concepts.map(|concept| json!({"rule": concept.rule(), "sentence": concept.sentence()}));
    let roles = position.shape().players().map(|role| {
        let rules = judge.best_rules(role, N_RULES).into_iter();
        let rules = rules.map(|(value, facts)| json!({"value": value, "facts": facts}));
        json!({
            "role": position.shape().role_names[role.index()],
            "value": judge.value(position, role),
            "rules": rules.collect::<Vec<Value>>(),
        })
    });
    json!({
        "plays": judge.n_plays,
        "concepts": concepts.collect::<Vec<Value>>(),
        "roles": roles.collect::<Vec<Value>>(),
    })
}

/// The same as lines.
pub fn concepts_text<P: Notation>(
    judge: &ConceptJudge,
    position: &P,
    n_shown: usize,
) -> Vec<String> {
    let mut lines = vec![format!("learnt from {} random plays", judge.n_plays)];
    if judge.concepts.is_empty() {
        lines.push("no two facts of one kind are there often enough to make a concept".to_owned());
    }
    for concept in judge.concepts.iter().take(n_shown) {
        lines.push(concept.sentence());
        lines.push(format!("  {concept}"));
    }
    if judge.concepts.len() > n_shown {
        lines.push(format!("… and {} more concepts", judge.concepts.len() - n_shown));
    }
    let players: Vec<Role> = position.shape().players().collect();
    for role in players {
        let name = &position.shape().role_names[role.index()];
        for (value, facts) in judge.best_rules(role, n_shown.min(3)) {
            lines.push(format!("{value:.4} for {name} where {facts}"));
        }
    }
    lines
}
