//! Finds boards with two ordered coordinates, boards of boards, and several boards of one shape.

use std::collections::BTreeSet;

use crate::axis::Axis;
use crate::hints::HintedKind;
use crate::infer::Builder;
use crate::infer::hex;
use crate::layout::{BoardPlan, Layer, LayerRole, Use};
use crate::scene::{BoardKind, Shade};
use crate::world::{Pattern, World};

/// A board that was found, before its places have positions.
#[derive(Clone, Debug)]
pub(crate) struct GridPlan {
    /// Index of the board in the builder, of the first one if there are several.
    pub(crate) board: usize,
    /// The values that select one of several boards; empty if there is one board.
    pub(crate) selectors: Vec<String>,
    /// The relation that defines the board.
    pub(crate) pattern: usize,
    /// The arguments of that relation that are coordinates: two, or four for a board of boards.
    pub(crate) coordinates: Vec<usize>,
    /// The axes of the coordinates.
    pub(crate) axes: Vec<Axis>,
    /// The direction of the third pair of neighbours, if places are hexagons: 1 if both
    /// coordinates grow together, -1 if one grows as the other shrinks.
    pub(crate) hex: Option<i64>,
}

/// Maximum number of boards of different shapes.
const MAX_BOARDS: usize = 5;

/// Maximum number of places of a board.
const MAX_PLACES: usize = 1_600;

/// Finds all boards, and the relations that are drawn on them. Places have no positions yet.
pub(crate) fn find(builder: &mut Builder<'_>) -> Vec<GridPlan> {
    let mut plans = Vec::new();
    while plans.len() < MAX_BOARDS {
        let candidates = builder.unused().into_iter().filter_map(|index| {
            let candidate = best(&builder.world, index)?;
            // Two numbers of which there is one pair are a board only if there is no other one.
            let is_single = builder.pattern(index).max_rows() <= 1;
            let is_allowed = !is_single || builder.boards.is_empty();
            is_allowed.then(|| (candidate.weight(), candidate))
        });
        let Some((_, found)) = candidates.max_by(|(a, _), (b, _)| a.total_cmp(b)) else { break };
        plans.push(add(builder, found));
    }
    plans
}

/// A relation and the arguments that may be coordinates.
#[derive(Debug)]
struct Candidate {
    pattern: usize,
    coordinates: Vec<usize>,
    selector: Option<usize>,
    n_places: usize,
    /// Mean share of the places that a state mentions.
    density: f64,
    /// How well the arguments look like coordinates.
    score: f64,
    is_hinted: bool,
}

impl Candidate {
    /// Returns how much the relation should be the board. The board is the relation that mentions
    /// most places.
    fn weight(&self) -> f64 {
        let hinted = if self.is_hinted { 1e9 } else { 0.0 };
        hinted + self.n_places as f64 * (0.5 + self.density) + self.score
    }
}

const COLUMN: &[&str] = &["col", "column", "x", "file", "c"];
const ROW: &[&str] = &["row", "y", "rank", "r", "line"];

/// Returns whether variables call the arguments a column and a row, in any order.
pub(crate) fn are_named_coordinates(pattern: &Pattern, first: usize, second: usize) -> bool {
    let is = |i: usize, names: &[&str]| pattern.is_named(i, names);
    (is(first, COLUMN) && is(second, ROW))
        || (is(first, ROW) && is(second, COLUMN))
        || (is(first, &["m"]) && is(second, &["n"]))
        || (is(first, &["i"]) && is(second, &["j"]))
}

fn best(world: &World<'_>, index: usize) -> Option<Candidate> {
    let pattern = &world.patterns[index];
    let ordered: Vec<usize> = (0..pattern.arity).filter(|&i| pattern.axes[i].is_some()).collect();
    if let Some(nested) = nested(world, index, &ordered) {
        return Some(nested);
    }
    let mut found: Option<Candidate> = None;
    for (at, &first) in ordered.iter().enumerate() {
        for &second in &ordered[at + 1..] {
            if let Some(candidate) = pair(world, index, first, second)
                && found.as_ref().is_none_or(|best| candidate.score > best.score)
            {
                found = Some(candidate);
            }
        }
    }
    found
}

