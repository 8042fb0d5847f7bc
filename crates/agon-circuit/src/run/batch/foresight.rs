//! Moves that win at once and moves that lose at once, as gates.
//!
//! A move *wins* if the next state is terminal and has the best goal value of the role that moves
//! (decisive moves; Teytaud & Teytaud 2010). A move is *dangerous* if another role has a winning
//! move in the next state. For each move the terminal and goal conditions of the next state are
//! added to the logic of a step, with the move as a constant. They restrict the legal moves that
//! the sampler draws from.
//!
//! The condition of a move differs from that of any other only in the gates that depend on the
//! move, so only these are built for each move (`cofactor`). What is known wherever the condition
//! matters is used as well: play has not ended, and the move is legal. In most games this leaves a
//! few gates for each move.

mod cofactor;

use super::playout::Playable;
use crate::form::graph::Graph;
use crate::run::phases::Phases;
use crate::{Circuit, Signal, Turns};
use cofactor::{Cofactor, Effort, Known};

/// How far the moves of playouts look ahead.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Foresight {
    /// A winning move is made where there is one.
    Wins,
    /// Otherwise a move is made that is not dangerous, if there is one.
    Safe,
}

/// The players of a game, as far as looking ahead depends on them.
#[derive(Copy, Clone)]
pub(crate) struct Players<'t> {
    /// Whether at most one player has a choice at a time.
    pub(crate) take_turns: bool,
    /// The waiting moves, if they are known and the circuit is not cut into phases.
    pub(crate) turns: Option<&'t Turns>,
}

/// Maximum number of gates that are evaluated for one step: about a quarter of a second.
const MAX_EVALUATED: usize = 1_000_000;

/// A phase whose moves look ahead.
pub(crate) struct Ahead<'p> {
    pub(crate) playable: &'p Playable,
    pub(crate) phase: usize,
    pub(crate) foresight: Foresight,
    pub(crate) players: Players<'p>,
    /// Maximum number of gates of the graph.
    pub(crate) max_gates: usize,
}

impl Ahead<'_> {
    /// Restricts the legal moves to those that are to be made.
    ///
    /// `map` has the signals of the gates of the state in the graph. The legal moves stay as they
    /// are where looking ahead is not possible: where several roles choose at the same time, or
    /// nature does. Returns `None` if the graph would have too many gates, or if building it would
    /// take too long.
    pub(crate) fn restrict(
        &self,
        graph: &mut Graph,
        map: &[Signal],
        legal: &[Vec<Signal>],
    ) -> Option<Vec<Vec<Signal>>> {
        let Ahead { playable, phase, foresight, players, max_gates } = *self;
        let mut effort = Effort { max_gates, left: MAX_EVALUATED };
        let phases = &playable.phases;
        let mut restricted = legal.to_vec();
        for role in choosers(&phases.circuits[phase], players) {
            let site = Site { phases, phase, players, map, legal, role };
            let moves = site.moves(graph, foresight, &mut effort)?;
            if !moves.is_empty() {
                restricted[role] = prefer(graph, &legal[role], &moves);
            }
        }
        Some(restricted)
    }
}

/// Returns the roles that look ahead in a phase.
fn choosers(circuit: &Circuit, players: Players<'_>) -> Vec<usize> {
    let has_choice = |&role: &usize| {
        circuit.outputs.legal[role].iter().filter(|&&legal| legal != Signal::FALSE).count() > 1
    };
    let choosers: Vec<usize> = (0..circuit.roles.len()).filter(has_choice).collect();
    let is_left_alone = choosers.len() == 1 || players.take_turns;
    let has_chance = choosers.iter().any(|&role| circuit.roles[role].is_nature);
    if is_left_alone && !has_chance { choosers } else { Vec::new() }
}

/// What is known of a move that may be restricted.
#[derive(Copy, Clone)]
struct Outlook {
    /// The number of the move.
    number: usize,
    /// It is legal and wins.
    wins: Signal,
    /// It is worse than moves of which this is not true.
    is_bad: Signal,
}

/// Returns the legal moves that are to be made: those that win, or else those that are not bad, or
/// else all of them.
fn prefer(graph: &mut Graph, legal: &[Signal], moves: &[Outlook]) -> Vec<Signal> {
    let wins: Vec<Signal> = moves.iter().map(|m| m.wins).collect();
    let any_wins = graph.or_all(&wins);
    // Many moves have the same condition, and it is combined with that of all of them once.
    let mut groups: Vec<(Signal, Vec<Signal>)> = Vec::new();
    for m in moves {
        match groups.iter_mut().find(|(is_bad, _)| *is_bad == m.is_bad) {
            Some((_, of_group)) => of_group.push(legal[m.number]),
            None => groups.push((m.is_bad, vec![legal[m.number]])),
        }
    }
    let mut good = Vec::with_capacity(groups.len());
    for (is_bad, of_group) in &groups {
        let any = if *is_bad == Signal::TRUE { Signal::FALSE } else { graph.or_all(of_group) };
        good.push(graph.and(any, !*is_bad));
    }
    let any_good = if groups.iter().all(|(is_bad, _)| *is_bad == Signal::FALSE) {
        Signal::TRUE
    } else {
        graph.or_all(&good)
    };
    let mut preferred = legal.to_vec();
    for m in moves {
        let is_avoided = graph.and(m.is_bad, any_good);
        let is_allowed = graph.and(!any_wins, !is_avoided);
        let is_drawn = graph.and(legal[m.number], is_allowed);
        preferred[m.number] = graph.or(m.wins, is_drawn);
    }
    preferred
}

