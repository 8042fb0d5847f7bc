//! Flattens a structure of the syntax tree, board included, into lists of elements and tuples.

use std::collections::BTreeSet;

use agon_text::{Diagnostic, Diagnostics, Span};

use super::signature::{COLUMN, ROW};
use super::suggest::did_you_mean;
use crate::syntax::{Cell, Name, Structure};

/// A structure as lists of elements and tuples.
#[derive(Default)]
pub(super) struct FlatStructure {
    /// The elements: those of the board row by row from its lower left corner, then those listed,
    /// then those that occur in tuples.
    pub(super) elements: Vec<Name>,
    pub(super) tuples: Vec<FlatTuple>,
    /// The rows of the board from the top, as indices into `elements`.
    pub(super) layout: Vec<Vec<Option<usize>>>,
    names: BTreeSet<String>,
}

/// A tuple with its relation.
pub(super) struct FlatTuple {
    pub(super) relation: Name,
    pub(super) elements: Vec<Name>,
    pub(super) is_optional: bool,
    pub(super) span: Span,
}

impl FlatStructure {
    /// Flattens a structure. Reports unknown elements and repeated names.
    pub(super) fn new(structure: &Structure, findings: &mut Diagnostics) -> FlatStructure {
        let mut flat = FlatStructure::default();
        if structure.board.is_some() {
            flat.board(structure);
        }
        for name in &structure.elements {
            if !flat.names.insert(name.text.clone()) {
                let what = format!("the element `{}` is listed a second time", name.text);
                findings.push(Diagnostic::error("toss-given-twice", name.span, what));
                continue;
            }
            flat.elements.push(name.clone());
        }
        // If elements are listed, another name is probably a typing error. If none are listed,
        // tuples introduce them.
        let is_closed = !flat.elements.is_empty();
        for relation in &structure.relations {
            for tuple in &relation.tuples {
                for element in &tuple.elements {
                    flat.mention(element, is_closed, findings);
                }
                flat.tuples.push(FlatTuple {
                    relation: relation.name.clone(),
                    elements: tuple.elements.clone(),
                    is_optional: relation.is_optional,
                    span: relation.name.span.to(tuple.span),
                });
            }
        }
        for (element, _) in structure.functions.iter().flat_map(|function| &function.values) {
            flat.mention(element, is_closed, findings);
        }
        for (_, element) in &structure.constants {
            // A constant names an existing element and does not introduce one.
            flat.mention(element, true, findings);
        }
        flat
    }

    fn mention(&mut self, element: &Name, is_closed: bool, findings: &mut Diagnostics) {
        if self.names.contains(&element.text) {
            return;
        }
        if is_closed {
            let what = format!("there is no element `{}` in this structure", element.text);
            let mut finding = Diagnostic::error("toss-unknown-element", element.span, what);
            let known = self.names.iter().map(String::as_str);
            if let Some(meant) = did_you_mean(&element.text, known) {
                finding = finding.did_you_mean(element.span, meant);
            }
            findings.push(finding);
            return;
        }
        self.names.insert(element.text.clone());
        self.elements.push(element.clone());
    }

    /// Returns the index of an element.
    pub(super) fn index(&self, name: &str) -> Option<usize> {
        self.elements.iter().position(|element| element.text == name)
    }

    /// Adds the elements of a board, its predicates, and the relations of rows and columns.
    fn board(&mut self, structure: &Structure) {
        let Some(board) = &structure.board else { return };
        let n_rows = board.rows.len();
        self.layout = board.rows.iter().map(|row| vec![None; row.len()]).collect();
        let at = |flat: &mut FlatStructure, row: usize, column: usize, letters: &[Name]| {
            let text = format!("{}{}", column_name(column), n_rows - row);
            let name = Name { text, span: board.span };
            for letter in letters {
                flat.tuples.push(FlatTuple {
                    relation: letter.clone(),
                    elements: vec![name.clone()],
                    is_optional: false,
                    span: letter.span,
                });
            }
            flat.layout[row][column] = Some(flat.elements.len());
            flat.names.insert(name.text.clone());
            flat.elements.push(name);
        };
        for (row, cells) in board.rows.iter().enumerate().rev() {
            for (column, cell) in cells.iter().enumerate() {
                match cell {
                    Cell::Hole => {}
                    Cell::Element(letters) => at(self, row, column, letters),
                }
            }
        }
        for row in (0..n_rows).rev() {
            for column in 0..self.layout[row].len() {
                let Some(here) = self.layout[row][column] else { continue };
                let right = self.layout[row].get(column + 1).copied().flatten();
                let above = row
                    .checked_sub(1)
                    .and_then(|above| self.layout[above].get(column).copied().flatten());
                for (relation, there) in [(ROW, right), (COLUMN, above)] {
                    let Some(there) = there else { continue };
                    self.tuples.push(FlatTuple {
                        relation: Name { text: relation.to_owned(), span: board.span },
                        elements: vec![self.elements[here].clone(), self.elements[there].clone()],
                        is_optional: false,
                        span: board.span,
                    });
                }
            }
        }
    }
}

/// Returns the letters of a column: `a` to `z`, then `aa`, `ab` and so on.
fn column_name(column: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(column % 26).expect("a remainder of 26 is small"));
    match column / 26 {
        0 => letter.to_string(),
        more => format!("{}{letter}", column_name(more - 1)),
    }
}
