//! What was found out of a game, said in words and as JSON.

mod evaluation;
mod findings;
mod learnt;
mod regressed;

use serde_json::{Map, Value, json};

pub use evaluation::{evaluation_json, evaluation_text};
pub use findings::{properties_json, properties_text};
pub use learnt::{concepts_json, concepts_text};
pub use regressed::{action_heuristic_json, action_heuristic_text};

/// A part of an explanation, or why there is none.
pub type Section = Result<Value, String>;

/// The parts of an explanation. Each is there or refused with a reason.
pub struct Entry {
    /// What is proved or observed of the game.
    pub properties: Section,
    /// The goals as evaluation trees.
    pub fuzzy: Section,
    /// The goals regressed by a step.
    pub action_heuristic: Section,
    /// What was learnt from playouts.
    pub concepts: Section,
}

impl Entry {
    /// One object: the parts there are, and under `refused` the reasons for those there are not.
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
                Ok(value) => object.insert(name.to_owned(), value),
                Err(why) => refused.insert(name.to_owned(), json!(why)),
            };
        }
        if !refused.is_empty() {
            object.insert("refused".to_owned(), Value::Object(refused));
        }
        object
    }
}

/// A list for people: the first few, and how many more there are.
fn some(texts: &[String], n_shown: usize) -> String {
    let shown = texts.iter().take(n_shown).cloned().collect::<Vec<_>>().join(", ");
    match texts.len().saturating_sub(n_shown) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
