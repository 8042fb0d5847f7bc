//! Tells boards of hexagons from boards of squares by their neighbours.

use std::collections::BTreeSet;

use crate::axis::Axis;
use crate::world::World;

/// Returns the direction of the third pair of neighbours, if some relation of the rules joins each
/// place with six neighbours: 1 if both coordinates grow together, -1 if one grows as the other
/// shrinks. Returns `None` for squares.
pub(crate) fn direction(world: &World<'_>, x: &Axis, y: &Axis) -> Option<i64> {
    world.facts.values().find_map(|rows| {
        let n_arguments = rows.first()?.len();
        if !(4..=5).contains(&n_arguments) || rows.iter().any(|row| row.len() != n_arguments) {
            return None;
        }
        // A direction may stand in front of the coordinates or behind them.
        (0..=n_arguments - 4).find_map(|at| {
            let steps: Option<BTreeSet<(i64, i64)>> = rows
                .iter()
                .map(|row| {
                    let index = |axis: &Axis, i: usize| {
                        axis.index(&row[at + i]).and_then(|i| i64::try_from(i).ok())
                    };
                    let (x1, y1) = (index(x, 0)?, index(y, 1)?);
                    let (x2, y2) = (index(x, 2)?, index(y, 3)?);
                    Some((x2 - x1, y2 - y1))
                })
                .collect();
            slant(&steps?)
        })
    })
}

/// Returns the third direction of a set of steps to six neighbours.
fn slant(steps: &BTreeSet<(i64, i64)>) -> Option<i64> {
    // A relation may hold in one direction only.
    let both: BTreeSet<(i64, i64)> =
        steps.iter().flat_map(|&(dx, dy)| [(dx, dy), (-dx, -dy)]).collect();
    let straight = [(1, 0), (-1, 0), (0, 1), (0, -1)];
    let has_straight = straight.iter().all(|step| both.contains(step));
    [1, -1].into_iter().find(|&slant| {
        has_straight
            && both.len() == 6
            && both.contains(&(1, slant))
            && both.contains(&(-1, -slant))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_neighbours_make_hexagons() {
        let steps = |list: &[(i64, i64)]| slant(&list.iter().copied().collect());
        assert_eq!(steps(&[(1, 0), (0, 1), (1, -1)]), Some(-1));
        assert_eq!(steps(&[(1, 0), (0, 1), (1, 1), (-1, -1), (-1, 0), (0, -1)]), Some(1));
        assert_eq!(steps(&[(1, 0), (0, 1), (-1, 0), (0, -1)]), None, "squares");
        assert_eq!(steps(&[(1, 0), (0, 1), (1, 1), (1, -1)]), None, "eight neighbours");
    }
}
