//! What pieces look like: symbols by name, owners, short texts.

use std::collections::{BTreeMap, BTreeSet};

use crate::fluent::{Flat, words};
use crate::infer::stacks::amount;
use crate::layout::{Layer, LayerRole};
use crate::scene::{Piece, Symbol};

/// What is known of the contents of places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Styles {
    /// Values that mean that a place is empty.
    pub(crate) blanks: BTreeSet<String>,
    /// By value, or by relation of a layer without contents: the owner.
    pub(crate) owners: BTreeMap<String, usize>,
    /// By value: what is left of it without the part that names the owner.
    pub(crate) kinds: BTreeMap<String, String>,
    /// By kind: the short text.
    pub(crate) texts: BTreeMap<String, String>,
    /// By kind without owner: its number.
    pub(crate) tints: BTreeMap<String, usize>,
    /// Whether single letters are the pieces of chess.
    pub(crate) is_chess: bool,
    /// Whether a king is a crowned man.
    pub(crate) is_checkers: bool,
    /// By value: glyph and owner that the author of the rules wants.
    pub(crate) hinted: BTreeMap<String, (String, Option<usize>)>,
    /// By role: its short name, different from those of the other roles.
    pub(crate) role_texts: Vec<String>,
}

/// Names of relations that say only that something is there.
const GENERIC: &[&str] = &[
    "cell",
    "at",
    "location",
    "position",
    "holds",
    "cellholds",
    "occupied",
    "piece",
    "square",
    "disc",
    "disk",
    "stone",
    "peg",
    "marker",
    "mark",
    "man",
    "checker",
    "token",
    "counter",
    "board",
    "place",
    "placed",
    "pos",
    "loc",
    "on",
    "in",
    "spot",
    "chip",
    "marble",
    "marked",
    "filled",
    "space",
    "point",
    "owner",
    "owns",
    "color",
    "colour",
    "box",
    "contains",
    "has",
    "player",
    "occupies",
    "is",
    "state",
];

impl Styles {
    /// Returns the piece that a fluent of a layer puts on its place; `None` if it says that the
    /// place is empty.
    pub(crate) fn piece(
        &self,
        layer: &Layer,
        flat: &Flat,
        fluent: &str,
        roles: &[String],
    ) -> Option<Piece> {
        if layer.role == LayerRole::Exists {
            return None;
        }
        let values: Vec<&String> = layer.contents.iter().map(|&i| &flat.arguments[i]).collect();
        let mut owner = None;
        let mut kinds: Vec<String> = Vec::new();
        let mut count = 1;
        for value in values {
            if let Some(role) = roles.iter().position(|role| role == value) {
                owner = owner.or(Some(role));
                if layer.contents.len() == 1 && is_mark(value) {
                    kinds.push(value.clone());
                }
                continue;
            }
            if layer.role == LayerRole::Amount
                && let Some(number) = amount(value)
            {
                count = number;
                continue;
            }
            if layer.role != LayerRole::Tower && self.blanks.contains(value) {
                continue;
            }
            owner = owner.or(self.owners.get(value).copied());
            kinds.push(value.clone());
        }
        if layer.role == LayerRole::Amount && count == 0 {
            return None;
        }
        let has_contents = !layer.contents.is_empty();
        if has_contents && kinds.is_empty() && owner.is_none() && layer.role != LayerRole::Amount {
            return None;
        }
        if !has_contents {
            owner = self.owners.get(&flat.relation).copied();
        }
        let is_generic = GENERIC.contains(&flat.relation.to_lowercase().as_str());
        if kinds.is_empty() && (!has_contents || !is_generic) {
            kinds.push(flat.relation.clone());
        }
        let value = kinds.join(" ");
        let kind = self.kinds.get(&value).cloned().unwrap_or(value.clone());
        let mut name = words(&kind);
        if let Some(role) = owner
            && !name.contains(roles[role].as_str())
        {
            name = format!("{} {name}", words(&roles[role]));
        }
        let hinted = self.hinted.get(&value).or_else(|| self.hinted.get(&kind));
        if let Some((_, Some(role))) = hinted {
            owner = Some(*role);
        }
        // Where pieces have owners, a relation without owner and contents marks places.
        let is_mark_layer = !has_contents
            && (layer.role == LayerRole::Mark || (owner.is_none() && !self.owners.is_empty()));
        let mut symbol = match layer.role {
            LayerRole::Line => Symbol::Line,
            LayerRole::Mark | LayerRole::Main if is_mark_layer => {
                let known = self.symbol(&kind);
                if matches!(known, Symbol::Text | Symbol::Disc | Symbol::Tile) {
                    Symbol::Dot
                } else {
                    known
                }
            }
            LayerRole::Amount if kinds.len() <= 1 => Symbol::Disc,
            _ => self.symbol(&kind),
        };
        let mut text =
            self.texts.get(&kind).cloned().unwrap_or_else(|| kind.chars().take(3).collect());
        let mut glyph = self.glyph(symbol, &text, owner);
        if symbol == Symbol::Disc && owner.is_none() && kind.eq_ignore_ascii_case("white") {
            glyph = "○".to_owned();
        }
        if let Some((hint, _)) = hinted {
            symbol = symbol_of_glyph(hint).unwrap_or(Symbol::Text);
            text.clone_from(hint);
            glyph.clone_from(hint);
        }
        Some(Piece {
            symbol,
            text,
            glyph,
            owner,
            tint: self.tints.get(&kind).copied().unwrap_or(0),
            count,
            name: name.trim().to_owned(),
            fluent: fluent.to_owned(),
        })
    }

