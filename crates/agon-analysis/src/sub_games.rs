//! What the goals of a game for one player read of its independent sub-games.
//!
//! A game that consists of independent sub-games is far smaller apart than together: twelve boards
//! with a thousand states each have 10^36 states, but only 12,000 that differ within a board
//! (Günther, Schiffel & Thielscher 2009). A search explores each sub-game alone and asks here which
//! of its states differ for the goals, and which choice of one for each sub-game reaches the best
//! payoff.

use std::sync::Arc;

use agon_circuit::{Circuit, Compiled, Signal};

use crate::properties::{Properties, SubGame};

/// The independent sub-games of a game for one player.
pub struct SubGames {
    compiled: Arc<Compiled>,
    parts: Vec<Part>,
    /// The goals of the player with the conditions for them, highest first.
    goals: Vec<(i64, Signal)>,
    /// The gates that depend on several sub-games or on facts outside of all, in topological order.
    upper: Vec<usize>,
}

/// A sub-game.
struct Part {
    fluents: Vec<usize>,
    moves: Vec<usize>,
    /// The gates that depend on this sub-game alone, in topological order.
    gates: Vec<usize>,
    /// Those of its gates that the goals read.
    conditions: Vec<usize>,
}

/// Where a gate gets its value from.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Source {
    Constant,
    Part(usize),
    /// Facts outside of the sub-games, such as a step counter, or several sub-games.
    Mixed,
}

/// States of a sub-game that are alike for the goals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateClass {
    /// Which of the conditions of the goals hold, as [`SubGames::conditions`] returns them.
    pub conditions: Vec<bool>,
    /// The number of moves that lead to such a state.
    pub cost: usize,
}

/// Maximum number of partial choices that [`SubGames::choose`] looks at.
const MAX_CHOICES: usize = 200_000;

impl SubGames {
    /// Returns the sub-games of a game, or `None` if it has more than one role or is not known to
    /// consist of sub-games.
    pub fn new(compiled: &Arc<Compiled>, properties: &Properties) -> Option<SubGames> {
        let circuit: &Circuit = &compiled.circuit;
        let [goals] = circuit.outputs.goals.as_slice() else { return None };
        let found = &properties.parts;
        if found.len() < 2 {
            return None;
        }
        let mut sources = vec![Source::Constant; circuit.n_gates()];
        sources[1..circuit.first_and()].fill(Source::Mixed);
        for (number, part) in found.iter().enumerate() {
            for &bit in &part.fluents {
                sources[circuit.base(bit).gate()] = Source::Part(number);
            }
        }
        for (gate, [a, b]) in (circuit.first_and()..).zip(&circuit.ands) {
            sources[gate] = match [sources[a.gate()], sources[b.gate()]] {
                [Source::Constant, other] | [other, Source::Constant] => other,
                [a, b] if a == b => a,
                _ => Source::Mixed,
            };
        }
        let mut is_read = vec![false; circuit.n_gates()];
        let mut is_condition = vec![false; circuit.n_gates()];
        for &(_, signal) in goals {
            is_read[signal.gate()] = true;
            is_condition[signal.gate()] = true;
        }
        for gate in (circuit.first_and()..circuit.n_gates()).rev() {
            if !is_read[gate] {
                continue;
            }
            for operand in circuit.ands[gate - circuit.first_and()].map(Signal::gate) {
                is_read[operand] = true;
                is_condition[operand] |= sources[gate] == Source::Mixed;
            }
        }
        let of = |wanted: Source| {
            let is_read = &is_read;
            let sources = &sources;
            (1..circuit.n_gates()).filter(move |&gate| is_read[gate] && sources[gate] == wanted)
        };
        let part = |(number, part): (usize, &SubGame)| {
            let gates: Vec<usize> = of(Source::Part(number)).collect();
            Part {
                fluents: part.fluents.clone(),
                moves: part.moves.iter().map(|&(_, place)| place).collect(),
                conditions: gates.iter().copied().filter(|&gate| is_condition[gate]).collect(),
                gates: gates.into_iter().filter(|&gate| gate >= circuit.first_and()).collect(),
            }
        };
        let parts = found.iter().enumerate().map(part).collect();
        let upper = of(Source::Mixed).filter(|&gate| gate >= circuit.first_and()).collect();
        let goals = goals.iter().rev().copied().collect();
        Some(SubGames { compiled: Arc::clone(compiled), parts, goals, upper })
    }

    /// Returns the number of sub-games.
    pub fn n_parts(&self) -> usize {
        self.parts.len()
    }

