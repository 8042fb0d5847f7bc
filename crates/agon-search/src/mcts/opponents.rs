//! What the other players want, by the evidence of the match.
//!
//! In a game without a constant sum it matters what the other players want. The tree knows our mean
//! payoff and theirs for each of their moves. So each move that another player makes tells how much
//! it has given up under each model: its regret. The model with the least regret in the match is
//! used for the next search.

use agon_game::{Position, Role, Shape};

use super::options::{Others, RELATIVE};
use super::tree::{NodeId, NodeKind, Tree};

/// The weight of our loss in what the others want, in each model. The last one is nearly paranoid:
/// a player without any interest of its own would leave no evidence.
const MODELS: [f64; 3] = [0.0, RELATIVE, 0.9];
/// A node must have this number of visits, or be solved, to be evidence.
const MIN_VISITS: u64 = 16;
/// The model is changed if another one has this much less regret, in parts of the payoff range.
const MARGIN: f64 = 0.05;

/// The models of what the other players want.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Opponents {
    /// The weight of our loss in what the others want.
    pub(crate) opposition: f64,
    is_adaptive: bool,
    regrets: [f64; MODELS.len()],
}

impl Opponents {
    pub(crate) fn new(others: Others, shape: &Shape) -> Opponents {
        Opponents {
            opposition: others.first_opposition(shape),
            is_adaptive: others == Others::Adaptive,
            regrets: [0.0; MODELS.len()],
        }
    }

    /// Takes the moves into account that lead from the node `before` to the root, which is one or
    /// two steps below it. Returns whether the model changes.
    pub(crate) fn learn<P: Position>(&mut self, tree: &Tree<P>, before: NodeId, us: Role) -> bool {
        if !self.is_adaptive || tree.facts.opposition != self.opposition {
            return false;
        }
        for (node, choice) in tree.path_to_root(before) {
            tree.add_model_regrets(node, choice, us, &mut self.regrets);
        }
        let regret = |opposition: f64| {
            let model = MODELS.iter().position(|&model| model == opposition);
            model.map_or(f64::INFINITY, |model| self.regrets[model])
        };
        // `min_by` returns the first of equals.
        let best = MODELS.into_iter().min_by(|&a, &b| regret(a).total_cmp(&regret(b)));
        let best = best.unwrap_or(self.opposition);
        let changes = regret(best) + MARGIN < regret(self.opposition);
        if changes {
            self.opposition = best;
        }
        changes
    }
}

impl<P: Position> Tree<P> {
    /// Returns the nodes and choices that lead from a node to the root, in at most two steps. The
    /// list is empty if there is no such path.
    fn path_to_root(&self, from: NodeId) -> Vec<(NodeId, u64)> {
        let to_root =
            |id: NodeId| self.known_children(id).into_iter().find(|&(_, child)| child == self.root);
        if let Some((choice, _)) = to_root(from) {
            return vec![(from, choice)];
        }
        for (choice, child) in self.known_children(from) {
            if let Some((next, _)) = to_root(child) {
                return vec![(from, choice), (child, next)];
            }
        }
        Vec::new()
    }

    /// Returns the choices at a node that lead to a known node, without those of sparse nodes.
    fn known_children(&self, id: NodeId) -> Vec<(u64, NodeId)> {
        let node = self.node(id);
        if !node.has_arms() {
            return Vec::new();
        }
        let n_choices = match node.kind {
            NodeKind::Terminal | NodeKind::Sparse => 0,
            NodeKind::Alone(_) => u64::from(node.n_arms),
            NodeKind::Joint => self.joint_children.of(node).len() as u64,
        };
        let children = (0..n_choices).map(|choice| (choice, self.child(id, choice)));
        children.filter(|&(_, child)| child != NodeId::NONE).collect()
    }

    /// Adds how much each of the other players has given up by its move, in each model and in parts
    /// of the payoff range.
    fn add_model_regrets(&self, id: NodeId, choice: u64, us: Role, regrets: &mut [f64]) {
        let known = |choice: u64| {
            let child = self.child(id, choice);
            let is_known =
                |child: NodeId| self.node(child).visits >= MIN_VISITS || self.is_solved(child);
            (child != NodeId::NONE && is_known(child)).then_some(child)
        };
        let Some(made) = known(choice) else { return };
        let mut stride = 1;
        for group in self.groups.of(self.node(id)).iter().rev() {
            let n = u64::from(group.n);
            let (own, first) = (choice / stride % n, choice - choice / stride % n * stride);
            if group.role != us && !self.facts.is_nature(group.role) && n > 1 {
                let others = (0..n).filter(|&other| other != own);
                let others: Vec<NodeId> =
                    others.filter_map(|other| known(first + other * stride)).collect();
                for (regret, &model) in regrets.iter_mut().zip(&MODELS) {
                    let value = |child: NodeId| self.value_in_model(child, us, group.role, model);
                    let best = others.iter().filter_map(|&child| value(child));
                    let best = best.fold(f64::NEG_INFINITY, f64::max);
                    if let Some(got) = value(made) {
                        *regret += (best - got).max(0.0) / self.facts.range();
                    }
                }
            }
            stride *= n;
        }
    }

    /// Returns what another player wants at a node, if it weighs our loss by `model`.
    fn value_in_model(&self, id: NodeId, us: Role, role: Role, model: f64) -> Option<f64> {
        let ours = self.mean(id, us);
        let own = self.facts.own_payoff(self.mean(id, role), ours)?;
        let against = self.facts.min + self.facts.max - ours;
        Some(own + model * (against - own))
    }
}
