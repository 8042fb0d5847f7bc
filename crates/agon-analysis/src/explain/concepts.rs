//! Concepts learned from random plays, as text and as JSON.

use agon_game::{Notation, Role};
use serde_json::{Value, json};

use crate::concepts::ConceptHeuristic;

/// Maximum number of rules that are shown for each role.
const N_RULES: usize = 10;

/// Returns the concepts and, for each role, the sets of facts with the highest values as JSON.
pub fn concepts_json<P: Notation>(heuristic: &ConceptHeuristic, position: &P) -> Value {
    let concepts = heuristic.concepts.iter();
    let concepts =
        concepts.map(|concept| json!({"rule": concept.rule(), "sentence": concept.sentence()}));
    let roles = position.shape().players().map(|role| {
        let rules = heuristic.best_rules(role, N_RULES).into_iter();
        let rules = rules.map(|(value, facts)| json!({"value": value, "facts": facts}));
        json!({
            "role": position.shape().role_names[role.index()],
            "value": heuristic.value(position, role),
            "rules": rules.collect::<Vec<Value>>(),
        })
    });
    json!({
        "plays": heuristic.n_plays,
        "concepts": concepts.collect::<Vec<Value>>(),
        "roles": roles.collect::<Vec<Value>>(),
    })
}

/// Describes the concepts and, for each role, the sets of facts with the highest values. At most
/// `n_shown` concepts are shown.
pub fn concepts_text<P: Notation>(
    heuristic: &ConceptHeuristic,
    position: &P,
    n_shown: usize,
) -> Vec<String> {
    let mut lines = vec![format!("learned from {} random plays", heuristic.n_plays)];
    if heuristic.concepts.is_empty() {
        lines.push(
            "no two facts with the same name occur together often enough to form a concept"
                .to_owned(),
        );
    }
    for concept in heuristic.concepts.iter().take(n_shown) {
        lines.push(concept.sentence());
        lines.push(format!("  {concept}"));
    }
    if heuristic.concepts.len() > n_shown {
        lines.push(format!("… and {} more concepts", heuristic.concepts.len() - n_shown));
    }
    let players: Vec<Role> = position.shape().players().collect();
    for role in players {
        let name = &position.shape().role_names[role.index()];
        for (value, facts) in heuristic.best_rules(role, n_shown.min(3)) {
            lines.push(format!(
                "frequent at the end of plays won by {name}: {facts} (weight {value:.4})"
            ));
        }
    }
    lines
}
