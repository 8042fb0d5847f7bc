//! What the author of a rulesheet says about its picture.
//!
//! Hints are lines of the comment at the top of a rulesheet, `;; board: …` and `;; piece …`, or a
//! file `NAME.board.toml` beside it. Both have the same keys.
//!
//! ```text
//! ;; board: hex rows=y columns=x up=no
//! ;; piece wP: ♙ white
//! ```
//!
//! | key | meaning |
//! |---|---|
//! | `grid`, `hex`, `track`, `list` | the kind of board |
//! | `columns=NAME`, `rows=NAME` | relation argument, counted from 0, or variable name of an axis |
//! | `up=yes`, `up=no` | whether the first row is at the bottom |
//! | `relation=NAME` | the relation that is the board |
//! | `holes=no` | places that nothing ever reaches are part of the board |
//! | `marks=NAME` | a relation that never changes, whose places are marked |
//! | `hide=NAME` | a relation that is not shown |

use std::collections::{BTreeMap, BTreeSet};

use toml::de::{DeTable, DeValue};

/// What the author of a rulesheet says about its picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The kind of board.
    pub kind: Option<HintedKind>,
    /// The relation that is the board.
    pub relation: Option<String>,
    /// The argument that is the column: its index or the name of a variable.
    pub columns: Option<String>,
    /// The argument that is the row: its index or the name of a variable.
    pub rows: Option<String>,
    /// Whether the first row is at the bottom.
    pub up: Option<bool>,
    /// Whether places that no fluent and no move can mention are holes.
    pub holes: Option<bool>,
    /// Relations that never change and whose places are marked, such as the aims of a puzzle.
    pub marks: BTreeSet<String>,
    /// Relations that are not shown.
    pub hide: BTreeSet<String>,
    /// By the value in the rules: the glyph, and the name of the owner or nothing.
    pub pieces: BTreeMap<String, (String, Option<String>)>,
}

/// The kind of board that a hint names.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum HintedKind {
    /// Squares.
    Grid,
    /// Hexagons.
    Hex,
    /// Numbered places with a lane for each role.
    Track,
    /// No board.
    List,
}

impl Hints {
    /// Reads hints from the comment at the top of a rulesheet.
    ///
    /// # Errors
    /// A sentence that names the first hint that is not understood.
    pub fn from_header(text: &str) -> Result<Hints, String> {
        let mut hints = Hints::default();
        let lines = text.lines().take_while(|line| {
            let line = line.trim_start();
            line.is_empty() || line.starts_with(';') || line.starts_with("//")
        });
        for line in lines {
            let line = line.trim_start_matches([';', '/', ' ']);
            if let Some(rest) = line.strip_prefix("board:") {
                rest.split_whitespace().try_for_each(|word| hints.add_board(word))?;
            } else if let Some((value, glyph)) =
                line.strip_prefix("piece ").and_then(|rest| rest.split_once(':'))
            {
                let mut words = glyph.split_whitespace();
                let glyph = words.next().ok_or(format!("`piece {value}:` names no glyph"))?;
                let owner = words.next().map(str::to_owned);
                hints.pieces.insert(value.trim().to_owned(), (glyph.to_owned(), owner));
            }
        }
        Ok(hints)
    }

    /// Reads hints from the text of a `.board.toml` file:
    ///
    /// ```toml
    /// board = "hex rows=1 columns=0"
    /// [pieces]
    /// wP = "♙ white"
    /// ```
    ///
    /// # Errors
    /// A sentence that names what is not understood.
    pub fn from_toml(text: &str) -> Result<Hints, String> {
        let table = DeTable::parse(text).map_err(|error| error.to_string())?;
        let mut header = String::new();
        for (key, value) in table.get_ref() {
            match (&**key.get_ref(), value.get_ref()) {
                ("board", DeValue::String(board)) => {
                    header.push_str(&format!("; board: {board}\n"));
                }
                ("pieces", DeValue::Table(pieces)) => {
                    for (piece, glyph) in pieces {
                        let piece = piece.get_ref();
                        let DeValue::String(glyph) = glyph.get_ref() else {
                            return Err(format!("the piece `{piece}` must be a text"));
                        };
                        header.push_str(&format!("; piece {piece}: {glyph}\n"));
                    }
                }
                (key, _) => {
                    return Err(format!(
                        "`{key}` is not known here; write `board = \"…\"` or a table `[pieces]`"
                    ));
                }
            }
        }
        Hints::from_header(&header)
    }

    fn add_board(&mut self, word: &str) -> Result<(), String> {
        let unknown = || {
            format!(
                "`{word}` is not a hint for boards; there are grid, hex, track, list, rows=, \
                 columns=, up=, relation=, holes=, marks=, hide="
            )
        };
        match word.split_once('=') {
            None => {
                self.kind = Some(match word {
                    "grid" => HintedKind::Grid,
                    "hex" => HintedKind::Hex,
                    "track" => HintedKind::Track,
                    "list" => HintedKind::List,
                    _ => return Err(unknown()),
                });
            }
            Some(("rows", name)) => self.rows = Some(name.to_owned()),
            Some(("columns", name)) => self.columns = Some(name.to_owned()),
            Some(("relation", name)) => self.relation = Some(name.to_owned()),
            Some(("hide", name)) => {
                self.hide.insert(name.to_owned());
            }
            Some(("marks", name)) => {
                self.marks.insert(name.to_owned());
            }
            Some(("holes", "yes")) => self.holes = Some(true),
            Some(("holes", "no")) => self.holes = Some(false),
            Some(("up", "yes")) => self.up = Some(true),
            Some(("up", "no")) => self.up = Some(false),
            Some(_) => return Err(unknown()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_and_file_give_the_same_hints() {
        let header =
            ";; title: T\n;; board: hex rows=y up=no hide=step\n;; piece wP: ♙ white\n(role a)";
        let from_header = Hints::from_header(header).expect("the hints are correct");
        assert_eq!(from_header.kind, Some(HintedKind::Hex));
        assert_eq!(from_header.rows.as_deref(), Some("y"));
        let piece = ("♙".to_owned(), Some("white".to_owned()));
        assert_eq!(from_header.pieces.get("wP"), Some(&piece));
        let file = "board = \"hex rows=y up=no hide=step\"\n[pieces]\nwP = \"♙ white\"\n";
        assert_eq!(Hints::from_toml(file), Ok(from_header));
    }

    #[test]
    fn unknown_hints_are_named() {
        let error = Hints::from_header("; board: triangle").expect_err("there is no such board");
        assert!(error.contains("`triangle`"), "{error}");
        let error = Hints::from_toml("boards = 1").expect_err("there is no such key");
        assert!(error.contains("`boards`"), "{error}");
    }
}
