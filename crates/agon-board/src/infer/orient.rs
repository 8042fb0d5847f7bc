//! Gives the places of boards their positions: which coordinate is the column, and which row is at
//! the bottom.

use std::collections::BTreeSet;

use crate::axis::Axis;
use crate::fluent::Flat;
use crate::infer::Builder;
use crate::infer::grids::{GridPlan, shade_of};
use crate::layout::{BoardPlan, PlacePlan, Use};
use crate::pieces::Styles;
use crate::scene::{BoardKind, Frame, Label, Shade, Shape};
use crate::world::Pattern;

/// Distance between the boards of a board of boards.
const GAP: f64 = 0.35;

/// Distance between separate boards.
const WIDE_GAP: f64 = 1.2;

/// Height of a row of hexagons whose centres in a row have distance 1.
const HEX_ROW: f64 = 0.866_025;

/// How a board is turned.
#[derive(Copy, Clone, Debug)]
struct Orientation {
    /// Whether the first coordinate is the column.
    is_column_first: bool,
    /// Whether the first row is at the bottom.
    is_up: bool,
}

/// Adds the places of a board in the order of their coordinates. They have no positions yet.
pub(crate) fn add_places(builder: &mut Builder<'_>, plan: &GridPlan) {
    let board = &mut builder.boards[plan.board];
    let selectors: Vec<Option<&String>> = if plan.selectors.is_empty() {
        vec![None]
    } else {
        plan.selectors.iter().map(Some).collect()
    };
    for selector in selectors {
        for key in product(&plan.axes) {
            let key: Vec<String> = selector.iter().map(|s| (*s).clone()).chain(key).collect();
            board.lookup.insert(key.clone(), board.places.len());
            board.places.push(PlacePlan {
                id: format!("{}/{}", board.id, key.join("/")),
                name: key.join(" "),
                shape: Shape::Rectangle { width: 1.0, height: 1.0 },
                x: 0.0,
                y: 0.0,
                shade: Shade::Plain,
            });
        }
    }
}

fn product(axes: &[Axis]) -> Vec<Vec<String>> {
    let mut keys = vec![Vec::new()];
    for axis in axes {
        keys = keys
            .into_iter()
            .flat_map(|key: Vec<String>| {
                axis.values().iter().map(move |value| {
                    let mut longer = key.clone();
                    longer.push(value.clone());
                    longer
                })
            })
            .collect();
    }
    keys
}

/// Gives all places their positions.
pub(crate) fn finish(builder: &mut Builder<'_>, plans: &[GridPlan], styles: &Styles) {
    for plan in plans {
        let orientation = orientation(builder, plan, styles);
        shade(builder, plan);
        let board = &mut builder.boards[plan.board];
        position(board, plan, orientation);
        name_places(board, plan, orientation);
    }
}

/// Colours every other place of boards on which pieces move, as on a chess board.
pub(crate) fn chequer(builder: &mut Builder<'_>) {
    for board in builder.boards.iter_mut().filter(|board| board.kind == BoardKind::Grid) {
        let is_large = board.width >= 4.0 && board.height >= 4.0;
        for place in board.places.iter_mut().filter(|_| is_large) {
            let is_odd = (place.x.floor() + (board.height - place.y).floor()) as i64 % 2 == 0;
            if is_odd && place.shade == Shade::Plain {
                place.shade = Shade::Dark;
            }
        }
    }
}

const COLUMN: &[&str] = &["col", "column", "x", "file", "c"];
const ROW: &[&str] = &["row", "y", "rank", "r", "line"];

