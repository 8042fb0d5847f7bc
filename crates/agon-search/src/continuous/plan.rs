//! Plans for a single player without chance: whole lines of play whose parameters are optimised
//! together.

use agon_game::Continuous;

use super::actions::{Actions, Arm};
use super::evaluation::payoffs;
use super::optimise::{Found, refine};
use super::pieces::maximise;
use super::play::Play;
use agon_game::Role;

/// A line of play of a single player.
#[derive(Clone, Debug)]
pub(super) struct Plan<M> {
    /// The keys of the positions before each move.
    keys: Vec<u64>,
    pub(super) arms: Vec<Arm<M>>,
    /// The payoff at its end.
    pub(super) payoff: f64,
}

/// Number of drawn plays from which the best one is refined.
const N_DRAWN: usize = 24;
/// First step of the refinement, as a share of each interval.
const FIRST_STEP: f64 = 0.25;
/// Number of refinement steps for each parameter of a plan.
const CALLS_PER_PARAMETER: usize = 200;

impl<M: Clone> Plan<M> {
    /// Returns the rest of the plan from the position with a key on, if the position is on it.
    pub(super) fn rest(mut self, key: u64) -> Option<Plan<M>> {
        let step = self.keys.iter().position(|&other| other == key)?;
        self.keys.drain(..step);
        self.arms.drain(..step);
        Some(self)
    }

    fn point(&self) -> Vec<f64> {
        self.arms.iter().flat_map(|arm| arm.point.iter().copied()).collect()
    }
}

/// Searches for a plan from where the position stands until the budget ends. Each round draws
/// plays, takes the best, and refines all of its parameters together by pattern search. `known` is
/// a plan from an earlier search. Returns the best plan, if a play could be finished.
pub(super) fn search<P: Continuous>(
    play: &mut Play<'_, '_, P>,
    us: Role,
    known: Option<Plan<P::Move>>,
) -> Option<Plan<P::Move>> {
    let home = play.before.state().clone();
    let mut best = known;
    let mut is_first = true;
    while !play.meter.is_over(1) {
        let mut start = if is_first { best.clone() } else { None };
        is_first = false;
        for _ in 0..N_DRAWN {
            if play.meter.is_over(1) {
                break;
            }
            let drawn = follow(play, us, &home, &[], None);
            start = better(start, drawn);
        }
        let Some(start) = start else { break };
        best = better(best, Some(start.clone()));
        let start = climb_pieces(play, us, &home, start);
        best = better(best, Some(start.clone()));
        let max_calls = CALLS_PER_PARAMETER * start.point().len();
        if max_calls == 0 {
            continue;
        }
        let mut is_over = false;
        let found = Found { point: start.point(), value: start.payoff };
        refine_all(found, max_calls, |point| {
            is_over = is_over || play.meter.is_over(1);
            if is_over {
                return None;
            }
            let moved = follow(play, us, &home, &start.arms, Some(point));
            let payoff = moved.as_ref().map(|plan| plan.payoff);
            best = better(best.take(), moved);
            payoff
        });
        play.before.go_to(&home);
    }
    best
}

/// Maximum number of polynomial pieces of the payoff that are maximised one after the other.
const MAX_PIECES: usize = 8;

/// Improves a plan by the polynomial of its payoff in all parameters, if it is known. At the new
/// parameters another piece may be valid, so this is repeated while the payoff grows.
fn climb_pieces<P: Continuous>(
    play: &mut Play<'_, '_, P>,
    us: Role,
    home: &P::State,
    mut plan: Plan<P::Move>,
) -> Plan<P::Move> {
    for _ in 0..MAX_PIECES {
        if play.meter.is_over(1) {
            break;
        }
        play.before.go_to(home);
        let line: Vec<Vec<P::Move>> = plan.arms.iter().map(|arm| vec![arm.m.clone()]).collect();
        let Some(polynomial) = play.before.payoff_along(&line, us) else { break };
        let (mut bounds, mut values, mut wide) = (Vec::new(), Vec::new(), Vec::new());
        for (arm, joint) in plan.arms.iter().zip(&line) {
            let (_, own) = play.before.coordinates(us, &arm.m).unwrap_or_default();
            let intervals = Actions::at(&*play.before, us).intervals(arm.group);
            // The numbers of a move without a choice are not part of the plan.
            wide.extend(own.iter().map(|_| intervals.len() == own.len()));
            bounds.extend(match intervals.len() == own.len() {
                true => intervals,
                false => own.iter().map(|&x| (x, x)).collect(),
            });
            values.extend(own);
            play.before.advance(joint);
        }
        play.before.go_to(home);
        let Some(best) = maximise(&polynomial, &bounds, &values) else { break };
        let share = |(x, (low, high)): (&f64, &(f64, f64))| match high > low {
            true => ((x - low) / (high - low)).clamp(0.0, 1.0),
            false => 0.0,
        };
        let shares = best.iter().zip(&bounds).map(share).zip(&wide);
        let point: Vec<f64> = shares.filter(|(_, is_wide)| **is_wide).map(|(x, _)| x).collect();
        match follow(play, us, home, &plan.arms, Some(&point)) {
            Some(next) if next.payoff > plan.payoff => plan = next,
            _ => break,
        }
    }
    plan
}

/// Refines a point of several coordinates, of which one line search alone would not be enough.
fn refine_all(start: Found, max_calls: usize, f: impl FnMut(&[f64]) -> Option<f64>) -> Found {
    refine(start, FIRST_STEP, max_calls, f)
}

fn better<M>(a: Option<Plan<M>>, b: Option<Plan<M>>) -> Option<Plan<M>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.payoff > a.payoff { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// Plays the discrete choices of a plan with other parameters. After the plan, or where the rules
/// forbid its move, actions are drawn. Returns `None` if the budget ends first or play does not end.
fn follow<P: Continuous>(
    play: &mut Play<'_, '_, P>,
    us: Role,
    home: &P::State,
    arms: &[Arm<P::Move>],
    point: Option<&[f64]>,
) -> Option<Plan<P::Move>> {
    let mut plan = Plan { keys: Vec::new(), arms: Vec::new(), payoff: 0.0 };
    let mut rest = point.unwrap_or(&[]);
    play.after.go_to(home);
    play.n_playouts += 1;
    for step in 0..play.options.max_steps {
        if play.after.is_terminal() {
            plan.payoff = payoffs(&play.after)[us.index()];
            play.meter.n_iterations += 1;
            return play.after.fault().is_none().then_some(plan);
        }
        if play.meter.is_over(64) {
            return None;
        }
        let position = &play.after;
        let actions = Actions::at(position, us);
        let planned = arms.get(step).and_then(|arm| {
            let (own, later) = rest.split_at_checked(arm.point.len())?;
            rest = later;
            let is_known = arm.group < actions.n_groups()
                && actions.n_parameters(arm.group) == arm.point.len();
            is_known.then(|| actions.arm(position, us, arm.group, own)).flatten()
        });
        let arm = planned.unwrap_or_else(|| actions.draw(position, us, play.rng));
        let mut joint: Vec<P::Move> = Vec::new();
        for role in position.shape().roles() {
            let m = if role == us { &arm.m } else { &position.legal_moves(role)[0] };
            joint.push(m.clone());
        }
        plan.keys.push(position.key());
        plan.arms.push(arm);
        play.after.advance(&joint);
        play.meter.n_nodes += 1;
    }
    None
}
