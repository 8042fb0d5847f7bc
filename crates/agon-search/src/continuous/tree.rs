//! The tree of generalised UCT (Kaiser & Stafiniak 2010).

use std::collections::BTreeMap;

use agon_game::{Continuous, Position, Role};
use rand::RngExt as _;

use super::actions::{Actions, Arm};
use super::equilibrium::{next_profile, proportional};
use super::evaluation::{draw_index, payoffs};
use super::play::{Play, sample_arms};
use super::regret::NormalForm;
use super::statistics::{Confidence, Statistics};
use super::{VisitedMove, widening};
use crate::Line;
use crate::scale::payoff_scale;

/// A tree of positions. The nodes of all roots share one list.
pub(super) struct Tree<P: Position> {
    pub(super) nodes: Vec<Node<P>>,
    confidence: Confidence,
    n_roles: usize,
    nature: Option<Role>,
    /// A node, and the states after some of its joint actions, which were computed in advance.
    ahead: (usize, BTreeMap<Vec<u32>, P::State>),
}

/// A position that is not terminal.
pub(super) struct Node<P: Position> {
    pub(super) state: P::State,
    /// The players with more than one action.
    pub(super) choosers: Vec<Chooser<P::Move>>,
    /// A joint move that is right for roles without a choice.
    joint: Vec<P::Move>,
    /// The joint actions that were tried, by the arm of each chooser.
    pub(super) edges: BTreeMap<Vec<u32>, Edge<P::Move>>,
    /// Number of plays through this node, n(v).
    pub(super) n_plays: f64,
    is_expanded: bool,
}

/// A player that chooses at a node.
pub(super) struct Chooser<M> {
    pub(super) role: Role,
    pub(super) actions: Actions<M>,
    pub(super) arms: Vec<Arm<M>>,
    /// By arm: the cumulative regret, where moves are chosen by regret matching.
    regrets: Vec<f64>,
}

/// A joint action of the choosers, with the recorded payoffs of the plays through it.
pub(super) struct Edge<M> {
    pub(super) statistics: Statistics,
    /// Whether the payoffs are known, because play ends here and nature has no part in it.
    pub(super) is_exact: bool,
    outcomes: Vec<Outcome<M>>,
}

/// The result of a joint action for a move of nature.
struct Outcome<M> {
    /// `None` if there is no nature.
    nature: Option<M>,
    n_plays: u64,
    next: Next,
    /// The payoffs of the plays through it, with their numbers, if they are recorded.
    payoffs: Vec<(Vec<f64>, u64)>,
}

/// Where a joint move leads.
#[derive(Clone)]
enum Next {
    End(Vec<f64>),
    Node(usize),
    /// A position that got no node, because the tree is full.
    Outside,
}

/// How actions are chosen at a node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Rule {
    /// At most one player chooses among listed moves: the largest upper confidence bound.
    Maximise,
    /// One player chooses, with parameters: the same, and new arms are added (widening).
    Widen,
    /// Players choose among few joint actions: iterated regret minimisation on the matrix of upper
    /// confidence bounds.
    Regret,
    /// Players choose at the same time, with parameters: regret matching on a few arms each.
    Matching,
}

/// Probability of a uniformly drawn arm where moves are chosen by regret matching.
const MATCHING_EXPLORATION: f64 = 0.2;

/// Number of joint actions whose states are computed side by side.
pub(super) const N_AHEAD: usize = 8;

/// Maximum number of joint moves of a line.
const MAX_LINE: usize = 16;

impl<P: Continuous> Tree<P> {
    pub(super) fn new(position: &P, exploration: f64) -> Tree<P> {
        let range = &payoff_scale(position);
        let n_roles = position.shape().role_names.len();
        let confidence = Confidence::new(range, exploration);
        let (nodes, ahead) = (Vec::new(), (0, BTreeMap::new()));
        Tree { nodes, confidence, n_roles, nature: position.shape().nature, ahead }
    }

    /// Adds a node for a position and returns its index. `n_plays` is the number of plays that it
    /// starts with.
    pub(super) fn add_node(&mut self, position: &P, n_plays: f64) -> usize {
        let shape = position.shape();
        let mut choosers = Vec::new();
        for role in shape.players() {
            let actions = Actions::at(position, role);
            if actions.has_choice() {
                let (arms, regrets) = (Vec::new(), Vec::new());
                choosers.push(Chooser { role, actions, arms, regrets });
            }
        }
        self.nodes.push(Node {
            state: position.state().clone(),
            choosers,
            joint: shape.roles().map(|role| position.legal_moves(role)[0].clone()).collect(),
            edges: BTreeMap::new(),
            n_plays,
            is_expanded: false,
        });
        self.nodes.len() - 1
    }

