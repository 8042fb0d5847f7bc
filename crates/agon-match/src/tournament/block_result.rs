//! The results of two players against each other.

use super::{Schedule, points};

/// The outcome of a match.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// By role that has a player: its goal value. `None` if the match was not played to its end.
    pub goals: Option<Vec<f64>>,
    /// Number of steps made.
    pub n_steps: usize,
    /// By role that has a player: number of moves that were late, illegal or missing.
    pub n_errors: Vec<usize>,
    /// Duration of the match in seconds.
    pub seconds: f64,
}

/// The results of a block so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BlockResult {
    /// Index of the game.
    pub(super) game: usize,
    /// Indices of the two players.
    pub(super) players: [usize; 2],
    /// Points of the first player, match by match; at least one. The second player has the rest
    /// to 1.
    pub(super) points: Vec<f64>,
    /// Whether all matches of the block were played to their end.
    pub(super) is_whole: bool,
    /// Results with the same number are not independent.
    pub(super) cluster: usize,
}

impl BlockResult {
    /// Returns the mean points of the first player.
    pub(super) fn mean(&self) -> f64 {
        self.points.iter().sum::<f64>() / self.points.len() as f64
    }
}

/// Returns the results of all blocks in which a match has ended, in the order of the schedule, each
/// with the index of its block. `outcomes` is by fixture.
pub(super) fn block_results(
    schedule: &Schedule,
    outcomes: &[Option<Outcome>],
) -> Vec<(usize, BlockResult)> {
    let goals = |at: usize| outcomes.get(at)?.as_ref()?.goals.as_ref();
    let mut results = Vec::new();
    for (index, block) in schedule.blocks.iter().enumerate() {
        let [a, b] = block.players;
        let mut n_played = 0;
        let mut block_points = Vec::new();
        let has_one_role = block.matches.iter().all(|at| schedule.fixtures[*at].seating.len() == 1);
        if has_one_role {
            let both: Vec<f64> =
                block.matches.iter().filter_map(|at| goals(*at)?.first().copied()).collect();
            if let [first, second] = both[..] {
                n_played = 2;
                block_points.push(points(first, second));
            }
        } else {
            for &at in &block.matches {
                let Some(goals) = goals(at) else { continue };
                let seating = &schedule.fixtures[at].seating;
                n_played += 1;
                block_points.push(points(mean_of(goals, seating, a), mean_of(goals, seating, b)));
            }
        }
        if !block_points.is_empty() {
            results.push((
                index,
                BlockResult {
                    game: block.game,
                    players: block.players,
                    points: block_points,
                    is_whole: n_played == block.matches.len(),
                    cluster: block.cluster,
                },
            ));
        }
    }
    results
}

/// Returns the mean goal value of a player over its seats.
pub(super) fn mean_of(goals: &[f64], seating: &[usize], player: usize) -> f64 {
    let own =
        goals.iter().zip(seating).filter(|(_, seated)| **seated == player).map(|(goal, _)| *goal);
    let (sum, n) = own.fold((0.0, 0_usize), |(sum, n), goal| (sum + goal, n + 1));
    sum / n.max(1) as f64
}