    /// Returns the symbol of a kind of piece.
    pub(crate) fn symbol(&self, kind: &str) -> Symbol {
        let kind = kind.to_lowercase();
        let kind = kind.trim_end_matches(['_', '-']);
        if !kind.is_empty() && kind.bytes().all(|b| b.is_ascii_digit()) {
            return Symbol::Tile;
        }
        if self.is_chess {
            match kind {
                "p" => return Symbol::Pawn,
                "n" => return Symbol::Knight,
                "b" => return Symbol::Bishop,
                "r" => return Symbol::Rook,
                "q" => return Symbol::Queen,
                "k" => return Symbol::King,
                _ => {}
            }
        }
        match kind {
            "pawn" => Symbol::Pawn,
            "knight" | "horse" => Symbol::Knight,
            "bishop" => Symbol::Bishop,
            "rook" | "castle" | "tower" => Symbol::Rook,
            "queen" | "amazon" => Symbol::Queen,
            "king" if self.is_checkers => Symbol::CrownedDisc,
            "k" | "double" if self.is_checkers => Symbol::CrownedDisc,
            "king" => Symbol::King,
            "x" | "cross" | "xplayer" => Symbol::Cross,
            "o" | "nought" | "ring" | "circle" | "oplayer" => Symbol::Ring,
            "wall" | "block" | "blocked" | "brick" | "burnt" | "burned" | "fire" | "obstacle"
            | "arrow" | "visited" | "trail" | "rock" | "used" | "taken" | "dead" | "barrier"
            | "unavailable" | "filled" => Symbol::Block,
            "dot" | "pellet" | "food" | "coin" | "gold" => Symbol::Dot,
            "lit" | "light" | "lamp" => Symbol::Light,
            "north" | "up" => Symbol::North,
            "south" | "down" => Symbol::South,
            "east" | "right" => Symbol::East,
            "west" | "left" => Symbol::West,
            // Stones of these colours differ without a text.
            "" | "black" | "white" => Symbol::Disc,
            kind if GENERIC.contains(&kind) => Symbol::Disc,
            "p" | "m" if self.is_checkers => Symbol::Disc,
            _ => Symbol::Text,
        }
    }

    fn glyph(&self, symbol: Symbol, text: &str, owner: Option<usize>) -> String {
        let of_role = |role: usize| self.role_texts.get(role).map_or("", String::as_str);
        let is_second = owner.is_some_and(|role| role % 2 == 1);
        let chess =
            |first: char, second: char| (if is_second { second } else { first }).to_string();
        match symbol {
            Symbol::Pawn => chess('♙', '♟'),
            Symbol::Knight => chess('♘', '♞'),
            Symbol::Bishop => chess('♗', '♝'),
            Symbol::Rook => chess('♖', '♜'),
            Symbol::Queen => chess('♕', '♛'),
            Symbol::King => chess('♔', '♚'),
            Symbol::Disc => owner.map_or("●".to_owned(), |role| of_role(role).to_uppercase()),
            Symbol::CrownedDisc => {
                owner.map_or("◉".to_owned(), |role| format!("{}K", of_role(role).to_uppercase()))
            }
            Symbol::Cross => "x".to_owned(),
            Symbol::Ring => "o".to_owned(),
            Symbol::Block => owner.map_or("#".to_owned(), |role| of_role(role).to_owned()),
            Symbol::Dot => "·".to_owned(),
            Symbol::Light => "*".to_owned(),
            Symbol::North => "↑".to_owned(),
            Symbol::South => "↓".to_owned(),
            Symbol::East => "→".to_owned(),
            Symbol::West => "←".to_owned(),
            Symbol::Line => "=".to_owned(),
            Symbol::Tile => text.to_owned(),
            Symbol::Text => {
                owner.map_or(text.to_owned(), |role| format!("{}{text}", of_role(role)))
            }
            Symbol::Back => "?".to_owned(),
        }
    }
}

