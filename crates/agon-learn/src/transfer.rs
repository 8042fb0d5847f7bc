//! Transfer: weights from a board of one size to a board of another.
//!
//! A pattern is described by what does not depend on the size of the board: the contents of its
//! cells, and where they are relative to each other. A pattern of the new board starts with the
//! weights of the pattern of the old board that has the same description and is nearest to it,
//! where places are measured as parts of the width and height.

use agon_game::Notation;

use crate::form::Form;
use crate::model::{Learner, Shapes};
use crate::patterns::Pattern;
use crate::units::Cell;

/// How much of a game could be transferred.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Transferred {
    /// Number of tables of weights of the new game.
    pub n_tables: usize,
    /// Number of these that start with weights of the old game.
    pub n_filled: usize,
}

/// Why nothing can be transferred.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CannotTransfer {
    /// The games have different numbers of players, or one of them takes turns in another way.
    Players,
    /// The model is a network, which has no patterns.
    Network,
    /// No pattern of one game occurs in the other.
    Patterns,
}

impl std::fmt::Display for CannotTransfer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CannotTransfer::Players => "the players of the two games do not correspond",
            CannotTransfer::Network => "the model is a network; learn with --form tables",
            CannotTransfer::Patterns => "no pattern of one game occurs in the other",
        })
    }
}

impl std::error::Error for CannotTransfer {}

/// A pattern without its place.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Description {
    /// By cell in the order of digits: where it is relative to the corner of the pattern. Empty for
    /// a unit that is not a cell.
    offsets: Vec<(u32, u32)>,
    /// The contents of the units, in the order of digits.
    contents: Vec<Vec<(u32, String)>>,
    bases: Vec<usize>,
}

/// A table of weights with the description and place of a pattern that uses it.
struct Described {
    description: Description,
    /// The middle of the pattern, as parts of the width and height of its board.
    place: (f64, f64),
    /// Index of its first weight.
    start: usize,
    size: usize,
}

impl Shapes {
    /// Describes all patterns.
    fn described(&self) -> Vec<Described> {
        let mut starts = Vec::new();
        let mut next = 0;
        for size in &self.patterns.table_sizes {
            starts.push(next);
            next += size;
        }
        let describe = |pattern: &Pattern| {
            let (description, place) = self.describe(pattern);
            let (start, size) = (starts[pattern.table], self.patterns.table_sizes[pattern.table]);
            Described { description, place, start, size }
        };
        self.patterns.patterns.iter().map(describe).collect()
    }

    fn describe(&self, pattern: &Pattern) -> (Description, (f64, f64)) {
        let contents = pattern.units.iter().map(|&unit| {
            let names = self.units[unit].contents.iter().cloned();
            let mut named: Vec<(u32, String)> =
                self.patterns.digits[unit].iter().copied().zip(names).collect();
            named.sort_unstable();
            named
        });
        let bases = pattern.units.iter().map(|&unit| self.patterns.bases[unit]).collect();
        let cells: Option<Vec<Cell>> =
            pattern.units.iter().map(|&unit| self.units[unit].cell).collect();
        let contents = contents.collect();
        let Some(cells) = cells else {
            return (Description { offsets: Vec::new(), contents, bases }, (0.0, 0.0));
        };
        let least = |side: fn(&Cell) -> u32| cells.iter().map(side).min().unwrap_or(0);
        let (left, top) = (least(|cell| cell.column), least(|cell| cell.row));
        let offsets = cells.iter().map(|cell| (cell.column - left, cell.row - top)).collect();
        let here = self.units.iter().filter_map(|unit| unit.cell);
        let here: Vec<Cell> =
            here.filter(|cell| cells.iter().any(|own| own.board == cell.board)).collect();
        let part = |side: fn(&Cell) -> u32| {
            let size = f64::from(here.iter().map(side).max().unwrap_or(0)).max(1.0);
            cells.iter().map(|cell| f64::from(side(cell))).sum::<f64>() / cells.len() as f64 / size
        };
        let place = (part(|cell| cell.column), part(|cell| cell.row));
        (Description { offsets, contents, bases }, place)
    }
}

impl<P: Notation + 'static> Learner<P> {
    /// Starts with the weights of another game, which has a board of another size. Both learners
    /// must come from [`Learner::new`].
    ///
    /// # Errors
    /// [`CannotTransfer`] if the games have too little in common. Then nothing has changed.
    pub fn transfer_from<Q: Notation + 'static>(
        &mut self,
        other: &Learner<Q>,
    ) -> Result<Transferred, CannotTransfer> {
        let signs = |perspectives: &[crate::network::Perspective]| -> Vec<f32> {
            perspectives.iter().map(|perspective| perspective.sign).collect()
        };
        let (Form::Tables(own), Form::Tables(theirs)) = (&*self.form, &*other.form) else {
            return Err(CannotTransfer::Patterns);
        };
        let n_heads = self.learning.len() / own.n_weights.max(1);
        if signs(&own.perspectives) != signs(&theirs.perspectives)
            || n_heads != other.learning.len() / theirs.n_weights.max(1)
        {
            return Err(CannotTransfer::Players);
        }
        let (Some(shapes), Some(other_shapes)) = (&self.shapes, &other.shapes) else {
            return Err(CannotTransfer::Patterns);
        };
        let known = other_shapes.described();
        let n_tables = shapes.patterns.table_sizes.len();
        let mut is_filled = vec![false; n_tables];
        let shared = [shapes, other_shapes]
            .map(|shapes| -> usize { shapes.patterns.table_sizes.iter().sum() });
        // Perspectives and heads repeat all tables.
        let n_copies = self.learning.len() / shared[0].max(1);
        let weights = other.learning.weights();
        for (pattern, described) in shapes.patterns.patterns.iter().zip(shapes.described()) {
            let alike = known.iter().filter(|known| known.description == described.description);
            let distance = |known: &&Described| {
                let (x, y) = (known.place.0 - described.place.0, known.place.1 - described.place.1);
                x * x + y * y
            };
            let nearest = alike.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            let Some(nearest) = nearest.filter(|_| !is_filled[pattern.table]) else { continue };
            is_filled[pattern.table] = true;
            for copy in 0..n_copies {
                let (to, from) =
                    (copy * shared[0] + described.start, copy * shared[1] + nearest.start);
                for at in 0..described.size {
                    self.learning.set(to + at, (weights[from + at], [0.0; 2]));
                }
            }
        }
        let n_filled = is_filled.iter().filter(|&&filled| filled).count();
        if n_filled == 0 {
            return Err(CannotTransfer::Patterns);
        }
        Ok(Transferred { n_tables, n_filled })
    }
}
