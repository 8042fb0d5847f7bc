//! Static relations with two arguments: successor relations, orders, graphs.

use std::collections::BTreeMap;

use agon_datalog::{Symbol, TermId};
use agon_gdl::interpreter::Game;

/// A static relation with two arguments. All its properties are computed from its rows, so they are
/// proved.
#[derive(Clone, Debug)]
pub struct Relation {
    /// The name of the relation.
    pub name: Symbol,
    /// The rows of the relation.
    pub rows: Vec<(TermId, TermId)>,
    /// The terms that occur in the rows, in the order in which the game lists terms.
    pub elements: Vec<TermId>,
    /// Whether no element is related to two others.
    pub is_functional: bool,
    /// Whether no two elements are related to the same one.
    pub is_injective: bool,
    /// Whether no two different elements are related in both directions.
    pub is_antisymmetric: bool,
    /// Whether no element is related to itself.
    pub is_irreflexive: bool,
    /// Whether the relation is transitive.
    pub is_transitive: bool,
    /// Whether any two different elements are related in at least one direction.
    pub is_total: bool,
    /// The elements in their linear order, if the relation is a successor relation or a total order
    /// on all of them.
    pub line: Option<Vec<TermId>>,
}

/// The kinds of relations that the analyses distinguish.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RelationKind {
    /// A successor relation without cycles.
    Successor,
    /// A total order, strict or not.
    Order,
    /// Any other relation.
    Graph,
}

/// Maximum number of rows and of elements of a relation that is analysed: the test for transitivity
/// is cubic.
const MAX_ROWS: usize = 60_000;
const MAX_ELEMENTS: usize = 400;

impl Relation {
    /// Analyses the rows of a relation. Returns `None` if the relation is empty or too large.
    pub fn new(game: &Game, name: Symbol, rows: Vec<(TermId, TermId)>) -> Option<Relation> {
        let mut elements: Vec<TermId> = rows.iter().flat_map(|&(a, b)| [a, b]).collect();
        elements.sort_by(|&a, &b| game.compare(a, b));
        elements.dedup();
        if rows.is_empty() || rows.len() > MAX_ROWS || elements.len() > MAX_ELEMENTS {
            return None;
        }
        let place: BTreeMap<TermId, usize> =
            elements.iter().enumerate().map(|(i, &e)| (e, i)).collect();
        let n = elements.len();
        let mut has = vec![false; n * n];
        for (a, b) in &rows {
            has[place[a] * n + place[b]] = true;
        }
        let at = |a: usize, b: usize| has[a * n + b];
        let others = |a: usize| (0..n).filter(move |&b| b != a);
        let is_functional = (0..n).all(|a| (0..n).filter(|&b| at(a, b)).count() <= 1);
        let is_injective = (0..n).all(|b| (0..n).filter(|&a| at(a, b)).count() <= 1);
        let is_antisymmetric = (0..n).all(|a| others(a).all(|b| !at(a, b) || !at(b, a)));
        let is_irreflexive = (0..n).all(|a| !at(a, a));
        let is_total = (0..n).all(|a| others(a).all(|b| at(a, b) || at(b, a)));
        let is_transitive = (0..n).all(|a| {
            (0..n).filter(|&b| at(a, b)).all(|b| (0..n).filter(|&c| at(b, c)).all(|c| at(a, c)))
        });
        let mut relation = Relation {
            name,
            rows,
            elements,
            is_functional,
            is_injective,
            is_antisymmetric,
            is_irreflexive,
            is_transitive,
            is_total,
            line: None,
        };
        relation.line = match relation.kind_without_line() {
            // An element has as many predecessors as its position in the order.
            RelationKind::Order => {
                let mut order: Vec<usize> = (0..n).collect();
                order.sort_by_key(|&a| others(a).filter(|&b| at(b, a)).count());
                Some(order.into_iter().map(|a| relation.elements[a]).collect())
            }
            RelationKind::Successor => {
                chain(n, at).map(|order| order.into_iter().map(|a| relation.elements[a]).collect())
            }
            RelationKind::Graph => None,
        };
        Some(relation)
    }

    fn kind_without_line(&self) -> RelationKind {
        if self.is_functional && self.is_injective && self.is_antisymmetric && self.is_irreflexive {
            RelationKind::Successor
        } else if self.is_antisymmetric && self.is_transitive && self.is_total {
            RelationKind::Order
        } else {
            RelationKind::Graph
        }
    }

    /// Returns the kind of the relation.
    pub fn kind(&self) -> RelationKind {
        match (self.kind_without_line(), &self.line) {
            (RelationKind::Successor, None) => RelationKind::Graph,
            // A relation that is both a successor relation and a total order, such as one with two
            // elements, counts as an order.
            (RelationKind::Successor, Some(_)) if self.is_transitive && self.is_total => {
                RelationKind::Order
            }
            (kind, _) => kind,
        }
    }
}

/// Returns the elements in order, if the relation is a single chain through all of them.
fn chain(n: usize, at: impl Fn(usize, usize) -> bool) -> Option<Vec<usize>> {
    let first = (0..n).find(|&b| (0..n).all(|a| !at(a, b)))?;
    let mut order = vec![first];
    while let Some(next) = (0..n).find(|&b| at(order[order.len() - 1], b)) {
        order.push(next);
        if order.len() > n {
            return None;
        }
    }
    (order.len() == n).then_some(order)
}

/// Returns all static relations with two arguments, by name.
pub(super) fn find(game: &Game) -> Vec<Relation> {
    let rows = game.static_rows().into_iter().filter(|((_, arity), _)| *arity == 2);
    rows.filter_map(|((name, _), rows)| {
        Relation::new(game, name, rows.into_iter().map(|row| (row[0], row[1])).collect())
    })
    .collect()
}

/// Returns the ranks of symbols other than numbers that a successor relation puts in order, such as
/// the letters of columns. A symbol with two different ranks has none.
pub(crate) fn symbol_orders(game: &Game) -> BTreeMap<String, i64> {
    let mut ranks: BTreeMap<String, Option<i64>> = BTreeMap::new();
    for relation in find(game) {
        let Some(line) = relation.line.as_ref() else { continue };
        if relation.kind() != RelationKind::Successor || line.len() < 3 {
            continue;
        }
        for (rank, &element) in (0_i64..).zip(line) {
            let text = game.text(element);
            if text.parse::<i64>().is_err() {
                let known = ranks.entry(text).or_insert(Some(rank));
                *known = known.filter(|&known| known == rank);
            }
        }
    }
    ranks.into_iter().filter_map(|(text, rank)| Some((text, rank?))).collect()
}
