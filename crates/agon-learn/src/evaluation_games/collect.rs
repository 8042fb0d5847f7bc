//! Plays of a game that fill a training set.

use agon_game::{Budget, Continuous, Meter, Rng, Role, draw_listed};
use agon_search::Search as _;
use agon_search::continuous::{ContinuousOptions, ContinuousSearch, Method, MoveEvaluator};
use rand::{RngExt as _, SeedableRng as _};

use super::training::TrainingSet;

/// How plays are made that fill a training set.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectOptions {
    /// Number of iterations of UCT for each move.
    pub iterations: u64,
    /// Least number of plays through a move of a tree that is taken over, N in the paper.
    pub least_plays: u64,
    /// Maximum number of random moves at the beginning of a play.
    pub openings: u64,
    /// Maximum number of steps of a play.
    pub max_steps: usize,
    /// The seed.
    pub seed: u64,
}

impl Default for CollectOptions {
    fn default() -> CollectOptions {
        CollectOptions { iterations: 500, least_plays: 5, openings: 6, max_steps: 400, seed: 1 }
    }
}

/// Plays a game between players that search by UCT with an evaluation game, and adds the moves of
/// their trees to a training set. An iteration of the budget is a play. Calls `after_each` after
/// each play, which may end the collection by returning `false`. Returns the number of whole plays.
pub fn collect<P: Continuous>(
    start: &P,
    evaluator: Box<dyn MoveEvaluator<P>>,
    options: &CollectOptions,
    budget: &Budget,
    set: &mut TrainingSet,
    after_each: &mut dyn FnMut(&TrainingSet) -> bool,
) -> u64 {
    let search_options = ContinuousOptions {
        method: Method::Uct,
        record_from: Some(options.least_plays),
        ..ContinuousOptions::default()
    };
    let mut search = ContinuousSearch::new(search_options, evaluator, options.seed);
    let mut rng = Rng::seed_from_u64(options.seed);
    let mut meter = budget.start();
    let limits = Budget { iterations: Some(options.iterations), ..budget.clone() };
    let facts = start.feature_texts();
    let mut n_plays = 0;
    while !meter.is_over(1) {
        let mut position = start.clone();
        let n_random = rng.random_range(0..=options.openings);
        for step in 0..options.max_steps {
            if position.is_terminal() {
                break;
            }
            let is_random = (step as u64) < n_random;
            let Some(joint) = (if is_random {
                Some(draw(&position, &mut rng))
            } else {
                think(&mut position, &mut search, &limits, &mut meter, &mut rng, |search, at| {
                    take(search, at, &facts, set);
                })
            }) else {
                return n_plays;
            };
            position.advance(&joint);
        }
        n_plays += 1;
        meter.n_iterations += 1;
        if !after_each(set) {
            break;
        }
    }
    n_plays
}

type BoxedSearch<P> = ContinuousSearch<P, Box<dyn MoveEvaluator<P>>>;

/// Lets each role that has a choice think. Returns `None` if the budget ends.
fn think<P: Continuous>(
    position: &mut P,
    search: &mut BoxedSearch<P>,
    limits: &Budget,
    meter: &mut Meter<'_>,
    rng: &mut Rng,
    mut take: impl FnMut(&mut BoxedSearch<P>, &P),
) -> Option<Vec<P::Move>> {
    let mut joint = draw(position, rng);
    let players: Vec<Role> = position.shape().players().collect();
    for role in players {
        let has_choice =
            position.legal_moves(role).len() > 1 || !position.families(role).is_empty();
        if !has_choice {
            continue;
        }
        if meter.is_over(1) {
            return None;
        }
        let report = search.think(position, role, limits);
        joint[role.index()] = report.best;
        take(search, position);
    }
    Some(joint)
}

fn draw<P: Continuous>(position: &P, rng: &mut Rng) -> Vec<P::Move> {
    position.shape().roles().map(|role| draw_listed(position, role, rng)).collect()
}

/// Moves what a search has recorded to the training set.
fn take<P: Continuous>(
    search: &mut BoxedSearch<P>,
    position: &P,
    facts: &[String],
    set: &mut TrainingSet,
) {
    let shape = position.shape();
    let players: Vec<usize> = shape.players().map(Role::index).collect();
    let mut at = position.clone();
    let mut texts = |state: &P::State| -> Vec<String> {
        match P::state_words(state).filter(|_| !facts.is_empty()) {
            Some(words) => {
                let held = facts.iter().enumerate();
                let held = held.filter(|(bit, _)| words[bit / 64] >> (bit % 64) & 1 == 1);
                held.map(|(_, text)| text.clone()).collect()
            }
            None => {
                at.go_to(state);
                at.state_text()
            }
        }
    };
    for visited in search.take_visited() {
        let payoffs = visited
            .payoffs
            .into_iter()
            .map(|(payoffs, n)| (players.iter().map(|&player| payoffs[player]).collect(), n));
        set.add(&texts(&visited.before), &texts(&visited.after), payoffs.collect());
    }
}
