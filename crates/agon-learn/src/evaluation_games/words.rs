//! Formulas about moves, said in words.

use super::conjunction::{Conjunction, When};
use super::construction::Finding;
use super::examples::Examples;
use super::grow::Grown;
use super::view::View;

/// Describes a conjunction that was found. `others` are the moves that it is compared with.
pub(super) fn finding(examples: &Examples, found: &Grown, others: &[usize]) -> Finding {
    Finding {
        formula: found.conjunction.formula(&examples.view).to_string(),
        words: sentence(&found.conjunction, &examples.view),
        means: [examples.mean_value(&found.holds), examples.mean_value(others)],
        n_moves: [found.holds.len(), found.holds.len() + others.len()],
    }
}

const NAMES: [&str; 6] = ["x", "y", "z", "u", "v", "w"];

/// Returns a conjunction as a clause, such as "a place is W that was B before the move".
pub(super) fn sentence(conjunction: &Conjunction, view: &View) -> String {
    let n = usize::from(conjunction.n_variables);
    let descriptions: Vec<String> = (0..n as u8).map(|v| describe(conjunction, view, v)).collect();
    let links: Vec<String> = conjunction
        .literals
        .iter()
        .filter(|literal| literal.arguments.len() > 1)
        .map(|literal| {
            let names: Vec<&str> =
                literal.arguments.iter().map(|&v| NAMES[usize::from(v)]).collect();
            let relation = &view.relations[literal.relation].name;
            let verb = match (literal.when, literal.is_positive) {
                (When::Now, true) => "leads",
                (When::Now, false) => "does not lead",
                (When::Before, true) => "led",
                (When::Before, false) => "did not lead",
            };
            format!("{relation} {verb} from {}", names.join(" to "))
        })
        .collect();
    if n == 1 && links.is_empty() {
        return format!("a place {}", descriptions[0]);
    }
    let mut parts: Vec<String> = descriptions
        .iter()
        .zip(NAMES)
        .filter(|(text, _)| !text.is_empty())
        .map(|(text, name)| format!("{name} {text}"))
        .collect();
    parts.extend(links);
    let places = if n == 1 {
        "there is a place".to_owned()
    } else {
        format!("there are places {}", NAMES[..n].join(", "))
    };
    format!("{places}: {}", parts.join("; "))
}

/// Returns what the literals with one argument say of a variable.
fn describe(conjunction: &Conjunction, view: &View, variable: u8) -> String {
    let says = |relation: usize, when: When| {
        conjunction
            .literals
            .iter()
            .find(|l| l.arguments == [variable] && l.relation == relation && l.when == when)
            .map(|literal| literal.is_positive)
    };
    // What is comes before what was.
    let (mut parts, mut past) = (Vec::new(), Vec::new());
    for (relation, entry) in view.relations.iter().enumerate() {
        let name = &entry.name;
        let text = match (says(relation, When::Now), says(relation, When::Before)) {
            (None, None) => continue,
            (Some(true), Some(false)) => format!("has become {name}"),
            (Some(true), Some(true)) => format!("is {name} and was so before the move"),
            (Some(true), None) => format!("is {name}"),
            (Some(false), Some(true)) => format!("was {name} and is not any more"),
            (Some(false), Some(false)) => format!("is not {name} and was not before the move"),
            (Some(false), None) => format!("is not {name}"),
            (None, Some(is_positive)) => {
                let not = if is_positive { "" } else { "not " };
                past.push(format!("was {not}{name} before the move"));
                continue;
            }
        };
        parts.push(text);
    }
    parts.extend(past);
    parts.join(" and ")
}