    /// Plays the game once from a node: through the tree, with one leaf extended by all of its
    /// actions, and then to the end by the evaluation game alone. Records the payoffs along the
    /// path. Returns `None` if the budget ends first.
    pub(super) fn play(&mut self, play: &mut Play<'_, '_, P>, from: usize) -> Option<Vec<f64>> {
        let mut path: Vec<(usize, Vec<u32>, usize)> = Vec::new();
        let mut at = from;
        let result = loop {
            let is_leaf = !self.nodes[at].is_expanded;
            play.before.go_to(&self.nodes[at].state);
            if is_leaf {
                self.expand(play, at)?;
            }
            let key = self.select(play, at)?;
            let (outcome, next) = self.follow(play, at, &key);
            path.push((at, key, outcome));
            match next {
                Next::End(payoffs) => break payoffs,
                Next::Node(child) if !is_leaf => at = child,
                Next::Node(_) | Next::Outside => break play.play_out()?,
            }
        };
        play.depth = play.depth.max(path.len() as u32);
        for (at, key, outcome) in path.iter().rev() {
            self.record(play, *at, key, *outcome, &result)?;
        }
        Some(result)
    }

    /// Plays once through a joint action of a node, and records the payoffs there and below.
    pub(super) fn play_edge(
        &mut self,
        play: &mut Play<'_, '_, P>,
        at: usize,
        key: &[u32],
    ) -> Option<Vec<f64>> {
        play.before.go_to(&self.nodes[at].state);
        self.nodes[at].edges.entry(key.to_vec()).or_insert_with(|| Edge::new(self.n_roles));
        let (outcome, next) = self.follow(play, at, key);
        let result = match next {
            Next::End(payoffs) => payoffs,
            Next::Node(child) => self.play(play, child)?,
            Next::Outside => play.play_out()?,
        };
        let edge = self.nodes[at].edges.get_mut(key).expect("the edge was added");
        edge.statistics.record(&result);
        if play.options.record_from.is_some() {
            edge.outcomes[outcome].record(&result);
        }
        self.nodes[at].n_plays += 1.0;
        Some(result)
    }

    /// Computes the states after joint actions of a node side by side, so that assessing them next
    /// takes less time. Does nothing where nature has a part in them.
    pub(super) fn look_ahead(&mut self, play: &mut Play<'_, '_, P>, at: usize, keys: &[Vec<u32>]) {
        let mut states = BTreeMap::new();
        if self.nature.is_none() && play.before.shape().continuous && keys.len() > 1 {
            let node = &self.nodes[at];
            let joints: Vec<Vec<P::Move>> = keys.iter().map(|key| node.joint_of(key)).collect();
            play.before.go_to(&node.state);
            states = keys.iter().cloned().zip(play.before.successors(&joints)).collect();
        }
        self.ahead = (at, states);
    }

    /// Plays the evaluation game of a joint action `n` times and adds the outcomes.
    pub(super) fn assess_edge(
        &mut self,
        play: &mut Play<'_, '_, P>,
        at: usize,
        key: &[u32],
        n: u32,
    ) -> Option<()> {
        let node = &self.nodes[at];
        play.before.go_to(&node.state);
        let mut edge = Edge::new(self.n_roles);
        let mut joint = node.joint_of(key);
        for _ in 0..n.max(1) {
            if play.meter.is_over(16) {
                return None;
            }
            play.draw_nature(&mut joint);
            match self.ahead.1.get(key).filter(|_| self.ahead.0 == at) {
                Some(state) => play.arrive(state),
                None => play.make(&node.state, &joint),
            }
            edge.is_exact = play.after.is_terminal() && play.after.shape().nature.is_none();
            if let Some(outcome) = play.assess(&joint) {
                edge.statistics.record(&outcome);
            }
            if edge.is_exact {
                break;
            }
        }
        self.nodes[at].edges.insert(key.to_vec(), edge);
        Some(())
    }

