//! The goals of a rule that are not ordered yet, cheapest first.

use std::collections::BTreeSet;

use crate::program::Goal;

/// The goals that are left, by their costs. A goal is judged again only when one of its variables
/// has become bound, because a rule may have thousands of goals. Ties are broken by the order in
/// the rule.
pub(crate) struct Agenda {
    /// By goal: its cost, if it is left and can be evaluated.
    costs: Vec<Option<u64>>,
    is_left: Vec<bool>,
    n_left: usize,
    by_cost: BTreeSet<(u64, usize)>,
    /// By variable: the goals in which it occurs.
    goals_with: Vec<Vec<usize>>,
}

impl Agenda {
    /// Makes an agenda of the goals of a body for which `is_wanted` holds. None of them has a cost.
    pub(crate) fn new(
        body: &[Goal],
        n_variables: usize,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Agenda {
        let is_left: Vec<bool> = (0..body.len()).map(is_wanted).collect();
        let mut goals_with: Vec<Vec<usize>> = vec![Vec::new(); n_variables];
        for (i, goal) in body.iter().enumerate().filter(|&(i, _)| is_left[i]) {
            goal.each_variable(&mut |v| goals_with[v as usize].push(i));
        }
        Agenda {
            costs: vec![None; body.len()],
            n_left: is_left.iter().filter(|&&left| left).count(),
            is_left,
            by_cost: BTreeSet::new(),
            goals_with,
        }
    }

    /// Returns the goals that are left, in the order of the rule.
    pub(crate) fn left(&self) -> Vec<usize> {
        (0..self.is_left.len()).filter(|&goal| self.is_left[goal]).collect()
    }

    /// Returns whether no goal is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.n_left == 0
    }

    /// Sets the cost of a goal, or that it cannot be evaluated yet.
    pub(crate) fn set_cost(&mut self, goal: usize, cost: Option<f64>) {
        // The bits of numbers that are not negative have the order of the numbers.
        let cost = cost.map(|cost| {
            debug_assert!(cost >= 0.0, "costs are expected numbers of solutions");
            cost.to_bits()
        });
        if let Some(old) = std::mem::replace(&mut self.costs[goal], cost) {
            self.by_cost.remove(&(old, goal));
        }
        self.by_cost.extend(cost.map(|cost| (cost, goal)));
    }

    /// Takes the cheapest goal, or returns `None` if no goal can be evaluated.
    pub(crate) fn pop(&mut self) -> Option<usize> {
        let (_, goal) = self.by_cost.pop_first()?;
        self.costs[goal] = None;
        self.is_left[goal] = false;
        self.n_left -= 1;
        Some(goal)
    }

    /// Returns the goals that are left and have one of these variables, each once.
    pub(crate) fn goals_with(&self, variables: &[u32]) -> BTreeSet<usize> {
        let goals = variables.iter().flat_map(|&v| &self.goals_with[v as usize]);
        goals.copied().filter(|&goal| self.is_left[goal]).collect()
    }
}
