//! Positions where several roles choose at the same time: decoupled bandits, regret matching, and iterated regret
//! minimisation over pure strategies.

use agon_game::{Position, Rng};
use rand::RngExt;

use super::node::{Group, Kind, Mix, NodeId, Score};
use super::options::Simultaneous;
use super::select::{Chooser, draw, rough_log, trust};
use super::tree::Tree;

/// What the moves at a position where several roles choose are judged by.
struct Outlook {
    /// What exploring counts.
    wide: f32,
    /// How much more may be to it than was seen.
    narrow: f32,
    /// The weight of what was judged beforehand.
    trust: f32,
}

impl Outlook {
    #[inline]
    fn total(&self, score: &Score) -> f32 {
        let spread = (score.variance() + self.narrow * score.spread).min(0.25);
        score.value + self.wide * score.spread * spread.sqrt()
    }
}

impl<P: Position> Tree<P> {
    /// A joint move at a position where several roles choose.
    pub(super) fn choose_together(
        &mut self,
        id: NodeId,
        chooser: &mut Chooser<'_, P::Move>,
    ) -> u64 {
        let dense = self.node(id).kind == Kind::Joint;
        if let Simultaneous::IteratedRegret { c } = chooser.options.simultaneous
            && dense
        {
            return self.choose_by_regret(id, c, chooser.rng);
        }
        let mut choice = 0;
        for at in self.groups_of(id) {
            let group = self.groups[at];
            let digit = if Some(group.role) == self.facts.nature {
                self.draw_outcome(&group, chooser.rng)
            } else {
                match chooser.options.simultaneous {
                    Simultaneous::RegretMatching { exploration } if dense => {
                        self.match_regret(&group, exploration, chooser.rng, chooser.scratch)
                    }
                    Simultaneous::Decoupled { .. }
                    | Simultaneous::RegretMatching { .. }
                    | Simultaneous::IteratedRegret { .. } => self.choose_decoupled(id, at, chooser),
                }
            };
            choice = choice * u64::from(group.n) + digit as u64;
        }
        choice
    }

    fn draw_outcome(&self, group: &Group, rng: &mut Rng) -> usize {
        let mut left: f64 = rng.random();
        let drawn = self.chances_of(group).iter().position(|chance| {
            left -= chance;
            left < 0.0
        });
        drawn.unwrap_or(group.n as usize - 1)
    }

    /// Several joint moves at a position, each of which is marked before the next is chosen. What a role's moves count is worked out once, and anew
    /// only for those that are marked.
    pub(super) fn share_together(
        &mut self,
        id: NodeId,
        n: u32,
        playouts: u32,
        picks: &mut Vec<(u64, u32)>,
        chooser: &mut Chooser<'_, P::Move>,
    ) {
        let is_decoupled = matches!(chooser.options.simultaneous, Simultaneous::Decoupled { .. });
        if n == 1 || !is_decoupled {
            for _ in 0..n {
                let choice = self.choose_together(id, chooser);
                self.mark(id, choice, playouts);
                picks.push((choice, 1));
            }
            return;
        }
        let (first_arm, groups) = (self.node(id).first_arm as usize, self.groups_of(id));
        let outlook = self.outlook(id, chooser);
        let mut totals = std::mem::take(chooser.totals);
        totals.clear();
        for at in groups.clone() {
            self.add_totals(id, at, &outlook, &mut totals);
        }
        for _ in 0..n {
            let mut choice = 0;
            for at in groups.clone() {
                let group = self.groups[at];
                let digit = if Some(group.role) == self.facts.nature {
                    self.draw_outcome(&group, chooser.rng)
                } else {
                    best_of(&totals[group.first as usize..][..group.n as usize], chooser.rng)
                };
                choice = choice * u64::from(group.n) + digit as u64;
            }
            self.mark(id, choice, playouts);
            // Each on its own: roles learn from every joint move that was tried.
            picks.push((choice, 1));
            self.visit_choice(id, choice, |_, arm| {
                totals[arm - first_arm] = self.total(arm, &outlook)
            });
        }
        *chooser.totals = totals;
    }

    /// UCB1-TUNED over the moves of one role, whatever the others do.
    fn choose_decoupled(
        &self,
        id: NodeId,
        group: usize,
        chooser: &mut Chooser<'_, P::Move>,
    ) -> usize {
        let outlook = self.outlook(id, chooser);
        chooser.totals.clear();
        self.add_totals(id, group, &outlook, chooser.totals);
        best_of(chooser.totals, chooser.rng)
    }

