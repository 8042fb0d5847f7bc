//! The payoff at the end of a line of moves, as a polynomial in the numbers of one player's moves.

use agon_game::{Polynomial, Position as _, Role};
use agon_reals::real::Real;

use super::families::chooses_time;
use super::moves::Move;
use super::position::Interpreter;
use super::state::Phase;
use super::step::act;
use crate::arena::Effect;
use crate::continuous::{Act, NumbersOfAct, Pieces, Tracked, in_numbers};

/// Largest difference between a payoff and its polynomial at the given numbers, relative to its
/// size.
const TOLERANCE: f64 = 1e-7;

impl Interpreter {
    /// Returns the payoff of a role at the end of a line as a polynomial in the numbers of the
    /// role's moves. Returns `None` where it is not a polynomial: after an event, after a rule that
    /// changes the universe, or beyond polynomials in time.
    pub(super) fn polynomial_along(&self, line: &[Vec<Move>], role: Role) -> Option<Polynomial> {
        let numbers_of = |joint: &Vec<Move>| match joint.get(role.index()) {
            Some(Move::Apply { numbers, .. }) => numbers.as_slice().to_vec(),
            _ => Vec::new(),
        };
        let given: Vec<f64> = line.iter().flat_map(numbers_of).collect();
        let n_numbers = given.len();
        let mut pieces = Pieces::new(given);
        let mut position = self.clone();
        let mut n_used = 0;
        for joint in line {
            if position.is_terminal() {
                return None;
            }
            if position.state.content().phase == Phase::Choose {
                position.follow_pieces(joint, role, n_used, &mut pieces)?;
            }
            n_used += numbers_of(joint).len();
            position.advance(joint);
        }
        let values = position.state.values()?;
        let moment = position.moment(position.state.structure(), values);
        let location = position.game.arena().location(position.state.location());
        let payoff = location.payoffs.get(role.index())?;
        let tracked = pieces.term(moment, payoff, Vec::new(), &Vec::new()).ok()??;
        let actual = position.payoff(role);
        let is_right = (tracked.near - actual).abs() <= TOLERANCE * actual.abs().max(1.0);
        is_right.then(|| in_numbers(&tracked.polynomial, n_numbers))
    }

    /// Follows the values of functions through one joint move. The numbers of the role's move have
    /// the indices from `first` on.
    fn follow_pieces(
        &self,
        joint: &[Move],
        role: Role,
        first: usize,
        pieces: &mut Pieces,
    ) -> Option<()> {
        let arena = self.game.arena();
        let content = self.state.content();
        let moment = self.moment(&content.structure, content.values.as_deref()?);
        let applications = self.applications(joint).ok()?;
        let own = match joint.get(role.index()) {
            Some(Move::Apply { edge, .. }) => Some(*edge),
            _ => None,
        };
        let mut times: Vec<Tracked> = Vec::new();
        let mut numbers: Vec<NumbersOfAct> = Vec::new();
        for application in &applications {
            let label = application.edge.edge(arena);
            let is_own = Some(application.edge) == own;
            let mut next = first;
            let mut tracked = |is_chosen: bool, number: Real| {
                if !(is_own && is_chosen) {
                    return Tracked::number(number);
                }
                next += 1;
                pieces.variable(next - 1)
            };
            times.push(tracked(chooses_time(label), application.time));
            let parameters = application.parameters.iter().zip(&label.parameters);
            numbers.push(
                parameters
                    .map(|((name, value), (low, high))| {
                        (name.clone(), tracked(low != high, *value))
                    })
                    .collect(),
            );
        }
        let stepped = self.step(&applications).ok()?;
        let has_event = stepped.clock.n_events != content.clock.n_events
            || stepped.clock.window != content.clock.window;
        if has_event || stepped.motions.len() != 1 {
            return None;
        }
        let least = times.iter().map(|time| time.near).fold(f64::INFINITY, f64::min);
        let mut bounds = times.iter().filter(|time| time.near == least);
        let bound = bounds.next()?.clone();
        if bounds.any(|other| other.polynomial != bound.polynomial) {
            return None;
        }
        let acts: Vec<Act<'_>> = applications.iter().map(|a| act(arena, a)).collect();
        pieces.pass_time(arena, moment, &acts, &numbers, &bound).ok()?;
        let mut updates = Vec::new();
        for &place in &stepped.applied {
            let rule = arena.rule(applications[place].rule);
            if matches!(rule.effect, Effect::Rewrite(_)) {
                return None;
            }
            let mut own = numbers[place].clone();
            own.push((crate::continuous::time_variable(), bound.clone()));
            for update in &rule.updates {
                let element = applications[place].embedding[update.element];
                let target = (update.function, element);
                let new =
                    pieces.term(moment, &update.term, acts[place].elements(), &own).ok()??;
                if updates.iter().any(|(other, _)| *other == target) {
                    return None;
                }
                updates.push((target, new));
            }
        }
        updates.into_iter().for_each(|(place, value)| pieces.set(place, value));
        Some(())
    }
}
