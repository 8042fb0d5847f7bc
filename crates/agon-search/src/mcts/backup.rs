//! The way back up: what came of a leaf is added to every position on the way to it.

use agon_game::{Position, Role};

use super::node::{Average, Kind, NO_TABLE, NodeId, Proof};
use super::options::{Amaf, MctsOptions};
use super::select::Step;
use super::tree::Tree;

/// A position gets a table of all moves as first when it has been visited so often: most are never visited again.
const TABLE_FROM: u64 = 5;
/// There are so many tables at most.
const MAX_TABLES: usize = 10_000;
const _: () = assert!(MAX_TABLES < NO_TABLE as usize);

/// What came of the playouts from a leaf.
pub(super) struct Outcome<'a> {
    /// How many playouts it stands for.
    pub(super) n: u32,
    /// By role: the sum of the payoffs.
    pub(super) sums: &'a mut [f64],
    /// By role: the sum of their squares.
    pub(super) squares: &'a mut [f64],
}

impl<P: Position> Tree<P> {
    /// Adds the outcome of a step's child, which has it already, to the position where the step is made. What is proved of the child
    /// counts more than what was sampled there: the outcome is made to fit.
    #[inline(always)]
    pub(super) fn back_up(&mut self, step: Step, outcome: &mut Outcome<'_>) {
        let n_roles = self.facts.n_roles;
        let id = step.node;
        let child = self.child(id, step.choice);
        let n = f64::from(outcome.n);
        let is_narrowed = self.nodes[child.index()].proof != Proof::None;
        for role in (0..n_roles).filter(|_| is_narrowed) {
            let [lo, hi] = self.bound(child, Role::new(role));
            let sum = outcome.sums[role].clamp(lo * n, hi * n);
            if sum != outcome.sums[role] {
                outcome.sums[role] = sum;
                outcome.squares[role] = sum * sum / n;
            }
        }
        self.add_outcome(id, outcome);
        if self.has_implicit {
            self.imply(id);
        }
        let node = &mut self.nodes[id.index()];
        node.pending -= step.marked;
        match node.kind {
            Kind::Ended => unreachable!("no step leads away from an end"),
            Kind::Alone(role) => {
                let at = node.first_arm as usize + step.choice as usize;
                let has_open = node.has_open;
                let mean = self.mean(child, role);
                let variance = if self.wants_variance { self.variance(child, role) } else { 0.0 };
                let arm = &mut self.arms[at];
                arm.visits = arm.visits.saturating_add(outcome.n);
                arm.pending -= step.marked;
                arm.mean = mean as f32;
                arm.variance = variance as f32;
                self.score(at, has_open, mean as f32);
                if self.solver && is_narrowed {
                    // Other roles may learn something too where this one does not, as under nature.
                    let [lo, hi] = self.bound(child, role);
                    let [known_lo, known_hi] = self.arm_bound(id, at);
                    let is_news = lo > known_lo || hi < known_hi;
                    let is_chance = Some(role) == self.facts.nature;
                    let is_settled = self.is_settled(child) && !self.arms[at].is_settled;
                    self.arms[at].is_settled |= is_settled;
                    if is_news || is_chance || is_settled {
                        self.tighten(id);
                    }
                }
            }
            Kind::Joint | Kind::Sparse => {
                let is_tabled = node.kind == Kind::Joint;
                self.add_to_arms(step, outcome);
                if is_tabled && self.has_mixes {
                    self.add_regrets(id, step.choice);
                }
                if is_tabled && self.solver && is_narrowed && self.is_news(id, step.choice, child) {
                    self.tighten(id);
                }
            }
        }
    }

    /// Takes a mark back that nothing came of.
    pub(super) fn unmark(&mut self, step: Step) {
        let node = &mut self.nodes[step.node.index()];
        node.pending -= step.marked;
        if let Kind::Alone(role) = node.kind {
            let (at, has_open) = (node.first_arm as usize + step.choice as usize, node.has_open);
            self.arms[at].pending -= step.marked;
            let mean = self.mean(step.node, role) as f32;
            self.score(at, has_open, mean);
            return;
        }
        self.mark_together(step.node, step.choice, |pending| *pending -= step.marked);
    }

