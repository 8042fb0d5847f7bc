//! The way down the tree: which move each role makes at a position that is known.

use agon_game::{Position, Rng, Role};
use rand::RngExt;

use super::node::{Arm, Average, Kind, NO_ARMS, NO_TABLE, Node, NodeId, Prospect};
use super::options::{Amaf, Bandit, FirstPlay, MctsOptions};
use super::policy::Policy;
use super::tree::Tree;

/// A step of a descent.
#[derive(Copy, Clone, Debug)]
pub(super) struct Step {
    pub(super) node: NodeId,
    /// The number of the joint move.
    pub(super) choice: u64,
    /// The step before it, by number.
    pub(super) before: u32,
    /// How many playouts it was marked for.
    pub(super) marked: u32,
}

impl Step {
    /// Before the first step.
    pub(super) const NONE: u32 = u32::MAX;
}

/// Where a descent has ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At a move that leads out of the tree.
    Open,
    /// At a position of which all is known.
    Exact(NodeId),
    /// At a position that the same descent has met before: it goes round in a circle, and is played out from here.
    Again(NodeId),
}

/// Descents longer than this are played out from where they are, as circles are.
pub(super) const MAX_DEPTH: usize = 2000;

/// What choosing needs beside the tree.
pub(super) struct Chooser<'a, M> {
    pub(super) options: &'a MctsOptions,
    pub(super) rng: &'a mut Rng,
    /// What playouts have learnt, if they learn.
    pub(super) policy: Option<&'a mut Policy<M>>,
    pub(super) scratch: &'a mut Vec<f64>,
    /// What the moves of a role count, while it chooses.
    pub(super) totals: &'a mut Vec<f32>,
    /// How long a heuristic is believed, if there is one.
    pub(super) k: f64,
    /// How many times the usual exploration: see [`breadth`].
    pub(super) breadth: f32,
}

/// As many playouts from one leaf tell less than if each were from another, so where there are more than usual, exploration has
/// to shrink more slowly: as if only the usual number had been made.
pub(super) fn breadth(playouts: u32) -> f32 {
    /// Up to here it makes no difference that was measured.
    const USUAL: f32 = 32.0;
    (playouts as f32 / USUAL).max(1.0).sqrt()
}

impl<P: Position> Tree<P> {
    /// Goes down from the root, one way for one playout.
    pub(super) fn descend(
        &mut self,
        steps: &mut Vec<Step>,
        chooser: &mut Chooser<'_, P::Move>,
    ) -> End {
        self.last_stamp = self.last_stamp.wrapping_add(1).max(1);
        let start = steps.len();
        let mut reference = None;
        let mut id = self.root;
        loop {
            let node = &mut self.nodes[id.index()];
            if node.kind == Kind::Ended {
                return End::Exact(id);
            }
            if node.stamp == self.last_stamp || steps.len() - start >= MAX_DEPTH {
                return End::Again(id);
            }
            node.stamp = self.last_stamp;
            // The root is searched on where its own value is known, but not what its moves are worth.
            if self.solver && id != self.root && self.is_settled(id) {
                return End::Exact(id);
            }
            if let Amaf::Grave { reference: enough, .. } = chooser.options.amaf {
                let table = self.nodes[id.index()].table;
                if table != NO_TABLE && self.tables[table as usize][0].n >= enough as f32 {
                    reference = Some(table as usize);
                }
            }
            self.grow_arms(id);
            let choice = match self.node(id).kind {
                Kind::Ended => unreachable!("such a descent has ended"),
                Kind::Alone(role) if Some(role) == self.facts.nature => self.due_outcome(id),
                Kind::Alone(role) => self.choose_alone(id, role, reference, chooser) as u64,
                Kind::Joint | Kind::Sparse => self.choose_together(id, chooser),
            };
            let child = self.child(id, choice);
            if child != NodeId::NONE {
                self.ask_for(id, choice, child);
            }
            let before = if steps.len() == start { Step::NONE } else { steps.len() as u32 - 1 };
            steps.push(Step { node: id, choice, before, marked: 1 });
            if child == NodeId::NONE {
                return End::Open;
            }
            id = child;
        }
    }

    /// Reads what is looked at next, all at the same time: in a large tree it has to come from afar, and where its arms are would
    /// be known only when the position has come.
    #[inline]
    pub(super) fn ask_for(&self, id: NodeId, choice: u64, child: NodeId) {
        let node = self.node(id);
        if let Kind::Alone(_) = node.kind {
            let first = self.scores[node.first_arm as usize + choice as usize].child_arms as usize;
            let value = |at: usize| self.scores.get(at).map_or(0.0, |score| score.value);
            std::hint::black_box((
                self.node(child).visits,
                value(first),
                value(first.wrapping_add(4)),
            ));
        } else {
            std::hint::black_box(self.node(child).visits);
        }
    }

