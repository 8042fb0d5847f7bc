//! The belief: weighted states that are consistent with all percepts.

use std::time::Instant;

use agon_game::{Hidden, Rng, Role};
use rand::{RngExt as _, SeedableRng as _};

use super::HiddenOptions;
use crate::choices::{Choices, chances};
use crate::hash::{self, Map, fold};

/// A possible current state.
#[derive(Clone, Debug)]
pub struct Particle<S> {
    /// The state.
    pub state: S,
    /// The probability: nature moves by its chances and the other players uniformly. All weights
    /// add up to 1.
    pub weight: f64,
    /// By role: a hash of its moves and percepts on the way there, so that other roles are not
    /// assumed to know more than they do.
    pub(super) knowledge: Vec<u64>,
}

/// No state is known that is consistent with the percepts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NoConsistentState;

impl std::fmt::Display for NoConsistentState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no history was found that is consistent with the percepts")
    }
}

impl std::error::Error for NoConsistentState {}

/// The move and the percepts of a role in one step.
#[derive(Clone, Debug)]
struct Experience<M> {
    own_move: M,
    percepts: Vec<String>,
}

/// The states that are consistent with the moves and percepts of a role.
///
/// As long as there are not too many, these are all such states with their exact probabilities,
/// otherwise a sample (a particle filter). If the sample becomes empty, consistent histories are
/// searched from earlier steps on, further and further back.
pub struct Belief<P: Hidden> {
    cursor: P,
    us: Role,
    rng: Rng,
    max_particles: usize,
    max_proposals: usize,
    repair_nodes: u64,
    /// Number of times that the sample was empty and histories were searched.
    pub n_repairs: usize,
    experiences: Vec<Experience<P::Move>>,
    /// By step: the particles before it. The last entry is the current belief.
    steps: Vec<Vec<Particle<P::State>>>,
}

impl<P: Hidden> Belief<P> {
    /// Returns the belief at the start of a game, which is known.
    pub fn new(start: P, us: Role, options: &HiddenOptions) -> Belief<P> {
        let knowledge = vec![0; start.shape().role_names.len()];
        let first = Particle { state: start.state().clone(), weight: 1.0, knowledge };
        Belief {
            cursor: start,
            us,
            rng: Rng::seed_from_u64(options.seed ^ 0x5eed),
            max_particles: options.max_particles.max(1),
            max_proposals: options.max_proposals.max(1),
            repair_nodes: options.repair_nodes,
            n_repairs: 0,
            experiences: Vec::new(),
            steps: vec![vec![first]],
        }
    }

    /// Returns the possible current states.
    pub fn particles(&self) -> &[Particle<P::State>] {
        &self.steps[self.steps.len() - 1]
    }

    /// Returns the possible states that are not terminal, because the role is to move.
    pub(super) fn open_particles(&mut self) -> Result<Vec<Particle<P::State>>, NoConsistentState> {
        let mut open = Vec::new();
        for particle in &self.steps[self.steps.len() - 1] {
            self.cursor.go_to(&particle.state);
            if !self.cursor.is_terminal() {
                open.push(particle.clone());
            }
        }
        if open.is_empty() { Err(NoConsistentState) } else { Ok(open) }
    }

    /// Updates the belief after a step. With a deadline, only a part of it may be updated.
    ///
    /// # Errors
    /// If no state is left and none was found by a search for histories.
    pub fn learn(
        &mut self,
        own_move: &P::Move,
        percepts: &[String],
        deadline: Option<Instant>,
    ) -> Result<(), NoConsistentState> {
        let mut percepts = percepts.to_vec();
        percepts.sort_unstable();
        let experience = Experience { own_move: own_move.clone(), percepts };
        let before = std::mem::take(self.steps.last_mut().expect("`steps` is never empty"));
        let now = self.extend(&before, &experience, deadline);
        *self.steps.last_mut().expect("`steps` is never empty") = before;
        self.experiences.push(experience);
        self.steps.push(now);
        if self.particles().is_empty() {
            self.repair(deadline);
        }
        if self.particles().is_empty() { Err(NoConsistentState) } else { Ok(()) }
    }