    /// Adds the actions of a leaf as its children, with a few plays of the evaluation game each.
    fn expand(&mut self, play: &mut Play<'_, '_, P>, at: usize) -> Option<()> {
        let options = play.options;
        let rule = self.nodes[at].rule(options.max_cells);
        let node = &mut self.nodes[at];
        let n_points = match rule {
            Rule::Maximise | Rule::Regret => 1,
            Rule::Widen => options.first_points,
            Rule::Matching => options.inner_points,
        };
        for chooser in &mut node.choosers {
            let Chooser { role, actions, .. } = chooser;
            chooser.arms = sample_arms(actions, &*play.before, *role, n_points, play.rng);
            chooser.regrets = vec![0.0; chooser.arms.len()];
        }
        if rule != Rule::Matching {
            let n_arms: Vec<usize> = node.choosers.iter().map(|c| c.arms.len()).collect();
            let mut profile = vec![0; n_arms.len()];
            let mut keys: Vec<Vec<u32>> = Vec::new();
            loop {
                keys.push(profile.iter().map(|&arm| arm as u32).collect());
                if !next_profile(&mut profile, |player| n_arms[player]) {
                    break;
                }
            }
            self.assess_children(play, at, &keys)?;
        }
        self.nodes[at].is_expanded = true;
        Some(())
    }

    /// Adds children, with their states computed side by side.
    fn assess_children(
        &mut self,
        play: &mut Play<'_, '_, P>,
        at: usize,
        keys: &[Vec<u32>],
    ) -> Option<()> {
        for some in keys.chunks(N_AHEAD) {
            self.look_ahead(play, at, some);
            for key in some {
                self.assess_child(play, at, key)?;
            }
        }
        Some(())
    }

    /// Adds a child as the paper does: E plays of the evaluation game that count as E' plays.
    fn assess_child(&mut self, play: &mut Play<'_, '_, P>, at: usize, key: &[u32]) -> Option<()> {
        let options = play.options;
        self.assess_edge(play, at, key, options.assessments)?;
        let edge = self.nodes[at].edges.get_mut(key).expect("the edge was added");
        edge.statistics.weigh_as(f64::from(options.assessment_weight));
        Some(())
    }

    /// Selects a joint action of a node that has been expanded.
    fn select(&mut self, play: &mut Play<'_, '_, P>, at: usize) -> Option<Vec<u32>> {
        match self.nodes[at].rule(play.options.max_cells) {
            Rule::Maximise => Some(self.select_largest(play, at)),
            Rule::Widen => {
                let node = &self.nodes[at];
                let n_arms = node.choosers[0].arms.len();
                if n_arms < widening::n_arms(node.n_plays, play.options.widening) {
                    let best = self.best_arm(at);
                    let chooser = &mut self.nodes[at].choosers[0];
                    let arm = widening::new_arm(chooser, &*play.before, best, play.rng);
                    chooser.arms.push(arm);
                    chooser.regrets.push(0.0);
                    let key = vec![n_arms as u32];
                    self.assess_child(play, at, &key)?;
                    return Some(key);
                }
                Some(self.select_largest(play, at))
            }
            Rule::Regret => {
                let bound = |node: &Node<P>, key: &[u32], role: Role| {
                    let statistics = &node.edges[key].statistics;
                    self.confidence.bound(statistics, role, node.n_plays)
                };
                let game = self.matrix(at, bound);
                let chosen = game.draw_regret_minimiser(play.rng);
                Some(chosen.into_iter().map(|arm| arm as u32).collect())
            }
            Rule::Matching => {
                let key: Vec<u32> = self.nodes[at]
                    .choosers
                    .iter()
                    .map(|chooser| {
                        let weights = proportional(&chooser.regrets);
                        if play.rng.random::<f64>() < MATCHING_EXPLORATION {
                            draw_index(weights.len(), play.rng) as u32
                        } else {
                            super::draw_weighted(&weights, play.rng) as u32
                        }
                    })
                    .collect();
                if !self.nodes[at].edges.contains_key(&key) {
                    self.assess_child(play, at, &key)?;
                }
                Some(key)
            }
        }
    }

    /// Returns the arm with the largest upper confidence bound where at most one player chooses.
    /// Ties are broken at random.
    fn select_largest(&self, play: &mut Play<'_, '_, P>, at: usize) -> Vec<u32> {
        let node = &self.nodes[at];
        let Some(chooser) = node.choosers.first() else { return Vec::new() };
        let (mut best, mut most, mut n_ties) = (0, f64::NEG_INFINITY, 1);
        for (key, edge) in &node.edges {
            let bound = if edge.statistics.n() > 0.0 {
                self.confidence.bound(&edge.statistics, chooser.role, node.n_plays)
            } else {
                f64::INFINITY
            };
            if bound > most {
                (best, most, n_ties) = (key[0], bound, 1);
            } else if bound == most {
                n_ties += 1;
                if draw_index(n_ties, play.rng) == 0 {
                    best = key[0];
                }
            }
        }
        vec![best]
    }