    /// Reads the scores of a position where several roles choose, which is asked for before that and gone on from soon.
    #[inline]
    pub(super) fn ask_arms(&self, id: NodeId) {
        /// As many lie in a line of memory.
        const IN_A_LINE: usize = 4;
        /// So many lines are asked for at most.
        const LINES: usize = 12;
        let node = self.node(id);
        if node.kind != Kind::Joint || node.first_arm == NO_ARMS {
            return;
        }
        let scores = &self.scores[node.first_arm as usize..][..node.n_arms as usize];
        let values = scores.iter().step_by(IN_A_LINE).take(LINES).map(|score| score.value);
        std::hint::black_box(values.fold(0.0, f32::max));
    }

    /// Reads what steps will need that are backed up soon, those before this one: first their positions, then, when these should have
    /// come, what lies elsewhere. With several threads most of it was last written by another one.
    #[inline]
    pub(super) fn ask_ahead(&self, steps: &[Step], at: usize) {
        const FAR: usize = 12;
        const NEAR: usize = 6;
        if let Some(step) = at.checked_sub(FAR).map(|far| &steps[far]) {
            std::hint::black_box(self.node(step.node).visits);
        }
        if let Some(step) = at.checked_sub(NEAR).map(|near| &steps[near]) {
            let sum = self.sums[step.node.index() * self.facts.n_roles];
            let arm = self.node(step.node).first_arm as usize + step.choice as usize;
            let visits = self.arms.get(arm).map(|arm| arm.visits);
            std::hint::black_box((sum, visits, self.scores.get(arm).map(|score| score.value)));
        }
    }

    /// Marks a step as being on the way of `n` playouts that are not back yet.
    #[inline(always)]
    pub(super) fn mark(&mut self, id: NodeId, choice: u64, n: u32) {
        let node = &mut self.nodes[id.index()];
        node.pending += n;
        if let Kind::Alone(role) = node.kind {
            let (at, has_open) = (node.first_arm as usize + choice as usize, node.has_open);
            self.arms[at].pending += n;
            // A move that nothing is known of counts what the position does.
            let mean = if self.arms[at].visits == 0 { self.mean(id, role) as f32 } else { 0.0 };
            self.score(at, has_open, mean);
            return;
        }
        self.mark_together(id, choice, |pending| *pending += n);
    }

    /// The same where several roles choose: `note` is told the number of playouts under way of each move that makes up the joint one.
    pub(super) fn mark_together(&mut self, id: NodeId, choice: u64, note: impl Fn(&mut u32)) {
        let first_arm = self.node(id).first_arm as usize;
        let mut left = choice;
        for at in self.groups_of(id).rev() {
            let group = self.groups[at];
            let arm = first_arm + group.first as usize + (left % u64::from(group.n)) as usize;
            left /= u64::from(group.n);
            note(&mut self.arms[arm].pending);
            self.score_decoupled(id, group.role, arm);
        }
    }

    /// Works out anew what a role that chooses together with others needs to know of an arm.
    #[inline]
    pub(super) fn score_decoupled(&mut self, id: NodeId, role: Role, at: usize) {
        let arm = &self.arms[at];
        let n = (arm.visits + arm.pending) as f32;
        let (value, spread) = if n == 0.0 {
            (f32::INFINITY, 0.0)
        } else {
            let known = if arm.visits > 0 { arm.mean } else { self.mean(id, role) as f32 };
            (known, 1.0 / n.sqrt())
        };
        let score = &mut self.scores[at];
        (score.value, score.spread) = (value, spread);
        score.set_variance(arm.variance);
    }

    /// Works out the score of an arm anew, when it or what is proved about its position has changed. The mean is that of
    /// the position, for moves of which nothing is known yet.
    #[inline]
    pub(super) fn score(&mut self, at: usize, has_open: bool, mean: f32) {
        let arm = &self.arms[at];
        // Nothing is to be learnt from a move that cannot be better than what is sure already. If that goes for all, the
        // role plays on with those that are not worse.
        let worst = if has_open { Prospect::Open } else { Prospect::Level };
        let n = (arm.visits + arm.pending) as f32;
        let (value, spread) = if arm.prospect != Prospect::Open && arm.prospect != worst {
            (f32::NEG_INFINITY, 0.0)
        } else if n == 0.0 {
            (f32::INFINITY, 0.0)
        } else {
            let mean = if arm.visits > 0 { arm.mean } else { mean };
            let lost = self.virtual_loss * (mean - self.facts.min as f32) * arm.pending as f32 / n;
            (mean - lost, 1.0 / n.sqrt())
        };
        (self.scores[at].value, self.scores[at].spread) = (value, spread);
    }

