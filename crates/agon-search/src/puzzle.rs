//! Puzzles: one player, no chance. Solved, not sampled: once a line with the full score is found it is kept and followed as
//! long as the position is on it.
//!
//! Four ways take turns, each with twice the positions of the last time, since nobody knows which one suits a puzzle:
//! best-first search with a table of positions ([`frontier`]), ordered by the goals that the rules give on the way and by moves that become legal for the first
//! time, every other position breadth-first, at first without what goes on by itself ([`clockwork`]); plays by the million where an engine makes them
//! ([`sampled`]); nested Monte Carlo search (NMCS; Cazenave 2009); and nested rollout policy adaptation
//! (NRPA; Rosin 2011), both in [`nested`].
//!
//! If nature or other players take part, they are taken to make their first move; a plan that meets another is dropped.

mod clockwork;
mod frontier;
mod nested;
mod sampled;
#[cfg(test)]
mod tests;

use agon_game::{Position, Rng, Role};
use rand::SeedableRng as _;

use crate::{Budget, Candidate, Line, Report, Search};

/// How to solve puzzles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PuzzleOptions {
    /// The same seed and nodes give the same plan.
    pub seed: u64,
    /// Positions remembered at most.
    pub max_positions: usize,
    /// Playouts are cut off after so many steps.
    pub max_steps: usize,
}

impl Default for PuzzleOptions {
    fn default() -> PuzzleOptions {
        PuzzleOptions { seed: 0, max_positions: 4_000_000, max_steps: 1000 }
    }
}

/// A line from some position to an end.
#[derive(Clone, Debug)]
struct Plan<M> {
    /// By step: the key of the position before it.
    keys: Vec<u64>,
    joints: Vec<Vec<M>>,
    payoff: f64,
}

/// Searches for a plan and follows it.
pub struct Puzzle<P: Position> {
    options: PuzzleOptions,
    rng: Rng,
    plan: Option<Plan<P::Move>>,
    /// Of the last think. Forgetting many positions takes time, and there is more of that before the next one than after this.
    frontier: Option<frontier::Frontier<P>>,
    /// Not asked for yet; or there is none.
    sampled: Option<Option<sampled::Sampled<P>>>,
}

/// Positions for each way in its first turn.
const FIRST_TURN: u64 = 2000;

impl<P: Position> Puzzle<P> {
    /// Nothing known yet.
    pub fn new(options: PuzzleOptions) -> Puzzle<P> {
        Puzzle {
            rng: Rng::seed_from_u64(options.seed),
            options,
            plan: None,
            frontier: None,
            sampled: None,
        }
    }

    /// Takes over a line of moves of the player if it is better than the plan.
    fn consider(&mut self, position: &mut P, us: Role, moves: &[P::Move]) {
        let home = position.state().clone();
        let mut plan = Plan { keys: Vec::new(), joints: Vec::new(), payoff: 0.0 };
        for m in moves {
            if position.is_terminal() {
                break;
            }
            let mut joint = crate::choices::Choices::at(position).first_joint();
            joint[us.index()] = m.clone();
            plan.keys.push(position.key());
            position.advance(&joint);
            plan.joints.push(joint);
        }
        plan.payoff = position.payoff(us);
        let is_end = position.is_terminal() && position.fault().is_none();
        position.go_to(&home);
        if is_end && self.plan.as_ref().is_none_or(|old| plan.payoff > old.payoff) {
            self.plan = Some(plan);
        }
    }
}

impl<P: Position> Search<P> for Puzzle<P> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let mut meter = budget.start();
        self.frontier = None;
        let key = position.key();
        let home = position.state().clone();
        let most = *position.shape().payoffs.end();
        let on_plan = self.plan.take().and_then(|mut plan| {
            let step = plan.keys.iter().position(|&other| other == key)?;
            plan.keys.drain(..step);
            plan.joints.drain(..step);
            Some(plan)
        });
        self.plan = on_plan;
        let mut is_all_known = false;
        let is_full =
            |plan: &Option<Plan<P::Move>>| plan.as_ref().is_some_and(|plan| plan.payoff >= most);
        let Puzzle { options, rng, plan, sampled, .. } = self;
        let mut clockwork = None;
        if !is_full(plan) {
            // Made in the first think, so that its code is there before time is short.
            if sampled.is_none() {
                *sampled = Some(sampled::Sampled::new(position, us, options, rng, &mut meter));
            }
            clockwork = clockwork::Clockwork::find(position, rng, &mut meter);
        }
        if let Some(Some(sampled)) = sampled {
            sampled.stand_at(&home);
        }
        let mut frontier =
            frontier::Frontier::new(position, us, self.options.max_positions, clockwork);
        let mut turn = FIRST_TURN;
        'search: while !is_full(&self.plan) && !is_all_known && !meter.is_over(1) {
            for way in 0..4 {
                let until = meter.n_nodes + turn;
                let found = match way {
                    0 => {
                        let is_done = frontier.run(position, until, &mut meter);
                        let line = frontier.best_line(position, &home);
                        is_all_known = is_done && !frontier.is_rough();
                        if is_done && frontier.is_rough() && !frontier.has_full_score() {
                            position.go_to(&home);
                            frontier = frontier::Frontier::new(
                                position,
                                us,
                                self.options.max_positions,
                                None,
                            );
                        }
                        line
                    }
                    1 => match &mut self.sampled {
                        Some(Some(sampled)) => {
                            sampled.run(position, turn * sampled::PER_NODE, &mut meter)
                        }
                        Some(None) | None => None,
                    },
                    _ => {
                        position.go_to(&home);
                        let mut nested = nested::Nested {
                            us,
                            until,
                            max_steps: self.options.max_steps,
                            most,
                            rng: &mut self.rng,
                            meter: &mut meter,
                            best: None,
                        };
                        if way == 2 {
                            nested.nmcs(position);
                        } else {
                            nested.nrpa(position);
                        }
                        nested.best.map(|(_, moves)| moves)
                    }
                };
                position.go_to(&home);
                if let Some(moves) = found {
                    self.consider(position, us, &moves);
                }
                let first = self.plan.as_ref().and_then(|plan| plan.joints.first());
                let legal = position.legal_moves(us);
                let place =
                    first.and_then(|joint| legal.iter().position(|m| *m == joint[us.index()]));
                if let Some(move_idx) = place {
                    meter.tell(move_idx);
                }
                if is_full(&self.plan) || is_all_known {
                    break 'search;
                }
            }
            turn *= 2;
        }
        position.go_to(&home);
        self.frontier = Some(frontier);
        let best = self.plan.as_ref().and_then(|plan| plan.joints.first());
        let best = best
            .map_or_else(|| position.legal_moves(us)[0].clone(), |joint| joint[us.index()].clone());
        let value =
            self.plan.as_ref().map_or(*position.shape().payoffs.start(), |plan| plan.payoff);
        // Nothing pays more, or everything is known.
        let is_alone = position.shape().role_names.len() == 1;
        let is_proven = is_alone && (is_full(&self.plan) || is_all_known && self.plan.is_some());
        let joints = self.plan.as_ref().map_or_else(Vec::new, |plan| plan.joints.clone());
        Report {
            candidates: vec![Candidate {
                m: best.clone(),
                visits: 1,
                value,
                probability: 1.0,
                is_proven,
            }],
            best,
            us,
            value,
            is_proven,
            depth: joints.len() as u32,
            lines: vec![Line { joints, value }],
            iterations: meter.n_iterations,
            nodes: meter.n_nodes,
            playouts: meter.n_iterations,
            seconds: meter.seconds(),
        }
    }
}