    /// Returns the possible states after a step, given the percepts.
    fn extend(
        &mut self,
        particles: &[Particle<P::State>],
        experience: &Experience<P::Move>,
        deadline: Option<Instant>,
    ) -> Vec<Particle<P::State>> {
        let mut next: Vec<Particle<P::State>> = Vec::new();
        let mut indices: Map<u64, usize> = Map::default();
        let per_particle = (self.max_proposals / particles.len().max(1)).max(2);
        // With a deadline a part may have to do. It starts at a random particle, because
        // neighbours are similar.
        let has_deadline = deadline.is_some() && particles.len() > 1;
        let first = if has_deadline { self.rng.random_range(0..particles.len()) } else { 0 };
        for particle in particles[first..].iter().chain(&particles[..first]) {
            if !next.is_empty() && is_past(deadline) {
                break;
            }
            for (joint, chance) in
                self.proposals(&particle.state, &experience.own_move, per_particle)
            {
                self.cursor.go_to(&particle.state);
                if self.cursor.percepts(&joint, self.us) != experience.percepts {
                    continue;
                }
                let knowledge = learn_all(&self.cursor, &joint, &particle.knowledge);
                self.cursor.advance(&joint);
                // Particles with equal states and equal knowledge of all roles are merged.
                let key = knowledge.iter().fold(self.cursor.key(), |key, &known| fold(key, known));
                let weight = particle.weight * chance;
                let index = *indices.entry(key).or_insert(next.len());
                if index < next.len() {
                    next[index].weight += weight;
                } else {
                    next.push(Particle { state: self.cursor.state().clone(), weight, knowledge });
                }
            }
        }
        if next.len() > self.max_particles {
            next = self.resample(next);
        }
        let total: f64 = next.iter().map(|particle| particle.weight).sum();
        for particle in &mut next {
            particle.weight /= total;
        }
        next
    }

    /// Returns joint moves that contain the own move, with their probabilities: all of them if
    /// there are at most `max`, otherwise a sample.
    fn proposals(
        &mut self,
        state: &P::State,
        own_move: &P::Move,
        max: usize,
    ) -> Vec<(Vec<P::Move>, f64)> {
        self.cursor.go_to(state);
        let cursor = &self.cursor;
        if cursor.is_terminal() || !cursor.is_legal(self.us, own_move) {
            return Vec::new();
        }
        let (shape, choices, chances) = (cursor.shape(), Choices::at(cursor), chances(cursor));
        let n_joints = shape
            .roles()
            .filter(|&role| role != self.us)
            .try_fold(1_usize, |n, role| n.checked_mul(choices.count(role)));
        let mut first = choices.first_joint();
        first[self.us.index()] = own_move.clone();
        if n_joints.is_none_or(|n| n > max) {
            let mut proposals = Vec::with_capacity(max);
            for _ in 0..max {
                let mut joint = Vec::new();
                cursor.draw(&mut self.rng, &mut joint);
                joint[self.us.index()] = own_move.clone();
                proposals.push((joint, 1.0 / max as f64));
            }
            return proposals;
        }
        let mut proposals = vec![(first, 1.0)];
        for role in shape.roles().filter(|&role| role != self.us && choices.count(role) > 1) {
            let moves = choices.of(role);
            proposals = proposals
                .into_iter()
                .flat_map(|(joint, chance)| {
                    let is_nature = Some(role) == shape.nature;
                    let chances = &chances;
                    moves.iter().enumerate().map(move |(index, m)| {
                        let mut joint = joint.clone();
                        joint[role.index()] = m.clone();
                        let share =
                            if is_nature { chances[index] } else { 1.0 / moves.len() as f64 };
                        (joint, chance * share)
                    })
                })
                .collect();
        }
        proposals.retain(|&(_, chance)| chance > 0.0);
        proposals
    }

