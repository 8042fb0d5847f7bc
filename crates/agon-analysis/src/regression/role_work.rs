//! The goals of one role, regressed for each of its moves.

use std::time::Instant;

use agon_circuit::{Circuit, Signal};
use agon_game::Role;

use super::formula::{Formula, Formulas};
use super::knowledge::{Knowledge, what_must_hold};
use super::layer::{Again, Layer, at};
use super::regress::{Aim, Extent, Refusal, RegressOptions};

/// Regressing the goals of one role.
pub(super) struct RoleWork<'a> {
    pub(super) circuit: &'a Circuit,
    pub(super) role: Role,
    pub(super) knowledge: &'a Knowledge,
    pub(super) options: &'a RegressOptions,
    pub(super) extent: Extent,
    /// By fluent: the formula that stands for it.
    pub(super) leaves: &'a [Formula],
    /// The goals.
    pub(super) wanted: Vec<Signal>,
    /// The most operands by the time the role is done.
    pub(super) max_operands: usize,
    pub(super) deadline: Option<Instant>,
}

/// What follows from a move's being legal: fluents and whether they hold.
type Facts = Vec<(usize, bool)>;

/// From one moment to the next: what makes fluents true there, or, at the last, what makes the goals true.
struct Stage {
    layer: Layer,
    /// By gate.
    values: Vec<Formula>,
    again: Again,
    /// The fluents of the moment after that gates here make true: gate and fluent, sorted.
    makes: Vec<(usize, usize)>,
}

/// So many moves are tried before all are, to see how large it will be.
const N_TRIED: usize = 32;
/// The part of all operands that may be needed as if the role did nothing.
const IDLE_PART: usize = 3;

