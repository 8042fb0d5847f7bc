//! The combination of all heuristics that can be derived from the rules (Kaiser & Stafiniak 2011,
//! "Perspectives"), with learnt weights.

mod experts;
#[cfg(test)]
mod tests;
mod worth;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use agon_game::{Notation, Position, Role};
use agon_learn::combination::{Combination, CombineOptions, CombinedEvaluator, Experts, combine};
use agon_learn::concepts::{Concept, ConceptOptions, find_concepts};
use agon_search::{Budget, Evaluate, EvaluateLeaves, Mcts, MctsOptions, Report, Search};

use crate::adaptive_mcts::threads_for;
use crate::budget::{analysis_time, share};
use crate::learnt::with_leaf_values;
use crate::{BuildContext, Rules};
use experts::{Sources, experts};
pub use worth::{FormulaBase, FormulaMatch};

/// A kind of heuristics that can be combined.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HeuristicFamily {
    /// The payoffs of the rules as they stand.
    Goals,
    /// Fuzzy logic over the goals (Michulke 2011).
    Fuzzy,
    /// Terms made of the goals of a structure rewriting game (Kaiser & Stafiniak 2011).
    Terms,
    /// How near the best move brings a player to its goals, by regression (Trutman 2015).
    Regression,
    /// Facts, and pairs of facts, that are frequent where random playouts were won (Sato & Cazenave
    /// 2016).
    Concepts,
    /// The number of legal moves.
    Mobility,
    /// How many facts of each kind hold.
    Material,
}

impl HeuristicFamily {
    /// All families, in the order in which they are listed.
    pub const ALL: [HeuristicFamily; 7] = [
        HeuristicFamily::Goals,
        HeuristicFamily::Fuzzy,
        HeuristicFamily::Terms,
        HeuristicFamily::Regression,
        HeuristicFamily::Concepts,
        HeuristicFamily::Mobility,
        HeuristicFamily::Material,
    ];

    /// Returns the name, as options have it.
    pub fn name(self) -> &'static str {
        match self {
            HeuristicFamily::Goals => "goals",
            HeuristicFamily::Fuzzy => "fuzzy",
            HeuristicFamily::Terms => "terms",
            HeuristicFamily::Regression => "regression",
            HeuristicFamily::Concepts => "concepts",
            HeuristicFamily::Mobility => "mobility",
            HeuristicFamily::Material => "material",
        }
    }
}

impl fmt::Display for HeuristicFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which heuristics are combined, and how.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CombinedOptions {
    /// The only family of heuristics. `None`: all of them.
    pub only: Option<HeuristicFamily>,
    /// Number of concepts in first-order logic that are found and added.
    pub n_formulas: usize,
    /// How weights are learnt.
    pub learning: CombineOptions,
}

/// Combinations that were learnt for a game. A clone shares them.
#[derive(Clone, Default)]
pub struct Combinations(Arc<Mutex<Known>>);

/// What was learnt about a game, by the options of learning.
#[derive(Default)]
struct Known {
    combinations: Vec<(CombinedOptions, Option<Arc<Combination>>)>,
    formulas: Vec<(ConceptOptions, Vec<Concept>)>,
}

/// Parts of the time before the first move, in percent of what is left: for concepts in first-order
/// logic, for making the other heuristics, and for learning their weights.
const FORMULAS_PERCENT: u32 = 30;
const ANALYSIS_PERCENT: u32 = 60;
const LEARNING_PERCENT: u32 = 60;

/// Learns a combination of the heuristics of a game, in a part of the budget's time. It is learnt
/// once for equal options. Returns `None` if no play came to an end, or all had the same result.
pub fn learn_combination<P: Notation + 'static>(
    rules: &Rules,
    options: &CombinedOptions,
    start: &P,
    budget: &Budget,
) -> Option<Arc<Combination>> {
    let (_, combination) = experts_and_combination(rules, options, start, budget);
    combination
}

fn experts_and_combination<P: Notation + 'static>(
    rules: &Rules,
    options: &CombinedOptions,
    start: &P,
    budget: &Budget,
) -> (Experts<P>, Option<Arc<Combination>>) {
    // Other matches of the game wait for the result, because learning twice takes longer.
    let mut known = rules.combinations.0.lock().unwrap_or_else(PoisonError::into_inner);
    let time = share(budget, ANALYSIS_PERCENT);
    let sources = Sources { rules, time: analysis_time(&time), seed: options.learning.seed };
    let formulas = found_formulas(&mut known, options, start, budget);
    let mut experts = experts(&sources, options.only, &formulas, start);
    // All experts have `turn`. It alone is no evaluation.
    if experts.names().len() < 2 {
        return (experts, None);
    }
    if let Some((_, combination)) = known.combinations.iter().find(|(other, _)| other == options) {
        return (experts, combination.clone());
    }
    let deadline = share(budget, LEARNING_PERCENT).deadline;
    let learnt = combine(start, &mut experts, &options.learning, deadline).map(Arc::new);
    // A failure for lack of time is not final: the next player may have more.
    if learnt.is_some() || deadline.is_none_or(|end| Instant::now() < end) {
        known.combinations.push((*options, learnt.clone()));
    }
    (experts, learnt)
}

