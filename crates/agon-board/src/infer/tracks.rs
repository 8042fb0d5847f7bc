//! Finds tracks: numbered places along which the pieces of each role go, in lanes of their own.
//! `(on white 3)` is a piece of white on place 3, `(on white 6 2)` are two.

use std::collections::{BTreeMap, BTreeSet};

use crate::hints::HintedKind;
use crate::infer::Builder;
use crate::infer::stacks::amount;
use crate::layout::{BoardPlan, Layer, LayerRole, PlacePlan, Use};
use crate::scene::{BoardKind, Label, Shade, Shape};

/// Minimum and maximum number of places of a track.
const N_PLACES: std::ops::RangeInclusive<usize> = 5..=40;

/// Width of the names of the roles, left of their lanes.
const NAMES: f64 = 1.2;

/// Finds tracks among the relations that are not drawn yet: the relation that a hint names, and
/// relations of a role and a number that have several numbers for a role at a time.
pub(crate) fn find(builder: &mut Builder<'_>) {
    let hints = &builder.world.evidence.hints;
    let hinted = hints.relation.clone().filter(|_| hints.kind == Some(HintedKind::Track));
    for index in builder.unused() {
        let pattern = builder.pattern(index);
        let is_hinted = hinted.as_ref() == Some(&pattern.relation);
        let is_number = |name: &String| name.parse::<u32>().is_ok();
        let fits = pattern.arity >= 2
            && builder.world.is_role(&pattern.domains[0])
            && pattern.domains[0].len() >= 2
            && N_PLACES.contains(&pattern.domains[1].len())
            && pattern.axes[1].is_some()
            && pattern.domains[1].iter().all(is_number);
        let is_track = match pattern.arity {
            2 => is_hinted || !pattern.is_key(&[0]) && in_moves(builder, &pattern.domains[1]),
            3 => {
                is_hinted
                    && pattern.is_key(&[0, 1])
                    && pattern.domains[2].iter().all(|name| amount(name).is_some())
            }
            _ => false,
        };
        if fits && is_track {
            add(builder, index);
        }
    }
}

/// Returns whether moves name at least half of the places.
fn in_moves(builder: &Builder<'_>, names: &BTreeSet<String>) -> bool {
    let moves = builder.world.moves.iter().flat_map(|m| &m.arguments);
    let named: BTreeSet<&String> = moves.filter(|name| names.contains(*name)).collect();
    2 * named.len() >= names.len()
}

fn add(builder: &mut Builder<'_>, index: usize) {
    let number = builder.boards.len();
    let id = if number == 0 { "board".to_owned() } else { format!("board{}", number + 1) };
    let pattern = builder.pattern(index);
    let is_counted = pattern.arity == 3;
    let lanes = &pattern.domains[0];
    let roles = builder.world.evidence.roles.iter().rev();
    // The first role sits at the bottom, as on other boards.
    let roles: Vec<String> = roles.filter(|role| lanes.contains(*role)).cloned().collect();
    let values = pattern.axes[1].as_ref().map(|axis| axis.values().to_vec()).unwrap_or_default();
    let mut board = BoardPlan {
        id: id.clone(),
        kind: BoardKind::Grid,
        title: String::new(),
        width: NAMES + values.len() as f64,
        height: roles.len() as f64,
        places: Vec::new(),
        lookup: BTreeMap::new(),
        lines: Vec::new(),
        frames: Vec::new(),
        labels: Vec::new(),
        is_dynamic: false,
    };
    for (lane, role) in roles.iter().enumerate() {
        let y = lane as f64 + 0.5;
        for (at, value) in values.iter().enumerate() {
            board.lookup.insert(vec![role.clone(), value.clone()], board.places.len());
            board.places.push(PlacePlan {
                id: format!("{id}/{role}/{value}"),
                name: format!("{role} {value}"),
                shape: Shape::Rectangle { width: 1.0, height: 1.0 },
                x: NAMES + at as f64 + 0.5,
                y,
                shade: Shade::Plain,
            });
        }
        board.labels.push(Label { x: NAMES / 2.0 - 0.1, y, text: role.clone() });
    }
    for (at, value) in values.iter().enumerate() {
        let (x, y) = (NAMES + at as f64 + 0.5, board.height + 0.35);
        board.labels.push(Label { x, y, text: value.clone() });
    }
    builder.boards.push(board);
    let (contents, role) =
        if is_counted { (vec![0, 2], LayerRole::Amount) } else { (vec![0], LayerRole::Main) };
    let layer = Layer { board: number, prefix: Vec::new(), key: vec![0, 1], contents, role };
    builder.set_use(index, Use::Layer(layer));
}
