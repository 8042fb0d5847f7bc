//! Regression of the goals of one role, for each of its moves.

use std::time::Instant;

use agon_circuit::{Circuit, Signal};
use agon_game::Role;

use super::formula::{Formula, Formulas};
use super::knowledge::{Knowledge, implied_facts};
use super::layer::{Layer, Recomputation, at};
use super::regress::{Aim, Extent, RegressError, RegressOptions};

/// Regression of the goals of one role.
pub(super) struct RoleRegression<'a> {
    pub(super) circuit: &'a Circuit,
    pub(super) role: Role,
    pub(super) knowledge: &'a Knowledge,
    pub(super) options: &'a RegressOptions,
    pub(super) extent: Extent,
    /// By fluent: the formula that stands for it.
    pub(super) leaves: &'a [Formula],
    /// The goals.
    pub(super) wanted: Vec<Signal>,
    /// Maximum number of operands of all formulas when the role is finished.
    pub(super) max_operands: usize,
    pub(super) deadline: Option<Instant>,
}

/// Facts implied by a move's being legal: fluents and whether they hold.
type Facts = Vec<(usize, bool)>;

/// One stage of regression: the conditions for the fluents of the next state or, in the last stage,
/// for the goals.
struct Stage {
    layer: Layer,
    /// By gate: its formula.
    values: Vec<Formula>,
    again: Recomputation,
    /// The fluents of the next state that gates of this stage compute: gate and fluent, sorted.
    makes: Vec<(usize, usize)>,
}

/// Number of moves that are tried first, to estimate the size of the formulas of all moves.
const N_SAMPLED: usize = 32;
/// One out of this many parts of the operands may be used for the formulas without a move.
const NO_MOVE_SHARE: usize = 3;