/// Returns the board of boards with four coordinates, if the relation is that.
fn nested(world: &World<'_>, index: usize, ordered: &[usize]) -> Option<Candidate> {
    let pattern = &world.patterns[index];
    let [a, b, c, d] = *ordered.first_chunk::<4>()?;
    let four = [a, b, c, d];
    let is_needed = |left_out: usize| {
        let rest: Vec<usize> = four.into_iter().filter(|i| *i != left_out).collect();
        !pattern.is_key(&rest)
    };
    let n_product: usize =
        four.iter().map(|&i| pattern.axes[i].as_ref().map_or(1, Axis::len)).product();
    let n_seen = pattern.projected(&four).len();
    let is_board = pattern.is_key(&four)
        && four.into_iter().all(is_needed)
        && n_product <= MAX_PLACES
        && 2 * n_seen >= n_product
        && b == a + 1
        && d == c + 1;
    // Edges between neighbours also have four coordinates, but far fewer than all combinations.
    is_board.then(|| Candidate {
        pattern: index,
        coordinates: four.to_vec(),
        selector: None,
        n_places: n_seen,
        density: pattern.max_rows() as f64 / n_product as f64,
        score: 3.0,
        is_hinted: false,
    })
}

/// Judges two arguments as coordinates.
fn pair(world: &World<'_>, index: usize, first: usize, second: usize) -> Option<Candidate> {
    let pattern = &world.patterns[index];
    let hints = &world.evidence.hints;
    let is_hinted = hints.relation.as_deref() == Some(pattern.relation.as_str());
    let (x, y) = (pattern.axes[first].as_ref()?, pattern.axes[second].as_ref()?);
    let n_product = x.len() * y.len();
    if !(4..=MAX_PLACES).contains(&n_product) {
        return None;
    }
    let is_named = are_named_coordinates(pattern, first, second);
    // A value for each name, such as the size of each heap, is not a board.
    let is_table = pattern.arity == 2
        && pattern.max_rows() > 1
        && (pattern.is_table(first) || pattern.is_table(second));
    if is_table && !is_hinted && !is_named {
        return None;
    }
    let pairs = pattern.projected(&[first, second]);
    let coverage = pairs.len() as f64 / n_product as f64;
    let distinct = pattern.states.iter().map(|rows| {
        let places: BTreeSet<(&str, &str)> =
            rows.iter().map(|row| (row[first].as_str(), row[second].as_str())).collect();
        places.len()
    });
    let distinct: Vec<usize> = distinct.collect();
    let most = distinct.iter().copied().max().unwrap_or(0);
    let density =
        distinct.iter().sum::<usize>() as f64 / (distinct.len().max(1) * n_product) as f64;
    let others = pattern.others(&[first, second]);
    // Few things that move about: `(at ?who ?x ?y)`.
    let is_position = most <= 1 || (!others.is_empty() && pattern.is_key(&others));
    let in_moves = mentioned_in_moves(world, x, y);
    if is_position && !is_named && !is_hinted {
        if x.len() < 3 || y.len() < 3 || coverage < 0.3 {
            return None;
        }
        if most <= 1 && !in_moves {
            return None;
        }
    }
    if coverage < 0.3 && !in_moves && !is_named && !is_hinted {
        return None;
    }
    if pairs.len() < 4 && !is_hinted {
        return None;
    }
    // A triangle below the diagonal is an order, not a board.
    let mut score = 2.0 * density + coverage;
    score += if is_named { 2.0 } else { 0.0 };
    score += if second == first + 1 { 0.3 } else { 0.0 };
    score += if in_moves { 0.5 } else { 0.0 };
    score -= 0.05 * first as f64;
    let selector = selector(world, pattern, first, second, most, n_product);
    Some(Candidate {
        pattern: index,
        coordinates: vec![first, second],
        selector,
        n_places: pairs.len(),
        density,
        score,
        is_hinted,
    })
}

