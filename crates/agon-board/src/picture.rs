//! A picture of a state as a grid of texts.

use std::fmt;

/// A picture of a state: text in a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The names of the columns, from left to right.
    pub columns: Vec<String>,
    /// The rows from top to bottom: the name of each row, and its cells. The text of an empty cell
    /// is empty.
    pub rows: Vec<(String, Vec<String>)>,
    /// The fluents that are not in the picture.
    pub rest: Vec<String>,
}

impl fmt::Display for Picture {
    /// Writes the grid with the names of its rows and columns, then the fluents that are not in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells = self.rows.iter().flat_map(|(_, cells)| cells).chain(&self.columns);
        let width = cells.map(|text| text.chars().count()).max().unwrap_or(1);
        let margin = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, cells) in &self.rows {
            write!(f, "{name:>margin$}")?;
            for cell in cells {
                write!(f, " {:>width$}", if cell.is_empty() { "." } else { cell.as_str() })?;
            }
            writeln!(f)?;
        }
        write!(f, "{:margin$}", "")?;
        for column in &self.columns {
            write!(f, " {column:>width$}")?;
        }
        if !self.rest.is_empty() {
            write!(f, "\n{}", self.rest.join(" "))?;
        }
        Ok(())
    }
}
