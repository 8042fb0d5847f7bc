//! Preferred moves, as gates.
//!
//! Every move has a level ([`agon_game::Preferences`]), two planes that are the same in all lanes.
//! In the lanes of a step that are greedy, the legal moves are restricted to those of the highest
//! level that any of them has. The levels are leaves of the logic and not part of it, so they can
//! change between any two batches, and no code is generated again.

use agon_game::{Preferences, Role};

use crate::form::graph::Graph;
use crate::{Circuit, Input, Plane, Signal, Turns};

/// Number of planes for the level of a move.
const LEVEL_BITS: usize = Preferences::<Input>::N_LEVELS.ilog2() as usize;

/// Number of random bits by which lanes are greedy: one of their 2^2 values. With three of four the
/// search got 36 % of the points against one without preferences (5 games, 100 matches, 16 000
/// iterations a move), with one of four 52 %.
pub(crate) const N_GREEDY_BITS: usize = 2;

/// Returns the number of level planes of a circuit.
pub(crate) fn n_level_planes(circuit: &Circuit) -> usize {
    LEVEL_BITS * circuit.n_inputs()
}

/// Writes the planes of the levels of all moves.
pub(crate) fn write_levels(preferences: &Preferences<Input>, planes: &mut [Plane]) {
    let write = |planes: &mut [Plane], level: u8| {
        for (bit, plane) in planes.iter_mut().enumerate() {
            *plane = if level >> bit & 1 == 1 { Plane::ONES } else { Plane::ZERO };
        }
    };
    planes.chunks_mut(LEVEL_BITS).for_each(|planes| write(planes, preferences.usual));
    for &(_, Input(number), level) in &preferences.levels {
        write(&mut planes[LEVEL_BITS * number as usize..][..LEVEL_BITS], level);
    }
}

/// The leaves of a step that prefers moves.
pub(crate) struct LevelLeaves {
    /// The first level plane. Those of a move are together, the lowest bit first.
    pub(crate) first_level: usize,
    /// The first random bit that says whether a lane is greedy.
    pub(crate) first_greedy: usize,
}

impl LevelLeaves {
    /// Restricts the legal moves of greedy lanes to those of the highest level, role by role.
    /// Nature and moves that only wait are left as they are.
    pub(crate) fn restrict(
        &self,
        graph: &mut Graph,
        circuit: &Circuit,
        turns: Option<&Turns>,
        legal: &[Vec<Signal>],
    ) -> Vec<Vec<Signal>> {
        let bits: Vec<Signal> =
            (0..N_GREEDY_BITS).map(|bit| graph.leaf(self.first_greedy + bit)).collect();
        let greedy = graph.and_all(&bits);
        let mut preferred = legal.to_vec();
        for (role, moves) in preferred.iter_mut().enumerate() {
            let waits = turns.map(|turns| &turns.waits[role]);
            let is_drawn = |m: &usize| {
                legal[role][*m] != Signal::FALSE && waits.is_none_or(|waits| !waits[*m])
            };
            let drawn: Vec<usize> = (0..moves.len()).filter(is_drawn).collect();
            if drawn.len() < 2 || circuit.roles[role].is_nature {
                continue;
            }
            let first_input = circuit.inputs(Role::new(role)).start - circuit.first_input();
            for bit in (0..LEVEL_BITS).rev() {
                let leaf = |m: usize| self.first_level + LEVEL_BITS * (first_input + m) + bit;
                let high: Vec<Signal> = drawn
                    .iter()
                    .map(|&m| {
                        let level = graph.leaf(leaf(m));
                        graph.and(moves[m], level)
                    })
                    .collect();
                let any = graph.or_all(&high);
                let is_used = graph.and(any, greedy);
                for (&m, &high) in drawn.iter().zip(&high) {
                    let kept = graph.and(moves[m], !is_used);
                    moves[m] = graph.or(high, kept);
                }
            }
        }
        preferred
    }
}
