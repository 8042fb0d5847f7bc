//! What two players got against each other.

use super::{Schedule, points};

/// What came of a match.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// By role that somebody plays: what it got; none if the match came to no end.
    pub goals: Option<Vec<f64>>,
    /// How many steps were made.
    pub n_steps: usize,
    /// By role that somebody plays: moves that were late, illegal or missing.
    pub slips: Vec<usize>,
    /// How long it took.
    pub seconds: f64,
}

/// What came of a block so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Meeting {
    /// The game.
    pub game: usize,
    /// Who met.
    pub players: [usize; 2],
    /// What the first got, match by match; the second got the rest to 1. At least one.
    pub points: Vec<f64>,
    /// Whether all matches of the block were played to their end.
    pub is_whole: bool,
    /// Those with the same number are not independent.
    pub cluster: usize,
}

impl Meeting {
    /// What the first got on average.
    pub fn mean(&self) -> f64 {
        self.points.iter().sum::<f64>() / self.points.len() as f64
    }
}

/// The blocks of which a match has come to an end, in the order of the schedule, with the index of each. `outcomes` is by fixture.
pub fn meetings(schedule: &Schedule, outcomes: &[Option<Outcome>]) -> Vec<(usize, Meeting)> {
    let goals = |at: usize| outcomes.get(at)?.as_ref()?.goals.as_ref();
    let mut found = Vec::new();
    for (index, block) in schedule.blocks.iter().enumerate() {
        let [a, b] = block.players;
        let mut n_played = 0;
        let mut won = Vec::new();
        let is_alone = block.matches.iter().all(|at| schedule.fixtures[*at].seating.len() == 1);
        if is_alone {
            let both: Vec<f64> =
                block.matches.iter().filter_map(|at| goals(*at)?.first().copied()).collect();
            if let [ours, theirs] = both[..] {
                n_played = 2;
                won.push(points(ours, theirs));
            }
        } else {
            for &at in &block.matches {
                let Some(goals) = goals(at) else { continue };
                let seating = &schedule.fixtures[at].seating;
                n_played += 1;
                won.push(points(mean_of(goals, seating, a), mean_of(goals, seating, b)));
            }
        }
        if !won.is_empty() {
            let is_whole = n_played == block.matches.len();
            let (game, players, cluster) = (block.game, block.players, block.cluster);
            found.push((index, Meeting { game, players, points: won, is_whole, cluster }));
        }
    }
    found
}

/// What a player got on average at its seats.
pub(super) fn mean_of(goals: &[f64], seating: &[usize], player: usize) -> f64 {
    let own =
        goals.iter().zip(seating).filter(|(_, seated)| **seated == player).map(|(goal, _)| *goal);
    let (sum, n) = own.fold((0.0, 0_usize), |(sum, n), goal| (sum + goal, n + 1));
    sum / n.max(1) as f64
}