/// A role at the states of a phase, in a graph.
struct Site<'s> {
    phases: &'s Phases,
    phase: usize,
    players: Players<'s>,
    /// By gate of the phase's circuit: its signal. Gates that depend on moves are not used.
    map: &'s [Signal],
    /// By role and move: the legal signal.
    legal: &'s [Vec<Signal>],
    role: usize,
}

impl Site<'_> {
    fn circuit(&self) -> &Circuit {
        &self.phases.circuits[self.phase]
    }

    /// Returns what is known of the moves of the role. Empty if no move ever wins or is bad.
    fn moves(
        &self,
        graph: &mut Graph,
        foresight: Foresight,
        effort: &mut Effort,
    ) -> Option<Vec<Outlook>> {
        let after = self.phases.after(self.phase);
        let next = &self.phases.circuits[after];
        let threats = match foresight {
            Foresight::Wins => None,
            Foresight::Safe => {
                Some(Threats::new(self.phases, after, self.players, self.role, effort)?)
            }
        };
        let threats = threats.as_ref().filter(|threats| !threats.wins.is_empty());
        let goal = best_goal(next, self.role);
        if goal == Signal::FALSE && threats.is_none() {
            return Some(Vec::new());
        }
        let mut step = self.step(graph);
        let roots = [next.outputs.terminal, goal];
        let mut ahead = after_step(graph, &step, self.circuit(), next, &roots);
        let mut danger = threats.map(|threats| {
            let next = self.circuit().outputs.next.iter();
            let mut leaves = vec![Signal::FALSE];
            leaves.extend(next.map(|&signal| step.unchanged(signal)));
            let root = threats.any;
            (root, Cofactor::new(graph, threats.graph.ands(), leaves, [root].into_iter()))
        });
        // The base bits that the roots depend on, with their next signals.
        let is_read = |bit: &usize| {
            ahead.is_wanted(1 + bit) || danger.as_ref().is_some_and(|(_, d)| d.is_wanted(1 + bit))
        };
        let read: Vec<usize> = (0..self.circuit().base.len()).filter(is_read).collect();
        let mut known = Known::default();
        let terminal = self.circuit().outputs.terminal;
        let terminal = self.map[terminal.gate()].inverted_if(terminal.is_inverted());
        known.assume(graph, !terminal);
        let n_known = known.n_gates();
        let first = self.circuit().inputs(agon_game::Role::new(self.role)).start;
        let mut moves = Vec::new();
        for number in self.numbers() {
            let legal = self.legal[self.role][number];
            known.assume(graph, legal);
            step.set(first + number, Signal::TRUE);
            step.evaluate(graph, &known, effort)?;
            for &bit in &read {
                let signal = step.signal(self.circuit().outputs.next[bit], &known);
                ahead.set(1 + bit, signal);
                if let Some((_, danger)) = &mut danger {
                    danger.set(1 + bit, signal);
                }
            }
            ahead.evaluate(graph, &known, effort)?;
            let ends = ahead.signal(next.outputs.terminal, &known);
            let is_best = ahead.signal(goal, &known);
            let wins = both(graph, is_best, ends);
            let wins = graph.and(legal, wins);
            let is_bad = if let Some((root, danger)) = &mut danger {
                danger.evaluate(graph, &known, effort)?;
                let loses = danger.signal(*root, &known);
                danger.reset();
                graph.and(loses, !ends)
            } else {
                Signal::FALSE
            };
            moves.push(Outlook { number, wins, is_bad });
            step.reset();
            ahead.reset();
            known.forget(n_known);
        }
        if moves.iter().all(|m| m.wins == Signal::FALSE && m.is_bad == moves[0].is_bad) {
            moves.clear();
        }
        Some(moves)
    }

    /// Returns the numbers of the moves that may be restricted.
    fn numbers(&self) -> Vec<usize> {
        let legal = &self.legal[self.role];
        let waits = self.players.turns.map(|turns| &turns.waits[self.role]);
        (0..legal.len())
            .filter(|&m| legal[m] != Signal::FALSE && waits.is_none_or(|waits| !waits[m]))
            .collect()
    }

    /// Returns the next state if the role makes no move. The other roles make their only legal
    /// moves.
    fn step(&self, graph: &mut Graph) -> Cofactor<'_> {
        let circuit = self.circuit();
        let mut leaves = self.map[..circuit.first_input()].to_vec();
        for (role, legal) in self.legal.iter().enumerate() {
            let is_own = role == self.role;
            leaves.extend(legal.iter().map(|&legal| if is_own { Signal::FALSE } else { legal }));
        }
        Cofactor::new(graph, &circuit.ands, leaves, circuit.outputs.next.iter().copied())
    }
}