/// Returns whether some moves have neighbouring arguments on the two axes.
fn mentioned_in_moves(world: &World<'_>, x: &Axis, y: &Axis) -> bool {
    world.moves.iter().any(|m| {
        m.arguments
            .windows(2)
            .any(|pair| x.index(&pair[0]).is_some() && y.index(&pair[1]).is_some())
    })
}

/// Returns the argument that selects one of several boards: one that is needed to identify a
/// fluent, where a state has more fluents than one board has places.
fn selector(
    world: &World<'_>,
    pattern: &Pattern,
    first: usize,
    second: usize,
    most: usize,
    n_product: usize,
) -> Option<usize> {
    if pattern.is_key(&[first, second]) {
        return None;
    }
    let choices = pattern.others(&[first, second]);
    choices.into_iter().find(|&i| {
        let n_values = pattern.domains[i].len();
        let is_board_name = pattern.is_named(i, &["board", "b", "z", "level", "plane", "layer"]);
        (2..=16).contains(&n_values)
            && pattern.is_key(&[i, first, second])
            && (pattern.max_rows() * 5 > n_product * 6 && most * 2 > n_product
                || is_board_name
                    && (pattern.axes[i].is_some() || world.is_role(&pattern.domains[i])))
    })
}

/// Adds a board and draws all relations on it that fit.
fn add(builder: &mut Builder<'_>, found: Candidate) -> GridPlan {
    let pattern = builder.pattern(found.pattern);
    let mut domains: Vec<BTreeSet<String>> =
        found.coordinates.iter().map(|&i| pattern.domains[i].clone()).collect();
    let selectors: Vec<String> = found
        .selector
        .map(|i| {
            let named = pattern.axes[i].as_ref().map(|axis| axis.values().to_vec());
            named.unwrap_or_else(|| pattern.domains[i].iter().cloned().collect())
        })
        .unwrap_or_default();
    let board = builder.boards.len();
    let mut joined = vec![(found.pattern, found.coordinates.clone(), found.selector)];
    // Relations with a few more rows or columns extend the board, so do it until nothing changes.
    for _ in 0..3 {
        joined.truncate(1);
        for index in builder.unused() {
            if index == found.pattern {
                continue;
            }
            if let Some(coordinates) = joins(builder, index, &found, &domains) {
                for (domain, &i) in domains.iter_mut().zip(&coordinates) {
                    let pattern = builder.pattern(index);
                    let own = along(&builder.world, pattern, i, domain).unwrap_or_default();
                    domain.extend(own);
                }
                let selector = found.selector.and_then(|_| {
                    let pattern = builder.pattern(index);
                    pattern
                        .others(&coordinates)
                        .into_iter()
                        .find(|&i| pattern.domains[i].iter().all(|value| selectors.contains(value)))
                });
                if found.selector.is_none() || selector.is_some() {
                    joined.push((index, coordinates, selector));
                }
            }
        }
    }
    let axes: Vec<Axis> = domains
        .iter()
        .zip(&found.coordinates)
        .map(|(domain, &i)| {
            let own = || builder.pattern(found.pattern).axes[i].clone();
            builder.world.axis(domain).or_else(own).expect("coordinates have axes")
        })
        .collect();
    let hinted = builder.world.evidence.hints.kind;
    let is_hinted_hex = hinted == Some(HintedKind::Hex);
    let hex = match axes.as_slice() {
        // An author who asks for a grid knows better than the directions of the moves.
        [_, _] if hinted == Some(HintedKind::Grid) => None,
        [x, y] => hex::direction(&builder.world, x, y).or(is_hinted_hex.then_some(-1)),
        _ => None,
    };
    for (number, (index, coordinates, selector)) in joined.iter().enumerate() {
        let pattern = builder.pattern(*index);
        let key: Vec<usize> = selector.iter().chain(coordinates).copied().collect();
        let contents = pattern.others(&key);
        let is_many = pattern.max_rows() > 1 && !contents.is_empty();
        let role = if number == 0 || is_many || !contents.is_empty() {
            LayerRole::Main
        } else {
            LayerRole::Mark
        };
        let layer = Layer { board, prefix: Vec::new(), key, contents, role };
        builder.set_use(*index, Use::Layer(layer));
    }
    let kind = if hex.is_some() { BoardKind::Hex } else { BoardKind::Grid };
    builder.boards.push(BoardPlan {
        id: if board == 0 { "board".to_owned() } else { format!("board{}", board + 1) },
        kind,
        title: String::new(),
        width: 0.0,
        height: 0.0,
        places: Vec::new(),
        lookup: std::collections::BTreeMap::new(),
        lines: Vec::new(),
        frames: Vec::new(),
        labels: Vec::new(),
        is_dynamic: false,
    });
    let plan = GridPlan {
        board,
        selectors,
        pattern: found.pattern,
        coordinates: found.coordinates,
        axes,
        hex,
    };
    crate::infer::orient::add_places(builder, &plan);
    plan
}

