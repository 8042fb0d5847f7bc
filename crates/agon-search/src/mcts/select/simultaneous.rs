//! Nodes where several roles choose at the same time: decoupled UCT, regret matching, and iterated
//! regret minimisation over pure strategies.

use agon_game::{Position, Rng, Role};
use rand::RngExt;

use super::{SelectContext, draw, fast_ln, prior_weight};
use crate::mcts::options::Simultaneous;
use crate::mcts::tree::{Group, NodeId, NodeKind, RegretEntry, Score, Tree};

/// The data of a node that are needed to compute the UCB1-TUNED values of its arms.
struct TunedScorer {
    /// The factor on the exploration term.
    exploration: f32,
    /// The factor on the upper bound of the variance.
    variance: f32,
    /// The weight of the heuristic's values.
    prior_weight: f32,
}

impl TunedScorer {
    #[inline]
    fn total(&self, score: &Score) -> f32 {
        let variance = (score.variance() + self.variance * score.width).min(0.25);
        score.value + self.exploration * score.width * variance.sqrt()
    }
}

impl<P: Position> Tree<P> {
    /// Chooses a joint move at a node where several roles choose.
    pub(super) fn choose_joint(
        &mut self,
        id: NodeId,
        context: &mut SelectContext<'_, P::Move>,
    ) -> u64 {
        let is_tabled = self.nodes[id].kind == NodeKind::Joint;
        if let Simultaneous::IteratedRegret { c } = context.options.simultaneous
            && is_tabled
        {
            return self.choose_by_iterated_regret(id, c, context.rng);
        }
        let mut choice = 0;
        for at in self.nodes[id].groups() {
            let group = self.groups[at];
            let digit = if self.facts.is_nature(group.role) {
                self.draw_outcome(&group, context.rng)
            } else {
                match context.options.simultaneous {
                    Simultaneous::RegretMatching { exploration } if is_tabled => {
                        let weights = &mut context.scratch.weights;
                        self.match_regret(&group, exploration, context.rng, weights)
                    }
                    Simultaneous::Decoupled { .. }
                    | Simultaneous::RegretMatching { .. }
                    | Simultaneous::IteratedRegret { .. } => {
                        self.choose_decoupled(id, &group, context)
                    }
                }
            };
            choice = choice * u64::from(group.n) + digit as u64;
        }
        choice
    }

    /// Chooses `n` joint moves at a node and counts the playouts of each as pending before it
    /// chooses the next one. The values of the arms are computed once, and again only for those
    /// arms that were chosen.
    pub(super) fn choose_joint_often(
        &mut self,
        id: NodeId,
        n: u32,
        playouts: u32,
        picks: &mut Vec<(u64, u32)>,
        context: &mut SelectContext<'_, P::Move>,
    ) {
        let is_decoupled = matches!(context.options.simultaneous, Simultaneous::Decoupled { .. });
        if n == 1 || !is_decoupled {
            for _ in 0..n {
                let choice = self.choose_joint(id, context);
                self.add_pending(id, choice, playouts);
                picks.push((choice, 1));
            }
            return;
        }
        let (first_arm, groups) = (self.nodes[id].first_arm as usize, self.nodes[id].groups());
        let scorer = self.tuned_scorer(id, context);
        let mut totals = std::mem::take(&mut context.scratch.totals);
        totals.clear();
        for at in groups.clone() {
            self.push_totals(id, &self.groups[at], &scorer, &mut totals);
        }
        for _ in 0..n {
            let mut choice = 0;
            for at in groups.clone() {
                let group = self.groups[at];
                let digit = if self.facts.is_nature(group.role) {
                    self.draw_outcome(&group, context.rng)
                } else {
                    best_of(&totals[group.range()], context.rng)
                };
                choice = choice * u64::from(group.n) + digit as u64;
            }
            self.add_pending(id, choice, playouts);
            // Equal choices stay separate, because roles learn from every joint move that is tried.
            picks.push((choice, 1));
            self.visit_choice(id, choice, |_, arm| {
                totals[arm - first_arm] = self.total(arm, &scorer);
            });
        }
        context.scratch.totals = totals;
    }

    fn draw_outcome(&self, group: &Group, rng: &mut Rng) -> usize {
        let mut left: f64 = rng.random();
        let drawn = self.groups.chances(group).iter().position(|chance| {
            left -= chance;
            left < 0.0
        });
        drawn.unwrap_or(group.n as usize - 1)
    }

    /// Chooses by UCB1-TUNED over the moves of one role, whatever the others do.
    fn choose_decoupled(
        &self,
        id: NodeId,
        group: &Group,
        context: &mut SelectContext<'_, P::Move>,
    ) -> usize {
        let scorer = self.tuned_scorer(id, context);
        let totals = &mut context.scratch.totals;
        totals.clear();
        self.push_totals(id, group, &scorer, totals);
        best_of(totals, context.rng)
    }

