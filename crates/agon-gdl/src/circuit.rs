//! Grounds a finite game and turns it into a circuit: every ground atom is a signal.
//!
//! The two halves are [`Game::ground_rules`] and [`GroundRules::wire`]. [`Game::ground`] runs both,
//! and [`Game::compile`] also optimises the circuit, ready to be played.
//!
//! **Grounding** ([`agon_datalog`]): rules that differ in one condition are merged (`merge`),
//! relations are limited to the arguments that are asked for (`demand`), rules with many variables
//! are split by tree decomposition (`split`), and static relations are computed (`materialise`).
//! Then every rule instance that could ever apply is found semi-naively (`ground`): whatever is
//! derived for `next` may hold, whatever is legal may be done, and negated conditions on relations
//! that change may be true. If that exceeds the limits, the result is a [`Refusal`] that names the
//! rule, and the game is played by the interpreter.
//!
//! **Wiring** (this module): an atom is the disjunction of its rule instances, and a rule instance
//! the conjunction of its conditions. Atoms that depend on each other are unrolled to their least
//! fixpoint. Moves and fluents are listed in the order of the interpreter, so that both engines
//! number moves alike.
//!
//! [`reachable`](Game::reachable) finds the terms of states and moves alone. The module
//! `candidates` proposes groups of fluents of which at most one may hold.

mod candidates;
mod compile;
mod order;
mod reachable;

use std::time::Instant;

use agon_circuit::{Builder, Circuit, CircuitRole, Outputs, Signal};
use agon_datalog::{
    AtomId, GroundLimits, GroundProgram, Limits, MaterialiseLimits, PredicateId, Refusal,
    RefusalKind, SplitLimits, TermId, demand, ground, materialise, merge, split,
};

use crate::interpreter::Game;
use crate::interpreter::compile::compile as compile_rules;
use crate::symbols::keyword;
use order::components;

pub use agon_circuit::Compiled;
pub use compile::NoCircuit;
pub use reachable::Reachable;

/// Limits on the size and the cost of a circuit.
#[derive(Clone, Debug)]
pub struct CircuitLimits {
    /// Limits on grounding.
    pub ground: GroundLimits,
    /// Maximum number of gates before optimisation.
    pub gates: usize,
}

impl CircuitLimits {
    /// Returns these limits within those of an opened game: a game that is cancelled or out of time
    /// is not grounded either.
    fn within(&self, game: &Limits) -> CircuitLimits {
        let mut limits = self.clone();
        let deadlines = [limits.ground.deadline, game.deadline];
        limits.ground.deadline = deadlines.into_iter().flatten().min();
        limits.ground.stop = limits.ground.stop.or(&game.stop);
        limits
    }
}

impl Default for CircuitLimits {
    fn default() -> CircuitLimits {
        // 12 million: twice the largest number that a public rulesheet needs (linesOfAction, 6.4
        // million). Optimisation takes many seconds per million, and a step of so large a circuit
        // is not faster than one of the interpreter.
        CircuitLimits { ground: GroundLimits::default(), gates: 12_000_000 }
    }
}

/// A circuit and the size of the ground program it was made from.
pub struct GroundGame {
    /// The circuit, not yet optimised.
    pub circuit: Circuit,
    /// Number of ground atoms.
    pub n_atoms: usize,
    /// Number of rule instances.
    pub n_rules: usize,
    /// Groups of base bits of which possibly at most one is true at a time, as input of the group
    /// proofs of `agon_circuit`.
    pub candidates: Vec<Vec<usize>>,
}

/// The rule instances of a game.
pub struct GroundRules<'g> {
    game: &'g Game,
    program: GroundProgram,
    relations: Relations,
}

/// The part of a rule in the ground program.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct RuleCost {
    /// Number of instances that could ever apply.
    pub instances: usize,
    /// Number of conditions of all instances that depend on the state or on moves. Each is an input
    /// of a gate before optimisation.
    pub conditions: usize,
}