impl RoleRegression<'_> {
    /// Returns, by move, its regressed goals.
    ///
    /// The formulas are first computed as if the role made no move, which is the replacement of
    /// Trutman 2015, 4.3.2, that is the same for all moves without effect on a fluent. For each
    /// move, only the differences are then recomputed.
    pub(super) fn regress(
        &self,
        formulas: &mut Formulas,
    ) -> Result<Vec<Option<Vec<Formula>>>, RegressError> {
        let facts = self.facts();
        let mut stages = self.stages(&common_facts(&facts), formulas)?;
        self.estimate_cost(&facts, &mut stages, formulas)?;
        let mut regressed = Vec::with_capacity(facts.len());
        for (move_idx, facts) in facts.iter().enumerate() {
            regressed.push(match facts {
                Some(facts) => Some(self.regress_move(move_idx, facts, &mut stages, formulas)?),
                None => None,
            });
        }
        Ok(regressed)
    }

    /// Fails early if all moves would need too much size or time, estimated from a few of them.
    fn estimate_cost(
        &self,
        facts: &[Option<Facts>],
        stages: &mut [Stage],
        formulas: &mut Formulas,
    ) -> Result<(), RegressError> {
        let known: Vec<(usize, &Facts)> = facts
            .iter()
            .enumerate()
            .filter_map(|(at, facts)| Some((at, facts.as_ref()?)))
            .collect();
        let every = known.len() / N_SAMPLED;
        if every < 2 {
            return Ok(());
        }
        let (began, size) = (Instant::now(), formulas.size());
        let mut n_tried = 0;
        for &(move_idx, facts) in known.iter().step_by(every) {
            self.regress_move(move_idx, facts, stages, formulas)?;
            n_tried += 1;
        }
        let in_all = |amount: usize| amount / n_tried * known.len();
        if size + in_all(formulas.size() - size) > self.max_operands {
            return Err(RegressError::Size(self.options.max_operands));
        }
        let micros = in_all(began.elapsed().as_micros() as usize);
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        match left {
            Some(left) if left.as_micros() < micros as u128 => Err(RegressError::DeadlinePassed),
            _ => Ok(()),
        }
    }

    /// Builds the stages as if the role made no move.
    fn stages(&self, common: &Facts, formulas: &mut Formulas) -> Result<Vec<Stage>, RegressError> {
        let circuit = self.circuit;
        let mut outputs = self.wanted.clone();
        if self.extent.aim != Aim::Reach {
            outputs.push(circuit.outputs.terminal);
        }
        let mut layers = vec![Layer::new(circuit, &outputs, self.extent.max_level)];
        let mut makes = vec![Vec::new()];
        for _ in 0..self.extent.n_steps {
            let read = layers.last().expect("there is one").fluents(circuit);
            let next: Vec<Signal> =
                read.iter().map(|&fluent| circuit.outputs.next[fluent]).collect();
            // By gate of this stage: the fluents that it computes.
            let mut made: Vec<(usize, usize)> =
                next.iter().zip(&read).map(|(signal, &fluent)| (signal.gate(), fluent)).collect();
            made.sort_unstable();
            layers.push(Layer::new(circuit, &next, self.extent.max_level));
            makes.push(made);
        }
        let mut stages: Vec<Stage> = Vec::new();
        let size = formulas.size();
        for (number, (layer, makes)) in layers.into_iter().zip(makes).rev().enumerate() {
            let mut values = match number {
                0 => self.leaf_values(common),
                _ if number < self.extent.n_steps => self.later_values(common),
                _ => vec![Formula::FALSE; circuit.n_gates()],
            };
            if let Some(before) = stages.last() {
                for &(_, fluent) in &before.makes {
                    values[1 + fluent] = at(&before.values, circuit.outputs.next[fluent]);
                }
            }
            layer.cut.iter().for_each(|&gate| values[gate] = Formula::UNKNOWN);
            // If the formulas without a move exceed this share, all moves together will exceed the
            // limit.
            let most = size + (self.max_operands.saturating_sub(size)) / NO_MOVE_SHARE;
            let mut is_over = |formulas: &Formulas| formulas.size() > most || self.is_late();
            if !layer.compute(formulas, &mut values, &mut is_over) {
                return Err(self.refusal());
            }
            stages.push(Stage { layer, values, again: Recomputation::default(), makes });
        }
        Ok(stages)
    }

    /// Returns the goals regressed for one move. The stages are restored afterwards.
    fn regress_move(
        &self,
        move_idx: usize,
        facts: &Facts,
        stages: &mut [Stage],
        formulas: &mut Formulas,
    ) -> Result<Vec<Formula>, RegressError> {
        let circuit = self.circuit;
        let known = facts.iter().map(|&(fluent, holds)| (1 + fluent, Formula::constant(holds)));
        let made = circuit.inputs(self.role).start + move_idx;
        let mut changes: Vec<(usize, Formula)> = known.chain([(made, Formula::TRUE)]).collect();
        for Stage { layer, values, again, makes } in stages.iter_mut() {
            let is_over = &mut |formulas: &Formulas| self.is_over(formulas);
            if !layer.recompute(formulas, values, &changes, again, is_over) {
                return Err(self.refusal());
            }
            changes.clear();
            for &(gate, _) in &again.undo {
                let first = makes.partition_point(|&(maker, _)| maker < gate);
                for &(_, fluent) in makes[first..].iter().take_while(|&&(maker, _)| maker == gate) {
                    changes.push((1 + fluent, at(values, circuit.outputs.next[fluent])));
                }
            }
        }
        let values = &stages.last().expect("there is a stage for the goals").values;
        let end = at(values, circuit.outputs.terminal);
        let mut all = Vec::with_capacity(self.wanted.len());
        for &goal in &self.wanted {
            let goal = at(values, goal);
            all.push(match self.extent.aim {
                Aim::Reach => goal,
                Aim::ReachAtEnd => formulas.and(&mut vec![goal, end]),
                Aim::AvoidWorst => !formulas.and(&mut vec![goal, end]),
            });
        }
        stages.iter_mut().for_each(|stage| stage.again.undo(&mut stage.values));
        if self.is_over(formulas) { Err(self.refusal()) } else { Ok(all) }
    }

    /// Returns, by move, the facts implied by its being legal. `None` for moves that are not
    /// regressed.
    fn facts(&self) -> Vec<Option<Facts>> {
        let groups_of = self.knowledge.groups_of(self.circuit.base.len());
        let legal = self.circuit.outputs.legal[self.role.index()].iter().enumerate();
        let facts = legal.map(|(move_idx, &signal)| {
            if self.knowledge.waits(self.role, move_idx) {
                return None;
            }
            let facts = implied_facts(self.circuit, signal, &self.knowledge.groups, &groups_of)?;
            Some(if self.options.preconditions { facts } else { Vec::new() })
        });
        facts.collect()
    }

    /// Returns, by gate, the formulas of fluents and inputs if the role makes no move.
    fn leaf_values(&self, facts: &Facts) -> Vec<Formula> {
        let circuit = self.circuit;
        let mut values = vec![Formula::FALSE; circuit.n_gates()];
        values[1..circuit.first_input()].copy_from_slice(self.leaves);
        for &(fluent, holds) in facts {
            values[1 + fluent] = Formula::constant(holds);
        }
        self.set_others(&mut values);
        values
    }

    /// Sets the inputs of the other roles during the move of the role.
    fn set_others(&self, values: &mut [Formula]) {
        let circuit = self.circuit;
        for other in circuit.role_ids().filter(|&other| other != self.role) {
            let noop = self.knowledge.noop(other);
            let is_nature = circuit.roles[other.index()].is_nature;
            for (move_idx, gate) in circuit.inputs(other).enumerate() {
                // In turn-taking games the other players wait during the move (Trutman 2015, 3.2,
                // step 2c).
                values[gate] = match (&self.knowledge.turns, noop) {
                    _ if circuit.roles[other.index()].moves.len() == 1 => Formula::TRUE,
                    (Some(_), Some(noop)) if !is_nature => Formula::constant(noop == move_idx),
                    (Some(_), None) if !is_nature && !self.knowledge.waits(other, move_idx) => {
                        Formula::FALSE
                    }
                    _ => Formula::UNKNOWN,
                };
            }
        }
    }

    /// Returns, by gate, the moves in the step after the move of the role. They are unknown, except
    /// for moves that cannot be legal then and moves that are the only ones of a role. This is
    /// computed in three-valued logic from the facts that all moves of the role imply.
    fn later_values(&self, common: &Facts) -> Vec<Formula> {
        let circuit = self.circuit;
        let mut now = vec![Formula::FALSE; circuit.n_gates()];
        now[1..circuit.first_input()].fill(Formula::UNKNOWN);
        for &(fluent, holds) in common {
            now[1 + fluent] = Formula::constant(holds);
        }
        self.set_others(&mut now);
        for gate in circuit.inputs(self.role) {
            now[gate] = Formula::UNKNOWN;
        }
        propagate(circuit, &mut now);
        let mut after = vec![Formula::FALSE; circuit.n_gates()];
        for (fluent, &next) in circuit.outputs.next.iter().enumerate() {
            after[1 + fluent] = at(&now, next);
        }
        after[circuit.first_input()..circuit.first_and()].fill(Formula::UNKNOWN);
        propagate(circuit, &mut after);
        let mut values = vec![Formula::FALSE; circuit.n_gates()];
        for role in circuit.role_ids() {
            let legal = &circuit.outputs.legal[role.index()];
            let is_possible = |signal: &Signal| at(&after, *signal) != Formula::FALSE;
            let n_possible = legal.iter().filter(|signal| is_possible(signal)).count();
            for (gate, signal) in circuit.inputs(role).zip(legal) {
                values[gate] = match (is_possible(signal), n_possible) {
                    (false, _) => Formula::FALSE,
                    // A role has a legal move in every state that is not terminal.
                    (true, 1) => Formula::TRUE,
                    (true, _) => Formula::UNKNOWN,
                };
            }
        }
        values
    }

    fn is_over(&self, formulas: &Formulas) -> bool {
        formulas.size() > self.max_operands || self.is_late()
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() > deadline)
    }

    /// Returns the reason for stopping.
    fn refusal(&self) -> RegressError {
        if self.is_late() {
            RegressError::DeadlinePassed
        } else {
            RegressError::Size(self.options.max_operands)
        }
    }
}

/// Computes all gates in three-valued logic.
fn propagate(circuit: &Circuit, values: &mut [Formula]) {
    for (gate, &[a, b]) in (circuit.first_and()..).zip(&circuit.ands) {
        values[gate] = match (at(values, a), at(values, b)) {
            (Formula::FALSE, _) | (_, Formula::FALSE) => Formula::FALSE,
            (Formula::TRUE, Formula::TRUE) => Formula::TRUE,
            _ => Formula::UNKNOWN,
        };
    }
}

/// Returns the facts that all moves imply.
fn common_facts(facts: &[Option<Facts>]) -> Facts {
    let mut all = facts.iter().flatten();
    let Some(first) = all.next() else { return Facts::new() };
    let mut common = first.clone();
    for facts in all {
        common.retain(|fact| facts.binary_search(fact).is_ok());
    }
    common
}
