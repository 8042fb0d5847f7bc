//! A perfect solver of connect four on 7 columns and 6 rows, as a judge in tests and measurements.
//!
//! Boards are bit sets with seven bits for each column, the lowest row first; the seventh bit of a
//! column stays empty. The search is alpha-beta over win, draw and loss with a table, forced moves
//! and moves that make threats first.

/// A position of connect four.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// The stones of the player to move.
    own: u64,
    /// All stones.
    all: u64,
}

/// Number of columns.
pub const WIDTH: u32 = 7;
/// Number of rows.
pub const HEIGHT: u32 = 6;
/// The lowest cell of every column.
const BOTTOM: u64 = 0x0000_0408_1020_4081;
/// All cells.
const CELLS: u64 = BOTTOM * 63;
/// Columns in the order of search.
const ORDER: [u32; 7] = [3, 2, 4, 1, 5, 0, 6];

impl Board {
    /// Returns the empty board.
    pub fn empty() -> Board {
        Board { own: 0, all: 0 }
    }

    /// Returns the number of stones.
    pub fn n_stones(self) -> u32 {
        self.all.count_ones()
    }

    /// Returns the columns that are not full.
    pub fn columns(self) -> impl Iterator<Item = u32> {
        (0..WIDTH).filter(move |&column| self.free() & column_cells(column) != 0)
    }

    /// Drops a stone into a column that is not full.
    #[must_use]
    pub fn drop(self, column: u32) -> Board {
        self.mark(self.free() & column_cells(column))
    }

    /// Returns whether the player to move wins by a stone in a column.
    pub fn wins(self, column: u32) -> bool {
        completing(self.own, self.all) & self.free() & column_cells(column) != 0
    }

    /// Returns the cells in which a stone can be put.
    fn free(self) -> u64 {
        (self.all + BOTTOM) & CELLS
    }

    fn mark(self, cell: u64) -> Board {
        Board { own: self.all ^ self.own, all: self.all | cell }
    }

    /// A number that identifies the position.
    fn key(self) -> u64 {
        self.own + self.all + BOTTOM
    }
}

fn column_cells(column: u32) -> u64 {
    63 << (7 * column)
}

/// Returns the empty cells that complete a row of four for the owner of some stones.
fn completing(own: u64, all: u64) -> u64 {
    let mut cells = (own << 1) & (own << 2) & (own << 3);
    for step in [6, 7, 8] {
        let pair = (own << step) & (own << (2 * step));
        cells |= pair & (own << (3 * step));
        cells |= pair & (own >> step);
        let pair = (own >> step) & (own >> (2 * step));
        cells |= pair & (own << step);
        cells |= pair & (own >> (3 * step));
    }
    cells & (CELLS ^ all)
}

/// A solver. It keeps its table from one position to the next.
pub struct Solver {
    /// By hash: the key of a position, then two bits each for the bounds of its value plus 1.
    table: Vec<u64>,
}

impl Default for Solver {
    fn default() -> Solver {
        Solver { table: vec![0; 1 << 22] }
    }
}

impl Solver {
    /// Returns the value for the player to move: 1 for a win, 0 for a draw, -1 for a loss. Nobody
    /// may have won yet.
    pub fn value(&mut self, board: Board) -> i8 {
        if completing(board.own, board.all) & board.free() != 0 {
            return 1;
        }
        self.search(board, -1, 1)
    }

    /// Returns the value of each possible column for the player to move.
    pub fn columns(&mut self, board: Board) -> Vec<(u32, i8)> {
        let mut value = |column: u32| match board.wins(column) {
            true => 1,
            false => -self.value(board.drop(column)),
        };
        board.columns().map(|column| (column, value(column))).collect()
    }