fn orientation(builder: &Builder<'_>, plan: &GridPlan, styles: &Styles) -> Orientation {
    let pattern = builder.pattern(plan.pattern);
    let hints = &builder.world.evidence.hints;
    let n = plan.coordinates.len();
    let (first, second) = (plan.coordinates[n - 2], plan.coordinates[n - 1]);
    let (first_axis, second_axis) = (&plan.axes[n - 2], &plan.axes[n - 1]);
    let is = |i: usize, names: &[&str]| pattern.is_named(i, names);
    let hinted = |name: &Option<String>, i: usize| {
        name.as_ref().is_some_and(|name| {
            name.parse::<usize>() == Ok(i) || pattern.names[i].contains(&name.to_lowercase())
        })
    };
    let is_sure;
    let is_column_first = if hinted(&hints.columns, first) || hinted(&hints.rows, second) {
        is_sure = true;
        true
    } else if hinted(&hints.columns, second) || hinted(&hints.rows, first) {
        is_sure = true;
        false
    } else if first_axis.is_letters() != second_axis.is_letters() {
        // Letters are columns, as on a chess board, unless the players face each other along them.
        is_sure = false;
        first_axis.is_letters()
    } else {
        // Both names must agree, because `?x ?y` may be any two things.
        let (column, row) =
            (is(first, COLUMN) && is(second, ROW), is(first, ROW) && is(second, COLUMN));
        is_sure = column != row;
        let is_matrix =
            is(first, &["m"]) && is(second, &["n"]) || is(first, &["i"]) && is(second, &["j"]);
        column || !(row || is_matrix)
    };
    // Rows are counted from the top in matrices, from the bottom in planes and on chess boards.
    let has_letters = first_axis.is_letters() || second_axis.is_letters();
    let (column, row) = if is_column_first { (first, second) } else { (second, first) };
    let is_plane =
        has_letters || is(row, &["y", "rank"]) || (is_column_first && !is(row, &["row", "r", "m"]));
    let mut orientation = Orientation { is_column_first, is_up: is_plane };
    if let Some(falls) = gravity(builder, plan, row) {
        orientation.is_up = falls;
    } else if let Some(is_up) = facing(builder, pattern, plan, styles, row) {
        orientation.is_up = is_up;
    } else if !is_sure && facing(builder, pattern, plan, styles, column).is_some() {
        // The players sit left and right: turn the board.
        orientation.is_column_first = !is_column_first;
        orientation.is_up = facing(builder, pattern, plan, styles, column).unwrap_or(true);
    }
    if let Some(up) = hints.up {
        orientation.is_up = up;
    }
    orientation
}

