//! One descent from the root, and the bandit of a role that chooses alone: UCB1, UCB1-TUNED, RAVE,
//! GRAVE and priors.

use agon_game::{Position, Rng, Role};
use rand::RngExt;

use super::{MAX_DEPTH, SelectContext, fast_ln, prior_weight};
use crate::mcts::average::Average;
use crate::mcts::leaf_batch::{PathEnd, Step};
use crate::mcts::options::{Amaf, Bandit, FirstPlay, MctsOptions};
use crate::mcts::tree::{Arm, NO_TABLE, Node, NodeId, NodeKind, Prospect, Tree};

impl<P: Position> Tree<P> {
    /// Descends from the root along one path, for one playout. The steps are added to the list.
    pub(crate) fn descend(
        &mut self,
        steps: &mut Vec<Step>,
        context: &mut SelectContext<'_, P::Move>,
    ) -> PathEnd {
        self.nodes.begin_pass();
        let start = steps.len();
        let mut reference = None;
        let mut id = self.root;
        loop {
            if self.nodes[id].kind == NodeKind::Terminal {
                return PathEnd::Solved(id);
            }
            if self.nodes.is_stamped(id) || steps.len() - start >= MAX_DEPTH {
                return PathEnd::Cycle(id);
            }
            self.nodes.stamp(id);
            // A solved root is searched on, because the values of its moves may still be unknown.
            if self.is_solving && id != self.root && self.is_solved(id) {
                return PathEnd::Solved(id);
            }
            if let Amaf::Grave { reference: enough, .. } = context.options.amaf {
                let table = self.nodes[id].amaf_table;
                if table != NO_TABLE && self.amaf.n_playouts(table) >= enough as f32 {
                    reference = Some(table);
                }
            }
            self.ensure_arms(id);
            let choice = match self.nodes[id].kind {
                NodeKind::Terminal => unreachable!("the descent ends at a terminal node"),
                NodeKind::Alone(role) if self.facts.is_nature(role) => self.next_outcome(id),
                NodeKind::Alone(role) => self.choose_alone(id, role, reference, context) as u64,
                NodeKind::Joint | NodeKind::Sparse => self.choose_joint(id, context),
            };
            let child = self.child(id, choice);
            if child != NodeId::NONE {
                self.prefetch_child(id, choice, child);
            }
            let before = if steps.len() == start { Step::NONE } else { steps.len() as u32 - 1 };
            steps.push(Step { node: id, choice, before, pending: 1 });
            if child == NodeId::NONE {
                return PathEnd::Unexpanded;
            }
            id = child;
        }
    }

    /// Returns the move of nature that was made least often, compared with its probability. This
    /// varies less than drawing at random.
    pub(super) fn next_outcome(&self, id: NodeId) -> u64 {
        let node = &self.nodes[id];
        let total = (node.visits_and_pending() + 1) as f64;
        let mut best = (f64::NEG_INFINITY, 0);
        let chances = self.groups.chances(&self.groups.of(node)[0]);
        for (at, (arm, chance)) in self.arms[node.arms()].iter().zip(chances).enumerate() {
            let lack = chance * total - f64::from(arm.visits) - f64::from(arm.pending);
            if lack > best.0 {
                best = (lack, at as u64);
            }
        }
        best.1
    }

    /// Returns the best arm of a player that chooses alone, counted from the first arm of the node.
    /// `reference` is the AMAF table of the nearest node above that has enough playouts.
    pub(super) fn choose_alone(
        &mut self,
        id: NodeId,
        role: Role,
        reference: Option<u16>,
        context: &mut SelectContext<'_, P::Move>,
    ) -> usize {
        let node = &self.nodes[id];
        if node.n_arms == 1 {
            return 0;
        }
        if let Some(untried) = self.choose_untried(id, role, context) {
            return untried;
        }
        if let Some(c) = self.plain_ucb1(node, context) {
            return self.choose_ucb1(node, c);
        }
        let scorer = self.scorer(id, role, context);
        let first_arm = node.first_arm as usize;
        let is_rated = self.priors.is_rated(first_arm);
        let order = node.first_arm_in_order();
        let mut best = (f32::NEG_INFINITY, 0);
        for at in (order..node.n_arms as usize).chain(0..order) {
            let arm = &self.arms[first_arm + at];
            if !is_worth_trying(node, arm) {
                continue;
            }
            let amaf = match (context.options.amaf, reference) {
                (Amaf::Off, _) | (Amaf::Grave { .. }, None) => Average::default(),
                (Amaf::Rave { .. }, _) => self.amaf.average(first_arm + at),
                (Amaf::Grave { .. }, Some(table)) => self.amaf.average_in(table, first_arm + at),
            };
            let prior = if self.implicit.is_used() {
                let child = self.arms.child(first_arm + at);
                (child != NodeId::NONE).then(|| self.implicit.value(child, role))
            } else {
                is_rated.then(|| self.priors.value(first_arm + at))
            };
            let score = scorer.score(arm, amaf, prior);
            if score > best.0 {
                best = (score, at);
            }
        }
        best.1
    }

    /// Lets the playout policy, if there is one, choose between the moves that were never tried.
    fn choose_untried(
        &self,
        id: NodeId,
        role: Role,
        context: &mut SelectContext<'_, P::Move>,
    ) -> Option<usize> {
        let policy = context.policy.as_deref_mut()?;
        if context.options.amaf != Amaf::Off || context.options.first_play != FirstPlay::First {
            return None;
        }
        let node = &self.nodes[id];
        let is_untried =
            |arm: &Arm| arm.visits == 0 && arm.pending == 0 && is_worth_trying(node, arm);
        let arms = self.arms[node.arms()].iter().enumerate();
        let untried: Vec<usize> =
            arms.filter(|(_, arm)| is_untried(arm)).map(|(at, _)| at).collect();
        if untried.is_empty() {
            return None;
        }
        let (moves, weights) = (self.moves.of_arms(node), &mut context.scratch.weights);
        Some(untried[policy.choose_among(role, moves, &untried, context.rng, weights)])
    }