    /// What the moves at a position are judged by.
    fn outlook(&self, id: NodeId, chooser: &Chooser<'_, P::Move>) -> Outlook {
        let node = self.node(id);
        let visits = (node.visits + u64::from(node.pending)).max(1) as f64;
        let log_visits = rough_log(visits as f32);
        let c = match chooser.options.simultaneous {
            Simultaneous::Decoupled { c } => c,
            Simultaneous::RegretMatching { .. } | Simultaneous::IteratedRegret { .. } => 1.0,
        };
        // With s for one over the root of an arm's playouts, log / n is log s^2: all roots but one are known.
        Outlook {
            wide: c as f32 * self.facts.range() as f32 * log_visits.sqrt(),
            narrow: (2.0 * log_visits).sqrt(),
            trust: if self.has_priors { trust(chooser.k, visits) as f32 } else { 0.0 },
        }
    }

    /// Adds what the moves of a group count to a list.
    fn add_totals(&self, id: NodeId, group: usize, outlook: &Outlook, totals: &mut Vec<f32>) {
        let group = &self.groups[group];
        let first = self.node(id).first_arm as usize + group.first as usize;
        let (own, start) = (first..first + group.n as usize, totals.len());
        totals.extend(self.scores[own.clone()].iter().map(|score| outlook.total(score)));
        if self.is_judged(first) {
            for (total, arm) in totals[start..].iter_mut().zip(own) {
                *total = self.total(arm, outlook);
            }
        }
    }

    /// What a move counts, with what was judged beforehand.
    fn total(&self, arm: usize, outlook: &Outlook) -> f32 {
        let total = outlook.total(&self.scores[arm]);
        if self.is_judged(arm) && total.is_finite() {
            return total + outlook.trust * (self.priors[arm] - self.scores[arm].value);
        }
        total
    }

    /// Draws in proportion to regret, and adds up the strategies drawn from.
    fn match_regret(
        &mut self,
        group: &Group,
        exploration: f64,
        rng: &mut Rng,
        weights: &mut Vec<f64>,
    ) -> usize {
        let n = group.n as usize;
        let first = group.first_more as usize;
        strategy_of(&self.mixes[first..first + n], weights);
        for (mix, &weight) in self.mixes[first..first + n].iter_mut().zip(&*weights) {
            mix.strategy += weight;
        }
        if rng.random::<f64>() < exploration { rng.random_range(0..n) } else { draw(weights, rng) }
    }

    /// Adds what each role regrets when a joint move has been made once more: by how much another move, the others' being
    /// the same, is better on the average.
    pub(super) fn add_regrets(&mut self, id: NodeId, choice: u64) {
        let node = self.node(id);
        let (first_arm, first_joint) = (node.first_arm as usize, node.first_joint as usize);
        let mut stride = 1;
        for at in self.groups_of(id).rev() {
            let group = self.groups[at];
            let n = group.n as usize;
            let chosen = choice as usize / stride % n;
            if Some(group.role) != self.facts.nature {
                let got = self.mean(self.joints[first_joint + choice as usize], group.role);
                for other in 0..n {
                    if other == chosen {
                        // As in regret matching+: what is below zero is forgotten.
                        continue;
                    }
                    let child = self.joints
                        [first_joint + choice as usize + other * stride - chosen * stride];
                    let arm = &self.arms[first_arm + group.first as usize + other];
                    let would = if child != NodeId::NONE && self.node(child).visits > 0 {
                        self.mean(child, group.role)
                    } else if arm.visits > 0 {
                        f64::from(arm.mean)
                    } else {
                        self.facts.max
                    };
                    let mix = &mut self.mixes[group.first_more as usize + other];
                    mix.regret = (mix.regret + would - got).max(0.0);
                }
            }
            stride *= n;
        }
    }