    /// Adds an outcome to one position.
    #[inline]
    pub(super) fn add_outcome(&mut self, id: NodeId, outcome: &Outcome<'_>) {
        let n_roles = self.facts.n_roles;
        let start = id.index() * n_roles;
        self.nodes[id.index()].visits += u64::from(outcome.n);
        for (known, sum) in self.sums[start..start + n_roles].iter_mut().zip(&*outcome.sums) {
            *known += sum;
        }
        if self.wants_variance {
            for (known, square) in
                self.squares[start..start + n_roles].iter_mut().zip(&*outcome.squares)
            {
                *known += square;
            }
        }
    }

    fn add_to_arms(&mut self, step: Step, outcome: &Outcome<'_>) {
        let id = step.node;
        let range = self.facts.range();
        let min = self.facts.min;
        let node = self.node(id);
        let first_arm = node.first_arm as usize;
        let mut left = step.choice;
        for at in self.groups_of(id).rev() {
            let group = self.groups[at];
            let digit = (left % u64::from(group.n)) as usize;
            left /= u64::from(group.n);
            let role = group.role.index();
            let at = first_arm + group.first as usize + digit;
            let arm = &mut self.arms[at];
            arm.pending -= step.marked;
            arm.visits = arm.visits.saturating_add(outcome.n);
            let n = f64::from(outcome.n);
            let weight = n / f64::from(arm.visits);
            let mean = outcome.sums[role] / n;
            let square =
                (outcome.squares[role] / n - 2.0 * mean * min + min * min) / (range * range);
            let scaled = (f64::from(arm.mean) - min) / range;
            let known_square = f64::from(arm.variance) + scaled * scaled;
            // The first mean is that of nothing.
            let known = if arm.visits == outcome.n { mean } else { f64::from(arm.mean) };
            let known_square = if arm.visits == outcome.n { square } else { known_square };
            let mean = known + (mean - known) * weight;
            let square = known_square + (square - known_square) * weight;
            let scaled = (mean - min) / range;
            arm.mean = mean as f32;
            arm.variance = (square - scaled * scaled).max(0.0) as f32;
            self.score_decoupled(id, group.role, at);
        }
    }

    /// All moves as first: `record` are the moves of the playout, from the leaf on; those of the steps are added from the
    /// leaf upwards.
    pub(super) fn learn_moves(
        &mut self,
        steps: &[Step],
        record: &[(Role, P::Move)],
        payoffs: &[f64],
        options: &MctsOptions,
        seen: &mut Seen,
    ) {
        if options.amaf == Amaf::Off {
            return;
        }
        seen.begin();
        for (role, m) in record {
            seen.add(self.numbering.number(*role, m));
        }
        for step in steps.iter().rev() {
            for arm in self.chosen_arms(step.node, step.choice) {
                seen.add(self.numbers[arm]);
            }
            let arms = self.arms_of(step.node);
            match options.amaf {
                Amaf::Off => return,
                Amaf::Rave { .. } => {
                    for arm in arms {
                        let number = self.numbers[arm];
                        if seen.contains(number) {
                            let role = self.numbering.role(number);
                            self.amaf[arm].add(payoffs[role.index()]);
                        }
                    }
                }
                Amaf::Grave { .. } => {
                    let node = &mut self.nodes[step.node.index()];
                    if node.table == NO_TABLE
                        && node.visits >= TABLE_FROM
                        && self.tables.len() < MAX_TABLES
                    {
                        node.table = self.tables.len() as u16;
                        self.tables.push(vec![Average::default()]);
                    }
                    if node.table == NO_TABLE {
                        continue;
                    }
                    let table = &mut self.tables[node.table as usize];
                    table.resize(self.numbering.len() + 1, Average::default());
                    // The first entry counts the playouts.
                    table[0].n += 1.0;
                    for &number in &seen.list {
                        let role = self.numbering.role(number);
                        table[number as usize + 1].add(payoffs[role.index()]);
                    }
                }
            }
        }
    }
}

/// A set of numbers that is emptied at once.
#[derive(Default)]
pub(super) struct Seen {
    stamps: Vec<u32>,
    stamp: u32,
    list: Vec<u32>,
}

impl Seen {
    fn begin(&mut self) {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.stamps.clear();
            self.stamp = 1;
        }
        self.list.clear();
    }

    fn add(&mut self, number: u32) {
        let at = number as usize;
        if at >= self.stamps.len() {
            self.stamps.resize(at + 1, 0);
        }
        if self.stamps[at] != self.stamp {
            self.stamps[at] = self.stamp;
            self.list.push(number);
        }
    }

    fn contains(&self, number: u32) -> bool {
        self.stamps.get(number as usize) == Some(&self.stamp)
    }
}