    /// Returns the exploration constant if nothing but UCB1 decides at a node.
    #[inline]
    pub(super) fn plain_ucb1(
        &self,
        node: &Node,
        context: &SelectContext<'_, P::Move>,
    ) -> Option<f32> {
        let options = context.options;
        match (options.bandit, options.amaf, options.first_play) {
            (Bandit::Ucb1 { c }, Amaf::Off, FirstPlay::First)
                if !self.priors.is_rated(node.first_arm as usize) && !self.implicit.is_used() =>
            {
                Some(c as f32 * context.exploration)
            }
            _ => None,
        }
    }

    /// Chooses by UCB1 and nothing else: what most searches do most of the time.
    fn choose_ucb1(&self, node: &Node, c: f32) -> usize {
        let visits = node.visits_and_pending() as f32;
        let explore = c * self.facts.range() as f32 * fast_ln(visits).sqrt();
        let scores = self.arms.scores(node.arms());
        let order = node.first_arm_in_order();
        let mut best = (f32::NEG_INFINITY, order);
        for (from, scores) in [(order, &scores[order..]), (0, &scores[..order])] {
            for (at, score) in scores.iter().enumerate() {
                let score = score.value + explore * score.width;
                if score > best.0 {
                    best = (score, from + at);
                }
            }
        }
        best.1
    }

    fn scorer<'a>(
        &self,
        id: NodeId,
        role: Role,
        context: &SelectContext<'a, P::Move>,
    ) -> ArmScorer<'a> {
        let options = context.options;
        let visits = self.nodes[id].visits_and_pending().max(1) as f64;
        ArmScorer {
            log_visits: fast_ln(visits as f32),
            range: self.facts.range() as f32,
            min: self.facts.low as f32,
            mean: self.mean(id, role) as f32,
            options,
            rave_weight: match options.amaf {
                Amaf::Rave { k } => (k / (3.0 * visits + k)).sqrt() as f32,
                Amaf::Off | Amaf::Grave { .. } => 0.0,
            },
            prior_weight: if self.implicit.is_used() {
                options.heuristic.implicit as f32
            } else {
                prior_weight(context.prior_k, visits) as f32
            },
            exploration: context.exploration,
        }
    }
}

/// Returns whether anything can be learnt from an arm; see `Arms::update_score`.
#[inline]
fn is_worth_trying(node: &Node, arm: &Arm) -> bool {
    if node.has_open_arm { arm.prospect == Prospect::Open } else { arm.prospect != Prospect::Worse }
}

/// The data of a node that are needed to compute the scores of its arms.
struct ArmScorer<'a> {
    log_visits: f32,
    range: f32,
    min: f32,
    mean: f32,
    /// The weight of RAVE averages.
    rave_weight: f32,
    /// The weight of the heuristic's values.
    prior_weight: f32,
    exploration: f32,
    options: &'a MctsOptions,
}

impl ArmScorer<'_> {
    fn score(&self, arm: &Arm, amaf: Average, prior: Option<f32>) -> f32 {
        let pending = arm.pending as f32;
        let n = arm.visits as f32 + pending;
        let known = if arm.visits > 0 { arm.mean } else { self.mean };
        if n == 0.0 && amaf.n == 0.0 {
            return match self.options.first_play {
                FirstPlay::First => f32::INFINITY,
                FirstPlay::Urgency(part) => self.min + part as f32 * self.range,
                FirstPlay::BelowMean(part) => {
                    self.mean - part as f32 * self.range + self.exploration(1.0, 0.25)
                }
            };
        }
        let lost = self.options.virtual_loss as f32 * (known - self.min) * pending / n.max(1.0);
        let own = known - lost;
        let beta = match self.options.amaf {
            Amaf::Off => 0.0,
            Amaf::Rave { .. } if amaf.n == 0.0 => 0.0,
            Amaf::Rave { .. } => self.rave_weight,
            Amaf::Grave { bias, .. } => amaf.n / (amaf.n + n + bias as f32 * amaf.n * n).max(1.0),
        };
        let beta = if arm.visits == 0 && amaf.n > 0.0 { 1.0 } else { beta };
        let found = (1.0 - beta) * own + beta * amaf.mean;
        let mixed = prior
            .map_or(found, |prior| (1.0 - self.prior_weight) * found + self.prior_weight * prior);
        mixed + self.exploration(n.max(1.0), arm.variance)
    }

    #[inline]
    fn exploration(&self, n: f32, variance: f32) -> f32 {
        let rate = self.log_visits / n;
        let scale = self.exploration * self.range;
        match self.options.bandit {
            Bandit::Ucb1 { c } => c as f32 * scale * rate.sqrt(),
            Bandit::Ucb1Tuned { c } => {
                c as f32 * scale * (rate * (variance + (2.0 * rate).sqrt()).min(0.25)).sqrt()
            }
        }
    }
}

/// Draws an index with probability proportional to the weights, which are not all zero.
pub(crate) fn draw(weights: &[f64], rng: &mut Rng) -> usize {
    let total: f64 = weights.iter().sum();
    let mut left = rng.random::<f64>() * total;
    for (at, &weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return at;
        }
    }
    // Rounding may leave a small rest, which counts for the last one with any weight.
    weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
}
