//! A board: how the states of a game are drawn.

use std::collections::{BTreeMap, BTreeSet};

use crate::axis::Axis;
use crate::fluent::Flat;
use crate::picture::Picture;

/// How the states of a game are drawn.
#[derive(Clone, Debug)]
pub struct Board {
    pub(crate) columns: Axis,
    pub(crate) rows: Axis,
    /// The relations that are drawn, in this order: later ones over earlier ones.
    pub(crate) layers: Vec<Layer>,
    /// By word: the label that is drawn for it; empty if it is not drawn.
    pub(crate) labels: BTreeMap<String, String>,
    /// Column and row of places that have a single name, such as `a1`.
    pub(crate) named: BTreeMap<String, (usize, usize)>,
}

/// A relation that is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) relation: String,
    pub(crate) arity: usize,
    /// Index of the argument that is the column.
    pub(crate) column_at: usize,
    /// Index of the argument that is the row.
    pub(crate) row_at: usize,
    /// The label of a place where the relation has no other argument.
    pub(crate) mark: String,
}

/// Maximum number of rows and of columns. Larger boards are not drawn.
pub(crate) const MAX_SIDE: usize = 40;

impl Board {
    /// Returns a board whose places are named by letters and a number, as on a chess board. A
    /// fluent with such a place as its only argument is drawn as the name of its relation. Returns
    /// `None` if a name does not have this form.
    pub fn of_named_places<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Board> {
        let split = |name: &'a str| -> Option<(&'a str, &'a str)> {
            let at = name.find(|c: char| c.is_ascii_digit())?;
            let (letters, number) = name.split_at(at);
            let is_place = !letters.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            is_place.then_some((letters, number))
        };
        let places: Vec<(&str, (&str, &str))> =
            names.into_iter().map(|name| Some((name, split(name)?))).collect::<Option<_>>()?;
        let letters: BTreeSet<String> =
            places.iter().map(|(_, (letters, _))| (*letters).to_owned()).collect();
        let numbers: BTreeSet<String> =
            places.iter().map(|(_, (_, number))| (*number).to_owned()).collect();
        let (columns, rows) = (Axis::new(&letters, &[])?, Axis::new(&numbers, &[])?);
        if columns.len() > MAX_SIDE || rows.len() > MAX_SIDE {
            return None;
        }
        let named = places
            .into_iter()
            .map(|(name, (letters, number))| {
                Some((name.to_owned(), (columns.index(letters)?, rows.index(number)?)))
            })
            .collect::<Option<_>>()?;
        Some(Board { columns, rows, layers: Vec::new(), labels: BTreeMap::new(), named })
    }

    /// Draws a state.
    pub fn picture(&self, state: &[String]) -> Picture {
        let mut cells = vec![vec![String::new(); self.columns.len()]; self.rows.len()];
        let mut rest = Vec::new();
        let mut drawn = vec![false; state.len()];
        for layer in &self.layers {
            for (fluent, drawn) in state.iter().zip(&mut drawn) {
                let Some(flat) = Flat::new(fluent).filter(|flat| layer.holds(flat)) else {
                    continue;
                };
                let column = self.columns.index(flat.arguments[layer.column_at]);
                let row = self.rows.index(flat.arguments[layer.row_at]);
                let (Some(column), Some(row)) = (column, row) else { continue };
                *drawn = true;
                let text = layer.text(&flat, &self.labels);
                if !text.is_empty() {
                    cells[row][column] = text;
                }
            }
        }
        for (fluent, drawn) in state.iter().zip(&mut drawn) {
            let Some(flat) = Flat::new(fluent).filter(|flat| flat.arguments.len() == 1) else {
                continue;
            };
            let Some(&(column, row)) = self.named.get(flat.arguments[0]) else { continue };
            *drawn = true;
            let cell = &mut cells[row][column];
            if !cell.is_empty() {
                cell.push('+');
            }
            cell.push_str(flat.relation);
        }
        rest.extend(state.iter().zip(&drawn).filter(|(_, drawn)| !**drawn).map(|(f, _)| f.clone()));
        let named = self.rows.values().iter().cloned().zip(cells);
        let mut rows: Vec<(String, Vec<String>)> = named.collect();
        rows.reverse();
        Picture { columns: self.columns.values().to_vec(), rows, rest }
    }

    /// Returns the meaning of the labels that are not whole words: label and word.
    pub fn legend(&self) -> Vec<(String, String)> {
        let shortened =
            self.labels.iter().filter(|(word, label)| word != label && !label.is_empty());
        let marks = self.layers.iter().filter(|layer| layer.arity == 2);
        let words = shortened.map(|(word, label)| (label.clone(), word.clone()));
        words.chain(marks.map(|layer| (layer.mark.clone(), layer.relation.clone()))).collect()
    }
}

impl Layer {
    /// Returns whether a fluent belongs to the layer.
    pub(crate) fn holds(&self, flat: &Flat<'_>) -> bool {
        flat.relation == self.relation && flat.arguments.len() == self.arity
    }

    /// Returns the arguments that are not coordinates.
    pub(crate) fn values<'a>(&self, flat: &Flat<'a>) -> Vec<&'a str> {
        let at = flat.arguments.iter().enumerate();
        at.filter(|(i, _)| *i != self.column_at && *i != self.row_at)
            .map(|(_, value)| *value)
            .collect()
    }

    /// Returns the text that is drawn for a fluent.
    fn text(&self, flat: &Flat<'_>, labels: &BTreeMap<String, String>) -> String {
        if self.arity == 2 {
            return self.mark.clone();
        }
        let label = |word: &str| labels.get(word).cloned().unwrap_or_else(|| word.to_owned());
        self.values(flat).into_iter().map(label).collect()
    }
}