impl GroundRules<'_> {
    /// Returns the cost of each rule, in the order of [`CheckedRules::rules`]. Rules that differ in
    /// one condition are grounded as one, which is counted for the first of them.
    ///
    /// [`CheckedRules::rules`]: crate::check::CheckedRules::rules
    pub fn costs(&self) -> Vec<RuleCost> {
        let mut costs = vec![RuleCost::default(); self.game.rules().rules().len()];
        for rule in self.program.rules() {
            let Some(cost) = costs.get_mut(rule.origin as usize) else { continue };
            cost.instances += 1;
            cost.conditions += rule.positive.len() + rule.negative().count();
        }
        costs
    }

    /// Builds a circuit of the rule instances: the second half of [`Game::ground`].
    pub fn wire(&self, limits: &CircuitLimits) -> Result<GroundGame, Refusal> {
        let GroundRules { game, program, relations } = self;
        let limits = &limits.within(&game.options().limits);
        let wiring = Wiring::new(game, program, relations);
        let circuit = wiring.wire(limits)?;
        let candidates = candidates::candidates(&game.bank, &wiring.base, &circuit.initial);
        Ok(GroundGame {
            circuit,
            n_atoms: program.n_atoms(),
            n_rules: program.n_rules(),
            candidates,
        })
    }
}

/// The relations of the program that the circuit needs.
struct Relations {
    state: PredicateId,
    moves: PredicateId,
    init: PredicateId,
    next: PredicateId,
    legal: PredicateId,
    goal: PredicateId,
    terminal: PredicateId,
    sees: PredicateId,
}

impl Game {
    /// Grounds the game and builds its circuit.
    ///
    /// # Errors
    /// If that exceeds the limits. The game can still be played by the interpreter.
    pub fn ground(&self, limits: &CircuitLimits) -> Result<GroundGame, Refusal> {
        self.ground_rules(limits)?.wire(limits)
    }

    /// Finds every rule instance that could ever apply: the first half of [`Game::ground`].
    pub fn ground_rules(&self, limits: &CircuitLimits) -> Result<GroundRules<'_>, Refusal> {
        let limits = &limits.within(&self.options().limits);
        let mut compiled = compile_rules(self.rules().rules());
        let relations = Relations {
            state: compiled.predicate(keyword::TRUE, 1),
            moves: compiled.predicate(keyword::DOES, 2),
            init: compiled.predicate(keyword::INIT, 1),
            next: compiled.predicate(keyword::NEXT, 1),
            legal: compiled.predicate(keyword::LEGAL, 2),
            goal: compiled.predicate(keyword::GOAL, 2),
            terminal: compiled.predicate(keyword::TERMINAL, 0),
            sees: compiled.predicate(keyword::SEES, 2),
        };
        let r = &relations;
        let roots = [r.terminal, r.legal, r.goal, r.next, r.sees, r.init];
        let feeds = [(r.init, r.state), (r.next, r.state), (r.legal, r.moves)];
        let mut program = compiled.program;
        merge(&mut program);
        let materialise_limits = MaterialiseLimits {
            deadline: limits.ground.deadline,
            stop: limits.ground.stop.clone(),
            ..MaterialiseLimits::default()
        };
        let split_limits = SplitLimits {
            deadline: limits.ground.deadline,
            stop: limits.ground.stop.clone(),
            ..SplitLimits::default()
        };
        materialise(&mut program, &self.bank, &roots, &materialise_limits);
        demand(&mut program, &self.bank, &roots);
        split(&mut program, &split_limits);
        materialise(&mut program, &self.bank, &roots, &materialise_limits);
        let program = ground(program, &self.bank, &feeds, &roots, &limits.ground)?;
        Ok(GroundRules { game: self, program, relations })
    }

    /// Describes why a game has no circuit, with the place of the rule.
    pub fn refusal_text(&self, refusal: &Refusal) -> String {
        self.fault(refusal).to_string()
    }
}

/// Returns the disjunction of `ways`. The tree of gates follows the signals' numbers as binary
/// words, so that lists that differ in few signals share all but a few gates. Conditions on "all
/// squares but one" are an example.
fn any(builder: &mut Builder, ways: &mut Vec<Signal>) -> Signal {
    ways.sort_unstable();
    ways.dedup();
    if ways.len() < 8 {
        return builder.or_all(ways);
    }
    fn tree(builder: &mut Builder, ways: &[Signal]) -> Signal {
        let (first, last) = (ways[0].literal(), ways[ways.len() - 1].literal());
        if ways.len() == 1 {
            return ways[0];
        }
        let bit = (first ^ last).ilog2();
        let half = ways.partition_point(|way| way.literal() >> bit == first >> bit);
        let (low, high) = (tree(builder, &ways[..half]), tree(builder, &ways[half..]));
        builder.or(low, high)
    }
    tree(builder, ways)
}

