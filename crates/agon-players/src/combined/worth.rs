//! What concepts are worth as features of an evaluation, in matches.

use std::time::Instant;

use agon_game::Notation;
use agon_learn::combination::{CombineOptions, CombinedEvaluator, Experts, combine_choices};
use agon_learn::concepts::Concept;
use agon_search::{AlphaBeta, AlphaBetaOptions, Budget, Search};

use super::experts::{Sources, experts};
use super::{ByCombination, HeuristicFamily};
use crate::Rules;
use crate::budget::{IterationsAsNodes, analysis_time};
use crate::evaluation_match::EvaluationMatch;

/// Which heuristics concepts are added to.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum FormulaBase {
    /// The number of facts of each kind, and who is to move.
    #[default]
    Material,
    /// All heuristics that can be derived from the rules.
    Combined,
}

/// Evaluations with and without concepts as features. All are learnt from the same plays, and differ
/// in their features alone.
pub struct FormulaMatch<P: Notation> {
    start: P,
    seed: u64,
    iterations: u64,
    without: CombinedEvaluator<P>,
    /// With all concepts, then with each alone.
    with: Vec<CombinedEvaluator<P>>,
}

/// Number of entries of the table of a search, which is small like the search.
const N_ENTRIES: usize = 1 << 12;

impl<P: Notation + 'static> FormulaMatch<P> {
    /// Learns the evaluations. `iterations` is the number of positions that a search visits for a
    /// move. Returns `None` if no play came to an end before the deadline, or all had the same
    /// result.
    pub fn learn(
        rules: &Rules,
        start: &P,
        (concepts, base): (&[Concept], FormulaBase),
        options: &CombineOptions,
        iterations: u64,
        deadline: Option<Instant>,
    ) -> Option<FormulaMatch<P>> {
        let time = analysis_time(&Budget { deadline, ..Budget::default() });
        let sources = Sources { rules, time, seed: options.seed };
        let only = match base {
            FormulaBase::Material => Some(HeuristicFamily::Material),
            FormulaBase::Combined => None,
        };
        let made = |concepts: &[Concept]| experts(&sources, only, concepts, start);
        let mut all = made(concepts);
        // The last one is the player who moves, which is always among the features.
        let [n_base, n_all] = [&made(&[]), &all].map(|experts| experts.names().len() - 1);
        if n_all != n_base + concepts.len() {
            // A game without a board has no concepts.
            return None;
        }
        let with = |concept: usize| (0..n_base).chain([n_base + concept]).collect::<Vec<usize>>();
        let mut choices: Vec<Vec<usize>> = vec![(0..n_base).collect(), (0..n_all).collect()];
        choices.extend((0..concepts.len()).map(with));
        let combinations = combine_choices(start, &mut all, &choices, options, deadline)?;
        let experts_of = |number: usize| -> Experts<P> {
            match number {
                0 => made(&[]),
                1 => made(concepts),
                _ => made(&concepts[number - 2..=number - 2]),
            }
        };
        let evaluators = combinations.iter().enumerate();
        let mut evaluators =
            evaluators.map(|(number, combination)| combination.evaluator(experts_of(number)));
        let without = evaluators.next()?;
        let with = evaluators.collect();
        Some(FormulaMatch { start: start.clone(), seed: options.seed, iterations, without, with })
    }

    /// Plays a match in each seat from the opening that the number of the block selects, with all
    /// concepts (0) or one alone (from 1), against the evaluation without concepts. Returns the mean
    /// points of the evaluation with concepts, from 0 to 1. Both search equally many positions.
    pub fn play_block(&self, number: usize, block: u64) -> f64 {
        let search = |is_own: bool, seed: u64| -> (Box<dyn Search<P>>, Budget) {
            let evaluator = if is_own { &self.with[number] } else { &self.without };
            let options =
                AlphaBetaOptions { table_entries: N_ENTRIES, seed, ..AlphaBetaOptions::default() };
            let search = AlphaBeta::with_evaluator(options, ByCombination(evaluator.fork()));
            (Box::new(IterationsAsNodes(search)), Budget::iterations(self.iterations))
        };
        EvaluationMatch::new(&self.start, self.seed).play_block_by(block, &search)
    }

    /// Returns independent players of the same strength, for another thread.
    #[must_use]
    pub fn fork(&self) -> FormulaMatch<P> {
        FormulaMatch {
            start: self.start.clone(),
            without: self.without.fork(),
            with: self.with.iter().map(CombinedEvaluator::fork).collect(),
            ..*self
        }
    }
}
