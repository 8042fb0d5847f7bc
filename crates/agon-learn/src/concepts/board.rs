//! The board of a game: cells, steps between them, and whose pieces are on them.

use agon_game::{Notation, Rng, Role};
use rand::SeedableRng as _;

use super::formula::{Class, Direction, Relation};
use crate::facts::Fact;
use crate::model::CannotLearn;
use crate::sample::Sample;
use crate::symmetry::{Subject, Symmetry};
use crate::units::{self, Unit, holds};

/// Maximum number of cells.
pub(super) const MAX_CELLS: usize = 384;
const N_WORDS: usize = MAX_CELLS / 64;

/// A set of cells.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cells([u64; N_WORDS]);

impl Cells {
    pub(super) fn insert(&mut self, cell: usize) {
        self.0[cell / 64] |= 1 << (cell % 64);
    }

    pub(super) fn has(&self, cell: usize) -> bool {
        self.0[cell / 64] >> (cell % 64) & 1 == 1
    }

    pub(super) fn and(&self, other: &Cells) -> Cells {
        Cells(std::array::from_fn(|n| self.0[n] & other.0[n]))
    }

    pub(super) fn without(&self, other: &Cells) -> Cells {
        Cells(std::array::from_fn(|n| self.0[n] & !other.0[n]))
    }

    pub(super) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Returns the cells in rising order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(n, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                (left != 0).then(|| {
                    left &= left - 1;
                    64 * n + bit
                })
            })
        })
    }
}

/// The cells by their contents, as one player sees them.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) own: Cells,
    pub(super) other: Cells,
    pub(super) empty: Cells,
}

impl Contents {
    pub(super) fn of(&self, class: Class) -> &Cells {
        match class {
            Class::Own => &self.own,
            Class::Other => &self.other,
            Class::Empty => &self.empty,
        }
    }
}

/// The largest board of a game of two players.
pub(crate) struct Board {
    pub(super) n_cells: usize,
    pub(super) all: Cells,
    /// By direction and cell: the next cell.
    pub(super) steps: Vec<Vec<Option<u16>>>,
    /// By relation and cell: the related cells.
    pub(super) related: Vec<Vec<Cells>>,
    /// By player: the facts that say that one of its pieces is somewhere, with the cell.
    pieces: [Vec<(u32, u16)>; 2],
    /// By cell: the text of its facts, with `?` where they differ.
    pub(super) places: Vec<String>,
    /// The symmetry that exchanges the players.
    exchange: Option<Symmetry>,
}

/// Number of states of random play from which the board is found.
const N_SAMPLED: usize = 1500;

/// Returns what the facts of a cell have in common, such as `(cell 1 2 ?)`.
fn place_text(facts: &[(u32, String)], texts: &[String]) -> String {
    let facts: Vec<Fact> =
        facts.iter().map(|(fact, _)| Fact::parse(&texts[*fact as usize])).collect();
    let first = &facts[0];
    let arguments = first.arguments().iter().enumerate().map(|(at, word)| {
        let is_common = facts.iter().all(|fact| fact.arguments().get(at) == Some(word));
        if is_common { word.as_str() } else { "?" }
    });
    let words: Vec<&str> = [first.name()].into_iter().chain(arguments).collect();
    format!("({})", words.join(" "))
}

impl Board {
    /// Finds the board of a game.
    pub(crate) fn of<P: Notation>(start: &P, seed: u64) -> Result<Board, CannotLearn> {
        if start.is_terminal() {
            return Err(CannotLearn::Ended);
        }
        if start.shape().hidden {
            return Err(CannotLearn::Hidden);
        }
        let players: Vec<Role> = start.shape().players().collect();
        let ([_, _], None) = (&players[..], start.shape().nature) else {
            return Err(CannotLearn::NotTwoPlayers);
        };
        let texts = start.feature_texts();
        let mut batch = start.batch(seed).ok_or(CannotLearn::NoBits)?;
        let sample = Sample::draw(start, N_SAMPLED, &mut Rng::seed_from_u64(seed), None);
        let words: Option<Vec<&[u64]>> = sample.states.iter().map(P::state_words).collect();
        let words = words.filter(|_| !texts.is_empty()).ok_or(CannotLearn::NoBits)?;
        let units = units::find(&texts, &words);
        let mut subject = Subject {
            position: start,
            batch: batch.as_mut(),
            texts: &texts,
            units: &units,
            states: &sample.states,
        };
        let exchange = subject.find().of_players;
        let owners = owners(texts.len(), &words, &sample);
        Board::new(&units, &owners, &texts, exchange).ok_or(CannotLearn::NoBoard)
    }