struct Wiring<'a> {
    game: &'a Game,
    program: &'a GroundProgram,
    relations: &'a Relations,
    /// The terms of the base bits and of each role's moves, in the order in which they are listed.
    base: Vec<TermId>,
    moves: Vec<Vec<TermId>>,
}

impl<'a> Wiring<'a> {
    fn new(game: &'a Game, program: &'a GroundProgram, relations: &'a Relations) -> Wiring<'a> {
        let by_text = |terms: &mut Vec<TermId>| {
            terms.sort_unstable_by(|&a, &b| game.bank.compare(a, b, &game.rank));
            terms.dedup();
        };
        let mut base: Vec<TermId> =
            program.atoms_of(relations.state).map(|(_, row)| row[0]).collect();
        by_text(&mut base);
        let mut moves = vec![Vec::new(); game.roles.len()];
        for (_, row) in program.atoms_of(relations.moves) {
            if let Some(role) = game.roles.iter().position(|&role| role == row[0]) {
                moves[role].push(row[1]);
            }
        }
        for (moves, &role) in moves.iter_mut().zip(&game.roles) {
            by_text(moves);
            // A circuit needs a move for every role. A role that no rule gives a move gets one that
            // is never legal, named after the role, so that play ends with the same fault as in the
            // interpreter.
            if moves.is_empty() {
                moves.push(role);
            }
        }
        Wiring { game, program, relations, base, moves }
    }

    fn wire(&self, limits: &CircuitLimits) -> Result<Circuit, Refusal> {
        let game = self.game;
        let shape = game.shape();
        let roles = shape.roles().map(|role| CircuitRole {
            name: shape.role_names[role.index()].clone(),
            moves: self.moves[role.index()].iter().map(|&m| game.text(m)).collect(),
            is_nature: shape.nature == Some(role),
        });
        let initial = game.initial.fluents();
        let base =
            self.base.iter().map(|&f| (game.text(f), initial.binary_search(&f).is_ok())).collect();
        let mut builder = Builder::new(roles.collect(), base);
        let signals = self.signals(&mut builder, limits)?;
        let outputs = self.outputs(&mut builder, &signals);
        Ok(builder.finish(outputs))
    }

    /// Returns the index of a term in a sorted list.
    fn place(&self, list: &[TermId], term: TermId) -> Option<usize> {
        list.binary_search_by(|&probe| self.game.bank.compare(probe, term, &self.game.rank)).ok()
    }

    /// Computes a signal for every atom.
    fn signals(
        &self,
        builder: &mut Builder,
        limits: &CircuitLimits,
    ) -> Result<Vec<Signal>, Refusal> {
        let program = self.program;
        let mut signals = vec![Signal::FALSE; program.n_atoms()];
        let mut is_given = vec![false; program.n_atoms()];
        for (atom, row) in program.atoms_of(self.relations.state) {
            let bit = self.place(&self.base, row[0]).expect("every state atom is a base bit");
            signals[atom.0 as usize] = builder.base(bit);
            is_given[atom.0 as usize] = true;
        }
        for (atom, row) in program.atoms_of(self.relations.moves) {
            is_given[atom.0 as usize] = true;
            if let Some(role) = self.game.roles.iter().position(|&role| role == row[0]) {
                let index = self.place(&self.moves[role], row[1]).expect("every move is listed");
                signals[atom.0 as usize] = builder.input(role, index);
            }
        }
        for (atom, &always) in program.always.iter().enumerate() {
            if always {
                signals[atom] = Signal::TRUE;
                is_given[atom] = true;
            }
        }
        let graph = order::Graph::new(program, &is_given);
        for component in components(&graph) {
            // Given atoms depend on nothing, so each is a component of its own.
            if is_given[component[0] as usize] {
                continue;
            }
            if component.len() == 1 && !graph.reads_itself(component[0]) {
                signals[component[0] as usize] =
                    self.signal(builder, &graph, component[0], &signals);
            } else {
                self.fixpoint(builder, &graph, &component, &mut signals, limits)?;
            }
            self.check_limits(builder, &graph, component[0], limits)?;
        }
        Ok(signals)
    }

    /// Builds the signal of an atom from those of the atoms it depends on.
    fn signal(
        &self,
        builder: &mut Builder,
        graph: &order::Graph,
        atom: u32,
        signals: &[Signal],
    ) -> Signal {
        let mut ways = Vec::new();
        let mut conditions = Vec::new();
        for &index in graph.rules_of(atom) {
            let rule = self.program.rule(index as usize);
            conditions.clear();
            conditions.extend(rule.positive.iter().map(|&p| signals[p as usize]));
            conditions.extend(rule.negative().map(|n| !signals[n.0 as usize]));
            ways.push(builder.and_all(&conditions));
        }
        any(builder, &mut ways)
    }

    /// Builds the least fixpoint of atoms that depend on each other. Starting from false, a
    /// derivation is no longer than the number of atoms, so that many rounds suffice.
    fn fixpoint(
        &self,
        builder: &mut Builder,
        graph: &order::Graph,
        component: &[u32],
        signals: &mut [Signal],
        limits: &CircuitLimits,
    ) -> Result<(), Refusal> {
        for &atom in component {
            for &index in graph.rules_of(atom) {
                let rule = self.program.rule(index as usize);
                if rule.negative().any(|n| component.binary_search(&n.0).is_ok()) {
                    return Err(Refusal {
                        kind: RefusalKind::Unstratified,
                        origin: Some(rule.origin),
                    });
                }
            }
        }
        for _ in 0..component.len() {
            let mut changed = false;
            for &atom in component {
                let signal = self.signal(builder, graph, atom, signals);
                changed |= signal != signals[atom as usize];
                signals[atom as usize] = signal;
            }
            if !changed {
                break;
            }
            self.check_limits(builder, graph, component[0], limits)?;
        }
        Ok(())
    }

    fn check_limits(
        &self,
        builder: &Builder,
        graph: &order::Graph,
        atom: u32,
        limits: &CircuitLimits,
    ) -> Result<(), Refusal> {
        let kind = if builder.n_ands() > limits.gates {
            RefusalKind::Bytes
        } else if limits.ground.stop.is_set() {
            RefusalKind::Cancelled
        } else if limits.ground.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            RefusalKind::Deadline
        } else {
            return Ok(());
        };
        let origin =
            graph.rules_of(atom).first().map(|&index| self.program.rule(index as usize).origin);
        Err(Refusal { kind, origin })
    }