    /// Returns the arm with the largest mean payoff where one player chooses.
    fn best_arm(&self, at: usize) -> Option<usize> {
        let node = &self.nodes[at];
        let role = node.choosers[0].role;
        let visited = node.edges.iter().filter(|(_, edge)| edge.statistics.n() > 0.0);
        let mean = |edge: &Edge<P::Move>| edge.statistics.mean(role);
        visited.max_by(|(_, a), (_, b)| mean(a).total_cmp(&mean(b))).map(|(key, _)| key[0] as usize)
    }

    /// Returns the matrix of a node with all joint actions.
    pub(super) fn matrix(
        &self,
        at: usize,
        value: impl Fn(&Node<P>, &[u32], Role) -> f64,
    ) -> NormalForm {
        let node = &self.nodes[at];
        let n_arms = node.choosers.iter().map(|chooser| chooser.arms.len()).collect();
        NormalForm::new(n_arms, |profile| {
            let key: Vec<u32> = profile.iter().map(|&arm| arm as u32).collect();
            node.choosers.iter().map(|chooser| value(node, &key, chooser.role)).collect()
        })
    }

    /// Makes a joint action with a drawn move of nature. `after` stands at the result unless play
    /// has ended there. Also returns the index of the outcome.
    fn follow(&mut self, play: &mut Play<'_, '_, P>, at: usize, key: &[u32]) -> (usize, Next) {
        let node = &self.nodes[at];
        let mut joint = node.joint_of(key);
        play.draw_nature(&mut joint);
        let nature = play.before.shape().nature.map(|nature| joint[nature.index()].clone());
        let edge = &node.edges[key];
        let mut found = edge.outcomes.iter().position(|outcome| outcome.nature == nature);
        let n_plays: u64 = edge.outcomes.iter().map(|outcome| outcome.n_plays).sum();
        let n_outcomes = edge.outcomes.len();
        let is_full = n_outcomes >= 2 * (n_plays.isqrt() as usize + 1);
        if found.is_none() && is_full && play.before.shape().continuous {
            // Nature may have infinitely many moves. An outcome must be met again and again, or the
            // tree would not become deeper (double progressive widening, Couetoux et al. 2011).
            let counts: Vec<f64> = edge.outcomes.iter().map(|o| o.n_plays as f64).collect();
            found = Some(super::draw_weighted(&proportional(&counts), play.rng));
        }
        if let Some(found) = found {
            let edge = self.nodes[at].edges.get_mut(key).expect("the edge is known");
            edge.outcomes[found].n_plays += 1;
            play.meter.n_nodes += 1;
            let next = edge.outcomes[found].next.clone();
            match &next {
                Next::End(_) => {}
                Next::Node(child) => {
                    let child = &self.nodes[*child].state;
                    play.after.go_to(child);
                }
                Next::Outside => {
                    play.after.go_to(&self.nodes[at].state);
                    play.after.advance(&joint);
                }
            }
            return (found, next);
        }
        let state = node.state.clone();
        play.make(&state, &joint);
        let next = if play.after.is_terminal() {
            Next::End(payoffs(&play.after))
        } else if self.nodes.len() < play.options.max_nodes {
            Next::Node(self.add_node(&play.after, f64::from(play.options.assessment_weight)))
        } else {
            Next::Outside
        };
        let is_exact = matches!(next, Next::End(_)) && nature.is_none();
        let edge = self.nodes[at].edges.get_mut(key).expect("the edge is known");
        edge.is_exact = is_exact;
        let payoffs = Vec::new();
        edge.outcomes.push(Outcome { nature, n_plays: 1, next: next.clone(), payoffs });
        (edge.outcomes.len() - 1, next)
    }

    /// Records the payoffs of a play at a node that it went through.
    fn record(
        &mut self,
        play: &mut Play<'_, '_, P>,
        at: usize,
        key: &[u32],
        outcome: usize,
        result: &[f64],
    ) -> Option<()> {
        if self.nodes[at].rule(play.options.max_cells) == Rule::Matching {
            self.update_regrets(play, at, key, result)?;
        }
        let node = &mut self.nodes[at];
        node.n_plays += 1.0;
        let edge = node.edges.get_mut(key).expect("the path has edges");
        edge.statistics.record(result);
        if play.options.record_from.is_some() {
            edge.outcomes[outcome].record(result);
        }
        Some(())
    }

