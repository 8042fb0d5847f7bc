//! Which terms made of the goals of a structure rewriting game are taken: as told, as the paper does, or by short matches.

use std::sync::Arc;
use std::time::Instant;

use agon_analysis::goal_formulas::{
    GoalJudge, GoalOptions, Method, RewritingGame, goal_judge, suitable,
};
use agon_game::{Notation, Position as _, Rng, Role};
use agon_search::{AlphaBeta, AlphaBetaOptions, Budget, Evaluate, Search};
use rand::SeedableRng as _;

use crate::judged::BySteps;
use crate::searches::ByNodes;
use crate::trial::bout::{Bout, sure_score};

/// How a method is chosen.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MethodChoice {
    /// The user has chosen.
    Given(Method),
    /// As the paper does: by how many moves there are and whether they only ever add something.
    Suitable,
    /// By short matches against the one that the paper would take, which is kept unless it clearly loses.
    Trial,
}

/// Matches against the method that the paper would take, in pairs with roles swapped.
const N_MATCHES: usize = 12;
/// Positions to a move of such a match: a part of what the match gives, within bounds.
const NODES_PART: u64 = 4;
const MIN_NODES: u64 = 16;
const MAX_NODES: u64 = 200;
/// Under a clock, the part of it that matches may take.
const TIME_PART: u32 = 4;
/// Every match of a game decides alike, whatever its own seed.
const SEED: u64 = 0x7e57;

impl MethodChoice {
    /// The method without a trial.
    pub fn method(self, game: &Arc<RewritingGame>) -> Method {
        match self {
            MethodChoice::Given(method) => method,
            MethodChoice::Suitable | MethodChoice::Trial => suitable_for(game),
        }
    }

    /// The method, after a trial from where a position stands if one is wanted. Under a count it is always the same.
    pub(crate) fn decide<P: Notation + 'static>(
        self,
        game: &Arc<RewritingGame>,
        options: &GoalOptions,
        position: &P,
        budget: &Budget,
    ) -> Method {
        let usual = self.method(game);
        let players: Vec<Role> = position.shape().players().collect();
        let (MethodChoice::Trial, [first, second]) = (self, &players[..]) else { return usual };
        let trial = Trial { game, roles: [*first, *second], options };
        trial.winner(usual, position, budget)
    }
}

/// The method that the paper would take.
fn suitable_for(game: &Arc<RewritingGame>) -> Method {
    let start = game.start();
    let n_moves = start.choosers().map(|role| start.legal_moves(role).len()).max();
    suitable(game.arena(), n_moves.unwrap_or(0))
}

/// The judge by a method, unless there is none or it says the same of every position.
pub(crate) fn telling_judge(
    game: &Arc<RewritingGame>,
    method: Method,
    options: &GoalOptions,
) -> Option<GoalJudge> {
    goal_judge(game, method, options).ok().filter(|judge| judge.terms().depend_on_states())
}

struct Trial<'a> {
    game: &'a Arc<RewritingGame>,
    roles: [Role; 2],
    options: &'a GoalOptions,
}

impl Trial<'_> {
    fn winner<P: Notation + 'static>(
        &self,
        usual: Method,
        position: &P,
        budget: &Budget,
    ) -> Method {
        let Some(champion) = telling_judge(self.game, usual, self.options) else { return usual };
        let until = budget.deadline.map(|deadline| {
            let now = Instant::now();
            now + deadline.saturating_duration_since(now) / TIME_PART
        });
        let all = budget.nodes.or(budget.iterations).unwrap_or(u64::MAX);
        let nodes = (all / NODES_PART).clamp(MIN_NODES, MAX_NODES);
        let mut known = vec![champion.terms().terms.clone()];
        let mut best = (usual, 0.5);
        for method in [Method::Descriptions, Method::RuleConditions, Method::Existential] {
            let Some(judge) = telling_judge(self.game, method, self.options) else { continue };
            // Where nothing has to be described, two methods are one.
            if known.contains(&judge.terms().terms) {
                continue;
            }
            known.push(judge.terms().terms.clone());
            let scores = self.scores(&judge, &champion, position, nodes, until);
            if let Some(score) = sure_score(&scores)
                && score > best.1
            {
                best = (method, score);
            }
        }
        best.0
    }

    /// By match: the score of the first terms against the second. Fewer than there should be if time runs out.
    fn scores<P: Notation + 'static>(
        &self,
        ours: &GoalJudge,
        others: &GoalJudge,
        position: &P,
        nodes: u64,
        until: Option<Instant>,
    ) -> Vec<f64> {
        let mut rng = Rng::seed_from_u64(SEED);
        let mut scores = Vec::new();
        let mut opening = position.clone();
        for at in 0..N_MATCHES {
            if at % 2 == 0 {
                opening = position.clone();
                Bout::open(&mut opening, 1 + at / 2 % 4, &mut rng);
            }
            let bout = Bout { roles: self.roles, own: self.roles[at % 2] };
            let mut budget = || {
                let has_time = until.is_none_or(|until| Instant::now() < until);
                has_time.then(|| Budget::nodes(nodes))
            };
            match bout.play(&opening, search(ours), search(others), &mut budget, &mut rng) {
                Some(score) => scores.push(score),
                None => break,
            }
        }
        scores
    }
}

fn search<P: Notation + 'static>(judge: &GoalJudge) -> Box<dyn Search<P>> {
    let judge: Box<dyn Evaluate<P>> = Box::new(BySteps(judge.clone()));
    let options = AlphaBetaOptions { table_entries: SMALL_TABLE, ..AlphaBetaOptions::default() };
    Box::new(ByNodes(AlphaBeta::with_evaluator(options, judge)))
}

/// Searches of so few positions need no large table.
const SMALL_TABLE: usize = 1 << 14;

#[cfg(test)]
pub(crate) mod tests;