/// Returns whether things fall towards the first row (`true`) or towards the last one (`false`);
/// `None` if they do not fall.
fn gravity(builder: &Builder<'_>, plan: &GridPlan, row: usize) -> Option<bool> {
    if plan.coordinates.len() != 2 {
        return None;
    }
    let pattern = builder.pattern(plan.pattern);
    let column = plan.coordinates.iter().copied().find(|i| *i != row)?;
    let axis = &plan.axes[plan.coordinates.iter().position(|i| *i == row)?];
    let others = pattern.others(&plan.coordinates);
    let is_full = |row: &[String], blanks: &BTreeSet<&str>| {
        others.iter().all(|&i| !blanks.contains(row[i].as_str()))
    };
    let blanks: BTreeSet<&str> = BLANKS.iter().copied().collect();
    let (mut low, mut high, mut inner) = (0, 0, 0);
    let mut total = 0;
    for play in &builder.world.evidence.plays {
        let parsed: Vec<BTreeSet<(usize, String)>> = play
            .states
            .iter()
            .take(60)
            .map(|state| {
                let flats = state.iter().filter_map(|fluent| Flat::parse(fluent));
                flats
                    .filter(|flat| flat.skeleton == pattern.skeleton)
                    .filter(|flat| is_full(&flat.arguments, &blanks))
                    .filter_map(|flat| {
                        Some((axis.index(&flat.arguments[row])?, flat.arguments[column].clone()))
                    })
                    .collect()
            })
            .collect();
        for pair in parsed.windows(2) {
            if pair[0].difference(&pair[1]).next().is_some() {
                // Something went away: pieces move here, they do not only fall.
                return None;
            }
            for (at, column) in pair[1].difference(&pair[0]) {
                total += 1;
                let below = *at == 0 || pair[0].contains(&(*at - 1, column.clone()));
                let above = *at + 1 == axis.len() || pair[0].contains(&(*at + 1, column.clone()));
                low += usize::from(below);
                high += usize::from(above);
                inner += usize::from(*at != 0 && *at + 1 != axis.len());
            }
        }
    }
    if total < 8 || inner < 3 {
        return None;
    }
    match (low == total, high == total) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Names of empty places.
pub(crate) const BLANKS: &[&str] = &[
    "b", "blank", "empty", "nil", "none", "free", "e", "clear", "space", "_", ".", "0", "open",
    "nothing", "no", "null", "vacant", "off", "dirt", "unmarked", "-",
];

/// Returns whether the first role should sit at the first row (`true`) or at the last one
/// (`false`); `None` if the two players do not start on opposite sides along the coordinate.
fn facing(
    builder: &Builder<'_>,
    pattern: &Pattern,
    plan: &GridPlan,
    styles: &Styles,
    coordinate: usize,
) -> Option<bool> {
    let axis = &plan.axes[plan.coordinates.iter().position(|i| *i == coordinate)?];
    if builder.world.evidence.roles.len() < 2 || plan.coordinates.len() != 2 {
        return None;
    }
    let start = builder.world.evidence.plays.first()?.states.first()?;
    let mut sums = [(0.0, 0.0), (0.0, 0.0)];
    for fluent in start {
        let Some(flat) = Flat::parse(fluent).filter(|flat| flat.skeleton == pattern.skeleton)
        else {
            continue;
        };
        let Some(Use::Layer(layer)) = builder.uses.get(&flat.skeleton) else { continue };
        let piece = styles.piece(layer, &flat, fluent, &builder.world.evidence.roles);
        if let Some(owner) = piece.and_then(|piece| piece.owner).filter(|owner| *owner < 2)
            && let Some(at) = axis.index(&flat.arguments[coordinate])
        {
            sums[owner].0 += at as f64;
            sums[owner].1 += 1.0;
        }
    }
    let [first, second] = sums;
    if first.1 < 1.0 || second.1 < 1.0 {
        return None;
    }
    let distance = second.0 / second.1 - first.0 / first.1;
    (distance.abs() >= 0.4 * axis.len() as f64).then_some(distance > 0.0)
}

/// Marks places that no fluent and no move ever mentions.
fn shade(builder: &mut Builder<'_>, plan: &GridPlan) {
    let mut mentioned = vec![false; builder.boards[plan.board].places.len()];
    let mut always: Option<usize> = None;
    for pattern in &builder.world.patterns {
        let Some(Use::Layer(layer)) = builder.uses.get(&pattern.skeleton) else { continue };
        if layer.board != plan.board {
            continue;
        }
        let board = &builder.boards[plan.board];
        let mut own = BTreeSet::new();
        for tuple in &pattern.tuples {
            let flat =
                Flat { skeleton: String::new(), relation: String::new(), arguments: tuple.clone() };
            if let Some(place) = layer.place(board, &flat) {
                mentioned[place] = true;
                own.insert(place);
            }
        }
        let is_full = pattern.min_rows() >= own.len() && !layer.contents.is_empty();
        if is_full {
            always = always.max(Some(own.len()));
        }
    }
    let given = given_places(builder, plan, &mentioned);
    let board = &builder.boards[plan.board];
    let lengths: BTreeSet<usize> = board.lookup.keys().map(Vec::len).collect();
    for m in &builder.world.moves {
        for &length in &lengths {
            for window in m.arguments.windows(length) {
                if let Some(&place) = board.lookup.get(window) {
                    mentioned[place] = true;
                }
            }
        }
    }
    let evidence = builder.world.evidence;
    let n_mentioned = mentioned.iter().filter(|is| **is).count();
    // All fluents are known, or each state names all places.
    if let Some(given) = &given {
        mentioned.iter_mut().zip(given).for_each(|(is, given)| *is = *given);
    }
    let knows_all = given.is_some() || !evidence.fluents.is_empty() || always == Some(n_mentioned);
    let board = &mut builder.boards[plan.board];
    // A single missing cell is more likely one that was never seen.
    let is_plausible = n_mentioned * 5 >= mentioned.len() && evidence.hints.holes != Some(false);
    for (place, is_mentioned) in board.places.iter_mut().zip(mentioned) {
        place.shade = shade_of(is_mentioned, knows_all && is_plausible);
    }
    for relation in &evidence.hints.marks {
        for row in builder.world.facts.get(relation).into_iter().flatten() {
            if let Some(&place) = board.lookup.get(row) {
                board.places[place].shade = Shade::Aim;
            }
        }
    }
}

/// Returns the places that a static relation of the rules lists, such as `(hole ?x ?y)`, if it
/// lists all places that fluents and moves mention, and not all of the rectangle.
fn given_places(builder: &Builder<'_>, plan: &GridPlan, mentioned: &[bool]) -> Option<Vec<bool>> {
    let board = &builder.boards[plan.board];
    builder.world.facts.values().find_map(|rows| {
        let mut given = vec![false; mentioned.len()];
        for row in rows {
            given[*board.lookup.get(row)?] = true;
        }
        let n_given = given.iter().filter(|is| **is).count();
        let covers = mentioned.iter().zip(&given).all(|(is, given)| *given || !is);
        // The squares of one colour are not a board without the others.
        let is_chequered = plan.hex.is_none() && !has_neighbours(&given, plan);
        let fits = covers && n_given >= 4 && n_given < mentioned.len() && !is_chequered;
        (fits && builder.world.moves.iter().all(|m| is_covered(m, board, &given))).then_some(given)
    })
}

/// Returns whether two places of a set are side by side or one above the other. Places are in the
/// order of their coordinates, of which the last one changes fastest.
fn has_neighbours(given: &[bool], plan: &GridPlan) -> bool {
    let n_last = plan.axes.last().map_or(1, Axis::len);
    let is_given = |place: usize| given.get(place) == Some(&true);
    (0..given.len()).any(|place| {
        let is_last = (place + 1) % n_last == 0;
        is_given(place) && (!is_last && is_given(place + 1) || is_given(place + n_last))
    })
}

/// Returns whether the arguments of a move can be read as places of a set. `(jump 1 1 3 1)` names
/// two places one after the other; the pair in its middle is not a place.
fn is_covered(m: &Flat, board: &BoardPlan, given: &[bool]) -> bool {
    let length = board.lookup.keys().next().map_or(1, Vec::len);
    (0..length).any(|from| {
        let pairs = m.arguments.get(from..).unwrap_or_default().chunks_exact(length);
        pairs.filter_map(|pair| board.lookup.get(pair)).all(|&place| given[place])
    })
}

fn position(board: &mut BoardPlan, plan: &GridPlan, orientation: Orientation) {
    let n = plan.axes.len();
    let has_selector = !plan.selectors.is_empty();
    let size = |axis: usize| plan.axes[axis].len() as f64;
    let (column, row) = if orientation.is_column_first { (n - 2, n - 1) } else { (n - 1, n - 2) };
    let (columns, rows) = (size(column), size(row));
    let (outer_column, outer_row) = if orientation.is_column_first { (0, 1) } else { (1, 0) };
    let slant = plan.hex.map_or(0.0, |slant| if slant < 0 { 0.5 } else { -0.5 });
    // Seen from above, rows that grow upwards turn the slant around.
    let lean = |row_at: f64| {
        if slant < 0.0 { 0.5 * (rows - 1.0) + slant * row_at } else { slant * row_at }
    };
    let (mut width, mut height) = (columns, rows);
    if plan.hex.is_some() {
        width = columns + 0.5 * (rows - 1.0);
        height = (rows - 1.0) * HEX_ROW + 1.155;
    }
    if n == 4 {
        width = size(outer_column) * (columns + GAP) - GAP;
        height = size(outer_row) * (rows + GAP) - GAP;
    }
    // Several boards stand in lines of about the same width as height.
    let n_boards = plan.selectors.len().max(1);
    let per_line = libm::ceil(libm::sqrt(n_boards as f64 * 1.3 * height / width)).max(1.0) as usize;
    let per_line = per_line.min(n_boards);
    for (key, &place) in &board.lookup {
        let at = |axis: usize| {
            let value = &key[usize::from(has_selector) + axis];
            plan.axes[axis].index(value).unwrap_or(0) as f64
        };
        let turned = |axis: usize| {
            if orientation.is_up { size(axis) - 1.0 - at(axis) } else { at(axis) }
        };
        let (mut x, mut y) = (at(column) + 0.5, turned(row) + 0.5);
        if plan.hex.is_some() {
            x = at(column) + 0.5 + lean(at(row));
            y = turned(row) * HEX_ROW + 0.577;
        }
        if n == 4 {
            x += at(outer_column) * (columns + GAP);
            y += turned(outer_row) * (rows + GAP);
        }
        if has_selector {
            let number = plan.selectors.iter().position(|s| *s == key[0]).unwrap_or(0);
            x += (number % per_line) as f64 * (width + WIDE_GAP);
            y += (number / per_line) as f64 * (height + WIDE_GAP + 0.3);
        }
        let plan_place = &mut board.places[place];
        (plan_place.x, plan_place.y) = (x, y);
        if plan.hex.is_some() {
            plan_place.shape = Shape::Hexagon { radius: 0.577 };
        }
    }
    if n == 4 {
        for a in 0..plan.axes[outer_column].len() {
            for b in 0..plan.axes[outer_row].len() {
                board.frames.push(Frame {
                    x: a as f64 * (columns + GAP),
                    y: b as f64 * (rows + GAP),
                    width: columns,
                    height: rows,
                });
            }
        }
    }
    for (number, selector) in plan.selectors.iter().enumerate() {
        let x = (number % per_line) as f64 * (width + WIDE_GAP);
        let y = (number / per_line) as f64 * (height + WIDE_GAP + 0.3);
        board.labels.push(Label { x: x + width / 2.0, y: y - 0.35, text: selector.clone() });
        board.frames.push(Frame { x, y, width, height });
    }
    add_labels(board, plan, orientation, (column, row), (width, height), &lean);
    board.width = width;
    board.height = height;
    if has_selector {
        let lines = n_boards.div_ceil(per_line) as f64;
        board.width = per_line as f64 * (width + WIDE_GAP) - WIDE_GAP;
        board.height = lines * (height + WIDE_GAP + 0.3) - WIDE_GAP - 0.3;
    }
}

fn add_labels(
    board: &mut BoardPlan,
    plan: &GridPlan,
    orientation: Orientation,
    (column, row): (usize, usize),
    (_, height): (f64, f64),
    lean: &dyn Fn(f64) -> f64,
) {
    if plan.axes.len() != 2 {
        return;
    }
    let rows = plan.axes[row].len();
    for (i, text) in plan.axes[column].values().iter().enumerate() {
        let bottom_row = if orientation.is_up { 0 } else { rows - 1 };
        let lean = if plan.hex.is_some() { lean(bottom_row as f64) } else { 0.0 };
        let x = i as f64 + 0.5 + lean;
        board.labels.push(Label { x, y: height + 0.32, text: text.clone() });
    }
    for (i, text) in plan.axes[row].values().iter().enumerate() {
        let turned = if orientation.is_up { rows - 1 - i } else { i };
        let (x, y) = if plan.hex.is_some() {
            (lean(i as f64) - 0.35, turned as f64 * HEX_ROW + 0.577)
        } else {
            (-0.35, turned as f64 + 0.5)
        };
        board.labels.push(Label { x, y, text: text.clone() });
    }
}

/// Names places as people do: column first if the column is a letter.
fn name_places(board: &mut BoardPlan, plan: &GridPlan, orientation: Orientation) {
    let is_chess = plan.axes.len() == 2
        && plan.selectors.is_empty()
        && plan.axes[usize::from(!orientation.is_column_first)].is_letters()
        && plan.axes[usize::from(orientation.is_column_first)].is_numbers();
    if !is_chess {
        return;
    }
    for (key, &place) in &board.lookup {
        let (column, row) =
            if orientation.is_column_first { (&key[0], &key[1]) } else { (&key[1], &key[0]) };
        board.places[place].name = format!("{column}{row}");
    }
}