    fn tuned_scorer(&self, id: NodeId, context: &SelectContext<'_, P::Move>) -> TunedScorer {
        let visits = self.nodes[id].visits_and_pending().max(1) as f64;
        let log_visits = fast_ln(visits as f32);
        let c = match context.options.simultaneous {
            Simultaneous::Decoupled { c } => c,
            Simultaneous::RegretMatching { .. } | Simultaneous::IteratedRegret { .. } => 1.0,
        };
        // With w for one over the square root of an arm's playouts, ln N / n is ln N · w²: all
        // square roots but one are known.
        TunedScorer {
            exploration: c as f32 * self.facts.range() as f32 * log_visits.sqrt(),
            variance: (2.0 * log_visits).sqrt(),
            prior_weight: if self.priors.is_used() {
                prior_weight(context.prior_k, visits) as f32
            } else {
                0.0
            },
        }
    }

    /// Adds the values of the arms of a group to a list.
    fn push_totals(&self, id: NodeId, group: &Group, scorer: &TunedScorer, totals: &mut Vec<f32>) {
        let first = self.nodes[id].first_arm as usize + group.first as usize;
        let (own, start) = (first..first + group.n as usize, totals.len());
        totals.extend(self.arms.scores(own.clone()).iter().map(|score| scorer.total(score)));
        if self.priors.is_rated(first) {
            for (total, arm) in totals[start..].iter_mut().zip(own) {
                *total = self.total(arm, scorer);
            }
        }
    }

    /// Returns the value of an arm, mixed with the heuristic's value if there is one.
    fn total(&self, arm: usize, scorer: &TunedScorer) -> f32 {
        let score = self.arms.score(arm);
        let total = scorer.total(score);
        if self.priors.is_rated(arm) && total.is_finite() {
            return total + scorer.prior_weight * (self.priors.value(arm) - score.value);
        }
        total
    }

    /// Draws a move in proportion to regret, and adds up the strategies that were drawn from.
    fn match_regret(
        &mut self,
        group: &Group,
        exploration: f64,
        rng: &mut Rng,
        weights: &mut Vec<f64>,
    ) -> usize {
        let entries = self.groups.regrets_mut(group);
        strategy_of(entries, weights);
        for (entry, &weight) in entries.iter_mut().zip(&*weights) {
            entry.strategy += weight;
        }
        if rng.random::<f64>() < exploration {
            rng.random_range(0..group.n as usize)
        } else {
            draw(weights, rng)
        }
    }

    /// Adds the regrets of each role after a joint move was made once more: by how much another
    /// move, with the same moves of the others, is better on average.
    pub(crate) fn add_regrets(&mut self, id: NodeId, choice: u64) {
        let node = &self.nodes[id];
        let first_arm = node.first_arm as usize;
        let mut stride = 1;
        for at in node.groups().rev() {
            let group = self.groups[at];
            let n = group.n as usize;
            let chosen = choice as usize / stride % n;
            if !self.facts.is_nature(group.role) {
                let node = &self.nodes[id];
                let got = self.mean(self.joint_children.dense(node, choice), group.role);
                for other in 0..n {
                    if other == chosen {
                        // As in regret matching+: a regret below zero is forgotten.
                        continue;
                    }
                    let joint = choice as usize + other * stride - chosen * stride;
                    let child = self.joint_children.dense(&self.nodes[id], joint as u64);
                    let arm = &self.arms[first_arm + group.first as usize + other];
                    let would = if child != NodeId::NONE && self.nodes[child].visits > 0 {
                        self.mean(child, group.role)
                    } else if arm.visits > 0 {
                        f64::from(arm.mean)
                    } else {
                        self.facts.high
                    };
                    let entry = &mut self.groups.regrets_mut(&group)[other];
                    entry.regret = (entry.regret + would - got).max(0.0);
                }
            }
            stride *= n;
        }
    }