impl RoleWork<'_> {
    /// By move: its regressed goals.
    ///
    /// First as if the role did nothing (the replacement of 4.3.2 that is the same for all moves it has nothing to do with),
    /// then, move by move, only what becomes different by it.
    pub(super) fn regress(
        &self,
        formulas: &mut Formulas,
    ) -> Result<Vec<Option<Vec<Formula>>>, Refusal> {
        let facts = self.facts();
        let mut stages = self.stages(&common_facts(&facts), formulas)?;
        self.try_some(&facts, &mut stages, formulas)?;
        let mut regressed = Vec::with_capacity(facts.len());
        for (move_idx, facts) in facts.iter().enumerate() {
            regressed.push(match facts {
                Some(facts) => Some(self.regress_move(move_idx, facts, &mut stages, formulas)?),
                None => None,
            });
        }
        Ok(regressed)
    }

    /// Gives up in time where all moves would take too much, judged by a few of them.
    fn try_some(
        &self,
        facts: &[Option<Facts>],
        stages: &mut [Stage],
        formulas: &mut Formulas,
    ) -> Result<(), Refusal> {
        let known: Vec<(usize, &Facts)> = facts
            .iter()
            .enumerate()
            .filter_map(|(at, facts)| Some((at, facts.as_ref()?)))
            .collect();
        let every = known.len() / N_TRIED;
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
            return Err(Refusal::Size(self.options.max_operands));
        }
        let micros = in_all(began.elapsed().as_micros() as usize);
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        match left {
            Some(left) if left.as_micros() < micros as u128 => Err(Refusal::Late),
            _ => Ok(()),
        }
    }

    /// The stages as if the role did nothing.
    fn stages(&self, common: &Facts, formulas: &mut Formulas) -> Result<Vec<Stage>, Refusal> {
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
            // By gate of this stage: the fluents that it makes true.
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
            // If no move at all takes so much, all moves together will take more than there may be.
            let most = size + (self.max_operands.saturating_sub(size)) / IDLE_PART;
            let mut is_over = |formulas: &Formulas| formulas.size() > most || self.is_late();
            if !layer.work_out(formulas, &mut values, &mut is_over) {
                return Err(self.refusal());
            }
            stages.push(Stage { layer, values, again: Again::default(), makes });
        }
        Ok(stages)
    }

    /// The goals regressed for one move. The stages are left as they were.
    fn regress_move(
        &self,
        move_idx: usize,
        facts: &Facts,
        stages: &mut [Stage],
        formulas: &mut Formulas,
    ) -> Result<Vec<Formula>, Refusal> {
        let circuit = self.circuit;
        let known = facts.iter().map(|&(fluent, holds)| (1 + fluent, Formula::constant(holds)));
        let made = circuit.inputs(self.role).start + move_idx;
        let mut changes: Vec<(usize, Formula)> = known.chain([(made, Formula::TRUE)]).collect();
        for Stage { layer, values, again, makes } in stages.iter_mut() {
            let is_over = &mut |formulas: &Formulas| self.is_over(formulas);
            if !layer.work_out_again(formulas, values, &changes, again, is_over) {
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

    /// By move: what follows from its being legal. None for moves that are not to be regressed.
    fn facts(&self) -> Vec<Option<Facts>> {
        let groups_of = self.knowledge.groups_of(self.circuit.base.len());
        let legal = self.circuit.outputs.legal[self.role.index()].iter().enumerate();
        let facts = legal.map(|(move_idx, &signal)| {
            if self.knowledge.waits(self.role, move_idx) {
                return None;
            }
            let facts = what_must_hold(self.circuit, signal, &self.knowledge.groups, &groups_of)?;
            Some(if self.options.preconditions { facts } else { Vec::new() })
        });
        facts.collect()
    }

    /// By gate: what the fluents and inputs are if the role does nothing.
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

    /// What the others do while the role moves.
    fn set_others(&self, values: &mut [Formula]) {
        let circuit = self.circuit;
        for other in circuit.role_ids().filter(|&other| other != self.role) {
            let noop = self.knowledge.noop(other);
            let is_nature = circuit.roles[other.index()].is_nature;
            for (move_idx, gate) in circuit.inputs(other).enumerate() {
                // Where players take turns, the others wait while we move (3.2, step 2c).
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

    /// By gate: what is done in the step after the role's move: unknown, but for moves that cannot be legal then and those that
    /// are a role's only ones. Worked out in three-valued logic from what follows from every one of the moves.
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
        settle(circuit, &mut now);
        let mut after = vec![Formula::FALSE; circuit.n_gates()];
        for (fluent, &next) in circuit.outputs.next.iter().enumerate() {
            after[1 + fluent] = at(&now, next);
        }
        after[circuit.first_input()..circuit.first_and()].fill(Formula::UNKNOWN);
        settle(circuit, &mut after);
        let mut values = vec![Formula::FALSE; circuit.n_gates()];
        for role in circuit.role_ids() {
            let legal = &circuit.outputs.legal[role.index()];
            let is_possible = |signal: &Signal| at(&after, *signal) != Formula::FALSE;
            let n_possible = legal.iter().filter(|signal| is_possible(signal)).count();
            for (gate, signal) in circuit.inputs(role).zip(legal) {
                values[gate] = match (is_possible(signal), n_possible) {
                    (false, _) => Formula::FALSE,
                    // Roles have a legal move wherever play goes on.
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

    /// Why it was over.
    fn refusal(&self) -> Refusal {
        if self.is_late() { Refusal::Late } else { Refusal::Size(self.options.max_operands) }
    }
}

/// Works all gates out where leaves are true, false or unknown.
fn settle(circuit: &Circuit, values: &mut [Formula]) {
    for (gate, &[a, b]) in (circuit.first_and()..).zip(&circuit.ands) {
        values[gate] = match (at(values, a), at(values, b)) {
            (Formula::FALSE, _) | (_, Formula::FALSE) => Formula::FALSE,
            (Formula::TRUE, Formula::TRUE) => Formula::TRUE,
            _ => Formula::UNKNOWN,
        };
    }
}

/// What follows from every one of the moves.
fn common_facts(facts: &[Option<Facts>]) -> Facts {
    let mut all = facts.iter().flatten();
    let Some(first) = all.next() else { return Facts::new() };
    let mut common = first.clone();
    for facts in all {
        common.retain(|fact| facts.binary_search(fact).is_ok());
    }
    common
}
