//! Static relations of two arguments: successors, orders, graphs.

use std::collections::BTreeMap;

use agon_datalog::{Symbol, TermId};
use agon_gdl::interpreter::Game;

/// A static relation of two arguments. Everything here is worked out from its rows, so it is proved.
#[derive(Clone, Debug)]
pub struct Relation {
    /// Its name.
    pub name: Symbol,
    /// Its rows.
    pub rows: Vec<(TermId, TermId)>,
    /// What occurs in its rows, in the order in which the game lists terms.
    pub elements: Vec<TermId>,
    /// No element has two others after it.
    pub is_functional: bool,
    /// No element has two others before it.
    pub is_injective: bool,
    /// No two different elements stand in it both ways.
    pub is_antisymmetric: bool,
    /// No element stands in it with itself.
    pub is_irreflexive: bool,
    /// Two elements stand in it if a third between them does with both.
    pub is_transitive: bool,
    /// Any two different elements stand in it one way or the other.
    pub is_total: bool,
    /// Where every element has its place in a line: the elements by rank, each related to all or to the next of those
    /// after it, as the case may be.
    pub line: Option<Vec<TermId>>,
}

/// What a relation is good for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RelationKind {
    /// From each element to the next, without a circle.
    Successor,
    /// A total order, strict or not.
    Order,
    /// Anything else.
    Graph,
}

/// Relations with more rows are not looked at: transitivity is cubic.
const MAX_ROWS: usize = 60_000;
const MAX_ELEMENTS: usize = 400;

impl Relation {
    /// Looks at the rows of a relation.
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
            // Few are after the last, all are after the first.
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

    /// What it is good for.
    pub fn kind(&self) -> RelationKind {
        match (self.kind_without_line(), &self.line) {
            (RelationKind::Successor, None) => RelationKind::Graph,
            // Two elements, one after the other, are both; so is what is transitive besides.
            (RelationKind::Successor, Some(_)) if self.is_transitive && self.is_total => {
                RelationKind::Order
            }
            (kind, _) => kind,
        }
    }
}

/// The elements in line, if the relation goes through all of them one after the other.
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

/// All static relations of two arguments, by name.
pub(super) fn find(game: &Game) -> Vec<Relation> {
    let rows = game.static_rows().into_iter().filter(|((_, arity), _)| *arity == 2);
    rows.filter_map(|((name, _), rows)| {
        Relation::new(game, name, rows.into_iter().map(|row| (row[0], row[1])).collect())
    })
    .collect()
}