    /// Chooses by iterated regret minimisation (Kaiser and Stafiniak 2010): the upper confidence
    /// bounds of all joint moves are a game in normal form, and moves that do not minimise regret
    /// are removed from it.
    fn choose_by_iterated_regret(&self, id: NodeId, c: f64, rng: &mut Rng) -> u64 {
        let node = &self.nodes[id];
        let children = self.joint_children.of(node);
        let is_untried =
            |&child: &NodeId| child == NodeId::NONE || self.nodes[child].visits_and_pending() == 0;
        // In the paper every child is played out when a leaf is expanded. Here the children are
        // tried one by one before anything else.
        let n_untried = children.iter().filter(|child| is_untried(child)).count();
        if n_untried > 0 {
            let wanted = rng.random_range(0..n_untried);
            let untried = children.iter().enumerate().filter(|(_, child)| is_untried(child));
            return untried.map(|(at, _)| at as u64).nth(wanted).expect("it was counted");
        }
        let visits = node.visits_and_pending().max(1) as f64;
        let log_visits = f64::from(fast_ln(visits as f32));
        let range = self.facts.range();
        let left = self.minimise_regret(id, |joint, role| {
            let child = children[joint];
            let rate = log_visits / (self.nodes[child].visits.max(1)) as f64;
            let variance = (self.variance(child, role) + (2.0 * rate).sqrt()).min(0.25);
            self.mean(child, role) + c * range * (rate * variance).sqrt()
        });
        self.groups.of(node).iter().zip(&left).fold(0, |choice, (group, left)| {
            let digit = if self.facts.is_nature(group.role) {
                self.draw_outcome(group, rng)
            } else {
                left[rng.random_range(0..left.len())]
            };
            choice * u64::from(group.n) + digit as u64
        })
    }

    /// Returns for each group the moves that survive iterated regret minimisation in the game with
    /// these payoffs by joint move and role.
    pub(crate) fn minimise_regret(
        &self,
        id: NodeId,
        payoff: impl Fn(usize, Role) -> f64,
    ) -> Vec<Vec<usize>> {
        let groups = self.groups.of(&self.nodes[id]);
        let strides = self.strides(id);
        let mut left: Vec<Vec<usize>> =
            groups.iter().map(|group| (0..group.n as usize).collect()).collect();
        loop {
            let mut after = left.clone();
            for (own, group) in groups.iter().enumerate() {
                if self.facts.is_nature(group.role) {
                    continue;
                }
                let regrets = max_regrets(own, &left, &strides, |joint| payoff(joint, group.role));
                let least = regrets.iter().copied().fold(f64::INFINITY, f64::min);
                let kept = left[own].iter().zip(&regrets).filter(|&(_, &regret)| regret <= least);
                after[own] = kept.map(|(&m, _)| m).collect();
            }
            if after == left {
                return left;
            }
            left = after;
        }
    }
}

/// Returns for each move of group `own` that is left its greatest regret over all combinations of
/// the moves that are left to the other groups.
fn max_regrets(
    own: usize,
    left: &[Vec<usize>],
    strides: &[usize],
    payoff: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let others = || (0..left.len()).filter(|&other| other != own);
    let mut regrets = vec![0.0_f64; left[own].len()];
    let mut at = vec![0_usize; left.len()];
    loop {
        let joint: usize = others().map(|other| left[other][at[other]] * strides[other]).sum();
        let payoffs: Vec<f64> =
            left[own].iter().map(|&m| payoff(joint + m * strides[own])).collect();
        let best = payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (regret, payoff) in regrets.iter_mut().zip(payoffs) {
            *regret = regret.max(best - payoff);
        }
        // Goes on to the next combination, as a counter does.
        let mut is_last = true;
        for other in others() {
            at[other] += 1;
            if at[other] < left[other].len() {
                is_last = false;
                break;
            }
            at[other] = 0;
        }
        if is_last {
            return regrets;
        }
    }
}

/// Returns the index of the greatest number. Ties are broken at random: if roles broke them alike,
/// their moves would be tried only in certain pairs.
fn best_of(totals: &[f32], rng: &mut Rng) -> usize {
    let best = max_of(totals);
    let first = totals.iter().position(|&total| total == best).unwrap_or(0);
    // As a rule there is one best.
    let n_others = totals[first + 1..].iter().filter(|&&total| total == best).count();
    if n_others == 0 {
        return first;
    }
    let wanted = rng.random_range(0..=n_others);
    let mut bests = (first..totals.len()).filter(|&at| totals[at] == best);
    bests.nth(wanted).unwrap_or(first)
}

/// Returns the greatest number. Eight are compared at a time.
fn max_of(numbers: &[f32]) -> f32 {
    let greater = |a: f32, b: f32| if a > b { a } else { b };
    let (eights, rest) = numbers.as_chunks::<8>();
    let mut lanes = [f32::NEG_INFINITY; 8];
    for eight in eights {
        for at in 0..8 {
            lanes[at] = greater(eight[at], lanes[at]);
        }
    }
    lanes.iter().chain(rest).fold(f32::NEG_INFINITY, |most, &number| greater(number, most))
}

/// Computes the strategy of regret matching: proportional to the regrets, or uniform if there are
/// none.
fn strategy_of(entries: &[RegretEntry], weights: &mut Vec<f64>) {
    weights.clear();
    let total: f64 = entries.iter().map(|entry| entry.regret).sum();
    let even = 1.0 / entries.len() as f64;
    let share = |entry: &RegretEntry| if total > 0.0 { entry.regret / total } else { even };
    weights.extend(entries.iter().map(share));
}