    /// 002: upper confidence bounds of all joint moves as a game in normal form; actions that do not minimise regret go.
    fn choose_by_regret(&self, id: NodeId, c: f64, rng: &mut Rng) -> u64 {
        let node = self.node(id);
        let children = &self.joints[node.first_joint as usize..][..node.n_joint as usize];
        let is_untried = |&child: &NodeId| {
            child == NodeId::NONE
                || self.node(child).visits + u64::from(self.node(child).pending) == 0
        };
        // 002 plays out every child when a leaf is expanded; here they are tried one by one before anything else.
        let n_untried = children.iter().filter(|child| is_untried(child)).count();
        if n_untried > 0 {
            let wanted = rng.random_range(0..n_untried);
            let untried = children.iter().enumerate().filter(|(_, child)| is_untried(child));
            return untried.map(|(at, _)| at as u64).nth(wanted).expect("it was counted");
        }
        let visits = (node.visits + u64::from(node.pending)).max(1) as f64;
        let log_visits = f64::from(rough_log(visits as f32));
        let range = self.facts.range();
        let left = self.minimise_regret(id, |joint, role| {
            let child = children[joint];
            let rate = log_visits / (self.node(child).visits.max(1)) as f64;
            let spread = (self.variance(child, role) + (2.0 * rate).sqrt()).min(0.25);
            self.mean(child, role) + c * range * (rate * spread).sqrt()
        });
        let groups = &self.groups[self.groups_of(id)];
        groups.iter().zip(&left).fold(0, |choice, (group, left)| {
            let digit = if Some(group.role) == self.facts.nature {
                self.draw_outcome(group, rng)
            } else {
                left[rng.random_range(0..left.len())]
            };
            choice * u64::from(group.n) + digit as u64
        })
    }

    /// By group: the actions that survive iterated regret minimisation in the game of these payoffs.
    pub(super) fn minimise_regret(
        &self,
        id: NodeId,
        payoff: impl Fn(usize, agon_game::Role) -> f64,
    ) -> Vec<Vec<usize>> {
        let groups = &self.groups[self.groups_of(id)];
        let mut strides = vec![1_usize; groups.len()];
        for at in (0..groups.len() - 1).rev() {
            strides[at] = strides[at + 1] * groups[at + 1].n as usize;
        }
        let mut left: Vec<Vec<usize>> =
            groups.iter().map(|group| (0..group.n as usize).collect()).collect();
        loop {
            let mut after = left.clone();
            for (own, group) in groups.iter().enumerate() {
                if Some(group.role) == self.facts.nature {
                    continue;
                }
                let mut regrets = vec![0.0_f64; left[own].len()];
                // Every combination of what is left to the others.
                let mut at = vec![0_usize; groups.len()];
                'others: loop {
                    let others: usize = (0..groups.len())
                        .filter(|&other| other != own)
                        .map(|other| left[other][at[other]] * strides[other])
                        .sum();
                    let payoffs: Vec<f64> = left[own]
                        .iter()
                        .map(|&a| payoff(others + a * strides[own], group.role))
                        .collect();
                    let best = payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    for (regret, payoff) in regrets.iter_mut().zip(payoffs) {
                        *regret = regret.max(best - payoff);
                    }
                    for other in (0..groups.len()).filter(|&other| other != own) {
                        at[other] += 1;
                        if at[other] < left[other].len() {
                            continue 'others;
                        }
                        at[other] = 0;
                    }
                    break;
                }
                let least = regrets.iter().copied().fold(f64::INFINITY, f64::min);
                let kept = left[own].iter().zip(&regrets).filter(|&(_, &regret)| regret <= least);
                after[own] = kept.map(|(&a, _)| a).collect();
            }
            if after == left {
                return left;
            }
            left = after;
        }
    }
}

/// Which of some numbers is the greatest. Ties are broken at random: roles that broke them alike would see each other's moves only in certain pairs.
fn best_of(totals: &[f32], rng: &mut Rng) -> usize {
    let best = most(totals);
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

/// The greatest of some numbers, of which several are compared at a time.
fn most(numbers: &[f32]) -> f32 {
    let greater = |a: f32, b: f32| if a > b { a } else { b };
    let (eights, rest) = numbers.as_chunks::<8>();
    let mut abreast = [f32::NEG_INFINITY; 8];
    for eight in eights {
        for at in 0..8 {
            abreast[at] = greater(eight[at], abreast[at]);
        }
    }
    abreast.iter().chain(rest).fold(f32::NEG_INFINITY, |most, &number| greater(number, most))
}

/// The strategy that regrets call for: in proportion to them, or even if there are none.
fn strategy_of(mixes: &[Mix], weights: &mut Vec<f64>) {
    weights.clear();
    let total: f64 = mixes.iter().map(|mix| mix.regret).sum();
    weights.extend(
        mixes.iter().map(
            |mix| {
                if total > 0.0 { mix.regret / total } else { 1.0 / mixes.len() as f64 }
            },
        ),
    );
}
