//! The heuristics that are combined, made of an analysis of the rules.

use std::sync::Arc;
use std::time::Duration;

use agon_analysis::ConceptSource;
use agon_analysis::concepts::{ConceptEvaluator, ConceptHeuristic, HeuristicKind, LearnOptions};
use agon_analysis::fuzzy::{FuzzyEvaluator, FuzzyOptions};
use agon_analysis::goal_formulas::{GoalEvaluator, GoalOptions, Method};
use agon_analysis::regression::{Evaluator, HeuristicRequest, Logic, Network, Reader};
use agon_game::{Notation, Role};
use agon_learn::combination::material::{Material, kinds};
use agon_learn::combination::{Expert, Experts};
use agon_learn::concepts::{Concept, ConceptExpert};

use super::HeuristicFamily;
use crate::Rules;
use crate::goal_terms::informative_evaluator;

/// What experts are made of.
pub(super) struct Sources<'r> {
    pub(super) rules: &'r Rules,
    /// Time for each analysis.
    pub(super) time: Duration,
    /// The seed of random plays.
    pub(super) seed: u64,
}

/// Number of random playouts that each role has to win, for concepts. They are one of many experts,
/// so they need not be exact.
const N_WINS: usize = 200;

/// Makes the experts of a game: of one family, or all of them, and of formulas.
pub(super) fn experts<P: Notation + 'static>(
    sources: &Sources<'_>,
    only: Option<HeuristicFamily>,
    formulas: &[Concept],
    start: &P,
) -> Experts<P> {
    let mut list: Vec<Box<dyn Expert<P>>> = Vec::new();
    let families = HeuristicFamily::ALL.into_iter();
    for family in families.filter(|family| only.is_none_or(|only| only == *family)) {
        match family {
            HeuristicFamily::Goals => list.push(Box::new(Goals)),
            HeuristicFamily::Fuzzy => list.extend(fuzzy(sources)),
            HeuristicFamily::Terms => list.extend(terms(sources)),
            HeuristicFamily::Regression => list.extend(regression(sources, start)),
            HeuristicFamily::Concepts => list.extend(concepts(sources)),
            HeuristicFamily::Mobility => list.push(Box::new(Mobility)),
            HeuristicFamily::Material => {
                let kinds = kinds(start, sources.seed);
                list.extend(
                    kinds
                        .iter()
                        .map(|kind| -> Box<dyn Expert<P>> { Box::new(Material::new(kind)) }),
                );
            }
        }
    }
    if !formulas.is_empty()
        && let Ok(found) = ConceptExpert::of_all(start, formulas, sources.seed)
    {
        list.extend(found.into_iter().map(|expert| -> Box<dyn Expert<P>> { Box::new(expert) }));
    }
    Experts::new(start, list)
}

/// The payoffs of the rules as they stand.
struct Goals;

impl<P: Notation> Expert<P> for Goals {
    fn name(&self) -> String {
        "goals".to_owned()
    }

    fn is_common(&self) -> bool {
        false
    }

    fn values(&mut self, position: &P, values: &mut [f64]) {
        for (value, role) in values.iter_mut().zip(position.shape().players()) {
            *value = position.payoff(role);
        }
    }

    fn fork(&self) -> Box<dyn Expert<P>> {
        Box::new(Goals)
    }
}

/// The number of legal moves, where twice as many always count the same. One move is no choice, so
/// it counts as none.
struct Mobility;

impl<P: Notation> Expert<P> for Mobility {
    fn name(&self) -> String {
        "mobility".to_owned()
    }

    fn is_common(&self) -> bool {
        false
    }

    fn values(&mut self, position: &P, values: &mut [f64]) {
        for (value, role) in values.iter_mut().zip(position.shape().players()) {
            *value = libm::log2(position.legal_moves(role).len().max(1) as f64);
        }
    }

    fn fork(&self) -> Box<dyn Expert<P>> {
        Box::new(Mobility)
    }
}

struct ByFuzzyLogic(FuzzyEvaluator);

fn fuzzy<P: Notation + 'static>(sources: &Sources<'_>) -> Option<Box<dyn Expert<P>>> {
    let analysis = sources.rules.gdl.as_ref()?;
    let fuzzy = analysis.fuzzy(&FuzzyOptions::default(), sources.time).ok()?;
    Some(Box::new(ByFuzzyLogic(FuzzyEvaluator::new(&fuzzy))))
}

impl<P: Notation + 'static> Expert<P> for ByFuzzyLogic {
    fn name(&self) -> String {
        "fuzzy goals".to_owned()
    }

    fn is_common(&self) -> bool {
        false
    }

    fn values(&mut self, position: &P, values: &mut [f64]) {
        self.0.set_position(position);
        for (value, role) in values.iter_mut().zip(position.shape().players()) {
            *value = self.0.value(role.index());
        }
    }

    fn fork(&self) -> Box<dyn Expert<P>> {
        Box::new(ByFuzzyLogic(FuzzyEvaluator::new(self.0.fuzzy())))
    }
}

struct ByGoalTerms(Method, GoalEvaluator);