    /// Reduces the particles to `max_particles` by systematic resampling.
    fn resample(&mut self, particles: Vec<Particle<P::State>>) -> Vec<Particle<P::State>> {
        let total: f64 = particles.iter().map(|particle| particle.weight).sum();
        let stride = total / self.max_particles as f64;
        let mut next_mark = stride * self.rng.random::<f64>();
        let mut passed = 0.0;
        let mut kept = Vec::with_capacity(self.max_particles);
        for particle in particles {
            passed += particle.weight;
            let mut n_marks = 0;
            while next_mark < passed {
                n_marks += 1;
                next_mark += stride;
            }
            if n_marks > 0 {
                kept.push(Particle { weight: stride * f64::from(n_marks), ..particle });
            }
        }
        kept
    }

    /// Searches consistent histories from earlier steps on: one step back, two, four, and at last
    /// from the start.
    fn repair(&mut self, deadline: Option<Instant>) {
        self.n_repairs += 1;
        let n_steps = self.experiences.len();
        let mut found: Vec<Particle<P::State>> = Vec::new();
        let mut nodes_left = self.repair_nodes;
        let mut back = 1;
        while found.is_empty() && nodes_left > 0 {
            let from = n_steps.saturating_sub(back);
            let sources = std::mem::take(&mut self.steps[from]);
            // Each distance gets half of the remaining budget, so that the start gets its share.
            let mut nodes = if from == 0 { nodes_left } else { nodes_left / 2 };
            nodes_left -= nodes;
            while !sources.is_empty() && nodes > 0 && found.len() < self.max_particles.min(64) {
                if is_past(deadline) {
                    nodes_left = 0;
                    break;
                }
                let source = &sources[self.rng.random_range(0..sources.len())];
                match self.find_history(source, from, &mut nodes, deadline) {
                    Some(particle) => found.push(particle),
                    None if nodes > 0 && sources.len() == 1 => break,
                    None => {}
                }
            }
            self.steps[from] = sources;
            if from == 0 {
                break;
            }
            back *= 2;
        }
        let share = 1.0 / found.len().max(1) as f64;
        for particle in &mut found {
            particle.weight = share;
        }
        *self.steps.last_mut().expect("`steps` is never empty") = found;
    }

    /// Returns the end of one consistent history from a state before a step to now, by randomised
    /// depth-first search with backtracking.
    fn find_history(
        &mut self,
        source: &Particle<P::State>,
        step: usize,
        nodes: &mut u64,
        deadline: Option<Instant>,
    ) -> Option<Particle<P::State>> {
        let Some(experience) = self.experiences.get(step).cloned() else {
            return Some(source.clone());
        };
        // A limit on the branching, because the history may be a dead end anyway.
        let mut proposals = self.proposals(&source.state, &experience.own_move, 1000);
        while !proposals.is_empty() && *nodes > 0 && !is_past(deadline) {
            let (joint, _) = proposals.swap_remove(self.rng.random_range(0..proposals.len()));
            *nodes -= 1;
            self.cursor.go_to(&source.state);
            if self.cursor.percepts(&joint, self.us) != experience.percepts {
                continue;
            }
            let knowledge = learn_all(&self.cursor, &joint, &source.knowledge);
            self.cursor.advance(&joint);
            let next =
                Particle { state: self.cursor.state().clone(), weight: source.weight, knowledge };
            if let Some(found) = self.find_history(&next, step + 1, nodes, deadline) {
                return Some(found);
            }
        }
        None
    }
}

fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Returns the hashes of the knowledge of all roles after a joint move.
pub(super) fn learn_all<P: Hidden>(position: &P, joint: &[P::Move], before: &[u64]) -> Vec<u64> {
    let nature = position.shape().nature;
    let mut knowledge = before.to_vec();
    for role in position.shape().roles().filter(|&role| Some(role) != nature) {
        let known = &mut knowledge[role.index()];
        *known = fold(*known, hash::of(&joint[role.index()]));
        for percept in position.percepts(joint, role) {
            *known = fold(*known, hash::of_text(&percept));
        }
    }
    knowledge
}
