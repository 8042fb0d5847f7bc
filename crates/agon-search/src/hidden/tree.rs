//! Information-set Monte Carlo tree search with a tree for every role (MO-ISMCTS; Cowling, Powley &
//! Whitehouse 2012).
//!
//! Each iteration draws a state from the belief and plays it out. Every role with a choice chooses
//! by its own knowledge: its statistics are stored under a hash of its own moves and percepts since
//! the start. So an opponent is not assumed to know hidden facts, and a role chooses alike in
//! states that it cannot distinguish.

use agon_game::{Hidden, Rng, Role, play_out_in_time};
use rand::{RngExt as _, SeedableRng as _};

use super::belief::{Particle, learn_all};
use super::{Choice, HiddenOptions};
use crate::hash::{Map, fold};
use crate::{Candidate, Meter, Report};

/// Number of iterations between two updates of the best move so far, in a search with a deadline.
const HINT_INTERVAL: u64 = 32;

/// The selection of moves in the tree.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Bandit {
    /// UCB1 over the legal moves.
    Ucb,
    /// A mixture of UCB1 and the average strategy so far, with less and less of the former, so that
    /// averages approach an equilibrium (Smooth UCT; Heinrich & Silver 2015, with their
    /// parameters).
    Smooth,
}

/// The statistics of one information set of a role.
#[derive(Clone, Debug)]
struct Node<M> {
    n_visits: u64,
    arms: Vec<Arm<M>>,
}

#[derive(Clone, Debug)]
struct Arm<M> {
    m: M,
    n_visits: u64,
    /// Number of visits at which the move was legal.
    n_legal: u64,
    /// The sum of the payoffs, scaled to 0..1.
    sum: f64,
}

/// The statistics of all roles, kept from move to move.
pub(super) struct Tree<P: Hidden> {
    cursor: P,
    /// By role and knowledge: the index in `nodes`.
    indices: Map<u64, u32>,
    nodes: Vec<Node<P::Move>>,
    bandit: Bandit,
    exploration: f64,
    max_nodes: usize,
    max_steps: usize,
    rng: Rng,
}

impl<P: Hidden> Tree<P> {
    pub(super) fn new(start: P, us: Role, options: &HiddenOptions) -> Tree<P> {
        Tree {
            cursor: start,
            indices: Map::default(),
            nodes: Vec::new(),
            bandit: options.bandit,
            exploration: options.exploration,
            max_nodes: options.max_nodes.max(16),
            max_steps: options.max_steps,
            rng: Rng::seed_from_u64(fold(options.seed, us.index() as u64)),
        }
    }

    pub(super) fn think(
        &mut self,
        particles: &[Particle<P::State>],
        us: Role,
        options: &HiddenOptions,
        rng: &mut Rng,
        meter: &mut Meter<'_>,
    ) -> Report<P::Move> {
        if self.nodes.len() > self.max_nodes / 2 {
            self.indices.clear();
            self.nodes.clear();
        }
        let mut max_depth = 0;
        let known = fold(particles[0].knowledge[us.index()], us.index() as u64);
        self.cursor.go_to(&particles[0].state);
        let legal = self.cursor.legal_moves(us).to_vec();
        while !meter.is_over(16) {
            let depth = self.iterate(particles, meter);
            max_depth = max_depth.max(depth);
            meter.n_iterations += 1;
            if meter.deadline().is_some() && meter.n_iterations.is_multiple_of(HINT_INTERVAL) {
                let arms = self
                    .indices
                    .get(&known)
                    .map_or(&[][..], |&index| &self.nodes[index as usize].arms);
                let best = arms.iter().max_by_key(|arm| arm.n_visits);
                if let Some(move_idx) = best.and_then(|arm| legal.iter().position(|m| *m == arm.m))
                {
                    meter.suggest(move_idx);
                }
            }
        }
        self.report(particles, us, options, rng, meter, max_depth)
    }

    /// Plays one game from a state drawn from the belief. Returns the depth that the statistics
    /// reached.
    fn iterate(&mut self, particles: &[Particle<P::State>], meter: &mut Meter<'_>) -> u32 {
        let particle = draw(particles, &mut self.rng);
        let shape = self.cursor.shape().clone();
        let range = (*shape.payoffs.start(), *shape.payoffs.end());
        self.cursor.go_to(&particle.state);
        let mut knowledge = particle.knowledge.clone();
        let mut path: Vec<(Role, u32, usize)> = Vec::new();
        let mut depth = 0;
        while !self.cursor.is_terminal() && (depth as usize) < self.max_steps {
            let mut joint = Vec::new();
            // Nature draws by its chances. The moves of the players are replaced below.
            self.cursor.draw(&mut self.rng, &mut joint);
            let mut is_new = false;
            let mut has_statistics = true;
            for role in shape.players() {
                if self.cursor.legal_moves(role).len() < 2 {
                    continue;
                }
                let key = fold(knowledge[role.index()], role.index() as u64);
                let index = match self.indices.get(&key) {
                    Some(&index) => index,
                    None if self.nodes.len() < self.max_nodes => {
                        is_new = true;
                        let index = self.nodes.len() as u32;
                        self.indices.insert(key, index);
                        self.nodes.push(Node { n_visits: 0, arms: Vec::new() });
                        index
                    }
                    None => {
                        has_statistics = false;
                        continue;
                    }
                };
                let arm = self.choose(role, index);
                joint[role.index()] = self.nodes[index as usize].arms[arm].m.clone();
                path.push((role, index, arm));
            }
            if !is_new && has_statistics {
                knowledge = learn_all(&self.cursor, &joint, &knowledge);
            }
            self.cursor.advance(&joint);
            meter.n_nodes += 1;
            depth += 1;
            if is_new || !has_statistics {
                break;
            }
        }
        let reached = depth;
        meter.n_nodes += play_out_in_time(
            &mut self.cursor,
            &mut self.rng,
            self.max_steps,
            meter.deadline(),
            meter.stop(),
        ) as u64;
        for (role, index, arm) in path {
            let reward =
                (self.cursor.payoff(role) - range.0) / (range.1 - range.0).max(f64::MIN_POSITIVE);
            let node = &mut self.nodes[index as usize];
            node.n_visits += 1;
            node.arms[arm].n_visits += 1;
            node.arms[arm].sum += reward;
        }
        reached
    }

