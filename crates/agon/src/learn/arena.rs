//! Matches between two evaluations, on all threads.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use agon_learn::{EloEstimate, LearntEvaluator};
use agon_match::tournament::{Estimate, Sprt, elo_of_points};
use agon_players::EvaluationMatch;

use crate::engine::GamePosition;

/// Number of blocks of matches that are played before the test looks at them again.
const BLOCKS_AT_ONCE: u64 = 4;

/// Where two evaluations of a game meet.
pub(super) struct Arena<P> {
    pub(super) start: P,
    pub(super) threads: usize,
    /// Ends a series of matches when it is set.
    pub(super) stop: Arc<AtomicBool>,
}

impl<P: GamePosition + 'static> Arena<P> {
    /// Plays blocks of matches until a test decides or the time is over, but at least a few.
    /// Returns the points of the first evaluation in each block.
    pub(super) fn matches(
        &self,
        pair: [Option<&LearntEvaluator<P>>; 2],
        seed: u64,
        max_blocks: u64,
        until: Option<Instant>,
        test: Option<Sprt>,
    ) -> Vec<f64> {
        let mut points = Vec::new();
        while (points.len() as u64) < max_blocks {
            let from = points.len() as u64;
            points.extend(self.blocks(pair, seed, from));
            let is_decided =
                test.is_some_and(|test| test.run(points.iter().copied()).decision.is_some());
            let is_late = until.is_some_and(|until| Instant::now() >= until);
            if is_decided || is_late || self.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        points
    }

    /// Plays several blocks at once. The results do not depend on the number of threads.
    fn blocks(&self, pair: [Option<&LearntEvaluator<P>>; 2], seed: u64, from: u64) -> Vec<f64> {
        play_blocks(from..from + BLOCKS_AT_ONCE, self.threads, || {
            let matches = EvaluationMatch::new(&self.start, seed);
            move |block| matches.play_block(block, pair)
        })
    }

    pub(super) fn estimate(&self, blocks: &[f64]) -> EloEstimate {
        estimate(blocks, self.start.shape().players().count())
    }
}

/// Plays blocks of matches on several threads. `player` makes what plays a block, for each thread.
/// Returns the points of each block, which do not depend on the number of threads.
pub(super) fn play_blocks<F: Fn(u64) -> f64 + Send>(
    range: Range<u64>,
    threads: usize,
    player: impl Fn() -> F,
) -> Vec<f64> {
    let threads = (threads.max(1) as u64).min(range.end - range.start);
    let mut played: Vec<(u64, f64)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|thread| {
                let (play, own) = (player(), range.clone().skip(thread as usize));
                scope.spawn(move || {
                    let own = own.step_by(threads as usize);
                    own.map(|block| (block, play(block))).collect::<Vec<_>>()
                })
            })
            .collect();
        let joined = handles.into_iter().map(|handle| match handle.join() {
            Ok(played) => played,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect()
    });
    played.sort_unstable_by_key(|(block, _)| *block);
    played.into_iter().map(|(_, points)| points).collect()
}

/// Returns the difference in strength that the points of blocks of matches show.
pub(super) fn estimate(blocks: &[f64], n_each: usize) -> EloEstimate {
    let n_matches = blocks.len() * n_each;
    let Some(points) = Estimate::of(blocks) else {
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        return EloEstimate { elo: 0.0, low, high, n_matches: 0 };
    };
    EloEstimate {
        elo: elo_of_points(points.mean),
        low: elo_of_points(points.low),
        high: elo_of_points(points.high),
        n_matches: n_matches as u32,
    }
}
