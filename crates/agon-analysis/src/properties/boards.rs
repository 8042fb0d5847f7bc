//! Boards: pairs of arguments of a fluent that are coordinates, and what is beside what on them.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::{Symbol, TermId};
use agon_gdl::interpreter::Game;

use super::{Fluent, Known, Mode, Relation, RelationKind};

/// A board: two arguments of a fluent whose values occur in all combinations, and that are the place of what the other
/// arguments say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// The fluent's name.
    pub name: Symbol,
    /// Which two arguments, counted from 0.
    pub arguments: [usize; 2],
    /// The values of each, in the order in which the game lists terms.
    pub axes: [Vec<TermId>; 2],
    /// For each argument: static relations between its values that say what is beside what.
    pub along: [Vec<Symbol>; 2],
    /// Static relations of four or more arguments between two places: what is beside what on the whole board.
    pub across: Vec<Symbol>,
    /// How it is known.
    pub known: Known,
}

pub(super) fn find(
    game: &Game,
    fluents: &[Fluent],
    is_complete: bool,
    n_plays: u64,
    modes: &[Mode],
    relations: &[Relation],
) -> Vec<Board> {
    let bank = game.bank();
    let mut forms: BTreeMap<(Symbol, usize), Vec<Vec<TermId>>> = BTreeMap::new();
    for fluent in fluents {
        forms.entry(fluent.form).or_default().push(bank.arguments(fluent.term).collect());
    }
    let statics = game.static_rows();
    let mut boards = Vec::new();
    for ((name, arity), rows) in forms {
        for i in 0..arity {
            for j in i + 1..arity {
                let values = |argument: usize| -> BTreeSet<TermId> {
                    rows.iter().map(|row| row[argument]).collect()
                };
                let (xs, ys) = (values(i), values(j));
                let pairs: BTreeSet<(TermId, TermId)> =
                    rows.iter().map(|row| (row[i], row[j])).collect();
                let is_full = pairs.len() == xs.len() * ys.len();
                // What stands in a place follows from the place, or nothing else is said of it.
                let is_place = arity == 2
                    || modes.iter().any(|mode| {
                        let inputs: Vec<usize> =
                            (0..arity).filter(|&k| mode.inputs.get(k) == Some(&true)).collect();
                        mode.name == name && mode.inputs.len() == arity && inputs == [i, j]
                    });
                let along = [&xs, &ys].map(|axis| related(relations, axis));
                let is_connected = along.iter().any(|along| !along.is_empty());
                if xs.len() < 2 || ys.len() < 2 || !is_full || !is_place {
                    continue;
                }
                let across: Vec<Symbol> = statics
                    .iter()
                    .filter(|((_, n), rows)| *n >= 4 && !rows.is_empty() && joins(rows, *n, &pairs))
                    .map(|((name, _), _)| *name)
                    .collect();
                if !is_connected && across.is_empty() && arity == 2 {
                    continue;
                }
                let listed = |axis: BTreeSet<TermId>| {
                    let mut axis: Vec<TermId> = axis.into_iter().collect();
                    axis.sort_by(|&a, &b| game.compare(a, b));
                    axis
                };
                let known =
                    if is_complete { Known::Proved } else { Known::Observed { plays: n_plays } };
                boards.push(Board {
                    name,
                    arguments: [i, j],
                    axes: [listed(xs), listed(ys)],
                    along,
                    across,
                    known,
                });
            }
        }
    }
    boards
}

/// Relations that lead from values of an axis to values of it, and from nowhere else.
fn related(relations: &[Relation], axis: &BTreeSet<TermId>) -> Vec<Symbol> {
    let is_own = |relation: &&Relation| {
        let n_inside = relation.elements.iter().filter(|element| axis.contains(element)).count();
        n_inside >= 2
            && n_inside == axis.len()
            && relation.kind() != RelationKind::Order
            && relation.rows.iter().any(|(a, b)| a != b)
    };
    relations.iter().filter(is_own).map(|relation| relation.name).collect()
}

/// Whether the last four arguments of each row are two places.
fn joins(rows: &[Vec<TermId>], n: usize, pairs: &BTreeSet<(TermId, TermId)>) -> bool {
    rows.iter().all(|row| {
        let [a, b, c, d] = [row[n - 4], row[n - 3], row[n - 2], row[n - 1]];
        pairs.contains(&(a, b)) && pairs.contains(&(c, d))
    })
}