    /// Adds to the regret of each arm what it would have gained against the other players' arms, by
    /// the mean payoffs (regret matching in trees, Lanctot et al. 2013).
    fn update_regrets(
        &mut self,
        play: &mut Play<'_, '_, P>,
        at: usize,
        key: &[u32],
        result: &[f64],
    ) -> Option<()> {
        let others = |tree: &Tree<P>, player: usize| -> Vec<Vec<u32>> {
            let arms = 0..tree.nodes[at].choosers[player].arms.len() as u32;
            let other = |arm| [&key[..player], &[arm], &key[player + 1..]].concat();
            arms.map(other).collect()
        };
        for player in 0..self.nodes[at].choosers.len() {
            let role = self.nodes[at].choosers[player].role;
            let others = others(self, player);
            let is_new = |key: &&Vec<u32>| !self.nodes[at].edges.contains_key(*key);
            let new: Vec<Vec<u32>> = others.iter().filter(is_new).cloned().collect();
            self.assess_children(play, at, &new)?;
            for (arm, other) in others.into_iter().enumerate() {
                let statistics = &self.nodes[at].edges[&other].statistics;
                if other != key && statistics.n() > 0.0 {
                    let gain = statistics.mean(role) - result[role.index()];
                    let regret = &mut self.nodes[at].choosers[player].regrets[arm];
                    *regret = (*regret + gain).max(0.0);
                }
            }
        }
        Some(())
    }
}

impl<P: Continuous> Tree<P> {
    /// Returns the moves with at least `least` recorded plays that lead to another node.
    pub(super) fn visited(&self, least: u64) -> Vec<VisitedMove<P::State, P::Move>> {
        let mut visited = Vec::new();
        for node in &self.nodes {
            for (key, edge) in &node.edges {
                for outcome in &edge.outcomes {
                    let n_plays: u64 = outcome.payoffs.iter().map(|(_, n)| n).sum();
                    let Next::Node(child) = outcome.next else { continue };
                    if n_plays < least.max(1) {
                        continue;
                    }
                    let mut joint = node.joint_of(key);
                    if let (Some(nature), Some(drawn)) = (self.nature, &outcome.nature) {
                        joint[nature.index()] = drawn.clone();
                    }
                    visited.push(VisitedMove {
                        before: node.state.clone(),
                        joint,
                        after: self.nodes[child].state.clone(),
                        payoffs: outcome.payoffs.clone(),
                    });
                }
            }
        }
        visited
    }

    /// Returns the line of the actions with the most plays from a node on.
    pub(super) fn line(&self, from: usize, role: Role) -> Line<P::Move> {
        let (mut at, mut joints, mut value) = (from, Vec::new(), 0.0);
        while joints.len() < MAX_LINE {
            let node = &self.nodes[at];
            let played = node.edges.iter().filter(|(_, edge)| !edge.outcomes.is_empty());
            let Some((key, edge)) =
                played.max_by(|(_, a), (_, b)| a.statistics.n().total_cmp(&b.statistics.n()))
            else {
                break;
            };
            let outcome = edge.outcomes.iter().max_by_key(|outcome| outcome.n_plays);
            let outcome = outcome.expect("the edge has outcomes");
            let mut joint = node.joint_of(key);
            if let (Some(nature), Some(drawn)) = (self.nature, &outcome.nature) {
                joint[nature.index()] = drawn.clone();
            }
            joints.push(joint);
            value = edge.statistics.mean(role);
            match &outcome.next {
                Next::Node(child) => at = *child,
                Next::End(_) | Next::Outside => break,
            }
        }
        Line { joints, value }
    }
}

impl<P: Continuous> Node<P> {
    fn rule(&self, max_cells: usize) -> Rule {
        let has_parameters = self.choosers.iter().any(|c| c.actions.has_parameters());
        let sizes = self.choosers.iter().map(|chooser| chooser.actions.n_groups());
        match self.choosers.len() {
            0 => Rule::Maximise,
            1 if has_parameters => Rule::Widen,
            1 => Rule::Maximise,
            _ if has_parameters => Rule::Matching,
            _ if sizes.fold(1, usize::saturating_mul) > max_cells => Rule::Matching,
            _ => Rule::Regret,
        }
    }

    /// Returns the joint move of a joint action. The move of nature is any legal one.
    pub(super) fn joint_of(&self, key: &[u32]) -> Vec<P::Move> {
        let mut joint = self.joint.clone();
        for (chooser, &arm) in self.choosers.iter().zip(key) {
            joint[chooser.role.index()] = chooser.arms[arm as usize].m.clone();
        }
        joint
    }
}

impl<M> Outcome<M> {
    fn record(&mut self, payoffs: &[f64]) {
        match self.payoffs.iter_mut().find(|(known, _)| known == payoffs) {
            Some((_, n)) => *n += 1,
            None => self.payoffs.push((payoffs.to_vec(), 1)),
        }
    }
}

impl<M> Edge<M> {
    fn new(n_roles: usize) -> Edge<M> {
        Edge { statistics: Statistics::new(n_roles), is_exact: false, outcomes: Vec::new() }
    }
}
