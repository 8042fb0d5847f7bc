//! Patterns: small sets of units whose joint contents are looked up in a table of weights.
//!
//! On a board these are windows of neighbouring cells and whole lines. Units that are not cells,
//! such as counters, are patterns of their own. A value of a position is the sum of one weight for
//! each pattern (an n-tuple network, Lucas 2008).

use std::collections::BTreeMap;

use crate::units::Unit;

/// A set of units with a table of weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The units, in the order of the digits of a table index, the lowest digit first.
    pub(crate) units: Vec<usize>,
    /// The table. Patterns that are symmetric share one.
    pub(crate) table: usize,
}

/// The patterns of a game.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    pub(crate) patterns: Vec<Pattern>,
    /// By table: the number of its weights.
    pub(crate) table_sizes: Vec<usize>,
    /// By unit: the digit of each fact. Digit 0 is that none of them holds.
    pub(crate) digits: Vec<Vec<u32>>,
    /// By unit: the number of digits.
    pub(crate) bases: Vec<usize>,
}

/// Maximum number of weights of a table.
const MAX_TABLE: usize = 30_000;
/// Maximum number of weights of all tables.
const MAX_WEIGHTS: usize = 3_000_000;
/// Maximum number of patterns.
const MAX_PATTERNS: usize = 700;

impl Patterns {
    /// Makes the patterns of a game, of at most `max_cells` cells each. `symmetries` are permutations
    /// of the units that leave the game as it is.
    pub(crate) fn new(units: &[Unit], symmetries: &[Vec<usize>], max_cells: usize) -> Patterns {
        let (digits, bases) = digits(units);
        let mut made = Patterns { patterns: Vec::new(), table_sizes: Vec::new(), digits, bases };
        for shape in shapes(units, &made.bases, max_cells) {
            let size: usize = shape.iter().map(|units| made.table_size(units)).sum();
            let n_weights = made.table_sizes.iter().sum::<usize>() + size;
            let n_patterns = made.patterns.len() + shape.len();
            let is_single = shape.iter().all(|units| units.len() == 1);
            if is_single || (n_weights <= MAX_WEIGHTS && n_patterns <= MAX_PATTERNS) {
                made.add_all(shape, symmetries);
            }
        }
        made
    }

    /// Adds patterns. Those that a symmetry maps onto each other share a table.
    fn add_all(&mut self, shape: Vec<Vec<usize>>, symmetries: &[Vec<usize>]) {
        let mut tables: BTreeMap<Vec<usize>, (usize, Vec<usize>)> = BTreeMap::new();
        for units in shape {
            let mut sorted = units.clone();
            sorted.sort_unstable();
            if let Some((table, order)) = tables.get(&sorted) {
                self.patterns.push(Pattern { units: order.clone(), table: *table });
                continue;
            }
            let table = self.table_sizes.len();
            self.table_sizes.push(self.table_size(&units));
            for symmetry in symmetries {
                let image: Vec<usize> = units.iter().map(|&unit| symmetry[unit]).collect();
                let mut key = image.clone();
                key.sort_unstable();
                if key != sorted {
                    tables.entry(key).or_insert((table, image));
                }
            }
            self.patterns.push(Pattern { units, table });
        }
    }

    fn table_size(&self, units: &[usize]) -> usize {
        units.iter().map(|&unit| self.bases[unit]).product()
    }
}

/// Numbers the contents of units: on a board the same content has the same digit everywhere.
fn digits(units: &[Unit]) -> (Vec<Vec<u32>>, Vec<usize>) {
    let mut boards: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for unit in units {
        if let Some(cell) = unit.cell {
            let contents = boards.entry(cell.board).or_default();
            contents.extend(unit.contents.iter().map(String::as_str));
            contents.sort_unstable();
            contents.dedup();
        }
    }
    let digits = units.iter().map(|unit| match unit.cell {
        None => (1..=unit.facts.len() as u32).collect(),
        Some(cell) => {
            let all = &boards[&cell.board];
            let digit = |content: &String| all.binary_search(&content.as_str()).unwrap_or(0) + 1;
            unit.contents.iter().map(|content| digit(content) as u32).collect()
        }
    });
    let bases = units.iter().map(|unit| match unit.cell {
        None => unit.facts.len() + 1,
        Some(cell) => boards[&cell.board].len() + 1,
    });
    (digits.collect(), bases.collect())
}

/// Returns the patterns by shape, the most valuable shape first.
fn shapes(units: &[Unit], bases: &[usize], limit: usize) -> Vec<Vec<Vec<usize>>> {
    let mut shapes: Vec<Vec<Vec<usize>>> = Vec::new();
    // Units that are not cells of a board.
    let singles = (0..units.len()).filter(|&unit| units[unit].cell.is_none());
    shapes.push(singles.map(|unit| vec![unit]).collect());
    let mut boards: BTreeMap<u32, BTreeMap<(u32, u32), usize>> = BTreeMap::new();
    for (number, unit) in units.iter().enumerate() {
        if let Some(cell) = unit.cell {
            boards.entry(cell.board).or_default().insert((cell.column, cell.row), number);
        }
    }
    for cells in boards.values() {
        let base = cells.values().map(|&unit| bases[unit]).max().unwrap_or(2);
        let mut max_cells = 1;
        while base.pow(max_cells as u32 + 1) <= MAX_TABLE && max_cells < limit {
            max_cells += 1;
        }
        shapes.extend(board_shapes(cells, max_cells));
    }
    shapes.retain(|shape| !shape.is_empty());
    shapes
}