/// Returns the values of an argument that lie along a side of a board with these values, and those
/// that make the side a little longer. `None` if the argument is something else.
///
/// The values that can hold are often too many, because they are not found by play. If those that
/// were seen lie on the board, the argument does.
fn along(
    world: &World<'_>,
    pattern: &Pattern,
    argument: usize,
    domain: &BTreeSet<String>,
) -> Option<BTreeSet<String>> {
    let own = &pattern.domains[argument];
    let common = own.intersection(domain).count();
    // A few values beyond the board are more of the board.
    let is_more_of_it = || {
        let union: BTreeSet<String> = own.union(domain).cloned().collect();
        union.len() <= domain.len() + domain.len().div_ceil(4) && world.axis(&union).is_some()
    };
    let is_ordered = pattern.axes[argument].is_some();
    if own.is_subset(domain) || is_ordered && common * 3 >= own.len() * 2 && is_more_of_it() {
        return Some(own.clone());
    }
    let seen = pattern.seen(argument);
    (seen.len() >= 2 && seen.is_subset(domain)).then_some(seen)
}

/// Returns the arguments of a relation that are coordinates of a board, if they lie on it.
fn joins(
    builder: &Builder<'_>,
    index: usize,
    found: &Candidate,
    domains: &[BTreeSet<String>],
) -> Option<Vec<usize>> {
    let pattern = builder.pattern(index);
    let main = builder.pattern(found.pattern);
    let n = domains.len();
    let fits = |coordinates: &[usize]| {
        let mut pairs = coordinates.iter().zip(domains);
        pairs.all(|(&i, domain)| along(&builder.world, pattern, i, domain).is_some())
    };
    let has_common_name = |coordinates: &[usize]| {
        coordinates.iter().zip(&found.coordinates).all(|(&own, &other)| {
            let (own, other) = (&pattern.names[own], &main.names[other]);
            own.is_empty() || other.is_empty() || own.intersection(other).next().is_some()
        })
    };
    let windows = (0..=pattern.arity.checked_sub(n)?).map(|at| (at..at + n).collect::<Vec<_>>());
    let mut fitting: Vec<Vec<usize>> = windows.filter(|window| fits(window)).collect();
    fitting.sort_by_key(|window| !has_common_name(window));
    let coordinates = fitting.into_iter().next()?;
    let is_many = pattern.max_rows() > 2;
    let is_table = pattern.arity == 2 && pattern.is_table(coordinates[0]) && pattern.max_rows() > 1;
    // Two small numbers in one fluent need not be a place.
    let is_sure = has_common_name(&coordinates) || (is_many && !is_table);
    // A board of boards has small coordinates that may mean the large or the small board.
    (is_sure && !(n == 4 && pattern.arity < 4)).then_some(coordinates)
}

/// Returns whether a place can be drawn at all: some fluent or move mentions it, or nothing is
/// known about it.
pub(crate) fn shade_of(is_mentioned: bool, knows_all: bool) -> Shade {
    if is_mentioned || !knows_all { Shade::Plain } else { Shade::Absent }
}