    /// Selects an arm of a node for a role.
    fn choose(&mut self, role: Role, index: u32) -> usize {
        let node = &mut self.nodes[index as usize];
        let mut legal = Vec::new();
        for m in self.cursor.legal_moves(role) {
            // In well-formed games equal knowledge means equal legal moves, but not all rules are.
            let arm = node.arms.iter().position(|arm| arm.m == *m).unwrap_or_else(|| {
                node.arms.push(Arm { m: m.clone(), n_visits: 0, n_legal: 0, sum: 0.0 });
                node.arms.len() - 1
            });
            node.arms[arm].n_legal += 1;
            legal.push(arm);
        }
        // Untried moves come first, in random order so that none is favoured.
        let untried: Vec<usize> =
            legal.iter().copied().filter(|&arm| node.arms[arm].n_visits == 0).collect();
        if !untried.is_empty() {
            return untried[self.rng.random_range(0..untried.len())];
        }
        if self.bandit == Bandit::Smooth {
            let exploring = (0.9 / (1.0 + 0.002 * (node.n_visits as f64).sqrt())).max(0.1);
            if self.rng.random::<f64>() >= exploring {
                let total: u64 = legal.iter().map(|&arm| node.arms[arm].n_visits).sum();
                let mut left = self.rng.random_range(0..total);
                for &arm in &legal {
                    let visits = node.arms[arm].n_visits;
                    if left < visits {
                        return arm;
                    }
                    left -= visits;
                }
            }
        }
        let score = |arm: usize| {
            let Arm { n_visits, n_legal, sum, .. } = &node.arms[arm];
            let n_visits = *n_visits as f64;
            sum / n_visits + self.exploration * (libm::log(*n_legal as f64) / n_visits).sqrt()
        };
        let first = legal[0];
        legal.into_iter().fold(first, |best, arm| if score(arm) > score(best) { arm } else { best })
    }

    fn report(
        &mut self,
        particles: &[Particle<P::State>],
        us: Role,
        options: &HiddenOptions,
        rng: &mut Rng,
        meter: &Meter<'_>,
        depth: u32,
    ) -> Report<P::Move> {
        let payoffs = self.cursor.shape().payoffs.clone();
        let (least, most) = (*payoffs.start(), *payoffs.end());
        // The knowledge of the role is the same in all particles, and its legal moves should be.
        let known = fold(particles[0].knowledge[us.index()], us.index() as u64);
        self.cursor.go_to(&particles[0].state);
        let legal = self.cursor.legal_moves(us).to_vec();
        let node = self.indices.get(&known).map(|&index| &self.nodes[index as usize]);
        let arm = |m: &P::Move| node.and_then(|node| node.arms.iter().find(|arm| arm.m == *m));
        let mut candidates: Vec<Candidate<P::Move>> = legal
            .iter()
            .map(|m| {
                let (visits, sum) = arm(m).map_or((0, 0.0), |arm| (arm.n_visits, arm.sum));
                let mean = if visits == 0 { 0.5 } else { sum / visits as f64 };
                let value = least + mean * (most - least);
                Candidate { m: m.clone(), visits, value, probability: 0.0, is_proven: false }
            })
            .collect();
        candidates.sort_by(|a, b| b.visits.cmp(&a.visits).then(b.value.total_cmp(&a.value)));
        let chosen = match options.choice {
            Choice::MostVisited => {
                candidates[0].probability = 1.0;
                0
            }
            Choice::Mixed => {
                let enough = candidates[0].visits / 10;
                let total: u64 =
                    candidates.iter().map(|c| c.visits).filter(|&visits| visits >= enough).sum();
                let mut left = rng.random::<f64>();
                let mut chosen = None;
                for (index, candidate) in candidates.iter_mut().enumerate() {
                    if candidate.visits >= enough {
                        candidate.probability = if total == 0 {
                            f64::from(u8::from(index == 0))
                        } else {
                            candidate.visits as f64 / total as f64
                        };
                        left -= candidate.probability;
                        if left < 0.0 && chosen.is_none() {
                            chosen = Some(index);
                        }
                    }
                }
                chosen.unwrap_or(0)
            }
        };
        let visits: u64 = candidates.iter().map(|candidate| candidate.visits).sum();
        let mean = candidates
            .iter()
            .map(|candidate| candidate.value * candidate.visits as f64)
            .sum::<f64>();
        Report {
            best: candidates[chosen].m.clone(),
            us,
            value: if visits == 0 { (least + most) / 2.0 } else { mean / visits as f64 },
            candidates,
            is_proven: false,
            lines: Vec::new(),
            iterations: meter.n_iterations,
            nodes: meter.n_nodes,
            playouts: meter.n_iterations,
            depth,
            seconds: meter.seconds(),
        }
    }
}

/// Draws a particle by weight.
fn draw<'p, S>(particles: &'p [Particle<S>], rng: &mut Rng) -> &'p Particle<S> {
    let total: f64 = particles.iter().map(|particle| particle.weight).sum();
    let mut left = rng.random::<f64>() * total;
    particles
        .iter()
        .find(|particle| {
            left -= particle.weight;
            left < 0.0
        })
        .unwrap_or(&particles[particles.len() - 1])
}