/// Returns the terms of all methods that differ.
fn terms<P: Notation + 'static>(sources: &Sources<'_>) -> Vec<Box<dyn Expert<P>>> {
    let Some(game) = sources.rules.rewriting.as_ref() else { return Vec::new() };
    let mut known = Vec::new();
    let mut found: Vec<Box<dyn Expert<P>>> = Vec::new();
    for method in [Method::Existential, Method::Descriptions, Method::RuleConditions] {
        let Some(evaluator) = informative_evaluator(game, method, &GoalOptions::default()) else {
            continue;
        };
        let terms = evaluator.terms().terms.clone();
        if !known.contains(&terms) {
            known.push(terms);
            found.push(Box::new(ByGoalTerms(method, evaluator)));
        }
    }
    found
}

impl<P: Notation + 'static> Expert<P> for ByGoalTerms {
    fn name(&self) -> String {
        let method = match self.0 {
            Method::Existential => "tnf",
            Method::Descriptions => "descriptions",
            Method::RuleConditions => "rule-conditions",
        };
        format!("goal terms ({method})")
    }

    fn is_common(&self) -> bool {
        false
    }

    fn values(&mut self, position: &P, values: &mut [f64]) {
        for (value, role) in values.iter_mut().zip(position.shape().players()) {
            *value = self.1.estimate_at(position, role);
        }
    }

    fn fork(&self) -> Box<dyn Expert<P>> {
        Box::new(ByGoalTerms(self.0, self.1.clone()))
    }
}

/// How near the best legal move brings a player to its goals, in fuzzy logic over the goals
/// regressed by a step. A player without a choice has 0.
struct ByRegression {
    reader: Arc<Reader>,
    network: Arc<Network>,
    evaluator: Evaluator,
    /// The state that the evaluator is set to.
    state: Vec<u64>,
}

fn regression<P: Notation + 'static>(
    sources: &Sources<'_>,
    start: &P,
) -> Option<Box<dyn Expert<P>>> {
    let analysis = sources.rules.gdl.as_ref()?;
    let made = analysis.action_heuristics(HeuristicRequest::default(), sources.time).ok()?;
    let heuristics = made.pruned();
    let network = Arc::new(Network::new(&heuristics, Logic::PRODUCT));
    Some(Box::new(ByRegression {
        reader: Arc::new(Reader::new(start, &heuristics)),
        evaluator: Evaluator::new(Arc::clone(&network)),
        network,
        state: Vec::new(),
    }))
}

impl<P: Notation + 'static> Expert<P> for ByRegression {
    fn name(&self) -> String {
        "regressed goals".to_owned()
    }

    fn is_common(&self) -> bool {
        false
    }

    fn values(&mut self, position: &P, values: &mut [f64]) {
        let ByRegression { reader, evaluator, state, .. } = self;
        reader.update_evaluator(position, state, evaluator);
        let mut best = |role: Role| -> f64 {
            let moves = position.legal_moves(role);
            if moves.len() < 2 {
                return 0.0;
            }
            let of_move = |m| {
                let move_idx = reader.move_idx(position, role, m);
                move_idx.and_then(|move_idx| evaluator.value(role, move_idx)).unwrap_or(0.0)
            };
            moves.iter().map(of_move).fold(0.0, f64::max)
        };
        for (value, role) in values.iter_mut().zip(position.shape().players()) {
            *value = best(role);
        }
    }

    fn fork(&self) -> Box<dyn Expert<P>> {
        Box::new(ByRegression {
            reader: Arc::clone(&self.reader),
            network: Arc::clone(&self.network),
            evaluator: Evaluator::new(Arc::clone(&self.network)),
            state: Vec::new(),
        })
    }
}

struct ByConcepts {
    name: &'static str,
    learnt: Arc<ConceptHeuristic>,
    evaluator: ConceptEvaluator,
}

/// Returns frequent sets of facts, and concepts of two facts.
fn concepts<P: Notation + 'static>(sources: &Sources<'_>) -> Vec<Box<dyn Expert<P>>> {
    let Some(analysis) = sources.rules.gdl.as_ref() else { return Vec::new() };
    let kinds = [
        ("frequent facts", HeuristicKind::Statistical, 1),
        ("concepts of two facts", HeuristicKind::Concepts, 2),
    ];
    let expert = |(name, kind, max_size)| -> Option<Box<dyn Expert<P>>> {
        let options = LearnOptions { kind, max_size, n_wins: N_WINS, seed: sources.seed };
        let learnt = analysis.concepts(&options, &ConceptSource::Own, sources.time);
        // Concepts that were not found say the same of all positions.
        (learnt.n_roles_with_rules() > 0).then(|| -> Box<dyn Expert<P>> {
            let evaluator = ConceptEvaluator::new(Arc::clone(&learnt));
            Box::new(ByConcepts { name, learnt, evaluator })
        })
    };
    kinds.into_iter().filter_map(expert).collect()
}

impl<P: Notation + 'static> Expert<P> for ByConcepts {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn is_common(&self) -> bool {
        false
    }

    fn values(&mut self, position: &P, values: &mut [f64]) {
        for (value, role) in values.iter_mut().zip(position.shape().players()) {
            *value = self.evaluator.value(position, role);
        }
    }

    fn fork(&self) -> Box<dyn Expert<P>> {
        let learnt = Arc::clone(&self.learnt);
        let evaluator = ConceptEvaluator::new(Arc::clone(&learnt));
        Box::new(ByConcepts { name: self.name, learnt, evaluator })
    }
}