    /// Returns the texts of the facts of a sub-game.
    pub fn facts(&self, part: usize) -> impl Iterator<Item = &str> {
        self.parts[part].fluents.iter().map(|&bit| self.compiled.circuit.base[bit].as_str())
    }

    /// Returns the texts of the moves of a sub-game.
    pub fn moves(&self, part: usize) -> impl Iterator<Item = &str> {
        let moves = &self.compiled.circuit.roles[0].moves;
        self.parts[part].moves.iter().map(|&place| moves[place].as_str())
    }

    /// Returns which of the conditions that the goals read of a sub-game hold in a state. `holds`
    /// says of the facts of the sub-game, in the order of [`SubGames::facts`], whether they hold.
    pub fn conditions(&self, part: usize, holds: &[bool]) -> Vec<bool> {
        let circuit = &self.compiled.circuit;
        let part = &self.parts[part];
        let mut values = vec![false; circuit.n_gates()];
        for (&bit, &holds) in part.fluents.iter().zip(holds) {
            values[circuit.base(bit).gate()] = holds;
        }
        for &gate in &part.gates {
            let [a, b] = circuit.ands[gate - circuit.first_and()];
            let value = |signal: Signal| values[signal.gate()] != signal.is_inverted();
            values[gate] = value(a) && value(b);
        }
        part.conditions.iter().map(|&gate| values[gate]).collect()
    }

    /// Returns the payoffs that the player may get, highest first.
    pub fn payoffs(&self) -> impl Iterator<Item = i64> {
        self.goals.iter().map(|&(payoff, _)| payoff)
    }

    /// Chooses one class of states for each sub-game, so that the goal with this place in
    /// [`SubGames::payoffs`] may hold, with the fewest moves. `classes` has the reachable classes of
    /// each sub-game. Facts outside of the sub-games may have any value. Returns `None` if no choice
    /// was found.
    pub fn choose(&self, goal: usize, classes: &[Vec<StateClass>]) -> Option<Vec<usize>> {
        let mut orders: Vec<Vec<usize>> = Vec::new();
        for classes in classes {
            let mut order: Vec<usize> = (0..classes.len()).collect();
            order.sort_by_key(|&class| classes[class].cost);
            orders.push(order);
        }
        let mut choice = Choice {
            sub_games: self,
            goal: self.goals[goal].1,
            classes,
            orders,
            values: vec![None; self.compiled.circuit.n_gates()],
            chosen: Vec::new(),
            best: None,
            n_left: MAX_CHOICES,
        };
        choice.values[0] = Some(false);
        choice.search(0);
        choice.best.map(|(_, chosen)| chosen)
    }
}

/// The search for the cheapest choice: depth first over the sub-games. Gates whose value depends on
/// sub-games that are still open have no value.
struct Choice<'a> {
    sub_games: &'a SubGames,
    goal: Signal,
    classes: &'a [Vec<StateClass>],
    /// By sub-game: its classes, cheapest first.
    orders: Vec<Vec<usize>>,
    values: Vec<Option<bool>>,
    chosen: Vec<usize>,
    best: Option<(usize, Vec<usize>)>,
    n_left: usize,
}

impl Choice<'_> {
    fn search(&mut self, cost: usize) {
        let is_better = self.best.as_ref().is_none_or(|(best, _)| cost < *best);
        if self.n_left == 0 || !is_better || self.goal_value() == Some(false) {
            return;
        }
        self.n_left -= 1;
        let part = self.chosen.len();
        if part == self.classes.len() {
            self.best = Some((cost, self.chosen.clone()));
            return;
        }
        let (sub_games, classes) = (self.sub_games, self.classes);
        let conditions = &sub_games.parts[part].conditions;
        for at in 0..self.orders[part].len() {
            let number = self.orders[part][at];
            let class = &classes[part][number];
            for (&gate, &holds) in conditions.iter().zip(&class.conditions) {
                self.values[gate] = Some(holds);
            }
            self.chosen.push(number);
            self.search(cost + class.cost);
            self.chosen.pop();
        }
        conditions.iter().for_each(|&gate| self.values[gate] = None);
    }

    fn goal_value(&mut self) -> Option<bool> {
        let circuit = &self.sub_games.compiled.circuit;
        for &gate in &self.sub_games.upper {
            let operands = circuit.ands[gate - circuit.first_and()];
            let [a, b] = operands.map(|signal| self.value(signal));
            self.values[gate] = match (a, b) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
        }
        self.value(self.goal)
    }

    fn value(&self, signal: Signal) -> Option<bool> {
        self.values[signal.gate()].map(|value| value != signal.is_inverted())
    }
}
