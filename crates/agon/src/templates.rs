//! Small games to start from: commented rules that pass `agon check --strict`.

/// A game to start from.
#[derive(Copy, Clone, Debug)]
pub struct Template {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// What kind of game it is.
    pub summary: &'static str,
    /// The ending of the file, which says the rule language.
    pub ending: &'static str,
    text: &'static str,
}

/// All templates.
pub const TEMPLATES: &[Template] = &[
    Template {
        name: "board",
        summary: "two players in turn on a board, with a parameter for its size",
        ending: "kif",
        text: include_str!("../templates/board.kif"),
    },
    Template {
        name: "puzzle",
        summary: "one player, with a step counter",
        ending: "kif",
        text: include_str!("../templates/puzzle.kif"),
    },
    Template {
        name: "cards",
        summary: "chance and hidden cards (GDL-II)",
        ending: "kif",
        text: include_str!("../templates/cards.kif"),
    },
    Template {
        name: "simultaneous",
        summary: "two players that move at the same time",
        ending: "kif",
        text: include_str!("../templates/simultaneous.kif"),
    },
    Template {
        name: "hidden",
        summary: "hidden information and percepts (GDL-II)",
        ending: "kif",
        text: include_str!("../templates/hidden.kif"),
    },
    Template {
        name: "toss",
        summary: "a structure rewriting game",
        ending: "toss",
        text: include_str!("../templates/toss.toss"),
    },
];

impl Template {
    /// Returns the template of a name.
    pub fn named(name: &str) -> Option<&'static Template> {
        TEMPLATES.iter().find(|template| template.name == name)
    }

    /// Returns the rules, with the title of the new game.
    ///
    /// ```
    /// let board = agon::templates::Template::named("board").expect("there is one");
    /// assert!(board.rules("My game").starts_with(";; title: My game\n"));
    /// ```
    pub fn rules(&self, title: &str) -> String {
        self.text.replacen("title: GAME", &format!("title: {title}"), 1)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agon_text::{Severity, Source};

    use super::*;
    use crate::reports::{CheckPlays, check};

    #[test]
    fn every_template_passes_the_strict_check() {
        for template in TEMPLATES {
            let name = format!("new.{}", template.ending);
            let source = Arc::new(Source::new(name, template.rules("New")));
            let plays = CheckPlays { plays: 20, is_strict: true, ..CheckPlays::default() };
            let findings = check(&source, plays);
            let found: Vec<_> =
                findings.iter().filter(|found| found.severity > Severity::Note).collect();
            assert!(found.is_empty(), "{}: {found:?}", template.name);
        }
    }
}