    /// Searches a position at which the player to move does not win at once.
    fn search(&mut self, board: Board, mut alpha: i8, mut beta: i8) -> i8 {
        let mut moves = board.free();
        if moves == 0 {
            return 0;
        }
        let threats = completing(board.all ^ board.own, board.all);
        let forced = moves & threats;
        if forced != 0 {
            if forced & (forced - 1) != 0 {
                return -1;
            }
            moves = forced;
        }
        // A stone just below a threat of the opponent loses.
        moves &= !(threats >> 1);
        if moves == 0 {
            return -1;
        }
        if board.n_stones() >= WIDTH * HEIGHT - 2 {
            return 0;
        }
        let slot = (board.key() % 4_194_301) as usize;
        let entry = self.table[slot];
        let (mut low, mut high) = (-1, 1);
        if entry >> 4 == board.key() {
            low = (entry & 3) as i8 - 1;
            high = (entry >> 2 & 3) as i8 - 1;
            if low >= beta || low == high {
                return low;
            }
            if high <= alpha {
                return high;
            }
            (alpha, beta) = (alpha.max(low), beta.min(high));
        }
        let window = [alpha, beta];
        let mut ordered = [(0, 0); WIDTH as usize];
        let mut n = 0;
        for column in ORDER {
            let cell = moves & column_cells(column);
            if cell != 0 {
                let threats = completing(board.own | cell, board.all | cell).count_ones();
                let at = (0..n).find(|&at| ordered[at].0 < threats).unwrap_or(n);
                ordered.copy_within(at..n, at + 1);
                ordered[at] = (threats, cell);
                n += 1;
            }
        }
        let mut best = -1;
        for &(_, cell) in &ordered[..n] {
            best = best.max(-self.search(board.mark(cell), -beta, -alpha));
            alpha = alpha.max(best);
            if alpha >= beta {
                break;
            }
        }
        if best > window[0] {
            low = low.max(best);
        }
        if best < window[1] {
            high = high.min(best);
        }
        self.table[slot] = board.key() << 4 | ((high + 1) as u64) << 2 | (low + 1) as u64;
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plain minimax that looks for rows of four cell by cell.
    fn slow(cells: &mut [[i8; 6]; 7], player: i8) -> i8 {
        let at = |cells: &[[i8; 6]; 7], x: i32, y: i32| match ((0..7).contains(&x), y) {
            (true, 0..6) => cells[x as usize][y as usize],
            _ => 0,
        };
        let mut best = None;
        for x in 0..7_i32 {
            let Some(y) = (0..6).find(|&y| at(cells, x, y) == 0) else { continue };
            cells[x as usize][y as usize] = player;
            let wins = [(1, 0), (0, 1), (1, 1), (1, -1)].iter().any(|&(dx, dy)| {
                (-3..=0).any(|from| {
                    (from..from + 4).all(|k| at(cells, x + k * dx, y + k * dy) == player)
                })
            });
            let value = if wins { 1 } else { -slow(cells, -player) };
            cells[x as usize][y as usize] = 0;
            best = best.max(Some(value));
            if best == Some(1) {
                break;
            }
        }
        best.unwrap_or(0)
    }

    /// Number of stones of the positions that are compared.
    const N_STONES: u32 = 34;

    /// Both agree on positions near the end.
    #[test]
    fn the_solver_agrees_with_plain_minimax() {
        let mut solver = Solver::default();
        let mut seed = 1_u64;
        let mut seen = [0; 3];
        for _ in 0..400 {
            let mut board = Board::empty();
            let mut cells = [[0_i8; 6]; 7];
            let mut player = 1;
            while board.n_stones() < N_STONES {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let columns: Vec<u32> =
                    board.columns().filter(|&column| !board.wins(column)).collect();
                let Some(&column) = columns.get((seed >> 33) as usize % columns.len().max(1))
                else {
                    break;
                };
                board = board.drop(column);
                let cell = cells[column as usize].iter_mut().find(|cell| **cell == 0);
                *cell.expect("the column is not full") = player;
                player = -player;
            }
            if board.n_stones() < N_STONES {
                continue;
            }
            let expected = slow(&mut cells, player);
            assert_eq!(solver.value(board), expected, "{board:?}");
            seen[(expected + 1) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n > 0), "all three values occur: {seen:?}");
    }
}