    /// The arms that make up a joint move.
    pub(super) fn chosen_arms(&self, id: NodeId, choice: u64) -> Vec<usize> {
        let mut arms = Vec::with_capacity(self.node(id).n_groups as usize);
        self.visit_choice(id, choice, |_, arm| arms.push(arm));
        arms
    }

    /// The outcome of chance that has come up too seldom so far: this varies less than drawing lots.
    pub(super) fn due_outcome(&self, id: NodeId) -> u64 {
        let node = self.node(id);
        let total = (node.visits + u64::from(node.pending) + 1) as f64;
        let mut best = (f64::NEG_INFINITY, 0);
        let chances = self.chances_of(&self.groups[node.first_group as usize]);
        for (at, (arm, chance)) in self.arms[self.arms_of(id)].iter().zip(chances).enumerate() {
            let lack = chance * total - f64::from(arm.visits) - f64::from(arm.pending);
            if lack > best.0 {
                best = (lack, at as u64);
            }
        }
        best.1
    }

    /// The best arm of a role that chooses alone.
    pub(super) fn choose_alone(
        &mut self,
        id: NodeId,
        role: Role,
        reference: Option<usize>,
        chooser: &mut Chooser<'_, P::Move>,
    ) -> usize {
        let node = self.node(id);
        let arms = self.arms_of(id);
        let (first_arm, n_arms) = (arms.start, arms.len());
        if n_arms == 1 {
            return 0;
        }
        if let (Bandit::Ucb1 { c }, Amaf::Off, FirstPlay::First, None) = (
            chooser.options.bandit,
            chooser.options.amaf,
            chooser.options.first_play,
            &chooser.policy,
        ) && !self.is_judged(first_arm)
            && !self.has_implicit
        {
            return self.choose_plainly(node, c as f32 * chooser.breadth);
        }
        // As for scores.
        let has_open = node.has_open;
        let is_worth = |arm: &Arm| {
            if has_open { arm.prospect == Prospect::Open } else { arm.prospect != Prospect::Worse }
        };
        if let Some(policy) = chooser.policy.as_deref_mut()
            && chooser.options.amaf == Amaf::Off
            && chooser.options.first_play == FirstPlay::First
        {
            let untried = |arm: &Arm| arm.visits == 0 && arm.pending == 0 && is_worth(arm);
            let numbers =
                self.arms[arms.clone()].iter().enumerate().filter(|(_, arm)| untried(arm));
            let numbers: Vec<usize> = numbers.map(|(at, _)| at).collect();
            if !numbers.is_empty() {
                let moves = self.moves_of(id);
                return numbers
                    [policy.choose_among(role, moves, &numbers, chooser.rng, chooser.scratch)];
            }
        }
        let visits = (node.visits + u64::from(node.pending)).max(1) as f64;
        let view = View {
            log_visits: rough_log(visits as f32),
            range: self.facts.range() as f32,
            min: self.facts.min as f32,
            mean: self.mean(id, role) as f32,
            options: chooser.options,
            beta: match chooser.options.amaf {
                Amaf::Rave { k } => (k / (3.0 * visits + k)).sqrt() as f32,
                Amaf::Off | Amaf::Grave { .. } => 0.0,
            },
            trust: if self.has_implicit {
                chooser.options.heuristic.implicit as f32
            } else {
                trust(chooser.k, visits) as f32
            },
            breadth: chooser.breadth,
        };
        let is_judged = self.is_judged(first_arm);
        if let (Bandit::Ucb1 { c }, Amaf::Off, FirstPlay::First, false) =
            (chooser.options.bandit, chooser.options.amaf, chooser.options.first_play, is_judged)
            && !self.has_implicit
        {
            return self.choose_plainly(node, c as f32 * chooser.breadth);
        }
        let table = reference.map(|table| &self.tables[table]);
        let mut best = (f32::NEG_INFINITY, 0);
        let turn = first_in_turn(node);
        for at in (turn..n_arms).chain(0..turn) {
            let arm = &self.arms[first_arm + at];
            if !is_worth(arm) {
                continue;
            }
            let amaf = match chooser.options.amaf {
                Amaf::Off => Average::default(),
                Amaf::Rave { .. } => self.amaf[first_arm + at],
                Amaf::Grave { .. } => table
                    .and_then(|table| table.get(self.numbers[first_arm + at] as usize + 1))
                    .copied()
                    .unwrap_or_default(),
            };
            let prior = match self.scores[first_arm + at].child {
                NodeId::NONE if self.has_implicit => None,
                child if self.has_implicit => {
                    Some(self.implicit[child.index() * self.facts.n_roles + role.index()])
                }
                _ => is_judged.then(|| self.priors[first_arm + at]),
            };
            let score = view.score(arm, amaf, prior);
            if score > best.0 {
                best = (score, at);
            }
        }
        best.1
    }
}

