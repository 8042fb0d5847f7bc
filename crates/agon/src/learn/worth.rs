//! What concepts are worth as features of an evaluation, in Elo.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use agon_learn::EloEstimate;
use agon_learn::combination::CombineOptions;
use agon_learn::concepts::Concept;
pub use agon_players::FormulaBase;
use agon_players::FormulaMatch;

use super::arena::{estimate, play_blocks};
use crate::engine::{GamePosition, GameTask};
use crate::game::{Game, RulesNeeded};

/// How the worth of concepts is measured.
#[derive(Clone, Debug)]
pub struct WorthOptions {
    /// Number of matches of all concepts together, and of each alone. It is rounded up to openings
    /// that are played in both seats.
    pub n_matches: u64,
    /// Number of positions that a search visits for a move.
    pub iterations: u64,
    /// The heuristics to which concepts are added.
    pub base: FormulaBase,
    /// How weights are learnt, and the seed.
    pub learning: CombineOptions,
    /// Number of threads. The result does not depend on it.
    pub threads: usize,
    /// Ends the matches when it is set.
    pub stop: Arc<AtomicBool>,
}

/// What concepts are worth: an alpha-beta search whose evaluation has them as features, against the
/// same search with as many positions without them.
#[derive(Clone, Debug, PartialEq)]
pub struct Worth {
    /// All concepts together.
    pub all: EloEstimate,
    /// By concept: this one alone.
    pub each: Vec<EloEstimate>,
    /// Whether the matches ended before there were enough, because time was over or because they
    /// were stopped.
    pub is_cut: bool,
}

/// Number of blocks of matches that are played before another concept has its turn.
const BLOCKS_AT_ONCE: u64 = 4;

/// Measures what concepts are worth as features. `report` gets the number of matches so far and of
/// all. Returns `None` if nothing could be learnt before the deadline. Without a deadline, the seed
/// decides the result.
pub fn concepts_worth(
    game: &Game,
    concepts: &[Concept],
    options: &WorthOptions,
    deadline: Option<Instant>,
    report: &mut (dyn FnMut(u64, u64) + Send),
) -> Option<Worth> {
    game.run(Work { game, concepts, options, deadline, report })
}

struct Work<'a> {
    game: &'a Game,
    concepts: &'a [Concept],
    options: &'a WorthOptions,
    deadline: Option<Instant>,
    report: &'a mut (dyn FnMut(u64, u64) + Send),
}

impl GameTask for Work<'_> {
    type Output = Option<Worth>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Option<Worth> {
        let Work { game, concepts, options, deadline, report } = self;
        let rules = game.rules(RulesNeeded::Gdl);
        // The matches have the other half of the time.
        let now = Instant::now();
        let half = deadline.map(|end| now + end.saturating_duration_since(now) / 2);
        let WorthOptions { base, learning, iterations, .. } = options;
        let players =
            FormulaMatch::learn(&rules, &start, (concepts, *base), learning, *iterations, half)?;
        // One concept alone is all of them together.
        let n_variants = if concepts.len() == 1 { 1 } else { concepts.len() + 1 };
        let n_blocks = options.n_matches.div_ceil(2).max(1);
        let n_all = 2 * n_blocks * n_variants as u64;
        let mut points = vec![Vec::new(); n_variants];
        let (mut from, mut n_played, mut is_cut) = (0, 0, false);
        'all: while from < n_blocks {
            let until = (from + BLOCKS_AT_ONCE).min(n_blocks);
            for (number, points) in points.iter_mut().enumerate() {
                let is_late = deadline.is_some_and(|end| Instant::now() >= end);
                if is_late || options.stop.load(Ordering::Relaxed) {
                    is_cut = true;
                    break 'all;
                }
                points.extend(play_blocks(from..until, options.threads, || {
                    let players = players.fork();
                    move |block| players.play_block(number, block)
                }));
                n_played += 2 * (until - from);
                report(n_played, n_all);
            }
            from = until;
        }
        let mut estimates = points.iter().map(|points| estimate(points, 2));
        let all = estimates.next()?;
        let each: Vec<EloEstimate> = estimates.collect();
        Some(Worth { all, each: if n_variants == 1 { vec![all] } else { each }, is_cut })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> WorthOptions {
        WorthOptions {
            n_matches: 24,
            iterations: 60,
            base: FormulaBase::Material,
            learning: CombineOptions { n_plays: 60, ..CombineOptions::default() },
            threads: 1,
            stop: Arc::default(),
        }
    }

    /// All concepts together and each alone have an estimate, the number of threads does not matter,
    /// and matches can be stopped.
    #[test]
    fn concepts_have_a_worth_in_elo() {
        let game = Game::open("breakthrough(size=5)").expect("it ships with a size");
        let concepts = Concept::read_all("(own (step up (empty)))\n(own (step up (own)))");
        let concepts = concepts.expect("they are right");
        let mut progress = Vec::new();
        let mut report = |played, all| progress.push((played, all));
        let one = concepts_worth(&game, &concepts, &options(), None, &mut report);
        let one = one.expect("plays end");
        assert_eq!(one.each.len(), concepts.len());
        assert!(!one.is_cut && one.all.n_matches == 24, "{one:?}");
        assert!(one.each.iter().all(|elo| elo.low <= elo.elo && elo.elo <= elo.high), "{one:?}");
        let (played, all) = *progress.last().expect("progress was reported");
        assert_eq!(played, all);
        let two = WorthOptions { threads: 2, ..options() };
        let two = concepts_worth(&game, &concepts, &two, None, &mut |_, _| ());
        assert_eq!(two, Some(one), "threads do not matter");
        let stopped = WorthOptions { stop: Arc::new(AtomicBool::new(true)), ..options() };
        let stopped = concepts_worth(&game, &concepts, &stopped, None, &mut |_, _| ());
        assert!(stopped.is_some_and(|worth| worth.is_cut && worth.all.n_matches == 0));
    }
}