    fn outputs(&self, builder: &mut Builder, signals: &[Signal]) -> Outputs {
        let (game, program, relations) = (self.game, self.program, self.relations);
        let role_of = |term: TermId| game.roles.iter().position(|&role| role == term);
        let at = |atom: AtomId| signals[atom.0 as usize];
        let mut legal: Vec<Vec<Signal>> =
            self.moves.iter().map(|m| vec![Signal::FALSE; m.len()]).collect();
        for (atom, row) in program.atoms_of(relations.legal) {
            if let Some(role) = role_of(row[0]) {
                let index =
                    self.place(&self.moves[role], row[1]).expect("every legal move is listed");
                legal[role][index] = at(atom);
            }
        }
        let mut next = vec![Signal::FALSE; self.base.len()];
        for (atom, row) in program.atoms_of(relations.next) {
            next[self.place(&self.base, row[0]).expect("every next fluent is a base bit")] =
                at(atom);
        }
        let mut goals: Vec<Vec<(i64, Signal)>> = vec![Vec::new(); game.roles.len()];
        for (atom, row) in program.atoms_of(relations.goal) {
            let value = game.rules().sheet().symbols.name(game.bank.symbol(row[1])).parse().ok();
            if let (Some(role), Some(value)) = (role_of(row[0]), value) {
                goals[role].push((value, at(atom)));
            }
        }
        for values in &mut goals {
            values.sort_by_key(|(value, _)| *value);
            // Rules may write one number in several ways, such as 0 and 00.
            values.dedup_by(|(value, signal), (before, earlier)| {
                let is_same = value == before;
                if is_same {
                    *earlier = builder.or(*earlier, *signal);
                }
                is_same
            });
        }
        let mut percepts: Vec<Vec<(String, Signal)>> = vec![Vec::new(); game.roles.len()];
        for (atom, row) in program.atoms_of(relations.sees) {
            if let Some(role) = role_of(row[0]) {
                percepts[role].push((game.text(row[1]), at(atom)));
            }
        }
        percepts.iter_mut().for_each(|texts| texts.sort_by(|a, b| a.0.cmp(&b.0)));
        let terminal =
            program.atoms_of(relations.terminal).next().map_or(Signal::FALSE, |(atom, _)| at(atom));
        Outputs { legal, next, terminal, goals, percepts, rejected: Signal::FALSE }
    }
}