impl<P: Position> Tree<P> {
    /// UCB1 and nothing else: what most searches do most of the time.
    fn choose_plainly(&self, node: &Node, c: f32) -> usize {
        let visits = (node.visits + u64::from(node.pending)) as f32;
        let explore = c * self.facts.range() as f32 * rough_log(visits).sqrt();
        let scores = &self.scores[node.first_arm as usize..][..node.n_arms as usize];
        let turn = first_in_turn(node);
        let mut best = (f32::NEG_INFINITY, turn);
        for (from, scores) in [(turn, &scores[turn..]), (0, &scores[..turn])] {
            for (at, score) in scores.iter().enumerate() {
                let score = score.value + explore * score.spread;
                if score > best.0 {
                    best = (score, from + at);
                }
            }
        }
        best.1
    }
}

/// The weight of what was judged before it was tried, at a position with so many visits (003, 2.3.3).
pub(super) fn trust(k: f64, visits: f64) -> f64 {
    (k / (3.0 * visits + k).max(f64::MIN_POSITIVE)).sqrt()
}

impl<P: Position> Tree<P> {
    /// Whether something is said of the moves among which this arm is.
    #[inline]
    pub(super) fn is_judged(&self, arm: usize) -> bool {
        self.has_priors && self.priors[arm].is_finite()
    }
}

/// Moves that go first do so in an order that differs from position to position: the number of the first of all.
pub(super) fn first_in_turn(node: &Node) -> usize {
    (((node.key >> 32) * u64::from(node.n_arms)) >> 32) as usize
}

/// The natural logarithm to about 0.001, which is more than enough here, and much faster than to the last bit.
pub(super) fn rough_log(x: f32) -> f32 {
    let bits = x.max(1.0).to_bits();
    let exponent = (bits >> 23) as f32 - 127.0;
    let mantissa = f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000);
    // The logarithm to base 2 of 1 to 2 by a cubic that is exact at both ends.
    let t = mantissa - 1.0;
    let log2 = exponent + t * (1.425_1 + t * (-0.585_4 + t * 0.160_3));
    log2 * std::f32::consts::LN_2
}

/// What scoring an arm needs to know of its position.
struct View<'a> {
    log_visits: f32,
    range: f32,
    min: f32,
    mean: f32,
    beta: f32,
    /// The weight of what was judged beforehand.
    trust: f32,
    breadth: f32,
    options: &'a MctsOptions,
}

impl View<'_> {
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
            Amaf::Rave { .. } => self.beta,
            Amaf::Grave { bias, .. } => amaf.n / (amaf.n + n + bias as f32 * amaf.n * n).max(1.0),
        };
        let beta = if arm.visits == 0 && amaf.n > 0.0 { 1.0 } else { beta };
        let found = (1.0 - beta) * own + beta * amaf.mean;
        let mixed = prior.map_or(found, |prior| (1.0 - self.trust) * found + self.trust * prior);
        mixed + self.exploration(n.max(1.0), arm.variance)
    }

    #[inline]
    fn exploration(&self, n: f32, variance: f32) -> f32 {
        let rate = self.log_visits / n;
        let scale = self.breadth * self.range;
        match self.options.bandit {
            Bandit::Ucb1 { c } => c as f32 * scale * rate.sqrt(),
            Bandit::Ucb1Tuned { c } => {
                c as f32 * scale * (rate * (variance + (2.0 * rate).sqrt()).min(0.25)).sqrt()
            }
        }
    }
}

/// Draws an index in proportion to weights that are not all zero.
pub(super) fn draw(weights: &[f64], rng: &mut Rng) -> usize {
    let total: f64 = weights.iter().sum();
    let mut left = rng.random::<f64>() * total;
    for (at, &weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return at;
        }
    }
    // Rounding may leave a crumb: it goes to the last that has any weight.
    weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
}