    fn new(
        units: &[Unit],
        owners: &[[u32; 2]],
        texts: &[String],
        exchange: Option<Symmetry>,
    ) -> Option<Board> {
        let n_boards =
            units.iter().filter_map(|unit| unit.cell).map(|cell| cell.board + 1).max()?;
        let size = |board: u32| {
            units.iter().filter(|unit| unit.cell.is_some_and(|cell| cell.board == board)).count()
        };
        // The first of the largest boards.
        let largest = (0..n_boards).rev().max_by_key(|&board| size(board))?;
        let cells: Vec<&Unit> = units
            .iter()
            .filter(|unit| unit.cell.is_some_and(|cell| cell.board == largest))
            .collect();
        let n_cells = cells.len();
        if !(4..=MAX_CELLS).contains(&n_cells) {
            return None;
        }
        let place =
            |unit: &Unit| unit.cell.map(|cell| (i64::from(cell.column), i64::from(cell.row)));
        let at = |wanted: (i64, i64)| cells.iter().position(|unit| place(unit) == Some(wanted));
        let steps = Direction::ALL.map(|direction| {
            let (dx, dy) = direction.offset();
            let next = |unit: &&Unit| {
                let (x, y) = place(unit)?;
                at((x + dx, y + dy)).map(|cell| cell as u16)
            };
            cells.iter().map(next).collect::<Vec<Option<u16>>>()
        });
        // A content belongs to the player whose moves make it appear more often.
        let mut of_content = std::collections::BTreeMap::<&str, [u64; 2]>::new();
        let facts = |unit: &&'_ Unit| -> Vec<(u32, String)> {
            let default = unit.default.clone();
            unit.facts.iter().copied().zip(unit.contents.iter().cloned()).chain(default).collect()
        };
        let listed: Vec<Vec<(u32, String)>> = cells.iter().map(facts).collect();
        for (fact, content) in listed.iter().flatten() {
            let sums = of_content.entry(content).or_default();
            for player in 0..2 {
                sums[player] += u64::from(owners[*fact as usize][player]);
            }
        }
        let mut pieces = [Vec::new(), Vec::new()];
        for (cell, facts) in (0_u16..).zip(&listed) {
            for (fact, content) in facts {
                let [first, second] = of_content[content.as_str()];
                // What both make appear, such as the empty cells that they leave, is nobody's.
                if first > DOMINANCE * second {
                    pieces[0].push((*fact, cell));
                } else if second > DOMINANCE * first {
                    pieces[1].push((*fact, cell));
                }
            }
        }
        if pieces.iter().any(Vec::is_empty) {
            return None;
        }
        let mut board = Board {
            n_cells,
            all: Cells::default(),
            steps: steps.to_vec(),
            related: Vec::new(),
            pieces,
            places: listed.iter().map(|facts| place_text(facts, texts)).collect(),
            exchange,
        };
        (0..n_cells).for_each(|cell| board.all.insert(cell));
        board.related = Relation::ALL.iter().map(|&relation| board.relation(relation)).collect();
        Some(board)
    }

    /// Returns by cell the cells that it is related to.
    fn relation(&self, relation: Relation) -> Vec<Cells> {
        let of_cell = |cell: usize| {
            let mut related = Cells::default();
            for &direction in relation.directions() {
                let mut here = cell;
                while let Some(next) = self.steps[direction as usize][here] {
                    here = usize::from(next);
                    related.insert(here);
                    if !relation.goes_on() {
                        break;
                    }
                }
            }
            related
        };
        (0..self.n_cells).map(of_cell).collect()
    }

    /// Returns the contents of the cells as the first player sees them.
    pub(super) fn contents(&self, state: &[u64]) -> Contents {
        let mut contents = Contents::default();
        for (fact, cell) in &self.pieces[0] {
            if holds(state, *fact) {
                contents.own.insert(usize::from(*cell));
            }
        }
        for (fact, cell) in &self.pieces[1] {
            if holds(state, *fact) {
                contents.other.insert(usize::from(*cell));
            }
        }
        contents.empty = self.all.without(&contents.own).without(&contents.other);
        contents
    }

    /// Returns the contents of the cells as the second player sees them.
    pub(super) fn other_contents(&self, state: &[u64]) -> Contents {
        match &self.exchange {
            Some(exchange) => self.contents(&exchange.apply(state)),
            None => {
                let Contents { own, other, empty } = self.contents(state);
                Contents { own: other, other: own, empty }
            }
        }
    }
}

/// A content belongs to a player whose moves make it appear so many times as often as those of the
/// other player.
const DOMINANCE: u64 = 3;

/// Returns by fact how often it became true by a step in which each player chose alone.
fn owners<S>(n_facts: usize, words: &[&[u64]], sample: &Sample<S>) -> Vec<[u32; 2]> {
    let mut owners = vec![[0; 2]; n_facts];
    for at in 1..words.len() {
        let (Some(mover), before, after) = (sample.movers[at - 1], words[at - 1], words[at]) else {
            continue;
        };
        // The first state is the start, and so is that of every other play.
        if after == words[0] || mover > 1 {
            continue;
        }
        for (number, (before, after)) in before.iter().zip(after).enumerate() {
            let mut new = after & !before;
            while new != 0 {
                let fact = 64 * number + new.trailing_zeros() as usize;
                new &= new - 1;
                if fact < n_facts {
                    owners[fact][mover] += 1;
                }
            }
        }
    }
    owners
}