/// Returns the logic of the roots in the state after a step.
fn after_step<'n>(
    graph: &mut Graph,
    step: &Cofactor<'_>,
    circuit: &Circuit,
    next: &'n Circuit,
    roots: &[Signal],
) -> Cofactor<'n> {
    let mut leaves = vec![Signal::FALSE];
    leaves.extend(circuit.outputs.next.iter().map(|&signal| step.unchanged(signal)));
    // The outputs of a state do not depend on the moves made there.
    leaves.resize(next.first_and(), Signal::FALSE);
    Cofactor::new(graph, &next.ands, leaves, roots.iter().copied())
}

/// Returns the condition of the highest goal value of a role. False if the role has only one value,
/// because then it wins nothing.
fn best_goal(circuit: &Circuit, role: usize) -> Signal {
    let mut possible =
        circuit.outputs.goals[role].iter().rev().map(|&(_, s)| s).filter(|&s| s != Signal::FALSE);
    let best = possible.next().unwrap_or(Signal::FALSE);
    if best == Signal::TRUE { Signal::FALSE } else { best }
}

/// Maximum number of alternatives of a goal that are looked for among those of the end of play.
const MAX_ALTERNATIVES: usize = 256;

/// Returns the conjunction of a goal and the end of play. In most games the one implies the other.
fn both(graph: &mut Graph, goal: Signal, ends: Signal) -> Signal {
    let alternatives = |signal: Signal| {
        let mut all = vec![signal];
        let mut at = 0;
        while at < all.len() && all.len() < MAX_ALTERNATIVES {
            let signal = all[at];
            at += 1;
            if let Some(operands) = graph.operands(signal).filter(|_| signal.is_inverted()) {
                all.extend(operands.map(|operand| !operand));
            }
        }
        all
    };
    let is_alternative = |of: &[Signal], signal: Signal| of.contains(&signal);
    let of_end = alternatives(ends);
    // The goal implies the end if all its alternatives do. An alternative that is a disjunction is
    // covered by its parts.
    let mut stack = vec![goal];
    let mut n_left = MAX_ALTERNATIVES;
    let implies = loop {
        let Some(signal) = stack.pop() else { break true };
        if is_alternative(&of_end, signal) {
            continue;
        }
        n_left -= 1;
        match graph.operands(signal) {
            Some(operands) if signal.is_inverted() && n_left > 0 => {
                stack.extend(operands.map(|operand| !operand));
            }
            _ => break false,
        }
    };
    if implies { goal } else { graph.and(goal, ends) }
}

/// The winning moves of other roles, over the base bits.
struct Threats {
    /// The leaves are the base bits.
    graph: Graph,
    /// The role, the number of the move, and the condition under which it wins.
    wins: Vec<(usize, usize, Signal)>,
    /// Any of them wins.
    any: Signal,
}

impl Threats {
    /// Builds the conditions under which a role other than the victim wins at once in a phase.
    fn new(
        phases: &Phases,
        phase: usize,
        players: Players<'_>,
        victim: usize,
        effort: &mut Effort,
    ) -> Option<Threats> {
        let circuit = &phases.circuits[phase];
        let mut graph = Graph::new(circuit.base.len());
        let mut map = vec![Signal::FALSE; circuit.n_gates()];
        for (bit, signal) in map[1..=circuit.base.len()].iter_mut().enumerate() {
            *signal = graph.leaf(bit);
        }
        let reads_input = circuit.reads_input();
        graph.embed(circuit, &mut map, |gate| !reads_input[gate]);
        let of = |&signal: &Signal| map[signal.gate()].inverted_if(signal.is_inverted());
        let legal: Vec<Vec<Signal>> =
            circuit.outputs.legal.iter().map(|of_role| of_role.iter().map(of).collect()).collect();
        let mut wins = Vec::new();
        let after = &phases.circuits[phases.after(phase)];
        for role in choosers(circuit, players) {
            // Roles that win together are not a threat to each other.
            if role == victim || best_goal(after, role) == best_goal(after, victim) {
                continue;
            }
            let site = Site { phases, phase, players, map: &map, legal: &legal, role };
            let moves = site.moves(&mut graph, Foresight::Wins, effort)?;
            let winning = moves.iter().filter(|m| m.wins != Signal::FALSE);
            wins.extend(winning.map(|m| (role, m.number, m.wins)));
        }
        let all: Vec<Signal> = wins.iter().map(|&(_, _, wins)| wins).collect();
        let any = graph.or_all(&all);
        Some(Threats { graph, wins, any })
    }
}
