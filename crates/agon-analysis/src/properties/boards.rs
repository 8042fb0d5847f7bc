//! Detection of boards: pairs of fluent arguments that are coordinates, and the adjacency relations
//! on them.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::{Symbol, TermId};
use agon_gdl::interpreter::Game;

use super::{Fluent, Known, Mode, Relation, RelationKind};

/// A board: two arguments of a fluent that are the coordinates of a cell. Their values occur in all
/// combinations, and they determine the other arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// The name of the fluent.
    pub name: Symbol,
    /// The two arguments, counted from 0.
    pub arguments: [usize; 2],
    /// The values of each argument, in the order in which the game lists terms.
    pub axes: [Vec<TermId>; 2],
    /// By argument: the static relations between its values that express adjacency.
    pub along: [Vec<Symbol>; 2],
    /// The static relations with four or more arguments between two cells, which express adjacency
    /// on the whole board.
    pub across: Vec<Symbol>,
    /// How the board is known.
    pub known: Known,
}

/// Finds the boards among the fluents. `known` says how it is known that the list of fluents is
/// complete.
pub(super) fn find(
    game: &Game,
    fluents: &[Fluent],
    known: Known,
    modes: &[Mode],
    relations: &[Relation],
) -> Vec<Board> {
    let bank = game.bank();
    let mut forms: BTreeMap<(Symbol, usize), Vec<Vec<TermId>>> = BTreeMap::new();
    for fluent in fluents {
        forms.entry(fluent.form).or_default().push(bank.arguments(fluent.term).collect());
    }
    let finder = Finder { game, modes, relations, statics: game.static_rows(), known };
    let mut boards = Vec::new();
    for ((name, arity), rows) in forms {
        let form = Form { name, arity, rows };
        let pairs = (0..arity).flat_map(|i| (i + 1..arity).map(move |j| [i, j]));
        boards.extend(pairs.filter_map(|arguments| finder.board(&form, arguments)));
    }
    boards
}

/// Lists of arguments.
type Rows = Vec<Vec<TermId>>;

/// All fluents with the same name and number of arguments.
struct Form {
    name: Symbol,
    arity: usize,
    /// The arguments of each fluent.
    rows: Rows,
}

/// The properties of a game that decide whether two arguments are the coordinates of a board.
struct Finder<'a> {
    game: &'a Game,
    modes: &'a [Mode],
    relations: &'a [Relation],
    /// The rows of all static relations.
    statics: Vec<((Symbol, usize), Rows)>,
    known: Known,
}

impl Finder<'_> {
    /// Returns the board that two arguments of a fluent span, if they do.
    fn board(&self, form: &Form, arguments: [usize; 2]) -> Option<Board> {
        let axes = arguments.map(|argument| -> BTreeSet<TermId> {
            form.rows.iter().map(|row| row[argument]).collect()
        });
        let [i, j] = arguments;
        let pairs: BTreeSet<(TermId, TermId)> =
            form.rows.iter().map(|row| (row[i], row[j])).collect();
        let is_full = pairs.len() == axes[0].len() * axes[1].len();
        if axes.iter().any(|axis| axis.len() < 2) || !is_full || !self.is_cell(form, arguments) {
            return None;
        }
        let along = axes.each_ref().map(|axis| related(self.relations, axis));
        let across: Vec<Symbol> = (self.statics.iter())
            .filter(|((_, n), rows)| *n >= 4 && !rows.is_empty() && joins(rows, *n, &pairs))
            .map(|((name, _), _)| *name)
            .collect();
        let is_connected = along.iter().any(|along| !along.is_empty());
        if !is_connected && across.is_empty() && form.arity == 2 {
            return None;
        }
        let listed = |axis: BTreeSet<TermId>| {
            let mut axis: Vec<TermId> = axis.into_iter().collect();
            axis.sort_by(|&a, &b| self.game.compare(a, b));
            axis
        };
        let (name, known) = (form.name, self.known);
        Some(Board { name, arguments, axes: axes.map(listed), along, across, known })
    }

    /// Returns whether two arguments determine the others, or the fluent has no others.
    fn is_cell(&self, form: &Form, arguments: [usize; 2]) -> bool {
        form.arity == 2
            || self.modes.iter().any(|mode| {
                let inputs: Vec<usize> =
                    (0..form.arity).filter(|&k| mode.inputs.get(k) == Some(&true)).collect();
                mode.name == form.name && mode.inputs.len() == form.arity && inputs == arguments
            })
    }
}

/// Returns the relations that lead from every value of an axis to every other one without leaving
/// the axis, orders excepted. A table of scores may contain all values too, but pairs them with
/// others.
fn related(relations: &[Relation], axis: &BTreeSet<TermId>) -> Vec<Symbol> {
    let is_own = |relation: &&Relation| {
        relation.kind() != RelationKind::Order && connects(&relation.rows, axis)
    };
    relations.iter().filter(is_own).map(|relation| relation.name).collect()
}

/// Returns whether pairs, followed in either direction, connect all values of an axis.
fn connects(rows: &[(TermId, TermId)], axis: &BTreeSet<TermId>) -> bool {
    let mut neighbours: BTreeMap<TermId, Vec<TermId>> = BTreeMap::new();
    for &(a, b) in rows.iter().filter(|(a, b)| axis.contains(a) && axis.contains(b)) {
        neighbours.entry(a).or_default().push(b);
        neighbours.entry(b).or_default().push(a);
    }
    let mut reached: BTreeSet<TermId> = axis.iter().copied().take(1).collect();
    let mut open: Vec<TermId> = reached.iter().copied().collect();
    while let Some(value) = open.pop() {
        for &next in neighbours.get(&value).into_iter().flatten() {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached.len() == axis.len()
}

/// Returns whether the last four arguments of each row are two cells.
fn joins(rows: &[Vec<TermId>], n: usize, pairs: &BTreeSet<(TermId, TermId)>) -> bool {
    rows.iter().all(|row| {
        let [a, b, c, d] = [row[n - 4], row[n - 3], row[n - 2], row[n - 1]];
        pairs.contains(&(a, b)) && pairs.contains(&(c, d))
    })
}
