//! The results of an analysis as text for people and as JSON for programs.
//!
//! Each kind of result has a function for text lines (`…_text`) and one for a JSON value
//! (`…_json`): properties, the evaluation by fuzzy logic, the move heuristic, and the learned
//! concepts. The commands `agon info` and `agon explain` print them. The keys of the JSON objects
//! are stable.

mod action_heuristic;
mod concepts;
mod fuzzy;
mod fuzzy_text;
mod lists;
mod properties;
mod properties_text;
mod prospects;

use std::fmt::Display;

use serde_json::{Map, Value, json};

pub use action_heuristic::{action_heuristic_json, action_heuristic_text};
pub use concepts::{ConceptView, concepts_json, concepts_text};
pub use fuzzy::{evaluation_json, features_json};
pub use fuzzy_text::evaluation_text;
pub use properties::properties_json;
pub use properties_text::properties_text;

/// A section of an explanation.
#[derive(Clone, Debug)]
pub enum Section {
    /// The content of the section.
    Available(Value),
    /// The reason why the section has no content.
    Refused(String),
}

impl<E: Display> From<Result<Value, E>> for Section {
    fn from(result: Result<Value, E>) -> Section {
        match result {
            Ok(value) => Section::Available(value),
            Err(error) => Section::Refused(error.to_string()),
        }
    }
}

/// The explanation of a game and a position.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The proved and observed properties of the game.
    pub properties: Section,
    /// The goals as evaluation trees.
    pub fuzzy: Section,
    /// The goals regressed by a step.
    pub action_heuristic: Section,
    /// The concepts learned from random plays.
    pub concepts: Section,
}

impl Explanation {
    /// Returns the explanation as a JSON object. Sections without content are listed under
    /// `refused`, with the reason.
    pub fn json(self) -> Map<String, Value> {
        let mut object = Map::new();
        let mut refused = Map::new();
        let sections = [
            ("properties", self.properties),
            ("fuzzy", self.fuzzy),
            ("action_heuristic", self.action_heuristic),
            ("concepts", self.concepts),
        ];
        for (name, section) in sections {
            match section {
                Section::Available(value) => object.insert(name.to_owned(), value),
                Section::Refused(reason) => refused.insert(name.to_owned(), json!(reason)),
            };
        }
        if !refused.is_empty() {
            object.insert("refused".to_owned(), Value::Object(refused));
        }
        object
    }
}

/// Joins the first `n_shown` texts, and adds the number of the others.
fn abbreviated(texts: &[String], n_shown: usize) -> String {
    let shown = texts.iter().take(n_shown).cloned().collect::<Vec<_>>().join(", ");
    match texts.len().saturating_sub(n_shown) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Maximum number of items of a list in a sentence.
const MAX_LISTED: usize = 6;

/// Joins texts with commas and a final "and". A long list is cut short.
fn listed(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if texts.len() <= MAX_LISTED => {
            format!("{} and {last}", first.join(", "))
        }
        _ => abbreviated(texts, MAX_LISTED),
    }
}