/// Returns whether a role name is itself a symbol, as in tic-tac-toe.
fn is_mark(role: &str) -> bool {
    matches!(
        role.to_lowercase().as_str(),
        "x" | "o" | "cross" | "ring" | "circle" | "xplayer" | "oplayer"
    )
}

/// Returns the symbol that a glyph in a hint stands for.
fn symbol_of_glyph(glyph: &str) -> Option<Symbol> {
    Some(match glyph {
        "♙" | "♟" | "pawn" => Symbol::Pawn,
        "♘" | "♞" | "knight" => Symbol::Knight,
        "♗" | "♝" | "bishop" => Symbol::Bishop,
        "♖" | "♜" | "rook" => Symbol::Rook,
        "♕" | "♛" | "queen" => Symbol::Queen,
        "♔" | "♚" | "king" => Symbol::King,
        "●" | "○" | "disc" => Symbol::Disc,
        "⛀" | "⛂" => Symbol::Disc,
        "⛁" | "⛃" | "crowned" => Symbol::CrownedDisc,
        "×" | "✕" | "cross" => Symbol::Cross,
        "◯" | "ring" => Symbol::Ring,
        "■" | "█" | "block" => Symbol::Block,
        "·" | "dot" => Symbol::Dot,
        "↑" => Symbol::North,
        "↓" => Symbol::South,
        "→" => Symbol::East,
        "←" => Symbol::West,
        _ => return None,
    })
}

/// Returns short texts for names, different from each other where three characters allow it.
pub(crate) fn short_texts(names: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for name in names {
        if is_short_number(name) {
            texts.insert(name.clone(), name.clone());
            continue;
        }
        let characters: Vec<char> = name.chars().filter(|c| !matches!(c, '_' | '-')).collect();
        if characters.len() <= 2 {
            texts.insert(name.clone(), characters.iter().collect());
            continue;
        }
        let last = characters[characters.len() - 1];
        let first: String = characters[..1].iter().collect::<String>().to_uppercase();
        let mut choices = Vec::new();
        let stem = characters.iter().take_while(|c| !c.is_ascii_digit()).count();
        let digits = &characters[stem..];
        if (2..=4).contains(&digits.len()) && digits.iter().all(char::is_ascii_digit) {
            // Names that differ in a number, such as `p0110`.
            choices.push(digits.iter().collect());
        }
        choices.extend(last.is_ascii_digit().then(|| format!("{first}{last}")));
        choices.push(first.clone());
        choices.push(format!("{first}{}", characters[1]));
        choices.push(format!("{first}{last}"));
        choices.push(format!("{first}{}{}", characters[1], characters[2]));
        choices.push(format!("{first}{}{last}", characters[characters.len() / 2]));
        let is_free =
            |text: &&String| !texts.values().any(|taken| taken.eq_ignore_ascii_case(text));
        let text = choices.iter().find(is_free).unwrap_or(&choices[0]).clone();
        texts.insert(name.clone(), text);
    }
    texts
}

/// Returns whether a name is a fraction, a decimal or a negative number that fits into a cell.
fn is_short_number(name: &str) -> bool {
    name.len() <= 4
        && name.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && name.ends_with(|c: char| c.is_ascii_digit())
        && name.contains(['/', '.', '-'])
        && name.chars().all(|c| c.is_ascii_digit() || matches!(c, '/' | '.' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_signs() {
        let names = ["1/3", "-2.5", "13", "25", "-3", "10/37"];
        let texts = short_texts(&names.iter().map(|name| (*name).to_owned()).collect());
        for name in &names[..5] {
            assert_eq!(texts[*name], *name);
        }
        let different: BTreeSet<&String> = texts.values().collect();
        assert_eq!(different.len(), names.len(), "{texts:?}");
    }

    #[test]
    fn short_texts_differ() {
        let names = ["wolf", "sheep", "shepherd", "xx", "tank1", "tank2", "p0010", "p1010"];
        let texts = short_texts(&names.iter().map(|name| (*name).to_owned()).collect());
        let different: BTreeSet<&String> = texts.values().collect();
        assert_eq!(different.len(), names.len(), "{texts:?}");
        assert_eq!(texts["xx"], "xx");
        assert_eq!((&*texts["tank1"], &*texts["tank2"]), ("T1", "T2"));
        assert_eq!((&*texts["p0010"], &*texts["p1010"]), ("0010", "1010"));
    }

    #[test]
    fn kings_of_checkers_are_crowned_men() {
        let chess = Styles::default();
        assert_eq!(chess.symbol("king"), Symbol::King);
        let checkers = Styles { is_checkers: true, ..Styles::default() };
        assert_eq!(checkers.symbol("king"), Symbol::CrownedDisc);
        assert_eq!(chess.symbol("12"), Symbol::Tile);
        assert_eq!(chess.symbol("dragon"), Symbol::Text);
    }
}