/// Returns the concepts in first-order logic that the options ask for. A game without a board has
/// none.
fn found_formulas<P: Notation + 'static>(
    known: &mut Known,
    options: &CombinedOptions,
    start: &P,
    budget: &Budget,
) -> Vec<Concept> {
    if options.n_formulas == 0 {
        return Vec::new();
    }
    let (n_concepts, seed) = (options.n_formulas, options.learning.seed);
    let asked = ConceptOptions { n_concepts, seed, ..ConceptOptions::default() };
    if let Some((_, formulas)) = known.formulas.iter().find(|(other, _)| *other == asked) {
        return formulas.clone();
    }
    let deadline = share(budget, FORMULAS_PERCENT).deadline;
    let Ok(found) = find_concepts(start, &asked, deadline) else { return Vec::new() };
    let formulas: Vec<Concept> = found.found.into_iter().map(|measured| measured.concept).collect();
    if !found.is_late {
        known.formulas.push((asked, formulas.clone()));
    }
    formulas
}

/// Makes the evaluator of a game by a combination, which is learnt if need be.
fn evaluator<P: Notation + 'static>(
    rules: &Rules,
    options: &CombinedOptions,
    start: &P,
    budget: &Budget,
) -> Option<CombinedEvaluator<P>> {
    let (experts, combination) = experts_and_combination(rules, options, start, budget);
    Some(combination?.evaluator(experts))
}

/// Evaluates positions by a combination of heuristics, within the range of payoffs, but never as a
/// certain win or loss.
pub(crate) struct ByCombination<P>(CombinedEvaluator<P>);

/// Part of the range of payoffs at each end that is reserved for certain results.
const MARGIN: f64 = 0.001;

impl<P: Notation + 'static> ByCombination<P> {
    /// Makes the evaluator. `position` is the one from which plays are learnt.
    pub(crate) fn new(
        rules: &Rules,
        options: &CombinedOptions,
        position: &P,
        budget: &Budget,
    ) -> Option<ByCombination<P>> {
        evaluator(rules, options, position, budget).map(ByCombination)
    }
}

impl<P: Notation + 'static> Evaluate<P> for ByCombination<P> {
    fn value(&mut self, position: &P, role: Role) -> f64 {
        let payoffs = &position.shape().payoffs;
        let range = payoffs.end() - payoffs.start();
        payoffs.start() + range * (MARGIN + (1.0 - 2.0 * MARGIN) * self.0.value(position, role))
    }
}

/// Evaluates the leaves of a tree by a combination of heuristics.
pub(crate) struct CombinedLeaves<P> {
    evaluator: ByCombination<P>,
    /// Goes to the state of a leaf.
    position: P,
}

impl<P: Notation + 'static> CombinedLeaves<P> {
    pub(crate) fn new(evaluator: ByCombination<P>, position: &P) -> CombinedLeaves<P> {
        CombinedLeaves { evaluator, position: position.clone() }
    }
}

impl<P: Notation + 'static> EvaluateLeaves<P::State> for CombinedLeaves<P> {
    fn fork(&self) -> Box<dyn EvaluateLeaves<P::State>> {
        let evaluator = ByCombination(self.evaluator.0.fork());
        Box::new(CombinedLeaves { evaluator, position: self.position.clone() })
    }

    fn evaluate(&mut self, state: &P::State, payoffs: &mut [f64]) {
        self.position.go_to(state);
        for role in self.position.shape().players() {
            payoffs[role.index()] = self.evaluator.value(&self.position, role);
        }
    }
}

/// Monte Carlo tree search whose leaves are valued by a combination of heuristics, which is learnt
/// when it thinks for the first time.
pub(crate) struct CombinedSearch<P: Position> {
    rules: Rules,
    combined: CombinedOptions,
    options: MctsOptions,
    /// The part of the evaluation in the value of a leaf. The rest comes from playouts.
    part: f64,
    seed: u64,
    start: P,
    search: Option<Mcts<P>>,
}

impl<P: Notation + 'static> CombinedSearch<P> {
    pub(crate) fn new(
        context: &BuildContext<P>,
        combined: CombinedOptions,
        options: MctsOptions,
        part: f64,
    ) -> CombinedSearch<P> {
        CombinedSearch {
            rules: context.rules.clone(),
            combined,
            options,
            part,
            seed: context.seed,
            start: context.start.clone(),
            search: None,
        }
    }

    fn make(&self, position: &P, budget: &Budget) -> Mcts<P> {
        let evaluator = ByCombination::new(&self.rules, &self.combined, &self.start, budget);
        let threads = threads_for(self.options.threads, position, budget);
        let options = MctsOptions { threads, ..self.options.clone() };
        let Some(evaluator) = evaluator else { return Mcts::new(options, self.seed) };
        let leaves = Box::new(CombinedLeaves::new(evaluator, position));
        Mcts::new(with_leaf_values(options, self.part), self.seed).with_evaluator(leaves, self.part)
    }
}

impl<P: Notation + 'static> Search<P> for CombinedSearch<P> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        if self.search.is_none() {
            self.search = Some(self.make(position, budget));
        }
        self.search.as_mut().expect("it was made above").think(position, us, budget)
    }

    fn ponder(&mut self, position: &mut P, us: Role, budget: &Budget) {
        if let Some(search) = &mut self.search {
            search.ponder(position, us, budget);
        }
    }
}