/// Rectangles by number of cells, the largest first. The first ones that fit are used.
const RECTANGLES: [&[(u32, u32)]; 6] = [
    &[(3, 3), (2, 4), (4, 2)],
    &[(2, 4), (4, 2)],
    &[(2, 3), (3, 2)],
    &[(2, 2)],
    &[(1, 2), (2, 1)],
    &[(1, 1)],
];

/// Longest line that is a pattern as a whole.
const MAX_LINE: usize = 8;

/// Returns the patterns of a board: rectangles, and the lines in four directions.
fn board_shapes(cells: &BTreeMap<(u32, u32), usize>, max_cells: usize) -> Vec<Vec<Vec<usize>>> {
    let mut shapes = Vec::new();
    for sizes in RECTANGLES {
        if sizes.iter().any(|&(width, height)| (width * height) as usize > max_cells) {
            continue;
        }
        let windows = |&(width, height): &(u32, u32)| -> Vec<Vec<usize>> {
            let window = |&(column, row): &(u32, u32)| -> Option<Vec<usize>> {
                let places = (0..width).flat_map(|x| (0..height).map(move |y| (x, y)));
                places.map(|(x, y)| cells.get(&(column + x, row + y)).copied()).collect()
            };
            cells.keys().filter_map(window).collect()
        };
        let found: Vec<Vec<Vec<usize>>> = sizes.iter().map(windows).collect();
        if found.iter().any(|windows| !windows.is_empty()) {
            shapes.extend(found);
            break;
        }
    }
    if max_cells >= 3 {
        shapes.push(lines(cells, max_cells.min(MAX_LINE)));
    }
    // A board so small that no window fits still has its cells.
    if shapes.iter().all(Vec::is_empty) {
        shapes.push(cells.values().map(|&unit| vec![unit]).collect());
    }
    shapes
}

/// Returns the maximal lines of at least three cells in four directions. Longer lines than
/// `max_cells` are cut into overlapping pieces.
fn lines(cells: &BTreeMap<(u32, u32), usize>, max_cells: usize) -> Vec<Vec<usize>> {
    let directions: [(i64, i64); 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];
    let at = |column: i64, row: i64| {
        let place = (u32::try_from(column).ok()?, u32::try_from(row).ok()?);
        cells.get(&place).copied()
    };
    let mut lines = Vec::new();
    for (dx, dy) in directions {
        for &(column, row) in cells.keys() {
            let (column, row) = (i64::from(column), i64::from(row));
            if at(column - dx, row - dy).is_some() {
                continue;
            }
            let line: Vec<usize> = (0..).map_while(|n| at(column + n * dx, row + n * dy)).collect();
            if line.len() <= max_cells {
                lines.extend((line.len() >= 3).then_some(line));
            } else {
                // Pieces overlap by all cells but one, so that every pattern of a line is seen
                // whole.
                let length = max_cells.min(6);
                lines.extend(line.windows(length).map(<[usize]>::to_vec));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Cell;

    fn board(width: u32, height: u32, n_contents: usize) -> Vec<Unit> {
        let places = (0..width).flat_map(|column| (0..height).map(move |row| (column, row)));
        let unit = |(n, (column, row)): (usize, (u32, u32))| Unit {
            facts: (0..n_contents).map(|content| (n * n_contents + content) as u32).collect(),
            contents: (0..n_contents).map(|content| format!("cell {content}")).collect(),
            default: None,
            cell: Some(Cell { board: 0, column, row }),
        };
        places.enumerate().map(unit).collect()
    }

    #[test]
    fn windows_of_a_board() {
        let made = Patterns::new(&board(8, 8, 2), &[], 9);
        let of_size = |n: usize| made.patterns.iter().filter(|p| p.units.len() == n).count();
        assert_eq!(of_size(9), 36);
        // 70 windows of 2 x 4 and 4 x 2, 16 rows and columns, and two long diagonals.
        assert_eq!(of_size(8), 70 + 16 + 2);
        assert_eq!(made.table_sizes[made.patterns[0].table], 19_683);
    }

    #[test]
    fn many_contents_have_small_windows() {
        let made = Patterns::new(&board(8, 8, 12), &[], 9);
        assert!(made.table_sizes.iter().all(|&size| size <= MAX_TABLE));
        assert!(made.patterns.iter().any(|pattern| pattern.units.len() == 4));
    }

    #[test]
    fn symmetric_patterns_share_tables() {
        let units = board(4, 4, 2);
        // Columns reversed: unit `4 * column + row`.
        let mirror: Vec<usize> = (0..16).map(|unit| 4 * (3 - unit / 4) + unit % 4).collect();
        let plain = Patterns::new(&units, &[], 9);
        let shared = Patterns::new(&units, std::slice::from_ref(&mirror), 9);
        assert_eq!(plain.patterns.len(), shared.patterns.len());
        assert!(shared.table_sizes.len() < plain.table_sizes.len());
        for pattern in &shared.patterns {
            let image: Vec<usize> = pattern.units.iter().map(|&unit| mirror[unit]).collect();
            let mut sorted = image.clone();
            sorted.sort_unstable();
            let other = shared.patterns.iter().find(|other| {
                let mut units = other.units.clone();
                units.sort_unstable();
                units == sorted && other.units.len() == pattern.units.len()
            });
            let other = other.expect("the image of a pattern is a pattern");
            assert_eq!(other.table, pattern.table);
            let mut own = pattern.units.clone();
            own.sort_unstable();
            assert!(
                other.units == image
                    || own == sorted
                    || pattern.units == {
                        let back: Vec<usize> =
                            other.units.iter().map(|&unit| mirror[unit]).collect();
                        back
                    }
            );
        }
    }
}
